//===- ScheduleDatabase.cpp - Measured schedules on disk ------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleDatabase.h"

#include "coda/Conversion/CodaToNVGPU/CheckScheduleDatabase.h"
#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::coda_gpu;

/// Product of the extents of `dims`, "?" where one is not known.
static std::string getExtent(const TileModel &tile, ArrayRef<unsigned> dims) {
  int64_t product = 1;
  for (unsigned d : dims) {
    if (ShapedType::isDynamic(tile.dims[d].extent))
      return "?";
    product *= tile.dims[d].extent;
  }
  return std::to_string(product);
}

static std::string describe(const TileModel &tile) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << tile.op->getName().stripDialect();
  for (coda::DimKind kind : {coda::DimKind::b, coda::DimKind::m,
                             coda::DimKind::n, coda::DimKind::u}) {
    SmallVector<unsigned> dims;
    for (auto [d, dim] : llvm::enumerate(tile.dims))
      if (dim.kind == kind)
        dims.push_back(d);
    if (std::string extent = getExtent(tile, dims); extent != "1")
      stream << ' ' << coda::stringifyDimKind(kind) << extent;
  }
  // Products with k dims of their own follow each other.
  for (auto [i, phase] : llvm::enumerate(tile.phases))
    stream << (i == 0 ? " k" : "+") << getExtent(tile, phase.k);
  if (tile.factorType)
    stream << ' ' << tile.factorType;
  return text;
}

std::string coda_gpu::getKernelKey(const KernelModel &kernel) {
  OwningOpRef<func::FuncOp> plain(kernel.func.clone());
  plain->setName("kernel");
  (*plain)->removeAttr(kScheduleAttrName);
  std::string text;
  llvm::raw_string_ostream stream(text);
  plain->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  std::string key;
  for (const TileModel &tile : kernel.tiles)
    key += (key.empty() ? "" : " | ") + describe(tile);
  return key + " #" +
         llvm::toHex(llvm::ArrayRef<uint8_t>(
                         llvm::bit_cast<std::array<uint8_t, 8>>(
                             llvm::xxh3_64bits(text))),
                     /*LowerCase=*/true);
}

/// The schedule that `text` spells; null if it spells none, and `reason` says
/// why.
static ScheduleAttr parseSchedule(StringRef text, MLIRContext *context,
                                  std::string &reason) {
  reason.clear();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  Attribute attr = parseAttribute(text, context);
  if (attr && !isa<ScheduleAttr>(attr))
    reason = "another attribute than a #coda_gpu.schedule";
  return dyn_cast_or_null<ScheduleAttr>(attr);
}

/// Whether `text` opens more arrays and objects than it closes, by far: the parser, which
/// calls itself for each, would end up without a stack.
static bool isNestedTooDeep(StringRef text) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size() && depth <= kDeepest; ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString)
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
  }
  return depth > kDeepest;
}

FailureOr<ScheduleDatabase>
ScheduleDatabase::load(StringRef path, StringRef gpu, MLIRContext *context,
                       std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail(buffer.getError().message() +
                "; `coda-bench tune` writes one");
  if (isNestedTooDeep((*buffer)->getBuffer()))
    return fail("nested deeper than any database; `coda-bench tune` writes one");
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return fail(llvm::toString(value.takeError()) +
                "; `coda-bench tune` writes one");
  const llvm::json::Object *root = value->getAsObject();
  const llvm::json::Object *gpus = root ? root->getObject("gpus") : nullptr;
  if (!gpus || root->getInteger("version") != 1)
    return fail("no database of version 1; `coda-bench tune` writes one");
  auto names = [&] {
    SmallVector<std::string> quoted;
    for (const auto &entry : *gpus)
      quoted.push_back("'" + entry.first.str() + "'");
    llvm::sort(quoted);
    return llvm::join(quoted, ", ");
  };
  if (gpus->empty())
    return fail("it has entries of no GPU; `coda-bench tune` adds some");
  if (gpu.empty()) {
    if (gpus->size() != 1)
      return fail("it has entries of " + Twine(gpus->size()) +
                  " GPUs; name one of them with --gpu: " + names());
    gpu = gpus->begin()->first;
  }
  const llvm::json::Value *ofGPU = gpus->get(gpu);
  if (!ofGPU)
    return fail("it has no entries of '" + gpu + "'; it has some of " + names());
  const llvm::json::Object *entries = ofGPU->getAsObject();
  if (!entries)
    return fail("what it has of '" + gpu +
                "' is no object of keys and entries; `coda-bench tune` writes "
                "one");
  ScheduleDatabase database;
  for (const auto &[key, entry] : *entries) {
    const llvm::json::Object *object = entry.getAsObject();
    std::optional<StringRef> text =
        object ? object->getString("schedule") : std::nullopt;
    if (!text)
      return fail("the entry of '" + StringRef(key) +
                  "' has no text as its 'schedule'; `coda-bench tune` writes "
                  "one");
    std::string why;
    ScheduleAttr schedule = parseSchedule(*text, context, why);
    if (!schedule)
      return fail("the schedule of '" + StringRef(key) + "' is '" + *text +
                  "', which cannot be read: " + why +
                  "; `coda-compile --emit=schedules` lists those of a kernel");
    database.schedules[key] = schedule;
  }
  return database;
}

LogicalResult coda_gpu::checkScheduleDatabase(StringRef path, StringRef gpu,
                                              MLIRContext *context,
                                              std::string &reason) {
  context->getOrLoadDialect<CodaGPUDialect>();
  return success(
      succeeded(ScheduleDatabase::load(path, gpu, context, reason)));
}

LogicalResult coda_gpu::writeSchedules(ModuleOp module,
                                       bool batchInvariant,
                                       llvm::raw_ostream &stream) {
  llvm::json::Array kernels;
  WalkResult result = module.walk([&](func::FuncOp func) {
    if (!func->hasAttr(kKernelAttrName))
      return WalkResult::advance();
    std::string reason;
    FailureOr<KernelModel> kernel = buildKernelModel(func, reason);
    SmallVector<ScheduleAttr> schedules;
    if (succeeded(kernel))
      schedules = enumerateSchedules(*kernel, batchInvariant, reason);
    if (schedules.empty()) {
      func.emitError("no schedule for this kernel on sm_90a: ") << reason;
      return WalkResult::interrupt();
    }
    llvm::json::Array texts;
    for (ScheduleAttr schedule : schedules) {
      std::string text;
      llvm::raw_string_ostream(text) << schedule;
      texts.push_back(std::move(text));
    }
    kernels.push_back(llvm::json::Object{{"name", func.getName().str()},
                                         {"key", getKernelKey(*kernel)},
                                         {"schedules", std::move(texts)}});
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (auto unscheduled =
          module->getAttrOfType<DictionaryAttr>(kUnscheduledAttrName))
    for (NamedAttribute entry : unscheduled)
      kernels.push_back(llvm::json::Object{
          {"name", entry.getName().str()},
          {"schedules", llvm::json::Array()},
          {"unscheduled", cast<StringAttr>(entry.getValue()).getValue()}});
  stream << llvm::formatv(
      "{0:2}\n",
      llvm::json::Value(llvm::json::Object{{"kernels", std::move(kernels)}}));
  return success();
}
