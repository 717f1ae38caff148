//===- Fuse.cpp - coda-fuse ---------------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::coda {
#define GEN_PASS_DEF_FUSEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
class FusePass : public coda::impl::FusePassBase<FusePass> {
public:
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!isa<TileOpInterface>(block->getParentOp()))
        blocks.push_back(block);
    });
    // Splitting dims leaves reshapes of reshapes; composed, they may lead to a
    // producer again.
    bool changed = true;
    while (changed) {
      changed = false;
      composeReshapes();
      for (Block *block : blocks)
        while (joinOne(*block))
          changed = true;
    }
    for (Block *block : blocks)
      reportRefusals(*block);
  }

private:
  void composeReshapes() {
    RewritePatternSet patterns(&getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                         &getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
  /// Joins the first pair that can be; false if there is none.
  bool joinOne(Block &block);
  /// Carries out `plan`; false if it turns out not to apply.
  bool join(TileOpInterface consumer, unsigned input, JoinPlan &plan);
  bool splitProducer(TileOpInterface consumer, unsigned input);
  bool splitConsumer(TileOpInterface consumer, unsigned input);
  bool slice(TileOpInterface producer, Value value);
  void reportRefusals(Block &block);
};
} // namespace

bool FusePass::joinOne(Block &block) {
  for (Operation &op : block) {
    auto consumer = dyn_cast<TileOpInterface>(op);
    if (!consumer)
      continue;
    for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
      JoinPlan plan;
      Refusal refusal;
      if (failed(planJoin(consumer, i, plan, refusal)) || !plan.producer)
        continue;
      if (join(consumer, i, plan)) {
        // Merged ops stand where the consumer stood; readers of the producer
        // in between move behind them.
        sortTopologically(&block);
        return true;
      }
    }
  }
  return false;
}

bool FusePass::join(TileOpInterface consumer, unsigned input, JoinPlan &plan) {
  IRRewriter rewriter(&getContext());
  switch (plan.kind) {
  case JoinKind::Merge: {
    TileOpInterface merged = mergeTileOps(rewriter, plan.producer, consumer,
                                          {plan.consumerToProducer});
    if (!strict)
      dropRoundings(rewriter, merged);
    ++numFused;
    return true;
  }
  case JoinKind::Clone: {
    TileOpInterface producer = plan.producer;
    TileOpInterface result =
        cloneIntoReader(rewriter, producer, consumer, input);
    if (!strict)
      dropRoundings(rewriter, result);
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    ++numCloned;
    return true;
  }
  case JoinKind::Unroll:
    unrollDim(rewriter, plan.unrolled, plan.unrolledDim);
    return true;
  case JoinKind::SplitProducer:
    return splitProducer(consumer, input);
  case JoinKind::SplitConsumer:
    return splitConsumer(consumer, input);
  case JoinKind::Slice:
    return slice(plan.producer,
                 consumer.getInputs()[input]
                     .getDefiningOp<tensor::ExtractSliceOp>()
                     .getSource());
  }
  llvm_unreachable("all kinds handled");
}

bool FusePass::splitProducer(TileOpInterface consumer, unsigned input) {
  auto expand =
      consumer.getInputs()[input].getDefiningOp<tensor::ExpandShapeOp>();
  auto producer = expand.getSrc().getDefiningOp<TileOpInterface>();
  unsigned output = cast<OpResult>(expand.getSrc()).getResultNumber();
  DimSplit split;
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    auto &extents = split.emplace_back();
    for (int64_t d : group)
      extents.push_back(sizes[d]);
  }
  // Extents that are computed later than the producer runs cannot be used.
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      if (Operation *def = value.getDefiningOp())
        if (def->getBlock() == producer->getBlock() &&
            producer->isBeforeInBlock(def))
          return false;
  IRRewriter rewriter(&getContext());
  unsigned operand = producer->getNumOperands() -
                     producer.getOutputs().size() + output;
  TileOpInterface result = splitDims(rewriter, producer, operand, split);
  if (!result)
    return false;
  // The expansion of the collapsed result is the result.
  auto collapse = expand.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
  if (collapse && collapse.getSrcType() == expand.getResultType())
    rewriter.replaceOp(expand, collapse.getSrc());
  return true;
}

bool FusePass::splitConsumer(TileOpInterface consumer, unsigned input) {
  auto collapse =
      consumer.getInputs()[input].getDefiningOp<tensor::CollapseShapeOp>();
  IRRewriter rewriter(&getContext());
  rewriter.setInsertionPoint(consumer);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, collapse.getLoc(), collapse.getSrc());
  DimSplit split;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    auto &extents = split.emplace_back();
    for (int64_t d : group)
      extents.push_back(sizes[d]);
  }
  return static_cast<bool>(splitDims(
      rewriter, consumer, 2 * consumer.getNumProducts() + input, split));
}

bool FusePass::slice(TileOpInterface producer, Value value) {
  // Every reader is a slice of one dim (planJoin): one gemm for each.
  unsigned output = cast<OpResult>(value).getResultNumber();
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [o, result] : llvm::enumerate(producer->getResults()))
    if (o != output && !result.use_empty())
      return false;
  IRRewriter rewriter(&getContext());
  rewriter.setInsertionPoint(producer);
  int64_t total = 0;
  struct Part {
    tensor::ExtractSliceOp slice;
    unsigned dim;
    int64_t offset, size;
  };
  SmallVector<Part> parts;
  for (Operation *reader : value.getUsers()) {
    auto part = cast<tensor::ExtractSliceOp>(reader);
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (part.getStaticSizes()[d] != type.getDimSize(d) &&
          !ShapedType::isDynamic(part.getStaticSizes()[d])) {
        parts.push_back({part, producer.getOutputMap(output).getDimPosition(d),
                         part.getStaticOffsets()[d],
                         part.getStaticSizes()[d]});
        total += part.getStaticSizes()[d];
      }
  }
  // Overlapping slices would compute columns twice; a row's slice leaves the
  // weight whole.
  for (const Part &part : parts)
    if (producer.getDimKind(part.dim) != DimKind::n ||
        total > producer.getStaticExtents()[part.dim])
      return false;
  for (const Part &part : parts) {
    TileOpInterface gemm = sliceTileOp(rewriter, producer, part.dim,
                                       part.offset, part.size);
    rewriter.replaceOp(part.slice, gemm->getResult(output));
  }
  rewriter.eraseOp(producer);
  return true;
}

void FusePass::reportRefusals(Block &block) {
  for (Operation &op : block) {
    auto consumer = dyn_cast<TileOpInterface>(op);
    if (!consumer)
      continue;
    for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
      JoinPlan plan;
      Refusal refusal;
      // A gemm that loads what an earlier one stored reads it from memory by
      // design; only a map that stays alone is worth a remark.
      if (consumer.getNumProducts() ||
          succeeded(planJoin(consumer, i, plan, refusal)))
        continue;
      emitRefusal(consumer, "coda-fuse", "not fused with the producer",
                  refusal);
      ++numRefused;
      break;
    }
  }
}
