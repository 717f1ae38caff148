//===- DifferentiableOpInterfaceImpl.cpp - The adjoint table ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.cpp.inc"

using namespace mlir;
using namespace mlir::coda;

FloatType coda::getCotangentType(Type type) {
  if (!isa<FloatType>(type))
    return {};
  if (type.isF64())
    return cast<FloatType>(type);
  return Float32Type::get(type.getContext());
}

namespace {
/// Scalar arithmetic in the notation of formulas, on values of one float type.
struct Scalar {
  ImplicitLocOpBuilder *b;
  Value value;
  operator Value() const { return value; }
};

class Scalars {
public:
  Scalars(OpBuilder &builder, Location loc) : b(loc, builder) {}

  Scalar operator()(Value value) { return {&b, value}; }
  Scalar constant(double number, Scalar like) {
    Type type = like.value.getType();
    return {&b, arith::ConstantOp::create(b, b.getFloatAttr(type, number))};
  }

private:
  ImplicitLocOpBuilder b;
};

Scalar operator+(Scalar x, Scalar y) {
  return {x.b, arith::AddFOp::create(*x.b, x.value, y.value)};
}
Scalar operator-(Scalar x, Scalar y) {
  return {x.b, arith::SubFOp::create(*x.b, x.value, y.value)};
}
Scalar operator*(Scalar x, Scalar y) {
  return {x.b, arith::MulFOp::create(*x.b, x.value, y.value)};
}
Scalar operator/(Scalar x, Scalar y) {
  return {x.b, arith::DivFOp::create(*x.b, x.value, y.value)};
}
Scalar operator-(Scalar x) {
  return {x.b, arith::NegFOp::create(*x.b, x.value)};
}
Scalar constant(double number, Scalar like) {
  return {like.b, arith::ConstantOp::create(
                      *like.b, like.b->getFloatAttr(like.value.getType(), number))};
}
Scalar operator+(double c, Scalar x) { return constant(c, x) + x; }
Scalar operator-(double c, Scalar x) { return constant(c, x) - x; }
Scalar operator*(double c, Scalar x) { return constant(c, x) * x; }
template <typename OpTy> Scalar apply(Scalar x) {
  return {x.b, OpTy::create(*x.b, x.value)};
}
/// `p ? x : y` for `p = x1 pred x2`.
Scalar select(arith::CmpFPredicate predicate, Scalar x1, Scalar x2, Scalar x,
              Scalar y) {
  Value p = arith::CmpFOp::create(*x1.b, predicate, x1.value, x2.value);
  return {x1.b, arith::SelectOp::create(*x1.b, p, x.value, y.value)};
}
/// A cotangent `g` in the type of cotangents of values of type `type`.
Scalar convert(Scalar g, Type type) {
  FloatType to = getCotangentType(type), from = cast<FloatType>(g.value.getType());
  if (to == from)
    return g;
  if (to.getWidth() > from.getWidth())
    return {g.b, arith::ExtFOp::create(*g.b, to, g.value)};
  return {g.b, arith::TruncFOp::create(*g.b, to, g.value)};
}

/// Adds the model of an op with one float operand, d(operand) = rule(x, y, g):
/// x the operand, y the result, g the cotangent of y.
template <typename OpTy, Scalar (*rule)(Scalar, Scalar, Scalar)>
struct UnaryModel
    : DifferentiableOpInterface::ExternalModel<UnaryModel<OpTy, rule>, OpTy> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value result, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Scalars s(builder, op->getLoc());
    cotangents.push_back(rule(s(operands[0]), s(result), s(cotangent)));
    return success();
  }
};

/// The same with two operands and a pair of rules.
template <typename OpTy, Scalar (*lhs)(Scalar, Scalar, Scalar, Scalar),
          Scalar (*rhs)(Scalar, Scalar, Scalar, Scalar)>
struct BinaryModel
    : DifferentiableOpInterface::ExternalModel<BinaryModel<OpTy, lhs, rhs>,
                                               OpTy> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value result, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Scalars s(builder, op->getLoc());
    Scalar x = s(operands[0]), y = s(operands[1]), r = s(result);
    cotangents.push_back(lhs(x, y, r, s(cotangent)));
    cotangents.push_back(rhs(x, y, r, s(cotangent)));
    return success();
  }
};

/// An op that is constant wherever it has a derivative: nothing flows.
template <typename OpTy>
struct ConstantModel
    : DifferentiableOpInterface::ExternalModel<ConstantModel<OpTy>, OpTy> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &, ValueRange, Value,
                             Value, SmallVectorImpl<Value> &cotangents) const {
    cotangents.append(op->getNumOperands(), Value());
    return success();
  }
};

