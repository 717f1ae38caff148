//===- EpilogueEmitter.cpp - The region of a tile, per thread -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup holds fragments of 64 rows. Thread t = 32 w + 4 g + l of it has, of
// each block of 8 columns, the rows 16 w + g + 8 q and the columns 2 l + e (q, e in
// {0, 1}): that is how WGMMA leaves its accumulators, and how ldmatrix and
// stmatrix move 16-bit tiles, two such blocks at a time (a piece). The region
// is evaluated on one block after another. There a value that depends on
//   rows only     is vector<2>, indexed by q
//   columns only  is vector<2>, indexed by e
//   both          is vector<4>, indexed by 2 q + e.
// Larger vectors would keep more values alive beside the accumulators than a
// thread has registers for.
//
// A fragment's rows are those of the tile, and the walk goes over its columns,
// chunk by chunk. Where factors are swapped they are the 64 columns of a chunk, and
// within it the walk goes over the tile's rows, the columns of the fragment: values
// of columns are then indexed by q and hold for a chunk, values of rows by e and,
// of each 8 rows, hold for all chunks. Boxes in shared memory have rows of the tile
// all the same; ldmatrix and stmatrix transpose. What differs is in `place` and the
// functions behind it, in where a lane's part of a box is, and in who is reduced
// over.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;
using namespace mlir::coda_gpu;

static int64_t lanesOf(int level) {
  static const int64_t lanes[] = {1, 2, 2, 4};
  return lanes[level];
}

EpilogueEmitter::EpilogueEmitter(KernelEmitter &emitter, const TileModel &tile,
                                 const TileCoords &at, int64_t fragment)
    : e(emitter), b(emitter.b), loc(emitter.loc), tile(tile), at(at),
      fragment(fragment), rows(getRegionRows(emitter.schedule)),
      points(getRegionPoints(tile, emitter.schedule)),
      chunkColumns(emitter.schedule.getChunk()), chunks(points / chunkColumns),
      swaps(emitter.schedule.getSwap()) {
  pieces = llvm::divideCeil(swaps ? rows : chunkColumns, kPiece);
  rowsValues.resize(swaps ? rows / 8 : 1);
  this->at.column = e.regionColumn(tile, at);
  int64_t extent = tile.dims[tile.innerM].extent;
  masksRows = ShapedType::isDynamic(extent) ||
              extent % getTileRows(e.schedule) != 0 || e.mayLackRows(tile);
  int64_t columns = tile.getColumns();
  int64_t whole =
      getTilePoints(tile, e.schedule) * e.schedule.getCluster().n;
  masksColumns = ShapedType::isDynamic(columns) || columns % whole != 0;

  Value quad = e.divU(e.lane, e.i32(4)), inQuad = e.remU(e.lane, e.i32(4));
  row0 = e.add(e.regionRow(tile, at),
               e.mul(e.rowBlock(e.i32(fragment)), e.i32(kFragmentRows)));
  quadRow = e.add(e.mul(e.warp, e.i32(16)), quad);
  quadColumn = e.mul(inQuad, e.i32(2));

  setLaneAddresses(quad, inQuad);
  stagedBoxes = getStagedBoxes(tile, e.schedule);
  stagedColumns = getStagedColumns(e.kernel, tile, e.schedule);
  columnsBase = e.add(e.i32(SharedMemory(e.kernel, e.schedule).columns),
                      e.mul(e.consumer, e.i32(getColumnsBytes(e.kernel,
                                                              e.schedule))));
  // In region order: users follow what they use.
  llvm::DenseSet<Value> inGroup;
  for (Operation &op : tile.op.getBody().front())
    if (isa<GroupReduceOp>(op) ||
        llvm::any_of(op.getOperands(),
                     [&](Value operand) { return inGroup.contains(operand); }))
      for (Value result : op.getResults()) {
        inGroup.insert(result);
        groupDependent.push_back(result);
      }
  stagingBase = e.i32(SharedMemory(e.kernel, e.schedule).staging);
  if (!e.schedule.getOrdered())
    stagingBase =
        e.add(stagingBase, e.mul(e.consumer, e.i32(e.schedule.getStaging() *
                                                   getBoxBytes(e.schedule))));
}

//===----------------------------------------------------------------------===//
// Where a fragment lies in a tile
//===----------------------------------------------------------------------===//

