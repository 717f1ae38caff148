//===- KernelEmitter.h - Builds one kernel in nvgpu and nvvm ----*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structure of every kernel (384 threads, persistent):
//
//   warpgroup 0   a thread of warp 0 issues the TMA loads of the k blocks into
//                 the ring, and behind them those of the tiles that the region
//                 loads, if the schedule says `ring`; else one each of warps 1
//                 and 2 those for consumer 0 and 1, into its buffers, or one
//                 of warp 1 those for both, if it says `ordered`. Of tiles of
//                 64 rows a thread of warp 0 fills the even stages and one of
//                 warp 3 the odd ones: what one thread issues is less than the
//                 memory gives
//   warpgroups    fragments of 64 rows, or (`swap`) of 64 columns: wait for a
//   1 and 2       stage, multiply, hand it back; then the region, a chunk of 64
//                 rows, or all of a swapped tile, and 64, 32 or 16 columns after
//                 another
//
// Cooperative: fragment f of a tile's 128-row part f is one consumer's, the
// other half the other's. Ping-pong: the tiles of a block go to the consumers
// in turn, and one multiplies while the other runs its region.
//
// Barriers: full[s] (1 arrival and the bytes of the stage; parity from 0),
// empty[s] (an arrival per consumer of the stage; parity from 1), and for
// ping-pong turn[w] (1 arrival: the other consumer has issued the last products
// of its tile; parity from 1 for w = 0, from 0 for w = 1). Each consumer's
// buffers of loaded tiles are a ring of their own, with barriers of that kind.
// Named barriers 1 and 2 join the threads of one consumer warpgroup, 3 both.
// A parity wait is only sound if the phase before is known to be complete:
// cooperative consumers wait for every stage, in order; one of a ping-pong pair
// that has its turn knows that the other waited for all stages in between. Of
// loaded tiles in the ring it would not know: they are for cooperative pairs.
//
// Ordered: of a ping-pong pair the regions, too, have turns. Both take their
// loaded tiles from one ring of buffers, which one thread fills in the order of
// the tiles, and write to the same staging buffers. A region begins when it has
// its regionTurn[w] (1 arrival; parities as those of turn[w]); the leader of
// the other consumer arrives there at the end of its region, when all its
// stores have been read. So it is known then that all earlier phases of the
// buffers are complete, and that nothing is in the way of a store. Nobody waits
// in a circle: what a region waits for, loads and the turn, depends on regions
// of earlier tiles only, and products wait for no region but their own
// consumer's last.
//
// Results pass through staging buffers, or are written over loaded boxes
// (`inplace`, see evaluateBlock). The copy engine reads them there, so the
// leader of a consumer arrives at empty for such a stage or buffer only when
// that group of its bulk stores has been read: at the end of the next chunk, or
// under the first products of the next tile. What it holds meanwhile is less
// than the ring, or the next tile would never begin.
//
// Cluster: its blocks have neighbouring tiles. Those along m need the same rows
// of the right factor, those along n the same of the left one: each block loads
// a part of the box and the copy engine writes it to all of them, to the same
// bytes and with the bytes counted by the same barrier of each. All walk over
// as many stages, so that a stage is the same number everywhere. A block's
// mates are those of its row and of its column, itself among them: they write
// into its stages, and it into theirs. So empty[s] has an arrival per consumer
// of every mate, and a consumer that is done with a stage arrives at empty[s]
// of all of them. A stage of loaded tiles is the block's own, but its mates
// count arrivals all the same: that none is counted for a phase before its own,
// full[s] of such a stage waits until the mates' producers have seen it free
// (each completes one byte more). Tiles beyond the last row or column are
// loaded, as zeros, and multiplied like others, and nothing of them is stored.
//
// Split: the blocks of a cluster work on one tile, each on its slice of the k
// blocks, and meet in an exchange after the products. Each consumer writes its
// accumulators to its own block's shared memory (exchange buffer) and arrives
// at ready[w] of all blocks; the owners, blocks that have some of the tile's
// columns, wait for theirs, add what all blocks have written in the order of
// the slices, and go on with the region. free[w] lets a consumer write again:
// an owner arrives there, at all blocks, when it has read, another block at
// once. Both have an arrival per block; parities from 0 (ready) and 1 (free),
// one phase a tile of the consumer. A block that skips the wait for ready knows
// from the next free that the phase is complete: all blocks arrive at ready
// first. These waits and arrivals acquire and release at the scope of the
// cluster. Blocks begin and end together (cluster barrier), so that no one's
// memory is gone too early.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_KERNELEMITTER_H
#define CODA_CONVERSION_CODATONVGPU_KERNELEMITTER_H

