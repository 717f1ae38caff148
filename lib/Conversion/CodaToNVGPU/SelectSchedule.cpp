//===- SelectSchedule.cpp - Chooses a schedule for each kernel ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelModel.h"
#include "ScheduleDatabase.h"
#include "TileTimes.h"

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

/// Columns of a chunk of which twice as many fit in as many bytes.
static constexpr int64_t kHalfChunk = kMaxChunk / 2;

namespace {
/// Rows of a tile, and who works on them.
struct TileRows {
  int64_t rows;
  bool pingpong;
};
} // namespace

/// What is tried last.
static constexpr double kLast = 1e6;

/// Shapes for few tiles, the likely fastest first: more of them are narrow, or
/// a cluster shares one.
static SmallVector<TileShape> getShapesForFewTiles(const KernelModel &kernel) {
  int64_t cost = 0;
  for (const TileModel &tile : kernel.tiles)
    cost = std::max(cost, getRegionCost(tile));
  constexpr size_t kMaxShapes = 48;
  MLIRContext *context = kernel.func.getContext();
  bool hasFewRows = getMostRows(kernel) <= kFragmentRows;
  SmallVector<TileRows> allRows{{64, true}, {128, false}};
  if (!hasFewRows)
    allRows.append({{128, true}, {192, true}, {256, false}});
  SmallVector<std::pair<double, TileShape>> timed;
  for (auto [rows, pingpong] : allRows)
    for (int64_t columns = kMinBoxChunk; columns <= 256; columns += kMinBoxChunk)
      for (auto [split, sharing] :
           {std::pair(1, 1), {1, 2}, {1, 4}, {2, 1}, {3, 1}, {4, 1}, {6, 1},
            {8, 1}}) {
        // Of taller tiles the left factor is mostly rows that are not there, or
        // they are enough to wait for; narrow ones were no faster.
        if (sharing > 1 && (!hasFewRows || rows != kFragmentRows ||
                            columns <= kFactorColumns))
          continue;
        TileShape shape{rows, columns, pingpong, split, {1, sharing}};
        shape.depth = getDepthOfBlock(kernel);
        int64_t accumulators = getThreadAccumulators(shape.getSchedule(context));
        if (accumulators > kMaxAccumulators || !setChunk(kernel, shape) ||
            llvm::any_of(kernel.tiles, [&](const TileModel &tile) {
              return getNumTiles(tile, shape) == 0;
            }))
          continue;
        bool maySpill = cost > getMaxCost(rows, pingpong, accumulators);
        bool starves = getRingBytes(kernel, shape.getSchedule(context)) <
                       kRingBytesOfFewRows;
        double time = hasFewRows ? getTimeOfFewRows(kernel, shape)
                                 : getTimeOfFewTiles(kernel, shape);
        timed.push_back({time + (maySpill || starves ? kLast : 0), shape});
      }
  llvm::stable_sort(timed, llvm::less_first());
  // Those beyond are slow; what needs neither a split nor mates is kept for
  // kernels that nothing else fits.
  SmallVector<TileShape> shapes;
  for (auto [i, entry] : llvm::enumerate(timed)) {
    const TileShape &shape = entry.second;
    if (i < kMaxShapes || (shape.split == 1 && shape.cluster.n == 1))
      shapes.push_back(shape);
  }
  return shapes;
}

