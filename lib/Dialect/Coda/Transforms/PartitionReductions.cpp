//===- PartitionReductions.cpp - coda-partition-reductions --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_PARTITIONREDUCTIONSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// The extent of domain dim `dim` of `op`.
static OpFoldResult getExtent(RewriterBase &rewriter, TileOpInterface op,
                              unsigned dim) {
  AffineExpr index = rewriter.getAffineDimExpr(dim);
  unsigned operand = 0;
  while (!op.getMap(operand).getResultPosition(index))
    ++operand;
  return tensor::getMixedSize(rewriter, op->getLoc(), op->getOperand(operand),
                              *op.getMap(operand).getResultPosition(index));
}

/// `extent` divided by `granule`, rounded up.
static OpFoldResult getNumGranules(RewriterBase &rewriter, Location loc,
                                   OpFoldResult extent, int64_t granule) {
  if (granule == 1)
    return extent;
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return rewriter.getIndexAttr(llvm::divideCeil(*known, granule));
  Value points = cast<Value>(extent);
  Value size = arith::ConstantIndexOp::create(rewriter, loc, granule);
  return arith::CeilDivUIOp::create(rewriter, loc, points, size).getResult();
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
    if (granule >= 1 && rowGranule >= 1 && maxPartials >= 1 &&
        fewRowsGranule >= 0)
      return success();
    return emitError(UnknownLoc::get(context))
           << "coda-partition-reductions: granule, row-granule and max-partials "
              "must be positive, few-rows-granule must not be negative";
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Readers of partial sums are rebuilt, so ops are looked up anew; those
    // whose dims turn out not to be splittable stay as they are.
    llvm::SmallPtrSet<Operation *, 8> refused;
    SmallVector<TileOpInterface> ops;
    getOperation()->walk([&](TileOpInterface op) {
      if (!isa<BundleOp>(op->getParentOp()))
        ops.push_back(op);
    });
    SmallVector<TileOpInterface> all;
    for (TileOpInterface op : ops)
      llvm::append_range(all, separateOuterSums(rewriter, op));
    for (TileOpInterface op : all)
      reduceOneKindFirst(rewriter, op);
    while (true) {
      TileOpInterface next;
      getOperation()->walk([&](TileOpInterface op) {
        if (isa<BundleOp>(op->getParentOp()) || refused.contains(op) ||
            llvm::none_of(llvm::seq<unsigned>(0, op.getOutputs().size()),
                          [&](unsigned o) { return getCut(op, o); }))
          return WalkResult::advance();
        next = op;
        return WalkResult::interrupt();
      });
      if (!next)
        return;
      if (!partition(rewriter, next))
        refused.insert(next);
    }
  }

private:
  /// Gives the reductions of map `op` over columns that lie outside of ones that are
  /// kept, over heads say, a map of their own, of which those columns are the rows;
  /// returns it and what is left of `op`, or `op` alone. Rows outside of ones that are
  /// kept, sequences say, another map reduces after it.
  SmallVector<TileOpInterface> separateOuterSums(RewriterBase &rewriter,
                                                 TileOpInterface op);
  /// Makes reductions over rows and columns ones over columns, which a map then
  /// reduces over rows, or, where a column that is kept lies within one that is
  /// not, the other way round; replaces `op` if it has any.
  void reduceOneKindFirst(RewriterBase &rewriter, TileOpInterface op);
  /// Whether output `o` of `op` is a reduction that this pass may change.
  bool isCandidate(TileOpInterface op, unsigned o) {
    return op.getCombiner(o) && op.getFresh()[o] &&
           (!sumsOnly || isa<AddAttr>(op.getCombiner(o))) &&
           op->getNumResults() != 0;
  }
  /// Columns, or rows, of a partial reduction of `op` over dims of `kind`.
  int64_t getGranule(TileOpInterface op, DimKind kind);
  /// How the dims that a sum drops are cut into granules.
  struct Cut {
    /// Dims that number the granules, outer first, before any is split.
    SmallVector<unsigned> counting;
    /// The innermost of them may be split into granules and `inner` points.
    std::optional<unsigned> split;
    int64_t inner = 1;
    /// The points that it has are not, or not known to be, whole granules: it
    /// stays one dim, and its groups number the granules.
    bool isRagged = false;

    bool operator==(const Cut &other) const {
      return counting == other.counting && split == other.split &&
             inner == other.inner && isRagged == other.isRagged;
    }
  };
  /// The cut of output `o`; none if it is no sum over several granules of rows
  /// or of columns, or over a number of them that is not known.
  std::optional<Cut> getCut(TileOpInterface op, unsigned o);
  /// Makes the sums over one set of dims partial: replaces `op` and returns the
  /// new op; null, with nothing changed, if that cannot be.
  TileOpInterface partition(RewriterBase &rewriter, TileOpInterface op);
  void replaceReaders(RewriterBase &rewriter, Value sum, Value partials,
                      CombinerAttrInterface combiner);
};
} // namespace

