//===- KernelModel.h - What the lowering knows of a kernel ------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration space of a tile op in the form that the emitter walks: dims of
// one kind that are adjacent in every operand are one dim here, the last m dim
// and the last n dim are tiled, the others are counted. All of it is read off
// the index maps and the types; nothing knows what the op computes.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_KERNELMODEL_H
#define CODA_CONVERSION_CODATONVGPU_KERNELMODEL_H

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/CodaGPU/IR/CodaGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <vector>

namespace mlir::coda_gpu {

/// An integer attribute of a kernel function: no call has more rows, b and m dims
/// together.
constexpr llvm::StringLiteral kMaxRowsAttrName = "coda.max_rows";
/// Rows of a fragment: those of one WGMMA.
constexpr int64_t kFragmentRows = 64;
/// Of these, rows of one warp.
constexpr int64_t kWarpRows = 16;
/// Columns, or rows, of a box of a factor that is contiguous along them, 128
/// bytes, where a tile has a multiple of them.
constexpr int64_t kFactorColumns = 64;
/// The longest run of columns that is told from longer ones (runColumns).
constexpr int64_t kLongRun = 64;
/// The most columns of a chunk, what a warpgroup loads and stores at a time: a
/// schedule says how many. Groups of columns are whole chunks.
constexpr int64_t kMaxChunk = 64;
/// The fewest that come and go in boxes: what ldmatrix and stmatrix move is as wide.
/// Groups of columns are multiples of as many.
constexpr int64_t kMinBoxChunk = 16;
/// The fewest, a block of a fragment, where rows of the inner n dim are no whole boxes
/// of a chunk: each thread loads and stores its part.
constexpr int64_t kMinChunk = 8;
constexpr int64_t kConsumers = 2;
constexpr int64_t kConsumerThreads = 128;
/// Of a consumer's thread: what leaves it 48 registers for the region.
constexpr int64_t kMaxAccumulators = 192;
/// Multiprocessors that a kernel's tiles are dealt to.
constexpr int64_t kMultiprocessors = 132;
/// The most rows that a group of a reduction over rows may have: one fragment of
/// each consumer.
constexpr int64_t kReducedRows = kConsumers * kFragmentRows;
/// What the hardware takes on every device: blocks of a cluster.
constexpr int64_t kMaxClusterBlocks = 8;
/// Blocks that may share factors: of larger clusters fewer run at one time.
constexpr int64_t kMaxSharingBlocks = 4;
/// Bounds the barriers, which lie outside of dynamic shared memory.
constexpr int64_t kMaxStages = 16;
/// Depth of one k block of 16-bit factors: rows of 128 bytes. That of 8-bit ones
/// has as many bytes and twice the depth (TileModel::blockK).
constexpr int64_t kBlockK = 64;
/// Boxes that a chunk may have on their way in, and in all; what is beyond is
/// loaded or stored by each thread.
constexpr int64_t kMaxPrefetchedPerChunk = 4;
constexpr int64_t kMaxBoxesPerChunk = 6;
/// What a block may use, less the barriers and the padding of their alignment.
constexpr int64_t kSharedMemoryBytes = 232448 - 1024;
constexpr unsigned kMaxTensorMapRank = 5;
/// Of 128 bytes each, which leaves a kernel's parameters a kilobyte for pointers and
/// extents of the 4 KB that every driver passes.
constexpr unsigned kMaxTensorMaps = 24;

/// One dim of the merged iteration space.
struct ModelDim {
  coda::DimKind kind;
  /// ShapedType::kDynamic if not known.
  int64_t extent;
  /// The dims of the op's domain that it stands for, outermost first; empty
  /// for a dim of extent 1 that the op does not have.
  SmallVector<unsigned> domain;
};

/// One operand over the merged space.
struct OperandModel {
  unsigned number = 0;
  Value memref;
  MemRefType type;
  Type element;
  /// Dims, outermost first, and the positions of the memref each stands for.
  SmallVector<unsigned> dims;
  SmallVector<SmallVector<unsigned>> positions;
  /// Points of a group of each dim, where a reduction has groups of it; 1: the
  /// dim itself.
  SmallVector<int64_t> granules;
  /// Stride of each dim in elements; kDynamic if not known.
  SmallVector<int64_t> strides;
  coda::CombinerAttrInterface combiner;
  bool fresh = false;
  /// No kernel before this one in its call writes it (coda.unwritten).
  bool unwritten = false;
  /// Of a right factor: the u dim of two points that its columns alternate
  /// between. It is none of `dims`: the last has two columns for each point.
  std::optional<unsigned> pairs;

