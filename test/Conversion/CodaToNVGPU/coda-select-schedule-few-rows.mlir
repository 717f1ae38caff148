// RUN: coda-opt %s --coda-select-schedule --split-input-file | FileCheck %s

// Few rows: weights stream from memory, so what counts are bytes on their way. The
// ring stays deep; a tile of 256 columns that a cluster shares leaves two stages.

// CHECK-LABEL: func.func private @many_columns
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [64, 192, 64], stages = 6,
func.func private @many_columns(%a: memref<64x4096xbf16>, %w: memref<22016x4096xbf16>, %o: memref<64x22016xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x4096xbf16>, memref<22016x4096xbf16>) outs(%o[m, n] : memref<64x22016xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// With few columns, too, a cluster shares a tile.

// CHECK-LABEL: func.func private @few_columns
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 16, {{.*}}split = 2>
func.func private @few_columns(%a: memref<16x11008xbf16>, %w: memref<4096x11008xbf16>, %o: memref<16x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x11008xbf16>, memref<4096x11008xbf16>) outs(%o[m, n] : memref<16x4096xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// 64 rows are half as much as the weights that a tile of 128 columns loads with
// them, and two tiles share them.
// CHECK-LABEL: func.func private @shared_rows
// CHECK-SAME: tile = [64, 128, 64], {{.*}} pingpong = true, cluster = [1, 2]>
func.func private @shared_rows(%a: memref<64x8192xbf16>, %w: memref<44032x8192xbf16>, %o: memref<64x44032xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x8192xbf16>, memref<44032x8192xbf16>) outs(%o[m, n] : memref<64x44032xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// 172 tiles of 128 columns would leave 92 multiprocessors idle in their second
// round; with half of k each, clusters of two take them in turn.
// CHECK-LABEL: func.func private @uneven
// CHECK-SAME: tile = [64, 128, 64], {{.*}} pingpong = true, split = 2>
func.func private @uneven(%a: memref<16x4096xbf16>, %w: memref<22016x4096xbf16>, %o: memref<16x22016xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x4096xbf16>, memref<22016x4096xbf16>) outs(%o[m, n] : memref<16x22016xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// What is loaded is replaced by what is stored: that leaves the ring more.
// CHECK-LABEL: func.func private @residual
// CHECK-SAME: tile = [64, 64, 64], {{.*}} pingpong = true, inplace = true, split = 2>
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
