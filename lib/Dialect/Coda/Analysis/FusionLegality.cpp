//===- FusionLegality.cpp - What may be commuted and merged -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"

#include "coda/Dialect/Coda/Analysis/SizeOrigin.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::coda;

bool coda::isMatrixProduct(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return failed(dims) || !dims->m.empty() || !dims->n.empty();
}

Value coda::getViewed(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

void coda::emitRefusal(Operation *op, StringRef pass, StringRef what,
                       const Refusal &refusal) {
  InFlightDiagnostic remark = op->emitRemark();
  remark << "[" << pass << "] " << what << ": "
         << stringifyFusionReason(refusal.reason);
  if (!refusal.detail.empty())
    remark << ": " << refusal.detail;
  if (refusal.culprit && refusal.culprit != op)
    remark.attachNote(refusal.culprit->getLoc()) << "because of this op";
}

LogicalResult coda::refuse(Refusal &refusal, FusionReason reason,
                           Operation *culprit, const Twine &detail) {
  refusal = {reason, culprit, detail.str()};
  return failure();
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalg::isaContractionOpInterface(linalgOp);
}

LogicalResult coda::canSinkScale(OpOperand &use, ArrayRef<int64_t> dims,
                                 const LegalityOptions &options,
                                 Refusal &refusal) {
  Operation *reader = use.getOwner();
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return refuse(refusal, FusionReason::OtherReader, reader,
                  "the normalised value leaves the block");
  auto transparent = dyn_cast<ScaleTransparentOpInterface>(reader);
  if (!transparent)
    return refuse(refusal,
                  isa<CallOpInterface>(reader) ? FusionReason::OpaqueCall
                                               : FusionReason::NonlinearReader,
                  reader,
                  "no scale moves through '" + reader->getName().getStringRef() +
                      "'");
  FusionReason reason = FusionReason::NonlinearReader;
  FailureOr<SmallVector<int64_t>> resultDims = transparent.getScaledResultDims(
      use, dims, !options.strict, reason);
  if (failed(resultDims))
    return refuse(refusal, reason, reader,
                  reason == FusionReason::ContractsScaledDim
                      ? "the scale varies along a contracted dim"
                      : "the reader is not linear in the value");
  if (isContraction(reader))
    return success();
  if (reader->getResult(0).use_empty())
    return refuse(refusal, FusionReason::OtherReader, reader,
                  "no contraction reads the value");
  for (OpOperand &next : reader->getResult(0).getUses())
    if (failed(canSinkScale(next, *resultDims, options, refusal)))
      return failure();
  return success();
}

LogicalResult coda::canDeferScale(RmsNormOp norm,
                                  const LegalityOptions &options,
                                  Refusal &refusal) {
  if (options.strict)
    return refuse(refusal, FusionReason::StrictRounding, norm,
                  "moving the scale changes what is rounded");
  Type type = getElementTypeOrSelf(norm.getType());
  if (isQuantizedFloat(type))
    return refuse(refusal, FusionReason::F16Range, norm,
                  "the unnormalised value may exceed the range of eight bits");
  if (type.isF16() && !options.allowF16Range)
    return refuse(refusal, FusionReason::F16Range, norm,
                  "the unnormalised value may exceed the range of f16; "
                  "allow-f16-range permits it");
  return success();
}

bool coda::isCast(Operation *op) {
  return isa<arith::ExtFOp>(op) ||
         (isa<arith::TruncFOp>(op) &&
          !isQuantizedFloat(op->getResult(0).getType()));
}

LogicalResult coda::checkRowStatistics(linalg::LinalgOp op, Refusal &refusal) {
  if (op.getNumReductionLoops() != 0 || op.getNumLoops() == 0)
    return success();
  // Scalars that are the same for a whole row, and those among them that come
  // from a statistic; `scaled`: a tile value times one of these.
  llvm::SmallPtrSet<Value, 16> row, statistic, scaled;
  auto isReduced = [](Value value) {
    auto reduction = value.getDefiningOp<linalg::LinalgOp>();
    return reduction && reduction.getNumReductionLoops() != 0;
  };
  // That of one row is a number, which the body reads.
  for (auto extract : op->getRegion(0).getOps<tensor::ExtractOp>())
    if (extract.getIndices().empty() && isReduced(extract.getTensor()))
      statistic.insert(extract);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (map.getNumResults() >= op.getNumLoops() ||
        map.isFunctionOfDim(op.getNumLoops() - 1))
      continue;
    Value argument = op.getMatchingBlockArgument(operand);
    row.insert(argument);
    if (isReduced(operand->get()))
      statistic.insert(argument);
  }
  if (statistic.empty())
    return success();
  for (Operation &inner : op->getRegion(0).front().without_terminator()) {
    auto isRow = [&](Value v) {
      return row.contains(v) || (v.getParentBlock() != inner.getBlock()) ||
             matchPattern(v, m_Constant());
    };
    bool readsStatistic = llvm::any_of(inner.getOperands(), [&](Value v) {
      return statistic.contains(v);
    });
    bool readsScaled = llvm::any_of(
        inner.getOperands(), [&](Value v) { return scaled.contains(v); });
    if (llvm::all_of(inner.getOperands(), isRow)) {
      row.insert(inner.result_begin(), inner.result_end());
      if (readsStatistic)
        statistic.insert(inner.result_begin(), inner.result_end());
      continue;
    }
    if (!readsStatistic && !readsScaled)
      continue;
    if (readsStatistic && isa<arith::AddFOp, arith::SubFOp>(inner))
      return refuse(refusal, FusionReason::LnCancellation, op,
                    "a row statistic is added or subtracted, as in a layer "
                    "norm: deferred behind a contraction it would cancel");
    bool linear = isCast(&inner) || isa<arith::NegFOp>(inner);
    if (isa<arith::MulFOp, arith::DivFOp>(inner))
      linear = !(scaled.contains(inner.getOperand(0)) &&
                 scaled.contains(inner.getOperand(1))) &&
               (isa<arith::MulFOp>(inner) ||
                !scaled.contains(inner.getOperand(1)));
    if (!linear)
      return refuse(refusal, FusionReason::NonlinearReader, op,
                    "between the row's scale and the contraction stands an op "
                    "that is not linear");
    scaled.insert(inner.result_begin(), inner.result_end());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

bool coda::dependsOn(Operation *op, Operation *ancestor,
                     function_ref<bool(OpOperand &)> isDirect) {
  Block *block = ancestor->getBlock();
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> worklist;
  auto push = [&](Value value) {
    Operation *def = value.getDefiningOp();
    // Only what lies between the two can lead from one to the other.
    if (def && def->getBlock() == block &&
        (def == ancestor || ancestor->isBeforeInBlock(def)))
      worklist.push_back(def);
  };
  for (OpOperand &operand : op->getOpOperands())
    if (!isDirect(operand))
      push(operand.get());
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (next == ancestor)
      return true;
    if (!seen.insert(next).second)
      continue;
    next->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        push(operand);
    });
  }
  return false;
}

