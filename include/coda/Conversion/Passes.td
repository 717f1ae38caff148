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

def CodaWidenToF64 : Pass<"coda-widen-to-f64", "ModuleOp"> {
  let summary = "Computes each function in f64: the oracle for the others";
  let description = [{
    NON-NUMERIC-PRESERVING. Every float of a function becomes f64 and every
    conversion between floats disappears: inputs are extended where they are
    first read, float results are rounded to f32, once; those that were f64
    stay. With `borders` arguments and results are f64, too: what differences are
    taken of, whose steps 16 bits would round.

    Precondition: functions on tensors, on the level of linalg, without calls
    and without `arith.bitcast`.
  }];
  let options = [
    Option<"borders", "borders", "bool", /*default=*/"false",
           "Make float arguments and results f64, too">,
  ];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

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

def CodaShareBranchInits : Pass<"coda-share-branch-inits"> {
  let summary = "Gives the branches of an op one tensor.empty for a result";
  let description = [{
    Empty tensors of equal type and sizes, one used in one branch of an `scf.if`
    and the other in another, become one, before the `scf.if`. Where the branches
    are two ways to compute a result, both then write to one buffer, which is what
    the `scf.if` yields, and its extents are those of that buffer.

    Stands after empty tensors are replaced by where results go, which takes one
    use of each, and before bufferization.

    ```mlir
    %a = tensor.empty(%n) : tensor<?xf32>
    %b = tensor.empty(%n) : tensor<?xf32>
    %r = scf.if %c -> tensor<?xf32> {
      %x = linalg.exp ins(%s : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %x : tensor<?xf32>
    } else {
      %y = linalg.abs ins(%s : tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    }
    ==>
    %a = tensor.empty(%n) : tensor<?xf32>
    %r = scf.if %c -> tensor<?xf32> {
      %x = linalg.exp ins(%s : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %x : tensor<?xf32>
    } else {
      %y = linalg.abs ins(%s : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    }
    ```
  }];
  let dependentDialects = ["tensor::TensorDialect"];
}

def CodaLowerContractions : Pass<"coda-lower-contractions"> {
  let summary = "Lowers contractions to packed, register-tiled loops";
  let description = [{
    Replaces each `linalg.generic` on memrefs that multiplies and accumulates
    floats, with at least one dim of each of m, n and k, by loops over blocks:
    both factors are packed into panels and widened to the type of the
    accumulator, and a tile of 6 rows by two vectors stays in registers along a
    block of k. Any order of dims is read as it is, so no transpose is needed.

    Each element is one chain of FMAs in ascending order of k, whatever the
    extents of the tiles. An accumulator narrower than f32 is summed in f32 and
    rounded once, unless `numerics=strict`.
  }];
  let options = [
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: leave contractions that accumulate in less than f32 alone",
           [{::mlir::coda::getNumericsValues()}]>
  ];
  let statistics = [
    Statistic<"numLowered", "num-lowered", "contractions lowered">
  ];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

def CodaVectorizeLoops : Pass<"coda-vectorize-loops"> {
  let summary = "Lowers elementwise ops and reductions to loops over vectors";
  let description = [{
    Replaces each `linalg.generic` on memrefs whose maps are projected
    permutations and whose body is elementwise by a loop nest. The innermost
    loop runs along the dim that the most operands are contiguous in, 8 elements
    at a time, then one at a time. Values that do not depend on that dim are
    computed once per row. A sum along it is kept in 8 lanes, which are added in
    a fixed order; with `numerics=strict`, sums keep the order of the source, and ops
    that could only run along a summed dim are left for scalar loops.

    A vector and a scalar step do the same arithmetic.
  }];
  let options = [
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: never change the order of a sum",
           [{::mlir::coda::getNumericsValues()}]>
  ];
  let statistics = [
    Statistic<"numVectorized", "num-vectorized", "ops that became vectors">
  ];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

def CodaExpandMath : Pass<"coda-expand-math"> {
  let summary = "Replaces math on f32 by arithmetic, as accurate as libm";
  let description = [{
    Powers become products; exp, expm1, log, log1p, tanh and erf of f32, f16 and
    bf16 become polynomials in f32 (relative error below 1e-6), which are the
    same in a vector and in a scalar loop. What has no accurate polynomial, sin
    and cos of large arguments, and all of f64, is left to libm.
  }];
  let dependentDialects = ["arith::ArithDialect", "math::MathDialect",
                           "vector::VectorDialect"];
}

def CodaExpandF8 : Pass<"coda-expand-f8"> {
  let summary = "Writes conversions of 8-bit floats as arithmetic on their bits";
  let description = [{
    `arith.extf` from and `arith.truncf` to f8E4M3FN and f8E5M2, of scalars and
    vectors, become integer arithmetic with the same values: exact, and rounded
    to nearest even. What is beyond the largest number becomes NaN in f8E4M3FN,
    which has no infinity, and an infinity in f8E5M2; a program that wants it
    clamped clamps it before. Each NaN becomes 0x7F. Arithmetic on 8-bit floats
    is not expanded: `arith-emulate-unsupported-floats` makes it f32 before.

    ```mlir
    %y = arith.extf %x : f8E5M2 to f32
    ```
    ==>
    ```mlir
    %c8 = arith.constant 8 : i16
    %0 = arith.bitcast %x : f8E5M2 to i8
    %1 = arith.extui %0 : i8 to i16
    %2 = arith.shli %1, %c8 : i16
    %3 = arith.bitcast %2 : i16 to f16
    %y = arith.extf %3 : f16 to f32
    ```
  }];
  let dependentDialects = ["arith::ArithDialect"];
}

def CodaComputeOnce : Pass<"coda-compute-once"> {
  let summary = "Computes what fewer loops tell once, not at each point";
  let description = [{
    In the body of a `linalg.generic` a value may depend on some of the loops
    alone. Where it takes a call of the math library or a polynomial, depends on
    the innermost loop and not on all loops around, it is computed by an op of its
    own over its loops, and loaded: the sines and cosines of a position and a
    frequency are the same for all heads. What does not depend on the innermost
    loop is computed once a row anyway (`coda-vectorize-loops`), and what costs
    less than a load at each point. Fusion computes such values where they are
    read, which on a GPU saves a launch and the table; here it saves nothing.

    Nothing is rounded otherwise: a value is stored in the type that it has.

    ```mlir
    %y = linalg.generic {(m, h, d)} ins(%x[m, h, d], %p[m], %f[d]) {x * cos(p * f)}
    ```
    ==>
    ```mlir
    %c = linalg.generic {(m, d)} ins(%p[m], %f[d]) {cos(p * f)}
    %y = linalg.generic {(m, h, d)} ins(%x[m, h, d], %p[m], %f[d], %c[m, d]) {x * c}
    ```
  }];
  let statistics = [
    Statistic<"numTables", "num-tables", "ops made of values of fewer loops">
  ];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def CodaFoldTransposes : Pass<"coda-fold-transposes"> {
  let summary = "Reads transposed factors of contractions where they are";
  let description = [{
    A `linalg.transpose` of a factor of a contraction becomes a permuted index
    map: packing reads any order of dims, so the copy is not made.
  }];
  let dependentDialects = ["linalg::LinalgDialect"];
}

def CodaKeepRoundings : Pass<"coda-keep-roundings"> {
  let summary = "Takes from float conversions the leave to be folded away";
  let description = [{
    `arith-emulate-unsupported-floats` writes a 16-bit operation as an operation
    on f32 between conversions that may be folded (`contract`), which keeps
    values wider than the source says. Where every rounding of the source counts,
    this pass follows it.

    ```mlir
    %n = arith.truncf %x fastmath<contract> : f32 to bf16
    ```
    ==>
    ```mlir
    %n = arith.truncf %x : f32 to bf16
    ```
  }];
  let dependentDialects = ["arith::ArithDialect"];
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

def CodaCheckConstants : Pass<"coda-check-constants"> {
  let summary = "Refuses constants that are data";
  let description = [{
    Weights and tables are arguments: an artifact holds no constant tensor of
    more than `max-bytes` bytes, unless all its elements are equal. One that is
    used is an error, at its place, with its size.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "64",
           "bytes that a constant may have">
  ];
}

def CodaGuardTraps : Pass<"coda-guard-traps"> {
  let summary = "Puts an assert before what would trap on some data";
  let description = [{
    In the bodies of linalg ops an integer division by zero or one that
    overflows would end the process, as would reading or writing an element of a
    tensor out of its bounds anywhere. Before each of these stands a `cf.assert`
    then, unless constants or the loops' extents say that it cannot happen. A
    failed assert is a status with a message to the caller.

    ```mlir
    %e = tensor.extract %t[%i] : tensor<8xf32>
    ```
    ==>
    ```mlir
    %c8 = arith.constant 8 : index
    %in = arith.cmpi ult, %i, %c8 : index
    cf.assert %in, "index 0 into a tensor is out of its bounds"
    %e = tensor.extract %t[%i] : tensor<8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numGuards", "num-guards", "asserts added">
  ];
  let dependentDialects = ["arith::ArithDialect", "cf::ControlFlowDialect",
                           "tensor::TensorDialect"];
}

def CodaLoopDestinations : Pass<"coda-loop-destinations"> {
  let summary = "Makes loops on tensors work in place";
  let description = [{
    One-shot bufferization takes an `scf.for` only if each value that it yields
    is computed in the buffer of the iteration argument. This pass says so: it
    materialises what is yielded in the argument (a copy, where it is not there
    already), and gives an empty tensor that a loop starts from a buffer of its
    own.

    ```mlir
    %r = scf.for ... iter_args(%a = %x) -> (tensor<8xf32>) {
      %y = linalg.exp ins(%a) outs(%e) -> tensor<8xf32>
      scf.yield %y
    }
    ```
    ==>
    ```mlir
    %r = scf.for ... iter_args(%a = %x) -> (tensor<8xf32>) {
      %y = linalg.exp ins(%a) outs(%e) -> tensor<8xf32>
      %m = bufferization.materialize_in_destination %y in %a
      scf.yield %m
    }
    ```

    Other loops on tensors (`scf.while`, `scf.forall`, `scf.parallel`) and
    `scf.index_switch` are errors.
  }];
  let dependentDialects = ["bufferization::BufferizationDialect"];
}

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
    of f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1, i8, i16, i32 or i64, and call nothing without a
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
    arguments, or reshapes of them (they are dropped). A size that depends on the
    data of an argument, or has no bound, is an error. That of one of two buffers,
    of an `scf.if` say, is known where it is that of both.

    Postcondition: no `memref.alloc`, `memref.alloca` or `memref.dealloc` is
    left in an entry.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "memref::MemRefDialect",
    "func::FuncDialect"
  ];
}

def CodaResolveExpansions : Pass<"coda-resolve-expansions"> {
  let summary = "Expansions into several extents that are not known, as casts";
  let description = [{
    `memref.expand_shape` that makes two dims of unknown extent or more of one, of
    rows a batch and its tokens say, becomes a cast with strides, as
    `expand-strided-metadata` takes no more than one. Others stay.

    ```mlir
    %y = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %t, 4]
        : memref<?x4xf32> into memref<?x?x4xf32>
    ==>
    %base, %o, %n:2, %s:2 = memref.extract_strided_metadata %x
        : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
    %s0 = arith.muli %c4, %t : index
    %y = memref.reinterpret_cast %base to offset: [0], sizes: [%b, %t, 4],
        strides: [%s0, 4, 1] : memref<f32> to memref<?x?x4xf32>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
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
