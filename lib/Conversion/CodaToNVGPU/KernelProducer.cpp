//===- KernelProducer.cpp - The threads that load -------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::coda_gpu;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

SmallVector<int64_t> KernelEmitter::boxOf(const OperandModel &operand,
                                          unsigned dim, int64_t rows,
                                          int64_t inner) {
  SmallVector<int64_t> box(operand.dims.size(), 1);
  int position = operand.find(dim);
  if (position >= 0)
    box[position] = rows;
  box.back() = inner;
  return box;
}

/// A box of `columns` columns of the operand, 64 or a part of them, by `extent`
/// along `dim`.
SmallVector<int64_t> KernelEmitter::columnsBoxOf(const TileModel &tile,
                                                 const OperandModel &operand,
                                                 unsigned dim, int64_t extent,
                                                 int64_t columns) {
  SmallVector<int64_t> box(operand.dims.size(), 1);
  auto set = [&](unsigned d, int64_t to) {
    if (int position = operand.find(d); position >= 0)
      box[position] = to;
  };
  int64_t run = tile.runColumns * operand.getColumnsOfPoint();
  set(dim, extent);
  set(tile.innerN, std::min(columns, run));
  if (run < columns)
    set(tile.outerN.back(), columns / run);
  return box;
}

/// Moves `coords` of a chunk's first column to its column `columns`.
void KernelEmitter::skipColumns(const TileModel &tile, int64_t columns,
                                SmallVectorImpl<Value> &coords) {
  auto move = [&](unsigned d, int64_t by) {
    coords[d] = add(coords[d], i32(by));
  };
  move(tile.innerN, columns % tile.runColumns);
  if (columns >= tile.runColumns)
    move(tile.outerN.back(), columns / tile.runColumns);
}

/// Coordinates in the order of the hardware: innermost first.
SmallVector<Value> KernelEmitter::tensorCoords(const OperandModel &operand,
                                               ArrayRef<Value> coords) {
  SmallVector<Value> result;
  for (unsigned d : llvm::reverse(operand.dims)) {
    Value coord = coords[d];
    if (operand.pairs && d == operand.dims.back())
      coord = mul(coord, i32(operand.getColumnsOfPoint()));
    result.push_back(toIndex(coord));
  }
  return result;
}

void KernelEmitter::load(const OperandModel &operand, ArrayRef<int64_t> box,
                         ArrayRef<Value> coords, Value barriers,
                         Value barrier, Value byteOffset,
                         Value multicastMask) {
  Value map = tensorMap(operand, box);
  nvgpu::TmaAsyncLoadOp::create(
      b, loc, boxView(byteOffset, box, operand.element), barriers, map,
      tensorCoords(operand, coords), barrier, multicastMask,
      /*predicate=*/Value());
}