/// A map that reduces the first `numReduced` dims of `value`: rows of columns, if
/// there are others.
static Value createReduction(RewriterBase &rewriter, Location loc, Value value,
                             unsigned numReduced,
                             CombinerAttrInterface combiner) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, value);
  unsigned rank = sizes.size();
  AffineMap load = rewriter.getMultiDimIdentityMap(rank);
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] = numReduced;
  spec.dims[static_cast<unsigned>(DimKind::n)] = rank - numReduced;
  spec.inputs = {value};
  spec.loadCombiners = {rewriter.getUnitAttr()};
  spec.outputs = {tensor::EmptyOp::create(
      rewriter, loc, ArrayRef(sizes).drop_front(numReduced),
      getElementTypeOrSelf(value))};
  spec.combiners = {combiner};
  spec.fresh = {true};
  spec.maps = {load, AffineMap::get(rank, 0,
                                    load.getResults().drop_front(numReduced),
                                    rewriter.getContext())};
  TileOpInterface map = createTileOp(rewriter, loc, spec);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&map.getBody().front());
  YieldOp::create(rewriter, loc, ValueRange{map.getBody().getArgument(0)});
  return map->getResult(0);
}

namespace {
/// A reduction of a map over columns outside of ones that it keeps, over heads say,
/// and perhaps over rows outside of ones that it keeps, over sequences.
struct OuterSum {
  SmallVector<unsigned> columns, rows;

  bool operator==(const OuterSum &other) const {
    return columns == other.columns && rows == other.rows;
  }
};
} // namespace

/// What a reduction of `op` to `map` drops, if that is such columns, and no rows but
/// such.
static OuterSum getOuterSum(TileOpInterface op, AffineMap map) {
  OuterSum sum;
  bool keepsInner = false, keepsRows = false;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d) {
    DimKind kind = op.getDimKind(d);
    bool isKept = map.isFunctionOfDim(d);
    if (kind == DimKind::b && !isKept)
      return {};
    if (kind == DimKind::m) {
      keepsRows = isKept;
      if (!isKept)
        sum.rows.push_back(d);
    }
    if (kind != DimKind::n)
      continue;
    keepsInner |= isKept && !sum.columns.empty();
    if (!isKept)
      sum.columns.push_back(d);
  }
  // The last row dim is the innermost.
  if (!keepsInner || (!sum.rows.empty() && !keepsRows) ||
      !map.isProjectedPermutation())
    return {};
  return sum;
}

/// Has the reduction of `op` to `init` by `map` keep dims `later` too, as its first
/// ones, for a map to reduce them.
static void keepDims(RewriterBase &rewriter, TileOpInterface op,
                     ArrayRef<unsigned> later, AffineMap &map, Value &init) {
  SmallVector<AffineExpr> exprs;
  SmallVector<OpFoldResult> sizes;
  for (unsigned d : later) {
    exprs.push_back(rewriter.getAffineDimExpr(d));
    sizes.push_back(getExtent(rewriter, op, d));
  }
  llvm::append_range(exprs, map.getResults());
  llvm::append_range(sizes,
                     tensor::getMixedSizes(rewriter, op->getLoc(), init));
  map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  init = tensor::EmptyOp::create(rewriter, op->getLoc(), sizes,
                                 getElementTypeOrSelf(init));
}

/// Whether the region of `op` reduces groups over any of `dims`.
static bool reducesGroupsOver(TileOpInterface op, ArrayRef<unsigned> dims) {
  return llvm::any_of(
      op.getBody().getOps<GroupReduceOp>(), [&](GroupReduceOp group) {
        return llvm::any_of(
            group.getOver().getAsRange<DimAttr>(), [&](DimAttr dim) {
              return llvm::is_contained(
                  dims, op.getDimPosition(dim.getKind(), dim.getIndex()));
            });
      });
}

