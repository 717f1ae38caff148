//===- PartitionReductions.cpp - coda-partition-reductions --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_PARTITIONREDUCTIONSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// A tile op like `op` with the operands and maps of `spec`; the region is
/// copied as it is.
static TileOpInterface recreate(RewriterBase &rewriter, TileOpInterface op,
                                const TileOpSpec &spec) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  TileOpInterface result = createTileOp(rewriter, op->getLoc(), spec);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(), result.getBody().getArguments());
  rewriter.setInsertionPointToEnd(&result.getBody().front());
  for (Operation &inner : op.getBody().front())
    rewriter.clone(inner, mapping);
  return result;
}

/// Loads input `input` of `reader` as the combination of the partials `partials`,
/// whose first dim numbers them.
static void loadPartials(RewriterBase &rewriter, TileOpInterface reader,
                         unsigned input, Value partials,
                         CombinerAttrInterface combiner) {
  TileOpSpec spec(reader);
  unsigned numDims = spec.getNumDomainDims(); // p dims come last
  ++spec.dims[static_cast<unsigned>(DimKind::p)];
  for (AffineMap &map : spec.maps)
    map = AffineMap::get(numDims + 1, 0, map.getResults(), map.getContext());
  AffineMap &map = spec.maps[spec.lhs.size() + spec.rhs.size() + input];
  SmallVector<AffineExpr> exprs{rewriter.getAffineDimExpr(numDims)};
  llvm::append_range(exprs, map.getResults());
  map = AffineMap::get(numDims + 1, 0, exprs, map.getContext());
  spec.inputs[input] = partials;
  spec.loadCombiners[input] = combiner;
  TileOpInterface result = recreate(rewriter, reader, spec);
  rewriter.replaceOp(reader, result->getResults());
}

/// A map that combines the partials.
static Value createFinisher(RewriterBase &rewriter, Location loc,
                            Value partials, CombinerAttrInterface combiner) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, partials);
  unsigned rank = sizes.size() - 1; // of the sum
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] = rank;
  spec.dims[static_cast<unsigned>(DimKind::p)] = 1;
  SmallVector<AffineExpr> load{rewriter.getAffineDimExpr(rank)}, store;
  for (unsigned d = 0; d < rank; ++d) {
    load.push_back(rewriter.getAffineDimExpr(d));
    store.push_back(rewriter.getAffineDimExpr(d));
  }
  spec.inputs = {partials};
  spec.loadCombiners = {combiner};
  spec.outputs = {tensor::EmptyOp::create(
      rewriter, loc, ArrayRef<OpFoldResult>(sizes).drop_front(),
      getElementTypeOrSelf(partials))};
  spec.combiners = {rewriter.getUnitAttr()};
  spec.fresh = {false};
  MLIRContext *context = rewriter.getContext();
  spec.maps = {AffineMap::get(rank + 1, 0, load, context),
               AffineMap::get(rank + 1, 0, store, context)};
  TileOpInterface map = createTileOp(rewriter, loc, spec);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&map.getBody().front());
  YieldOp::create(rewriter, loc, ValueRange{map.getBody().getArgument(0)});
  return map->getResult(0);
}

namespace {
class PartitionReductionsPass
    : public coda::impl::PartitionReductionsPassBase<PartitionReductionsPass> {
public:
  using PartitionReductionsPassBase::PartitionReductionsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (granule >= 1 && maxPartials >= 1)
      return success();
    return emitError(UnknownLoc::get(context))
           << "coda-partition-reductions: granule and max-partials must be "
              "positive";
  }

  void runOnOperation() override {
    // A reader of what was made partial is a new op: look anew each time.
    IRRewriter rewriter(&getContext());
    while (getOperation()
               ->walk([&](TileOpInterface op) {
                 if (isa<BundleOp>(op->getParentOp()) ||
                     !partition(rewriter, op))
                   return WalkResult::advance();
                 return WalkResult::interrupt();
               })
               .wasInterrupted()) {
    }
  }

private:
  /// The one dim of kind n or m that output `o` drops and that has several
  /// granules; none if it keeps to no such form.
  std::optional<unsigned> getPartitionedDim(TileOpInterface op, unsigned o);
  /// Makes the whole sums of `op` partial; whether it had any.
  bool partition(RewriterBase &rewriter, TileOpInterface op);
  void replaceReaders(RewriterBase &rewriter, Value sum, Value partials,
                      CombinerAttrInterface combiner);
};
} // namespace

