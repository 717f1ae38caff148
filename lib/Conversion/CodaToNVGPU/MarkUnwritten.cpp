//===- MarkUnwritten.cpp - What a kernel may load before it waits ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Why that is sound. The first kernel of a call begins when all work before it on
// the stream has ended, so that what no work of the call writes is there when any
// of its kernels begins. It does not do to look at the kernel before only: that
// lets its successor begin before it has waited itself, so that kernels further
// back may still run. Nothing of the call may write the argument: it is traced to
// an argument of the entry, through views, and whatever else cannot be traced
// counts as written. That arguments do not overlap is checked in each call by the
// launch runtime, which otherwise lets each kernel begin when the one before has
// ended.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUMARKUNWRITTEN
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

/// The argument of `func` that `memref` is a view of; null if there is none.
static BlockArgument findArgument(func::FuncOp func, Value memref) {
  auto argument = dyn_cast<BlockArgument>(static_cast<Value>(
      memref::skipViewLikeOps(cast<MemrefValue>(memref))));
  return argument && argument.getOwner() == &func.getBody().front()
             ? argument
             : BlockArgument();
}

namespace {

/// What the launches of one entry write.
class Entry {
public:
  Entry(func::FuncOp func, SymbolTableCollection &symbols)
      : func(func), symbols(symbols) {
    func.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  }

  struct Launch {
    func::CallOp call;
    func::FuncOp kernel;
    bool isFirst;
  };
  ArrayRef<Launch> getLaunches() const { return launches; }

  bool mayWrite(Value memref) const {
    BlockArgument argument = findArgument(func, memref);
    return writesAll || !argument || written.contains(argument);
  }

private:
  void addWritten(Value memref) {
    if (BlockArgument argument = findArgument(func, memref))
      written.insert(argument);
    else if (!memref.getDefiningOp() ||
             !hasEffect<MemoryEffects::Allocate>(memref.getDefiningOp(),
                                                 memref))
      writesAll = true;
  }

  void visit(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return visitCall(call);
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
          !op->hasTrait<OpTrait::IsTerminator>() && op != func)
        for (Value operand : op->getOperands())
          if (isa<BaseMemRefType>(operand.getType()))
            addWritten(operand);
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> all;
    effects.getEffects(all);
    for (const MemoryEffects::EffectInstance &effect : all) {
      if (!isa<MemoryEffects::Write>(effect.getEffect()))
        continue;
      begun = true;
      if (effect.getValue())
        addWritten(effect.getValue());
      else if (effect.getResource() == SideEffects::DefaultResource::get())
        writesAll = true;
    }
  }

  void visitCall(func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || !callee->hasAttr(coda_gpu::kKernelAttrName)) {
      begun = true;
      for (Value operand : call.getOperands())
        if (isa<BaseMemRefType>(operand.getType()))
          addWritten(operand);
      return;
    }
    launches.push_back({call, callee, !begun});
    begun = true;
    callee.walk([&](coda::TileOpInterface op) {
      for (OpOperand &output : op.getOutputsMutable()) {
        if (BlockArgument argument = findArgument(callee, output.get()))
          addWritten(call.getOperand(argument.getArgNumber()));
        else
          writesAll = true;
      }
    });
  }

  func::FuncOp func;
  SymbolTableCollection &symbols;
  SmallVector<Launch> launches;
  llvm::DenseSet<BlockArgument> written;
  bool writesAll = false, begun = false;
};

struct GPUMarkUnwritten
    : public coda_gpu::impl::GPUMarkUnwrittenBase<GPUMarkUnwritten> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    // By kernel: whether a kernel may run before it, and arguments that no call
    // writes.
    struct Arguments {
      bool mayOverlap = false;
      llvm::BitVector unwritten;
    };
    llvm::MapVector<func::FuncOp, Arguments> kernels;
    for (func::FuncOp func : module.getOps<func::FuncOp>()) {
      if (func->hasAttr(coda_gpu::kKernelAttrName) || func.isExternal())
        continue;
      // Of a function that others call the arguments may be anything.
      bool isEntry = func.isPublic() && SymbolTable::symbolKnownUseEmpty(
                                            func, module);
      Entry entry(func, symbols);
      for (Entry::Launch launch : entry.getLaunches()) {
        Arguments &arguments = kernels[launch.kernel];
        unsigned count = launch.kernel.getNumArguments();
        arguments.unwritten.resize(count, true);
        arguments.mayOverlap |= !launch.isFirst;
        for (auto [i, operand] : llvm::enumerate(launch.call.getOperands()))
          if (!isEntry || !isa<MemRefType>(operand.getType()) ||
              entry.mayWrite(operand))
            arguments.unwritten.reset(i);
      }
    }
    for (auto &[kernel, arguments] : kernels) {
      // A kernel that is public is launched by others, too.
      if (!arguments.mayOverlap || !kernel.isPrivate())
        continue;
      for (unsigned i : arguments.unwritten.set_bits()) {
        kernel.setArgAttr(i, coda_gpu::kUnwrittenAttrName,
                          UnitAttr::get(&getContext()));
        ++numMarked;
      }
    }
  }
};

} // namespace
