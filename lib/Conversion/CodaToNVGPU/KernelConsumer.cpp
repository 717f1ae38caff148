//===- KernelConsumer.cpp - The threads that multiply ---------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::coda_gpu;

//===----------------------------------------------------------------------===//
// The main loop of the consumers
//===----------------------------------------------------------------------===//

Value KernelEmitter::rowBlock(Value fragment) {
  if (schedule.getPingpong())
    return fragment;
  return add(mul(fragment, i32(kConsumers)), consumer);
}

static NVVM::WGMMATypes getWGMMAType(Type type) {
  return type.isBF16()                 ? NVVM::WGMMATypes::bf16
         : isa<Float8E4M3FNType>(type) ? NVVM::WGMMATypes::e4m3
         : isa<Float8E5M2Type>(type)   ? NVVM::WGMMATypes::e5m2
                                       : NVVM::WGMMATypes::f16;
}

/// The matrix at `offset` in shared memory that has its `columns` in runs of less
/// than 64, each of 64 rows of k. A row of 64 or 32 bytes is swizzled over them,
/// one of 16 is not.
Value KernelEmitter::runsDescriptor(Value offset, int64_t columns) {
  int64_t row = columns * 2;
  // Bytes from 8 rows to the next, and from a run to the next. What is called
  // the leading offset is that of runs, but where nothing is swizzled.
  int64_t rows = 8 * row, run = kBlockK * row;
  uint64_t swizzle = row == 64 ? 2 : row == 32 ? 3 : 0;
  int64_t leading = swizzle ? run : rows, stride = swizzle ? rows : run;
  // All in units of 16 bytes.
  uint64_t form = uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 |
                  swizzle << 62;
  Value address =
      LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), sharedPointer(offset));
  // In a cluster an address has the number of the block above its own bits.
  constexpr int64_t kAddressBits = 0x3ffff;
  Value start = toI64(divU(bitAnd(address, i32(kAddressBits)), i32(16)));
  return b.createOrFold<arith::OrIOp>(loc, start, i64(form));
}

namespace {
/// A factor in shared memory as WGMMA takes it.
struct Factor {
  /// The descriptor, and what it grows by from one step of k to the next.
  Value descriptor;
  int64_t step;
  bool isKMajor;
  Type element;
};
/// Two of them, for an accumulator as wide as the second.
struct Product {
  Factor a, b;
  int64_t columns;
  bool sets;
};
} // namespace

/// Adds the products of the stage at `at` to `accumulators`: for each part of the
/// phase one a fragment, or, of swapped factors, one for each 64 columns. `first`:
/// those that have no products yet are set.
void KernelEmitter::multiplyBlock(const TileModel &tile, const Phase &phase,
                                  RingPosition at,
                                  SmallVectorImpl<Value> &accumulators,
                                  bool first) {
  int64_t points = getTilePoints(tile, schedule);
  int64_t fragments = getFragments(schedule);
  Type left = phase.lhs.element, right = phase.rhsElement;
  auto descriptor = [&](Value offset, int64_t rows, Type element) {
    SmallVector<int64_t> shape{rows, tile.blockK};
    // The descriptor reads only the shape of the map's tile.
    Value anyMap = UnrealizedConversionCastOp::create(
                       b, loc, tensorMapType(shape, element), paramValues[0])
                       .getResult(0);
    Type type = nvgpu::WarpgroupMatrixDescriptorType::get(
        b.getContext(), sharedType(shape, element));
    Value made = nvgpu::WarpgroupGenerateDescriptorOp::create(
        b, loc, type, view(offset, shape, element), anyMap);
    return UnrealizedConversionCastOp::create(b, loc, b.getI64Type(), made)
        .getResult(0);
  };
  Value base = mul(at.stage, i32(stageBytes));
  // 32 bytes of k: along K-major rows, or as 16 rows of 128 bytes or of a run; a
  // descriptor counts in 16 bytes.
  constexpr int64_t kSteps = 4;
  // Rows in `run` columns each where it is not K-major.
  auto factor = [&](Value offset, int64_t rows, int64_t run, bool isKMajor,
                    Type element) -> Factor {
    if (isKMajor)
      return {descriptor(offset, rows, element), 2, isKMajor, element};
    return {run < kLongRun ? runsDescriptor(offset, run)
                           : descriptor(offset, kFactorColumns, element),
            2 * run, isKMajor, element};
  };
  // The rows of the left factor as the rows of fragments, or as the columns of
  // all.
  bool swaps = schedule.getSwap();
  SmallVector<Factor> lefts;
  for (int64_t f = 0; f < fragments; ++f)
    lefts.push_back(factor(
        add(base, mul(rowBlock(i32(f)), i32(kFragmentRows * kBlockK * 2))),
        swaps ? getTileRows(schedule) : kFragmentRows,
        getFactorRunOfRows(schedule), phase.lhsKMajor, left));
  // The parts' columns follow each other in the stage; the runs of those of a
  // right factor that is contiguous along them.
  SmallVector<Product> products;
  int64_t offset = getRightOffset(tile, schedule);
  for (auto [part, sets] : llvm::zip_equal(phase.parts, phase.sets)) {
    int64_t columns = points * tile.parts[part].numGroups;
    unsigned group = tile.parts[part].firstGroup;
    const OperandModel &rhs = *phase.rhs[tile.groups[group].accumulator];
    int64_t run = std::min(tile.runColumns * rhs.getColumnsOfPoint(),
                           getFactorRun(tile, rhs, schedule));
    int64_t taken = swaps ? kFragmentRows : columns;
    for (int64_t begin = 0; begin < columns; begin += taken) {
      Factor ofColumns =
          factor(add(base, i32(offset + begin * kBlockK * 2)), taken, run,
                 phase.rhsKMajor, right);
      for (const Factor &ofRows : lefts)
        products.push_back(swaps ? Product{ofColumns, ofRows,
                                           getTileRows(schedule), sets}
                                 : Product{ofRows, ofColumns, columns, sets});
    }
    offset += columns * kBlockK * 2;
  }
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  for (int64_t k = 0; k < kSteps; ++k)
    for (auto [product, accumulator] : llvm::zip_equal(products, accumulators)) {
      const auto &[a, w, columns, isFirst] = product;
      bool sets = first && k == 0 && isFirst;
      accumulator = NVVM::WgmmaMmaAsyncOp::create(
          b, loc, accumulator.getType(), accumulator,
          add(a.descriptor, i64(k * a.step)), add(w.descriptor, i64(k * w.step)),
          NVVM::MMAShapeAttr::get(b.getContext(), 64, columns,
                                  tile.blockK / kSteps),
          getWGMMAType(a.element), getWGMMAType(w.element),
          NVVM::WGMMATypes::f32,
          sets ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one,
          NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          a.isKMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col,
          w.isKMajor ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          NVVM::MMAIntOverflowAttr());
    }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
}

