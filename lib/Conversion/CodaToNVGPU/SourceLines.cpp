//===- SourceLines.cpp - One line of the source for each op ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUSOURCELINES
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;

/// The first line that `loc` names, or an unknown location. Parts come in the
/// order in which a location holds them: a callee before its caller, a producer
/// before what was fused into it.
static Location getSourceLine(Location loc) {
  auto range = loc->findInstanceOf<FileLineColRange>();
  if (!range)
    return UnknownLoc::get(loc.getContext());
  return FileLineColLoc::get(range.getFilename(), range.getStartLine(),
                             range.getStartColumn());
}

namespace {

struct GPUSourceLines
    : public coda_gpu::impl::GPUSourceLinesBase<GPUSourceLines> {
  void runOnOperation() override {
    // Many ops share few locations.
    llvm::DenseMap<Location, Location> lines;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      Location loc = op->getLoc();
      // What has a scope already, as a frontend gave it, is left as it is.
      if (loc->findInstanceOf<FusedLocWith<LLVM::DIScopeAttr>>())
        return;
      auto it = lines.find(loc);
      if (it == lines.end())
        it = lines.try_emplace(loc, getSourceLine(loc)).first;
      op->setLoc(it->second);
    });
  }
};

} // namespace
