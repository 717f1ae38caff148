// RUN: coda-opt %s --split-input-file --coda-to-nvgpu --canonicalize --cse | FileCheck %s

// Two kinds of 8-bit factors: k blocks of 128 are 128 bytes, a WGMMA takes 32 of k,
// in steps of 32 bytes. A result of 8 bits goes out as rows of 64 bytes, which the
// copy engine swizzles over these; two neighbours of a thread are one store.

// CHECK: gpu.func @mixed
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.for %{{.+}} = %c0_i32 to %c4_i32
// CHECK: nvgpu.mbarrier.arrive.expect_tx %{{.+}}[%{{.+}}], %c32768
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x128xf8E4M3FN,
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x128xf8E5M2,
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[A:.+]] = builtin.unrealized_conversion_cast %{{.+}} : !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf8E4M3FN
// CHECK: %[[B:.+]] = builtin.unrealized_conversion_cast %{{.+}} : !nvgpu.warpgroup.descriptor<tensor = memref<128x128xf8E5M2
// CHECK: nvvm.wgmma.mma_async %[[A]], %[[B]], %{{.+}}, <m = 64, n = 128, k = 32>, D[<f32>, <zero>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>]
// CHECK: %[[A1:.+]] = arith.addi %[[A]], %c2_i64
// CHECK: %[[B1:.+]] = arith.addi %[[B]], %c2_i64
// CHECK: nvvm.wgmma.mma_async %[[A1]], %[[B1]], %{{.+}}, <m = 64, n = 128, k = 32>, D[<f32>, <one>]
// CHECK-COUNT-2: nvvm.wgmma.mma_async
// CHECK: %[[Q:.+]] = arith.truncf %{{.+}} : vector<4xf32> to vector<4xf8E4M3FN>
// CHECK: %[[PAIRS:.+]] = vector.bitcast %[[Q]] : vector<4xf8E4M3FN> to vector<2xi16>
// CHECK: %[[FIRST:.+]] = vector.extract %[[PAIRS]][0]
// CHECK: llvm.store %[[FIRST]], %[[AT:.+]] : i16
// CHECK: %[[SECOND:.+]] = vector.extract %[[PAIRS]][1]
// CHECK: %[[BELOW:.+]] = llvm.getelementptr %[[AT]][512]
// CHECK: llvm.store %[[SECOND]], %[[BELOW]] : i16
// CHECK: nvgpu.tma.async.store
func.func private @mixed(%a: memref<256x512xf8E4M3FN>, %b: memref<256x512xf8E5M2>, %s: memref<f32>, %o: memref<256x256xf8E4M3FN>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 128], stages = 4, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %b[n, k] : memref<256x512xf8E4M3FN>, memref<256x512xf8E5M2>)
      ins(%s[] : memref<f32>) outs(%o[m, n] : memref<256x256xf8E4M3FN>) {
  ^bb0(%x: f32, %t: f32):
    %y = arith.mulf %x, %t : f32
    %q = arith.truncf %y : f32 to f8E4M3FN
    coda.yield %q : f8E4M3FN
  }
  return
}

// -----

// 8-bit tiles come in by each thread, two neighbours at once; a run of 8 columns is
// too short for the copy engine, and two neighbours go out at once.

// CHECK: gpu.func @direct
// CHECK-NOT: nvgpu.tma.async.store
// CHECK: %[[PAIR:.+]] = llvm.load {{.*}}invariant {{.*}} -> vector<2xi8>
// CHECK: arith.bitcast %[[PAIR]] : vector<2xi8> to vector<2xf8E5M2>
// CHECK: %[[Q:.+]] = arith.truncf %{{.+}} : vector<4xf32> to vector<4xf8E5M2>
// CHECK: %[[BITS:.+]] = arith.bitcast %[[Q]] : vector<4xf8E5M2> to vector<4xi8>
// CHECK: %[[BYTES:.+]] = vector.shuffle %[[BITS]], %[[BITS]] [0, 1] : vector<4xi8>, vector<4xi8>
// CHECK: llvm.store %[[BYTES]], %{{.+}} : vector<2xi8>, !llvm.ptr<1>
// CHECK-NOT: nvgpu.tma.async.store
func.func private @direct(%a: memref<128x128xf8E4M3FN>, %b: memref<8x8x128xf8E4M3FN>, %t: memref<8x128x8xf8E5M2>, %o: memref<8x128x8xf8E5M2>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 128], stages = 4, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %b[n0, n1, k] : memref<128x128xf8E4M3FN>, memref<8x8x128xf8E4M3FN>)
      ins(%t[n0, m, n1] : memref<8x128x8xf8E5M2>) outs(%o[n0, m, n1] : memref<8x128x8xf8E5M2>) {
  ^bb0(%x: f32, %y: f8E5M2):
    %z = arith.extf %y : f8E5M2 to f32
    %w = arith.addf %x, %z : f32
    %q = arith.truncf %w : f32 to f8E5M2
    coda.yield %q : f8E5M2
  }
  return
}
