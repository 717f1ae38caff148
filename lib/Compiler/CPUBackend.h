//===- CPUBackend.h - LLVM IR to a shared object ----------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_COMPILER_CPUBACKEND_H
#define CODA_LIB_COMPILER_CPUBACKEND_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir {
namespace coda {

/// A CPU to generate code for.
struct CPUTarget {
  std::string name;         ///< As LLVM names it.
  std::string features;     ///< LLVM's feature string.
  unsigned required = 0;    ///< CODA_CPU_* of HostSupport.h.
};

/// Resolves "native" or "x86-64-v3"; an error names what there is.
llvm::Expected<CPUTarget> resolveCPU(llvm::StringRef name);

/// The machine for `cpu`, with position-independent code.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const CPUTarget &cpu);

/// Runs LLVM's O3 pipeline on `module`.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Generates an object file into `object`.
llvm::Error emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                       llvm::SmallVectorImpl<char> &object);

/// Links `object` with the host support into the shared object `outputPath`,
/// with lld as a library. The result depends on libc and libm only.
/// With `device` also with the launch runtime.
llvm::Error linkSharedObject(llvm::StringRef object, llvm::StringRef outputPath,
                             bool device = false);

} // namespace coda
} // namespace mlir

#endif // CODA_LIB_COMPILER_CPUBACKEND_H
