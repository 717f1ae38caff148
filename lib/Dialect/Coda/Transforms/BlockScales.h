//===- BlockScales.h - Scales of blocks of a contracted dim -*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_DIALECT_CODA_TRANSFORMS_BLOCKSCALES_H
#define CODA_LIB_DIALECT_CODA_TRANSFORMS_BLOCKSCALES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::coda {

/// The op that multiplies the elements of an 8-bit float by scales of blocks of
/// the contracted dims, where `factor` of `op` is such a product; null if it is
/// none. What the scales differ along is followed through reshapes.
Operation *findBlockScales(linalg::LinalgOp op, OpOperand *factor);

/// What sums over a batch of products of `op`, each by a scale of its own; null
/// if nothing does.
Operation *findSumOfBlocks(linalg::LinalgOp op,
                           const linalg::ContractionDimensions &dims);

} // namespace mlir::coda

#endif // CODA_LIB_DIALECT_CODA_TRANSFORMS_BLOCKSCALES_H
