//===- SeparateProducts.cpp - Products and region of a gemm apart ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Transforms/SeparateProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

PlainGemm coda::createPlainGemm(OpBuilder &b, TileOpInterface op,
                                unsigned firstProduct, ArrayRef<Value> lhs,
                                ArrayRef<Value> rhs) {
  Location loc = op->getLoc();
  unsigned numProducts = lhs.size();
  TileOpSpec spec;
  spec.accSizes = {int32_t(numProducts)};
  // The dims by kind, u among n, each in the order of the first factor's map.
  SmallVector<unsigned> byKind[6];
  auto take = [&](AffineMap map) {
    for (AffineExpr e : map.getResults()) {
      unsigned d = cast<AffineDimExpr>(e).getPosition();
      DimKind kind = op.getDimKind(d);
      if (kind == DimKind::u)
        kind = DimKind::n;
      SmallVector<unsigned> &dims = byKind[unsigned(kind)];
      if (!llvm::is_contained(dims, d))
        dims.push_back(d);
    }
  };
  for (unsigned p = firstProduct; p < firstProduct + numProducts; ++p) {
    take(op.getLhsMap(p));
    take(op.getRhsMap(p));
  }
  SmallVector<AffineExpr> newDims(op.getNumDomainDims(),
                                  b.getAffineConstantExpr(0));
  unsigned next = 0;
  SmallVector<unsigned> stored;
  for (unsigned kind = 0; kind < 6; ++kind) {
    spec.dims[kind] = byKind[kind].size();
    for (unsigned d : byKind[kind])
      newDims[d] = b.getAffineDimExpr(next++);
    if (kind <= unsigned(DimKind::n))
      llvm::append_range(stored, byKind[kind]);
  }
  auto remap = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(newDims, {}, next, 0);
  };
  spec.lhs.assign(lhs.begin(), lhs.end());
  spec.rhs.assign(rhs.begin(), rhs.end());
  for (unsigned p = 0; p < numProducts; ++p)
    spec.maps.push_back(remap(op.getLhsMap(firstProduct + p)));
  for (unsigned p = 0; p < numProducts; ++p)
    spec.maps.push_back(remap(op.getRhsMap(firstProduct + p)));
  SmallVector<OpFoldResult> sizes;
  for (unsigned d = 0; d < stored.size(); ++d)
    for (auto [factor, map] :
         llvm::zip(llvm::concat<Value>(spec.lhs, spec.rhs), spec.maps))
      if (std::optional<unsigned> r =
              map.getResultPosition(b.getAffineDimExpr(d))) {
        sizes.push_back(tensor::getMixedSize(b, loc, factor, *r));
        break;
      }
  Type type = getAccumulatorType(getElementTypeOrSelf(spec.lhs.front()));
  spec.outputs = {tensor::EmptyOp::create(b, loc, sizes, type)};
  spec.maps.push_back(AffineMap::getMultiDimIdentityMap(next, b.getContext())
                          .getMajorSubMap(stored.size()));
  spec.combiners = {b.getUnitAttr()};
  spec.fresh = {false};
  TileOpInterface gemm = createTileOp(b, loc, spec);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&gemm.getBody().front());
  YieldOp::create(b, loc, ValueRange(gemm.getAccArguments(0)));
  return {gemm, stored};
}

/// Has `spec`, of `numDims` dims, load what `gemm` stores; `newDims` are those of the
/// op that it was a product of.
static void addLoad(OpBuilder &b, const PlainGemm &gemm,
                    ArrayRef<AffineExpr> newDims, unsigned numDims,
                    TileOpSpec &spec) {
  spec.inputs.push_back(gemm.op->getResult(0));
  spec.loadCombiners.push_back(b.getUnitAttr());
  SmallVector<AffineExpr> exprs;
  for (unsigned d : gemm.dims)
    exprs.push_back(newDims[d]);
  spec.maps.push_back(AffineMap::get(numDims, 0, exprs, b.getContext()));
}