/// Multiplies all k blocks of a tile; at most one group of WGMMA is in flight
/// while the next is issued. The elements of the accumulators come out of the
/// last wait itself, so that no read can move above it; those of one fragment
/// after those of another. What `underLast` emits runs before that wait.
RingPosition KernelEmitter::multiply(const TileModel &tile, RingPosition at,
                                     Value held,
                                     llvm::function_ref<void()> underLast,
                                     SmallVectorImpl<Value> &elements) {
  int64_t fragments = getFragments(schedule);
  auto countOf = [&](const AccumulatorPart &part) {
    return getProductAccumulators(tile, part.numGroups, schedule);
  };
  Type f32 = b.getF32Type();
  // By part and product: those of its fragments, or of its columns.
  SmallVector<SmallVector<Value>> accumulators;
  for (const AccumulatorPart &part : tile.parts) {
    Type type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(countOf(part), f32));
    accumulators.push_back(
        SmallVector<Value>(getNumProducts(tile, part.numGroups, schedule),
                           LLVM::UndefOp::create(b, loc, type)));
  }

  Value previous;
  for (const Phase &phase : tile.phases) {
    SmallVector<Value> own;
    for (unsigned part : phase.parts)
      llvm::append_range(own, accumulators[part]);
    // A block that sets accumulators stands alone.
    bool sets = phase.hasFirstOfPart();
    if (sets) {
      wait(full, at.stage, at.parity);
      multiplyBlock(tile, phase, at, own, /*first=*/true);
      if (previous) {
        NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 1);
        releaseStage(previous);
      } else {
        releaseHeld(at, held);
      }
      previous = at.stage;
      at = advance(at);
    }
    SmallVector<Value> carried{at.stage, at.parity, previous};
    llvm::append_range(carried, own);
    auto loop = scf::ForOp::create(b, loc, i32(sets ? 1 : 0),
                                   blockSlice(tile, phase).second, i32(1),
                                   carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      RingPosition here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      wait(full, here.stage, here.parity);
      SmallVector<Value> next(loop.getRegionIterArgs().drop_front(3));
      multiplyBlock(tile, phase, here, next, /*first=*/false);
      NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 1);
      releaseStage(loop.getRegionIterArg(2));
      RingPosition after = advance(here);
      SmallVector<Value> yielded{after.stage, after.parity, here.stage};
      llvm::append_range(yielded, next);
      scf::YieldOp::create(b, loc, yielded);
    }
    at = {loop.getResult(0), loop.getResult(1)};
    previous = loop.getResult(2);
    auto result = loop.getResults().begin() + 3;
    for (unsigned part : phase.parts)
      for (Value &accumulator : accumulators[part])
        accumulator = *result++;
  }
  // The other consumer's products may follow these.
  if (schedule.getPingpong())
    arrive(turn, sub(i32(1), consumer));
  underLast();

  SmallVector<Value> before;
  std::string constraints;
  for (int64_t f = 0; f < fragments; ++f)
    for (auto [part, ofPart] : llvm::zip_equal(tile.parts, accumulators)) {
      size_t perFragment = ofPart.size() / fragments;
      for (Value product :
           ArrayRef(ofPart).slice(f * perFragment, perFragment))
        for (int64_t i = 0, count = countOf(part); i < count; ++i) {
          before.push_back(LLVM::ExtractValueOp::create(b, loc, product, i));
          constraints += "=f,";
        }
    }
  for (size_t i = 0; i < before.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  Type all = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(before.size(), f32));
  Value wait =
      emitAsm("wgmma.wait_group.sync.aligned 0;", constraints, all, before);
  releaseStage(previous);
  for (size_t i = 0; i < before.size(); ++i)
    elements.push_back(
        LLVM::ExtractValueOp::create(b, loc, wait, i));
  return at;
}

