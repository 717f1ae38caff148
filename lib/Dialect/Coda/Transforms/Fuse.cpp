//===- Fuse.cpp - coda-fuse ---------------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/Analysis/SizeOrigin.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::coda {
#define GEN_PASS_DEF_FUSEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
/// Two reshapes that one can replace: row-major order is all that a reshape
/// keeps, so where one reshape leads from the source to the result, it is the
/// same. Upstream composes nested ones only, which leaves unit dims in the way.
template <typename OuterOp, typename InnerOp>
struct ComposeReshapes : OpRewritePattern<OuterOp> {
  using OpRewritePattern<OuterOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(OuterOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().template getDefiningOp<InnerOp>();
    if (!inner)
      return failure();
    RankedTensorType from = inner.getSrcType(), to = op.getResultType();
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return failure();
    if (from == to) {
      rewriter.replaceOp(op, inner.getSrc());
      return success();
    }
    std::optional<SmallVector<ReassociationIndices>> groups =
        getReassociationIndicesForReshape(from, to);
    if (!groups)
      return failure();
    if (from.getRank() < to.getRank())
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, to, inner.getSrc(),
                                                         *groups);
    else
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
          op, to, inner.getSrc(), *groups);
    return success();
  }
};

/// An expansion of dims that were collapsed, some of extents that only a call shows:
/// each that is known to be as it was before is left alone, so that the rest is one
/// reshape, or reshapes fewer dims.
struct ComposeDynamicReshapes : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || op.getSrcType().hasStaticShape())
      return failure();
    Value source = collapse.getSrc();
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    SmallVector<ReassociationIndices> from, to;
    for (auto [g, group] : llvm::enumerate(collapse.getReassociationIndices()))
      match(source, group, sizes, op.getReassociationIndices()[g], from, to);
    if (from.size() == static_cast<size_t>(op.getSrcType().getRank()))
      return failure();
    if (llvm::any_of(from, [](auto &group) { return group.size() != 1; }))
      source = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), source,
                                               from);
    if (llvm::any_of(to, [](auto &group) { return group.size() != 1; }))
      source = tensor::ExpandShapeOp::create(
          rewriter, op.getLoc(), op.getResultType(), source, to, sizes);
    if (source.getType() != op.getResultType())
      return failure();
    rewriter.replaceOp(op, source);
    return success();
  }

private:
  /// Splits dims `own` of `source`, and dims `result` of extents `sizes` that they
  /// are reshaped to, into groups that correspond.
  static void match(Value source, ArrayRef<int64_t> own,
                    ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> result,
                    SmallVectorImpl<ReassociationIndices> &from,
                    SmallVectorImpl<ReassociationIndices> &to) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(source.getType()).getShape();
    auto extent = [&](int64_t d) {
      return getConstantIntValue(sizes[d]).value_or(ShapedType::kDynamic);
    };
    size_t first = from.size();
    while (own.size() > 1 && result.size() > 1) {
      unsigned i = 1, j = 1;
      if (!isSameSize(sizes[result.front()], source, own.front())) {
        int64_t before = shape[own.front()], after = extent(result.front());
        auto isKnown = [&] {
          return !ShapedType::isDynamic(before) && !ShapedType::isDynamic(after);
        };
        while (isKnown() && before != after) {
          bool ownIsLess = before < after;
          int64_t next = ShapedType::kDynamic;
          if (ownIsLess && i < own.size())
            next = shape[own[i++]];
          else if (!ownIsLess && j < result.size())
            next = extent(result[j++]);
          int64_t &product = ownIsLess ? before : after;
          product = ShapedType::isDynamic(next) ? next : product * next;
        }
        if (!isKnown())
          break;
      }
      // What is left on one side alone are ones.
      if (i == own.size() || j == result.size())
        break;
      from.emplace_back(own.take_front(i));
      to.emplace_back(result.take_front(j));
      own = own.drop_front(i);
      result = result.drop_front(j);
    }
    // Two that are left are the same, but where another is 0.
    if (from.size() > first && own.size() == 1 && result.size() == 1 &&
        !isSameSize(sizes[result.front()], source, own.front())) {
      llvm::append_range(from.back(), own);
      llvm::append_range(to.back(), result);
      return;
    }
    from.emplace_back(own);
    to.emplace_back(result);
  }
};