std::optional<unsigned>
PartitionReductionsPass::getPartitionedDim(TileOpInterface op, unsigned o) {
  if (!op.getCombiner(o) || !op.getFresh()[o] ||
      op->getNumResults() == 0)
    return std::nullopt;
  AffineMap map = op.getOutputMap(o);
  std::optional<unsigned> dropped;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d) {
    if (map.isFunctionOfDim(d) || op.getDimKind(d) > DimKind::n)
      continue;
    if (dropped)
      return std::nullopt;
    dropped = d;
  }
  if (!dropped || op.getDimKind(*dropped) == DimKind::b)
    return std::nullopt;
  int64_t extent = op.getStaticExtents()[*dropped];
  if (ShapedType::isDynamic(extent) || extent <= granule ||
      extent % granule != 0)
    return std::nullopt;
  return dropped;
}

bool PartitionReductionsPass::partition(RewriterBase &rewriter,
                                        TileOpInterface op) {
  // All sums over one dim are partitioned together; a second dim would be a
  // second round.
  std::optional<unsigned> dim;
  SmallVector<unsigned> outputs;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    std::optional<unsigned> own = getPartitionedDim(op, o);
    if (!own || (dim && *dim != *own))
      continue;
    dim = own;
    outputs.push_back(o);
  }
  if (!dim)
    return false;

  unsigned operand = 0;
  while (!op.getMap(operand).isFunctionOfDim(*dim))
    ++operand;
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op->getLoc(), op->getOperand(operand));
  int64_t extent = op.getStaticExtents()[*dim];
  DimSplit split;
  for (auto [r, size] : llvm::enumerate(sizes)) {
    if (op.getMap(operand).getDimPosition(r) == *dim)
      split.push_back({rewriter.getIndexAttr(extent / granule),
                       rewriter.getIndexAttr(granule)});
    else
      split.push_back({size});
  }
  TileOpInterface whole = splitDims(rewriter, op, operand, split);
  if (!whole)
    return false;

  // Now *dim counts the granules: the sums keep it, as their first dim.
  rewriter.setInsertionPoint(whole);
  TileOpSpec spec(whole);
  unsigned firstOutputMap = spec.maps.size() - spec.outputs.size();
  for (unsigned o : outputs) {
    AffineMap &map = spec.maps[firstOutputMap + o];
    SmallVector<AffineExpr> exprs{rewriter.getAffineDimExpr(*dim)};
    llvm::append_range(exprs, map.getResults());
    map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
    SmallVector<OpFoldResult> shape{rewriter.getIndexAttr(extent / granule)};
    llvm::append_range(shape, tensor::getMixedSizes(rewriter, whole->getLoc(),
                                                    spec.outputs[o]));
    spec.outputs[o] = tensor::EmptyOp::create(
        rewriter, whole->getLoc(), shape,
        getElementTypeOrSelf(spec.outputs[o]));
  }
  TileOpInterface result = recreate(rewriter, whole, spec);
  for (auto [o, old] : llvm::enumerate(whole->getResults())) {
    if (!llvm::is_contained(outputs, o)) {
      rewriter.replaceAllUsesWith(old, result->getResult(o));
      continue;
    }
    rewriter.setInsertionPointAfter(result);
    replaceReaders(rewriter, old, result->getResult(o), whole.getCombiner(o));
    ++numPartitioned;
  }
  rewriter.eraseOp(whole);
  return true;
}

void PartitionReductionsPass::replaceReaders(RewriterBase &rewriter, Value sum,
                                             Value partials,
                                             CombinerAttrInterface combiner) {
  int64_t count = cast<RankedTensorType>(partials.getType()).getDimSize(0);
  auto combines = [&](TileOpInterface reader, unsigned input) {
    if (input >= reader.getInputs().size() || reader.getLoadCombiner(input))
      return false;
    // Who loads each element once loses nothing by combining many.
    bool loadsOnce = reader.getNumProducts() == 0 &&
                     reader.getInputMap(input).getNumResults() ==
                         reader.getNumDomainDims() -
                             reader.getNumDims(DimKind::p);
    return count <= maxPartials || loadsOnce;
  };
  // A reader is rebuilt for each of its loads, so uses are looked up anew.
  while (true) {
    OpOperand *load = nullptr;
    for (OpOperand &use : sum.getUses()) {
      auto reader = dyn_cast<TileOpInterface>(use.getOwner());
      if (reader && combines(reader, use.getOperandNumber() -
                                         2 * reader.getNumProducts())) {
        load = &use;
        break;
      }
    }
    if (!load)
      break;
    auto reader = cast<TileOpInterface>(load->getOwner());
    loadPartials(rewriter, reader,
                 load->getOperandNumber() - 2 * reader.getNumProducts(),
                 partials, combiner);
  }
  if (sum.use_empty())
    return;
  Value finished =
      createFinisher(rewriter, sum.getLoc(), partials, combiner);
  rewriter.replaceAllUsesWith(sum, finished);
  ++numFinishers;
}
