//===- Driver.h - From MLIR text to an artifact -----------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole compiler behind one function, for coda-compile, the C API and
// Python. All options travel in a struct; nothing is global.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_COMPILER_DRIVER_H
#define CODA_COMPILER_DRIVER_H

#include "coda/Dialect/Coda/Transforms/F32Products.h"
#include "coda/Dialect/Coda/Transforms/Numerics.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
namespace coda {

/// What `compile` stops at and writes.
enum class EmitStage {
  Fused,     ///< MLIR after coda-fuse-pipeline
  Schedules, ///< JSON: the schedules that each kernel may have (GPU)
  Scheduled, ///< MLIR with a schedule on each kernel (GPU)
  NVGPU,     ///< MLIR of nvgpu and nvvm (GPU)
  LLVM,      ///< LLVM IR as text
  PTX,       ///< (GPU)
  Cubin,     ///< (GPU)
  SharedObject
};

/// Options of `compile`.
struct CompileOptions {
  /// "cpu" or "sm_90a".
  std::string target = "cpu";
  EmitStage emit = EmitStage::SharedObject;
  Numerics numerics = Numerics::Relaxed;
  /// Run coda-fuse-pipeline. Off: the graph as it is (`unfused`).
  bool fuse = true;
  /// Unfused and all in f64, inputs extended and results rounded to f32 (f64
  /// stays): the oracle that others are compared with. CPU only.
  bool reference = false;
  /// With `reference`: arguments and results are f64, too.
  bool referenceBorders = false;
  /// Keep of the fused program its matrix products alone (coda-plain-gemms):
  /// what its time is compared with.
  bool plainGemms = false;
  /// Defer row scales in f16 too, where un-normalised values may overflow.
  bool allowF16Range = false;
  /// What multiplies f32 factors (coda-split-f32).
  F32Products f32Products = F32Products::F32;
  /// Differentiate `entry`: the artifact also has its forward, its backward,
  /// and F_grad, which runs both.
  bool grad = false;
  std::string entry = "main";
  /// Compile `entry` alone: other functions of the input, and what is wrong with
  /// them, do not count, unless it calls them.
  bool onlyEntry = false;
  /// What the forward saves: "min", "stored" or "all".
  std::string save = "min";
  /// Numbers of arguments of `entry` that get no gradient.
  std::vector<int64_t> gradConstants;
  /// Types of gradients of weights, and of cotangents stored between kernels;
  /// empty: the argument's, the value's.
  std::string gradDtype, residualGrad;
  /// Add gradients of weights to given ones.
  bool accumulate = false;
  /// Run a gemm again rather than save more bytes for it; 0: never.
  int64_t recomputeOver = 0;
  /// "native" or "x86-64-v3".
  std::string cpu = "x86-64-v3";
  /// File of measured schedules, and the GPU whose entries of it count; empty:
  /// none, and its only one. GPU targets only.
  std::string scheduleDatabase;
  std::string scheduleGPU;
  /// Line tables from GPU instructions to the lines of the input.
  bool lineInfo = false;
  /// File that the fusion report is written to; empty: none.
  std::string reportPath;
};

/// Parses the name of a stage as `coda-compile --emit` spells it.
std::optional<EmitStage> parseEmitStage(llvm::StringRef name);

/// Registers every dialect, and external model of an interface, that `compile`
/// needs to parse a graph and to lower it.
void registerCompilerDialects(DialectRegistry &registry);

/// Compiles the graph in `inputPath` ("-": standard input) to `outputPath`.
/// On failure there is exactly one diagnostic of severity error, printed to
/// `errors` as one line (location, what is wrong, why, what to do), and
/// nothing is left at `outputPath`: the output is made under another name
/// beside it and renamed when it is complete. On success `errors` gets a line
/// `remark: ...` for each op that runs on a GPU as plain loops; all remarks are
/// in the report.
LogicalResult compile(llvm::StringRef inputPath, llvm::StringRef outputPath,
                      const CompileOptions &options, llvm::raw_ostream &errors);

} // namespace coda
} // namespace mlir

#endif // CODA_COMPILER_DRIVER_H
