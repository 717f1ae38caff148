//===- Report.cpp - what coda-run finds out -------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "coda/Runtime/Files.h"

#define JSON_NOEXCEPTION 1
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mlir::coda::runtime {

namespace {

/// An array of a golden file, told apart by its name:
/// out<index>[_f32 | _eager_<type>][_every<step>].
struct GoldenName {
  size_t index = 0;
  bool eager = false;
  DType eagerType = DType::BF16;
  bool isSample = false; ///< flat, even where every element is kept
  size_t step = 1;
};

bool takePrefix(std::string &text, const std::string &prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0)
    return false;
  text.erase(0, prefix.size());
  return true;
}

bool takeNumber(std::string &text, size_t &number) {
  size_t digits = 0;
  number = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' &&
         text[digits] <= '9')
    number = number * 10 + static_cast<size_t>(text[digits++] - '0');
  text.erase(0, digits);
  return digits != 0;
}

bool parseGoldenName(std::string text, GoldenName &name) {
  if (!takePrefix(text, "out") || !takeNumber(text, name.index))
    return false;
  if (takePrefix(text, "_eager_")) {
    name.eager = true;
    if (takePrefix(text, "f16"))
      name.eagerType = DType::F16;
    else if (!takePrefix(text, "bf16"))
      return false;
  } else {
    takePrefix(text, "_f32");
  }
  name.isSample = takePrefix(text, "_every");
  if (name.isSample && (!takeNumber(text, name.step) || name.step == 0))
    return false;
  return text.empty();
}

/// What is known about the right values of one output.
struct Golden {
  bool known = false;
  size_t step = 1;
  DType type = DType::F32; ///< of the reference
  std::vector<double> ref;
  bool hasEager = false;
  DType eagerType = DType::BF16;
  std::vector<double> eager;
};

/// Every step-th element, widened.
std::vector<double> sample(const Tensor &tensor, size_t step) {
  std::vector<double> values;
  values.reserve((tensor.size() + step - 1) / step);
  for (size_t i = 0, n = tensor.size(); i < n; i += step)
    values.push_back(tensor.get(i));
  return values;
}

/// Reads the golden file and checks each array against the outputs.
Result<std::vector<Golden>> readGoldens(const std::string &path,
                                        const EntryInfo &entry,
                                        const std::vector<Tensor> &outputs) {
  Result<NamedTensors> arrays = readNpz(path);
  if (!arrays.ok())
    return arrays.error();
  std::vector<Golden> goldens(outputs.size());
  std::vector<size_t> eagerSteps(outputs.size(), 0);
  for (auto &[key, array] : *arrays) {
    std::string what = "array '" + key + "' of '" + path + "'";
    GoldenName name;
    if (!parseGoldenName(key, name))
      return Failure{what + " is no golden; name the arrays out<k>_f32, "
                            "out<k>_eager_bf16, out<k>_eager_f16 or out<k>, "
                            "perhaps followed by _every<n>"};
    if (name.index >= outputs.size())
      return Failure{what + ": '" + entry.name + "' has " +
                     std::to_string(outputs.size()) + " outputs"};
    const Tensor &output = outputs[name.index];
    asBits(array, output.type);
    size_t expected = (output.size() + name.step - 1) / name.step;
    bool sameShape =
        name.isSample ? array.size() == expected : array.shape == output.shape;
    if (!sameShape)
      return Failure{what + " is " + describe(array.shape, array.type) +
                     ", output " + std::to_string(name.index) + " is " +
                     describe(output.shape, output.type) +
                     (name.isSample ? ", of which it should keep " +
                                          std::to_string(expected)
                                    : "") +
                     "; is it the golden of another graph?"};
    if (isFloat(array.type) != isFloat(output.type))
      return Failure{what + " is " + describe(array.shape, array.type) +
                     ", output " + std::to_string(name.index) + " is " +
                     describe(output.shape, output.type)};
    Golden &golden = goldens[name.index];
    bool &have = name.eager ? golden.hasEager : golden.known;
    if (have)
      return Failure{what + " is a second one for output " +
                     std::to_string(name.index)};
    have = true;
    (name.eager ? golden.eager : golden.ref) = sample(array, 1);
    (name.eager ? eagerSteps[name.index] : golden.step) = name.step;
    (name.eager ? golden.eagerType : golden.type) =
        name.eager ? name.eagerType : array.type;
  }
  for (size_t i = 0; i < goldens.size(); ++i)
    if (goldens[i].hasEager &&
        (!goldens[i].known || eagerSteps[i] != goldens[i].step))
      return Failure{"'" + path + "' has a 16-bit result for output " +
                     std::to_string(i) + " but no out" + std::to_string(i) +
                     "_f32 of the same elements"};
  return goldens;
}

