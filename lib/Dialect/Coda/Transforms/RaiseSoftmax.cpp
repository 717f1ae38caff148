//===- RaiseSoftmax.cpp - Softmax by the row's logarithm of the sum -----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// z - m - log(sum(exp(z - m))) for any m of the row is z - lse, and a product
// with exp(z - m) / sum(exp(z - m)) one with exp(z - lse): what the row needs to
// be known for is then one value, a sum that a loss of the same z has anyway.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  sum.columns = info.extents.front();
  sum.column = context.space.getDim(1, sum.columns);
  sum.row = row;
  const Expr *term = graph.getReducedExpr(total, sum.column);
  if (!term || !stripCasts(term)->isOp("math.exp"))
    return std::nullopt;
  sum.exponent = stripCasts(term)->operands[0];
  for (AffineExpr index : total->indices)
    if (graph.getAssumedDim(index) == row)
      sum.row = index;
  Sum exponent = flattenSum(sum.exponent);
  for (auto part : exponent.terms)
    (part.second->dependsOn(sum.column) ? sum.matrix : sum.shift)
        .push_back(part);
  if (sum.matrix.empty() || exponent.constant != 0.0)
    return std::nullopt;
  return sum;
}

/// Whether `value` is made, by views and point by point, of a product that is
/// none of a batch: the scores of attention are.
static bool comesFromProduct(Value value, unsigned depth = 0) {
  auto op = getViewed(value).getDefiningOp<linalg::LinalgOp>();
  if (!op || depth == 8)
    return false;
  if (isMatrixProduct(op)) {
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    return succeeded(dims) && dims->batch.empty();
  }
  return op.getNumReductionLoops() == 0 &&
         llvm::any_of(op.getDpsInputs(), [&](Value input) {
           return comesFromProduct(input, depth + 1);
         });
}

namespace {
/// A factor of the result besides the softmax, as a tensor over some dims.
struct Factor {
  Value tensor;
  AffineMap map;
  bool divides;
};
} // namespace

