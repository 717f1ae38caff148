//===- Passes.h - Conversions from coda to other dialects -------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_PASSES_H
#define CODA_CONVERSION_PASSES_H

#include "coda/Dialect/Coda/Transforms/Numerics.h"

#include "mlir/Pass/Pass.h"

namespace mlir {
namespace coda {

#define GEN_PASS_DECL
#include "coda/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "coda/Conversion/Passes.h.inc"

} // namespace coda
} // namespace mlir

#endif // CODA_CONVERSION_PASSES_H
