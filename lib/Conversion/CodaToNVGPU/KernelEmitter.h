//===- KernelEmitter.h - Builds one kernel in nvgpu and nvvm ----*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structure of every kernel (384 threads, persistent):
//
//   warpgroup 0   one thread issues all TMA loads: for each tile of the block,
//                 its k blocks, then its loaded tiles, into the ring
//   warpgroups    64 rows each: wait for a stage, multiply, hand it back;
//   1 and 2       then the region, a 64x64 chunk after another
//
// Barriers: full[s] (1 arrival and the bytes of the stage; parity from 0) and
// empty[s] (2 arrivals, one per consumer warpgroup; parity from 1). Named
// barriers 1 and 2 join the threads of one consumer warpgroup, 3 both of them.
// A parity wait is only sound if the phase before is known to be complete:
// every consumer waits for every stage, in order.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_KERNELEMITTER_H
#define CODA_CONVERSION_CODATONVGPU_KERNELEMITTER_H

#include "KernelModel.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::coda_gpu {

/// Columns that ldmatrix and stmatrix move at a time: two blocks of 8.
constexpr int64_t kPiece = 16;
constexpr int64_t kPiecesPerChunk = kChunk / kPiece;
/// Warps of both consumers.
constexpr int64_t kConsumerWarps = 8;

/// One parameter of a kernel, and how the launcher makes it.
struct KernelParam {
  enum Kind { TensorMap, Pointer, Extent, Stride } kind;
  const OperandModel *operand;
  /// TensorMap: the box, outermost first, one extent per operand dim.
  SmallVector<int64_t> box;
  /// Extent, Stride: index into the operand's dims.
  unsigned dim = 0;
};

/// Arithmetic that folds as it is built.
class OpsBuilder {
public:
  OpsBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value i32(int64_t v);
  Value i64(int64_t v);
  Value index(int64_t v);
  Value i1(bool v);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value divU(Value x, Value y);
  Value remU(Value x, Value y);
  Value minU(Value x, Value y);
  Value bitAnd(Value x, Value y);
  Value bitXor(Value x, Value y);
  Value ceilDivU(Value x, int64_t y);
  Value equal(Value x, Value y);
  Value lessU(Value x, Value y);
  Value select(Value c, Value x, Value y);
  Value toIndex(Value v);
  Value toI32(Value v);
  Value toI64(Value v);

  void ifThen(Value condition, llvm::function_ref<void()> body);

  OpBuilder &b;
  Location loc;
};

/// A position in the ring: the stage, and the parity to wait for.
struct RingPosition {
  Value stage, parity;
};

/// Where a tile lies. `coords` has an i32 for each b and m dim (for the tiled
/// one the first row); `column` is the first point of n, all n dims together.
struct TileCoords {
  SmallVector<Value> coords;
  Value column;
};

/// What one thread has combined of two rows. Logarithms of sums of exponentials
/// are kept as (maximum, sum relative to it): one exponential a term, one
/// logarithm at the end.
class RowCombination {
public:
  RowCombination(OpBuilder &b, Location loc,
                 coda::CombinerAttrInterface combiner)
      : b(b), loc(loc), combiner(combiner) {}

  void add(unsigned half, Value term);
  /// Takes up the terms that were added; call it once a chunk, so that few wait.
  void fold();
  /// Combines over the four threads of a row; `exchange` gives the value of the
  /// lane whose number differs in the bits of a mask. One result a row.
  SmallVector<Value, 2>
  finish(llvm::function_ref<Value(Value, int64_t)> exchange);

private:
  struct Row {
    /// The combination, or the maximum and the sum relative to it.
    Value value, sum;
    SmallVector<Value> terms;
  };
  bool isLogAddExp() const { return isa<coda::LogAddExpAttr>(combiner); }
  Value constant(double value);
  Value combine(Value x, Value y);
  Value origin(Value max);
  Value rescale(Value max, Value to);

  OpBuilder &b;
  Location loc;
  coda::CombinerAttrInterface combiner;
  Row rows[2];
};

class EpilogueEmitter;

