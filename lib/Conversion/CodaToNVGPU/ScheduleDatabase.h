//===- ScheduleDatabase.h - Measured schedules on disk ----------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON file that `coda-bench` writes: for each GPU the best of the measured
// schedules of each kernel, by a key of what the kernel computes.
//
//   {"version": 1, "gpus": {"NAME": {"KEY": {"schedule": "#coda_gpu..."}}}}
//
// Other members of an entry (its times) are for readers. A schedule is checked
// when it is looked up, not trusted.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_SCHEDULEDATABASE_H
#define CODA_CONVERSION_CODATONVGPU_SCHEDULEDATABASE_H

#include "KernelModel.h"

#include "llvm/ADT/StringMap.h"

#include <string>

namespace mlir::coda_gpu {

/// What `kernel` computes, as text: kind, extents and factor type of its ops
/// for a reader, and a hash of its whole function, in which neither the name
/// nor a schedule takes part.
std::string getKernelKey(const KernelModel &kernel);

class ScheduleDatabase {
public:
  /// Reads the entries for `gpu`; an empty name stands for the only GPU of the
  /// file. On failure `reason` says what is wrong with the file.
  static FailureOr<ScheduleDatabase> load(StringRef path, StringRef gpu,
                                          MLIRContext *context,
                                          std::string &reason);

  /// The schedule of `key`; null if there is none.
  ScheduleAttr lookup(StringRef key) const { return schedules.lookup(key); }

private:
  llvm::StringMap<ScheduleAttr> schedules;
};

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_SCHEDULEDATABASE_H