SmallVector<TileOpInterface>
PartitionReductionsPass::separateOuterSums(RewriterBase &rewriter,
                                           TileOpInterface op) {
  if (sumsOnly || op.getNumProducts() != 0)
    return {op};
  SmallVector<OuterSum> outer;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    outer.emplace_back();
    if (isCandidate(op, o))
      outer.back() = getOuterSum(op, op.getOutputMap(o));
    if (reducesGroupsOver(op, outer.back().columns))
      outer.back() = {};
  }
  // Groups of outputs: those that are left, and those of each set of dims.
  SmallVector<OuterSum> kinds{{}};
  for (const OuterSum &sum : outer)
    if (!llvm::is_contained(kinds, sum))
      kinds.push_back(sum);
  if (kinds.size() == 1)
    return {op};
  SmallVector<TileOpInterface> made;
  SmallVector<Value> results(op->getNumResults());
  TileOpSpec whole(op);
  unsigned numInputs = whole.inputs.size();
  for (const OuterSum &kind : kinds) {
    ArrayRef<unsigned> rows = kind.columns;
    SmallVector<unsigned> outputs;
    for (unsigned o = 0; o < outer.size(); ++o)
      if (outer[o] == kind)
        outputs.push_back(o);
    if (outputs.empty())
      continue;
    TileOpSpec spec = whole;
    spec.maps.truncate(numInputs);
    spec.outputs.clear();
    spec.combiners.clear();
    spec.fresh.clear();
    rewriter.setInsertionPoint(op);
    for (unsigned o : outputs) {
      AffineMap map = whole.maps[numInputs + o];
      Value init = whole.outputs[o];
      if (!kind.rows.empty())
        keepDims(rewriter, op, kind.rows, map, init);
      spec.maps.push_back(map);
      spec.outputs.push_back(init);
      spec.combiners.push_back(whole.combiners[o]);
      spec.fresh.push_back(whole.fresh[o]);
    }
    if (!rows.empty()) {
      // What was rows, and the columns that are kept, are columns, in their order.
      SmallVector<unsigned> order;
      auto add = [&](llvm::function_ref<bool(unsigned)> isTaken) {
        for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
          if (isTaken(d))
            order.push_back(d);
      };
      auto isRow = [&](unsigned d) { return llvm::is_contained(rows, d); };
      auto has = [&](unsigned d, DimKind kind) {
        return op.getDimKind(d) == kind;
      };
      add([&](unsigned d) { return has(d, DimKind::b); });
      add(isRow);
      add([&](unsigned d) {
        return has(d, DimKind::m) || (has(d, DimKind::n) && !isRow(d));
      });
      add([&](unsigned d) {
        return !has(d, DimKind::b) && !has(d, DimKind::m) &&
               !has(d, DimKind::n);
      });
      reorderDims(spec, order);
      int32_t &m = spec.dims[static_cast<unsigned>(DimKind::m)];
      int32_t &n = spec.dims[static_cast<unsigned>(DimKind::n)];
      n += m - static_cast<int32_t>(rows.size());
      m = rows.size();
      made.push_back(recreate(rewriter, op, spec, outputs));
      renameDims(op, made.back(), order);
    } else {
      made.push_back(recreate(rewriter, op, spec, outputs));
    }
    rewriter.setInsertionPointAfter(made.back());
    for (auto [o, result] :
         llvm::zip_equal(outputs, made.back()->getResults()))
      results[o] = kind.rows.empty()
                       ? Value(result)
                       : createReduction(rewriter, op->getLoc(), result,
                                         kind.rows.size(), op.getCombiner(o));
  }
  rewriter.replaceOp(op, results);
  return made;
}

