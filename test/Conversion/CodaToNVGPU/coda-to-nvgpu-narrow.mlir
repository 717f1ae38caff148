// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse | FileCheck %s

// Halves of 16 columns of each head: a chunk of 64 columns has four heads. They
// are one box of the weight, and of what is stored, where the heads come right
// before the columns whatever the order in memory is; 32 columns further are two
// heads further. Boxes are swizzled over the 32 bytes of a run.

// CHECK: gpu.func @heads
// CHECK: nvgpu.tma.async.load %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}, %c0], {{.*}} : <tensor = memref<1x4x16x64xbf16,
// CHECK: nvgpu.tma.async.load %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}, %c1], {{.*}} : <tensor = memref<1x4x16x64xbf16,
// The swizzle: two pieces of 16 bytes change places.
// CHECK: %[[LANE:.+]] = arith.remui %{{.+}}, %c32_i32 : i32
// CHECK: %[[ROW:.+]] = arith.remui %[[LANE]], %c8_i32 : i32
// CHECK: arith.remui %[[ROW]], %c2_i32 : i32
// CHECK: %[[INNER:.+]] = arith.remui %[[COLUMN:.+]], %c16_i32 : i32
// CHECK: %[[HEAD:.+]] = arith.divui %[[COLUMN]], %c16_i32 : i32
// The column's value is that of the run, the same for all four heads.
// CHECK: nvvm.stmatrix
// CHECK: %[[INNERI:.+]] = arith.index_cast %[[INNER]] : i32 to index
// CHECK: %[[HEADI:.+]] = arith.index_cast %[[HEAD]] : i32 to index
// CHECK: %[[ROWI:.+]] = arith.index_cast
// CHECK: nvgpu.tma.async.store %{{.+}} to %[[O:.+]][%[[INNERI]], %[[HEADI]], %c0, %[[ROWI]]] : memref<64x1x1x64xbf16,
// CHECK: nvgpu.tma.async.store %{{.+}} to %[[O]][%[[INNERI]], %[[HEADI]], %c1, %[[ROWI]]] : memref<64x1x1x64xbf16,
// CHECK: nvgpu.tma.async.store %{{.+}} to %[[F:.+]][%[[INNERI]], %[[HEADI]], %c0, %[[ROWI]]] : memref<64x1x1x32xf32,
// CHECK: %[[NEXT:.+]] = arith.addi %[[HEAD]], %c2_i32 : i32
// CHECK: %[[NEXTI:.+]] = arith.index_cast %[[NEXT]] : i32 to index
// CHECK: nvgpu.tma.async.store %{{.+}} to %[[F]][%[[INNERI]], %[[NEXTI]], %c0, %[[ROWI]]] : memref<64x1x1x32xf32,
func.func private @heads(%a: memref<256x192xbf16>, %w: memref<8x2x16x192xbf16>, %c: memref<256x16xf32>, %o: memref<8x256x2x16xbf16>, %f: memref<256x8x2x16xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 6, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x192xbf16>, memref<8x2x16x192xbf16>)
      ins(%c[m, n1] : memref<256x16xf32>)
      outs(%o[n0, m, u, n1], %f[m, n0, u, n1] : memref<8x256x2x16xbf16>, memref<256x8x2x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %s : f32
    %q = arith.mulf %y, %s : f32
    %pn = arith.truncf %p : f32 to bf16
    %qn = arith.truncf %q : f32 to bf16
    coda.yield %pn, %qn, %p, %q : bf16, bf16, f32, f32
  }
  return
}

// The last chunk of all has fewer heads: the copy engine leaves out what is beyond
// them, what a thread loads is clamped to the last one, and it stores up to there.

