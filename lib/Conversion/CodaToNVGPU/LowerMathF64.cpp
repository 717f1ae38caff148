//===- LowerMathF64.cpp - Functions of f64 as arithmetic ------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are no instructions for these, and no library is linked. Each function
// reduces its argument to a small interval and sums a Taylor polynomial there.
//
//===----------------------------------------------------------------------===//

#include "LowerMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;

namespace {

constexpr double kLog2E = 1.4426950408889634074;
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Builds arithmetic on f64.
struct F64Builder {
  OpBuilder &b;
  Location loc;

  Value f64(double v) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(v));
  }
  Value i64(int64_t v) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value round(Value x) { return math::RoundEvenOp::create(b, loc, x); }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  }
  Value equal(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
  /// c[0] + x c[1] + x^2 c[2] + ...
  Value horner(Value x, ArrayRef<double> c) {
    Value r = f64(c.back());
    for (double v : llvm::reverse(c.drop_back()))
      r = fma(r, x, f64(v));
    return r;
  }
  Value toInteger(Value x) {
    return arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
  }
  Value asBits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getI64Type(), x);
  }
  Value asFloat(Value x) {
    return arith::BitcastOp::create(b, loc, b.getF64Type(), x);
  }
  /// 2^n for an integer n in [-1022, 1023], as i64.
  Value power2(Value n) {
    Value biased = arith::AddIOp::create(b, loc, n, i64(1023));
    return asFloat(arith::ShLIOp::create(b, loc, biased, i64(52)));
  }

  Value exp(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value sinOrCos(Value x, int64_t quarter);
  Value pow(Value x, Value y);
};

} // namespace

/// 1/from!, 1/(from+1)!, ...
static SmallVector<double> inverseFactorials(int from, int count) {
  SmallVector<double> result;
  double factorial = 1;
  for (int i = 1; i < from + count; ++i) {
    factorial *= i;
    if (i >= from)
      result.push_back(1 / factorial);
  }
  return result;
}

Value F64Builder::exp(Value x) {
  Value tooLarge = less(f64(709.8), x), tooSmall = less(x, f64(-745.2));
  // NaN counts no halvings, but stays in the rest.
  Value turns = round(mul(x, f64(kLog2E)));
  Value n = select(less(abs(turns), f64(1100)), turns, f64(0));
  Value rest = fma(n, f64(-kLn2Low), fma(n, f64(-kLn2High), x));
  SmallVector<double> c = {1};
  c.append(inverseFactorials(1, 13));
  Value polynomial = horner(rest, c);
  // 2^n in two factors: either alone may be out of range.
  Value whole = toInteger(n);
  Value half = arith::ShRSIOp::create(b, loc, whole, i64(1));
  Value other = arith::SubIOp::create(b, loc, whole, half);
  Value y = mul(mul(polynomial, power2(half)), power2(other));
  return select(tooLarge, f64(kInfinity), select(tooSmall, f64(0), y));
}

Value F64Builder::expm1(Value x) {
  Value small = mul(x, horner(x, inverseFactorials(1, 15)));
  return select(less(abs(x), f64(0.35)), small, sub(exp(x), f64(1)));
}