void PartitionReductionsPass::reduceOneKindFirst(RewriterBase &rewriter,
                                                 TileOpInterface op) {
  TileOpSpec spec(op);
  unsigned firstOutputMap = spec.maps.size() - spec.outputs.size();
  SmallVector<unsigned> numReduced(spec.outputs.size(), 0);
  SmallVector<CombinerAttrInterface> combiners(spec.outputs.size());
  rewriter.setInsertionPoint(op);
  for (unsigned o = 0; o < spec.outputs.size(); ++o) {
    AffineMap &map = spec.maps[firstOutputMap + o];
    SmallVector<unsigned> batch, rows, columns, outerRows;
    bool keepsInner = false;
    for (unsigned d = 0; d < op.getNumDomainDims(); ++d) {
      DimKind kind = op.getDimKind(d);
      if (map.isFunctionOfDim(d)) {
        keepsInner |= kind == DimKind::n && !columns.empty();
        if (kind == DimKind::m)
          outerRows = rows;
        continue;
      }
      if (kind == DimKind::b)
        batch.push_back(d);
      if (kind == DimKind::m)
        rows.push_back(d);
      if (kind == DimKind::n)
        columns.push_back(d);
    }
    // No tile has several of a batch. Columns with others in between are no run that
    // a tile reduces.
    SmallVector<unsigned> later = batch;
    if (!rows.empty() && !columns.empty())
      llvm::append_range(later, keepsInner ? columns : rows);
    // Nor has a tile of products the same row of each of several sequences. Of a map
    // loops reduce these as fast.
    for (unsigned d : outerRows)
      if (op.getNumProducts() != 0 && !llvm::is_contained(later, d))
        later.push_back(d);
    if (!isCandidate(op, o) || later.empty())
      continue;
    combiners[o] = op.getCombiner(o);
    numReduced[o] = later.size();
    Value init = spec.outputs[o];
    keepDims(rewriter, op, later, map, init);
    spec.outputs[o] = init;
    if (isFullMap(op, map)) {
      spec.combiners[o] = rewriter.getUnitAttr();
      spec.fresh[o] = false;
    }
  }
  if (llvm::all_of(numReduced, [](unsigned n) { return n == 0; }))
    return;
  TileOpInterface result = recreate(rewriter, op, spec);
  rewriter.setInsertionPointAfter(result);
  SmallVector<Value> values(result->getResults());
  for (auto [o, count] : llvm::enumerate(numReduced)) {
    if (!count)
      continue;
    values[o] = createReduction(rewriter, op->getLoc(), values[o], count,
                                combiners[o]);
  }
  rewriter.replaceOp(op, values);
}

/// What `few-rows-granule` counts: the fewest rows of a tile, those of one WGMMA,
/// and tiles that keep all multiprocessors busy.
static constexpr int64_t kLeastRows = 64, kTiles = 128;
/// Columns that a tile has at least where it sums each over its rows.
static constexpr int64_t kLeastSummedColumns = 32;

/// Whether `op` reduces columns over their rows.
static bool reducesColumns(TileOpInterface op) {
  for (unsigned o = 0; o < op.getOutputs().size(); ++o)
    for (unsigned d = 0; op.getCombiner(o) && d < op.getNumDomainDims(); ++d)
      if (op.getDimKind(d) == DimKind::m &&
          !op.getOutputMap(o).isFunctionOfDim(d))
        return true;
  return false;
}

/// Whether each point of dim `u` makes as many more columns of a tile: not of a gemm
/// that has no accumulators for them, but stores several values of each.
static bool multipliesColumns(TileOpInterface op, unsigned u) {
  if (op.getNumProducts() == 0)
    return true;
  for (unsigned product = 0; product < op.getNumProducts(); ++product)
    if (op.getRhsMap(product).isFunctionOfDim(u))
      return true;
  return false;
}

int64_t PartitionReductionsPass::getGranule(TileOpInterface op, DimKind kind) {
  if (kind == DimKind::m)
    return rowGranule;
  // Narrow tiles are for products, of columns that are one dim: what has heads say
  // fits few tiles as it is.
  if (fewRowsGranule == 0 || op.getNumProducts() == 0 ||
      op.getNumDims(DimKind::n) != 1)
    return granule;
  int64_t rows = 1, columns = 1;
  for (auto [d, extent] : llvm::enumerate(op.getStaticExtents())) {
    DimKind own = op.getDimKind(d);
    bool isRow = own == DimKind::m || own == DimKind::b;
    if (!isRow && own != DimKind::n)
      continue;
    if (ShapedType::isDynamic(extent))
      return granule;
    (isRow ? rows : columns) *= extent;
  }
  // Tiles of as many columns, and rows, but 64 at least.
  int64_t taken = granule, fewest = fewRowsGranule;
  if (reducesColumns(op))
    fewest = std::max(fewest, kLeastSummedColumns);
  auto hasFewTiles = [&] {
    int64_t tall = std::max(kLeastRows, taken);
    int64_t rowTiles = llvm::divideCeil(rows, tall);
    return rowTiles * columns < taken * kTiles;
  };
  while (taken > fewest && columns <= taken / 2 * maxPartials &&
         hasFewTiles())
    taken /= 2;
  return taken;
}

