//===- KernelEmitter.cpp - What all roles of a kernel share ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;
using namespace mlir::coda_gpu;

//===----------------------------------------------------------------------===//
// OpsBuilder
//===----------------------------------------------------------------------===//

Value OpsBuilder::i32(int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(v));
}
Value OpsBuilder::i64(int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
}
Value OpsBuilder::index(int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getIndexAttr(v));
}
Value OpsBuilder::i1(bool v) {
  return arith::ConstantOp::create(b, loc, b.getBoolAttr(v));
}
Value OpsBuilder::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value OpsBuilder::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value OpsBuilder::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(loc, x, y);
}
Value OpsBuilder::divU(Value x, Value y) {
  return b.createOrFold<arith::DivUIOp>(loc, x, y);
}
Value OpsBuilder::remU(Value x, Value y) {
  return b.createOrFold<arith::RemUIOp>(loc, x, y);
}
Value OpsBuilder::minU(Value x, Value y) {
  return b.createOrFold<arith::MinUIOp>(loc, x, y);
}
Value OpsBuilder::bitAnd(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}
Value OpsBuilder::bitXor(Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(loc, x, y);
}
Value OpsBuilder::ceilDivU(Value x, int64_t y) {
  return divU(add(x, i32(y - 1)), i32(y));
}
Value OpsBuilder::equal(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}
Value OpsBuilder::lessU(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, y);
}
Value OpsBuilder::select(Value c, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, c, x, y);
}
Value OpsBuilder::toIndex(Value v) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), v);
}
Value OpsBuilder::toI32(Value v) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), v);
}
Value OpsBuilder::toI64(Value v) {
  return b.createOrFold<arith::ExtUIOp>(loc, b.getI64Type(), v);
}

void OpsBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

Value OpsBuilder::emitAsm(StringRef text, StringRef constraints, Type result,
                          ValueRange operands) {
  MLIRContext *context = b.getContext();
  if (!result)
    result = LLVM::LLVMVoidType::get(context);
  auto op = LLVM::InlineAsmOp::create(
      b, loc, result, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  return op->getNumResults() ? op->getResult(0) : Value();
}

//===----------------------------------------------------------------------===//
// Parameters and shared memory
//===----------------------------------------------------------------------===//

static Attribute workgroupSpace(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
}

MemRefType coda_gpu::sharedType(ArrayRef<int64_t> shape, Type element) {
  return MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                         workgroupSpace(element.getContext()));
}

