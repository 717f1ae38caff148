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

void coda::addFormation(OpPassManager &pm,
                        const FusePipelineOptions &options, bool all,
                        bool keepRoundings) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createNormalizePass());
  addCleanup(pm);
  if (options.numerics != Numerics::Strict) {
    pm.addNestedPass<func::FuncOp>(createTransposeRowSumsPass());
    addCleanup(pm);
  }
  RaisePassOptions raise;
  raise.numerics = options.numerics;
  raise.all = all;
  pm.addNestedPass<func::FuncOp>(createRaisePass(raise));
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createHoistSlicesPass());
  addCleanup(pm);
  if (options.numerics != Numerics::Strict) {
    pm.addNestedPass<func::FuncOp>(createSplitJoinedFactorsPass());
    addCleanup(pm);
  }
  CommutePassOptions commute;
  commute.numerics = options.numerics;
  commute.allowF16Range = options.allowF16Range;
  pm.addNestedPass<func::FuncOp>(createCommutePass(commute));
  FormTileOpsPassOptions form;
  form.numerics = options.numerics;
  form.all = all;
  form.keepRoundings = keepRoundings;
  pm.addNestedPass<func::FuncOp>(createFormTileOpsPass(form));
  addCleanup(pm);
}

void coda::addFusion(OpPassManager &pm, const FusePipelineOptions &options,
                     bool keepRoundings) {
  FusePassOptions fuse;
  fuse.numerics = options.numerics;
  fuse.keepRoundings = keepRoundings;
  fuse.allowF16Range = options.allowF16Range;
  pm.addNestedPass<func::FuncOp>(createFusePass(fuse));
  addCleanup(pm);
  if (options.f32Products == F32Products::F32)
    return;
  // What the products are of is known now; their parts join what makes them.
  SplitF32PassOptions split;
  split.products = options.f32Products;
  pm.addNestedPass<func::FuncOp>(createSplitF32Pass(split));
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createFusePass(fuse));
  addCleanup(pm);
}

void coda::addPartialSums(OpPassManager &pm, Numerics numerics,
                          bool sumsOnly) {
  if (numerics == Numerics::Strict)
    return;
  PartitionReductionsPassOptions partition;
  partition.sumsOnly = sumsOnly;
  // Groups that are an index, as those of a narrow granule, have no adjoint.
  if (sumsOnly)
    partition.rowGranule = partition.granule;
  // The bits of a row then depend on how many there are.
  if (numerics == Numerics::Relaxed && !sumsOnly)
    partition.fewRowsGranule = 16;
  pm.addNestedPass<func::FuncOp>(createPartitionReductionsPass(partition));
}

void coda::addLaunches(OpPassManager &pm, const FusePipelineOptions &options) {
  addPartialSums(pm, options.numerics, /*sumsOnly=*/false);
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createBundlePass());
  pm.addPass(createOutlineKernelsPass());
}

void coda::buildFusePipeline(OpPassManager &pm,
                             const FusePipelineOptions &options) {
  addFormation(pm, options, options.allMaps);
  addFusion(pm, options);
  addLaunches(pm, options);
}

void coda::registerFusePipeline() {
  PassPipelineRegistration<FusePipelineOptions>(
      "coda-fuse-pipeline",
      "From linalg on tensors to one call of a kernel function per launch",
      buildFusePipeline);
}