/// Time for which a k block's products wait for the thread that asks for its boxes, as
/// a part of theirs: a right factor of which the tile's columns are many short runs.
static double getTimeOfRuns(const KernelModel &kernel, TileShape shape) {
  // To ask for a box.
  constexpr double kBoxUs = 0.05;
  ScheduleAttr schedule = shape.getSchedule(kernel.func.getContext());
  double products = shape.rows * shape.columns * kBlockK / kPointsPerUs;
  double most = 0;
  for (const TileModel &tile : kernel.tiles) {
    // Of more accumulators than the tile has chunks: no schedule.
    if (getTilePoints(tile, schedule) == 0)
      continue;
    for (const Phase &phase : tile.phases) {
      int64_t factors = llvm::count_if(
          phase.rhs, [](const auto &rhs) { return rhs.has_value(); });
      // That of the left factor is one of them.
      int64_t boxes = 1;
      for (const std::optional<OperandModel> &rhs : phase.rhs) {
        if (!rhs)
          continue;
        int64_t groups = phase.numGroups / factors;
        boxes += phase.rhsKMajor && getRowsOfBox(tile, *rhs, schedule)
                     ? groups
                     : getTilePoints(tile, schedule) * groups /
                           getFactorRun(tile, *rhs, schedule);
      }
      most = std::max(most, boxes * kBoxUs / products - 1);
    }
  }
  return most;
}

/// Products of points, what takes half a millisecond: the chip is not at its power
/// limit before the kernel ends. And what takes six.
static constexpr double kShortProducts = 5e11, kPowerLimitedProducts = 2e12;

/// Products of all points of `kernel`; none if their number is not known.
static std::optional<double> getProducts(const KernelModel &kernel,
                                         TileShape shape) {
  int64_t tiles = getNumTiles(kernel, shape);
  if (tiles == 0)
    return std::nullopt;
  return tiles * shape.rows * shape.columns * getDepth(kernel);
}

/// Row tiles that walk over the columns together, of a kernel that loads no tiles:
/// more of them read the right factor fewer times. That shows in a kernel that ends
/// before the chip is at its power limit, of one op with many columns, if their part
/// of the left factor stays in L2.
static int64_t getRaster(const KernelModel &kernel, TileShape shape) {
  constexpr int64_t kManyColumnTiles = 32, kManyRowTiles = 24;
  constexpr double kPanelBytes = 13e6;
  if (kernel.tiles.size() != 1)
    return shape.raster;
  const TileModel &tile = kernel.tiles.front();
  std::optional<double> products = getProducts(kernel, shape);
  if (!products)
    return shape.raster;
  int64_t columnTiles =
      getGrid(tile, shape.getSchedule(kernel.func.getContext())).second;
  double panel = kManyRowTiles * shape.rows * getDepth(kernel) *
                 tile.factorType.getIntOrFloatBitWidth() / 8;
  bool pays = columnTiles >= kManyColumnTiles && panel <= kPanelBytes &&
              *products <= kShortProducts;
  return pays ? kManyRowTiles : shape.raster;
}