Type coda_gpu::tensorMapType(ArrayRef<int64_t> box, Type element) {
  return nvgpu::TensorMapDescriptorType::get(
      element.getContext(), sharedType(box, element),
      nvgpu::TensorMapSwizzleKind::SWIZZLE_128B,
      nvgpu::TensorMapL2PromoKind::L2PROMO_256B,
      nvgpu::TensorMapOOBKind::OOB_ZERO,
      nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
}

KernelEmitter::KernelEmitter(const KernelModel &kernel, ScheduleAttr schedule,
                             OpBuilder &builder)
    : OpsBuilder(builder, kernel.func.getLoc()), kernel(kernel),
      schedule(schedule), stageBytes(getStageBytes(kernel, schedule)) {}

Value KernelEmitter::addParam(KernelParam param, Type type) {
  Value value = func.getBody().front().addArgument(type, loc);
  params.push_back(std::move(param));
  paramValues.push_back(value);
  return value;
}

/// nvgpu wants rows of 128 bytes; shorter ones follow each other, as they are
/// swizzled over their own bytes only.
static SmallVector<int64_t> nominalBox(ArrayRef<int64_t> box, Type element) {
  SmallVector<int64_t> nominal(box);
  int64_t times = 1024 / element.getIntOrFloatBitWidth() / nominal.back();
  nominal.back() *= times;
  for (int64_t &extent : llvm::reverse(MutableArrayRef(nominal).drop_back())) {
    int64_t taken = std::gcd(extent, times);
    extent /= taken;
    times /= taken;
  }
  return nominal;
}

Value KernelEmitter::boxView(Value byteOffset, ArrayRef<int64_t> box,
                             Type element) {
  return view(byteOffset, nominalBox(box, element), element);
}

Value KernelEmitter::tensorMap(const OperandModel &operand,
                               ArrayRef<int64_t> box) {
  Value map;
  for (auto [param, value] : llvm::zip(params, paramValues))
    if (param.kind == KernelParam::TensorMap &&
        param.operand->memref == operand.memref &&
        param.operand->dims == operand.dims &&
        ArrayRef<int64_t>(param.box) == box) {
      map = value;
      param.loadsEarly |= isEarly;
    }
  if (!map) {
    map = addParam({KernelParam::TensorMap, &operand, llvm::to_vector(box)},
                   LLVM::LLVMPointerType::get(b.getContext()));
    params.back().loadsEarly = isEarly;
  }
  return UnrealizedConversionCastOp::create(
             b, loc, tensorMapType(nominalBox(box, operand.element),
                                   operand.element),
             map)
      .getResult(0);
}

Value KernelEmitter::pointer(const OperandModel &operand) {
  for (auto [param, value] : llvm::zip(params, paramValues))
    if (param.kind == KernelParam::Pointer &&
        param.operand->memref == operand.memref)
      return value;
  return addParam({KernelParam::Pointer, &operand, {}},
                  LLVM::LLVMPointerType::get(b.getContext(), 1));
}

void KernelEmitter::alignPointer(const OperandModel &operand, int64_t bytes) {
  pointer(operand);
  for (KernelParam &param : params)
    if (param.kind == KernelParam::Pointer &&
        param.operand->memref == operand.memref)
      param.alignment = std::max(param.alignment, bytes);
}

Value KernelEmitter::extent(const TileModel &tile, unsigned dim) {
  int64_t known = tile.dims[dim].extent;
  if (!ShapedType::isDynamic(known))
    return i32(known);
  const OperandModel *operand = nullptr;
  auto look = [&](const OperandModel &candidate) {
    if (!operand && candidate.has(dim))
      operand = &candidate;
  };
  for (const Phase &phase : tile.phases) {
    look(phase.lhs);
    for (const std::optional<OperandModel> &rhs : phase.rhs)
      if (rhs)
        look(*rhs);
  }
  for (const InputModel &input : tile.inputs)
    look(input);
  for (const OutputModel &output : tile.outputs)
    look(output);
  unsigned position = operand->find(dim);
  for (auto [param, value] : llvm::zip(params, paramValues))
    if (param.kind == KernelParam::Extent &&
        param.operand->memref == operand->memref &&
        param.operand->positions[param.dim] == operand->positions[position])
      return value;
  return addParam({KernelParam::Extent, operand, {}, position}, b.getI32Type());
}

Value KernelEmitter::stride(const OperandModel &operand, unsigned i) {
  if (!ShapedType::isDynamic(operand.strides[i]))
    return i64(operand.strides[i]);
  for (auto [param, value] : llvm::zip(params, paramValues))
    if (param.kind == KernelParam::Stride &&
        param.operand->memref == operand.memref &&
        param.operand->positions[param.dim] == operand.positions[i])
      return value;
  return addParam({KernelParam::Stride, &operand, {}, i}, b.getI64Type());
}

Value KernelEmitter::view(Value byteOffset, ArrayRef<int64_t> shape,
                          Type element) {
  return memref::ViewOp::create(b, loc, sharedType(shape, element),
                                dynamicMemory, toIndex(byteOffset),
                                ValueRange());
}

Value KernelEmitter::sharedPointer(Value byteOffset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, type, b.getI8Type(), dynamicPointer,
                             ArrayRef<LLVM::GEPArg>{byteOffset});
}

Value KernelEmitter::sharedAddress(Value byteOffset) {
  return add(dynamicAddress, byteOffset);
}

Value KernelEmitter::addressPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}

