//===- Options.cpp - command line of coda-run -----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>

namespace mlir::coda::runtime {

const char *helpText() {
  return R"(usage: coda-run IN.mlir|OUT.so [options]

Runs a program and checks what it gives. IR is compiled first, by coda-compile:
once fused and once without fusion, and both run.

what runs
  --entry=F             entry point (default: main, or the only one); of IR it is
                        compiled alone
  --device=cpu|cuda     where it runs (default: cpu)
  --unfused=OTHER.so    the program to compare with, already compiled
  --no-unfused          run the fused program only; where its 16-bit results are
                        compared with a reference that has none of its own, the
                        unfused one runs once, for the limit
  --no-plain-gemms      do not time the matrix products of the fused program
                        alone, to compare its time with theirs
  --numerics=relaxed|batch-invariant|strict, --allow-f16-range
                        passed on to coda-compile; batch-invariant with
                        --device=cuda, strict with --device=cpu
  --f32-products=f32|bf16x3|bf16x6
                        passed on to coda-compile, for the fused program
  --compile-arg=X       any other argument for coda-compile (repeatable), where
                        it compiles for the device

gradients
  --grad                runs F_grad for the entry F: the function, then its
                        derived backward; its inputs are those of F and one
                        cotangent per float result, its outputs those of F and
                        one gradient per float argument
  --grad-constants=I,.. arguments without a gradient
  --save=min|stored|all, --grad-dtype=T, --residual-grad=T
                        passed on to coda-compile
  --differences         compares the gradients with central differences of F,
                        computed in f64; elements at which F is not
                        differentiable are left out and counted

inputs (one of)
  --inputs=F.npz        arrays arg0, arg1, ... or by the names of the arguments
  --inputs=RECIPE.json  values made from a recipe (docs/Runner.md)
  --seed=S              values made from the shapes of the entry
  --extent=N            with --seed: each extent that the entry leaves open
                        (default: 64)
  --integers=N          with --seed: integers are from 0 to N-1 (default: 2, an
                        index into whatever has two elements)

checks (one of, or none)
  --check=GOLDEN.npz    arrays out0_f32, out0_eager_bf16, ... or out0, ...
  --against-reference   compile the IR once more, with nothing fused and
                        all floats widened to f64, and compare with that

results
  --repeat=N            timed rounds after the first run, each of one run of
                        each program; medians are printed (default: for half a
                        second, 5 to 101 rounds; 0: the time of the first run)
  --out=F.npz           write the outputs as out0, out1, ...
  --json=FILE           write what is printed as JSON
  --verbose             print what coda-compile prints, and its command lines

exit code: 0 good, 1 a check failed, 2 bad input or usage
)";
}

