//===- KernelCluster.cpp - Blocks that work on one tile -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the blocks of a cluster do together; KernelEmitter.h has the protocol of
// the exchange. Its buffer holds a thread's accumulators four by four: 16 bytes
// a lane, the lanes of a warp side by side, so that no bank is met twice. The
// same thread of another block reads them from there.
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

static void emitAsm(OpsBuilder &b, StringRef text, ValueRange operands) {
  std::string constraints;
  for (size_t i = 0; i < operands.size(); ++i)
    constraints += "r,";
  LLVM::InlineAsmOp::create(
      b.b, b.loc, LLVM::LLVMVoidType::get(b.b.getContext()), operands, text,
      constraints + "~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.b.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
}

static Value addressOf(OpsBuilder &b, Value barriers, Value number) {
  return nvgpu::MBarrierGetOp::create(b.b, b.loc, b.b.getI32Type(), barriers,
                                      b.toIndex(number));
}

/// Waits for a phase whose arrivals come from the cluster.
void KernelEmitter::waitCluster(Value barriers, Value number, Value parity) {
  Value bit = b.createOrFold<arith::ExtUIOp>(loc, b.getI32Type(), parity);
  emitAsm(*this,
          "{\n\t.reg .pred done;\n\t"
          "again:\n\t"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, "
          "[$0], $1;\n\t"
          "@!done bra again;\n\t}",
          {addressOf(*this, barriers, number), bit});
}

/// Arrives at the barrier of block `rank` of the cluster.
void KernelEmitter::arriveCluster(Value barriers, Value number, Value rank) {
  emitAsm(*this,
          "{\n\t.reg .b32 remote;\n\t"
          "mapa.shared::cluster.u32 remote, $0, $1;\n\t"
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];"
          "\n\t}",
          {addressOf(*this, barriers, number), rank});
}

void KernelEmitter::clusterBarrier() {
  NVVM::ClusterArriveOp::create(b, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
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
  if (getOwners(tile, schedule) == 1)
    return at.column;
  return add(at.column,
             mul(slice, i32(getRegionPoints(tile, schedule))));
}

/// Where this lane's part of its consumer's buffer begins.
Value KernelEmitter::exchangeBase() {
  Value base = add(i32(getExchangeOffset(kernel, schedule)),
                   mul(consumer, i32(getExchangeBytes(kernel, schedule))));
  return add(base, add(mul(warp, i32(kWarpBytes)),
                       mul(lane, i32(kQuad * 4))));
}

/// Whether this warp has a row of the tile at `row0`; null: it always has.
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
  if (getTileRows(schedule) == kChunk)
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
  // Of each 8 columns a thread has four accumulators.
  int64_t owned = getRegionPoints(tile, schedule) / 8;
  int64_t slices = getTilePoints(tile, schedule) / 8;
  int64_t groups = getFragments(schedule) * tile.getNumGroups();
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
  if (getTileRows(schedule) != kChunk)
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
