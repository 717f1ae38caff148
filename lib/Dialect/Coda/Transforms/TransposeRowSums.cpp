//===- TransposeRowSums.cpp - coda-transpose-row-sums -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// <A B, c> = <A, c B^T>, row by row: where a row's sum over a product's columns
// multiplies them with what another product contracts with the same factor, the
// sum is one over the products' common axis, of values that exist.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_TRANSPOSEROWSUMSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
using Factors = SmallVector<const Expr *>;

/// A product of a row's elements, split into what varies along the row and what
/// does not.
struct RowProduct {
  double coefficient = 1.0;
  Factors columns, numerator, denominator;
};

/// The elements of two tensors at the points (rows, contracted) of a new sum.
struct Term {
  Value gradient, product;
  AffineMap gradientMap, productMap;
  SmallVector<int64_t> contracted;
};

/// One row sum.
class RowSum {
public:
  RowSum(ExpressionGraph &graph, DominanceInfo &dominance, linalg::GenericOp op)
      : graph(graph), space(graph.getIndexSpace()), dominance(dominance),
        op(op) {}

  /// Finds another form of the sum.
  bool match();
  /// Creates it before the op.
  Value build(OpBuilder &b);

private:
  std::optional<RowProduct> split(const Expr *expr,
                                  const Expr *without = nullptr);
  bool matchTerms(const Expr *factor, const RowProduct &rest);
  bool matchTerm(const Expr *leaf, const RowProduct &rest);
  std::optional<Term> pair(linalg::LinalgOp product, ArrayRef<AffineExpr> at,
                           const RowProduct &rest);
  /// A tensor over the rows that has the values of `expr`.
  Value findRows(const Expr *expr);
  bool startsFromZero(linalg::LinalgOp product);

  ExpressionGraph &graph;
  IndexSpace &space;
  DominanceInfo &dominance;
  linalg::GenericOp op;

  SmallVector<AffineExpr> rows; ///< the indices of the result
  AffineExpr column;            ///< of what is summed
  SmallVector<Term> terms;
  /// The sum is `coefficient * (sum of terms) * numerator / denominator`.
  double coefficient = 1.0;
  SmallVector<Value> numerator, denominator;
  Value normalised; ///< the left factor of all products that are paired with
};
} // namespace

std::optional<RowProduct> RowSum::split(const Expr *expr, const Expr *without) {
  Product product = flattenProduct(expr);
  if (without) {
    auto *it = llvm::find(product.numerator, without);
    if (it == product.numerator.end())
      return std::nullopt;
    product.numerator.erase(it);
  }
  RowProduct result;
  result.coefficient = product.coefficient;
  for (const Expr *factor : product.numerator)
    (factor->dependsOn(column) ? result.columns : result.numerator)
        .push_back(factor);
  for (const Expr *factor : product.denominator) {
    if (factor->dependsOn(column))
      return std::nullopt;
    result.denominator.push_back(factor);
  }
  return result;
}

bool RowSum::startsFromZero(linalg::LinalgOp product) {
  Value init = product.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<AffineExpr> indices;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    indices.push_back(space.getDim(d, size));
  return getFloatConstant(graph.evaluate(init, indices)) == 0.0;
}

Value RowSum::findRows(const Expr *expr) {
  for (; expr; expr = expr->isOp("arith.extf") ? expr->operands[0] : nullptr)
    for (const TensorElement &element : graph.getElements(expr))
      if (isa<RankedTensorType>(element.tensor.getType()) &&
          llvm::equal(element.indices, rows) &&
          dominance.properlyDominates(element.tensor, op))
        return element.tensor;
  return {};
}

/// Where each dim of a projected permutation is among its results.
static std::optional<unsigned> getPosition(AffineMap map, unsigned dim) {
  return map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
}

