//===- SeparateDestinations.cpp - One buffer a result of a kernel ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_SEPARATEDESTINATIONS
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda;

namespace {

struct SeparateDestinations
    : public coda_gpu::impl::SeparateDestinationsBase<SeparateDestinations> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttr(coda_gpu::kKernelAttrName) && func.isPrivate()) {
        func->setAttr("coda.launched", UnitAttr::get(&getContext()));
        separate(func);
      }
  }

  void separate(func::FuncOp func) {
    // Destinations whose values are read keep their argument.
    SmallVector<OpOperand *> shared;
    llvm::SmallPtrSet<Value, 8> taken;
    func.walk([&](TileOpInterface op) {
      for (auto [i, operand] : llvm::enumerate(op.getOutputsMutable())) {
        if (!isa<BlockArgument>(operand.get()))
          continue;
        if (op.getCombiner(i) && !op.getFresh()[i])
          taken.insert(operand.get());
        else if (!taken.insert(operand.get()).second)
          shared.push_back(&operand);
      }
    });
    if (shared.empty())
      return;
    SmallVector<func::CallOp> calls;
    if (auto uses = SymbolTable::getSymbolUses(func, getOperation()))
      for (SymbolTable::SymbolUse use : *uses)
        if (auto call = dyn_cast<func::CallOp>(use.getUser()))
          calls.push_back(call);
    for (OpOperand *operand : shared) {
      unsigned number = cast<BlockArgument>(operand->get()).getArgNumber();
      Type type = operand->get().getType();
      operand->set(func.getBody().front().addArgument(type, func.getLoc()));
      for (func::CallOp call : calls) {
        OpBuilder builder(call);
        auto tensorType = cast<RankedTensorType>(type);
        SmallVector<Value> sizes;
        for (int64_t d = 0; d < tensorType.getRank(); ++d)
          if (tensorType.isDynamicDim(d))
            sizes.push_back(tensor::DimOp::create(builder, call.getLoc(),
                                                  call.getOperand(number), d));
        Value empty =
            tensor::EmptyOp::create(builder, call.getLoc(), tensorType, sizes);
        call.getOperandsMutable().append(empty);
      }
    }
    func.setFunctionType(FunctionType::get(
        &getContext(), func.getBody().front().getArgumentTypes(),
        func.getResultTypes()));
    if (ArrayAttr attrs = func.getArgAttrsAttr()) {
      SmallVector<Attribute> all(attrs.begin(), attrs.end());
      all.resize(func.getNumArguments(), DictionaryAttr::get(&getContext()));
      func.setArgAttrsAttr(ArrayAttr::get(&getContext(), all));
    }
  }
};

} // namespace
