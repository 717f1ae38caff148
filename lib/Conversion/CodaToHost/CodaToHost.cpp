//===- CodaToHost.cpp - The C ABI around each entry -----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToHost/Entry.h"
#include "coda/Conversion/Passes.h"
#include "coda/Runtime/coda_runtime.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODATOHOST
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {

/// DLPack's code and width of a type that an entry may have.
std::pair<int64_t, int64_t> dlpackType(Type type) {
  if (type.isSignlessInteger(1))
    return {kDLBool, 8};
  int64_t code = type.isBF16()                 ? kDLBfloat
                 : isa<Float8E4M3FNType>(type) ? kDLFloat8_e4m3fn
                 : isa<Float8E5M2Type>(type)   ? kDLFloat8_e5m2
                 : isa<FloatType>(type)        ? kDLFloat
                                               : kDLInt;
  return {code, type.getIntOrFloatBitWidth()};
}

/// Builds the functions and tables of one module. The struct types are those
/// of coda_runtime.h and HostSupport.h.
class HostBuilder {
public:
  HostBuilder(ModuleOp module, StringRef cpu, int32_t cpuFeatures)
      : module(module), context(module.getContext()), loc(module.getLoc()),
        builder(context), typeConverter(context), cpu(cpu),
        cpuFeatures(cpuFeatures) {
    builder.setInsertionPointToEnd(module.getBody());
    ptr = LLVM::LLVMPointerType::get(context);
    i8 = builder.getIntegerType(8);
    i16 = builder.getIntegerType(16);
    i32 = builder.getI32Type();
    i64 = builder.getI64Type();
    auto type = structType({i8, i8, i16});
    dlTensor = structType(
        {ptr, structType({i32, i32}), i32, type, ptr, ptr, i64});
    argInfo = structType({ptr, type, i32, ptr, i32});
    entryInfo = structType({ptr, i32, i32, ptr, i32, ptr, ptr, ptr});
    hostEntry =
        structType({ptr, ptr, ptr, ptr, ptr, ptr, ptr, i32});
    moduleInfo = structType({i32, ptr, ptr, i32, ptr, ptr, ptr});
  }

  void addEntry(func::FuncOp func);
  void finish();

private:
  LLVM::LLVMStructType structType(ArrayRef<Type> members) {
    return LLVM::LLVMStructType::getLiteral(context, members);
  }
  Value intConstant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value null() { return LLVM::ZeroOp::create(builder, loc, ptr); }
  Value addressOf(StringRef symbol) {
    return symbol.empty() ? null()
                          : LLVM::AddressOfOp::create(builder, loc, ptr, symbol)
                                .getResult();
  }
  Value makeStruct(Type type, ValueRange members) {
    Value result = LLVM::PoisonOp::create(builder, loc, type);
    for (auto [index, member] : llvm::enumerate(members))
      result = LLVM::InsertValueOp::create(builder, loc, result, member, index);
    return result;
  }
  /// A constant with a value, or one that `init` builds inside of it.
  std::string makeConstant(StringRef name, Type type, Attribute value,
                           function_ref<Value()> init = {});
  std::string makeString(StringRef text);
  template <typename T> std::string makeInts(ArrayRef<T> values, Type element);
  std::string makePointers(ArrayRef<std::string> symbols);

  /// Replaces asserts by early returns of 1 + the index of the message, and
  /// the plain returns by 0.
  SmallVector<std::string> lowerAsserts(func::FuncOp func);
  /// `callee`'s leading memref arguments made from DLTensors.
  SmallVector<Value> unpack(func::FuncOp callee, Value args, int64_t count);
  /// An internal function of C type whose body is to be built, the builder
  /// inside of it.
  LLVM::LLVMFuncOp makeInternal(StringRef name, Type result,
                                ArrayRef<Type> inputs);
  void makeExport(StringRef name, StringRef support, StringRef table,
                  ArrayRef<Type> inputs);
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> inputs);

  ModuleOp module;
  MLIRContext *context;
  Location loc;
  OpBuilder builder;
  LLVMTypeConverter typeConverter;
  std::string cpu;
  int32_t cpuFeatures;
  Type ptr, i8, i16, i32, i64;
  LLVM::LLVMStructType dlTensor, argInfo, entryInfo, hostEntry, moduleInfo;
  int counter = 0;
  /// Builds the fields of each entry's coda_entry_info, inside the table.
  SmallVector<std::function<Value()>> infos;
};

std::string HostBuilder::makeConstant(StringRef name, Type type,
                                      Attribute value,
                                      function_ref<Value()> init) {
  std::string symbol =
      ("__coda_" + name + "_" + Twine(counter++)).str();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, symbol, value);
  if (init) {
    builder.createBlock(&global.getInitializerRegion());
    LLVM::ReturnOp::create(builder, loc, init());
  }
  return symbol;
}

