//===- AutodiffPipeline.h - Forward and backward as kernels -*- C++ -*- -===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_PIPELINES_AUTODIFFPIPELINE_H
#define CODA_PIPELINES_AUTODIFFPIPELINE_H

#include "coda/Dialect/Coda/Transforms/F32Products.h"
#include "coda/Dialect/Coda/Transforms/Numerics.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
namespace coda {

/// Options of `coda-autodiff-pipeline`; see the pass coda-autodiff.
struct AutodiffPipelineOptions
    : public PassPipelineOptions<AutodiffPipelineOptions> {
  Option<std::string> function{*this, "func",
                               llvm::cl::desc("The function to differentiate"),
                               llvm::cl::init("main")};
  Option<std::string> save{
      *this, "save",
      llvm::cl::desc("What the forward saves: min, stored or all"),
      llvm::cl::init("min")};
  ListOption<int64_t> constants{
      *this, "constants",
      llvm::cl::desc("Numbers of arguments that get no gradient")};
  Option<std::string> gradDtype{
      *this, "grad-dtype",
      llvm::cl::desc("Type of gradients summed over rows (of weights); empty: "
                     "the argument's"),
      llvm::cl::init("")};
  Option<std::string> residualGrad{
      *this, "residual-grad",
      llvm::cl::desc("Type of cotangents stored between kernels; empty: the "
                     "value's"),
      llvm::cl::init("")};
  Option<bool> accumulate{
      *this, "accumulate",
      llvm::cl::desc("Add gradients of weights to given ones"),
      llvm::cl::init(false)};
  Option<int64_t> recomputeOver{
      *this, "recompute-over",
      llvm::cl::desc("Run a gemm again rather than save more bytes for it; 0: "
                     "never"),
      llvm::cl::init(0)};
  Option<bool> joint{
      *this, "joint",
      llvm::cl::desc("Add a function that runs both, forward and backward"),
      llvm::cl::init(false)};
  Option<bool> fuse{*this, "fuse",
                    llvm::cl::desc("Join tile ops; off: op by op, without "
                                   "kernels, to compare with"),
                    llvm::cl::init(true)};
  Option<Numerics> numerics{
      *this, "numerics",
      llvm::cl::desc("strict: keep every rounding and the order of every sum "
                     "of the forward"),
      llvm::cl::init(Numerics::Relaxed), getNumericsValues()};
  Option<bool> allowF16Range{
      *this, "allow-f16-range",
      llvm::cl::desc("Store unnormalised values in f16, whose range they may "
                     "exceed"),
      llvm::cl::init(false)};
  Option<F32Products> f32Products{
      *this, "f32-products",
      llvm::cl::desc("What multiplies f32 factors, of the forward too: sums of "
                     "products of bf16 parts, which a device's matrix unit adds up"),
      llvm::cl::init(F32Products::F32), getF32ProductsValues()};
};

/// From a function on tensors, in linalg and coda, to the function, its forward
/// `_fwd` and its backward `_bwd`, each with one call of a `coda.kernel`
/// function per launch: what coda-fuse-pipeline does up to partial sums,
/// coda-autodiff, and the same fusion again.
void buildAutodiffPipeline(OpPassManager &pm,
                           const AutodiffPipelineOptions &options);

/// Registers `coda-autodiff-pipeline`.
void registerAutodiffPipeline();

} // namespace coda
} // namespace mlir

#endif // CODA_PIPELINES_AUTODIFFPIPELINE_H
