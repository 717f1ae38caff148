//===- PrivatizeInits.cpp - One empty or filled tensor per use ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAPRIVATIZEINITS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

struct PrivatizeInits
    : public coda::impl::CodaPrivatizeInitsBase<PrivatizeInits> {
  void runOnOperation() override {
    // Consumers before producers, so that the empty tensor of a fill that is
    // copied is copied with it.
    SmallVector<Operation *> inits;
    getOperation()->walk([&](Operation *op) {
      if (isa<tensor::EmptyOp>(op) ||
          (isa<linalg::FillOp>(op) && op->getNumResults() == 1))
        inits.push_back(op);
    });
    for (Operation *op : llvm::reverse(inits)) {
      if (op->use_empty()) {
        op->erase();
        continue;
      }
      Value value = op->getResult(0);
      bool first = true;
      for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
        if (std::exchange(first, false))
          continue;
        // Beside the use: lifetimes stay short.
        OpBuilder builder(use.getOwner());
        use.set(builder.clone(*op)->getResult(0));
      }
    }
  }
};

} // namespace
