//===- Files.h - reading and writing files -----------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_FILES_H
#define CODA_RUNTIME_FILES_H

#include "coda/Runtime/Result.h"

namespace mlir::coda::runtime {

/// Whether there is a regular file at `path` that may be read.
Status checkReadable(const std::string &path);

/// A file that is written under another name beside its own and renamed when it
/// is complete. What is no regular file (a pipe, a device) is written as it is.
class OutputFile {
public:
  /// Fails if there can be no file at `path`, so that this can be known before
  /// there is anything to write.
  static Result<OutputFile> create(const std::string &path);
  OutputFile(OutputFile &&other);
  OutputFile(const OutputFile &) = delete;
  /// Removes what was not committed.
  ~OutputFile();

  /// Where to write.
  const std::string &name() const {
    return temporary.empty() ? path : temporary;
  }
  /// Fails for the reason in errno if `good` is false.
  Status commit(bool good);

private:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  std::string path;
  std::string temporary;
};

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_FILES_H
