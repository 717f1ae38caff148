//===- Autodiff.cpp - coda-autodiff-pipeline ----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Pipelines/AutodiffPipeline.h"
#include "coda/Pipelines/FusePipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::coda;

void coda::buildAutodiffPipeline(OpPassManager &pm,
                                 const AutodiffPipelineOptions &options) {
  FusePipelineOptions fuse;
  fuse.numerics = options.numerics;
  fuse.allowF16Range = options.allowF16Range;
  // What is saved follows the roundings of the source; coda-autodiff drops them.
  addFormation(pm, fuse, /*all=*/true, /*keepRoundings=*/true);
  if (options.fuse)
    addFusion(pm, fuse, /*keepRoundings=*/true);
  // A row's partial sums are saved as they are: a sum of them would be a launch.
  // The adjoint of a logaddexp reads its whole value.
  if (options.fuse)
    addPartialSums(pm, options.numerics, /*sumsOnly=*/true);
  addCleanup(pm);
  AutodiffPassOptions autodiff;
  autodiff.function = options.function;
  autodiff.save = options.save;
  autodiff.constants.assign(options.constants.begin(), options.constants.end());
  autodiff.gradDtype = options.gradDtype;
  autodiff.residualGrad = options.residualGrad;
  autodiff.accumulate = options.accumulate;
  autodiff.recomputeOver = options.recomputeOver;
  autodiff.numerics = options.numerics;
  pm.addPass(createAutodiffPass(autodiff));
  addCleanup(pm);
  if (options.fuse) {
    // Only now: a rounding to parts has no derivative.
    fuse.f32Products = options.f32Products;
    addFusion(pm, fuse);
    addLaunches(pm, fuse);
  }
  if (options.joint)
    pm.addPass(createJoinGradientPass());
}

void coda::registerAutodiffPipeline() {
  PassPipelineRegistration<AutodiffPipelineOptions>(
      "coda-autodiff-pipeline",
      "From linalg on tensors to kernels of a function, its forward and its "
      "backward",
      buildAutodiffPipeline);
}
