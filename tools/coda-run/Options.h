//===- Options.h - command line of coda-run --------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_TOOLS_CODA_RUN_OPTIONS_H
#define CODA_TOOLS_CODA_RUN_OPTIONS_H

#include "coda/Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::coda::runtime {

struct Options {
  bool help = false;
  std::string input;
  std::string entry;
  bool cuda = false;
  std::string inputs;
  std::optional<uint64_t> seed;
  /// Of --seed: what each dynamic extent is.
  std::optional<int64_t> extent;
  /// Of --seed: integers are in [0, integers).
  std::optional<int64_t> integers;
  std::string check;
  bool againstReference = false;
  std::string unfused;
  bool noUnfused = false;
  bool noPlainGemms = false;
  /// Timed rounds; without a number as many as fill a part of a second.
  std::optional<int> repeat;
  std::string out;
  std::string json;
  bool verbose = false;
  /// Runs the function together with its backward; see coda-compile --grad.
  bool grad = false;
  /// Compares gradients with differences of the function.
  bool differences = false;
  std::vector<int64_t> gradConstants;
  /// The function that is differentiated; the entry is then its `_grad`.
  std::string function;
  /// Passed on to coda-compile where the input is differentiated.
  std::vector<std::string> gradArguments;
  /// Passed on to coda-compile for the device that the program runs on.
  std::vector<std::string> compileArguments;
  /// Passed on to coda-compile whatever it compiles for.
  std::vector<std::string> meaningArguments;
  /// Passed on to coda-compile for the input: which of its functions counts.
  std::vector<std::string> entryArguments;
};

/// Parses argv[1...]; fails on unknown flags, missing or malformed values, and
/// flags that contradict each other.
Result<Options> parseOptions(const std::vector<std::string> &arguments);

/// The text of --help.
const char *helpText();

} // namespace mlir::coda::runtime

#endif // CODA_TOOLS_CODA_RUN_OPTIONS_H
