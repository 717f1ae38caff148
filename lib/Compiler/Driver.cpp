//===- Driver.cpp - From MLIR text to an artifact -------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Compiler/Driver.h"

#include "CPUBackend.h"
#include "Report.h"

#include "coda/Conversion/CodaToNVGPU/CheckScheduleDatabase.h"
#include "coda/Conversion/CodaToNVGPU/Passes.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Pipelines/AutodiffPipeline.h"
#include "coda/Pipelines/CPUPipelines.h"
#include "coda/Pipelines/FusePipeline.h"
#include "coda/Pipelines/GPUPipelines.h"
#include "coda/Target/Ptxas.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coda;

std::optional<EmitStage> coda::parseEmitStage(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<EmitStage>>(name)
      .Case("fused", EmitStage::Fused)
      .Case("schedules", EmitStage::Schedules)
      .Case("scheduled", EmitStage::Scheduled)
      .Case("nvgpu", EmitStage::NVGPU)
      .Case("llvm", EmitStage::LLVM)
      .Case("ptx", EmitStage::PTX)
      .Case("cubin", EmitStage::Cubin)
      .Case("so", EmitStage::SharedObject)
      .Default(std::nullopt);
}

namespace {

/// Makes an output under another name and renames it once it is complete. What
/// is no regular file (a pipe, a device) is written as it is.
class Output {
public:
  explicit Output(StringRef path) : path(path) {}
  ~Output() {
    if (!temporary.empty())
      llvm::sys::fs::remove(temporary);
  }

  /// The path to write to.
  llvm::Expected<std::string> open() {
    if (llvm::sys::fs::is_directory(path))
      return llvm::createStringError(
          "cannot write '%s': it is a folder; give the path of a file",
          path.c_str());
    if (isSpecial())
      return path;
    int descriptor;
    llvm::SmallString<128> name;
    if (std::error_code error = llvm::sys::fs::createUniqueFile(
            path + ".%%%%%%", descriptor, name,
            llvm::sys::fs::OF_None,
            llvm::sys::fs::all_read | llvm::sys::fs::all_write))
      return llvm::createStringError(
          error, "cannot write '%s': %s; give a path in a folder that is there "
                 "and may be written to",
          path.c_str(), error.message().c_str());
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true).close();
    temporary = name.str().str();
    return temporary;
  }

  llvm::Error commit() {
    if (temporary.empty())
      return llvm::Error::success();
    if (std::error_code error = llvm::sys::fs::rename(temporary, path))
      return llvm::createStringError(error, "cannot write '%s': %s",
                                     path.c_str(), error.message().c_str());
    temporary.clear();
    return llvm::Error::success();
  }

  /// Writes text to the path, or to standard output for "-".
  llvm::Error writeText(llvm::function_ref<void(llvm::raw_ostream &)> print) {
    if (path == "-") {
      print(llvm::outs());
      llvm::outs().flush();
      if (std::error_code error = llvm::outs().error()) {
        llvm::outs().clear_error();
        return llvm::createStringError(error,
                                       "cannot write to standard output: %s",
                                       error.message().c_str());
      }
      return llvm::Error::success();
    }
    llvm::Expected<std::string> name = open();
    if (!name)
      return name.takeError();
    std::error_code error;
    llvm::raw_fd_ostream stream(*name, error);
    if (!error)
      print(stream);
    stream.close();
    if (!error && stream.has_error())
      error = stream.error();
    stream.clear_error();
    if (error)
      return llvm::createStringError(error, "cannot write '%s': %s",
                                     path.c_str(), error.message().c_str());
    return commit();
  }

  /// Whether there is something at the path that is neither file nor folder.
  bool isSpecial() const {
    llvm::sys::fs::file_status status;
    return !llvm::sys::fs::status(path, status) &&
           llvm::sys::fs::exists(status) &&
           !llvm::sys::fs::is_regular_file(status) &&
           !llvm::sys::fs::is_directory(status);
  }

private:
  std::string path;
  std::string temporary;
};

