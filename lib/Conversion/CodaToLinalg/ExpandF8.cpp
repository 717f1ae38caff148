//===- ExpandF8.cpp - 8-bit floats as integers ----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM has no 8-bit floats: in memory they are integers, and what is left to do
// are the two conversions. Both are exact by construction, not by table: an
// extension reads the bits as those of an f16, a truncation rounds bits to
// nearest even, in the range of subnormals by adding the number of which the
// unit in the last place is their spacing.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAEXPANDF8
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// What distinguishes the two formats.
struct Format {
  int64_t mantissa, bias;
  /// The first code, without sign, that is no finite number.
  int64_t beyond;
  bool hasInfinity;
};

std::optional<Format> getFormat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Format{3, 7, 0x7F, false};
  if (isa<Float8E5M2Type>(type))
    return Format{2, 15, 0x7C, true};
  return std::nullopt;
}

/// NaN of both formats, as the hardware writes it.
constexpr int64_t kNaN = 0x7F;

/// Builds the arithmetic of one conversion on values of one shape.
class Expansion {
public:
  Expansion(OpBuilder &builder, Operation *op)
      : b(op->getLoc(), builder), shape(op->getResult(0).getType()) {}

  Value extend(Value value, Type to);
  Value truncate(Value value, Type to);

private:
  /// `element` in the shape of the op.
  Type like(Type element) const {
    if (auto shaped = dyn_cast<ShapedType>(shape))
      return shaped.clone(element);
    return element;
  }
  Type intType(unsigned width) { return like(b.getIntegerType(width)); }
  Value constant(Type type, Attribute element) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      element = DenseElementsAttr::get(shaped, element);
    return arith::ConstantOp::create(b, type, cast<TypedAttr>(element));
  }
  Value integer(Type type, int64_t value) {
    return constant(type,
                    b.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  Value real(Type type, double value) {
    return constant(type, b.getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value bitcast(Type type, Value value) {
    return arith::BitcastOp::create(b, type, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  /// `value`, f32, in the element type `to`, which holds it.
  Value fromF32(Value value, Type to) {
    Type element = getElementTypeOrSelf(to);
    if (element.isF32())
      return value;
    if (element.isF64())
      return arith::ExtFOp::create(b, to, value);
    return arith::TruncFOp::create(b, to, value);
  }

  ImplicitLocOpBuilder b;
  Type shape;
};

} // namespace

Value Expansion::extend(Value value, Type to) {
  Format format = *getFormat(getElementTypeOrSelf(value.getType()));
  Type i16 = intType(16);
  Type f16 = like(b.getF16Type()), f32 = like(b.getF32Type());
  Value bits =
      arith::ExtUIOp::create(b, i16, bitcast(intType(8), value));
  if (format.mantissa == 2) {
    // The upper half of an f16.
    Value half = bitcast(f16, arith::ShLIOp::create(b, bits, integer(i16, 8)));
    if (getElementTypeOrSelf(to).isF16())
      return half;
    return fromF32(arith::ExtFOp::create(b, f32, half), to);
  }
  // Read as an f16, it is too small by the difference of the biases.
  Value magnitude = arith::AndIOp::create(b, bits, integer(i16, 0x7F));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, bits, integer(i16, 0x80)), integer(i16, 8));
  Value half = arith::OrIOp::create(
      b, sign, arith::ShLIOp::create(b, magnitude, integer(i16, 7)));
  Value wide = arith::MulFOp::create(
      b, arith::ExtFOp::create(b, f32, bitcast(f16, half)), real(f32, 256));
  Value isNaN = compare(arith::CmpIPredicate::eq, magnitude,
                        integer(i16, kNaN));
  wide = arith::SelectOp::create(
      b, isNaN, real(f32, std::numeric_limits<double>::quiet_NaN()), wide);
  return fromF32(wide, to);
}

Value Expansion::truncate(Value value, Type to) {
  Format format = *getFormat(getElementTypeOrSelf(to));
  auto type = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  if (type.getWidth() < 32) {
    type = b.getF32Type();
    value = arith::ExtFOp::create(b, like(type), value);
  }
  // The wide format: width, bits of mantissa, bias.
  int64_t width = type.getWidth(), p = type.isF32() ? 23 : 52;
  int64_t bias = type.isF32() ? 127 : 1023;
  Type wide = intType(width), narrow = intType(8);
  auto number = [&](int64_t x) { return integer(wide, x); };

  Value bits = bitcast(wide, value);
  Value magnitude = arith::AndIOp::create(
      b, bits,
      constant(wide, b.getIntegerAttr(b.getIntegerType(width),
                                      APInt::getSignedMaxValue(width))));
  int64_t shift = p - format.mantissa;
  Value odd = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, magnitude, number(shift)), number(1));
  Value half = arith::AddIOp::create(
      b, arith::AddIOp::create(b, magnitude, odd),
      number((int64_t(1) << (shift - 1)) - 1));
  Value normal = arith::SubIOp::create(
      b, arith::ShRUIOp::create(b, half, number(shift)),
      number((bias - format.bias) << format.mantissa));

  APFloat spacing = scalbn(APFloat(type.getFloatSemantics(), 1),
                           p + 1 - format.bias - format.mantissa,
                           APFloat::rmNearestTiesToEven);
  Value magic = constant(like(type), b.getFloatAttr(type, spacing));
  Value subnormal = arith::SubIOp::create(
      b,
      bitcast(wide, arith::AddFOp::create(
                        b, bitcast(like(type), magnitude), magic)),
      bitcast(wide, magic));
  Value isSubnormal =
      compare(arith::CmpIPredicate::ult, magnitude,
              number((bias - format.bias + 1) << p));
  Value code = arith::SelectOp::create(b, isSubnormal, subnormal, normal);
  code = arith::MinUIOp::create(b, code, number(format.beyond));

  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, number(width - 8)), number(0x80));
  Value isNaN =
      format.hasInfinity
          ? compare(arith::CmpIPredicate::ugt, magnitude,
                    number((2 * bias + 1) << p))
          : compare(arith::CmpIPredicate::eq, code, number(format.beyond));
  code = arith::SelectOp::create(b, isNaN, number(kNaN),
                                 arith::OrIOp::create(b, code, sign));
  return bitcast(to, arith::TruncIOp::create(b, narrow, code));
}

namespace {

struct ExpandF8 : public coda::impl::CodaExpandF8Base<ExpandF8> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
        return WalkResult::advance();
      Value in = op->getOperand(0);
      Type to = op->getResult(0).getType();
      bool extends = isa<arith::ExtFOp>(op);
      Type narrow = getElementTypeOrSelf(extends ? in.getType() : to);
      if (narrow.getIntOrFloatBitWidth() > 8)
        return WalkResult::advance();
      Type wide = getElementTypeOrSelf(extends ? to : in.getType());
      if (!getFormat(narrow) ||
          !isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(wide)) {
        op->emitError("no conversion between ")
            << narrow << " and " << wide
            << ": there are those of f8E4M3FN and f8E5M2 with f16, bf16, f32 "
               "and f64";
        return WalkResult::interrupt();
      }
      rewriter.setInsertionPoint(op);
      Expansion expansion(rewriter, op);
      rewriter.replaceOp(op, extends ? expansion.extend(in, to)
                                     : expansion.truncate(in, to));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
