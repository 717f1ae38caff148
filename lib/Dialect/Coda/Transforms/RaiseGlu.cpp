//===- RaiseGlu.cpp - Matcher of coda.glu -------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of an activation of one tensor and another tensor, with the
// activation's own factors anywhere in it.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::coda;

namespace {
/// An activation and what is left of the product that it was found in.
struct Activation {
  GluKind kind;
  const Expr *gate = nullptr;
  SmallVector<const Expr *> rest;
  double coefficient = 1.0;
  std::optional<double> tanhScale = std::nullopt;
};
/// Coefficients of 1, x, x^2, x^3.
using Cubic = std::array<double, 4>;
} // namespace

/// `expr` as a polynomial in `x` (both relaxed) of degree 3 at most.
static std::optional<Cubic> getCubic(const Expr *expr, const Expr *x) {
  if (expr == x)
    return Cubic{0, 1, 0, 0};
  if (auto number = getFloatConstant(expr))
    return Cubic{*number, 0, 0, 0};
  if (expr->kind != ExprKind::Op || expr->operands.empty())
    return std::nullopt;
  auto lhs = getCubic(expr->operands[0], x);
  if (!lhs)
    return std::nullopt;
  Cubic result{};
  if (expr->name == "arith.negf") {
    for (unsigned i = 0; i < 4; ++i)
      result[i] = -(*lhs)[i];
    return result;
  }
  if (expr->operands.size() != 2)
    return std::nullopt;
  auto rhs = getCubic(expr->operands[1], x);
  if (!rhs)
    return std::nullopt;
  if (expr->name == "arith.addf") {
    for (unsigned i = 0; i < 4; ++i)
      result[i] = (*lhs)[i] + (*rhs)[i];
    return result;
  }
  if (expr->name == "arith.mulf") {
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned j = 0; j < 4; ++j) {
        double term = (*lhs)[i] * (*rhs)[j];
        if (i + j < 4)
          result[i + j] += term;
        else if (term != 0.0)
          return std::nullopt;
      }
    return result;
  }
  if (expr->name == "arith.divf" && (*rhs)[1] == 0 && (*rhs)[2] == 0 &&
      (*rhs)[3] == 0) {
    for (unsigned i = 0; i < 4; ++i)
      result[i] = (*lhs)[i] / (*rhs)[0];
    return result;
  }
  return std::nullopt;
}

/// How far a constant may be off when the front end rounded it to `type`.
static double getTolerance(Type type) {
  if (!type || !type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 16)
    return 5e-4;
  return type.isBF16() ? 4e-3 : 1e-3;
}

/// `1 + e` with `e` an `op` of something: its operand.
static const Expr *matchOnePlus(const Expr *expr, StringRef op) {
  Sum sum = flattenSum(expr);
  if (sum.constant != 1.0 || sum.terms.size() != 1 || sum.terms[0].first)
    return nullptr;
  const Expr *e = stripCasts(sum.terms[0].second);
  return e->isOp(op) ? e->operands[0] : nullptr;
}

/// silu or sigmoid: 1 / (1 + exp(-g)) with or without a factor g.
static std::optional<Activation> matchLogistic(const Product &product) {
  for (const Expr *divisor : product.denominator) {
    const Expr *arg = matchOnePlus(divisor, "math.exp");
    if (!arg || !stripCasts(arg)->isOp("arith.negf"))
      continue;
    const Expr *gate = stripCasts(arg)->operands[0];
    Activation result{GluKind::silu, gate, product.numerator,
                      product.coefficient};
    if (product.denominator.size() != 1)
      return std::nullopt;
    Product factors = flattenProduct(gate);
    double sign = factors.coefficient;
    if (!factors.denominator.empty() || sign != 1.0 ||
        !removeFactors(result.rest, factors.numerator)) {
      result.kind = GluKind::sigmoid;
    } else if (const Expr *node = findFactor(product, factors.numerator)) {
      result.gate = node;
    }
    return result;
  }
  return std::nullopt;
}

