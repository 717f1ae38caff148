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
    Value inside =
        e.lessU(e.add(at.column, e.i32(chunk * kChunk)), e.numColumns(tile));
    elements.assign(2, inside);
  } else {
    Value limit = e.extent(tile, tile.innerN);
    for (int64_t i = 0; i < 2; ++i)
      elements.push_back(
          e.lessU(e.add(threadColumn(/*forLoad=*/false), e.i32(i)), limit));
  }
  return pack(elements, b.getI1Type(), Column);
}

/// The value of the lane whose number differs in the bits of `mask`.
Value EpilogueEmitter::shuffle(Value value, int64_t mask) {
  return NVVM::ShflOp::create(b, loc, value.getType(), e.i32(-1), value,
                              e.i32(mask), e.i32(31), NVVM::ShflKind::bfly,
                              UnitAttr());
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Makes a slot of the staging ring writable: its last store has been read.
void EpilogueEmitter::acquireStaging() {
  int64_t slots = getStagingSlots(tile, e.schedule);
  if (slots == 0)
    return;
  e.ifThen(e.isLeader, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, slots - 1, b.getUnitAttr());
  });
  e.warpgroupBarrier();
  slot = chunk % slots;
  stagingPointers.clear();
  Value base = e.add(
      stagingBase, e.i32(slot * tile.getStagingPerChunk() * kStagingBytes));
  for (Value offset : swizzled)
    stagingPointers.push_back(e.sharedPointer(e.add(base, offset)));
  for (auto &half : swizzled32)
    for (Value offset : half)
      stagingPointers.push_back(e.sharedPointer(e.add(base, offset)));
}

