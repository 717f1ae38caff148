//===- ContractBatch.cpp - Sums over a batch of products ----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// How a value of a region depends on the accumulators.
enum class Dependence { None, Linear, Other };
} // namespace

/// That of the result of `def` by those of its operands.
static Dependence getDependence(Operation *def,
                                ArrayRef<Dependence> operands) {
  auto areAll = [&](Dependence wanted) {
    return llvm::count(operands, wanted) == std::ptrdiff_t(operands.size());
  };
  if (areAll(Dependence::None))
    return Dependence::None;
  if (llvm::is_contained(operands, Dependence::Other))
    return Dependence::Other;
  bool isLinear = false;
  if (isa<arith::AddFOp, arith::SubFOp>(def))
    isLinear = areAll(Dependence::Linear);
  else if (isa<arith::MulFOp>(def))
    isLinear = llvm::is_contained(operands, Dependence::None);
  else if (isa<arith::DivFOp>(def))
    isLinear = operands[1] == Dependence::None;
  else if (isa<arith::NegFOp>(def))
    isLinear = true;
  return isLinear ? Dependence::Linear : Dependence::Other;
}

/// That of each value that the region of `op`, of one accumulator, computes.
static llvm::DenseMap<Value, Dependence> getDependences(TileOpInterface op) {
  llvm::DenseMap<Value, Dependence> found;
  for (BlockArgument arg : op.getBody().getArguments())
    found[arg] = Dependence::None;
  for (BlockArgument arg : op.getAccArguments(0))
    found[arg] = Dependence::Linear;
  for (Operation &inner : op.getBody().front().without_terminator()) {
    SmallVector<Dependence> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(found.lookup(operand));
    for (Value result : inner.getResults())
      found[result] = getDependence(&inner, operands);
  }
  return found;
}

/// Whether `op` does nothing with what the points of its b dim `dim` have but add
/// up values that are linear in the accumulator, of factors that differ in it.
static bool isSummed(TileOpInterface op, unsigned dim,
                     const llvm::DenseMap<Value, Dependence> &dependences) {
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (op.getInputMap(i).isFunctionOfDim(dim))
      return false;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o)
    if (!isa_and_nonnull<AddAttr>(op.getCombiner(o)) || !op.getFresh()[o] ||
        op.getOutputMap(o).isFunctionOfDim(dim) ||
        llvm::any_of(op.getYieldedValues(o), [&](Value value) {
          return dependences.lookup(value) != Dependence::Linear;
        }))
      return false;
  // The number of points would be lost, as are their own indices.
  return llvm::none_of(op.getBody().getOps<IndexOp>(), [&](IndexOp index) {
    return op.getDimPosition(index.getDim().getKind(),
                             index.getDim().getIndex()) == dim;
  });
}

TileOpInterface coda::contractBatch(RewriterBase &rewriter,
                                    TileOpInterface op) {
  TileOpSpec spec(op);
  if (spec.accSizes.size() != 1)
    return {};
  unsigned numBatch = spec.dims[static_cast<unsigned>(DimKind::b)];
  if (numBatch == 0)
    return {};
  llvm::DenseMap<Value, Dependence> dependences = getDependences(op);
  SmallVector<bool> isContracted(op.getNumDomainDims());
  for (unsigned d = 0; d < numBatch; ++d)
    isContracted[d] = isSummed(op, d, dependences);
  if (!llvm::is_contained(isContracted, true))
    return {};

  // The others keep their order; those that are contracted come before k.
  unsigned firstU = op.getDimPosition(DimKind::u, 0);
  unsigned firstK = op.getDimPosition(DimKind::k, 0);
  SmallVector<unsigned> order, contracted;
  for (unsigned d = 0; d < firstK; ++d)
    (isContracted[d] ? contracted : order).push_back(d);
  llvm::append_range(order, contracted);
  llvm::append_range(order, llvm::seq(firstK, op.getNumDomainDims()));
  // What no dim is dropped of any more is a store.
  for (unsigned o = 0; o < spec.outputs.size(); ++o) {
    bool isStore = llvm::all_of(llvm::seq(firstU), [&](unsigned d) {
      return isContracted[d] || op.getOutputMap(o).isFunctionOfDim(d);
    });
    if (!isStore)
      continue;
    spec.combiners[o] = rewriter.getUnitAttr();
    spec.fresh[o] = false;
  }
  spec.dims[static_cast<unsigned>(DimKind::b)] -= contracted.size();
  spec.dims[static_cast<unsigned>(DimKind::k)] += contracted.size();
  reorderDims(spec, order);
  TileOpInterface result = recreate(rewriter, op, spec);
  renameDims(op, result, order);
  rewriter.replaceOp(op, result->getResults());
  return result;
}