/// gelu: g (1 + tanh(a g + b g^3)) / 2 or g (1 + erf(c g)) / 2.
static std::optional<Activation> matchGelu(const Product &product) {
  if (!product.denominator.empty())
    return std::nullopt;
  for (const Expr *factor : product.numerator) {
    Sum sum = flattenSum(factor);
    if (sum.terms.size() != 1 || sum.terms[0].first)
      continue;
    // The half may have been multiplied in.
    Product inner = flattenProduct(sum.terms[0].second);
    if (inner.numerator.size() != 1 || !inner.denominator.empty() ||
        inner.coefficient != sum.constant || sum.constant == 0.0)
      continue;
    const Expr *function = stripCasts(inner.numerator[0]);
    bool isTanh = function->isOp("math.tanh");
    if (!isTanh && !function->isOp("math.erf"))
      continue;
    const Expr *arg = function->operands[0];
    double tolerance = getTolerance(arg->type);
    for (const Expr *gate : product.numerator) {
      auto cubic = getCubic(arg->relaxed, gate->relaxed);
      if (!cubic || (*cubic)[0] != 0.0 || (*cubic)[2] != 0.0)
        continue;
      double scale = (*cubic)[1];
      Activation result{GluKind::gelu_erf, gate, product.numerator,
                        2.0 * product.coefficient * sum.constant};
      removeFactors(result.rest, {factor, gate});
      if (!isTanh) {
        if ((*cubic)[3] != 0.0 || !isNear(scale, M_SQRT1_2, tolerance))
          continue;
        return result;
      }
      if (!isNear(scale, std::sqrt(2.0 / M_PI), tolerance) ||
          !isNear((*cubic)[3], scale * 0.044715, 2.0 * tolerance))
        continue;
      result.kind = GluKind::gelu_tanh;
      // In 16 bit, the difference is the rounding of the constant.
      bool narrow = tolerance > 5e-4;
      if (!narrow && !isNear(scale, std::sqrt(2.0 / M_PI), 1e-6))
        result.tanhScale = scale;
      return result;
    }
  }
  return std::nullopt;
}

/// max(g, 0), or the selection that says the same.
static std::optional<Activation> matchRelu(const Product &product) {
  if (!product.denominator.empty())
    return std::nullopt;
  auto isZero = [](const Expr *e) { return getFloatConstant(e) == 0.0; };
  for (const Expr *factor : product.numerator) {
    const Expr *e = stripCasts(factor);
    const Expr *gate = nullptr;
    if (e->isOp("arith.maximumf") || e->isOp("arith.maxnumf")) {
      if (isZero(e->operands[0]))
        gate = e->operands[1];
      else if (isZero(e->operands[1]))
        gate = e->operands[0];
    } else if (e->isOp("arith.select") && isZero(e->operands[2])) {
      const Expr *compare = e->operands[0];
      auto kind = dyn_cast_or_null<arith::CmpFPredicateAttr>(compare->attr);
      if (compare->isOp("arith.cmpf") && kind &&
          (kind.getValue() == arith::CmpFPredicate::OGT ||
           kind.getValue() == arith::CmpFPredicate::OGE) &&
          isZero(compare->operands[1]) &&
          compare->operands[0]->relaxed == e->operands[1]->relaxed)
        gate = e->operands[1];
    }
    if (!gate)
      continue;
    Activation result{GluKind::relu, gate, product.numerator,
                      product.coefficient};
    removeFactors(result.rest, factor);
    return result;
  }
  return std::nullopt;
}

