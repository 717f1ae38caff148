// RUN: coda-opt %s --coda-select-schedule --split-input-file | FileCheck %s
// RUN: coda-opt %s --coda-select-schedule=batch-invariant --split-input-file | FileCheck %s --implicit-check-not='swap =' --check-prefix=INVARIANT

// INVARIANT: coda.schedule

// Few rows: weights stream from memory, so what counts are bytes on their way to all
// multiprocessors. 126 tiles of 176 columns are one round of 132.

// CHECK-LABEL: func.func private @many_columns
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [64, 176, 64], stages = 6, {{.*}}chunk = 16>
func.func private @many_columns(%a: memref<64x4096xbf16>, %w: memref<22016x4096xbf16>, %o: memref<64x22016xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x4096xbf16>, memref<22016x4096xbf16>) outs(%o[m, n] : memref<64x22016xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// With few columns tiles are narrow, 128 of them.

// CHECK-LABEL: func.func private @few_columns
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [64, 32, 64], stages = 16, {{.*}}chunk = 32>
func.func private @few_columns(%a: memref<16x11008xbf16>, %w: memref<4096x11008xbf16>, %o: memref<16x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x11008xbf16>, memref<4096x11008xbf16>) outs(%o[m, n] : memref<16x4096xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// 64 rows are more than half as much as the weights that a tile of 112 columns loads
// with them, and two tiles share them.
// CHECK-LABEL: func.func private @shared_rows
// CHECK-SAME: tile = [64, 112, 64], {{.*}} pingpong = true, chunk = 16, cluster = [1, 2]>
func.func private @shared_rows(%a: memref<64x8192xbf16>, %w: memref<44032x8192xbf16>, %o: memref<64x44032xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x8192xbf16>, memref<44032x8192xbf16>) outs(%o[m, n] : memref<64x44032xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Half as many columns are 64 tiles; with half of k each, clusters of two take one.
// CHECK-LABEL: func.func private @fewer_columns
// CHECK-SAME: tile = [64, 32, 64], {{.*}} pingpong = true, split = 2, chunk = 32>
func.func private @fewer_columns(%a: memref<16x5632xbf16>, %w: memref<2048x5632xbf16>, %o: memref<16x2048xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x5632xbf16>, memref<2048x5632xbf16>) outs(%o[m, n] : memref<16x2048xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// The halves of two accumulators share a tile, 48 columns of each. Sums of 16 columns
// are parts of it.
// CHECK-LABEL: func.func private @two_accumulators
// CHECK-SAME: tile = [64, 96, 64], {{.*}} pingpong = true, chunk = 16>
func.func private @two_accumulators(%a: memref<16x2048xbf16>, %w: memref<5632x2048xbf16>, %v: memref<5632x2048xbf16>, %o: memref<16x5632xbf16>, %s: memref<352x16xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k], %a[m, k] * %v[n, k] : memref<16x2048xbf16>, memref<5632x2048xbf16>, memref<16x2048xbf16>, memref<5632x2048xbf16>) outs(%o[m, n], fresh add %s[n floordiv 16, m] : memref<16x5632xbf16>, memref<352x16xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    %t = arith.truncf %z : f32 to bf16
    coda.yield %t, %z : bf16, f32
  }
  return
}

// -----

// Of a number of rows that only a call shows, too, groups of columns set the chunk.
// CHECK-LABEL: func.func private @groups_of_32
// CHECK-SAME: tile = [128, 160, 64], {{.*}} chunk = 32>
func.func private @groups_of_32(%a: memref<?x64xbf16>, %w: memref<320x64xbf16>, %s: memref<10x?xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<320x64xbf16>) outs(fresh add %s[n floordiv 32, m] : memref<10x?xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// What is loaded is replaced by what is stored: that leaves the ring more.
// CHECK-LABEL: func.func private @residual
// CHECK-SAME: tile = [64, 32, 64], {{.*}} pingpong = true, inplace = true, chunk = 32>
func.func private @residual(%a: memref<16x4096xbf16>, %w: memref<4096x4096xbf16>, %r: memref<16x4096xbf16>, %o: memref<16x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x4096xbf16>, memref<4096x4096xbf16>) ins(%r[m, n] : memref<16x4096xbf16>) outs(%o[m, n] : memref<16x4096xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %z = arith.extf %y : bf16 to f32
    %s = arith.addf %x, %z : f32
    %t = arith.truncf %s : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// Two tables of 32-bit elements would take 64 KB of buffers from the ring, beside the
// accumulators that a split exchanges: each thread loads what it needs of them.
// CHECK-LABEL: func.func private @tables
// CHECK-SAME: #coda_gpu.schedule<tile = [64, 128, 64], stages = 6, staging = 1, prefetch = 0, raster = 8, pingpong = true, split = 3>
func.func private @tables(%a: memref<64x4096xbf16>, %w: memref<32x128x4096xbf16>, %c: memref<64x32x128xf32>, %s: memref<64x32x128xf32>, %o: memref<64x32x128xbf16>, %r: memref<64x32xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<64x4096xbf16>, memref<32x128x4096xbf16>) ins(%c[m, n0, n1], %s[m, n0, n1] : memref<64x32x128xf32>, memref<64x32x128xf32>) outs(%o[m, n0, n1], fresh add %r[m, n0] : memref<64x32x128xbf16>, memref<64x32xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    %y = arith.mulf %x, %p : f32
    %z = arith.addf %y, %q : f32
    %t = arith.truncf %z : f32 to bf16
    coda.yield %t, %z : bf16, f32
  }
  return
}

// -----

// Of 16 rows factors change places where that was measured to be faster: with two
// accumulators and many tiles, halves of k of 64 columns of each.
// CHECK-LABEL: func.func private @swapped_accumulators
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [16, 128, 64], stages = 10, staging = 1, prefetch = 0, raster = 8, pingpong = true, swap = true, split = 2>
func.func private @swapped_accumulators(%a: memref<16x4096xbf16>, %w: memref<11008x4096xbf16>, %v: memref<11008x4096xbf16>, %r: memref<16xf32>, %o: memref<16x11008xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k], %a[m, k] * %v[n, k] : memref<16x4096xbf16>, memref<11008x4096xbf16>, memref<16x4096xbf16>, memref<11008x4096xbf16>) ins(%r[m] : memref<16xf32>) outs(%o[m, n] : memref<16x11008xbf16>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %z = arith.mulf %x, %y : f32
    %p = arith.mulf %z, %s : f32
    %t = arith.truncf %p : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// And of 8 rows with few tiles, a third of k each.
// CHECK-LABEL: func.func private @swapped_thirds
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [8, 64, 64], stages = 16, {{.*}}pingpong = true, swap = true, split = 3>
func.func private @swapped_thirds(%a: memref<8x2048xbf16>, %w: memref<2048x2048xbf16>, %o: memref<8x2048xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<8x2048xbf16>, memref<2048x2048xbf16>) outs(%o[m, n] : memref<8x2048xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Not with 64 rows, of which fragments have four warps' in either form.
// CHECK-LABEL: func.func private @not_swapped
// CHECK-NOT: swap
// CHECK: coda.gemm
func.func private @not_swapped(%a: memref<64x4096xbf16>, %w: memref<11008x4096xbf16>, %v: memref<11008x4096xbf16>, %o: memref<64x11008xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k], %a[m, k] * %v[n, k] : memref<64x4096xbf16>, memref<11008x4096xbf16>, memref<64x4096xbf16>, memref<11008x4096xbf16>) outs(%o[m, n] : memref<64x11008xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    %t = arith.truncf %z : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