/// A result that is what the op loads, as is the cotangent of a product that is
/// stored as it is, is the loaded value: nothing has to copy it.
struct ForwardCopies : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (unsigned o = 0; o < op->getNumResults(); ++o)
      for (unsigned i = 0; i < op.getInputs().size(); ++i) {
        if (op->getResult(o).use_empty() || op.getCombiner(o) ||
            op.getLoadCombiner(i) ||
            op->getResult(o).getType() != op.getInputs()[i].getType() ||
            op.getOutputMap(o) != op.getInputMap(i) ||
            !llvm::equal(op.getYieldedValues(o), op.getInputArguments(i)))
          continue;
        rewriter.replaceAllUsesWith(op->getResult(o), op.getInputs()[i]);
        changed = true;
      }
    return success(changed);
  }
};

/// What is only added up over a batch is contracted over it.
struct ContractBatch : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    return success(contractBatch(rewriter, op) != nullptr);
  }
};

class FusePass : public coda::impl::FusePassBase<FusePass> {
public:
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    // Splitting dims leaves reshapes of reshapes; composed, they may lead to a
    // producer again. Merging leaves values that are loaded or computed twice,
    // which seem to have more readers than they have.
    bool changed = true;
    while (changed) {
      changed = false;
      simplify();
      // What is simplified may take blocks with it.
      SmallVector<Block *> blocks = getBlocks();
      for (Block *block : blocks)
        while (joinOne(*block))
          changed = true;
      // Only what found no producer to join joins a sibling.
      if (!changed)
        for (Block *block : blocks)
          changed |= joinSiblings(*block);
    }
    for (Block *block : getBlocks())
      reportRefusals(*block);
  }