/// Sets what a consumer's thread derives from its number.
void KernelEmitter::setThread(Value thread) {
  warpgroupThread = remU(thread, i32(128));
  warp = divU(warpgroupThread, i32(32));
  lane = remU(warpgroupThread, i32(32));
  isLeader = equal(warpgroupThread, i32(0));
}

/// `value`, as something that nobody knows to be so before this point.
Value KernelEmitter::opaque(Value value) {
  return emitAsm("mov.b32 $0, $1;", "=r,r", value.getType(), value);
}

/// `value`, the same in all threads of a warp, as something known to be so: what
/// is made of it takes registers of the warp, and the copy engine's instructions
/// take no others.
Value KernelEmitter::uniform(Value value) {
  return NVVM::ShflOp::create(b, loc, value.getType(), i32(-1), value, i32(0),
                              i32(31), NVVM::ShflKind::idx, UnitAttr());
}

/// Accumulators of a thread beside which a region's row values fit.
static constexpr int64_t kFewAccumulators = 64;

KernelEmitter::WalkState
KernelEmitter::consumeTile(const TileModel &tile, Value number,
                           const WalkState &state) {
  WalkState after = state;
  int64_t fragments = getFragments(schedule);
  std::vector<EpilogueEmitter> epilogues;
  epilogues.reserve(fragments);
  // The loads of rows go out before the products, which hide their latency. Of
  // a ping-pong pair the other consumer's products do: there nothing of the
  // region of a fragment is made before, or kept from another fragment, so that
  // nothing of it takes registers meanwhile; unless the tile takes few itself.
  bool early = !schedule.getPingpong() ||
               getThreadAccumulators(schedule) <= kFewAccumulators;
  auto begin = [&](int64_t fragment, Value number) {
    epilogues.emplace_back(*this, tile, tileCoords(tile, number), fragment);
    epilogues.back().loadRows();
  };
  auto beginLate = [&](int64_t fragment) {
    setThread(opaque(threadId));
    begin(fragment, uniform(opaque(number)));
  };
  for (int64_t f = 0; early && f < fragments; ++f)
    begin(f, number);
  // Columns are the same for all fragments.
  auto send = [&] {
    if (early)
      return epilogues.front().sendColumns();
    EpilogueEmitter(*this, tile, tileCoords(tile, number), /*fragment=*/0)
        .sendColumns();
  };
  if (Value owner = schedule.getSplit() > 1 ? isOwner(tile) : Value())
    ifThen(owner, send);
  else
    send();
  SmallVector<Value> accumulators;
  if (tile.phases.empty())
    releaseHeld(state.ring, state.held);
  else
    after.ring = multiply(
        tile, state.ring, state.held,
        [&] {
          if (schedule.getSplit() > 1)
            return;
          if (!early)
            beginLate(0);
          epilogues.front().awaitColumns();
          epilogues.front().loadColumns();
        },
        accumulators);
  // Stores of single elements the assembler begins above the wait, with nothing
  // between that orders memory, and then has each product wait for the one before.
  if (schedule.getSwap() && getStagedBoxes(tile, schedule).empty())
    emitAsm("fence.acq_rel.cta;", "~{memory}", Type(), {});
  auto runRegion = [&](RingPosition &loadedAt) {
    if (schedule.getOrdered())
      wait(regionTurn, consumer, state.turnParity);
    LoadedTiles loaded(*this, tile, loadedAt);
    size_t perFragment = accumulators.size() / fragments;
    for (int64_t f = 0; f < fragments; ++f) {
      if (static_cast<int64_t>(epilogues.size()) == f)
        beginLate(f);
      if (f == 0 && (schedule.getSplit() > 1 || tile.phases.empty()))
        epilogues[f].awaitColumns();
      epilogues[f].run(
          ArrayRef(accumulators).slice(f * perFragment, perFragment), loaded);
    }
    after.held = i32(loaded.finishTile());
    loadedAt = loaded.getEnd();
  };
  if (schedule.getSplit() == 1) {
    runRegion(schedule.getRing() ? after.ring : after.prefetch);
    return after;
  }
  Value row0 = tileCoords(tile, number).coords[tile.innerM];
  giveAccumulators(tile, row0, state.exchangeParity, accumulators);
  after.exchangeParity = bitXor(state.exchangeParity, i1(true));
  RingPosition prefetch = after.prefetch;
  auto take = [&] {
    // Under the wait for the other slices.
    if (!early)
      beginLate(0);
    epilogues.front().loadColumns();
    accumulators = takeAccumulators(tile, row0, after.exchangeParity);
    releaseAccumulators();
    runRegion(after.prefetch);
  };
  Value owner = isOwner(tile);
  if (!owner) {
    take();
    return after;
  }
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{b.getI32Type(), b.getI1Type()}, owner,
                        /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    std::tuple<Value, Value, Value, Value> saved = threadNumbers();
    take();
    threadNumbers() = saved;
    scf::YieldOp::create(
        b, loc, ValueRange{after.prefetch.stage, after.prefetch.parity});
    b.setInsertionPointToStart(branch.elseBlock());
    releaseAccumulators();
    scf::YieldOp::create(b, loc, ValueRange{prefetch.stage, prefetch.parity});
  }
  after.prefetch = {branch.getResult(0), branch.getResult(1)};
  // Buffers of one's own go back at the end of a tile.
  after.held = i32(0);
  return after;
}

