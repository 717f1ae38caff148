//===- Raise.cpp - coda-raise -------------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_RAISEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// Whether the op and all in its regions only compute values.
static bool isRemovable(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
    return false;
  WalkResult effects = op->walk([&](Operation *inner) {
    return isMemoryEffectFree(inner) ? WalkResult::advance()
                                     : WalkResult::interrupt();
  });
  return !effects.wasInterrupted();
}

/// Removable ops of `function` that nothing else reads, last first.
static llvm::SetVector<Operation *> findDeadOps(Operation *function) {
  llvm::SetVector<Operation *> dead;
  auto isDead = [&](Operation *op) {
    for (; op && op != function; op = op->getParentOp())
      if (dead.contains(op))
        return true;
    return false;
  };
  function->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op != function && !isa<linalg::LinalgOp>(op->getParentOp()) &&
        isRemovable(op) && llvm::all_of(op->getUsers(), isDead))
      dead.insert(op);
  });
  return dead;
}

static bool isElementwise(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0;
}

/// An elementwise op that only changes the type of one tensor.
static bool isCast(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 1 && !op.getBlock()->without_terminator().empty() &&
         llvm::all_of(op.getBlock()->without_terminator(), [](Operation &o) {
           return isa<arith::ExtFOp, arith::TruncFOp>(o);
         });
}

namespace {
class RaisePass : public coda::impl::RaisePassBase<RaisePass> {
public:
  using RaisePassBase::RaisePassBase;

  void runOnOperation() override {
    Operation *function = getOperation();
    ExpressionGraph graph(&getContext());
    RaiseContext context(graph, getAnalysis<DominanceInfo>(), strict);
    SmallVector<OpResult> roots;
    function->walk([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op->getParentOp()))
        return;
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
          linalgOp ? !isElementwise(linalgOp)
                   : !isa<tensor::ConcatOp, tensor::InsertSliceOp,
                          tensor::CollapseShapeOp>(op))
        return;
      for (OpResult result : op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (type && type.getRank() > 0 &&
            isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(
                type.getElementType()))
          roots.push_back(result);
      }
    });
    // Upstream values first: evaluation then never goes deep.
    for (OpResult root : roots)
      graph.evaluate(
          root, context.getDims(cast<RankedTensorType>(root.getType())
                                    .getShape()));
    // The last op of a pattern is the root of the whole of it.
    llvm::SetVector<Operation *> dead = findDeadOps(function);
    for (OpResult root : llvm::reverse(roots)) {
      if (dead.contains(root.getOwner()) || root.use_empty())
        continue;
      Value raised = raise(context, root);
      if (!raised)
        continue;
      root.replaceAllUsesWith(raised);
      dead = findDeadOps(function);
    }
    for (Operation *op : findDeadOps(function))
      op->erase();
    markAnalysesPreserved<DominanceInfo>();
  }

private:
  Value raise(RaiseContext &context, OpResult root) {
    Operation *op = root.getOwner();
    OpBuilder b(op);
    auto count = [](Value value, Statistic &statistic) {
      if (value)
        ++statistic;
      return value;
    };
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      // What others read in the type before the cast is raised there.
      if (isCast(linalgOp) && !linalgOp.getDpsInputs()[0].hasOneUse())
        return {};
      if (Value value = raiseToRmsNorm(context, b, root))
        return count(value, numRmsNorm);
      if (Value value = raiseToGlu(context, b, root))
        return count(value, numGlu);
      return count(raiseToRope(context, b, root), numRope);
    }
    // Of the reshapes, only those that join pairs make a new last dim.
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      if (collapse.getReassociationIndices().back().size() < 2 ||
          collapse.getSrcType().getShape().back() != 2)
        return {};
    return count(raiseToRope(context, b, root), numRope);
  }
};
} // namespace