namespace {

Result<uint64_t> parseNumber(const std::string &flag, const std::string &text,
                             uint64_t limit) {
  char *end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end || errno ||
      value > limit)
    return Failure{flag + " takes a number from 0 to " + std::to_string(limit) +
                   ", given '" + text + "'"};
  return static_cast<uint64_t>(value);
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

Result<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  std::string numerics;
  std::set<std::string> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument.empty() || argument[0] != '-') {
      if (!options.input.empty())
        return Failure{"more than one input: '" + options.input + "' and '" +
                       argument + "'"};
      options.input = argument;
      continue;
    }
    size_t equals = argument.find('=');
    std::string flag = argument.substr(0, equals);
    bool hasValue = equals != std::string::npos;
    std::string text = hasValue ? argument.substr(equals + 1) : "";

    // Flags without a value.
    bool *boolean = flag == "--help" || flag == "-h" ? &options.help
                    : flag == "--against-reference"  ? &options.againstReference
                    : flag == "--no-unfused"         ? &options.noUnfused
                    : flag == "--no-plain-gemms"     ? &options.noPlainGemms
                    : flag == "--verbose"            ? &options.verbose
                    : flag == "--grad"               ? &options.grad
                    : flag == "--differences"        ? &options.differences
                                                     : nullptr;
    if (boolean || flag == "--allow-f16-range") {
      if (hasValue)
        return Failure{flag + " takes no value"};
      if (boolean)
        *boolean = true;
      else
        options.meaningArguments.push_back(flag);
      continue;
    }

    std::string *string = flag == "--entry"     ? &options.entry
                          : flag == "--inputs"  ? &options.inputs
                          : flag == "--check"   ? &options.check
                          : flag == "--unfused" ? &options.unfused
                          : flag == "--out"     ? &options.out
                          : flag == "--json"    ? &options.json
                                                : nullptr;
    bool isOther = flag == "--device" || flag == "--seed" ||
                   flag == "--extent" || flag == "--integers" ||
                   flag == "--repeat" || flag == "--numerics" ||
                   flag == "--f32-products" || flag == "--compile-arg" || flag == "--grad-constants" ||
                   flag == "--save" || flag == "--grad-dtype" ||
                   flag == "--residual-grad";
    if (!string && !isOther)
      return Failure{"unknown flag '" + flag + "'; see coda-run --help"};
    if (!hasValue) {
      if (i + 1 == arguments.size())
        return Failure{flag + " needs a value"};
      text = arguments[++i];
    }
    if (text.empty())
      return Failure{flag + " needs a value"};
    if (flag != "--compile-arg" && !given.insert(flag).second)
      return Failure{flag + " is given twice"};
    if (string) {
      *string = text;
    } else if (flag == "--device") {
      if (text != "cpu" && text != "cuda")
        return Failure{"--device=" + text + " is unknown; there are cpu and "
                       "cuda"};
      options.cuda = text == "cuda";
    } else if (flag == "--seed") {
      Result<uint64_t> seed = parseNumber(flag, text, 65535);
      if (!seed.ok())
        return seed.error();
      options.seed = *seed;
    } else if (flag == "--extent") {
      Result<uint64_t> extent = parseNumber(flag, text, 1u << 30);
      if (!extent.ok())
        return extent.error();
      options.extent = static_cast<int64_t>(*extent);
    } else if (flag == "--integers") {
      Result<uint64_t> integers = parseNumber(flag, text, 1u << 31);
      if (!integers.ok())
        return integers.error();
      if (*integers == 0)
        return Failure{"--integers=0 leaves no integer; give 1 or more"};
      options.integers = static_cast<int64_t>(*integers);
    } else if (flag == "--repeat") {
      Result<uint64_t> repeat = parseNumber(flag, text, 1000000);
      if (!repeat.ok())
        return repeat.error();
      options.repeat = static_cast<int>(*repeat);
    } else if (flag == "--grad-constants") {
      options.gradArguments.push_back(flag + "=" + text);
      for (size_t at = 0; at <= text.size();) {
        size_t comma = std::min(text.find(',', at), text.size());
        Result<uint64_t> number =
            parseNumber(flag, text.substr(at, comma - at), 65535);
        if (!number.ok())
          return number.error();
        options.gradConstants.push_back(static_cast<int64_t>(*number));
        at = comma + 1;
      }
    } else if (flag == "--save" || flag == "--grad-dtype" ||
               flag == "--residual-grad") {
      options.gradArguments.push_back(flag + "=" + text);
    } else if (flag == "--numerics") {
      if (text != "relaxed" && text != "batch-invariant" && text != "strict")
        return Failure{"--numerics=" + text + " is unknown; there are relaxed, "
                       "batch-invariant and strict"};
      numerics = text;
    } else if (flag == "--f32-products") {
      if (text != "f32" && text != "bf16x3" && text != "bf16x6")
        return Failure{"--f32-products=" + text + " is unknown; there are f32, "
                       "bf16x3 and bf16x6"};
      options.compileArguments.push_back(flag + "=" + text);
    } else {
      if (text[0] != '-')
        return Failure{"--compile-arg=" + text + " would be another input; "
                       "write an option and its value as one, --FLAG=VALUE"};
      std::string name = text.substr(text.find_first_not_of('-') == 2 ? 2 : 1);
      name.resize(std::min(name.find('='), name.size()));
      if (name == "o" || name == "target" || name == "emit")
        return Failure{"--compile-arg=" + text + ": coda-run says itself for "
                       "what it compiles and to where; leave it out"};
      options.compileArguments.push_back(text);
    }
  }
  if (options.help)
    return options;

  if (options.input.empty())
    return Failure{"no input; see coda-run --help"};
  if (options.inputs.empty() && !options.seed)
    return Failure{"no values for the arguments; give --inputs or --seed"};
  if (!options.inputs.empty() && options.seed)
    return Failure{"--inputs and --seed exclude each other"};
  if (options.extent && !options.seed)
    return Failure{"--extent goes with --seed; the shapes of --inputs are "
                   "those of its arrays"};
  if (options.integers && !options.seed)
    return Failure{"--integers goes with --seed; the values of --inputs are "
                   "those of its arrays"};
  if (!options.inputs.empty() && !endsWith(options.inputs, ".npz") &&
      !endsWith(options.inputs, ".json"))
    return Failure{"--inputs takes a .npz or a .json, given '" +
                   options.inputs + "'"};
  if (numerics == "batch-invariant" && !options.cuda)
    return Failure{"--numerics=batch-invariant is about schedules of kernels; "
                   "it is for --device=cuda"};
  if (numerics == "strict" && options.cuda)
    return Failure{"--numerics=strict is for --device=cpu; --device=cuda has "
                   "relaxed and batch-invariant"};
  if (!numerics.empty())
    (numerics == "batch-invariant" ? options.compileArguments
                                   : options.meaningArguments)
        .push_back("--numerics=" + numerics);
  if (!options.out.empty() && options.out == options.json)
    return Failure{"--out and --json both name '" + options.out +
                   "'; give each a file of its own"};
  for (const std::string *output : {&options.out, &options.json})
    for (const std::string *input :
         {&options.input, &options.inputs, &options.check, &options.unfused})
      if (!output->empty() && *output == *input)
        return Failure{"'" + *output + "' would be read and written; give what "
                       "is written a file of its own"};
  if (!options.check.empty() && options.againstReference)
    return Failure{"--check and --against-reference exclude each other"};
  if (!options.grad && !options.gradArguments.empty())
    return Failure{options.gradArguments.front() + " needs --grad"};
  if (options.differences && !options.grad)
    return Failure{"--differences needs --grad"};
  if (options.grad) {
    // The entry that runs is made of the one that is named.
    if (options.entry.empty())
      options.entry = "main";
    options.gradArguments.push_back("--grad");
    options.gradArguments.push_back("--entry=" + options.entry);
    options.function = options.entry;
    options.entry += "_grad";
    options.noPlainGemms = true;
  } else if (!options.entry.empty()) {
    options.entryArguments.push_back("--entry=" + options.entry);
  }
  if (!options.unfused.empty() && options.noUnfused)
    return Failure{"--unfused and --no-unfused exclude each other"};
  return options;
}

} // namespace mlir::coda::runtime
