//===- CheckScheduleDatabase.h - Whether a file is a database ---*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_CHECKSCHEDULEDATABASE_H
#define CODA_CONVERSION_CODATONVGPU_CHECKSCHEDULEDATABASE_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir {
class MLIRContext;
namespace coda_gpu {

/// Whether the file at `path` is a schedule database with entries for `gpu`, or,
/// where that is empty, for one GPU; if not, `reason` says what is wrong with it.
/// Loads the dialect of schedules.
LogicalResult checkScheduleDatabase(StringRef path, StringRef gpu,
                                    MLIRContext *context, std::string &reason);

} // namespace coda_gpu
} // namespace mlir

#endif // CODA_CONVERSION_CODATONVGPU_CHECKSCHEDULEDATABASE_H