/// Tiles in the order in which they are tried. What counts: points of the
/// busiest multiprocessor, and the time of a point, which is less in a larger
/// tile (fewer bytes move, which the chip, limited by power, pays back in clock)
/// and where regions run under the products of the next tile. The factors are
/// those measured on an H200.
static SmallVector<TileShape> getTileShapes(const KernelModel &kernel) {
  // Where none fits, why not is said of those below.
  if (hasFewTiles(kernel))
    if (SmallVector<TileShape> shapes = getShapesForFewTiles(kernel);
        !shapes.empty())
      return shapes;
  int64_t cost = 0;
  bool isMap = true, waits = false, loads = false, loadsColumns = false;
  bool repeats = false;
  for (const TileModel &tile : kernel.tiles) {
    if (tile.phases.empty())
      continue;
    isMap = false;
    loads |= tile.getPrefetchedPerChunk() != 0;
    forColumnVectors(tile, [&](unsigned, int64_t) { loadsColumns = true; });
    cost = std::max(cost, getRegionCost(tile));
    for (const InputModel &input : tile.inputs) {
      waits |= input.path == LoadPath::Direct && input.has(tile.innerM) &&
               input.has(tile.innerN);
      repeats |= input.path == LoadPath::Prefetched && input.repeats;
    }
  }
  struct Candidate {
    TileShape shape;
    /// Relative time of a point, with a region that is a store, a long one, and
    /// one that loads tiles: those of a pair that shares its tile come through
    /// the ring.
    double store, region, loads;
    /// A region of more cost is likely to spill: such a tile is tried last.
    int64_t maxCost;
  };
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  // What repeats comes once for all chunks of a shared tile. Pairs load it anew for
  // each, which long products hide if the buffers are small enough to leave the ring
  // its stages.
  bool isDeep = hasLongProducts(kernel);
  waits |= repeats && !isDeep;
  // Of a short region little is exposed, the less the longer the products are.
  bool isShort = cost <= kMaxCostOfTallTile && !waits;
  double depth = getDepth(kernel);
  double wide = isShort ? 0.95 + 100.0 / depth : 0.98;
  double wideStore = std::min(1.02, 0.955 + 80.0 / depth);
  // At the power limit a pair gains more. Before, the tile of the fewest bytes is the
  // fastest if there are many products for each region, all of which is exposed.
  double widest = 1.20;
  if (std::optional<double> products =
          getProducts(kernel, {kReducedRows, kReducedRows, true})) {
    if (*products > kPowerLimitedProducts)
      wideStore = std::max(wideStore, 0.985);
    if (*products <= kShortProducts)
      widest = 0.93 + 80.0 / depth;
  }
  // One set of buffers for a pair: a smaller tile moves more bytes, which shows the
  // more the longer the products are; a taller one has room for longer regions.
  double narrow = isShort ? (isDeep ? 1.02 - 120.0 / depth : 1.00)
                          : (isDeep ? 1.00 : 1.04);
  // Values of columns are in shared memory for the three fragments of a tall tile,
  // where those of two are in registers.
  bool isTallBetter = loads ? isDeep : loadsColumns;
  double tallLoads = isShort ? 0.96 : 0.955, wideLoads = isShort ? 0.96 : 0.985;
  if (repeats) {
    tallLoads = 0.985 * wide;
    wideLoads = 0.965 * wide;
    narrow = 1.02 * wide;
  }
  SmallVector<Candidate> candidates{
      {{192, 128, true}, 0.975, 0.96, tallLoads,
       isTallBetter ? kMaxCostOfPingpong : kMaxCostOfTallTile},
      {{128, 192, true}, 0.95, 0.955, wideLoads,
       kMaxCostOfPingpong},
      // Where the last turn has more tiles of these than of wider ones.
      {{128, 176, true}, 0.985, 0.985, 1.00, kMaxCostOfPingpong},
      {{128, 160, true}, 0.985, 0.99, 1.01, kMaxCostOfPingpong},
      {{128, 128, true}, 0.975, loadsColumns ? 1.01 : 0.97, narrow,
       kMaxCostOfPingpong},
      {{128, 256, false}, wideStore, 1.02, wide, kMaxCostOfWideTile},
      {{128, 192, false}, 1.00, 1.06, 1.03, kAny},
      {{128, 128, false}, 1.02, 1.08, 1.06, kAny},
      {{128, 64, false}, 1.10, 1.20, 1.20, kAny},
      // Of longer regions, for the tuner.
      {{256, 192, false}, widest, 1.30, 1.30, kMaxCostOfTallTile}};
  // Whole rows of 56 columns, say, for each accumulator, which are one box.
  for (const TileModel &tile : kernel.tiles)
    if (!tile.outerN.empty() && tile.maxChunk < kMinBoxChunk) {
      int64_t row = tile.dims[tile.innerN].extent * tile.getNumGroups();
      for (int64_t columns = row; columns <= 256; columns += row) {
        candidates.push_back({{128, columns, false}, 1.00, 1.06, 1.03, kAny});
        if (columns <= kMaxAccumulators)
          candidates.push_back(
              {{128, columns, true}, 0.985, 0.99, 1.01, kMaxCostOfPingpong});
      }
      break;
    }
  // A map waits for memory alone.
  Candidate ofMaps[] = {{{128, 128, false}, 1.00, 1.00, 1.00, kAny},
                        {{128, 256, false}, 1.08, 1.08, 1.08, kAny},
                        {{128, 192, false}, 1.08, 1.08, 1.08, kAny},
                        {{128, 64, false}, 1.15, 1.15, 1.15, kAny}};
  MutableArrayRef<Candidate> tried = candidates;
  if (isMap)
    tried = ofMaps;
  for (Candidate &candidate : tried) {
    candidate.shape.depth = getDepthOfBlock(kernel);
    setChunk(kernel, candidate.shape);
  }
  // A region that waits for its own loads of tiles is longer than the products
  // of the next tile.
  constexpr double kWaiting = 0.2;
  auto time = [&](const Candidate &candidate) {
    double factor = loads                      ? candidate.loads
                    : cost <= kMaxCostOfStore ? candidate.store
                                              : candidate.region;
    if (waits && candidate.shape.pingpong)
      factor += kWaiting;
    factor += getTimeOfRuns(kernel, candidate.shape);
    return getBusiestPoints(kernel, candidate.shape) * factor;
  };
  llvm::stable_sort(tried, [&](const Candidate &x, const Candidate &y) {
    bool xLast = cost > x.maxCost, yLast = cost > y.maxCost;
    return xLast != yLast ? yLast : time(x) < time(y);
  });
  return llvm::map_to_vector(tried, [&](Candidate &candidate) {
    if (!isMap && !loads)
      candidate.shape.raster = getRaster(kernel, candidate.shape);
    return candidate.shape;
  });
}

