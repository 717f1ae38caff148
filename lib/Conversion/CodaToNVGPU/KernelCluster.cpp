//===- KernelCluster.cpp - What blocks of a cluster do together -----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks that share factors, and blocks that split k; KernelEmitter.h has the
// protocols. The buffer of the exchange holds a thread's accumulators four by
// four: 16 bytes a lane, the lanes of a warp side by side, so that no bank is met
// twice. The same thread of another block reads them from there.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::coda_gpu;

/// Accumulators that are written and read at a time.
static constexpr int64_t kQuad = 4;
/// Bytes of these of all lanes of a warp.
static constexpr int64_t kWarpBytes = 32 * kQuad * 4;

std::pair<Value, Value> KernelEmitter::blockSlice(const TileModel &tile,
                                                  const Phase &phase) {
  Value blocks = numBlocks(tile, phase), count = i32(schedule.getSplit());
  if (schedule.getSplit() == 1)
    return {i32(0), blocks};
  Value first = divU(mul(blocks, slice), count);
  Value end = divU(mul(blocks, add(slice, i32(1))), count);
  return {first, sub(end, first)};
}

static Value addressOf(OpsBuilder &b, Value barriers, Value number) {
  return nvgpu::MBarrierGetOp::create(b.b, b.loc, b.b.getI32Type(), barriers,
                                      b.toIndex(number));
}

/// `instruction` at [remote], where block `rank` of the cluster has what this
/// block has at `address`.
static void emitRemote(OpsBuilder &b, StringRef instruction, Value address,
                       Value rank) {
  b.emitAsm(("{\n\t.reg .b32 remote;\n\t"
             "mapa.shared::cluster.u32 remote, $0, $1;\n\t" +
             instruction + "\n\t}")
                .str(),
            "r,r,~{memory}", Type(), {address, rank});
}

/// Waits for a phase whose arrivals come from the cluster.
void KernelEmitter::waitCluster(Value barriers, Value number, Value parity) {
  Value bit = b.createOrFold<arith::ExtUIOp>(loc, b.getI32Type(), parity);
  emitAsm("{\n\t.reg .pred done;\n\t"
          "again:\n\t"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, "
          "[$0], $1;\n\t"
          "@!done bra again;\n\t}",
          "r,r,~{memory}", Type(), {addressOf(*this, barriers, number), bit});
}

/// Arrives at the barrier of block `rank` of the cluster.
void KernelEmitter::arriveCluster(Value barriers, Value number, Value rank) {
  emitRemote(*this,
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];",
             addressOf(*this, barriers, number), rank);
}

