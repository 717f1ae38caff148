//===- AdvanceSchedules.cpp - Another schedule for kernels that spill -----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers are what no rule predicts: the assembler says whether a schedule's
// kernel fits, and the next of the selector's list is taken where it does not.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "KernelModel.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::coda_gpu;

/// The first schedules of the list that differ in what registers depend on.
/// None has other bits where those of `current` do not depend on the rows.
static SmallVector<ScheduleAttr> getAlternatives(const KernelModel &kernel,
                                                 ScheduleAttr current) {
  constexpr size_t kMost = 4;
  std::string reason;
  SmallVector<ScheduleAttr> found;
  for (ScheduleAttr schedule :
       enumerateSchedules(kernel, isBatchInvariant(current), reason)) {
    bool isNew = llvm::none_of(found, [&](ScheduleAttr other) {
      return other.getTile() == schedule.getTile() &&
             other.getPingpong() == schedule.getPingpong() &&
             other.getSwap() == schedule.getSwap() &&
             other.getSplit() == schedule.getSplit();
    });
    if (isNew && found.size() < kMost)
      found.push_back(schedule);
  }
  return found;
}

/// The schedule that spilled the fewest bytes so far, and the bytes.
static constexpr StringLiteral kBestAttrName = "coda.best_schedule";
static constexpr StringLiteral kBestBytesAttrName = "coda.best_schedule_spills";

/// Gives `func`, which spills `bytes`, its next schedule; after the last the best
/// one again, for good.
static bool advance(func::FuncOp func, IntegerAttr bytes) {
  auto current = func->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  std::string reason;
  FailureOr<KernelModel> kernel = buildKernelModel(func, reason);
  // A few registers, once a tile, stored and loaded, cost less than a smaller tile;
  // and less than it takes to compile all schedules.
  constexpr int64_t kIgnoredBytes = 448;
  if (failed(kernel) || func->hasAttr(kKeepScheduleAttrName) ||
      bytes.getInt() < kIgnoredBytes)
    return false;
  SmallVector<ScheduleAttr> alternatives = getAlternatives(*kernel, current);
  auto at = llvm::find(alternatives, current);
  if (at == alternatives.end())
    return false;
  auto best = func->getAttrOfType<IntegerAttr>(kBestBytesAttrName);
  if (!best || bytes.getInt() < best.getInt()) {
    func->setAttr(kBestAttrName, current);
    func->setAttr(kBestBytesAttrName, bytes);
  }
  bool isLast = std::next(at) == alternatives.end();
  ScheduleAttr next = isLast ? func->getAttrOfType<ScheduleAttr>(kBestAttrName)
                             : *std::next(at);
  if (isLast) {
    func->removeAttr(kBestAttrName);
    func->removeAttr(kBestBytesAttrName);
    func->setAttr(kKeepScheduleAttrName, UnitAttr::get(func.getContext()));
  }
  if (next == current)
    return false;
  func.emitRemark("[coda-gpu-assemble] registers spill with ")
      << current << "; " << next << " is taken instead";
  func->setAttr(kScheduleAttrName, next);
  return true;
}

bool coda_gpu::advanceSchedules(ModuleOp module, ArrayAttr kernels) {
  bool changed = false;
  for (func::FuncOp func : module.getOps<func::FuncOp>()) {
    auto schedule = func->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (!schedule)
      continue;
    std::string name = getKernelName(func, schedule);
    for (auto kernel : kernels.getAsRange<DictionaryAttr>())
      if (kernel.getAs<StringAttr>("kernel").getValue() == name)
        changed |= advance(func, kernel.getAs<IntegerAttr>("spills"));
  }
  return changed;
}
