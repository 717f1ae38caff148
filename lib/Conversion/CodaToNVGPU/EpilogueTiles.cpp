//===- EpilogueTiles.cpp - Where a lane's part of a tile is ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes in shared memory, of tiles that come ahead of the region and of those that
// go out: the addresses of a lane in them, and what it reads there.
// EpilogueEmitter.cpp has the layout of fragments over threads.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::coda_gpu;

/// Sets where the lane's part of the first columns, and rows, is in each kind of
/// box. The lane is number `inQuad` of quad `quad` of its warp.
void EpilogueEmitter::setLaneAddresses(Value quad, Value inQuad) {
  if (chunkColumns < kPiece)
    return; // no boxes
  // A box is swizzled over the bytes of a run of columns, from the number of
  // the 128 bytes that they lie in: a row, two, or four.
  auto swizzle = [&](Value chunk, Value row, int64_t columns, int64_t bytes) {
    int64_t run = std::min(tile.runColumns, columns) * bytes;
    Value line = e.divU(row, e.i32(128 / (columns * bytes)));
    return e.mul(e.bitXor(chunk, e.remU(line, e.i32(run / 16))), e.i32(16));
  };
  Value matrix = e.divU(e.lane, e.i32(8)), inMatrix = e.remU(e.lane, e.i32(8));
  if (swaps) {
    // Of 16 rows the four matrices are two by two of the warp's 16 columns. Of two
    // boxes of 32-bit elements a warp has columns of one.
    inBox16 = e.add(
        e.mul(e.add(e.mul(e.divU(matrix, e.i32(2)), e.i32(8)), inMatrix),
              e.i32(2 * chunkColumns)),
        swizzle(e.add(e.mul(e.warp, e.i32(2)), e.remU(matrix, e.i32(2))),
                inMatrix, chunkColumns, /*bytes=*/2));
    Value inHalf = e.add(e.mul(e.remU(e.warp, e.i32(2)), e.i32(4)),
                         e.divU(quad, e.i32(4)));
    inBox32 = e.add(
        e.add(e.mul(quadColumn, e.i32(2 * chunkColumns)),
              swizzle(inHalf, quadColumn, chunkColumns / 2, /*bytes=*/4)),
        e.add(e.mul(e.remU(quad, e.i32(4)), e.i32(4)),
              e.mul(e.divU(e.warp, e.i32(2)),
                    e.i32(getBoxBytes(e.schedule)))));
    inBox8 = e.add(e.add(e.mul(quadColumn, e.i32(chunkColumns)), quad),
                   swizzle(e.warp, quadColumn, chunkColumns, /*bytes=*/1));
    return;
  }
  Value boxRow =
      e.add(e.add(e.mul(e.warp, e.i32(16)),
                  e.mul(e.remU(matrix, e.i32(2)), e.i32(8))),
            inMatrix);
  inBox16 = e.add(e.mul(boxRow, e.i32(2 * chunkColumns)),
                  swizzle(e.divU(matrix, e.i32(2)), inMatrix, chunkColumns,
                          /*bytes=*/2));
  inBox32 =
      e.add(e.add(e.mul(quadRow, e.i32(2 * chunkColumns)),
                  swizzle(e.divU(inQuad, e.i32(2)), quad, chunkColumns / 2,
                          /*bytes=*/4)),
            e.mul(e.remU(inQuad, e.i32(2)), e.i32(8)));
  // A box of 8-bit elements has rows of half the bytes.
  inBox8 = e.add(e.add(e.mul(quadRow, e.i32(chunkColumns)), quadColumn),
                 swizzle(e.i32(0), quad, chunkColumns, /*bytes=*/1));
}

/// The thread's addresses in boxes at `base`, a multiple of 128.
EpilogueEmitter::LaneAddresses EpilogueEmitter::laneAddresses(Value base) {
  return {e.sharedAddress(e.add(base, inBox16)),
          e.sharedAddress(e.add(base, inBox32)),
          e.sharedAddress(e.add(base, inBox8))};
}

