//===- coda-run.cpp - runs and checks compiled programs -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links no LLVM: given IR, it starts coda-compile.
//
//===----------------------------------------------------------------------===//

#include "Differences.h"
#include "Report.h"

#include "coda/Runtime/Files.h"

#include <cstdio>

using namespace mlir::coda::runtime;

namespace {

/// Prints a failure (an empty text has been printed already) and gives the
/// exit code.
int fail(const Failure &failure) {
  std::fflush(stdout);
  if (!failure.message.empty())
    std::fprintf(stderr, "error: %s\n", failure.message.c_str());
  return failure.exitCode;
}

int run(Options options) {
  // Before anything is compiled: what cannot be written is not worth waiting for.
  for (const std::string &path : {options.out, options.json})
    if (!path.empty())
      if (Result<OutputFile> file = OutputFile::create(path); !file.ok())
        return fail(file.error());
  Result<std::unique_ptr<Session>> created =
      Session::create(std::move(options));
  if (!created.ok())
    return fail(created.error());
  Session &session = **created;
  if (Status status = session.prepare(); !status.ok())
    return fail(status.error());
  if (Status status = session.execute(); !status.ok())
    return fail(status.error());
  Result<Report> report = makeReport(session);
  if (!report.ok())
    return fail(report.error());
  if (session.options().differences)
    if (Status status = checkDifferences(session, *report); !status.ok())
      return fail(status.error());
  printReport(session, *report);

  const Options &opts = session.options();
  if (!opts.out.empty()) {
    std::vector<std::pair<std::string, const Tensor *>> arrays;
    const std::vector<Tensor> &outputs = session.fused->execution->outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      arrays.emplace_back("out" + std::to_string(i), &outputs[i]);
    if (Status status = writeNpz(opts.out, arrays); !status.ok())
      return fail(status.error());
  }
  if (!opts.json.empty())
    if (Status status = writeReport(session, *report, opts.json); !status.ok())
      return fail(status.error());
  if (report->good)
    return ExitGood;
  for (size_t i = 0; i < report->outputs.size(); ++i) {
    const OutputReport &output = report->outputs[i];
    if (output.verdict && !output.verdict->good)
      return fail({"output " + std::to_string(i) + " ('" + output.name +
                       "') of '" + opts.input + "' " + output.verdict->why +
                       " (error " + formatError(output.verdict->error) +
                       ", limit " + formatError(output.verdict->limit) + ")",
                   ExitCheckFailed});
  }
  std::string bad;
  const GradientReport *first = nullptr;
  for (const GradientReport &gradient : report->gradients)
    if (!gradient.good) {
      first = first ? first : &gradient;
      bad += (bad.empty() ? "'" : ", '") + gradient.name + "'";
    }
  if (first)
    return fail({"the gradients of " + bad + " of '" + opts.input +
                     "' are not those of the function: of '" + first->name +
                     "' " + formatError(first->gradient) +
                     " along a direction, differences give " +
                     formatError(first->difference) + " (error " +
                     formatError(first->error) + ", limit " +
                     formatError(first->limit) + ")",
                 ExitCheckFailed});
  // No argument had an element to compare.
  return ExitCheckFailed;
}

} // namespace

int main(int argc, char **argv) {
  Result<Options> options =
      parseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok())
    return fail(options.error());
  if (options->help) {
    std::fputs(helpText(), stdout);
    return ExitGood;
  }
  return run(std::move(*options));
}