/// Casts between floats: the cotangent changes its type with the value.
template <typename OpTy>
struct CastModel
    : DifferentiableOpInterface::ExternalModel<CastModel<OpTy>, OpTy> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder, ValueRange,
                             Value, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Scalars s(builder, op->getLoc());
    cotangents.push_back(
        convert(s(cotangent), op->getOperand(0).getType()));
    return success();
  }
};

/// max and min take one operand, chosen by a comparison: the cotangent goes
/// where the value came from. Of equal operands a constant gets it, else the
/// second (max(x, 0) has slope 0 at 0).
template <typename OpTy, arith::CmpFPredicate chooses>
struct ExtremumModel
    : DifferentiableOpInterface::ExternalModel<ExtremumModel<OpTy, chooses>,
                                               OpTy> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Scalars s(builder, op->getLoc());
    Scalar x = s(operands[0]), y = s(operands[1]), g = s(cotangent);
    Scalar zero = constant(0.0, g);
    if (matchPattern(op->getOperand(0), m_Constant())) {
      cotangents.push_back(select(chooses, y, x, zero, g));
      cotangents.push_back(select(chooses, y, x, g, zero));
      return success();
    }
    cotangents.push_back(select(chooses, x, y, g, zero));
    cotangents.push_back(select(chooses, x, y, zero, g));
    return success();
  }
};

/// select(p, x, y): dx = select(p, g, 0), never a product, so that what was
/// not chosen cannot spoil the sum with a NaN.
struct SelectModel
    : DifferentiableOpInterface::ExternalModel<SelectModel, arith::SelectOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Location loc = op->getLoc();
    Scalars s(builder, loc);
    Value zero = s.constant(0.0, s(cotangent));
    cotangents.push_back(Value());
    cotangents.push_back(arith::SelectOp::create(builder, loc, operands[0],
                                                 cotangent, zero));
    cotangents.push_back(arith::SelectOp::create(builder, loc, operands[0],
                                                 zero, cotangent));
    return success();
  }
};

struct FmaModel : DifferentiableOpInterface::ExternalModel<FmaModel, math::FmaOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Scalars s(builder, op->getLoc());
    Scalar g = s(cotangent);
    cotangents.push_back(g * s(operands[1]));
    cotangents.push_back(g * s(operands[0]));
    cotangents.push_back(g);
    return success();
  }
};

/// x^n with an integer n: n x^(n-1).
struct FPowIModel
    : DifferentiableOpInterface::ExternalModel<FPowIModel, math::FPowIOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value, Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    Location loc = op->getLoc();
    Scalars s(builder, loc);
    Value n = operands[1];
    Value one = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(n.getType(), 1));
    Value less = arith::SubIOp::create(builder, loc, n, one);
    Scalar power =
        s(math::FPowIOp::create(builder, loc, operands[0], less).getResult());
    Value factor = arith::SIToFPOp::create(builder, loc,
                                           operands[0].getType(), n);
    // 0^-1 is infinite, but x^0 has slope 0 there as well.
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(n.getType(), 0));
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         n, zero);
    Scalar slope = s(factor) * power;
    Value dx = s(cotangent) * slope;
    cotangents.push_back(arith::SelectOp::create(
        builder, loc, isZero, constant(0.0, slope).value, dx));
    cotangents.push_back(Value());
    return success();
  }
};