/// Points of the u dims of `op` once `extent` more are multiplied in.
static bool fitsUnroll(TileOpInterface op, int64_t extent) {
  int64_t points = extent;
  SmallVector<int64_t> extents = op.getStaticExtents();
  for (unsigned i = 0; i < op.getNumDims(DimKind::u); ++i)
    points *= extents[op.getDimPosition(DimKind::u, i)];
  return points >= 2 && points <= 8;
}

/// Region arguments of `op` that are accumulators.
static int64_t getNumAccumulators(TileOpInterface op) {
  int64_t count = 0;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
    count += op.getAccArguments(a).size();
  return count;
}

/// Columns that a tile needs to hold a group over dims `dims` of `op` of each of
/// `accumulators` accumulators; kDynamic if an extent is not known.
static int64_t getGroupColumns(TileOpInterface op, ArrayRef<unsigned> dims,
                               int64_t accumulators) {
  SmallVector<int64_t> extents = op.getStaticExtents();
  int64_t columns = std::max<int64_t>(1, accumulators);
  for (unsigned d : dims) {
    if (ShapedType::isDynamic(extents[d]))
      return ShapedType::kDynamic;
    columns *= extents[d];
  }
  return columns;
}

/// The dims of `op` that `group` goes over.
static SmallVector<unsigned> getDims(TileOpInterface op, GroupReduceOp group) {
  SmallVector<unsigned> dims;
  for (DimAttr d : group.getOver().getAsRange<DimAttr>())
    dims.push_back(op.getDimPosition(d.getKind(), d.getIndex()));
  return dims;
}

