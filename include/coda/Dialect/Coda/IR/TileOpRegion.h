//===- TileOpRegion.h - Points and parts of a tile op's region --*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_TILEOPREGION_H
#define CODA_DIALECT_CODA_IR_TILEOPREGION_H

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::coda {

/// Kinds of dims of a domain.
constexpr unsigned kNumKinds = 6;
/// Dims of one kind: more than any kernel has; keeps domains small whatever
/// numbers are written.
constexpr unsigned kMaxDimsPerKind = 64;

/// A point of the u dims: values by dim position.
using UnrollPoint = DenseMap<unsigned, int64_t>;

/// All points of the u dims of `map`, row-major by dim position: the order of
/// block arguments and yielded values.
SmallVector<UnrollPoint> getUnrollPoints(TileOpInterface op, AffineMap map);

/// The value among `values`, one per point of `points`, for `wanted`, which may
/// have more dims; null if there is none.
Value lookupPoint(ArrayRef<UnrollPoint> points, ValueRange values,
                  const UnrollPoint &wanted);

/// The ops that compute `values`, without looking behind a value for which
/// `isGiven` holds. Block arguments have no op.
llvm::SmallPtrSet<Operation *, 32>
getNeededOps(ValueRange values, function_ref<bool(Value)> isGiven);

/// `value`, a float, in the float type `type`: widened, or rounded once; f16 and
/// bf16 by way of f32.
Value convertFloat(OpBuilder &b, Location loc, Value value, Type type);

/// Whether `type` is a float of eight bits or fewer. What is truncated to it is
/// quantised: no rewrite that forgoes a rounding may forgo that.
bool isQuantizedFloat(Type type);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_IR_TILEOPREGION_H
