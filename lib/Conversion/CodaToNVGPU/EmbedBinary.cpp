//===- EmbedBinary.cpp - Kernel images into the host code -----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "Launcher.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUEMBEDBINARY
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

namespace {

/// Moves the image of the kernels into a global that their records point to.
struct GPUEmbedBinary
    : public coda_gpu::impl::GPUEmbedBinaryBase<GPUEmbedBinary> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto binary = module.lookupSymbol<gpu::BinaryOp>(kKernelsName);
    // An artifact without kernels, where nothing has an element, say, is one of
    // this target still.
    if (!binary)
      return createLoader(module, {});
    if (binary.getObjects().size() != 1) {
      binary.emitError("the kernels must be one object");
      return signalPassFailure();
    }
    std::string image = cast<gpu::ObjectAttr>(binary.getObjects()[0])
                            .getObject()
                            .getValue()
                            .str();
    // PTX is read up to its null character.
    image.push_back('\0');
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(module.getBody());
    StringRef imageName = "coda_gpu_image";
    auto global = LLVM::GlobalOp::create(
        builder, binary.getLoc(),
        LLVM::LLVMArrayType::get(builder.getI8Type(), image.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, imageName,
        builder.getStringAttr(image));
    global.setAlignment(16);
    Location loc = binary.getLoc();
    binary.erase();

    SmallVector<std::string> kernels;
    SmallVector<KernelLaunch> launches;
    std::string prefix = getHandleName("");
    for (LLVM::GlobalOp handle :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>())) {
      StringRef name = handle.getSymName();
      if (!name.consume_front(prefix))
        continue;
      kernels.push_back(name.str());
      KernelLaunch launch;
      handle.getInitializerRegion().walk([&](LLVM::InsertValueOp insert) {
        int64_t field = insert.getPosition().front();
        int64_t *fields[] = {&launch.sharedBytes, &launch.threads,
                             &launch.cluster, &launch.overlaps};
        if (field < 2 || field > 5)
          return;
        auto constant = insert.getValue().getDefiningOp<LLVM::ConstantOp>();
        *fields[field - 2] = cast<IntegerAttr>(constant.getValue()).getInt();
      });
      launches.push_back(launch);
      handle.erase();
    }
    for (auto [name, launch] : llvm::zip(kernels, launches))
      createHandle(builder, module, loc, name, imageName, launch);
    createLoader(module, kernels);
  }

  /// `int32_t coda_gpu_load(int32_t device)`: loads all kernels of the module.
  void createLoader(ModuleOp module, ArrayRef<std::string> kernels) {
    MLIRContext *context = &getContext();
    OpBuilder builder(context);
    builder.setInsertionPointToEnd(module.getBody());
    Location loc = module.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(context);
    Type i32 = builder.getI32Type();
    auto init = module.lookupSymbol<LLVM::LLVMFuncOp>("coda_gpu_init");
    if (!init)
      init = LLVM::LLVMFuncOp::create(
          builder, loc, "coda_gpu_init",
          LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32}));
    auto load = LLVM::LLVMFuncOp::create(
        builder, loc, kLoaderName, LLVM::LLVMFunctionType::get(i32, {i32}));
    Block *entry = load.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    auto constant = [&](int64_t v) -> Value {
      return LLVM::ConstantOp::create(builder, loc, i32,
                                      builder.getI32IntegerAttr(v));
    };
    Value records = LLVM::AllocaOp::create(builder, loc, pointer, pointer,
                                           constant(kernels.size()), 8);
    for (auto [i, name] : llvm::enumerate(kernels)) {
      Value at = LLVM::GEPOp::create(
          builder, loc, pointer, pointer, records,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      Value record = LLVM::AddressOfOp::create(builder, loc, pointer,
                                               getHandleName(name));
      LLVM::StoreOp::create(builder, loc, record, at);
    }
    auto call = LLVM::CallOp::create(
        builder, loc, init,
        ValueRange{records, constant(kernels.size()), entry->getArgument(0)});
    LLVM::ReturnOp::create(builder, loc, call.getResult());
  }
};

} // namespace