namespace {
/// How loaded tiles come in, and results go out.
struct Placement {
  bool ring, inPlace;
  /// Whether there are buffers for loaded tiles, each consumer's or both's.
  bool prefetch;
  bool ordered = false;
  int64_t chunk = kMaxChunk;
};
/// Placements of which the one that leaves more to the ring of stages is better.
using Placements = SmallVector<Placement, 3>;
} // namespace

/// Placements of a kernel, the likely best first. A map has no ring to share.
/// `loads`: tiles that a region loads ahead; `repeats`: one of them is the same for
/// several chunks.
static SmallVector<Placements> getPlacements(int64_t loads, bool repeats,
                                             bool isMap, bool hasLongProducts,
                                             TileShape shape) {
  // Nobody sent ahead what is loaded directly: a thread waits for it.
  Placement direct{false, false, false}, buffers{false, false, true};
  Placement buffersInPlace{false, true, true};
  if (!loads)
    return {{direct}};
  if (isMap)
    return {{buffersInPlace}, {buffers}, {direct}};
  // One set of buffers where two would make the ring shorter. The products of the
  // smallest tile are too short for buffers that wait for stores to be read.
  if (shape.pingpong && shape.rows != kFragmentRows && shape.split == 1) {
    Placement ordered{false, false, true, /*ordered=*/true};
    Placement orderedInPlace{false, true, true, /*ordered=*/true};
    Placements placements{buffersInPlace, orderedInPlace, ordered};
    if (shape.rows * shape.columns <= 128 * 128)
      placements = {ordered, buffersInPlace, orderedInPlace};
    // Two sets of smaller buffers fit beside the ring that one set of larger
    // ones leaves, and regions wait for no others. With one loaded tile they
    // were not faster.
    Placement halves{false, false, true, /*ordered=*/false, kHalfChunk};
    if (loads > 1 && hasLongProducts)
      placements.insert(placements.begin(), halves);
    // What repeats is loaded for each chunk: one set of such leaves room for more
    // chunks on their way.
    Placement orderedHalves{false, false, true, /*ordered=*/true, kHalfChunk};
    if (repeats && hasLongProducts)
      placements.insert(placements.begin(), orderedHalves);
    if (hasLongProducts)
      return {placements, {buffers}, {direct}};
    return {{buffersInPlace}, {buffers}, placements, {direct}};
  }
  if (shape.pingpong || shape.split > 1)
    return {{buffersInPlace}, {buffers}, {direct}};
  return {{{true, true, false}},
          {{true, false, false}},
          {buffersInPlace},
          {buffers},
          {direct}};
}

