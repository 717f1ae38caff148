//===- EpilogueOutputs.cpp - Stores and reductions of a tile --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What becomes of the values of the region; EpilogueEmitter.cpp has the layout
// of vectors over threads.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::coda;
using namespace mlir::coda_gpu;

//===----------------------------------------------------------------------===//
// Masks and exchanges between threads
//===----------------------------------------------------------------------===//

Value EpilogueEmitter::rowMask() {
  Value limit = e.extent(tile, tile.innerM);
  SmallVector<Value> elements;
  for (int64_t half = 0; half < 2; ++half)
    elements.push_back(e.lessU(threadRow(half), limit));
  return pack(elements, b.getI1Type(), Row);
}

Value EpilogueEmitter::columnMask() {
  SmallVector<Value> elements;
  if (!tile.outerN.empty()) {
    // Narrow rows may end within the chunk, but not within a block, or among the
    // columns of a warp.
    Value first = e.add(at.column, e.i32(chunk * chunkColumns));
    if (tile.runColumns < kLongRun)
      first = e.add(first, swaps ? e.mul(e.warp, e.i32(kStripColumns))
                                 : e.i32(blockColumn()));
    Value inside = e.lessU(first, e.numColumns(tile));
    elements.assign(2, inside);
  } else {
    Value limit = e.extent(tile, tile.innerN);
    for (int64_t i = 0; i < 2; ++i)
      elements.push_back(e.lessU(threadColumn(/*forLoad=*/false, i), limit));
  }
  return pack(elements, b.getI1Type(), Column);
}