private:
  LegalityOptions getOptions() const {
    LegalityOptions options;
    options.strict = numerics == Numerics::Strict;
    options.allowF16Range = allowF16Range;
    return options;
  }
  /// The blocks that tile ops may stand in.
  SmallVector<Block *> getBlocks() {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!isa<TileOpInterface>(block->getParentOp()))
        blocks.push_back(block);
    });
    return blocks;
  }
  void simplify() {
    RewritePatternSet patterns(&getContext());
    GemmOp::getCanonicalizationPatterns(patterns, &getContext());
    MapOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                         &getContext());
    // Raising takes tensors with a stride, too.
    populateStridedSlicePatterns(patterns);
    // An extent taken from a result would make its readers depend on it.
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    patterns
        .add<ForwardCopies, ComposeDynamicReshapes,
             ComposeReshapes<tensor::ExpandShapeOp, tensor::CollapseShapeOp>,
             ComposeReshapes<tensor::CollapseShapeOp, tensor::ExpandShapeOp>>(
            &getContext());
    // That takes a sum in another order.
    if (numerics != Numerics::Strict)
      patterns.add<ContractBatch>(&getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
  /// Joins the first pair that can be; false if there is none.
  bool joinOne(Block &block);
  /// Merges the first pair of ops, one a map, that read one value; false if
  /// there is none.
  bool joinSiblings(Block &block);
  /// Carries out `plan`; false if it turns out not to apply.
  bool join(TileOpInterface consumer, unsigned input, JoinPlan &plan);
  bool splitProducer(const JoinPlan &plan);
  bool splitConsumer(TileOpInterface consumer, unsigned input);
  bool splitSibling(const JoinPlan &plan);
  void takePoints(TileOpInterface consumer, const JoinPlan &plan);
  bool slice(const JoinPlan &plan);
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
      if (failed(planJoin(consumer, i, getOptions(), plan, refusal)) ||
          !plan.producer)
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

bool FusePass::joinSiblings(Block &block) {
  SmallVector<TileOpInterface> maps;
  for (Operation &op : block)
    if (auto tile = dyn_cast<TileOpInterface>(op))
      maps.push_back(tile);
  for (unsigned j = 0; j < maps.size(); ++j)
    for (unsigned i = 0; i < j; ++i) {
      JoinPlan plan;
      if (failed(planSiblings(maps[i], maps[j], plan)))
        continue;
      bool joined = plan.kind == JoinKind::SplitConsumer
                        ? splitSibling(plan)
                        : join(plan.consumer, 0, plan);
      if (!joined)
        continue;
      sortTopologically(&block);
      return true;
    }
  return false;
}

/// Multiplies the left factor of product `product` of `op`, the consumer of `plan` or
/// its producer, by `factors`, values of the regions of the two, in a map; what makes
/// the factor takes that in.
static void multiplyLeftFactor(RewriterBase &rewriter, TileOpInterface op,
                               unsigned product, TileOpInterface consumer,
                               const JoinPlan &plan,
                               ArrayRef<RowFactor> factors, bool isNegated) {
  Location loc = op->getLoc();
  Value factor = op.getLhs()[product];
  AffineMap factorMap = op.getLhsMap(product);
  rewriter.setInsertionPoint(consumer);
  TileOpSpec spec;
  // The map's dims: those of the factor, b and m before n, which k is here.
  SmallVector<unsigned> dims;
  for (AffineExpr e : factorMap.getResults())
    dims.push_back(cast<AffineDimExpr>(e).getPosition());
  llvm::sort(dims);
  SmallVector<AffineExpr> newDims(op.getNumDomainDims());
  for (auto [position, d] : llvm::enumerate(dims)) {
    DimKind kind = op.getDimKind(d);
    ++spec.dims[unsigned(kind == DimKind::k ? DimKind::n : kind)];
    newDims[d] = rewriter.getAffineDimExpr(position);
  }
  auto addLoad = [&](Value value, ArrayRef<AffineExpr> exprs) {
    spec.inputs.push_back(value);
    spec.loadCombiners.push_back(rewriter.getUnitAttr());
    spec.maps.push_back(
        AffineMap::get(dims.size(), 0, exprs, rewriter.getContext()));
  };
  SmallVector<AffineExpr> exprs;
  for (AffineExpr e : factorMap.getResults())
    exprs.push_back(newDims[cast<AffineDimExpr>(e).getPosition()]);
  addLoad(factor, exprs);

  SmallVector<Value> multipliers;
  for (const RowFactor &step : factors)
    multipliers.push_back(step.value);
  llvm::SmallPtrSet<Operation *, 32> needed =
      getNeededOps(multipliers, [](Value) { return false; });
  llvm::SmallPtrSet<Value, 8> read(multipliers.begin(), multipliers.end());
  for (Operation *inner : needed)
    read.insert_range(inner->getOperands());
  SmallVector<Value> loaded;
  for (TileOpInterface owner : {plan.producer, consumer})
    for (unsigned i = 0; i < owner.getInputs().size(); ++i) {
      Value argument = owner.getInputArguments(i).front();
      if (!read.contains(argument))
        continue;
      loaded.push_back(argument);
      SmallVector<AffineExpr> own;
      for (AffineExpr e : owner.getInputMap(i).getResults()) {
        unsigned d = cast<AffineDimExpr>(e).getPosition();
        own.push_back(newDims[owner == op ? d : plan.consumerToProducer[d]]);
      }
      addLoad(owner.getInputs()[i], own);
    }
  Type type = getElementTypeOrSelf(factor);
  spec.outputs = {tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, factor), type)};
  spec.combiners = {rewriter.getUnitAttr()};
  spec.fresh = {false};
  spec.maps.push_back(spec.maps.front());

  TileOpInterface map = createTileOp(rewriter, loc, spec);
  ArrayRef<BlockArgument> arguments = map.getBody().getArguments();
  IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(loaded, arguments.drop_front()))
    mapping.map(from, to);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&map.getBody().front());
  for (TileOpInterface owner : {plan.producer, consumer})
    for (Operation &inner : owner.getBody().front())
      if (needed.contains(&inner))
        rewriter.clone(inner, mapping);
  Value value = arguments.front();
  for (const RowFactor &step : factors) {
    value = convertFloat(rewriter, loc, value, step.value.getType());
    Value by = mapping.lookup(step.value);
    value = step.divides
                ? arith::DivFOp::create(rewriter, loc, value, by).getResult()
                : arith::MulFOp::create(rewriter, loc, value, by).getResult();
  }
  if (isNegated)
    value = arith::NegFOp::create(rewriter, loc, value);
  YieldOp::create(rewriter, loc, convertFloat(rewriter, loc, value, type));
  rewriter.modifyOpInPlace(
      op, [&] { op->setOperand(product, map->getResult(0)); });
}

