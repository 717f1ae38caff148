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
static SmallVector<ScheduleAttr> getAlternatives(const KernelModel &kernel) {
  constexpr size_t kMost = 4;
  std::string reason;
  SmallVector<ScheduleAttr> found;
  for (ScheduleAttr schedule : enumerateSchedules(kernel, reason)) {
    bool isNew = llvm::none_of(found, [&](ScheduleAttr other) {
      return other.getTile() == schedule.getTile() &&
             other.getPingpong() == schedule.getPingpong();
    });
    if (isNew && found.size() < kMost)
      found.push_back(schedule);
  }
  return found;
}

/// Gives `func` its next schedule, after the last the first again, for good.
static bool advance(func::FuncOp func) {
  auto current = func->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  std::string reason;
  FailureOr<KernelModel> kernel = buildKernelModel(func, reason);
  if (!current || failed(kernel) || func->hasAttr(kKeepScheduleAttrName))
    return false;
  SmallVector<ScheduleAttr> alternatives = getAlternatives(*kernel);
  auto at = llvm::find(alternatives, current);
  if (at == alternatives.end())
    return false;
  ScheduleAttr next;
  if (std::next(at) != alternatives.end()) {
    next = *std::next(at);
  } else {
    next = alternatives.front();
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
    auto name =
        StringAttr::get(module.getContext(), getKernelName(func, schedule));
    if (llvm::is_contained(kernels, name))
      changed |= advance(func);
  }
  return changed;
}
