//===- LowerMath.cpp - Math to the GPU's approximate instructions ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is written once, on values of f32 or vectors of f32; only the
// instruction itself is unrolled over a vector's elements.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "LowerMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPULOWERMATH
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0.6931471805599453;
constexpr double kLog10Of2 = 0.3010299956639812;

/// Builds f32 arithmetic on `type`, f32 or a vector of it.
struct Builder {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(double v) {
    auto attr = b.getF32FloatAttr(static_cast<float>(v));
    if (auto vec = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vec, attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }

  /// The instruction `name` on each element of `args`.
  Value call(StringRef name, ValueRange args) {
    Type f32 = b.getF32Type();
    auto scalar = [&](ValueRange operands) -> Value {
      return LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr(name),
                                           operands)
          .getResult(0);
    };
    auto vec = dyn_cast<VectorType>(type);
    if (!vec)
      return scalar(args);
    SmallVector<Value> results;
    for (int64_t i = 0, e = vec.getNumElements(); i < e; ++i) {
      SmallVector<Value> elements;
      for (Value arg : args)
        elements.push_back(vector::ExtractOp::create(b, loc, arg, i));
      results.push_back(scalar(elements));
    }
    return vector::FromElementsOp::create(b, loc, vec, results);
  }
  Value ex2(Value x) { return call("llvm.nvvm.ex2.approx.ftz.f", x); }
  Value lg2(Value x) { return call("llvm.nvvm.lg2.approx.ftz.f", x); }
  Value reciprocal(Value x) {
    return call("llvm.nvvm.rcp.approx.ftz.f", x);
  }
  /// As div.approx does it, but without a product by 1. 0 for |y| of 2^126 and
  /// more, the reciprocal of which is denormal.
  Value div(Value x, Value y) {
    return matchPattern(x, m_OneFloat()) ? reciprocal(y)
                                         : mul(x, reciprocal(y));
  }

  Value exp(Value x) { return ex2(mul(x, constant(kLog2E))); }
  Value log(Value x) { return mul(lg2(x), constant(kLn2)); }

  /// `small` where |x| < limit, else `large`.
  Value near0(Value x, double limit, Value small, Value large) {
    return select(less(abs(x), constant(limit)), small, large);
  }
  /// c[0] + x c[1] + x^2 c[2] + ...
  Value horner(Value x, ArrayRef<double> c) {
    Value r = constant(c.back());
    for (double v : llvm::reverse(c.drop_back()))
      r = fma(r, x, constant(v));
    return r;
  }
};

using Emit = Value (*)(Builder &, ValueRange);

Value emitExp(Builder &e, ValueRange a) { return e.exp(a[0]); }
Value emitExp2(Builder &e, ValueRange a) { return e.ex2(a[0]); }
Value emitLog(Builder &e, ValueRange a) { return e.log(a[0]); }
Value emitLog2(Builder &e, ValueRange a) { return e.lg2(a[0]); }
Value emitLog10(Builder &e, ValueRange a) {
  return e.mul(e.lg2(a[0]), e.constant(kLog10Of2));
}
Value emitRsqrt(Builder &e, ValueRange a) {
  return e.call("llvm.nvvm.rsqrt.approx.ftz.f", a);
}
Value emitSqrt(Builder &e, ValueRange a) {
  return e.call("llvm.nvvm.sqrt.approx.ftz.f", a);
}
/// Functions that the code generator has for every type; called by name since
/// convert-gpu-to-nvvm turns the math ops into library calls.
Value emitAbs(Builder &e, ValueRange a) { return e.call("llvm.fabs", a); }
Value emitFloor(Builder &e, ValueRange a) { return e.call("llvm.floor", a); }
Value emitCeil(Builder &e, ValueRange a) { return e.call("llvm.ceil", a); }
Value emitTrunc(Builder &e, ValueRange a) { return e.call("llvm.trunc", a); }
Value emitRound(Builder &e, ValueRange a) { return e.call("llvm.round", a); }
Value emitIEEESqrt(Builder &e, ValueRange a) {
  return e.call("llvm.sqrt", a);
}
Value emitRoundEven(Builder &e, ValueRange a) {
  return e.call("llvm.roundeven", a);
}
Value emitCopySign(Builder &e, ValueRange a) {
  return e.call("llvm.copysign", a);
}
Value emitDiv(Builder &e, ValueRange a) { return e.div(a[0], a[1]); }

