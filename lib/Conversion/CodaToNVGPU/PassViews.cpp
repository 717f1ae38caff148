//===- PassViews.cpp - Kernels that take slices where they are ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization gives functions compact arguments, and copies what is not: a slice
// of a weight, or of a bias, that several products share. The copy engine takes
// strides and an offset as they are; what a region loads may be compact for other
// reasons, and has an offset alone.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUPASSVIEWS
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

/// What the copy engine, and loads of several elements, need of addresses and
/// strides.
static constexpr int64_t kAlignment = 16;

/// Whether `argument` of a kernel is nothing but factors of its products; or, if
/// `loads`, factors and what its regions load.
static bool isRead(BlockArgument argument, bool loads) {
  return !argument.use_empty() &&
         llvm::all_of(argument.getUses(), [&](OpOperand &use) {
           auto op = dyn_cast<coda::TileOpInterface>(use.getOwner());
           return op && use.getOperandNumber() <
                            2 * op.getNumProducts() +
                                (loads ? op.getInputs().size() : 0);
         });
}

/// Whether the elements of `type` lie next to each other, in order.
static bool isCompact(MemRefType type, ArrayRef<int64_t> strides) {
  int64_t distance = 1;
  for (auto [size, stride] :
       llvm::reverse(llvm::zip_equal(type.getShape(), strides))) {
    if (ShapedType::isDynamic(distance) || stride != distance)
      return false;
    distance = ShapedType::isDynamic(size) ? size : distance * size;
  }
  return true;
}

/// Whether nothing writes `memref` or a view of it; `isReadByCall` tells of a call's
/// operand whether the callee only reads it.
static bool isOnlyRead(Value memref,
                       function_ref<bool(OpOperand &)> isReadByCall) {
  return llvm::all_of(memref.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto view = dyn_cast<ViewLikeOpInterface>(user))
      return isOnlyRead(view->getResult(0), isReadByCall);
    if (auto copy = dyn_cast<memref::CopyOp>(user))
      return copy.getSource() == memref && copy.getTarget() != memref;
    if (auto generic = dyn_cast<linalg::GenericOp>(user))
      return generic.isDpsInput(&use);
    if (isa<func::CallOp>(user))
      return isReadByCall(use);
    return isa<memref::DimOp, memref::LoadOp>(user);
  });
}

namespace {
struct GPUPassViews : public coda_gpu::impl::GPUPassViewsBase<GPUPassViews> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(coda_gpu::kKernelAttrName) || !kernel.isPrivate())
        continue;
      SmallVector<func::CallOp> calls;
      bool isCalledOnly = true;
      for (Operation *user : users.getUsers(kernel)) {
        calls.push_back(dyn_cast<func::CallOp>(user));
        isCalledOnly &= calls.back() != nullptr;
      }
      if (!isCalledOnly || calls.empty())
        continue;
      for (BlockArgument argument : kernel.getArguments())
        if (isRead(argument, /*loads=*/true))
          passView(kernel, argument, calls, symbols);
    }
  }

private:
  /// The copy whose target is the operand of `call`, of a view that could stand
  /// there instead; null if there is none.
  memref::CopyOp findCopy(func::CallOp call, unsigned number, bool isFactor,
                          SymbolTableCollection &symbols) {
    auto alloc = call.getOperand(number).getDefiningOp<memref::AllocOp>();
    if (!alloc)
      return {};
    memref::CopyOp copy;
    for (OpOperand &use : alloc->getUses()) {
      if (auto found = dyn_cast<memref::CopyOp>(use.getOwner());
          found && !copy && found.getTarget() == alloc.getResult() &&
          found.getSource() != alloc.getResult())
        copy = found;
      else if (use.getOwner() != call || use.getOperandNumber() != number)
        return {};
    }
    if (!copy || copy->getBlock() != call->getBlock())
      return {};
    auto type = dyn_cast<MemRefType>(copy.getSource().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || failed(type.getStridesAndOffset(strides, offset)) ||
        strides.empty() || strides.back() != 1 ||
        type.getElementType() != alloc.getType().getElementType() ||
        type.getElementTypeBitWidth() % 8 != 0 ||
        (!isFactor && !isCompact(type, strides)))
      return {};
    int64_t width = type.getElementTypeBitWidth() / 8;
    if (!isFactor)
      strides.resize(1);
    strides.back() = offset;
    for (int64_t distance : strides)
      if (ShapedType::isDynamic(distance) ||
          distance * width % kAlignment != 0)
        return {};
    // An argument that the call does not write is what it was when copied.
    Value root = memref::skipViewLikeOps(cast<MemrefValue>(copy.getSource()));
    auto isReadByCall = [&](OpOperand &use) {
      auto reader = cast<func::CallOp>(use.getOwner());
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          reader, reader.getCalleeAttr());
      return callee && callee->hasAttr(coda_gpu::kKernelAttrName) &&
             isRead(callee.getArgument(use.getOperandNumber()),
                    /*loads=*/true);
    };
    if (!isa<BlockArgument>(root) || !isOnlyRead(root, isReadByCall))
      return {};
    return copy;
  }

  /// The layout that has room for all `views`; null if there is none. They may start
  /// anywhere: the experts of one tensor of weights, say, or its layers.
  MemRefType getCommonType(ArrayRef<Value> views) {
    MemRefType common;
    for (Value view : views) {
      auto type = cast<MemRefType>(view.getType());
      if (!common || type == common) {
        common = type;
        continue;
      }
      SmallVector<int64_t> strides, commonStrides;
      int64_t offset;
      if (failed(type.getStridesAndOffset(strides, offset)) ||
          failed(common.getStridesAndOffset(commonStrides, offset)) ||
          strides != commonStrides || type.getShape() != common.getShape())
        return {};
      common = MemRefType::get(
          common.getShape(), common.getElementType(),
          StridedLayoutAttr::get(&getContext(), ShapedType::kDynamic, strides),
          common.getMemorySpace());
    }
    return common;
  }

  /// Has all callers pass a view of one layout for `argument` of `kernel`.
  void passView(func::FuncOp kernel, BlockArgument argument,
                ArrayRef<func::CallOp> calls, SymbolTableCollection &symbols) {
    unsigned number = argument.getArgNumber();
    bool isFactor = isRead(argument, /*loads=*/false);
    SmallVector<memref::CopyOp> copies;
    SmallVector<Value> views;
    for (func::CallOp call : calls) {
      memref::CopyOp copy = findCopy(call, number, isFactor, symbols);
      views.push_back(copy ? copy.getSource() : call.getOperand(number));
      if (copy)
        copies.push_back(copy);
    }
    MemRefType type = copies.empty() ? MemRefType() : getCommonType(views);
    if (!type)
      return;
    argument.setType(type);
    kernel.setType(FunctionType::get(
        &getContext(), kernel.getBody().front().getArgumentTypes(),
        kernel.getResultTypes()));
    for (auto [i, view] : llvm::enumerate(views)) {
      func::CallOp call = calls[i];
      if (view.getType() != type) {
        OpBuilder builder(call);
        view = memref::CastOp::create(builder, call.getLoc(), type, view);
      }
      call->setOperand(number, view);
    }
    for (memref::CopyOp copy : copies) {
      Operation *alloc = copy.getTarget().getDefiningOp();
      copy.erase();
      alloc->erase();
      ++numPassed;
    }
  }
};
} // namespace