/// The parser's message, but where it names a dialect of a front end: what to give
/// instead.
static std::string explainDialect(std::string what) {
  StringRef dialect = what;
  if (dialect.consume_front("Dialect `"))
    dialect = dialect.split('\'').first;
  else if (dialect.contains("unregistered dialect"))
    dialect = dialect.split('"').second.split('"').first;
  else
    return what;
  std::string name = dialect.empty() ? "the dialect of an op"
                                     : "the dialect '" + dialect.str() + "'";
  return name + " is none of those that are compiled; give linalg on tensors, as the "
         "front end exports it (docs/Frontends.md)";
}

/// One run of the compiler. Every failure ends in `fail`, or in a diagnostic.
class Compilation {
public:
  Compilation(const CompileOptions &options, llvm::raw_ostream &errors)
      : options(options), errors(errors) {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        printError(describeLocation(diagnostic.getLocation()),
                   explainDialect(diagnostic.str()));
      else if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
        addRemark(diagnostic);
      return success();
    });
  }

  LogicalResult run(StringRef inputPath, StringRef outputPath);

private:
  /// Prints the one error line; further errors follow from the first.
  void printError(std::string where, StringRef what) {
    if (reported)
      return;
    reported = true;
    errors << "error: ";
    if (!where.empty())
      errors << where << ": ";
    // One line, whatever a message holds.
    for (char c : what.rtrim())
      errors << (c == '\n' ? ' ' : c);
    errors << '\n';
  }
  /// Remarks go to the report; one about speed that the user may not expect is
  /// printed, too.
  void addRemark(const Diagnostic &diagnostic) {
    report.addRemark(diagnostic);
    std::string text = diagnostic.str();
    StringRef reason = parseRemark(text).reason;
    // What a program is compared with has no time of interest.
    bool isCompared =
        !options.fuse || options.reference || options.plainGemms;
    if (reason != "unfused-on-device" && reason != "unfit-schedule" &&
        (reason != "table-gradient" || isCompared))
      return;
    std::string where = describeLocation(diagnostic.getLocation());
    std::string line = "remark: " + where + (where.empty() ? "" : ": ") + text;
    if (!llvm::is_contained(printed, line))
      printed.push_back(std::move(line));
  }
  LogicalResult fail(const llvm::Twine &what) {
    printError("", what.str());
    return failure();
  }
  LogicalResult fail(llvm::Error error) {
    return fail(llvm::toString(std::move(error)));
  }

  LogicalResult checkOptions();
  /// Finds the function of --entry, and of --grad checks what it says of it.
  LogicalResult checkEntry();
  /// Leaves of the module the entry and what it calls.
  LogicalResult takeEntryAlone();
  LogicalResult fuse();
  LogicalResult differentiate();
  LogicalResult writeReport(StringRef inputPath);
  LogicalResult compileForCPU(StringRef outputPath);
  LogicalResult compileForGPU(StringRef outputPath);
  /// Scheduled kernels to the code of `--emit`, with launchers.
  LogicalResult lowerKernels(bool assemble);
  /// The module in the LLVM dialect to LLVM IR or a shared object.
  LogicalResult emitHost(StringRef outputPath, const CPUTarget &cpu);
  LogicalResult writeModule(StringRef outputPath);
  LogicalResult runPasses(llvm::function_ref<void(OpPassManager &)> build,
                          StringRef what);

  const CompileOptions &options;
  llvm::raw_ostream &errors;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  bool reported = false;
  /// Lines of remarks that are printed once there is an output.
  std::vector<std::string> printed;
  llvm::SourceMgr sources;
  CompilationReport report{sources};
};

