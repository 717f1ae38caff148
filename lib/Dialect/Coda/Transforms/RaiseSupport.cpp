//===- RaiseSupport.cpp - What the matchers of coda-raise share ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::coda;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Whether `expr` rounds and does not quantise.
static bool isRounding(const Expr *expr) {
  return expr->isOp("arith.truncf") && !isQuantizedFloat(expr->type);
}

const Expr *coda::stripCasts(const Expr *expr) {
  while (expr->isOp("arith.extf") || isRounding(expr))
    expr = expr->operands.front();
  return expr;
}

std::optional<double> coda::getFloatConstant(const Expr *expr) {
  if (expr->kind == ExprKind::Constant)
    if (auto value = dyn_cast<FloatAttr>(expr->attr))
      return value.getValueAsDouble();
  return std::nullopt;
}

static void flattenProduct(const Expr *expr, bool inverse, Product &product) {
  if (!inverse)
    product.nodes.push_back(expr);
  const Expr *e = stripCasts(expr);
  if (std::optional<double> number = getFloatConstant(e)) {
    if (inverse)
      product.coefficient /= *number;
    else
      product.coefficient *= *number;
    return;
  }
  if (e->isOp("arith.negf")) {
    product.coefficient = -product.coefficient;
    return flattenProduct(e->operands[0], inverse, product);
  }
  if (e->isOp("arith.mulf") || e->isOp("arith.divf")) {
    flattenProduct(e->operands[0], inverse, product);
    flattenProduct(e->operands[1],
                   e->isOp("arith.divf") ? !inverse : inverse, product);
    return;
  }
  (inverse ? product.denominator : product.numerator).push_back(expr);
}

Product coda::flattenProduct(const Expr *expr) {
  Product product;
  ::flattenProduct(expr, /*inverse=*/false, product);
  return product;
}

static void flattenSum(const Expr *expr, bool negated, Sum &sum) {
  const Expr *e = stripCasts(expr);
  if (std::optional<double> number = getFloatConstant(e)) {
    sum.constant += negated ? -*number : *number;
    return;
  }
  if (e->isOp("arith.negf"))
    return flattenSum(e->operands[0], !negated, sum);
  if (e->isOp("arith.addf")) {
    flattenSum(e->operands[0], negated, sum);
    return flattenSum(e->operands[1], negated, sum);
  }
  sum.terms.emplace_back(negated, expr);
}

Sum coda::flattenSum(const Expr *expr) {
  Sum sum;
  ::flattenSum(expr, /*negated=*/false, sum);
  return sum;
}

bool coda::removeFactors(SmallVectorImpl<const Expr *> &from,
                         ArrayRef<const Expr *> part) {
  SmallVector<const Expr *> rest(from.begin(), from.end());
  for (const Expr *factor : part) {
    auto *it = llvm::find_if(rest, [&](const Expr *e) {
      return e->relaxed == factor->relaxed;
    });
    if (it == rest.end())
      return false;
    rest.erase(it);
  }
  from.assign(rest.begin(), rest.end());
  return true;
}

bool coda::removeTerms(SmallVectorImpl<std::pair<bool, const Expr *>> &from,
                       ArrayRef<std::pair<bool, const Expr *>> part,
                       bool flip) {
  for (auto [negated, term] : part) {
    bool sign = negated != flip;
    const Expr *relaxed = term->relaxed;
    auto *it = llvm::find_if(from, [&](const auto &candidate) {
      return candidate.first == sign && candidate.second->relaxed == relaxed;
    });
    if (it == from.end())
      return false;
    from.erase(it);
  }
  return true;
}

const Expr *coda::findAddend(const Expr *expr,
                             ArrayRef<std::pair<bool, const Expr *>> wanted) {
  Sum sum = flattenSum(expr);
  if (sum.terms.size() == wanted.size() && sum.constant == 0.0 &&
      removeTerms(sum.terms, wanted, /*flip=*/false))
    return expr;
  const Expr *e = stripCasts(expr);
  if (!e->isOp("arith.addf"))
    return nullptr;
  for (const Expr *operand : e->operands)
    if (const Expr *found = findAddend(operand, wanted))
      return found;
  return nullptr;
}