int64_t EpilogueEmitter::place(int64_t row, int64_t column) const {
  return swaps ? 2 * column + row : 2 * row + column;
}

int64_t EpilogueEmitter::rowOf(int64_t place) const {
  return swaps ? place % 2 : place / 2;
}

int64_t EpilogueEmitter::columnOf(int64_t place) const {
  return swaps ? place / 2 : place % 2;
}

int64_t EpilogueEmitter::rowBlock() const {
  return swaps ? 2 * piece + block : 0;
}

int64_t EpilogueEmitter::columnBlock() const {
  return swaps ? chunk : chunk * (chunkColumns / 8) + 2 * piece + block;
}

/// Whether a piece, of which the last of a swapped tile may have one block, and that of
/// the shortest chunk has, ends.
bool EpilogueEmitter::isLastOfPiece() const {
  return block == 1 || (swaps ? rowBlock() + 1 == rows / 8
                              : chunkColumns < kPiece);
}

EpilogueEmitter::Lanes EpilogueEmitter::lanesOfQuad() {
  static const int64_t masks[] = {1, 2};
  return {4, e.remU(e.lane, e.i32(4)), masks};
}

EpilogueEmitter::Lanes EpilogueEmitter::lanesOfRow() {
  static const int64_t masks[] = {4, 8, 16};
  return swaps ? Lanes{8, e.divU(e.lane, e.i32(4)), masks} : lanesOfQuad();
}

