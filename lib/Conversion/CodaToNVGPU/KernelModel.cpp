//===- KernelModel.cpp - What the lowering knows of a kernel --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelModel.h"

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::coda;
using namespace mlir::coda_gpu;

int OperandModel::find(unsigned dim) const {
  auto it = llvm::find(dims, dim);
  int place = it - dims.begin();
  return it == dims.end() || granules[place] != 1 ? -1 : place;
}

int64_t OperandModel::getGranule(unsigned dim) const {
  auto it = llvm::find(dims, dim);
  return it == dims.end() ? 1 : granules[it - dims.begin()];
}

int64_t TileModel::getColumns() const {
  int64_t columns = dims[innerN].extent;
  for (unsigned d : outerN)
    columns = ShapedType::isDynamic(columns) ||
                      ShapedType::isDynamic(dims[d].extent)
                  ? ShapedType::kDynamic
                  : columns * dims[d].extent;
  return columns;
}

int64_t TileModel::getPrefetchedPerChunk() const {
  int64_t boxes = 0;
  for (const InputModel &input : inputs)
    if (input.path == LoadPath::Prefetched)
      boxes += input.getBoxes();
  return boxes;
}

int64_t TileModel::getStagingPerChunk() const {
  int64_t buffers = 0;
  for (const OutputModel &output : outputs)
    if (output.path == StorePath::Staged)
      buffers += output.getBoxes();
  return buffers;
}

int64_t TileModel::getNumColumnReductions() const {
  int64_t count = 0;
  for (const OutputModel &output : outputs)
    if (output.reduce == ReduceKind::Columns)
      count += output.points;
  return count;
}

SmallVector<int64_t> TileModel::uCoords(ArrayRef<unsigned> uDims,
                                        int64_t point) const {
  SmallVector<int64_t> coords(dims.size(), 0);
  for (unsigned d : llvm::reverse(uDims)) {
    coords[d] = point % dims[d].extent;
    point /= dims[d].extent;
  }
  return coords;
}

SmallVector<StagedBox> coda_gpu::getStagedBoxes(const TileModel &tile,
                                                ScheduleAttr schedule) {
  // Of few rows a thread has little to store.
  if (schedule.getSwap() && !schedule.getStaging() && !schedule.getInplace())
    return {};
  // Loaded boxes that a result may be written over, in order.
  SmallVector<std::pair<int64_t, int64_t>> free;
  if (schedule.getInplace() && getPrefetchedPerChunk(tile, schedule)) {
    int64_t box = 0;
    for (const InputModel &input : tile.inputs) {
      if (input.path != LoadPath::Prefetched)
        continue;
      // What repeats is read again.
      for (int64_t i = 0; i < input.getBoxes(); ++i, ++box)
        if (!input.repeats)
          free.push_back({box, input.element.getIntOrFloatBitWidth()});
    }
  }
  SmallVector<StagedBox> boxes;
  int64_t buffers = 0;
  for (const OutputModel &output : tile.outputs) {
    if (output.path != StorePath::Staged)
      continue;
    int64_t width = output.element.getIntOrFloatBitWidth();
    int64_t parts = output.getParts();
    for (int64_t point = 0; point < output.points; ++point) {
      // The boxes of an element are neighbours, of a loaded one as well.
      auto *match = llvm::find_if(
          free, [&](auto &candidate) { return candidate.second == width; });
      bool inPlace = match != free.end();
      for (int64_t part = 0; part < parts; ++part)
        boxes.push_back(
            {inPlace, inPlace ? match[part].first : buffers++, width});
      if (inPlace)
        free.erase(match, match + parts);
    }
  }
  return boxes;
}

RingBoxes::RingBoxes(const TileModel &tile, ScheduleAttr schedule)
    : chunks(getTilePoints(tile, schedule) / schedule.getChunk()),
      period(chunks) {
  int64_t inner = tile.dims[tile.innerN].extent;
  if (!ShapedType::isDynamic(inner) &&
      getTilePoints(tile, schedule) % inner == 0)
    period = llvm::divideCeil(inner, schedule.getChunk());
  int64_t box = 0;
  if (getPrefetchedPerChunk(tile, schedule))
    for (const InputModel &input : tile.inputs)
      if (input.path == LoadPath::Prefetched)
        for (int64_t i = 0; i < input.getBoxes(); ++i, ++box)
          (input.repeats && period < chunks ? repeated : own).push_back(box);
}

