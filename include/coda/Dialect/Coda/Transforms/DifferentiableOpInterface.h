//===- DifferentiableOpInterface.h - Adjoints of scalar ops -*- C++ -*- -===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_DIFFERENTIABLEOPINTERFACE_H
#define CODA_DIALECT_CODA_TRANSFORMS_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h.inc"

namespace mlir::coda {

/// The type of the cotangent of a scalar of type `type`: f64 for f64, f32 for
/// other floats, null for what has none.
FloatType getCotangentType(Type type);

/// Attaches DifferentiableOpInterface to the ops of arith and math that may
/// stand in the region of a tile op.
void registerDifferentiableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_TRANSFORMS_DIFFERENTIABLEOPINTERFACE_H
