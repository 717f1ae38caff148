//===- CodaGPU.cpp - The schedule of a kernel -----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/CodaGPU/IR/CodaGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::coda_gpu;

#include "coda/Dialect/CodaGPU/IR/CodaGPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "coda/Dialect/CodaGPU/IR/CodaGPUAttributes.cpp.inc"

void CodaGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "coda/Dialect/CodaGPU/IR/CodaGPUAttributes.cpp.inc"
      >();
}