/// Bytes of the ring beside one set of buffers: what is more hides less than the
/// buffers do.
static constexpr int64_t kRingBytesOfOrdered = 160 << 10;

/// Pairs of `staging` and `prefetch` that are tried with a depth of the ring, of
/// a kernel that stages `staged` buffers a chunk and loads `ahead` chunks at a
/// time, the likely best first.
static SmallVector<std::pair<int64_t, int64_t>>
getBuffers(Placement placement, int64_t staged, int64_t ahead, bool isMap) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  // What is more in flight was slower: it is memory that all wait for.
  SmallVector<int64_t> inFlight{4, 2, 1};
  if (isMap)
    inFlight = {1, 2, 4};
  if (placement.ordered) {
    // Loads take longer than stores.
    SmallVector<int64_t> slots{1};
    if (placement.inPlace && staged == 1)
      slots = {2, 1};
    for (int64_t prefetch : {4, 3, 2})
      for (int64_t count : slots)
        pairs.push_back({count * staged, std::max(ahead, prefetch)});
    return pairs;
  }
  for (int64_t slots : inFlight) {
    bool counts = staged || placement.prefetch;
    if ((slots * staged > 4 && slots > 2) || (!counts && slots > 1))
      continue;
    // Where results lie in the buffers, the one before is still read.
    int64_t prefetch =
        std::max(ahead, placement.inPlace ? std::max(slots, int64_t(2))
                                          : std::min(slots, int64_t(2)));
    if (placement.chunk != kMaxChunk)
      prefetch = std::max(prefetch, slots + 1);
    pairs.push_back({slots * staged, placement.prefetch ? prefetch : 0});
  }
  return pairs;
}

/// Schedules with chunks of half the columns, made of the first of each tile and
/// placement: as many bytes in flight in twice as many chunks, or a stage more.
/// They are candidates for who measures.
static SmallVector<ScheduleAttr>
getHalfChunkSchedules(const KernelModel &kernel,
                      ArrayRef<ScheduleAttr> schedules) {
  SmallVector<ScheduleAttr> firsts, halves;
  for (ScheduleAttr schedule : schedules) {
    if (getClusterBlocks(schedule) > 1 || schedule.getChunk() != kMaxChunk ||
        (schedule.getStaging() == 0 && schedule.getPrefetch() == 0) ||
        llvm::any_of(firsts, [&](ScheduleAttr first) {
          return first.getTile() == schedule.getTile() &&
                 first.getPingpong() == schedule.getPingpong() &&
                 first.getRing() == schedule.getRing() &&
                 first.getInplace() == schedule.getInplace() &&
                 first.getOrdered() == schedule.getOrdered() &&
                 (first.getPrefetch() == 0) == (schedule.getPrefetch() == 0);
        }))
      continue;
    firsts.push_back(schedule);
    int64_t stages = schedule.getStages(), staging = schedule.getStaging(),
            prefetch = schedule.getPrefetch();
    auto add = [&](int64_t stages, int64_t staging, int64_t prefetch) {
      ScheduleAttr half =
          schedule.withChunk(kHalfChunk).withBuffers(stages, staging, prefetch);
      std::string why;
      if (succeeded(verifySchedule(kernel, half, why)) &&
          !llvm::is_contained(halves, half))
        halves.push_back(half);
    };
    add(stages, 2 * staging, 2 * prefetch);
    if (prefetch)
      add(stages + 1, staging, prefetch + 1);
    add(stages + 1, staging, prefetch);
  }
  return halves;
}