int64_t RingBoxes::getPosition(int64_t chunk, int64_t box) const {
  auto *it = llvm::find(repeated, box);
  if (it != repeated.end())
    return chunk % period * repeated.size() + (it - repeated.begin());
  return period * repeated.size() + chunk * own.size() +
         (llvm::find(own, box) - own.begin());
}

int64_t coda_gpu::getStagingPerChunk(const TileModel &tile,
                                     ScheduleAttr schedule) {
  return llvm::count_if(getStagedBoxes(tile, schedule),
                        [](const StagedBox &box) { return !box.inPlace; });
}

const OperandModel &TileModel::getRightFactor(unsigned group) const {
  unsigned accumulator = groups[group].accumulator;
  auto phase = phases.begin();
  while (!phase->rhs[accumulator])
    ++phase;
  return *phase->rhs[accumulator];
}

bool TileModel::hasColumnReduction() const {
  return getNumColumnReductions() != 0;
}

/// What strides of the copy engine are multiples of.
static constexpr int64_t kAlignmentBits = 128;

/// Whether all strides of `operand` but that of its last dim, 1, are multiples of 16
/// bytes, as the copy engine needs; those that are not known here are checked
/// before each launch.
static bool hasAlignedRows(const OperandModel &operand) {
  int64_t unit = kAlignmentBits / operand.element.getIntOrFloatBitWidth();
  return llvm::all_of(
      ArrayRef(operand.strides).drop_back(), [&](int64_t stride) {
        return ShapedType::isDynamic(stride) || stride % unit == 0;
      });
}

std::optional<unsigned> coda_gpu::getUnalignedRow(const OperandModel &factor) {
  if (hasAlignedRows(factor))
    return std::nullopt;
  return factor.positions.back().front();
}

void coda_gpu::forFactors(
    const TileModel &tile,
    llvm::function_ref<void(const OperandModel &)> body) {
  for (const Phase &phase : tile.phases) {
    body(phase.lhs);
    for (const std::optional<OperandModel> &rhs : phase.rhs)
      if (rhs)
        body(*rhs);
  }
}

int64_t coda_gpu::getPaddedRow(MemRefType type, unsigned row) {
  ArrayRef<int64_t> inner = type.getShape().drop_front();
  if (row == 0 || llvm::any_of(inner, ShapedType::isDynamic))
    return 0;
  int64_t elements = 1;
  for (int64_t extent : type.getShape().drop_front(row))
    elements *= extent;
  return llvm::alignTo(elements,
                       kAlignmentBits / type.getElementTypeBitWidth());
}

MemRefType coda_gpu::getPaddedType(MemRefType type, unsigned row) {
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned d = shape.size() - 1; d-- > 0;)
    strides[d] = d + 1 == row ? getPaddedRow(type, row)
                              : strides[d + 1] * shape[d + 1];
  return MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), /*offset=*/0, strides));
}

/// Whether `operand` is contiguous along its last dim, has few enough dims for the
/// copy engine, and elements of `minBits` to `maxBits` bits.
static bool hasCopiedForm(const OperandModel &operand, unsigned minBits,
                          unsigned maxBits) {
  if (operand.dims.empty() || operand.dims.size() > kMaxTensorMapRank)
    return false;
  Type element = operand.element;
  unsigned width = element.getIntOrFloatBitWidth();
  if (width < minBits || width > maxBits ||
      (width != 8 && !element.isF16() && !element.isBF16() && !element.isF32()))
    return false;
  return operand.strides.back() == 1;
}

/// Whether the copy engine can move boxes of this operand.
static bool isTensorMapped(const OperandModel &operand, unsigned minBits,
                           unsigned maxBits) {
  return hasCopiedForm(operand, minBits, maxBits) && hasAlignedRows(operand);
}

namespace {

/// Takes a tile op apart.
class ModelBuilder {
public:
  ModelBuilder(TileOpInterface op, TileModel &model, std::string &reason)
      : op(op), model(model), reason(reason) {}

