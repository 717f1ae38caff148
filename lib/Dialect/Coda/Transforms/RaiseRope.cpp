//===- RaiseRope.cpp - Matcher of coda.rope -----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two elements of a pair, evaluated apart, must be x0 c0 - x1 s0 and
// x1 c1 + x0 s1, with x, cos and sin views of existing tensors; or, for the
// transposed map, x0 c0 + x1 s1 and x1 c1 - x0 s0. How the graph splits, rotates,
// pads and joins the halves is the expression graph's business.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
using Factors = std::pair<const Expr *, const Expr *>;

/// One element of a rotated pair: two products, added or subtracted.
struct Rotated {
  Factors first, second;
  bool firstNegated = false, secondNegated = false;
  /// The sum with its casts, and the constant that it is multiplied by.
  const Expr *sum = nullptr;
  std::optional<double> factor;
};

/// The parts of a rotation by the names of the op's formula.
struct Rotation {
  const Expr *x0, *x1, *c0, *c1, *s0, *s1;
  bool transposed = false;
};

struct Table {
  ViewPlan plan;
  bool perElement; ///< has an entry for each element, not for each pair
  Type elementType;
};

class RopeMatcher {
public:
  RopeMatcher(RaiseContext &context, OpBuilder &b, OpResult root)
      : context(context), space(context.space), b(b), root(root),
        user(root.getOwner()), type(cast<RankedTensorType>(root.getType())),
        last(type.getRank() - 1), dims(context.getDims(type.getShape())) {}

  Value match(RopeLayout layout);

private:
  AffineExpr getElementIndex(unsigned which) {
    return layout == RopeLayout::half
               ? space.add(pair, space.getConstant(which * half))
               : space.add(space.mul(pair, 2), space.getConstant(which));
  }
  SmallVector<AffineExpr> at(AffineExpr lastIndex) {
    SmallVector<AffineExpr> indices(dims);
    indices[last] = lastIndex;
    return indices;
  }
  /// Indices of a tensor that has `first` and `second` as the elements of every
  /// pair, in terms of the dims with the last one whole.
  std::optional<SmallVector<AffineExpr>>
  joinIndices(ArrayRef<AffineExpr> first, ArrayRef<AffineExpr> second);
  std::optional<ViewPlan> findValue(const Expr *first, const Expr *second);
  std::vector<Table> findTables(const Expr *first, const Expr *second,
                                ArrayRef<unsigned> xDims);
  Value build(const Rotation &rotation, const Rotated &sum0,
              const Rotated &sum1);
  bool isExact(RopeOp op, ArrayRef<unsigned> keep, const Rotated &sum0,
               const Rotated &sum1);

  RaiseContext &context;
  IndexSpace &space;
  OpBuilder &b;
  OpResult root;
  Operation *user;
  RankedTensorType type;
  int64_t last;
  SmallVector<AffineExpr> dims;

  RopeLayout layout = RopeLayout::half;
  int64_t half = 0;
  AffineExpr pair;
};
} // namespace

static std::optional<Factors> matchProduct(const Expr *term) {
  const Expr *e = stripCasts(term);
  if (!e->isOp("arith.mulf"))
    return std::nullopt;
  return Factors{e->operands[0], e->operands[1]};
}

static std::optional<Rotated> matchRotated(const Expr *expr) {
  Rotated result;
  const Expr *sum = expr;
  const Expr *e = stripCasts(expr);
  if (e->isOp("arith.mulf")) {
    for (unsigned i = 0; i < 2; ++i)
      if (auto factor = getFloatConstant(stripCasts(e->operands[i]))) {
        result.factor = factor;
        sum = e->operands[1 - i];
      }
    e = stripCasts(sum);
  }
  if (!e->isOp("arith.addf"))
    return std::nullopt;
  // A gradient of slices is a sum of tensors padded with zeros.
  Sum parts = flattenSum(e);
  if (parts.terms.size() != 2 || parts.constant != 0.0)
    return std::nullopt;
  auto first = matchProduct(parts.terms[0].second);
  auto second = matchProduct(parts.terms[1].second);
  if (!first || !second)
    return std::nullopt;
  result.first = *first;
  result.second = *second;
  result.firstNegated = parts.terms[0].first;
  result.secondNegated = parts.terms[1].first;
  result.sum = sum;
  return result;
}

