//===- Schedule.cpp - What a schedule takes, and whether it fits ----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelModel.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::coda_gpu;

int64_t coda_gpu::getTilePoints(const TileModel &tile, ScheduleAttr schedule) {
  int64_t chunk = schedule.getChunk();
  return schedule.getTile()[1] / tile.getNumGroups() / chunk * chunk;
}

int64_t coda_gpu::getRegionRows(ScheduleAttr schedule) {
  if (!schedule.getSwap())
    return kFragmentRows;
  int64_t rows = getTileRows(schedule);
  return rows / std::gcd(rows / 8, schedule.getSplit());
}

// A fragment is as wide as the columns of the part together, or, of swapped
// factors, has 64 of these and is as wide as the tile is tall.
int64_t coda_gpu::getProductAccumulators(const TileModel &tile,
                                         int64_t numGroups,
                                         ScheduleAttr schedule) {
  return schedule.getSwap()
             ? getTileRows(schedule) / 2
             : getTilePoints(tile, schedule) * numGroups / 2;
}

int64_t coda_gpu::getNumProducts(const TileModel &tile, int64_t numGroups,
                                 ScheduleAttr schedule) {
  return schedule.getSwap() ? getTilePoints(tile, schedule) * numGroups /
                                  kFragmentRows
                            : getFragments(schedule);
}

int64_t coda_gpu::getFactorRunOfRows(ScheduleAttr schedule) {
  return std::gcd(getTileRows(schedule), kFactorColumns);
}

int64_t coda_gpu::getFactorRun(const TileModel &tile, const OperandModel &rhs,
                               ScheduleAttr schedule) {
  int64_t times = rhs.getColumnsOfPoint();
  int64_t run =
      std::gcd(getTilePoints(tile, schedule) * times, kFactorColumns);
  // Rows that are no runs of a chunk are of a known extent.
  if (!tile.outerN.empty() && tile.runColumns == kLongRun)
    run = std::gcd(run, tile.dims[tile.innerN].extent * times);
  return run;
}

int64_t coda_gpu::getRowsOfBox(const TileModel &tile, const OperandModel &rhs,
                               ScheduleAttr schedule) {
  int64_t points = getTilePoints(tile, schedule);
  int64_t inner = tile.dims[tile.innerN].extent;
  if (tile.outerN.empty() || (points <= inner && inner % points == 0))
    return 1;
  unsigned outer = tile.outerN.back();
  int64_t rows = points / inner;
  bool areWhole = points % inner == 0 &&
                  rhs.find(outer) < rhs.find(tile.innerN) &&
                  (tile.outerN.size() == 1 ||
                   tile.dims[outer].extent % rows == 0);
  return areWhole ? rows : 0;
}

int64_t coda_gpu::getRows(const TileModel &tile) {
  int64_t rows = tile.dims[tile.innerM].extent;
  if (ShapedType::isDynamic(rows))
    return tile.maxRows;
  for (unsigned d : tile.outerM) {
    if (ShapedType::isDynamic(tile.dims[d].extent))
      return tile.maxRows;
    rows *= tile.dims[d].extent;
  }
  return rows;
}

int64_t coda_gpu::getNumTiles(const TileModel &tile, ScheduleAttr schedule) {
  int64_t points = getTilePoints(tile, schedule);
  int64_t rows = getRows(tile), columns = tile.getColumns();
  if (points == 0 || rows == 0 || ShapedType::isDynamic(columns))
    return 0;
  int64_t inner = tile.dims[tile.innerM].extent;
  if (ShapedType::isDynamic(inner))
    inner = rows;
  return llvm::divideCeil(rows, inner) *
         llvm::divideCeil(inner, getTileRows(schedule)) *
         llvm::divideCeil(columns, points);
}

int64_t coda_gpu::getNumTiles(const KernelModel &kernel, ScheduleAttr schedule) {
  int64_t tiles = 0;
  for (const TileModel &tile : kernel.tiles) {
    int64_t count = getNumTiles(tile, schedule);
    if (count == 0)
      return 0;
    tiles += count;
  }
  return tiles;
}

