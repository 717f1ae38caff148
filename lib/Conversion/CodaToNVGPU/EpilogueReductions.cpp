//===- EpilogueReductions.cpp - Reductions over a tile --------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are reduced over the columns that a thread holds, then over the four
// threads that share a row. Columns are reduced over a thread's rows, the 8
// lanes of a warp that share a column, and through shared memory over the
// warps. Groups of `coda.group_reduce` are rows over some columns of the tile.
//
// Where factors are swapped 8 lanes of each warp share a row, which has 16 of a
// chunk's columns there (a strip), and what makes a group of several strips is
// combined from shared memory behind the last chunk.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace mlir::coda;
using namespace mlir::coda_gpu;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr double kLog2E = 1.4426950408889634;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value RowCombination::constant(double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}

Value RowCombination::combine(Value x, Value y) {
  return combiner.combine(b, loc, x, y);
}

void RowCombination::add(unsigned half, Value term) {
  Row &row = rows[half];
  if (isLogAddExp())
    row.terms.push_back(term);
  else
    row.value = row.value ? combine(row.value, term) : term;
}

/// `max`, or 0 where it is infinite, so that what is relative to it is a number.
Value RowCombination::origin(Value max) {
  Value finite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                       math::AbsFOp::create(b, loc, max),
                                       constant(kInfinity));
  return arith::SelectOp::create(b, loc, finite, max, constant(0));
}

/// What a sum relative to `max` is worth relative to `to`: an empty one nothing.
Value RowCombination::rescale(Value max, Value to) {
  Value difference = arith::SubFOp::create(b, loc, origin(max), origin(to));
  Value factor = math::Exp2Op::create(
      b, loc, arith::MulFOp::create(b, loc, difference, constant(kLog2E)));
  Value empty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, max,
                                      constant(-kInfinity));
  return arith::SelectOp::create(b, loc, empty, constant(0), factor);
}

void RowCombination::fold() {
  for (Row &row : rows) {
    if (row.terms.empty())
      continue;
    Value max = row.value;
    for (Value term : row.terms)
      max = max ? Value(arith::MaxNumFOp::create(b, loc, max, term)) : term;
    Value offset = arith::MulFOp::create(b, loc, origin(max),
                                         constant(-kLog2E));
    Value sum;
    if (row.value)
      sum = arith::MulFOp::create(b, loc, row.sum, rescale(row.value, max));
    for (Value term : row.terms) {
      Value power = math::Exp2Op::create(
          b, loc,
          math::FmaOp::create(b, loc, term, constant(kLog2E), offset));
      sum = sum ? Value(arith::AddFOp::create(b, loc, sum, power)) : power;
    }
    row.value = max;
    row.sum = sum;
    row.terms.clear();
  }
}

SmallVector<Value, 2>
RowCombination::finish(ArrayRef<int64_t> masks,
                       llvm::function_ref<Value(Value, int64_t)> exchange) {
  fold();
  SmallVector<Value, 2> results;
  for (Row &row : rows) {
    for (int64_t mask : masks) {
      Value other = exchange(row.value, mask);
      if (!isLogAddExp()) {
        row.value = combine(row.value, other);
        continue;
      }
      Value otherSum = exchange(row.sum, mask);
      Value max = arith::MaxNumFOp::create(b, loc, row.value, other);
      row.sum = arith::AddFOp::create(
          b, loc,
          arith::MulFOp::create(b, loc, row.sum, rescale(row.value, max)),
          arith::MulFOp::create(b, loc, otherSum, rescale(other, max)));
      row.value = max;
    }
    if (isLogAddExp())
      row.value = arith::AddFOp::create(
          b, loc, origin(row.value), math::LogOp::create(b, loc, row.sum));
    results.push_back(row.value);
  }
  return results;
}

void EpilogueEmitter::addToRows(RowCombination &rows, Placed placed) {
  Value value = broadcast(placed, Full);
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t one = 0; one < 2; ++one)
      rows.add(half, element(value, Full, place(half, one)));
}

