//===- Differences.h - gradients against finite differences ----*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_TOOLS_CODA_RUN_DIFFERENCES_H
#define CODA_TOOLS_CODA_RUN_DIFFERENCES_H

#include "Session.h"

namespace mlir::coda::runtime {

/// The gradients that the session's fused program gave, compared with central
/// differences of the function, computed in f64, along one random direction per
/// argument. Prints a line for each; a failure with ExitCheckFailed names the
/// first that does not agree.
Status checkDifferences(Session &session);

} // namespace mlir::coda::runtime

#endif // CODA_TOOLS_CODA_RUN_DIFFERENCES_H