  /// Index of model dim `dim` in `dims`; -1 if the operand does not have it, or
  /// has groups of it.
  int find(unsigned dim) const;
  /// Points of a group of `dim`; 1 where it has none.
  int64_t getGranule(unsigned dim) const;
  /// Boxes that a chunk takes, if the copy engine moves them.
  int64_t getParts() const {
    return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 16);
  }
  bool has(unsigned dim) const { return find(dim) >= 0; }
  /// Columns for each point of n.
  int64_t getColumnsOfPoint() const { return pairs ? 2 : 1; }
};

/// A tile load by the copy engine, ahead of its use, or a load by each thread.
enum class LoadPath { Direct, Prefetched };
/// A tile store by the copy engine, or by each thread.
enum class StorePath { Direct, Staged };

struct InputModel : OperandModel {
  LoadPath path = LoadPath::Direct;
  /// Whether it is the same at all coordinates of the outer n dims.
  bool repeats = false;
  /// Points of its u dims: extents and number.
  SmallVector<unsigned> uDims;
  int64_t points = 1;
  /// Of a chunk, if the copy engine moves them.
  int64_t getBoxes() const { return points * getParts(); }
};

/// Where a reduction's groups lie: whole rows, whole columns, of a tile.
enum class ReduceKind { None, Rows, Columns };

struct OutputModel : OperandModel {
  StorePath path = StorePath::Direct;
  ReduceKind reduce = ReduceKind::None;
  /// ReduceKind::Rows: columns of a group; 0: all of them.
  int64_t groupColumns = 0;
  /// ReduceKind::Columns: rows of a group, those of one fragment or of two; 0: all of
  /// them.
  int64_t groupRows = 0;
  SmallVector<unsigned> uDims;
  int64_t points = 1;
  /// Of a chunk, if the copy engine moves them.
  int64_t getBoxes() const { return points * getParts(); }
};

/// 64-column-wide slices of the accumulators that hold one region argument.
struct ColumnGroup {
  unsigned accumulator;
  /// Coordinate of each u dim of the model (0 where it does not apply).
  SmallVector<int64_t> u;
};

/// Accumulators, neighbours, that take part in the same phases: what one WGMMA
/// adds to.
struct AccumulatorPart {
  /// Of the model's groups.
  unsigned firstGroup, numGroups;
};

/// One turn of the k loop: products of one left factor, each for an accumulator.
struct Phase {
  OperandModel lhs;
  /// By accumulator; none for one that has no product here.
  std::vector<std::optional<OperandModel>> rhs;
  /// k dims, the last is cut into blocks.
  SmallVector<unsigned> k;
  bool lhsKMajor = true;
  bool rhsKMajor = true;
  /// Of all right factors.
  Type rhsElement;
  /// The model's parts that the accumulators make up, and for each whether this
  /// is its first phase.
  SmallVector<unsigned> parts;
  SmallVector<bool> sets;
  /// Of the parts, together.
  int64_t numGroups = 0;

  bool hasFirstOfPart() const { return llvm::is_contained(sets, true); }
};

/// One tile op of a kernel.
struct TileModel {
  mutable coda::TileOpInterface op;
  SmallVector<ModelDim> dims;
  /// b and m dims but the tiled one; the tiled m dim.
  SmallVector<unsigned> outerM;
  unsigned innerM = 0;
  SmallVector<unsigned> outerN;
  unsigned innerN = 0;
  /// Columns of a chunk of 64 that lie in one row of the inner n dim: all, or
  /// the extent of a narrower one; the chunk then has 64 / runColumns
  /// coordinates of the last outer n dim.
  int64_t runColumns = kLongRun;
  /// The most columns of a chunk, so that one that is no run of `runColumns` lies
  /// in a row of the inner n dim.
  int64_t maxChunk = kMaxChunk;
  SmallVector<unsigned> uDims;
  /// That of the first left factor; of 8-bit ones others may differ.
  Type factorType;
  /// Depth of a k block.
  int64_t blockK = kBlockK;
  std::vector<Phase> phases;
  SmallVector<ColumnGroup> groups;
  SmallVector<AccumulatorPart> parts;
  std::vector<InputModel> inputs;
  std::vector<OutputModel> outputs;
  /// The most rows that a call has; 0 if not known.
  int64_t maxRows = 0;
  /// Columns of a coda.group_reduce's group, a multiple of 16, or of 8 where chunks
  /// have no more; 0: no such op.
  int64_t groupColumns = 0;

