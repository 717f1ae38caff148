// RUN: coda-opt %s --split-input-file --verify-diagnostics --coda-to-nvgpu --canonicalize --cse | FileCheck %s

// Accumulators with left factors of their own: one k loop after another, each with
// stages of one tile of each of its two factors.

// CHECK: gpu.func @own
// CHECK: %[[FULL:.+]] = nvgpu.mbarrier.create
// CHECK: %[[EMPTY:.+]] = nvgpu.mbarrier.create
// The producer.
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[FIRST:.+]]:2 = scf.for %{{.+}} = %c0_i32 to %c2_i32
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][%{{.+}}], %c32768
// CHECK: nvgpu.tma.async.load %[[A:[^\[]+]][
// CHECK: nvgpu.tma.async.load %[[B:[^\[]+]][
// CHECK: scf.for %{{.+}} = %c0_i32 to %c3_i32 {{.*}} iter_args(%{{.+}} = %[[FIRST]]#0, %{{.+}} = %[[FIRST]]#1)
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][%{{.+}}], %c32768
// CHECK-NOT: nvgpu.tma.async.load %[[A]][
// CHECK-NOT: nvgpu.tma.async.load %[[B]][
// CHECK: nvgpu.tma.async.load
// CHECK: nvgpu.tma.async.load
// A consumer: the first block of each sets its accumulator, half of the columns.
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[X0:.+]] = nvvm.wgmma.mma_async %{{.+}}, %{{.+}}, %[[UNDEF:.+]], <m = 64, n = 128, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-3: D[<f32>, <one>]
// CHECK: D[<f32>, <one>]
// CHECK: %[[Y0:.+]] = nvvm.wgmma.mma_async %{{.+}}, %{{.+}}, %[[UNDEF]], <m = 64, n = 128, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-2: D[<f32>, <one>]
// CHECK: %[[Y3:.+]] = nvvm.wgmma.mma_async {{.*}}D[<f32>, <one>]
// The stage before goes back when all but this block's products are done.
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvgpu.mbarrier.arrive %[[EMPTY]]
// CHECK: scf.for %{{.+}} = %c1_i32 to %c3_i32 {{.*}}, %{{.+}} = %[[Y3]])
func.func private @own(%a: memref<256x128xbf16>, %b: memref<256x128xbf16>, %a1: memref<256x192xbf16>, %b1: memref<256x192xbf16>, %o: memref<256x256xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k0] * %b[n, k0], %a1[m, k1] * %b1[n, k1] : memref<256x128xbf16>, memref<256x128xbf16>, memref<256x192xbf16>, memref<256x192xbf16>)
      outs(%o[m, n] : memref<256x256xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.truncf %p : f32 to bf16
    coda.yield %q : bf16
  }
  return
}

// -----

// What one accumulator has alone and what both have of a left factor: both take
// part in the second loop, of which the first block sets only the second.

// CHECK: gpu.func @shared
// CHECK: nvgpu.mbarrier.arrive.expect_tx %{{.+}}[%{{.+}}], %c24576
// CHECK: nvgpu.mbarrier.arrive.expect_tx %{{.+}}[%{{.+}}], %c32768
// CHECK: nvvm.setmaxregister increase
// CHECK: n = 64, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-3: n = 64, k = 16>, D[<f32>, <one>]
// CHECK: scf.for
// CHECK-COUNT-4: n = 64, k = 16>, D[<f32>, <one>]
// CHECK: }
// CHECK: n = 64, k = 16>, D[<f32>, <one>]
// CHECK: n = 64, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-6: n = 64, k = 16>, D[<f32>, <one>]
// CHECK: scf.for
// CHECK-COUNT-8: n = 64, k = 16>, D[<f32>, <one>]
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 0
func.func private @shared(%a: memref<256x192xbf16>, %b: memref<256x192xbf16>, %a1: memref<256x256xbf16>, %b1: memref<256x256xbf16>, %b2: memref<256x256xbf16>, %o: memref<256x256xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k0] * %b[n, k0] + %a1[m, k1] * %b1[n, k1], %a1[m, k1] * %b2[n, k1] : memref<256x192xbf16>, memref<256x192xbf16>, memref<256x256xbf16>, memref<256x256xbf16>, memref<256x256xbf16>, memref<256x256xbf16>)
      outs(%o[m, n] : memref<256x256xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.truncf %p : f32 to bf16
    coda.yield %q : bf16
  }
  return
}

// -----

// One left factor, right factors in different orders: a loop for each.

// CHECK: gpu.func @orders
// CHECK: D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK: D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>]
func.func private @orders(%a: memref<256x192xbf16>, %b: memref<256x192xbf16>, %b1: memref<192x256xbf16>, %o: memref<256x256xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %b[n, k], %a[m, k] * %b1[k, n] : memref<256x192xbf16>, memref<256x192xbf16>, memref<256x192xbf16>, memref<192x256xbf16>)
      outs(%o[m, n] : memref<256x256xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.truncf %p : f32 to bf16
    coda.yield %q : bf16
  }
  return
}

// -----

// Each of the slices needs a block of every product that sets an accumulator.

// expected-error @+1 {{schedule does not fit the kernel: k has 2 blocks of 64, split deals one to each of 3}}
func.func private @split(%a: memref<256x192xbf16>, %b: memref<256x192xbf16>, %a1: memref<256x128xbf16>, %b1: memref<256x128xbf16>, %o: memref<256x256xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, split = 3>} {
  coda.gemm acc(%a[m, k0] * %b[n, k0], %a1[m, k1] * %b1[n, k1] : memref<256x192xbf16>, memref<256x192xbf16>, memref<256x128xbf16>, memref<256x128xbf16>)
      outs(%o[m, n] : memref<256x256xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.truncf %p : f32 to bf16
    coda.yield %q : bf16
  }
  return
}
