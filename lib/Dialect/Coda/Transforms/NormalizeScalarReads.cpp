//===- NormalizeScalarReads.cpp - Numbers that linalg reads -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Front ends take a number (a scale, a temperature) out of a tensor of rank 0, or
// one of several at a place that is known, and use it in linalg. Where tensors are
// on a device, the number is, too: it is read, and what is computed of it is
// computed, in the body that uses it, as upstream's patterns read operands of rank
// 0.
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::coda;

/// The tensor of rank 0 of which `value` is the element; null if it is none.
static Value getReadTensor(Value value) {
  auto extract = value.getDefiningOp<tensor::ExtractOp>();
  return extract && extract.getIndices().empty() ? extract.getTensor()
                                                 : Value();
}

/// Whether `value` is the element of a tensor of rank 0, or is computed of such
/// ones, and perhaps of other numbers, by ops that may stand anywhere.
static bool comesFromRead(Value value) {
  if (getReadTensor(value))
    return true;
  Operation *def = value.getDefiningOp();
  return def && def->getNumResults() == 1 && def->getNumRegions() == 0 &&
         value.getType().isIntOrIndexOrFloat() && isPure(def) &&
         llvm::all_of(def->getOperandTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); }) &&
         llvm::any_of(def->getOperands(), comesFromRead);
}

/// A generic of `type` all of whose elements are `value`.
static linalg::GenericOp createSplat(PatternRewriter &rewriter, Location loc,
                                     RankedTensorType type,
                                     ValueRange dynamicSizes, Value value) {
  Value init = tensor::EmptyOp::create(rewriter, loc, type, dynamicSizes);
  return linalg::GenericOp::create(
      rewriter, loc, type, /*inputs=*/ValueRange(), /*outputs=*/init,
      rewriter.getMultiDimIdentityMap(type.getRank()),
      SmallVector<utils::IteratorType>(type.getRank(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &builder, Location bodyLoc, ValueRange) {
        linalg::YieldOp::create(builder, bodyLoc, value);
      });
}

/// Whether `value`, or what is computed of it, is used in linalg.
static bool isUsedInLinalg(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<linalg::LinalgOp>(user) ||
           user->getParentOfType<linalg::LinalgOp>() ||
           (user->getNumResults() == 1 && user->getNumRegions() == 0 &&
            user->getResult(0).getType().isIntOrIndexOrFloat() &&
            isUsedInLinalg(user->getResult(0)));
  });
}

namespace {
/// An element at a place that is known is that of a tensor of rank 0:
///   extract %v[2]  ==>  extract (extract_slice %v[2] [1] [1])[]
struct ReadSlice : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getTensor().getType());
    if (type.getRank() == 0 || op->getParentOfType<linalg::LinalgOp>() ||
        !isUsedInLinalg(op))
      return failure();
    SmallVector<OpFoldResult> offsets;
    for (auto [index, extent] :
         llvm::zip_equal(op.getIndices(), type.getShape())) {
      // One that may be out of bounds is checked where it stands.
      std::optional<int64_t> place = getConstantIntValue(index);
      if (!place || *place < 0 || ShapedType::isDynamic(extent) ||
          *place >= extent)
        return failure();
      offsets.push_back(rewriter.getIndexAttr(*place));
    }
    SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get({}, type.getElementType()), op.getTensor(),
        offsets, ones, ones);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, slice, ValueRange());
    return success();
  }
};

/// A body that uses a number from outside of it reads, or computes, it:
///   %x = extract %s[]; generic ins(%a) {mul %in, %x}
///   ==>  generic ins(%a) {%x = extract %s[]; mul %in, %x}
struct ReadNumberInBody : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op.getRegion(), used);
    for (Value value : used) {
      if (!comesFromRead(value))
        continue;
      rewriter.setInsertionPointToStart(op.getBody());
      Value own = rewriter.clone(*value.getDefiningOp())->getResult(0);
      rewriter.replaceUsesWithIf(value, own, [&](OpOperand &use) {
        return op.getRegion().isAncestor(use.getOwner()->getParentRegion());
      });
      return success();
    }
    return failure();
  }
};

/// An operand that is such a number is used in the body instead.
struct UseNumberInBody : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (isa<ShapedType>(input->get().getType()) ||
          !comesFromRead(input->get()) ||
          op.getMatchingBlockArgument(input).use_empty())
        continue;
      rewriter.replaceAllUsesWith(op.getMatchingBlockArgument(input),
                                  input->get());
      return success();
    }
    return failure();
  }
};

/// fill(number) -> generic.
struct GeneralizeFillOfNumber : OpRewritePattern<linalg::FillOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::FillOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !comesFromRead(op.getInputs()[0]))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// splat(number) -> generic.
struct GeneralizeSplatOfNumber : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    if (!comesFromRead(op.getInput()))
      return failure();
    rewriter.replaceOp(op, createSplat(rewriter, op.getLoc(), op.getType(),
                                       op.getDynamicSizes(), op.getInput()));
    return success();
  }
};

/// from_elements(number) -> a view of the tensor that it was read from, or a
/// generic.
struct GeneralizeTensorOfNumber : OpRewritePattern<tensor::FromElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::FromElementsOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getElements().size() != 1 || !comesFromRead(op.getElements()[0]))
      return failure();
    Value number = op.getElements()[0];
    auto type = cast<RankedTensorType>(op.getType());
    Value tensor = getReadTensor(number);
    if (!tensor)
      tensor = createSplat(rewriter, op.getLoc(),
                           RankedTensorType::get({}, number.getType()),
                           ValueRange(), number)
                   .getResult(0);
    if (type.getRank() != 0)
      tensor = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type,
                                             tensor,
                                             ArrayRef<ReassociationIndices>());
    rewriter.replaceOp(op, tensor);
    return success();
  }
};
} // namespace

void coda::populateScalarReadPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadSlice, ReadNumberInBody, UseNumberInBody, GeneralizeFillOfNumber,
               GeneralizeSplatOfNumber, GeneralizeTensorOfNumber>(
      patterns.getContext());
}
