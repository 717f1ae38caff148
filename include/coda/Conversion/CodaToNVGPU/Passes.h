//===- Passes.h - Passes of the Hopper lowering -----------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_PASSES_H
#define CODA_CONVERSION_CODATONVGPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
class RewritePatternSet;
namespace LLVM {
class LLVMDialect;
}
namespace NVVM {
class NVVMDialect;
}
namespace affine {
class AffineDialect;
}
namespace arith {
class ArithDialect;
}
namespace complex {
class ComplexDialect;
}
namespace gpu {
class GPUDialect;
}
namespace linalg {
class LinalgDialect;
}
namespace math {
class MathDialect;
}
namespace memref {
class MemRefDialect;
}
namespace nvgpu {
class NVGPUDialect;
}
namespace scf {
class SCFDialect;
}
namespace tensor {
class TensorDialect;
}
namespace vector {
class VectorDialect;
}
} // namespace mlir

namespace mlir::coda_gpu {

class CodaGPUDialect;

/// Unit attribute of an outlined kernel function.
constexpr StringLiteral kKernelAttrName = "coda.kernel";
/// Of an scf.if whose branches do the same: a kernel, or its decomposed form.
constexpr StringLiteral kDispatchAttrName = "coda.dispatch";
/// The schedule of a kernel function.
constexpr StringLiteral kScheduleAttrName = "coda.schedule";
/// Unit attribute of a kernel function whose schedule was measured, or is the
/// best of several that spill: no other is tried.
constexpr StringLiteral kKeepScheduleAttrName = "coda.keep_schedule";
/// Of a module: {kernel = "why no schedule fits it"} of the functions that were
/// kernels before coda-gpu-decompose-unscheduled.
constexpr StringLiteral kUnscheduledAttrName = "coda.unscheduled";
/// Unit attribute of an argument of a kernel function: no launch of a call that
/// this kernel is launched in writes it.
constexpr StringLiteral kUnwrittenAttrName = "coda.unwritten";
/// Of an argument of a kernel function, a factor: the first of the dims that make up
/// a row of it, which the kernel takes in steps of whole 16 bytes.
constexpr StringLiteral kPaddedRowAttrName = "coda.padded_row";
/// Of a gpu.binary: {kernel, spills} of those that the assembler made slower.
constexpr StringLiteral kChangedKernelsAttrName = "coda.changed_kernels";
/// The gpu.module of all kernels.
constexpr StringLiteral kKernelsName = "coda_kernels";
/// In the name of every kernel of coda-gpu-launch-loops.
constexpr StringLiteral kLoopKernelMark = "_loops_";
/// `int32_t coda_gpu_load(int32_t device)` of an artifact: loads its kernels.
constexpr StringLiteral kLoaderName = "coda_gpu_load";

#define GEN_PASS_DECL
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"

/// Writes JSON: name, key in a schedule database, and legal schedules of every
/// outlined kernel on memrefs, the selector's choice first; those that have none
/// with the reason. A kernel function without a schedule is an error.
LogicalResult writeSchedules(ModuleOp module, bool batchInvariant,
                             llvm::raw_ostream &stream);

/// Whether coda-gpu-launch-loops makes `op`, of a host function on memrefs, a
/// kernel of loops.
bool isLaunchedAsLoops(Operation *op);

/// Gives each kernel function of `module` that is in `kernels`, the attribute
/// above, the next schedule that fits, after the last the one that spills the
/// fewest bytes. False if there is none for any of them.
bool advanceSchedules(ModuleOp module, ArrayAttr kernels);

/// Math on f32 scalars and vectors to approximate NVPTX intrinsics.
void populateLowerMathPatterns(RewritePatternSet &patterns, bool strict);

/// What the serialisation of gpu.module needs: the NVVM target and the
/// translations of the dialects that appear in a kernel.
void registerGPUTargets(DialectRegistry &registry);

#define GEN_PASS_REGISTRATION
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"

} // namespace mlir::coda_gpu

#endif // CODA_CONVERSION_CODATONVGPU_PASSES_H