/// Turns of tiles in which a kernel gains from blocks that begin early what it
/// loses by where they are.
static constexpr int64_t kMaxTurnsOfEarly = 2;

bool coda_gpu::beginsEarly(const KernelModel &kernel, ScheduleAttr schedule) {
  int64_t tiles = getNumTiles(kernel, schedule);
  return tiles != 0 && tiles <= kMaxTurnsOfEarly * kMultiprocessors;
}

/// Columns that one block must have of a tile: a reduction over a row's columns
/// stays in a thread.
static int64_t getColumnUnit(const TileModel &tile, ScheduleAttr schedule) {
  int64_t unit = std::max(schedule.getChunk(), tile.groupColumns);
  for (const OutputModel &output : tile.outputs)
    if (output.reduce == ReduceKind::Rows)
      unit = std::lcm(unit, output.groupColumns);
  return unit;
}

int64_t coda_gpu::getOwners(const TileModel &tile, ScheduleAttr schedule) {
  if (schedule.getSwap())
    return getTileRows(schedule) / getRegionRows(schedule);
  // The accumulators of some columns of pairs are not those of each point.
  for (unsigned group = 0; group < tile.groups.size(); ++group)
    if (tile.getRightFactor(group).pairs)
      return 1;
  int64_t units = getTilePoints(tile, schedule) / getColumnUnit(tile, schedule);
  return std::gcd(std::max<int64_t>(1, units), schedule.getSplit());
}

int64_t coda_gpu::getRegionPoints(const TileModel &tile,
                                  ScheduleAttr schedule) {
  int64_t points = getTilePoints(tile, schedule);
  return schedule.getSwap() ? points : points / getOwners(tile, schedule);
}

int64_t coda_gpu::getFactorRows(const TileModel &tile, ScheduleAttr schedule) {
  int64_t rows = getTileRows(schedule), extent = tile.dims[tile.innerM].extent;
  bool isKMajor = llvm::all_of(
      tile.phases, [](const Phase &phase) { return phase.lhsKMajor; });
  if (rows > kFragmentRows || !isKMajor || ShapedType::isDynamic(extent))
    return rows;
  // The swizzle repeats every 8 rows.
  return std::min<int64_t>(rows, llvm::alignTo(std::max<int64_t>(1, extent), 8));
}

int64_t coda_gpu::getActiveWarps(const TileModel &tile,
                                 ScheduleAttr schedule) {
  int64_t extent = tile.dims[tile.innerM].extent;
  if (schedule.getSwap() || getTileRows(schedule) != kFragmentRows ||
      ShapedType::isDynamic(extent))
    return 4;
  return std::clamp<int64_t>(llvm::divideCeil(extent, 16), 1, 4);
}

int64_t coda_gpu::getRightOffset(const TileModel &tile,
                                 ScheduleAttr schedule) {
  return getFactorRows(tile, schedule) * kBlockK * 2;
}

static int64_t getRightBytes(const TileModel &tile, const Phase &phase,
                             ScheduleAttr schedule) {
  return getTilePoints(tile, schedule) * phase.numGroups * kBlockK * 2;
}

int64_t coda_gpu::getBlockBytes(const TileModel &tile, const Phase &phase,
                                ScheduleAttr schedule) {
  // A left factor without rows is one.
  bool isRow = tile.dims[tile.innerM].domain.empty();
  int64_t left =
      isRow ? kBlockK * 2 : getRightOffset(tile, schedule);
  return left + getRightBytes(tile, phase, schedule);
}

int64_t coda_gpu::getStageBytes(const KernelModel &kernel,
                                ScheduleAttr schedule) {
  int64_t bytes = 0;
  for (const TileModel &tile : kernel.tiles)
    for (const Phase &phase : tile.phases)
      bytes = std::max(bytes, getRightOffset(tile, schedule) +
                                  getRightBytes(tile, phase, schedule));
  return llvm::alignTo(bytes, 1024);
}

int64_t coda_gpu::getBoxesPerStage(const KernelModel &kernel,
                                   ScheduleAttr schedule) {
  return getStageBytes(kernel, schedule) / getRingBoxBytes(schedule);
}