/// The expression of the op's decomposition, roundings and all.
static const Expr *getExactExpr(RaiseContext &context,
                                const Activation &activation, Value gateTensor,
                                Value upTensor, ArrayRef<AffineExpr> dims,
                                Type resultType) {
  ExpressionGraph &graph = context.graph;
  Type type = getComputeType(resultType);
  auto op = [&](StringRef name, ArrayRef<const Expr *> operands) {
    return graph.getOp(name, type, operands);
  };
  auto number = [&](double value) { return graph.getConstant(type, value); };
  auto mul = [&](const Expr *lhs, const Expr *rhs) {
    return op("arith.mulf", {lhs, rhs});
  };
  auto add = [&](const Expr *lhs, const Expr *rhs) {
    return op("arith.addf", {lhs, rhs});
  };
  const Expr *g = graph.convert(graph.evaluate(gateTensor, dims), type);
  const Expr *up = graph.convert(graph.evaluate(upTensor, dims), type);
  const Expr *y = nullptr;
  switch (activation.kind) {
  case GluKind::silu:
  case GluKind::sigmoid: {
    const Expr *e = op("math.exp", op("arith.negf", g));
    y = op("arith.divf", {activation.kind == GluKind::silu ? g : number(1.0),
                          add(e, number(1.0))});
    break;
  }
  case GluKind::gelu_tanh: {
    const Expr *cubic = mul(mul(mul(g, g), g), number(0.044715));
    const Expr *inner =
        mul(add(g, cubic),
            number(activation.tanhScale.value_or(std::sqrt(2.0 / M_PI))));
    y = mul(mul(g, number(0.5)), add(op("math.tanh", inner), number(1.0)));
    break;
  }
  case GluKind::gelu_erf:
    y = mul(mul(g, number(0.5)),
            add(op("math.erf", mul(g, number(M_SQRT1_2))), number(1.0)));
    break;
  case GluKind::relu:
    y = op("arith.maximumf", {g, number(0.0)});
    break;
  }
  return graph.convert(mul(y, up), resultType);
}

Value coda::raiseToGlu(RaiseContext &context, OpBuilder &b, OpResult root) {
  constexpr StringLiteral target = "glu";
  auto type = cast<RankedTensorType>(root.getType());
  Operation *user = root.getOwner();
  SmallVector<AffineExpr> dims = context.getDims(type.getShape());
  const Expr *expr = context.graph.evaluate(root, dims);
  Product product = flattenProduct(expr);
  std::optional<Activation> activation = matchLogistic(product);
  if (!activation)
    activation = matchGelu(product);
  if (!activation)
    activation = matchRelu(product);
  // An activation alone is no gated unit.
  if (!activation || activation->rest.empty() ||
      std::abs(activation->coefficient - 1.0) > 1e-6)
    return {};
  const Expr *other = findFactor(product, activation->rest);
  if (!other)
    return {};
  // Both must be tensors of the result's shape; a vector is a plain scale.
  for (AffineExpr dim : dims)
    if (isa<AffineDimExpr>(dim) &&
        (!other->dependsOn(dim) || !activation->gate->dependsOn(dim)))
      return {};
  auto refuse = [&](FusionReason reason, const Twine &detail) -> Value {
    context.refuse(user, target, reason, detail, expr);
    return {};
  };
  Value gate = context.findTensor(b, user, activation->gate, dims,
                                  type.getShape());
  Value up = gate ? context.findTensor(b, user, other, dims, type.getShape())
                  : Value();
  if (!up)
    return refuse(FusionReason::NoCommonSpace,
                  Twine(gate ? "the factor of the gate" : "the gate") +
                      " is no tensor of the result's shape");
  if (context.strict &&
      getExactExpr(context, *activation, gate, up, dims,
                   type.getElementType()) != expr)
    return refuse(FusionReason::StrictRounding,
                  "rounded between the steps, or in another order");
  FloatAttr tanhScale;
  if (activation->tanhScale)
    tanhScale = b.getF64FloatAttr(*activation->tanhScale);
  return GluOp::create(b, user->getLoc(), type, activation->kind, gate, up,
                       tanhScale);
}
