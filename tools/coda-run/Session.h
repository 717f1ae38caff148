//===- Session.h - programs and inputs of one coda-run ---------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_TOOLS_CODA_RUN_SESSION_H
#define CODA_TOOLS_CODA_RUN_SESSION_H

#include "Options.h"

#include "coda/Runtime/Execution.h"
#include "coda/Runtime/Npz.h"
#include "coda/Runtime/Process.h"
#include "coda/Runtime/Recipe.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// One compiled program, the entry of it that runs, and (after execute) what
/// it gave.
struct Program {
  std::string role; ///< "fused", "unfused", "plain", "reference"
  Artifact artifact;
  const EntryInfo *entry = nullptr;
  double compileSeconds = 0; ///< 0 if it was given compiled
  Device *device = nullptr;
  std::vector<Tensor> inputs; ///< only where they differ from the session's
  std::unique_ptr<Execution> execution;
  std::vector<double> seconds; ///< of the timed runs
  /// Whether its time is one of those that are compared.
  bool isTimed = true;

  /// Median of the timed runs, or the time of the first where there are none.
  double medianSeconds() const;
};

/// Whether an argument or a result of the entry is of floats of 16 or 8 bits, or
/// what the program computes with is: `within`.
bool hasNarrowFloats(const EntryInfo &entry, std::optional<DType> within);

/// That output `index` cannot be compared: it is of such floats, and nothing says
/// how far they may be.
Failure lackOfYardstick(size_t index);

/// Compiles, loads, makes inputs and runs. Everything that it compiles lies in
/// one temporary folder, which goes with it.
class Session {
  // Declared first, so that they outlive the programs' memory on them.
  std::unique_ptr<Device> host, cuda;

public:
  static Result<std::unique_ptr<Session>> create(Options options);

  /// Whether the input is IR; otherwise it is a compiled artifact.
  bool inputIsIR() const { return isIR; }

  /// Of the floats of 16 or 8 bits that the graph has anywhere, the coarsest; none
  /// if there are none, or if the input is compiled and does not say.
  std::optional<DType> narrowest() const { return narrowestWithin; }
  const Options &options() const { return opts; }
  /// The recipe of --inputs, if that is one.
  const Recipe *recipe() const { return haveRecipe ? &theRecipe : nullptr; }

  /// Loads the fused program and, where there are, the unfused one and the
  /// reference, and makes the inputs.
  Status prepare();
  /// Runs all: once with every check, then timed rounds, each of the fused
  /// program, the unfused one and the plain gemms in turn.
  Status execute();
  /// Rounds that were timed.
  size_t numRounds() const { return fused->seconds.size(); }
  /// How much time the fused program takes for one of `other`: the median of
  /// the ratios of each round, in which both ran under the same conditions.
  double timeRatio(const Program &other) const;

  /// The function that the session differentiates, compiled in f64.
  Result<std::unique_ptr<Program>> openFunctionInF64();

  std::unique_ptr<Program> fused, unfused, reference;
  /// The matrix products of the fused program alone, if there are any and the
  /// input is IR: what its time is compared with.
  std::unique_ptr<Program> plain;
  const std::vector<Tensor> &inputs() const { return values; }

private:
  explicit Session(Options options) : opts(std::move(options)) {}
  /// Whether a 16-bit result of the fused program will have to be compared, with
  /// no other 16-bit result at hand that says how far it may be.
  Result<bool> lacksYardstick() const;
  /// Compiles `ir` with the session's arguments and `extra`; the path of the
  /// shared library.
  Result<std::string> compile(const std::string &ir, const std::string &target,
                              const std::vector<std::string> &extra,
                              double &seconds);
  /// Loads `path` and finds the entry; by default that of the session.
  Result<std::unique_ptr<Program>> open(const std::string &role,
                                        const std::string &path,
                                        const std::string &entry = "");
  Result<std::unique_ptr<Program>>
  compileAndOpen(const std::string &role, const std::string &target,
                 const std::vector<std::string> &extra);
  /// Takes from the report of a compilation what the graph computes with.
  void readNarrowest(const std::string &report);
  /// Compiles the plain gemms and makes their factors; nothing if there are no
  /// gemms.
  Status preparePlain();
  Status time();
  Status explainSeed(Status status) const;
  Result<std::vector<Tensor>> inputsFromNpz(const EntryInfo &entry);
  Result<std::vector<Tensor>> inputsFromSeed(const EntryInfo &entry);
  Result<std::vector<Tensor>> inputsFromRecipe(const Recipe &recipe, int depth);
  /// Output `index` of the graph NAME.mlir beside a recipe, run unfused on the
  /// inputs of NAME.json.
  Result<Tensor> resultOf(const std::string &folder, const std::string &graph,
                          int64_t index, int depth);
  /// The inputs for a program of the same signature but perhaps wider floats.
  Result<std::vector<Tensor>> adapt(const Program &program) const;

  Options opts;
  bool isIR = false, isGraphKnown = false;
  std::optional<DType> narrowestWithin;
  bool haveRecipe = false;
  Recipe theRecipe;
  std::vector<Tensor> values;
  std::map<std::string, std::vector<Tensor>> resultsOfGraphs;
  std::unique_ptr<TemporaryFolder> folder;
  int numCompiled = 0;
};

} // namespace mlir::coda::runtime

#endif // CODA_TOOLS_CODA_RUN_SESSION_H
