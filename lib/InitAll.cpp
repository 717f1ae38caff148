//===- InitAll.cpp - Registration of all coda dialects and passes -------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/InitAll.h"

#include "coda/Conversion/CodaToNVGPU/Passes.h"
#include "coda/Conversion/Passes.h"
#include "coda/Dialect/Coda/IR/CodaDialect.h"
#include "coda/Dialect/Coda/Transforms/BufferizableOpInterfaceImpl.h"
#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/ScaleTransparentOpInterfaceImpl.h"
#include "coda/Dialect/CodaGPU/IR/CodaGPU.h"
#include "coda/Pipelines/AutodiffPipeline.h"
#include "coda/Pipelines/CPUPipelines.h"
#include "coda/Pipelines/FusePipeline.h"
#include "coda/Pipelines/GPUPipelines.h"

using namespace mlir;

void coda::registerAllDialects(DialectRegistry &registry) {
  registry.insert<CodaDialect, coda_gpu::CodaGPUDialect>();
  coda_gpu::registerGPUTargets(registry);
  // Without it one-shot-bufferize leaves tile ops on tensors.
  registerBufferizableOpInterfaceExternalModels(registry);
  // Without it coda-autodiff refuses every scalar op.
  registerDifferentiableOpInterfaceExternalModels(registry);
  // Without it coda-commute moves no scale past upstream ops.
  registerScaleTransparentOpInterfaceExternalModels(registry);
}

void coda::registerAllPasses() {
  registerCodaPasses();
  registerCodaConversionPasses();
  registerFusePipeline();
  registerAutodiffPipeline();
  registerCPUPipelines();
  coda_gpu::registerCodaToNVGPUPasses();
  coda_gpu::registerGPUPipelines();
}
