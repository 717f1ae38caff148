//===- Normalize.h - Pattern sets of coda-normalize -*- C++ -*-----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_DIALECT_CODA_TRANSFORMS_NORMALIZE_H
#define CODA_LIB_DIALECT_CODA_TRANSFORMS_NORMALIZE_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::coda {

/// A sum over a dim whose terms are zero, but where the dim's index is a value
/// that does not depend on it, is that one term:
///   sum over n of (n == t[m] and p[m] ? v[m] : 0)
///   ==>  0 <= t[m] < N ? (p[m] ? v[m] : 0) : 0
void populateSingleTermSumPatterns(RewritePatternSet &patterns);

/// A number that is read from a tensor of rank 0 outside of linalg is read, and what
/// is computed of it is computed, in the body that uses it:
///   %x = extract %s[]; generic ins(%a) {mul %in, %x}
///   ==>  generic ins(%a) {%x = extract %s[]; mul %in, %x}
void populateScalarReadPatterns(RewritePatternSet &patterns);

/// A factor of a batched product that is the same for all of the batch does without
/// the batch's dims, which are the other factor's alone:
///   batch_matmul(x, broadcast(w))  ==>  expand_shape (matmul(collapse_shape x, w))
void populateSharedFactorPatterns(RewritePatternSet &patterns);

/// Every second element of a dim, say, is one of the two of each pair, a point of a dim
/// of two:
///   extract_slice x[0, 1] [4, 8] [1, 2] : 4x16 -> 4x8
///   ==>  extract_slice (expand_shape x : 4x8x2)[0, 0, 1] [4, 8, 1] [1, 1, 1]
void populateStridedSlicePatterns(RewritePatternSet &patterns);

} // namespace mlir::coda

#endif // CODA_LIB_DIALECT_CODA_TRANSFORMS_NORMALIZE_H