std::string HostBuilder::makeString(StringRef text) {
  std::string terminated = text.str() + '\0';
  return makeConstant("text",
                      LLVM::LLVMArrayType::get(i8, terminated.size()),
                      builder.getStringAttr(terminated));
}

template <typename T>
std::string HostBuilder::makeInts(ArrayRef<T> values, Type element) {
  if (values.empty())
    return "";
  auto type = RankedTensorType::get({int64_t(values.size())}, element);
  return makeConstant("ints", LLVM::LLVMArrayType::get(element, values.size()),
                      DenseElementsAttr::get(type, values));
}

std::string HostBuilder::makePointers(ArrayRef<std::string> symbols) {
  if (symbols.empty())
    return "";
  auto type = LLVM::LLVMArrayType::get(ptr, symbols.size());
  return makeConstant("pointers", type, Attribute(), [&]() {
    SmallVector<Value> members;
    for (const std::string &symbol : symbols)
      members.push_back(addressOf(symbol));
    return makeStruct(type, members);
  });
}

SmallVector<std::string> HostBuilder::lowerAsserts(func::FuncOp func) {
  SmallVector<std::string> messages;
  SmallVector<cf::AssertOp> asserts;
  func.walk([&](cf::AssertOp op) { asserts.push_back(op); });
  OpBuilder at(context);
  func.walk([&](func::ReturnOp op) {
    at.setInsertionPoint(op);
    Value zero = arith::ConstantIntOp::create(at, op.getLoc(), i32, 0);
    func::ReturnOp::create(at, op.getLoc(), zero);
    op.erase();
  });
  llvm::StringMap<int64_t> known;
  SmallVector<Block *> failures;
  for (cf::AssertOp op : asserts) {
    auto [entry, isNew] =
        known.try_emplace(op.getMsg(), int64_t(messages.size()));
    if (isNew) {
      messages.push_back(op.getMsg().str());
      Block *block = &func.getBody().emplaceBlock();
      at.setInsertionPointToEnd(block);
      Value status = arith::ConstantIntOp::create(
          at, op.getLoc(), i32, int64_t(messages.size()));
      func::ReturnOp::create(at, op.getLoc(), status);
      failures.push_back(block);
    }
    Block *before = op->getBlock();
    Block *after = before->splitBlock(op->getNextNode());
    at.setInsertionPoint(op);
    cf::CondBranchOp::create(at, op.getLoc(), op.getArg(), after,
                             failures[entry->second]);
    op.erase();
  }
  func.setFunctionType(
      builder.getFunctionType(func.getArgumentTypes(), {i32}));
  return messages;
}

SmallVector<Value> HostBuilder::unpack(func::FuncOp callee, Value args,
                                       int64_t count) {
  SmallVector<Value> unpacked;
  for (int64_t i = 0; i < count; ++i) {
    auto type = cast<MemRefType>(callee.getArgumentTypes()[i]);
    auto field = [&](Value tensor, int64_t index, Type fieldType) -> Value {
      Value address = LLVM::GEPOp::create(
          builder, loc, ptr, dlTensor, tensor,
          ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(0), LLVM::GEPArg(int32_t(index))});
      return LLVM::LoadOp::create(builder, loc, fieldType, address);
    };
    Value slot = LLVM::GEPOp::create(builder, loc, ptr, ptr, args,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value tensor = LLVM::LoadOp::create(builder, loc, ptr, slot);
    Value data = LLVM::GEPOp::create(
        builder, loc, ptr, i8, field(tensor, 0, ptr),
        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(field(tensor, 6, i64))});
    auto descriptor = MemRefDescriptor::poison(
        builder, loc, typeConverter.convertType(type));
    descriptor.setAllocatedPtr(builder, loc, data);
    descriptor.setAlignedPtr(builder, loc, data);
    descriptor.setConstantOffset(builder, loc, 0);
    Value shape = field(tensor, 4, ptr);
    Value stride = intConstant(i64, 1);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      Value extent;
      if (type.isDynamicDim(dim)) {
        Value address = LLVM::GEPOp::create(
            builder, loc, ptr, i64, shape,
            ArrayRef<LLVM::GEPArg>{int32_t(dim)});
        extent = LLVM::LoadOp::create(builder, loc, i64, address);
      } else {
        extent = intConstant(i64, type.getDimSize(dim));
      }
      descriptor.setSize(builder, loc, dim, extent);
      descriptor.setStride(builder, loc, dim, stride);
      stride = LLVM::MulOp::create(builder, loc, stride, extent);
    }
    unpacked.push_back(UnrealizedConversionCastOp::create(
                           builder, loc, type, Value(descriptor))
                           .getResult(0));
  }
  return unpacked;
}