const Expr *coda::findFactor(const Product &product,
                             ArrayRef<const Expr *> factors) {
  for (const Expr *node : product.nodes) {
    Product part = flattenProduct(node);
    if (part.coefficient == 1.0 && part.denominator.empty() &&
        part.numerator.size() == factors.size() &&
        removeFactors(part.numerator, factors))
      return node;
  }
  return nullptr;
}

bool coda::isNear(double number, double expected, double tolerance) {
  return std::abs(number - expected) <= tolerance * std::abs(expected);
}

//===----------------------------------------------------------------------===//
// RaiseContext
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr> RaiseContext::getDims(ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> dims;
  for (auto [position, extent] : llvm::enumerate(shape))
    dims.push_back(space.getDim(position, extent));
  return dims;
}

void RaiseContext::refuse(Operation *op, StringRef target, FusionReason reason,
                          const Twine &detail, const Expr *key) {
  if (!refused.emplace(key->relaxed, target.str()).second)
    return;
  op->emitRemark() << "[coda-raise] not raised to " << target << ": "
                   << stringifyFusionReason(reason) << ": " << detail;
}

SmallVector<TensorElement> RaiseContext::getSources(const Expr *expr,
                                                    Operation *user) {
  struct Candidate {
    TensorElement element;
    unsigned roundings; ///< that it does without
    unsigned width;
    bool identity;
    size_t order;
  };
  SmallVector<Candidate> candidates;
  unsigned roundings = 0;
  while (true) {
    for (const TensorElement &element :
         llvm::reverse(graph.getElements(expr))) {
      if (!dominance.properlyDominates(element.tensor, user))
        continue;
      bool identity = llvm::all_of(element.indices, [](AffineExpr e) {
        return isa<AffineDimExpr, AffineConstantExpr>(e);
      });
      Type type = getElementTypeOrSelf(element.tensor.getType());
      if (!type.isIntOrFloat())
        continue;
      candidates.push_back({element, roundings, type.getIntOrFloatBitWidth(),
                            identity, candidates.size()});
    }
    // Where a value was widened or rounded, the operand serves as well.
    if (!expr->isOp("arith.extf") && (strict || !isRounding(expr)))
      break;
    roundings += isRounding(expr);
    expr = expr->operands.front();
  }
  // A rounding less is closer to what was meant; a widened copy is not.
  auto getRank = [](const Candidate &c) {
    return std::make_tuple(-static_cast<int>(c.roundings), c.width, !c.identity,
                           c.order);
  };
  llvm::sort(candidates, [&](const auto &lhs, const auto &rhs) {
    return getRank(lhs) < getRank(rhs);
  });
  SmallVector<TensorElement> sources;
  for (Candidate &candidate : candidates)
    sources.push_back(std::move(candidate.element));
  return sources;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// Source dims seen as one, with the index of the view in them.
struct Group {
  AffineExpr index;
  int64_t size;
  SmallVector<int64_t> sourceDims;
};
} // namespace

static bool isPlain(const LinearIndex &index, ArrayRef<AffineExpr> target) {
  return llvm::all_of(index.terms, [&](const auto &term) {
    return isa<AffineDimExpr>(term.first) &&
           llvm::is_contained(target, term.first);
  });
}

/// The target dims that count the elements `0, step, 2 * step, ...` in order,
/// outermost first, and their number; nothing if they do not.
static std::optional<std::pair<SmallVector<unsigned>, int64_t>>
getDigits(const LinearIndex &index, int64_t step, ArrayRef<AffineExpr> target,
          ArrayRef<int64_t> shape) {
  auto terms = index.terms;
  llvm::sort(terms, [](const auto &lhs, const auto &rhs) {
    return lhs.second < rhs.second;
  });
  SmallVector<unsigned> digits;
  int64_t expected = step, count = 1;
  for (auto [atom, coefficient] : terms) {
    if (ShapedType::isDynamic(count) || coefficient != expected)
      return std::nullopt;
    unsigned d = std::distance(target.begin(), llvm::find(target, atom));
    digits.insert(digits.begin(), d);
    if (ShapedType::isDynamic(shape[d])) {
      count = ShapedType::kDynamic;
    } else {
      count *= shape[d];
      expected *= shape[d];
    }
  }
  return std::make_pair(digits, count);
}

