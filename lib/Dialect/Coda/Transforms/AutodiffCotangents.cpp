//===- AutodiffCotangents.cpp - Sums of cotangents ----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A value's cotangent is a sum of parts, one per reader. They are kept apart until
// the value's producer is visited, which then loads them all and adds them in
// f32; products over one space become products of one accumulator.

#include "AutodiffFunction.h"

#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

/// Whether a store of `type` rounds a cotangent, which is f32.
static bool isNarrow(Type type) { return type.getIntOrFloatBitWidth() <= 16; }

Type FunctionAdjoint::getStoredCotangentType(Value value) const {
  if (options.residualGradType && !isa<BlockArgument>(value))
    return options.residualGradType;
  return getElementTypeOrSelf(value);
}

bool FunctionAdjoint::isPrecise(Value value) {
  if (!isActive(value) || isNarrow(getElementTypeOrSelf(value)))
    return false;
  Operation *def = value.getDefiningOp();
  if (!def)
    return true;
  if (auto known = precise.find(value); known != precise.end())
    return known->second;
  bool result = llvm::any_of(def->getOperands(),
                             [&](Value operand) { return isPrecise(operand); });
  return precise[value] = result;
}

bool FunctionAdjoint::isRounded(Value cotangent) const {
  Operation *def = cotangent.getDefiningOp();
  if (!def || isa<TileOpInterface>(def))
    return roundedCotangents.contains(cotangent);
  return llvm::any_of(def->getOperands(),
                      [&](Value operand) { return isRounded(operand); });
}

void FunctionAdjoint::addCotangent(Value value, Cotangent cotangent) {
  if (isActive(value))
    cotangents[value].push_back(cotangent);
}

void FunctionAdjoint::addFull(Value value, Value tensor, bool isSum) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  addCotangent(value, {tensor, llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                       isSum});
}

Value FunctionAdjoint::createZero(Location loc, RankedTensorType type,
                                  Value like) {
  SmallVector<OpFoldResult> sizes;
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    sizes.push_back(ShapedType::isDynamic(extent)
                        ? tensor::getMixedSize(builder, loc, getPrimal(like), d)
                        : OpFoldResult(builder.getIndexAttr(extent)));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

/// A map with the identity as map of its one output, of type `type`; its body
/// is empty. `rank` dims: rows, the last one columns.
static TileOpInterface
createElementwise(OpBuilder &b, Location loc, RankedTensorType type,
                  ArrayRef<OpFoldResult> sizes, ArrayRef<Value> inputs,
                  ArrayRef<AffineMap> maps) {
  unsigned rank = type.getRank();
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] = rank > 1 ? rank - 1 : rank;
  spec.dims[static_cast<unsigned>(DimKind::n)] = rank > 1 ? 1 : 0;
  spec.inputs.assign(inputs.begin(), inputs.end());
  spec.maps.assign(maps.begin(), maps.end());
  spec.maps.push_back(b.getMultiDimIdentityMap(rank));
  spec.loadCombiners.assign(inputs.size(), b.getUnitAttr());
  spec.outputs = {
      tensor::EmptyOp::create(b, loc, sizes, type.getElementType())};
  spec.combiners = {b.getUnitAttr()};
  spec.fresh = {false};
  return createTileOp(b, loc, spec);
}

Location FunctionAdjoint::getAdjointLoc(ArrayRef<Location> locs) {
  return NameLoc::get(builder.getStringAttr("adjoint"),
                      builder.getFusedLoc(locs));
}