/// Issues the loads of one k block: the left factor's rows, then per
/// accumulator slice the right factor's rows. In a cluster this block's part of
/// them; of the factors those that `factors` says.
void KernelEmitter::loadBlock(const TileModel &tile, const Phase &phase,
                              const TileCoords &tileAt, Value block,
                              RingPosition at, Factors factors) {
  auto skips = [&](const OperandModel &factor) {
    return factors != Factors::All &&
           factor.unwritten != (factors == Factors::Unwritten);
  };
  int64_t points = getTilePoints(tile, schedule);
  Value base = mul(at.stage, i32(stageBytes));
  SmallVector<Value> coords = chunkCoords(tile, tileAt, tileAt.column);
  setBlockCoords(tile, phase, block, coords);
  for (unsigned d : tile.uDims)
    coords[d] = i32(0);

  Share left = shareOfLeft(), right = shareOfRight();
  if (skips(phase.lhs)) {
    // The other call loads it.
  } else if (phase.lhsKMajor) {
    loadShared(
        phase.lhs,
        boxOf(phase.lhs, tile.innerM, getFactorRows(tile, schedule),
              tile.blockK),
        coords, at.stage, base, left);
  } else {
    int64_t rows = getFactorRunOfRows(schedule);
    forShare(getTileRows(schedule) / rows, left,
             [&](Value number, const Share &share) {
               SmallVector<Value> there = coords;
               there[tile.innerM] =
                   add(coords[tile.innerM], mul(number, i32(rows)));
               loadShared(phase.lhs,
                          boxOf(phase.lhs, phase.k.back(), kBlockK, rows),
                          there, at.stage,
                          add(base, mul(number, i32(rows * kBlockK * 2))),
                          share);
             });
  }

  int64_t offset = getRightOffset(tile, schedule);
  for (const ColumnGroup &group : tile.groups) {
    if (!phase.rhs[group.accumulator])
      continue;
    const OperandModel &rhs = *phase.rhs[group.accumulator];
    // The columns of pairs come with those of the first point.
    if (rhs.pairs && group.u[*rhs.pairs] != 0)
      continue;
    int64_t times = rhs.getColumnsOfPoint();
    if (skips(rhs)) {
      offset += points * times * kBlockK * 2;
      continue;
    }
    SmallVector<Value> there = coords;
    for (unsigned d : tile.uDims)
      there[d] = i32(group.u[d]);
    // One box for all points where they lie in one run of rows, else one per
    // 64 columns, or of as many as divide the tile's.
    int64_t rows = phase.rhsKMajor ? getRowsOfBox(tile, rhs, schedule) : 0;
    if (rows) {
      SmallVector<int64_t> box =
          boxOf(rhs, tile.innerN, points / rows, tile.blockK);
      if (rows > 1)
        box[rhs.find(tile.outerN.back())] = rows;
      loadShared(rhs, box, there, at.stage, add(base, i32(offset)), right);
      offset += points * kBlockK * 2;
      continue;
    }
    int64_t columns = getFactorRun(tile, rhs, schedule);
    forShare(points * times / columns, right, [&](Value chunk,
                                                  const Share &share) {
      SmallVector<Value> chunkAt = chunkCoords(
          tile, tileAt, add(tileAt.column, mul(chunk, i32(columns / times))));
      for (unsigned d : tile.outerN)
        there[d] = chunkAt[d];
      there[tile.innerN] = chunkAt[tile.innerN];
      loadShared(
          rhs, columnsBoxOf(tile, rhs, phase.k.back(), tile.blockK, columns),
          there, at.stage,
          add(base, add(i32(offset), mul(chunk, i32(columns * kBlockK * 2)))),
          share);
    });
    offset += points * times * kBlockK * 2;
  }
}

bool KernelEmitter::loadsEarly(const TileModel &tile) const {
  if (tile.phases.empty() || !beginsEarly(kernel, schedule))
    return false;
  const Phase &first = tile.phases.front();
  return first.lhs.unwritten ||
         llvm::any_of(first.rhs, [](const std::optional<OperandModel> &rhs) {
           return rhs && rhs->unwritten;
         });
}

bool KernelEmitter::loadsEarly() const {
  return llvm::any_of(kernel.tiles, [&](const TileModel &tile) {
    return loadsEarly(tile);
  });
}

/// Issues, for the first k blocks of this block's first tile, as many as the
/// ring has stages, the loads of the factors that no kernel before this one
/// writes. Returns for how many; the others of their factors follow.
Value KernelEmitter::loadEarly() {
  Value early = i32(0), begin = i32(0);
  for (const TileModel &tile : kernel.tiles) {
    Value end = add(begin, numGroups(tile));
    Value number = sub(firstTile, begin);
    // Unsigned: the tiles of an op before are many.
    Value isFirst = lessU(number, sub(end, begin));
    begin = end;
    if (!loadsEarly(tile))
      continue;
    const Phase &phase = tile.phases.front();
    auto branch = scf::IfOp::create(b, loc, TypeRange{b.getI32Type()}, isFirst,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, early);
    b.setInsertionPointToStart(branch.thenBlock());
    TileCoords tileAt = tileCoords(tile, number);
    auto [first, count] = blockSlice(tile, phase);
    count = minU(count, i32(schedule.getStages()));
    int64_t producers = getProducers(schedule);
    auto loop = scf::ForOp::create(b, loc, producers == 1 ? i32(0) : producer,
                                   count, i32(producers));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value stage = loop.getInductionVar();
      nvgpu::MBarrierArriveExpectTxOp::create(
          b, loc, full, index(getBlockBytes(tile, phase, schedule)),
          toIndex(stage), Value());
      loadBlock(tile, phase, tileAt, add(first, stage), {stage, Value()},
                Factors::Unwritten);
    }
    scf::YieldOp::create(b, loc, count);
    early = branch.getResult(0);
  }
  return early;
}

