//===- Launcher.cpp - Host side of a kernel -------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::coda_gpu;

/// Devices that one process can use a kernel on.
static constexpr int64_t kMaxDevices = 16;

std::string coda_gpu::getHandleName(StringRef name) {
  return ("coda_gpu_kernel_" + name).str();
}

Type coda_gpu::getHandleType(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = IntegerType::get(context, 32);
  return LLVM::LLVMStructType::getLiteral(
      context, {pointer, pointer, i32, i32, i32, i32,
                LLVM::LLVMArrayType::get(i32, kMaxDevices),
                LLVM::LLVMArrayType::get(pointer, kMaxDevices)});
}

LLVM::GlobalOp coda_gpu::createHandle(OpBuilder &builder, ModuleOp module,
                                      Location loc, StringRef name,
                                      StringRef image, KernelLaunch launch) {
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  builder.setInsertionPointToStart(module.getBody());
  std::string text = name.str();
  text.push_back('\0');
  std::string textName = ("coda_gpu_name_" + name).str();
  if (!module.lookupSymbol(textName))
    LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, textName,
        builder.getStringAttr(text));
  Type type = getHandleType(context);
  auto handle =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                             LLVM::Linkage::Internal, getHandleName(name),
                             Attribute());
  Block *block = builder.createBlock(&handle.getInitializerRegion());
  builder.setInsertionPointToStart(block);
  Type pointer = LLVM::LLVMPointerType::get(context);
  Value record = LLVM::ZeroOp::create(builder, loc, type);
  if (!image.empty())
    record = LLVM::InsertValueOp::create(
        builder, loc, record,
        LLVM::AddressOfOp::create(builder, loc, pointer, image),
        ArrayRef<int64_t>{0});
  record = LLVM::InsertValueOp::create(
      builder, loc, record,
      LLVM::AddressOfOp::create(builder, loc, pointer, textName),
      ArrayRef<int64_t>{1});
  auto i32 = [&](int64_t v) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                    builder.getI32IntegerAttr(v));
  };
  int64_t field = 2;
  for (int64_t value : {launch.sharedBytes, launch.threads, launch.cluster,
                        launch.overlaps})
    record = LLVM::InsertValueOp::create(builder, loc, record, i32(value),
                                         ArrayRef<int64_t>{field++});
  LLVM::ReturnOp::create(builder, loc, record);
  return handle;
}

namespace {

/// Emits the host code of one launch.
class LaunchEmitter {
public:
  LaunchEmitter(OpBuilder &b, ModuleOp module, Location loc,
                int64_t sector = 0)
      : b(b), module(module), loc(loc), sector(sector),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  void emit(StringRef kernel, ArrayRef<KernelParam> params);
  void emitLoops(StringRef kernel, Value points, ValueRange arguments);

private:
  struct Metadata {
    Value base, offset;
    /// `base` and `offset` together.
    Value address;
    SmallVector<Value> sizes, strides;
  };
  Metadata &metadataOf(Value memref);
  Value i64(int64_t v) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
  }
  Value i32(int64_t v) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(v));
  }
  Value toI64(Value v) {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
  }
  Value sizeOf(const OperandModel &operand, unsigned dim);
  Value strideOf(const OperandModel &operand, unsigned dim);
  /// An array on the stack.
  Value array(ArrayRef<Value> values, Type type);
  Value slot(Type type, int64_t count, int64_t align);
  void call(StringRef name, ValueRange arguments);
  Value tensorMap(Value handle, const KernelParam &param);

  OpBuilder &b;
  ModuleOp module;
  Location loc;
  /// Bytes that a read of the copy engine brings into L2.
  int64_t sector;
  Type pointer;
  llvm::DenseMap<Value, Metadata> metadata;
};

} // namespace

LaunchEmitter::Metadata &LaunchEmitter::metadataOf(Value memref) {
  auto it = metadata.find(memref);
  if (it != metadata.end())
    return it->second;
  auto type = cast<MemRefType>(memref.getType());
  auto strided = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Metadata data;
  for (Value size : strided.getSizes())
    data.sizes.push_back(toI64(size));
  for (Value stride : strided.getStrides())
    data.strides.push_back(toI64(stride));
  Value base = toI64(
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref));
  Value width =
      i64(std::max<int64_t>(1, type.getElementTypeBitWidth() / 8));
  data.base = LLVM::IntToPtrOp::create(b, loc, pointer, base);
  data.offset = toI64(strided.getOffset());
  Value bytes = arith::MulIOp::create(b, loc, data.offset, width);
  Value address = arith::AddIOp::create(b, loc, base, bytes);
  data.address = LLVM::IntToPtrOp::create(b, loc, pointer, address);
  return metadata[memref] = data;
}

Value LaunchEmitter::sizeOf(const OperandModel &operand, unsigned dim) {
  Metadata &data = metadataOf(operand.memref);
  Value size;
  for (unsigned position : operand.positions[dim])
    size = size ? Value(arith::MulIOp::create(b, loc, size,
                                              data.sizes[position]))
                : data.sizes[position];
  return size;
}

Value LaunchEmitter::strideOf(const OperandModel &operand, unsigned dim) {
  return metadataOf(operand.memref).strides[operand.positions[dim].back()];
}

