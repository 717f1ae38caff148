// RUN: coda-opt %s --pass-pipeline='builtin.module(coda-to-nvgpu-pipeline,coda-to-ptx-pipeline)' | FileCheck %s --check-prefix=BINARY
// RUN: coda-opt %s --pass-pipeline='builtin.module(coda-to-nvgpu-pipeline,coda-to-ptx-pipeline{format=llvm})' | FileCheck %s

// Residual add, a weighted copy and partial sums of squares. PTX needs neither
// a GPU nor a toolkit.
// BINARY: gpu.binary @coda_kernels
// BINARY-SAME: chip = "sm_90a"
// BINARY-SAME: .target sm_90a
// BINARY-SAME: .param .align 64 .b8 residual_{{[a-z0-9_]+}}_param_{{[0-9]+}}[128]
// BINARY-SAME: setmaxnreg.inc.sync.aligned.u32
// BINARY-SAME: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// BINARY-SAME: ldmatrix.sync.aligned
// BINARY-SAME: stmatrix.sync.aligned

// CHECK: llvm.func @residual
// CHECK-SAME: llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant
// CHECK-NOT: unrealized_conversion_cast
// CHECK-NOT: __nv_
func.func private @residual(%y: memref<?x512xbf16>, %w: memref<4x128x512xbf16>, %res: memref<?x4x128xbf16>, %g: memref<4x128xbf16>,
    %x0: memref<?x4x128xbf16>, %h0: memref<?x4x128xbf16>, %s0: memref<4x?xf32>) attributes {coda.kernel} {
  coda.gemm acc(%y[m, k] * %w[n0, n1, k] : memref<?x512xbf16>, memref<4x128x512xbf16>)
    ins(%res[m, n0, n1], %g[n0, n1] : memref<?x4x128xbf16>, memref<4x128xbf16>)
    outs(%x0[m, n0, n1], %h0[m, n0, n1], fresh add %s0[n0, m] : memref<?x4x128xbf16>, memref<?x4x128xbf16>, memref<4x?xf32>) {
  ^bb0(%acc: f32, %r: bf16, %gn: bf16):
    %rf = arith.extf %r : bf16 to f32
    %gf = arith.extf %gn : bf16 to f32
    %xf = arith.addf %acc, %rf : f32
    %hf = arith.mulf %xf, %gf : f32
    %sq = arith.mulf %xf, %xf : f32
    %xb = arith.truncf %xf : f32 to bf16
    %hb = arith.truncf %hf : f32 to bf16
    coda.yield %xb, %hb, %sq : bf16, bf16, f32
  }
  return
}