/// Whether dim `dim` of `op` may become a u dim.
static LogicalResult canUnroll(TileOpInterface op, unsigned dim,
                               const LegalityOptions &options,
                               Refusal &refusal) {
  int64_t extent = op.getStaticExtents()[dim];
  if (ShapedType::isDynamic(extent) || !fitsUnroll(op, extent))
    return refuse(refusal, FusionReason::ResourceBound, op,
                  "the dim has too many points to be unrolled");
  if (op.getDimKind(dim) == DimKind::k || op.getDimKind(dim) == DimKind::p)
    return refuse(refusal, FusionReason::NoCommonSpace, op,
                  "a contracted dim cannot be unrolled");
  for (unsigned i = 0; i < op.getNumProducts(); ++i)
    if (op.getLhsMap(i).isFunctionOfDim(dim))
      return refuse(refusal, FusionReason::NoCommonSpace, op,
                    "a dim of the left factor cannot be unrolled");
  for (GroupReduceOp group : op.getBody().getOps<GroupReduceOp>()) {
    SmallVector<unsigned> over = getDims(op, group);
    bool isOver = llvm::is_contained(over, dim);
    if (isOver && options.strict)
      return refuse(refusal, FusionReason::StrictRounding, op,
                    "unrolled, a group's reduction would have another order");
    if (!isOver &&
        getGroupColumns(op, over, extent * getNumAccumulators(op)) >
            kMaxTileColumns)
      return refuse(refusal, FusionReason::ResourceBound, op,
                    "a tile does not hold a group of columns for each point of "
                    "the dim to be unrolled");
  }
  return success();
}

bool coda::isFullMap(TileOpInterface op, AffineMap map) {
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
    if (op.getDimKind(d) <= DimKind::n && !map.isFunctionOfDim(d))
      return false;
  return true;
}

/// The dim correspondence of a load of output `output` of the producer through
/// `loadMap`, tensor dim by tensor dim.
static void addCorrespondence(TileOpInterface producer, unsigned output,
                              AffineMap loadMap,
                              SmallVectorImpl<int> &consumerToProducer) {
  AffineMap storeMap = producer.getOutputMap(output);
  for (unsigned r = 0; r < loadMap.getNumResults(); ++r)
    consumerToProducer[loadMap.getDimPosition(r)] = storeMap.getDimPosition(r);
}

/// Whether a reader of reduction `output` of `producer` at the points that it is
/// of can have it in the tile: it is over the columns of a head, say, a run that a
/// tile of `accumulators` holds. The reader then has it as a group's. A whole row is
/// no group where others read its sum: they wait for no value that the sum is
/// needed for.
static LogicalResult canGroup(TileOpInterface producer, unsigned output,
                              int64_t accumulators, Refusal &refusal) {
  AffineMap map = producer.getOutputMap(output);
  SmallVector<unsigned> columns;
  bool keepsOuter = false, keepsInner = false, dropsOthers = false;
  for (unsigned d = 0; d < producer.getNumDomainDims(); ++d) {
    DimKind kind = producer.getDimKind(d);
    bool isColumn = kind == DimKind::n, isKept = map.isFunctionOfDim(d);
    dropsOthers |= !isKept && (kind == DimKind::b || kind == DimKind::m);
    if (isColumn && !isKept)
      columns.push_back(d);
    else if (isColumn)
      (columns.empty() ? keepsOuter : keepsInner) = true;
  }
  int64_t covered = getGroupColumns(producer, columns, accumulators);
  if (!dropsOthers && keepsOuter && ShapedType::isDynamic(covered))
    return refuse(refusal, FusionReason::DynamicGroup, producer,
                  "a sum goes over columns of which only a call shows the "
                  "number");
  if (dropsOthers || ShapedType::isDynamic(covered) || covered > kMaxTileColumns ||
      !producer.getFresh()[output] ||
      (!keepsOuter && !producer->getResult(output).hasOneUse()))
    return refuse(refusal, FusionReason::ProducerPartialSum, producer,
                  "a sum over the whole tile row is not known in the tile");
  if (keepsInner)
    return refuse(refusal, FusionReason::ProducerPartialSum, producer,
                  "the columns of a sum are no run of them");
  return success();
}

