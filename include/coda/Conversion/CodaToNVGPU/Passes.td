//===- Passes.td - Passes of the Hopper lowering -----------*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_CONVERSION_CODATONVGPU_PASSES
#define CODA_CONVERSION_CODATONVGPU_PASSES

include "mlir/Pass/PassBase.td"

def SelectSchedule : Pass<"coda-select-schedule", "::mlir::ModuleOp"> {
  let summary = "choose tile, stages and staging of each outlined kernel";
  let description = [{
    Writes a `#coda_gpu.schedule` on every function with the unit attribute
    `coda.kernel` that has none: the first of a short list of candidates that
    the schedule verifier accepts, largest tile first. Operands must be memrefs.

    With `database`, a file that `coda-bench` wrote, a kernel that has an entry
    there gets the schedule that was the fastest of those measured on `gpu`. One
    that does not fit any more is left alone, with a remark.

    A kernel that no schedule fits is an error that names the reason.
  }];
  let options = [
    Option<"database", "database", "std::string", "\"\"",
           "JSON file of measured schedules; empty: none">,
    Option<"gpu", "gpu", "std::string", "\"\"",
           "the GPU of the database whose schedules count; empty: its only one">,
    Option<"batchInvariant", "batch-invariant", "bool", "false",
           "no schedule whose order of sums depends on the number of rows">,
  ];
  let statistics = [
    Statistic<"numScheduled", "num-scheduled", "kernels given a schedule">,
    Statistic<"numMeasured", "num-measured", "of them from the database">,
  ];
  let dependentDialects = ["::mlir::coda_gpu::CodaGPUDialect"];
}