Value F64Builder::log(Value x) {
  // Subnormal numbers are scaled into the normal range.
  Value isTiny = less(x, f64(0x1p-1022));
  Value bits = asBits(select(isTiny, mul(x, f64(0x1p54)), x));
  Value biased = arith::ShRUIOp::create(b, loc, bits, i64(52));
  Value exponent = arith::SubIOp::create(
      b, loc, biased, arith::SelectOp::create(b, loc, isTiny, i64(1077),
                                              i64(1023)));
  Value fraction =
      arith::AndIOp::create(b, loc, bits, i64((int64_t(1) << 52) - 1));
  Value m = asFloat(
      arith::OrIOp::create(b, loc, fraction, i64(int64_t(1023) << 52)));
  Value isLarge = less(f64(1.4142135623730951), m);
  m = select(isLarge, mul(m, f64(0.5)), m);
  Value e = arith::SIToFPOp::create(b, loc, b.getF64Type(), exponent);
  e = select(isLarge, add(e, f64(1)), e);
  Value f = sub(m, f64(1));
  Value s = div(f, add(f, f64(2)));
  SmallVector<double> c;
  for (int i = 0; i < 11; ++i)
    c.push_back(2.0 / (2 * i + 1));
  Value series = mul(s, horner(mul(s, s), c));
  Value y = fma(e, f64(kLn2High), fma(e, f64(kLn2Low), series));
  y = select(equal(x, f64(0)), f64(-kInfinity), y);
  y = select(less(x, f64(0)), f64(kNaN), y);
  // Infinity and NaN are their own logarithms.
  Value isFinite = less(abs(x), f64(kInfinity));
  Value isNegative = less(x, f64(0));
  return select(isFinite, y, select(isNegative, f64(kNaN), x));
}

/// sin(x + quarter * pi / 2).
Value F64Builder::sinOrCos(Value x, int64_t quarter) {
  Value turns = round(mul(x, f64(0.63661977236758134308)));
  Value q = select(less(abs(turns), f64(0x1p62)), turns, f64(0));
  Value r = fma(q, f64(-0x1.921fb54400000p+0), x);
  r = fma(q, f64(-0x1.0b4611a600000p-34), r);
  r = fma(q, f64(-0x1.3198a2e037073p-69), r);
  Value z = mul(r, r);
  SmallVector<double> sine, cosine;
  double factorial = 1;
  for (int i = 0; i < 10; ++i) {
    cosine.push_back((i % 2 ? -1 : 1) / factorial);
    factorial *= 2 * i + 1;
    sine.push_back((i % 2 ? -1 : 1) / factorial);
    factorial *= 2 * i + 2;
  }
  Value asSine = mul(r, horner(z, sine)), asCosine = horner(z, cosine);
  Value number =
      arith::AddIOp::create(b, loc, toInteger(q), i64(quarter));
  auto bit = [&](int64_t which) -> Value {
    Value masked = arith::AndIOp::create(b, loc, number, i64(which));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked,
                                 i64(0));
  };
  Value y = select(bit(1), asCosine, asSine);
  return select(bit(2), neg(y), y);
}

Value F64Builder::pow(Value x, Value y) {
  Value magnitude = exp(mul(y, log(abs(x))));
  // A negative base takes whole exponents only; odd ones keep its sign.
  Value isWhole = equal(round(y), y);
  Value half = mul(y, f64(0.5));
  Value isEven = equal(round(half), half);
  Value negative =
      select(isWhole, select(isEven, magnitude, neg(magnitude)), f64(kNaN));
  Value result = select(less(x, f64(0)), negative, magnitude);
  return select(equal(y, f64(0)), f64(1), result);
}

using Emit = Value (*)(F64Builder &, ValueRange);

namespace {
/// Rewrites OpTy on f64 scalars by `emit`.
template <typename OpTy>
struct LowerFunction : public OpRewritePattern<OpTy> {
  LowerFunction(MLIRContext *context, Emit emit)
      : OpRewritePattern<OpTy>(context), emit(emit) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Location loc = op.getLoc();
    F64Builder builder{rewriter, loc};
    if (type.isF64()) {
      rewriter.replaceOp(op, emit(builder, op->getOperands()));
      return success();
    }
    // No instruction has two elements.
    auto vec = dyn_cast<VectorType>(type);
    if (!vec || !vec.getElementType().isF64() || vec.getRank() != 1 ||
        vec.isScalable())
      return rewriter.notifyMatchFailure(op, "not of f64");
    SmallVector<Value> elements;
    for (int64_t i = 0; i < vec.getNumElements(); ++i) {
      SmallVector<Value> args;
      for (Value operand : op->getOperands())
        args.push_back(
            vector::ExtractOp::create(rewriter, loc, operand, i));
      elements.push_back(emit(builder, args));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vec, elements);
    return success();
  }

