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
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coda {
#define GEN_PASS_DEF_BUNDLEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// The ops of `ops`, in block order, that depend on no other that is taken.
static SmallVector<TileOpInterface>
getIndependent(ArrayRef<TileOpInterface> ops) {
  SmallVector<TileOpInterface> members;
  for (TileOpInterface op : ops) {
    bool depends = llvm::any_of(members, [&](TileOpInterface member) {
      return dependsOn(op, member, [](OpOperand &) { return false; });
    });
    if (!depends)
      members.push_back(op);
  }
  return members;
}

/// A factor of a gemm and how it is read: the kinds of its dims as octal digits.
/// Reading a tensor's rows and reading its columns share nothing.
using FactorKey = std::pair<Value, uint64_t>;

/// The left factors of `op`, or its right ones, each once.
static llvm::SetVector<FactorKey> getFactorKeys(TileOpInterface op, bool left) {
  llvm::SetVector<FactorKey> keys;
  for (unsigned i = 0; i < op.getNumProducts(); ++i) {
    uint64_t key = 1;
    AffineMap map = left ? op.getLhsMap(i) : op.getRhsMap(i);
    for (AffineExpr e : map.getResults())
      key = key * 8 + static_cast<uint64_t>(op.getDimKind(
                          cast<AffineDimExpr>(e).getPosition()));
    keys.insert({left ? op.getLhs()[i] : op.getRhs()[i], key});
  }
  return keys;
}

/// The gemms, or bundles of gemms, of the block that read results of `map`,
/// through reshapes.
static llvm::SetVector<Operation *> getGemmReaders(TileOpInterface map) {
  llvm::SetVector<Operation *> readers;
  SmallVector<Operation *> worklist(map->getUsers());
  while (!worklist.empty()) {
    Operation *user = worklist.pop_back_val();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      llvm::append_range(worklist, user->getUsers());
      continue;
    }
    if (!isa<GemmOp>(user))
      continue;
    if (Operation *reader = map->getBlock()->findAncestorOpInBlock(*user))
      readers.insert(reader);
  }
  return readers;
}

/// Whether `value` is read by nothing but what returns it, through views and slices.
static bool isOnlyReturned(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user))
      return isOnlyReturned(user->getResult(0));
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return &use == &insert.getSourceMutable() &&
             isOnlyReturned(insert.getResult());
    return user->hasTrait<OpTrait::ReturnLike>();
  });
}

/// Whether nothing waits for `map`, which reduces nothing: it may be launched with
/// others of its kind, whatever they compute.
static bool isLast(TileOpInterface map) {
  return map->getNumResults() != 0 &&
         llvm::none_of(llvm::seq<unsigned>(0, map.getOutputs().size()),
                       [&](unsigned o) { return map.getCombiner(o); }) &&
         llvm::all_of(map->getResults(), isOnlyReturned);
}

/// The most maps of a launch that nothing but their being last joins, and the most
/// tensors of more than one dim that they have, each of which a kernel may pass with
/// its extents and strides.
static constexpr size_t kMaxLastMaps = 8, kMaxLastTensors = 24;

/// Tensors of more than one dim that `map` loads and stores.
static size_t getNumTensors(TileOpInterface map) {
  return llvm::count_if(map->getOperands(), [](Value operand) {
    return cast<ShapedType>(operand.getType()).getRank() > 1;
  });
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
      for (bool left : {true, false}) {
        // Those that share all factors have the better claim to each other.
        for (bool all : {true, false}) {
          llvm::MapVector<FactorKey, SmallVector<TileOpInterface>> byFactor;
          for (GemmOp gemm : block->getOps<GemmOp>()) {
            llvm::SetVector<FactorKey> keys = getFactorKeys(gemm, left);
            if (gemm->getNumResults() && (!all || keys.size() == 1))
              for (const FactorKey &key : keys)
                byFactor[key].push_back(gemm);
          }
          bundleAll(*block, byFactor);
        }
      }
      // Each map joins those that the first gemm reads that reads more than one.
      SmallVector<std::pair<TileOpInterface, llvm::SetVector<Operation *>>>
          maps;
      llvm::SetVector<Operation *> readers;
      for (MapOp map : block->getOps<MapOp>()) {
        maps.emplace_back(map, getGemmReaders(map));
        readers.insert_range(maps.back().second);
      }
      SmallVector<Operation *> sorted = llvm::to_vector(readers);
      llvm::sort(sorted, [](Operation *lhs, Operation *rhs) {
        return lhs->isBeforeInBlock(rhs);
      });
      llvm::DenseSet<Operation *> taken;
      for (Operation *reader : sorted) {
        SmallVector<TileOpInterface> read;
        for (auto &[map, its] : maps)
          if (its.contains(reader) && !taken.contains(map.getOperation()))
            read.push_back(map);
        SmallVector<TileOpInterface> members = getIndependent(read);
        if (members.size() < 2)
          continue;
        bundle(*block, members);
        for (TileOpInterface member : members)
          taken.insert(member.getOperation());
      }
      SmallVector<TileOpInterface> last;
      size_t tensors = 0;
      auto bundleLast = [&] {
        if (last.size() > 1)
          bundle(*block, last);
        last.clear();
        tensors = 0;
      };
      for (auto &[map, its] : maps) {
        if (taken.contains(map.getOperation()) || !isLast(map))
          continue;
        size_t own = getNumTensors(map);
        if (last.size() == kMaxLastMaps || tensors + own > kMaxLastTensors)
          bundleLast();
        last.push_back(map);
        tensors += own;
      }
      bundleLast();
    }
  }

private:
  template <typename MapT> void bundleAll(Block &block, MapT &groups) {
    for (auto &[key, ops] : groups) {
      llvm::erase_if(ops, [&](TileOpInterface op) {
        return op->getBlock() != &block; // in a bundle by now
      });
      SmallVector<TileOpInterface> members = getIndependent(ops);
      if (members.size() > 1)
        bundle(block, members);
    }
  }

  void bundle(Block &block, ArrayRef<TileOpInterface> members) {
    IRRewriter rewriter(&getContext());
    SmallVector<Location> locations;
    SmallVector<Type> types;
    SmallVector<Value> results;
    for (TileOpInterface member : members) {
      locations.push_back(member->getLoc());
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
    for (TileOpInterface member : members)
      rewriter.moveOpBefore(member, body, body->end());
    rewriter.setInsertionPointToEnd(body);
    YieldOp::create(rewriter, op.getLoc(), results);
    sortTopologically(&block);
    ++numBundles;
  }
};
} // namespace
