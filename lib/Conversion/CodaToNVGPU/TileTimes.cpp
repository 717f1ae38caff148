//===- TileTimes.cpp - What shapes of tiles are likely to take ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTimes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::coda_gpu;

namespace {
/// Which coordinates of a point a value of a region varies with.
struct Variation {
  bool rows = false, columns = false;
};
} // namespace

int64_t coda_gpu::getRegionCost(const TileModel &tile) {
  Block &body = tile.op.getBody().front();
  llvm::SmallDenseMap<Value, Variation> variations;
  for (Value argument : body.getArguments())
    variations[argument] = {true, true};
  for (auto [i, input] : llvm::enumerate(tile.inputs)) {
    auto variesWith = [&, &input = input](coda::DimKind kind) {
      return llvm::any_of(input.dims,
                          [&](unsigned d) { return tile.dims[d].kind == kind; });
    };
    for (Value argument : tile.op.getInputArguments(i))
      variations[argument] = {variesWith(coda::DimKind::m),
                              variesWith(coda::DimKind::n)};
  }
  int64_t cost = 0;
  for (Operation &op : body) {
    Variation all;
    if (isa<coda::IndexOp>(op))
      all = {true, true};
    for (Value operand : op.getOperands()) {
      all.rows |= variations[operand].rows;
      all.columns |= variations[operand].columns;
    }
    for (Value result : op.getResults())
      variations[result] = all;
    if (!all.rows || !all.columns)
      continue;
    StringRef name = op.getName().getStringRef();
    bool isLong = name == "math.tanh" || name == "math.erf" ||
                  name == "math.expm1" || name == "math.log1p" ||
                  name == "math.powf";
    cost += isLong ? 15 : 1;
  }
  // A column reduction keeps 16 values of a chunk.
  cost += 20 * tile.getNumColumnReductions();
  // A group's values are computed twice, and some of them kept.
  return tile.groupColumns ? 2 * cost : cost;
}

int64_t coda_gpu::getMaxCost(int64_t rows, bool pingpong, int64_t accumulators) {
  if (accumulators > 128)
    return pingpong && rows == kReducedRows ? kMaxCostOfPingpong
                                            : kMaxCostOfTallTile;
  if (accumulators < 128)
    return std::numeric_limits<int64_t>::max();
  return pingpong && rows != kFragmentRows ? kMaxCostOfPingpong
                                           : kMaxCostOfWideTile;
}

int64_t coda_gpu::getNumTiles(const TileModel &tile, TileShape shape) {
  return getNumTiles(tile, shape.getSchedule(tile.op->getContext()));
}

std::pair<int64_t, int64_t> coda_gpu::getGrid(const TileModel &tile,
                                              ScheduleAttr schedule) {
  int64_t columnTiles =
      llvm::divideCeil(tile.getColumns(), getTilePoints(tile, schedule));
  return {getNumTiles(tile, schedule) / columnTiles, columnTiles};
}

bool coda_gpu::setChunk(const KernelModel &kernel, TileShape &shape) {
  auto fits = [&](const TileModel &tile) {
    ScheduleAttr schedule = shape.getSchedule(kernel.func.getContext());
    int64_t points = getTilePoints(tile, schedule);
    return points * tile.getNumGroups() == shape.columns &&
           shape.chunk <= tile.maxChunk &&
           shape.chunk >= std::min(kMinBoxChunk, tile.maxChunk) &&
           (tile.groupColumns == 0 ||
            (tile.groupColumns % shape.chunk == 0 &&
             points % tile.groupColumns == 0)) &&
           llvm::all_of(tile.outputs, [&](const OutputModel &output) {
             return output.reduce != ReduceKind::Rows ||
                    (output.groupColumns % shape.chunk == 0 &&
                     points % output.groupColumns == 0);
           });
  };
  int64_t before = shape.chunk;
  for (shape.chunk = kMaxChunk; shape.chunk >= kMinChunk; shape.chunk /= 2)
    if (llvm::all_of(kernel.tiles, fits))
      return true;
  shape.chunk = before;
  return false;
}