void KernelEmitter::clusterBarrier() {
  NVVM::ClusterArriveOp::create(b, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
}

//===----------------------------------------------------------------------===//
// Factors that are shared
//===----------------------------------------------------------------------===//

/// The first of the outer m dims from which on the right factor is the same.
static size_t getFirstOfRun(const TileModel &tile) {
  size_t first = tile.outerM.size();
  while (first > 0 &&
         tile.dims[tile.outerM[first - 1]].kind == coda::DimKind::m)
    --first;
  return first;
}

Value KernelEmitter::numRowsOfRun(const TileModel &tile) {
  Value tiles = ceilDivU(extent(tile, tile.innerM), getTileRows(schedule));
  for (unsigned d : ArrayRef(tile.outerM).drop_front(getFirstOfRun(tile)))
    tiles = mul(tiles, extent(tile, d));
  return tiles;
}

Value KernelEmitter::numRowGroups(const TileModel &tile) {
  if (schedule.getCluster().m == 1)
    return numRowTiles(tile);
  Value groups = ceilDivU(numRowsOfRun(tile), schedule.getCluster().m);
  for (unsigned d : ArrayRef(tile.outerM).take_front(getFirstOfRun(tile)))
    groups = mul(groups, extent(tile, d));
  return groups;
}

bool KernelEmitter::mayLackRows(const TileModel &tile) {
  int64_t blocks = schedule.getCluster().m;
  int64_t tiles = 1;
  for (unsigned d : ArrayRef(tile.outerM).drop_front(getFirstOfRun(tile))) {
    if (ShapedType::isDynamic(tile.dims[d].extent))
      return blocks > 1;
    tiles *= tile.dims[d].extent;
  }
  int64_t rows = tile.dims[tile.innerM].extent;
  if (ShapedType::isDynamic(rows))
    return blocks > 1;
  return tiles * llvm::divideCeil(rows, getTileRows(schedule)) % blocks != 0;
}

std::pair<Value, Value> KernelEmitter::rowTileOfBlock(const TileModel &tile,
                                                      Value group) {
  Value blocks = i32(schedule.getCluster().m);
  size_t firstOfRun = getFirstOfRun(tile);
  Value run = numRowsOfRun(tile), before = i32(0);
  if (firstOfRun != 0) {
    Value groups = ceilDivU(run, schedule.getCluster().m);
    before = mul(divU(group, groups), run);
    group = remU(group, groups);
  }
  Value inRun = add(mul(group, blocks), clusterRow);
  if (!mayLackRows(tile))
    return {add(before, inRun), Value()};
  Value last = sub(run, i32(1));
  return {add(before, minU(inRun, last)), lessU(last, inRun)};
}

int64_t KernelEmitter::getNumMates() const {
  return schedule.getCluster().m + schedule.getCluster().n - 1;
}

/// First those of the block's column, then the others of its row.
Value KernelEmitter::mate(Value i) {
  ClusterShape cluster = schedule.getCluster();
  if (cluster.m == 1 || cluster.n == 1)
    return i;
  Value ofColumn = add(mul(clusterColumn, i32(cluster.m)), i);
  Value column = sub(i, i32(cluster.m));
  Value isBefore = lessU(column, clusterColumn);
  column = select(isBefore, column, add(column, i32(1)));
  Value ofRow = add(mul(column, i32(cluster.m)), clusterRow);
  return select(lessU(i, i32(cluster.m)), ofColumn, ofRow);
}

void KernelEmitter::releaseStage(Value stage, bool byLeader) {
  int64_t mates = getNumMates();
  if (mates == 1)
    return arrive(empty, stage);
  // What the products have read they have read: an arrival that also orders what
  // this thread wrote, for all of the cluster, takes longer than the products.
  auto tell = [&](Value i) {
    emitRemote(*this, "mbarrier.arrive.shared::cluster.b64 _, [remote];",
               addressOf(*this, empty, stage), mate(i));
  };
  if (!byLeader)
    return ifThen(lessU(warpgroupThread, i32(mates)),
                  [&] { tell(warpgroupThread); });
  for (int64_t i = 0; i < mates; ++i)
    tell(i32(i));
}

void KernelEmitter::tellMatesOfOwnStage(Value stage) {
  Value address = addressOf(*this, full, stage);
  for (int64_t i = 0; i < getNumMates(); ++i) {
    Value rank = mate(i32(i));
    ifThen(b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, rank,
                                         slice),
           [&] {
             emitRemote(*this,
                        "mbarrier.complete_tx.relaxed.cluster.shared::cluster"
                        ".b64 [remote], 1;",
                        address, rank);
           });
  }
}

/// The ranks `first`, `first` + `step`, ... as the copy engine takes them.
static Value maskOf(OpsBuilder &b, Value first, int64_t count, int64_t step) {
  int64_t mask = 0;
  for (int64_t i = 0; i < count; ++i)
    mask |= int64_t(1) << (i * step);
  Value bits = b.b.createOrFold<arith::ShLIOp>(b.loc, b.i32(mask), first);
  return b.b.createOrFold<arith::TruncIOp>(b.loc, b.b.getI16Type(), bits);
}

KernelEmitter::Share KernelEmitter::shareOfLeft() {
  ClusterShape cluster = schedule.getCluster();
  if (cluster.n == 1)
    return {1, Value(), Value()};
  return {cluster.n, clusterColumn,
          maskOf(*this, clusterRow, cluster.n, cluster.m)};
}