Value KernelEmitter::offsetPointer(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(
      b, loc, pointer.getType(), b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

//===----------------------------------------------------------------------===//
// The ring
//===----------------------------------------------------------------------===//

RingPosition KernelEmitter::advance(RingPosition at) {
  return advance(at, schedule.getStages());
}

RingPosition KernelEmitter::advance(RingPosition at, int64_t depth) {
  Value next = add(at.stage, i32(1));
  Value wraps = equal(next, i32(depth));
  return {select(wraps, i32(0), next),
          select(wraps, bitXor(at.parity, i1(true)), at.parity)};
}

/// The position `stages` further on in a ring of `depth`.
RingPosition KernelEmitter::advance(RingPosition at, Value stages,
                                    int64_t depth) {
  Value sum = add(at.stage, stages), size = i32(depth);
  Value odd = equal(bitAnd(divU(sum, size), i32(1)), i32(1));
  return {remU(sum, size), bitXor(at.parity, odd)};
}

void KernelEmitter::wait(Value barriers, Value number, Value parity) {
  nvgpu::MBarrierTryWaitParityOp::create(b, loc, barriers, parity,
                                         index(kWaitTicks), toIndex(number));
}

/// The first thread of a consumer arrives for all of it.
void KernelEmitter::arrive(Value barriers, Value number) {
  ifThen(isLeader, [&] {
    nvgpu::MBarrierArriveOp::create(
        b, loc, nvgpu::MBarrierTokenType::get(b.getContext()), barriers,
        toIndex(number));
  });
}

RingPosition KernelEmitter::advancePrefetch(RingPosition at) {
  return advance(at, schedule.getPrefetch());
}

/// The position after the loaded tiles of another consumer's tile.
RingPosition KernelEmitter::skipPrefetch(const TileModel &tile,
                                         RingPosition at) {
  if (!schedule.getOrdered() || getPrefetchedPerChunk(tile, schedule) == 0)
    return at;
  int64_t chunks = getFragments(schedule) * getRegionPoints(tile, schedule) /
                   schedule.getChunk();
  return advance(at, i32(chunks), schedule.getPrefetch());
}

/// The buffer, and barrier, of a position in the ring of loaded tiles: this
/// consumer's, or that of both.
Value KernelEmitter::prefetchNumber(RingPosition at) {
  if (schedule.getOrdered())
    return at.stage;
  return add(mul(consumer, i32(schedule.getPrefetch())), at.stage);
}

Value KernelEmitter::prefetchBase(RingPosition at) {
  return add(i32(SharedMemory(kernel, schedule).prefetch),
             mul(prefetchNumber(at), i32(getPrefetchBytes(kernel, schedule))));
}

void KernelEmitter::awaitStoresRead(int64_t inFlight) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, inFlight, b.getUnitAttr());
}