/// The cache of values of a level.
llvm::DenseMap<Value, EpilogueEmitter::Placed> &
EpilogueEmitter::valuesAt(Level level) {
  switch (level) {
  case None:
    return tileValues;
  case Row:
    return rowsValues[rowBlock()];
  case Column:
    return columnsValues;
  case Full:
    return blockValues;
  }
  llvm_unreachable("no other level");
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

EpilogueEmitter::Level EpilogueEmitter::levelOf(const OperandModel &operand) {
  int level = None;
  for (unsigned d : operand.dims) {
    if (d == tile.innerM)
      level |= Row;
    if (tile.dims[d].kind == DimKind::n)
      level |= Column;
  }
  return static_cast<Level>(level);
}

Type EpilogueEmitter::typeAt(Type element, Level level) {
  return level == None ? element : VectorType::get({lanesOf(level)}, element);
}

Value EpilogueEmitter::broadcast(Placed placed, Level level) {
  if (placed.level == level)
    return placed.value;
  if (placed.level == None)
    return vector::BroadcastOp::create(
        b, loc, cast<VectorType>(typeAt(placed.value.getType(), level)),
        placed.value);
  int64_t from[4];
  for (int64_t i = 0; i < 4; ++i)
    from[i] = placed.level == Row ? rowOf(i) : columnOf(i);
  return vector::ShuffleOp::create(b, loc, placed.value, placed.value,
                                   ArrayRef<int64_t>(from));
}

Value EpilogueEmitter::pack(ArrayRef<Value> elements, Type type, Level level) {
  if (level == None)
    return elements.front();
  return vector::FromElementsOp::create(
      b, loc, cast<VectorType>(typeAt(type, level)), elements);
}

Value EpilogueEmitter::element(Value value, Level level, int64_t i) {
  if (level == None)
    return value;
  return vector::ExtractOp::create(b, loc, value, i);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The thread's row number `half`, 0 or 1, of the block.
Value EpilogueEmitter::threadRow(int64_t half) {
  if (swaps)
    return e.add(row0, e.add(quadColumn, e.i32(8 * rowBlock() + half)));
  return e.add(row0, e.add(quadRow, e.i32(8 * half)));
}

/// The row to load from: the last one, for rows beyond it.
Value EpilogueEmitter::loadRow(int64_t half) {
  Value row = threadRow(half);
  if (masksRows)
    row = e.minU(row, e.sub(e.extent(tile, tile.innerM), e.i32(1)));
  return row;
}

/// The first column of the block in its chunk.
int64_t EpilogueEmitter::blockColumn() const {
  return swaps ? 0 : kPiece * piece + 8 * block;
}

/// The coordinate of the block, and of the thread's columns of it, along an outer n
/// dim; `coords` is the chunk's. To load from, it is at most the last.
Value EpilogueEmitter::outerCoord(ArrayRef<Value> coords, unsigned dim) {
  if (tile.runColumns == kLongRun || dim != tile.outerN.back() || isAtColumn)
    return coords[dim];
  Value run = swaps ? e.divU(e.warp, e.i32(tile.runColumns / kStripColumns))
                    : e.i32(blockColumn() / tile.runColumns);
  Value coord = e.add(coords[dim], run);
  if (masksColumns && coords.data() == loadAtCoords.data())
    coord = e.minU(coord, e.sub(e.extent(tile, dim), e.i32(1)));
  return coord;
}

/// The inner n coordinate of the thread's column number `i`, 0 or 1, of the block.
Value EpilogueEmitter::threadColumn(bool forLoad, int64_t i) {
  ArrayRef<Value> coords = forLoad ? loadAtCoords : chunkAt;
  if (swaps)
    return e.add(coords[tile.innerN],
                 e.add(e.remU(quadRow, e.i32(tile.runColumns)), e.i32(8 * i)));
  Value first =
      e.add(coords[tile.innerN],
            e.add(quadColumn, e.i32(blockColumn() % tile.runColumns)));
  return e.add(first, e.i32(i));
}

/// The type that LLVM has for elements of `type`, or vectors of them, in memory.
Type EpilogueEmitter::memoryType(Type type) {
  if (!isa<FloatType>(getElementTypeOrSelf(type)) ||
      getElementTypeOrSelf(type).getIntOrFloatBitWidth() > 8)
    return type;
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(b.getI8Type());
  return b.getI8Type();
}

Value EpilogueEmitter::elementPointer(const OperandModel &operand,
                                      Value offset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 1);
  return LLVM::GEPOp::create(b, loc, type, memoryType(operand.element),
                             e.pointer(operand), ArrayRef<LLVM::GEPArg>{offset});
}

/// The part of an element's offset that m and b dims make; i64.
Value EpilogueEmitter::rowOffset(const OperandModel &operand, Value row) {
  Value offset = e.i64(0);
  for (auto [i, d] : llvm::enumerate(operand.dims)) {
    DimKind kind = tile.dims[d].kind;
    if (kind != DimKind::b && kind != DimKind::m)
      continue;
    Value coord = d == tile.innerM ? row : at.coords[d];
    if (operand.granules[i] != 1)
      coord = e.divU(coord, e.i32(operand.granules[i]));
    offset = e.add(offset, e.mul(e.toI64(coord), e.stride(operand, i)));
  }
  return offset;
}

/// The part of an element's offset that n and u dims make; i64.
Value EpilogueEmitter::columnOffset(const OperandModel &operand,
                                    ArrayRef<int64_t> u, Value innerColumn) {
  Value offset = e.i64(0);
  for (auto [i, d] : llvm::enumerate(operand.dims)) {
    Value coord;
    if (tile.dims[d].kind == DimKind::u)
      coord = e.i64(u[d]);
    else if (d == tile.innerN)
      coord = e.toI64(operand.granules[i] == 1
                          ? innerColumn
                          : e.divU(innerColumn, e.i32(operand.granules[i])));
    else if (tile.dims[d].kind == DimKind::n)
      coord = e.toI64(outerCoord(loadAtCoords, d));
    else
      continue;
    offset = e.add(offset, e.mul(coord, e.stride(operand, i)));
  }
  return offset;
}

Value EpilogueEmitter::loadAt(const OperandModel &operand, Value offset,
                              Type type) {
  auto load = LLVM::LoadOp::create(b, loc, memoryType(type),
                                   elementPointer(operand, offset));
  // Nothing writes what a kernel loads, unless it loads what it stores.
  bool written = llvm::any_of(tile.outputs, [&](const OutputModel &output) {
    return output.memref == operand.memref;
  });
  if (!written)
    load.setInvariant(true);
  if (load.getType() != type)
    return arith::BitcastOp::create(b, loc, type, load);
  return load;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void EpilogueEmitter::loadRows() {
  auto load = [&] {
    for (unsigned i = 0; i < tile.inputs.size(); ++i)
      if (!(levelOf(tile.inputs[i]) & Column))
        for (BlockArgument argument : tile.op.getInputArguments(i))
          if (!argument.use_empty())
            evaluate(argument);
  };
  if (swaps)
    walkChunk(load);
  else
    load();
}

EpilogueEmitter::Placed EpilogueEmitter::loadInput(unsigned number,
                                                   int64_t point) {
  const InputModel &input = tile.inputs[number];
  if (const StagedColumns *columns = findStaged(number, point))
    return loadStaged(*columns);
  if (auto it = columnValues.find({number, point}); it != columnValues.end())
    return it->second[columnBlock()];
  if (input.path == LoadPath::Prefetched &&
      getPrefetchedPerChunk(tile, e.schedule))
    return {loadPrefetched(number, point), Full};
  SmallVector<int64_t> u = tile.uCoords(input.uDims, point);
  if (input.combiner)
    return loadCombining(input, u);
  return loadDirect(input, u);
}

EpilogueEmitter::Placed
EpilogueEmitter::loadDirect(const InputModel &input, ArrayRef<int64_t> u) {
  Level level = levelOf(input);
  Type type = input.element;
  if (!(level & Column)) {
    SmallVector<Value> elements;
    for (int64_t half = 0; half < ((level & Row) ? 2 : 1); ++half)
      elements.push_back(
          loadAt(input,
                 e.add(rowOffset(input, loadRow(half)),
                       columnOffset(input, u, e.i32(0))),
                 type));
    return {pack(elements, type, level), level};
  }

  // Neighbours are in two threads where factors are swapped.
  bool pairs = !swaps && hasPairAccess(tile, input);
  if (pairs)
    e.alignPointer(input, input.element.getIntOrFloatBitWidth() / 4);
  int64_t rows = (level & Row) ? 2 : 1;
  SmallVector<Value> elements(lanesOf(level));
  Value last;
  if (masksColumns && tile.outerN.empty())
    last = e.sub(e.extent(tile, tile.innerN), e.i32(pairs ? 2 : 1));
  for (int64_t half = 0; half < rows; ++half) {
    Value row = rowOffset(input, loadRow(half));
    if (pairs) {
      Value column = threadColumn(/*forLoad=*/true, 0);
      if (last)
        column = e.minU(column, last);
      // Two of 16 bits as the word that they are: as a vector of one word, which
      // it becomes otherwise, it would not be known to be invariant.
      bool word = type.getIntOrFloatBitWidth() == 16;
      Type pair = VectorType::get({2}, type);
      Value both = loadAt(input, e.add(row, columnOffset(input, u, column)),
                          word ? b.getI32Type() : pair);
      if (word)
        both = LLVM::BitcastOp::create(b, loc, pair, both);
      for (int64_t i = 0; i < 2; ++i)
        elements[2 * half + i] = vector::ExtractOp::create(b, loc, both, i);
      continue;
    }
    for (int64_t i = 0; i < 2; ++i) {
      Value one = threadColumn(/*forLoad=*/true, i);
      if (last)
        one = e.minU(one, last);
      elements[level == Full ? place(half, i) : i] =
          loadAt(input, e.add(row, columnOffset(input, u, one)), type);
    }
  }
  return {pack(elements, type, level), level};
}

/// Terms of a combining load that are in flight together, a multiple of 4; and
/// those of a turn of the loop over the others.
static constexpr int64_t kMaxTermsAtOnce = 128;
static constexpr int64_t kTermsPerTurn = 32;

/// Combines the terms of a load, over its p dims, of the element at `base`. With
/// `shared` these lanes take every fourth or eighth term each, of as many as they
/// are.
Value EpilogueEmitter::combineTerms(const InputModel &input, Value base,
                                    std::optional<Lanes> shared) {
  int64_t terms = 1;
  bool isKnown = true;
  SmallVector<unsigned> partial;
  for (unsigned d : input.dims)
    if (tile.dims[d].kind == DimKind::p) {
      partial.push_back(d);
      if (ShapedType::isDynamic(tile.dims[d].extent))
        isKnown = false;
      else
        terms *= tile.dims[d].extent;
    }
  Value numTerms = e.i64(terms);
  if (!isKnown) {
    numTerms = e.i64(1);
    for (unsigned d : partial)
      numTerms = e.mul(numTerms, e.toI64(e.extent(tile, d)));
  }
  // Offset of term number `term`, an i64.
  auto termOffset = [&](Value term) {
    Value offset = e.i64(0);
    for (unsigned d : llvm::reverse(partial)) {
      bool isLast = d == partial.front();
      Value size = isLast ? Value() : e.toI64(e.extent(tile, d));
      offset = e.add(offset, e.mul(isLast ? term : e.remU(term, size),
                                   e.stride(input, input.find(d))));
      term = isLast ? Value() : e.divU(term, size);
    }
    return offset;
  };
  Value lane = shared ? e.toI64(shared->number) : Value();
  Value identity = arith::ConstantOp::create(
      b, loc, input.combiner.getIdentity(cast<FloatType>(input.element)));
  int64_t step = shared ? shared->count : 1;
  auto loadTerm = [&](Value number, bool mayBeOutside) {
    Value inside;
    if (mayBeOutside) {
      inside = e.lessU(number, numTerms);
      number = e.minU(number, e.sub(numTerms, e.i64(1)));
    }
    Value value = loadAt(input, e.add(base, termOffset(number)), input.element);
    return inside ? e.select(inside, value, identity) : value;
  };
  // Few terms are loaded at once, so that the loads overlap; of many, the
  // first by a loop, and all of an unknown number.
  int64_t first = 0;
  Value sum;
  if (!isKnown || terms > kMaxTermsAtOnce) {
    first = isKnown ? (terms - kMaxTermsAtOnce) / kTermsPerTurn * kTermsPerTurn
                    : terms;
    auto loop = scf::ForOp::create(b, loc, e.i64(0),
                                   isKnown ? e.i64(first) : numTerms,
                                   e.i64(kTermsPerTurn), identity);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> loaded;
    for (int64_t term = 0; term < kTermsPerTurn; term += step) {
      Value number = e.add(loop.getInductionVar(), e.i64(term));
      loaded.push_back(
          loadTerm(shared ? e.add(number, lane) : number, !isKnown));
    }
    Value turn = loop.getRegionIterArg(0);
    for (Value value : loaded)
      turn = input.combiner.combine(b, loc, turn, value);
    scf::YieldOp::create(b, loc, turn);
    sum = loop.getResult(0);
  }
  SmallVector<Value> loaded;
  for (int64_t term = first; term < terms; term += step)
    loaded.push_back(loadTerm(shared ? e.add(lane, e.i64(term)) : e.i64(term),
                              shared && term + step > terms));
  for (Value value : loaded)
    sum = sum ? input.combiner.combine(b, loc, sum, value) : value;
  if (shared)
    for (int64_t mask : shared->masks)
      sum = input.combiner.combine(b, loc, sum, shuffle(sum, mask));
  return sum;
}

/// A load that combines over p dims.
EpilogueEmitter::Placed
EpilogueEmitter::loadCombining(const InputModel &input, ArrayRef<int64_t> u) {
  Level level = levelOf(input);
  SmallVector<Value> elements;
  std::optional<Lanes> shared;
  if (!(level & Column))
    shared = level == Row ? lanesOfRow() : lanesOfQuad();
  for (int64_t i = 0; i < lanesOf(level); ++i) {
    int64_t half = level == Full ? rowOf(i) : level == Row ? i : 0;
    int64_t column = level == Full ? columnOf(i) : level == Column ? i : 0;
    Value inner = e.i32(0);
    if (level & Column) {
      inner = threadColumn(/*forLoad=*/true, column);
      if (masksColumns && tile.outerN.empty())
        inner = e.minU(inner, e.sub(e.extent(tile, tile.innerN), e.i32(1)));
    }
    Value base = e.add(rowOffset(input, loadRow(half)),
                       columnOffset(input, u, inner));
    elements.push_back(combineTerms(input, base, shared));
  }
  return {pack(elements, input.element, level), level};
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

/// The coordinate along a dim of the op's domain, of index type.
EpilogueEmitter::Placed EpilogueEmitter::coordinate(unsigned domainDim) {
  unsigned dim = 0;
  for (auto [i, model] : llvm::enumerate(tile.dims))
    if (llvm::is_contained(model.domain, domainDim))
      dim = i;
  SmallVector<Value> elements;
  if (dim == tile.innerM) {
    for (int64_t half = 0; half < 2; ++half)
      elements.push_back(e.toIndex(threadRow(half)));
    return {pack(elements, b.getIndexType(), Row), Row};
  }
  if (dim == tile.innerN) {
    for (int64_t i = 0; i < 2; ++i)
      elements.push_back(
          e.toIndex(threadColumn(/*forLoad=*/false, i)));
    return {pack(elements, b.getIndexType(), Column), Column};
  }
  if (tile.dims[dim].kind == DimKind::n) {
    // Uniform over the block, but not over the tile.
    elements.assign(2, e.toIndex(outerCoord(chunkAt, dim)));
    return {pack(elements, b.getIndexType(), Column), Column};
  }
  return {e.toIndex(at.coords[dim]), None};
}

/// The block's accumulators of group `group`, of all of the tile's points.
Value EpilogueEmitter::loadAccumulators(unsigned group) {
  int64_t first =
      swaps ? (group * chunks + chunk) * rows / 2 + 4 * rowBlock()
            : (group * points + chunk * chunkColumns + blockColumn()) / 2;
  return pack(accumulators.slice(first, 4), b.getF32Type(), Full);
}

/// The block's accumulators of both points of a pair, the groups `group` and
/// `group` + 1. Their columns alternate in two blocks of 8, of which a thread has
/// points l and 4 + l, both columns of them, but is to have points 2 l and 2 l + 1.
/// Twice it keeps one of two values and has the other in exchange for one of the
/// lane next but one, then of the next.
std::array<Value, 2> EpilogueEmitter::loadPairs(unsigned group) {
  int64_t first = group * points / 2 + chunk * chunkColumns + blockColumn();
  Value inQuad = e.remU(e.lane, e.i32(4));
  Value isUpper = e.lessU(e.i32(1), inQuad);
  Value isOdd = e.equal(e.remU(inQuad, e.i32(2)), e.i32(1));
  // What the lane has of (x, y) and its mate of (x', y'): (x, x') or (y', y).
  auto exchange = [&](Value x, Value y, Value takesY, int64_t mask) {
    Value got = shuffle(e.select(takesY, x, y), mask);
    return std::pair(e.select(takesY, got, x), e.select(takesY, y, got));
  };
  SmallVector<Value> elements[2];
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t u = 0; u < 2; ++u) {
      Value x = accumulators[first + 2 * half + u];
      Value y = accumulators[first + 4 + 2 * half + u];
      std::tie(x, y) = exchange(x, y, isUpper, 2);
      std::tie(x, y) = exchange(x, y, isOdd, 1);
      elements[u].append({x, y});
    }
  return {pack(elements[0], b.getF32Type(), Full),
          pack(elements[1], b.getF32Type(), Full)};
}

EpilogueEmitter::Placed EpilogueEmitter::evaluate(Value value) {
  for (Level level : {None, Row, Column, Full})
    if (auto it = valuesAt(level).find(value); it != valuesAt(level).end())
      return it->second;
  Placed placed;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    int64_t number = argument.getArgNumber();
    int64_t slices = tile.groups.size();
    if (number < slices) {
      const OperandModel &rhs = tile.getRightFactor(number);
      if (!rhs.pairs) {
        placed = {loadAccumulators(number), Full};
      } else {
        int64_t point = tile.groups[number].u[*rhs.pairs];
        std::array<Value, 2> both = loadPairs(number - point);
        for (int64_t u = 0; u < 2; ++u)
          blockValues[tile.op.getBody().getArgument(number - point + u)] = {
              both[u], Full};
        placed = {both[point], Full};
      }
    } else {
      number -= slices;
      unsigned input = 0;
      while (number >= tile.inputs[input].points)
        number -= tile.inputs[input++].points;
      placed = loadInput(input, number);
    }
  } else {
    placed = evaluateOp(value.getDefiningOp());
  }
  valuesAt(placed.level)[value] = placed;
  return placed;
}

/// An op of the region on vectors: what it depends on decides their length.
EpilogueEmitter::Placed EpilogueEmitter::evaluateOp(Operation *op) {
  if (auto index = dyn_cast<IndexOp>(op))
    return coordinate(tile.op.getDimPosition(index.getDim().getKind(),
                                             index.getDim().getIndex()));
  SmallVector<Placed> operands;
  int level = None;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand));
    level |= operands.back().level;
  }
  OperationState state(op->getLoc(), op->getName());
  for (Placed operand : operands)
    state.addOperands(broadcast(operand, static_cast<Level>(level)));
  for (Type type : op->getResultTypes())
    state.addTypes(typeAt(type, static_cast<Level>(level)));
  state.addAttributes(op->getAttrs());
  return {b.create(state)->getResult(0), static_cast<Level>(level)};
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void EpilogueEmitter::evaluateBlock() {
  // What is stored in place is written where a loaded box was read. 32-bit
  // elements are read and written by the same thread, so its reads of the block
  // come first. Pieces of 16-bit ones are read by ldmatrix, with the first block
  // at the latest, and written by stmatrix with the second, at the same addresses of the
  // same lanes; but what a lane addresses other lanes get, so the warp joins in
  // between. Other warps have other rows.
  bool joins = false;
  for (const StagedBox &box : stagedBoxes) {
    joins |= box.inPlace && box.width == 16;
    // Of a piece that is one block, the reads come first, too.
    bool isAlone = isLastOfPiece() && block == 0;
    if (box.inPlace && (box.width == 32 || isAlone))
      for (unsigned i = 0; i < tile.inputs.size(); ++i)
        if (tile.inputs[i].path == LoadPath::Prefetched)
          for (BlockArgument argument : tile.op.getInputArguments(i))
            if (!argument.use_empty())
              evaluate(argument);
  }
  if (joins && isLastOfPiece())
    NVVM::SyncWarpOp::create(b, loc, e.i32(-1));
  for (auto [number, output] : llvm::enumerate(tile.outputs)) {
    OperandRange yielded = tile.op.getYieldedValues(number);
    for (int64_t point = 0; point < output.points; ++point) {
      Placed placed = evaluate(yielded[point]);
      switch (output.reduce) {
      case ReduceKind::None:
        storeBlock(output, number, point, placed);
        break;
      case ReduceKind::Rows:
        reduceRows(output, number, point, placed);
        break;
      case ReduceKind::Columns:
        reduceColumns(output, number, point, placed);
        break;
      }
    }
  }
}

