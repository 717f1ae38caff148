//===- CopyToLinalg.cpp - memref.copy to linalg.generic -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODACOPYTOLINALG
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

struct CopyToLinalg : public coda::impl::CodaCopyToLinalgBase<CopyToLinalg> {
  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp op) {
      OpBuilder builder(op);
      linalg::makeMemRefCopyOp(builder, op.getLoc(), op.getSource(),
                               op.getTarget());
      op.erase();
    });
  }
};

} // namespace