  /// Number of 64-column slices side by side in the accumulator per 64 points
  /// of n: the region's accumulator arguments, 1 for a map.
  int64_t getNumGroups() const { return groups.empty() ? 1 : groups.size(); }
  /// Extent of n as a whole; kDynamic if not known.
  int64_t getColumns() const;
  /// The first right factor of the accumulator of group `group`.
  const OperandModel &getRightFactor(unsigned group) const;
  /// Prefetched boxes and staged ones per chunk of 64 points of n.
  int64_t getPrefetchedPerChunk() const;
  int64_t getStagingPerChunk() const;
  bool hasColumnReduction() const;
  /// The coordinates of point `point` of `uDims`, row-major, by dim; 0 along the
  /// others.
  SmallVector<int64_t> uCoords(ArrayRef<unsigned> uDims, int64_t point) const;
  int64_t getNumColumnReductions() const;
};

/// The first of the dims of the memref that make up a row of `factor`, what lies
/// within its second stride, if rows are known not to be whole 16 bytes: the copy
/// engine moves no such factor.
std::optional<unsigned> getUnalignedRow(const OperandModel &factor);
/// Runs `body` for each factor of `tile`.
void forFactors(const TileModel &tile,
                llvm::function_ref<void(const OperandModel &)> body);
/// Elements from one row of a memref of type `type` to the next, of which dims
/// from `row` on make up one, in whole 16 bytes; 0 if that is not known, or any
/// other stride is not.
int64_t getPaddedRow(MemRefType type, unsigned row);
/// `type`, compact but for that.
MemRefType getPaddedType(MemRefType type, unsigned row);

struct KernelModel {
  mutable func::FuncOp func;
  /// The op itself or the members of the bundle.
  std::vector<TileModel> tiles;
};

/// Builds the model of `func`, which holds one tile op or bundle on memrefs.
/// On failure `reason` says what the lowering lacks.
FailureOr<KernelModel> buildKernelModel(func::FuncOp func, std::string &reason);

/// Rows of one tile.
inline int64_t getTileRows(ScheduleAttr schedule) {
  return schedule.getTile()[0];
}
/// Rows that a consumer's region works on together: those of a fragment; where
/// factors are swapped those of the tile, or a block's own where k is split.
int64_t getRegionRows(ScheduleAttr schedule);
/// Bytes of what a consumer loads or stores at a time: these rows of a chunk of
/// 16-bit elements or half a chunk of 32-bit ones, 8 KB where it has 64 rows and
/// columns. One of 8-bit elements takes half of it.
inline int64_t getBoxBytes(ScheduleAttr schedule) {
  return getRegionRows(schedule) * schedule.getChunk() * 2;
}
/// A loaded box in the ring: the rows of both consumers.
inline int64_t getRingBoxBytes(ScheduleAttr schedule) {
  return kConsumers * getBoxBytes(schedule);
}
/// Chunks of a group of columns, which is read ahead as a whole; 1 without
/// groups.
inline int64_t getChunksAhead(const TileModel &tile, ScheduleAttr schedule) {
  return std::max<int64_t>(1, tile.groupColumns / schedule.getChunk());
}
/// Boxes of a chunk of `tile` that the schedule loads ahead.
inline int64_t getPrefetchedPerChunk(const TileModel &tile,
                                     ScheduleAttr schedule) {
  return schedule.getPrefetch() || schedule.getRing()
             ? tile.getPrefetchedPerChunk()
             : 0;
}
/// What a box of a chunk is written to on its way out: that loaded box of the
/// chunk, or that buffer of a staging slot.
struct StagedBox {
  bool inPlace;
  int64_t number;
  /// Bits of an element.
  int64_t width;
};
/// The boxes that a chunk of `tile` stores, in the order of its outputs.
SmallVector<StagedBox> getStagedBoxes(const TileModel &tile,
                                      ScheduleAttr schedule);
