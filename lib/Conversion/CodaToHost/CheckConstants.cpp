//===- CheckConstants.cpp - No data hidden in an artifact -----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODACHECKCONSTANTS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

struct CheckConstants
    : public coda::impl::CodaCheckConstantsBase<CheckConstants> {
  using CodaCheckConstantsBase::CodaCheckConstantsBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](arith::ConstantOp op) {
      auto elements = dyn_cast<ElementsAttr>(op.getValue());
      if (!elements || elements.isSplat() || op->use_empty())
        return WalkResult::advance();
      Type element = elements.getElementType();
      int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
      int64_t bytes =
          elements.getNumElements() * llvm::divideCeil(bits, int64_t(8));
      if (bytes <= maxBytes)
        return WalkResult::advance();
      op.emitError("a constant of ")
          << bytes << " bytes (" << elements.getShapedType()
          << "): an artifact holds code, and constants of up to "
          << int64_t(maxBytes)
          << " bytes; pass the tensor as an argument of the function";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
