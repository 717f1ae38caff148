//===- BlockScales.cpp - Scales of blocks of a contracted dim -----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockScales.h"

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

Operation *coda::findBlockScales(linalg::LinalgOp op, OpOperand *factor) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  AffineMap map = op.getMatchingIndexingMap(factor);
  if (failed(dims))
    return nullptr;
  SmallVector<unsigned> contracted;
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && llvm::is_contained(dims->k, dim.getPosition()))
      contracted.push_back(i);
  Value value = factor->get();
  while (Operation *view = value.getDefiningOp()) {
    SmallVector<unsigned> before;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view)) {
      for (unsigned i : contracted)
        llvm::append_range(before, collapse.getReassociationIndices()[i]);
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view)) {
      for (auto [i, group] : llvm::enumerate(expand.getReassociationIndices()))
        if (llvm::any_of(group, [&](int64_t d) {
              return llvm::is_contained(contracted, unsigned(d));
            }))
          before.push_back(i);
    } else {
      break;
    }
    contracted = before;
    value = view->getOperand(0);
  }
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() != 0)
    return nullptr;
  AffineMap stored =
      generic.getIndexingMapMatchingResult(cast<OpResult>(value));
  bool isQuantized = false, isBlocked = false;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    bool narrow = isQuantizedFloat(getElementTypeOrSelf(input->get()));
    isQuantized |= narrow;
    // One for a block has the dim that numbers the blocks, not the one within.
    auto varies = [&](unsigned i) {
      auto dim = dyn_cast<AffineDimExpr>(stored.getResult(i));
      return dim && generic.getMatchingIndexingMap(input).isFunctionOfDim(
                        dim.getPosition());
    };
    isBlocked |= !narrow && llvm::any_of(contracted, varies) &&
                 !llvm::all_of(contracted, varies);
  }
  return isQuantized && isBlocked ? generic.getOperation() : nullptr;
}

namespace {
/// What a dim of a value made of a product of a batch numbers: rows, columns and
/// what else it has of its own; products of the batch; those of the dim at hand.
enum class DimRole { Own, Batch, Block };

/// What a scalar of a body is: the same in all products, another in each, linear
/// in them, or that with a scale of each.
enum class Part { Same, Varies, Product, Scaled };
} // namespace

static Part getPart(Operation *op, ArrayRef<Part> operands) {
  Part most = Part::Same;
  for (Part part : operands)
    most = std::max(most, part);
  if (most < Part::Product ||
      isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::ExtFOp,
          arith::TruncFOp>(op))
    return most;
  if (!isa<arith::MulFOp>(op) &&
      (!isa<arith::DivFOp>(op) || operands[1] >= Part::Product))
    return Part::Varies;
  Part least = std::min(operands[0], operands[1]);
  if (least == Part::Same)
    return most;
  return least == Part::Varies ? Part::Scaled : Part::Varies;
}

/// The parts that the results of `op` are, where `value`, whose dims have `roles`,
/// is `part`; the role of each loop is put into `loops`.
static SmallVector<Part> getParts(linalg::LinalgOp op, Value value,
                                  ArrayRef<DimRole> roles, Part part,
                                  SmallVectorImpl<DimRole> &loops) {
  loops.assign(op.getNumLoops(), DimRole::Own);
  auto isRead = [&](OpOperand *operand) { return operand->get() == value; };
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isRead(operand))
      for (auto [expr, role] : llvm::zip_equal(
               op.getMatchingIndexingMap(operand).getResults(), roles))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          loops[dim.getPosition()] = std::max(loops[dim.getPosition()], role);
  auto varies = [&](AffineMap map) {
    return llvm::any_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
      return loops[loop] == DimRole::Block && map.isFunctionOfDim(loop);
    });
  };
  llvm::DenseMap<Value, Part> parts;
  for (OpOperand *operand : op.getDpsInputOperands())
    parts[op.getMatchingBlockArgument(operand)] =
        isRead(operand)                              ? part
        : varies(op.getMatchingIndexingMap(operand)) ? Part::Varies
                                                     : Part::Same;
  Block &body = op->getRegion(0).front();
  for (Operation &inner : body.without_terminator()) {
    SmallVector<Part> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(parts.lookup(operand));
    if (isa<linalg::IndexOp>(inner))
      operands.push_back(Part::Varies);
    for (Value result : inner.getResults())
      parts[result] = getPart(&inner, operands);
  }
  SmallVector<Part> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(parts.lookup(yielded));
  return results;
}

/// The op that sums over the products of a batch alone, each by a scale of its
/// own: they are those of blocks of one contracted dim. `value` is `part` of them;
/// it is followed through views and elementwise ops, once.
static Operation *
findSumOfScaled(Value value, ArrayRef<DimRole> roles, Part part,
                llvm::DenseSet<std::pair<Value, unsigned>> &seen) {
  if (!seen.insert({value, static_cast<unsigned>(part)}).second)
    return nullptr;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    SmallVector<DimRole> after;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      for (const ReassociationIndices &group :
           collapse.getReassociationIndices()) {
        after.push_back(DimRole::Own);
        for (int64_t d : group)
          after.back() = std::max(after.back(), roles[d]);
      }
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
      for (auto [group, role] :
           llvm::zip_equal(expand.getReassociationIndices(), roles))
        after.append(group.size(), role);
    }
    if (!after.empty()) {
      if (Operation *sum =
              findSumOfScaled(user->getResult(0), after, part, seen))
        return sum;
      continue;
    }
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || !op.isDpsInput(&use))
      continue;
    SmallVector<DimRole> loops;
    SmallVector<Part> parts = getParts(op, value, roles, part, loops);
    SmallVector<unsigned> summed;
    op.getReductionDims(summed);
    if (!summed.empty()) {
      auto has = [&](DimRole role) {
        return llvm::any_of(
            summed, [&](unsigned loop) { return loops[loop] == role; });
      };
      if (has(DimRole::Block) && !has(DimRole::Own) &&
          llvm::is_contained(parts, Part::Scaled))
        return user;
      continue;
    }
    for (auto [result, init, made] :
         llvm::zip(op->getResults(), op.getDpsInitsMutable(), parts)) {
      if (made < Part::Product)
        continue;
      after.clear();
      for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        after.push_back(dim ? loops[dim.getPosition()] : DimRole::Own);
      }
      if (Operation *sum = findSumOfScaled(result, after, made, seen))
        return sum;
    }
  }
  return nullptr;
}

Operation *
coda::findSumOfBlocks(linalg::LinalgOp op,
                      const linalg::ContractionDimensions &dims) {
  AffineMap stored = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned block : dims.batch) {
    SmallVector<DimRole> roles;
    for (AffineExpr expr : stored.getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      roles.push_back(loop == block ? DimRole::Block
                      : llvm::is_contained(dims.batch, loop) ? DimRole::Batch
                                                             : DimRole::Own);
    }
    llvm::DenseSet<std::pair<Value, unsigned>> seen;
    if (Operation *sum =
            findSumOfScaled(op->getResult(0), roles, Part::Product, seen))
      return sum;
  }
  return nullptr;
}
