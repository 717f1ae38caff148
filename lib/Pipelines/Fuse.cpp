//===- Fuse.cpp - coda-fuse-pipeline ------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Pipelines/FusePipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::coda;

void coda::buildFusePipeline(OpPassManager &pm,
                             const FusePipelineOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createNormalizePass());
  addCleanup(pm);
  RaisePassOptions raise;
  raise.numerics = options.numerics;
  pm.addNestedPass<func::FuncOp>(createRaisePass(raise));
  addCleanup(pm);
  CommutePassOptions commute;
  commute.numerics = options.numerics;
  commute.allowF16Range = options.allowF16Range;
  pm.addNestedPass<func::FuncOp>(createCommutePass(commute));
  FormTileOpsPassOptions form;
  form.numerics = options.numerics;
  pm.addNestedPass<func::FuncOp>(createFormTileOpsPass(form));
  addCleanup(pm);
  FusePassOptions fuse;
  fuse.numerics = options.numerics;
  pm.addNestedPass<func::FuncOp>(createFusePass(fuse));
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createBundlePass());
  if (options.numerics != Numerics::Strict)
    pm.addNestedPass<func::FuncOp>(createPartitionReductionsPass());
  addCleanup(pm);
  pm.addPass(createOutlineKernelsPass());
}

void coda::registerFusePipeline() {
  PassPipelineRegistration<FusePipelineOptions>(
      "coda-fuse-pipeline",
      "From linalg on tensors to one call of a kernel function per launch",
      buildFusePipeline);
}