/// Whether all operands of `op` have rows `outer` and `outer` + 1 next to each other,
/// or neither, so that a tile may go over both as one.
static bool areOneRun(TileOpInterface op, unsigned outer) {
  unsigned inner = outer + 1;
  if (op.getDimKind(outer) != op.getDimKind(inner))
    return false;
  MLIRContext *context = op->getContext();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    std::optional<unsigned> first =
        op.getMap(i).getResultPosition(getAffineDimExpr(outer, context));
    std::optional<unsigned> second =
        op.getMap(i).getResultPosition(getAffineDimExpr(inner, context));
    if (first ? second != *first + 1 : second.has_value())
      return false;
  }
  return llvm::none_of(op.getBody().getOps<IndexOp>(), [&](IndexOp index) {
    unsigned d = op.getDimPosition(index.getDim().getKind(),
                                   index.getDim().getIndex());
    return d == outer || d == inner;
  });
}

std::optional<PartitionReductionsPass::Cut>
PartitionReductionsPass::getCut(TileOpInterface op, unsigned o) {
  if (!isCandidate(op, o))
    return std::nullopt;
  AffineMap map = op.getOutputMap(o);
  SmallVector<int64_t> extents = op.getStaticExtents();
  SmallVector<unsigned> dropped;
  int64_t covered = 1; // columns of a point of the other dims
  std::optional<DimKind> kind;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d) {
    DimKind own = op.getDimKind(d);
    if (map.isFunctionOfDim(d) || own == DimKind::k || own == DimKind::p)
      continue;
    if (own == DimKind::u) {
      covered *= multipliesColumns(op, d) ? extents[d] : 1;
      continue;
    }
    if (own == DimKind::b || (kind && *kind != own))
      return std::nullopt;
    kind = own;
    dropped.push_back(d);
  }
  if (dropped.empty())
    return std::nullopt;
  if (*kind == DimKind::m)
    covered = 1;
  // What covers no more than a granule of many rows is a partial sum already.
  int64_t columns = covered;
  bool areKnown = llvm::none_of(dropped, [&](unsigned d) {
    columns *= extents[d];
    return ShapedType::isDynamic(extents[d]);
  });
  // Rows of two dims that a tile can't go over as one are no group.
  auto beginsRun = [&](unsigned d) {
    return *kind == DimKind::m && d != dropped.back() && !areOneRun(op, d);
  };
  if (areKnown && columns <= this->granule &&
      llvm::none_of(dropped, beginsRun))
    return std::nullopt;
  int64_t granule = getGranule(op, *kind);
  Cut cut;
  for (unsigned d : llvm::reverse(dropped)) {
    int64_t extent = extents[d];
    bool isKnown = !ShapedType::isDynamic(extent);
    // Rows that a tile holds are no two groups.
    int64_t held = *kind == DimKind::m && cut.counting.empty() ? this->granule
                                                               : granule;
    if (beginsRun(d)) {
      cut.counting.insert(cut.counting.begin(), d);
      covered = granule;
      continue;
    }
    if (isKnown && covered * extent <= held) {
      covered *= extent;
      continue;
    }
    if (covered == 0)
      return std::nullopt;
    cut.counting.insert(cut.counting.begin(), d);
    if (covered == granule)
      continue;
    bool divides = granule % covered == 0;
    int64_t inner = divides ? granule / covered : 1;
    bool isWhole = divides && isKnown && extent % inner == 0;
    // A narrow granule would make a short run of columns, or rows, of what is one,
    // and tiles no larger.
    if (isWhole && ragged && granule < this->granule &&
        (*kind == DimKind::m ? covered == 1
                             : op.getNumDims(DimKind::n) == 1 &&
                                   extent > kMaxTileColumns))
      isWhole = false;
    if (!isWhole && !ragged)
      return std::nullopt;
    // Groups of columns count along the only dim of them. What a tile holds stays
    // whole.
    bool isNarrow = isKnown && d == dropped.front() &&
                    covered * extent <= kMaxTileColumns;
    if (!isWhole && *kind == DimKind::n &&
        (isNarrow || (divides && op.getNumDims(DimKind::n) != 1)))
      return std::nullopt;
    // The inner dims may make up a granule that has fewer rows, or columns: those
    // of a head of 96, say.
    if (isWhole || (divides && *kind == DimKind::n) || covered == 1) {
      cut.split = d;
      cut.inner = inner;
      cut.isRagged = !isWhole;
    }
    covered = granule;
  }
  if (cut.counting.empty())
    return std::nullopt;
  return cut;
}