LLVM::LLVMFuncOp HostBuilder::makeInternal(StringRef name, Type result,
                                           ArrayRef<Type> inputs) {
  builder.setInsertionPointToEnd(module.getBody());
  auto func = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(result, inputs),
      LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(func.addEntryBlock(builder));
  return func;
}

LLVM::LLVMFuncOp HostBuilder::declare(StringRef name, Type result,
                                      ArrayRef<Type> inputs) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  return LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(result, inputs));
}

void HostBuilder::makeExport(StringRef name, StringRef support,
                             StringRef table, ArrayRef<Type> inputs) {
  SmallVector<Type> supportInputs{ptr};
  llvm::append_range(supportInputs, inputs);
  LLVM::LLVMFuncOp callee = declare(support, i32, supportInputs);
  LLVM::LLVMFuncOp exported = declare(name, i32, inputs);
  Block *block = exported.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> operands{addressOf(table)};
  llvm::append_range(operands, block->getArguments());
  auto call = LLVM::CallOp::create(builder, loc, callee, operands);
  LLVM::ReturnOp::create(builder, loc, call.getResult());
  builder.setInsertionPointToEnd(module.getBody());
}

void HostBuilder::addEntry(func::FuncOp func) {
  auto entry = func->getAttrOfType<DictionaryAttr>(kEntryAttr);
  std::string name = entry.getAs<StringAttr>("name").str();
  auto inputs = entry.getAs<ArrayAttr>("inputs");
  auto outputs = entry.getAs<ArrayAttr>("outputs");
  int32_t launches = entry.getAs<IntegerAttr>("launches").getInt();
  int64_t tensors = inputs.size() + outputs.size();
  auto internal = LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal);

  // The code proper, and its caller that unpacks the arguments.
  SmallVector<std::string> messages = lowerAsserts(func);
  func.setPrivate();
  func->setAttr("llvm.linkage", internal);
  std::string code = "__coda_code_" + name;
  std::string body = "__coda_body_" + name;
  func.setName(code);
  LLVM::LLVMFuncOp wrapper = makeInternal(body, i32, {ptr, ptr});
  SmallVector<Value> operands = unpack(func, wrapper.getArgument(0), tensors);
  auto bytes = cast<MemRefType>(func.getArgumentTypes().back());
  auto workspace = MemRefDescriptor::poison(builder, loc,
                                            typeConverter.convertType(bytes));
  workspace.setAllocatedPtr(builder, loc, wrapper.getArgument(1));
  workspace.setAlignedPtr(builder, loc, wrapper.getArgument(1));
  workspace.setConstantOffset(builder, loc, 0);
  workspace.setSize(builder, loc, 0, intConstant(i64, INT64_MAX));
  workspace.setConstantStride(builder, loc, 0, 1);
  operands.push_back(UnrealizedConversionCastOp::create(builder, loc, bytes,
                                                        Value(workspace))
                         .getResult(0));
  auto call = func::CallOp::create(builder, loc, func, operands);
  LLVM::ReturnOp::create(builder, loc, call.getResults());

  auto callOn = [&](StringAttr key, LLVM::LLVMFuncOp caller) {
    auto callee = module.lookupSymbol<func::FuncOp>(
        entry.getAs<FlatSymbolRefAttr>(key).getValue());
    callee->setAttr("llvm.linkage", internal);
    callee.setName(("__coda_" + key.getValue() + "_code_" + name).str());
    return func::CallOp::create(
        builder, loc, callee,
        unpack(callee, caller.getArgument(0), callee.getNumArguments()));
  };
  auto asI64 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, i64, value);
  };
  std::string workspaceName = "__coda_workspace_" + name;
  LLVM::LLVMFuncOp sizer = makeInternal(workspaceName, i64, {ptr});
  auto size = callOn(builder.getStringAttr("workspace"), sizer);
  LLVM::ReturnOp::create(builder, loc, asI64(size.getResult(0)));
  std::string inferName;
  if (entry.contains("infer")) {
    inferName = "__coda_infer_" + name;
    LLVM::LLVMFuncOp shaper = makeInternal(
        inferName, LLVM::LLVMVoidType::get(context), {ptr, ptr});
    auto extents = callOn(builder.getStringAttr("infer"), shaper);
    for (auto [index, extent] : llvm::enumerate(extents.getResults())) {
      Value address = LLVM::GEPOp::create(
          builder, loc, ptr, i64, shaper.getArgument(1),
          ArrayRef<LLVM::GEPArg>{int32_t(index)});
      LLVM::StoreOp::create(builder, loc, asI64(extent), address);
    }
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
  builder.setInsertionPointToEnd(module.getBody());

  // The description of the arguments.
  std::string nameText = makeString(name);
  SmallVector<std::string> argNames, argShapes;
  SmallVector<RankedTensorType> argTypes;
  auto describe = [&](ArrayAttr types, StringRef prefix) {
    for (auto [index, attr] : llvm::enumerate(types)) {
      auto type =
          cast<RankedTensorType>(cast<TypeAttr>(attr).getValue());
      SmallVector<int64_t> shape(type.getShape());
      for (int64_t &extent : shape)
        extent = ShapedType::isDynamic(extent) ? -1 : extent;
      argTypes.push_back(type);
      argNames.push_back(makeString((prefix + Twine(index)).str()));
      argShapes.push_back(makeInts<int64_t>(shape, i64));
    }
  };
  describe(inputs, "arg");
  describe(outputs, "out");
  auto argsType = LLVM::LLVMArrayType::get(argInfo, tensors);
  std::string args = makeConstant("args", argsType, Attribute(), [&]() {
    SmallVector<Value> members;
    for (int64_t i = 0; i < tensors; ++i) {
      auto [code, bits] = dlpackType(argTypes[i].getElementType());
      Value type = makeStruct(argInfo.getBody()[1],
                              {intConstant(i8, code), intConstant(i8, bits),
                               intConstant(i16, 1)});
      members.push_back(makeStruct(
          argInfo, {addressOf(argNames[i]), type,
                    intConstant(i32, argTypes[i].getRank()),
                    addressOf(argShapes[i]), intConstant(i32, -1)}));
    }
    return makeStruct(argsType, members);
  });
  auto makeInfo = [this, nameText, args, name, launches,
                   numInputs = inputs.size(), numOutputs = outputs.size()]() {
    return makeStruct(
        entryInfo,
        {addressOf(nameText), intConstant(i32, numInputs),
         intConstant(i32, numOutputs), addressOf(args),
         intConstant(i32, launches), addressOf("coda_" + name),
         addressOf("coda_" + name + "_workspace"),
         addressOf("coda_" + name + "_infer")});
  };
  infos.push_back(makeInfo);
  std::string info =
      makeConstant("info", entryInfo, Attribute(), makeInfo);

  for (std::string &message : messages)
    message = makeString(message);
  std::string asserts = makePointers(messages);
  std::string classes;
  if (auto extents = entry.getAs<DenseI32ArrayAttr>("extents"))
    classes = makeInts<int32_t>(extents.asArrayRef(), i32);
  std::string cpuText = makeString(cpu);
  std::string table =
      makeConstant("entry", hostEntry, Attribute(), [&]() {
        return makeStruct(
            hostEntry,
            {addressOf(info), addressOf(body), addressOf(workspaceName),
             addressOf(inferName), addressOf(classes), addressOf(asserts),
             addressOf(cpuText), intConstant(i32, cpuFeatures)});
      });
  makeExport("coda_" + name, "coda_host_call", table, {ptr, ptr, i32});
  makeExport("coda_" + name + "_workspace", "coda_host_workspace", table,
             {ptr, i32, ptr});
  makeExport("coda_" + name + "_infer", "coda_host_infer", table, {ptr, i32});
  func->removeAttr(kEntryAttr);
}