Value FunctionAdjoint::sum(Value of, RankedTensorType type,
                           ArrayRef<Cotangent> parts) {
  // What is summed is the adjoint of readers of the value. What the backward
  // is given has no place there.
  SmallVector<Location> locs;
  for (const Cotangent &part : parts)
    if (!part.tensor.getDefiningOp<UnrealizedConversionCastOp>())
      locs.push_back(part.tensor.getLoc());
  Location loc = locs.empty() ? of.getLoc() : builder.getFusedLoc(locs);
  unsigned rank = type.getRank();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<OpFoldResult> sizes(rank);
  for (const Cotangent &part : parts) {
    SmallVector<AffineExpr> exprs;
    for (auto [r, d] : llvm::enumerate(part.dims)) {
      exprs.push_back(builder.getAffineDimExpr(d));
      sizes[d] = tensor::getMixedSize(builder, loc, part.tensor, r);
    }
    inputs.push_back(part.tensor);
    maps.push_back(AffineMap::get(rank, 0, exprs, builder.getContext()));
  }
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(extent))
      sizes[d] = builder.getIndexAttr(extent);
  TileOpInterface map =
      createElementwise(builder, loc, type, sizes, inputs, maps);
  OpBuilder b = OpBuilder::atBlockEnd(&map.getBody().front());
  FloatType compute = getCotangentType(type.getElementType());
  Value total;
  for (BlockArgument argument : map.getBody().getArguments()) {
    Value term = convertFloat(b, loc, argument, compute);
    total = total ? arith::AddFOp::create(b, loc, total, term).getResult()
                  : term;
  }
  YieldOp::create(b, loc,
                  ValueRange{convertFloat(b, loc, total,
                                          type.getElementType())});
  if (isNarrow(type.getElementType()) ||
      llvm::any_of(parts, [&](const Cotangent &part) {
        return isRounded(part.tensor);
      }))
    roundedCotangents.insert(map->getResult(0));
  return map->getResult(0);
}

Value FunctionAdjoint::buildOuterProduct(Value target, const Product &product,
                                         Type type) {
  auto targetType = cast<RankedTensorType>(target.getType());
  Location loc = getAdjointLoc(product.op->getLoc());
  unsigned rank = targetType.getRank();
  SmallVector<AffineExpr> toTarget(product.targetMap.getNumDims(),
                                   builder.getAffineConstantExpr(0));
  for (auto [r, e] : llvm::enumerate(product.targetMap.getResults()))
    toTarget[cast<AffineDimExpr>(e).getPosition()] =
        builder.getAffineDimExpr(r);
  SmallVector<AffineMap> maps;
  SmallVector<OpFoldResult> sizes(rank);
  for (auto [value, map] :
       {std::pair(product.dacc, product.daccMap),
        std::pair(product.other, product.otherMap)}) {
    maps.push_back(map.replaceDimsAndSymbols(toTarget, {}, rank, 0));
    for (auto [r, e] : llvm::enumerate(maps.back().getResults()))
      sizes[cast<AffineDimExpr>(e).getPosition()] =
          tensor::getMixedSize(builder, loc, value, r);
  }
  TileOpInterface map = createElementwise(
      builder, loc, targetType.clone(type), sizes,
      {product.dacc, product.other}, maps);
  OpBuilder b = OpBuilder::atBlockEnd(&map.getBody().front());
  FloatType compute = getCotangentType(getElementTypeOrSelf(product.dacc));
  Value value = arith::MulFOp::create(
      b, loc, convertFloat(b, loc, map.getBody().getArgument(0), compute),
      convertFloat(b, loc, map.getBody().getArgument(1), compute));
  YieldOp::create(b, loc, ValueRange{convertFloat(b, loc, value, type)});
  if (isNarrow(type) || isRounded(product.dacc))
    roundedCotangents.insert(map->getResult(0));
  return map->getResult(0);
}