/// Sets the coordinates of the chunk where the walk is.
void EpilogueEmitter::enterChunk() {
  isAtColumn = false;
  columnsValues.clear();
  Value column = e.add(at.column, e.i32(chunk * chunkColumns));
  chunkAt = e.chunkCoords(tile, at, column);
  loadAtCoords = chunkAt;
  // A single outer dim of narrow rows is clamped block by block.
  if (masksColumns && !tile.outerN.empty() &&
      (tile.runColumns == kLongRun || tile.outerN.size() > 1))
    loadAtCoords = e.chunkCoords(
        tile, at,
        e.minU(column, e.sub(e.numColumns(tile), e.i32(chunkColumns))));
}

/// Sets the coordinates to load from, and to store at, to those of one column.
void EpilogueEmitter::enterColumn(Value column) {
  loadAtCoords = e.chunkCoords(tile, at, column);
  isAtColumn = true;
}

/// Runs `body` for each block of the chunk. Behind it coordinates are those of the
/// chunk's first.
void EpilogueEmitter::walkChunk(llvm::function_ref<void()> body) {
  prefetchedWords.clear();
  for (piece = 0; piece < pieces; ++piece) {
    for (block = 0;; ++block) {
      blockValues.clear();
      if (!swaps)
        columnsValues.clear();
      body();
      if (isLastOfPiece())
        break;
    }
  }
  piece = block = 0;
}

void EpilogueEmitter::run(ArrayRef<Value> threadAccumulators,
                          LoadedTiles &tiles) {
  accumulators = threadAccumulators;
  loaded = &tiles;
  for (chunk = 0; chunk < chunks; ++chunk) {
    if (tile.groupColumns && chunk * chunkColumns % tile.groupColumns == 0)
      enterGroup();
    enterChunk();
    acquireStaging();
    walkChunk([&] { evaluateBlock(); });
    // Tiles that no output reads are loaded all the same.
    loaded->awaitChunk(fragment, chunk);
    // After as many columns whatever the chunks: the same bits.
    if ((chunk + 1) * chunkColumns % kMaxChunk == 0)
      for (auto &[key, rows] : rowStates)
        rows.fold();
    for (auto [number, output] : llvm::enumerate(tile.outputs))
      if (output.reduce == ReduceKind::Rows &&
          (swaps || (chunk + 1) * chunkColumns % output.groupColumns == 0))
        for (int64_t point = 0; point < output.points; ++point)
          swaps ? finishStrip(output, number, point)
                : finishRows(output, number, point);
    finishColumnChunk();
    commitChunk();
  }
  finishColumns();
  joinGroups();
}