/// Those of them that pass through the staging buffers.
int64_t getStagingPerChunk(const TileModel &tile, ScheduleAttr schedule);
/// 64-row fragments of a tile that one warpgroup has; 1 where factors are swapped,
/// as its region walks over rows and columns of a tile at once.
inline int64_t getFragments(ScheduleAttr schedule) {
  if (schedule.getSwap())
    return 1;
  return getTileRows(schedule) /
         (schedule.getPingpong() ? kFragmentRows : kConsumers * kFragmentRows);
}
/// Rows of a group of column reduction `output`.
inline int64_t getGroupRows(const OutputModel &output, ScheduleAttr schedule) {
  return output.groupRows ? output.groupRows : getTileRows(schedule);
}
/// Strips of 16 rows, one a warp, that column reductions of `tile` keep between
/// fragments; a consumer's own if each has a tile.
int64_t getReducedStrips(const TileModel &tile, ScheduleAttr schedule);
/// Blocks of a cluster that have tiles of their own, and share factors.
inline int64_t getSharingBlocks(ScheduleAttr schedule) {
  return schedule.getCluster().m * schedule.getCluster().n;
}
/// Blocks that work on one tile, or on neighbours, together.
inline int64_t getClusterBlocks(ScheduleAttr schedule) {
  return schedule.getSplit() * getSharingBlocks(schedule);
}
/// Threads that fill the stages in turn. Each has to see every phase of its
/// stages, so that there is one where the stages are odd in number.
inline int64_t getProducers(ScheduleAttr schedule) {
  return getTileRows(schedule) <= kFragmentRows && schedule.getStages() % 2 == 0
             ? 2
             : 1;
}
/// Accumulators of one thread.
inline int64_t getThreadAccumulators(ScheduleAttr schedule) {
  int64_t threads = (schedule.getPingpong() ? 1 : kConsumers) * kConsumerThreads;
  return getTileRows(schedule) * schedule.getTile()[1] / threads;
}
/// Accumulators of one thread that one WGMMA adds to, of a part of `numGroups`
/// groups of the tile's columns, and how many WGMMAs the part takes.
int64_t getProductAccumulators(const TileModel &tile, int64_t numGroups,
                               ScheduleAttr schedule);
int64_t getNumProducts(const TileModel &tile, int64_t numGroups,
                       ScheduleAttr schedule);
/// Points of n of one tile of `tile` under `schedule`.
int64_t getTilePoints(const TileModel &tile, ScheduleAttr schedule);
/// Columns of a box of right factor `rhs` that does not come in one: what divides
/// those of the tile and lies in one row of the inner n dim, or is made of such
/// rows, at most 64.
int64_t getFactorRun(const TileModel &tile, const OperandModel &rhs,
                     ScheduleAttr schedule);
/// Rows of a box of a left factor that is contiguous along them.
int64_t getFactorRunOfRows(ScheduleAttr schedule);
/// Rows of the inner n dim, or 1 for a part of one, that a tile's columns of right
/// factor `rhs` are if they are one box of rows of k; 0: they are several.
int64_t getRowsOfBox(const TileModel &tile, const OperandModel &rhs,
                     ScheduleAttr schedule);
/// Rows of `tile`, of all m and b dims together, or the most that there are; 0 if
/// not known.
int64_t getRows(const TileModel &tile);
/// Number of tiles of `tile`; 0 where it is not known, or too few columns for one.
int64_t getNumTiles(const TileModel &tile, ScheduleAttr schedule);
/// Number of tiles of all ops of `kernel`; 0 where that of one is.
int64_t getNumTiles(const KernelModel &kernel, ScheduleAttr schedule);
/// Whether the kernel is launched before the one ahead of it in a call has ended.
/// Blocks are then where multiprocessors fell free, and those of neighbouring tiles
/// no longer beside each other, where their reads of one factor meet on the way to
/// L2: that costs every tile, and gains once.
bool beginsEarly(const KernelModel &kernel, ScheduleAttr schedule);
/// Blocks of a cluster that run the region: each on its own columns, or on its own
/// rows where factors are swapped.
int64_t getOwners(const TileModel &tile, ScheduleAttr schedule);
/// Points of n of a tile on which one block runs the region.
int64_t getRegionPoints(const TileModel &tile, ScheduleAttr schedule);
/// Rows of the left factor in a stage: of few rows no more than there are. What
/// a fragment then reads beyond them are columns of the right factor or the
/// next stage, and its rows beyond the last are never stored.
int64_t getFactorRows(const TileModel &tile, ScheduleAttr schedule);
/// Where the right factors begin in a stage.
int64_t getRightOffset(const TileModel &tile, ScheduleAttr schedule);
/// Warps of a consumer that have rows of a tile.
int64_t getActiveWarps(const TileModel &tile, ScheduleAttr schedule);
/// Bytes in which one consumer shows the blocks of its cluster the accumulators
/// of a tile; 0 without a split.
int64_t getExchangeBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Bytes that a k block of a phase of `tile` loads into a stage.
int64_t getBlockBytes(const TileModel &tile, const Phase &phase,
                      ScheduleAttr schedule);
/// Bytes of one ring stage of the kernel.
int64_t getStageBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Loaded boxes that one stage holds, each for both consumers.
int64_t getBoxesPerStage(const KernelModel &kernel, ScheduleAttr schedule);

