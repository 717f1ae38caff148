//===- ErrorRule.h - when an output is right -------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one function that decides whether an output of a compiled program is
// right. Every tool and test uses it, so that a tolerance has one home.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_ERRORRULE_H
#define CODA_RUNTIME_ERRORRULE_H

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// How close an output can be expected to be.
enum class ErrorClass {
  Exact, ///< integers and booleans: equal
  F64,   ///< everything computed in f64
  F32,   ///< everything computed in f32
  Half,  ///< f16, bf16 or an 8-bit float somewhere on the way, with another
         ///< result (`eager`) that was computed in the same types
};

/// One output, element by element, widened to f64. All vectors that are given
/// have the same length.
struct ErrorQuestion {
  /// What the program gave.
  const std::vector<double> &out;
  /// The reference: the same inputs, computed in f32 or wider.
  const std::vector<double> &ref;
  /// The framework's own result in the graph's 16-bit types; only for Half.
  const std::vector<double> *eager = nullptr;
  ErrorClass errorClass = ErrorClass::F32;
  /// Elements of the whole output, where `out` and `ref` are a sample of it.
  size_t wholeSize = 0;
  /// Limit relative to max|ref| that replaces those of all classes.
  std::optional<double> tolerance;
  /// Only for Half, and relative to max|ref|: what is allowed whatever the error
  /// of `eager`.
  double rounding = 0;
  /// Only for Half, and relative to max|ref|: what roundings can explain at
  /// most. An `eager` that is further from `ref` measures something else, and
  /// is no licence to be as far.
  double explained = std::numeric_limits<double>::infinity();
};

struct ErrorVerdict {
  bool good = false;
  /// max|out - ref|; infinite where NaN or an infinity is misplaced.
  double error = 0;
  /// max|eager - ref| over what is finite in both; 0 without `eager`.
  double eagerError = 0;
  /// max|ref| over its finite elements.
  double maxRef = 0;
  /// What `error` was compared with.
  double limit = 0;
  /// Why not good, as half a sentence; empty if good.
  std::string why;
};

/// max|out - ref|, where NaN and infinities of `ref` must sit at the same
/// places in `out`; if not, infinity, and `*misplaced` is the first such place.
double maxError(const std::vector<double> &out, const std::vector<double> &ref,
                size_t *misplaced = nullptr);

/// Judges one output:
///   Exact  out == ref
///   F64    max|out - ref| <= 1e-10 max|ref|
///   F32    max|out - ref| <= 5e-5 max|ref|
///   Half   max|out - ref| <= max(e, s) + 1e-6, where e is 2 max|eager - ref|,
///          but at most `explained` max|ref|, and s is
///          1e-3 max|ref| for outputs under 1,000 elements and 0 for others
///          (a small sample of rounding errors has no reliable maximum);
///          at least `rounding` max|ref|: of an 8-bit output half a unit in the
///          last place, 2^-4 (f8E4M3FN) or 2^-3 (f8E5M2), of others where an
///          input has 8 bits 2^-7, as tensor cores keep 14 bits of such sums
/// A tolerance t replaces the limit: max|out - ref| <= t max|ref|. NaN and
/// infinities must sit where the reference has them.
ErrorVerdict judge(const ErrorQuestion &question);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_ERRORRULE_H