#include "KernelModel.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <tuple>

namespace mlir::coda_gpu {

/// Columns of a fragment that ldmatrix and stmatrix move at a time: two blocks of 8.
constexpr int64_t kPiece = 16;
/// The most places of a thread in a box: elements, of two rows and two columns of
/// each block of 8 columns of a fragment of 64.
constexpr int64_t kMaxPlaces = 4 * kFragmentRows / 8;

/// Time limit of one try of a barrier wait, in ns; the wait repeats.
constexpr int64_t kWaitTicks = 10000000;

/// Registers of a thread of the producer: what leaves the consumers 232, or 240
/// where they have more accumulators.
inline int64_t getProducerRegisters(ScheduleAttr schedule) {
  return getThreadAccumulators(schedule) > 128 ? 24 : 40;
}

/// A buffer in shared memory, and the tensor map that moves boxes to it.
MemRefType sharedType(ArrayRef<int64_t> shape, Type element);
Type tensorMapType(ArrayRef<int64_t> box, Type element);

/// One parameter of a kernel, and how the launcher makes it.
struct KernelParam {
  enum Kind { TensorMap, Pointer, Extent, Stride } kind;
  const OperandModel *operand;
  /// TensorMap: the box, outermost first, one extent per operand dim.
  SmallVector<int64_t> box;
  /// Extent, Stride: index into the operand's dims.
  unsigned dim = 0;
  /// Pointer: bytes that the address has to be a multiple of.
  int64_t alignment = 1;
  /// TensorMap: it is used before the kernel waits for the one before it.
  bool loadsEarly = false;
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
  /// Instructions that LLVM has no name for, kept where they are among others that
  /// have effects. Type and value are null where there is no result.
  Value emitAsm(StringRef text, StringRef constraints, Type result,
                ValueRange operands);

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
  /// Combines over the threads of a row, those that differ in the bits of `masks`;
  /// `exchange` gives the value of the lane whose number differs in the bits of a
  /// mask. One result a row.
  SmallVector<Value, 2>
  finish(ArrayRef<int64_t> masks,
         llvm::function_ref<Value(Value, int64_t)> exchange);

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
class LoadedTiles;

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
  friend class LoadedTiles;

  // Parameters, made when they are first asked for.
  Value addParam(KernelParam param, Type type);
  Value tensorMap(const OperandModel &operand, ArrayRef<int64_t> box);
  Value pointer(const OperandModel &operand);
  /// Makes the launch check that `operand` lies at a multiple of `bytes`.
  void alignPointer(const OperandModel &operand, int64_t bytes);
  /// Extent of a model dim, i32.
  Value extent(const TileModel &tile, unsigned dim);
  /// Stride of operand dim `i` in elements, i64.
  Value stride(const OperandModel &operand, unsigned i);

  // Shared memory.
  Value view(Value byteOffset, ArrayRef<int64_t> shape, Type element);
  /// The bytes of a box in shared memory.
  Value boxView(Value byteOffset, ArrayRef<int64_t> box, Type element);
  Value sharedPointer(Value byteOffset);
  /// The address of a byte of dynamic shared memory, i32, and its pointer.
  Value sharedAddress(Value byteOffset);
  Value addressPointer(Value address);
  Value offsetPointer(Value pointer, int64_t bytes);

  // The rings: k blocks for all, loaded tiles for each consumer.
  RingPosition advance(RingPosition at);
  RingPosition advance(RingPosition at, int64_t depth);
  RingPosition advance(RingPosition at, Value stages, int64_t depth);
  void wait(Value barriers, Value number, Value parity);
  void arrive(Value barriers, Value number);
  RingPosition advancePrefetch(RingPosition at);
  RingPosition skipPrefetch(const TileModel &tile, RingPosition at);
  Value prefetchNumber(RingPosition at);
  Value prefetchBase(RingPosition at);
  /// For the leader: until all but the last `inFlight` groups of its stores
  /// have been read.
  void awaitStoresRead(int64_t inFlight);
  void releaseHeld(RingPosition at, Value held);
  void warpgroupBarrier();
  void consumersBarrier();