KernelEmitter::Share KernelEmitter::shareOfRight() {
  ClusterShape cluster = schedule.getCluster();
  if (cluster.m == 1)
    return {1, Value(), Value()};
  return {cluster.m, clusterRow,
          maskOf(*this, mul(clusterColumn, i32(cluster.m)), cluster.m, 1)};
}

/// Loads this block's part of a box of a factor for all that share it: part of
/// its outermost extent, or, where that is not a multiple of the parts or these
/// would not begin where the swizzle does, the first block loads all of it.
void KernelEmitter::loadShared(const OperandModel &operand,
                               ArrayRef<int64_t> box, ArrayRef<Value> coords,
                               Value stage, Value byteOffset,
                               const Share &share) {
  Value barrier = toIndex(stage);
  if (share.parts == 1)
    return load(operand, box, coords, full, barrier, byteOffset, share.mask);
  size_t outer = 0;
  while (outer + 1 < box.size() && box[outer] == 1)
    ++outer;
  int64_t bytes = operand.element.getIntOrFloatBitWidth() / 8;
  for (int64_t extent : box)
    bytes *= extent;
  bytes /= share.parts;
  constexpr int64_t kSwizzleBytes = 1024;
  if (outer + 1 == box.size() || box[outer] % share.parts != 0 ||
      bytes % kSwizzleBytes != 0)
    return ifThen(equal(share.part, i32(0)), [&] {
      load(operand, box, coords, full, barrier, byteOffset, share.mask);
    });
  SmallVector<int64_t> part(box);
  part[outer] /= share.parts;
  SmallVector<Value> there(coords);
  Value &coord = there[operand.dims[outer]];
  coord = add(coord, mul(share.part, i32(part[outer])));
  load(operand, part, there, full, barrier,
       add(byteOffset, mul(share.part, i32(bytes))), share.mask);
}

void KernelEmitter::forShare(
    int64_t count, const Share &share,
    llvm::function_ref<void(Value, const Share &)> body) {
  // Whole boxes where they can be dealt: fewer, and as many bytes.
  if (share.parts == 1 || count % share.parts != 0) {
    for (int64_t i = 0; i < count; ++i)
      body(i32(i), share);
    return;
  }
  int64_t ofBlock = count / share.parts;
  Value first = mul(share.part, i32(ofBlock));
  for (int64_t i = 0; i < ofBlock; ++i)
    body(add(first, i32(i)), {1, Value(), share.mask});
}

//===----------------------------------------------------------------------===//
// The exchange of accumulators
//===----------------------------------------------------------------------===//

Value KernelEmitter::isOwner(const TileModel &tile) {
  int64_t owners = getOwners(tile, schedule);
  if (owners == schedule.getSplit())
    return {};
  return lessU(slice, i32(owners));
}

Value KernelEmitter::regionColumn(const TileModel &tile,
                                  const TileCoords &at) {
  if (schedule.getSwap() || getOwners(tile, schedule) == 1)
    return at.column;
  return add(at.column,
             mul(slice, i32(getRegionPoints(tile, schedule))));
}

Value KernelEmitter::regionRow(const TileModel &tile, const TileCoords &at) {
  Value row = at.coords[tile.innerM];
  if (!schedule.getSwap() || getOwners(tile, schedule) == 1)
    return row;
  return add(row, mul(slice, i32(getRegionRows(schedule))));
}

/// Where this lane's part of its consumer's buffer begins.
Value KernelEmitter::exchangeBase() {
  // Made at each use: kept, the addresses would take registers meanwhile.
  Value base = add(i32(SharedMemory(kernel, schedule).exchange),
                   mul(opaque(consumer),
                       i32(getExchangeBytes(kernel, schedule))));
  return add(base, add(mul(warp, i32(kWarpBytes)),
                       mul(lane, i32(kQuad * 4))));
}

/// Whether a warp may have no row of a tile: fragments of few rows that are not
/// the columns of a swapped one.
static bool mayHaveNoRows(ScheduleAttr schedule) {
  return !schedule.getSwap() && getTileRows(schedule) == kFragmentRows;
}

