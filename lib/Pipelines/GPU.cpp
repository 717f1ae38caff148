//===- GPU.cpp - Pipelines of the Hopper lowering -------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "coda/Pipelines/GPUPipelines.h"

#include "coda/Conversion/CodaToNVGPU/Passes.h"
#include "coda/Conversion/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void coda_gpu::buildSelectSchedulePipeline(
    OpPassManager &pm, const ToNVGPUPipelineOptions &options) {
  // Dead region ops would load tiles that nothing reads.
  pm.addPass(createCanonicalizerPass());
  SelectScheduleOptions select;
  select.database = options.database;
  select.gpu = options.gpu;
  select.batchInvariant = options.batchInvariant;
  pm.addPass(createSelectSchedule(select));
}

void coda_gpu::buildToNVGPUPipeline(OpPassManager &pm,
                                    const ToNVGPUPipelineOptions &options) {
  buildSelectSchedulePipeline(pm, options);
  buildScheduledToNVGPUPipeline(pm);
}

void coda_gpu::buildScheduledToNVGPUPipeline(OpPassManager &pm) {
  pm.addPass(createToNVGPU());
  pm.addPass(createGPULaunchLoops());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void coda_gpu::buildGPUKernelsPipeline(OpPassManager &pm) {
  pm.addPass(coda::createCodaCheckConstants());
  pm.addPass(createGPUResolveReshapes());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createGPUDecomposeUnscheduled());
  pm.addPass(createSeparateDestinations());
  pm.addPass(coda::createCodaHostSignature());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  coda::addCleanup(pm);
  coda::addBufferization(pm, /*alignment=*/256);
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  coda::addCleanup(pm);
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  coda::addCleanup(pm);
  pm.addPass(createGPUPassViews());
  pm.addPass(createGPUPadRows());
  pm.addPass(createGPUCopyConstants());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  pm.addPass(coda::createCodaPlanWorkspace());
  pm.addPass(createGPUMarkUnwritten());
}

void coda_gpu::buildToPTXPipeline(OpPassManager &pm,
                                  const ToPTXPipelineOptions &options) {
  GpuNVVMAttachTargetOptions attach;
  attach.chip = options.chip;
  attach.features = "+ptx83";
  attach.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(attach));
  pm.addPass(createConvertNVGPUToNVVMPass());
  {
    OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
    GPULowerMathOptions math;
    math.strict = options.numerics == coda::Numerics::Strict;
    kernels.addPass(createGPULowerMath(math));
    arith::ArithEmulateUnsupportedFloatsOptions emulate;
    emulate.sourceTypeStrs = {"f8E4M3FN", "f8E5M2"};
    emulate.targetTypeStr = "f32";
    kernels.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
    kernels.addPass(createGPULowerF8());
    kernels.addPass(coda::createCodaExpandF8());
    kernels.addPass(createConvertVectorToLLVMPass());
    kernels.addPass(memref::createExpandStridedMetadataPass());
    kernels.addPass(createSCFToControlFlowPass());
    kernels.addPass(createConvertMathToLLVMPass());
    kernels.addPass(createConvertGpuOpsToNVVMOps());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
  }
  pm.addPass(createGPUFinalizeABI());
  {
    OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
    kernels.addPass(createConvertIndexToLLVMPass());
    kernels.addPass(createArithToLLVMConversionPass());
    kernels.addPass(createConvertNVVMToLLVMPass());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createReconcileUnrealizedCastsPass());
  }
  if (options.lineInfo) {
    pm.addPass(createGPUSourceLines());
    // More would make PTX that ptxas takes without optimisation only.
    LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
    scopes.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scopes));
  }
  if (options.format == "llvm")
    return;
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = "isa";
  pm.addPass(createGpuModuleToBinaryPass(binary));
  if (options.format == "bin") {
    GPUAssembleOptions assemble;
    assemble.ptxas = options.ptxas;
    assemble.lineInfo = options.lineInfo;
    pm.addPass(createGPUAssemble(assemble));
  }
}

void coda_gpu::registerGPUPipelines() {
  PassPipelineRegistration<ToNVGPUPipelineOptions>(
      "coda-to-nvgpu-pipeline",
      "Outlined kernels on memrefs to nvgpu and nvvm, with launchers",
      buildToNVGPUPipeline);
  PassPipelineRegistration<ToPTXPipelineOptions>(
      "coda-to-ptx-pipeline",
      "Kernels in nvgpu and nvvm to PTX in gpu.binary, without a CUDA toolkit",
      buildToPTXPipeline);
}