def ToNVGPU : Pass<"coda-to-nvgpu", "::mlir::ModuleOp"> {
  let summary = "scheduled kernels to gpu.func in nvgpu and nvvm, and launchers";
  let description = [{
    For each function with `coda.kernel` and a schedule:
    1. a `gpu.func` in `gpu.module @coda_kernels`: producer and consumer roles,
       the ring of shared-memory stages, the main loop, and the region, walked
       op by op on per-thread vectors, 64x64 points at a time;
    2. the function itself becomes the launcher: it encodes a tensor map per
       operand that the copy engine moves, and calls the launch runtime.

    How a region value is laid out follows from which dims it depends on:
    nothing (a scalar), rows (`vector<2>`: the two rows of a thread), columns
    (`vector<2>`), or both (`vector<4>`), so that a value of a row is computed
    once per row.

    The schedule is verified and obeyed; nothing is chosen here.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::coda_gpu::CodaGPUDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def GPULowerMath : Pass<"coda-gpu-lower-math"> {
  let summary = "math ops to the approximate instructions of the GPU";
  let description = [{
    Rewrites `math` ops on f32 (and on f16 and bf16 through f32) to calls of
    `llvm.nvvm.{ex2,lg2,rsqrt,sqrt,sin,cos,rcp}.approx`, scalars and vectors
    alike, so that no math library has to be linked. Unless `strict` is set,
    `arith.divf` becomes a product with the approximate reciprocal (2 ulp), and
    x + (a b + c d) becomes (x + a b) + c d, two instructions.

    `arith.extf` of pairs of bf16 becomes a shift and a mask of their word.

    Non-goals: f64 functions, which have no such instruction; they are left for
    `convert-gpu-to-nvvm`, whose library calls need libdevice.

    ```mlir
    %e = math.exp %x : f32
    ==>
    %c = arith.constant 1.44269502 : f32
    %m = arith.mulf %x, %c : f32
    %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%m) : (f32) -> f32
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false",
           "keep IEEE division and square root">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def GPULowerF8 : Pass<"coda-gpu-lower-f8"> {
  let summary = "conversions of 8-bit floats to the instructions of the GPU";
  let description = [{
    `arith.truncf` of f32, f16 and bf16 to f8E4M3FN and f8E5M2, and `arith.extf`
    from them, become conversions of pairs. The instruction saturates, `arith`
    does not: unless the value is clamped to the finite range before, by `min` and
    `max` or by comparisons, what is beyond it becomes NaN or an infinity as
    `arith` has it. Vectors have one dim and an even number of elements; what is
    left, f64 among it, is for `coda-expand-f8`.

    ```mlir
    %y = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
    ==>
    %0 = vector.extract %x[1] : f32 from vector<2xf32>
    %1 = vector.extract %x[0] : f32 from vector<2xf32>
    %2 = nvvm.convert.f32x2.to.f8x2 %0, %1 {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : vector<2xi8> (f8E4M3FN)
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def GPUFinalizeABI : Pass<"coda-gpu-finalize-abi", "::mlir::ModuleOp"> {
  let summary = "kernel parameters and shared memory as the hardware needs them";
  let description = [{
    Runs after `convert-gpu-to-nvvm`.
    1. A pointer argument of a kernel with `llvm.align = 64` is a tensor map:
       it becomes a 128-byte by-value `__grid_constant__` parameter. (`gpu.func`
       accepts neither attribute, and its conversion drops `llvm.byval`.)
    2. Dynamic shared memory becomes external and aligned to 1024 bytes, which
       the 128-byte swizzle needs.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def GPUSourceLines : Pass<"coda-gpu-source-lines", "::mlir::ModuleOp"> {
  let summary = "one line of the source as the location of each op";
  let description = [{
    Runs before `ensure-debug-info-scope-on-llvm-func`, for line tables. An
    inlined op has a call site as its location and a fused op a list; a table
    holds one line for each instruction. The callee's line is kept of a call
    site, the first line of a list (the producer's), the start of a range, the
    child of a name. An op without any line gets an unknown location.

    That pass of MLIR 22 also reads past the end of the host code where an op
    outside of an `llvm.func` has a call site, and of a call site whose callee is
    unknown; neither is left to it.

    Example:
    ```mlir
    %0 = llvm.fadd %a, %b : f32 loc(callsite("f.mlir":3:5 at "f.mlir":9:3))
    ```
    ==>
    ```mlir
    %0 = llvm.fadd %a, %b : f32 loc("f.mlir":3:5)
    ```
  }];
}

def GPUAssemble : Pass<"coda-gpu-assemble", "::mlir::ModuleOp"> {
  let summary = "PTX in gpu.binary ops to machine code, by ptxas";
  let description = [{
    Replaces the PTX of every `gpu.binary` by the cubin that ptxas makes of it.
    A remark says where ptxas spilled registers or serialised WGMMA instructions:
    the kernel is right then, but slower than its schedule promises. The names
    of such kernels are left on the op, in the attribute `coda.changed_kernels`.
  }];
  let options = [
    Option<"ptxas", "ptxas", "std::string", "\"\"",
           "the assembler; empty: looked up on PATH">,
    Option<"keepPtx", "keep-ptx", "bool", "false",
           "check only: leave the PTX in place">,
    Option<"lineInfo", "line-info", "bool", "false",
           "keep the line tables of the PTX">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def GPUEmbedBinary : Pass<"coda-gpu-embed-binary", "::mlir::ModuleOp"> {
  let summary = "kernel images into globals of the host code";
  let description = [{
    Moves the image of the kernels, `gpu.binary @coda_kernels`, into a constant
    that the record of each kernel then points to; adds `coda_gpu_load`, which
    loads all of them. After this pass the module is host code only.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def SeparateDestinations
    : Pass<"coda-separate-destinations", "::mlir::ModuleOp"> {
  let summary = "a destination of its own for each result of a kernel";
  let description = [{
    Outlining passes a tensor once, also where it is the destination of several
    results; bufferization would then allocate inside of the kernel. Each result
    whose destination gives only its shape gets an argument of its own, a
    `tensor.empty` at the call.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def GPUHostOps : Pass<"coda-gpu-host-ops", "::mlir::ModuleOp"> {
  let summary = "copies on the device, and an error for what no kernel does";
  let description = [{
    Runs on the host code around the launches, whose buffers are on the device.
    `memref.copy` becomes an asynchronous copy by the launch runtime; any op
    that would read or write elements on the host is an error that names it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def GPUDecomposeUnscheduled
    : Pass<"coda-gpu-decompose-unscheduled", "::mlir::ModuleOp"> {
  let summary = "kernels that no schedule fits become linalg in their callers";
  let description = [{
    Runs on tensors, before bufferization. Asks the schedule verifier about each
    function with `coda.kernel`, as its operands will be in memory:
    1. a kernel with a schedule stays;
    2. of a bundle without one, the members with a schedule of their own become
       kernels, as many to a bundle as have a schedule together, and the others are
       decomposed;
    3. of a gemm without one, products that are no kernel, if they alone stand in
       its way, are taken out of their sums and loaded, as are the last of more
       products than a kernel takes; else each accumulator alone,
       if a schedule fits, becomes a kernel that stores it; a map does what the
       region does;
    4. any other kernel is decomposed (`coda-decompose`), and its function
       becomes an ordinary private function, which is inlined;
    5. a kernel with factors of which the rows are not whole 16 bytes, all their dims
       known but the first, stays one, too: its argument
       gets `coda.padded_row`, for `coda-gpu-pad-rows`, and there is a remark
       `padded-rows`;
    6. a kernel that needs what only the call shows, dynamic strides of whole 16
       bytes or a k that is not empty, becomes a branch: the kernel, or the
       decomposed op.
    A kernel of which the call alone shows the number of rows becomes a branch of
    two kernels, one for at most 64 rows, in each member if it is a bundle. Where it
    has no such version, but might have as few rows, there is a remark `few-rows`.
    Each op that is decomposed has a remark `unfused-on-device` with the reason,
    which is also in the module's attribute `coda.unscheduled` under the name of
    the kernel, and so has each product, and each reduction of more than 32 terms,
    that is in no kernel.
    Tile and semantic ops outside of kernels are decomposed, too. What is linalg
    then runs by `coda-gpu-launch-loops`.
  }];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "tile ops that became linalg">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::coda_gpu::CodaGPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GPUResolveReshapes : Pass<"coda-gpu-resolve-reshapes"> {
  let summary = "reshapes that need no shape in memory";
  let description = [{
    `tensor.reshape` reads its shape from a tensor, which is on the device where
    the host would need it. Where the extents are known as values it becomes a
    collapse and an expansion.

    ```mlir
    %s = tensor.from_elements %m, %n : tensor<2xindex>
    %r = tensor.reshape %x(%s) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    ==>
    %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
    %r = tensor.expand_shape %c [[0, 1]] output_shape [%m, %n] : tensor<?xf32> into tensor<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GPUCopyConstants : Pass<"coda-gpu-copy-constants"> {
  let summary = "constant tensors into memory of the device";
  let description = [{
    After bufferization a constant tensor is a global, which on the host is no
    memory of the device. Each use becomes a buffer that is filled by a copy;
    `coda-gpu-launch-loops` makes a kernel of the copy, with the global in the
    image of the kernels. Runs before `coda-plan-workspace`.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def GPUPassViews : Pass<"coda-gpu-pass-views", "::mlir::ModuleOp"> {
  let summary = "kernels that take slices where they are";
  let description = [{
    After bufferization, which gives functions compact arguments. A copy of a slice
    of an argument that the call does not write, a part of the joint weight of q, k
    and v say, made for a kernel whose factor it is, goes; the kernel takes the
    slice. Its offset and strides are static and multiples of 16 bytes, and the strides
    of all callers are the same; where their offsets differ, or some pass a whole
    buffer of these strides, the kernel takes any offset: the experts of one tensor of
    weights, or its layers. So does one of what a region loads, a part of the joint
    bias, if it is compact.

    ```mlir
    %s = memref.subview %w[0, 2048] [2048, 512] [1, 1]
    %c = memref.alloc() : memref<2048x512xbf16>
    memref.copy %s, %c
    call @kernel(%x, %c, %y)
    ==>
    %s = memref.subview %w[0, 2048] [2048, 512] [1, 1]
    call @kernel(%x, %s, %y)
    ```
  }];
  let statistics = [
    Statistic<"numPassed", "num-passed", "slices passed">,
  ];
}

def GPUPadRows : Pass<"coda-gpu-pad-rows", "::mlir::ModuleOp"> {
  let summary = "rows of factors in whole 16 bytes";
  let description = [{
    After bufferization. The copy engine takes rows that are whole 16 bytes apart. An
    argument of a kernel with `coda.padded_row` gets a layout in which they are. What
    its calls pass are buffers with such rows: where a buffer is nothing but an
    operand of kernels, and all of them have schedules with it, it is made so. Where
    a kernel of the same block stores it all, as one does what a forward returns for
    its backward, that kernel stores it to a second one. Otherwise it is copied.

    ```mlir
    func.func private @kernel(%a: memref<512x4xbf16> {coda.padded_row = 1 : i64}, ...)
    call @kernel(%x, ...)
    ==>
    func.func private @kernel(%a: memref<512x4xbf16, strided<[8, 1]>>, ...)
    %p = memref.alloc() : memref<512x8xbf16>
    %s = memref.subview %p[0, 0] [512, 4] [1, 1]
    memref.copy %x, %s
    call @kernel(%s, ...)
    ```
  }];
  let statistics = [
    Statistic<"numCopied", "num-copied", "operands copied to padded rows">,
    Statistic<"numMade", "num-made", "buffers made with padded rows">,
  ];
  let dependentDialects = ["::mlir::coda_gpu::CodaGPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

def GPUMarkUnwritten : Pass<"coda-gpu-mark-unwritten", "::mlir::ModuleOp"> {
  let summary = "arguments that a kernel may load before it waits";
  let description = [{
    After bufferization. A kernel that is not the first of its call is launched
    before the one before it has ended. Its arguments that are arguments of the
    entry, or views of them, which no launch or copy of the call writes, weights
    say, get the unit attribute `coda.unwritten`: `coda-to-nvgpu` begins to load
    them before the kernel waits.

    ```mlir
    func.func @main(%x: memref<64x64xbf16>, %w: memref<64x64xbf16>, %y: memref<64x64xbf16>) {
      call @first(%x, %y) ...
      call @second(%y, %w) ...
    ==>
    func.func private @second(%y: memref<64x64xbf16>, %w: memref<64x64xbf16> {coda.unwritten})
    ```
  }];
  let statistics = [
    Statistic<"numMarked", "num-marked", "arguments marked">,
  ];
}

def GPULaunchLoops : Pass<"coda-gpu-launch-loops", "::mlir::ModuleOp"> {
  let summary = "linalg of the host code into simple kernels, one launch each";
  let description = [{
    For each `linalg.generic` on memrefs of the host code, each `memref.copy`
    that is not contiguous, and each `memref.store`:
    1. a `gpu.func` in `gpu.module @coda_kernels`: a thread takes points of the
       parallel dims in steps of the grid, row-major, and runs the dims of
       reductions as loops in registers. Equal kernels are made once;
    2. its launch, in place of the op.

    Indices are 64-bit. A sum in f16 or bf16 is kept in f32 and rounded once, as
    is a product that only such a sum reads. An element whose `cf.assert` does
    not hold becomes NaN (a float) or 0: there is no way back to the caller.

    ```mlir
    linalg.generic ... ins(%a : memref<?x8xf32>) outs(%b : memref<?x8xf32>) ...
    ==>
    gpu.func @main_loops_0(%a: memref<?x8xf32>, %n: index, %b: memref<?x8xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numLaunches", "num-launches", "launches made">,
    Statistic<"numKernels", "num-kernels", "kernels made">,
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // CODA_CONVERSION_CODATONVGPU_PASSES