/// Writes a block into staging buffer `buffer` of the slot; 16-bit elements go
/// out with the second block of their piece.
void EpilogueEmitter::stage(Value value, Type type, int64_t buffer) {
  if (type.getIntOrFloatBitWidth() == 16) {
    Value words = vector::BitCastOp::create(
        b, loc, VectorType::get({2}, b.getI32Type()), value);
    SmallVector<Value> &sources = stagedWords[buffer];
    for (int64_t i = 0; i < 2; ++i)
      sources.push_back(vector::ExtractOp::create(b, loc, words, i));
    if (block == 0)
      return;
    NVVM::StMatrixOp::create(
        b, loc, e.offsetPointer(stagingPointers[piece], buffer * kStagingBytes),
        sources, NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    sources.clear();
    return;
  }
  // Two boxes of 32 columns; the rows of a thread are 8 apart.
  for (int64_t half = 0; half < 2; ++half) {
    Value both = vector::ShuffleOp::create(
        b, loc, value, value, ArrayRef<int64_t>{2 * half, 2 * half + 1});
    Value pointer = e.offsetPointer(
        stagingPointers[kPiecesPerChunk + 2 * (piece % 2) + block],
        (buffer + piece / 2) * kStagingBytes + half * 8 * 128);
    LLVM::StoreOp::create(b, loc, both, pointer);
  }
}

void EpilogueEmitter::storeDirect(const OutputModel &output,
                                  ArrayRef<int64_t> u, Value value) {
  Value rows = masksRows ? rowMask() : Value();
  Value columns = masksColumns ? columnMask() : Value();
  for (int64_t i = 0; i < 4; ++i) {
    int64_t half = i / 2, one = i % 2;
    auto store = [&] {
      Value column = e.add(threadColumn(/*forLoad=*/false), e.i32(one));
      Value offset = e.add(rowOffset(output, threadRow(half)),
                           columnOffset(output, u, column));
      LLVM::StoreOp::create(b, loc, element(value, Full, i),
                            elementPointer(output, offset));
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
  if (output.path == StorePath::Direct) {
    storeDirect(output, uCoords(output.uDims, point), value);
    return;
  }
  int64_t buffer = 0;
  for (unsigned i = 0; i < number; ++i)
    if (tile.outputs[i].path == StorePath::Staged)
      buffer += tile.outputs[i].points *
                tile.outputs[i].element.getIntOrFloatBitWidth() / 16;
  buffer += point * output.element.getIntOrFloatBitWidth() / 16;
  stage(value, output.element, buffer);
}

/// After the last piece of a chunk: stores go out, stages of the ring whose
/// boxes have all been read go back.
void EpilogueEmitter::commitChunk() {
  int64_t perChunk = tile.getStagingPerChunk();
  int64_t boxes = tile.getAuxBoxesPerChunk();
  if (perChunk) {
    NVVM::FenceProxyOp::create(
        b, loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  }
  if (perChunk || boxes)
    e.warpgroupBarrier();
  if (perChunk)
    e.ifThen(e.isLeader, [&] {
      int64_t buffer = slot * perChunk;
      SmallVector<Value> coords = chunkAt;
      coords[tile.innerM] = row0;
      for (const OutputModel &output : tile.outputs) {
        if (output.path != StorePath::Staged)
          continue;
        int64_t parts = output.element.getIntOrFloatBitWidth() / 16;
        for (int64_t point = 0; point < output.points; ++point) {
          SmallVector<int64_t> u = uCoords(output.uDims, point);
          for (int64_t part = 0; part < parts; ++part) {
            SmallVector<Value> there = coords;
            for (unsigned d : tile.uDims)
              there[d] = e.i32(u[d]);
            there[tile.innerN] = e.add(coords[tile.innerN],
                                       e.i32(part * kChunk / parts));
            SmallVector<int64_t> box =
                e.boxOf(output, tile.innerM, kChunk, kChunk / parts);
            nvgpu::TmaAsyncStoreOp::create(
                b, loc,
                e.view(e.add(stagingBase, e.i32(buffer * kStagingBytes)), box,
                       output.element),
                e.tensorMap(output, box), e.tensorCoords(output, there),
                Value());
            ++buffer;
          }
        }
      }
      NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
    });
  if (boxes) {
    int64_t perStage = e.stageBytes / kAuxBoxBytes;
    int64_t read = (chunk + 1) * boxes, all = chunks * boxes;
    int64_t stages = read == all ? (all + perStage - 1) / perStage
                                 : read / perStage;
    for (; ringReleased < stages; ++ringReleased)
      e.release(ringStages[ringReleased].stage);
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void EpilogueEmitter::reduceRows(const OutputModel &output, unsigned number,
                                 int64_t point, Placed placed) {
  Value value = broadcast(placed, Full);
  TypedAttr zero = output.combiner.getIdentity(b.getF32Type());
  Value identity = arith::ConstantOp::create(b, loc, zero);
  if (masksColumns)
    value = arith::SelectOp::create(b, loc, broadcast({columnMask(), Column}, Full),
                                    value, broadcast({identity, None}, Full));
  SmallVector<Value> &sums = rowSums[{number, point}];
  for (int64_t half = 0; half < 2; ++half) {
    auto combine = [&](Value x, Value y) {
      return output.combiner.combine(b, loc, x, y);
    };
    Value sum = combine(element(value, Full, 2 * half),
                        element(value, Full, 2 * half + 1));
    if (static_cast<int64_t>(sums.size()) > half)
      sums[half] = combine(sums[half], sum);
    else
      sums.push_back(sum);
  }
}

/// After the last chunk of a group of columns: across the four threads of a
/// row, one of which writes.
void EpilogueEmitter::finishRows(const OutputModel &output, unsigned number,
                                 int64_t point) {
  SmallVector<Value> sums = rowSums[{number, point}];
  rowSums.erase({number, point});
  for (Value &sum : sums)
    for (int64_t mask : {1, 2})
      sum = output.combiner.combine(b, loc, sum, shuffle(sum, mask));
  Value writes = e.equal(quadColumn, e.i32(0));
  if (masksColumns) {
    int64_t first = (chunk + 1) * kChunk - output.groupColumns;
    writes = e.bitAnd(writes, e.lessU(e.add(at.column, e.i32(first)),
                                      e.numColumns(tile)));
  }
  SmallVector<int64_t> u = uCoords(output.uDims, point);
  e.ifThen(writes, [&] {
    for (int64_t half = 0; half < 2; ++half) {
      auto store = [&] {
        Value pointer = elementPointer(
            output, e.add(rowOffset(output, threadRow(half)),
                          columnOffset(output, u, e.i32(0))));
        Value sum = sums[half];
        if (!output.fresh)
          sum = output.combiner.combine(
              b, loc, LLVM::LoadOp::create(b, loc, b.getF32Type(), pointer),
              sum);
        LLVM::StoreOp::create(b, loc, sum, pointer);
      };
      if (masksRows)
        e.ifThen(e.lessU(threadRow(half), e.extent(tile, tile.innerM)), store);
      else
        store();
    }
  });
}

void EpilogueEmitter::reduceColumns(const OutputModel &output, unsigned number,
                                    int64_t point, Placed placed) {
  Value value = broadcast(placed, Full);
  if (masksRows) {
    Value identity = arith::ConstantOp::create(
        b, loc, output.combiner.getIdentity(b.getF32Type()));
    value = arith::SelectOp::create(b, loc, broadcast({rowMask(), Row}, Full),
                                    value, broadcast({identity, None}, Full));
  }
  // 16 sums a chunk: columns 8 j + 2 l + i are number 2 j + i.
  SmallVector<Value> &sums = columnSums[{number, point}];
  for (int64_t one = 0; one < 2; ++one)
    sums.push_back(output.combiner.combine(b, loc, element(value, Full, one),
                                           element(value, Full, 2 + one)));
}

/// After the last piece of a chunk: over the 8 lanes that hold the same
/// columns, each of which ends with one 8-column block; then to the scratch.
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
        for (size_t i = 0; i < half; ++i) {
          Value keep = e.select(upper, sums[i + half], sums[i]);
          Value send = e.select(upper, sums[i], sums[i + half]);
          next.push_back(output.combiner.combine(b, loc, keep,
                                                 shuffle(send, bit)));
        }
        sums = next;
      }
      Value both = vector::FromElementsOp::create(
          b, loc, VectorType::get({2}, b.getF32Type()), sums);
      Value warp = e.add(e.mul(e.consumer, e.i32(4)), e.warp);
      int64_t begin = e.schedule.getStages() * e.stageBytes +
                      2 * e.schedule.getStaging() * kStagingBytes +
                      scratch * kConsumerWarps * points * 4;
      Value offset = e.add(e.add(e.i32(begin + chunk * kChunk * 4),
                                 e.mul(warp, e.i32(points * 4))),
                           e.mul(e.lane, e.i32(8)));
      LLVM::StoreOp::create(b, loc, both, e.sharedPointer(offset));
    }
  }
}

/// After the last chunk: across the 8 warps; a thread writes a column.
void EpilogueEmitter::finishColumns() {
  if (!tile.hasColumnReduction())
    return;
  e.consumersBarrier();
  Value thread = e.add(e.mul(e.consumer, e.i32(128)), e.warpgroupThread);
  Value column = e.add(at.column, thread);
  Value writes = e.bitAnd(e.lessU(thread, e.i32(points)),
                          e.lessU(column, e.numColumns(tile)));
  e.ifThen(writes, [&] {
    SmallVector<Value> coords = e.chunkCoords(tile, at, column);
    loadAtCoords = coords;
    int64_t scratch = 0;
    for (const OutputModel &output : tile.outputs) {
      if (output.reduce != ReduceKind::Columns)
        continue;
      for (int64_t point = 0; point < output.points; ++point, ++scratch) {
        int64_t begin = e.schedule.getStages() * e.stageBytes +
                        2 * e.schedule.getStaging() * kStagingBytes +
                        scratch * kConsumerWarps * points * 4;
        Value base = e.sharedPointer(
            e.add(e.i32(begin), e.mul(thread, e.i32(4))));
        Value sum;
        for (int64_t warp = 0; warp < kConsumerWarps; ++warp) {
          Value part = LLVM::LoadOp::create(
              b, loc, b.getF32Type(), e.offsetPointer(base, warp * points * 4));
          sum = sum ? output.combiner.combine(b, loc, sum, part) : part;
        }
        Value pointer = elementPointer(
            output, e.add(rowOffset(output, e.i32(0)),
                          columnOffset(output, uCoords(output.uDims, point),
                                       coords[tile.innerN])));
        if (!output.fresh)
          sum = output.combiner.combine(
              b, loc, LLVM::LoadOp::create(b, loc, b.getF32Type(), pointer),
              sum);
        LLVM::StoreOp::create(b, loc, sum, pointer);
      }
    }
  });
  // The scratch is written again in the next tile.
  e.consumersBarrier();
}
