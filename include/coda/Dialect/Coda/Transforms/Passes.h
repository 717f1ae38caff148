//===- Passes.h - Passes on the coda dialect -*- C++ -*- ----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_PASSES_H
#define CODA_DIALECT_CODA_TRANSFORMS_PASSES_H

#include "coda/Dialect/Coda/Transforms/F32Products.h"
#include "coda/Dialect/Coda/Transforms/Numerics.h"

#include "mlir/Pass/Pass.h"

namespace mlir::coda {

#define GEN_PASS_DECL
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_TRANSFORMS_PASSES_H
