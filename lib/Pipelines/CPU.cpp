//===- CPU.cpp - coda-to-cpu-pipeline -------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "coda/Conversion/Passes.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Pipelines/CPUPipelines.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::coda;

void coda::buildCPULoopsPipeline(OpPassManager &pm,
                                 const CPUPipelineOptions &options) {
  pm.addPass(createCodaCheckConstants());
  // arith and math on tensors, as front ends write them outside of linalg.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createDecomposePass());
  if (options.reference) {
    pm.addPass(createInlinerPass());
    pm.addPass(createSymbolDCEPass());
    pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
    CodaWidenToF64Options widen;
    widen.borders = options.referenceBorders;
    pm.addPass(createCodaWidenToF64(widen));
  }
  pm.addPass(createCodaGuardTraps());
  pm.addPass(createCodaHostSignature());
  pm.addPass(createCodaComputeOnce());
  pm.addPass(createCodaFoldTransposes());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(pm);

  addBufferization(pm, /*alignment=*/64);
  addCleanup(pm);
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(pm);

  pm.addPass(createCodaCopyToLinalg());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  CodaLowerContractionsOptions contractions;
  contractions.numerics = options.numerics;
  pm.addPass(createCodaLowerContractions(contractions));
  pm.addPass(createCodaExpandMath());
  CodaVectorizeLoopsOptions vectors;
  vectors.numerics = options.numerics;
  pm.addPass(createCodaVectorizeLoops(vectors));
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  addCleanup(pm);
  pm.addPass(createCodaPlanWorkspace());
}

void coda::buildCPUToLLVMPipeline(OpPassManager &pm,
                                  const CPUPipelineOptions &options) {
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createCodaResolveExpansions());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addNestedPass<func::FuncOp>(createConvertVectorToSCFPass());
  addCleanup(pm);
  pm.addPass(createSCFToControlFlowPass());

  CodaToHostOptions host;
  host.cpu = options.cpu;
  host.cpuFeatures = options.cpuFeatures;
  pm.addPass(createCodaToHost(host));

  math::MathExtendToSupportedTypesOptions extend;
  extend.extraTypeStrs = {"f16"};
  extend.targetTypeStr = "f32";
  pm.addNestedPass<func::FuncOp>(math::createMathExtendToSupportedTypes(extend));
  math::MathExpandOpsPassOptions expandMath;
  expandMath.opMnemonics = {"fpowi"};
  pm.addNestedPass<func::FuncOp>(math::createMathExpandOpsPass(expandMath));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createConvertComplexToLLVMPass());
  // x86-64-v3 has no arithmetic on narrower floats: each op in f32, rounded.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16", "f8E4M3FN", "f8E5M2"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  if (options.numerics == Numerics::Strict)
    pm.addPass(createCodaKeepRoundings());
  pm.addPass(createCodaExpandF8());
  arith::ArithExpandOpsPassOptions expandArith;
  expandArith.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expandArith));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void coda::buildCPUPipeline(OpPassManager &pm,
                            const CPUPipelineOptions &options) {
  buildCPULoopsPipeline(pm, options);
  buildCPUToLLVMPipeline(pm, options);
}

void coda::registerCPUPipelines() {
  PassPipelineRegistration<CPUPipelineOptions>(
      "coda-to-cpu-pipeline",
      "From linalg and coda on tensors to the LLVM dialect with the host ABI",
      buildCPUPipeline);
}