/// The widest class that the program's types allow (see ErrorClass).
ErrorClass classOf(const EntryInfo &entry, const ArgumentInfo &output,
                   std::optional<DType> within) {
  if (!isFloat(output.type))
    return ErrorClass::Exact;
  if (hasNarrowFloats(entry, within))
    return ErrorClass::Half;
  for (const auto *list : {&entry.inputs, &entry.outputs})
    for (const ArgumentInfo &info : *list)
      if (isFloat(info.type) && info.type != DType::F64)
        return ErrorClass::F32;
  return ErrorClass::F64;
}

std::string number(double value, const char *format = "%.3e") {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

/// How far from a golden, relative to max|ref|, roundings to a type can lead at
/// most: 16 of them at the largest element, of 8 bits 4.
double explainedBy(DType type) {
  if (isFloat8(type))
    return 0x1p-2;
  return type == DType::F16 ? 0x1p-7 : 0x1p-4;
}

/// That of the coarsest type that the program's table names, or `within`.
double explainedBy(const EntryInfo &entry, std::optional<DType> within) {
  double explained = within ? explainedBy(*within) : 0;
  for (const auto *list : {&entry.inputs, &entry.outputs})
    for (const ArgumentInfo &info : *list)
      if (isFloat(info.type) && sizeOf(info.type) <= 2)
        explained = std::max(explained, explainedBy(info.type));
  return explained;
}

/// Why an output is not that of the golden where a result that is none of the
/// fused program's is just as far from it; empty where none is.
std::string blameGolden(const ErrorVerdict &verdict,
                        std::optional<double> unfusedError, bool hasEager,
                        double explained) {
  double far = explained * verdict.maxRef + 1e-6;
  // A misplaced NaN is named by its place.
  if (verdict.good || std::isinf(verdict.error) || verdict.error <= far)
    return "";
  if (hasEager && verdict.eagerError > far)
    return "disagrees with the golden, whose own 16-bit result disagrees with "
           "its reference too, by " +
           number(verdict.eagerError) + ": look at the golden";
  if (unfusedError && *unfusedError > far)
    return "disagrees with the golden, and so does the unfused program, by " +
           number(*unfusedError) +
           ": look whether the inputs or the seed are those of the golden, and "
           "whether the golden is that of this graph";
  return "";
}

/// error fused / error unfused, or nothing where that says nothing.
std::optional<double> ratioOf(const OutputReport &output) {
  if (!output.verdict || !output.unfusedError || *output.unfusedError == 0 ||
      !std::isfinite(*output.unfusedError) ||
      !std::isfinite(output.verdict->error))
    return std::nullopt;
  return output.verdict->error / *output.unfusedError;
}

void printTable(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string> &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      line += (c ? "  " : "") + row[c];
      if (c + 1 < row.size())
        line.append(widths[c] - row[c].size(), ' ');
    }
    std::printf("%s\n", line.c_str());
  }
}

std::string milliseconds(const Program &program) {
  return number(program.medianSeconds() * 1e3, "%.4g") + " ms";
}