/// Two gemms can be one if they share a left factor and so its k loop; other
/// products of theirs have k loops of their own.
static LogicalResult canMergeProducts(TileOpInterface producer,
                                      TileOpInterface consumer, JoinPlan &plan,
                                      Refusal &refusal) {
  if (consumer.getNumProducts() == 0 || producer.getNumProducts() == 0)
    return success();
  constexpr unsigned kMaxAccumulators = 2;
  unsigned total = 0;
  for (TileOpInterface op : {producer, consumer}) {
    unsigned product = 0;
    for (int32_t size : op.getAccSizes()) {
      total += op.getUnrollFactor(op.getRhsMap(product));
      product += size;
    }
  }
  if (total > kMaxAccumulators)
    return refuse(refusal, FusionReason::ResourceBound, producer,
                  "the accumulators of both do not fit the registers");
  bool sharesAny = false;
  for (unsigned c = 0; c < consumer.getNumProducts(); ++c) {
    bool shared = false;
    for (unsigned p = 0; p < producer.getNumProducts() && !shared; ++p) {
      if (producer.getLhs()[p] != consumer.getLhs()[c])
        continue;
      AffineMap pMap = producer.getLhsMap(p), cMap = consumer.getLhsMap(c);
      SmallVector<int> dims(plan.consumerToProducer);
      bool agrees = true;
      for (unsigned r = 0; r < cMap.getNumResults() && agrees; ++r) {
        unsigned cDim = cMap.getDimPosition(r), pDim = pMap.getDimPosition(r);
        if (consumer.getDimKind(cDim) == DimKind::k)
          dims[cDim] = pDim;
        agrees = dims[cDim] == static_cast<int>(pDim) &&
                 consumer.getDimKind(cDim) == producer.getDimKind(pDim);
      }
      if (!agrees)
        continue;
      plan.consumerToProducer = dims;
      shared = true;
    }
    sharesAny |= shared;
  }
  if (!sharesAny)
    return refuse(refusal, FusionReason::ResourceBound, producer,
                  "the two gemms do not share their left factor");
  return success();
}

/// Plans the merge of two tile ops of which one loads a store of the other.
static LogicalResult planMerge(TileOpInterface producer, unsigned output,
                               TileOpInterface consumer, unsigned input,
                               const LegalityOptions &options, JoinPlan &plan,
                               Refusal &refusal) {
  AffineMap loadMap = consumer.getInputMap(input);
  plan.consumerToProducer.assign(consumer.getNumDomainDims(), -1);
  addCorrespondence(producer, output, loadMap, plan.consumerToProducer);
  int64_t accumulators =
      getNumAccumulators(producer) + getNumAccumulators(consumer);

  // Every other load of a result of the producer must be of the same points, that
  // of a reduction of points of the same group.
  for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
    if (consumer.getInputs()[i].getDefiningOp() != producer.getOperation())
      continue;
    unsigned o = cast<OpResult>(consumer.getInputs()[i]).getResultNumber();
    bool isReduction = static_cast<bool>(producer.getCombiner(o));
    if (isReduction && failed(canGroup(producer, o, accumulators, refusal)))
      return failure();
    SmallVector<int> other(consumer.getNumDomainDims(), -1);
    addCorrespondence(producer, o, consumer.getInputMap(i), other);
    bool agrees = true;
    for (auto [own, planned] : llvm::zip_equal(other, plan.consumerToProducer))
      agrees &= own == planned || (isReduction && own < 0);
    if (consumer.getLoadCombiner(i) || !agrees ||
        (!isReduction && !isFullMap(consumer, consumer.getInputMap(i))))
      return refuse(refusal, FusionReason::NonProjectedMap, consumer,
                    "two loads of the producer's values are at different "
                    "points");
  }

  // Kinds: a u dim on one side needs one on the other.
  for (auto [c, p] : llvm::enumerate(plan.consumerToProducer)) {
    if (p < 0)
      continue;
    bool cUnrolled = consumer.getDimKind(c) == DimKind::u;
    bool pUnrolled = producer.getDimKind(p) == DimKind::u;
    if (cUnrolled == pUnrolled)
      continue;
    plan.kind = JoinKind::Unroll;
    plan.unrolled = cUnrolled ? producer : consumer;
    plan.unrolledDim = cUnrolled ? p : c;
    return canUnroll(plan.unrolled, plan.unrolledDim, options, refusal);
  }
  // Dims that only the consumer has multiply its points.
  int64_t points = 1;
  SmallVector<int64_t> extents = consumer.getStaticExtents();
  for (auto [c, p] : llvm::enumerate(plan.consumerToProducer))
    if (p < 0 && consumer.getDimKind(c) == DimKind::u)
      points *= extents[c];
  if (points > 1 && !fitsUnroll(producer, points))
    return refuse(refusal, FusionReason::ResourceBound, consumer,
                  "the u dims of both have too many points");
  if (failed(canMergeProducts(producer, consumer, plan, refusal)))
    return failure();
  for (TileOpInterface op : {producer, consumer})
    for (GroupReduceOp group : op.getBody().getOps<GroupReduceOp>())
      if (getGroupColumns(op, getDims(op, group), accumulators) > kMaxTileColumns)
        return refuse(refusal, FusionReason::ResourceBound, op,
                      "a tile does not hold a group of columns of each "
                      "accumulator");
  // A map's dims take the kinds of the producer's; a gemm keeps its own.
  if (consumer.getNumProducts())
    for (auto [c, p] : llvm::enumerate(plan.consumerToProducer))
      if (p >= 0 && consumer.getDimKind(c) != producer.getDimKind(p))
        return refuse(refusal, FusionReason::NoCommonSpace, producer,
                      "rows of one are columns of the other");

  auto isDirect = [&](OpOperand &operand) {
    unsigned first = 2 * consumer.getNumProducts();
    unsigned i = operand.getOperandNumber();
    return i >= first && i < first + consumer.getInputs().size() &&
           operand.get().getDefiningOp() == producer.getOperation();
  };
  if (dependsOn(consumer, producer, isDirect))
    return refuse(refusal, FusionReason::WouldCreateCycle, consumer,
                  "the reader also needs what is computed from the producer "
                  "in between");
  plan.kind = JoinKind::Merge;
  return success();
}

