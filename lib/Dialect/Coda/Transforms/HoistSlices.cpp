//===- HoistSlices.cpp - coda-hoist-slices --------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/SizeOrigin.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::coda {
#define GEN_PASS_DEF_HOISTSLICESPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
/// A slice that lies in one operand of a concatenation is a slice of that.
///   extract_slice(concat(a, b))  ->  extract_slice(b)
struct SliceOfConcat : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto concat = op.getSource().getDefiningOp<tensor::ConcatOp>();
    if (!concat)
      return failure();
    uint64_t dim = concat.getDim();
    int64_t begin = op.getStaticOffsets()[dim];
    int64_t size = op.getStaticSizes()[dim];
    int64_t stride = op.getStaticStrides()[dim];
    if (ShapedType::isDynamic(begin) || ShapedType::isDynamic(size) ||
        ShapedType::isDynamic(stride) || size == 0)
      return failure();
    int64_t last = begin + (size - 1) * stride;
    int64_t before = 0;
    for (Value input : concat.getInputs()) {
      int64_t extent = cast<RankedTensorType>(input.getType()).getDimSize(dim);
      if (ShapedType::isDynamic(extent))
        return failure();
      if (before <= begin && last < before + extent) {
        SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
        offsets[dim] = rewriter.getIndexAttr(begin - before);
        rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
            op, op.getType(), input, offsets, op.getMixedSizes(),
            op.getMixedStrides());
        return success();
      }
      before += extent;
    }
    return failure();
  }
};

/// A slice of all that a tensor has is the tensor. Upstream knows that of static
/// sizes; here dynamic ones count that come from where the tensor's own do.
struct WholeSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getType() != op.getSourceType() ||
        !llvm::all_of(op.getMixedStrides(), isOneInteger))
      return failure();
    for (auto [d, offset, size] :
         llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes()))
      if (!isWholeDim(op.getSource(), d, offset, size))
        return failure();
    rewriter.replaceOp(op, op.getSource());
    return success();
  }
};

class HoistSlicesPass : public coda::impl::HoistSlicesPassBase<HoistSlicesPass> {
public:
  using HoistSlicesPassBase::HoistSlicesPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet slices(context);
    slices.add<SliceOfConcat, WholeSlice>(context);
    linalg::populateBubbleUpExtractSliceOpPatterns(slices);
    apply(std::move(slices));
    // What reads one of two copies has a dim of one point for it.
    RewritePatternSet units(context);
    linalg::ControlDropUnitDims options;
    linalg::populateFoldUnitExtentDimsPatterns(units, options);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(units, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(units, context);
    apply(std::move(units));
  }

private:
  void apply(RewritePatternSet patterns) {
    MLIRContext *context = &getContext();
    tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