/// Columns of accumulators that the tiles have for each that there is; 1 where
/// that is not known.
static double getColumnWaste(const KernelModel &kernel, TileShape shape) {
  int64_t ofTiles = 0, all = 0;
  for (const TileModel &tile : kernel.tiles) {
    int64_t points =
        getTilePoints(tile, shape.getSchedule(kernel.func.getContext()));
    int64_t columns = tile.getColumns();
    if (points == 0 || ShapedType::isDynamic(columns))
      return 1;
    ofTiles += llvm::divideCeil(columns, points) * shape.columns;
    all += columns * tile.getNumGroups();
  }
  return all == 0 ? 1 : double(ofTiles) / all;
}

int64_t coda_gpu::getNumTiles(const KernelModel &kernel, TileShape shape) {
  return getNumTiles(kernel, shape.getSchedule(kernel.func.getContext()));
}

double coda_gpu::getBusiestPoints(const KernelModel &kernel, TileShape shape) {
  int64_t tiles = getNumTiles(kernel, shape);
  if (tiles == 0)
    return getColumnWaste(kernel, shape);
  return llvm::divideCeil(tiles, kMultiprocessors) * shape.rows *
         shape.columns;
}

double coda_gpu::getDepth(const KernelModel &kernel) {
  double deepest = 1;
  for (const TileModel &tile : kernel.tiles) {
    double depth = 0;
    for (const Phase &phase : tile.phases) {
      double products = double(phase.numGroups) / tile.getNumGroups();
      for (unsigned d : phase.k)
        products *= ShapedType::isDynamic(tile.dims[d].extent)
                        ? 4096
                        : tile.dims[d].extent;
      depth += products;
    }
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

bool coda_gpu::hasLongProducts(const KernelModel &kernel) {
  constexpr double kDepth = 2048;
  return getDepth(kernel) >= kDepth;
}

int64_t coda_gpu::getMostRows(const KernelModel &kernel) {
  int64_t rows = 0;
  for (const TileModel &tile : kernel.tiles)
    rows = std::max(rows, getRows(tile));
  return rows;
}

bool coda_gpu::hasFewTiles(const KernelModel &kernel) {
  constexpr int64_t kFewRows = 1024, kFewTurns = 8;
  int64_t tiles = getNumTiles(kernel, {128, 128, false});
  if (tiles == 0 || llvm::any_of(kernel.tiles, [](const TileModel &tile) {
        return tile.phases.empty();
      }))
    return false;
  int64_t rows = getMostRows(kernel);
  return rows <= kFragmentRows || tiles < kMultiprocessors ||
         (rows < kFewRows && tiles < kFewTurns * kMultiprocessors);
}

int64_t coda_gpu::getNumClusters(int64_t blocks) {
  constexpr int64_t kClusters[] = {kMultiprocessors, 66, 42, 30, 24, 18, 15, 15};
  return kClusters[blocks - 1];
}

int64_t coda_gpu::getRingBytes(const KernelModel &kernel, ScheduleAttr schedule) {
  int64_t stage = getStageBytes(kernel, schedule);
  int64_t others =
      SharedMemory(kernel, schedule).columns - schedule.getStages() * stage;
  return ((kSharedMemoryBytes - others) / stage - 1) * stage;
}

/// What a multiprocessor takes in needs bytes on their way: the share of what it
/// could that a ring of so many gives.
static double getShareOfRing(int64_t bytes) {
  constexpr double kRingBytes = 185e3;
  return std::clamp(bytes / kRingBytes, 0.1, 1.0);
}

/// What a region that no products hide takes in us, of a consumer's fragments and
/// columns of a tile: a chunk, 64 columns of it, and each op on them.
static double getTimeOfRegion(const TileModel &tile, ScheduleAttr schedule) {
  constexpr double kChunkUs = 0.05, kColumnsUs = 0.27, kOpUs = 0.05;
  // A swapped fragment is no wider than the tile is tall.
  double points = double(getRegionPoints(tile, schedule)) *
                  getFragments(schedule) * getRegionRows(schedule) /
                  kFragmentRows;
  return points / schedule.getChunk() * kChunkUs +
         points / kMaxChunk * (kColumnsUs + kOpUs * getRegionCost(tile));
}

double coda_gpu::getTimeOfFewRows(const KernelModel &kernel, TileShape shape) {
  // Bytes of memory in a us; what one multiprocessor takes in, and multiplies.
  // Time to ask for a k block.
  constexpr double kBytesPerUs = 4.25e6, kBytesPerUsOfOne = 1.23e5,
                   kPointsPerUsOfOne = 2.2e6, kBlockUs = 0.097;
  // The share of the bandwidth that is left where no block works.
  double leftOver = shape.split > 1 ? 0.14 : 0.27;
  // An exchange within a cluster, the first and each, and what an owner reads
  // of another block's 64 rows and 64 columns.
  constexpr double kFirstExchangeUs = 0.66, kExchangeUs = 0.25, kReadUs = 0.48;
  // Going from a tile to the next; blocks that wait for each other's stages.
  constexpr double kTileUs = 0.27, kSharingUs = 0.3;
  // What L2 gives out of the left factor in a us beside what comes from memory.
  constexpr double kSharedBytesPerUs = 2e8;
  ScheduleAttr schedule = shape.getSchedule(kernel.func.getContext());
  int64_t blocksOfCluster = getClusterBlocks(schedule);
  int64_t clusters = getNumClusters(blocksOfCluster);
  double bytesPerUsOfOne =
      kBytesPerUsOfOne * getShareOfRing(getRingBytes(kernel, schedule));
  // Of the tile ops of a bundle, whose tiles follow each other: by the groups of
  // tiles that clusters take.
  double least = 0, streamed = 0, region = 0, shared = 0, read = 0;
  int64_t groups = 0;
  for (const TileModel &tile : kernel.tiles) {
    int64_t tiles = getNumTiles(tile, shape);
    // Bytes of both factors and of the left one, columns of the right one, over k.
    double taken = 0, left = 0, columns = 0, asked = 0;
    for (const Phase &phase : tile.phases) {
      int64_t blocks = std::max<int64_t>(1, getNumBlocks(tile, phase));
      double ofOne = double(blocks) / shape.split;
      asked += ofOne * kBlockUs;
      taken += ofOne * getBlockBytes(tile, phase, schedule);
      left += ofOne * getRightOffset(tile, schedule);
      columns += ofOne * kBlockK * getTilePoints(tile, schedule) *
                 phase.numGroups;
    }
    // The right factor comes from memory for the first of the row tiles.
    auto [rowTiles, columnTiles] = getGrid(tile, schedule);
    // A cluster has as many column tiles as blocks, or one.
    int64_t own = rowTiles * llvm::divideCeil(columnTiles, shape.cluster.n);
    groups += own;
    least += own * std::max({taken / bytesPerUsOfOne, asked,
                             columns * shape.rows / kPointsPerUsOfOne});
    streamed += own * columns * 2 / kBytesPerUs / rowTiles;
    shared += tiles * left * shape.split / shape.cluster.n;
    double columns64 = double(getRegionPoints(tile, schedule)) *
                       getFragments(schedule) / kMaxChunk;
    read = std::max(read, kReadUs * columns64 * tile.getNumGroups() *
                              (shape.split - 1) *
                              (shape.swap ? getRegionRows(schedule)
                                          : getFactorRows(tile, schedule)) /
                              kFragmentRows);
    region = std::max(region, getTimeOfRegion(tile, schedule));
  }
  auto timeOf = [&](int64_t busy) {
    double blocks = busy * blocksOfCluster;
    double idle = 1 - blocks / kMultiprocessors;
    return std::max(least, streamed * blocks / (1 - leftOver * idle)) / groups;
  };
  int64_t rounds = llvm::divideCeil(groups, clusters);
  double time = groups / clusters * timeOf(clusters);
  if (int64_t rest = groups % clusters)
    time += timeOf(rest);
  time += (shape.pingpong ? region : rounds * region) + rounds * kTileUs;
  if (shape.cluster.n > 1)
    time += kSharingUs;
  if (shape.split > 1)
    time += kFirstExchangeUs + rounds * kExchangeUs + read;
  // Of swapped factors an exchange and a region, of all threads, are shorter, and
  // where there are several rounds those of all but the last hide under the products.
  // More rows than a few are better off as the rows of fragments.
  constexpr double kSwapUs = 0.6, kSwappedExchangeUs = -0.35,
                   kHiddenExchanges = 0.05, kRowUs = 0.03;
  constexpr int64_t kFewestRows = 16;
  if (shape.swap) {
    time += kRowUs * std::max<int64_t>(0, shape.rows - kFewestRows);
    if (shape.split == 1)
      time += kSwapUs;
    else
      time += kSwappedExchangeUs -
              (rounds > 1 ? kHiddenExchanges * streamed * shape.split : 0);
  }
  return time + shared / kSharedBytesPerUs;
}

double coda_gpu::getTimeOfFewTiles(const KernelModel &kernel, TileShape shape) {
  // Bytes in a us of one multiprocessor, and of memory; time to ask for a k block.
  constexpr double kBytesPerUsOfOne = 1.3e5, kBytesPerUs = 3.7e6,
                   kBlockUs = 0.11, kNorm = 3.6;
  // Of an exchange within a cluster, and, of 64 rows and 64 columns, of what an owner
  // reads of another block's and a region of a loaded tile's.
  constexpr double kExchangeUs = 4, kReadUs = 1.2, kLoadUs = 0.35;
  ScheduleAttr schedule = shape.getSchedule(kernel.func.getContext());
  double bytesPerUsOfOne =
      kBytesPerUsOfOne * getShareOfRing(getRingBytes(kernel, schedule));
  // Sums over the tiles.
  double products = 0, taken = 0, region = 0, read = 0, streamed = 0;
  int64_t tiles = 0;
  for (const TileModel &tile : kernel.tiles) {
    auto [rowTiles, columnTiles] = getGrid(tile, schedule);
    int64_t own = rowTiles * columnTiles;
    tiles += own;
    for (const Phase &phase : tile.phases) {
      double blocks = std::max<int64_t>(1, getNumBlocks(tile, phase));
      double columns = getTilePoints(tile, schedule) * phase.numGroups;
      double ofOne = own * blocks / shape.split;
      products += ofOne * std::max(shape.rows * columns * kBlockK / kPointsPerUs,
                                   kBlockUs);
      taken += ofOne * getBlockBytes(tile, phase, schedule) / bytesPerUsOfOne;
      streamed += blocks * kBlockK * 2 *
                  (columnTiles * columns + rowTiles * shape.rows) / kBytesPerUs;
    }
    double columns64 = double(getRegionPoints(tile, schedule)) *
                       getFragments(schedule) / kMaxChunk;
    region += own * (getTimeOfRegion(tile, schedule) +
                     kLoadUs * columns64 * tile.getPrefetchedPerChunk());
    read += own * kReadUs * columns64 * tile.getNumGroups() * (shape.split - 1);
  }
  int64_t clusters = getNumClusters(getClusterBlocks(schedule));
  double rounds = llvm::divideCeil(tiles, clusters);
  double hidden = 0;
  for (double time : {rounds * products / tiles, rounds * taken / tiles, streamed})
    hidden += std::pow(time, kNorm);
  hidden = std::pow(hidden, 1 / kNorm);
  region /= tiles;
  double time = hidden + rounds * region;
  // Of a pair the last region is exposed, and what is longer than the products of
  // the other's tile.
  if (shape.pingpong)
    time = std::max(hidden + region,
                    (hidden / rounds + region) * std::ceil(rounds / 2));
  if (shape.split > 1)
    time += kExchangeUs + rounds * read / tiles;
  return time;
}
