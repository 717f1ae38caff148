//===- Result.h - a value or one line of text ------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of the code that links no LLVM: no exceptions, no globals. A failure
// carries the text that follows "error: " and the exit code of the tool.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_RESULT_H
#define CODA_RUNTIME_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace mlir::coda::runtime {

/// Exit codes of the tools.
enum ExitCode { ExitGood = 0, ExitCheckFailed = 1, ExitBadInput = 2 };

/// What went wrong: one line (where, what, why, what to do) without the word
/// "error:", and the exit code that a tool ends with.
struct Failure {
  std::string message;
  int exitCode = ExitBadInput;
};

/// Nothing, or a failure.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Failure failure) : failure(std::move(failure)) {}
  bool ok() const { return !failure; }
  const Failure &error() const { return *failure; }

private:
  std::optional<Failure> failure;
};

/// A value, or a failure.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Failure failure) : failure(std::move(failure)) {}
  bool ok() const { return value.has_value(); }
  const Failure &error() const { return failure; }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Failure failure;
};

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_RESULT_H