// CHECK: gpu.func @few_heads
// CHECK: nvgpu.tma.async.load {{.*}} : <tensor = memref<1x4x16x64xbf16,
// CHECK: %[[LAST:.+]] = arith.minui %{{.+}}, %c1_i32 : i32
// CHECK: arith.cmpi ult, %{{.+}}, %c32_i32 : i32
// CHECK: llvm.store
func.func private @few_heads(%a: memref<256x192xbf16>, %w: memref<2x2x16x192xbf16>, %c: memref<2x2x16xf32>, %o: memref<2x256x2x16xi16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x192xbf16>, memref<2x2x16x192xbf16>)
      ins(%c[n0, u, n1] : memref<2x2x16xf32>) outs(%o[n0, m, u, n1] : memref<2x256x2x16xi16>) {
  ^bb0(%x: f32, %y: f32, %s: f32, %t: f32):
    %p = arith.mulf %x, %s : f32
    %q = arith.mulf %y, %t : f32
    %pn = arith.fptosi %p : f32 to i16
    %qn = arith.fptosi %q : f32 to i16
    coda.yield %pn, %qn : i16, i16
  }
  return
}

// A right factor that is contiguous along the halves: a box of 64 columns has run
// after run, each with all rows of k. 64 bytes of a row are swizzled (mode 2): eight
// rows are 512 bytes, a run is 4096; 16 rows of k are 1024. Descriptors count in 16
// bytes: 2 << 62 | 32 << 32 | 256 << 16. In a cluster an address has the number of
// the block above its 18 bits.

// CHECK: gpu.func @runs_of_32
// CHECK: nvgpu.tma.async.load %[[W:[^\[]+]][%[[N1:.+]], %c0, %[[K:.+]], %[[N0:.+]]], {{.*}} : <tensor = memref<2x32x1x64xbf16,
// CHECK: nvgpu.tma.async.load %[[W]][%[[N1]], %c1, %[[K]], %[[N0]]], {{.*}} : <tensor = memref<2x32x1x64xbf16,
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[ADDRESS:.+]] = llvm.ptrtoint %{{.+}} : !llvm.ptr<3> to i32
// CHECK: %[[OWN:.+]] = arith.andi %[[ADDRESS]], %c262143_i32 : i32
// CHECK: %[[START:.+]] = arith.divui %[[OWN]], %c16_i32 : i32
// CHECK: %[[WIDE:.+]] = arith.extui %[[START]] : i32 to i64
// CHECK: %[[DESC:.+]] = arith.ori %[[WIDE]], %c-9223371899399045120_i64 : i64
// CHECK: nvvm.wgmma.mma_async %{{.+}}, %[[DESC]], %{{.+}} B[<bf16>, <one>, <row>]
// CHECK: %[[NEXT:.+]] = arith.addi %[[DESC]], %c64_i64 : i64
// CHECK: nvvm.wgmma.mma_async %{{.+}}, %[[NEXT]],
func.func private @runs_of_32(%a: memref<256x192xbf16>, %w: memref<192x8x2x32xbf16>, %o: memref<8x256x2x32xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[k, n0, u, n1] : memref<256x192xbf16>, memref<192x8x2x32xbf16>)
      outs(%o[n0, m, u, n1] : memref<8x256x2x32xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %pn = arith.truncf %x : f32 to bf16
    %qn = arith.truncf %y : f32 to bf16
    coda.yield %pn, %qn : bf16, bf16
  }
  return
}

// 16 bytes of a row are not swizzled, and runs (1024 bytes) are the other offset:
// 64 << 32 | 8 << 16; 16 rows of k are 256 bytes.

// CHECK: gpu.func @runs_of_8
// CHECK: nvgpu.tma.async.load {{.*}} : <tensor = memref<8x8x64xbf16,
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[DESC:.+]] = arith.ori %{{.+}}, %c274878431232_i64 : i64
// CHECK: %[[NEXT:.+]] = arith.addi %[[DESC]], %c16_i64 : i64
func.func private @runs_of_8(%a: memref<256x192xbf16>, %w: memref<192x16x8xbf16>, %o: memref<16x256x8xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[k, n0, n1] : memref<256x192xbf16>, memref<192x16x8xbf16>)
      outs(%o[n0, m, n1] : memref<16x256x8xbf16>) {
  ^bb0(%x: f32):
    %pn = arith.truncf %x : f32 to bf16
    coda.yield %pn : bf16
  }
  return
}