  LogicalResult run();

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  DimKind kindOf(unsigned domainDim) { return op.getDimKind(domainDim); }
  bool isCoordinateUsed(unsigned domainDim);
  bool makesGroups(unsigned a, unsigned b, unsigned operand);
  bool canMerge(unsigned a, unsigned b);
  void mergeDims();
  LogicalResult setRunColumns();
  unsigned syntheticDim(DimKind kind);
  OperandModel makeOperand(unsigned number);
  void joinPairs(OperandModel &rhs);
  FailureOr<Phase> makePhase(unsigned accumulator, unsigned product);
  LogicalResult makePhases();
  LogicalResult makeInputs();
  LogicalResult makeOutputs();
  LogicalResult makeGroups();
  LogicalResult classifyReduction(OutputModel &output);
  LogicalResult checkFactors(const OperandModel &lhs, const OperandModel &rhs);
  void setUDims(ArrayRef<unsigned> operandDims, SmallVector<unsigned> &uDims,
                int64_t &points);

  TileOpInterface op;
  TileModel &model;
  std::string &reason;
  /// Per operand: strides of its memref, kDynamic where not known.
  SmallVector<SmallVector<int64_t>> memrefStrides;
  /// Domain dim -> model dim.
  SmallVector<unsigned> modelDim;
};

} // namespace

/// Whether the region asks for the coordinate along a dim, or groups by it:
/// such a dim stays itself.
bool ModelBuilder::isCoordinateUsed(unsigned domainDim) {
  for (Operation &inner : op.getBody().front()) {
    if (auto index = dyn_cast<IndexOp>(inner)) {
      DimAttr dim = index.getDim();
      if (op.getDimPosition(dim.getKind(), dim.getIndex()) == domainDim)
        return true;
    }
    if (auto group = dyn_cast<GroupReduceOp>(inner))
      for (auto dim : group.getOver().getAsRange<DimAttr>())
        if (op.getDimPosition(dim.getKind(), dim.getIndex()) == domainDim)
          return true;
  }
  return false;
}

/// Whether `operand`, which has `a` and lacks `b` = `a` + 1, has groups of the
/// two as one: a reduction over the columns of a short run.
bool ModelBuilder::makesGroups(unsigned a, unsigned b, unsigned operand) {
  unsigned firstOutput = op->getNumOperands() - op.getOutputs().size();
  int64_t run = op.getStaticExtents()[b];
  return operand >= firstOutput && op.getCombiner(operand - firstOutput) &&
         kindOf(a) == DimKind::n &&
         (b + 1 == op.getNumDomainDims() || kindOf(b + 1) != DimKind::n) &&
         !ShapedType::isDynamic(run) && run < kLongRun && run % kMinBoxChunk == 0;
}

/// Whether domain dims `a` and `b` = `a` + 1 can be walked as one: in every
/// operand both are absent, or they are adjacent and contiguous, or it has
/// groups. Groups of one are none of the other.
bool ModelBuilder::canMerge(unsigned a, unsigned b) {
  if (kindOf(a) != kindOf(b) || kindOf(a) == DimKind::u ||
      kindOf(a) == DimKind::p)
    return false;
  if (isCoordinateUsed(a) || isCoordinateUsed(b))
    return false;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    AffineMap map = op.getMap(i);
    int posA = -1, posB = -1;
    for (unsigned r = 0; r < map.getNumResults(); ++r) {
      OperandIndex index = *getOperandIndex(map.getResult(r));
      if (index.dim == a)
        posA = r;
      if (index.dim == b)
        posB = r;
      if (index.isGroup() && (index.dim == a || index.dim == b))
        return false;
    }
    if (posA < 0 && posB < 0)
      continue;
    if (posA >= 0 && posB < 0 && makesGroups(a, b, i))
      continue;
    if (posA < 0 || posB != posA + 1)
      return false;
    auto type = cast<MemRefType>(op->getOperand(i).getType());
    if (type.getLayout().isIdentity())
      continue;
    int64_t outer = memrefStrides[i][posA], inner = memrefStrides[i][posB],
            size = type.getDimSize(posB);
    if (ShapedType::isDynamic(outer) || ShapedType::isDynamic(inner) ||
        ShapedType::isDynamic(size) || outer != inner * size)
      return false;
  }
  return true;
}