std::optional<Term> RowSum::pair(linalg::LinalgOp product,
                                 ArrayRef<AffineExpr> at,
                                 const RowProduct &rest) {
  // The product's dim that is summed, and the factor that has it.
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) {
        return map.isProjectedPermutation();
      }))
    return std::nullopt;
  const auto *summed = llvm::find(at, column);
  if (summed == at.end())
    return std::nullopt;
  unsigned dim = maps[2].getDimPosition(std::distance(at.begin(), summed));
  unsigned right = getPosition(maps[1], dim) ? 1 : 0;
  std::optional<unsigned> columnOfRight = getPosition(maps[right], dim);
  if (!columnOfRight || getPosition(maps[1 - right], dim) ||
      !startsFromZero(product))
    return std::nullopt;
  Value weight = product.getDpsInputs()[right];

  // Loops of the new sum: the rows, then what the product contracts.
  unsigned numRows = rows.size();
  Term term;
  SmallVector<AffineExpr> place(product.getNumLoops());
  MLIRContext *context = op.getContext();
  for (auto [i, index] : llvm::enumerate(at)) {
    const auto *row = llvm::find(rows, index);
    if (index == column)
      continue;
    if (row == rows.end())
      return std::nullopt;
    place[maps[2].getDimPosition(i)] =
        getAffineDimExpr(row - rows.begin(), context);
  }
  SmallVector<int64_t> ranges = product.getStaticLoopRanges();
  SmallVector<AffineExpr> ofWeight(maps[right].getNumResults());
  for (unsigned i = 0, e = maps[right].getNumResults(); i < e; ++i) {
    unsigned d = maps[right].getDimPosition(i);
    if (d == dim)
      continue;
    // A batch would be a row that the factor varies with.
    if (place[d])
      return std::nullopt;
    place[d] = ofWeight[i] =
        getAffineDimExpr(numRows + term.contracted.size(), context);
    term.contracted.push_back(ranges[d]);
  }
  place[dim] = getAffineConstantExpr(0, context);
  if (llvm::any_of(place, [](AffineExpr e) { return !e; }))
    return std::nullopt;
  unsigned numLoops = numRows + term.contracted.size();
  term.gradient = product.getDpsInputs()[1 - right];
  term.gradientMap =
      maps[1 - right].replaceDimsAndSymbols(place, {}, numLoops, 0);

  // The other product: it contracts the dim that is summed here.
  for (OpOperand &use : weight.getUses()) {
    auto other = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!other || other == product || !isMatrixProduct(other) ||
        !other.hasPureTensorSemantics() || !other.isDpsInput(&use) ||
        !dominance.properlyDominates(other->getResult(0), op))
      continue;
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(other);
    SmallVector<AffineMap> otherMaps = other.getIndexingMapsArray();
    unsigned number = use.getOperandNumber();
    AffineMap weightMap = otherMaps[number];
    unsigned contracted = weightMap.getDimPosition(*columnOfRight);
    if (failed(dims) || !dims->batch.empty() || dims->k.size() != 1 ||
        dims->k[0] != contracted || !startsFromZero(other))
      continue;
    // Its rows are these rows, in order; the expressions tell whether they are.
    SmallVector<AffineExpr> otherPlace(other.getNumLoops()), loops(
        other.getNumLoops());
    for (auto [i, e] : llvm::enumerate(weightMap.getResults()))
      if (i != *columnOfRight)
        otherPlace[weightMap.getDimPosition(i)] = ofWeight[i];
    otherPlace[contracted] = getAffineConstantExpr(0, context);
    loops[contracted] = column;
    unsigned next = 0;
    for (AffineExpr e : otherMaps[2].getResults()) {
      unsigned d = cast<AffineDimExpr>(e).getPosition();
      if (otherPlace[d])
        continue;
      if (next == numRows)
        break;
      otherPlace[d] = getAffineDimExpr(next, context);
      loops[d] = rows[next++];
    }
    if (next != numRows ||
        llvm::any_of(otherPlace, [](AffineExpr e) { return !e; }))
      continue;
    Value left = other.getDpsInputs()[1 - number];
    if (normalised && normalised != left)
      continue;
    SmallVector<AffineExpr> indices;
    for (AffineExpr e : otherMaps[1 - number].getResults())
      indices.push_back(loops[cast<AffineDimExpr>(e).getPosition()]);
    if (llvm::any_of(indices, [](AffineExpr e) { return !e; }))
      continue;
    std::optional<RowProduct> scaled = split(graph.evaluate(left, indices));
    if (!scaled || scaled->coefficient == 0.0 ||
        scaled->columns.size() != rest.columns.size() ||
        !removeFactors(scaled->columns, rest.columns))
      continue;
    term.product = other->getResult(0);
    term.productMap =
        otherMaps[2].replaceDimsAndSymbols(otherPlace, {}, numLoops, 0);
    if (normalised)
      return term;

    // What is divided by must be neither 0 nor infinite.
    Factors over = rest.numerator, under = scaled->numerator;
    for (const Expr *factor : rest.numerator)
      if (removeFactors(under, factor))
        removeFactors(over, factor);
    Factors divisors = rest.denominator, multipliers = scaled->denominator;
    for (const Expr *factor : rest.denominator)
      if (removeFactors(multipliers, factor))
        removeFactors(divisors, factor);
    auto isRoot = [](StringRef name) {
      return [name](const Expr *e) { return stripCasts(e)->isOp(name); };
    };
    if (!llvm::all_of(under, isRoot("math.rsqrt")) ||
        !llvm::all_of(multipliers, isRoot("math.sqrt")))
      continue;
    llvm::append_range(over, multipliers);
    llvm::append_range(under, divisors);
    numerator = llvm::map_to_vector(
        over, [&](const Expr *e) { return findRows(e); });
    denominator = llvm::map_to_vector(
        under, [&](const Expr *e) { return findRows(e); });
    if (llvm::is_contained(numerator, Value()) ||
        llvm::is_contained(denominator, Value()))
      continue;
    coefficient = rest.coefficient / scaled->coefficient;
    normalised = left;
    return term;
  }
  return std::nullopt;
}

