//===- InitAll.h - Registration of all coda dialects and passes -*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_INITALL_H
#define CODA_INITALL_H

namespace mlir {
class DialectRegistry;
namespace coda {

/// Adds the project's dialects and the external models of their interfaces to
/// `registry`. Upstream dialects are the caller's to register; the passes load
/// the ones that they create.
void registerAllDialects(DialectRegistry &registry);

/// Registers every pass and pipeline of the project, by name.
void registerAllPasses();

} // namespace coda
} // namespace mlir

#endif // CODA_INITALL_H