void ModelBuilder::mergeDims() {
  SmallVector<int64_t> extents = op.getStaticExtents();
  modelDim.assign(op.getNumDomainDims(), 0);
  for (unsigned d = 0, e = op.getNumDomainDims(); d < e; ++d) {
    if (d && canMerge(d - 1, d)) {
      ModelDim &last = model.dims.back();
      last.domain.push_back(d);
      last.extent = ShapedType::isDynamic(last.extent) ||
                            ShapedType::isDynamic(extents[d])
                        ? ShapedType::kDynamic
                        : last.extent * extents[d];
    } else {
      model.dims.push_back({kindOf(d), extents[d], {d}});
    }
    modelDim[d] = model.dims.size() - 1;
  }
  SmallVector<unsigned> m, n;
  for (auto [i, dim] : llvm::enumerate(model.dims)) {
    switch (dim.kind) {
    case DimKind::b:
      model.outerM.push_back(i);
      break;
    case DimKind::m:
      m.push_back(i);
      break;
    case DimKind::n:
      n.push_back(i);
      break;
    case DimKind::u:
      model.uDims.push_back(i);
      break;
    default:
      break;
    }
  }
  if (m.empty())
    m.push_back(syntheticDim(DimKind::m));
  if (n.empty())
    n.push_back(syntheticDim(DimKind::n));
  model.innerM = m.pop_back_val();
  model.innerN = n.pop_back_val();
  llvm::append_range(model.outerM, m);
  model.outerN = n;
}

/// Where there are several n dims, a chunk lies in one row of the inner one, or is
/// made of whole rows of it.
LogicalResult ModelBuilder::setRunColumns() {
  if (model.outerN.empty())
    return success();
  for (unsigned d : ArrayRef(model.outerN).drop_front())
    if (ShapedType::isDynamic(model.dims[d].extent))
      return fail("an inner n dim is dynamic");
  int64_t inner = model.dims[model.innerN].extent;
  // 96 columns are three chunks of 32, 80 five of 16, 40 five of 8. A map waits for
  // what its threads load of the latter longer than loops do.
  bool hasProducts = op.getNumProducts() != 0;
  if (!ShapedType::isDynamic(inner) && kLongRun % inner != 0 &&
      inner % (hasProducts ? kMinChunk : kMinBoxChunk) == 0) {
    while (inner % model.maxChunk != 0)
      model.maxChunk /= 2;
    return success();
  }
  if (inner == kLongRun)
    return success();
  // The copy engine moves pieces of 16 bytes or more.
  constexpr int64_t kMinRun = 8;
  if (ShapedType::isDynamic(inner) || inner < kMinRun || kLongRun % inner != 0)
    return fail(hasProducts
                    ? "the inner of several n dims is no multiple of 8"
                    : "the inner of several n dims of a map is no multiple of "
                      "16, and not 8");
  // The last chunk of all may have fewer rows.
  int64_t outer = model.dims[model.outerN.back()].extent;
  if (model.outerN.size() > 1 &&
      (ShapedType::isDynamic(outer) || outer * inner % kLongRun != 0))
    return fail("the inner two of several n dims are no multiple of 64 columns");
  model.runColumns = inner;
  return success();
}

unsigned ModelBuilder::syntheticDim(DimKind kind) {
  model.dims.push_back({kind, 1, {}});
  return model.dims.size() - 1;
}

OperandModel ModelBuilder::makeOperand(unsigned number) {
  OperandModel operand;
  operand.number = number;
  operand.memref = op->getOperand(number);
  operand.type = cast<MemRefType>(operand.memref.getType());
  operand.element = operand.type.getElementType();
  auto argument = dyn_cast<BlockArgument>(static_cast<Value>(
      memref::skipViewLikeOps(cast<MemrefValue>(operand.memref))));
  auto func = op->getParentOfType<func::FuncOp>();
  operand.unwritten =
      argument && func && argument.getOwner() == &func.getBody().front() &&
      func.getArgAttr(argument.getArgNumber(), kUnwrittenAttrName);
  AffineMap map = op.getMap(number);
  for (unsigned r = 0; r < map.getNumResults(); ++r) {
    OperandIndex index = *getOperandIndex(map.getResult(r));
    unsigned dim = modelDim[index.dim];
    if (!operand.dims.empty() && operand.dims.back() == dim) {
      operand.positions.back().push_back(r);
      operand.strides.back() = memrefStrides[number][r];
      continue;
    }
    operand.dims.push_back(dim);
    operand.positions.push_back({r});
    // What lacks the last of the dims that are walked as one has groups of it.
    unsigned last = model.dims[dim].domain.back();
    bool hasLast =
        map.getResultPosition(getAffineDimExpr(last, map.getContext()))
            .has_value();
    operand.granules.push_back(index.isGroup() || hasLast
                                   ? index.granule
                                   : op.getStaticExtents()[last]);
    operand.strides.push_back(memrefStrides[number][r]);
  }
  // The runs of a chunk follow each other in its boxes, those of a right factor
  // each with all rows of k. A tensor map may have its dims in any order but for
  // the last.
  if (model.runColumns == kLongRun)
    return operand;
  int inner = operand.find(model.innerN);
  int outer = operand.find(model.outerN.back());
  if (inner < 0 || outer < 0 ||
      outer == static_cast<int>(operand.dims.size()) - 1)
    return operand;
  int before = inner;
  for (int i = 0; i < inner; ++i)
    if (model.dims[operand.dims[i]].kind == DimKind::k)
      before = i;
  if (before == outer + 1)
    return operand;
  auto move = [&](auto &list) {
    auto moved = list[outer];
    list.erase(list.begin() + outer);
    list.insert(list.begin() + (outer < before ? before - 1 : before), moved);
  };
  move(operand.dims);
  move(operand.positions);
  move(operand.granules);
  move(operand.strides);
  return operand;
}

