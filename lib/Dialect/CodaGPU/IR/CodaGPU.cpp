//===- CodaGPU.cpp - The schedule of a kernel -----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/CodaGPU/IR/CodaGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::coda_gpu;

#include "coda/Dialect/CodaGPU/IR/CodaGPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "coda/Dialect/CodaGPU/IR/CodaGPUAttributes.cpp.inc"

static ScheduleAttr withFields(ScheduleAttr schedule, int64_t stages,
                               int64_t staging, int64_t prefetch, int64_t chunk,
                               ClusterShape cluster) {
  return ScheduleAttr::get(
      schedule.getContext(), schedule.getTile(), stages, staging,
      schedule.getRaster(), prefetch, schedule.getPingpong(),
      schedule.getRing(), schedule.getInplace(), schedule.getOrdered(),
      schedule.getSwap(), schedule.getSplit(), chunk, cluster);
}

ScheduleAttr ScheduleAttr::withBuffers(int64_t stages, int64_t staging,
                                       int64_t prefetch) const {
  return withFields(*this, stages, staging, prefetch, getChunk(), getCluster());
}

ScheduleAttr ScheduleAttr::withChunk(int64_t chunk) const {
  return withFields(*this, getStages(), getStaging(), getPrefetch(), chunk,
                 getCluster());
}

ScheduleAttr ScheduleAttr::withCluster(ClusterShape cluster) const {
  return withFields(*this, getStages(), getStaging(), getPrefetch(), getChunk(),
                 cluster);
}

void CodaGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "coda/Dialect/CodaGPU/IR/CodaGPUAttributes.cpp.inc"
      >();
}
