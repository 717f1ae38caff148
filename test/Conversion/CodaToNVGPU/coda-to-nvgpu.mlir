// RUN: coda-opt %s --coda-select-schedule --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// The launcher: a tensor map an operand, then the parameters.
// CHECK: llvm.mlir.global internal @coda_gpu_kernel_plain
// CHECK: func.func private @plain(
// CHECK: %[[HANDLE:.*]] = llvm.mlir.addressof @coda_gpu_kernel_plain
// CHECK: llvm.call @coda_gpu_begin_launch
// CHECK-COUNT-3: llvm.call @coda_gpu_tensor_map
// CHECK: llvm.call @coda_gpu_launch(%[[HANDLE]],

// CHECK: gpu.module @coda_kernels
// CHECK: gpu.func @plain(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64}
// CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
// CHECK-COUNT-2: nvgpu.mbarrier.create
// The producer.
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvgpu.mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvgpu.tma.async.load
// The consumers: one WGMMA a 16 of k, the first of a tile from zero.
// CHECK: nvvm.setmaxregister increase 232
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK-COUNT-7: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: llvm.inline_asm has_side_effects {{.*}} "wgmma.wait_group.sync.aligned 0;"
// CHECK: %[[V:.*]] = arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK: vector.bitcast %[[V]] : vector<4xbf16> to vector<2xi32>
// CHECK: nvvm.stmatrix
// CHECK: nvgpu.tma.async.store
func.func private @plain(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %o: memref<?x512xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A value of a row is computed once a row: two rows a thread, before the walk
// over the columns. The layouts of the factors are those of their index maps.
// CHECK: gpu.func @extents
// CHECK: nvvm.wgmma.mma_async {{.*}} A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
// CHECK: %[[R:.*]] = math.rsqrt {{.*}} : vector<2xf32>
// CHECK-NOT: math.rsqrt
// CHECK: %[[RR:.*]] = vector.shuffle %[[R]], %[[R]] [0, 0, 1, 1]
// CHECK: arith.mulf %[[RR]], {{.*}} : vector<4xf32>
// CHECK: gpu.return
func.func private @extents(%a: memref<256x512xf16>, %w: memref<256x512xf16>, %s: memref<512xf32>, %o: memref<512x512xf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[k, m] * %w[k, n] : memref<256x512xf16>, memref<256x512xf16>)
      ins(%s[m] : memref<512xf32>) outs(%o[m, n] : memref<512x512xf16>) {
  ^bb0(%x: f32, %sm: f32):
    %r = math.rsqrt %sm : f32
    %z = arith.mulf %r, %x : f32
    %y = arith.truncf %z : f32 to f16
    coda.yield %y : f16
  }
  return
}

// -----

// Several m and n dims that are adjacent everywhere are one: 2-D boxes.
// CHECK: gpu.func @merged
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<256x64xbf16
func.func private @merged(%a: memref<2x64x256xbf16>, %w: memref<4x128x256xbf16>, %o: memref<2x64x4x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m0, m1, k] * %w[n0, n1, k] : memref<2x64x256xbf16>, memref<4x128x256xbf16>)
      outs(%o[m0, m1, n0, n1] : memref<2x64x4x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Dims that a result orders otherwise are walked apart, and its boxes say so.
// CHECK: gpu.func @permuted
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<1x128x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<2x128x64xbf16
// CHECK: nvgpu.tma.async.store {{.*}} : memref<1x1x64x64xbf16
func.func private @permuted(%a: memref<2x64x256xbf16>, %w: memref<4x128x256xbf16>, %o: memref<2x4x64x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m0, m1, k] * %w[n0, n1, k] : memref<2x64x256xbf16>, memref<4x128x256xbf16>)
      outs(%o[m0, n0, m1, n1] : memref<2x4x64x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Two accumulators share the k loop and one WGMMA; loaded tiles come through
// the ring after the k blocks.
// CHECK: gpu.func @two
// CHECK-COUNT-3: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>
// CHECK: nvvm.ldmatrix
func.func private @two(%a: memref<256x256xbf16>, %v: memref<512x256xbf16>, %w: memref<512x256xbf16>, %t: memref<256x512xbf16>, %o: memref<256x512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %v[n, k], %a[m, k] * %w[n, k] : memref<256x256xbf16>, memref<512x256xbf16>, memref<256x256xbf16>, memref<512x256xbf16>)
      ins(%t[m, n] : memref<256x512xbf16>) outs(%o[m, n] : memref<256x512xf32>) {
  ^bb0(%x: f32, %y: f32, %tb: bf16):
    %tf = arith.extf %tb : bf16 to f32
    %z = arith.mulf %x, %y : f32
    %s = arith.addf %z, %tf : f32
    coda.yield %s : f32
  }
  return
}

// -----

// The logarithm of a sum of exponentials: one exponential a value relative to
// the chunk's maximum, one logarithm a row and group.
// CHECK: gpu.func @log_sum_exp
// CHECK: %[[MAX:.*]] = arith.maxnumf
// CHECK: math.exp2
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-4: math.log
// CHECK-NOT: math.log
// CHECK: gpu.return
func.func private @log_sum_exp(%a: memref<128x64xbf16>, %w: memref<2x128x64xbf16>, %l: memref<2x128xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<128x64xbf16>, memref<2x128x64xbf16>)
      outs(fresh logaddexp %l[n0, m] : memref<2x128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// A group's value is made before its columns are walked: once a row and group.
// CHECK: gpu.func @grouped
// CHECK: %[[G:.*]] = vector.from_elements {{.*}} : vector<2xf32>
// CHECK: %[[R:.*]] = math.rsqrt %[[G]] : vector<2xf32>
// CHECK: vector.shuffle %[[R]], %[[R]] [0, 0, 1, 1]
// CHECK: math.rsqrt
// CHECK-NOT: math.rsqrt
// CHECK: gpu.return
func.func private @grouped(%a: memref<128x64xbf16>, %w: memref<2x128x64xbf16>, %o: memref<128x2x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<128x64xbf16>, memref<2x128x64xbf16>)
      outs(%o[m, n0, n1] : memref<128x2x128xbf16>) {
  ^bb0(%x: f32):
    %q = arith.mulf %x, %x : f32
    %g = coda.group_reduce add %q over [n1] : f32
    %r = math.rsqrt %g : f32
    %y = arith.mulf %x, %r : f32
    %z = arith.truncf %y : f32 to bf16
    coda.yield %z : bf16
  }
  return
}