/// `placed`, and the identity of `combiner` in columns beyond the last.
EpilogueEmitter::Placed
EpilogueEmitter::maskColumns(CombinerAttrInterface combiner, Placed placed) {
  if (!masksColumns)
    return placed;
  Value identity = arith::ConstantOp::create(
      b, loc,
      combiner.getIdentity(
          cast<FloatType>(getElementTypeOrSelf(placed.value.getType()))));
  return {arith::SelectOp::create(
              b, loc, broadcast({columnMask(), Column}, Full),
              broadcast(placed, Full), broadcast({identity, None}, Full)),
          Full};
}

void EpilogueEmitter::reduceRows(const OutputModel &output, unsigned number,
                                 int64_t point, Placed placed) {
  placed = maskColumns(output.combiner, placed);
  auto [it, isNew] = rowStates.try_emplace(
      {number, point, rowBlock()}, RowCombination(b, loc, output.combiner));
  addToRows(it->second, placed);
}

/// After the last chunk of a group of columns: across the four threads of a
/// row, one of which writes.
void EpilogueEmitter::finishRows(const OutputModel &output, unsigned number,
                                 int64_t point) {
  auto state = rowStates.find({number, point, rowBlock()});
  SmallVector<Value, 2> sums = state->second.finish(
      lanesOfRow().masks,
      [&](Value value, int64_t mask) { return shuffle(value, mask); });
  rowStates.erase(state);
  Value writes = e.equal(quadColumn, e.i32(0));
  int64_t first = (chunk + 1) * chunkColumns - output.groupColumns;
  if (masksColumns)
    writes = e.bitAnd(writes, e.lessU(e.add(at.column, e.i32(first)),
                                      e.numColumns(tile)));
  e.ifThen(writes, [&] {
    for (int64_t half = 0; half < 2; ++half)
      storeRow(output, point, threadRow(half), e.add(at.column, e.i32(first)),
               sums[half]);
  });
}

/// Stores what row `row` of the group that begins at column `column` is reduced to.
void EpilogueEmitter::storeRow(const OutputModel &output, int64_t point,
                               Value row, Value column, Value value) {
  auto store = [&] {
    Value pointer = elementPointer(
        output,
        e.add(rowOffset(output, row),
              columnOffset(output, tile.uCoords(output.uDims, point), column)));
    if (!output.fresh)
      value = output.combiner.combine(
          b, loc, LLVM::LoadOp::create(b, loc, output.element, pointer), value);
    LLVM::StoreOp::create(b, loc, value, pointer);
  };
  if (masksRows)
    e.ifThen(e.lessU(row, e.extent(tile, tile.innerM)), store);
  else
    store();
}

/// After a chunk of a swapped tile: over the lanes that share a row. Of 16 columns
/// that is all; of more, one of the lanes puts it into the scratch.
void EpilogueEmitter::finishStrip(const OutputModel &output, unsigned number,
                                  int64_t point) {
  Lanes lanes = lanesOfRow();
  // By the walk's rows.
  SmallVector<SmallVector<Value, 2>> results;
  walkChunk([&] {
    auto state = rowStates.find({number, point, rowBlock()});
    results.push_back(state->second.finish(
        lanes.masks,
        [&](Value value, int64_t mask) { return shuffle(value, mask); }));
    rowStates.erase(state);
  });
  int64_t first = chunk * chunkColumns;
  Value writes = e.equal(lanes.number, e.i32(0));
  if (joinsStrips(output, e.schedule)) {
    e.ifThen(writes, [&] {
      Value strip = e.add(e.warp, e.i32(first / kStripColumns));
      Value base = e.sharedPointer(
          e.add(stripsBase(number, point),
                e.mul(e.add(e.mul(strip, e.i32(rows)), quadColumn), e.i32(4))));
      for (auto [i, values] : llvm::enumerate(results))
        LLVM::StoreOp::create(b, loc, pack(values, b.getF32Type(), Row),
                              e.offsetPointer(base, i * 8 * 4));
    });
    return;
  }
  Value column = e.add(at.column, e.add(e.i32(first),
                                        e.mul(e.warp, e.i32(kStripColumns))));
  if (masksColumns)
    writes = e.bitAnd(writes, e.lessU(column, e.numColumns(tile)));
  e.ifThen(writes, [&] {
    walkChunk([&] {
      for (int64_t half = 0; half < 2; ++half)
        storeRow(output, point, threadRow(half), column,
                 results[rowBlock()][half]);
    });
  });
}