/// Where a u dim of two points is innermost in `rhs`, right behind the inner n dim,
/// the two are columns like others: those of a thread are neighbours, which the
/// region tells apart.
void ModelBuilder::joinPairs(OperandModel &rhs) {
  if (rhs.dims.size() < 2)
    return;
  unsigned u = rhs.dims.back();
  const ModelDim &n = model.dims[model.innerN];
  size_t before = rhs.dims.size() - 2;
  if (model.dims[u].kind != DimKind::u || model.dims[u].extent != 2 ||
      rhs.dims[before] != model.innerN || rhs.strides[before] != 2 ||
      rhs.strides.back() != 1 || ShapedType::isDynamic(n.extent) ||
      llvm::any_of(ArrayRef(rhs.dims).drop_back(), [&](unsigned d) {
        return model.dims[d].kind == DimKind::u;
      }))
    return;
  rhs.pairs = u;
  llvm::append_range(rhs.positions[before], rhs.positions.back());
  rhs.strides[before] = 1;
  rhs.dims.pop_back();
  rhs.positions.pop_back();
  rhs.granules.pop_back();
  rhs.strides.pop_back();
}

void ModelBuilder::setUDims(ArrayRef<unsigned> operandDims,
                            SmallVector<unsigned> &uDims, int64_t &points) {
  points = 1;
  for (unsigned d : model.uDims)
    if (llvm::is_contained(operandDims, d)) {
      uDims.push_back(d);
      points *= model.dims[d].extent;
    }
}

/// Whether WGMMA multiplies the two, and with the products before them.
LogicalResult ModelBuilder::checkFactors(const OperandModel &lhs,
                                         const OperandModel &rhs) {
  if (!model.factorType)
    model.factorType = lhs.element;
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if (isFloat8(model.factorType)) {
    if (!isFloat8(lhs.element) || !isFloat8(rhs.element))
      return fail("factors are not all of 8 bits");
    model.blockK = 2 * kBlockK;
    return success();
  }
  if (lhs.element != model.factorType || rhs.element != model.factorType ||
      (!lhs.element.isBF16() && !lhs.element.isF16()))
    return fail(Twine("factors are not all bf16, all f16, or all f8E4M3FN and "
                      "f8E5M2") +
                (lhs.element.isF32() && rhs.element.isF32()
                     ? " (coda-split-f32, f32-products=bf16x3, makes such of f32)"
                     : ""));
  return success();
}

/// The product of accumulator `accumulator` and factors `product`, as a phase of
/// its own.
FailureOr<Phase> ModelBuilder::makePhase(unsigned accumulator,
                                         unsigned product) {
  Phase phase;
  phase.lhs = makeOperand(product);
  OperandModel rhs = makeOperand(op.getNumProducts() + product);
  joinPairs(rhs);
  if (failed(checkFactors(phase.lhs, rhs)))
    return failure();
  if (!hasCopiedForm(phase.lhs, 8, 16) || !hasCopiedForm(rhs, 8, 16))
    return fail("a factor is not contiguous along its last dim, or has more than "
                "5 dims");
  auto isK = [&](unsigned d) { return model.dims[d].kind == DimKind::k; };
  llvm::copy_if(phase.lhs.dims, std::back_inserter(phase.k), isK);
  llvm::sort(phase.k);
  phase.lhsKMajor = isK(phase.lhs.dims.back());
  phase.rhsKMajor = isK(rhs.dims.back());
  unsigned lhsInner = phase.lhsKMajor ? phase.k.back() : model.innerM;
  unsigned rhsInner = phase.rhsKMajor ? phase.k.back() : model.innerN;
  if (phase.lhs.dims.back() != lhsInner || rhs.dims.back() != rhsInner)
    return fail("a factor is not contiguous along its innermost m, n or k dim");
  if (model.blockK != kBlockK && (!phase.lhsKMajor || !phase.rhsKMajor))
    return fail("an 8-bit factor is not contiguous along k: WGMMA transposes "
                "16-bit ones only");
  phase.rhsElement = rhs.element;
  phase.rhs.resize(op.getAccSizes().size());
  phase.rhs[accumulator] = std::move(rhs);
  return phase;
}

