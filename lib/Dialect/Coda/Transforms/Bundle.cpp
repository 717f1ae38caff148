//===- Bundle.cpp - coda-bundle -----------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::coda {
#define GEN_PASS_DEF_BUNDLEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// The members of `gemms`, in block order, that depend on no other member.
static SmallVector<GemmOp> getIndependent(ArrayRef<GemmOp> gemms) {
  SmallVector<GemmOp> members;
  for (GemmOp gemm : gemms) {
    bool depends = llvm::any_of(members, [&](GemmOp member) {
      return dependsOn(gemm, member, [](OpOperand &) { return false; });
    });
    if (!depends)
      members.push_back(gemm);
  }
  return members;
}

namespace {
class BundlePass : public coda::impl::BundlePassBase<BundlePass> {
public:
  using BundlePassBase::BundlePassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!isa<TileOpInterface, BundleOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      llvm::MapVector<Value, SmallVector<GemmOp>> byFactor;
      for (GemmOp gemm : block->getOps<GemmOp>())
        if (llvm::all_equal(gemm.getLhs()) && gemm->getNumResults())
          byFactor[gemm.getLhs().front()].push_back(gemm);
      for (auto &[factor, gemms] : byFactor) {
        SmallVector<GemmOp> members = getIndependent(gemms);
        if (members.size() > 1)
          bundle(*block, members);
      }
    }
  }

private:
  void bundle(Block &block, ArrayRef<GemmOp> members) {
    IRRewriter rewriter(&getContext());
    SmallVector<Location> locations;
    SmallVector<Type> types;
    SmallVector<Value> results;
    for (GemmOp member : members) {
      locations.push_back(member.getLoc());
      llvm::append_range(types, member->getResultTypes());
      llvm::append_range(results, member->getResults());
    }
    // At the last member all operands are there; readers of the earlier ones
    // move behind it.
    rewriter.setInsertionPoint(members.back());
    auto op =
        BundleOp::create(rewriter, rewriter.getFusedLoc(locations), types);
    Block *body = rewriter.createBlock(&op.getBody());
    for (auto [from, to] : llvm::zip_equal(results, op.getResults()))
      rewriter.replaceAllUsesWith(from, to);
    for (GemmOp member : members)
      rewriter.moveOpBefore(member, body, body->end());
    rewriter.setInsertionPointToEnd(body);
    YieldOp::create(rewriter, op.getLoc(), results);
    sortTopologically(&block);
    ++numBundles;
  }
};
} // namespace