// Halves of 40 columns of each head are five chunks of 8: two heads' rows of the weight
// are one box, each thread loads and stores two columns of a chunk in each of its rows,
// and nothing else passes through shared memory.

// CHECK: gpu.func @heads_of_80
// CHECK: nvgpu.tma.async.load %{{.+}}[%{{.+}}, %{{.+}}, %c0, %{{.+}}], {{.*}} : <tensor = memref<2x1x40x64xbf16,
// CHECK: nvgpu.tma.async.load %{{.+}}[%{{.+}}, %{{.+}}, %c1, %{{.+}}], {{.*}} : <tensor = memref<2x1x40x64xbf16,
// CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 160, k = 16>
// CHECK: %[[INNER:.+]] = arith.remui %[[COLUMN:.+]], %c40_i32 : i32
// CHECK: %[[HEAD:.+]] = arith.divui %[[COLUMN]], %c40_i32 : i32
// CHECK: %[[MINE:.+]] = arith.addi %[[INNER]], %[[QUAD:.+]] : i32
// CHECK: %[[MINEI:.+]] = arith.extui %[[MINE]] : i32 to i64
// CHECK: llvm.load %{{.+}} invariant : !llvm.ptr<1> -> i32
// CHECK: llvm.load %{{.+}} invariant : !llvm.ptr<1> -> i32
// CHECK: %[[HEADI:.+]] = arith.extui %[[HEAD]] : i32 to i64
// CHECK: %[[OFHEAD:.+]] = arith.muli %[[HEADI]], %c20480_i64 : i64
// CHECK: %[[OFCOLUMN:.+]] = arith.addi %[[OFHEAD]], %[[MINEI]] : i64
// CHECK-COUNT-4: llvm.store %{{.+}}, %{{.+}} : vector<2xbf16>, !llvm.ptr<1>
// CHECK: arith.addi %[[COLUMN]], %c8_i32 : i32
// CHECK-NOT: matrix
// CHECK-NOT: tma.async.store
func.func private @heads_of_80(%a: memref<256x192xbf16>, %w: memref<8x2x40x192xbf16>, %c: memref<256x40xbf16>, %o: memref<8x256x2x40xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 160, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, chunk = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x192xbf16>, memref<8x2x40x192xbf16>)
      ins(%c[m, n1] : memref<256x40xbf16>) outs(%o[n0, m, u, n1] : memref<8x256x2x40xbf16>) {
  ^bb0(%x: f32, %y: f32, %s: bf16):
    %t = arith.extf %s : bf16 to f32
    %p = arith.mulf %x, %t : f32
    %q = arith.mulf %y, %t : f32
    %pn = arith.truncf %p : f32 to bf16
    %qn = arith.truncf %q : f32 to bf16
    coda.yield %pn, %qn : bf16, bf16
  }
  return
}

// A right factor that is contiguous along such rows comes in runs of 8 columns, each
// with all rows of k.

// CHECK: gpu.func @runs_of_40
// CHECK-COUNT-2: nvgpu.tma.async.load {{.*}} : <tensor = memref<8x1x64xbf16,
// CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 16, k = 16>, {{.*}} A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>]
func.func private @runs_of_40(%a: memref<256x192xbf16>, %w: memref<192x8x40xbf16>, %o: memref<8x256x40xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 16, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, chunk = 8>} {
  coda.gemm acc(%a[m, k] * %w[k, n0, n1] : memref<256x192xbf16>, memref<192x8x40xbf16>)
      outs(%o[n0, m, n1] : memref<8x256x40xbf16>) {
  ^bb0(%x: f32):
    %p = arith.truncf %x : f32 to bf16
    coda.yield %p : bf16
  }
  return
}
