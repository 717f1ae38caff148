//===- Schedule.cpp - Selection and verification of schedules -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelModel.h"
#include "ScheduleDatabase.h"

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

int64_t coda_gpu::getTilePoints(const TileModel &tile, ScheduleAttr schedule) {
  return schedule.getTile()[1] / tile.getNumGroups() / kChunk * kChunk;
}

/// Bytes of a stage that k blocks of `tile` fill.
static int64_t getBlockBytes(const TileModel &tile, ScheduleAttr schedule) {
  if (tile.phases.empty())
    return 0;
  return (kTileRows + getTilePoints(tile, schedule) * tile.getNumGroups()) *
         kBlockK * 2;
}

int64_t coda_gpu::getStageBytes(const KernelModel &kernel,
                                ScheduleAttr schedule) {
  int64_t bytes = 0;
  for (const TileModel &tile : kernel.tiles) {
    bytes = std::max(bytes, getBlockBytes(tile, schedule));
    if (int64_t boxes = tile.getAuxBoxesPerChunk())
      bytes = std::max(bytes, std::min<int64_t>(boxes, 3) * kAuxBoxBytes);
  }
  return llvm::alignTo(bytes, 1024);
}

/// Scratch of the column reductions: one float a column and warp.
static int64_t getScratchBytes(const KernelModel &kernel,
                               ScheduleAttr schedule) {
  int64_t bytes = 0;
  for (const TileModel &tile : kernel.tiles)
    bytes = std::max(bytes, tile.getNumColumnReductions() * 8 * 4 *
                                getTilePoints(tile, schedule));
  return bytes;
}

int64_t coda_gpu::getSharedMemoryBytes(const KernelModel &kernel,
                                       ScheduleAttr schedule) {
  return schedule.getStages() * getStageBytes(kernel, schedule) +
         2 * schedule.getStaging() * kStagingBytes +
         getScratchBytes(kernel, schedule);
}

int64_t coda_gpu::getStagingSlots(const TileModel &tile,
                                  ScheduleAttr schedule) {
  int64_t perChunk = tile.getStagingPerChunk();
  if (perChunk == 0)
    return 0;
  // The slot of a chunk is static only if the slots divide the chunks.
  int64_t chunks = getTilePoints(tile, schedule) / kChunk;
  int64_t slots = std::min(schedule.getStaging() / perChunk, chunks);
  while (slots > 1 && chunks % slots != 0)
    --slots;
  return slots;
}

LogicalResult coda_gpu::verifySchedule(const KernelModel &kernel,
                                       ScheduleAttr schedule,
                                       std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  ArrayRef<int64_t> shape = schedule.getTile();
  if (shape.size() != 3 || shape[0] != kTileRows || shape[2] != kBlockK)
    return fail("tile must be [128, columns, 64]");
  if (shape[1] < kChunk || shape[1] > 256 || shape[1] % kChunk != 0)
    return fail("tile columns must be 64, 128, 192 or 256: what one WGMMA and "
                "128 registers a thread hold");
  if (schedule.getStages() < 2 || schedule.getStages() > 8)
    return fail("stages must be 2 to 8");
  if (schedule.getStaging() < 0 || schedule.getRaster() < 1)
    return fail("staging must not be negative, raster at least 1");
  int64_t stage = getStageBytes(kernel, schedule);
  for (const TileModel &tile : kernel.tiles) {
    int64_t points = getTilePoints(tile, schedule);
    if (points == 0)
      return fail("tile columns do not hold 64 columns of each of " +
                  Twine(tile.getNumGroups()) + " accumulators");
    if (tile.getStagingPerChunk() > schedule.getStaging())
      return fail("a chunk stores " + Twine(tile.getStagingPerChunk()) +
                  " buffers, staging has " + Twine(schedule.getStaging()));
    for (const OutputModel &output : tile.outputs)
      if (output.reduce == ReduceKind::Rows &&
          (points % output.groupColumns != 0 ||
           output.groupColumns % kChunk != 0))
        return fail("a row reduction over " + Twine(output.groupColumns) +
                    " columns does not fit tiles of " + Twine(points));
    if (tile.groupColumns && points % tile.groupColumns != 0)
      return fail("groups of " + Twine(tile.groupColumns) +
                  " columns do not fit tiles of " + Twine(points));
    if (int64_t boxes = tile.getAuxBoxesPerChunk()) {
      // A group is read ahead as a whole.
      boxes *= std::max<int64_t>(1, tile.groupColumns / kChunk);
      int64_t perStage = stage / kAuxBoxBytes;
      if (perStage == 0 ||
          (boxes + perStage - 1) / perStage + 1 > schedule.getStages())
        return fail("the tile loads of one chunk, or of one group, do not fit the ring");
    }
  }
  int64_t bytes = getSharedMemoryBytes(kernel, schedule);
  if (bytes > kSharedMemoryBytes)
    return fail("needs " + Twine(bytes) + " bytes of shared memory, a block has " +
                Twine(kSharedMemoryBytes));
  return success();
}