  // Iteration space.
  Value numRowTiles(const TileModel &tile);
  Value numColumns(const TileModel &tile);
  /// Groups of the tiles that a cluster has at one time, along m, n and both;
  /// without clusters the tiles.
  Value numRowGroups(const TileModel &tile);
  Value numColumnGroups(const TileModel &tile);
  Value numGroups(const TileModel &tile);
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
  SmallVector<int64_t> columnsBoxOf(const TileModel &tile,
                                    const OperandModel &operand, unsigned dim,
                                    int64_t extent, int64_t columns);
  void skipColumns(const TileModel &tile, int64_t columns,
                   SmallVectorImpl<Value> &coords);
  void load(const OperandModel &operand, ArrayRef<int64_t> box,
            ArrayRef<Value> coords, Value barriers, Value barrier,
            Value byteOffset, Value multicastMask = Value());
  SmallVector<Value> tensorCoords(const OperandModel &operand,
                                  ArrayRef<Value> coords);

  /// What walks over the tiles: where it is in the ring and, for a consumer of
  /// a ping-pong pair, whether the next tile is its own and the parity of its
  /// next turn; how many stages before that position stores still read.
  struct WalkState {
    RingPosition ring, prefetch;
    Value isMine, turnParity;
    Value held;
    /// For the producer: k blocks of which factors are on their way already.
    Value early;
    /// Of the next wait for a free exchange buffer.
    Value exchangeParity;
  };
  void setThread(Value thread);
  /// What `setThread` sets, to be saved and set again.
  std::tuple<Value &, Value &, Value &, Value &> threadNumbers() {
    return std::tie(warpgroupThread, warp, lane, isLeader);
  }
  Value opaque(Value value);
  Value uniform(Value value);
  void emitPrologue();
  void emitProducer();
  void emitPrefetcher();
  void emitConsumers();
  RingPosition produceTile(const TileModel &tile, Value number,
                           RingPosition at, Value &early);
  /// Factors that no kernel before this one may write, the others, or both.
  enum class Factors { Unwritten, Others, All };
  void loadBlock(const TileModel &tile, const Phase &phase,
                 const TileCoords &tileAt, Value block, RingPosition at,
                 Factors factors);
  /// Whether the first k blocks of a tile of `tile`, or of any, begin to load
  /// before the kernel before this one has ended.
  bool loadsEarly(const TileModel &tile) const;
  bool loadsEarly() const;
  Value loadEarly();
  void awaitKernelBefore();
  RingPosition sendTile(const TileModel &tile, const TileCoords &tileAt,
                        RingPosition at);
  RingPosition sendBoxes(const TileModel &tile, const TileCoords &tileAt,
                         int64_t fragment, int64_t chunks,
                         ArrayRef<int64_t> boxes, int64_t first, int64_t count,
                         RingPosition at);
  void loadBox(const TileModel &tile, int64_t box, int64_t rows,
               ArrayRef<Value> chunkAt, Value barriers, Value barrier,
               Value byteOffset);
  RingPosition prefetchTile(const TileModel &tile, Value number,
                            RingPosition at);
  WalkState consumeTile(const TileModel &tile, Value number,
                        const WalkState &state);
  Value runsDescriptor(Value offset, int64_t columns);
  RingPosition multiply(const TileModel &tile, RingPosition at, Value held,
                        llvm::function_ref<void()> underLast,
                        SmallVectorImpl<Value> &accumulators);
  void multiplyBlock(const TileModel &tile, const Phase &phase,
                     RingPosition at, SmallVectorImpl<Value> &accumulators,
                     bool first);
  /// The 64-row part of a tile that is fragment `fragment` of this consumer.
  Value rowBlock(Value fragment);
  /// Runs `body` for the tiles of every op of the kernel that this block owns.
  void forTiles(WalkState start,
                llvm::function_ref<WalkState(const TileModel &, Value,
                                             const WalkState &)>
                    body);
  /// First k block of this block's slice, and their number.
  std::pair<Value, Value> blockSlice(const TileModel &tile,
                                     const Phase &phase);

