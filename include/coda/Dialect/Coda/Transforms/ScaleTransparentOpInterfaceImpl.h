//===- ScaleTransparentOpInterfaceImpl.h - Models upstream -*- C++ -*- --===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_SCALETRANSPARENTOPINTERFACEIMPL_H
#define CODA_DIALECT_CODA_TRANSFORMS_SCALETRANSPARENTOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace coda {

/// Attaches ScaleTransparentOpInterface to linalg contractions, generics and
/// transposes and to reshapes of tensors.
void registerScaleTransparentOpInterfaceExternalModels(
    DialectRegistry &registry);

} // namespace coda
} // namespace mlir

#endif // CODA_DIALECT_CODA_TRANSFORMS_SCALETRANSPARENTOPINTERFACEIMPL_H