/// Instructions that the region takes at a point, roughly. Functions without an
/// instruction of their own are polynomials with many values alive.
static int64_t getRegionCost(const TileModel &tile) {
  int64_t cost = 0;
  for (Operation &op : tile.op.getBody().front()) {
    StringRef name = op.getName().getStringRef();
    bool isLong = name == "math.tanh" || name == "math.erf" ||
                  name == "math.expm1" || name == "math.log1p" ||
                  name == "math.powf";
    cost += isLong ? 15 : 1;
  }
  // A group's values are computed twice, and some of them kept.
  return tile.groupColumns ? 2 * cost : cost;
}

/// Beyond this cost 128 accumulators a thread leave too few registers.
static constexpr int64_t kMaxCostOfWideTile = 48;

SmallVector<ScheduleAttr>
coda_gpu::enumerateSchedules(const KernelModel &kernel, std::string &reason) {
  MLIRContext *context = kernel.func.getContext();
  SmallVector<ScheduleAttr> schedules;
  // Largest tile first: the chip is limited by power, and bytes moved cost
  // clock. Then as many staging buffers as a chunk needs twice; what is left
  // decides between three stages and four.
  SmallVector<int64_t> widths = {256, 192, 128, 64};
  if (llvm::any_of(kernel.tiles, [](const TileModel &tile) {
        return !tile.phases.empty() && getRegionCost(tile) > kMaxCostOfWideTile;
      }))
    widths = {128, 192, 256, 64};
  int64_t perChunk = 0;
  for (const TileModel &tile : kernel.tiles)
    perChunk = std::max(perChunk, tile.getStagingPerChunk());
  for (int64_t columns : widths) {
    for (int64_t stages : {3, 4, 2}) {
      for (int64_t staging : {4 * perChunk, 2 * perChunk, perChunk}) {
        // More than two chunks in flight buy nothing beyond 4 buffers.
        if (staging > 4 && staging > 2 * perChunk)
          continue;
        auto schedule = ScheduleAttr::get(
            context, ArrayRef<int64_t>{kTileRows, columns, kBlockK}, stages,
            staging, 8);
        std::string why;
        if (succeeded(verifySchedule(kernel, schedule, why)))
          schedules.push_back(schedule);
        else if (reason.empty())
          reason = why;
      }
    }
  }
  return schedules;
}

ScheduleAttr coda_gpu::selectSchedule(const KernelModel &kernel,
                                      std::string &reason) {
  SmallVector<ScheduleAttr> schedules = enumerateSchedules(kernel, reason);
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
    if (!schedule || succeeded(verifySchedule(kernel, schedule, reason)))
      return schedule;
    kernel.func.emitRemark("the schedule in the database does not fit: ")
        << reason;
    return {};
  }

  void runOnOperation() override {
    ScheduleDatabase measured;
    std::string reason;
    if (!database.empty()) {
      FailureOr<ScheduleDatabase> loaded =
          ScheduleDatabase::load(database, gpu, &getContext(), reason);
      if (failed(loaded)) {
        emitError(UnknownLoc::get(&getContext()), reason);
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
        if (schedule)
          ++numMeasured;
        else
          schedule = selectSchedule(*kernel, reason);
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
