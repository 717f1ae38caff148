// RUN: coda-opt %s --split-input-file --coda-to-nvgpu --canonicalize --cse | FileCheck %s

// Tiles whose columns are no multiple of 64.

// A right factor in rows of k is one box, and one WGMMA, whatever its columns; 16
// columns are a chunk, of one piece that stmatrix writes.

// CHECK: gpu.func @rows_of_k_64x48x64_s4_pingpong_chunk16
// CHECK: nvgpu.tma.async.load %{{.+}}[%[[K:.+]], %{{.+}}], %[[FULL:.+]][%[[AT:.+]]] to %{{.+}} : <tensor = memref<64x64xbf16,
// CHECK-NEXT: %[[RIGHT:.+]] = arith.addi %{{.+}}, %c8192_i32
// CHECK: nvgpu.tma.async.load %{{.+}}[%[[K]], %{{.+}}], %[[FULL]][%[[AT]]] to %{{.+}} : <tensor = memref<48x64xbf16,
// CHECK: nvvm.wgmma.mma_async %{{.+}}, <m = 64, n = 48, k = 16>, {{.*}} B[<bf16>, <one>, <col>]
// CHECK-COUNT-3: nvvm.stmatrix
// CHECK-NOT: nvvm.stmatrix
func.func private @rows_of_k(%a: memref<64x192xbf16>, %w: memref<480x192xbf16>, %o: memref<64x480xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 48, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, pingpong = true, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x192xbf16>, memref<480x192xbf16>) outs(%o[m, n] : memref<64x480xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// One in rows of n has 80 columns in five runs of 16, each with all rows of k, swizzled
// over its 32 bytes: 2 KB from one to the next, 256 bytes from 8 rows to the next.

// CHECK: gpu.func @rows_of_n_64x80x64_s4_pingpong_chunk16
// CHECK: nvgpu.tma.async.load %{{.+}} : <tensor = memref<64x64xbf16,
// CHECK: memref.view
// CHECK-NEXT: %[[N:.+]] = arith.index_cast %[[COLUMN:.+]] : i32 to index
// CHECK-NEXT: nvgpu.tma.async.load %{{.+}}[%[[N]], %{{.+}}] {{.*}} : <tensor = memref<16x64xbf16,
// CHECK: %[[SECOND:.+]] = arith.addi %[[COLUMN]], %c16_i32
// CHECK: %[[N1:.+]] = arith.index_cast %[[SECOND]] : i32 to index
// CHECK: nvgpu.tma.async.load %{{.+}}[%[[N1]], %{{.+}}] {{.*}} : <tensor = memref<16x64xbf16,
// CHECK-COUNT-3: nvgpu.tma.async.load %{{.+}} : <tensor = memref<16x64xbf16,
// CHECK-NOT: nvgpu.tma.async.load
// CHECK: %[[FORM:.+]] = arith.ori %{{.+}}, %c-4611685949699522560_i64 : i64
// CHECK: nvvm.wgmma.mma_async %{{.+}}, %[[FORM]], %{{.+}}, <m = 64, n = 80, k = 16>, {{.*}} B[<bf16>, <one>, <row>]
// CHECK: %[[STEP:.+]] = arith.addi %[[FORM]], %c32_i64
// CHECK: nvvm.wgmma.mma_async %{{.+}}, %[[STEP]],
func.func private @rows_of_n(%a: memref<64x192xbf16>, %w: memref<192x480xbf16>, %o: memref<64x480xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 80, 64], stages = 4, staging = 2, prefetch = 0, raster = 8, pingpong = true, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[k, n] : memref<64x192xbf16>, memref<192x480xbf16>) outs(%o[m, n] : memref<64x480xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Of eight rows and sixteen columns a stage has 3 KB, of which a fragment reads 8: from
// the last of four up to byte 17408, which is behind all else.

// CHECK: gpu.func @eight_rows_64x16x64_s4_pingpong_chunk16{{.*}}coda.shared_bytes = 17408
func.func private @eight_rows(%a: memref<8x192xbf16>, %w: memref<480x192xbf16>, %o: memref<8x480xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 16, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, pingpong = true, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<8x192xbf16>, memref<480x192xbf16>) outs(%o[m, n] : memref<8x480xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Runs of 16 columns of which only sums are told apart are groups of one dim: the
// weight's columns are one box, and a sum is stored after each chunk.

// CHECK: gpu.func @runs_are_groups_64x32x64_s4_pingpong_chunk16
// CHECK: nvgpu.tma.async.load %{{.+}} : <tensor = memref<64x64xbf16,
// CHECK: nvgpu.tma.async.load %{{.+}}[%{{.+}}, %{{.+}}], {{.*}} : <tensor = memref<32x64xbf16,
// CHECK-NOT: nvgpu.tma.async.load
// CHECK: %[[FIRST:.+]] = arith.divui %[[COLUMN:.+]], %c16_i32
// CHECK: llvm.store %{{.+}} : f32, !llvm.ptr<1>
// CHECK: %[[NEXT:.+]] = arith.addi %[[COLUMN]], %c16_i32
// CHECK: arith.divui %[[NEXT]], %c16_i32
// CHECK: llvm.store %{{.+}} : f32, !llvm.ptr<1>
func.func private @runs_are_groups(%a: memref<64x192xbf16>, %w: memref<30x16x192xbf16>, %o: memref<64x30x16xbf16>, %s: memref<64x30xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 32, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, pingpong = true, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<64x192xbf16>, memref<30x16x192xbf16>) outs(%o[m, n0, n1], fresh add %s[m, n0] : memref<64x30x16xbf16>, memref<64x30xf32>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y, %x : bf16, f32
  }
  return
}