  // Clusters.
  void waitCluster(Value barriers, Value number, Value parity);
  void arriveCluster(Value barriers, Value number, Value rank);
  void clusterBarrier();
  /// Row tiles that follow each other and have the same right factor.
  Value numRowsOfRun(const TileModel &tile);
  /// Whether a block may have a row tile beyond the last.
  bool mayLackRows(const TileModel &tile);
  /// This block's row tile of a group, and whether it is beyond the last, which
  /// then is the result; null: it never is.
  std::pair<Value, Value> rowTileOfBlock(const TileModel &tile, Value group);
  /// Blocks of a cluster whose stages one of them writes to.
  int64_t getNumMates() const;
  /// The rank of mate `i` in the cluster.
  Value mate(Value i);
  /// A consumer needs stage `stage` no more; `byLeader`: only the leader is here.
  void releaseStage(Value stage, bool byLeader = false);
  /// The part of a factor's loads that is this block's, and who needs it.
  struct Share {
    int64_t parts;
    Value part, mask;
  };
  Share shareOfLeft();
  Share shareOfRight();
  void loadShared(const OperandModel &operand, ArrayRef<int64_t> box,
                  ArrayRef<Value> coords, Value stage, Value byteOffset,
                  const Share &share);
  /// Runs `body` for each of `count` boxes that this block loads, given which it
  /// is and what of it is the block's.
  void forShare(int64_t count, const Share &share,
                llvm::function_ref<void(Value, const Share &)> body);
  void tellMatesOfOwnStage(Value stage);
  /// Whether this block runs the region on some columns of a tile; null: always.
  Value isOwner(const TileModel &tile);
  /// First of the columns of a tile on which this block runs the region.
  Value regionColumn(const TileModel &tile, const TileCoords &at);
  /// First of its rows.
  Value regionRow(const TileModel &tile, const TileCoords &at);
  Value exchangeBase();
  /// Shows the cluster this block's accumulators.
  void giveAccumulators(const TileModel &tile, Value row0, Value parity,
                        ArrayRef<Value> accumulators);
  /// The sums over all slices, of the columns that this block owns.
  SmallVector<Value> takeAccumulators(const TileModel &tile, Value row0,
                                      Value parity);
  void releaseAccumulators();

  WalkState consumeInTurn(const TileModel &tile, Value number,
                          const WalkState &state);

  const KernelModel &kernel;
  ScheduleAttr schedule;
  gpu::GPUFuncOp func;
  SmallVector<KernelParam> params;
  SmallVector<Value> paramValues;
  /// Whether what is emitted comes before the wait for the kernel before.
  bool isEarly = false;
  int64_t stageBytes;

  /// What the first thread does before all others go on.
  Block *setUp = nullptr;
  // Values at the top of the kernel.
  Value dynamicMemory, dynamicAddress, dynamicPointer, full, empty;
  Value turn, regionTurn;
  Value prefetchFull, prefetchEmpty;
  Value exchangeReady, exchangeFree;
  /// Of the tiles, the first of this block's and the step to the next; the slice
  /// of k that is its; where it is in a cluster that shares factors.
  Value firstTile, tileStep, slice, clusterRow, clusterColumn;
  Type barrierType;
  Value threadId, warpgroup, warpgroupThread, blockId, gridSize, isFirstThread;
  /// Which of the producers of k blocks a thread is, where there are several.
  Value producer;
  // Values of the consumers.
  Value consumer, warp, lane, isLeader;
  bool hasPrefetch;
};

/// The tiles that a region loads ahead, as a consumer finds them in one tile.
class LoadedTiles {
public:
  /// A box: the unit with whose barrier it comes, and bytes from its base.
  struct Box {
    int64_t unit, offset;
  };

  LoadedTiles(KernelEmitter &emitter, const TileModel &tile,
              RingPosition start);

  Box getBox(int64_t fragment, int64_t chunk, int64_t box) const;
  /// Where this consumer's part of a unit begins in shared memory, i32.
  Value getBase(int64_t unit);
  /// Waits until the units up to this one, or those of a chunk, are there.
  void await(int64_t unit);
  void awaitChunk(int64_t fragment, int64_t chunk);
  /// After a chunk, when the warpgroup has read it and its stores are issued.
  void finishChunk(int64_t fragment, int64_t chunk);
  /// After the last chunk of the tile. Returns how many stages at the end of it
  /// are not given back yet.
  int64_t finishTile();
  /// The position after the units so far.
  RingPosition getEnd();

private:
  void release(int64_t storesInFlight);