LogicalResult Compilation::checkOptions() {
  StringRef reportPath = options.reportPath;
  if (!reportPath.empty() && !reportPath.ends_with(".json") &&
      !reportPath.ends_with(".html"))
    return fail("--report=" + reportPath +
                ": a report is written as .json or .html");
  if (options.plainGemms && (!options.fuse || options.reference))
    return fail("--plain-gemms takes the products of the fused program; leave "
                "--no-fuse and --reference out");
  if (options.allowF16Range && options.numerics == Numerics::Strict)
    return fail("--allow-f16-range lets row scales be deferred, and "
                "--numerics=strict defers none; leave one of the two out");
  if (options.f32Products != F32Products::F32 &&
      options.numerics == Numerics::Strict)
    return fail("--f32-products multiplies parts of factors, which rounds "
                "otherwise than --numerics=strict keeps; leave one of the two out");
  if (options.save != "min" && options.save != "stored" &&
      options.save != "all")
    return fail("--save=" + llvm::Twine(options.save) +
                " is unknown; there are min, stored and all");
  for (auto [flag, type] : {std::pair("--grad-dtype=", StringRef(options.gradDtype)),
                            std::pair("--residual-grad=",
                                      StringRef(options.residualGrad))})
    if (!type.empty() && type != "f64" && type != "f32" && type != "f16" &&
        type != "bf16")
      return fail(flag + llvm::Twine(type) +
                  " is no type of gradients; there are f64, f32, f16 and bf16");
  if (options.recomputeOver < 0)
    return fail("--recompute-over=" + llvm::Twine(options.recomputeOver) +
                ": give a number of bytes, or 0 for never");
  if (llvm::Expected<CPUTarget> cpu = resolveCPU(options.cpu); !cpu)
    return fail("--cpu=" + llvm::Twine(options.cpu) + ": " +
                llvm::toString(cpu.takeError()));
  if (!options.scheduleGPU.empty() && options.scheduleDatabase.empty())
    return fail("--gpu=" + options.scheduleGPU +
                " says whose schedules count; it needs --schedule-db");
  if (options.target == "sm_90a") {
    std::string reason;
    if (!options.scheduleDatabase.empty() &&
        failed(coda_gpu::checkScheduleDatabase(options.scheduleDatabase,
                                               options.scheduleGPU, &context,
                                               reason)))
      return fail("--schedule-db=" + options.scheduleDatabase + ": " + reason);
    if (options.reference)
      return fail("the reference is computed on the CPU; --reference and "
                  "--reference-f64 are for --target=cpu");
    if (options.numerics == Numerics::Strict)
      return fail("the target 'sm_90a' has no strict numerics; give "
                  "--numerics=relaxed or batch-invariant, or --target=cpu");
    if (!options.fuse)
      return fail("the target 'sm_90a' runs kernels of the fuse pipeline; the "
                  "unfused graph is for --target=cpu");
    return success();
  }
  if (options.target == "cpu" && options.lineInfo)
    return fail("the target 'cpu' has no line tables; --line-info is for "
                "--target=sm_90a");
  if (options.target == "cpu" && !options.scheduleDatabase.empty())
    return fail("the target 'cpu' has no schedules; --schedule-db is for "
                "--target=sm_90a");
  if (options.target == "cpu" && options.numerics == Numerics::BatchInvariant)
    return fail("--numerics=batch-invariant is about schedules of kernels; it "
                "is for --target=sm_90a");
  if (options.target != "cpu")
    return fail("--target=" + llvm::Twine(options.target) +
                " is unknown; there are cpu and sm_90a");
  switch (options.emit) {
  case EmitStage::Fused:
  case EmitStage::LLVM:
  case EmitStage::SharedObject:
    return success();
  default:
    return fail("the target 'cpu' has no such stage; --emit takes fused, llvm "
                "or so, and the others with --target=sm_90a");
  }
}

LogicalResult
Compilation::runPasses(llvm::function_ref<void(OpPassManager &)> build,
                       StringRef what) {
  PassManager pm(&context, ModuleOp::getOperationName());
  build(pm);
  if (failed(pm.run(*module)))
    return fail(what + " failed without a reason; this is a defect of coda");
  return success();
}

LogicalResult Compilation::fuse() {
  // Remarks may come from several threads; a report has them in one order.
  context.disableMultithreading();
  FusePipelineOptions pipeline;
  pipeline.allMaps = options.target != "cpu";
  pipeline.numerics = options.numerics;
  pipeline.allowF16Range = options.allowF16Range;
  pipeline.f32Products = options.f32Products;
  return runPasses(
      [&](OpPassManager &pm) {
        buildFusePipeline(pm, pipeline);
        if (!options.plainGemms)
          return;
        pm.addPass(createPlainGemmsPass());
        pm.addPass(createOutlineKernelsPass());
        pm.addPass(createSymbolDCEPass());
      },
      "fusing");
}

