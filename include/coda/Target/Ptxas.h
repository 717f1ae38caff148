//===- Ptxas.h - The assembler of the CUDA toolkit --------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_TARGET_PTXAS_H
#define CODA_TARGET_PTXAS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace mlir::coda_gpu {

/// What ptxas says about a module, the worst of its kernels.
struct PtxasReport {
  unsigned registers = 0;
  unsigned stackBytes = 0;
  unsigned spillStoreBytes = 0;
  unsigned spillLoadBytes = 0;
  unsigned sharedBytes = 0;
  /// WGMMA instructions were serialised (ptxas warning C7510 and its like).
  bool serialized = false;
  /// Kernels that spill, or whose WGMMA instructions were serialised, with the
  /// bytes of their spills.
  std::vector<std::pair<std::string, unsigned>> changed;
  std::string log;

  bool isClean() const {
    return !spillStoreBytes && !spillLoadBytes && !serialized;
  }
};

/// Reads the output of `ptxas -v`.
PtxasReport parsePtxasLog(StringRef log);

/// The path of ptxas: `hint` if it is not empty, else the first on PATH, else
/// the one in /usr/local/cuda/bin; empty if there is none.
std::string findPtxas(StringRef hint = "");

/// Assembles `ptx` for `chip` with the assembler at `ptxas`, with the line
/// tables that the PTX has if `lineInfo` is set. On failure `error` says what
/// happened; no file is left behind either way.
FailureOr<std::string> assemblePtx(StringRef ptx, StringRef chip,
                                   StringRef ptxas, PtxasReport &report,
                                   std::string &error, bool lineInfo = false);

} // namespace mlir::coda_gpu

#endif // CODA_TARGET_PTXAS_H