/// Where the scratch of a row reduction begins: one float a strip and row.
Value EpilogueEmitter::stripsBase(unsigned number, int64_t point) {
  int64_t before = point;
  for (const OutputModel &output : ArrayRef(tile.outputs).take_front(number))
    if (joinsStrips(output, e.schedule))
      before += output.points;
  return e.add(
      e.i32(SharedMemory(e.kernel, e.schedule).scratch +
            before * points / kStripColumns * rows * 4),
      e.mul(e.consumer,
            e.i32(getScratchBytes(e.kernel, e.schedule) / kConsumers)));
}

/// After the last chunk of a swapped tile: over the strips of each group. A thread
/// has a row of one.
void EpilogueEmitter::joinGroups() {
  if (llvm::none_of(tile.outputs, [&](const OutputModel &output) {
        return joinsStrips(output, e.schedule);
      }))
    return;
  e.warpgroupBarrier();
  for (auto [number, output] : llvm::enumerate(tile.outputs))
    if (joinsStrips(output, e.schedule))
      for (int64_t point = 0; point < output.points; ++point)
        joinGroups(output, number, point);
  // The scratch is written again in the next tile.
  e.warpgroupBarrier();
}

void EpilogueEmitter::joinGroups(const OutputModel &output, unsigned number,
                                 int64_t point) {
  int64_t strips = output.groupColumns / kStripColumns;
  int64_t results = points / output.groupColumns * rows;
  for (int64_t first = 0; first < results; first += kConsumerThreads) {
    Value thread = e.add(e.warpgroupThread, e.i32(first));
    Value group = e.divU(thread, e.i32(rows)), row = e.remU(thread, e.i32(rows));
    Value column = e.add(at.column, e.mul(group, e.i32(output.groupColumns)));
    Value writes = e.lessU(thread, e.i32(results));
    if (masksColumns)
      writes = e.bitAnd(writes, e.lessU(column, e.numColumns(tile)));
    e.ifThen(writes, [&] {
      Value base = e.sharedPointer(e.add(
          stripsBase(number, point),
          e.mul(e.add(e.mul(group, e.i32(strips * rows)), row), e.i32(4))));
      Value value;
      for (int64_t strip = 0; strip < strips; ++strip) {
        Value part =
            LLVM::LoadOp::create(b, loc, b.getF32Type(),
                                 e.offsetPointer(base, strip * rows * 4));
        value = value ? output.combiner.combine(b, loc, value, part) : part;
      }
      enterColumn(column);
      storeRow(output, point, e.add(row0, row), loadAtCoords[tile.innerN],
               value);
    });
  }
}

