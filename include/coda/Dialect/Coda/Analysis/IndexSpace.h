//===- IndexSpace.h - Indices with known ranges -*- C++ -*---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_ANALYSIS_INDEXSPACE_H
#define CODA_DIALECT_CODA_ANALYSIS_INDEXSPACE_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace mlir::coda {

/// An index as `constant + sum of coefficient * atom`. An atom is a dim, a
/// symbol, or a floordiv or mod that cannot be simplified.
struct LinearIndex {
  int64_t constant = 0;
  SmallVector<std::pair<AffineExpr, int64_t>> terms;
};

/// Affine index expressions over dims whose extents are known. Every expression
/// that it returns is in one canonical form, so that equal indices are equal
/// pointers as far as the simplification goes; unlike that of AffineExpr, it
/// uses the dims' ranges (`(32 * h + j) mod 32` is `j` if `j < 32`).
class IndexSpace {
public:
  explicit IndexSpace(MLIRContext *context) : context(context) {}

  /// The dim at position `position` of a shape where it has the extent
  /// `extent` (ShapedType::kDynamic: unknown); 0 if the extent is 1.
  AffineExpr getDim(unsigned position, int64_t extent);

  /// A new index of which nothing is known.
  AffineExpr getSymbol();

  AffineExpr getConstant(int64_t value) const;

  /// The extent of a dim that getDim gave.
  int64_t getExtent(AffineDimExpr dim) const {
    return extents[dim.getPosition()];
  }
  unsigned getNumDims() const { return extents.size(); }
  unsigned getNumSymbols() const { return numSymbols; }

  AffineExpr add(AffineExpr lhs, AffineExpr rhs);
  AffineExpr mul(AffineExpr expr, int64_t factor);
  AffineExpr floorDiv(AffineExpr expr, int64_t divisor);
  AffineExpr mod(AffineExpr expr, int64_t divisor);

  /// Canonical form of any affine expression over dims and symbols of this
  /// space; null for ceildiv and for products of two variables.
  AffineExpr simplify(AffineExpr expr);

  /// `expr` with `dim` replaced by `by`, canonical.
  AffineExpr substitute(AffineExpr expr, AffineExpr dim, AffineExpr by);

  /// The least and greatest value, if bounded.
  std::optional<int64_t> getLowerBound(AffineExpr expr) const;
  std::optional<int64_t> getUpperBound(AffineExpr expr) const;

  /// The value, if there is but one.
  std::optional<int64_t> getConstantValue(AffineExpr expr) const;

  /// The parts of a canonical expression.
  static LinearIndex decompose(AffineExpr expr);

private:
  using Range = std::pair<std::optional<int64_t>, std::optional<int64_t>>;

  Range getRange(AffineExpr expr) const;
  Range getRange(const LinearIndex &index) const;
  AffineExpr build(LinearIndex index);
  /// Splits into what `divisor` divides and the rest.
  static std::pair<LinearIndex, LinearIndex> split(const LinearIndex &index,
                                                   int64_t divisor);
  bool isWithin(const LinearIndex &index, int64_t extent) const;

  MLIRContext *context;
  DenseMap<std::pair<unsigned, int64_t>, unsigned> dims;
  SmallVector<int64_t> extents;
  unsigned numSymbols = 0;
};

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_ANALYSIS_INDEXSPACE_H