/// The first schedules of each tile, with clusters of two blocks that share
/// factors. They are candidates for who measures: what multicast saves, reads of
/// L2, has not been what limits a kernel with many tiles, and its blocks wait for
/// each other.
static SmallVector<ScheduleAttr>
getSharingSchedules(const KernelModel &kernel,
                    ArrayRef<ScheduleAttr> schedules) {
  SmallVector<ScheduleAttr> firsts, sharing;
  for (ScheduleAttr schedule : schedules) {
    if (getClusterBlocks(schedule) > 1 ||
        llvm::any_of(firsts, [&](ScheduleAttr first) {
          return first.getTile() == schedule.getTile() &&
                 first.getPingpong() == schedule.getPingpong();
        }))
      continue;
    firsts.push_back(schedule);
    for (ClusterShape cluster : {ClusterShape{2, 1}, ClusterShape{1, 2}}) {
      ScheduleAttr shared = schedule.withCluster(cluster);
      std::string why;
      if (succeeded(verifySchedule(kernel, shared, why)) &&
          !llvm::is_contained(schedules, shared))
        sharing.push_back(shared);
    }
  }
  return sharing;
}

/// Tiles of swapped factors for kernels of few rows, as tall as there are rows of one
/// left factor, by their times, the likely fastest first.
static SmallVector<std::pair<double, TileShape>>
getSwappedShapes(const KernelModel &kernel) {
  if (getMostRows(kernel) > kFragmentRows)
    return {};
  int64_t rows = 0, groups = 0, cost = 0;
  for (const TileModel &tile : kernel.tiles) {
    int64_t inner = tile.dims[tile.innerM].extent;
    if (tile.phases.empty() || getRows(tile) == 0 ||
        ShapedType::isDynamic(tile.getColumns()))
      return {};
    rows = std::max(rows, ShapedType::isDynamic(inner) ? getRows(tile) : inner);
    groups = std::max(groups, tile.getNumGroups());
    cost = std::max(cost, getRegionCost(tile));
  }
  MLIRContext *context = kernel.func.getContext();
  SmallVector<std::pair<double, TileShape>> timed;
  for (int64_t fragments : {1, 2, 3, 4})
    for (int64_t split : {1, 2, 3, 4, 8}) {
      int64_t tall = llvm::alignTo(rows, 8);
      TileShape shape{tall, fragments * groups * kFragmentRows,
                      /*pingpong=*/true, split};
      shape.swap = true;
      shape.depth = getDepthOfBlock(kernel);
      if (shape.columns > 256)
        continue;
      // More blocks on one tile than two were faster for none but few tiles.
      ScheduleAttr schedule = shape.getSchedule(context);
      int64_t tiles = 0;
      for (const TileModel &tile : kernel.tiles)
        tiles += getNumTiles(tile, schedule);
      bool isSlow = split > 3 || (split == 3 && tiles > getNumClusters(split));
      bool maySpill = cost > getMaxCost(kFragmentRows, /*pingpong=*/true,
                                        getThreadAccumulators(schedule));
      bool starves = getRingBytes(kernel, schedule) < kRingBytesOfFewRows;
      double time = getTimeOfFewRows(kernel, shape);
      timed.push_back(
          {time + (isSlow || maySpill || starves ? kLast : 0), shape});
    }
  llvm::stable_sort(timed, llvm::less_first());
  return timed;
}

/// Schedules with swapped factors, the likely fastest first, and the time of the
/// first.
static std::pair<double, SmallVector<ScheduleAttr>>
getSwappedSchedules(const KernelModel &kernel) {
  constexpr size_t kMost = 16;
  MLIRContext *context = kernel.func.getContext();
  double least = kLast;
  SmallVector<ScheduleAttr> schedules;
  for (auto [time, shape] : getSwappedShapes(kernel)) {
    int64_t staged = 0, loads = 0;
    for (const TileModel &tile : kernel.tiles) {
      staged = std::max(staged, tile.getStagingPerChunk());
      loads = std::max(loads, int64_t(tile.getPrefetchedPerChunk() != 0));
    }
    // The copy engine loads and stores tiles; or each thread stores what it has, and
    // has it loaded or loads it.
    for (auto [staging, prefetch] :
         {std::pair<int64_t, int64_t>(staged, loads), {0, loads}, {0, 0}})
      // The deepest ring.
      for (int64_t stages : {16, 12, 10, 8, 6, 5, 4, 3, 2}) {
        ScheduleAttr schedule =
            shape.getSchedule(context, stages, staging, prefetch);
        std::string why;
        if (failed(verifySchedule(kernel, schedule, why)))
          continue;
        if (schedules.empty())
          least = time;
        if (!llvm::is_contained(schedules, schedule))
          schedules.push_back(schedule);
        break;
      }
    if (schedules.size() >= kMost)
      break;
  }
  return {least, schedules};
}