/// exp(x) - 1; its Taylor polynomial near 0, where the difference cancels.
Value emitExpm1(Builder &e, ValueRange a) {
  Value x = a[0];
  Value large = e.sub(e.exp(x), e.constant(1));
  Value small = e.mul(x, e.horner(x, {1., 1. / 2, 1. / 6, 1. / 24, 1. / 120,
                                      1. / 720, 1. / 5040}));
  return e.near0(x, 0.4, small, large);
}
/// log(1 + x); its Taylor polynomial near 0, where 1 + x loses digits.
Value emitLog1p(Builder &e, ValueRange a) {
  Value x = a[0];
  Value large = e.log(e.add(x, e.constant(1)));
  Value small =
      e.mul(x, e.horner(x, {1., -1. / 2, 1. / 3, -1. / 4, 1. / 5, -1. / 6,
                            1. / 7, -1. / 8, 1. / 9}));
  return e.near0(x, 0.18, small, large);
}
/// 1 - 2 / (exp(2x) + 1); its Taylor polynomial near 0. tanh.approx has only
/// 11 bits.
Value emitTanh(Builder &e, ValueRange a) {
  Value x = a[0];
  Value t = e.ex2(e.mul(x, e.constant(2 * kLog2E)));
  Value large = e.sub(e.constant(1),
                      e.div(e.constant(2), e.add(t, e.constant(1))));
  Value small = e.mul(x, e.horner(e.mul(x, x), {1., -1. / 3, 2. / 15,
                                                -17. / 315, 62. / 2835,
                                                -1382. / 155925}));
  return e.near0(x, 0.45, small, large);
}
/// 2^(y log2 |x|), with the sign that whole exponents give a negative base.
Value emitPow(Builder &e, ValueRange a) {
  Value x = a[0], y = a[1];
  Value magnitude = e.ex2(e.mul(y, e.lg2(e.abs(x))));
  auto equal = [&](Value u, Value v) -> Value {
    return arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, u, v);
  };
  auto isWhole = [&](Value v) {
    return equal(math::RoundEvenOp::create(e.b, e.loc, v), v);
  };
  Value negated = arith::NegFOp::create(e.b, e.loc, magnitude);
  Value odd = e.select(isWhole(e.mul(y, e.constant(0.5))), magnitude, negated);
  Value negative = e.select(
      isWhole(y), odd,
      e.constant(std::numeric_limits<double>::quiet_NaN()));
  Value result = e.select(e.less(x, e.constant(0)), negative, magnitude);
  return e.select(equal(y, e.constant(0)), e.constant(1), result);
}
/// x - 2 pi round(x / 2 pi), in two steps: the instructions are accurate to
/// 2^-20 in [-pi, pi] only.
Value reduceAngle(Builder &e, Value x) {
  // Adding 1.5 2^23 rounds to a whole number, without the conversion's slow unit,
  // which sine and cosine need as well.
  constexpr double kWhole = 12582912.0;
  Value turns = e.sub(
      e.fma(x, e.constant(0.15915494309189535), e.constant(kWhole)),
      e.constant(kWhole));
  Value high = e.fma(turns, e.constant(-6.28125), x);
  return e.fma(turns, e.constant(-1.9353071795864769e-3), high);
}
Value emitSin(Builder &e, ValueRange a) {
  return e.call("llvm.nvvm.sin.approx.ftz.f", reduceAngle(e, a[0]));
}
Value emitCos(Builder &e, ValueRange a) {
  return e.call("llvm.nvvm.cos.approx.ftz.f", reduceAngle(e, a[0]));
}