void HostBuilder::finish() {
  auto entriesType = LLVM::LLVMArrayType::get(entryInfo, infos.size());
  std::string entries =
      makeConstant("entries", entriesType, Attribute(), [&]() {
        SmallVector<Value> members;
        for (auto &info : infos)
          members.push_back(info());
        return makeStruct(entriesType, members);
      });
  declare("coda_host_last_error", ptr, {});
  // Where kernels were embedded there is a function that loads them.
  StringRef loader = "coda_gpu_load";
  bool device = module.lookupSymbol<LLVM::LLVMFuncOp>(loader) != nullptr;
  std::string target = makeString(device ? "sm_90a" : "cpu");
  std::string cpuText = makeString(cpu);
  std::string table = makeConstant("module", moduleInfo, Attribute(), [&]() {
    return makeStruct(moduleInfo,
                      {intConstant(i32, 1), addressOf(target),
                       addressOf(cpuText), intConstant(i32, infos.size()),
                       addressOf(entries), device ? addressOf(loader) : null(),
                       addressOf("coda_host_last_error")});
  });
  LLVM::LLVMFuncOp get = declare("coda_module_v1", ptr, {});
  builder.setInsertionPointToStart(get.addEntryBlock(builder));
  LLVM::ReturnOp::create(builder, loc, addressOf(table));
}

struct ToHost : public coda::impl::CodaToHostBase<ToHost> {
  using CodaToHostBase::CodaToHostBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(kEntryAttr))
        entries.push_back(func);
    if (entries.empty()) {
      module.emitError("no public function to export; make the function that "
                       "is to be called public");
      return signalPassFailure();
    }
    HostBuilder builder(module, cpu, cpuFeatures);
    for (func::FuncOp func : entries)
      builder.addEntry(func);
    builder.finish();
  }
};

} // namespace