bool RowSum::matchTerms(const Expr *factor, const RowProduct &rest) {
  Sum sum = flattenSum(factor);
  if (sum.constant != 0.0)
    return false;
  terms.clear();
  normalised = {};
  for (auto [negated, term] : sum.terms) {
    const Expr *leaf = stripCasts(term);
    if (negated ||
        (leaf->kind != ExprKind::Reduction && leaf->kind != ExprKind::Leaf))
      return false;
    auto product = leaf->value.getDefiningOp<linalg::LinalgOp>();
    if (!product || !isMatrixProduct(product))
      return false;
    std::optional<Term> found = pair(product, leaf->indices, rest);
    if (!found)
      return false;
    terms.push_back(std::move(*found));
  }
  return !terms.empty();
}

bool RowSum::match() {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 ||
      op->getNumResults() != 1 || isMatrixProduct(op))
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isa<Float32Type, Float64Type>(type.getElementType()))
    return false;
  AffineMap stored = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!stored.isProjectedPermutation() || type.getRank() == 0)
    return false;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    rows.push_back(space.getDim(d, size));
  const Expr *result = graph.evaluate(op->getResult(0), rows);
  if (result->kind != ExprKind::Reduction)
    return false;
  ReductionInfo info = graph.getReductionInfo(result);
  if (info.combiner != "arith.addf" || getFloatConstant(info.init) != 0.0)
    return false;
  column = space.getDim(type.getRank(), info.extents[0]);
  const Expr *element = graph.getReducedExpr(result, column);
  if (!element)
    return false;
  for (const Expr *factor : flattenProduct(element).numerator) {
    if (!factor->dependsOn(column))
      continue;
    std::optional<RowProduct> rest = split(element, factor);
    if (rest && !rest->columns.empty() && matchTerms(factor, *rest))
      return true;
  }
  return false;
}

Value RowSum::build(OpBuilder &b) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto element = cast<FloatType>(type.getElementType());
  auto widen = [&](OpBuilder &b, Value value) -> Value {
    if (value.getType() == element)
      return value;
    return value.getType().getIntOrFloatBitWidth() < element.getWidth()
               ? arith::ExtFOp::create(b, loc, element, value).getResult()
               : arith::TruncFOp::create(b, loc, element, value).getResult();
  };
  unsigned numRows = rows.size();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, op.getOutputs()[0]);
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0.0));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<Value> inputs;
  for (const Term &term : terms) {
    unsigned numLoops = term.gradientMap.getNumDims();
    SmallVector<utils::IteratorType> iterators(numLoops,
                                               utils::IteratorType::parallel);
    std::fill(iterators.begin() + numRows, iterators.end(),
              utils::IteratorType::reduction);
    AffineMap maps[] = {
        term.gradientMap, term.productMap,
        AffineMap::getMultiDimIdentityMap(numLoops, b.getContext())
            .getMajorSubMap(numRows)};
    inputs.push_back(
        linalg::GenericOp::create(
            b, loc, type, ValueRange{term.gradient, term.product}, init, maps,
            iterators,
            [&](OpBuilder &b, Location loc, ValueRange args) {
              Value product = arith::MulFOp::create(
                  b, loc, widen(b, args[0]), widen(b, args[1]));
              Value sum = arith::AddFOp::create(b, loc, product, args[2]);
              linalg::YieldOp::create(b, loc, sum);
            })
            .getResult(0));
  }
  unsigned numTerms = inputs.size(), numFactors = numerator.size();
  llvm::append_range(inputs, numerator);
  llvm::append_range(inputs, denominator);
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(numRows));
  SmallVector<utils::IteratorType> iterators(numRows,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, inputs, empty, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value value = args[0];
               for (Value term : args.take_front(numTerms).drop_front())
                 value = arith::AddFOp::create(b, loc, value, term);
               if (coefficient != 1.0) {
                 Value factor = arith::ConstantOp::create(
                     b, loc, b.getFloatAttr(element, coefficient));
                 value = arith::MulFOp::create(b, loc, value, factor);
               }
               ValueRange factors = args.drop_front(numTerms).drop_back();
               for (auto [i, arg] : llvm::enumerate(factors)) {
                 Value factor = widen(b, arg);
                 if (i < numFactors)
                   value = arith::MulFOp::create(b, loc, value, factor);
                 else
                   value = arith::DivFOp::create(b, loc, value, factor);
               }
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}

namespace {
class TransposeRowSumsPass
    : public coda::impl::TransposeRowSumsPassBase<TransposeRowSumsPass> {
public:
  using TransposeRowSumsPassBase::TransposeRowSumsPassBase;

  void runOnOperation() override {
    ExpressionGraph graph(&getContext());
    DominanceInfo &dominance = getAnalysis<DominanceInfo>();
    SmallVector<linalg::GenericOp> sums;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 1 && !isMatrixProduct(op))
        sums.push_back(op);
    });
    // The graph holds on to the values that it saw: nothing is erased before the
    // end.
    SmallVector<Operation *> dead;
    for (linalg::GenericOp op : sums) {
      RowSum sum(graph, dominance, op);
      if (!sum.match())
        continue;
      OpBuilder b(op);
      op->getResult(0).replaceAllUsesWith(sum.build(b));
      dead.push_back(op);
      ++numSums;
    }
    for (Operation *op : dead)
      op->erase();
    markAnalysesPreserved<DominanceInfo>();
  }
};
} // namespace