Value coda::raiseToSoftmax(RaiseContext &context, OpBuilder &b, OpResult root) {
  auto op = cast<linalg::LinalgOp>(root.getOwner());
  auto type = cast<RankedTensorType>(root.getType());
  if (op.getNumLoops() != 2 || op.getNumReductionLoops() != 0 ||
      type.getRank() != 2)
    return {};
  SmallVector<AffineExpr> dims = context.getDims(type.getShape());
  const Expr *expr = context.graph.evaluate(root, dims);

  std::optional<SumOfExponentials> total;
  bool isLogarithm = false;
  SmallVector<std::pair<const Expr *, bool>> rest;
  double coefficient = 1.0;
  Sum sum = flattenSum(expr);
  for (auto *it = sum.terms.begin(); it != sum.terms.end() && !total; ++it) {
    const Expr *e = stripCasts(it->second);
    if (!it->first || !e->isOp("math.log"))
      continue;
    total = matchSumOfExponentials(context, e->operands[0], dims[0]);
    if (!total)
      continue;
    sum.terms.erase(it);
    isLogarithm = true;
    if (sum.constant != 0.0 ||
        !removeTerms(sum.terms, total->shift, /*flip=*/false) ||
        !removeTerms(sum.terms, total->matrix, /*flip=*/false) ||
        !sum.terms.empty())
      return {};
    break;
  }
  if (!total) {
    Product product = flattenProduct(expr);
    const Expr *exponential = nullptr;
    for (const Expr *divisor : product.denominator) {
      if (!total) {
        total = matchSumOfExponentials(context, divisor, dims[0]);
        if (total)
          continue;
      }
      rest.emplace_back(divisor, true);
    }
    if (!total)
      return {};
    for (const Expr *factor : product.numerator) {
      const Expr *e = stripCasts(factor);
      if (!exponential && e->isOp("math.exp") &&
          e->operands[0]->relaxed == total->exponent->relaxed)
        exponential = e;
      else
        rest.emplace_back(factor, false);
    }
    if (!exponential)
      return {};
    coefficient = product.coefficient;
  }
  if (total->columns != type.getDimSize(1) || total->row != dims[0])
    return {};

  const Expr *element = findAddend(total->exponent, total->matrix);
  Value z = element
                ? context.findTensor(b, op, element, dims, type.getShape())
                : Value();
  if (!z || !comesFromProduct(z))
    return {};
  auto refuse = [&](FusionReason reason, const Twine &detail) -> Value {
    context.refuse(op, "softmax", reason, detail, expr);
    return {};
  };
  if (context.strict)
    return refuse(FusionReason::StrictRounding,
                  "the sum of exponentials is taken in another order");
  SmallVector<Factor> factors;
  for (auto [factor, divides] : rest) {
    SmallVector<AffineExpr> target, mapped;
    SmallVector<int64_t> shape;
    for (unsigned d : {0u, 1u})
      if (factor->dependsOn(dims[d])) {
        target.push_back(dims[d]);
        mapped.push_back(b.getAffineDimExpr(d));
        shape.push_back(type.getDimSize(d));
      }
    Value tensor = context.findTensor(b, op, factor, target, shape);
    if (!tensor || !isa<FloatType>(getElementTypeOrSelf(tensor)))
      return refuse(FusionReason::NoCommonSpace,
                    "what the softmax is multiplied by is no tensor");
    factors.push_back(
        {tensor, AffineMap::get(2, 0, mapped, b.getContext()), divides});
  }

  Location loc = op.getLoc();
  Type compute = getComputeType(getElementTypeOrSelf(z));
  MLIRContext *ctx = b.getContext();
  AffineMap identity = b.getMultiDimIdentityMap(2);
  AffineMap rows = AffineMap::get(2, 0, b.getAffineDimExpr(0), ctx);
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] = 1;
  spec.dims[static_cast<unsigned>(DimKind::n)] = 1;
  spec.inputs = {z};
  spec.loadCombiners = {b.getUnitAttr()};
  spec.outputs = {tensor::EmptyOp::create(
      b, loc, ArrayRef<OpFoldResult>{tensor::getMixedSize(b, loc, z, 0)},
      compute)};
  spec.combiners = {LogAddExpAttr::get(ctx)};
  spec.fresh = {true};
  spec.maps = {identity, rows};
  TileOpInterface statistic = createTileOp(b, loc, spec);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&statistic.getBody().front());
    Value value = statistic.getBody().getArgument(0);
    YieldOp::create(b, loc, convertFloat(b, loc, value, compute));
  }

  SmallVector<Value> inputs{z, statistic->getResult(0)};
  SmallVector<AffineMap> maps{identity, rows};
  for (const Factor &factor : factors) {
    inputs.push_back(factor.tensor);
    maps.push_back(factor.map);
  }
  maps.push_back(identity);
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, z), type.getElementType());
  SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, inputs, init, maps, parallel,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               auto convert = [&](Value value) {
                 return convertFloat(b, loc, value, compute);
               };
               Value value =
                   arith::SubFOp::create(b, loc, convert(args[0]), args[1]);
               if (!isLogarithm)
                 value = math::ExpOp::create(b, loc, value);
               for (auto [factor, arg] :
                    llvm::zip_equal(factors, args.drop_front(2).drop_back())) {
                 Value by = convert(arg);
                 value = factor.divides
                             ? arith::DivFOp::create(b, loc, value, by)
                                   .getResult()
                             : arith::MulFOp::create(b, loc, value, by)
                                   .getResult();
               }
               if (coefficient != 1.0) {
                 Value by = arith::ConstantOp::create(
                     b, loc, b.getFloatAttr(compute, coefficient));
                 value = arith::MulFOp::create(b, loc, value, by);
               }
               value = convertFloat(b, loc, value, type.getElementType());
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}
