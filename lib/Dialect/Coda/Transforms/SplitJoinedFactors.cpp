//===- SplitJoinedFactors.cpp - coda-split-joined-factors ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_SPLITJOINEDFACTORSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
/// A factor of a contraction that is joined along a contracted dim.
struct JoinedFactor {
  linalg::LinalgOp op;
  OpOperand *factor;
  /// The reshape between the two, which keeps the dim that is joined along; or null.
  tensor::CollapseShapeOp view;
  unsigned dim;      ///< of the factor, which is joined along
  unsigned otherDim; ///< of the other factor

  OpOperand *getOther() {
    return op.getDpsInputOperand(1 - factor->getOperandNumber());
  }
};

class SplitJoinedFactorsPass
    : public coda::impl::SplitJoinedFactorsPassBase<SplitJoinedFactorsPass> {
public:
  using SplitJoinedFactorsPassBase::SplitJoinedFactorsPassBase;
  void runOnOperation() override;
};
} // namespace

/// `use` as a factor that is joined, along dim `dim` of it.
static std::optional<JoinedFactor> getFactor(OpOperand &use, unsigned dim,
                                             tensor::CollapseShapeOp view) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op || !op.hasPureTensorSemantics() || !op.isDpsInput(&use) ||
      !isMatrixProduct(op) || op->getNumResults() != 1)
    return std::nullopt;
  JoinedFactor factor{op, &use, view, dim, 0};
  OpOperand *other = factor.getOther();
  // Partial sums are kept as they are added up.
  Type type = getElementTypeOrSelf(use.get());
  Type sumType = getElementTypeOrSelf(op->getResult(0));
  if (!isa<FloatType>(type) || isQuantizedFloat(type) ||
      sumType.getIntOrFloatBitWidth() < 32 || other->get() == use.get())
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&use);
  AffineMap otherMap = op.getMatchingIndexingMap(other);
  if (!map.isProjectedPermutation() || !otherMap.isProjectedPermutation())
    return std::nullopt;
  AffineExpr loop = map.getResult(dim);
  std::optional<unsigned> otherDim = otherMap.getResultPosition(loop);
  if (!otherDim ||
      op.getMatchingIndexingMap(op.getDpsInitOperand(0))
          .isFunctionOfDim(cast<AffineDimExpr>(loop).getPosition()))
    return std::nullopt;
  factor.otherDim = *otherDim;
  return factor;
}

/// All that reads `concat`, if that is factors alone.
static SmallVector<JoinedFactor> getFactors(tensor::ConcatOp concat) {
  unsigned dim = concat.getDim();
  SmallVector<JoinedFactor> factors;
  auto take = [&](OpOperand &use, unsigned dim, tensor::CollapseShapeOp view) {
    std::optional<JoinedFactor> factor = getFactor(use, dim, view);
    if (factor)
      factors.push_back(*factor);
    return factor.has_value();
  };
  for (OpOperand &use : concat->getUses()) {
    auto view = dyn_cast<tensor::CollapseShapeOp>(use.getOwner());
    if (!view) {
      if (!take(use, dim, {}))
        return {};
      continue;
    }
    SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
    auto *group = llvm::find_if(groups, [&](const ReassociationIndices &group) {
      return llvm::is_contained(group, int64_t(dim));
    });
    if (group->size() != 1)
      return {};
    for (OpOperand &viewUse : view->getUses())
      if (!take(viewUse, group - groups.begin(), view))
        return {};
  }
  return factors;
}

/// Where the parts of `concat` start, and where the last one ends; nothing if one
/// does not start at a multiple of 16 bytes, as the copy engine of a device takes
/// rows, or if there are more than a kernel has products.
static SmallVector<int64_t> getStarts(tensor::ConcatOp concat) {
  RankedTensorType type = concat.getResultType();
  unsigned width = type.getElementTypeBitWidth();
  if (concat.getInputs().size() > kMaxProducts)
    return {};
  SmallVector<int64_t> starts{0};
  for (Value part : concat.getInputs()) {
    int64_t extent =
        cast<RankedTensorType>(part.getType()).getDimSize(concat.getDim());
    if (starts.back() * width % 128 != 0 || ShapedType::isDynamic(extent) ||
        extent == 0)
      return {};
    starts.push_back(starts.back() + extent);
  }
  return starts;
}

static void split(RewriterBase &rewriter, tensor::ConcatOp concat,
                  JoinedFactor factor, ArrayRef<int64_t> starts) {
  linalg::LinalgOp op = factor.op;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value other = factor.getOther()->get();
  Value sum = op.getDpsInits()[0];
  for (auto [i, part] : llvm::enumerate(concat.getInputs())) {
    Value own = part;
    if (factor.view)
      own = tensor::CollapseShapeOp::create(
          rewriter, loc, part, factor.view.getReassociationIndices());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, other);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    offsets[factor.otherDim] = rewriter.getIndexAttr(starts[i]);
    sizes[factor.otherDim] = rewriter.getIndexAttr(starts[i + 1] - starts[i]);
    Value slice = tensor::ExtractSliceOp::create(rewriter, loc, other, offsets,
                                                 sizes, strides);
    SmallVector<Value> operands{own, slice};
    if (factor.factor->getOperandNumber() == 1)
      std::swap(operands[0], operands[1]);
    operands.push_back(sum);
    sum = clone(rewriter, op, op->getResultTypes(), operands)->getResult(0);
  }
  rewriter.replaceOp(op, sum);
}

void SplitJoinedFactorsPass::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<tensor::ConcatOp> concats;
  getOperation()->walk([&](tensor::ConcatOp op) { concats.push_back(op); });
  for (tensor::ConcatOp concat : concats) {
    SmallVector<int64_t> starts = getStarts(concat);
    if (starts.empty())
      continue;
    for (const JoinedFactor &factor : getFactors(concat)) {
      split(rewriter, concat, factor, starts);
      ++numSplit;
    }
    for (Operation *reader : llvm::make_early_inc_range(concat->getUsers()))
      if (reader->use_empty() && isa<tensor::CollapseShapeOp>(reader))
        rewriter.eraseOp(reader);
    if (concat->use_empty())
      rewriter.eraseOp(concat);
  }
}
