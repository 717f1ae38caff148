//===- PrivatizeInits.cpp - One empty or filled tensor per use ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAPRIVATIZEINITS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// The value that `value` is a view of.
Value viewedValue(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, tensor::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Of several values in `block` that are materialised and view one value, the
/// first may be computed in place. The others are copied before its buffer is
/// the caller's: the analysis takes a materialisation for a write.
void copySharedResults(Block &block) {
  llvm::SmallPtrSet<Value, 8> roots;
  Operation *first = nullptr;
  for (auto op : block.getOps<bufferization::MaterializeInDestinationOp>()) {
    if (!first)
      first = op;
    if (roots.insert(viewedValue(op.getSource())).second ||
        !isa<RankedTensorType>(op.getDest().getType()))
      continue;
    OpBuilder builder(first);
    op.getSourceMutable().assign(
        linalg::CopyOp::create(builder, op.getLoc(), op.getSource(),
                               op.getDest())
            .getResult(0));
  }
}

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
    getOperation()->walk([](Block *block) { copySharedResults(*block); });
  }
};

} // namespace
