//===- FinalizeABI.cpp - Kernel parameters and shared memory --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUFINALIZEABI
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

namespace {

/// Bytes of a CUtensorMap, and the alignment that it needs.
constexpr int64_t kTensorMapBytes = 128;
constexpr int64_t kTensorMapAlign = 64;
/// The 128-byte swizzle repeats every 1024 bytes.
constexpr int64_t kSharedMemoryAlign = 1024;

struct GPUFinalizeABI
    : public coda_gpu::impl::GPUFinalizeABIBase<GPUFinalizeABI> {
  void runOnOperation() override {
    getOperation().walk([&](gpu::GPUModuleOp module) { finalize(module); });
  }

  void finalize(gpu::GPUModuleOp module) {
    MLIRContext *context = &getContext();
    auto byteType = IntegerType::get(context, 8);
    auto mapType = LLVM::LLVMArrayType::get(byteType, kTensorMapBytes);
    auto byval = StringAttr::get(context, LLVM::LLVMDialect::getByValAttrName());
    auto align = StringAttr::get(context, LLVM::LLVMDialect::getAlignAttrName());
    auto gridConstant = StringAttr::get(
        context, NVVM::NVVMDialect::getGridConstantAttrName());
    auto kernel =
        StringAttr::get(context, NVVM::NVVMDialect::getKernelFuncAttrName());

    module.walk([&](LLVM::LLVMFuncOp func) {
      if (!func->hasAttr(kernel))
        return;
      for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i) {
        auto alignment = func.getArgAttrOfType<IntegerAttr>(i, align);
        if (!alignment || alignment.getInt() != kTensorMapAlign)
          continue;
        func.setArgAttr(i, byval, TypeAttr::get(mapType));
        func.setArgAttr(i, gridConstant, UnitAttr::get(context));
      }
    });
    module.walk([&](LLVM::GlobalOp global) {
      if (!global.getSymName().starts_with("__dynamic_shmem__"))
        return;
      global.setLinkage(LLVM::Linkage::External);
      global.setAlignment(kSharedMemoryAlign);
    });
  }
};

} // namespace
