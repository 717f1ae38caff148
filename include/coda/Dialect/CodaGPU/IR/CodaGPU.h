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
#include "mlir/IR/DialectImplementation.h"

#include "coda/Dialect/CodaGPU/IR/CodaGPUDialect.h.inc"

namespace mlir::coda_gpu {

/// Blocks of a cluster along m and n.
struct ClusterShape {
  int64_t m = 1, n = 1;

  bool operator==(const ClusterShape &other) const {
    return m == other.m && n == other.n;
  }
  bool operator!=(const ClusterShape &other) const { return !(*this == other); }
};

inline llvm::hash_code hash_value(const ClusterShape &cluster) {
  return llvm::hash_combine(cluster.m, cluster.n);
}

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const ClusterShape &cluster) {
  return os << '[' << cluster.m << ", " << cluster.n << ']';
}

} // namespace mlir::coda_gpu

template <>
struct mlir::FieldParser<mlir::coda_gpu::ClusterShape> {
  static FailureOr<coda_gpu::ClusterShape> parse(AsmParser &parser) {
    coda_gpu::ClusterShape cluster;
    if (parser.parseLSquare() || parser.parseInteger(cluster.m) ||
        parser.parseComma() || parser.parseInteger(cluster.n) ||
        parser.parseRSquare())
      return failure();
    return cluster;
  }
};

#define GET_ATTRDEF_CLASSES
#include "coda/Dialect/CodaGPU/IR/CodaGPUAttributes.h.inc"

#endif // CODA_DIALECT_CODAGPU_IR_CODAGPU_H
