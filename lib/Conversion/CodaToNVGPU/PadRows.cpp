//===- PadRows.cpp - Rows of factors in whole 16 bytes --------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy engine takes rows that are whole 16 bytes apart: those of 4 or 50257
// elements of 16 bits are not. What a call makes for its own kernels may be made
// with longer rows at no cost; what it also returns is stored twice; what it is given
// is copied.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "KernelModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

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
    stored.clear();
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
          copy(call, argument, row->second, symbols);
    });
    // Kernels of which all calls store twice.
    llvm::SetVector<func::FuncOp> kernels;
    for (auto &[key, twin] : twins)
      if (twin)
        kernels.insert(key.first);
    for (func::FuncOp kernel : kernels)
      if (SymbolTable::symbolKnownUseEmpty(kernel, getOperation()))
        kernel.erase();
    twins.clear();
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
  /// block went to, or that was stored with it, if `memref` has been the same since and
  /// the view is read only.
  Value findCopy(func::CallOp call, Value memref, Type type) {
    Value root = memref::skipViewLikeOps(cast<MemrefValue>(memref));
    for (Operation *op = call->getPrevNode(); op; op = op->getPrevNode()) {
      auto copy = dyn_cast<memref::CopyOp>(op);
      if (copy && copy.getSource() == memref &&
          copy.getTarget().getType() == type && copies.contains(copy))
        return copy.getTarget();
      auto [from, view] = stored.lookup(op);
      if (from == memref && view.getType() == type)
        return view;
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

  /// The operand of the call of a kernel, the last op before `call` in its block to
  /// write the buffer of `memref`, for which it stores all of `memref`; null if there
  /// is none.
  OpOperand *findStore(func::CallOp call, Value memref) {
    Value root = memref::skipViewLikeOps(cast<MemrefValue>(memref));
    for (Operation *op = call->getPrevNode(); op; op = op->getPrevNode()) {
      if (isa<ViewLikeOpInterface>(op) || isPure(op))
        continue;
      if (op->getNumRegions() != 0)
        return nullptr;
      OpOperand *found = nullptr;
      for (OpOperand &operand : op->getOpOperands()) {
        auto other = dyn_cast<MemrefValue>(operand.get());
        if (!other || memref::skipViewLikeOps(other) != root ||
            isReadOnly(operand))
          continue;
        if (found || other != memref)
          return nullptr;
        found = &operand;
      }
      if (found)
        return isa<func::CallOp>(op) ? found : nullptr;
    }
    return nullptr;
  }

  /// Has the kernel that stores what `call` passes for `argument`, before it, store it
  /// to a buffer with padded rows, too, of which the view is returned; null if no
  /// kernel does, or none has a schedule for that.
  Value storeTwice(func::CallOp call, BlockArgument argument, unsigned row,
                   SymbolTableCollection &symbols) {
    Value memref = call.getOperand(argument.getArgNumber());
    OpOperand *operand = findStore(call, memref);
    if (!operand)
      return {};
    auto maker = cast<func::CallOp>(operand->getOwner());
    auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        maker, maker.getCalleeAttr());
    if (!kernel || !kernel->hasAttr(kKernelAttrName) || !kernel.isPrivate() ||
        kernel.isExternal())
      return {};
    func::FuncOp twin = getTwin(kernel, operand->getOperandNumber(),
                                argument.getType(), symbols);
    if (!twin)
      return {};
    OpBuilder builder(maker);
    Value view = createBuffer(builder, maker.getLoc(), memref, argument, row);
    SmallVector<Value> operands(maker.getOperands());
    operands.push_back(view);
    auto made =
        func::CallOp::create(builder, maker.getLoc(), twin, operands);
    stored[made] = {memref, view};
    maker.erase();
    return view;
  }

  /// The kernel that does what `kernel` does, and stores what goes to argument `number`
  /// to one of type `type`, its last, as well; null if it has no schedule.
  func::FuncOp getTwin(func::FuncOp kernel, unsigned number, Type type,
                       SymbolTableCollection &symbols) {
    auto [known, isNew] = twins.try_emplace({kernel, {number, type}});
    if (!isNew)
      return known->second;
    BlockArgument place = kernel.getArgument(number);
    auto tile = place.hasOneUse()
                    ? dyn_cast<coda::TileOpInterface>(*place.user_begin())
                    : coda::TileOpInterface();
    if (!tile)
      return {};
    unsigned output = place.use_begin()->getOperandNumber() -
                      (tile->getNumOperands() - tile.getOutputs().size());
    if (output >= tile.getOutputs().size() || tile.getCombiner(output))
      return {};
    func::FuncOp twin = kernel.clone();
    twin.setName((kernel.getName() + "_padded").str());
    LogicalResult inserted = twin.insertArgument(twin.getNumArguments(), type,
                                                 {}, place.getLoc());
    assert(succeeded(inserted) && "a func.func takes any argument");
    (void)inserted;
    addStore(cast<coda::TileOpInterface>(
                 *twin.getArgument(number).user_begin()),
             output, twin.getArguments().back());
    std::string reason;
    FailureOr<KernelModel> model = buildKernelModel(twin, reason);
    if (failed(model) ||
        !selectSchedule(*model, /*batchInvariant=*/false, reason)) {
      twin.erase();
      return {};
    }
    symbols.getSymbolTable(getOperation())
        .insert(twin, std::next(Block::iterator(kernel)));
    return known->second = twin;
  }

  /// Has `tile` store output `output` to `place` as well.
  static void addStore(coda::TileOpInterface tile, unsigned output,
                       Value place) {
    OpBuilder builder(tile);
    coda::TileOpSpec spec(tile);
    spec.outputs.push_back(place);
    spec.combiners.push_back(builder.getUnitAttr());
    spec.fresh.push_back(false);
    spec.maps.push_back(tile.getOutputMap(output));
    coda::TileOpInterface both =
        coda::createTileOp(builder, tile->getLoc(), spec);
    both->setDiscardableAttrs(tile->getDiscardableAttrDictionary());
    IRMapping mapping;
    mapping.map(tile.getBody().getArguments(), both.getBody().getArguments());
    builder.setInsertionPointToEnd(&both.getBody().front());
    for (Operation &inner : tile.getBody().front())
      builder.clone(inner, mapping);
    Operation *yield = both.getBody().front().getTerminator();
    SmallVector<Value> values(yield->getOperands());
    for (Value value : tile.getYieldedValues(output))
      values.push_back(mapping.lookupOrDefault(value));
    yield->setOperands(values);
    tile->erase();
  }

  /// Allocates a buffer for what `memref` holds, with the rows of `argument`.
  Value createBuffer(OpBuilder &builder, Location loc, Value memref,
                     BlockArgument argument, unsigned row) {
    MemRefType type = getCompactType(argument);
    SmallVector<Value> dynamic;
    if (type.isDynamicDim(0))
      dynamic.push_back(memref::DimOp::create(builder, loc, memref, 0));
    // Bufferization aligns what it allocates as much.
    return createPadded(builder, loc, type, dynamic, row,
                        builder.getI64IntegerAttr(256));
  }

  /// Has `call` pass a buffer with padded rows for `argument`, which is stored with
  /// what it passes now, or copied from it.
  void copy(func::CallOp call, BlockArgument argument, unsigned row,
            SymbolTableCollection &symbols) {
    OpOperand &operand = call->getOpOperand(argument.getArgNumber());
    if (operand.get().getType() == argument.getType())
      return;
    Value view = findCopy(call, operand.get(), argument.getType());
    if (!view)
      view = storeTwice(call, argument, row, symbols);
    if (!view) {
      OpBuilder builder(call);
      view = createBuffer(builder, call.getLoc(), operand.get(), argument, row);
      copies.insert(
          memref::CopyOp::create(builder, call.getLoc(), operand.get(), view));
      ++numCopied;
    }
    operand.set(view);
  }

  /// Copies that this pass has made.
  llvm::DenseSet<Operation *> copies;
  /// By call of a kernel, what it stores twice, and the view that is padded.
  llvm::DenseMap<Operation *, std::pair<Value, Value>> stored;
  /// By kernel, argument and type.
  llvm::MapVector<std::pair<func::FuncOp, std::pair<unsigned, Type>>, func::FuncOp>
      twins;
};

} // namespace
