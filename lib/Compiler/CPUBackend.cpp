//===- CPUBackend.cpp - LLVM IR to a shared object ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPUBackend.h"

#include "lld/Common/Driver.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Local.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::coda;

// Bytes of lib/Runtime/HostSupport.c's object, and of the empty libraries that
// name libc and libm as what the artifact depends on.
namespace {
#include "EmbeddedObjects.inc"

// HostSupport.h has these too; it is C, for another machine.
constexpr unsigned kFeatureAVX2 = 1;
constexpr unsigned kFeatureAVX512 = 2;
} // namespace

llvm::Expected<CPUTarget> coda::resolveCPU(llvm::StringRef name) {
  if (name == "x86-64-v3")
    return CPUTarget{"x86-64-v3", "", kFeatureAVX2};
  if (name != "native")
    return llvm::createStringError(
        "an unknown CPU; there are native and x86-64-v3");
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char *needed : {"avx2", "fma", "f16c", "bmi", "bmi2"})
    if (!host.lookup(needed))
      return llvm::createStringError(
          "this machine's CPU lacks '%s'; code for the CPU needs x86-64-v3 or "
          "better",
          needed);
  CPUTarget cpu;
  cpu.name = llvm::sys::getHostCPUName().str();
  llvm::SubtargetFeatures features;
  for (const auto &feature : host)
    features.AddFeature(feature.first(), feature.second);
  cpu.features = features.getString();
  cpu.required = kFeatureAVX2;
  if (host.lookup("avx512f"))
    cpu.required |= kFeatureAVX512;
  return cpu;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
coda::createTargetMachine(const CPUTarget &cpu) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  llvm::TargetOptions options;
  // The IR says where a product and a sum may become one FMA.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu.name, cpu.features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("LLVM has no code generator for '%s'",
                                   cpu.name.c_str());
  return machine;
}

namespace {
/// Moves bf16 as integers. Arithmetic on it is spelt in f32 and i16 by now, but the
/// optimizer makes loads, choices and stores of bf16 of what is only moved, and the
/// code generator, which has registers for it on few CPUs, moves the elements of such
/// vectors one by one.
class BFloatMover {
public:
  void run(llvm::Function &function) {
    llvm::SmallVector<llvm::Instruction *> readers;
    for (llvm::Instruction &inst : llvm::instructions(function))
      if (llvm::isa<llvm::StoreInst, llvm::BitCastInst>(inst) &&
          inst.getOperand(0)->getType()->getScalarType()->isBFloatTy())
        readers.push_back(&inst);
    for (llvm::Instruction *reader : readers) {
      llvm::Value *moved = reader->getOperand(0);
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(reader))
        store->setOperand(0, asInteger(moved));
      else if (reader->getType() == getIntegerType(moved))
        reader->replaceAllUsesWith(asInteger(moved));
      unused.push_back(reader);
      unused.push_back(moved);
    }
    for (const llvm::WeakTrackingVH &value : unused)
      if (value)
        llvm::RecursivelyDeleteTriviallyDeadInstructions(value);
  }

private:
  static llvm::Type *getIntegerType(llvm::Value *value) {
    llvm::Type *element = llvm::Type::getInt16Ty(value->getContext());
    auto *vector = llvm::dyn_cast<llvm::VectorType>(value->getType());
    return vector ? llvm::VectorType::get(element, vector->getElementCount())
                  : element;
  }
  /// The bits of `value`.
  llvm::Value *asInteger(llvm::Value *value) {
    if (llvm::Value *known = integers.lookup(value))
      return known;
    llvm::Value *result = makeInteger(value);
    integers[value] = result;
    return result;
  }
  llvm::Value *makeInteger(llvm::Value *value) {
    llvm::Type *type = getIntegerType(value);
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(value))
      return llvm::ConstantExpr::getBitCast(constant, type);
    if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(value);
        cast && cast->getSrcTy() == type)
      return cast->getOperand(0);
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(value);
        load && load->isSimple()) {
      llvm::IRBuilder<> builder(load);
      auto *moved = builder.CreateAlignedLoad(type, load->getPointerOperand(),
                                              load->getAlign());
      moved->copyMetadata(*load);
      return moved;
    }
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(value)) {
      llvm::Value *first = asInteger(select->getTrueValue());
      llvm::Value *second = asInteger(select->getFalseValue());
      llvm::IRBuilder<> builder(select);
      return builder.CreateSelect(select->getCondition(), first, second);
    }
    // Arguments and what else there may be.
    llvm::IRBuilder<> builder(value->getContext());
    if (auto *inst = llvm::dyn_cast<llvm::Instruction>(value))
      builder.SetInsertPoint(*inst->getInsertionPointAfterDef());
    else
      builder.SetInsertPointPastAllocas(
          llvm::cast<llvm::Argument>(value)->getParent());
    return builder.CreateBitCast(value, type);
  }

  llvm::DenseMap<llvm::Value *, llvm::Value *> integers;
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
};
} // namespace

