//===- ExpandClamp.h - math.clampf as arithmetic ----------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_EXPANDCLAMP_H
#define CODA_DIALECT_CODA_TRANSFORMS_EXPANDCLAMP_H

namespace mlir {
class RewritePatternSet;
namespace coda {

/// clampf(x, low, high) -> min(max(x, low), high), which it means. That of
/// upstream, in 22.1, is max(min(x, low), high).
void populateExpandClampPatterns(RewritePatternSet &patterns);

} // namespace coda
} // namespace mlir

#endif // CODA_DIALECT_CODA_TRANSFORMS_EXPANDCLAMP_H