LogicalResult Compilation::checkEntry() {
  auto function = module->lookupSymbol<func::FuncOp>(options.entry);
  if (!function || !function.isPublic()) {
    std::string names;
    for (auto other : module->getOps<func::FuncOp>())
      if (other.isPublic())
        names += (names.empty() ? "'" : ", '") + other.getName().str() + "'";
    return fail("--entry=" + llvm::Twine(options.entry) +
                ": the input has no public function of this name; there are " +
                (names.empty() ? "none" : names));
  }
  if (!options.grad)
    return success();
  int64_t count = function.getNumArguments();
  for (int64_t constant : options.gradConstants)
    if (constant < 0 || constant >= count)
      return fail("--grad-constants=" + llvm::Twine(constant) + ": '" +
                  options.entry + "' has no such argument; they are numbered "
                  "from 0, and there are " + llvm::Twine(count));
  return success();
}

LogicalResult Compilation::takeEntryAlone() {
  for (auto function : module->getOps<func::FuncOp>())
    if (function.getName() != options.entry)
      function.setPrivate();
  return runPasses([](OpPassManager &pm) { pm.addPass(createSymbolDCEPass()); },
                   "removing other functions");
}

LogicalResult Compilation::differentiate() {
  context.disableMultithreading();
  AutodiffPipelineOptions pipeline;
  pipeline.function = options.entry;
  pipeline.save = options.save;
  pipeline.constants = ArrayRef<int64_t>(options.gradConstants);
  pipeline.gradDtype = options.gradDtype;
  pipeline.residualGrad = options.residualGrad;
  pipeline.accumulate = options.accumulate;
  pipeline.recomputeOver = options.recomputeOver;
  pipeline.joint = true;
  pipeline.fuse = options.fuse && !options.reference;
  pipeline.numerics = options.numerics;
  pipeline.allowF16Range = options.allowF16Range;
  pipeline.f32Products = options.f32Products;
  return runPasses(
      [&](OpPassManager &pm) { buildAutodiffPipeline(pm, pipeline); },
      "differentiating");
}

LogicalResult Compilation::writeReport(StringRef inputPath) {
  if (options.reportPath.empty())
    return success();
  llvm::json::Value value = report.toJSON(
      inputPath, options.target,
      options.numerics == Numerics::Strict           ? "strict"
      : options.numerics == Numerics::BatchInvariant ? "batch-invariant"
                                                     : "relaxed");
  bool asHTML = StringRef(options.reportPath).ends_with(".html");
  if (llvm::Error error =
          Output(options.reportPath).writeText([&](llvm::raw_ostream &stream) {
            if (asHTML)
              printReportAsHTML(value, stream);
            else
              stream << llvm::formatv("{0:2}\n", value);
          }))
    return fail(std::move(error));
  return success();
}

LogicalResult Compilation::compileForCPU(StringRef outputPath) {
  llvm::Expected<CPUTarget> cpu = resolveCPU(options.cpu);
  if (!cpu)
    return fail(cpu.takeError());
  CPUPipelineOptions pipeline;
  pipeline.numerics = options.numerics;
  pipeline.reference = options.reference;
  pipeline.referenceBorders = options.referenceBorders;
  pipeline.cpu = cpu->name;
  pipeline.cpuFeatures = cpu->required;
  if (failed(runPasses(
          [&](OpPassManager &pm) { buildCPULoopsPipeline(pm, pipeline); },
          "lowering to loops")))
    return failure();
  report.addPlanned(*module);
  if (failed(runPasses(
          [&](OpPassManager &pm) { buildCPUToLLVMPipeline(pm, pipeline); },
          "lowering to the CPU")))
    return failure();
  return emitHost(outputPath, *cpu);
}

LogicalResult Compilation::writeModule(StringRef outputPath) {
  if (llvm::Error error = Output(outputPath).writeText(
          [&](llvm::raw_ostream &stream) {
            module->print(stream);
            stream << '\n';
          }))
    return fail(std::move(error));
  return success();
}