static bool isSame(const Expr *lhs, const Expr *rhs) {
  return lhs->relaxed == rhs->relaxed;
}

/// All readings of `plain - negated` and `sum` as the elements of one rotation.
static SmallVector<Rotation> matchRotation(const Factors &plain,
                                           const Factors &negated,
                                           const Rotated &sum) {
  SmallVector<Rotation> rotations;
  auto other = [](const Factors &factors, const Expr *e) -> const Expr * {
    if (isSame(factors.first, e))
      return factors.second;
    return isSame(factors.second, e) ? factors.first : nullptr;
  };
  for (auto [x0, c0] : {plain, Factors{plain.second, plain.first}})
    for (auto [x1, s0] : {negated, Factors{negated.second, negated.first}})
      for (auto [withX1, withX0] :
           {std::make_pair(sum.first, sum.second),
            std::make_pair(sum.second, sum.first)}) {
        const Expr *c1 = other(withX1, x1);
        const Expr *s1 = other(withX0, x0);
        if (c1 && s1)
          rotations.push_back({x0, x1, c0, c1, s0, s1});
      }
  // The rotated value varies with more dims than the tables do.
  SmallVector<Rotation> sorted;
  unsigned most = 0;
  for (const Rotation &rotation : rotations)
    most = std::max<unsigned>(most, rotation.x0->dims.count());
  for (bool first : {true, false})
    for (const Rotation &rotation : rotations)
      if ((rotation.x0->dims.count() == most) == first)
        sorted.push_back(rotation);
  return sorted;
}

std::optional<SmallVector<AffineExpr>>
RopeMatcher::joinIndices(ArrayRef<AffineExpr> first,
                         ArrayRef<AffineExpr> second) {
  AffineExpr inner, which;
  if (layout == RopeLayout::half) {
    inner = space.mod(dims[last], half);
    which = space.floorDiv(dims[last], half);
  } else {
    inner = space.floorDiv(dims[last], 2);
    which = space.mod(dims[last], 2);
  }
  SmallVector<AffineExpr> joined;
  for (auto [i0, i1] : llvm::zip_equal(first, second)) {
    auto distance =
        space.getConstantValue(space.add(i1, space.mul(i0, -1)));
    AffineExpr index = space.substitute(i0, pair, inner);
    if (!distance || !index)
      return std::nullopt;
    joined.push_back(space.add(index, space.mul(which, *distance)));
  }
  return joined;
}

std::optional<ViewPlan> RopeMatcher::findValue(const Expr *first,
                                               const Expr *second) {
  SmallVector<TensorElement> seconds = context.getSources(second, user);
  for (const TensorElement &element : context.getSources(first, user))
    for (const TensorElement &other : seconds) {
      if (other.tensor != element.tensor)
        continue;
      auto indices = joinIndices(element.indices, other.indices);
      if (!indices)
        continue;
      auto plan = context.planView({element.tensor, *indices}, dims,
                                   type.getShape());
      if (plan && llvm::is_contained(plan->order, last))
        return plan;
    }
  return std::nullopt;
}

std::vector<Table> RopeMatcher::findTables(const Expr *first,
                                           const Expr *second,
                                           ArrayRef<unsigned> xDims) {
  std::vector<Table> tables;
  auto add = [&](std::optional<ViewPlan> plan, bool perElement) {
    if (!plan || !llvm::is_contained(plan->order, last) ||
        llvm::any_of(plan->order, [&](unsigned d) {
          return !llvm::is_contained(xDims, d);
        }))
      return;
    Type elementType = getElementTypeOrSelf(plan->source.getType());
    tables.push_back({std::move(*plan), perElement, elementType});
  };
  // One entry serves both elements of a pair.
  if (isSame(first, second)) {
    SmallVector<AffineExpr> target = at(pair);
    SmallVector<int64_t> shape(type.getShape());
    shape[last] = half;
    for (const TensorElement &element : context.getSources(first, user))
      add(context.planView(element, target, shape), false);
  }
  SmallVector<TensorElement> seconds = context.getSources(second, user);
  for (const TensorElement &element : context.getSources(first, user))
    for (const TensorElement &other : seconds)
      if (other.tensor == element.tensor)
        if (auto indices = joinIndices(element.indices, other.indices))
          add(context.planView({element.tensor, *indices}, dims,
                               type.getShape()),
              true);
  return tables;
}

