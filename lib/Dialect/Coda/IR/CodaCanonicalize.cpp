//===- CodaCanonicalize.cpp - Canonical forms of tile ops ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"

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
      if (OperandIndex index = *getOperandIndex(e); !index.isGroup())
        covered.set(index.dim);
  if (!covered.all())
    return {};
  // A dim of a group must stay static.
  llvm::SmallBitVector isStatic(kept.getNumDomainDims());
  SmallVector<Value> operands;
  for (ArrayRef<Value> group :
       {ArrayRef<Value>(kept.lhs), ArrayRef<Value>(kept.rhs),
        ArrayRef<Value>(kept.inputs), ArrayRef<Value>(kept.outputs)})
    llvm::append_range(operands, group);
  for (auto [operand, map] : llvm::zip_equal(operands, kept.maps))
    for (auto [e, size] :
         llvm::zip_equal(map.getResults(),
                         cast<ShapedType>(operand.getType()).getShape()))
      if (OperandIndex index = *getOperandIndex(e);
          !index.isGroup() && !ShapedType::isDynamic(size))
        isStatic.set(index.dim);
  for (auto group : op.getBody().getOps<GroupReduceOp>())
    for (DimAttr dim : group.getOver().getAsRange<DimAttr>())
      if (!isStatic.test(op.getDimPosition(dim.getKind(), dim.getIndex())))
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
  llvm::SmallPtrSet<Operation *, 32> needed =
      getNeededOps(yielded, [](Value) { return false; });
  for (Operation &inner : op.getBody().front().without_terminator())
    if (needed.contains(&inner))
      rewriter.clone(inner, mapping);
  for (Value &value : yielded)
    value = mapping.lookup(value);
  YieldOp::create(rewriter, op->getLoc(), yielded);
  return result;
}

namespace {
/// Inits that need not be filled:
///  - of a reduction, if it is filled with the combiner's identity: then the
///    reduction is fresh,
///        outs(add (fill 0)[m])  ->  outs(fresh add (tensor.empty)[m])
///  - of a store or a fresh reduction, whatever it is filled with.
struct MarkFresh : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    SmallVector<bool> fresh(op.getFresh());
    SmallVector<std::pair<unsigned, Value>> inits;
    if (auto bundle = dyn_cast<BundleOp>(op->getParentOp()))
      rewriter.setInsertionPoint(bundle);
    for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
      Value init = op.getOutputs()[o];
      auto type = dyn_cast<RankedTensorType>(init.getType());
      if (!type)
        continue;
      auto fill = init.getDefiningOp<linalg::FillOp>();
      DenseElementsAttr dense;
      TypedAttr value;
      if (fill)
        matchPattern(fill.getInputs()[0], m_Constant(&value));
      else if (!matchPattern(init, m_Constant(&dense)))
        continue;
      else if (dense.isSplat())
        value = dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
      CombinerAttrInterface combiner = op.getCombiner(o);
      if (combiner && !fresh[o]) {
        auto valueType =
            value ? dyn_cast<FloatType>(value.getType()) : FloatType();
        if (!valueType || combiner.getIdentity(valueType) != value)
          continue;
        fresh[o] = true;
      }
      inits.emplace_back(
          o, fill ? fill.getOutputs()[0]
                  : tensor::EmptyOp::create(rewriter, op->getLoc(),
                                            type.getShape(),
                                            type.getElementType(),
                                            type.getEncoding())
                        .getResult());
    }
    if (inits.empty())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op->setAttr("fresh", rewriter.getDenseBoolArrayAttr(fresh));
      MutableOperandRange outputs = op.getOutputsMutable();
      for (auto [o, init] : inits)
        outputs[o].set(init);
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
    if (!result && outputs.size() < op.getOutputs().size())
      // An input that is not read may give the extent of a dim.
      result = rebuildTileOp(
          rewriter, op,
          llvm::to_vector(llvm::seq<unsigned>(0, op.getInputs().size())),
          outputs);
    if (!result)
      return rewriter.notifyMatchFailure(op, "a dim would lose its extent");
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

/// Whether `value`, or a view of it, is returned.
bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
            isReturned(user->getResult(0)));
  });
}