/// Whether this warp has a row of the tile at `row0`.
static Value hasRows(KernelEmitter &e, Value warp, Value row0, Value rows) {
  return e.lessU(e.add(row0, e.mul(warp, e.i32(16))), rows);
}

void KernelEmitter::giveAccumulators(const TileModel &tile, Value row0,
                                     Value parity,
                                     ArrayRef<Value> accumulators) {
  waitCluster(exchangeFree, consumer, parity);
  int64_t step = getActiveWarps(tile, schedule) * kWarpBytes;
  auto give = [&] {
    Value base = sharedPointer(exchangeBase());
    for (size_t i = 0; i < accumulators.size(); i += kQuad) {
      Value quad = vector::FromElementsOp::create(
          b, loc, VectorType::get({kQuad}, b.getF32Type()),
          accumulators.slice(i, kQuad));
      LLVM::StoreOp::create(b, loc, quad,
                            offsetPointer(base, i / kQuad * step), 16);
    }
  };
  if (mayHaveNoRows(schedule))
    ifThen(hasRows(*this, warp, row0, extent(tile, tile.innerM)), give);
  else
    give();
  warpgroupBarrier();
  ifThen(lessU(warpgroupThread, i32(schedule.getSplit())),
         [&] { arriveCluster(exchangeReady, consumer, warpgroupThread); });
}

SmallVector<Value> KernelEmitter::takeAccumulators(const TileModel &tile,
                                                   Value row0, Value parity) {
  waitCluster(exchangeReady, consumer, parity);
  int64_t step = getActiveWarps(tile, schedule) * kWarpBytes;
  // Of each 8 columns of a fragment a thread has four accumulators: columns of the
  // tile, or, of 64 of them at a time, its rows.
  int64_t owned = getRegionPoints(tile, schedule) / 8;
  int64_t slices = getTilePoints(tile, schedule) / 8;
  int64_t groups = getFragments(schedule) * tile.getNumGroups();
  if (schedule.getSwap()) {
    groups *= getTilePoints(tile, schedule) / kFragmentRows;
    owned = getRegionRows(schedule) / 8;
    slices = getTileRows(schedule) / 8;
  }
  auto quadType = VectorType::get({kQuad}, b.getF32Type());
  auto take = [&] {
    Value base = exchangeBase();
    if (getOwners(tile, schedule) > 1)
      base = add(base, mul(slice, i32(owned * step)));
    Value local = sharedPointer(base);
    SmallVector<Value> sums(groups * owned);
    for (int64_t rank = 0; rank < schedule.getSplit(); ++rank) {
      Value remote = NVVM::MapaOp::create(
          b, loc, LLVM::LLVMPointerType::get(b.getContext(), 7), local,
          i32(rank));
      for (int64_t group = 0; group < groups; ++group)
        for (int64_t i = 0; i < owned; ++i) {
          Value part = LLVM::LoadOp::create(
              b, loc, quadType,
              offsetPointer(remote, (group * slices + i) * step), 16);
          Value &sum = sums[group * owned + i];
          sum = sum ? Value(arith::AddFOp::create(b, loc, sum, part)) : part;
        }
    }
    SmallVector<Value> elements;
    for (Value sum : sums)
      for (int64_t i = 0; i < kQuad; ++i)
        elements.push_back(vector::ExtractOp::create(b, loc, sum, i));
    return elements;
  };
  if (!mayHaveNoRows(schedule))
    return take();
  SmallVector<Type> types(groups * owned * kQuad, b.getF32Type());
  auto branch = scf::IfOp::create(
      b, loc, types, hasRows(*this, warp, row0, extent(tile, tile.innerM)),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, take());
  b.setInsertionPointToStart(branch.elseBlock());
  Value zero =
      arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0.0f));
  scf::YieldOp::create(b, loc, SmallVector<Value>(types.size(), zero));
  return branch.getResults();
}

/// This consumer needs what the cluster has written no more.
void KernelEmitter::releaseAccumulators() {
  warpgroupBarrier();
  ifThen(lessU(warpgroupThread, i32(schedule.getSplit())),
         [&] { arriveCluster(exchangeFree, consumer, warpgroupThread); });
}