  KernelEmitter &e;
  RingPosition start;
  RingBoxes boxes;
  bool ring, inPlace;
  /// Boxes of a chunk and of a unit; units that there are.
  int64_t perChunk, perUnit, chunks, capacity, unitsPerFragment = 0;
  SmallVector<RingPosition> units;
  /// Units that the warpgroup has read, and those given back.
  int64_t numDone = 0, numReleased = 0;
};

/// Emits what follows the main loop of one tile for one fragment.
class EpilogueEmitter {
public:
  EpilogueEmitter(KernelEmitter &emitter, const TileModel &tile,
                  const TileCoords &at, int64_t fragment);

  /// Loads of whole rows, issued before the main loop so that they are there
  /// after it.
  void loadRows();
  /// Values of columns into this consumer's buffer, those that the schedule has
  /// room for there: begun before the products, there after them.
  void sendColumns();
  void awaitColumns();
  /// Loads of the other columns, issued while the last products run, if what they
  /// take in registers fits beside the accumulators; else they are the blocks'
  /// own.
  void loadColumns();
  /// The region over all chunks; `accumulators` are the thread's of the
  /// fragment, already waited for.
  void run(ArrayRef<Value> accumulators, LoadedTiles &loaded);

private:
  /// Which dims a value depends on; the bits add up.
  enum Level { None = 0, Row = 1, Column = 2, Full = 3 };
  struct Placed {
    Value value;
    Level level = None;
  };

  /// Of the lane's part of the first columns, of boxes of 16-, 32- and 8-bit
  /// elements: i32, in shared memory.
  struct LaneAddresses {
    Value of16, of32, of8;
  };

  /// Lanes that have the same rows, or columns: how many, which of them this one
  /// is, and the bits in which their numbers differ.
  struct Lanes {
    int64_t count;
    Value number;
    ArrayRef<int64_t> masks;
  };
  Lanes lanesOfRow();
  Lanes lanesOfQuad();

  /// The element of a block's values of the thread's row `row` and column `column`,
  /// 0 or 1.
  int64_t place(int64_t row, int64_t column) const;
  int64_t rowOf(int64_t place) const;
  int64_t columnOf(int64_t place) const;
  /// Which 8 rows, of those that the walk steps over, and which columns it is at.
  int64_t rowBlock() const;
  int64_t columnBlock() const;
  bool isLastOfPiece() const;

  void setLaneAddresses(Value quad, Value inQuad);

  Level levelOf(const OperandModel &operand);
  Type typeAt(Type element, Level level);
  Value broadcast(Placed value, Level level);
  Value pack(ArrayRef<Value> elements, Type element, Level level);
  Value element(Value value, Level level, int64_t i);

  // Addresses.
  Type memoryType(Type type);
  Value elementPointer(const OperandModel &operand, Value offset);
  Value rowOffset(const OperandModel &operand, Value row);
  Value columnOffset(const OperandModel &operand, ArrayRef<int64_t> u,
                     Value innerColumn);
  Value threadRow(int64_t half);
  Value loadRow(int64_t half);
  int64_t blockColumn() const;
  Value outerCoord(ArrayRef<Value> coords, unsigned dim);
  Value threadColumn(bool forLoad, int64_t i);
  Value loadAt(const OperandModel &operand, Value offset, Type type);

  // The region.
  Value loadAccumulators(unsigned group);
  std::array<Value, 2> loadPairs(unsigned group);
  llvm::DenseMap<Value, Placed> &valuesAt(Level level);
  Placed evaluate(Value value);
  Placed evaluateOp(Operation *op);
  void evaluateBlock();
  void enterChunk();
  void enterColumn(Value column);
  void walkChunk(llvm::function_ref<void()> body);
  void enterGroup();
  Placed loadInput(unsigned input, int64_t point);
  Placed loadDirect(const InputModel &input, ArrayRef<int64_t> u);
  Value combineTerms(const InputModel &input, Value base,
                     std::optional<Lanes> shared);
  Placed loadCombining(const InputModel &input, ArrayRef<int64_t> u);
  Value loadPrefetched(unsigned input, int64_t point);
  void forThreadColumns(bool copied, llvm::function_ref<void(
                                         const InputModel &, int64_t columns,
                                         Value offset, Value to)>
                                         body);
  Placed loadStaged(const StagedColumns &columns);
  /// The vector of an input's point in the buffer of columns; null if it is not
  /// staged.
  const StagedColumns *findStaged(unsigned input, int64_t point) const;
  LaneAddresses laneAddresses(Value base);
  Value lanePointer(const LaneAddresses &addresses, unsigned lane);
  Value loadedPointer(int64_t box, unsigned lane);
  Placed coordinate(unsigned domainDim);