  Emit emit;
};
} // namespace

/// A function that the code generator has, by name: convert-gpu-to-nvvm turns
/// the math ops into library calls.
static Value callIntrinsic(F64Builder &e, StringRef name, ValueRange a) {
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, e.b.getF64Type(),
                                       e.b.getStringAttr(name), a)
      .getResult(0);
}

void coda_gpu::populateLowerMathF64Patterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerFunction<math::AbsFOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.fabs", a);
      });
  patterns.add<LowerFunction<math::FloorOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.floor", a);
      });
  patterns.add<LowerFunction<math::CeilOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.ceil", a);
      });
  patterns.add<LowerFunction<math::TruncOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.trunc", a);
      });
  patterns.add<LowerFunction<math::RoundOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.round", a);
      });
  patterns.add<LowerFunction<math::RoundEvenOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.roundeven", a);
      });
  patterns.add<LowerFunction<math::CopySignOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.copysign", a);
      });
  patterns.add<LowerFunction<math::SqrtOp>>(
      context, [](F64Builder &e, ValueRange a) {
        return callIntrinsic(e, "llvm.sqrt", a);
      });
  patterns.add<LowerFunction<math::ExpOp>>(
      context, [](F64Builder &e, ValueRange a) { return e.exp(a[0]); });
  patterns.add<LowerFunction<math::Exp2Op>>(
      context, [](F64Builder &e, ValueRange a) {
        return e.exp(e.mul(a[0], e.f64(1 / kLog2E)));
      });
  patterns.add<LowerFunction<math::ExpM1Op>>(
      context, [](F64Builder &e, ValueRange a) { return e.expm1(a[0]); });
  patterns.add<LowerFunction<math::LogOp>>(
      context, [](F64Builder &e, ValueRange a) { return e.log(a[0]); });
  patterns.add<LowerFunction<math::Log2Op>>(
      context, [](F64Builder &e, ValueRange a) {
        return e.mul(e.log(a[0]), e.f64(kLog2E));
      });
  patterns.add<LowerFunction<math::Log10Op>>(
      context, [](F64Builder &e, ValueRange a) {
        return e.mul(e.log(a[0]), e.f64(0.43429448190325182765));
      });
  patterns.add<LowerFunction<math::Log1pOp>>(
      context, [](F64Builder &e, ValueRange a) {
        // The quotient takes back what 1 + x has lost.
        Value u = e.add(a[0], e.f64(1));
        Value lost = e.sub(u, e.f64(1));
        Value corrected = e.mul(e.log(u), e.div(a[0], lost));
        Value isFar = e.less(e.f64(1e15), e.abs(a[0]));
        return e.select(e.equal(lost, e.f64(0)), a[0],
                        e.select(isFar, e.log(u), corrected));
      });
  patterns.add<LowerFunction<math::TanhOp>>(
      context, [](F64Builder &e, ValueRange a) {
        Value t = e.expm1(e.mul(e.abs(a[0]), e.f64(2)));
        Value y = e.div(t, e.add(t, e.f64(2)));
        y = e.select(e.less(e.f64(20), e.abs(a[0])), e.f64(1), y);
        return e.select(e.less(a[0], e.f64(0)), e.neg(y), y);
      });
  patterns.add<LowerFunction<math::SinOp>>(
      context, [](F64Builder &e, ValueRange a) { return e.sinOrCos(a[0], 0); });
  patterns.add<LowerFunction<math::CosOp>>(
      context, [](F64Builder &e, ValueRange a) { return e.sinOrCos(a[0], 1); });
  patterns.add<LowerFunction<math::PowFOp>>(
      context, [](F64Builder &e, ValueRange a) { return e.pow(a[0], a[1]); });
  patterns.add<LowerFunction<math::RsqrtOp>>(
      context, [](F64Builder &e, ValueRange a) -> Value {
        Value root = math::SqrtOp::create(e.b, e.loc, a[0]);
        return e.div(e.f64(1), root);
      });
}
