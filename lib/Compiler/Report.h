//===- Report.h - What was fused, and why the rest was not ------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The report of a compilation (--report), collected stage by stage as one JSON
// value, and written as that or as a page of HTML that needs nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_COMPILER_REPORT_H
#define CODA_LIB_COMPILER_REPORT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace llvm {
class raw_ostream;
class SourceMgr;
} // namespace llvm

namespace mlir {
class ModuleOp;
namespace coda {

/// The innermost place in a file that `loc` names, as FILE:LINE:COL; empty if
/// there is none.
std::string describeLocation(Location loc);

/// The parts of a remark of a pass, `[pass] what: reason: detail`.
struct RemarkParts {
  llvm::StringRef pass, what, reason, detail;
};
RemarkParts parseRemark(llvm::StringRef message);

class CompilationReport {
public:
  /// Texts of source lines are taken from `sources`, which outlives this.
  explicit CompilationReport(const llvm::SourceMgr &sources)
      : sources(sources) {}

  /// The module as it was read: what it computes with.
  void addInput(ModuleOp module);
  /// A remark of a pass with its notes.
  void addRemark(const Diagnostic &remark);
  /// The module after coda-fuse-pipeline: functions with their launches and
  /// what was left to them; kernels, in the order of their launches, with what
  /// each does and where in the source it comes from.
  void addFused(ModuleOp module);
  /// The module with its workspaces planned: their bytes; and with schedules on
  /// its kernels, if the target has any.
  void addPlanned(ModuleOp module);

  /// The module with schedules, of a GPU target: what its functions launch, by
  /// now without the kernels that no schedule fits, and what runs as loops.
  void addLaunched(ModuleOp module);

  llvm::json::Value toJSON(llvm::StringRef input, llvm::StringRef target,
                           llvm::StringRef numerics) const;

private:
  /// The line of source at FILE:LINE:COL, without indentation, cut if long.
  std::string getLine(Location loc) const;
  /// The distinct places that the ops of `root` come from, in their order.
  llvm::json::Array getSources(Operation *root) const;
  llvm::json::Object describeKernel(Operation *function) const;

  const llvm::SourceMgr &sources;
  llvm::json::Array remarks, functions, kernels;
  FloatType narrowest;
  llvm::StringMap<std::string> workspaces, schedules;
};

/// Writes what `toJSON` gave as a page of HTML, without scripts and links.
void printReportAsHTML(const llvm::json::Value &report,
                       llvm::raw_ostream &stream);

} // namespace coda
} // namespace mlir

#endif // CODA_LIB_COMPILER_REPORT_H