int64_t coda_gpu::getPrefetchBytes(const KernelModel &kernel,
                                   ScheduleAttr schedule) {
  int64_t boxes = 0;
  for (const TileModel &tile : kernel.tiles)
    boxes = std::max(boxes, tile.getPrefetchedPerChunk());
  return boxes * getBoxBytes(schedule);
}

bool coda_gpu::joinsStrips(const OutputModel &output, ScheduleAttr schedule) {
  return schedule.getSwap() && output.reduce == ReduceKind::Rows &&
         output.groupColumns != kStripColumns;
}

int64_t coda_gpu::getReducedStrips(const TileModel &tile,
                                   ScheduleAttr schedule) {
  int64_t rows = schedule.getPingpong() ? 0 : kConsumers * kFragmentRows;
  for (const OutputModel &output : tile.outputs)
    if (output.reduce == ReduceKind::Columns)
      rows = std::max(rows, getGroupRows(output, schedule));
  return rows / kWarpRows;
}

// One float a column and 16 rows, or a row and 16 columns; that of each consumer if
// each has a tile.
int64_t coda_gpu::getScratchBytes(const KernelModel &kernel,
                                  ScheduleAttr schedule) {
  int64_t bytes = 0;
  for (const TileModel &tile : kernel.tiles) {
    int64_t strips = 0;
    for (const OutputModel &output : tile.outputs)
      if (joinsStrips(output, schedule))
        strips += output.points * getTilePoints(tile, schedule) / kStripColumns;
    int64_t ofColumns = tile.getNumColumnReductions() *
                        getReducedStrips(tile, schedule) *
                        getTilePoints(tile, schedule);
    bytes = std::max(
        {bytes, strips * getRegionRows(schedule) * 4, ofColumns * 4});
  }
  return schedule.getPingpong() ? kConsumers * bytes : bytes;
}

int64_t coda_gpu::getExchangeBytes(const KernelModel &kernel,
                                   ScheduleAttr schedule) {
  if (schedule.getSplit() == 1)
    return 0;
  int64_t bytes = 0;
  for (const TileModel &tile : kernel.tiles)
    bytes = std::max(bytes, getActiveWarps(tile, schedule) * 32 *
                                getThreadAccumulators(schedule) * 4);
  return bytes;
}

SharedMemory::SharedMemory(const KernelModel &kernel, ScheduleAttr schedule) {
  staging = schedule.getStages() * getStageBytes(kernel, schedule);
  prefetch = staging + getBufferSets(schedule) * schedule.getStaging() *
                           getBoxBytes(schedule);
  scratch = prefetch +
            getPrefetchBuffers(schedule) * getPrefetchBytes(kernel, schedule);
  exchange = scratch + getScratchBytes(kernel, schedule);
  columns = exchange + kConsumers * getExchangeBytes(kernel, schedule);
}

bool coda_gpu::hasPairAccess(const TileModel &tile,
                             const OperandModel &operand) {
  if (operand.dims.empty() || operand.dims.back() != tile.innerN ||
      operand.strides.back() != 1)
    return false;
  int64_t inner = tile.dims[tile.innerN].extent;
  if (ShapedType::isDynamic(inner) || inner % 2 != 0)
    return false;
  for (int64_t stride : ArrayRef(operand.strides).drop_back())
    if (ShapedType::isDynamic(stride) ? !operand.type.getLayout().isIdentity()
                                      : stride % 2 != 0)
      return false;
  return true;
}

int64_t coda_gpu::getColumnsOfRun(const TileModel &tile,
                                  const OutputModel &output) {
  constexpr int64_t kMaxBits = 128;
  int64_t bits = output.points * output.element.getIntOrFloatBitWidth();
  if (output.points < 2 || !llvm::isPowerOf2_64(bits) || bits > kMaxBits ||
      output.uDims.size() != 1 || output.dims.back() != output.uDims.front() ||
      output.strides.back() != 1)
    return 0;
  // What lies further out has to keep `elements` aligned.
  auto isAligned = [&](ArrayRef<int64_t> strides, int64_t elements) {
    return llvm::all_of(strides, [&](int64_t stride) {
      return ShapedType::isDynamic(stride)
                 ? output.type.getLayout().isIdentity()
                 : stride % elements == 0;
    });
  };
  ArrayRef<int64_t> strides = ArrayRef(output.strides).drop_back();
  if (!isAligned(strides, output.points))
    return 0;
  int64_t inner = tile.dims[tile.innerN].extent;
  bool arePairs = 2 * bits <= kMaxBits && output.dims.size() > 1 &&
                  output.dims.end()[-2] == tile.innerN &&
                  strides.back() == output.points &&
                  !ShapedType::isDynamic(inner) && inner % 2 == 0 &&
                  isAligned(strides.drop_back(), 2 * output.points);
  return arePairs ? 2 : 1;
}

