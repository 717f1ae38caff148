//===- Numerics.h - What a rewrite may do to values -------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The option `numerics=relaxed|batch-invariant|strict` of passes and pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_NUMERICS_H
#define CODA_DIALECT_CODA_TRANSFORMS_NUMERICS_H

#include "llvm/Support/CommandLine.h"

namespace mlir::coda {

enum class Numerics {
  /// Row scales commute, sums are split and run in lanes, a value is rounded
  /// once, where it is stored.
  Relaxed,
  /// As relaxed; and the bits of a row do not depend on how many rows there are.
  BatchInvariant,
  /// Every rounding and the order of every sum are those of the source.
  Strict
};

/// The values that the option takes.
inline llvm::cl::ValuesClass getNumericsValues() {
  return llvm::cl::values(
      clEnumValN(Numerics::Relaxed, "relaxed",
                 "commute, split sums, round once per store"),
      clEnumValN(Numerics::BatchInvariant, "batch-invariant",
                 "as relaxed, and no schedule whose sums of k depend on the "
                 "number of rows"),
      clEnumValN(Numerics::Strict, "strict",
                 "keep every rounding and the order of every sum"));
}

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_TRANSFORMS_NUMERICS_H