TileOpInterface PartitionReductionsPass::partition(RewriterBase &rewriter,
                                                   TileOpInterface op) {
  std::optional<Cut> cut;
  SmallVector<unsigned> outputs;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    std::optional<Cut> own = getCut(op, o);
    if (!own || (cut && !(*cut == *own)))
      continue;
    cut = own;
    outputs.push_back(o);
  }
  if (!cut)
    return {};

  TileOpInterface whole = op;
  SmallVector<unsigned> counting = cut->counting;
  if (cut->split && !cut->isRagged) {
    unsigned operand = 0;
    while (!op.getMap(operand).getResultPosition(
        rewriter.getAffineDimExpr(*cut->split)))
      ++operand;
    rewriter.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op->getLoc(), op->getOperand(operand));
    int64_t extent = op.getStaticExtents()[*cut->split];
    DimSplit split;
    for (auto [r, size] : llvm::enumerate(sizes)) {
      if (op.getMap(operand).getResult(r) ==
          rewriter.getAffineDimExpr(*cut->split))
        split.push_back({rewriter.getIndexAttr(extent / cut->inner),
                         rewriter.getIndexAttr(cut->inner)});
      else
        split.push_back({size});
    }
    whole = splitDims(rewriter, op, operand, split);
    if (!whole)
      return {};
    // The new dim stands behind the one that was split, which now counts.
    for (unsigned &d : counting)
      d += d > *cut->split;
  }

  // The sums keep the dims that count granules, as their first ones.
  rewriter.setInsertionPoint(whole);
  TileOpSpec spec(whole);
  SmallVector<AffineExpr> granules;
  SmallVector<OpFoldResult> numGranules;
  for (unsigned d : counting) {
    int64_t points = cut->isRagged && d == *cut->split ? cut->inner : 1;
    granules.push_back(rewriter.getAffineDimExpr(d).floorDiv(points));
    numGranules.push_back(getNumGranules(rewriter, whole->getLoc(),
                                         getExtent(rewriter, whole, d),
                                         points));
  }
  unsigned firstOutputMap = spec.maps.size() - spec.outputs.size();
  for (unsigned o : outputs) {
    AffineMap &map = spec.maps[firstOutputMap + o];
    SmallVector<AffineExpr> exprs = granules;
    SmallVector<OpFoldResult> shape = numGranules;
    llvm::append_range(exprs, map.getResults());
    map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
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
    Value partials = result->getResult(o);
    if (counting.size() > 1) {
      // Readers number the granules by one dim.
      SmallVector<ReassociationIndices> groups(1);
      for (unsigned i = 0; i < counting.size(); ++i)
        groups[0].push_back(i);
      int64_t rank = cast<RankedTensorType>(partials.getType()).getRank();
      for (int64_t d = counting.size(); d < rank; ++d)
        groups.push_back({d});
      partials = tensor::CollapseShapeOp::create(rewriter, result->getLoc(),
                                                 partials, groups);
    }
    replaceReaders(rewriter, old, partials, whole.getCombiner(o));
    ++numPartitioned;
  }
  rewriter.eraseOp(whole);
  return result;
}

void PartitionReductionsPass::replaceReaders(RewriterBase &rewriter, Value sum,
                                             Value partials,
                                             CombinerAttrInterface combiner) {
  int64_t count = cast<RankedTensorType>(partials.getType()).getDimSize(0);
  auto combines = [&](TileOpInterface reader, unsigned input) {
    if (input >= reader.getInputs().size() || reader.getLoadCombiner(input))
      return false;
    bool areFew = !ShapedType::isDynamic(count) && count <= maxPartials;
    // Who loads each element once loses nothing by combining many.
    bool loadsOnce = reader.getNumProducts() == 0 &&
                     reader.getInputMap(input).getNumResults() ==
                         reader.getNumDomainDims() -
                             reader.getNumDims(DimKind::p);
    return areFew || loadsOnce;
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
  rewriter.setInsertionPointAfterValue(partials);
  Value finished =
      createFinisher(rewriter, sum.getLoc(), partials, combiner);
  rewriter.replaceAllUsesWith(sum, finished);
  ++numFinishers;
}