Value FunctionAdjoint::buildProducts(Value target, ArrayRef<Product> products,
                                     Type type) {
  auto targetType = cast<RankedTensorType>(target.getType());
  Location loc = getAdjointLoc(llvm::map_to_vector(
      products, [](const Product &product) { return product.op->getLoc(); }));
  unsigned rank = targetType.getRank();
  // Dims: those of the target by kind, then the contracted ones of each product.
  TileOpSpec spec;
  SmallVector<unsigned> position(rank);
  unsigned next = 0;
  for (DimKind kind : {DimKind::b, DimKind::m, DimKind::n})
    for (auto [r, k] : llvm::enumerate(products.front().kinds))
      if (k == kind) {
        position[r] = next++;
        ++spec.dims[static_cast<unsigned>(kind)];
      }
  SmallVector<SmallVector<AffineExpr>> newDims;
  for (const Product &product : products) {
    SmallVector<AffineExpr> &dims = newDims.emplace_back();
    dims.assign(product.targetMap.getNumDims(),
                builder.getAffineConstantExpr(0));
    for (auto [r, e] : llvm::enumerate(product.targetMap.getResults()))
      dims[cast<AffineDimExpr>(e).getPosition()] =
          builder.getAffineDimExpr(position[r]);
    for (AffineExpr e : product.daccMap.getResults())
      if (!product.targetMap.getResultPosition(e)) {
        dims[cast<AffineDimExpr>(e).getPosition()] =
            builder.getAffineDimExpr(next++);
        ++spec.dims[static_cast<unsigned>(DimKind::k)];
      }
  }
  auto translate = [&](AffineMap map, unsigned product) {
    return map.replaceDimsAndSymbols(newDims[product], {}, next, 0);
  };
  SmallVector<OpFoldResult> sizes(rank);
  auto addFactor = [&](SmallVectorImpl<Value> &factors, bool left) {
    for (auto [p, product] : llvm::enumerate(products)) {
      bool isDacc = product.daccIsLeft == left;
      Value value = isDacc ? product.dacc : product.other;
      AffineMap map = isDacc ? product.daccMap : product.otherMap;
      factors.push_back(value);
      spec.maps.push_back(translate(map, p));
      for (auto [r, e] : llvm::enumerate(map.getResults()))
        if (std::optional<unsigned> t = product.targetMap.getResultPosition(e))
          sizes[*t] = tensor::getMixedSize(builder, loc, value, r);
    }
  };
  addFactor(spec.lhs, true);
  addFactor(spec.rhs, false);
  spec.accSizes = {static_cast<int32_t>(products.size())};
  spec.outputs = {tensor::EmptyOp::create(builder, loc, sizes, type)};
  spec.combiners = {builder.getUnitAttr()};
  spec.fresh = {false};
  SmallVector<AffineExpr> store;
  for (unsigned r = 0; r < rank; ++r)
    store.push_back(builder.getAffineDimExpr(position[r]));
  spec.maps.push_back(AffineMap::get(next, 0, store, builder.getContext()));
  TileOpInterface gemm = createTileOp(builder, loc, spec);
  OpBuilder b = OpBuilder::atBlockEnd(&gemm.getBody().front());
  YieldOp::create(b, loc,
                  ValueRange{convertFloat(
                      b, loc, gemm.getBody().getArgument(0), type)});
  if (isNarrow(type) || llvm::any_of(products, [&](const Product &product) {
        return isRounded(product.dacc);
      }))
    roundedCotangents.insert(gemm->getResult(0));
  return gemm->getResult(0);
}

Value FunctionAdjoint::assembleSlices(Value target, ArrayRef<Slice> parts) {
  auto type = cast<RankedTensorType>(target.getType());
  Location loc = getAdjointLoc(llvm::map_to_vector(
      parts, [](const Slice &part) { return part.op->getLoc(); }));
  auto sliceType = cast<RankedTensorType>(parts.front().tensor.getType());
  type = type.clone(sliceType.getElementType());
  int64_t covered = 0;
  for (const Slice &part : parts)
    covered += cast<RankedTensorType>(part.tensor.getType()).hasStaticShape()
                   ? cast<RankedTensorType>(part.tensor.getType())
                         .getNumElements()
                   : 0;
  // Slices that do not meet and cover everything need no zeros below them.
  bool isWhole = type.hasStaticShape() && covered == type.getNumElements();
  Value whole =
      isWhole ? tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType())
                    .getResult()
              : createZero(loc, type, target);
  for (const Slice &part : parts) {
    tensor::ExtractSliceOp op = part.op;
    whole = tensor::InsertSliceOp::create(
        builder, loc, part.tensor, whole, getPrimals(op.getMixedOffsets()),
        getPrimals(op.getMixedSizes()), getPrimals(op.getMixedStrides()));
  }
  return whole;
}

