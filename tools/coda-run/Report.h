//===- Report.h - what coda-run finds out ----------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the outputs of the programs with a reference, and writes the
// findings as a table and as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_TOOLS_CODA_RUN_REPORT_H
#define CODA_TOOLS_CODA_RUN_REPORT_H

#include "Session.h"

#include "coda/Runtime/ErrorRule.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// One output of the fused program.
struct OutputReport {
  std::string name;
  std::string type; ///< "2x64x256:bf16"
  /// Nothing where there is no reference for this output.
  std::optional<ErrorVerdict> verdict;
  /// Error of the unfused program against the same reference.
  std::optional<double> unfusedError;
};

/// The gradient of one argument beside differences of the function.
struct GradientReport {
  std::string name;
  std::string type;
  /// Along a direction of all elements that are compared.
  double gradient = 0, difference = 0;
  double error = 0, limit = 0;
  size_t size = 0;
  /// Elements at which the function is not differentiable, as far as they were
  /// told apart, and that are not compared.
  size_t skipped = 0;
  std::string why; ///< of `skipped`
  bool good = true;

  /// Whether there is an element to compare, or no element at all.
  bool isCompared() const { return skipped < size || size == 0; }
};

struct Report {
  std::vector<OutputReport> outputs;
  std::vector<GradientReport> gradients;
  /// Whether anything was compared, and all of it was good.
  bool checked = false, good = true;
};

/// Reads the golden, if there is one, and judges the outputs of the fused
/// program. Fails on a golden that is not one for this program.
Result<Report> makeReport(const Session &session);

/// An error as the table prints it.
std::string formatError(double value);

/// Prints the findings to stdout, last what was good, or that nothing was
/// compared.
void printReport(const Session &session, const Report &report);
/// Writes the findings as JSON; the file appears when it is complete.
Status writeReport(const Session &session, const Report &report,
                   const std::string &path);

} // namespace mlir::coda::runtime

#endif // CODA_TOOLS_CODA_RUN_REPORT_H