/// Whether swapped factors, of `tile`, with which a kernel takes `time`, are likely to
/// be faster than the schedule that is the best without: by more than what the model
/// of either may be wrong by. With more rows a fragment is full either way; with wider
/// tiles and deeper products they were no faster.
static bool isSwapFaster(const KernelModel &kernel, double time,
                         ArrayRef<int64_t> tile, ScheduleAttr best) {
  constexpr double kMarginUs = 0.32, kMaxDepth = 6144;
  constexpr int64_t kMaxRows = kFragmentRows / 2, kMaxColumns = 192;
  if (!hasFewTiles(kernel) || getTileRows(best) != kFragmentRows ||
      getMostRows(kernel) > kMaxRows || tile[1] > kMaxColumns ||
      getDepth(kernel) > kMaxDepth)
    return false;
  TileShape shape{getTileRows(best),    best.getTile()[1], best.getPingpong(),
                  best.getSplit(),      best.getCluster(), best.getTile()[2],
                  best.getChunk()};
  return time + kMarginUs < getTimeOfFewRows(kernel, shape);
}

SmallVector<ScheduleAttr>
coda_gpu::enumerateSchedules(const KernelModel &kernel, bool batchInvariant,
                             std::string &reason) {
  MLIRContext *context = kernel.func.getContext();
  int64_t loads = 0;
  bool repeats = false;
  bool isMap = llvm::all_of(kernel.tiles, [](const TileModel &tile) {
    return tile.phases.empty();
  });
  for (const TileModel &tile : kernel.tiles) {
    int64_t loaded = 0;
    for (const InputModel &input : tile.inputs)
      if (input.path == LoadPath::Prefetched) {
        loaded += input.points;
        repeats |= input.repeats;
      }
    loads = std::max(loads, loaded);
  }
  SmallVector<ScheduleAttr> schedules;
  std::string otherReason;
  for (TileShape shape : getTileShapes(kernel)) {
    if (batchInvariant && !isBatchInvariant(shape.getSchedule(context)))
      continue;
    auto add = [&](Placement placement, int64_t stages) {
      TileShape placed = shape;
      placed.chunk = std::min(shape.chunk, placement.chunk);
      auto make = [&](int64_t staging, int64_t prefetch) {
        return placed.getSchedule(context, stages, staging, prefetch,
                                  placement.ring, placement.inPlace,
                                  placement.ordered);
      };
      int64_t staged = 0, ahead = 0;
      for (const TileModel &tile : kernel.tiles) {
        ScheduleAttr any = make(0, placement.prefetch);
        staged = std::max(staged, getStagingPerChunk(tile, any));
        if (tile.getPrefetchedPerChunk())
          ahead = std::max(ahead, getChunksAhead(tile, any));
      }
      for (auto [staging, prefetch] :
           getBuffers(placement, staged, ahead, isMap)) {
        ScheduleAttr schedule = make(staging, prefetch);
        int64_t ringBytes = SharedMemory(kernel, schedule).staging;
        if (placement.ordered && ringBytes > kRingBytesOfOrdered)
          continue;
        if (placement.prefetch && !isMap && shape.rows == kFragmentRows &&
            ringBytes < kRingBytesOfFewRows)
          continue;
        std::string why;
        // That nothing is stored in place, say, is not why nothing fits.
        std::string &noted = placement.inPlace ? otherReason : reason;
        if (failed(verifySchedule(kernel, schedule, why)))
          noted = noted.empty() ? why : noted;
        else if (!llvm::is_contained(schedules, schedule))
          schedules.push_back(schedule);
      }
    };
    for (const Placements &placements :
         getPlacements(loads, repeats, isMap, hasLongProducts(kernel),
                       shape))
      // A deep ring first: bytes on their way are worth more than chunks on
      // theirs. Then as many chunks in flight as fit.
      for (int64_t stages : {16, 12, 10, 8, 6, 5, 4, 3, 2}) {
        // A map has no ring.
        if (isMap && stages > 2)
          continue;
        for (Placement placement : placements)
          add(placement, stages);
      }
  }
  reason = reason.empty() ? otherReason : reason;
  SmallVector<ScheduleAttr> halves = getHalfChunkSchedules(kernel, schedules);
  SmallVector<ScheduleAttr> sharing = getSharingSchedules(kernel, schedules);
  llvm::append_range(schedules, halves);
  llvm::append_range(schedules, sharing);
  if (batchInvariant || schedules.empty())
    return schedules;
  auto [time, swapped] = getSwappedSchedules(kernel);
  bool isFirst =
      !swapped.empty() && isSwapFaster(kernel, time, swapped.front().getTile(),
                                       schedules.front());
  schedules.insert(isFirst ? schedules.begin() : schedules.end(),
                   swapped.begin(), swapped.end());
  return schedules;
}

