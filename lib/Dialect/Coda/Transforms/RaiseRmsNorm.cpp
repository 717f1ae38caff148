//===- RaiseRmsNorm.cpp - Matcher of coda.rms_norm ----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of x, rsqrt(sum(x^2)/N + eps) and a vector over the last dim, in any
// order and however the product is cut into ops.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// rsqrt(reduction / divisor + eps).
struct RowScale {
  const Expr *factor = nullptr;
  const Expr *reduction = nullptr;
  double divisor = 1.0, eps = 0.0;
};
} // namespace

/// What the root of a mean square is taken of.
static bool matchMean(const Expr *expr, RowScale &scale) {
  Sum sum = flattenSum(expr);
  if (sum.terms.size() != 1 || sum.terms[0].first)
    return false;
  Product mean = flattenProduct(sum.terms[0].second);
  if (mean.numerator.size() != 1 || !mean.denominator.empty() ||
      mean.coefficient <= 0.0)
    return false;
  scale.reduction = stripCasts(mean.numerator[0]);
  scale.divisor = 1.0 / mean.coefficient;
  scale.eps = sum.constant;
  return scale.reduction->kind == ExprKind::Reduction;
}

/// The factor of `product` that is the reciprocal root of a mean, removed.
static std::optional<RowScale> takeRowScale(Product &product) {
  auto take = [](SmallVectorImpl<const Expr *> &factors,
                 StringRef root) -> std::optional<RowScale> {
    for (auto *it = factors.begin(); it != factors.end(); ++it) {
      const Expr *e = stripCasts(*it);
      RowScale scale;
      if (!e->isOp(root) || !matchMean(e->operands[0], scale))
        continue;
      scale.factor = e;
      factors.erase(it);
      return scale;
    }
    return std::nullopt;
  };
  if (auto scale = take(product.numerator, "math.rsqrt"))
    return scale;
  return take(product.denominator, "math.sqrt");
}

/// The tensors that the leaves of `expr` are elements of.
static void collectLeaves(const Expr *expr, llvm::DenseSet<Value> &leaves,
                          llvm::DenseSet<const Expr *> &seen) {
  if (!seen.insert(expr).second)
    return;
  if (expr->kind == ExprKind::Leaf || expr->kind == ExprKind::Reduction)
    leaves.insert(expr->value);
  for (const Expr *operand : expr->operands)
    collectLeaves(operand, leaves, seen);
}

/// Whether a factor is made of the same tensors as the squared value, at
/// whatever indices: then what was found was meant to be a norm.
static bool isRelated(ArrayRef<const Expr *> factors,
                      ArrayRef<const Expr *> squared) {
  llvm::DenseSet<Value> wanted;
  llvm::DenseSet<const Expr *> seen;
  for (const Expr *e : squared)
    collectLeaves(e, wanted, seen);
  for (const Expr *factor : factors) {
    llvm::DenseSet<Value> leaves;
    llvm::DenseSet<const Expr *> visited;
    collectLeaves(factor, leaves, visited);
    if (!leaves.empty() && leaves == wanted)
      return true;
  }
  return false;
}

/// Half of the factors of a square; nothing if it is none.
static std::optional<SmallVector<const Expr *>>
takeSquareRoot(const Expr *square) {
  Product product = flattenProduct(square);
  if (product.coefficient != 1.0 || !product.denominator.empty() ||
      product.numerator.empty())
    return std::nullopt;
  SmallVector<const Expr *> root;
  while (!product.numerator.empty()) {
    const Expr *factor = product.numerator.pop_back_val();
    if (!removeFactors(product.numerator, factor))
      return std::nullopt;
    root.push_back(factor);
  }
  return root;
}

namespace {
struct Weight {
  Value tensor;
  double offset = 0.0;
};
} // namespace

/// A vector over the last dim, with a constant added or not.
static std::optional<Weight> findWeight(RaiseContext &context, OpBuilder &b,
                                        Operation *user, const Expr *factor,
                                        AffineExpr dim, int64_t extent) {
  Sum sum = flattenSum(factor);
  if (sum.constant != 0.0 && sum.terms.size() == 1 && !sum.terms[0].first)
    if (Value tensor = context.findTensor(b, user, sum.terms[0].second, dim,
                                          extent))
      return Weight{tensor, sum.constant};
  if (Value tensor = context.findTensor(b, user, factor, dim, extent))
    return Weight{tensor};
  return std::nullopt;
}

/// The expression of the op's decomposition, roundings and all.
static const Expr *getExactExpr(RaiseContext &context, const RowScale &scale,
                                Value x, const Weight &weight,
                                ArrayRef<AffineExpr> dims, Type resultType) {
  ExpressionGraph &graph = context.graph;
  Type type = getComputeType(getElementTypeOrSelf(x.getType()));
  auto op = [&](StringRef name, ArrayRef<const Expr *> operands) {
    return graph.getOp(name, type, operands);
  };
  const Expr *value = graph.convert(graph.evaluate(x, dims), type);
  if (scale.reduction->type != type ||
      graph.getReducedExpr(scale.reduction, dims.back()) !=
          op("arith.mulf", {value, value}))
    return nullptr;
  const Expr *mean =
      op("arith.divf",
         {scale.reduction, graph.getConstant(type, scale.divisor)});
  const Expr *shifted =
      op("arith.addf", {mean, graph.getConstant(type, scale.eps)});
  const Expr *y = op("arith.mulf", {value, op("math.rsqrt", shifted)});
  if (weight.tensor) {
    const Expr *w =
        graph.convert(graph.evaluate(weight.tensor, dims.back()), type);
    if (weight.offset != 0.0)
      w = op("arith.addf", {w, graph.getConstant(type, weight.offset)});
    y = op("arith.mulf", {y, w});
  }
  return graph.convert(y, resultType);
}

