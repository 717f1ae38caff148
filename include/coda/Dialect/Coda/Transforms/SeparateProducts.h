//===- SeparateProducts.h - Products and region of a gemm apart -*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_SEPARATEPRODUCTS_H
#define CODA_DIALECT_CODA_TRANSFORMS_SEPARATEPRODUCTS_H

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::coda {

/// A gemm that stores its one accumulator as it is.
struct PlainGemm {
  TileOpInterface op;
  /// The dims of the result, as dims of the op that the accumulator is of.
  SmallVector<unsigned> dims;
};

/// Creates the gemm of one accumulator of `op`, from the products that start at
/// `firstProduct`, of factors `lhs` and `rhs`: those of `op`, or values of their
/// types. Unrolled dims are columns like others, and the result's dims are in the
/// order of the factors': b, m, n.
PlainGemm createPlainGemm(OpBuilder &b, TileOpInterface op,
                          unsigned firstProduct, ArrayRef<Value> lhs,
                          ArrayRef<Value> rhs);

/// Creates the map that does what the region of the gemm `op` does, with its
/// accumulators loaded from the results of `accumulators`.
///
///   coda.gemm acc(%a[m, k] * %b[n, k]) ins(%r[m]) outs(%o[m, n]) {region}
///   ==>
///   %acc = coda.gemm acc(%a[m, k] * %b[n, k]) outs(%e[m, n]) {store}
///   coda.map ins(%acc[m, n], %r[m]) outs(%o[m, n]) {region}
TileOpInterface createEpilogueMap(OpBuilder &b, TileOpInterface op,
                                  ArrayRef<PlainGemm> accumulators);

/// Creates the gemm that does what `op` does without the products of `separate`,
/// whose results it loads and adds to their accumulators instead: one product each,
/// of an accumulator that keeps others.
///
///   coda.gemm acc(%a[m, k0] * %b[n, k0] + %c[m, k1] * %d[n, k1]) {region}
///   ==>
///   %cd = coda.gemm acc(%c[m, k] * %d[n, k]) outs(%e[m, n]) {store}
///   coda.gemm acc(%a[m, k] * %b[n, k]) ins(%cd[m, n]) {region of acc + cd}
TileOpInterface
createGemmWithout(OpBuilder &b, TileOpInterface op,
                  const llvm::MapVector<unsigned, PlainGemm> &separate);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_TRANSFORMS_SEPARATEPRODUCTS_H
