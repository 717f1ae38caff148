//===- Commute.cpp - coda-commute ---------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_COMMUTEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// `factor`, which has one dim per scaled dim, reshaped as `reader` reshapes
/// these dims.
static Value reshapeFactor(RewriterBase &rewriter, Value factor,
                           ArrayRef<int64_t> dims, Operation *reader) {
  bool isExpand = isa<tensor::ExpandShapeOp>(reader);
  SmallVector<ReassociationIndices> groups =
      isExpand
          ? cast<tensor::ExpandShapeOp>(reader).getReassociationIndices()
          : cast<tensor::CollapseShapeOp>(reader).getReassociationIndices();
  SmallVector<OpFoldResult> readerSizes;
  if (isExpand)
    readerSizes = cast<tensor::ExpandShapeOp>(reader).getMixedOutputShape();
  SmallVector<ReassociationIndices> own;
  SmallVector<OpFoldResult> sizes;
  int64_t next = 0;
  for (auto [g, group] : llvm::enumerate(groups)) {
    if (!llvm::is_contained(dims, isExpand ? static_cast<int64_t>(g)
                                           : group.front()))
      continue;
    ReassociationIndices &indices = own.emplace_back();
    for (int64_t d : group) {
      indices.push_back(next++);
      if (isExpand)
        sizes.push_back(readerSizes[d]);
    }
  }
  if (own.empty())
    return factor;
  Location loc = reader->getLoc();
  auto type = cast<RankedTensorType>(factor.getType());
  if (!isExpand)
    return tensor::CollapseShapeOp::create(rewriter, loc, factor, own);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      factor, own, sizes);
}

/// Moves `scale` behind `use`, one of its readers: reader(v o r) becomes
/// reader(v) o r. Returns the new scale.
static ScaleOp sinkThrough(RewriterBase &rewriter, ScaleOp scale,
                           OpOperand &use) {
  Operation *reader = use.getOwner();
  FusionReason reason;
  SmallVector<int64_t> dims =
      *cast<ScaleTransparentOpInterface>(reader).getScaledResultDims(
          use, scale.getDims(), /*relaxed=*/true, reason);
  rewriter.setInsertionPoint(reader);
  IRMapping mapping;
  Operation *unscaled = rewriter.clone(*reader, mapping);
  unscaled->setOperand(use.getOperandNumber(), scale.getValue());
  // The dims of a scale ascend; a transposed result permutes the factor's.
  Value factor = scale.getFactor();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader))
    factor = reshapeFactor(rewriter, factor, scale.getDims(), reader);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  if (!llvm::is_sorted(dims)) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, reader->getLoc(), factor), permuted;
    for (int64_t i : order)
      permuted.push_back(sizes[i]);
    Value init = tensor::EmptyOp::create(
        rewriter, reader->getLoc(), permuted,
        cast<RankedTensorType>(factor.getType()).getElementType());
    factor = linalg::TransposeOp::create(rewriter, reader->getLoc(), factor,
                                         init, order)
                 ->getResult(0);
    llvm::sort(dims);
  }
  Value result = unscaled->getResult(0);
  auto moved = ScaleOp::create(rewriter, scale.getLoc(), result.getType(),
                               result, factor,
                               rewriter.getDenseI64ArrayAttr(dims));
  rewriter.replaceOp(reader, moved.getResult());
  return moved;
}

namespace {
class CommutePass : public coda::impl::CommutePassBase<CommutePass> {
public:
  using CommutePassBase::CommutePassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<RmsNormOp> norms;
    getOperation()->walk([&](RmsNormOp norm) { norms.push_back(norm); });
    for (RmsNormOp norm : norms)
      if (std::optional<ScaleOp> scale = deferScale(rewriter, norm))
        sink(rewriter, *scale);
    // Where a product of a product is added to one that is scaled alike, the sum is
    // of products only if both are scaled last.
    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<ScaleOp> scales;
      getOperation()->walk([&](ScaleOp scale) { scales.push_back(scale); });
      for (ScaleOp scale : scales)
        changed |= sinkFurther(rewriter, scale);
    }
    reportStatistics();
  }

private:
  LegalityOptions getOptions() const {
    return {numerics == Numerics::Strict, allowF16Range};
  }

  /// Gives the readers that can take it the unnormalised value, scaled; the
  /// others keep the normalised one. None if there are no such readers.
  std::optional<ScaleOp> deferScale(RewriterBase &rewriter, RmsNormOp norm);
  /// Moves `scale` to the far side of the contractions that it leads to.
  void sink(RewriterBase &rewriter, ScaleOp scale);
  /// Moves `scale`, of a contraction's result, to the far side of those further
  /// contractions whose results are added to something with the same scale; false
  /// if there are none.
  bool sinkFurther(RewriterBase &rewriter, ScaleOp scale);
  /// Remarks on left factors that are made with a row statistic in a way that
  /// no scale can express.
  void reportStatistics();
};
} // namespace