void coda_gpu::forColumnVectors(
    const TileModel &tile, llvm::function_ref<void(unsigned, int64_t)> body) {
  for (auto [i, input] : llvm::enumerate(tile.inputs)) {
    bool ofColumns = llvm::any_of(input.dims, [&](unsigned d) {
      return tile.dims[d].kind == coda::DimKind::n;
    });
    if (!ofColumns || input.has(tile.innerM))
      continue;
    for (int64_t point = 0; point < input.points; ++point)
      if (!tile.op.getInputArguments(i)[point].use_empty())
        body(i, point);
  }
}

/// Registers of a thread that accumulators and the values of columns may take
/// together while the last products run.
static constexpr int64_t kMaxEarlyRegisters = 160;

bool coda_gpu::holdsColumns(const TileModel &tile, ScheduleAttr schedule) {
  if (tile.phases.empty())
    return false;
  // A thread has two of every 8 columns, or of the 64 rows of a fragment.
  int64_t blocks = getRegionPoints(tile, schedule) /
                   (schedule.getSwap() ? kFragmentRows : 8);
  int64_t registers = getThreadAccumulators(schedule);
  forColumnVectors(tile, [&](unsigned i, int64_t) {
    const InputModel &input = tile.inputs[i];
    bool packed = !schedule.getSwap() && hasPairAccess(tile, input) &&
                  input.element.getIntOrFloatBitWidth() == 16;
    if (!input.combiner)
      registers += blocks * (packed ? 1 : 2);
  });
  return registers <= kMaxEarlyRegisters;
}

SmallVector<StagedColumns>
coda_gpu::getStagedColumns(const KernelModel &kernel, const TileModel &tile,
                           ScheduleAttr schedule) {
  // Nothing else gives way to them.
  int64_t room =
      (kSharedMemoryBytes - SharedMemory(kernel, schedule).columns) / kConsumers;
  SmallVector<StagedColumns> staged;
  int64_t offset = 0;
  // Where k is split there are few tiles, and nothing of a vector is in the caches:
  // it is early that counts.
  bool holds = schedule.getSplit() == 1 && holdsColumns(tile, schedule);
  forColumnVectors(tile, [&](unsigned i, int64_t point) {
    const InputModel &input = tile.inputs[i];
    int64_t bytes =
        llvm::alignTo(getRegionPoints(tile, schedule) *
                          input.element.getIntOrFloatBitWidth() / 8,
                      16);
    bool isWritten = llvm::any_of(tile.outputs, [&](const OutputModel &output) {
      return output.memref == input.memref;
    });
    if (isWritten || (holds && !input.combiner) || offset + bytes > room)
      return;
    staged.push_back({i, point, offset});
    offset += bytes;
  });
  return staged;
}

int64_t coda_gpu::getColumnsBytes(const KernelModel &kernel,
                                  ScheduleAttr schedule) {
  int64_t bytes = 0;
  for (const TileModel &tile : kernel.tiles)
    for (StagedColumns columns : getStagedColumns(kernel, tile, schedule)) {
      int64_t width =
          tile.inputs[columns.input].element.getIntOrFloatBitWidth();
      bytes = std::max(bytes,
                       columns.offset + getRegionPoints(tile, schedule) *
                                            width / 8);
    }
  return llvm::alignTo(bytes, 16);
}

