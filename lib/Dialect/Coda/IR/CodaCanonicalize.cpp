//===- CodaCanonicalize.cpp - Canonical forms of tile ops ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

TileOpInterface coda::rebuildTileOp(RewriterBase &rewriter, TileOpInterface op,
                                    ArrayRef<unsigned> inputs,
                                    ArrayRef<unsigned> outputs) {
  TileOpSpec spec(op), kept = spec;
  unsigned firstInput = 2 * op.getNumProducts();
  unsigned firstOutput = firstInput + op.getInputs().size();
  kept.inputs.clear();
  kept.loadCombiners.clear();
  kept.outputs.clear();
  kept.combiners.clear();
  kept.fresh.clear();
  kept.maps.resize(firstInput);
  for (unsigned i : inputs) {
    kept.inputs.push_back(spec.inputs[i]);
    kept.loadCombiners.push_back(spec.loadCombiners[i]);
    kept.maps.push_back(spec.maps[firstInput + i]);
  }
  for (unsigned o : outputs) {
    kept.outputs.push_back(spec.outputs[o]);
    kept.combiners.push_back(spec.combiners[o]);
    kept.fresh.push_back(spec.fresh[o]);
    kept.maps.push_back(spec.maps[firstOutput + o]);
  }
  llvm::SmallBitVector covered(kept.getNumDomainDims());
  for (AffineMap map : kept.maps)
    for (AffineExpr e : map.getResults())
      covered.set(cast<AffineDimExpr>(e).getPosition());
  if (!covered.all())
    return {};

  TileOpInterface result = createTileOp(rewriter, op->getLoc(), kept);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
    for (auto [from, to] :
         llvm::zip_equal(op.getAccArguments(a), result.getAccArguments(a)))
      mapping.map(from, to);
  for (auto [to, from] : llvm::enumerate(inputs))
    for (auto [fromArg, toArg] : llvm::zip_equal(
             op.getInputArguments(from), result.getInputArguments(to)))
      mapping.map(fromArg, toArg);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&result.getBody().front());
  SmallVector<Value> yielded;
  for (unsigned o : outputs)
    llvm::append_range(yielded, op.getYieldedValues(o));
  // Only what the kept outputs need: dropped arguments have no image.
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Value> worklist(yielded);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (def && needed.insert(def).second)
      llvm::append_range(worklist, def->getOperands());
  }
  for (Operation &inner : op.getBody().front().without_terminator())
    if (needed.contains(&inner))
      rewriter.clone(inner, mapping);
  for (Value &value : yielded)
    value = mapping.lookup(value);
  YieldOp::create(rewriter, op->getLoc(), yielded);
  return result;
}

namespace {
/// A reduction whose init is a fill with the combiner's identity is fresh: then
/// nothing has to be filled.
///   outs(add (fill 0)[m])  ->  outs(fresh add (tensor.empty)[m])
struct MarkFresh : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    SmallVector<bool> fresh(op.getFresh());
    SmallVector<std::pair<unsigned, linalg::FillOp>> fills;
    for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
      CombinerAttrInterface combiner = op.getCombiner(o);
      auto fill = op.getOutputs()[o].getDefiningOp<linalg::FillOp>();
      TypedAttr value;
      if (!combiner || !fill ||
          !matchPattern(fill.getInputs()[0], m_Constant(&value)))
        continue;
      auto type = dyn_cast<FloatType>(value.getType());
      if (!type || (!fresh[o] && combiner.getIdentity(type) != value))
        continue;
      fresh[o] = true;
      fills.emplace_back(o, fill);
    }
    if (fills.empty())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op->setAttr("fresh", rewriter.getDenseBoolArrayAttr(fresh));
      MutableOperandRange outputs = op.getOutputsMutable();
      for (auto [o, fill] : fills)
        outputs[o].set(fill.getOutputs()[0]);
    });
    return success();
  }
};

/// Outputs nobody reads and inputs no kept output needs are dropped; one output
/// stays.
struct DropUnused : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0)
      return failure();
    SmallVector<unsigned> outputs, inputs;
    for (unsigned o = 0; o < op.getOutputs().size(); ++o)
      if (!op->getResult(o).use_empty())
        outputs.push_back(o);
    if (outputs.empty())
      return failure(); // dead as a whole
    llvm::SmallPtrSet<Value, 32> live;
    SmallVector<Value> worklist;
    for (unsigned o : outputs)
      llvm::append_range(worklist, op.getYieldedValues(o));
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      if (live.insert(value).second && value.getDefiningOp())
        llvm::append_range(worklist, value.getDefiningOp()->getOperands());
    }
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (llvm::any_of(op.getInputArguments(i),
                       [&](BlockArgument a) { return live.contains(a); }))
        inputs.push_back(i);
    if (outputs.size() == op.getOutputs().size() &&
        inputs.size() == op.getInputs().size())
      return failure();
    TileOpInterface result = rebuildTileOp(rewriter, op, inputs, outputs);
    if (!result)
      return rewriter.notifyMatchFailure(op, "a dim would index no operand");
    for (auto [to, from] : llvm::enumerate(outputs))
      rewriter.replaceAllUsesWith(op->getResult(from), result->getResult(to));
    rewriter.eraseOp(op);
    return success();
  }
};

/// The same value loaded twice through one map is loaded once.
struct MergeLoads : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      for (unsigned j = 0; j < i; ++j) {
        if (op.getInputs()[i] != op.getInputs()[j] ||
            op.getInputMap(i) != op.getInputMap(j) ||
            op.getLoadCombiner(i) != op.getLoadCombiner(j) ||
            llvm::all_of(op.getInputArguments(i),
                         [](BlockArgument a) { return a.use_empty(); }))
          continue;
        for (auto [from, to] : llvm::zip_equal(op.getInputArguments(i),
                                               op.getInputArguments(j)))
          rewriter.replaceAllUsesWith(from, to);
        return success();
      }
    return failure();
  }
};
} // namespace

static void addTileOpPatterns(RewritePatternSet &patterns,
                              MLIRContext *context) {
  patterns.add<MarkFresh, DropUnused, MergeLoads>(context);
}

void GemmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  addTileOpPatterns(patterns, context);
}
void MapOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {
  // The patterns match the interface: gemm brings them for both ops.
}
