//===- LoopDestinations.cpp - Loops on tensors work in place --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODALOOPDESTINATIONS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

struct LoopDestinations
    : public coda::impl::CodaLoopDestinationsBase<LoopDestinations> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        privatizeInits(loop);
        yieldInPlace(loop);
      } else if (isa<scf::WhileOp, scf::ForallOp, scf::ParallelOp,
                     scf::IndexSwitchOp>(op) &&
                 llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) {
        op->emitError("'") << op->getName()
                           << "' on tensors has no lowering; bring it into the "
                              "form of scf.for or scf.if";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// An empty tensor that a loop starts from gets a buffer of its own: in the
  /// destination of the loop's result, the result would be copied onto itself.
  void privatizeInits(scf::ForOp loop) {
    for (OpOperand &init : loop.getInitArgsMutable()) {
      OpOperand *use = &init;
      while (auto dps = use->get().getDefiningOp<DestinationStyleOpInterface>())
        use = dps.getTiedOpOperand(cast<OpResult>(use->get()));
      auto empty = use->get().getDefiningOp<tensor::EmptyOp>();
      if (!empty)
        continue;
      OpBuilder b(empty);
      use->set(bufferization::AllocTensorOp::create(
          b, empty.getLoc(), empty.getType(), empty.getDynamicSizes()));
    }
  }

  /// What an iteration yields is put where the next one looks for it.
  void yieldInPlace(scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    ImplicitLocOpBuilder b(loop.getLoc(), yield);
    SmallVector<std::pair<OpOperand *, Value>> moved;
    for (auto [operand, arg] :
         llvm::zip_equal(yield->getOpOperands(), loop.getRegionIterArgs()))
      if (isa<RankedTensorType>(arg.getType()) && operand.get() != arg)
        moved.emplace_back(&operand, arg);
    // A value that another destination holds is read before that is written.
    for (auto [operand, arg] : moved) {
      auto other = dyn_cast<BlockArgument>(operand->get());
      if (!other || other.getOwner() != loop.getBody())
        continue;
      operand->set(bufferization::AllocTensorOp::create(
          b, cast<RankedTensorType>(other.getType()),
          /*dynamic_sizes=*/ValueRange(), /*copy=*/other));
    }
    for (auto [operand, arg] : moved)
      operand->set(bufferization::MaterializeInDestinationOp::create(
                       b, arg.getType(), operand->get(), arg)
                       .getResult());
  }
};

} // namespace