int64_t coda_gpu::getSharedMemoryBytes(const KernelModel &kernel,
                                       ScheduleAttr schedule) {
  int64_t bytes = SharedMemory(kernel, schedule).columns +
                  kConsumers * getColumnsBytes(kernel, schedule);
  // Of a left factor with few rows a fragment reads beyond the last stage.
  int64_t read = (schedule.getStages() - 1) * getStageBytes(kernel, schedule) +
                 getTileRows(schedule) * kBlockK * 2;
  return std::max(bytes, read);
}

int64_t coda_gpu::getStagingSlots(const TileModel &tile,
                                  ScheduleAttr schedule) {
  int64_t perChunk = getStagingPerChunk(tile, schedule);
  if (perChunk == 0)
    return 0;
  // The slot of a chunk is static only if the slots divide the chunks.
  int64_t chunks = getRegionPoints(tile, schedule) / schedule.getChunk();
  int64_t slots = std::min(schedule.getStaging() / perChunk, chunks);
  while (slots > 1 && chunks % slots != 0)
    --slots;
  return slots;
}

std::string coda_gpu::getKernelName(func::FuncOp func, ScheduleAttr schedule) {
  std::string name = func.getName().str();
  llvm::raw_string_ostream stream(name);
  stream << '_';
  llvm::interleave(schedule.getTile(), stream, "x");
  stream << "_s" << schedule.getStages();
  if (schedule.getPingpong())
    stream << "_pingpong";
  if (schedule.getRing())
    stream << "_ring";
  if (schedule.getInplace())
    stream << "_inplace";
  if (schedule.getOrdered())
    stream << "_ordered";
  if (schedule.getSwap())
    stream << "_swap";
  if (schedule.getChunk() != kMaxChunk)
    stream << "_chunk" << schedule.getChunk();
  if (schedule.getSplit() > 1)
    stream << "_split" << schedule.getSplit();
  if (getSharingBlocks(schedule) > 1)
    stream << "_c" << schedule.getCluster().m << 'x' << schedule.getCluster().n;
  return name;
}

/// Tensor maps of the kernel, or a few more: one for each factor, loaded tile and
/// stored tile that is a view of its own. Tiles of as many columns have the same boxes
/// of a factor.
static size_t getNumTensorMaps(const KernelModel &kernel,
                               ScheduleAttr schedule) {
  constexpr int64_t kLeft = 0, kLoad = -1;
  SmallVector<std::tuple<Value, ArrayRef<unsigned>, int64_t>> maps;
  // No two ops store to one place, though tensors may share an empty one for it.
  size_t stores = 0;
  auto add = [&](const OperandModel &operand, int64_t box) {
    std::tuple map(operand.memref, ArrayRef(operand.dims), box);
    if (!llvm::is_contained(maps, map))
      maps.push_back(map);
  };
  for (const TileModel &tile : kernel.tiles) {
    for (const Phase &phase : tile.phases) {
      add(phase.lhs, kLeft);
      for (const std::optional<OperandModel> &rhs : phase.rhs)
        if (rhs)
          add(*rhs, getTilePoints(tile, schedule));
    }
    if (getPrefetchedPerChunk(tile, schedule))
      for (const InputModel &input : tile.inputs)
        if (input.path == LoadPath::Prefetched)
          add(input, kLoad);
    if (!getStagedBoxes(tile, schedule).empty())
      for (const OutputModel &output : tile.outputs)
        stores += output.path == StorePath::Staged;
  }
  return maps.size() + stores;
}

static constexpr int64_t kMaxPrefetch = 16;
/// Columns that the lanes of a warp share out when they reduce them: of 8 lanes
/// each has one of every 8 at least. Of 16 columns, where rows of the inner n dim
/// are no more of them, two lanes have the same.
static constexpr int64_t kReducedChunk = 32;

/// Most stages that the loaded boxes of a group of `tile` lie in: all of them
/// are held at one time. Those of a whole fragment, if some are for all of it.
static int64_t getHeldStages(const KernelModel &kernel, const TileModel &tile,
                             ScheduleAttr schedule) {
  int64_t perStage = getBoxesPerStage(kernel, schedule);
  RingBoxes all(tile, schedule);
  if (!all.repeated.empty())
    return llvm::divideCeil(all.getCount(), perStage);
  int64_t chunks = getTilePoints(tile, schedule) / schedule.getChunk();
  int64_t ahead = getChunksAhead(tile, schedule);
  int64_t boxes = ahead * getPrefetchedPerChunk(tile, schedule);
  int64_t held = 0;
  for (int64_t i = 0; i < chunks / ahead; ++i)
    held = std::max(held, ((i + 1) * boxes - 1) / perStage -
                              i * boxes / perStage + 1);
  return held;
}