void printGradients(const Report &report) {
  if (report.gradients.empty())
    return;
  std::vector<std::vector<std::string>> rows = {
      {"gradient against differences", "type", "gradient", "differences",
       "error", "limit", "result", "compared"}};
  for (const GradientReport &gradient : report.gradients) {
    bool any = gradient.isCompared();
    auto cell = [&](const std::string &text) { return any ? text : "-"; };
    rows.push_back({gradient.name, gradient.type,
                    cell(number(gradient.gradient, "%.6g")),
                    cell(number(gradient.difference, "%.6g")),
                    cell(number(gradient.error)), cell(number(gradient.limit)),
                    any ? (gradient.good ? "ok" : "FAIL") : "unchecked",
                    std::to_string(gradient.size - gradient.skipped) + " of " +
                        std::to_string(gradient.size)});
  }
  printTable(rows);
  for (const GradientReport &gradient : report.gradients)
    if (gradient.skipped)
      std::printf("%s: %zu of %zu elements skipped: %s\n",
                  gradient.name.c_str(), gradient.skipped, gradient.size,
                  gradient.why.c_str());
}

void printVerdict(const Session &session, const Report &report) {
  size_t compared = 0, bad = 0, gradients = 0, badGradients = 0;
  for (const OutputReport &output : report.outputs) {
    compared += output.verdict.has_value();
    bad += output.verdict && !output.verdict->good;
  }
  for (const GradientReport &gradient : report.gradients) {
    gradients += gradient.isCompared();
    badGradients += !gradient.good;
  }
  auto say = [](const char *what, size_t all, size_t compared, size_t bad) {
    if (bad)
      std::printf("%zu of %zu %s not good\n", bad, compared, what);
    else if (compared == all)
      std::printf("all %s good\n", what);
    else
      std::printf("%zu of %zu %s good, %zu not compared\n", compared, all, what,
                  all - compared);
  };
  if (compared)
    say("outputs are", report.outputs.size(), compared, bad);
  if (gradients)
    say("gradients are", report.gradients.size(), gradients, badGradients);
  if (compared || gradients)
    return;
  if (!report.gradients.empty()) {
    std::printf("nothing was compared: the function is not differentiable at "
                "these values; give others with --inputs or --seed\n");
    return;
  }
  std::printf("nothing was compared; give --check=GOLDEN.npz%s\n",
              !session.inputIsIR() ? ""
              : session.options().grad
                  ? ", --against-reference or --differences"
                  : " or --against-reference");
}

} // namespace

std::string formatError(double value) { return number(value); }