/// Merges two adjacent groups where one index runs through both.
static bool mergeOnce(IndexSpace &space, SmallVectorImpl<Group> &groups) {
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    Group &left = groups[i], &right = groups[i + 1];
    auto binary = dyn_cast<AffineBinaryOpExpr>(right.index);
    if (!binary || binary.getKind() != AffineExprKind::Mod)
      continue;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!divisor || divisor.getValue() != right.size)
      continue;
    AffineExpr quotient = space.floorDiv(binary.getLHS(), right.size);
    AffineExpr merged;
    if (left.index == quotient)
      merged = binary.getLHS();
    else if (!ShapedType::isDynamic(left.size) &&
             left.index == space.mod(quotient, left.size))
      merged = space.mod(binary.getLHS(), left.size * right.size);
    else
      continue;
    left.index = merged;
    left.size = ShapedType::isDynamic(left.size) ? left.size
                                                 : left.size * right.size;
    llvm::append_range(left.sourceDims, right.sourceDims);
    groups.erase(groups.begin() + i + 1);
    return true;
  }
  return false;
}

std::optional<ViewPlan> RaiseContext::planView(const TensorElement &element,
                                               ArrayRef<AffineExpr> target,
                                               ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(element.tensor.getType());
  ViewPlan plan;
  plan.source = element.tensor;
  bool slices = false;
  SmallVector<Group> groups;
  for (auto [d, index, size] :
       llvm::enumerate(element.indices, type.getShape())) {
    LinearIndex linear = IndexSpace::decompose(index);
    int64_t offset = 0, stride = 1, extent = size;
    AffineExpr seen = index;
    if (isPlain(linear, target)) {
      offset = linear.constant;
      for (auto [i, term] : llvm::enumerate(linear.terms))
        stride = i == 0 ? term.second : std::min(stride, term.second);
      if (stride < 1 || offset < 0)
        return std::nullopt;
      auto digits = getDigits(linear, stride, target, shape);
      if (!digits)
        return std::nullopt;
      extent = digits->second;
      if (extent != size || offset != 0 || stride != 1) {
        if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(size) ||
            offset + (extent - 1) * stride >= size)
          return std::nullopt;
        slices = true;
      }
      seen = space.getConstant(0);
      for (auto [atom, coefficient] : linear.terms)
        seen = space.add(seen, space.mul(atom, coefficient / stride));
    }
    plan.offsets.push_back(offset);
    plan.sizes.push_back(extent);
    plan.strides.push_back(stride);
    if (extent != 1)
      groups.push_back({seen, extent, {static_cast<int64_t>(d)}});
  }
  while (mergeOnce(space, groups))
    ;
  for (Group &group : groups) {
    LinearIndex linear = IndexSpace::decompose(group.index);
    if (!isPlain(linear, target) || linear.constant != 0)
      return std::nullopt;
    auto digits = getDigits(linear, 1, target, shape);
    if (!digits || digits->second != group.size)
      return std::nullopt;
    llvm::append_range(plan.order, digits->first);
    plan.digits.push_back(digits->first);
    plan.groups.push_back(group.sourceDims);
  }
  llvm::SmallDenseSet<unsigned> seen;
  for (unsigned d : plan.order)
    if (!seen.insert(d).second)
      return std::nullopt;
  if (!slices) {
    plan.offsets.clear();
    plan.sizes.clear();
    plan.strides.clear();
  }
  return plan;
}

