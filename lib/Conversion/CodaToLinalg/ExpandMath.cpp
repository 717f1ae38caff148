//===- ExpandMath.cpp - Math functions as arithmetic ----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"
#include "coda/Dialect/Coda/Transforms/ExpandClamp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAEXPANDMATH
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

struct ExpandMath : public coda::impl::CodaExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    auto isPolynomial = [](StringRef name) {
      return llvm::is_contained(
          {math::ExpOp::getOperationName(), math::ExpM1Op::getOperationName(),
           math::LogOp::getOperationName(), math::Log1pOp::getOperationName(),
           math::TanhOp::getOperationName(), math::ErfOp::getOperationName()},
          name);
    };
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, {"fpowi"});
    coda::populateExpandClampPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, isPolynomial);
    populateMathPolynomialApproximationPatterns(patterns, isPolynomial);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
