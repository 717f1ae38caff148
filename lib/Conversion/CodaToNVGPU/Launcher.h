//===- Launcher.h - Host side of a kernel -----------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_LAUNCHER_H
#define CODA_CONVERSION_CODATONVGPU_LAUNCHER_H

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::coda_gpu {

/// What a launch needs of a kernel beside its parameters.
struct KernelLaunch {
  /// Dynamic shared memory of a block.
  int64_t sharedBytes = 0;
  int64_t threads = 0;
  /// Blocks of a cluster.
  int64_t cluster = 1;
  /// 1: the kernel itself waits for the one before it, and may be launched
  /// before that has ended.
  int64_t overlaps = 0;
};

/// Name of the record that the launch runtime keeps about kernel `name`.
std::string getHandleName(StringRef name);

/// Type of that record, `coda_gpu_kernel` of coda/Runtime/GPULaunch.h:
/// image, name, `KernelLaunch`; clusters and function, one a device.
Type getHandleType(MLIRContext *context);

/// Builds the record, with the image given or null, before `module`'s first op.
LLVM::GlobalOp createHandle(OpBuilder &builder, ModuleOp module, Location loc,
                            StringRef name, StringRef image,
                            KernelLaunch launch);

/// Emits the launch of `kernel` at the builder's insertion point: a tensor map
/// for each operand that the copy engine moves, then the parameters. A read of
/// the copy engine brings `sector` bytes into L2, 128 or 256.
void emitLaunch(OpBuilder &builder, ModuleOp module, Location loc,
                StringRef kernel, ArrayRef<KernelParam> params,
                int64_t sector);

/// Emits the launch of `kernel` over `points` points, a thread each or more,
/// at the builder's insertion point. `arguments` are what the kernel's
/// parameters stand for, in order: scalars as they are, an index as 64 bits, a
/// memref as the fields of its descriptor.
void emitLoopLaunch(OpBuilder &builder, ModuleOp module, Location loc,
                    StringRef kernel, Value points, ValueRange arguments);

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_LAUNCHER_H