/// Of two stores or fresh reductions of one value, through one map by one combiner,
/// the first serves the readers of both. A second store that is returned stays: it
/// would be a copy.
struct MergeOutputs : OpInterfaceRewritePattern<TileOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(TileOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0)
      return failure();
    for (unsigned o = 0; o < op.getOutputs().size(); ++o)
      for (unsigned p = 0; p < o; ++p) {
        bool isStore = !op.getCombiner(o);
        if (op.getCombiner(o) != op.getCombiner(p) ||
            (isStore ? isReturned(op->getResult(o))
                     : !op.getFresh()[o] || !op.getFresh()[p]) ||
            op.getOutputMap(o) != op.getOutputMap(p) ||
            op->getResult(o).getType() != op->getResult(p).getType() ||
            op.getYieldedValues(o) != op.getYieldedValues(p) ||
            op->getResult(o).use_empty())
          continue;
        rewriter.replaceAllUsesWith(op->getResult(o), op->getResult(p));
        return success();
      }
    return failure();
  }
};

/// Creates the bundle with the members of `op` that yields `yielded`; `op` keeps
/// an empty region.
static BundleOp rebuildBundle(PatternRewriter &rewriter, BundleOp op,
                       ValueRange yielded) {
  auto result = BundleOp::create(rewriter, op.getLoc(), TypeRange(yielded));
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Operation *yield = op.getBody().front().getTerminator();
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
  rewriter.inlineRegionBefore(op.getBody(), result.getBody(),
                              result.getBody().end());
  SmallVector<Operation *> members;
  for (Operation &member : result.getBody().front().without_terminator())
    members.push_back(&member);
  for (Operation *member : llvm::reverse(members))
    if (isOpTriviallyDead(member))
      rewriter.eraseOp(member);
  return result;
}

/// Results of a bundle that nobody reads are dropped, with the members that
/// give no other.
struct DropDeadBundleResults : OpRewritePattern<BundleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BundleOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> yielded, used;
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(),
                         op.getBody().front().getTerminator()->getOperands()))
      if (!result.use_empty()) {
        used.push_back(result);
        yielded.push_back(value);
      }
    if (used.empty() || used.size() == op.getNumResults())
      return failure(); // dead as a whole, or nothing to do
    BundleOp kept = rebuildBundle(rewriter, op, yielded);
    for (auto [from, to] : llvm::zip_equal(used, kept.getResults()))
      rewriter.replaceAllUsesWith(from, to);
    rewriter.eraseOp(op);
    return success();
  }
};

/// A cast of a member's result belongs after the bundle. (The tensor dialect
/// folds casts of the inits of any destination style op and casts its results
/// back where it stands, so this restores b1.)
struct HoistCastsOfBundle : OpRewritePattern<BundleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BundleOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> yielded;
    bool changed = false;
    for (Value value : op.getBody().front().getTerminator()->getOperands()) {
      auto cast = value.getDefiningOp<tensor::CastOp>();
      bool inside = cast && cast->getParentOp() == op;
      yielded.push_back(inside ? cast.getSource() : value);
      changed |= inside;
    }
    if (!changed)
      return failure();
    BundleOp result = rebuildBundle(rewriter, op, yielded);
    SmallVector<Value> values;
    for (auto [from, to] : llvm::zip_equal(op.getResults(), result.getResults()))
      values.push_back(from.getType() == to.getType()
                           ? Value(to)
                           : tensor::CastOp::create(rewriter, op.getLoc(),
                                                    from.getType(), to));
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// A bundle of one member is the member.
struct UnwrapBundle : OpRewritePattern<BundleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BundleOp op,
                                PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    if (!llvm::hasSingleElement(body.without_terminator()))
      return failure();
    SmallVector<Value> results(body.getTerminator()->getOperands());
    rewriter.moveOpBefore(&body.front(), op);
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void BundleOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DropDeadBundleResults, HoistCastsOfBundle, UnwrapBundle>(
      context);
}

static void addTileOpPatterns(RewritePatternSet &patterns,
                              MLIRContext *context) {
  patterns.add<MarkFresh, DropUnused, MergeLoads, MergeOutputs>(context);
}

void GemmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  addTileOpPatterns(patterns, context);
}
void MapOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {
  // The patterns match the interface: gemm brings them for both ops.
}
