//===- TileTimes.h - What shapes of tiles are likely to take ----*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the selector knows of shapes before it has schedules of them: how long
// regions are, how many tiles there are, and times that are fitted to measured ones.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_TILETIMES_H
#define CODA_CONVERSION_CODATONVGPU_TILETIMES_H

#include "KernelModel.h"

namespace mlir::coda_gpu {

/// What a region costs that converts and stores.
constexpr int64_t kMaxCostOfStore = 3;
/// Beyond this cost 192 accumulators a thread leave too few registers.
constexpr int64_t kMaxCostOfTallTile = 8;
/// Beyond this cost 128 accumulators do, of two fragments, and of one.
constexpr int64_t kMaxCostOfPingpong = 32;
constexpr int64_t kMaxCostOfWideTile = 48;

/// Bytes of the ring that few rows need, where weights stream from memory, more
/// than buffers of loaded tiles.
constexpr int64_t kRingBytesOfFewRows = 80 << 10;

/// Points of a tile and of k that a multiprocessor multiplies in a us where products
/// are what it waits for.
constexpr double kPointsPerUs = 3.1e6;

/// What of a schedule times are known of.
struct TileShape {
  int64_t rows, columns;
  bool pingpong;
  int64_t split = 1;
  ClusterShape cluster = {};
  int64_t depth = kBlockK;
  int64_t chunk = kMaxChunk;
  int64_t raster = 8;
  bool swap = false;

  ScheduleAttr getSchedule(MLIRContext *context, int64_t stages = 2,
                           int64_t staging = 0, int64_t prefetch = 0,
                           bool ring = false, bool inPlace = false,
                           bool ordered = false) const {
    return ScheduleAttr::get(context, ArrayRef<int64_t>{rows, columns, depth},
                             stages, staging, raster, prefetch, pingpong,
                             ring, inPlace, ordered, swap, split, chunk,
                             cluster);
  }
};

/// Instructions that the region takes at a point, roughly: constants, and what is
/// one value a row or a column, are not computed at each. Functions without an
/// instruction of their own are polynomials with many values alive.
int64_t getRegionCost(const TileModel &tile);
/// The cost of a region beyond which a tile of so many accumulators a thread is
/// likely to spill.
int64_t getMaxCost(int64_t rows, bool pingpong, int64_t accumulators);
/// As getNumTiles of a schedule.
int64_t getNumTiles(const TileModel &tile, TileShape shape);
int64_t getNumTiles(const KernelModel &kernel, TileShape shape);
/// Tiles of `tile` along its rows and along its columns, which are known.
std::pair<int64_t, int64_t> getGrid(const TileModel &tile,
                                    ScheduleAttr schedule);
/// Takes the widest chunk with which all columns of the accumulators are some
/// argument's, and that rows of the inner n dim and groups of columns that are
/// reduced over are made of; false, and the chunk as it was, if there is none.
bool setChunk(const KernelModel &kernel, TileShape &shape);
/// Points that the busiest multiprocessor works on, those beyond the edges
/// included, or, where the number of tiles is not known, a number in proportion.
double getBusiestPoints(const KernelModel &kernel, TileShape shape);
/// Products of a point in the kernel's longest tile op; many where that is not
/// known.
double getDepth(const KernelModel &kernel);
/// Whether the products of a tile are likely to take longer than its region, so
/// that the regions of a pair, which then follow each other, hold up nothing.
bool hasLongProducts(const KernelModel &kernel);
/// The most rows of a kernel's tile ops.
int64_t getMostRows(const KernelModel &kernel);
/// Whether the kernel has rows for one fragment only, less than a turn of tiles for
/// the multiprocessors, or few turns of few rows: how full the last turn is then
/// counts more than what a point takes, and bytes that are on their way as much as
/// products.
bool hasFewTiles(const KernelModel &kernel);
/// Clusters of `blocks` blocks that an H200 runs at one time: not all of its
/// multiprocessors have neighbours enough.
int64_t getNumClusters(int64_t blocks);
/// Bytes of the deepest ring that fits beside what the accumulators of a
/// cluster take, but for one stage, which is being multiplied.
int64_t getRingBytes(const KernelModel &kernel, ScheduleAttr schedule);
/// Time in us of a kernel with rows for one fragment, as far as shapes differ in
/// it: weights stream from memory. All blocks that work share the memory's
/// bandwidth, each takes in so much at most, and with fewer of them some of it is
/// left, less where those of a cluster are on one tile. The constants are fitted to times on an H200 with cold weights.
double getTimeOfFewRows(const KernelModel &kernel, TileShape shape);
/// Time in us of a kernel with few tiles and rows for several fragments, as far as
/// shapes differ in it. Products, what comes into the multiprocessors and what
/// comes out of memory hide each other in part, which a norm of the three
/// describes. The constants are fitted to times of plain products on an H200, of 128
/// to 1024 rows, eight weights, ten shapes each, and to some of longer regions.
double getTimeOfFewTiles(const KernelModel &kernel, TileShape shape);

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_TILETIMES_H
