//===- F32Products.h - What multiplies f32 factors -*- C++ -*- ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The option `f32-products=f32|bf16x3|bf16x6` of passes and pipelines. The names
// are those of the algorithms of a dot in StableHLO and JAX.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_F32PRODUCTS_H
#define CODA_DIALECT_CODA_TRANSFORMS_F32PRODUCTS_H

#include "llvm/Support/CommandLine.h"

namespace mlir::coda {

enum class F32Products {
  /// f32 factors as they are.
  F32,
  /// Sums of three products of bf16 parts.
  BF16x3,
  /// Sums of six products of bf16 parts.
  BF16x6
};

/// The values that the option takes.
inline llvm::cl::ValuesClass getF32ProductsValues() {
  return llvm::cl::values(
      clEnumValN(F32Products::F32, "f32", "f32 factors as they are"),
      clEnumValN(F32Products::BF16x3, "bf16x3",
                 "sums of three products of bf16 parts"),
      clEnumValN(F32Products::BF16x6, "bf16x6",
                 "sums of six products of bf16 parts"));
}

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_TRANSFORMS_F32PRODUCTS_H
