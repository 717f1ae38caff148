//===- WidenToF64.cpp - A graph computed in f64, the oracle ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAWIDENTOF64
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

Type widen(Type type) {
  if (isa<FloatType>(type))
    return Float64Type::get(type.getContext());
  if (auto complex = dyn_cast<ComplexType>(type))
    return ComplexType::get(widen(complex.getElementType()));
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(widen(tensor.getElementType()));
  return type;
}

APFloat widen(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// `value` elementwise in the element type `to`, wider or narrower.
Value cast(OpBuilder &builder, Location loc, Value value, Type to) {
  auto type = mlir::cast<RankedTensorType>(value.getType());
  if (type.getElementType() == to)
    return value;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, to);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  bool wider = to.getIntOrFloatBitWidth() >
               type.getElementType().getIntOrFloatBitWidth();
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), value, empty,
             ArrayRef<AffineMap>{identity, identity}, iterators,
             [&](OpBuilder &b, Location at, ValueRange args) {
               Value element =
                   wider ? arith::ExtFOp::create(b, at, to, args[0]).getResult()
                         : arith::TruncFOp::create(b, at, to, args[0])
                               .getResult();
               linalg::YieldOp::create(b, at, element);
             })
      .getResult(0);
}

struct WidenToF64 : public coda::impl::CodaWidenToF64Base<WidenToF64> {
  using CodaWidenToF64Base::CodaWidenToF64Base;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && failed(run(func)))
        return signalPassFailure();
  }

  LogicalResult run(func::FuncOp func) {
    Block &body = func.getBody().front();
    for (Block &block : llvm::drop_begin(func.getBody()))
      for (BlockArgument arg : block.getArguments())
        arg.setType(widen(arg.getType()));
    WalkResult result = func.walk([&](Operation *op) {
      if (op == func)
        return WalkResult::advance();
      if (isa<arith::BitcastOp>(op) || isa<CallOpInterface>(op)) {
        op->emitError("'") << op->getName()
                           << "' has no counterpart in f64, so there is no "
                              "reference for this function";
        return WalkResult::interrupt();
      }
      for (Value value : op->getResults())
        value.setType(widen(value.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            arg.setType(widen(arg.getType()));
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        Attribute value = constant.getValue();
        if (auto number = dyn_cast<FloatAttr>(value))
          constant.setValueAttr(
              FloatAttr::get(widen(number.getType()), widen(number.getValue())));
        else if (auto dense = dyn_cast<DenseFPElementsAttr>(value))
          constant.setValueAttr(mlir::cast<TypedAttr>(
              Attribute(dense.mapValues(widen(dense.getElementType()),
                                        [](const APFloat &element) {
                                          return widen(element).bitcastToAPInt();
                                        }))));
      } else if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    func.walk([](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        op->erase();
    });

    auto isFloat = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && isa<FloatType>(tensor.getElementType());
    };
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Type f64 = builder.getF64Type(), f32 = builder.getF32Type();
    for (BlockArgument arg : body.getArguments()) {
      if (!isFloat(arg.getType()))
        continue;
      if (borders) {
        arg.setType(widen(arg.getType()));
        continue;
      }
      Value wide = ::cast(builder, arg.getLoc(), arg, f64);
      if (wide != arg)
        arg.replaceUsesWithIf(wide, [&](OpOperand &use) {
          // The cast itself, and the extents of its result, read the argument;
          // what is in another block reads the cast.
          Operation *user = body.findAncestorOpInBlock(*use.getOwner());
          return !user || (!user->isBeforeInBlock(wide.getDefiningOp()) &&
                           user != wide.getDefiningOp());
        });
    }
    // A function may return in several blocks, or in none.
    SmallVector<Type> results;
    for (Type source : func.getFunctionType().getResults()) {
      Type f = borders || getElementTypeOrSelf(source).isF64() ? f64 : f32;
      results.push_back(isFloat(source)
                            ? mlir::cast<RankedTensorType>(source).clone(f)
                            : widen(source));
    }
    for (auto terminator : func.getOps<func::ReturnOp>()) {
      builder.setInsertionPoint(terminator);
      for (auto [operand, type] :
           llvm::zip_equal(terminator->getOpOperands(), results))
        if (isFloat(operand.get().getType()))
          operand.set(::cast(builder, operand.get().getLoc(), operand.get(),
                             getElementTypeOrSelf(type)));
      results.assign(terminator.getOperandTypes().begin(),
                     terminator.getOperandTypes().end());
    }
    func.setFunctionType(
        builder.getFunctionType(body.getArgumentTypes(), results));
    return success();
  }
};

} // namespace
