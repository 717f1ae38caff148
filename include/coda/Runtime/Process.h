//===- Process.h - starting other tools ------------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Temporary folders and subprocesses for tools that start coda-compile.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_PROCESS_H
#define CODA_RUNTIME_PROCESS_H

#include "coda/Runtime/Result.h"

#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// A folder of its own under TMPDIR (or /tmp); removed with what it holds.
class TemporaryFolder {
public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) noexcept : folder(other.folder) {
    other.folder.clear();
  }
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();
  const std::string &path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

/// The executable `name` beside this process's own executable, else on PATH.
Result<std::string> findTool(const std::string &name);

/// What a subprocess did: its exit code (128 + signal if a signal ended it)
/// and all that it printed to stderr and stdout.
struct ProcessResult {
  int code = 0;
  std::string output;
};

/// Runs argv[0] with the arguments, waits for it, and collects its output
/// through the file `logPath`. Fails only if it cannot be started.
Result<ProcessResult> runProcess(const std::vector<std::string> &argv,
                                 const std::string &logPath);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_PROCESS_H
