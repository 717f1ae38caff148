//===- GuardTraps.cpp - What would trap becomes an assert -----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAGUARDTRAPS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// Whether `index`, in the body of a linalg op, is an index of its loops that
/// stays below `extent`.
bool isLoopIndexBelow(Value index, int64_t extent) {
  auto indexOp = index.getDefiningOp<linalg::IndexOp>();
  auto parent =
      indexOp ? dyn_cast<linalg::LinalgOp>(indexOp->getParentOp()) : nullptr;
  if (!parent)
    return false;
  int64_t range = parent.getStaticLoopRanges()[indexOp.getDim()];
  return !ShapedType::isDynamic(range) && !ShapedType::isDynamic(extent) &&
         range <= extent;
}

struct GuardTraps : public coda::impl::CodaGuardTrapsBase<GuardTraps> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
              arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
        guardDivision(op);
      else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        guardIndices(op, extract.getTensor(), extract.getIndices());
      else if (auto insert = dyn_cast<tensor::InsertOp>(op))
        guardIndices(op, insert.getDest(), insert.getIndices());
    });
  }

private:
  void require(ImplicitLocOpBuilder &b, Value condition, const Twine &message) {
    cf::AssertOp::create(b, condition, b.getStringAttr(message));
    ++numGuards;
  }

  /// Divisions of shapes, outside of linalg, are left to coda-host-signature.
  void guardDivision(Operation *op) {
    Value dividend = op->getOperand(0), divisor = op->getOperand(1);
    Type type = divisor.getType();
    if (!type.isIntOrIndex() || !op->getParentOfType<linalg::LinalgOp>())
      return;
    APInt constant;
    bool isConstant = matchPattern(divisor, m_ConstantInt(&constant));
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto compare = [&](arith::CmpIPredicate predicate, Value value,
                       const APInt &with) -> Value {
      Value other = arith::ConstantOp::create(b, b.getIntegerAttr(type, with));
      return arith::CmpIOp::create(b, predicate, value, other);
    };
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (!isConstant || constant.isZero())
      require(b,
              compare(arith::CmpIPredicate::ne, divisor, APInt::getZero(width)),
              "integer division by zero");
    bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                        arith::FloorDivSIOp>(op);
    if (!isSigned || (isConstant && !constant.isAllOnes()))
      return;
    Value overflows = arith::AndIOp::create(
        b,
        compare(arith::CmpIPredicate::eq, dividend,
                APInt::getSignedMinValue(width)),
        compare(arith::CmpIPredicate::eq, divisor, APInt::getAllOnes(width)));
    Value one = arith::ConstantOp::create(b, b.getBoolAttr(true));
    require(b, arith::XOrIOp::create(b, overflows, one),
            "integer division overflows");
  }

  void guardIndices(Operation *op, Value tensor, ValueRange indices) {
    auto type = cast<RankedTensorType>(tensor.getType());
    ImplicitLocOpBuilder b(op->getLoc(), op);
    for (auto [dim, index] : llvm::enumerate(indices)) {
      int64_t extent = type.getDimSize(dim);
      APInt constant;
      if (isLoopIndexBelow(index, extent) ||
          (matchPattern(index, m_ConstantInt(&constant)) &&
           !ShapedType::isDynamic(extent) && constant.ult(extent)))
        continue;
      Value bound = tensor::DimOp::create(b, tensor, dim);
      // Unsigned: a negative index is a large one.
      require(b,
              arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, bound),
              "index " + Twine(dim) + " into a tensor is out of its bounds");
    }
  }
};

} // namespace
