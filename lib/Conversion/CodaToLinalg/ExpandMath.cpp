//===- ExpandMath.cpp - Math functions as arithmetic ----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

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

/// clampf(x, low, high) -> min(max(x, low), high). That of upstream, in 22.1,
/// is max(min(x, low), high).
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                             op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
    return success();
  }
};

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
    patterns.add<ExpandClamp>(&getContext());
    populateMathF32ExpansionPatterns(patterns, isPolynomial);
    populateMathPolynomialApproximationPatterns(patterns, isPolynomial);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
