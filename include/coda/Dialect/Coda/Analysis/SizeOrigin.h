//===- SizeOrigin.h - Which sizes are the same -*- C++ -*- --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_ANALYSIS_SIZEORIGIN_H
#define CODA_DIALECT_CODA_ANALYSIS_SIZEORIGIN_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace mlir::coda {

/// What gives a tensor the size of a dim: an SSA value of type index (dim -1),
/// or a dim of a tensor. Equal origins are equal sizes.
using SizeOrigin = std::pair<Value, int64_t>;

SizeOrigin getSizeOrigin(Value tensor, int64_t dim);

/// The origin of a size that an op was given; that of a constant has no value.
SizeOrigin getSizeOrigin(OpFoldResult size);

/// Whether `size` is that of dim `dim` of `tensor`: their origins are one, or those
/// of other operands of a tile op that the same dim of its domain indexes.
bool isSameSize(OpFoldResult size, Value tensor, int64_t dim);

/// Whether `size` elements from `offset` on are the whole of the dim `dim` of
/// `tensor`.
bool isWholeDim(Value tensor, int64_t dim, OpFoldResult offset,
                OpFoldResult size);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_ANALYSIS_SIZEORIGIN_H