/// Whether a reader of `value` sums over its last dim.
static bool isLastDimContracted(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!reader || reader.getMatchingIndexingMap(&use).getNumResults() == 0)
      return false;
    auto dim = dyn_cast<AffineDimExpr>(
        reader.getMatchingIndexingMap(&use).getResults().back());
    return dim && reader.getIteratorTypesArray()[dim.getPosition()] ==
                      utils::IteratorType::reduction;
  });
}

Value coda::raiseToRmsNorm(RaiseContext &context, OpBuilder &b,
                           OpResult root) {
  constexpr StringLiteral target = "rms_norm";
  auto type = cast<RankedTensorType>(root.getType());
  if (type.getRank() < 1 || type.isDynamicDim(type.getRank() - 1))
    return {};
  Operation *user = root.getOwner();
  int64_t extent = type.getShape().back();
  SmallVector<AffineExpr> dims = context.getDims(type.getShape());
  const Expr *expr = context.graph.evaluate(root, dims);
  Product product = flattenProduct(expr);
  std::optional<RowScale> scale = takeRowScale(product);
  if (!scale || product.coefficient != 1.0 || !product.denominator.empty())
    return {};

  // The statistic: a sum of squares, at this row, over the last dim.
  ReductionInfo info = context.graph.getReductionInfo(scale->reduction);
  if (info.combiner != "arith.addf" || getFloatConstant(info.init) != 0.0)
    return {};
  SmallVector<AffineExpr> reduced;
  for (auto [i, size] : llvm::enumerate(info.extents))
    reduced.push_back(i + 1 == info.extents.size()
                          ? dims.back()
                          : context.space.getDim(i, size));
  const Expr *square = context.graph.getReducedExpr(scale->reduction, reduced);
  auto squared = square ? takeSquareRoot(square) : std::nullopt;
  if (!squared)
    return {};
  SmallVector<const Expr *> rest = product.numerator;
  bool found = removeFactors(rest, *squared);
  if (!found && !isRelated(product.numerator, *squared))
    return {};
  auto refuse = [&](FusionReason reason, const Twine &detail) -> Value {
    context.refuse(user, target, reason, detail, scale->reduction);
    return {};
  };
  if (scale->reduction->dependsOn(dims.back()) && isLastDimContracted(root))
    return refuse(FusionReason::ContractsScaledDim,
                  "the scale varies along the dim that the reader sums over");
  if (!found || scale->reduction->dependsOn(dims.back()))
    return refuse(FusionReason::ReductionNotWhole,
                  "the mean square is not that of the last dim of the value "
                  "that it scales");
  if (info.extents.size() != 1 || info.extents[0] != extent)
    return refuse(FusionReason::ReductionNotWhole,
                  "the mean square covers " + Twine(info.extents.back()) +
                      " of " + Twine(extent) + " elements");
  if (!isNear(scale->divisor, extent, 1e-6))
    return refuse(FusionReason::ReductionNotWhole,
                  "the sum of squares is not divided by the extent " +
                      Twine(extent));
  // A centred value makes a layer norm.
  const Expr *x = squared->size() == 1 ? squared->front() : nullptr;
  if (x && llvm::any_of(flattenSum(x).terms, [&](const auto &term) {
        return !term.second->dependsOn(dims.back());
      }))
    return refuse(FusionReason::LnCancellation,
                  "a row statistic is subtracted before the square: a layer "
                  "norm");
  // The same norm without its weight is kept for the readers that it had.
  if (rest.empty() && context.raisedStatistics.contains(scale->reduction))
    return {};

  const Expr *factor = findFactor(product, *squared);
  Weight weight;
  Value tensor;
  if (factor)
    tensor = context.findTensor(b, user, factor, dims, type.getShape());
  if (!tensor)
    return refuse(FusionReason::NoCommonSpace,
                  "the normalised value is no tensor of the result's shape");
  if (!rest.empty()) {
    const Expr *vector = findFactor(product, rest);
    auto foundWeight =
        vector ? findWeight(context, b, user, vector, dims.back(), extent)
               : std::nullopt;
    if (!foundWeight)
      return refuse(FusionReason::NoCommonSpace,
                    "the other factors are no vector over the last dim");
    weight = *foundWeight;
  }
  if (context.strict &&
      getExactExpr(context, *scale, tensor, weight, dims,
                   type.getElementType()) != expr)
    return refuse(FusionReason::StrictRounding,
                  "rounded between the steps, or in another order");

  context.raisedStatistics.insert(scale->reduction);
  return RmsNormOp::create(b, user->getLoc(), type, tensor, weight.tensor,
                           b.getF64FloatAttr(scale->eps),
                           b.getF64FloatAttr(weight.offset));
}