Result<Report> makeReport(const Session &session) {
  const EntryInfo &entry = *session.fused->entry;
  const std::vector<Tensor> &outputs = session.fused->execution->outputs();
  const std::vector<Tensor> *unfused =
      session.unfused ? &session.unfused->execution->outputs() : nullptr;
  std::vector<Golden> goldens(outputs.size());
  if (!session.options().check.empty()) {
    Result<std::vector<Golden>> read =
        readGoldens(session.options().check, entry, outputs);
    if (!read.ok())
      return read.error();
    goldens = std::move(*read);
  }
  const Recipe *recipe = session.recipe();

  Report report;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputReport output;
    output.name = entry.outputs[i].name;
    if (recipe && i < recipe->outputs.size())
      output.name = recipe->outputs[i];
    output.type = describe(outputs[i].shape, outputs[i].type);
    Golden &golden = goldens[i];
    if (session.reference) {
      const Tensor &tensor = session.reference->execution->outputs()[i];
      if (tensor.shape != outputs[i].shape)
        return Failure{"output " + std::to_string(i) + " is " + output.type +
                       ", the reference has " +
                       describe(tensor.shape, tensor.type)};
      golden.known = true;
      golden.type = tensor.type;
      golden.ref = sample(tensor, 1);
    }
    if (unfused && (*unfused)[i].shape != outputs[i].shape)
      return Failure{"output " + std::to_string(i) + " is " + output.type +
                     ", the unfused program has " +
                     describe((*unfused)[i].shape, (*unfused)[i].type)};
    if (!golden.known) {
      report.outputs.push_back(std::move(output));
      continue;
    }

    std::vector<double> out = sample(outputs[i], golden.step);
    std::vector<double> other;
    if (unfused) {
      other = sample((*unfused)[i], golden.step);
      output.unfusedError = maxError(other, golden.ref);
    }
    ErrorQuestion question{
        out,         golden.ref, nullptr, ErrorClass::F32, outputs[i].size(),
        std::nullopt};
    question.errorClass = classOf(entry, entry.outputs[i], session.narrowest());
    // Of a sum of products of 8-bit factors tensor cores drop what is beyond 14
    // bits, at each step of k.
    for (const ArgumentInfo &input : entry.inputs)
      if (isFloat8(input.type))
        question.rounding = 0x1p-7;
    if (session.narrowest() && isFloat8(*session.narrowest()) &&
        question.errorClass == ErrorClass::Half)
      question.rounding = 0x1p-7;
    if (isFloat8(outputs[i].type))
      question.rounding = outputs[i].type == DType::F8E4M3FN ? 0x1p-4 : 0x1p-3;
    // A reference that is stored in f32 cannot show errors of f64.
    if (question.errorClass == ErrorClass::F64 && golden.type != DType::F64)
      question.errorClass = ErrorClass::F32;
    if (golden.hasEager && question.errorClass != ErrorClass::Exact)
      question.errorClass = ErrorClass::Half;
    if (question.errorClass == ErrorClass::Half) {
      // Without the framework's own result, that of the unfused program is the
      // graph as written.
      question.eager = golden.hasEager ? &golden.eager
                       : unfused       ? &other
                                       : nullptr;
    }
    // The reference has the program's inputs; a golden may have others, and then
    // no result of this program measures what to expect.
    double explained = explainedBy(entry, session.narrowest());
    if (golden.hasEager)
      explained = std::max(explained, explainedBy(golden.eagerType));
    if (!session.reference)
      question.explained = explained;
    if (recipe)
      question.tolerance = recipe->tolerance;
    if (question.errorClass == ErrorClass::Half && !question.eager &&
        !question.tolerance)
      return lackOfYardstick(i);
    output.verdict = judge(question);
    if (std::string why =
            session.reference || question.errorClass == ErrorClass::Exact
                ? ""
                : blameGolden(*output.verdict, output.unfusedError,
                              golden.hasEager, explained ? explained : 0x1p-7);
        !why.empty())
      output.verdict->why = std::move(why);
    report.checked = true;
    report.good = report.good && output.verdict->good;
    report.outputs.push_back(std::move(output));
  }
  if (!session.options().check.empty() && !report.checked)
    return Failure{"'" + session.options().check +
                   "' has no array for any output of '" + entry.name + "'"};
  return report;
}

void printReport(const Session &session, const Report &report) {
  const Program &fused = *session.fused;
  std::printf("%s: @%s on %s, %zu inputs, %zu outputs, %d kernel launches",
              session.options().input.c_str(), fused.entry->name.c_str(),
              fused.artifact.target().c_str(), fused.entry->inputs.size(),
              fused.entry->outputs.size(), fused.entry->numLaunches);
  if (session.unfused)
    std::printf(" (unfused: %d)", session.unfused->entry->numLaunches);
  std::printf("\n");
  if (fused.compileSeconds > 0) {
    std::printf("compiled: fused in %.2f s", fused.compileSeconds);
    if (session.unfused && session.unfused->compileSeconds > 0)
      std::printf(", unfused in %.2f s", session.unfused->compileSeconds);
    std::printf("\n");
  }

  std::vector<std::vector<std::string>> rows = {{"output", "type", "what"}};
  bool anyCompared = std::any_of(
      report.outputs.begin(), report.outputs.end(),
      [](const OutputReport &output) { return output.verdict.has_value(); });
  if (anyCompared) {
    std::printf("errors are max|out - ref|; ratio: fused / unfused\n");
    rows = {{"output", "type", "max|ref|", "fused", "unfused", "ratio",
             "framework", "limit", "result", "what"}};
  }
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    const OutputReport &output = report.outputs[i];
    std::vector<std::string> row = {"out" + std::to_string(i), output.type};
    if (output.verdict) {
      const ErrorVerdict &verdict = *output.verdict;
      std::optional<double> ratio = ratioOf(output);
      row.insert(row.end(),
                 {number(verdict.maxRef), number(verdict.error),
                  output.unfusedError ? number(*output.unfusedError) : "-",
                  ratio ? number(*ratio, "%.3f") : "-",
                  verdict.eagerError > 0 ? number(verdict.eagerError) : "-",
                  number(verdict.limit), verdict.good ? "ok" : "FAIL"});
    } else if (anyCompared) {
      row.insert(row.end(), {"-", "-", "-", "-", "-", "-", "unchecked"});
    }
    row.push_back(output.name);
    rows.push_back(std::move(row));
  }
  printTable(rows);

  size_t rounds = session.numRounds();
  std::string how = rounds ? "median of " + std::to_string(rounds) : "one run";
  std::printf("time: fused %s", milliseconds(fused).c_str());
  if (session.unfused && session.unfused->isTimed) {
    std::printf(", unfused %s", milliseconds(*session.unfused).c_str());
    if (session.unfused->device == fused.device)
      std::printf(", ratio %.3f",
                  session.timeRatio(*session.unfused));
    else
      std::printf(" on the CPU");
  }
  std::printf(" (%s)\n", how.c_str());
  if (session.plain)
    std::printf("      plain GEMMs %s (%zu, of the fused program's factors), "
                "fused / plain GEMMs %.3f\n",
                milliseconds(*session.plain).c_str(),
                session.plain->entry->outputs.size(),
                session.timeRatio(*session.plain));
  printGradients(report);
  printVerdict(session, report);
}