/// `early`: k blocks, of the first phase, that `loadEarly` has begun.
RingPosition KernelEmitter::produceTile(const TileModel &tile, Value number,
                                        RingPosition at, Value &early) {
  TileCoords tileAt = tileCoords(tile, number);
  for (const Phase &phase : tile.phases) {
    int64_t blockBytes = getBlockBytes(tile, phase, schedule);
    auto [first, count] = blockSlice(tile, phase);
    bool mayBeBegun = &phase == &tile.phases.front() && loadsEarly(tile);
    SmallVector<Value> carried{at.stage, at.parity};
    if (mayBeBegun)
      carried.push_back(early);
    auto loop =
        scf::ForOp::create(b, loc, first, add(first, count), i32(1), carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      RingPosition here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      auto loadFactors = [&](Factors factors) {
        loadBlock(tile, phase, tileAt, loop.getInductionVar(), here, factors);
      };
      auto begin = [&] {
        wait(empty, here.stage, here.parity);
        nvgpu::MBarrierArriveExpectTxOp::create(
            b, loc, full, index(blockBytes), toIndex(here.stage), Value());
      };
      RingPosition next = advance(here);
      SmallVector<Value> yielded{next.stage, next.parity};
      Value isNew;
      if (mayBeBegun) {
        Value left = loop.getRegionIterArg(2);
        isNew = equal(left, i32(0));
        yielded.push_back(select(isNew, left, sub(left, i32(1))));
      }
      auto fill = [&] {
        if (!mayBeBegun) {
          begin();
          return loadFactors(Factors::All);
        }
        ifThen(isNew, [&] {
          begin();
          loadFactors(Factors::Unwritten);
        });
        loadFactors(Factors::Others);
      };
      int64_t producers = getProducers(schedule);
      if (producers == 1)
        fill();
      else
        ifThen(equal(remU(here.stage, i32(producers)), producer), fill);
      scf::YieldOp::create(b, loc, yielded);
    }
    at = {loop.getResult(0), loop.getResult(1)};
    if (mayBeBegun)
      early = loop.getResult(2);
  }
  return schedule.getRing() ? sendTile(tile, tileAt, at) : at;
}

/// Issues the load of `rows` rows of box `box` of the chunk at `chunkAt`.
void KernelEmitter::loadBox(const TileModel &tile, int64_t box, int64_t rows,
                            ArrayRef<Value> chunkAt, Value barriers,
                            Value barrier, Value byteOffset) {
  for (const InputModel &input : tile.inputs) {
    if (input.path != LoadPath::Prefetched)
      continue;
    if (box >= input.getBoxes()) {
      box -= input.getBoxes();
      continue;
    }
    int64_t parts = input.element.getIntOrFloatBitWidth() / 16;
    SmallVector<Value> there(chunkAt);
    SmallVector<int64_t> u = tile.uCoords(input.uDims, box / parts);
    for (unsigned d : input.uDims)
      there[d] = i32(u[d]);
    int64_t columns = schedule.getChunk() / parts;
    skipColumns(tile, box % parts * columns, there);
    return load(input, columnsBoxOf(tile, input, tile.innerM, rows, columns),
                there, barriers, barrier, byteOffset);
  }
}