bool FusePass::join(TileOpInterface consumer, unsigned input, JoinPlan &plan) {
  IRRewriter rewriter(&getContext());
  switch (plan.kind) {
  case JoinKind::Merge: {
    TileOpInterface merged = mergeTileOps(rewriter, plan.producer, consumer,
                                          {plan.consumerToProducer});
    if (numerics != Numerics::Strict && !keepRoundings)
      dropRoundings(rewriter, merged);
    ++numFused;
    return true;
  }
  case JoinKind::Clone: {
    TileOpInterface producer = plan.producer;
    TileOpInterface result =
        cloneIntoReader(rewriter, producer, consumer, input);
    if (numerics != Numerics::Strict && !keepRoundings)
      dropRoundings(rewriter, result);
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    ++numCloned;
    return true;
  }
  case JoinKind::Absorb:
    if (!plan.factors.empty() || plan.isNegated)
      multiplyLeftFactor(rewriter, plan.producer, 0, consumer, plan, plan.factors,
                         plan.isNegated);
    if (!plan.ownFactors.empty()) {
      unsigned product = 0;
      for (int32_t size : consumer.getAccSizes().take_front(plan.accumulator))
        product += size;
      multiplyLeftFactor(rewriter, consumer, product, consumer, plan,
                         plan.ownFactors, /*isNegated=*/false);
      for (const RowFactor &factor : plan.ownFactors)
        rewriter.replaceOp(factor.step,
                           factor.step->getOperand(
                               factor.step->getOperand(0) == factor.value));
    }
    absorbProducts(rewriter, plan.producer, consumer, input,
                   {plan.consumerToProducer}, plan.accumulator);
    ++numAbsorbed;
    return true;
  case JoinKind::Unroll:
    unrollDim(rewriter, plan.unrolled, plan.unrolledDim);
    return true;
  case JoinKind::SplitProducer:
    return splitProducer(plan);
  case JoinKind::SplitConsumer:
    return splitConsumer(consumer, input);
  case JoinKind::Points:
    takePoints(consumer, plan);
    return true;
  case JoinKind::Slice:
    return slice(plan);
  }
  llvm_unreachable("all kinds handled");
}

/// The extents into which a reshape splits the dims of its smaller side.
static DimSplit getSplit(ArrayRef<ReassociationIndices> groups,
                         ArrayRef<OpFoldResult> sizes) {
  DimSplit split;
  for (const ReassociationIndices &group : groups) {
    auto &extents = split.emplace_back();
    for (int64_t d : group)
      extents.push_back(sizes[d]);
  }
  return split;
}

bool FusePass::splitProducer(const JoinPlan &plan) {
  auto expand = cast<tensor::ExpandShapeOp>(plan.view);
  TileOpInterface producer = plan.producer;
  unsigned output = cast<OpResult>(expand.getSrc()).getResultNumber();
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  DimSplit split = getSplit(expand.getReassociationIndices(), sizes);
  // Extents that are computed later than the producer runs are computed before
  // it, if that can be.
  SmallVector<Value> extents;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      extents.push_back(value);
  IRRewriter rewriter(&getContext());
  if (failed(moveValueDefinitions(rewriter, extents, producer)))
    return false;
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
  DimSplit split = getSplit(collapse.getReassociationIndices(), sizes);
  return static_cast<bool>(splitDims(
      rewriter, consumer, 2 * consumer.getNumProducts() + input, split));
}

/// Splits the dims of a sibling as the other's are; they merge after that.
bool FusePass::splitSibling(const JoinPlan &plan) {
  auto expand = cast<tensor::ExpandShapeOp>(plan.view);
  TileOpInterface sibling = plan.consumer;
  IRRewriter rewriter(&getContext());
  return static_cast<bool>(splitDims(
      rewriter, sibling, 2 * sibling.getNumProducts() + plan.input,
      getSplit(expand.getReassociationIndices(),
               expand.getMixedOutputShape())));
}