void coda::optimizeModule(llvm::Module &module,
                          llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "256");
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
  for (llvm::Function &function : module)
    BFloatMover().run(function);
}

llvm::Error coda::emitObject(llvm::Module &module,
                             llvm::TargetMachine &machine,
                             llvm::SmallVectorImpl<char> &object) {
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("LLVM cannot write an object file for '%s'",
                                   machine.getTargetCPU().str().c_str());
  passes.run(module);
  return llvm::Error::success();
}

namespace {
/// A file that exists as long as this does.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix,
                                              llvm::StringRef contents) {
    TemporaryFile file;
    int descriptor;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile(
            "coda", suffix, descriptor, file.path))
      return llvm::createStringError(error, "cannot make a temporary file");
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << contents;
    stream.close();
    if (stream.has_error()) {
      std::error_code error = stream.error();
      stream.clear_error();
      return llvm::createStringError(error, "cannot write %s",
                                     file.path.c_str());
    }
    return file;
  }
  TemporaryFile() = default;
  TemporaryFile(TemporaryFile &&other) { std::swap(path, other.path); }
  ~TemporaryFile() {
    if (!path.empty())
      llvm::sys::fs::remove(path);
  }
  const char *name() { return path.c_str(); }

private:
  llvm::SmallString<128> path;
};

llvm::StringRef bytes(llvm::ArrayRef<unsigned char> data) {
  return {reinterpret_cast<const char *>(data.data()), data.size()};
}
} // namespace

llvm::Error coda::linkSharedObject(llvm::StringRef object,
                                   llvm::StringRef outputPath, bool device) {
  auto code = TemporaryFile::create("o", object);
  if (!code)
    return code.takeError();
  auto support = TemporaryFile::create("o", bytes(kHostSupportObject));
  if (!support)
    return support.takeError();
  auto launch = TemporaryFile::create("o", bytes(kGPULaunchObject));
  if (!launch)
    return launch.takeError();
  auto driver = TemporaryFile::create("o", bytes(kCudaDriverObject));
  if (!driver)
    return driver.takeError();
  auto libc = TemporaryFile::create("so", bytes(kLibcStub));
  if (!libc)
    return libc.takeError();
  auto libm = TemporaryFile::create("so", bytes(kLibmStub));
  if (!libm)
    return libm.takeError();

  std::string output = outputPath.str();
  llvm::SmallVector<const char *, 32> args = {"ld.lld",
                        "-shared",
                        "-nostdlib",
                        "--hash-style=gnu",
                        "--build-id=none",
                        "--gc-sections",
                        "-z",
                        "noexecstack",
                        "-z",
                        "relro",
                        "--threads=1",
                        "--no-as-needed",
                        code->name(),
                        support->name(),
                        libc->name(),
                        libm->name(),
                        "-o",
                        output.c_str()};
  if (device)
    args.append({launch->name(), driver->name()});
  // lld keeps its state in globals while it links.
  static std::mutex linking;
  std::lock_guard<std::mutex> guard(linking);
  std::string text;
  llvm::raw_string_ostream messages(text);
  lld::Result result = lld::lldMain(args, messages, messages,
                                    {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return llvm::Error::success();
  llvm::StringRef first = llvm::StringRef(text).split('\n').first;
  return llvm::createStringError("linking failed: %s", first.str().c_str());
}