/// Whether all that `producer` loads is one value a row or a column of
/// `consumer`, which reads its output `output` through `loadMap`: less than what
/// it stores.
static bool loadsVectorsOnly(TileOpInterface producer, unsigned output,
                             TileOpInterface consumer, AffineMap loadMap) {
  AffineMap storeMap = producer.getOutputMap(output);
  for (unsigned i = 0; i < producer.getInputs().size(); ++i) {
    bool variesWithRows = false, variesWithColumns = false;
    for (unsigned r = 0; r < loadMap.getNumResults(); ++r) {
      if (!producer.getInputMap(i).isFunctionOfDim(storeMap.getDimPosition(r)))
        continue;
      DimKind kind = consumer.getDimKind(loadMap.getDimPosition(r));
      variesWithRows |= kind == DimKind::m;
      variesWithColumns |= kind == DimKind::n || kind == DimKind::u;
    }
    if ((variesWithRows && variesWithColumns) || producer.getLoadCombiner(i))
      return false;
  }
  return true;
}

/// A map is copied where it costs a value per row or column, or is made of
/// such: loading these is cheaper than loading what they make.
static LogicalResult planClone(TileOpInterface producer, unsigned output,
                               TileOpInterface consumer, unsigned input,
                               JoinPlan &plan, Refusal &refusal) {
  for (unsigned o = 0; o < producer.getOutputs().size(); ++o)
    if (producer.getCombiner(o))
      return refuse(refusal, FusionReason::ProducerPartialSum, producer,
                    "a sum over the whole tile row is not known in the tile");
  AffineMap loadMap = consumer.getInputMap(input);
  auto dropsAll = [&](DimKind kind) {
    for (unsigned i = 0; i < consumer.getNumDims(kind); ++i)
      if (loadMap.isFunctionOfDim(consumer.getDimPosition(kind, i)))
        return false;
    return consumer.getNumDims(kind) != 0;
  };
  bool hasGroup = llvm::any_of(producer.getBody().front(),
                               llvm::IsaPred<GroupReduceOp>);
  if (producer.getNumProducts() || producer.getNumDims(DimKind::u) ||
      consumer.getUnrollFactor(loadMap) != 1 || hasGroup ||
      !(dropsAll(DimKind::m) || dropsAll(DimKind::n) ||
        loadsVectorsOnly(producer, output, consumer, loadMap)))
    return refuse(refusal, FusionReason::NoCommonSpace, producer,
                  "the reader broadcasts the value: computing it in the "
                  "reader would repeat the work");
  plan.kind = JoinKind::Clone;
  return success();
}