int64_t coda_gpu::getNumBlocks(const TileModel &tile, const Phase &phase) {
  int64_t blocks = 1;
  for (unsigned d : phase.k) {
    int64_t extent = tile.dims[d].extent;
    if (ShapedType::isDynamic(extent))
      return 0;
    blocks *=
        d == phase.k.back() ? llvm::divideCeil(extent, tile.blockK) : extent;
  }
  return blocks;
}

int64_t coda_gpu::getDepthOfBlock(const KernelModel &kernel) {
  for (const TileModel &tile : kernel.tiles)
    if (!tile.phases.empty())
      return tile.blockK;
  return kBlockK;
}

/// What a swapped tile is, whatever the kernel.
static LogicalResult verifySwappedTile(ScheduleAttr schedule,
                                       std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  ArrayRef<int64_t> shape = schedule.getTile();
  if (!schedule.getPingpong())
    return fail("consumers do not share the fragments of swapped factors: with "
                "swap, pingpong must be true");
  if (shape[0] < 8 || shape[0] > kFragmentRows || shape[0] % 8 != 0)
    return fail("with swap, tile rows must be a multiple of 8, the columns of a "
                "fragment, and at most 64");
  if (schedule.getChunk() != kFragmentRows)
    return fail("with swap, a chunk is the 64 columns that are a fragment's rows");
  return success();
}

/// Whether the region of `tile` can be walked over in swapped fragments.
static LogicalResult verifySwappedRegion(const TileModel &tile,
                                         std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  if (tile.runColumns < kStripColumns)
    return fail("with swap, the inner of several n dims must have a multiple of "
                "16 columns, those of a warp, it has " +
                Twine(tile.runColumns));
  if (tile.hasColumnReduction())
    return fail("with swap, the rows of a column are the columns of a fragment: "
                "they are not reduced");
  if (llvm::any_of(tile.outputs, [](const OutputModel &output) {
        return output.reduce == ReduceKind::Rows && output.element.isF64();
      }))
    return fail("with swap, a row reduction is f32: parts of several warps are "
                "in words");
  if (tile.groupColumns)
    return fail("with swap, the columns of a group are those of several warps: "
                "a region cannot go on with what they are reduced to");
  for (unsigned group = 0; group < tile.groups.size(); ++group)
    if (tile.getRightFactor(group).pairs)
      return fail("with swap, the columns of a right factor cannot alternate "
                  "between two points: neighbours are in two threads");
  return success();
}

/// Whether tiles have whole groups of rows of column reduction `output`.
static bool holdsGroups(const TileModel &tile, const OutputModel &output,
                        ScheduleAttr schedule) {
  int64_t rows = getTileRows(schedule);
  if (output.groupRows)
    return rows % output.groupRows == 0;
  return rows <= kReducedRows && rows >= tile.dims[tile.innerM].extent;
}