bool RopeMatcher::isExact(RopeOp op, ArrayRef<unsigned> keep,
                          const Rotated &sum0, const Rotated &sum1) {
  ExpressionGraph &graph = context.graph;
  auto table = cast<RankedTensorType>(op.getCos().getType());
  bool perElement = table.getShape().back() == type.getDimSize(last);
  Type compute = getComputeType(getElementTypeOrSelf(op.getX().getType()));
  Type sumType = sum0.sum->type;
  auto load = [&](Value tensor, ArrayRef<AffineExpr> indices) {
    return graph.convert(graph.evaluate(tensor, indices), compute);
  };
  auto mul = [&](const Expr *lhs, const Expr *rhs) {
    return graph.getOp("arith.mulf", compute, {lhs, rhs});
  };
  const Expr *xs[2], *cs[2], *ss[2];
  for (unsigned i = 0; i < 2; ++i) {
    SmallVector<AffineExpr> element = at(getElementIndex(i));
    SmallVector<AffineExpr> xIndices, tableIndices;
    for (unsigned d : keep)
      xIndices.push_back(element[d]);
    for (int64_t d : op.getTableDims())
      tableIndices.push_back(xIndices[d]);
    tableIndices.push_back(perElement ? element[last] : pair);
    xs[i] = load(op.getX(), xIndices);
    cs[i] = load(op.getCos(), tableIndices);
    ss[i] = load(op.getSin(), tableIndices);
  }
  bool back = op.getTransposed();
  auto add = [&](unsigned i, bool negated) {
    return graph.getOp(negated ? "arith.subf" : "arith.addf", compute,
                       {mul(xs[i], cs[i]),
                        mul(xs[1 - i], ss[back ? 1 - i : i])});
  };
  return graph.convert(add(0, !back), sumType) == sum0.sum &&
         graph.convert(add(1, back), sumType) == sum1.sum;
}