/// The part of a domain dim that `slice` takes of a result of a tile op.
struct DimPart {
  unsigned dim;
  int64_t offset, size;
};

/// The part that `slice` takes, if it cuts one dim at static places.
static FailureOr<DimPart> getPart(tensor::ExtractSliceOp slice,
                                  AffineMap storeMap) {
  auto type = slice.getSourceType();
  std::optional<DimPart> part;
  if (slice.getType().getRank() != type.getRank())
    return failure();
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (slice.getStaticStrides()[d] != 1)
      return failure();
    if (type.isDynamicDim(d)) {
      if (slice.getStaticOffsets()[d] != 0 ||
          !isSameSize(slice.getMixedSizes()[d], slice.getSource(), d))
        return failure();
      continue;
    }
    int64_t offset = slice.getStaticOffsets()[d];
    int64_t size = slice.getStaticSizes()[d];
    if (offset == 0 && size == type.getDimSize(d))
      continue;
    if (part || ShapedType::isDynamic(offset) || ShapedType::isDynamic(size))
      return failure();
    part = DimPart{storeMap.getDimPosition(d), offset, size};
  }
  if (!part)
    return failure();
  return *part;
}

/// What a slice takes: everything at point `offset` of dim `dim` of its source, which
/// has `extent` points.
struct DimPoint {
  unsigned dim;
  int64_t offset, extent;
};

/// The point that `slice` takes, if it drops its dim and takes all of the others.
static FailureOr<DimPoint> getPoint(tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.count() != 1)
    return failure();
  unsigned dim = dropped.find_first();
  int64_t extent = slice.getSourceType().getDimSize(dim);
  int64_t offset = slice.getStaticOffset(dim);
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(offset) ||
      extent == 1)
    return failure();
  for (unsigned d = 0; d < dropped.size(); ++d)
    if (d != dim && (slice.getStaticStride(d) != 1 ||
                     !isWholeDim(slice.getSource(), d,
                                 slice.getMixedOffsets()[d],
                                 slice.getMixedSizes()[d])))
      return failure();
  return DimPoint{dim, offset, extent};
}

/// The slice at a point that `value` is, or is a reshape of; null if there is none.
static tensor::ExtractSliceOp getPointSlice(Value value) {
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def)) {
    // A number has no dims beside which that of the points could stand.
    if (llvm::any_of(ValueRange{value, def->getOperand(0)}, [](Value v) {
          return cast<RankedTensorType>(v.getType()).getRank() == 0;
        }))
      return nullptr;
    def = def->getOperand(0).getDefiningOp();
  }
  auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(def);
  return slice && succeeded(getPoint(slice)) ? slice : nullptr;
}

/// Whether `x` and `y`, of slices, are neither reshaped, or both alike.
static bool areReshapedAlike(Value x, Value y) {
  Operation *xDef = x.getDefiningOp(), *yDef = y.getDefiningOp();
  if (xDef->getName() != yDef->getName() || x.getType() != y.getType())
    return false;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(xDef)) {
    auto other = cast<tensor::ExpandShapeOp>(yDef);
    // What one dim is split into is known, unless two of its extents are not.
    auto isKnown = [&](ArrayRef<int64_t> group) {
      return llvm::count_if(group, [&](int64_t d) {
               return expand.getResultType().isDynamicDim(d);
             }) < 2;
    };
    return expand.getReassociationIndices() == other.getReassociationIndices() &&
           (llvm::all_of(expand.getReassociationIndices(), isKnown) ||
            expand.getMixedOutputShape() == other.getMixedOutputShape());
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(xDef))
    return collapse.getReassociationIndices() ==
           cast<tensor::CollapseShapeOp>(yDef).getReassociationIndices();
  return true;
}

