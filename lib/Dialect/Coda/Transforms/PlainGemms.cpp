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
#include "coda/Dialect/Coda/Transforms/SeparateProducts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

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
    auto mapped = [&](ArrayRef<Value> values) {
      return llvm::map_to_vector(
          values, [&](Value value) { return mapping.lookup(value); });
    };
    SmallVector<Value> results;
    for (const Accumulator &acc : accumulators)
      results.push_back(createPlainGemm(b, acc.op, acc.firstProduct,
                                        mapped(acc.lhs), mapped(acc.rhs))
                            .op->getResult(0));
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