/// Whether two slices surely do not meet.
static bool areDisjoint(tensor::ExtractSliceOp a, tensor::ExtractSliceOp b) {
  for (int64_t d = 0; d < a.getSourceType().getRank(); ++d) {
    int64_t aOffset = a.getStaticOffsets()[d], aSize = a.getStaticSizes()[d];
    int64_t bOffset = b.getStaticOffsets()[d], bSize = b.getStaticSizes()[d];
    int64_t aStride = a.getStaticStrides()[d], bStride = b.getStaticStrides()[d];
    if (llvm::any_of(ArrayRef<int64_t>{aOffset, aSize, bOffset, bSize, aStride,
                                       bStride},
                     ShapedType::isDynamic))
      continue;
    if (aOffset + (aSize - 1) * aStride < bOffset ||
        bOffset + (bSize - 1) * bStride < aOffset)
      return true;
    // Even and odd elements, say.
    if (aStride == bStride && aStride > 1 &&
        (aOffset - bOffset) % aStride != 0)
      return true;
  }
  return false;
}

SmallVector<FunctionAdjoint::Cotangent>
FunctionAdjoint::takeCotangents(Value value, Type type) {
  SmallVector<Cotangent> parts = std::move(cotangents[value]);
  cotangents.erase(value);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(
      0, cast<RankedTensorType>(value.getType()).getRank()));

  SmallVector<Slice> pieces = std::move(slices[value]);
  slices.erase(value);
  while (!pieces.empty()) {
    SmallVector<Slice> together, rest;
    for (Slice &piece : pieces) {
      bool fits = llvm::all_of(together, [&](const Slice &other) {
        return areDisjoint(piece.op, other.op) &&
               getElementTypeOrSelf(piece.tensor) ==
                   getElementTypeOrSelf(other.tensor);
      });
      (fits ? together : rest).push_back(piece);
    }
    parts.push_back({assembleSlices(value, together), all, false});
    pieces = rest;
  }

  SmallVector<Product> terms = std::move(products[value]);
  products.erase(value);
  SmallVector<Product> ordinary;
  for (const Product &term : terms) {
    bool contracts = llvm::any_of(term.daccMap.getResults(), [&](AffineExpr e) {
      return !term.targetMap.getResultPosition(e);
    });
    if (contracts)
      ordinary.push_back(term);
    else
      parts.push_back({buildOuterProduct(value, term, type), all, term.isSum});
  }
  while (!ordinary.empty()) {
    SmallVector<Product> together, rest;
    for (const Product &term : ordinary) {
      bool fits = together.empty() ||
                  (together.front().kinds == term.kinds &&
                   getElementTypeOrSelf(together.front().dacc) ==
                       getElementTypeOrSelf(term.dacc));
      (fits ? together : rest).push_back(term);
    }
    parts.push_back({buildProducts(value, together, type), all,
                     together.front().isSum});
    ordinary = rest;
  }
  return parts;
}

Value FunctionAdjoint::takeWhole(Value value) {
  Type element = getStoredCotangentType(value);
  SmallVector<Cotangent> parts = takeCotangents(value, element);
  if (parts.empty())
    return {};
  auto type = cast<RankedTensorType>(value.getType()).clone(element);
  if (parts.size() == 1 &&
      static_cast<int64_t>(parts.front().dims.size()) == type.getRank())
    return parts.front().tensor;
  return sum(value, type, parts);
}

Value FunctionAdjoint::getGradient(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  bool isSum = !cotangents[argument].empty() || !products[argument].empty();
  for (const Cotangent &part : cotangents[argument])
    isSum &= part.isSum;
  for (const Product &term : products[argument])
    isSum &= term.isSum;
  isSum &= slices[argument].empty();
  if (options.gradType && isSum)
    type = type.clone(options.gradType);
  SmallVector<Cotangent> parts =
      takeCotangents(argument, type.getElementType());
  Location loc = argument.getLoc();
  if (options.accumulate && isSum) {
    Value given = createPlaceholder(type);
    accumulators.push_back({argument.getArgNumber(), given});
    parts.push_back(
        {given, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), true});
  }
  if (parts.empty())
    return createZero(loc, type, argument);
  if (parts.size() == 1 &&
      static_cast<int64_t>(parts.front().dims.size()) == type.getRank() &&
      getElementTypeOrSelf(parts.front().tensor) == type.getElementType())
    return parts.front().tensor;
  return sum(argument, type, parts);
}
