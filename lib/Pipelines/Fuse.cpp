//===- Fuse.cpp - coda-fuse-pipeline ------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  auto cleanUp = [&] {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  };
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  cleanUp();
  pm.addNestedPass<func::FuncOp>(createNormalizePass());
  cleanUp();
  RaisePassOptions raise;
  raise.strict = options.strict;
  pm.addNestedPass<func::FuncOp>(createRaisePass(raise));
  cleanUp();
  CommutePassOptions commute;
  commute.strict = options.strict;
  commute.allowF16Range = options.allowF16Range;
  pm.addNestedPass<func::FuncOp>(createCommutePass(commute));
  FormTileOpsPassOptions form;
  form.strict = options.strict;
  pm.addNestedPass<func::FuncOp>(createFormTileOpsPass(form));
  cleanUp();
  FusePassOptions fuse;
  fuse.strict = options.strict;
  pm.addNestedPass<func::FuncOp>(createFusePass(fuse));
  cleanUp();
  pm.addNestedPass<func::FuncOp>(createBundlePass());
  if (!options.strict)
    pm.addNestedPass<func::FuncOp>(createPartitionReductionsPass());
  cleanUp();
  pm.addPass(createOutlineKernelsPass());
}

void coda::registerFusePipeline() {
  PassPipelineRegistration<FusePipelineOptions>(
      "coda-fuse-pipeline",
      "From linalg on tensors to one call of a kernel function per launch",
      buildFusePipeline);
}