/// `view`, a reshape of a value that lacks dim `dim` of `whole`, of `whole`; `dim` is
/// where the dim stands then.
static Value reshapeWhole(RewriterBase &rewriter, Operation *view, Value whole,
                          unsigned &dim) {
  Location loc = view->getLoc();
  auto expand = dyn_cast<tensor::ExpandShapeOp>(view);
  auto type = cast<RankedTensorType>(view->getResult(0).getType());
  SmallVector<ReassociationIndices> groups =
      expand ? expand.getReassociationIndices()
             : cast<tensor::CollapseShapeOp>(view).getReassociationIndices();
  // The groups before the dim, and what they have of the side with more dims.
  unsigned before = 0, dims = 0;
  while (before < groups.size() && (expand ? before : dims) < dim)
    dims += groups[before++].size();
  for (ReassociationIndices &group : MutableArrayRef(groups).drop_front(before))
    for (int64_t &d : group)
      ++d;
  groups.insert(groups.begin() + before, ReassociationIndices{dims});
  int64_t extent = cast<RankedTensorType>(whole.getType()).getDimSize(dim);
  dim = expand ? dims : before;
  if (!expand)
    return tensor::CollapseShapeOp::create(rewriter, loc, whole, groups);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + dim, extent);
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  sizes.insert(sizes.begin() + dim, rewriter.getIndexAttr(extent));
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()), whole,
      groups, sizes);
}

/// Makes the consumer load what its inputs are slices of, or reshapes of slices.
void FusePass::takePoints(TileOpInterface consumer, const JoinPlan &plan) {
  IRRewriter rewriter(&getContext());
  rewriter.setInsertionPoint(consumer);
  Operation *view =
      consumer.getInputs()[plan.points.front().first].getDefiningOp();
  auto slice = dyn_cast<tensor::ExtractSliceOp>(view);
  Value whole = slice ? slice.getSource()
                      : view->getOperand(0)
                            .getDefiningOp<tensor::ExtractSliceOp>()
                            .getSource();
  unsigned dim = plan.pointDim;
  if (!slice)
    whole = reshapeWhole(rewriter, view, whole, dim);
  loadPoints(rewriter, consumer, whole, dim, plan.points);
}

bool FusePass::slice(const JoinPlan &plan) {
  IRRewriter rewriter(&getContext());
  TileOpInterface producer = plan.producer;
  rewriter.setInsertionPoint(producer);
  for (auto [offset, size] : plan.parts) {
    TileOpInterface part =
        sliceTileOp(rewriter, producer, plan.slicedDim, offset, size);
    for (auto [o, result] : llvm::enumerate(producer->getResults())) {
      unsigned r = *producer.getOutputMap(o).getResultPosition(
          rewriter.getAffineDimExpr(plan.slicedDim));
      for (Operation *reader : llvm::make_early_inc_range(result.getUsers())) {
        auto taken = cast<tensor::ExtractSliceOp>(reader);
        if (taken.getStaticOffsets()[r] == offset &&
            taken.getStaticSizes()[r] == size)
          rewriter.replaceOp(taken, part->getResult(o));
      }
    }
  }
  rewriter.eraseOp(producer);
  return true;
}

void FusePass::reportRefusals(Block &block) {
  for (Operation &op : block) {
    auto consumer = dyn_cast<TileOpInterface>(op);
    if (!consumer)
      continue;
    // Of several producers the last is the one that it could be a part of.
    std::optional<Refusal> last;
    Operation *lastProducer = nullptr;
    for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
      JoinPlan plan;
      Refusal refusal;
      if (succeeded(planJoin(consumer, i, getOptions(), plan, refusal)))
        continue;
      // A gemm that loads what an earlier one stored reads it from memory by
      // design, unless it adds it up only.
      if (consumer.getNumProducts()) {
        if (plan.kind == JoinKind::Absorb) {
          emitRefusal(consumer, "coda-fuse", "product not added to the accumulator",
                      refusal);
          ++numRefused;
        }
        continue;
      }
      Operation *producer = getViewed(consumer.getInputs()[i]).getDefiningOp();
      if (last && lastProducer && producer &&
          !(lastProducer->getBlock() == producer->getBlock() &&
            lastProducer->isBeforeInBlock(producer)))
        continue;
      last = refusal;
      lastProducer = producer;
    }
    if (!last)
      continue;
    emitRefusal(consumer, "coda-fuse", "not fused with the producer", *last);
    ++numRefused;
  }
}
