//===- Artifact.h - a compiled program, loaded -----------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads a shared library that coda-compile wrote and checks its table (see
// coda_runtime.h) before anything relies on it.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_ARTIFACT_H
#define CODA_RUNTIME_ARTIFACT_H

#include "coda/Runtime/Tensor.h"

#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// An argument as the table describes it. Extent -1 is dynamic.
struct ArgumentInfo {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
};

/// An entry point as the table describes it.
struct EntryInfo {
  std::string name;
  std::vector<ArgumentInfo> inputs, outputs;
  int32_t numLaunches = 0;
  const coda_entry_info *table = nullptr;
};

/// A loaded artifact. The library stays loaded until the process ends, so that
/// no code can be called after it has gone.
class Artifact {
public:
  /// Fails on a missing file, on what is no shared library or exports no
  /// coda_module_v1, on a table of another version or with impossible entries,
  /// and where this CPU lacks what the code was compiled for. Messages call
  /// the file `shownAs`, if that is given: what it was compiled from, say.
  static Result<Artifact> load(const std::string &path,
                               const std::string &shownAs = "");

  const std::string &path() const { return file; }
  /// "cpu" or the name of a GPU architecture.
  const std::string &target() const { return targetName; }
  const std::vector<EntryInfo> &entries() const { return entryList; }
  /// The entry of that name; for an empty name the one called "main", or the
  /// only one. The pointer lives as long as the artifact.
  Result<const EntryInfo *> find(const std::string &name) const;

  /// Loads what the artifact needs on the device (coda_module.init).
  Status initialise(int32_t device) const;
  /// The artifact's own text about the last failed call of this thread.
  std::string lastError() const;

private:
  std::string file, targetName;
  std::vector<EntryInfo> entryList;
  const coda_module *table = nullptr;
};

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_ARTIFACT_H
