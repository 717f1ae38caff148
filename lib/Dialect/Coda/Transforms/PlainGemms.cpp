//===- PlainGemms.cpp - The gemms of a fused program, and nothing else ----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fusion is measured against: the time of a fused program should be that
// of its matrix products alone.
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::coda {
#define GEN_PASS_DEF_PLAINGEMMSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
/// One accumulator of a kernel: its products, and the factors in the caller.
struct Accumulator {
  TileOpInterface op;
  unsigned firstProduct, numProducts;
  SmallVector<Value> lhs, rhs;
};

/// All accumulators of the kernels that `function` calls, in order.
SmallVector<Accumulator> collect(func::FuncOp function,
                                 const SymbolTable &symbols) {
  SmallVector<Accumulator> accumulators;
  function.walk([&](func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || !kernel->hasAttr("coda.kernel"))
      return;
    auto inCaller = [&](Value factor) -> Value {
      auto argument = dyn_cast<BlockArgument>(factor);
      return argument && argument.getOwner() == &kernel.getBody().front()
                 ? call.getOperand(argument.getArgNumber())
                 : Value();
    };
    kernel.walk([&](GemmOp gemm) {
      unsigned product = 0;
      for (int32_t size : gemm.getAccSizes()) {
        Accumulator acc{gemm, product, unsigned(size), {}, {}};
        for (unsigned p = product; p < product + size; ++p) {
          acc.lhs.push_back(inCaller(gemm.getLhs()[p]));
          acc.rhs.push_back(inCaller(gemm.getRhs()[p]));
        }
        product += size;
        if (!llvm::is_contained(acc.lhs, Value()) &&
            !llvm::is_contained(acc.rhs, Value()))
          accumulators.push_back(std::move(acc));
      }
    });
  });
  return accumulators;
}

/// A gemm of this accumulator alone that stores it as it is. Unrolled dims are
/// columns like others, and the result's dims are in the order of the factors'.
Value createPlainGemm(OpBuilder &b, const Accumulator &acc,
                      const IRMapping &factors) {
  TileOpInterface op = acc.op;
  Location loc = op->getLoc();
  TileOpSpec spec;
  spec.accSizes = {int32_t(acc.numProducts)};
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
  for (unsigned p = acc.firstProduct; p < acc.firstProduct + acc.numProducts;
       ++p) {
    take(op.getLhsMap(p));
    take(op.getRhsMap(p));
  }
  SmallVector<AffineExpr> newDims(op.getNumDomainDims(),
                                  b.getAffineConstantExpr(0));
  unsigned next = 0, numStored = 0;
  for (unsigned kind = 0; kind < 6; ++kind) {
    spec.dims[kind] = byKind[kind].size();
    for (unsigned d : byKind[kind])
      newDims[d] = b.getAffineDimExpr(next++);
    if (kind == unsigned(DimKind::n))
      numStored = next;
  }
  auto remap = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(newDims, {}, next, 0);
  };
  for (unsigned p = 0; p < acc.numProducts; ++p) {
    spec.lhs.push_back(factors.lookup(acc.lhs[p]));
    spec.maps.push_back(remap(op.getLhsMap(acc.firstProduct + p)));
  }
  for (unsigned p = 0; p < acc.numProducts; ++p) {
    spec.rhs.push_back(factors.lookup(acc.rhs[p]));
    spec.maps.push_back(remap(op.getRhsMap(acc.firstProduct + p)));
  }
  SmallVector<OpFoldResult> sizes;
  for (unsigned d = 0; d < numStored; ++d)
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
                          .getMajorSubMap(numStored));
  spec.combiners = {b.getUnitAttr()};
  spec.fresh = {false};
  TileOpInterface gemm = createTileOp(b, loc, spec);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&gemm.getBody().front());
  YieldOp::create(b, loc, ValueRange(gemm.getAccArguments(0)));
  return gemm->getResult(0);
}

class PlainGemmsPass : public coda::impl::PlainGemmsPassBase<PlainGemmsPass> {
public:
  using PlainGemmsPassBase::PlainGemmsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() &&
          function.getBody().hasOneBlock())
        functions.push_back(function);
    for (func::FuncOp function : functions)
      replace(function, symbols);
  }

private:
  void replace(func::FuncOp function, SymbolTable &symbols) {
    SmallVector<Accumulator> accumulators = collect(function, symbols);
    if (accumulators.empty())
      return;
    llvm::SetVector<Value> factors;
    for (const Accumulator &acc : accumulators) {
      factors.insert_range(acc.lhs);
      factors.insert_range(acc.rhs);
    }
    OpBuilder b(function);
    Location loc = function.getLoc();
    SmallVector<Type> types(ValueRange(factors.getArrayRef()).getTypes());

    auto gemms = func::FuncOp::create(
        b, loc, (function.getName() + "_gemms").str(),
        b.getFunctionType(types, {}));
    symbols.insert(gemms);
    Block *body = gemms.addEntryBlock();
    IRMapping mapping;
    mapping.map(factors.getArrayRef(), body->getArguments());
    b.setInsertionPointToEnd(body);
    SmallVector<Value> results;
    for (const Accumulator &acc : accumulators)
      results.push_back(createPlainGemm(b, acc, mapping));
    func::ReturnOp::create(b, loc, results);
    gemms.setFunctionType(
        b.getFunctionType(types, ValueRange(results).getTypes()));
    numGemms += results.size();

    // The function itself, returning the factors.
    symbols.remove(function);
    function.setName((function.getName() + "_factors").str());
    symbols.insert(function);
    gemms->moveAfter(function);
    Operation *end = function.getBody().front().getTerminator();
    b.setInsertionPoint(end);
    func::ReturnOp::create(b, end->getLoc(), factors.getArrayRef());
    end->erase();
    function.setFunctionType(
        b.getFunctionType(function.getArgumentTypes(), types));
    function.setResAttrsAttr(nullptr);
  }
};
} // namespace
