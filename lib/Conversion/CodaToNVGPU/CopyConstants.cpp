//===- CopyConstants.cpp - Constant tensors into device memory ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUCOPYCONSTANTS
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

namespace {

struct GPUCopyConstants
    : public coda_gpu::impl::GPUCopyConstantsBase<GPUCopyConstants> {
  void runOnOperation() override {
    getOperation()->walk([](memref::GetGlobalOp global) {
      OpBuilder builder(global->getContext());
      builder.setInsertionPointAfter(global);
      Location loc = global.getLoc();
      auto buffer = memref::AllocOp::create(builder, loc, global.getType());
      global.getResult().replaceAllUsesWith(buffer.getResult());
      memref::CopyOp::create(builder, loc, global.getResult(), buffer);
    });
  }
};

} // namespace
