//===- Common.cpp - Steps that several pipelines share ------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void coda::addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void coda::addBufferization(OpPassManager &pm, int64_t alignment) {
  pm.addPass(createCodaLoopDestinations());
  pm.addPass(createCodaPrivatizeInits());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(createCodaShareBranchInits());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.bufferAlignment = alignment;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
}
