//===- coda-compile.cpp - Graphs to shared objects ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thin front of coda::compile. Exit codes: 0, and 2 for bad input or usage,
// with one line `error: ...` on standard error.
//
//===----------------------------------------------------------------------===//

#include "coda/Compiler/Driver.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <unistd.h>

namespace cl = llvm::cl;

/// What `run` prints to standard error.
static std::string captureStderr(llvm::function_ref<void()> run) {
  std::FILE *file = std::tmpfile();
  int saved = file ? dup(STDERR_FILENO) : -1;
  if (saved < 0 || dup2(fileno(file), STDERR_FILENO) < 0) {
    run();
    return "";
  }
  run();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

int main(int argc, char **argv) {
  cl::OptionCategory category("coda-compile");
  cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir"),
                             cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("Where the result goes; - is standard output, for "
               "all but a shared object"),
      
                              cl::value_desc("OUT"), cl::cat(category));
  cl::opt<std::string> target("target", cl::desc("cpu or sm_90a"),
                              cl::init("cpu"), cl::cat(category));
  cl::opt<std::string> emit(
      "emit",
      cl::desc("Stop at fused|schedules|scheduled|nvgpu|llvm|ptx|cubin|so"),
      cl::init("so"), cl::cat(category));
  cl::opt<std::string> numerics(
      "numerics",
      cl::desc("relaxed: commute, partial sums, one rounding per store; "
               "batch-invariant: relaxed, a row's bits do not depend on the "
               "number of rows; "
               "strict: keep every rounding and order of the source"),
      cl::init("relaxed"), cl::cat(category));
  cl::opt<std::string> report(
      "report", cl::desc("Write what was fused, and why not the rest"),
      cl::value_desc("FILE.html|FILE.json"), cl::cat(category));
  cl::opt<bool> noFuse(
      "no-fuse",
      cl::desc("Compile the graph as it is; with --grad, what is derived, too"),
      cl::cat(category));
  cl::opt<bool> reference(
      "reference",
      cl::desc("Unfused and all in f64, results rounded to f32 (f64 stays): the "
               "oracle"),
      cl::cat(category));
  cl::opt<bool> referenceF64(
      "reference-f64",
      cl::desc("As --reference, with arguments and results in f64, too"),
      cl::cat(category));
  cl::opt<bool> plainGemms(
      "plain-gemms",
      cl::desc("Of the fused program its matrix products alone: what its time "
               "is compared with"),
      cl::cat(category));
  cl::opt<bool> allowF16Range(
      "allow-f16-range",
      cl::desc("Defer row scales in f16 too, though un-normalised values may "
               "overflow; not with --numerics=strict, which defers none"),
      cl::cat(category));
  cl::opt<std::string> f32Products(
      "f32-products",
      cl::desc("What multiplies f32 factors: f32, as they are, which on sm_90a are "
               "loops; bf16x3 or bf16x6: sums of so many products of bf16 parts, on "
               "the matrix unit"),
      cl::init("f32"), cl::cat(category));
  cl::opt<bool> grad(
      "grad",
      cl::desc("Differentiate the entry: adds its forward F_fwd, its backward "
               "F_bwd, and F_grad, which runs both"),
      cl::cat(category));
  cl::opt<std::string> entry("entry",
                             cl::desc("Compile this function alone; that which "
                                      "--grad takes"),
                             cl::value_desc("F"), cl::init("main"),
                             cl::cat(category));
  cl::opt<std::string> save(
      "save",
      cl::desc("What the forward saves: min (fewest bytes), stored (what it "
               "stores anyway) or all"),
      cl::init("min"), cl::cat(category));
  cl::list<int64_t> gradConstants(
      "grad-constants", cl::desc("Numbers of arguments without a gradient"),
      cl::CommaSeparated, cl::cat(category));
  cl::opt<std::string> gradDtype(
      "grad-dtype", cl::desc("Type of the gradients of weights: f32, bf16 ..."),
      cl::cat(category));
  cl::opt<std::string> residualGrad(
      "residual-grad", cl::desc("Type of cotangents stored between kernels"),
      cl::cat(category));
  cl::opt<int64_t> recomputeOver(
      "recompute-over",
      cl::desc("Run a gemm (logits, say) again in the backward rather than save "
               "more bytes for it; 0: never"),
      cl::value_desc("BYTES"), cl::init(0), cl::cat(category));
  cl::opt<bool> accumulate(
      "accumulate",
      cl::desc("Add the gradients of weights to given ones, the last arguments"),
      cl::cat(category));
  cl::opt<std::string> cpu(
      "cpu",
      cl::desc("native or x86-64-v3: the CPU of the code, for a GPU that of the "
               "code that launches"),
      cl::init("x86-64-v3"), cl::cat(category));
  cl::opt<std::string> scheduleDatabase(
      "schedule-db", cl::desc("Measured schedules, which coda-bench writes"),
      cl::value_desc("FILE.json"), cl::cat(category));
  cl::opt<std::string> gpu(
      "gpu", cl::desc("The GPU of --schedule-db whose schedules count"),
      cl::value_desc("NAME"), cl::cat(category));
  cl::opt<bool> lineInfo(
      "line-info",
      cl::desc("Line tables for profilers: GPU instructions to lines of IN.mlir"),
      cl::cat(category));
  cl::HideUnrelatedOptions(category);

  // One error line, also for what the command line parser rejects.
  std::string usage;
  llvm::raw_string_ostream usageStream(usage);
  bool parsed = false;
  // Some of its errors do not go to the stream that it is given.
  std::string printed = captureStderr([&] {
    parsed = cl::ParseCommandLineOptions(argc, argv, "coda compiler\n",
                                         &usageStream);
  });
  auto bad = [](const llvm::Twine &what) {
    llvm::errs() << "error: " << what << '\n';
    return 2;
  };
  if (!parsed) {
    llvm::StringRef what =
        llvm::StringRef(printed.empty() ? usage : printed).split('\n').first;
    what = what.substr(what.find(": ") + 1).ltrim();
    std::string text;
    if (what.consume_front("for the ")) {
      auto [option, rest] = what.split(" option: ");
      text = option.str() + ": ";
      what = rest;
    }
    text += what.split(".  Try: ").first.rtrim("!");
    return bad(text + " (see coda-compile --help)");
  }
  for (const auto &[name, option] : cl::getRegisteredOptions()) {
    bool isOurs = llvm::is_contained(option->Categories, &category);
    if (isOurs && option->getNumOccurrencesFlag() != cl::ZeroOrMore &&
        option->getNumOccurrences() > 1)
      return bad((name.size() == 1 ? "-" : "--") + name +
                 " is given twice");
  }
  for (const cl::opt<std::string> *option :
       {&target, &emit, &numerics, &f32Products, &report, &entry, &save, &gradDtype,
        &residualGrad, &cpu, &scheduleDatabase, &gpu})
    if (option->getNumOccurrences() && option->empty())
      return bad("--" + option->ArgStr + " needs a value");
  if (input.empty())
    return bad("no input; usage: coda-compile IN.mlir -o OUT [options]");
  if (output.empty())
    return bad("no output; say where it goes with -o OUT");

  mlir::coda::CompileOptions options;
  std::optional<mlir::coda::EmitStage> stage =
      mlir::coda::parseEmitStage(emit);
  if (!stage)
    return bad("--emit=" + emit +
               " is not a stage; there are fused, schedules, scheduled, "
               "nvgpu, llvm, ptx, cubin and so");
  if (numerics != "relaxed" && numerics != "batch-invariant" &&
      numerics != "strict")
    return bad("--numerics=" + numerics +
               " is unknown; there are relaxed, batch-invariant and strict");
  if (f32Products != "f32" && f32Products != "bf16x3" &&
      f32Products != "bf16x6")
    return bad("--f32-products=" + f32Products +
               " is unknown; there are f32, bf16x3 and bf16x6");
  if (!grad)
    for (const auto &[flag, given] :
         {std::pair("save", save.getNumOccurrences()),
          std::pair("grad-constants", gradConstants.getNumOccurrences()),
          std::pair("grad-dtype", gradDtype.getNumOccurrences()),
          std::pair("residual-grad", residualGrad.getNumOccurrences()),
          std::pair("recompute-over", recomputeOver.getNumOccurrences()),
          std::pair("accumulate", accumulate.getNumOccurrences())})
      if (given)
        return bad(std::string("--") + flag + " needs --grad");
  options.target = target;
  options.emit = *stage;
  if (numerics == "batch-invariant")
    options.numerics = mlir::coda::Numerics::BatchInvariant;
  if (numerics == "strict")
    options.numerics = mlir::coda::Numerics::Strict;
  if (f32Products == "bf16x3")
    options.f32Products = mlir::coda::F32Products::BF16x3;
  if (f32Products == "bf16x6")
    options.f32Products = mlir::coda::F32Products::BF16x6;
  options.fuse = !noFuse && !reference && !referenceF64;
  options.reference = reference || referenceF64;
  options.referenceBorders = referenceF64;
  options.plainGemms = plainGemms;
  options.allowF16Range = allowF16Range;
  options.grad = grad;
  options.entry = entry;
  options.onlyEntry = entry.getNumOccurrences() != 0;
  options.save = save;
  options.gradConstants.assign(gradConstants.begin(), gradConstants.end());
  options.gradDtype = gradDtype;
  options.residualGrad = residualGrad;
  options.accumulate = accumulate;
  options.recomputeOver = recomputeOver;
  options.cpu = cpu;
  options.scheduleDatabase = scheduleDatabase;
  options.scheduleGPU = gpu;
  options.lineInfo = lineInfo;
  options.reportPath = report;
  // Copies: the linker resets the options of the whole process.
  const std::string inputPath = input, outputPath = output;
  if (failed(
          mlir::coda::compile(inputPath, outputPath, options, llvm::errs())))
    return 2;
  return 0;
}