/// Place number `lane` of the thread in boxes: those of 16-bit elements by piece,
/// then those of 32-bit ones by 8-column block, then those of 8-bit ones by
/// piece; of swapped fragments the latter two by block and element. Swizzling
/// combines bits of the row and of the column by exclusive or, so that one address
/// gives all others; it is made where it is used, to be in no register before.
Value EpilogueEmitter::lanePointer(const LaneAddresses &addresses,
                                   unsigned lane) {
  int64_t number = lane % kMaxPlaces, kind = lane / kMaxPlaces;
  if (swaps) {
    // The first row is even, so that the next one's bits differ from its own in
    // one of the row and one of the swizzle; 8 rows further on it is the same.
    int64_t row = rowOf(number % 4), column = columnOf(number % 4);
    int64_t below = number / 4 * 8;
    if (kind == 0)
      return e.offsetPointer(e.addressPointer(addresses.of16),
                             number * kPiece * 2 * chunkColumns);
    if (kind == 1)
      return e.offsetPointer(
          e.addressPointer(e.bitXor(
              addresses.of32,
              e.i32(row * (2 * chunkColumns + 16) + column * 32))),
          below * 2 * chunkColumns);
    return e.offsetPointer(e.addressPointer(addresses.of8),
                           (below + row) * chunkColumns + 8 * column);
  }
  switch (kind) {
  case 0:
    return e.addressPointer(e.bitXor(addresses.of16, e.i32(32 * number)));
  case 1:
    return e.addressPointer(e.bitXor(addresses.of32, e.i32(32 * number)));
  default:
    return e.addressPointer(e.bitXor(addresses.of8, e.i32(16 * number)));
  }
}

/// Pointer number `lane` of the thread into loaded box `box` of the chunk.
Value EpilogueEmitter::loadedPointer(int64_t box, unsigned lane) {
  LoadedTiles::Box there = loaded->getBox(fragment, chunk, box);
  auto it = loadedAddresses.find(there.unit);
  if (it == loadedAddresses.end())
    it = loadedAddresses
             .try_emplace(there.unit,
                          laneAddresses(loaded->getBase(there.unit)))
             .first;
  return e.offsetPointer(lanePointer(it->second, lane), there.offset);
}

/// One block of a loaded tile; a piece of 16-bit elements is read at once, and
/// the next one with it, so that nothing waits for it.
Value EpilogueEmitter::loadPrefetched(unsigned number, int64_t point) {
  auto widthOf = [&](unsigned input) -> int64_t {
    return tile.inputs[input].element.getIntOrFloatBitWidth() / 16;
  };
  int64_t box = point * widthOf(number);
  for (unsigned i = 0; i < number; ++i)
    if (tile.inputs[i].path == LoadPath::Prefetched)
      box += tile.inputs[i].points * widthOf(i);
  Type element = tile.inputs[number].element;
  if (widthOf(number) == 2 && swaps) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < 4; ++i)
      elements.push_back(LLVM::LoadOp::create(
          b, loc, element,
          loadedPointer(box, kMaxPlaces + 4 * rowBlock() + i)));
    return pack(elements, element, Full);
  }
  if (widthOf(number) == 2) {
    // Two boxes of half the columns; the rows of a thread are 8 apart.
    int64_t blockNumber = 2 * piece + block;
    SmallVector<Value> elements;
    for (int64_t half = 0; half < 2; ++half) {
      Value both = LLVM::LoadOp::create(
          b, loc, VectorType::get({2}, element),
          e.offsetPointer(loadedPointer(box + blockNumber / pieces,
                                        kMaxPlaces + blockNumber % pieces),
                          half * 8 * 2 * chunkColumns));
      for (int64_t i = 0; i < 2; ++i)
        elements.push_back(vector::ExtractOp::create(b, loc, both, i));
    }
    return pack(elements, element, Full);
  }
  for (int64_t p = piece; p < std::min(piece + 2, pieces); ++p) {
    SmallVector<Value> &words = prefetchedWords[box * pieces + p];
    if (!words.empty())
      continue;
    // Of two blocks, or of the one that is left of a swapped tile's rows.
    int64_t count = swaps && kPiece * (p + 1) > rows ? 2 : 4;
    Type all = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(count, b.getI32Type()));
    auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
    Value matrices = NVVM::LdMatrixOp::create(
        b, loc, all, loadedPointer(box, p), count,
        swaps ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
        NVVM::LdStMatrixEltType::B16);
    for (int64_t i = 0; i < count; ++i)
      words.push_back(LLVM::ExtractValueOp::create(b, loc, matrices, i));
  }
  Value packed = vector::FromElementsOp::create(
      b, loc, VectorType::get({2}, b.getI32Type()),
      ArrayRef(prefetchedWords[box * pieces + piece]).slice(2 * block, 2));
  return vector::BitCastOp::create(b, loc, VectorType::get({4}, element),
                                   packed);
}