LogicalResult coda_gpu::verifySchedule(const KernelModel &kernel,
                                       ScheduleAttr schedule,
                                       std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  ArrayRef<int64_t> shape = schedule.getTile();
  int64_t depth = getDepthOfBlock(kernel);
  if (shape.size() != 3 || shape[2] != depth)
    return fail("tile must be [rows, columns, " + Twine(depth) + "]");
  for (const TileModel &tile : kernel.tiles) {
    if (!tile.phases.empty() && tile.blockK != depth)
      return fail("factors of 8 bits and wider ones are in one kernel");
    bool areAligned = true;
    forFactors(tile, [&](const OperandModel &factor) {
      areAligned &= !getUnalignedRow(factor);
    });
    if (!areAligned)
      return fail("a factor is not aligned: its rows must be whole 16 bytes");
  }
  int64_t unit =
      schedule.getPingpong() ? kFragmentRows : kConsumers * kFragmentRows;
  if (schedule.getSwap()) {
    if (failed(verifySwappedTile(schedule, reason)))
      return failure();
  } else if (shape[0] < unit || shape[0] > 256 || shape[0] % unit != 0)
    return fail("tile rows must be a multiple of " + Twine(unit) +
                ", 64 for each warpgroup of the tile, and at most 256");
  int64_t chunk = schedule.getChunk();
  if (chunk < kMinChunk || chunk > kMaxChunk || !llvm::isPowerOf2_64(chunk))
    return fail("chunk must be 8, 16, 32 or 64 columns");
  if (shape[1] < chunk || shape[1] > 256 || shape[1] % chunk != 0)
    return fail("tile columns must be a multiple of " + Twine(chunk) +
                ", the columns of a chunk, and at most 256, what one WGMMA "
                "multiplies");
  if (getThreadAccumulators(schedule) > kMaxAccumulators)
    return fail("a thread has " + Twine(getThreadAccumulators(schedule)) +
                " accumulators, at most " + Twine(kMaxAccumulators) + " fit");
  if (schedule.getStages() < 2 || schedule.getStages() > kMaxStages)
    return fail("stages must be 2 to " + Twine(kMaxStages));
  if (schedule.getSplit() < 1 || schedule.getSplit() > kMaxClusterBlocks)
    return fail("split must be 1 to " + Twine(kMaxClusterBlocks) +
                ": blocks of a cluster");
  for (int64_t blocks : {schedule.getCluster().m, schedule.getCluster().n})
    if (blocks != 1 && blocks != 2 && blocks != 4)
      return fail("cluster must have 1, 2 or 4 blocks along m, and along n");
  if (getSharingBlocks(schedule) > kMaxSharingBlocks)
    return fail("a cluster has " + Twine(getSharingBlocks(schedule)) +
                " blocks that share factors, at most " +
                Twine(kMaxSharingBlocks) + " may");
  if (getSharingBlocks(schedule) > 1 && schedule.getSplit() > 1)
    return fail("the blocks of a cluster have slices of k, or tiles of their "
                "own: with cluster, split must be 1");
  if (schedule.getStaging() < 0 || schedule.getRaster() < 1)
    return fail("staging must not be negative, raster at least 1");
  if (schedule.getPrefetch() < 0 || schedule.getPrefetch() > kMaxPrefetch)
    return fail("prefetch must be 0 to " + Twine(kMaxPrefetch));
  if (schedule.getRing() && schedule.getPingpong())
    return fail("loaded tiles cannot come through the ring of a ping-pong pair: "
                "a consumer would wait for stages after some that it has not "
                "seen filled");
  if (schedule.getRing() && schedule.getPrefetch())
    return fail("loaded tiles come through the ring or through buffers of their "
                "own: with ring, prefetch must be 0");
  if (schedule.getOrdered()) {
    if (!schedule.getPingpong())
      return fail("only the regions of a ping-pong pair follow each other: with "
                  "ordered, pingpong must be true");
    if (schedule.getSplit() > 1)
      return fail("where k is split a block may run no region on a tile: with "
                  "ordered, split must be 1");
    if (schedule.getPrefetch() == 0 || getPrefetchBytes(kernel, schedule) == 0)
      return fail("no tiles are loaded into buffers that regions could take in "
                  "order");
  }
  if (schedule.getInplace() &&
      llvm::none_of(kernel.tiles, [&](const TileModel &tile) {
        return llvm::any_of(getStagedBoxes(tile, schedule),
                            [](const StagedBox &box) { return box.inPlace; });
      }))
    return fail("nothing is stored in place: no stored tile has elements as wide "
                "as those of one that is loaded ahead");
  for (const TileModel &tile : kernel.tiles) {
    int64_t points = getTilePoints(tile, schedule);
    if (chunk > tile.maxChunk)
      return fail("the inner n dim has rows of " +
                  Twine(tile.dims[tile.innerN].extent) +
                  " columns, no multiple of chunks of " + Twine(chunk));
    if (chunk < std::min(kMinBoxChunk, tile.maxChunk))
      return fail("chunks of 8 columns are for rows of the inner n dim that are "
                  "no multiple of 16");
    if (points == 0)
      return fail("tile columns do not hold a chunk of " + Twine(chunk) +
                  " columns of each of " + Twine(tile.getNumGroups()) +
                  " accumulators");
    if (schedule.getSwap() && failed(verifySwappedRegion(tile, reason)))
      return failure();
    if (int64_t buffers = getStagingPerChunk(tile, schedule);
        buffers > schedule.getStaging())
      return fail("a chunk stores " + Twine(buffers) +
                  " buffers, staging has " + Twine(schedule.getStaging()));
    for (const OutputModel &output : tile.outputs)
      if (output.reduce == ReduceKind::Rows &&
          (points % output.groupColumns != 0 ||
           output.groupColumns % (schedule.getSwap() ? kStripColumns : chunk) !=
               0))
        return fail("a row reduction over " + Twine(output.groupColumns) +
                    " columns does not fit tiles of " + Twine(points));
    for (const OutputModel &output : tile.outputs)
      if (output.reduce == ReduceKind::Columns &&
          !holdsGroups(tile, output, schedule))
        return fail("a column reduction over " +
                    Twine(output.groupRows ? output.groupRows
                                           : tile.dims[tile.innerM].extent) +
                    " rows does not fit tiles of " + Twine(shape[0]));
    if (tile.hasColumnReduction() &&
        chunk < std::clamp(tile.maxChunk, kMinBoxChunk, kReducedChunk))
      return fail("a column reduction needs chunks of 32 or 64 columns");
    if (schedule.getPingpong() && tile.phases.empty())
      return fail("a map has no products to run its region under");
    if (tile.groupColumns && (points % tile.groupColumns != 0 ||
                              tile.groupColumns % chunk != 0))
      return fail("groups of " + Twine(tile.groupColumns) +
                  " columns do not fit tiles of " + Twine(points) +
                  ", or chunks of " + Twine(chunk));
    if (getSharingBlocks(schedule) > 1 && tile.phases.empty())
      return fail("a map has no factors that blocks could share");
    if (schedule.getSplit() > 1) {
      if (schedule.getRing())
        return fail("loaded tiles cannot come through the ring where k is "
                    "split");
      if (tile.phases.empty())
        return fail("a map has no products to split");
      // The first product of a slice sets the accumulators.
      for (const Phase &phase : tile.phases) {
        int64_t blocks = getNumBlocks(tile, phase);
        if (phase.hasFirstOfPart() && blocks < schedule.getSplit())
          return fail(blocks
                          ? "k has " + Twine(blocks) + " blocks of " +
                                Twine(depth) + ", split deals one to each of " +
                                Twine(schedule.getSplit())
                          : Twine("k of which the extent is not known is not "
                                  "split"));
      }
    }
    // A group is read ahead as a whole.
    int64_t ahead = getChunksAhead(tile, schedule);
    if (!getPrefetchedPerChunk(tile, schedule))
      continue;
    if (schedule.getRing()) {
      if (getBoxesPerStage(kernel, schedule) == 0)
        return fail("a stage of " + Twine(getStageBytes(kernel, schedule)) +
                    " bytes does not hold a loaded box of " +
                    Twine(getRingBoxBytes(schedule)));
      int64_t held = getHeldStages(kernel, tile, schedule);
      if (held > schedule.getStages())
        return fail("loaded tiles that are held together take " + Twine(held) +
                    " stages, the ring has " + Twine(schedule.getStages()));
    } else if (ahead > schedule.getPrefetch())
      return fail("a group's tiles are loaded ahead: prefetch must be 0, or at "
                  "least " + Twine(ahead));
  }
  if (size_t maps = getNumTensorMaps(kernel, schedule); maps > kMaxTensorMaps)
    return fail("factors, loaded and stored tiles need " + Twine(maps) +
                " tensor maps, a kernel has at most " + Twine(kMaxTensorMaps));
  int64_t bytes = getSharedMemoryBytes(kernel, schedule);
  if (bytes > kSharedMemoryBytes)
    return fail("needs " + Twine(bytes) + " bytes of shared memory, a block has " +
                Twine(kSharedMemoryBytes));
  return success();
}
