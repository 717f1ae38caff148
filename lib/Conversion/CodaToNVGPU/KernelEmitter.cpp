//===- KernelEmitter.cpp - Roles, ring and main loop of a kernel ----------===//
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

//===----------------------------------------------------------------------===//
// Parameters and shared memory
//===----------------------------------------------------------------------===//

static Attribute workgroupSpace(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
}

static MemRefType sharedType(ArrayRef<int64_t> shape, Type element) {
  return MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                         workgroupSpace(element.getContext()));
}

static Type tensorMapType(ArrayRef<int64_t> box, Type element) {
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

Value KernelEmitter::tensorMap(const OperandModel &operand,
                               ArrayRef<int64_t> box) {
  Value map;
  for (auto [param, value] : llvm::zip(params, paramValues))
    if (param.kind == KernelParam::TensorMap &&
        param.operand->memref == operand.memref &&
        param.operand->dims == operand.dims &&
        ArrayRef<int64_t>(param.box) == box)
      map = value;
  if (!map)
    map = addParam({KernelParam::TensorMap, &operand, llvm::to_vector(box)},
                   LLVM::LLVMPointerType::get(b.getContext()));
  return UnrealizedConversionCastOp::create(
             b, loc, tensorMapType(box, operand.element), map)
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
    for (const OperandModel &rhs : phase.rhs)
      look(rhs);
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
  Value next = add(at.stage, i32(1));
  Value wraps = equal(next, i32(schedule.getStages()));
  return {select(wraps, i32(0), next),
          select(wraps, bitXor(at.parity, i1(true)), at.parity)};
}

/// Time limit of one try of a barrier wait, in ns; the wait repeats.
static constexpr int64_t kWaitTicks = 10000000;

void KernelEmitter::waitFull(RingPosition at) {
  nvgpu::MBarrierTryWaitParityOp::create(b, loc, full, at.parity,
                                         index(kWaitTicks), toIndex(at.stage));
}

void KernelEmitter::waitEmpty(RingPosition at) {
  nvgpu::MBarrierTryWaitParityOp::create(b, loc, empty, at.parity,
                                         index(kWaitTicks), toIndex(at.stage));
}

void KernelEmitter::release(Value stage) {
  ifThen(isLeader, [&] {
    nvgpu::MBarrierArriveOp::create(
        b, loc, nvgpu::MBarrierTokenType::get(b.getContext()), empty,
        toIndex(stage));
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
  Value tiles = ceilDivU(extent(tile, tile.innerM), kTileRows);
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

Value KernelEmitter::numTiles(const TileModel &tile) {
  return mul(numRowTiles(tile),
             ceilDivU(numColumns(tile), getTilePoints(tile, schedule)));
}

Value KernelEmitter::numBlocks(const TileModel &tile, const Phase &phase) {
  Value blocks = ceilDivU(extent(tile, phase.k.back()), kBlockK);
  for (unsigned d : ArrayRef(phase.k).drop_back())
    blocks = mul(blocks, extent(tile, d));
  return blocks;
}

TileCoords KernelEmitter::tileCoords(const TileModel &tile, Value number) {
  // `raster` row tiles walk over the columns together, so that the blocks that
  // run at one time share both factors in L2.
  int64_t points = getTilePoints(tile, schedule);
  Value rowTiles = numRowTiles(tile);
  Value columnTiles = ceilDivU(numColumns(tile), points);
  Value raster = i32(schedule.getRaster());
  Value groupSize = mul(raster, columnTiles);
  Value group = divU(number, groupSize);
  Value rest = remU(number, groupSize);
  Value first = mul(group, raster);
  Value rows = minU(sub(rowTiles, first), raster);
  Value rowTile = add(first, remU(rest, rows));
  TileCoords at;
  at.column = mul(divU(rest, rows), i32(points));
  at.coords.assign(tile.dims.size(), Value());
  Value inner = rowTile;
  if (!tile.outerM.empty()) {
    Value innerTiles = ceilDivU(extent(tile, tile.innerM), kTileRows);
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
  at.coords[tile.innerM] = mul(inner, i32(kTileRows));
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
    coords[inner] = mul(rest, i32(kBlockK));
    return;
  }
  Value innerBlocks = ceilDivU(extent(tile, inner), kBlockK);
  coords[inner] = mul(remU(rest, innerBlocks), i32(kBlockK));
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
// Loads
//===----------------------------------------------------------------------===//

SmallVector<int64_t> KernelEmitter::boxOf(const OperandModel &operand,
                                          unsigned dim, int64_t rows,
                                          int64_t inner) {
  SmallVector<int64_t> box(operand.dims.size(), 1);
  int position = operand.find(dim);
  if (position >= 0)
    box[position] = rows;
  box.back() = inner;
  return box;
}

/// Coordinates in the order of the hardware: innermost first.
SmallVector<Value> KernelEmitter::tensorCoords(const OperandModel &operand,
                                               ArrayRef<Value> coords) {
  SmallVector<Value> result;
  for (unsigned d : llvm::reverse(operand.dims))
    result.push_back(toIndex(coords[d]));
  return result;
}

void KernelEmitter::load(const OperandModel &operand, ArrayRef<int64_t> box,
                         ArrayRef<Value> coords, RingPosition at,
                         Value byteOffset) {
  Value map = tensorMap(operand, box);
  nvgpu::TmaAsyncLoadOp::create(
      b, loc, view(byteOffset, box, operand.element), full, map,
      tensorCoords(operand, coords), toIndex(at.stage),
      /*multicastMask=*/Value(), /*predicate=*/Value());
}

/// Issues the loads of one k block: the left factor's 128 rows, then per
/// accumulator slice the right factor's rows.
void KernelEmitter::loadBlock(const TileModel &tile, const Phase &phase,
                              const TileCoords &tileAt, Value block,
                              RingPosition at) {
  int64_t points = getTilePoints(tile, schedule);
  Value base = mul(at.stage, i32(stageBytes));
  SmallVector<Value> coords = chunkCoords(tile, tileAt, tileAt.column);
  setBlockCoords(tile, phase, block, coords);
  for (unsigned d : tile.uDims)
    coords[d] = i32(0);

  if (phase.lhsKMajor) {
    load(phase.lhs, boxOf(phase.lhs, tile.innerM, kTileRows, kBlockK), coords,
         at, base);
  } else {
    for (int64_t half = 0; half < 2; ++half) {
      SmallVector<Value> there = coords;
      there[tile.innerM] = add(coords[tile.innerM], i32(half * kChunk));
      load(phase.lhs, boxOf(phase.lhs, phase.k.back(), kBlockK, kChunk), there,
           at, add(base, i32(half * kChunk * kBlockK * 2)));
    }
  }

  int64_t offset = kTileRows * kBlockK * 2;
  for (const ColumnGroup &group : tile.groups) {
    const OperandModel &rhs = phase.rhs[group.accumulator];
    SmallVector<Value> there = coords;
    for (unsigned d : tile.uDims)
      there[d] = i32(group.u[d]);
    // One box for all points where they lie in one run of rows, else one per
    // 64 columns.
    int64_t inner = tile.dims[tile.innerN].extent;
    bool oneBox = phase.rhsKMajor && tile.outerN.empty();
    SmallVector<int64_t> box = boxOf(rhs, tile.innerN, points, kBlockK);
    if (phase.rhsKMajor && !tile.outerN.empty()) {
      unsigned outer = tile.outerN.back();
      int outerAt = rhs.find(outer), innerAt = rhs.find(tile.innerN);
      int64_t outerExtent = tile.dims[outer].extent;
      if (points <= inner && inner % points == 0) {
        oneBox = true;
      } else if (points % inner == 0 && outerAt < innerAt &&
                 (tile.outerN.size() == 1 ||
                  outerExtent % (points / inner) == 0)) {
        oneBox = true;
        box[innerAt] = inner;
        box[outerAt] = points / inner;
      }
    }
    if (oneBox) {
      load(rhs, box, there, at, add(base, i32(offset)));
      offset += points * kBlockK * 2;
      continue;
    }
    for (int64_t chunk = 0; chunk < points / kChunk; ++chunk) {
      SmallVector<Value> chunkAt = chunkCoords(
          tile, tileAt, add(tileAt.column, i32(chunk * kChunk)));
      for (unsigned d : tile.outerN)
        there[d] = chunkAt[d];
      there[tile.innerN] = chunkAt[tile.innerN];
      SmallVector<int64_t> chunkBox =
          phase.rhsKMajor ? boxOf(rhs, tile.innerN, kChunk, kBlockK)
                          : boxOf(rhs, phase.k.back(), kBlockK, kChunk);
      load(rhs, chunkBox, there, at, add(base, i32(offset)));
      offset += kChunk * kBlockK * 2;
    }
  }
}

RingPosition KernelEmitter::produceTile(const TileModel &tile, Value number,
                                        RingPosition at) {
  TileCoords tileAt = tileCoords(tile, number);
  int64_t points = getTilePoints(tile, schedule);
  int64_t blockBytes =
      (kTileRows + points * tile.getNumGroups()) * kBlockK * 2;
  for (const Phase &phase : tile.phases) {
    auto loop = scf::ForOp::create(b, loc, i32(0), numBlocks(tile, phase),
                                   i32(1), ValueRange{at.stage, at.parity});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      RingPosition here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      waitEmpty(here);
      nvgpu::MBarrierArriveExpectTxOp::create(
          b, loc, full, index(blockBytes), toIndex(here.stage), Value());
      loadBlock(tile, phase, tileAt, loop.getInductionVar(), here);
      RingPosition next = advance(here);
      scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
    }
    at = {loop.getResult(0), loop.getResult(1)};
  }

  // Loaded tiles follow in the order in which the region consumes them.
  struct Box {
    const InputModel *input;
    int64_t point, chunk;
  };
  SmallVector<Box> boxes;
  for (int64_t chunk = 0; chunk < points / kChunk; ++chunk)
    for (const InputModel &input : tile.inputs)
      if (input.path == LoadPath::Ring)
        for (int64_t point = 0; point < input.points; ++point)
          boxes.push_back({&input, point, chunk});
  size_t perStage = stageBytes / kAuxBoxBytes;
  for (ArrayRef<Box> rest = boxes; !rest.empty();
       rest = rest.drop_front(std::min(perStage, rest.size()))) {
    ArrayRef<Box> now = rest.take_front(perStage);
    waitEmpty(at);
    nvgpu::MBarrierArriveExpectTxOp::create(b, loc, full,
                                            index(now.size() * kAuxBoxBytes),
                                            toIndex(at.stage), Value());
    Value base = mul(at.stage, i32(stageBytes));
    for (auto [i, box] : llvm::enumerate(now)) {
      SmallVector<Value> coords = chunkCoords(
          tile, tileAt, add(tileAt.column, i32(box.chunk * kChunk)));
      int64_t restPoint = box.point;
      for (unsigned d : llvm::reverse(box.input->uDims)) {
        coords[d] = i32(restPoint % tile.dims[d].extent);
        restPoint /= tile.dims[d].extent;
      }
      load(*box.input, boxOf(*box.input, tile.innerM, kTileRows, kChunk),
           coords, at, add(base, i32(i * kAuxBoxBytes)));
    }
    at = advance(at);
  }
  return at;
}

//===----------------------------------------------------------------------===//
// The main loop of the consumers
//===----------------------------------------------------------------------===//

Value KernelEmitter::multiplyBlock(const TileModel &tile, const Phase &phase,
                                   RingPosition at, Value accumulator,
                                   bool first) {
  int64_t points = getTilePoints(tile, schedule);
  int64_t columns = points * tile.getNumGroups();
  Type element = tile.factorType;
  auto descriptor = [&](Value offset, int64_t rows) {
    SmallVector<int64_t> shape{rows, kBlockK};
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
  Value a = descriptor(add(base, mul(consumer, i32(kChunk * kBlockK * 2))), 64);
  Value w = descriptor(add(base, i32(kTileRows * kBlockK * 2)),
                       phase.rhsKMajor ? columns : 64);
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  auto type =
      element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  auto shape = NVVM::MMAShapeAttr::get(b.getContext(), 64, columns, 16);
  // 16 of k: 32 bytes along K-major rows, 16 rows of 128 bytes else; a
  // descriptor counts in 16 bytes.
  int64_t stepA = phase.lhsKMajor ? 2 : 128;
  int64_t stepW = phase.rhsKMajor ? 2 : 128;
  for (int64_t k = 0; k < kBlockK / 16; ++k) {
    accumulator = NVVM::WgmmaMmaAsyncOp::create(
        b, loc, accumulator.getType(), accumulator, add(a, i64(k * stepA)),
        add(w, i64(k * stepW)), shape, type, type, NVVM::WGMMATypes::f32,
        first && k == 0 ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one,
        NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
        phase.lhsKMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        phase.rhsKMajor ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::MMAIntOverflowAttr());
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  return accumulator;
}

/// Multiplies all k blocks of a tile; at most one group of WGMMA is in flight
/// while the next is issued. The elements of the accumulators come out of the
/// last wait itself, so that no read can move above it.
RingPosition KernelEmitter::multiply(const TileModel &tile, RingPosition at,
                                     SmallVectorImpl<Value> &accumulators) {
  int64_t count = getTilePoints(tile, schedule) * tile.getNumGroups() / 2;
  Type f32 = b.getF32Type();
  Type type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, f32));
  Value accumulator = LLVM::UndefOp::create(b, loc, type);

  waitFull(at);
  accumulator =
      multiplyBlock(tile, tile.phases.front(), at, accumulator, /*first=*/true);
  Value previous = at.stage;
  at = advance(at);
  for (auto [p, phase] : llvm::enumerate(tile.phases)) {
    auto loop = scf::ForOp::create(
        b, loc, i32(p == 0 ? 1 : 0), numBlocks(tile, phase), i32(1),
        ValueRange{at.stage, at.parity, previous, accumulator});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      RingPosition here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      waitFull(here);
      Value next = multiplyBlock(tile, phase, here, loop.getRegionIterArg(3),
                                 /*first=*/false);
      NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 1);
      release(loop.getRegionIterArg(2));
      RingPosition after = advance(here);
      scf::YieldOp::create(
          b, loc, ValueRange{after.stage, after.parity, here.stage, next});
    }
    at = {loop.getResult(0), loop.getResult(1)};
    previous = loop.getResult(2);
    accumulator = loop.getResult(3);
  }

  SmallVector<Value> elements;
  std::string constraints;
  for (int64_t i = 0; i < count; ++i) {
    elements.push_back(LLVM::ExtractValueOp::create(b, loc, accumulator, i));
    constraints += "=f,";
  }
  for (int64_t i = 0; i < count; ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  auto wait = LLVM::InlineAsmOp::create(
      b, loc, type, elements, "wgmma.wait_group.sync.aligned 0;", constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  release(previous);
  for (int64_t i = 0; i < count; ++i)
    accumulators.push_back(
        LLVM::ExtractValueOp::create(b, loc, wait.getResult(0), i));
  return at;
}

RingPosition KernelEmitter::consumeTile(const TileModel &tile, Value number,
                                        RingPosition at) {
  TileCoords tileAt = tileCoords(tile, number);
  EpilogueEmitter epilogue(*this, tile, tileAt);
  epilogue.loadRows();
  SmallVector<Value> accumulators;
  if (!tile.phases.empty())
    at = multiply(tile, at, accumulators);
  return epilogue.run(accumulators, at);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void KernelEmitter::forTiles(
    RingPosition start,
    llvm::function_ref<RingPosition(const TileModel &, Value, RingPosition)>
        body) {
  // Tiles of all ops are numbered through; a block takes every gridSize-th.
  RingPosition at = start;
  Value next = blockId, begin = i32(0);
  for (const TileModel &tile : kernel.tiles) {
    Value end = add(begin, numTiles(tile));
    auto loop = scf::ForOp::create(b, loc, next, end, gridSize,
                                   ValueRange{at.stage, at.parity, next});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value number = loop.getInductionVar();
      RingPosition here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      RingPosition after = body(tile, sub(number, begin), here);
      scf::YieldOp::create(b, loc,
                           ValueRange{after.stage, after.parity,
                                      add(number, gridSize)});
    }
    at = {loop.getResult(0), loop.getResult(1)};
    next = loop.getResult(2);
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
  Value address = toI32(
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, dynamicMemory));
  dynamicPointer = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(context, 3), address);
  threadId = toI32(gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
  // Uniform over a warp, and known to be so.
  warpgroup = NVVM::ShflOp::create(b, loc, b.getI32Type(), i32(-1),
                                   divU(threadId, i32(128)), i32(0), i32(31),
                                   NVVM::ShflKind::idx, UnitAttr());
  warpgroupThread = remU(threadId, i32(128));
  blockId = toI32(gpu::BlockIdOp::create(b, loc, gpu::Dimension::x));
  gridSize = toI32(gpu::GridDimOp::create(b, loc, gpu::Dimension::x));
  isFirstThread = equal(threadId, i32(0));
  ifThen(isFirstThread, [&] {
    for (int64_t s = 0; s < schedule.getStages(); ++s) {
      nvgpu::MBarrierInitOp::create(b, loc, full, index(1), index(s), Value());
      nvgpu::MBarrierInitOp::create(b, loc, empty, index(2), index(s), Value());
    }
    NVVM::FenceMbarrierInitOp::create(b, loc);
  });
  gpu::BarrierOp::create(b, loc);
}

void KernelEmitter::emitProducer() {
  NVVM::SetMaxRegisterOp::create(b, loc, 40,
                                 NVVM::SetMaxRegisterAction::decrease);
  ifThen(isFirstThread, [&] {
    forTiles({i32(0), i1(true)},
             [&](const TileModel &tile, Value number, RingPosition at) {
               return produceTile(tile, number, at);
             });
  });
}

void KernelEmitter::emitConsumers() {
  NVVM::SetMaxRegisterOp::create(b, loc, 232,
                                 NVVM::SetMaxRegisterAction::increase);
  consumer = sub(warpgroup, i32(1));
  warp = divU(warpgroupThread, i32(32));
  lane = remU(warpgroupThread, i32(32));
  isLeader = equal(warpgroupThread, i32(0));
  forTiles({i32(0), i1(false)},
           [&](const TileModel &tile, Value number, RingPosition at) {
             return consumeTile(tile, number, at);
           });
  ifThen(isLeader, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, 0, UnitAttr());
  });
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
  gpu::ReturnOp::create(b, loc);

  SmallVector<Type> types(func.getBody().front().getArgumentTypes());
  func.setFunctionType(b.getFunctionType(types, {}));
  for (auto [i, param] : llvm::enumerate(params))
    if (param.kind == KernelParam::TensorMap)
      func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(64));
  return func;
}
