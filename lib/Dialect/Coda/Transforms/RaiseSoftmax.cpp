//===- RaiseSoftmax.cpp - Softmax by the row's logarithm of the sum -----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m + log(sum(exp(z - m))) for any m of the row is lse, z - m - log(...) is
// z - lse, and a product with exp(z - m) / sum(exp(z - m)) one with exp(z -
// lse): what the row needs to be known for is then one value, a sum that a loss
// of the same z has anyway.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

std::optional<SumOfExponentials>
coda::matchSumOfExponentials(RaiseContext &context, const Expr *expr,
                             AffineExpr row) {
  ExpressionGraph &graph = context.graph;
  const Expr *total = stripCasts(expr);
  if (total->isOp("math.absf")) // a sum of exponentials is positive
    total = stripCasts(total->operands[0]);
  if (total->kind != ExprKind::Reduction)
    return std::nullopt;
  ReductionInfo info = graph.getReductionInfo(total);
  if (info.combiner != "arith.addf" || getFloatConstant(info.init) != 0.0 ||
      info.extents.size() != 1)
    return std::nullopt;
  SumOfExponentials sum;
  sum.reduction = total;
  sum.columns = info.extents.front();
  sum.column =
      context.space.getDim(row ? 1 : total->indices.size(), sum.columns);
  if (total->dependsOn(sum.column))
    return std::nullopt;
  const Expr *term = graph.getReducedExpr(total, sum.column);
  if (!term || !stripCasts(term)->isOp("math.exp"))
    return std::nullopt;
  sum.exponent = stripCasts(term)->operands[0];
  if (!row)
    llvm::append_range(sum.rows, total->indices);
  else
    sum.rows = {row};
  for (AffineExpr index : total->indices)
    if (row && graph.getAssumedDim(index) == row)
      sum.rows = {index};
  Sum exponent = flattenSum(sum.exponent);
  for (auto part : exponent.terms)
    (part.second->dependsOn(sum.column) ? sum.matrix : sum.shift)
        .push_back(part);
  if (sum.matrix.empty() || exponent.constant != 0.0)
    return std::nullopt;
  return sum;
}

std::optional<RowSoftmax>
coda::matchLogSoftmax(RaiseContext &context, const Expr *expr,
                      const llvm::SmallPtrSetImpl<const Expr *> &without) {
  Sum sum = flattenSum(expr);
  for (auto &term : sum.terms) {
    auto [negated, value] = term;
    const Expr *e = stripCasts(value);
    if (!e->isOp("math.log"))
      continue;
    auto total = matchSumOfExponentials(context, e->operands[0]);
    if (!total || without.contains(total->reduction))
      continue;
    SmallVector<std::pair<bool, const Expr *>> rest(sum.terms.begin(), &term);
    rest.append(&term + 1, sum.terms.end());
    if (!removeTerms(rest, total->shift, /*flip=*/!negated))
      continue;
    RowSoftmax softmax;
    softmax.sum = *total;
    softmax.isNegated = negated;
    softmax.terms = std::move(rest);
    softmax.constant = sum.constant;
    return softmax;
  }
  return std::nullopt;
}

std::optional<RowSoftmax>
coda::matchSoftmax(RaiseContext &context, const Expr *expr,
                   const llvm::SmallPtrSetImpl<const Expr *> &without) {
  Product product = flattenProduct(expr);
  for (const Expr *&divisor : product.denominator) {
    auto total = matchSumOfExponentials(context, divisor);
    if (!total || without.contains(total->reduction))
      continue;
    for (const Expr *&factor : product.numerator) {
      const Expr *e = stripCasts(factor);
      if (!e->isOp("math.exp"))
        continue;
      Sum exponent = flattenSum(e->operands[0]);
      if (!removeTerms(exponent.terms, total->shift, /*flip=*/false) ||
          exponent.terms.empty())
        continue;
      RowSoftmax softmax;
      softmax.sum = *total;
      softmax.exponent = e->operands[0];
      softmax.isNegated = true;
      softmax.terms = std::move(exponent.terms);
      softmax.constant = exponent.constant;
      softmax.coefficient = product.coefficient;
      for (const Expr *&other : product.denominator)
        if (&other != &divisor)
          softmax.factors.emplace_back(true, other);
      for (const Expr *&other : product.numerator)
        if (&other != &factor)
          softmax.factors.emplace_back(false, other);
      return softmax;
    }
  }
  return std::nullopt;
}

bool coda::comesFromProduct(Value value, bool all, unsigned depth) {
  auto op = getViewed(value).getDefiningOp<linalg::LinalgOp>();
  if (!op || depth == 8)
    return false;
  if (isMatrixProduct(op)) {
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    return succeeded(dims) && (all || dims->batch.empty());
  }
  return op.getNumReductionLoops() == 0 &&
         llvm::any_of(op.getDpsInputs(), [&](Value input) {
           return comesFromProduct(input, all, depth + 1);
         });
}

Value coda::findMatrix(RaiseContext &context, OpBuilder &b, Operation *user,
                       const SumOfExponentials &sum) {
  auto reduction = cast<RankedTensorType>(sum.reduction->value.getType());
  const Expr *element = findAddend(sum.exponent, sum.matrix);
  unsigned rank = reduction.getRank();
  if (!element || rank != sum.rows.size() || (rank > 1 && !context.all))
    return {};
  SmallVector<AffineExpr> indices(sum.rows.begin(), sum.rows.end());
  SmallVector<int64_t> shape(reduction.getShape());
  indices.push_back(sum.column);
  shape.push_back(sum.columns);
  return context.findTensor(b, user, element, indices, shape);
}

Value coda::createLogSum(OpBuilder &b, Location loc, Value matrix) {
  Type compute = getComputeType(getElementTypeOrSelf(matrix));
  MLIRContext *ctx = b.getContext();
  unsigned rows = cast<RankedTensorType>(matrix.getType()).getRank() - 1;
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] = rows;
  spec.dims[static_cast<unsigned>(DimKind::n)] = 1;
  spec.inputs = {matrix};
  spec.loadCombiners = {b.getUnitAttr()};
  spec.outputs = {tensor::EmptyOp::create(
      b, loc,
      ArrayRef<OpFoldResult>(tensor::getMixedSizes(b, loc, matrix)).drop_back(),
      compute)};
  spec.combiners = {LogAddExpAttr::get(ctx)};
  spec.fresh = {true};
  AffineMap all = b.getMultiDimIdentityMap(rows + 1);
  spec.maps = {all, all.dropResult(rows)};
  TileOpInterface statistic = createTileOp(b, loc, spec);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&statistic.getBody().front());
  Value value = statistic.getBody().getArgument(0);
  YieldOp::create(b, loc, convertFloat(b, loc, value, compute));
  return statistic->getResult(0);
}
