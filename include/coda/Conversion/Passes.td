//===- Passes.td - Conversions from coda to other dialects -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_PASSES
#define CODA_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Loops on the CPU.
//===----------------------------------------------------------------------===//

def CodaPrivatizeInits : Pass<"coda-privatize-inits"> {
  let summary = "Gives each use of a tensor.empty or linalg.fill its own";
  let description = [{
    CSE merges the empty and filled tensors of unrelated operations. Where each
    has its own, bufferization computes all of them in place, and those that end
    in a result in the caller's buffer; where they share one, it copies.
    Of several results that view one value, all but the first become copies
    (a canonicaliser would undo this: run it before, not after).
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def CodaCopyToLinalg : Pass<"coda-copy-to-linalg"> {
  let summary = "Turns memref.copy into linalg.generic";
  let description = [{
    The lowering of `memref.copy` to LLVM calls a function of MLIR's runner
    library for whatever has strides; artifacts carry no such library, and a
    loop is vectorised like the others.
  }];
  let dependentDialects = ["linalg::LinalgDialect"];
}

//===----------------------------------------------------------------------===//
// Host ABI. In this order, with bufferization between the first two.
//===----------------------------------------------------------------------===//

def CodaHostSignature : Pass<"coda-host-signature", "ModuleOp"> {
  let summary = "Gives public functions on tensors caller-allocated outputs";
  let description = [{
    Turns each public `func.func` on tensors into an *entry*: every result gets
    a further argument, its destination, that it is materialised in, so that
    bufferization computes it where the caller wants it. Inputs are marked as
    not writable, so that bufferization never writes into them. Adds
    `@F_infer`, which computes the dynamic extents of the results from those of
    the arguments, where there are any. Integer divisions become total.

    Precondition: public functions have a body, take and return ranked tensors
    of f16, bf16, f32, f64, i1, i8, i16, i32 or i64, and call nothing without a
    body. Whatever breaks this is an error.

    Postcondition: an entry has the attribute `coda.entry` with its name,
    counts of inputs and outputs and the types of both, which
    `coda-plan-workspace` and `coda-to-host` read. Its loops are unchanged.
  }];
  let dependentDialects = [
    "bufferization::BufferizationDialect", "func::FuncDialect",
    "memref::MemRefDialect", "tensor::TensorDialect", "arith::ArithDialect"
  ];
}

def CodaPlanWorkspace : Pass<"coda-plan-workspace", "ModuleOp"> {
  let summary = "Packs the allocations of each entry into one workspace";
  let description = [{
    Replaces every `memref.alloc` of an entry by a `memref.view` into one
    workspace argument, `memref<?xi8>`, 64-byte aligned. Allocations whose
    lifetimes do not meet share bytes. Extents may be dynamic: sizes are then
    computed on entry, from the extents of the arguments; an allocation in a
    loop whose extent varies takes the largest. Adds `@F_workspace`, which
    computes the number of bytes.

    Precondition: an entry is bufferised, structured (one block, `scf`), and
    its allocations have the identity layout, its results are its last
    arguments (they are dropped). A size that depends on the data
    of an argument, or has no bound, is an error.

    Postcondition: no `memref.alloc`, `memref.alloca` or `memref.dealloc` is
    left in an entry.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "memref::MemRefDialect",
    "func::FuncDialect"
  ];
}

def CodaToHost : Pass<"coda-to-host", "ModuleOp"> {
  let summary = "Makes the C ABI of coda_runtime.h around each entry";
  let description = [{
    Adds to each entry the exported functions `coda_F`, `coda_F_workspace` and
    `coda_F_infer`, and to the module the table `coda_module_v1()`, as LLVM
    dialect. They call the host support of the artifact (lib/Runtime/
    HostSupport.c), which checks count, dtype, rank, extents, strides, device
    and workspace before anything runs. A `cf.assert` becomes an early return
    of CODA_ERROR_ASSERT with its message: nothing aborts.

    Precondition: entries went through `coda-host-signature` and
    `coda-plan-workspace`, and are in the form of a control-flow graph (`cf`).
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"x86-64-v3\"",
           "CPU level that the code needs, recorded in the artifact">,
    Option<"cpuFeatures", "cpu-features", "unsigned", "0",
           "bit set of CODA_CPU_* features that are checked before a call">,
  ];
  let dependentDialects = ["LLVM::LLVMDialect", "func::FuncDialect",
                           "cf::ControlFlowDialect", "arith::ArithDialect"];
}

#endif // CODA_CONVERSION_PASSES