/// Reassociation that leaves the dims of `starts` apart and attaches every other
/// one of the `rank` dims to the one before it (or to the first).
static SmallVector<ReassociationIndices> getGroups(int64_t rank,
                                                   ArrayRef<bool> starts) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t d = 0; d < rank; ++d) {
    if (starts[d]) {
      groups.emplace_back();
      if (groups.size() == 1)
        groups.back() = leading;
    }
    (groups.empty() ? leading : groups.back()).push_back(d);
  }
  return groups;
}

Value RaiseContext::buildView(OpBuilder &b, Location loc, const ViewPlan &plan,
                              ArrayRef<unsigned> keep,
                              ArrayRef<int64_t> shape) {
  Value view = plan.source;
  auto getType = [&] { return cast<RankedTensorType>(view.getType()); };
  Type elementType = getType().getElementType();
  if (!plan.offsets.empty()) {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (auto [d, size] : llvm::enumerate(plan.sizes)) {
      offsets.push_back(b.getIndexAttr(plan.offsets[d]));
      strides.push_back(b.getIndexAttr(plan.strides[d]));
      sizes.push_back(ShapedType::isDynamic(size)
                          ? tensor::getMixedSize(b, loc, view, d)
                          : b.getIndexAttr(size));
    }
    view = tensor::ExtractSliceOp::create(b, loc, view, offsets, sizes, strides);
  }

  int64_t rank = getType().getRank();
  if (static_cast<int64_t>(plan.groups.size()) != rank) {
    SmallVector<bool> starts(rank, false);
    for (const auto &group : plan.groups)
      starts[group.front()] = true;
    view = tensor::CollapseShapeOp::create(b, loc, view,
                                           getGroups(rank, starts));
  }
  auto expand = [&](ArrayRef<int64_t> newShape,
                    ArrayRef<ReassociationIndices> groups) {
    view = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(newShape, elementType), view, groups);
  };
  if (plan.order.size() != plan.groups.size()) {
    SmallVector<int64_t> newShape;
    SmallVector<ReassociationIndices> groups;
    for (const auto &digits : plan.digits) {
      groups.emplace_back();
      for (unsigned d : digits) {
        groups.back().push_back(newShape.size());
        newShape.push_back(shape[d]);
      }
    }
    expand(newShape, groups);
  }

  SmallVector<unsigned> sorted(plan.order);
  llvm::sort(sorted);
  if (sorted != plan.order) {
    SmallVector<int64_t> permutation;
    SmallVector<OpFoldResult> sizes;
    for (unsigned d : sorted) {
      const auto *it = llvm::find(plan.order, d);
      permutation.push_back(std::distance(plan.order.begin(), it));
      sizes.push_back(
          tensor::getMixedSize(b, loc, view, permutation.back()));
    }
    Value init = tensor::EmptyOp::create(b, loc, sizes, elementType);
    view = linalg::TransposeOp::create(b, loc, view, init, permutation)
               ->getResult(0);
  }
  if (keep.size() != sorted.size()) {
    SmallVector<int64_t> newShape;
    SmallVector<bool> starts;
    for (unsigned d : keep) {
      newShape.push_back(shape[d]);
      starts.push_back(llvm::is_contained(sorted, d));
    }
    expand(newShape, getGroups(keep.size(), starts));
  }
  return view;
}

Value RaiseContext::findTensor(OpBuilder &b, Operation *user, const Expr *expr,
                               ArrayRef<AffineExpr> target,
                               ArrayRef<int64_t> shape) {
  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  for (const TensorElement &element : getSources(expr, user)) {
    if (!isa<RankedTensorType>(element.tensor.getType()))
      continue;
    std::optional<ViewPlan> plan = planView(element, target, shape);
    if (!plan)
      continue;
    bool complete = llvm::all_of(all, [&](unsigned d) {
      return shape[d] == 1 || llvm::is_contained(plan->order, d);
    });
    if (complete)
      return buildView(b, user->getLoc(), *plan, all, shape);
  }
  return {};
}