/// The boxes that come through the ring for one fragment of a tile: first those
/// of tiles that repeat within it, once for all chunks, then those of one chunk
/// after another.
struct RingBoxes {
  RingBoxes(const TileModel &tile, ScheduleAttr schedule);
  /// Numbers, within a chunk, of the boxes that repeat and of the others.
  SmallVector<int64_t> repeated, own;
  /// Chunks of the tile, and those after which what repeats does.
  int64_t chunks, period;
  int64_t getCount() const {
    return period * repeated.size() + chunks * own.size();
  }
  /// Position of box `box` of a chunk.
  int64_t getPosition(int64_t chunk, int64_t box) const;
};
/// Sets of the buffers that regions take, one for each consumer or one for both.
inline int64_t getBufferSets(ScheduleAttr schedule) {
  return schedule.getOrdered() ? 1 : kConsumers;
}
/// Chunks that the buffers of loaded tiles hold, all sets together.
inline int64_t getPrefetchBuffers(ScheduleAttr schedule) {
  return getBufferSets(schedule) * schedule.getPrefetch();
}
/// Whether two neighbours of `operand` along the inner n dim are one aligned
/// access.
bool hasPairAccess(const TileModel &tile, const OperandModel &operand);
/// Columns, one or two neighbours, of which a thread stores all values of `output` at
/// once where those of a column, at the points of a u dim, lie next to each other;
/// 0 where they do not.
int64_t getColumnsOfRun(const TileModel &tile, const OutputModel &output);
/// Columns whose parts of a row reduction one warp has where factors are swapped:
/// parts of other warps it has from shared memory.
constexpr int64_t kStripColumns = 16;
/// Whether the reduction of `output` over rows needs parts of several warps.
bool joinsStrips(const OutputModel &output, ScheduleAttr schedule);
/// Runs `body` for each vector of column values that the region loads: an input,
/// and a point of its u dims.
void forColumnVectors(const TileModel &tile,
                      llvm::function_ref<void(unsigned, int64_t)> body);
/// Whether the values of columns are loaded into registers while the last products
/// run: a thread has room for them beside its accumulators.
bool holdsColumns(const TileModel &tile, ScheduleAttr schedule);
/// A vector of column values in a consumer's buffer, and at which byte.
struct StagedColumns {
  unsigned input;
  int64_t point, offset;
};
/// The vectors that pass through that buffer: those that are combined as they are
/// loaded, those that a thread cannot hold, all where k is split; as many as fit
/// behind all else.
SmallVector<StagedColumns> getStagedColumns(const KernelModel &kernel,
                                            const TileModel &tile,
                                            ScheduleAttr schedule);
/// Bytes of the buffer of one consumer.
int64_t getColumnsBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Bytes of the prefetched boxes of one chunk.
int64_t getPrefetchBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Scratch of the reductions that several warps have parts of, of all consumers.
int64_t getScratchBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Where in dynamic shared memory what a kernel has there begins, one behind the
/// other: the ring, from 0 on, the staged boxes, the prefetched ones, the scratch
/// of reductions, the accumulators that a cluster exchanges, the staged
/// values of columns.
struct SharedMemory {
  SharedMemory(const KernelModel &kernel, ScheduleAttr schedule);
  int64_t staging, prefetch, scratch, exchange, columns;
};
/// All of it.
int64_t getSharedMemoryBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Slots of the staging ring of `tile`: chunks in flight on their way out.
int64_t getStagingSlots(const TileModel &tile, ScheduleAttr schedule);

/// What the kernel of `func` is called on the device: the op and the schedule,
/// as main_gemm_0_128x256x64_s4, with what is not the default behind it.
std::string getKernelName(func::FuncOp func, ScheduleAttr schedule);

/// Whether the bits of a row depend on its products alone: schedules of which
/// this holds add those of an element in one order, whatever the tile.
inline bool isBatchInvariant(ScheduleAttr schedule) {
  return schedule.getSplit() == 1 && !schedule.getSwap();
}

/// k blocks of `phase`; 0 if not known.
int64_t getNumBlocks(const TileModel &tile, const Phase &phase);
/// Depth of a k block of the kernel, the first part of it that has any.
int64_t getDepthOfBlock(const KernelModel &kernel);

/// The one place that says whether a schedule fits a kernel.
LogicalResult verifySchedule(const KernelModel &kernel, ScheduleAttr schedule,
                             std::string &reason);
/// A bounded list of schedules that fit, the likely best first; empty, with the
/// reason, if none does; `batchInvariant` leaves others out.
SmallVector<ScheduleAttr> enumerateSchedules(const KernelModel &kernel,
                                             bool batchInvariant,
                                             std::string &reason);
/// The schedule that the selector takes; null, with the reason, if none fits.
ScheduleAttr selectSchedule(const KernelModel &kernel, bool batchInvariant,
                            std::string &reason);

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_KERNELMODEL_H
