//===- PadRows.cpp - Rows of factors in whole 16 bytes --------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy engine takes rows that are whole 16 bytes apart: those of 4 or 50257
// elements of 16 bits are not. What a call makes for its own kernels may be made
// with longer rows at no cost; what it is given is copied.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "KernelModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUPADROWS
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

/// Allocates a buffer with padded rows and returns the view of it that is like a
/// buffer of type `type`, of which `dynamic` are the extents that are not static.
static Value createPadded(OpBuilder &builder, Location loc, MemRefType type,
                          ValueRange dynamic, unsigned row,
                          IntegerAttr alignment) {
  SmallVector<int64_t> shape(type.getShape().take_front(row));
  shape.push_back(getPaddedRow(type, row));
  SmallVector<OpFoldResult> sizes = getMixedValues(
      type.getShape().take_front(row), dynamic, builder.getContext());
  int64_t elements = 1;
  for (int64_t extent : type.getShape().drop_front(row))
    elements *= extent;
  sizes.push_back(builder.getIndexAttr(elements));
  Value buffer = memref::AllocOp::create(
      builder, loc, MemRefType::get(shape, type.getElementType()), dynamic,
      alignment);
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  Value view =
      memref::SubViewOp::create(builder, loc, buffer, zeros, sizes, ones);
  if (static_cast<int64_t>(sizes.size()) == type.getRank())
    return view;
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (d <= row)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  sizes.pop_back();
  for (int64_t extent : type.getShape().drop_front(row))
    sizes.push_back(builder.getIndexAttr(extent));
  return memref::ExpandShapeOp::create(builder, loc, getPaddedType(type, row),
                                       view, groups, sizes);
}

namespace {

/// Arguments of kernels, and the allocations that their calls pass for them, that
/// get padded rows together.
struct Padded {
  llvm::SetVector<BlockArgument> arguments;
  llvm::SetVector<Operation *> buffers;
};

struct GPUPadRows : public coda_gpu::impl::GPUPadRowsBase<GPUPadRows> {
  void runOnOperation() override {
    copies.clear();
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    // A kernel has a schedule when all of its factors have the rows that it takes.
    SmallVector<std::pair<BlockArgument, unsigned>> found;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      for (BlockArgument argument : kernel.getArguments()) {
        unsigned number = argument.getArgNumber();
        auto row =
            kernel.getArgAttrOfType<IntegerAttr>(number, kPaddedRowAttrName);
        if (!row)
          continue;
        kernel.removeArgAttr(number, kPaddedRowAttrName);
        auto type = dyn_cast<MemRefType>(argument.getType());
        // A view of longer rows may stand there by now.
        if (!type || !type.getLayout().isIdentity() ||
            getPaddedRow(type, row.getInt()) == 0 || !getCalls(kernel, users))
          continue;
        setType(argument, getPaddedType(type, row.getInt()));
        found.push_back({argument, row.getInt()});
      }
    llvm::DenseMap<BlockArgument, unsigned> copied;
    for (auto [argument, row] : found)
      if (!makePadded(argument, row, users, symbols))
        copied[argument] = row;
    // In the order of the calls: later ones find the copies of earlier ones.
    getOperation()->walk([&](func::CallOp call) {
      auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (!kernel || kernel.isExternal())
        return;
      for (BlockArgument argument : kernel.getArguments())
        if (auto row = copied.find(argument); row != copied.end())
          copy(call, argument, row->second);
    });
  }

private:
  /// The calls of `kernel`; none if it is a function that others may call, or no
  /// kernel.
  std::optional<SmallVector<func::CallOp>> getCalls(func::FuncOp kernel,
                                                    SymbolUserMap &users) {
    if (!kernel || !kernel->hasAttr(kKernelAttrName) || !kernel.isPrivate())
      return std::nullopt;
    SmallVector<func::CallOp> calls;
    for (Operation *user : users.getUsers(kernel)) {
      auto call = dyn_cast<func::CallOp>(user);
      if (!call)
        return std::nullopt;
      calls.push_back(call);
    }
    return calls;
  }

  /// Finds all that has to be padded with `argument`; failure if any of it is
  /// anything but an operand of kernels.
  LogicalResult collect(BlockArgument argument, SymbolUserMap &users,
                        SymbolTableCollection &symbols, Padded &padded) {
    padded.arguments.insert(argument);
    for (unsigned i = 0; i < padded.arguments.size(); ++i) {
      BlockArgument next = padded.arguments[i];
      auto kernel = dyn_cast<func::FuncOp>(next.getOwner()->getParentOp());
      auto calls = getCalls(kernel, users);
      if (!calls || (next.getType() != argument.getType() &&
                     next.getType() != getCompactType(argument)))
        return failure();
      for (func::CallOp call : *calls) {
        Value operand = call.getOperand(next.getArgNumber());
        // Another kernel has asked for it.
        if (operand.getType() == argument.getType())
          continue;
        auto alloc = operand.getDefiningOp<memref::AllocOp>();
        if (!alloc)
          return failure();
        if (!padded.buffers.insert(alloc))
          continue;
        for (OpOperand &use : alloc->getUses()) {
          if (isa<memref::DimOp>(use.getOwner()))
            continue;
          auto other = dyn_cast<func::CallOp>(use.getOwner());
          auto callee = other ? symbols.lookupNearestSymbolFrom<func::FuncOp>(
                                    other, other.getCalleeAttr())
                              : func::FuncOp();
          if (!callee || callee.isExternal())
            return failure();
          padded.arguments.insert(callee.getArgument(use.getOperandNumber()));
        }
      }
    }
    return success();
  }

