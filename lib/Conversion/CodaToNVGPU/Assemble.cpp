//===- Assemble.cpp - PTX to machine code ---------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"
#include "coda/Target/Ptxas.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUASSEMBLE
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

namespace {

struct GPUAssemble : public coda_gpu::impl::GPUAssembleBase<GPUAssemble> {
  using GPUAssembleBase::GPUAssembleBase;

  void runOnOperation() override {
    std::string path = findPtxas(ptxas);
    WalkResult result = getOperation().walk([&](gpu::BinaryOp binary) {
      if (path.empty()) {
        binary.emitError("no assembler for the kernel: ptxas ")
            << (ptxas.empty() ? std::string("is not on PATH")
                              : "is not at '" + ptxas + "'")
            << "; install it, or stop at PTX";
        return WalkResult::interrupt();
      }
      return failed(assemble(binary, path)) ? WalkResult::interrupt()
                                            : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult assemble(gpu::BinaryOp binary, StringRef path) {
    SmallVector<Attribute> objects, changed;
    for (Attribute attr : binary.getObjects()) {
      auto object = cast<gpu::ObjectAttr>(attr);
      auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
      if (!target || object.getFormat() != gpu::CompilationTarget::Assembly) {
        objects.push_back(object);
        continue;
      }
      PtxasReport report;
      std::string error;
      FailureOr<std::string> cubin = assemblePtx(
          object.getObject().getValue(), target.getChip(), path, report, error,
          lineInfo);
      if (failed(cubin))
        return binary.emitError(error);
      // Such a kernel is right, but slower than its schedule promises.
      if (!report.isClean()) {
        auto diag = binary.emitRemark("the assembler changed the kernel: ");
        if (report.serialized)
          diag << "WGMMA instructions were serialised; ";
        diag << report.spillStoreBytes << " bytes of spill stores, "
             << report.spillLoadBytes << " of spill loads in "
             << llvm::join(llvm::make_first_range(report.changed), ", ");
      }
      Builder builder(&getContext());
      for (const auto &[name, bytes] : report.changed)
        changed.push_back(builder.getDictionaryAttr(
            {builder.getNamedAttr("kernel", builder.getStringAttr(name)),
             builder.getNamedAttr("spills", builder.getI64IntegerAttr(bytes))}));
      objects.push_back(
          keepPtx ? object
                  : gpu::ObjectAttr::get(
                        &getContext(), object.getTarget(),
                        gpu::CompilationTarget::Binary,
                        StringAttr::get(&getContext(), *cubin),
                        object.getProperties(), object.getKernels()));
    }
    binary.setObjectsAttr(ArrayAttr::get(&getContext(), objects));
    if (!changed.empty())
      binary->setAttr(kChangedKernelsAttrName,
                      ArrayAttr::get(&getContext(), changed));
    return success();
  }
};

} // namespace