Status writeReport(const Session &session, const Report &report,
                   const std::string &path) {
  using Json = nlohmann::ordered_json;
  const Program &fused = *session.fused;
  auto describeProgram = [](const Program &program) {
    Json json;
    json["target"] = program.artifact.target();
    json["launches"] = program.entry->numLaunches;
    json["workspace_bytes"] = program.execution->workspaceBytes();
    json["compile_seconds"] = program.compileSeconds;
    json["median_seconds"] = program.medianSeconds();
    json["seconds"] = program.seconds;
    return json;
  };
  Json json;
  json["input"] = session.options().input;
  json["entry"] = fused.entry->name;
  json["fused"] = describeProgram(fused);
  if (session.unfused)
    json["unfused"] = describeProgram(*session.unfused);
  if (session.plain) {
    json["plain_gemms"] = describeProgram(*session.plain);
    json["fused_over_plain_gemms"] = session.timeRatio(*session.plain);
  }
  json["outputs"] = Json::array();
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    const OutputReport &output = report.outputs[i];
    Json entry;
    entry["index"] = i;
    entry["name"] = output.name;
    entry["type"] = output.type;
    // JSON has no infinities: dump() writes null for them.
    if (output.verdict) {
      entry["max_ref"] = output.verdict->maxRef;
      entry["error"] = output.verdict->error;
      if (output.unfusedError)
        entry["unfused_error"] = *output.unfusedError;
      if (std::optional<double> ratio = ratioOf(output))
        entry["ratio"] = *ratio;
      entry["framework_error"] = output.verdict->eagerError;
      entry["limit"] = output.verdict->limit;
      entry["good"] = output.verdict->good;
    }
    json["outputs"].push_back(std::move(entry));
  }
  for (const GradientReport &gradient : report.gradients) {
    Json entry;
    entry["name"] = gradient.name;
    entry["type"] = gradient.type;
    entry["elements"] = gradient.size;
    entry["skipped"] = gradient.skipped;
    if (gradient.skipped)
      entry["why"] = gradient.why;
    if (gradient.isCompared()) {
      entry["gradient"] = gradient.gradient;
      entry["difference"] = gradient.difference;
      entry["error"] = gradient.error;
      entry["limit"] = gradient.limit;
      entry["good"] = gradient.good;
    }
    json["gradients"].push_back(std::move(entry));
  }
  if (report.checked)
    json["good"] = report.good;

  std::string text =
      json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  Result<OutputFile> output = OutputFile::create(path);
  if (!output.ok())
    return output.error();
  FILE *file = std::fopen(output->name().c_str(), "wb");
  bool good = file != nullptr;
  if (file) {
    good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    good = std::fclose(file) == 0 && good;
  }
  return output->commit(good);
}

} // namespace mlir::coda::runtime