/// Products of different accumulators share a phase where the loads of the left
/// factor and the form of the right one are the same.
LogicalResult ModelBuilder::makePhases() {
  ArrayRef<int32_t> sizes = op.getAccSizes();
  for (unsigned a = 0, product = 0; a < sizes.size(); ++a)
    for (unsigned end = product + sizes[a]; product < end; ++product) {
      FailureOr<Phase> made = makePhase(a, product);
      if (failed(made))
        return failure();
      auto shared = llvm::find_if(model.phases, [&](const Phase &phase) {
        return !phase.rhs[a] && phase.lhs.memref == made->lhs.memref &&
               phase.lhs.dims == made->lhs.dims && phase.k == made->k &&
               phase.rhsKMajor == made->rhsKMajor &&
               phase.rhsElement == made->rhsElement;
      });
      if (shared == model.phases.end())
        model.phases.push_back(std::move(*made));
      else
        shared->rhs[a] = std::move(made->rhs[a]);
    }
  // The points of an accumulator's u dims, row-major.
  SmallVector<unsigned> firstGroups;
  SmallVector<bool> havePairs;
  for (unsigned a = 0; a < sizes.size(); ++a) {
    auto first = llvm::find_if(
        model.phases, [&](const Phase &phase) { return phase.rhs[a]; });
    SmallVector<unsigned> dims(first->rhs[a]->dims), uDims;
    havePairs.push_back(first->rhs[a]->pairs.has_value());
    if (havePairs[a])
      dims.push_back(*first->rhs[a]->pairs);
    if (llvm::any_of(model.phases, [&](const Phase &phase) {
          return phase.rhs[a] && phase.rhs[a]->pairs.has_value() != havePairs[a];
        }))
      return fail("the columns of a pair are neighbours in one of an "
                  "accumulator's right factors, in another they are not");
    int64_t points;
    setUDims(dims, uDims, points);
    firstGroups.push_back(model.groups.size());
    for (int64_t i = 0; i < points; ++i)
      model.groups.push_back({a, model.uCoords(uDims, i)});
  }
  firstGroups.push_back(model.groups.size());
  for (unsigned begin = 0, end; begin < sizes.size(); begin = end) {
    for (end = begin + 1; end < sizes.size(); ++end)
      if (havePairs[begin] != havePairs[end] ||
          llvm::any_of(model.phases, [&](const Phase &phase) {
            return phase.rhs[begin].has_value() != phase.rhs[end].has_value();
          }))
        break;
    AccumulatorPart part{firstGroups[begin],
                         firstGroups[end] - firstGroups[begin]};
    bool sets = true;
    for (Phase &phase : model.phases) {
      if (!phase.rhs[begin])
        continue;
      phase.parts.push_back(model.parts.size());
      phase.sets.push_back(sets);
      phase.numGroups += part.numGroups;
      sets = false;
    }
    model.parts.push_back(part);
  }
  return success();
}