LogicalResult Compilation::lowerKernels(bool assemble) {
  auto passes = [&](OpPassManager &pm) {
    coda_gpu::buildScheduledToNVGPUPipeline(pm);
    pm.addPass(coda_gpu::createGPUHostOps());
    if (options.emit == EmitStage::NVGPU)
      return;
    coda_gpu::ToPTXPipelineOptions ptx;
    ptx.format = assemble ? "bin" : "isa";
    ptx.lineInfo = options.lineInfo;
    coda_gpu::buildToPTXPipeline(pm, ptx);
  };
  // Kernels whose registers spill are lowered again with another schedule.
  while (true) {
    OwningOpRef<ModuleOp> scheduled = module->clone();
    if (failed(runPasses(passes, "lowering to sm_90a")))
      return failure();
    auto binary = module->lookupSymbol<gpu::BinaryOp>(coda_gpu::kKernelsName);
    auto changed = binary ? binary->getAttrOfType<ArrayAttr>(
                                coda_gpu::kChangedKernelsAttrName)
                          : ArrayAttr();
    if (!changed || !coda_gpu::advanceSchedules(*scheduled, changed)) {
      report.addPlanned(*scheduled);
      return success();
    }
    module = std::move(scheduled);
  }
}

LogicalResult Compilation::compileForGPU(StringRef outputPath) {
  llvm::Expected<CPUTarget> cpu = resolveCPU(options.cpu);
  if (!cpu)
    return fail(cpu.takeError());
  bool assemble =
      options.emit == EmitStage::Cubin || options.emit == EmitStage::SharedObject;
  // An artifact without an assembler holds PTX, which the driver compiles.
  if (assemble && coda_gpu::findPtxas().empty()) {
    if (options.emit == EmitStage::Cubin)
      return fail("no assembler: ptxas is not on PATH; install it (CUDA 13.0), "
                  "or take --emit=ptx");
    assemble = false;
  }
  coda_gpu::ToNVGPUPipelineOptions schedule;
  schedule.database = options.scheduleDatabase;
  schedule.gpu = options.scheduleGPU;
  schedule.batchInvariant = options.numerics == Numerics::BatchInvariant;
  if (failed(runPasses(
          [&](OpPassManager &pm) {
            coda_gpu::buildGPUKernelsPipeline(pm);
            coda_gpu::buildSelectSchedulePipeline(pm, schedule);
          },
          "scheduling for sm_90a")))
    return failure();
  report.addLaunched(*module);
  if (options.emit == EmitStage::Scheduled) {
    report.addPlanned(*module);
    return writeModule(outputPath);
  }
  if (options.emit == EmitStage::Schedules) {
    report.addPlanned(*module);
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (failed(coda_gpu::writeSchedules(*module, schedule.batchInvariant, stream)))
      return failure();
    if (llvm::Error error = Output(outputPath).writeText(
            [&](llvm::raw_ostream &file) { file << text; }))
      return fail(std::move(error));
    return success();
  }
  if (failed(lowerKernels(assemble)))
    return failure();
  if (options.emit == EmitStage::NVGPU)
    return writeModule(outputPath);
  if (options.emit == EmitStage::PTX || options.emit == EmitStage::Cubin) {
    auto binary =
        module->lookupSymbol<gpu::BinaryOp>(coda_gpu::kKernelsName);
    if (!binary)
      return emitError(module->getLoc(),
                       "nothing is launched on the device, so there is no code "
                       "for it; --emit=so takes what is left for the host");
    StringRef image =
        cast<gpu::ObjectAttr>(binary.getObjects()[0]).getObject().getValue();
    if (options.emit == EmitStage::PTX)
      image = image.rtrim('\0');
    if (llvm::Error error = Output(outputPath).writeText(
            [&](llvm::raw_ostream &stream) { stream << image; }))
      return fail(std::move(error));
    return success();
  }
  CPUPipelineOptions host;
  host.cpu = cpu->name;
  host.cpuFeatures = cpu->required;
  if (failed(runPasses(
          [&](OpPassManager &pm) {
            pm.addPass(coda_gpu::createGPUEmbedBinary());
            buildCPUToLLVMPipeline(pm, host);
          },
          "lowering the host code")))
    return failure();
  return emitHost(outputPath, *cpu);
}

