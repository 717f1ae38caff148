//===- CPUPipelines.h - From coda and linalg to LLVM, on the CPU -*- C++ -*-==//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_PIPELINES_CPUPIPELINES_H
#define CODA_PIPELINES_CPUPIPELINES_H

#include "coda/Dialect/Coda/Transforms/Numerics.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
namespace coda {

/// Options of `coda-to-cpu-pipeline`.
struct CPUPipelineOptions : public PassPipelineOptions<CPUPipelineOptions> {
  Option<Numerics> numerics{
      *this, "numerics",
      llvm::cl::desc("strict: keep the order of every reduction (bit-exact with "
                     "the unfused program); relaxed: sums run in lanes"),
      llvm::cl::init(Numerics::Relaxed), getNumericsValues()};
  Option<bool> reference{
      *this, "reference",
      llvm::cl::desc("Compute everything in f64, inputs extended on entry and "
                     "results rounded to f32 (f64 stays): the oracle of "
                     "coda-run"),
      llvm::cl::init(false)};
  Option<bool> referenceBorders{
      *this, "reference-borders",
      llvm::cl::desc("With reference: arguments and results are f64, too"),
      llvm::cl::init(false)};
  Option<std::string> cpu{
      *this, "cpu", llvm::cl::desc("CPU level recorded in the artifact"),
      llvm::cl::init("x86-64-v3")};
  Option<unsigned> cpuFeatures{
      *this, "cpu-features",
      llvm::cl::desc("CODA_CPU_* features checked before a call"),
      llvm::cl::init(1)};
};

/// From tensors (linalg, coda) to bufferised loops with a static workspace.
void buildCPULoopsPipeline(OpPassManager &pm,
                           const CPUPipelineOptions &options);

/// From the loops to the LLVM dialect, with the host ABI around them.
void buildCPUToLLVMPipeline(OpPassManager &pm,
                            const CPUPipelineOptions &options);

/// Both: a module of functions on tensors becomes one of the LLVM dialect that
/// exports the C ABI of coda_runtime.h.
void buildCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options);

/// Registers `coda-to-cpu-pipeline`.
void registerCPUPipelines();

} // namespace coda
} // namespace mlir

#endif // CODA_PIPELINES_CPUPIPELINES_H