/// Plans that `consumer` loads the whole of what input `input` and others are
/// slices of, each at one point: as it reads every point, the two may be one op then
/// that knows what lies at all of them together.
static LogicalResult planPoints(TileOpInterface producer, unsigned output,
                                TileOpInterface consumer, unsigned input,
                                const LegalityOptions &options, JoinPlan &plan,
                                Refusal &refusal) {
  Value loaded = consumer.getInputs()[input];
  tensor::ExtractSliceOp slice = getPointSlice(loaded);
  DimPoint point = *getPoint(slice);
  if (producer->getBlock() != consumer->getBlock())
    return refuse(refusal, FusionReason::CrossesRegion, producer,
                  "the two are in different blocks");
  if (producer.getCombiner(output))
    return refuse(refusal, FusionReason::ReductionNotWhole, producer,
                  "a reduction goes over the columns to be cut");
  auto mixes = [](ArrayRef<int64_t> group, unsigned dim) {
    return group.front() < dim && dim <= group.back();
  };
  if (auto collapse = loaded.getDefiningOp<tensor::CollapseShapeOp>())
    for (ArrayRef<int64_t> group : collapse.getReassociationIndices())
      if (mixes(group, point.dim))
        return refuse(refusal, FusionReason::NonProjectedMap, slice,
                      "the reshapes between the two mix dims");
  // The dim of the producer that has the points.
  unsigned position = point.dim;
  if (auto collapse = slice.getSource().getDefiningOp<tensor::CollapseShapeOp>()) {
    ReassociationIndices group = collapse.getReassociationIndices()[point.dim];
    position = group.front();
    if (group.size() > 1)
      return refuse(refusal, FusionReason::NonProjectedMap, slice,
                    "the reshapes between the two mix dims");
  }
  unsigned dim = producer.getOutputMap(output).getDimPosition(position);
  DimKind kind = producer.getDimKind(dim);
  if (kind != DimKind::n && kind != DimKind::u)
    return refuse(refusal, FusionReason::OtherReader, slice,
                  "the result is not read through slices of its columns only");
  AffineMap map = consumer.getInputMap(input);
  if (consumer.getNumProducts() || consumer.getLoadCombiner(input) ||
      !isFullMap(consumer, map))
    return refuse(refusal, FusionReason::NoCommonSpace, consumer,
                  "a slice of the result is not read at each point once");

  std::set<int64_t> taken;
  llvm::SmallDenseSet<unsigned> inputs;
  for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
    Value value = consumer.getInputs()[i];
    tensor::ExtractSliceOp other = getPointSlice(value);
    if (!other || other.getSource() != slice.getSource() ||
        !areReshapedAlike(value, loaded) || consumer.getLoadCombiner(i) ||
        consumer.getInputMap(i) != map || getPoint(other)->dim != point.dim)
      continue;
    int64_t offset = getPoint(other)->offset;
    plan.points.push_back({i, offset});
    taken.insert(offset);
    inputs.insert(i);
  }
  if (static_cast<int64_t>(taken.size()) != point.extent)
    return refuse(refusal, FusionReason::OtherReader, slice,
                  "slices of the result that the op reads take " +
                      Twine(taken.size()) + " of the " + Twine(point.extent) +
                      " points of dim " + Twine(point.dim) +
                      "; only one that reads all of them is joined");
  if (!fitsUnroll(consumer, point.extent))
    return refuse(refusal, FusionReason::ResourceBound, consumer,
                  "the dim has too many points to be unrolled");
  if (kind == DimKind::n &&
      failed(canUnroll(producer, dim, options, refusal)))
    return failure();
  auto isDirect = [&](OpOperand &operand) {
    unsigned first = 2 * consumer.getNumProducts();
    unsigned i = operand.getOperandNumber();
    return i >= first && inputs.contains(i - first);
  };
  if (dependsOn(consumer, producer, isDirect))
    return refuse(refusal, FusionReason::WouldCreateCycle, consumer,
                  "the reader also needs what is computed from the producer "
                  "in between");
  plan.kind = JoinKind::Points;
  plan.pointDim = point.dim;
  return success();
}

/// Why no gemm is planned for what a reader takes of a result: its elements
/// have to lie next to each other.
static std::string explainReader(tensor::ExtractSliceOp slice) {
  if (slice)
    for (auto [dim, stride] : llvm::enumerate(slice.getStaticStrides()))
      if (stride != 1)
        return "a slice of the result has " +
               (ShapedType::isDynamic(stride)
                    ? std::string("a stride that is not known")
                    : "stride " + std::to_string(stride)) +
               " along dim " + std::to_string(dim) +
               "; only parts of the columns with stride 1 are cut";
  return "the result is not read through slices of its columns only";
}

