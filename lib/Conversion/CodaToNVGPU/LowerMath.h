//===- LowerMath.h - Math functions on the GPU ------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_LOWERMATH_H
#define CODA_CONVERSION_CODATONVGPU_LOWERMATH_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::coda_gpu {

/// Functions of f64 scalars as arithmetic: relative error below 1e-13, for the
/// angles of sin and cos below 1e9.
void populateLowerMathF64Patterns(RewritePatternSet &patterns);

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_LOWERMATH_H