/// Evaluates the `coda.group_reduce` ops for the group that begins at the
/// chunk where the walk is: a value a row, until the next group.
void EpilogueEmitter::enterGroup() {
  for (Value value : groupDependent)
    valuesAt(Row).erase(value);
  int64_t first = chunk;
  for (Operation &op : tile.op.getBody().front()) {
    auto group = dyn_cast<GroupReduceOp>(op);
    if (!group)
      continue;
    RowCombination rows(b, loc, group.getCombiner());
    for (chunk = first; chunk < first + tile.groupColumns / chunkColumns;
         ++chunk) {
      enterChunk();
      walkChunk([&] {
        addToRows(rows, maskColumns(group.getCombiner(),
                                    evaluate(group.getValue())));
      });
      if ((chunk + 1) * chunkColumns % kMaxChunk == 0)
        rows.fold();
    }
    chunk = first;
    SmallVector<Value, 2> results = rows.finish(
        lanesOfRow().masks,
        [&](Value value, int64_t mask) { return shuffle(value, mask); });
    valuesAt(Row)[group.getResult()] = {pack(results, b.getF32Type(), Row),
                                        Row};
  }
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void EpilogueEmitter::reduceColumns(const OutputModel &output, unsigned number,
                                    int64_t point, Placed placed) {
  Value value = broadcast(placed, Full);
  if (masksRows) {
    Value identity = arith::ConstantOp::create(
        b, loc, output.combiner.getIdentity(b.getF32Type()));
    value = arith::SelectOp::create(b, loc, broadcast({rowMask(), Row}, Full),
                                    value, broadcast({identity, None}, Full));
  }
  // 16 sums of 64 columns: columns 8 j + 2 l + i are number 2 j + i.
  SmallVector<Value> &sums = columnSums[{number, point}];
  for (int64_t one = 0; one < 2; ++one)
    sums.push_back(output.combiner.combine(b, loc, element(value, Full, one),
                                           element(value, Full, 2 + one)));
}

/// After the last piece of a chunk: over the 8 lanes that hold the same
/// columns, each of which ends with one 8-column block, or of 32 columns with
/// one of the two of it, as of 16 each two of the lanes do; then to the scratch.
void EpilogueEmitter::finishColumnChunk() {
  int64_t scratch = 0;
  for (auto [number, output] : llvm::enumerate(tile.outputs)) {
    if (output.reduce != ReduceKind::Columns)
      continue;
    for (int64_t point = 0; point < output.points; ++point, ++scratch) {
      SmallVector<Value> sums = columnSums[{number, point}];
      columnSums.erase({number, point});
      for (int64_t bit : {16, 8, 4}) {
        Value upper =
            e.equal(e.bitAnd(e.lane, e.i32(bit)), e.i32(bit));
        size_t half = sums.size() / 2;
        SmallVector<Value> next;
        if (half == 0)
          next.push_back(output.combiner.combine(b, loc, sums.front(),
                                                 shuffle(sums.front(), bit)));
        for (size_t i = 0; i < half; ++i) {
          Value keep = e.select(upper, sums[i + half], sums[i]);
          Value send = e.select(upper, sums[i], sums[i + half]);
          next.push_back(output.combiner.combine(b, loc, keep,
                                                 shuffle(send, bit)));
        }
        sums = next;
      }
      Value ofLane = e.mul(e.lane, e.i32(2));
      bool areTwo = pieces == 1;
      int64_t lanesOfBlock = areTwo ? 16 : 8;
      if (sums.size() == 1)
        ofLane = e.add(
            e.add(e.mul(e.divU(e.lane, e.i32(lanesOfBlock)), e.i32(8)),
                  quadColumn),
            e.remU(e.divU(e.lane, e.i32(lanesOfBlock / 2)), e.i32(2)));
      Value both = vector::FromElementsOp::create(
          b, loc,
          VectorType::get({static_cast<int64_t>(sums.size())}, b.getF32Type()),
          sums);
      // A strip is the 16 rows of a warp: after those of the fragments of a
      // consumer's group that came before, or of the consumer that has them.
      int64_t before = fragment * kFragmentRows % getGroupRows(output, e.schedule);
      Value first = e.schedule.getPingpong()
                        ? e.i32(before / kWarpRows)
                        : e.mul(e.consumer, e.i32(kFragmentRows / kWarpRows));
      Value strip = e.add(first, e.warp);
      Value offset = e.add(
          e.add(scratchBase(scratch), e.i32(chunk * chunkColumns * 4)),
          e.add(e.mul(strip, e.i32(points * 4)), e.mul(ofLane, e.i32(4))));
      auto store = [&] {
        LLVM::StoreOp::create(b, loc, both, e.sharedPointer(offset));
      };
      if (areTwo)
        e.ifThen(e.equal(e.bitAnd(e.lane, e.i32(4)), e.i32(0)), store);
      else
        store();
    }
  }
}

/// Where the scratch of a column reduction begins; one float a strip and column.
Value EpilogueEmitter::scratchBase(int64_t number) {
  int64_t bytes = getReducedStrips(tile, e.schedule) * points * 4;
  Value base = e.i32(SharedMemory(e.kernel, e.schedule).scratch + number * bytes);
  if (!e.schedule.getPingpong())
    return base;
  int64_t all = getScratchBytes(e.kernel, e.schedule) / kConsumers;
  return e.add(base, e.mul(e.consumer, e.i32(all)));
}

/// After the last chunk of a fragment: of the groups of rows that end with it,
/// across their strips. A thread writes one column, or two.
void EpilogueEmitter::finishColumns() {
  for (int64_t groupRows : {kFragmentRows, kReducedRows}) {
    // One consumer has all rows of the group.
    bool alone = e.schedule.getPingpong() || groupRows == kFragmentRows;
    bool isAny =
        llvm::any_of(tile.outputs, [&](const OutputModel &output) {
          return output.reduce == ReduceKind::Columns &&
                 getGroupRows(output, e.schedule) == groupRows;
        });
    // Fragments of a tile of both consumers lie in turn: 128 rows end with each.
    int64_t ofFragments = e.schedule.getPingpong() ? groupRows / kFragmentRows : 1;
    if (!isAny || (fragment + 1) % ofFragments != 0)
      continue;
    auto barrier = [&] {
      if (alone)
        e.warpgroupBarrier();
      else
        e.consumersBarrier();
    };
    barrier();
    int64_t row = (fragment + 1 - ofFragments) * kFragmentRows;
    Value groupRow =
        alone && !e.schedule.getPingpong()
            ? row0
            : e.add(at.coords[tile.innerM],
                    e.i32(e.schedule.getPingpong() ? row : kConsumers * row));
    int64_t threads = alone ? 128 : kConsumers * 128;
    for (int64_t first = 0; first < points; first += threads) {
      Value thread = e.add(e.warpgroupThread, e.i32(first));
      if (!alone)
        thread = e.add(thread, e.mul(e.consumer, e.i32(128)));
      Value column = e.add(at.column, thread);
      Value writes = e.bitAnd(e.lessU(thread, e.i32(points)),
                              e.lessU(column, e.numColumns(tile)));
      if (masksRows)
        writes = e.bitAnd(writes, e.lessU(groupRow, e.extent(tile, tile.innerM)));
      e.ifThen(writes, [&] { finishColumn(thread, column, groupRows, groupRow); });
    }
    // The scratch is written again: by the next fragment, or in the next tile.
    barrier();
  }
}

void EpilogueEmitter::finishColumn(Value thread, Value column, int64_t groupRows,
                                   Value groupRow) {
  enterColumn(column);
  // Of a tile of both consumers each has a group of 64 rows.
  bool areTwo = !e.schedule.getPingpong() && groupRows == kFragmentRows;
  int64_t scratch = 0;
  for (const OutputModel &output : tile.outputs) {
    if (output.reduce != ReduceKind::Columns)
      continue;
    bool isOther = getGroupRows(output, e.schedule) != groupRows;
    for (int64_t point = 0; point < output.points; ++point, ++scratch) {
      if (isOther)
        continue;
      int64_t strips = groupRows / kWarpRows;
      Value offset = e.add(scratchBase(scratch), e.mul(thread, e.i32(4)));
      if (areTwo)
        offset =
            e.add(offset, e.mul(e.consumer, e.i32(strips * points * 4)));
      Value base = e.sharedPointer(offset);
      Value sum;
      for (int64_t strip = 0; strip < strips; ++strip) {
        Value part = LLVM::LoadOp::create(
            b, loc, b.getF32Type(), e.offsetPointer(base, strip * points * 4));
        sum = sum ? output.combiner.combine(b, loc, sum, part) : part;
      }
      Value pointer = elementPointer(
          output, e.add(rowOffset(output, groupRow),
                        columnOffset(output, tile.uCoords(output.uDims, point),
                                     loadAtCoords[tile.innerN])));
      if (!output.fresh)
        sum = output.combiner.combine(
            b, loc, LLVM::LoadOp::create(b, loc, b.getF32Type(), pointer), sum);
      LLVM::StoreOp::create(b, loc, sum, pointer);
    }
  }
}