/// Rewrites OpTy on f32, f16 and bf16 by `emit`.
template <typename OpTy>
struct LowerFunction : public OpRewritePattern<OpTy> {
  LowerFunction(MLIRContext *context, Emit emit)
      : OpRewritePattern<OpTy>(context), emit(emit) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF16() && !element.isBF16())
      return rewriter.notifyMatchFailure(op, "no instruction for this type");
    auto vec = dyn_cast<VectorType>(type);
    if (vec && (vec.getRank() != 1 || vec.isScalable()))
      return rewriter.notifyMatchFailure(op, "not a vector of rank 1");
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    Type compute = vec ? Type(vec.clone(f32)) : f32;
    SmallVector<Value> args(op->getOperands());
    if (!element.isF32())
      for (Value &arg : args)
        arg = arith::ExtFOp::create(rewriter, loc, compute, arg);
    Builder builder{rewriter, loc, compute};
    Value result = emit(builder, args);
    if (!element.isF32())
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  Emit emit;
};

/// bf16 is the upper half of f32. Of two in a word one is shifted into place, the
/// other needs no more than that the one below it is cleared.
struct ExtendPairs : public OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<VectorType>(op.getIn().getType());
    auto to = dyn_cast<VectorType>(op.getType());
    if (!from || !from.getElementType().isBF16() ||
        !to.getElementType().isF32() || from.getRank() != 1 ||
        from.isScalable() || from.getNumElements() % 2 != 0)
      return rewriter.notifyMatchFailure(op, "not pairs of bf16 to f32");
    Location loc = op.getLoc();
    int64_t count = from.getNumElements();
    Type i32 = rewriter.getI32Type();
    // A word, not a vector of one: its load would no longer be known to be of
    // what nobody writes.
    Value words =
        count == 2
            ? Value(LLVM::BitcastOp::create(rewriter, loc, i32, op.getIn()))
            : vector::BitCastOp::create(
                  rewriter, loc, VectorType::get({count / 2}, i32), op.getIn());
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getI32IntegerAttr(value));
    };
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count / 2; ++i) {
      Value word = count == 2 ? words
                              : Value(vector::ExtractOp::create(rewriter, loc,
                                                                words, i));
      Value low =
          arith::ShLIOp::create(rewriter, loc, word, constant(16));
      Value high = arith::AndIOp::create(rewriter, loc, word,
                                         constant(int32_t(0xffff0000u)));
      for (Value bits : {low, high})
        elements.push_back(arith::BitcastOp::create(
            rewriter, loc, rewriter.getF32Type(), bits));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, to, elements);
    return success();
  }
};

/// x + (a b + c d) => (x + a b) + c d: two instructions, not three. The sum of
/// products may be an element of a vector of which only elements are read. A
/// product as x would gain nothing, and be the next sum of two products.
struct ChainSums : public OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    auto readAlone = [](Operation *sum) {
      return sum->hasOneUse() ||
             llvm::all_of(sum->getUsers(), llvm::IsaPred<vector::ExtractOp>);
    };
    for (auto [other, inner] : {std::pair(op.getLhs(), op.getRhs()),
                                std::pair(op.getRhs(), op.getLhs())}) {
      auto extract = inner.getDefiningOp<vector::ExtractOp>();
      auto sum = (extract ? extract.getSource() : inner)
                     .getDefiningOp<arith::AddFOp>();
      if (!sum || other.getDefiningOp<arith::MulFOp>() || !inner.hasOneUse() ||
          !readAlone(sum) ||
          !sum.getLhs().getDefiningOp<arith::MulFOp>() ||
          !sum.getRhs().getDefiningOp<arith::MulFOp>())
        continue;
      Value result = other;
      for (Value term : {sum.getLhs(), sum.getRhs()}) {
        if (extract)
          term = vector::ExtractOp::create(rewriter, extract.getLoc(), term,
                                           extract.getMixedPosition());
        result = arith::AddFOp::create(rewriter, op.getLoc(), result, term);
      }
      rewriter.replaceOp(op, result);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "adds no sum of two products");
  }
};

struct GPULowerMath : public coda_gpu::impl::GPULowerMathBase<GPULowerMath> {
  using GPULowerMathBase::GPULowerMathBase;

