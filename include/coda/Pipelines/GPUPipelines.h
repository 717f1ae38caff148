//===- GPUPipelines.h - Pipelines of the Hopper lowering --------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_PIPELINES_GPUPIPELINES_H
#define CODA_PIPELINES_GPUPIPELINES_H

#include "coda/Dialect/Coda/Transforms/Numerics.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
}

namespace mlir::coda_gpu {

/// Options of `coda-to-nvgpu-pipeline`.
struct ToNVGPUPipelineOptions
    : public PassPipelineOptions<ToNVGPUPipelineOptions> {
  PassOptions::Option<std::string> database{
      *this, "database",
      llvm::cl::desc("JSON file of measured schedules; empty: none"),
      llvm::cl::init("")};
  PassOptions::Option<std::string> gpu{
      *this, "gpu",
      llvm::cl::desc("the GPU of the database whose schedules count; empty: "
                     "its only one"),
      llvm::cl::init("")};
  PassOptions::Option<bool> batchInvariant{
      *this, "batch-invariant",
      llvm::cl::desc("no schedule whose order of sums depends on the number of "
                     "rows"),
      llvm::cl::init(false)};
};

/// The first part of `coda-to-nvgpu-pipeline`: a schedule for each kernel.
void buildSelectSchedulePipeline(OpPassManager &pm,
                                 const ToNVGPUPipelineOptions &options);

/// The rest of it: kernels with schedules to gpu.func, with a launcher each.
void buildScheduledToNVGPUPipeline(OpPassManager &pm);

/// From outlined kernels on memrefs to gpu.func in nvgpu and nvvm, with a
/// launcher each: schedule, kernel, clean-up.
void buildToNVGPUPipeline(OpPassManager &pm,
                          const ToNVGPUPipelineOptions &options);

/// Options of `coda-to-ptx-pipeline`.
struct ToPTXPipelineOptions : public PassPipelineOptions<ToPTXPipelineOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip", llvm::cl::desc("GPU architecture; sm_90a only"),
      llvm::cl::init("sm_90a")};
  PassOptions::Option<std::string> format{
      *this, "format",
      llvm::cl::desc("llvm: stop at the llvm dialect; isa: PTX; bin: machine "
                     "code by ptxas"),
      llvm::cl::init("isa")};
  PassOptions::Option<std::string> ptxas{
      *this, "ptxas", llvm::cl::desc("the assembler; empty: from PATH"),
      llvm::cl::init("")};
  PassOptions::Option<bool> lineInfo{
      *this, "line-info",
      llvm::cl::desc("line tables from instructions to the source"),
      llvm::cl::init(false)};
  PassOptions::Option<coda::Numerics> numerics{
      *this, "numerics",
      llvm::cl::desc("strict: IEEE division and square root"),
      llvm::cl::init(coda::Numerics::Relaxed), coda::getNumericsValues()};
};

/// From gpu.module with gpu.func in nvgpu, nvvm, scf, arith, math, vector and
/// memref to a gpu.binary with PTX, through the NVPTX backend. The host part
/// of the module is not touched.
void buildToPTXPipeline(OpPassManager &pm, const ToPTXPipelineOptions &options);

/// From a fused graph on tensors to outlined kernels on memrefs and entries
/// with a workspace argument: the first half of a compilation for a GPU, before
/// `coda-to-nvgpu-pipeline`.
void buildGPUKernelsPipeline(OpPassManager &pm);

void registerGPUPipelines();

} // namespace mlir::coda_gpu

#endif // CODA_PIPELINES_GPUPIPELINES_H
