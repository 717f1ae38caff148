//===- HostOps.cpp - What is left around the launches ---------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUHOSTOPS
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

namespace {

struct GPUHostOps : public coda_gpu::impl::GPUHostOpsBase<GPUHostOps> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp func : module.getOps<func::FuncOp>()) {
      WalkResult result = func.walk([&](Operation *op) {
        if (auto copy = dyn_cast<memref::CopyOp>(op))
          return failed(lowerCopy(module, copy)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
        return failed(check(op)) ? WalkResult::interrupt()
                                 : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }

  /// The host may compute extents and views; it must not touch elements.
  LogicalResult check(Operation *op) {
    if (isa<memref::LoadOp>(op))
      return op->emitError(
          "'tensor.extract' gives the host an element of a tensor that is on "
          "the device, for an extent, a branch or a position; use the tensor in "
          "linalg instead, or compile for the CPU");
    StringRef dialect = op->getName().getDialectNamespace();
    // A shape in a tensor is on the device, too.
    bool readsMemory =
        isa_and_nonnull<memref::MemRefDialect>(op->getDialect()) &&
        !isa<ViewLikeOpInterface, memref::AssumeAlignmentOp, memref::DimOp,
             memref::ExtractAlignedPointerAsIndexOp,
             memref::ExtractStridedMetadataOp, memref::GetGlobalOp,
             memref::RankOp>(op);
    if (readsMemory || isa<memref::ReshapeOp>(op) || dialect == "linalg" ||
        dialect == "coda" || dialect == "vector" || dialect == "tensor")
      return op->emitError("'")
             << op->getName()
             << "' would run on the host, and its data is on the device; write "
                "it as linalg, or compile for the CPU";
    return success();
  }

  LogicalResult lowerCopy(ModuleOp module, memref::CopyOp copy) {
    auto from = cast<MemRefType>(copy.getSource().getType());
    auto to = cast<MemRefType>(copy.getTarget().getType());
    if (!from.getLayout().isIdentity() || !to.getLayout().isIdentity())
      return copy.emitError("a copy on the device is not contiguous; return "
                            "the value in the layout in which it is computed");
    OpBuilder builder(copy);
    Location loc = copy.getLoc();
    Type i64 = builder.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Value bytes = arith::ConstantOp::create(
        builder, loc,
        builder.getI64IntegerAttr(
            std::max<int64_t>(1, from.getElementTypeBitWidth() / 8)));
    for (int64_t d = 0; d < from.getRank(); ++d) {
      Value size = arith::IndexCastOp::create(
          builder, loc, i64,
          memref::DimOp::create(builder, loc, copy.getSource(), d));
      bytes = arith::MulIOp::create(builder, loc, bytes, size);
    }
    auto address = [&](Value memref) -> Value {
      Value index =
          memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
      Value number = arith::IndexCastOp::create(builder, loc, i64, index);
      return LLVM::IntToPtrOp::create(builder, loc, pointer, number);
    };
    StringRef name = "coda_gpu_copy";
    if (!module.lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      LLVM::LLVMFuncOp::create(
          builder, loc, name,
          LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                      {pointer, pointer, i64}));
    }
    LLVM::CallOp::create(
        builder, loc, TypeRange(), name,
        ValueRange{address(copy.getTarget()), address(copy.getSource()),
                   bytes});
    copy.erase();
    return success();
  }
};

} // namespace