  /// Gives `argument` the type `type`.
  void setType(BlockArgument argument, Type type) {
    argument.setType(type);
    auto kernel = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    kernel.setType(FunctionType::get(&getContext(),
                                     argument.getOwner()->getArgumentTypes(),
                                     kernel.getResultTypes()));
  }

  /// The type that `argument`, or what is passed for it, has without padding.
  MemRefType getCompactType(BlockArgument argument) {
    auto type = cast<MemRefType>(argument.getType());
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  /// Makes the buffers that the calls pass for `argument` ones with padded rows;
  /// false if that cannot be, or leaves some kernel without a schedule.
  bool makePadded(BlockArgument argument, unsigned row, SymbolUserMap &users,
                  SymbolTableCollection &symbols) {
    Padded padded;
    if (failed(collect(argument, users, symbols, padded)))
      return false;
    MemRefType type = getCompactType(argument);
    SmallVector<BlockArgument> changed;
    llvm::copy_if(padded.arguments, std::back_inserter(changed),
                  [&](BlockArgument other) { return other.getType() == type; });
    for (BlockArgument other : changed)
      setType(other, argument.getType());
    auto fits = [](BlockArgument other) {
      auto kernel = cast<func::FuncOp>(other.getOwner()->getParentOp());
      std::string reason;
      FailureOr<KernelModel> model = buildKernelModel(kernel, reason);
      return succeeded(model) &&
             selectSchedule(*model, /*batchInvariant=*/false, reason);
    };
    if (!llvm::all_of(changed, fits)) {
      for (BlockArgument other : changed)
        setType(other, type);
      return false;
    }
    for (Operation *op : padded.buffers) {
      auto alloc = cast<memref::AllocOp>(op);
      OpBuilder builder(alloc);
      alloc.getResult().replaceAllUsesWith(
          createPadded(builder, alloc.getLoc(), type, alloc.getDynamicSizes(),
                       row, alloc.getAlignmentAttr()));
      alloc.erase();
      ++numMade;
    }
    return true;
  }

  /// The view, of type `type`, that the last copy of `memref` before `call` in its
  /// block went to, if `memref` has been the same since and the view is read only.
  Value findCopy(func::CallOp call, Value memref, Type type) {
    Value root = memref::skipViewLikeOps(cast<MemrefValue>(memref));
    for (Operation *op = call->getPrevNode(); op; op = op->getPrevNode()) {
      auto copy = dyn_cast<memref::CopyOp>(op);
      if (copy && copy.getSource() == memref &&
          copy.getTarget().getType() == type && copies.contains(copy))
        return copy.getTarget();
      if (isa<ViewLikeOpInterface>(op) || isPure(op))
        continue;
      if (op->getNumRegions() != 0)
        return {};
      for (OpOperand &operand : op->getOpOperands()) {
        auto other = dyn_cast<MemrefValue>(operand.get());
        if (other && memref::skipViewLikeOps(other) == root &&
            !isReadOnly(operand))
          return {};
      }
    }
    return {};
  }

  /// Whether `operand` is only read: the source of a copy, a kernel's factor or load.
  bool isReadOnly(OpOperand &operand) {
    if (auto copy = dyn_cast<memref::CopyOp>(operand.getOwner()))
      return operand.get() == copy.getSource() &&
             operand.get() != copy.getTarget();
    auto call = dyn_cast<func::CallOp>(operand.getOwner());
    auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                             call, call.getCalleeAttr())
                       : func::FuncOp();
    if (!callee || !callee->hasAttr(kKernelAttrName) || callee.isExternal())
      return false;
    BlockArgument argument = callee.getArgument(operand.getOperandNumber());
    return llvm::all_of(argument.getUses(), [](OpOperand &use) {
      auto tile = dyn_cast<coda::TileOpInterface>(use.getOwner());
      return tile && use.getOperandNumber() <
                         tile->getNumOperands() - tile.getOutputs().size();
    });
  }

  /// Copies what `call` passes for `argument` to a buffer with padded rows.
  void copy(func::CallOp call, BlockArgument argument, unsigned row) {
    OpOperand &operand = call->getOpOperand(argument.getArgNumber());
    if (operand.get().getType() == argument.getType())
      return;
    if (Value view = findCopy(call, operand.get(), argument.getType())) {
      operand.set(view);
      return;
    }
    MemRefType type = getCompactType(argument);
    OpBuilder builder(call);
    Location loc = call.getLoc();
    SmallVector<Value> dynamic;
    if (type.isDynamicDim(0))
      dynamic.push_back(
          memref::DimOp::create(builder, loc, operand.get(), 0));
    // Bufferization aligns what it allocates as much.
    Value view = createPadded(builder, loc, type, dynamic, row,
                              builder.getI64IntegerAttr(256));
    copies.insert(memref::CopyOp::create(builder, loc, operand.get(), view));
    operand.set(view);
    ++numCopied;
  }

  /// Copies that this pass has made.
  llvm::DenseSet<Operation *> copies;
};

} // namespace