TileOpInterface coda::createEpilogueMap(OpBuilder &b, TileOpInterface op,
                                        ArrayRef<PlainGemm> accumulators) {
  TileOpSpec spec;
  SmallVector<AffineExpr> newDims(op.getNumDomainDims(),
                                  b.getAffineConstantExpr(0));
  unsigned next = 0;
  for (unsigned d = 0; d < newDims.size(); ++d)
    if (op.getDimKind(d) != DimKind::k) {
      newDims[d] = b.getAffineDimExpr(next++);
      ++spec.dims[unsigned(op.getDimKind(d))];
    }
  auto remap = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(newDims, {}, next, 0);
  };
  for (const PlainGemm &accumulator : accumulators)
    addLoad(b, accumulator, newDims, next, spec);
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    spec.inputs.push_back(op.getInputs()[i]);
    spec.loadCombiners.push_back(op.getLoadCombiners()[i]);
    spec.maps.push_back(remap(op.getInputMap(i)));
  }
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    spec.outputs.push_back(op.getOutputs()[o]);
    spec.combiners.push_back(op.getCombiners()[o]);
    spec.fresh.push_back(op.getFresh()[o]);
    spec.maps.push_back(remap(op.getOutputMap(o)));
  }
  TileOpInterface map = createTileOp(b, op->getLoc(), spec);
  // The accumulators' arguments come first, as those of the loads do now, and
  // their points are in the same order.
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(), map.getBody().getArguments());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&map.getBody().front());
  for (Operation &inner : op.getBody().front())
    b.clone(inner, mapping);
  return map;
}

TileOpInterface coda::createGemmWithout(
    OpBuilder &b, TileOpInterface op,
    const llvm::MapVector<unsigned, PlainGemm> &separate) {
  TileOpSpec old(op), spec;
  unsigned numProducts = op.getNumProducts();
  // The k dims of what is separated are none of the rest's.
  SmallVector<bool> isKept(op.getNumDomainDims());
  for (unsigned d = 0; d < isKept.size(); ++d)
    isKept[d] = op.getDimKind(d) != DimKind::k;
  for (unsigned p = 0; p < numProducts; ++p)
    if (!separate.contains(p))
      for (AffineExpr e : op.getLhsMap(p).getResults())
        isKept[cast<AffineDimExpr>(e).getPosition()] = true;
  SmallVector<AffineExpr> newDims(isKept.size(), b.getAffineConstantExpr(0));
  unsigned next = 0;
  for (unsigned d = 0; d < isKept.size(); ++d)
    if (isKept[d]) {
      newDims[d] = b.getAffineDimExpr(next++);
      ++spec.dims[unsigned(op.getDimKind(d))];
    }
  auto remap = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(newDims, {}, next, 0);
  };
  SmallVector<AffineMap> rhsMaps;
  unsigned product = 0;
  for (int32_t size : old.accSizes) {
    spec.accSizes.push_back(0);
    for (unsigned end = product + size; product < end; ++product) {
      if (separate.contains(product))
        continue;
      ++spec.accSizes.back();
      spec.lhs.push_back(old.lhs[product]);
      spec.rhs.push_back(old.rhs[product]);
      spec.maps.push_back(remap(op.getLhsMap(product)));
      rhsMaps.push_back(remap(op.getRhsMap(product)));
    }
  }
  llvm::append_range(spec.maps, rhsMaps);
  spec.inputs = old.inputs;
  spec.loadCombiners = old.loadCombiners;
  for (unsigned i = 0; i < old.inputs.size(); ++i)
    spec.maps.push_back(remap(op.getInputMap(i)));
  for (const auto &[number, gemm] : separate)
    addLoad(b, gemm, newDims, next, spec);
  spec.outputs = old.outputs;
  spec.combiners = old.combiners;
  spec.fresh = old.fresh;
  for (unsigned o = 0; o < old.outputs.size(); ++o)
    spec.maps.push_back(remap(op.getOutputMap(o)));

  TileOpInterface result = createTileOp(b, op->getLoc(), spec);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&result.getBody().front());
  // What is loaded comes last; the arguments before are the same.
  unsigned numArguments = op.getBody().getNumArguments();
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(),
              result.getBody().getArguments().take_front(numArguments));
  unsigned input = old.inputs.size();
  for (const auto &[number, gemm] : separate) {
    unsigned accumulator = 0, end = old.accSizes[0];
    while (number >= end)
      end += old.accSizes[++accumulator];
    for (auto [argument, loaded] :
         llvm::zip_equal(op.getAccArguments(accumulator),
                         result.getInputArguments(input)))
      mapping.map(argument, arith::AddFOp::create(b, op->getLoc(),
                                                  mapping.lookup(argument), loaded)
                                .getResult());
    ++input;
  }
  for (Operation &inner : op.getBody().front())
    b.clone(inner, mapping);
  return result;
}