ScheduleAttr coda_gpu::selectSchedule(const KernelModel &kernel,
                                      bool batchInvariant,
                                      std::string &reason) {
  SmallVector<ScheduleAttr> schedules =
      enumerateSchedules(kernel, batchInvariant, reason);
  return schedules.empty() ? ScheduleAttr() : schedules.front();
}

namespace {

struct SelectSchedule
    : public coda_gpu::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;

  /// The measured schedule of `kernel`; null if there is none that fits.
  ScheduleAttr lookUp(const ScheduleDatabase &measured,
                      const KernelModel &kernel) {
    ScheduleAttr schedule = measured.lookup(getKernelKey(kernel));
    std::string reason;
    if (!schedule)
      return {};
    if (batchInvariant && !isBatchInvariant(schedule))
      reason = schedule.getSwap()
                   ? "it swaps the factors, which is not batch-invariant"
                   : "it splits k, which is not batch-invariant";
    else if (succeeded(verifySchedule(kernel, schedule, reason)))
      return schedule;
    kernel.func.emitRemark("[coda-select-schedule] '")
        << kernel.func.getName()
        << "' does not take its schedule of the database: "
        << "unfit-schedule: " << reason << "; it has one by the rules";
    return {};
  }

  void runOnOperation() override {
    ScheduleDatabase measured;
    std::string reason;
    if (!database.empty()) {
      FailureOr<ScheduleDatabase> loaded =
          ScheduleDatabase::load(database, gpu, &getContext(), reason);
      if (failed(loaded)) {
        emitError(UnknownLoc::get(&getContext()),
                  "schedule database '" + database + "': " + reason);
        return signalPassFailure();
      }
      measured = std::move(*loaded);
    }
    bool failed = false;
    getOperation().walk([&](func::FuncOp func) {
      if (!func->hasAttr(coda_gpu::kKernelAttrName) ||
          func->hasAttr(coda_gpu::kScheduleAttrName))
        return;
      std::string reason;
      FailureOr<KernelModel> kernel = buildKernelModel(func, reason);
      if (succeeded(kernel)) {
        ScheduleAttr schedule = lookUp(measured, *kernel);
        if (schedule) {
          ++numMeasured;
          func->setAttr(kKeepScheduleAttrName, UnitAttr::get(&getContext()));
        } else {
          schedule = selectSchedule(*kernel, batchInvariant, reason);
        }
        if (schedule) {
          func->setAttr(coda_gpu::kScheduleAttrName, schedule);
          ++numScheduled;
          return;
        }
      }
      func.emitError("no schedule for this kernel on sm_90a: ") << reason;
      failed = true;
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
