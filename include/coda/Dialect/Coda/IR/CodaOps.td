//===- CodaOps.td - All ops of the dialect -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODAOPS_TD
#define CODA_DIALECT_CODA_IR_CODAOPS_TD

include "coda/Dialect/Coda/IR/CodaRegionOps.td"
include "coda/Dialect/Coda/IR/CodaSemanticOps.td"
include "coda/Dialect/Coda/IR/CodaTileOps.td"

#endif // CODA_DIALECT_CODA_IR_CODAOPS_TD
