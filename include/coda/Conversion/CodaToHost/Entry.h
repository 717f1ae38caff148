//===- Entry.h - What the host passes know about an entry -------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATOHOST_ENTRY_H
#define CODA_CONVERSION_CODATOHOST_ENTRY_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir {
namespace coda {

/// Attribute of a function that is exported through the C ABI: a dictionary of
///   name       the function's name in the source
///   inputs     tensor types of the inputs
///   outputs    tensor types of the outputs
///   launches   i32, kernel launches of one call
///   extents    i32 array, one number per extent of the inputs: extents of the
///              same number must be equal; -1: free. Absent: all are free
///   infer      symbol of the function that computes the dynamic extents of
///              the outputs, if there are any
///   workspace  symbol of the function that computes the number of bytes of
///              the workspace (set by coda-plan-workspace)
inline constexpr llvm::StringLiteral kEntryAttr = "coda.entry";

/// Largest rank of an argument; the same as CODA_MAX_RANK of HostSupport.c.
inline constexpr int64_t kMaxHostRank = 8;

} // namespace coda
} // namespace mlir

#endif // CODA_CONVERSION_CODATOHOST_ENTRY_H
