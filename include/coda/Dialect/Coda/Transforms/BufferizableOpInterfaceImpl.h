//===- BufferizableOpInterfaceImpl.h - Tile ops on memrefs -*- C++ -*- --===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define CODA_DIALECT_CODA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace coda {

/// Attaches BufferizableOpInterface to gemm, map and bundle.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace coda
} // namespace mlir

#endif // CODA_DIALECT_CODA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
