//===- Differences.h - gradients against finite differences ----*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_TOOLS_CODA_RUN_DIFFERENCES_H
#define CODA_TOOLS_CODA_RUN_DIFFERENCES_H

#include "Report.h"

namespace mlir::coda::runtime {

/// Compares the gradients that the session's fused program gave with central
/// differences of the function, computed in f64, along a random direction and one
/// of the gradient's own signs per argument, and adds the findings to `report`.
/// Where they disagree, elements at which the function is not differentiable (a
/// kink, a pole, the edge of where it is defined) are looked for; they are left out
/// and counted. Fails where nothing can be compared.
Status checkDifferences(Session &session, Report &report);

} // namespace mlir::coda::runtime

#endif // CODA_TOOLS_CODA_RUN_DIFFERENCES_H