class KernelEmitter : public OpsBuilder {
public:
  KernelEmitter(const KernelModel &kernel, ScheduleAttr schedule,
                OpBuilder &builder);

  /// Emits the kernel at the builder's insertion point.
  gpu::GPUFuncOp emit(StringRef name);

  ArrayRef<KernelParam> getParams() const { return params; }
  static constexpr int64_t kThreads = 384;

private:
  friend class EpilogueEmitter;

  // Parameters, made when they are first asked for.
  Value addParam(KernelParam param, Type type);
  Value tensorMap(const OperandModel &operand, ArrayRef<int64_t> box);
  Value pointer(const OperandModel &operand);
  /// Extent of a model dim, i32.
  Value extent(const TileModel &tile, unsigned dim);
  /// Stride of operand dim `i` in elements, i64.
  Value stride(const OperandModel &operand, unsigned i);

  // Shared memory.
  Value view(Value byteOffset, ArrayRef<int64_t> shape, Type element);
  Value sharedPointer(Value byteOffset);
  Value offsetPointer(Value pointer, int64_t bytes);

  // The ring.
  RingPosition advance(RingPosition at);
  void waitFull(RingPosition at);
  void waitEmpty(RingPosition at);
  void release(Value stage);
  void warpgroupBarrier();
  void consumersBarrier();

  // Iteration space.
  Value numRowTiles(const TileModel &tile);
  Value numColumns(const TileModel &tile);
  Value numTiles(const TileModel &tile);
  Value numBlocks(const TileModel &tile, const Phase &phase);
  TileCoords tileCoords(const TileModel &tile, Value number);
  /// Coordinates of all dims of the chunk that begins at point `column` of n.
  SmallVector<Value> chunkCoords(const TileModel &tile, const TileCoords &at,
                                 Value column);
  void setBlockCoords(const TileModel &tile, const Phase &phase, Value block,
                      SmallVectorImpl<Value> &coords);

  /// Box of `operand`: `rows` along `dim`, 64 along its last dim, else 1.
  SmallVector<int64_t> boxOf(const OperandModel &operand, unsigned dim,
                             int64_t rows, int64_t inner);
  void load(const OperandModel &operand, ArrayRef<int64_t> box,
            ArrayRef<Value> coords, RingPosition at, Value byteOffset);
  SmallVector<Value> tensorCoords(const OperandModel &operand,
                                  ArrayRef<Value> coords);

  void emitPrologue();
  void emitProducer();
  void emitConsumers();
  RingPosition produceTile(const TileModel &tile, Value number,
                           RingPosition at);
  void loadBlock(const TileModel &tile, const Phase &phase,
                 const TileCoords &tileAt, Value block, RingPosition at);
  RingPosition consumeTile(const TileModel &tile, Value number,
                           RingPosition at);
  RingPosition multiply(const TileModel &tile, RingPosition at,
                        SmallVectorImpl<Value> &accumulators);
  Value multiplyBlock(const TileModel &tile, const Phase &phase,
                      RingPosition at, Value accumulator, bool first);
  /// Runs `body` for the tiles of every op of the kernel that this block owns.
  void forTiles(RingPosition start,
                llvm::function_ref<RingPosition(const TileModel &, Value,
                                                RingPosition)>
                    body);

  const KernelModel &kernel;
  ScheduleAttr schedule;
  gpu::GPUFuncOp func;
  SmallVector<KernelParam> params;
  SmallVector<Value> paramValues;
  int64_t stageBytes;

  // Values at the top of the kernel.
  Value dynamicMemory, dynamicPointer, full, empty;
  Type barrierType;
  Value threadId, warpgroup, warpgroupThread, blockId, gridSize, isFirstThread;
  // Values of the consumers.
  Value consumer, warp, lane, isLeader;
};

/// Emits what follows the main loop of one tile of the consumers.
class EpilogueEmitter {
public:
  EpilogueEmitter(KernelEmitter &emitter, const TileModel &tile,
                  const TileCoords &at);