/// Issues the loads of the tiles that the region loads, into the ring behind the
/// k blocks: they arrive under the last products. Boxes have the rows of both
/// consumers; those of a fragment begin a new stage.
RingPosition KernelEmitter::sendTile(const TileModel &tile,
                                     const TileCoords &tileAt,
                                     RingPosition at) {
  RingBoxes boxes(tile, schedule);
  for (int64_t f = 0; f < getFragments(schedule); ++f) {
    at = sendBoxes(tile, tileAt, f, boxes.period, boxes.repeated, 0,
                   boxes.getCount(), at);
    at = sendBoxes(tile, tileAt, f, boxes.chunks, boxes.own,
                   boxes.period * boxes.repeated.size(), boxes.getCount(), at);
  }
  return at;
}

/// Issues the loads of boxes `numbers` of the first `chunks` chunks of a
/// fragment: boxes `first` and on of the `count` that it has in the ring.
RingPosition KernelEmitter::sendBoxes(const TileModel &tile,
                                      const TileCoords &tileAt,
                                      int64_t fragment, int64_t chunks,
                                      ArrayRef<int64_t> numbers, int64_t first,
                                      int64_t count, RingPosition at) {
  if (numbers.empty())
    return at;
  int64_t perStage = getBoxesPerStage(kernel, schedule);
  // A loop, not its turns: this thread has few registers.
  auto loop = scf::ForOp::create(b, loc, i32(0), i32(chunks), i32(1),
                                 ValueRange{at.stage, at.parity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  at = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  Value chunk = loop.getInductionVar();
  SmallVector<Value> coords = chunkCoords(
      tile, tileAt, add(tileAt.column, mul(chunk, i32(schedule.getChunk()))));
  coords[tile.innerM] = add(tileAt.coords[tile.innerM],
                            i32(fragment * kConsumers * kFragmentRows));
  for (auto [i, box] : llvm::enumerate(numbers)) {
    Value position = add(mul(chunk, i32(numbers.size())), i32(first + i));
    Value place = remU(position, i32(perStage));
    ifThen(equal(place, i32(0)), [&] {
      wait(empty, at.stage, at.parity);
      Value rest = sub(i32(count), position);
      Value bytes =
          mul(minU(rest, i32(perStage)), i32(getRingBoxBytes(schedule)));
      if (getNumMates() > 1) {
        bytes = add(bytes, i32(getNumMates() - 1));
        tellMatesOfOwnStage(at.stage);
      }
      nvgpu::MBarrierArriveExpectTxOp::create(
          b, loc, full, toIndex(bytes), toIndex(at.stage), Value());
    });
    loadBox(tile, box, kConsumers * kFragmentRows, coords, full,
            toIndex(at.stage),
            add(mul(at.stage, i32(stageBytes)),
                mul(place, i32(getRingBoxBytes(schedule)))));
    Value isLast = b.createOrFold<arith::OrIOp>(
        loc, equal(place, i32(perStage - 1)), equal(position, i32(count - 1)));
    RingPosition next = advance(at);
    at = {select(isLast, next.stage, at.stage),
          select(isLast, next.parity, at.parity)};
  }
  scf::YieldOp::create(b, loc, ValueRange{at.stage, at.parity});
  return {loop.getResult(0), loop.getResult(1)};
}

/// Issues the loads of the tiles that the region of this consumer loads of one
/// tile, chunk by chunk as it will walk.
RingPosition KernelEmitter::prefetchTile(const TileModel &tile,
                                         Value tileNumber,
                                         RingPosition at) {
  int64_t boxes = tile.getPrefetchedPerChunk();
  if (boxes == 0)
    return at;
  TileCoords tileAt = tileCoords(tile, tileNumber);
  int64_t chunks = getRegionPoints(tile, schedule) / schedule.getChunk();
  // A loop, not its turns: this thread has few registers.
  auto loop = scf::ForOp::create(
      b, loc, i32(0), i32(getFragments(schedule) * chunks), i32(1),
      ValueRange{at.stage, at.parity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  at = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  Value fragment = divU(loop.getInductionVar(), i32(chunks));
  Value chunk = remU(loop.getInductionVar(), i32(chunks));
  SmallVector<Value> coords = chunkCoords(
      tile, tileAt,
      add(regionColumn(tile, tileAt), mul(chunk, i32(schedule.getChunk()))));
  coords[tile.innerM] = add(regionRow(tile, tileAt),
                            mul(rowBlock(fragment), i32(kFragmentRows)));
  Value number = prefetchNumber(at), barrier = toIndex(number);
  wait(prefetchEmpty, number, at.parity);
  nvgpu::MBarrierArriveExpectTxOp::create(b, loc, prefetchFull,
                                          index(boxes * getBoxBytes(schedule)),
                                          barrier, Value());
  Value base = prefetchBase(at);
  for (int64_t box = 0; box < boxes; ++box)
    loadBox(tile, box, getRegionRows(schedule), coords, prefetchFull, barrier,
            add(base, i32(box * getBoxBytes(schedule))));
  RingPosition next = advancePrefetch(at);
  scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
  return {loop.getResult(0), loop.getResult(1)};
}

//===----------------------------------------------------------------------===//
// The roles
//===----------------------------------------------------------------------===//

void KernelEmitter::emitProducer() {
  NVVM::SetMaxRegisterOp::create(b, loc, getProducerRegisters(schedule),
                                 NVVM::SetMaxRegisterAction::decrease);
  Value produces = isFirstThread;
  if (getProducers(schedule) > 1) {
    // The first warp and the last.
    Value warpNumber = divU(threadId, i32(32));
    producer = divU(warpNumber, i32(3));
    produces = bitAnd(equal(remU(warpNumber, i32(3)), i32(0)),
                      equal(remU(threadId, i32(32)), i32(0)));
  }
  ifThen(produces, [&] {
    Value early = i32(0);
    if (loadsEarly()) {
      isEarly = true;
      early = loadEarly();
      isEarly = false;
      awaitKernelBefore();
    }
    RingPosition start{i32(0), i1(true)};
    forTiles({start, start, i1(true), i1(true), i32(0), early, i1(true)},
             [&](const TileModel &tile, Value number, const WalkState &state) {
               WalkState after = state;
               after.ring =
                   produceTile(tile, number, state.ring, after.early);
               return after;
             });
  });
  if (hasPrefetch)
    emitPrefetcher();
}

/// A thread of a warp for each consumer: loads that wait for one of them hold up
/// nothing else.
void KernelEmitter::emitPrefetcher() {
  Value warpNumber = divU(threadId, i32(32));
  consumer = sub(warpNumber, i32(1));
  Value isLane0 = equal(remU(threadId, i32(32)), i32(0));
  // Or one of them for both, if their tiles come into the same buffers.
  Value count = i32(schedule.getOrdered() ? 1 : kConsumers);
  ifThen(bitAnd(isLane0, lessU(consumer, count)), [&] {
    if (loadsEarly())
      awaitKernelBefore();
    RingPosition start{i32(0), i1(true)};
    Value isFirst = equal(consumer, i32(0));
    forTiles(
        {start, start, isFirst, i1(true), i32(0), i32(0), i1(true)},
        [&](const TileModel &tile, Value number, const WalkState &state) {
          WalkState after = state;
          Value loads = isOwner(tile);
          if (schedule.getPingpong() && !schedule.getOrdered())
            loads = loads ? bitAnd(loads, state.isMine) : state.isMine;
          if (!loads) {
            after.prefetch = prefetchTile(tile, number, state.prefetch);
            return after;
          }
          auto branch = scf::IfOp::create(
              b, loc, TypeRange{b.getI32Type(), b.getI1Type()}, loads,
              /*withElseRegion=*/true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          RingPosition next = prefetchTile(tile, number, state.prefetch);
          scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(
              b, loc,
              ValueRange{state.prefetch.stage, state.prefetch.parity});
          b.setInsertionPointAfter(branch);
          after.prefetch = {branch.getResult(0), branch.getResult(1)};
          after.isMine = bitXor(state.isMine, i1(true));
          return after;
        });
  });
}