/// A sum over a group gives each point the sum: its adjoint is the same sum. A
/// logarithm of a sum of exponentials weighs the points of its adjoint by their
/// part of the sum.
struct GroupReduceModel
    : DifferentiableOpInterface::ExternalModel<GroupReduceModel,
                                               GroupReduceOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ValueRange operands, Value result,
                             Value cotangent,
                             SmallVectorImpl<Value> &cotangents) const {
    auto group = cast<GroupReduceOp>(op);
    if (!isa<AddAttr, LogAddExpAttr>(group.getCombiner()))
      return failure();
    Location loc = op->getLoc();
    auto add = cast<CombinerAttrInterface>(
        Attribute(AddAttr::get(builder.getContext())));
    Value total = GroupReduceOp::create(builder, loc, cotangent.getType(), add,
                                        cotangent, group.getOver());
    if (isa<LogAddExpAttr>(group.getCombiner())) {
      Scalars s(builder, loc);
      total = s(total) *
              apply<math::ExpOp>(s(operands[0]) - s(result));
    }
    cotangents.push_back(total);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Rules: x, y the operands, r the result, g its cotangent
//===----------------------------------------------------------------------===//

static constexpr double kLn2 = 0.69314718055994530942;
static constexpr double kLn10 = 2.30258509299404568402;
static constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

using S = Scalar;

static S negate(S, S, S g) { return -g; }
static S abs(S x, S, S g) {
  // The sign of x, 0 at 0.
  S zero = constant(0.0, x);
  S below = select(arith::CmpFPredicate::OLT, x, zero, -g, zero);
  return select(arith::CmpFPredicate::OGT, x, zero, g, below);
}
/// An exponential, or the largest number where it is infinite: what saturates there, as
/// 1 / (1 + exp(-x)) does, or is not chosen, has a cotangent of 0, and 0 times infinity
/// is none.
static S finite(S r) {
  auto type = cast<FloatType>(r.value.getType());
  Value largest = arith::ConstantOp::create(
      *r.b, FloatAttr::get(type, llvm::APFloat::getLargest(
                                     type.getFloatSemantics())));
  return {r.b, arith::MinimumFOp::create(*r.b, r.value, largest)};
}
static S exp(S, S r, S g) { return g * finite(r); }
static S exp2(S, S r, S g) { return g * (kLn2 * finite(r)); }
static S expm1(S, S r, S g) { return g * finite(1.0 + r); }
static S log(S x, S, S g) { return g / x; }
static S log2(S x, S, S g) { return g / (kLn2 * x); }
static S log10(S x, S, S g) { return g / (kLn10 * x); }
static S log1p(S x, S, S g) { return g / (1.0 + x); }
static S sqrt(S, S r, S g) { return g / (2.0 * r); }
static S rsqrt(S, S r, S g) { return g * (-0.5 * (r * r * r)); }
static S cbrt(S, S r, S g) { return g / (3.0 * (r * r)); }
static S sin(S x, S, S g) { return g * apply<math::CosOp>(x); }
static S cos(S x, S, S g) { return -(g * apply<math::SinOp>(x)); }
static S tan(S, S r, S g) { return g * (1.0 + r * r); }
static S asin(S x, S, S g) { return g * apply<math::RsqrtOp>(1.0 - x * x); }
static S acos(S x, S, S g) { return -(g * apply<math::RsqrtOp>(1.0 - x * x)); }
static S atan(S x, S, S g) { return g / (1.0 + x * x); }
static S sinh(S x, S, S g) { return g * apply<math::CoshOp>(x); }
static S cosh(S x, S, S g) { return g * apply<math::SinhOp>(x); }
static S tanh(S, S r, S g) { return g * (1.0 - r * r); }
static S asinh(S x, S, S g) { return g * apply<math::RsqrtOp>(1.0 + x * x); }
static S acosh(S x, S, S g) {
  return g * apply<math::RsqrtOp>(x * x - constant(1.0, x));
}
static S atanh(S x, S, S g) { return g / (1.0 - x * x); }
static S erf(S x, S, S g) {
  return g * (kTwoOverSqrtPi * apply<math::ExpOp>(-(x * x)));
}
static S erfc(S x, S, S g) {
  return -(g * (kTwoOverSqrtPi * apply<math::ExpOp>(-(x * x))));
}

static S first(S, S, S, S g) { return g; }
static S negated(S, S, S, S g) { return -g; }
static S timesRhs(S, S y, S, S g) { return g * y; }
static S timesLhs(S x, S, S, S g) { return g * x; }
static S divNumerator(S, S y, S, S g) { return g / y; }
static S divDenominator(S, S y, S r, S g) { return -(g * r) / y; }
static S remDivisor(S x, S y, S, S g) {
  return -(g * apply<math::TruncOp>(x / y));
}
static S powBase(S x, S y, S, S g) {
  // y x^(y-1), and 0 for y = 0, where x^(y-1) may be infinite.
  S less = y - constant(1.0, y);
  S power{x.b, math::PowFOp::create(*x.b, x.value, less.value)};
  S zero = constant(0.0, y);
  return select(arith::CmpFPredicate::OEQ, y, zero, zero, g * (y * power));
}
static S powExponent(S x, S, S r, S g) {
  // r log x; 0^y is constant in y > 0.
  S zero = constant(0.0, x);
  S slope = g * (r * apply<math::LogOp>(x));
  return select(arith::CmpFPredicate::OEQ, x, zero, zero, slope);
}
static S atan2Y(S y, S x, S, S g) { return g * (x / (x * x + y * y)); }
static S atan2X(S y, S x, S, S g) { return -(g * (y / (x * x + y * y))); }
static S copysignMagnitude(S x, S y, S, S g) {
  // +1 where x and y have one sign, else -1.
  S one = constant(1.0, x);
  S a{x.b, math::CopySignOp::create(*x.b, one.value, x.value)};
  S b{x.b, math::CopySignOp::create(*x.b, one.value, y.value)};
  return g * (a * b);
}
static S nothing(S, S, S, S g) { return {g.b, Value()}; }

template <typename OpTy, Scalar (*rule)(Scalar, Scalar, Scalar)>
static void addUnary(MLIRContext &context) {
  OpTy::template attachInterface<UnaryModel<OpTy, rule>>(context);
}
template <typename OpTy, Scalar (*lhs)(Scalar, Scalar, Scalar, Scalar),
          Scalar (*rhs)(Scalar, Scalar, Scalar, Scalar)>
static void addBinary(MLIRContext &context) {
  OpTy::template attachInterface<BinaryModel<OpTy, lhs, rhs>>(context);
}
template <typename... OpTys> static void addConstant(MLIRContext &context) {
  (OpTys::template attachInterface<ConstantModel<OpTys>>(context), ...);
}

void coda::registerDifferentiableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, arith::ArithDialect *) {
    using Predicate = arith::CmpFPredicate;
    MLIRContext &c = *ctx;
    addBinary<arith::AddFOp, first, first>(c);
    addBinary<arith::SubFOp, first, negated>(c);
    addBinary<arith::MulFOp, timesRhs, timesLhs>(c);
    addBinary<arith::DivFOp, divNumerator, divDenominator>(c);
    addBinary<arith::RemFOp, first, remDivisor>(c);
    addUnary<arith::NegFOp, negate>(c);
    arith::MaximumFOp::attachInterface<
        ExtremumModel<arith::MaximumFOp, Predicate::OGT>>(c);
    arith::MaxNumFOp::attachInterface<
        ExtremumModel<arith::MaxNumFOp, Predicate::OGT>>(c);
    arith::MinimumFOp::attachInterface<
        ExtremumModel<arith::MinimumFOp, Predicate::OLT>>(c);
    arith::MinNumFOp::attachInterface<
        ExtremumModel<arith::MinNumFOp, Predicate::OLT>>(c);
    arith::ExtFOp::attachInterface<CastModel<arith::ExtFOp>>(c);
    arith::TruncFOp::attachInterface<CastModel<arith::TruncFOp>>(c);
    arith::SelectOp::attachInterface<SelectModel>(c);
    addConstant<arith::ConstantOp, arith::CmpFOp, arith::CmpIOp,
                arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
                arith::FPToUIOp>(c);
  });
  registry.addExtension(+[](MLIRContext *ctx, math::MathDialect *) {
    MLIRContext &c = *ctx;
    addUnary<math::AbsFOp, abs>(c);
    addUnary<math::ExpOp, exp>(c);
    addUnary<math::Exp2Op, exp2>(c);
    addUnary<math::ExpM1Op, expm1>(c);
    addUnary<math::LogOp, log>(c);
    addUnary<math::Log2Op, log2>(c);
    addUnary<math::Log10Op, log10>(c);
    addUnary<math::Log1pOp, log1p>(c);
    addUnary<math::SqrtOp, sqrt>(c);
    addUnary<math::RsqrtOp, rsqrt>(c);
    addUnary<math::CbrtOp, cbrt>(c);
    addUnary<math::SinOp, sin>(c);
    addUnary<math::CosOp, cos>(c);
    addUnary<math::TanOp, tan>(c);
    addUnary<math::AsinOp, asin>(c);
    addUnary<math::AcosOp, acos>(c);
    addUnary<math::AtanOp, atan>(c);
    addUnary<math::SinhOp, sinh>(c);
    addUnary<math::CoshOp, cosh>(c);
    addUnary<math::TanhOp, tanh>(c);
    addUnary<math::AsinhOp, asinh>(c);
    addUnary<math::AcoshOp, acosh>(c);
    addUnary<math::AtanhOp, atanh>(c);
    addUnary<math::ErfOp, erf>(c);
    addUnary<math::ErfcOp, erfc>(c);
    addBinary<math::PowFOp, powBase, powExponent>(c);
    addBinary<math::Atan2Op, atan2Y, atan2X>(c);
    addBinary<math::CopySignOp, copysignMagnitude, nothing>(c);
    math::FmaOp::attachInterface<FmaModel>(c);
    math::FPowIOp::attachInterface<FPowIModel>(c);
    addConstant<math::CeilOp, math::FloorOp, math::RoundOp, math::RoundEvenOp,
                math::TruncOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
                math::IsNormalOp>(c);
  });
  registry.addExtension(+[](MLIRContext *context, CodaDialect *) {
    GroupReduceOp::attachInterface<GroupReduceModel>(*context);
  });
}
