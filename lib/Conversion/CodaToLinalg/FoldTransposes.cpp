//===- FoldTransposes.cpp - Transposed factors as index maps --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAFOLDTRANSPOSES
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

struct FoldTransposes
    : public coda::impl::CodaFoldTransposesBase<FoldTransposes> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (linalg::isaContractionOpInterface(op) &&
          llvm::any_of(op.getDpsInputs(), [](Value input) {
            return input.getDefiningOp<linalg::TransposeOp>();
          }))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> made =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
      }
      SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
      for (OpOperand *operand : generic.getDpsInputOperands()) {
        auto transpose =
            operand->get().getDefiningOp<linalg::TransposeOp>();
        if (!transpose)
          continue;
        AffineMap &map = maps[operand->getOperandNumber()];
        SmallVector<AffineExpr> exprs(map.getNumResults());
        for (auto [i, source] : llvm::enumerate(transpose.getPermutation()))
          exprs[source] = map.getResult(i);
        map = AffineMap::get(map.getNumDims(), 0, exprs, &getContext());
        operand->set(transpose.getInput());
        if (transpose->use_empty())
          rewriter.eraseOp(transpose);
      }
      generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    }
  }
};

} // namespace
