//===- Raise.cpp - coda-raise -------------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
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

/// Elementwise ops, and sums of vectors and matrices: where a pattern may end.
static bool isCandidate(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() &&
         (op.getNumReductionLoops() == 0 || op.getNumLoops() <= 2);
}

/// Of an elementwise op whose results nothing reads, keeps the assertions only:
/// what they need is all that is read then.
static void keepAssertions(linalg::GenericOp op) {
  // The results give the loops their sizes; an op without any asserts only.
  if (op.getNumDpsInits() == 0 || op.getNumReductionLoops() != 0 ||
      !op->use_empty() || isRemovable(op) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return;
  llvm::SetVector<Operation *> needed;
  llvm::SetVector<Value> read;
  SmallVector<Operation *> worklist;
  Block *body = op.getBlock();
  for (Operation &inner : body->without_terminator())
    if (!isMemoryEffectFree(&inner))
      worklist.push_back(&inner);
  while (!worklist.empty()) {
    Operation *inner = worklist.pop_back_val();
    if (inner->getNumRegions() != 0)
      return;
    if (!needed.insert(inner))
      continue;
    for (Value operand : inner->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == body)
        worklist.push_back(def);
      else if (!def && operand.getParentBlock() == body)
        read.insert(operand);
    }
  }
  SmallVector<Value> inputs, inputArgs;
  SmallVector<AffineMap> maps;
  for (auto [operand, arg] :
       llvm::zip_equal(op.getDpsInputOperands(), op.getRegionInputArgs()))
    if (read.contains(arg)) {
      inputs.push_back(operand->get());
      inputArgs.push_back(arg);
      maps.push_back(op.getMatchingIndexingMap(operand));
    }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  OpBuilder b(op);
  linalg::GenericOp::create(
      b, op.getLoc(), op->getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        IRMapping mapping;
        mapping.map(inputArgs, args.take_front(inputArgs.size()));
        mapping.map(op.getRegionOutputArgs(),
                    args.drop_front(inputArgs.size()));
        for (Operation &inner : body->without_terminator())
          if (needed.contains(&inner))
            b.clone(inner, mapping);
        linalg::YieldOp::create(b, loc, args.drop_front(inputArgs.size()));
      });
  op->erase();
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
    RaiseContext context(graph, getAnalysis<DominanceInfo>(),
                         numerics == Numerics::Strict, all);
    SmallVector<OpResult> roots;
    function->walk([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op->getParentOp()))
        return;
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
          linalgOp ? !isCandidate(linalgOp)
                   : !isa<tensor::ConcatOp, tensor::InsertSliceOp,
                          tensor::CollapseShapeOp>(op))
        return;
      for (OpResult result : op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (type &&
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
    int64_t numRaised = 0;
    for (OpResult root : llvm::reverse(roots)) {
      if (dead.contains(root.getOwner()) || root.use_empty() ||
          !raise(context, root))
        continue;
      ++numRaised;
      dead = findDeadOps(function);
    }
    auto eraseDead = [&] {
      for (Operation *op : findDeadOps(function))
        op->erase();
    };
    eraseDead();
    // Assertions outlive the values that they were made for.
    if (numRaised != 0)
      function->walk([](linalg::GenericOp op) { keepAssertions(op); });
    eraseDead();
    markAnalysesPreserved<DominanceInfo>();
  }

private:
  /// Whether all uses of `root` have something else now.
  bool raise(RaiseContext &context, OpResult root) {
    Operation *op = root.getOwner();
    OpBuilder b(op);
    auto replace = [&](Value value, Statistic &statistic) {
      if (!value)
        return false;
      root.replaceAllUsesWith(value);
      ++statistic;
      return true;
    };
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp) {
      // Of the reshapes, only those that join pairs make a new last dim.
      if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
        if (collapse.getReassociationIndices().back().size() < 2 ||
            collapse.getSrcType().getShape().back() != 2)
          return false;
      return replace(raiseToRope(context, b, root), numRope);
    }
    // What others read in the type before the cast is raised there.
    if (isCast(linalgOp) && !linalgOp.getDpsInputs()[0].hasOneUse())
      return false;
    bool isMap = linalgOp.getNumReductionLoops() == 0 &&
                 cast<RankedTensorType>(root.getType()).getRank() != 0;
    if (isMap && replace(raiseToRmsNorm(context, b, root), numRmsNorm))
      return true;
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      if (std::optional<RaisedInBody> raised =
              raiseInBody(context, b, generic)) {
        numCrossEntropy += raised->numCrossEntropy;
        numSoftmax += raised->numSoftmax;
        return true;
      }
    return isMap && (replace(raiseToGlu(context, b, root), numGlu) ||
                     replace(raiseToRope(context, b, root), numRope));
  }
};
} // namespace