LogicalResult ModelBuilder::makeInputs() {
  unsigned base = 2 * op.getNumProducts();
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    InputModel input;
    static_cast<OperandModel &>(input) = makeOperand(base + i);
    input.combiner = op.getLoadCombiner(i);
    setUDims(input.dims, input.uDims, input.points);
    if (!input.element.isIntOrFloat())
      return fail("a loaded element is neither an integer nor a float");
    // Vectors of them are packed, memory is not.
    if (input.element.getIntOrFloatBitWidth() < 8)
      return fail("a loaded element is narrower than a byte");
    bool isTile = input.has(model.innerM) && input.has(model.innerN);
    unsigned outer = llvm::count_if(
        model.outerN, [&](unsigned d) { return input.has(d); });
    input.repeats = isTile && outer == 0 && !model.outerN.empty() &&
                    model.runColumns == kLongRun;
    // What lacks some of the outer n dims is loaded by each thread: the caches
    // have it by then.
    bool ahead =
        input.repeats || (isTile && outer == model.outerN.size());
    if (!input.combiner && ahead && input.dims.back() == model.innerN &&
        isTensorMapped(input, 16, 32) &&
        model.getPrefetchedPerChunk() + input.getBoxes() <=
            kMaxPrefetchedPerChunk)
      input.path = LoadPath::Prefetched;
    model.inputs.push_back(std::move(input));
  }
  return success();
}

LogicalResult ModelBuilder::classifyReduction(OutputModel &output) {
  bool isWide = output.element.isF64();
  if (!isWide && !output.element.isF32())
    return fail("a reduction is neither f32 nor f64");
  if (isWide && isa<LogAddExpAttr>(output.combiner))
    return fail("a reduction by logaddexp is not f32");
  // Of a dim of one point there is one element, with or without an index.
  auto hasPoints = [&](unsigned d) {
    return output.has(d) || model.dims[d].extent == 1;
  };
  auto hasAll = [&](ArrayRef<unsigned> dims) {
    return llvm::all_of(dims, hasPoints);
  };
  int64_t rowGranule = output.getGranule(model.innerM);
  int64_t columnGranule = output.getGranule(model.innerN);
  auto keeps = [&](unsigned d) {
    return output.has(d) ||
           (model.dims[d].extent == 1 && output.getGranule(d) == 1);
  };
  bool rows = hasAll(model.outerM) && keeps(model.innerM);
  bool columns = hasAll(model.outerN) && keeps(model.innerN);
  // What is dropped has one point: a reduction all the same.
  if (rows && columns)
    (output.has(model.innerM) ? columns : rows) = false;
  if (rows && !columns && columnGranule != 1) {
    if (!model.outerN.empty())
      return fail("a reduction has groups along one of several n dims");
    output.reduce = ReduceKind::Rows;
    output.groupColumns = columnGranule;
    return success();
  }
  if (rows && !columns) {
    // Dropped n dims must be the inner ones: a group is then a run of columns.
    int64_t group = model.dims[model.innerN].extent;
    bool kept = false;
    for (unsigned d : llvm::reverse(model.outerN)) {
      if (hasPoints(d)) {
        kept |= output.has(d);
        continue;
      }
      if (kept)
        return fail("a reduction keeps an inner n dim and drops an outer one");
      group = ShapedType::isDynamic(group) ||
                      ShapedType::isDynamic(model.dims[d].extent)
                  ? ShapedType::kDynamic
                  : group * model.dims[d].extent;
    }
    if (output.has(model.innerN))
      return fail("a reduction keeps an inner n dim and drops an outer one");
    if (ShapedType::isDynamic(group))
      return fail("a reduction's group is dynamic");
    output.reduce = ReduceKind::Rows;
    output.groupColumns = kept || !model.outerN.empty() ? group : 0;
    if (output.groupColumns == 0 && group > 256)
      return fail("a row reduction is wider than a tile; partition it first");
    if (output.groupColumns == 0)
      output.groupColumns = llvm::alignTo(group, kMaxChunk);
    return success();
  }
  if (columns && !rows) {
    // Warps add up what is in words.
    if (isWide)
      return fail("a column reduction is not f32");
    if (!hasAll(model.outerM))
      return fail("a column reduction drops an outer m dim; partition it first");
    int64_t extent = model.dims[model.innerM].extent;
    if (rowGranule != 1 && rowGranule != kFragmentRows &&
        rowGranule != kReducedRows)
      return fail("a column reduction has groups of " + Twine(rowGranule) +
                  " rows, those of tiles have 64 or 128");
    if (rowGranule == 1 &&
        (ShapedType::isDynamic(extent) || extent > kReducedRows))
      return fail("a column reduction is taller than a tile; partition it "
                  "first");
    output.reduce = ReduceKind::Columns;
    output.groupRows = rowGranule == 1 ? 0 : rowGranule;
    return success();
  }
  return fail("a reduction drops both m and n dims");
}

