//===- ResolveExpansions.cpp - Expansions into several unknown extents ----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODARESOLVEEXPANSIONS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// Whether a dim of the source of `op` becomes several of unknown extent.
bool hasSeveralUnknown(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  return llvm::any_of(op.getReassociationIndices(),
                      [&](ArrayRef<int64_t> group) {
                        return llvm::count_if(group, [&](int64_t d) {
                                 return type.isDynamicDim(d);
                               }) > 1;
                      });
}

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
      resolve(rewriter, op);
  }

  void resolve(RewriterBase &rewriter, memref::ExpandShapeOp op) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto source =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    SmallVector<OpFoldResult> sourceStrides =
        source.getConstifiedMixedStrides();
    // What the op's type says of its strides holds; others are of the source's,
    // and of the extents that lie within.
    SmallVector<int64_t> known;
    int64_t offset;
    if (failed(op.getResultType().getStridesAndOffset(known, offset)))
      return;
    SmallVector<OpFoldResult> strides(sizes.size());
    for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
      Value stride;
      for (int64_t d : llvm::reverse(group)) {
        if (!stride)
          stride =
              getValueOrCreateConstantIndexOp(rewriter, loc, sourceStrides[i]);
        strides[d] = ShapedType::isDynamic(known[d])
                         ? OpFoldResult(stride)
                         : OpFoldResult(rewriter.getIndexAttr(known[d]));
        stride = arith::MulIOp::create(
            rewriter, loc, stride,
            getValueOrCreateConstantIndexOp(rewriter, loc, sizes[d]));
      }
    }
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, op.getResultType(), source.getBaseBuffer(),
        source.getConstifiedMixedOffset(), sizes, strides);
  }
};

} // namespace
