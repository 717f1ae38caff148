//===- EpilogueColumns.cpp - Values of columns ahead of the region --------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A consumer's buffer holds, of each vector that is staged, the columns of the
// tile one after another. Its threads take a column each, or the two of a word,
// and copy them while the products run (cp.async). What a load combines is
// combined once a column. The region reads its two columns from there.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::coda;
using namespace mlir::coda_gpu;

/// What one cp.async moves.
static constexpr int64_t kCopyBytes = 4;
/// Threads of a consumer.
static constexpr int64_t kThreads = 128;

const StagedColumns *EpilogueEmitter::findStaged(unsigned input,
                                                 int64_t point) const {
  for (const StagedColumns &columns : stagedColumns)
    if (columns.input == input && columns.point == point)
      return &columns;
  return nullptr;
}

/// Runs `body` for the vectors that are copied, or for the others, and for what
/// this thread takes of each: so many columns, their offset in memory and where
/// they go in shared memory.
void EpilogueEmitter::forThreadColumns(
    bool copied,
    llvm::function_ref<void(const InputModel &, int64_t, Value, Value)> body) {
  for (const StagedColumns &columns : stagedColumns) {
    const InputModel &input = tile.inputs[columns.input];
    int64_t bytes = input.element.getIntOrFloatBitWidth() / 8;
    bool copies = !input.combiner &&
                  (bytes == 4 || (bytes == 2 && hasPairAccess(tile, input)));
    if (copies != copied)
      continue;
    int64_t count = copied ? kCopyBytes / bytes : 1;
    SmallVector<int64_t> u = tile.uCoords(input.uDims, columns.point);
    for (int64_t first = 0; first < points / count; first += kThreads) {
      Value number = e.add(e.warpgroupThread, e.i32(first));
      auto take = [&] {
        Value column = e.add(at.column, e.mul(number, e.i32(count)));
        if (masksColumns)
          column = e.minU(column, e.sub(e.numColumns(tile), e.i32(count)));
        enterColumn(column);
        Value offset = e.add(rowOffset(input, row0),
                             columnOffset(input, u, loadAtCoords[tile.innerN]));
        body(input, count, offset,
             e.sharedPointer(
                 e.add(e.add(columnsBase, e.i32(columns.offset)),
                       e.mul(number, e.i32(count * bytes)))));
      };
      if (points / count - first >= kThreads)
        take();
      else
        e.ifThen(e.lessU(number, e.i32(points / count)), take);
    }
  }
}

void EpilogueEmitter::sendColumns() {
  if (stagedColumns.empty())
    return;
  // The warpgroup has read what is there.
  e.warpgroupBarrier();
  forThreadColumns(/*copied=*/true, [&](const InputModel &input, int64_t count,
                                        Value offset, Value to) {
    if (count > 1)
      e.alignPointer(input, kCopyBytes);
    NVVM::CpAsyncOp::create(b, loc, to, elementPointer(input, offset),
                            kCopyBytes, NVVM::LoadCacheModifierKind::CA,
                            Value());
  });
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

void EpilogueEmitter::awaitColumns() {
  if (stagedColumns.empty())
    return;
  forThreadColumns(/*copied=*/false, [&](const InputModel &input, int64_t,
                                         Value offset, Value to) {
    Value value = input.combiner ? combineTerms(input, offset, std::nullopt)
                                 : loadAt(input, offset, input.element);
    Type type = memoryType(input.element);
    if (type != input.element)
      value = arith::BitcastOp::create(b, loc, type, value);
    LLVM::StoreOp::create(b, loc, value, to);
  });
  NVVM::CpAsyncWaitGroupOp::create(b, loc, 0);
  e.warpgroupBarrier();
}

/// The thread's two columns of the block.
EpilogueEmitter::Placed
EpilogueEmitter::loadStaged(const StagedColumns &columns) {
  Type element = tile.inputs[columns.input].element;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (swaps) {
    Value base = e.add(columnsBase, e.mul(quadRow, e.i32(bytes)));
    SmallVector<Value> elements;
    for (int64_t i = 0; i < 2; ++i) {
      Value one = LLVM::LoadOp::create(
          b, loc, memoryType(element),
          e.offsetPointer(e.sharedPointer(base),
                          columns.offset +
                              (chunk * chunkColumns + 8 * i) * bytes));
      if (one.getType() != element)
        one = arith::BitcastOp::create(b, loc, element, one);
      elements.push_back(one);
    }
    return {pack(elements, element, Column), Column};
  }
  Value base = e.add(columnsBase, e.mul(quadColumn, e.i32(bytes)));
  auto type = VectorType::get({2}, element);
  Value both = LLVM::LoadOp::create(
      b, loc, memoryType(type),
      e.offsetPointer(e.sharedPointer(base),
                      columns.offset +
                          (chunk * chunkColumns + blockColumn()) * bytes),
      /*alignment=*/2 * bytes);
  if (both.getType() != type)
    both = arith::BitcastOp::create(b, loc, type, both);
  return {both, Column};
}

void EpilogueEmitter::loadColumns() {
  if (!holdsColumns(tile, e.schedule))
    return;
  for (chunk = 0; chunk < chunks; ++chunk) {
    enterChunk();
    walkChunk([&] {
      forColumnVectors(tile, [&](unsigned i, int64_t point) {
        const InputModel &input = tile.inputs[i];
        if (findStaged(i, point) || input.combiner)
          return;
        // Those of a chunk are the same in all blocks of swapped factors.
        SmallVector<Placed> &values = columnValues[{i, point}];
        if (static_cast<int64_t>(values.size()) == columnBlock())
          values.push_back(
              loadDirect(input, tile.uCoords(input.uDims, point)));
      });
    });
  }
}
