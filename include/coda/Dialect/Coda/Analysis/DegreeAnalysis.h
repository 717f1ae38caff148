//===- DegreeAnalysis.h - Degree of a scalar in another -*- C++ -*- -----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_ANALYSIS_DEGREEANALYSIS_H
#define CODA_DIALECT_CODA_ANALYSIS_DEGREEANALYSIS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::coda {

/// The degree d with which `value`, computed by scalar ops of one block, is
/// homogeneous in `base`, a value of that block: scaling `base` by a factor
/// r > 0 scales `value` by r^d, for every r and all other inputs. 0: it does not
/// depend on it. None: no such d is known. With `throughCasts`, roundings count
/// as exact.
std::optional<int> getDegree(Value value, Value base, bool throughCasts);

/// Values, each of degree 1 in `base` while the others are held, through which
/// everything that the block computes from `base` passes; empty if `base` itself
/// is read otherwise. For a function f of what the block yields, with dv the
/// cotangent of v, Euler's theorem then says `base * d(base) = sum of v * dv`
/// over them.
SmallVector<Value> getHomogeneousCut(Value base, bool throughCasts);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_ANALYSIS_DEGREEANALYSIS_H
