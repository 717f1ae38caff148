//===- SizeOrigin.cpp - Which sizes are the same ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/SizeOrigin.h"

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::coda;

SizeOrigin coda::getSizeOrigin(Value tensor, int64_t dim) {
  while (Operation *def = tensor.getDefiningOp()) {
    Value size;
    auto take = [&](OpFoldResult mixed) { size = dyn_cast<Value>(mixed); };
    if (auto op = dyn_cast<DestinationStyleOpInterface>(def)) {
      tensor = op.getTiedOpOperand(cast<OpResult>(tensor))->get();
      continue;
    }
    if (auto op = dyn_cast<tensor::EmptyOp>(def))
      take(op.getMixedSizes()[dim]);
    else if (auto op = dyn_cast<tensor::ExpandShapeOp>(def))
      take(op.getMixedOutputShape()[dim]);
    else if (auto op = dyn_cast<tensor::ExtractSliceOp>(def);
             op && op.getDroppedDims().none())
      take(op.getMixedSizes()[dim]);
    else if (auto op = dyn_cast<tensor::CollapseShapeOp>(def)) {
      // The only dim of its group that is not 1.
      std::optional<int64_t> only;
      for (int64_t d : op.getReassociationIndices()[dim]) {
        if (op.getSrcType().getDimSize(d) == 1)
          continue;
        if (only)
          return {tensor, dim};
        only = d;
      }
      if (!only)
        return {tensor, dim};
      tensor = op.getSrc();
      dim = *only;
      continue;
    } else if (auto op = dyn_cast<tensor::ConcatOp>(def);
               op && static_cast<int64_t>(op.getDim()) != dim) {
      tensor = op.getInputs().front();
      continue;
    }
    if (!size)
      return {tensor, dim};
    auto dimOp = size.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> index =
        dimOp ? dimOp.getConstantIndex() : std::nullopt;
    if (!index)
      return {size, -1};
    tensor = dimOp.getSource();
    dim = *index;
  }
  return {tensor, dim};
}

SizeOrigin coda::getSizeOrigin(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return {Value(), -1};
  auto dimOp = value.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> index =
      dimOp ? dimOp.getConstantIndex() : std::nullopt;
  return index ? getSizeOrigin(dimOp.getSource(), *index)
               : SizeOrigin(value, -1);
}

bool coda::isSameSize(OpFoldResult size, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(size, type.getDimSize(dim));
  SizeOrigin wanted = getSizeOrigin(size);
  if (!wanted.first)
    return false;
  llvm::SetVector<SizeOrigin> same;
  same.insert({tensor, dim});
  for (unsigned i = 0; i < same.size(); ++i) {
    Value value = same[i].first;
    int64_t d = same[i].second;
    if (getSizeOrigin(value, d) == wanted)
      return true;
    Operation *def = value.getDefiningOp();
    // Reshapes that leave the dim alone.
    auto follow = [&](ArrayRef<ReassociationIndices> groups, bool isExpand) {
      for (auto [g, group] : llvm::enumerate(groups))
        if (group.size() == 1 && (isExpand ? group.front() : int64_t(g)) == d)
          same.insert(
              {def->getOperand(0), isExpand ? int64_t(g) : group.front()});
    };
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(def))
      follow(expand.getReassociationIndices(), /*isExpand=*/true);
    if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(def))
      follow(collapse.getReassociationIndices(), /*isExpand=*/false);
    auto op = dyn_cast_or_null<TileOpInterface>(def);
    if (!op)
      continue;
    AffineMap map = op.getOutputMap(cast<OpResult>(value).getResultNumber());
    if (getOperandIndex(map.getResult(d))->isGroup())
      continue;
    for (unsigned o = 0; o < op->getNumOperands(); ++o)
      if (std::optional<unsigned> r =
              op.getMap(o).getResultPosition(map.getResult(d)))
        same.insert({op->getOperand(o), *r});
  }
  return false;
}

bool coda::isWholeDim(Value tensor, int64_t dim, OpFoldResult offset,
                      OpFoldResult size) {
  if (!isConstantIntValue(offset, 0))
    return false;
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(size, type.getDimSize(dim));
  SizeOrigin origin = getSizeOrigin(size);
  return origin.first && origin == getSizeOrigin(tensor, dim);
}