/// Plans a gemm for each part of the columns that readers take: every reader
/// of every result takes a part of one n dim, and parts do not overlap, so that
/// no column is computed twice.
static LogicalResult planSlices(TileOpInterface producer, JoinPlan &plan,
                                Refusal &refusal) {
  for (unsigned o = 0; o < producer.getOutputs().size(); ++o) {
    if (producer.getCombiner(o))
      return refuse(refusal, FusionReason::ReductionNotWhole, producer,
                    "a reduction goes over the columns to be cut");
    for (Operation *reader : producer->getResult(o).getUsers()) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(reader);
      FailureOr<DimPart> part = failure();
      if (slice)
        part = getPart(slice, producer.getOutputMap(o));
      if (failed(part) || producer.getDimKind(part->dim) != DimKind::n ||
          (!plan.parts.empty() && plan.slicedDim != part->dim))
        return refuse(refusal, FusionReason::OtherReader, reader,
                      explainReader(slice));
      plan.slicedDim = part->dim;
      plan.parts.insert({part->offset, part->size});
    }
  }
  int64_t end = 0;
  for (auto [offset, size] : plan.parts) {
    if (offset < end)
      return refuse(refusal, FusionReason::OtherReader, producer,
                    "slices of the result overlap");
    end = offset + size;
  }
  for (Operation &inner : producer.getBody().front().without_terminator()) {
    auto index = dyn_cast<IndexOp>(inner);
    if (isa<GroupReduceOp>(inner) ||
        (index && producer.getDimPosition(index.getDim().getKind(),
                                          index.getDim().getIndex()) ==
                      plan.slicedDim))
      return refuse(refusal, FusionReason::NoCommonSpace, producer,
                    "the region uses the index of the columns to be cut");
  }
  return success();
}

LogicalResult coda::planJoin(TileOpInterface consumer, unsigned input,
                             const LegalityOptions &options, JoinPlan &plan,
                             Refusal &refusal) {
  plan = JoinPlan();
  Value value = consumer.getInputs()[input];
  // Views between the two, from the consumer's to the producer's.
  SmallVector<Operation *> views;
  Operation *def = value.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::ExtractSliceOp>(def)) {
    views.push_back(def);
    def = def->getOperand(0).getDefiningOp();
  }
  auto producer = dyn_cast_or_null<TileOpInterface>(def);
  if (!producer)
    return success();
  plan.producer = producer;
  for (TileOpInterface op : {producer, consumer})
    if (hasGroupIndex(op))
      return refuse(refusal, FusionReason::ReductionNotWhole, op,
                    "a reduction of it is cut into groups already");
  if (!views.empty()) {
    plan.view = views.back();
    // What stands between the slice and the producer is at most a collapse: the
    // producer's dims are split first for an expansion.
    if (tensor::ExtractSliceOp slice = getPointSlice(value);
        slice && (plan.view == slice ||
                  (slice.getSource().getDefiningOp() == plan.view &&
                   isa<tensor::CollapseShapeOp>(plan.view))))
      return planPoints(
          producer, cast<OpResult>(plan.view->getOperand(0)).getResultNumber(),
          consumer, input, options, plan, refusal);
    if (isa<tensor::ExtractSliceOp>(plan.view)) {
      plan.kind = JoinKind::Slice;
      return planSlices(producer, plan, refusal);
    }
    if (isa<tensor::ExpandShapeOp>(plan.view)) {
      plan.kind = JoinKind::SplitProducer;
      return success();
    }
    plan.kind = JoinKind::SplitConsumer;
    if (views.size() > 1)
      return refuse(refusal, FusionReason::NonProjectedMap, consumer,
                    "the reshapes between the two mix dims");
    return success();
  }
  unsigned output = cast<OpResult>(value).getResultNumber();
  if (producer->getBlock() != consumer->getBlock())
    return refuse(refusal, FusionReason::CrossesRegion, producer,
                  "the two are in different blocks");
  if (producer.getCombiner(output))
    return refuse(refusal, FusionReason::ProducerPartialSum, producer,
                  "a sum over the whole tile row is not known in the tile");
  if (consumer.getLoadCombiner(input) ||
      !isFullMap(consumer, consumer.getInputMap(input)))
    return planClone(producer, output, consumer, input, plan, refusal);
  Refusal notAbsorbed;
  if (succeeded(planAbsorb(producer, consumer, input, options, plan,
                           notAbsorbed)))
    return success();
  if (succeeded(planMerge(producer, output, consumer, input, options, plan,
                          refusal)))
    return success();
  if (notAbsorbed.culprit) {
    refusal = notAbsorbed;
    plan.kind = JoinKind::Absorb;
  }
  return failure();
}
