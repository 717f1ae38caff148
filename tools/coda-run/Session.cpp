//===- Session.cpp - programs and inputs of one coda-run ------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "coda/Runtime/Files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

namespace mlir::coda::runtime {

namespace {

/// A recipe may name a graph whose recipe names another; more than this is a
/// circle.
constexpr int kMaxDepth = 8;

const char kCpuTarget[] = "cpu";
const char kCudaTarget[] = "sm_90a";

/// Whether the file is a shared library (or any other ELF file), as opposed to
/// IR in text or bytecode.
Result<bool> isELF(const std::string &path) {
  if (Status status = checkReadable(path); !status.ok())
    return status.error();
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return Failure{"cannot read '" + path + "': " + std::strerror(errno)};
  char magic[4] = {};
  size_t got = std::fread(magic, 1, sizeof(magic), file);
  std::fclose(file);
  return got == sizeof(magic) && std::memcmp(magic,
                                             "\x7f"
                                             "ELF",
                                             4) == 0;
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string joinQuoted(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Prints those lines of coda-compile's that a user is meant to see: what runs
/// slowly, and why.
void passRemarksOn(const std::string &output) {
  const std::string mark = "remark: ";
  for (size_t at = 0; at < output.size();) {
    size_t end = std::min(output.find('\n', at), output.size() - 1) + 1;
    if (output.compare(at, mark.size(), mark) == 0)
      std::fprintf(stderr, "%s", output.substr(at, end - at).c_str());
    at = end;
  }
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

/// What --seed makes of an extent that the program leaves open.
constexpr int64_t kSeedExtent = 64;
/// How many different integers --seed takes.
constexpr int64_t kSeedIntegers = 2;

/// Without --repeat, rounds are timed for this long, within these bounds.
constexpr double kTimedSeconds = 0.5;
constexpr int kMinRounds = 5, kMaxRounds = 101;

} // namespace

double Program::medianSeconds() const {
  if (seconds.empty())
    return execution ? execution->firstSeconds() : 0;
  return medianOf(seconds);
}

double Session::timeRatio(const Program &other) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < fused->seconds.size(); ++i)
    ratios.push_back(fused->seconds[i] / other.seconds[i]);
  return ratios.empty() ? fused->medianSeconds() / other.medianSeconds()
                        : medianOf(std::move(ratios));
}

bool hasNarrowFloats(const EntryInfo &entry, std::optional<DType> within) {
  if (within)
    return true;
  for (const auto *list : {&entry.inputs, &entry.outputs})
    for (const ArgumentInfo &info : *list)
      if (isFloat(info.type) && sizeOf(info.type) <= 2)
        return true;
  return false;
}

Failure lackOfYardstick(size_t index) {
  return {"output " + std::to_string(index) +
          " is computed in 16 bits, and there is no other 16-bit "
          "result to compare its error with; give a golden with out" +
          std::to_string(index) +
          "_eager_bf16 (or _f16), or an unfused program"};
}

Result<std::unique_ptr<Session>> Session::create(Options options) {
  std::unique_ptr<Session> session(new Session(std::move(options)));
  Result<bool> elf = isELF(session->opts.input);
  if (!elf.ok())
    return elf.error();
  session->isIR = !*elf;
  session->host = createHostDevice();
  // Before anything is compiled: without a GPU there is nothing to wait for.
  if (session->opts.cuda) {
    Result<std::unique_ptr<Device>> device = createCudaDevice(0);
    if (!device.ok())
      return device.error();
    session->cuda = std::move(*device);
  }
  return Result<std::unique_ptr<Session>>(std::move(session));
}

void Session::readNarrowest(const std::string &report) {
  isGraphKnown = true;
  std::ifstream file(report);
  std::string line, field = "\"narrowest\": \"";
  while (std::getline(file, line)) {
    size_t start = line.find(field);
    if (start == std::string::npos)
      continue;
    start += field.size();
    Result<DType> type =
        parseDType(line.substr(start, line.find('"', start) - start));
    if (type.ok())
      narrowestWithin = *type;
    return;
  }
}

Result<std::string> Session::compile(const std::string &ir,
                                     const std::string &target,
                                     const std::vector<std::string> &extra,
                                     double &seconds) {
  if (!folder) {
    Result<TemporaryFolder> created = TemporaryFolder::create();
    if (!created.ok())
      return created.error();
    folder = std::make_unique<TemporaryFolder>(std::move(*created));
  }
  Result<std::string> compiler = findTool("coda-compile");
  if (!compiler.ok())
    return compiler.error();
  std::string stem = folder->path() + "/" + std::to_string(numCompiled++);
  std::vector<std::string> argv = {*compiler, ir, "--target=" + target, "-o",
                                   stem + ".so"};
  argv.insert(argv.end(), extra.begin(), extra.end());
  // What another target than the program's is compiled for is there to compare
  // with: it takes what says what is computed, and nothing about the device.
  argv.insert(argv.end(), opts.meaningArguments.begin(),
              opts.meaningArguments.end());
  if (target == (opts.cuda ? kCudaTarget : kCpuTarget))
    argv.insert(argv.end(), opts.compileArguments.begin(),
                opts.compileArguments.end());
  // The first report of the graph says what it computes with.
  bool isReported = ir == opts.input && !isGraphKnown &&
                    std::none_of(argv.begin(), argv.end(), [](auto &argument) {
                      return argument.rfind("--report", 0) == 0 ||
                             argument.rfind("-report", 0) == 0;
                    });
  if (isReported)
    argv.insert(argv.begin() + 1, "--report=" + stem + ".json");
  if (opts.verbose)
    std::fprintf(stderr, "%s\n", joinQuoted(argv).c_str());
  auto start = std::chrono::steady_clock::now();
  Result<ProcessResult> done = runProcess(argv, stem + ".log");
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (!done.ok())
    return done.error();
  if (done->code != 0 || opts.verbose)
    std::fputs(done->output.c_str(), stderr);
  else
    passRemarksOn(done->output);
  if (done->code == 0) {
    if (isReported)
      readNarrowest(stem + ".json");
    return stem + ".so";
  }
  // coda-compile has said why; another line would only repeat it.
  if (done->code == ExitBadInput &&
      done->output.find("error:") != std::string::npos)
    return Failure{""};
  return Failure{"coda-compile ended with code " + std::to_string(done->code) +
                 " on '" + ir + "'; this is a bug of the compiler"};
}

Result<std::unique_ptr<Program>> Session::open(const std::string &role,
                                               const std::string &path,
                                               const std::string &entryName) {
  auto program = std::make_unique<Program>();
  program->role = role;
  bool compiled = folder && path.rfind(folder->path() + "/", 0) == 0;
  Result<Artifact> artifact =
      Artifact::load(path, compiled ? opts.input : path);
  if (!artifact.ok())
    return artifact.error();
  program->artifact = std::move(*artifact);
  Result<const EntryInfo *> entry = program->artifact.find(
      entryName.empty() ? opts.entry : entryName);
  if (!entry.ok())
    return entry.error();
  program->entry = *entry;
  bool onCpu = program->artifact.target() == kCpuTarget;
  if (onCpu) {
    program->device = host.get();
  } else {
    if (!cuda)
      return Failure{"'" + path + "' was compiled for " +
                     program->artifact.target() +
                     "; run it with --device=cuda"};
    program->device = cuda.get();
  }
  if (role == "fused" && opts.cuda && onCpu)
    return Failure{"'" + path +
                   "' was compiled for the CPU; compile it with --target=" +
                   std::string(kCudaTarget) + " to run it on a GPU"};
  Status status =
      program->artifact.initialise(program->device->location().device_id);
  if (!status.ok())
    return status.error();
  return Result<std::unique_ptr<Program>>(std::move(program));
}

Result<std::unique_ptr<Program>>
Session::compileAndOpen(const std::string &role, const std::string &target,
                        const std::vector<std::string> &extra) {
  double seconds = 0;
  std::vector<std::string> all(extra);
  all.insert(all.end(), opts.gradArguments.begin(), opts.gradArguments.end());
  all.insert(all.end(), opts.entryArguments.begin(), opts.entryArguments.end());
  Result<std::string> path = compile(opts.input, target, all, seconds);
  if (!path.ok())
    return path.error();
  Result<std::unique_ptr<Program>> program = open(role, *path);
  if (program.ok())
    (*program)->compileSeconds = seconds;
  return program;
}

Result<std::unique_ptr<Program>> Session::openFunctionInF64() {
  if (!isIR)
    return Failure{"--differences needs the IR, and '" + opts.input +
                   "' is compiled"};
  double seconds = 0;
  Result<std::string> path =
      compile(opts.input, kCpuTarget,
              {"--reference-f64", "--entry=" + opts.function}, seconds);
  if (!path.ok())
    return path.error();
  return open("function", *path, opts.function);
}

Result<std::vector<Tensor>> Session::inputsFromNpz(const EntryInfo &entry) {
  Result<NamedTensors> arrays = readNpz(opts.inputs);
  if (!arrays.ok())
    return arrays.error();
  std::vector<Tensor> tensors;
  std::set<std::string> used;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const ArgumentInfo &info = entry.inputs[i];
    std::string byIndex = "arg" + std::to_string(i);
    bool hasIndex = arrays->count(byIndex) != 0;
    bool hasName = info.name != byIndex && arrays->count(info.name) != 0;
    std::string names = "'" + byIndex + "'";
    if (info.name != byIndex)
      names += " (or '" + info.name + "')";
    if (hasIndex && hasName)
      return Failure{"'" + opts.inputs + "' has two arrays for input " +
                     std::to_string(i) + ": " + names};
    if (!hasIndex && !hasName)
      return Failure{"'" + opts.inputs + "' has no array " + names +
                     " for input " + std::to_string(i) + " (" +
                     describe(info.shape, info.type) + ") of '" + entry.name +
                     "'"};
    const std::string &name = hasIndex ? byIndex : info.name;
    used.insert(name);
    Tensor &array = (*arrays)[name];
    asBits(array, info.type);
    if (Status status = checkInput(entry, i, array); !status.ok())
      return Failure{"array '" + name + "' of '" + opts.inputs +
                     "': " + status.error().message};
    tensors.push_back(std::move(array));
  }
  for (const auto &[name, tensor] : *arrays)
    if (!used.count(name))
      return Failure{"'" + opts.inputs + "' has an array '" + name +
                     "' that is no argument of '" + entry.name +
                     "'; name the arrays arg0 to arg" +
                     std::to_string(int64_t(entry.inputs.size()) - 1)};
  return tensors;
}

Result<std::vector<Tensor>> Session::inputsFromSeed(const EntryInfo &entry) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const ArgumentInfo &info = entry.inputs[i];
    std::string what = "input " + std::to_string(i) + " ('" + info.name + "')";
    std::vector<int64_t> shape = info.shape;
    // One number for all of them: most are the number of tokens, and those that
    // have to agree do.
    std::replace(shape.begin(), shape.end(), int64_t(-1),
                 opts.extent.value_or(kSeedExtent));
    Result<size_t> count = countElements(shape, info.type);
    if (!count.ok())
      return Failure{what + ": " + count.error().message};
    tensors.push_back(seededValues(shape, info.type, *opts.seed, i,
                                   opts.integers.value_or(kSeedIntegers)));
  }
  return tensors;
}

