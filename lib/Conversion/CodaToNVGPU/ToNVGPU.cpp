//===- ToNVGPU.cpp - Scheduled kernels to nvgpu and launchers -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "KernelEmitter.h"
#include "Launcher.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_TONVGPU
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

/// Attributes of a gpu.func that the launch needs.
static constexpr StringLiteral kSharedBytesAttrName = "coda.shared_bytes";

namespace {

struct ToNVGPU : public coda_gpu::impl::ToNVGPUBase<ToNVGPU> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp func : module.getOps<func::FuncOp>())
      if (func->hasAttr(kKernelAttrName))
        kernels.push_back(func);
    for (func::FuncOp func : kernels)
      if (failed(lower(func)))
        return signalPassFailure();
    if (!kernels.empty())
      module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                      UnitAttr::get(&getContext()));
  }

  LogicalResult lower(func::FuncOp func) {
    std::string reason;
    auto schedule = func->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (!schedule)
      return func.emitError("kernel has no schedule; run coda-select-schedule");
    FailureOr<KernelModel> kernel = buildKernelModel(func, reason);
    if (failed(kernel))
      return func.emitError("kernel is not lowered to sm_90a: ") << reason;
    if (failed(verifySchedule(*kernel, schedule, reason)))
      return func.emitError("schedule does not fit the kernel: ") << reason;

    ModuleOp module = getOperation();
    Location loc = func.getLoc();
    OpBuilder builder(&getContext());
    std::string name = getKernelName(func, schedule);
    // All kernels go into one module: one image to load.
    auto gpuModule = module.lookupSymbol<gpu::GPUModuleOp>(kKernelsName);
    if (!gpuModule) {
      builder.setInsertionPointToEnd(module.getBody());
      gpuModule = gpu::GPUModuleOp::create(builder, loc, kKernelsName);
    }
    builder.setInsertionPointToEnd(gpuModule.getBody());
    KernelEmitter emitter(*kernel, schedule, builder);
    gpu::GPUFuncOp gpuFunc = emitter.emit(name);
    int64_t shared = getSharedMemoryBytes(*kernel, schedule);
    gpuFunc->setAttr(kSharedBytesAttrName, builder.getI64IntegerAttr(shared));
    createHandle(
        builder, module, loc, name, /*image=*/"",
        {shared, KernelEmitter::kThreads, getClusterBlocks(schedule),
         beginsEarly(*kernel, schedule)});
    // The function becomes the launcher: its views stay, the op goes.
    Operation *op = kernel->tiles.front().op;
    while (op->getParentOp() != func)
      op = op->getParentOp();
    builder.setInsertionPoint(op);
    // Of few rows the weights come from memory, which then gives a little more;
    // with many, neighbours are read soon.
    int64_t sector = getTileRows(schedule) <= kFragmentRows ? 128 : 256;
    emitLaunch(builder, module, loc, name, emitter.getParams(), sector);
    op->erase();
    func->removeAttr(kKernelAttrName);
    func->removeAttr(kScheduleAttrName);
    // Nothing reads what else is said about the schedule from here on.
    for (NamedAttribute attr : llvm::to_vector(func->getDiscardableAttrs()))
      if (attr.getName().getValue().starts_with("coda."))
        func->removeAttr(attr.getName());
    return success();
  }
};

} // namespace
