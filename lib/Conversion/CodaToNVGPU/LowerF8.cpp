//===- LowerF8.cpp - coda-gpu-lower-f8 ------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPULOWERF8
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

/// The number that all elements of `value` are, if known.
static std::optional<double> getConstant(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  return std::nullopt;
}

/// Whether min and max, or comparisons and selections in their place, keep
/// `value` in [-limit, limit] where it is a number.
static bool isClamped(Value value, double limit) {
  bool above = false, below = false;
  // Few are between a clamp and what is stored.
  for (int depth = 0; depth < 4 && !(above && below); ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    Value other;
    std::optional<double> bound;
    bool isUpper = isa<arith::MinimumFOp, arith::MinNumFOp>(op);
    if (isUpper || isa<arith::MaximumFOp, arith::MaxNumFOp>(op)) {
      for (unsigned i : {0u, 1u})
        if (auto number = getConstant(op->getOperand(i))) {
          bound = number;
          other = op->getOperand(1 - i);
        }
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      // x > c ? c : x and the like.
      auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
      if (!compare)
        return false;
      bound = getConstant(select.getTrueValue());
      other = select.getFalseValue();
      if (compare.getLhs() != other ||
          bound != getConstant(compare.getRhs()))
        return false;
      switch (compare.getPredicate()) {
      case arith::CmpFPredicate::OGT:
      case arith::CmpFPredicate::OGE:
      case arith::CmpFPredicate::UGT:
      case arith::CmpFPredicate::UGE:
        isUpper = true;
        break;
      case arith::CmpFPredicate::OLT:
      case arith::CmpFPredicate::OLE:
      case arith::CmpFPredicate::ULT:
      case arith::CmpFPredicate::ULE:
        break;
      default:
        return false;
      }
    }
    // A bound of the wrong sign could undo the one inside.
    if (!bound || *bound > limit || *bound < -limit)
      return false;
    (isUpper ? above : below) = true;
    value = other;
  }
  return above && below;
}

namespace {

/// Conversions of pairs, of the elements of one scalar or vector.
struct GPULowerF8 : public coda_gpu::impl::GPULowerF8Base<GPULowerF8> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      auto isNarrow = [](Type type) {
        return isa<Float8E4M3FNType, Float8E5M2Type>(type);
      };
      if (!isa<arith::TruncFOp, arith::ExtFOp>(op))
        return;
      Type from = getElementTypeOrSelf(op->getOperand(0));
      if (isa<arith::TruncFOp>(op) && !from.isF64() &&
          isNarrow(getElementTypeOrSelf(op->getResult(0))))
        lower(rewriter, op, [&](ImplicitLocOpBuilder &b, Value value) {
          return truncate(b, op->getOperand(0), value,
                          getElementTypeOrSelf(op->getResult(0)));
        });
      else if (isa<arith::ExtFOp>(op) && isNarrow(from))
        lower(rewriter, op, [&](ImplicitLocOpBuilder &b, Value value) {
          return extend(b, value, getElementTypeOrSelf(op->getResult(0)));
        });
    });
  }

  /// Replaces `op` by what `convert` gives for its operand as a vector of an
  /// even number of elements.
  void lower(IRRewriter &rewriter, Operation *op,
             function_ref<Value(ImplicitLocOpBuilder &, Value)> convert) {
    rewriter.setInsertionPoint(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    Value value = op->getOperand(0);
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector && (vector.getRank() != 1 || vector.isScalable() ||
                   vector.getDimSize(0) % 2 != 0))
      return;
    if (!vector)
      value = vector::BroadcastOp::create(
          b, VectorType::get({2}, value.getType()), value);
    Value result = convert(b, value);
    if (!vector)
      result = vector::ExtractOp::create(b, result, 0);
    rewriter.replaceOp(op, result);
  }

  /// The pairs of `parts` side by side.
  Value join(ImplicitLocOpBuilder &b, ArrayRef<Value> parts) {
    SmallVector<Value> elements;
    for (Value part : parts)
      for (int64_t i : {0, 1})
        elements.push_back(vector::ExtractOp::create(b, part, i));
    return vector::FromElementsOp::create(
        b,
        VectorType::get({int64_t(elements.size())}, elements[0].getType()),
        elements);
  }

  Value truncate(ImplicitLocOpBuilder &b, Value source, Value value, Type to) {
    auto type = cast<VectorType>(value.getType());
    auto f32 = cast<VectorType>(type.clone(b.getF32Type()));
    if (type != f32)
      value = arith::ExtFOp::create(b, f32, value);
    SmallVector<Value> pairs;
    Type pair = VectorType::get({2}, b.getI8Type());
    for (int64_t i = 0; i < type.getDimSize(0); i += 2)
      pairs.push_back(NVVM::ConvertF32x2ToF8x2Op::create(
          b, pair, vector::ExtractOp::create(b, value, i + 1),
          vector::ExtractOp::create(b, value, i), NVVM::FPRoundingMode::RN,
          NVVM::SaturationMode::SATFINITE, /*relu=*/false, to));
    Value code = join(b, pairs);
    bool isE4M3 = isa<Float8E4M3FNType>(to);
    if (!isClamped(source, isE4M3 ? 448 : 57344)) {
      // The instruction gives the largest number for what is beyond it: NaN, or
      // an infinity where there is one, in its place.
      auto integer = cast<VectorType>(type.clone(b.getI32Type()));
      auto splat = [&](VectorType vector, int64_t bits) {
        return arith::ConstantOp::create(
            b, DenseElementsAttr::get(
                   vector, b.getIntegerAttr(vector.getElementType(), bits)));
      };
      Value magnitude = arith::AndIOp::create(
          b, arith::BitcastOp::create(b, integer, value),
          splat(integer, 0x7FFFFFFF));
      // 464 rounds to 448, the even one; 61440 rounds to 65536.
      int64_t last = isE4M3 ? 0x43E80000 : 0x476FFFFF;
      Value isBeyond =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                splat(integer, last));
      auto byte = cast<VectorType>(type.clone(b.getI8Type()));
      Value beyond = splat(byte, 0x7F);
      if (!isE4M3) {
        Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                            magnitude,
                                            splat(integer, 0x7F800000));
        Value infinity = arith::AddIOp::create(b, code, splat(byte, 1));
        beyond = arith::SelectOp::create(b, isNaN, beyond, infinity);
      }
      code = arith::SelectOp::create(b, isBeyond, beyond, code);
    }
    return arith::BitcastOp::create(b, type.clone(to), code);
  }

  Value extend(ImplicitLocOpBuilder &b, Value value, Type to) {
    auto type = cast<VectorType>(value.getType());
    Value codes = arith::BitcastOp::create(b, type.clone(b.getI8Type()), value);
    SmallVector<Value> pairs;
    Type half = VectorType::get({2}, b.getF16Type());
    for (int64_t i = 0; i < type.getDimSize(0); i += 2) {
      Value pair = vector::ShuffleOp::create(b, codes, codes,
                                             ArrayRef<int64_t>{i, i + 1});
      pairs.push_back(NVVM::ConvertF8x2ToF16x2Op::create(
          b, half, pair, /*relu=*/false, type.getElementType()));
    }
    Value halves = join(b, pairs);
    if (to.isF16())
      return halves;
    Type f32 = type.clone(b.getF32Type());
    Value wide = arith::ExtFOp::create(b, f32, halves);
    if (to.isF32())
      return wide;
    if (to.isF64())
      return arith::ExtFOp::create(b, type.clone(to), wide);
    return arith::TruncFOp::create(b, type.clone(to), wide);
  }
};

} // namespace
