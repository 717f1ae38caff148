//===- ResolveReshapes.cpp - Reshapes that need no shape in memory --------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPURESOLVERESHAPES
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

/// Extent `dim` of `type`, from the elements of `shape` if it is dynamic; null
/// if they are not known.
static OpFoldResult getExtent(OpBuilder &builder, Location loc,
                              RankedTensorType type, Value shape,
                              int64_t dim) {
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  DenseIntElementsAttr constant;
  if (matchPattern(shape, m_Constant(&constant)))
    return arith::ConstantIndexOp::create(
               builder, loc,
               (*(constant.value_begin<APInt>() + dim)).getSExtValue())
        .getResult();
  auto elements = shape.getDefiningOp<tensor::FromElementsOp>();
  if (!elements)
    return {};
  Value extent = elements.getElements()[dim];
  if (extent.getType().isIndex())
    return extent;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    extent)
      .getResult();
}

namespace {

struct GPUResolveReshapes
    : public coda_gpu::impl::GPUResolveReshapesBase<GPUResolveReshapes> {
  void runOnOperation() override {
    SmallVector<tensor::ReshapeOp> reshapes;
    getOperation()->walk(
        [&](tensor::ReshapeOp op) { reshapes.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (tensor::ReshapeOp op : reshapes)
      resolve(rewriter, op);
  }

  void resolve(RewriterBase &rewriter, tensor::ReshapeOp op) {
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !to || from.getRank() == 0 || to.getRank() == 0)
      return;
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> extents;
    for (int64_t d = 0; d < to.getRank(); ++d) {
      extents.push_back(getExtent(rewriter, loc, to, op.getShape(), d));
      if (!extents.back())
        return;
    }
    auto all = [](int64_t rank) {
      ReassociationIndices dims;
      llvm::append_range(dims, llvm::seq<int64_t>(0, rank));
      return SmallVector<ReassociationIndices>{dims};
    };
    Value flat = op.getSource();
    if (from.getRank() > 1)
      flat = tensor::CollapseShapeOp::create(rewriter, loc, flat,
                                             all(from.getRank()));
    auto flatType = cast<RankedTensorType>(flat.getType());
    // Both ends of a reshape must agree on whether the count is known.
    auto wanted = RankedTensorType::get(
        {to.hasStaticShape() ? to.getNumElements() : ShapedType::kDynamic},
        to.getElementType());
    if (flatType != wanted)
      flat = tensor::CastOp::create(rewriter, loc, wanted, flat);
    if (to.getRank() == 1) {
      rewriter.replaceOp(op, flat);
      return;
    }
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, to, flat, all(to.getRank()), extents);
  }
};

} // namespace