/// One consumer of a ping-pong pair at a tile: its own, when it has its turn;
/// past the stages of the other's.
KernelEmitter::WalkState
KernelEmitter::consumeInTurn(const TileModel &tile, Value number,
                             const WalkState &state) {
  Type i32Type = b.getI32Type(), i1Type = b.getI1Type();
  auto branch = scf::IfOp::create(
      b, loc, TypeRange{i32Type, i1Type, i32Type, i1Type, i1Type, i1Type},
      state.isMine, /*withElseRegion=*/true);
  auto yield = [&](const WalkState &state) {
    scf::YieldOp::create(
        b, loc,
        ValueRange{state.ring.stage, state.ring.parity, state.prefetch.stage,
                   state.prefetch.parity, state.turnParity,
                   state.exchangeParity});
  };
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    wait(turn, consumer, state.turnParity);
    std::tuple<Value, Value, Value, Value> saved = threadNumbers();
    WalkState after = consumeTile(tile, number, state);
    threadNumbers() = saved;
    after.turnParity = bitXor(state.turnParity, i1(true));
    yield(after);
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    WalkState after = state;
    for (const Phase &phase : tile.phases)
      after.ring = advance(after.ring, blockSlice(tile, phase).second,
                           schedule.getStages());
    after.prefetch = skipPrefetch(tile, after.prefetch);
    yield(after);
  }
  return {{branch.getResult(0), branch.getResult(1)},
          {branch.getResult(2), branch.getResult(3)},
          bitXor(state.isMine, i1(true)),
          branch.getResult(4),
          state.held,
          state.early,
          branch.getResult(5)};
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

void KernelEmitter::emitConsumers() {
  // The block has 168 for each of its threads: what fits 384 of them.
  NVVM::SetMaxRegisterOp::create(
      b, loc, (3 * 168 - getProducerRegisters(schedule)) / kConsumers,
      NVVM::SetMaxRegisterAction::increase);
  if (loadsEarly())
    awaitKernelBefore();
  setThread(threadId);
  consumer = sub(warpgroup, i32(1)); // Known to be uniform.
  Value isFirst = equal(consumer, i32(0));
  RingPosition start{i32(0), i1(false)};
  forTiles({start, start, isFirst, isFirst, i32(0), i32(0), i1(true)},
           [&](const TileModel &tile, Value number, const WalkState &state) {
             if (schedule.getPingpong())
               return consumeInTurn(tile, number, state);
             return consumeTile(tile, number, state);
           });
  // What is written to memory is there when the kernel ends; shared memory must
  // be there until it has been read.
  ifThen(isLeader, [&] { awaitStoresRead(0); });
}
