//===- CodaGPU.h - The schedule of a kernel ---------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODAGPU_IR_CODAGPU_H
#define CODA_DIALECT_CODAGPU_IR_CODAGPU_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "coda/Dialect/CodaGPU/IR/CodaGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "coda/Dialect/CodaGPU/IR/CodaGPUAttributes.h.inc"

#endif // CODA_DIALECT_CODAGPU_IR_CODAGPU_H
