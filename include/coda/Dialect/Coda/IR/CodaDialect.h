//===- CodaDialect.h - The coda dialect, enums, attributes ------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODADIALECT_H
#define CODA_DIALECT_CODA_IR_CODADIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "coda/Dialect/Coda/IR/CodaOpsEnums.h.inc"

#include "coda/Dialect/Coda/IR/CodaAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "coda/Dialect/Coda/IR/CodaOpsAttributes.h.inc"

#include "coda/Dialect/Coda/IR/CodaOpsDialect.h.inc"

namespace mlir::coda {
/// The combiner that assembly writes as `keyword`; null if there is none.
CombinerAttrInterface getCombinerByKeyword(MLIRContext *context,
                                           StringRef keyword);
} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_IR_CODADIALECT_H
