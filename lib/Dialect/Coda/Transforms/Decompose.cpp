//===- Decompose.cpp - coda-decompose -----------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coda {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {
class DecomposePass : public coda::impl::DecomposePassBase<DecomposePass> {
public:
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // One level at a time: semantic ops give tile ops, these give linalg.
    while (true) {
      SmallVector<Operation *> ops;
      getOperation()->walk([&](Operation *op) {
        if (isa<BundleOp>(op) ? !semanticOnly : isCandidate(op))
          ops.push_back(op);
      });
      if (ops.empty())
        return;
      for (Operation *op : ops) {
        rewriter.setInsertionPoint(op);
        if (auto bundle = dyn_cast<BundleOp>(op)) {
          Operation *yield = bundle.getBody().front().getTerminator();
          SmallVector<Value> results(yield->getOperands());
          rewriter.eraseOp(yield);
          rewriter.inlineBlockBefore(&bundle.getBody().front(), op);
          rewriter.replaceOp(op, results);
          ++numDecomposed;
          continue;
        }
        FailureOr<SmallVector<Value>> results =
            cast<linalg::AggregatedOpInterface>(op).decomposeOperation(
                rewriter);
        if (failed(results)) {
          op->emitOpError("cannot be decomposed: it works on memrefs; run "
                          "coda-decompose before bufferization");
          return signalPassFailure();
        }
        rewriter.replaceOp(op, *results);
        ++numDecomposed;
      }
    }
  }

private:
  bool isCandidate(Operation *op) const {
    return isa<linalg::AggregatedOpInterface>(op) &&
           isa_and_nonnull<CodaDialect>(op->getDialect()) &&
           !(semanticOnly && isa<TileOpInterface>(op)) &&
           // Members go after their bundle has.
           !isa<BundleOp>(op->getParentOp());
  }
};
} // namespace