  /// Loads of whole rows, issued before the main loop so that they are there
  /// after it.
  void loadRows();
  /// The region over all chunks; `accumulators` are the thread's, already
  /// waited for. Returns the ring position after the loaded tiles.
  RingPosition run(ArrayRef<Value> accumulators, RingPosition ring);

private:
  /// Which dims a value depends on; the bits add up.
  enum Level { None = 0, Row = 1, Column = 2, Full = 3 };
  struct Placed {
    Value value;
    Level level = None;
  };

  Level levelOf(const OperandModel &operand);
  Type typeAt(Type element, Level level);
  Value broadcast(Placed value, Level level);
  Value pack(ArrayRef<Value> elements, Type element, Level level);
  Value element(Value value, Level level, int64_t i);

  // Addresses.
  Value elementPointer(const OperandModel &operand, Value offset);
  Value rowOffset(const OperandModel &operand, Value row);
  Value columnOffset(const OperandModel &operand, ArrayRef<int64_t> u,
                     Value innerColumn);
  Value threadRow(int64_t half);
  Value loadRow(int64_t half);
  Value threadColumn(bool forLoad);
  bool hasPairAccess(const OperandModel &operand);
  Value loadAt(const OperandModel &operand, Value offset, Type type);

  // The region.
  Placed evaluate(Value value);
  Placed evaluateOp(Operation *op);
  void evaluateBlock();
  void enterChunk();
  void walkChunk(llvm::function_ref<void()> body);
  void enterGroup();
  Placed loadInput(unsigned input, int64_t point);
  Placed loadDirect(const InputModel &input, ArrayRef<int64_t> u);
  Placed loadCombining(const InputModel &input, ArrayRef<int64_t> u);
  void enterRingStage(int64_t stageNumber);
  Value loadRing(unsigned input, int64_t point);
  Placed coordinate(unsigned domainDim);
  SmallVector<int64_t> uCoords(ArrayRef<unsigned> uDims, int64_t point);

  // Outputs.
  void acquireStaging();
  void commitChunk();
  void storeBlock(const OutputModel &output, unsigned number, int64_t point,
                  Placed value);
  void storeDirect(const OutputModel &output, ArrayRef<int64_t> u, Value value);
  void stage(Value value, Type element, int64_t buffer);
  void addToRows(RowCombination &rows, Placed value);
  void reduceRows(const OutputModel &output, unsigned number, int64_t point,
                  Placed value);
  void finishRows(const OutputModel &output, unsigned number, int64_t point);
  void reduceColumns(const OutputModel &output, unsigned number, int64_t point,
                     Placed value);
  void finishColumnChunk();
  void finishColumns();
  Value rowMask();
  Value columnMask();
  Value shuffle(Value value, int64_t mask);

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  const TileModel &tile;
  TileCoords at;
  int64_t points, chunks;
  bool masksRows, masksColumns;

  /// First row of this warpgroup; row of the thread within 16, column pair.
  Value row0, quadRow, quadColumn;
  Value swizzled[4], swizzled32[2][2];
  ArrayRef<Value> accumulators;

  // Caches: values of the tile, and of the block of 8 columns.
  llvm::DenseMap<Value, Placed> tileValues, blockValues;
  /// Values that a coda.group_reduce enters: they change with the group.
  SmallVector<Value> groupDependent;

  // Where the walk is.
  int64_t chunk = 0, piece = 0, block = 0;
  SmallVector<Value> chunkAt;
  SmallVector<Value> loadAtCoords;

  // Loaded tiles.
  RingPosition ring;
  int64_t ringStage = -1, ringReleased = 0;
  SmallVector<RingPosition> ringStages;
  SmallVector<SmallVector<Value>> ringPointers;
  /// What a thread has read of the piece, by box.
  llvm::DenseMap<int64_t, SmallVector<Value>> ringWords;

  // Staging and reductions.
  Value stagingBase;
  SmallVector<Value> stagingPointers;
  /// The first block of a piece, by staging buffer.
  llvm::DenseMap<int64_t, SmallVector<Value>> stagedWords;
  int64_t slot = 0;
  llvm::DenseMap<std::pair<unsigned, int64_t>, RowCombination> rowStates;
  llvm::DenseMap<std::pair<unsigned, int64_t>, SmallVector<Value>> columnSums;
};

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_KERNELEMITTER_H