Result<std::vector<Tensor>> Session::inputsFromRecipe(const Recipe &recipe,
                                                      int depth) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < recipe.arguments.size(); ++i) {
    const ArgumentSpec &spec = recipe.arguments[i];
    if (spec.kind != ArgumentKind::ResultOf) {
      Result<Tensor> tensor = materialise(spec, recipe.seed, i);
      if (!tensor.ok())
        return tensor.error();
      tensors.push_back(std::move(*tensor));
      continue;
    }
    Result<Tensor> tensor =
        resultOf(folderOf(recipe.path), spec.graph, spec.result, depth);
    if (!tensor.ok())
      return tensor.error();
    if (tensor->shape != spec.shape || tensor->type != spec.type)
      return Failure{recipe.path + ": args[" + std::to_string(i) +
                     "] is declared as " + describe(spec.shape, spec.type) +
                     ", but result " + std::to_string(spec.result) + " of '" +
                     spec.graph + "' is " +
                     describe(tensor->shape, tensor->type)};
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Result<Tensor> Session::resultOf(const std::string &in,
                                 const std::string &graph, int64_t index,
                                 int depth) {
  std::string stem = in + graph;
  auto known = resultsOfGraphs.find(stem);
  if (known == resultsOfGraphs.end()) {
    if (depth >= kMaxDepth)
      return Failure{"the recipe of '" + stem +
                     "' depends on itself through 'result_of'"};
    Result<Recipe> recipe = readRecipe(stem + ".json");
    if (!recipe.ok())
      return recipe.error();
    Result<std::vector<Tensor>> tensors = inputsFromRecipe(*recipe, depth + 1);
    if (!tensors.ok())
      return tensors.error();
    Result<bool> elf = isELF(stem + ".mlir");
    if (!elf.ok())
      return elf.error();
    double seconds = 0;
    Result<std::string> path =
        compile(stem + ".mlir", kCpuTarget, {"--no-fuse"}, seconds);
    if (!path.ok())
      return path.error();
    Result<Artifact> artifact = Artifact::load(*path, stem + ".mlir");
    if (!artifact.ok())
      return artifact.error();
    Result<const EntryInfo *> entry = artifact->find("");
    if (!entry.ok())
      return entry.error();
    Result<std::unique_ptr<Execution>> execution =
        Execution::create(*artifact, **entry, *host, *tensors);
    if (!execution.ok())
      return execution.error();
    if (Status status = (*execution)->runFirst(); !status.ok())
      return status.error();
    known = resultsOfGraphs.emplace(stem, (*execution)->outputs()).first;
  }
  const std::vector<Tensor> &outputs = known->second;
  if (index >= static_cast<int64_t>(outputs.size()))
    return Failure{"'" + stem + "' has " + std::to_string(outputs.size()) +
                   " results, no result " + std::to_string(index)};
  return outputs[static_cast<size_t>(index)];
}

Result<std::vector<Tensor>> Session::adapt(const Program &program) const {
  std::vector<Tensor> adapted;
  const std::vector<ArgumentInfo> &wanted = program.entry->inputs;
  if (wanted.size() != values.size() ||
      program.entry->outputs.size() != fused->entry->outputs.size())
    return Failure{"'" + program.artifact.path() +
                   "' has another number of "
                   "arguments or results than '" +
                   fused->artifact.path() + "'; the " + program.role +
                   " program must come from the same graph"};
  bool same = true;
  for (size_t i = 0; i < wanted.size(); ++i)
    same = same && wanted[i].type == values[i].type;
  if (same)
    return adapted;
  for (size_t i = 0; i < wanted.size(); ++i)
    adapted.push_back(convert(values[i], wanted[i].type));
  return adapted;
}

Result<bool> Session::lacksYardstick() const {
  bool isCompared = opts.againstReference || !opts.check.empty();
  if (!isCompared || !opts.unfused.empty() || (isIR && !opts.noUnfused) ||
      (haveRecipe && theRecipe.tolerance) || 
      !hasNarrowFloats(*fused->entry, narrowestWithin))
    return false;
  if (opts.check.empty())
    return true;
  Result<NamedTensors> arrays = readNpz(opts.check);
  if (!arrays.ok())
    return arrays.error();
  return std::none_of(arrays->begin(), arrays->end(), [](const auto &array) {
    return array.first.find("_eager_") != std::string::npos;
  });
}

Status Session::prepare() {
  auto take = [](std::unique_ptr<Program> &slot,
                 Result<std::unique_ptr<Program>> result) -> Status {
    if (!result.ok())
      return result.error();
    slot = std::move(*result);
    return {};
  };
  if (opts.againstReference && !isIR)
    return Failure{"--against-reference needs the IR, and '" + opts.input +
                   "' is compiled; give --check instead"};
  // What says how to differentiate has no effect then; that it is a gradient
  // that runs, does.
  if (!isIR && opts.gradArguments.size() > 2)
    return Failure{"'" + opts.input + "' is compiled already: '" +
                   opts.gradArguments.front() + "' has no effect on it"};
  for (const auto *arguments : {&opts.compileArguments, &opts.meaningArguments})
    if (!isIR && !arguments->empty())
      return Failure{"'" + opts.input + "' is compiled already: '" +
                     arguments->front() + "' has no effect on it"};
  // The recipe first: what is wrong with it shows without compiling anything.
  bool isJson = !opts.inputs.empty() && opts.inputs.back() == 'n';
  if (isJson) {
    Result<Recipe> recipe = readRecipe(opts.inputs);
    if (!recipe.ok())
      return recipe.error();
    theRecipe = std::move(*recipe);
    haveRecipe = true;
  }

  const std::string target = opts.cuda ? kCudaTarget : kCpuTarget;
  Status status = take(fused, isIR ? compileAndOpen("fused", target, {})
                                   : open("fused", opts.input));
  if (!status.ok())
    return status;
  Result<std::vector<Tensor>> tensors = isJson ? inputsFromRecipe(theRecipe, 0)
                                        : opts.seed
                                            ? inputsFromSeed(*fused->entry)
                                            : inputsFromNpz(*fused->entry);
  if (!tensors.ok())
    return tensors.error();
  values = std::move(*tensors);
  if (values.size() != fused->entry->inputs.size())
    return Failure{"'" + fused->entry->name + "' takes " +
                   std::to_string(fused->entry->inputs.size()) + " inputs, '" +
                   opts.inputs + "' gives " + std::to_string(values.size())};
  for (size_t i = 0; i < values.size(); ++i)
    if (status = checkInput(*fused->entry, i, values[i]); !status.ok())
      return Failure{(isJson ? opts.inputs + ": " : "") +
                     status.error().message};

  // The unfused program is there to compare values and times with on the same
  // inputs; where the device has none it runs on the CPU.
  Result<bool> lacks = lacksYardstick();
  if (!lacks.ok())
    return lacks.error();
  if (*lacks && !isIR)
    return lackOfYardstick(0);
  if (!opts.unfused.empty())
    status = take(unfused, open("unfused", opts.unfused));
  else if (isIR && (!opts.noUnfused || *lacks))
    status =
        take(unfused, compileAndOpen("unfused", kCpuTarget, {"--no-fuse"}));
  if (status.ok() && unfused)
    unfused->isTimed = !opts.noUnfused;
  if (status.ok() && opts.againstReference)
    status = take(reference,
                  compileAndOpen("reference", kCpuTarget, {"--reference"}));
  // One round's times say nothing; on a GPU each gemm has a library to be
  // compared with.
  if (status.ok() && isIR && !opts.cuda && !opts.noUnfused &&
      !opts.noPlainGemms && opts.repeat.value_or(2) > 1)
    status = preparePlain();
  return status;
}

Status Session::preparePlain() {
  double seconds = 0;
  std::vector<std::string> arguments = {"--plain-gemms"};
  arguments.insert(arguments.end(), opts.entryArguments.begin(),
                   opts.entryArguments.end());
  Result<std::string> path =
      compile(opts.input, kCpuTarget, arguments, seconds);
  if (!path.ok())
    return path.error();
  Result<Artifact> artifact = Artifact::load(*path, opts.input);
  if (!artifact.ok())
    return artifact.error();
  const std::string name = fused->entry->name;
  if (!artifact->find(name + "_gemms").ok())
    return {};
  Result<std::unique_ptr<Program>> factors =
      open("factors", *path, name + "_factors");
  if (!factors.ok())
    return factors.error();
  Result<std::unique_ptr<Execution>> execution = Execution::create(
      (*factors)->artifact, *(*factors)->entry, *host, values);
  if (!execution.ok())
    return execution.error();
  if (Status status = (*execution)->runFirst(); !status.ok())
    return status;
  Result<std::unique_ptr<Program>> gemms = open("plain", *path, name + "_gemms");
  if (!gemms.ok())
    return gemms.error();
  (*gemms)->inputs = (*execution)->outputs();
  (*gemms)->compileSeconds = seconds;
  plain = std::move(*gemms);
  return {};
}

/// An index that is no element of its tensor may be one that --seed made up.
Status Session::explainSeed(Status status) const {
  if (!opts.seed ||
      status.error().message.find("is out of its bounds") == std::string::npos)
    return status;
  return Failure{status.error().message + "; --seed made its integers from 0 to " +
                     std::to_string(opts.integers.value_or(kSeedIntegers) - 1) +
                     ", --integers=N from 0 to N-1",
                 status.error().exitCode};
}

Status Session::execute() {
  for (Program *program :
       {fused.get(), unfused.get(), plain.get(), reference.get()}) {
    if (!program)
      continue;
    if (program != plain.get()) {
      Result<std::vector<Tensor>> adapted = adapt(*program);
      if (!adapted.ok())
        return adapted.error();
      program->inputs = std::move(*adapted);
    }
    Result<std::unique_ptr<Execution>> execution =
        Execution::create(program->artifact, *program->entry, *program->device,
                          program->inputs.empty() ? values : program->inputs);
    if (!execution.ok())
      return execution.error();
    program->execution = std::move(*execution);
    if (Status status = program->execution->runFirst(); !status.ok())
      return explainSeed(status);
  }
  return time();
}

Status Session::time() {
  std::vector<Program *> programs;
  for (Program *program : {fused.get(), unfused.get(), plain.get()})
    if (program && program->isTimed)
      programs.push_back(program);
  double total = 0;
  auto isDone = [&](int round) {
    if (opts.repeat)
      return round >= *opts.repeat;
    return round >= kMaxRounds || (round >= kMinRounds && total >= kTimedSeconds);
  };
  for (int round = 0; !isDone(round); ++round)
    for (Program *program : programs) {
      Result<double> seconds = program->execution->runTimed();
      if (!seconds.ok())
        return seconds.error();
      program->seconds.push_back(*seconds);
      total += *seconds;
    }
  if (numRounds())
    for (Program *program : programs)
      if (Status status = program->execution->checkRepeatable(); !status.ok())
        return status;
  return {};
}

} // namespace mlir::coda::runtime