LogicalResult ModelBuilder::makeOutputs() {
  unsigned base = 2 * op.getNumProducts() + op.getInputs().size();
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    OutputModel output;
    static_cast<OperandModel &>(output) = makeOperand(base + i);
    output.combiner = op.getCombiner(i);
    output.fresh = op.getFresh()[i];
    setUDims(output.dims, output.uDims, output.points);
    if (output.combiner) {
      if (failed(classifyReduction(output)))
        return failure();
    } else {
      if (!output.element.isIntOrFloat())
        return fail("a stored element is neither an integer nor a float");
      if (output.element.getIntOrFloatBitWidth() < 8)
        return fail("a stored element is narrower than a byte");
      if (output.has(model.innerM) && output.has(model.innerN) &&
          output.dims.back() == model.innerN &&
          isTensorMapped(output, 8, 32) &&
          // The copy engine moves runs of 16 bytes and more.
          model.runColumns * output.element.getIntOrFloatBitWidth() >= 128 &&
          model.getPrefetchedPerChunk() + model.getStagingPerChunk() +
                  output.getBoxes() <=
              kMaxBoxesPerChunk)
        output.path = StorePath::Staged;
    }
    model.outputs.push_back(std::move(output));
  }
  return success();
}

/// A group must be a run of columns: the inner n dims, all of them. That of a whole
/// row may end within a chunk: the columns behind it are the combiner's identity.
LogicalResult ModelBuilder::makeGroups() {
  for (auto group : op.getBody().getOps<GroupReduceOp>()) {
    if (!group.getType().isF32())
      return fail("a group's reduction is not f32");
    SmallVector<unsigned> over;
    for (auto dim : group.getOver().getAsRange<DimAttr>())
      over.push_back(
          modelDim[op.getDimPosition(dim.getKind(), dim.getIndex())]);
    int64_t columns = 1;
    unsigned found = 0;
    SmallVector<unsigned> inner{model.innerN};
    llvm::append_range(inner, llvm::reverse(model.outerN));
    for (unsigned d : inner) {
      if (!llvm::is_contained(over, d))
        break;
      columns *= model.dims[d].extent;
      ++found;
    }
    if (found != over.size())
      return fail("a group keeps an inner n dim");
    if (model.outerN.empty() && columns > 0)
      columns = llvm::alignTo(columns, kMinBoxChunk);
    if (columns % std::min(kMinBoxChunk, model.maxChunk) != 0 ||
        (model.groupColumns && model.groupColumns != columns))
      return fail("groups of " + Twine(columns) +
                  " columns: they must be multiples of 16, and all alike");
    model.groupColumns = columns;
  }
  return success();
}

LogicalResult ModelBuilder::run() {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      return fail("operands are not memrefs: bufferize first");
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return fail("an operand's layout is not strided");
    memrefStrides.push_back(std::move(strides));
  }
  model.op = op;
  mergeDims();
  if (llvm::any_of(model.dims, [](const ModelDim &dim) {
        return dim.extent == 0;
      }))
    return fail("an extent is 0");
  if (failed(setRunColumns()))
    return failure();
  if (failed(makePhases()) || failed(makeInputs()) || failed(makeOutputs()))
    return failure();
  return makeGroups();
}

FailureOr<KernelModel> coda_gpu::buildKernelModel(func::FuncOp func,
                                                  std::string &reason) {
  KernelModel kernel;
  kernel.func = func;
  SmallVector<TileOpInterface> ops;
  func.walk([&](TileOpInterface op) { ops.push_back(op); });
  if (ops.empty()) {
    reason = "holds no tile op";
    return failure();
  }
  for (TileOpInterface op : ops) {
    TileModel tile;
    if (failed(ModelBuilder(op, tile, reason).run()))
      return failure();
    if (auto rows = func->getAttrOfType<IntegerAttr>(kMaxRowsAttrName))
      tile.maxRows = rows.getInt();
    kernel.tiles.push_back(std::move(tile));
  }
  // A schedule has chunks of as many columns for all tiles.
  if (llvm::any_of(kernel.tiles, [](const TileModel &tile) {
        return tile.maxChunk < kMinBoxChunk;
      }))
    for (TileModel &tile : kernel.tiles) {
      tile.maxChunk = kMinChunk;
      for (InputModel &input : tile.inputs)
        input.path = LoadPath::Direct;
      for (OutputModel &output : tile.outputs)
        output.path = StorePath::Direct;
    }
  return kernel;
}
