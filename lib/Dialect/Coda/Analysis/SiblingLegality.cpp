//===- SiblingLegality.cpp - Ops that read one value ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The part of FusionLegality that looks at two ops neither of which makes what the
// other reads.

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::coda;

/// Adds the dims of `second` to the ones of `first` that they are if a load of both is at
/// the same points; false if it is not, where they are others or of other kinds.
static bool addSharedLoad(TileOpInterface first, AffineMap iMap,
                          TileOpInterface second, AffineMap jMap,
                          SmallVectorImpl<int> &secondToFirst) {
  SmallVector<int> dims(secondToFirst.begin(), secondToFirst.end());
  for (unsigned r = 0; r < jMap.getNumResults(); ++r) {
    unsigned i = iMap.getDimPosition(r), j = jMap.getDimPosition(r);
    bool isFree = dims[j] < 0 && !llvm::is_contained(dims, static_cast<int>(i));
    if ((first.getDimKind(i) == DimKind::u) !=
            (second.getDimKind(j) == DimKind::u) ||
        (dims[j] != static_cast<int>(i) && !isFree))
      return false;
    dims[j] = i;
  }
  secondToFirst.assign(dims.begin(), dims.end());
  return true;
}

LogicalResult coda::planSiblings(TileOpInterface first, TileOpInterface second,
                                 JoinPlan &plan) {
  // A gemm takes the map in; the other way round its dims would lose their
  // kinds.
  if (second.getNumProducts())
    std::swap(first, second);
  auto isIndependent = [](TileOpInterface op, TileOpInterface other) {
    return !dependsOn(op, other, [](OpOperand &) { return false; });
  };
  if (hasGroupIndex(first) || hasGroupIndex(second) ||
      second.getNumProducts() || first->getBlock() != second->getBlock() ||
      !isIndependent(second, first) || !isIndependent(first, second))
    return failure();
  for (unsigned i = 0; i < first.getInputs().size(); ++i)
    for (unsigned j = 0; j < second.getInputs().size(); ++j) {
      AffineMap iMap = first.getInputMap(i), jMap = second.getInputMap(j);
      Value value = first.getInputs()[i];
      auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
      bool isSplit = expand && expand.getSrc() == second.getInputs()[j] &&
                     expand.getResultType().hasStaticShape();
      if ((value != second.getInputs()[j] && !isSplit) ||
          first.getLoadCombiner(i) || second.getLoadCombiner(j) ||
          iMap.getNumResults() == 0 || !isFullMap(first, iMap) ||
          !isFullMap(second, jMap))
        continue;
      plan = JoinPlan();
      plan.producer = first;
      plan.consumer = second;
      plan.input = j;
      if (isSplit) {
        plan.kind = JoinKind::SplitConsumer;
        plan.view = expand;
        return success();
      }
      plan.consumerToProducer.assign(second.getNumDomainDims(), -1);
      if (!addSharedLoad(first, iMap, second, jMap, plan.consumerToProducer))
        continue;
      // What else both load at the same points shows which u dims are the same.
      for (unsigned k = 0; k < first.getInputs().size(); ++k)
        for (unsigned l = 0; l < second.getInputs().size(); ++l)
          if (first.getInputs()[k] == second.getInputs()[l] &&
              !first.getLoadCombiner(k) && !second.getLoadCombiner(l))
            addSharedLoad(first, first.getInputMap(k), second,
                          second.getInputMap(l), plan.consumerToProducer);
      bool areKnown = true;
      for (auto [d, to] : llvm::enumerate(plan.consumerToProducer))
        areKnown &= to >= 0 || second.getDimKind(d) != DimKind::u;
      if (!areKnown)
        continue;
      return success();
    }
  return failure();
}