/// The value of the lane whose number differs in the bits of `mask`.
Value EpilogueEmitter::shuffle(Value value, int64_t mask) {
  Type type = value.getType();
  if (!type.isF64())
    return NVVM::ShflOp::create(b, loc, type, e.i32(-1), value, e.i32(mask),
                                e.i32(31), NVVM::ShflKind::bfly, UnitAttr());
  // Lanes exchange words.
  Value words = LLVM::BitcastOp::create(
      b, loc, VectorType::get(2, b.getI32Type()), value);
  for (int64_t i = 0; i < 2; ++i) {
    Value word = LLVM::ExtractElementOp::create(b, loc, words, e.i32(i));
    words = LLVM::InsertElementOp::create(b, loc, words, shuffle(word, mask),
                                          e.i32(i));
  }
  return LLVM::BitcastOp::create(b, loc, type, words);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Makes a slot of the staging ring writable: its last store has been read. Where
/// there is more than one, the barrier at the end of the chunk before says so;
/// but a tile of another op may have used other slots.
void EpilogueEmitter::acquireStaging() {
  int64_t slots = getStagingSlots(tile, e.schedule);
  if (slots == 0)
    return;
  bool isFirst = chunk == 0 && fragment == 0;
  // Who passed the turn has waited for all stores.
  if (e.schedule.getOrdered() ? slots == 1 && !isFirst
                              : slots == 1 || isFirst) {
    e.ifThen(e.isLeader, [&] { e.awaitStoresRead(0); });
    e.warpgroupBarrier();
  }
  slot = chunk % slots;
  stagingAddresses = laneAddresses(
      e.add(stagingBase, e.i32(slot * getStagingPerChunk(tile, e.schedule) *
                               getBoxBytes(e.schedule))));
}

/// Pointer number `lane` of the thread into stored box `box` of the chunk.
Value EpilogueEmitter::stagedPointer(int64_t box, unsigned lane) {
  StagedBox there = stagedBoxes[box];
  if (there.inPlace)
    return loadedPointer(there.number, lane);
  return e.offsetPointer(lanePointer(stagingAddresses, lane),
                         there.number * getBoxBytes(e.schedule));
}

/// Writes a block into stored box `box` of the chunk; 16-bit elements go out
/// with the second block of their piece.
void EpilogueEmitter::stage(Value value, Type type, int64_t box) {
  if (type.getIntOrFloatBitWidth() == 16) {
    Value words = vector::BitCastOp::create(
        b, loc, VectorType::get({2}, b.getI32Type()), value);
    SmallVector<Value> &sources = stagedWords[box];
    for (int64_t i = 0; i < 2; ++i)
      sources.push_back(vector::ExtractOp::create(b, loc, words, i));
    if (!isLastOfPiece())
      return;
    NVVM::StMatrixOp::create(
        b, loc, stagedPointer(box, piece), sources,
        swaps ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    sources.clear();
    return;
  }
  if (swaps) {
    // No two elements of a thread are neighbours in a row.
    bool isByte = type.getIntOrFloatBitWidth() == 8;
    Value elements = value;
    if (isByte && !type.isInteger(8))
      elements = arith::BitcastOp::create(
          b, loc, VectorType::get({4}, b.getI8Type()), value);
    for (int64_t i = 0; i < 4; ++i)
      LLVM::StoreOp::create(
          b, loc, vector::ExtractOp::create(b, loc, elements, i),
          stagedPointer(box, (isByte ? 2 : 1) * kMaxPlaces + 4 * rowBlock() + i));
    return;
  }
  // The rows of a thread are 8 apart. Two neighbours of 8 bits are one access.
  if (type.getIntOrFloatBitWidth() == 8) {
    Value pairs = vector::BitCastOp::create(
        b, loc, VectorType::get({2}, b.getI16Type()), value);
    for (int64_t half = 0; half < 2; ++half)
      LLVM::StoreOp::create(
          b, loc, vector::ExtractOp::create(b, loc, pairs, half),
          e.offsetPointer(stagedPointer(box, 2 * kMaxPlaces + piece),
                          half * 8 * chunkColumns + 8 * block));
    return;
  }
  // Two boxes of half the columns.
  int64_t blockNumber = 2 * piece + block;
  for (int64_t half = 0; half < 2; ++half) {
    Value both = vector::ShuffleOp::create(
        b, loc, value, value, ArrayRef<int64_t>{2 * half, 2 * half + 1});
    Value pointer =
        e.offsetPointer(stagedPointer(box + blockNumber / pieces,
                                      kMaxPlaces + blockNumber % pieces),
                        half * 8 * 2 * chunkColumns);
    LLVM::StoreOp::create(b, loc, both, pointer);
  }
}

/// Stores the block's values at `u`, or, of several, those at all points of the
/// output's u dim.
void EpilogueEmitter::storeDirect(const OutputModel &output,
                                  ArrayRef<int64_t> u, ArrayRef<Value> values) {
  SmallVector<Value> stored(values);
  for (Value &value : stored)
    if (Type type = memoryType(value.getType()); type != value.getType())
      value = arith::BitcastOp::create(b, loc, type, value);
  Value rows = masksRows ? rowMask() : Value();
  Value columns = masksColumns ? columnMask() : Value();
  // Two neighbours, both of which are there or none, are one access.
  bool arePairs = values.size() > 1 ? getColumnsOfRun(tile, output) == 2
                                    : hasPairAccess(tile, output);
  int64_t width = !swaps && arePairs ? 2 : 1;
  int64_t count = width * values.size();
  if (count > 1)
    e.alignPointer(output, count * output.element.getIntOrFloatBitWidth() / 8);
  for (int64_t i = 0; i < 4; i += width) {
    int64_t half = rowOf(i), one = columnOf(i);
    auto store = [&] {
      Value column = threadColumn(/*forLoad=*/false, one);
      Value offset = e.add(rowOffset(output, threadRow(half)),
                           columnOffset(output, u, column));
      SmallVector<Value> elements;
      Value access;
      if (count == 1) {
        access = element(stored.front(), Full, i);
      } else if (stored.size() == 1) {
        access = vector::ShuffleOp::create(b, loc, stored.front(), stored.front(),
                                           ArrayRef<int64_t>{i, i + 1});
      } else {
        for (int64_t next = i; next < i + width; ++next)
          for (Value value : stored)
            elements.push_back(element(value, Full, next));
        access = vector::FromElementsOp::create(
            b, loc, VectorType::get({count}, elements.front().getType()),
            elements);
      }
      LLVM::StoreOp::create(b, loc, access, elementPointer(output, offset));
    };
    Value condition;
    if (rows)
      condition = element(rows, Row, half);
    if (columns) {
      Value inside = element(columns, Column, one);
      condition = condition ? e.bitAnd(condition, inside) : inside;
    }
    if (condition)
      e.ifThen(condition, store);
    else
      store();
  }
}

void EpilogueEmitter::storeBlock(const OutputModel &output, unsigned number,
                                 int64_t point, Placed placed) {
  Value value = broadcast(placed, Full);
  if (output.path == StorePath::Direct || stagedBoxes.empty()) {
    if (getColumnsOfRun(tile, output) == 0) {
      storeDirect(output, tile.uCoords(output.uDims, point), value);
      return;
    }
    // All points of a column at once, with the last.
    runOfPoints.push_back(value);
    if (point + 1 == output.points) {
      storeDirect(output, tile.uCoords(output.uDims, 0), runOfPoints);
      runOfPoints.clear();
    }
    return;
  }
  int64_t box = 0;
  for (unsigned i = 0; i < number; ++i)
    if (tile.outputs[i].path == StorePath::Staged)
      box += tile.outputs[i].getBoxes();
  box += point * output.getParts();
  stage(value, output.element, box);
}

/// After the last piece of a chunk: stores go out, what loaded tiles came in goes
/// back.
void EpilogueEmitter::commitChunk() {
  bool stores = !stagedBoxes.empty();
  bool loads = getPrefetchedPerChunk(tile, e.schedule) != 0;
  if (stores) {
    NVVM::FenceProxyOp::create(
        b, loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  }
  // The stores of the slot that comes next are the oldest in flight.
  int64_t slots = getStagingSlots(tile, e.schedule);
  if (slots > 1)
    e.ifThen(e.isLeader, [&] { e.awaitStoresRead(slots - 2); });
  if (stores || loads)
    e.warpgroupBarrier();
  if (stores)
    e.ifThen(e.isLeader, [&] {
      const StagedBox *staged = stagedBoxes.begin();
      int64_t boxBytes = getBoxBytes(e.schedule);
      int64_t slotBytes =
          getStagingPerChunk(tile, e.schedule) * boxBytes * slot;
      SmallVector<Value> coords = chunkAt;
      coords[tile.innerM] = row0;
      for (const OutputModel &output : tile.outputs) {
        if (output.path != StorePath::Staged)
          continue;
        int64_t parts = output.getParts();
        for (int64_t point = 0; point < output.points; ++point) {
          SmallVector<int64_t> u = tile.uCoords(output.uDims, point);
          for (int64_t part = 0; part < parts; ++part) {
            SmallVector<Value> there = coords;
            for (unsigned d : tile.uDims)
              there[d] = e.i32(u[d]);
            e.skipColumns(tile, part * chunkColumns / parts, there);
            SmallVector<int64_t> box = e.columnsBoxOf(
                tile, output, tile.innerM, rows, chunkColumns / parts);
            Value offset = e.add(stagingBase,
                                 e.i32(slotBytes + staged->number * boxBytes));
            if (staged->inPlace) {
              LoadedTiles::Box in =
                  loaded->getBox(fragment, chunk, staged->number);
              offset = e.add(loaded->getBase(in.unit), e.i32(in.offset));
            }
            nvgpu::TmaAsyncStoreOp::create(
                b, loc, e.boxView(offset, box, output.element),
                e.tensorMap(output, box), e.tensorCoords(output, there),
                Value());
            ++staged;
          }
        }
      }
      NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
    });
  loaded->finishChunk(fragment, chunk);
}
