//===- ResolveExpansions.cpp - Splits into several unknown extents --------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODARESOLVEEXPANSIONS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

/// Whether a dim is split into more than one of which only a call shows the extent.
static bool hasSeveralUnknown(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  return llvm::any_of(
      op.getReassociationIndices(), [&](const ReassociationIndices &group) {
        return llvm::count_if(group, [&](int64_t d) {
                 return type.isDynamicDim(d);
               }) > 1;
      });
}

static void resolve(memref::ExpandShapeOp op, RewriterBase &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto source =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  auto toValue = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  };
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  auto [known, knownOffset] = op.getResultType().getStridesAndOffset();
  for (auto [g, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[g];
    for (int64_t d : llvm::reverse(group)) {
      strides[d] = ShapedType::isDynamic(known[d])
                       ? OpFoldResult(stride)
                       : rewriter.getIndexAttr(known[d]);
      stride = arith::MulIOp::create(rewriter, loc, stride, toValue(sizes[d]));
    }
  }
  OpFoldResult offset = ShapedType::isDynamic(knownOffset)
                            ? OpFoldResult(source.getOffset())
                            : rewriter.getIndexAttr(knownOffset);
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), source.getBaseBuffer(), offset, sizes, strides);
}

namespace {
struct ResolveExpansions
    : public coda::impl::CodaResolveExpansionsBase<ResolveExpansions> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (hasSeveralUnknown(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp op : ops)
      resolve(op, rewriter);
  }
};
} // namespace
