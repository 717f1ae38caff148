//===- Common.h - Steps that several pipelines share -*- C++ -*- --------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_PIPELINES_COMMON_H
#define CODA_LIB_PIPELINES_COMMON_H

#include <cstdint>

#include "coda/Dialect/Coda/Transforms/Numerics.h"

namespace mlir {
class OpPassManager;
namespace coda {

/// Canonicalisation and common-subexpression elimination.
void addCleanup(OpPassManager &pm);

struct FusePipelineOptions;

// The parts of coda-fuse-pipeline.

/// From linalg to tile ops: normalise, raise, commute, form tile ops; `all`:
/// also where nothing comes from a tile op; `keepRoundings`: for coda-autodiff to
/// see.
void addFormation(OpPassManager &pm, const FusePipelineOptions &options,
                  bool all, bool keepRoundings = false);
/// Joins tile ops.
void addFusion(OpPassManager &pm, const FusePipelineOptions &options,
               bool keepRoundings = false);
/// Cuts reductions into partial ones, each time into the same: what is cut again
/// has been saved whole. `sumsOnly`: sums alone. Nothing for strict numerics.
void addPartialSums(OpPassManager &pm, Numerics numerics, bool sumsOnly);
/// From joined tile ops to calls of kernels: bundle, partition, outline.
void addLaunches(OpPassManager &pm, const FusePipelineOptions &options);

/// From tensors to memrefs of identity layout, across functions; buffers are
/// aligned to `alignment` bytes.
void addBufferization(OpPassManager &pm, int64_t alignment);

} // namespace coda
} // namespace mlir

#endif // CODA_LIB_PIPELINES_COMMON_H
