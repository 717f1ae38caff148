//===- ErrorRule.cpp - when an output is right ----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/ErrorRule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlir::coda::runtime {

namespace {

/// NaN where the other is NaN, or the same infinity.
bool samePlace(double out, double ref) {
  if (std::isnan(ref))
    return std::isnan(out);
  if (std::isinf(ref))
    return out == ref;
  return std::isfinite(out);
}

} // namespace

double maxError(const std::vector<double> &out, const std::vector<double> &ref,
                size_t *misplaced) {
  double error = 0;
  for (size_t i = 0; i < ref.size(); ++i) {
    if (!samePlace(out[i], ref[i])) {
      if (misplaced)
        *misplaced = i;
      return std::numeric_limits<double>::infinity();
    }
    if (std::isfinite(ref[i]))
      error = std::max(error, std::fabs(out[i] - ref[i]));
  }
  return error;
}

ErrorVerdict judge(const ErrorQuestion &question) {
  const std::vector<double> &out = question.out, &ref = question.ref;
  ErrorVerdict verdict;
  if (out.size() != ref.size() ||
      (question.eager && question.eager->size() != ref.size())) {
    verdict.error = std::numeric_limits<double>::infinity();
    verdict.why = "has another number of elements than its reference";
    return verdict;
  }
  for (size_t i = 0; i < ref.size(); ++i) {
    if (!std::isfinite(ref[i]))
      continue;
    verdict.maxRef = std::max(verdict.maxRef, std::fabs(ref[i]));
    // An overflow of the framework is no licence for one here.
    if (question.eager && std::isfinite((*question.eager)[i]))
      verdict.eagerError = std::max(verdict.eagerError,
                                    std::fabs((*question.eager)[i] - ref[i]));
  }

  size_t misplaced = 0;
  verdict.error = maxError(out, ref, &misplaced);
  if (question.tolerance) {
    verdict.limit = *question.tolerance * verdict.maxRef;
  } else {
    switch (question.errorClass) {
    case ErrorClass::Exact:
      break;
    case ErrorClass::F64:
      verdict.limit = 1e-10 * verdict.maxRef;
      break;
    case ErrorClass::F32:
      verdict.limit = 5e-5 * verdict.maxRef;
      break;
    case ErrorClass::Half:
      verdict.limit = std::min(2 * verdict.eagerError,
                               question.explained * verdict.maxRef);
      if (std::max(question.wholeSize, ref.size()) < 1000)
        verdict.limit = std::max(verdict.limit, 1e-3 * verdict.maxRef);
      verdict.limit =
          std::max(verdict.limit, question.rounding * verdict.maxRef) + 1e-6;
      break;
    }
  }
  verdict.good = verdict.error <= verdict.limit;
  if (verdict.good)
    return verdict;
  verdict.why = std::isinf(verdict.error)
                    ? "has " + std::to_string(out[misplaced]) +
                          " where its reference has " +
                          std::to_string(ref[misplaced]) + " (element " +
                          std::to_string(misplaced) + ")"
                    : "is further from its reference than allowed";
  return verdict;
}

} // namespace mlir::coda::runtime