  // Outputs.
  void acquireStaging();
  void commitChunk();
  void storeBlock(const OutputModel &output, unsigned number, int64_t point,
                  Placed value);
  void storeDirect(const OutputModel &output, ArrayRef<int64_t> u,
                   ArrayRef<Value> values);
  void stage(Value value, Type element, int64_t box);
  Value stagedPointer(int64_t box, unsigned lane);
  void addToRows(RowCombination &rows, Placed value);
  Placed maskColumns(coda::CombinerAttrInterface combiner, Placed placed);
  void reduceRows(const OutputModel &output, unsigned number, int64_t point,
                  Placed value);
  void finishRows(const OutputModel &output, unsigned number, int64_t point);
  void storeRow(const OutputModel &output, int64_t point, Value row,
                Value column, Value value);
  void finishStrip(const OutputModel &output, unsigned number, int64_t point);
  void joinGroups();
  void joinGroups(const OutputModel &output, unsigned number, int64_t point);
  Value stripsBase(unsigned number, int64_t point);
  void reduceColumns(const OutputModel &output, unsigned number, int64_t point,
                     Placed value);
  void finishColumnChunk();
  void finishColumns();
  void finishColumn(Value thread, Value column, int64_t groupRows,
                    Value groupRow);
  Value scratchBase(int64_t number);
  Value rowMask();
  Value columnMask();
  Value shuffle(Value value, int64_t mask);

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  const TileModel &tile;
  TileCoords at;
  /// Rows and columns of the region, columns of a chunk; chunks, and pieces of each.
  int64_t fragment, rows, points, chunkColumns, chunks, pieces;
  bool swaps, masksRows, masksColumns;

  /// First row of the region; the thread's first row and column of a fragment.
  Value row0, quadRow, quadColumn;
  /// Where the lane's part of the first columns lies in a box of 16-bit
  /// elements, of 32-bit ones, of 8-bit ones.
  Value inBox16, inBox32, inBox8;
  ArrayRef<Value> accumulators;

  // Caches: values of the tile, of rows by what the walk steps over of them, of the
  // columns where it is, and of the block.
  llvm::DenseMap<Value, Placed> tileValues, columnsValues, blockValues;
  SmallVector<llvm::DenseMap<Value, Placed>> rowsValues;
  /// What was loaded of columns ahead of the region, by input and point: a value
  /// for each block.
  llvm::DenseMap<std::pair<unsigned, int64_t>, SmallVector<Placed>>
      columnValues;
  /// What of columns is staged, and where the buffer begins: i32.
  SmallVector<StagedColumns> stagedColumns;
  Value columnsBase;
  /// Values that a coda.group_reduce enters: they change with the group.
  SmallVector<Value> groupDependent;

  // Where the walk is.
  int64_t chunk = 0, piece = 0, block = 0;
  SmallVector<Value> chunkAt;
  SmallVector<Value> loadAtCoords;
  bool isAtColumn = false;

  // Loaded tiles; where the lane reads them, by unit.
  LoadedTiles *loaded = nullptr;
  llvm::DenseMap<int64_t, LaneAddresses> loadedAddresses;
  /// What a thread has read of the piece, by box.
  llvm::DenseMap<int64_t, SmallVector<Value>> prefetchedWords;

  // Staging and reductions.
  SmallVector<StagedBox> stagedBoxes;
  Value stagingBase;
  LaneAddresses stagingAddresses;
  /// The first block of a piece, by stored box.
  llvm::DenseMap<int64_t, SmallVector<Value>> stagedWords;
  /// Values of the block at points of an output's u dim, which are stored together.
  SmallVector<Value> runOfPoints;
  int64_t slot = 0;
  /// By output, point and rows.
  llvm::DenseMap<std::tuple<unsigned, int64_t, int64_t>, RowCombination>
      rowStates;
  llvm::DenseMap<std::pair<unsigned, int64_t>, SmallVector<Value>> columnSums;
};

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_KERNELEMITTER_H
