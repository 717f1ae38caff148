//===- LoadedTiles.cpp - Tiles that come ahead of the region --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A consumer's side of the tiles that the producer sends ahead. They come in
// units, each with a barrier: the buffers of one chunk, or stages of the ring,
// which hold as many boxes as fit; those of a fragment begin a new stage, and what
// is the same for several of its chunks comes first, and once (RingBoxes). The
// units of a tile follow each other, so where all boxes lie is known when the
// kernel is made, but for the position of the first.
//
// A unit goes back when the warpgroup has read its last box. Where results are
// written in place the copy engine reads it after that: it goes back after the
// next chunk, when that has been read for long, or, if it is the ring that
// would have to wait at the end of a tile, under the first products of the next.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::coda_gpu;

LoadedTiles::LoadedTiles(KernelEmitter &emitter, const TileModel &tile,
                         RingPosition start)
    : e(emitter), start(start), boxes(tile, emitter.schedule),
      ring(emitter.schedule.getRing()),
      perChunk(getPrefetchedPerChunk(tile, emitter.schedule)),
      chunks(getRegionPoints(tile, emitter.schedule) /
             emitter.schedule.getChunk()) {
  perUnit = ring ? getBoxesPerStage(e.kernel, e.schedule) : perChunk;
  capacity = ring ? e.schedule.getStages() : e.schedule.getPrefetch();
  if (perChunk)
    unitsPerFragment = llvm::divideCeil(
        ring ? boxes.getCount() : chunks * perChunk, perUnit);
  inPlace = llvm::any_of(getStagedBoxes(tile, e.schedule),
                         [](const StagedBox &box) { return box.inPlace; });
}

LoadedTiles::Box LoadedTiles::getBox(int64_t fragment, int64_t chunk,
                                     int64_t box) const {
  int64_t number =
      ring ? boxes.getPosition(chunk, box) : chunk * perChunk + box;
  return {fragment * unitsPerFragment + number / perUnit,
          number % perUnit *
              (ring ? getRingBoxBytes(e.schedule) : getBoxBytes(e.schedule))};
}

void LoadedTiles::await(int64_t unit) {
  while (static_cast<int64_t>(units.size()) <= unit) {
    // The producer must not wait for a unit that goes back after this one.
    if (static_cast<int64_t>(units.size()) - numReleased >= capacity)
      release(/*storesInFlight=*/0);
    RingPosition at = getEnd();
    if (ring)
      e.wait(e.full, at.stage, at.parity);
    else
      e.wait(e.prefetchFull, e.prefetchNumber(at), at.parity);
    units.push_back(at);
  }
}

void LoadedTiles::awaitChunk(int64_t fragment, int64_t chunk) {
  for (int64_t box = 0; box < perChunk; ++box)
    await(getBox(fragment, chunk, box).unit);
}

Value LoadedTiles::getBase(int64_t unit) {
  await(unit);
  RingPosition at = units[unit];
  if (!ring)
    return e.prefetchBase(at);
  return e.add(e.mul(at.stage, e.i32(e.stageBytes)),
               e.mul(e.consumer, e.i32(getBoxBytes(e.schedule))));
}

RingPosition LoadedTiles::getEnd() {
  if (units.empty())
    return start;
  return ring ? e.advance(units.back()) : e.advancePrefetch(units.back());
}

/// Gives back the units that are done, once all stores but the last
/// `storesInFlight` chunks' have been read.
void LoadedTiles::release(int64_t storesInFlight) {
  if (numReleased == numDone)
    return;
  auto giveBack = [&] {
    for (; numReleased < numDone; ++numReleased) {
      RingPosition at = units[numReleased];
      if (ring)
        e.releaseStage(at.stage, /*byLeader=*/inPlace);
      else
        e.arrive(e.prefetchEmpty, e.prefetchNumber(at));
    }
  };
  if (!inPlace)
    return giveBack();
  e.ifThen(e.isLeader, [&] {
    e.awaitStoresRead(storesInFlight);
    giveBack();
  });
}

void LoadedTiles::finishChunk(int64_t fragment, int64_t chunk) {
  if (!perChunk)
    return;
  if (inPlace)
    release(/*storesInFlight=*/1);
  // The units before all boxes that are read later.
  numDone = (fragment + 1) * unitsPerFragment;
  for (int64_t later = chunk + 1; later < chunks; ++later)
    for (int64_t box = 0; box < perChunk; ++box)
      numDone = std::min(numDone, getBox(fragment, later, box).unit);
  if (!inPlace)
    release(/*storesInFlight=*/0);
}

int64_t LoadedTiles::finishTile() {
  // A ring of its own has nothing else to do; of the other the next tile's
  // first block needs a stage.
  int64_t held = numDone - numReleased;
  if (ring && held < capacity)
    return held;
  release(/*storesInFlight=*/0);
  // The other consumer's region may wait for the units of the next tile, as all
  // before have come, and write to the staging buffers.
  if (e.schedule.getOrdered()) {
    e.ifThen(e.isLeader, [&] { e.awaitStoresRead(0); });
    e.arrive(e.regionTurn, e.sub(e.i32(1), e.consumer));
  }
  return 0;
}