  void runOnOperation() override {
    if (!strict) {
      RewritePatternSet sums(&getContext());
      sums.add<ChainSums>(&getContext());
      if (failed(applyPatternsGreedily(getOperation(), std::move(sums))))
        return signalPassFailure();
      // A product and a sum are one instruction, rounded once. Not in what the
      // functions below expand to, which relies on its roundings.
      getOperation()->walk([](arith::ArithFastMathInterface op) {
        if (!isa<arith::AddFOp, arith::MulFOp, arith::SubFOp>(op) ||
            !getElementTypeOrSelf(op->getResult(0)).isF32())
          return;
        arith::FastMathFlags flags = op.getFastMathFlagsAttr().getValue();
        op->setAttr(op.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(
                        op->getContext(),
                        flags | arith::FastMathFlags::contract));
      });
    }
    RewritePatternSet patterns(&getContext());
    coda_gpu::populateLowerMathPatterns(patterns, strict);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // What is left would become a call of a library that is not there.
    WalkResult unknown = getOperation()->walk([](Operation *op) {
      if ((!isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
           !isa<arith::RemFOp>(op)) ||
          isa<math::AbsIOp, math::CountLeadingZerosOp,
              math::CountTrailingZerosOp, math::CtPopOp, math::FmaOp,
              math::IsFiniteOp, math::IsInfOp, math::IsNaNOp>(op))
        return WalkResult::advance();
      op->emitError("'") << op->getName() << "' of "
                         << getElementTypeOrSelf(op->getResult(0).getType())
                         << " has neither an instruction nor an expansion on "
                            "sm_90a; write it with other functions, or compile "
                            "for the CPU";
      return WalkResult::interrupt();
    });
    if (unknown.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

void coda_gpu::populateLowerMathPatterns(RewritePatternSet &patterns,
                                         bool strict) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerFunction<math::ExpOp>>(context, emitExp);
  patterns.add<LowerFunction<math::Exp2Op>>(context, emitExp2);
  patterns.add<LowerFunction<math::LogOp>>(context, emitLog);
  patterns.add<LowerFunction<math::Log2Op>>(context, emitLog2);
  patterns.add<LowerFunction<math::Log10Op>>(context, emitLog10);
  patterns.add<LowerFunction<math::RsqrtOp>>(context, emitRsqrt);
  patterns.add<LowerFunction<math::ExpM1Op>>(context, emitExpm1);
  patterns.add<LowerFunction<math::Log1pOp>>(context, emitLog1p);
  patterns.add<LowerFunction<math::TanhOp>>(context, emitTanh);
  patterns.add<LowerFunction<math::SinOp>>(context, emitSin);
  patterns.add<LowerFunction<math::CosOp>>(context, emitCos);
  patterns.add<LowerFunction<math::AbsFOp>>(context, emitAbs);
  patterns.add<LowerFunction<math::FloorOp>>(context, emitFloor);
  patterns.add<LowerFunction<math::CeilOp>>(context, emitCeil);
  patterns.add<LowerFunction<math::TruncOp>>(context, emitTrunc);
  patterns.add<LowerFunction<math::RoundOp>>(context, emitRound);
  patterns.add<LowerFunction<math::RoundEvenOp>>(context, emitRoundEven);
  patterns.add<LowerFunction<math::CopySignOp>>(context, emitCopySign);
  patterns.add<LowerFunction<math::PowFOp>>(context, emitPow);
  patterns.add<ExtendPairs>(context);
  populatePolynomialApproximateErfPattern(patterns);
  populateLowerMathF64Patterns(patterns);
  // By the functions above, or by products.
  math::populateExpansionPatterns(
      patterns, {"acosh", "asinh", "atanh", "cosh", "fpowi", "sinh", "tan"});
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(
        {math::AcosOp::getOperationName(), math::AsinOp::getOperationName(),
         math::AtanOp::getOperationName(), math::Atan2Op::getOperationName(),
         math::CbrtOp::getOperationName()},
        name);
  });
  if (!strict) {
    patterns.add<LowerFunction<math::SqrtOp>>(context, emitSqrt);
    patterns.add<LowerFunction<arith::DivFOp>>(context, emitDiv);
  } else {
    patterns.add<LowerFunction<math::SqrtOp>>(context, emitIEEESqrt);
  }
}