Value RopeMatcher::build(const Rotation &rotation, const Rotated &sum0,
                         const Rotated &sum1) {
  std::optional<ViewPlan> plan = findValue(rotation.x0, rotation.x1);
  if (!plan)
    return {};
  // Dims along which the rotated value is only repeated come after the op.
  SmallVector<unsigned> keep;
  for (unsigned d = 0; d <= last; ++d)
    if (type.getDimSize(d) == 1 || llvm::is_contained(plan->order, d))
      keep.push_back(d);

  std::vector<Table> cosTables = findTables(rotation.c0, rotation.c1, keep);
  std::vector<Table> sinTables = findTables(rotation.s0, rotation.s1, keep);
  const Table *cosTable = nullptr, *sinTable = nullptr;
  auto sorted = [](ArrayRef<unsigned> order) {
    SmallVector<unsigned> result(order);
    llvm::sort(result);
    return result;
  };
  for (const Table &c : cosTables)
    for (const Table &s : sinTables)
      if (!cosTable && c.perElement == s.perElement &&
          c.elementType == s.elementType &&
          sorted(c.plan.order) == sorted(s.plan.order)) {
        cosTable = &c;
        sinTable = &s;
      }
  if (!cosTable)
    return {};

  auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
  bool wraps = sum0.factor || static_cast<int64_t>(keep.size()) <= last;
  if (wraps && !linalgOp)
    return {};

  Location loc = user->getLoc();
  Type elementType = wraps ? sum0.sum->type : type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  Value x = context.buildView(b, loc, *plan, keep, shape);
  SmallVector<unsigned> tableOrder = sorted(cosTable->plan.order);
  SmallVector<int64_t> tableShape(shape);
  if (!cosTable->perElement)
    tableShape[last] = half;
  Value cos = context.buildView(b, loc, cosTable->plan, tableOrder, tableShape);
  Value sin = context.buildView(b, loc, sinTable->plan, tableOrder, tableShape);
  SmallVector<int64_t> tableDims;
  for (unsigned d : ArrayRef(tableOrder).drop_back())
    tableDims.push_back(std::distance(keep.begin(), llvm::find(keep, d)));
  SmallVector<int64_t> resultShape;
  for (unsigned d : keep)
    resultShape.push_back(shape[d]);
  auto op = RopeOp::create(
      b, loc, RankedTensorType::get(resultShape, elementType), layout,
      rotation.transposed, x, cos, sin, tableDims);
  if (context.strict && !isExact(op, keep, sum0, sum1)) {
    context.refuse(user, "rope", FusionReason::StrictRounding,
                   "rounded between the steps, or in another order", sum0.sum);
    return {};
  }
  Value result = op;
  if (!wraps)
    return result;

  unsigned rank = last + 1;
  SmallVector<AffineExpr> exprs;
  for (unsigned d : keep)
    exprs.push_back(b.getAffineDimExpr(d));
  AffineMap maps[] = {AffineMap::get(rank, 0, exprs, b.getContext()),
                      b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value init = linalgOp.getDpsInits()[root.getResultNumber()];
  return linalg::GenericOp::create(
             b, loc, type, result, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value value = args[0];
               if (sum0.factor) {
                 Value factor = arith::ConstantOp::create(
                     b, loc, FloatAttr::get(elementType, *sum0.factor));
                 value = arith::MulFOp::create(b, loc, value, factor);
               }
               Type target = type.getElementType();
               if (value.getType().getIntOrFloatBitWidth() <
                   target.getIntOrFloatBitWidth())
                 value = arith::ExtFOp::create(b, loc, target, value);
               else if (value.getType() != target)
                 value = arith::TruncFOp::create(b, loc, target, value);
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}

Value RopeMatcher::match(RopeLayout newLayout) {
  layout = newLayout;
  int64_t extent = type.getDimSize(last);
  // A pair alone has no layout.
  if (ShapedType::isDynamic(extent) || extent % 2 != 0 || extent < 4)
    return {};
  half = extent / 2;
  pair = space.getDim(last, half);
  const Expr *y0 = context.graph.evaluate(root, at(getElementIndex(0)));
  const Expr *y1 = context.graph.evaluate(root, at(getElementIndex(1)));
  std::optional<Rotated> sum0 = matchRotated(y0), sum1 = matchRotated(y1);
  if (!sum0 || !sum1 || sum0->factor != sum1->factor ||
      sum0->sum->type != sum1->sum->type)
    return {};
  auto isDifference = [](const Rotated &sum) {
    return sum.firstNegated != sum.secondNegated;
  };
  auto isSum = [](const Rotated &sum) {
    return !sum.firstNegated && !sum.secondNegated;
  };
  auto read = [&](const Rotated &difference, const Rotated &sum) {
    return difference.firstNegated
               ? matchRotation(difference.second, difference.first, sum)
               : matchRotation(difference.first, difference.second, sum);
  };
  SmallVector<Rotation> rotations;
  if (isDifference(*sum0) && isSum(*sum1)) {
    rotations = read(*sum0, *sum1);
  } else if (isSum(*sum0) && isDifference(*sum1)) {
    // With the elements exchanged; s0 is what x0 is multiplied with.
    rotations = read(*sum1, *sum0);
    for (Rotation &r : rotations) {
      std::swap(r.x0, r.x1);
      std::swap(r.c0, r.c1);
      r.transposed = true;
    }
  }
  for (const Rotation &rotation : rotations)
    if (Value result = build(rotation, *sum0, *sum1))
      return result;
  if (!rotations.empty())
    context.refuse(user, "rope", FusionReason::NoCommonSpace,
                   "the rotated value or its tables are no views of one tensor",
                   sum0->sum);
  return {};
}

Value coda::raiseToRope(RaiseContext &context, OpBuilder &b, OpResult root) {
  if (cast<RankedTensorType>(root.getType()).getRank() < 1)
    return {};
  RopeMatcher matcher(context, b, root);
  if (Value result = matcher.match(RopeLayout::half))
    return result;
  return matcher.match(RopeLayout::interleaved);
}
