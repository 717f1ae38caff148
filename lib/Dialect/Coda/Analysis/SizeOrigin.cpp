//===- SizeOrigin.cpp - Which sizes are the same ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/SizeOrigin.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

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