/// Gives back the `held` stages before `at`, which stores of the tile before
/// read.
void KernelEmitter::releaseHeld(RingPosition at, Value held) {
  if (!schedule.getRing() || !schedule.getInplace())
    return;
  ifThen(isLeader, [&] {
    awaitStoresRead(0);
    auto loop = scf::ForOp::create(b, loc, i32(0), held, i32(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    // In [0, 2 stages): `held` is less than the stages.
    int64_t stages = schedule.getStages();
    Value stage = add(sub(add(at.stage, i32(stages)), held),
                      loop.getInductionVar());
    Value wraps = lessU(i32(stages - 1), stage);
    releaseStage(select(wraps, sub(stage, i32(stages)), stage),
                 /*byLeader=*/true);
  });
}

void KernelEmitter::warpgroupBarrier() {
  NVVM::BarrierOp::create(b, loc, Type(), add(consumer, i32(1)), i32(128),
                          NVVM::BarrierReductionAttr(), Value());
}

void KernelEmitter::consumersBarrier() {
  NVVM::BarrierOp::create(b, loc, Type(), i32(3), i32(256),
                          NVVM::BarrierReductionAttr(), Value());
}

//===----------------------------------------------------------------------===//
// The iteration space
//===----------------------------------------------------------------------===//

Value KernelEmitter::numRowTiles(const TileModel &tile) {
  Value tiles = ceilDivU(extent(tile, tile.innerM), getTileRows(schedule));
  for (unsigned d : tile.outerM)
    tiles = mul(tiles, extent(tile, d));
  return tiles;
}

Value KernelEmitter::numColumns(const TileModel &tile) {
  Value columns = extent(tile, tile.innerN);
  for (unsigned d : tile.outerN)
    columns = mul(columns, extent(tile, d));
  return columns;
}

Value KernelEmitter::numColumnGroups(const TileModel &tile) {
  Value tiles = ceilDivU(numColumns(tile), getTilePoints(tile, schedule));
  int64_t blocks = schedule.getCluster().n;
  return blocks == 1 ? tiles : ceilDivU(tiles, blocks);
}

Value KernelEmitter::numGroups(const TileModel &tile) {
  return mul(numRowGroups(tile), numColumnGroups(tile));
}

Value KernelEmitter::numBlocks(const TileModel &tile, const Phase &phase) {
  Value blocks = ceilDivU(extent(tile, phase.k.back()), tile.blockK);
  for (unsigned d : ArrayRef(phase.k).drop_back())
    blocks = mul(blocks, extent(tile, d));
  return blocks;
}

TileCoords KernelEmitter::tileCoords(const TileModel &tile, Value number) {
  // `raster` row tiles walk over the columns together, so that the blocks that
  // run at one time share both factors in L2.
  int64_t points = getTilePoints(tile, schedule);
  ClusterShape cluster = schedule.getCluster();
  Value rowTiles = numRowGroups(tile);
  Value columnTiles = numColumnGroups(tile);
  int64_t perGroup = std::max<int64_t>(1, schedule.getRaster() / cluster.m);
  Value raster = i32(perGroup);
  Value groupSize = mul(raster, columnTiles);
  Value group = divU(number, groupSize);
  Value rest = remU(number, groupSize);
  Value first = mul(group, raster);
  Value rowTile, columnTile;
  if (std::optional<int64_t> known = getConstantIntValue(rowTiles)) {
    // Division by constants only: it has no instruction.
    int64_t few = *known % perGroup;
    rowTile = remU(rest, raster);
    columnTile = divU(rest, raster);
    if (few != 0) {
      Value isFull = lessU(first, i32(*known - few));
      rowTile = select(isFull, rowTile, remU(rest, i32(few)));
      columnTile = select(isFull, columnTile, divU(rest, i32(few)));
    }
  } else {
    Value rows = minU(sub(rowTiles, first), raster);
    rowTile = remU(rest, rows);
    columnTile = divU(rest, rows);
  }
  rowTile = add(first, rowTile);
  Value outside;
  if (cluster.m > 1)
    std::tie(rowTile, outside) = rowTileOfBlock(tile, rowTile);
  if (cluster.n > 1)
    columnTile = add(mul(columnTile, i32(cluster.n)), clusterColumn);
  TileCoords at;
  at.column = mul(columnTile, i32(points));
  at.coords.assign(tile.dims.size(), Value());
  Value inner = rowTile;
  if (!tile.outerM.empty()) {
    Value innerTiles = ceilDivU(extent(tile, tile.innerM), getTileRows(schedule));
    inner = remU(rowTile, innerTiles);
    Value outer = divU(rowTile, innerTiles);
    for (unsigned i = tile.outerM.size(); i-- > 0;) {
      unsigned d = tile.outerM[i];
      if (i == 0) {
        at.coords[d] = outer;
        break;
      }
      at.coords[d] = remU(outer, extent(tile, d));
      outer = divU(outer, extent(tile, d));
    }
  }
  Value row = mul(inner, i32(getTileRows(schedule)));
  // Beyond the last, and where the copy engine may begin a box: a factor that is
  // contiguous along rows may have any number of them.
  if (outside)
    row = select(outside,
                 mul(ceilDivU(extent(tile, tile.innerM), getTileRows(schedule)),
                     i32(getTileRows(schedule))),
                 row);
  at.coords[tile.innerM] = row;
  return at;
}

SmallVector<Value> KernelEmitter::chunkCoords(const TileModel &tile,
                                              const TileCoords &at,
                                              Value column) {
  SmallVector<Value> coords = at.coords;
  Value rest = column;
  if (!tile.outerN.empty()) {
    Value inner = extent(tile, tile.innerN);
    coords[tile.innerN] = remU(rest, inner);
    rest = divU(rest, inner);
    for (unsigned i = tile.outerN.size(); i-- > 0;) {
      unsigned d = tile.outerN[i];
      if (i == 0) {
        coords[d] = rest;
        break;
      }
      coords[d] = remU(rest, extent(tile, d));
      rest = divU(rest, extent(tile, d));
    }
  } else {
    coords[tile.innerN] = rest;
  }
  return coords;
}

void KernelEmitter::setBlockCoords(const TileModel &tile, const Phase &phase,
                                   Value block,
                                   SmallVectorImpl<Value> &coords) {
  Value rest = block;
  unsigned inner = phase.k.back();
  if (phase.k.size() == 1) {
    coords[inner] = mul(rest, i32(tile.blockK));
    return;
  }
  Value innerBlocks = ceilDivU(extent(tile, inner), tile.blockK);
  coords[inner] = mul(remU(rest, innerBlocks), i32(tile.blockK));
  rest = divU(rest, innerBlocks);
  for (unsigned i = phase.k.size() - 1; i-- > 0;) {
    unsigned d = phase.k[i];
    if (i == 0) {
      coords[d] = rest;
      break;
    }
    coords[d] = remU(rest, extent(tile, d));
    rest = divU(rest, extent(tile, d));
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void KernelEmitter::forTiles(
    WalkState start,
    llvm::function_ref<WalkState(const TileModel &, Value, const WalkState &)>
        body) {
  auto pack = [](const WalkState &state, Value next) {
    return SmallVector<Value>{state.ring.stage,     state.ring.parity,
                              state.prefetch.stage, state.prefetch.parity,
                              state.isMine,         state.turnParity,
                              state.held,           state.early,
                              state.exchangeParity, next};
  };
  auto unpack = [](ValueRange values) {
    return WalkState{{values[0], values[1]},
                     {values[2], values[3]},
                     values[4],
                     values[5],
                     values[6],
                     values[7],
                     values[8]};
  };
  // Tiles of all ops are numbered through; a block, or cluster, takes every
  // tileStep-th.
  WalkState state = start;
  Value next = firstTile, begin = i32(0);
  for (const TileModel &tile : kernel.tiles) {
    Value end = add(begin, numGroups(tile));
    auto loop =
        scf::ForOp::create(b, loc, next, end, tileStep, pack(state, next));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value number = loop.getInductionVar();
      WalkState after =
          body(tile, sub(number, begin), unpack(loop.getRegionIterArgs()));
      scf::YieldOp::create(b, loc, pack(after, add(number, tileStep)));
    }
    state = unpack(loop.getResults());
    next = loop.getResult(9);
    begin = end;
  }
}

void KernelEmitter::emitPrologue() {
  MLIRContext *context = b.getContext();
  dynamicMemory = gpu::DynamicSharedMemoryOp::create(
      b, loc, sharedType({ShapedType::kDynamic}, b.getI8Type()));
  barrierType = nvgpu::MBarrierGroupType::get(context, workgroupSpace(context),
                                              schedule.getStages());
  full = nvgpu::MBarrierCreateOp::create(b, loc, barrierType);
  empty = nvgpu::MBarrierCreateOp::create(b, loc, barrierType);
  hasPrefetch =
      schedule.getPrefetch() != 0 && getPrefetchBytes(kernel, schedule) != 0;
  if (hasPrefetch) {
    auto type = nvgpu::MBarrierGroupType::get(
        context, workgroupSpace(context), getPrefetchBuffers(schedule));
    prefetchFull = nvgpu::MBarrierCreateOp::create(b, loc, type);
    prefetchEmpty = nvgpu::MBarrierCreateOp::create(b, loc, type);
  }
  bool pingpong = schedule.getPingpong();
  if (pingpong)
    turn = nvgpu::MBarrierCreateOp::create(
        b, loc,
        nvgpu::MBarrierGroupType::get(context, workgroupSpace(context),
                                      kConsumers));
  if (schedule.getOrdered())
    regionTurn = nvgpu::MBarrierCreateOp::create(
        b, loc,
        nvgpu::MBarrierGroupType::get(context, workgroupSpace(context),
                                      kConsumers));
  bool splits = schedule.getSplit() > 1;
  if (splits) {
    auto type = nvgpu::MBarrierGroupType::get(context, workgroupSpace(context),
                                              kConsumers);
    exchangeReady = nvgpu::MBarrierCreateOp::create(b, loc, type);
    exchangeFree = nvgpu::MBarrierCreateOp::create(b, loc, type);
  }
  dynamicAddress = toI32(
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, dynamicMemory));
  dynamicPointer = addressPointer(dynamicAddress);
  threadId = toI32(gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
  warpgroup = uniform(divU(threadId, i32(128)));
  warpgroupThread = remU(threadId, i32(128));
  blockId = toI32(gpu::BlockIdOp::create(b, loc, gpu::Dimension::x));
  gridSize = toI32(gpu::GridDimOp::create(b, loc, gpu::Dimension::x));
  // A cluster's blocks have neighbouring numbers.
  Value blocks = i32(getClusterBlocks(schedule));
  firstTile = divU(blockId, blocks);
  tileStep = divU(gridSize, blocks);
  slice = remU(blockId, blocks);
  // What a dim of one block does not change is known to be 0.
  ClusterShape cluster = schedule.getCluster();
  clusterRow = cluster.m == 1   ? i32(0)
               : cluster.n == 1 ? slice
                                : remU(slice, i32(cluster.m));
  clusterColumn = cluster.n == 1   ? i32(0)
                  : cluster.m == 1 ? slice
                                   : divU(slice, i32(cluster.m));
  isFirstThread = equal(threadId, i32(0));
  ifThen(isFirstThread, [&] {
    setUp = b.getInsertionBlock();
    for (int64_t s = 0; s < schedule.getStages(); ++s) {
      nvgpu::MBarrierInitOp::create(b, loc, full, index(1), index(s), Value());
      nvgpu::MBarrierInitOp::create(b, loc, empty,
                                    index((pingpong ? 1 : kConsumers) *
                                          getNumMates()),
                                    index(s), Value());
    }
    if (hasPrefetch)
      for (int64_t s = 0; s < getPrefetchBuffers(schedule); ++s)
        for (Value barriers : {prefetchFull, prefetchEmpty})
          nvgpu::MBarrierInitOp::create(b, loc, barriers, index(1), index(s),
                                        Value());
    for (Value turns : {turn, regionTurn})
      for (int64_t w = 0; turns && w < kConsumers; ++w)
        nvgpu::MBarrierInitOp::create(b, loc, turns, index(1), index(w),
                                      Value());
    if (splits)
      for (int64_t w = 0; w < kConsumers; ++w)
        for (Value barriers : {exchangeReady, exchangeFree})
          nvgpu::MBarrierInitOp::create(b, loc, barriers,
                                        index(schedule.getSplit()), index(w),
                                        Value());
    NVVM::FenceMbarrierInitOp::create(b, loc);
  });
  if (getClusterBlocks(schedule) > 1)
    clusterBarrier();
  else
    gpu::BarrierOp::create(b, loc);
  // What comes before needs nothing of the kernel before this one, and the one
  // after may begin as soon as this one's blocks do: it waits here itself.
  NVVM::GriddepcontrolOp::create(b, loc,
                                 NVVM::GridDepActionKind::launch_dependents);
  if (!loadsEarly())
    awaitKernelBefore();
}

/// Until what kernels before this one have written is there: all of them have
/// ended, as each of them waits for the one before it.
void KernelEmitter::awaitKernelBefore() {
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
}

gpu::GPUFuncOp KernelEmitter::emit(StringRef name) {
  OpBuilder::InsertionGuard guard(b);
  func = gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(kThreads), 1, 1}));
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                b.getI32IntegerAttr(1));
  b.setInsertionPointToStart(&func.getBody().front());
  emitPrologue();
  auto roles = scf::IfOp::create(b, loc, equal(warpgroup, i32(0)),
                                 /*withElseRegion=*/true);
  b.setInsertionPointToStart(roles.thenBlock());
  emitProducer();
  b.setInsertionPointToStart(roles.elseBlock());
  emitConsumers();
  b.setInsertionPointAfter(roles);
  if (getClusterBlocks(schedule) > 1)
    clusterBarrier();
  gpu::ReturnOp::create(b, loc);
  // Tensor maps lie in memory; the first use of one would wait for it.
  b.setInsertionPointToStart(setUp);
  for (auto [param, value] : llvm::zip(params, paramValues))
    if (param.kind == KernelParam::TensorMap)
      nvgpu::TmaPrefetchOp::create(
          b, loc,
          UnrealizedConversionCastOp::create(
              b, loc, tensorMapType(param.box, param.operand->element), value)
              .getResult(0),
          Value());

  SmallVector<Type> types(func.getBody().front().getArgumentTypes());
  func.setFunctionType(b.getFunctionType(types, {}));
  for (auto [i, param] : llvm::enumerate(params))
    if (param.kind == KernelParam::TensorMap)
      func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(64));
  return func;
}