LogicalResult Compilation::emitHost(StringRef outputPath,
                                    const CPUTarget &cpu) {
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*module, llvmContext);
  if (!llvmModule)
    return fail("no LLVM IR came out; this is a defect of coda");
  auto machine = createTargetMachine(cpu);
  if (!machine)
    return fail(machine.takeError());
  optimizeModule(*llvmModule, **machine);

  Output output(outputPath);
  if (options.emit == EmitStage::LLVM) {
    if (llvm::Error error = output.writeText([&](llvm::raw_ostream &stream) {
          llvmModule->print(stream, nullptr);
        }))
      return fail(std::move(error));
    return success();
  }
  SmallVector<char, 0> object;
  if (llvm::Error error = emitObject(*llvmModule, **machine, object))
    return fail(std::move(error));
  llvm::Expected<std::string> name = output.open();
  if (!name)
    return fail(name.takeError());
  if (llvm::Error error =
          linkSharedObject(StringRef(object.data(), object.size()), *name,
                           /*device=*/options.target != "cpu"))
    return fail(std::move(error));
  if (llvm::Error error = output.commit())
    return fail(std::move(error));
  return success();
}

LogicalResult Compilation::run(StringRef inputPath, StringRef outputPath) {
  if (failed(checkOptions()))
    return failure();
  if (options.emit == EmitStage::SharedObject &&
      (outputPath == "-" || Output(outputPath).isSpecial()))
    return fail("-o " + outputPath +
                ": a shared object is a file; give the path of one");
  // Before anything is read or written: an output without its report, or the
  // other way round, would be half of what was asked for.
  for (StringRef path : {StringRef(options.reportPath), outputPath})
    if (!path.empty() && path != "-")
      if (llvm::Expected<std::string> name = Output(path).open(); !name)
        return fail(name.takeError());
  // What is renamed into place would be gone for what is written, or read, next.
  auto isSame = [](StringRef a, StringRef b) {
    return a != "-" && (a == b || llvm::sys::fs::equivalent(a, b)) &&
           llvm::sys::fs::exists(a) && llvm::sys::fs::is_regular_file(a);
  };
  if (!options.reportPath.empty() && (outputPath == options.reportPath ||
                                      isSame(outputPath, options.reportPath)))
    return fail("-o and --report both name '" + outputPath +
                "'; give each a file of its own");
  for (auto [flag, path] : {std::pair(StringRef("-o "), outputPath),
                            std::pair(StringRef("--report="),
                                      StringRef(options.reportPath))})
    if (!path.empty() && isSame(inputPath, path))
      return fail(flag + path +
                  " is the input, which would be gone; give another file");
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(inputPath, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + llvm::Twine(inputPath) +
                "': " + buffer.getError().message() +
                "; give a file of MLIR, or - for standard input");
  StringRef start = (*buffer)->getBuffer().take_front(1024);
  if (start.starts_with("\x7f" "ELF"))
    return fail("'" + inputPath +
                "' is compiled already; give MLIR, as text or bytecode (coda-run "
                "runs what is compiled)");
  if (start.contains('\0') && !isBytecode((*buffer)->getMemBufferRef()))
    return fail("'" + inputPath + "' is no MLIR, neither text nor bytecode");
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return fail("'" + llvm::Twine(inputPath) + "' is not a module of MLIR");
  if ((options.grad || options.onlyEntry) && failed(checkEntry()))
    return failure();
  if (options.onlyEntry && failed(takeEntryAlone()))
    return failure();
  report.addInput(*module);
  if (options.grad) {
    if (failed(differentiate()))
      return failure();
  } else if (options.fuse && !options.reference && failed(fuse())) {
    return failure();
  }
  report.addFused(*module);
  LogicalResult result = options.emit == EmitStage::Fused
                             ? writeModule(outputPath)
                         : options.target == "cpu" ? compileForCPU(outputPath)
                                                   : compileForGPU(outputPath);
  if (failed(result) || failed(writeReport(inputPath)))
    return failure();
  for (const std::string &remark : printed)
    errors << remark << '\n';
  return success();
}

} // namespace

LogicalResult coda::compile(llvm::StringRef inputPath,
                            llvm::StringRef outputPath,
                            const CompileOptions &options,
                            llvm::raw_ostream &errors) {
  return Compilation(options, errors).run(inputPath, outputPath);
}
