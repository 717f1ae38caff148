// RUN: coda-opt %s --coda-select-schedule --split-input-file | FileCheck %s

// Rows for several fragments, and few turns of tiles: how full the last turn is counts
// as much as the size of a tile.

// 128 tiles of one turn, not 64 of 128 columns.
// CHECK-LABEL: func.func private @one_turn
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 8, {{[^>]*}}raster = 8>
func.func private @one_turn(%a: memref<256x11008xbf16>, %w: memref<4096x11008xbf16>, %o: memref<256x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x11008xbf16>, memref<4096x11008xbf16>) outs(%o[m, n] : memref<256x4096xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// 396 tiles of 224 columns are three turns of 132 multiprocessors; 460 of 192 are four.
// CHECK-LABEL: func.func private @whole_turns
// CHECK-SAME: tile = [128, 224, 64]
func.func private @whole_turns(%a: memref<512x4096xbf16>, %w: memref<22016x4096xbf16>, %o: memref<512x22016xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<512x4096xbf16>, memref<22016x4096xbf16>) outs(%o[m, n] : memref<512x22016xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// With more rows, too: 512 tiles are four turns, 472 of 192 columns as many.
// CHECK-LABEL: func.func private @fuller_turns
// CHECK-SAME: tile = [128, 176, 64], {{.*}}pingpong = true
func.func private @fuller_turns(%a: memref<1024x2048xbf16>, %w: memref<11264x2048xbf16>, %o: memref<1024x11264xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<1024x2048xbf16>, memref<11264x2048xbf16>) outs(%o[m, n] : memref<1024x11264xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// The tiles of a bundle follow each other: 3 x 43 of 48 columns are one turn. One op by
// itself would have narrower ones.
// CHECK-LABEL: func.func private @bundle
// CHECK-SAME: tile = [64, 48, 64], {{.*}}pingpong = true, chunk = 16>
func.func private @bundle(%a: memref<16x2048xbf16>, %q: memref<2048x2048xbf16>, %k: memref<2048x2048xbf16>, %v: memref<2048x2048xbf16>, %x: memref<16x2048xbf16>, %y: memref<16x2048xbf16>, %z: memref<16x2048xbf16>) attributes {coda.kernel} {
  coda.bundle {
    coda.gemm acc(%a[m, k] * %q[n, k] : memref<16x2048xbf16>, memref<2048x2048xbf16>) outs(%x[m, n] : memref<16x2048xbf16>) {
    ^bb0(%e: f32):
      %t = arith.truncf %e : f32 to bf16
      coda.yield %t : bf16
    }
    coda.gemm acc(%a[m, k] * %k[n, k] : memref<16x2048xbf16>, memref<2048x2048xbf16>) outs(%y[m, n] : memref<16x2048xbf16>) {
    ^bb0(%e: f32):
      %t = arith.truncf %e : f32 to bf16
      coda.yield %t : bf16
    }
    coda.gemm acc(%a[m, k] * %v[n, k] : memref<16x2048xbf16>, memref<2048x2048xbf16>) outs(%z[m, n] : memref<16x2048xbf16>) {
    ^bb0(%e: f32):
      %t = arith.truncf %e : f32 to bf16
      coda.yield %t : bf16
    }
    coda.yield
  }
  return
}

// -----

// A long region is the longer exposed the fewer consumers share a tile: both take half
// of 128 rows.
// CHECK-LABEL: func.func private @residual
// CHECK-SAME: tile = [128, 64, 64], {{.*}}ring = true, inplace = true>
func.func private @residual(%a: memref<512x2048xbf16>, %w: memref<32x64x2048xbf16>, %r: memref<512x32x64xbf16>, %o: memref<512x32x64xbf16>, %s: memref<32x512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<512x2048xbf16>, memref<32x64x2048xbf16>) ins(%r[m, n0, n1] : memref<512x32x64xbf16>) outs(%o[m, n0, n1], fresh add %s[n0, m] : memref<512x32x64xbf16>, memref<32x512xf32>) {
  ^bb0(%x: f32, %y: bf16):
    %z = arith.extf %y : bf16 to f32
    %sum = arith.addf %x, %z : f32
    %t = arith.truncf %sum : f32 to bf16
    %q = arith.mulf %sum, %sum : f32
    coda.yield %t, %q : bf16, f32
  }
  return
}