Value LaunchEmitter::slot(Type type, int64_t count, int64_t align) {
  return LLVM::AllocaOp::create(b, loc, pointer, type, i32(count), align);
}

Value LaunchEmitter::array(ArrayRef<Value> values, Type type) {
  Value result = slot(type, values.size(), 8);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value at = LLVM::GEPOp::create(
        b, loc, pointer, type, result,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(b, loc, value, at);
  }
  return result;
}

void LaunchEmitter::call(StringRef name, ValueRange arguments) {
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::LLVMFuncOp::create(
        b, loc, name,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                    llvm::to_vector(arguments.getTypes())));
  }
  LLVM::CallOp::create(b, loc, TypeRange(), name, arguments);
}

/// CUtensorMapDataType of an element type that ModelBuilder lets through.
static int64_t getTensorMapType(Type type) {
  if (type.getIntOrFloatBitWidth() == 8)
    return 0; // bytes
  if (type.isF16())
    return 6;
  if (type.isF32())
    return 7;
  return 9;
}

Value LaunchEmitter::tensorMap(Value handle, const KernelParam &param) {
  const OperandModel &operand = *param.operand;
  SmallVector<Value> sizes, strides, box;
  for (unsigned i = 0; i < operand.dims.size(); ++i) {
    sizes.push_back(sizeOf(operand, i));
    strides.push_back(strideOf(operand, i));
    box.push_back(i32(param.box[i]));
  }
  Value map = slot(b.getI8Type(), 128, 64);
  call("coda_gpu_tensor_map",
       {handle, map, metadataOf(operand.memref).address,
        i32(getTensorMapType(operand.element)), i32(operand.dims.size()),
        array(sizes, b.getI64Type()), array(strides, b.getI64Type()),
        array(box, b.getI32Type()), i32(sector)});
  return map;
}

void LaunchEmitter::emit(StringRef kernel, ArrayRef<KernelParam> params) {
  SmallVector<Value> addresses;
  Value handle =
      LLVM::AddressOfOp::create(b, loc, pointer, getHandleName(kernel));
  for (const KernelParam &param : params) {
    switch (param.kind) {
    case KernelParam::TensorMap:
      addresses.push_back(tensorMap(handle, param));
      break;
    case KernelParam::Pointer: {
      Value address = metadataOf(param.operand->memref).address;
      // That it is aligned to its element the host code has checked.
      if (param.alignment * 8 >
          param.operand->element.getIntOrFloatBitWidth())
        call("coda_gpu_address", {handle, address, i64(param.alignment)});
      addresses.push_back(array(address, pointer));
      break;
    }
    case KernelParam::Extent: {
      Value size = sizeOf(*param.operand, param.dim);
      call("coda_gpu_extent", {handle, size});
      addresses.push_back(array(
          arith::TruncIOp::create(b, loc, b.getI32Type(), size).getResult(),
          b.getI32Type()));
      break;
    }
    case KernelParam::Stride:
      addresses.push_back(
          array(strideOf(*param.operand, param.dim), b.getI64Type()));
      break;
    }
  }
  for (const KernelParam &param : params)
    if (param.loadsEarly)
      call("coda_gpu_loads_early", metadataOf(param.operand->memref).address);
  call("coda_gpu_launch", {handle, array(addresses, pointer)});
}

void LaunchEmitter::emitLoops(StringRef kernel, Value points,
                              ValueRange arguments) {
  // Launches stand in loops, too, where an entry's stack would grow.
  Value stack = LLVM::StackSaveOp::create(b, loc, pointer);
  SmallVector<Value> addresses;
  auto add = [&](Value value) {
    addresses.push_back(array(value, value.getType()));
  };
  for (Value argument : arguments) {
    if (argument.getType().isIndex()) {
      add(toI64(argument));
      continue;
    }
    if (!isa<MemRefType>(argument.getType())) {
      add(argument);
      continue;
    }
    Metadata &data = metadataOf(argument);
    add(data.base); // what was allocated; no kernel reads it
    add(data.base);
    add(data.offset);
    llvm::for_each(data.sizes, add);
    llvm::for_each(data.strides, add);
  }
  Value handle =
      LLVM::AddressOfOp::create(b, loc, pointer, getHandleName(kernel));
  // An array of no parameters is one of one null pointer.
  if (addresses.empty())
    addresses.push_back(LLVM::ZeroOp::create(b, loc, pointer));
  call("coda_gpu_launch_points",
       {handle, toI64(points), array(addresses, pointer)});
  LLVM::StackRestoreOp::create(b, loc, stack);
}

void coda_gpu::emitLoopLaunch(OpBuilder &builder, ModuleOp module,
                              Location loc, StringRef kernel, Value points,
                              ValueRange arguments) {
  LaunchEmitter(builder, module, loc).emitLoops(kernel, points, arguments);
}

void coda_gpu::emitLaunch(OpBuilder &builder, ModuleOp module, Location loc,
                          StringRef kernel, ArrayRef<KernelParam> params,
                          int64_t sector) {
  LaunchEmitter(builder, module, loc, sector).emit(kernel, params);
}