std::optional<ScaleOp> CommutePass::deferScale(RewriterBase &rewriter,
                                               RmsNormOp norm) {
  Refusal refusal;
  if (failed(canDeferScale(norm, getOptions(), refusal))) {
    emitRefusal(norm, "coda-commute", "scale not moved", refusal);
    ++numRefused;
    return std::nullopt;
  }
  auto type = cast<RankedTensorType>(norm.getType());
  SmallVector<int64_t> rows =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1));
  SmallVector<OpOperand *> taken, kept;
  SmallVector<Refusal> refusals;
  for (OpOperand &use : norm.getResult().getUses()) {
    if (succeeded(canSinkScale(use, rows, getOptions(), refusal))) {
      taken.push_back(&use);
      continue;
    }
    kept.push_back(&use);
    refusals.push_back(refusal);
  }
  for (auto [use, why] : llvm::zip_equal(kept, refusals))
    emitRefusal(norm, "coda-commute",
                taken.empty() ? "scale not moved"
                              : "normalised value kept for a reader",
                why);
  if (taken.empty()) {
    ++numRefused;
    return std::nullopt;
  }

  // r and x o (w + offset) as tile ops: the two factors of the decomposition.
  Location loc = norm.getLoc();
  rewriter.setInsertionPoint(norm);
  Value factor = buildRmsNormFactor(rewriter, norm);
  Value weighted = buildRmsNormWeighted(rewriter, norm);
  auto scale = ScaleOp::create(rewriter, loc, type, weighted, factor,
                               rewriter.getDenseI64ArrayAttr(rows));
  for (OpOperand *use : taken)
    rewriter.modifyOpInPlace(use->getOwner(),
                             [&] { use->set(scale.getResult()); });
  if (norm->use_empty())
    rewriter.eraseOp(norm);
  return scale;
}

/// What `factor` is a reshape of.
static Value getUnshaped(Value factor) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return factor;
}

static bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && linalg::isaContractionOpInterface(linalgOp);
}

/// Whether `value`, through reshapes and elementwise ops, meets one that is scaled
/// by `factor`.
static bool meetsScaled(Value value, Value factor) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> worklist{value};
  while (!worklist.empty())
    for (Operation *reader : worklist.pop_back_val().getUsers()) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(reader);
      bool isElementwise = linalgOp && linalgOp.getNumReductionLoops() == 0;
      if (!seen.insert(reader).second ||
          (!isElementwise &&
           !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader)))
        continue;
      for (Value operand : reader->getOperands()) {
        auto scale = getUnshaped(operand).getDefiningOp<ScaleOp>();
        if (scale && getUnshaped(scale.getFactor()) == factor)
          return true;
      }
      llvm::append_range(worklist, reader->getResults());
    }
  return false;
}

/// The contraction that `use` leads to by casts and reshapes that nothing else
/// reads, none of which stores the value in fewer than 16 bits or, unless
/// `allowF16`, in f16.
static Operation *getOnlyContraction(OpOperand &use, bool allowF16) {
  OpOperand *next = &use;
  while (true) {
    Operation *reader = next->getOwner();
    Type type = getElementTypeOrSelf(next->get());
    if (isContraction(reader)) {
      bool fits = !isQuantizedFloat(type) && (allowF16 || !type.isF16());
      return fits ? reader : nullptr;
    }
    if (reader->getNumResults() != 1 || !reader->getResult(0).hasOneUse())
      return nullptr;
    next = &*reader->getResult(0).use_begin();
  }
}

void CommutePass::sink(RewriterBase &rewriter, ScaleOp scale) {
  SmallVector<ScaleOp> worklist{scale};
  while (!worklist.empty()) {
    ScaleOp next = worklist.pop_back_val();
    if (isContraction(next.getValue().getDefiningOp()))
      continue; // arrived
    while (!next->use_empty()) {
      OpOperand &use = *next->use_begin();
      worklist.push_back(sinkThrough(rewriter, next, use));
      ++numCommuted;
    }
    rewriter.eraseOp(next);
  }
}

bool CommutePass::sinkFurther(RewriterBase &rewriter, ScaleOp scale) {
  SmallVector<OpOperand *> taken;
  for (OpOperand &use : scale.getResult().getUses()) {
    Refusal refusal;
    Operation *contraction = getOnlyContraction(use, allowF16Range);
    if (contraction && contraction->getNumResults() == 1 &&
        succeeded(canSinkScale(use, scale.getDims(), getOptions(), refusal)) &&
        meetsScaled(contraction->getResult(0),
                    getUnshaped(scale.getFactor())))
      taken.push_back(&use);
  }
  for (OpOperand *use : taken) {
    sink(rewriter, sinkThrough(rewriter, scale, *use));
    ++numCommuted;
  }
  if (scale->use_empty())
    rewriter.eraseOp(scale);
  return !taken.empty();
}

void CommutePass::reportStatistics() {
  getOperation()->walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    // The row of a matrix by a vector is the vector.
    unsigned left = isa<linalg::MatvecOp>(op) ? 1 : 0;
    auto factor = op.getDpsInputs()[left].getDefiningOp<linalg::LinalgOp>();
    Refusal refusal;
    if (!factor || succeeded(checkRowStatistics(factor, refusal)))
      return;
    emitRefusal(factor, "coda-commute", "scale not moved", refusal);
    ++numRefused;
  });
}
