//===- FusePipeline.h - From linalg to kernels on tensors -*- C++ -*- ---===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_PIPELINES_FUSEPIPELINE_H
#define CODA_PIPELINES_FUSEPIPELINE_H

#include "coda/Dialect/Coda/Transforms/F32Products.h"
#include "coda/Dialect/Coda/Transforms/Numerics.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
namespace coda {

/// Options of `coda-fuse-pipeline`.
struct FusePipelineOptions : public PassPipelineOptions<FusePipelineOptions> {
  Option<Numerics> numerics{
      *this, "numerics",
      llvm::cl::desc("strict: keep every rounding and the order of every sum, "
                     "commute and partition nothing"),
      llvm::cl::init(Numerics::Relaxed), getNumericsValues()};
  Option<bool> allowF16Range{
      *this, "allow-f16-range",
      llvm::cl::desc("Store unnormalised values in f16, whose range they may "
                     "exceed"),
      llvm::cl::init(false)};
  Option<bool> allMaps{
      *this, "all-maps",
      llvm::cl::desc("Form maps also where no tile op is near, and gemms of "
                     "attention's products: what is left of linalg is loops, "
                     "which a device runs badly"),
      llvm::cl::init(false)};
  Option<F32Products> f32Products{
      *this, "f32-products",
      llvm::cl::desc("What multiplies f32 factors: sums of products of bf16 "
                     "parts, which a device's matrix unit adds up"),
      llvm::cl::init(F32Products::F32), getF32ProductsValues()};
};

/// From functions on tensors, in linalg and coda, to the same functions with
/// one call of a `coda.kernel` function per launch: normalise, raise, commute,
/// form tile ops, fuse, bundle, partition reductions, outline. What is not
/// recognised stays as it was, with a remark.
void buildFusePipeline(OpPassManager &pm, const FusePipelineOptions &options);

/// Registers `coda-fuse-pipeline`.
void registerFusePipeline();

} // namespace coda
} // namespace mlir

#endif // CODA_PIPELINES_FUSEPIPELINE_H
