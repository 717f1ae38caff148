// RUN: coda-opt %s --coda-select-schedule --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @store
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 4, staging = 2, prefetch = 0, raster = 8>
func.func private @store(%a: memref<?x8192xbf16>, %w: memref<256x8192xbf16>, %o: memref<?x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x8192xbf16>, memref<256x8192xbf16>) outs(%o[m, n] : memref<?x256xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// The busiest of 132 multiprocessors has 6 tiles of 192x128 here, of 22x32, or 4
// of 128x256, the store of which is little beside 4096 products.
// CHECK-LABEL: func.func private @square
// CHECK-SAME: tile = [128, 256, 64]
func.func private @square(%a: memref<4096x4096xbf16>, %w: memref<4096x4096xbf16>, %o: memref<4096x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<4096x4096xbf16>, memref<4096x4096xbf16>) outs(%o[m, n] : memref<4096x4096xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// And here 21 of 192x128, or 16 of 128x256 of more time a point.
// CHECK-LABEL: func.func private @tall
// CHECK-SAME: tile = [192, 128, 64]
func.func private @tall(%a: memref<16384x64xbf16>, %w: memref<4096x64xbf16>, %o: memref<16384x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16384x64xbf16>, memref<4096x64xbf16>) outs(%o[m, n] : memref<16384x4096xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Where the columns are many the tile of 192 of them is the fastest that hides its
// store. If the products are short, many row tiles walk over them together.
// CHECK-LABEL: func.func private @wide
// CHECK-SAME: tile = [128, 192, 64], stages = 5, staging = 1, prefetch = 0, raster = 24, pingpong = true>
func.func private @wide(%a: memref<16384x2048xbf16>, %w: memref<11264x2048xbf16>, %o: memref<16384x11264xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16384x2048xbf16>, memref<11264x2048xbf16>) outs(%o[m, n] : memref<16384x11264xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Not where the products are longer: the chip is at its power limit.
// CHECK-LABEL: func.func private @wide_deep
// CHECK-SAME: tile = [128, 192, 64], stages = 5, staging = 1, prefetch = 0, raster = 8, pingpong = true>
func.func private @wide_deep(%a: memref<16384x4096xbf16>, %w: memref<11264x4096xbf16>, %o: memref<16384x11264xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16384x4096xbf16>, memref<11264x4096xbf16>) outs(%o[m, n] : memref<16384x11264xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Nor where the columns are few.
// CHECK-LABEL: func.func private @narrow_short
// CHECK-SAME: tile = [128, 192, 64], stages = 5, staging = 1, prefetch = 0, raster = 8, pingpong = true>
func.func private @narrow_short(%a: memref<16384x2048xbf16>, %w: memref<3072x2048xbf16>, %o: memref<16384x3072xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16384x2048xbf16>, memref<3072x2048xbf16>) outs(%o[m, n] : memref<16384x3072xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Without rows that are known, columns of a tile beyond the last are.
// CHECK-LABEL: func.func private @one_column_tile
// CHECK-SAME: tile = [192, 128, 64]
func.func private @one_column_tile(%a: memref<?x2048xbf16>, %w: memref<128x2048xbf16>, %o: memref<?x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x2048xbf16>, memref<128x2048xbf16>) outs(%o[m, n] : memref<?x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A tile that lacks an n dim comes through the ring, where it is needed once for
// all of the other's coordinates. Nothing is written over it.
// CHECK-LABEL: func.func private @shared_tile
// CHECK-SAME: tile = [128, 256, 64], stages = 4, staging = 2, prefetch = 0, raster = 8, ring = true>
func.func private @shared_tile(%a: memref<16384x64xbf16>, %w: memref<32x128x64xbf16>, %c: memref<16384x128xf32>, %o: memref<16384x32x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16384x64xbf16>, memref<32x128x64xbf16>) ins(%c[m, n1] : memref<16384x128xf32>) outs(%o[m, n0, n1] : memref<16384x32x128xbf16>) {
  ^bb0(%x: f32, %t: f32):
    %s = arith.mulf %x, %t : f32
    %q = arith.addf %s, %x : f32
    %y = arith.truncf %q : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Under long products a pair loads it for each of them, in chunks of 32 columns that
// both take from one set of buffers.
// CHECK-LABEL: func.func private @shared_tile_deep
// CHECK-SAME: tile = [192, 128, 64], stages = 4, staging = 1, prefetch = 4, raster = 8, pingpong = true, ordered = true, chunk = 32>
func.func private @shared_tile_deep(%a: memref<16384x2048xbf16>, %w: memref<32x128x2048xbf16>, %c: memref<16384x128xf32>, %o: memref<16384x32x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16384x2048xbf16>, memref<32x128x2048xbf16>) ins(%c[m, n1] : memref<16384x128xf32>) outs(%o[m, n0, n1] : memref<16384x32x128xbf16>) {
  ^bb0(%x: f32, %t: f32):
    %s = arith.mulf %x, %t : f32
    %q = arith.addf %s, %x : f32
    %y = arith.truncf %q : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// One that has some of the outer n dims is loaded where it is needed, under
// nothing.
// CHECK-LABEL: func.func private @shared_by_some
// CHECK-SAME: tile = [128, 256, 64], stages = 4, staging = 2, prefetch = 0, raster = 8>
func.func private @shared_by_some(%a: memref<16384x64xbf16>, %w: memref<4x8x64x64xbf16>, %c: memref<16384x8x64xf32>, %o: memref<16384x8x4x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, n2, k] : memref<16384x64xbf16>, memref<4x8x64x64xbf16>) ins(%c[m, n1, n2] : memref<16384x8x64xf32>) outs(%o[m, n1, n0, n2] : memref<16384x8x4x64xbf16>) {
  ^bb0(%x: f32, %t: f32):
    %s = arith.mulf %x, %t : f32
    %q = arith.addf %s, %x : f32
    %y = arith.truncf %q : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A schedule that is there already stays.
// CHECK-LABEL: func.func private @given
// CHECK-SAME: tile = [128, 128, 64], stages = 5, staging = 2, prefetch = 0, raster = 4
func.func private @given(%a: memref<?x64xbf16>, %w: memref<256x64xbf16>, %o: memref<?x256xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 5, staging = 2, prefetch = 0, raster = 4>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<256x64xbf16>) outs(%o[m, n] : memref<?x256xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A region that loads tiles: chunks of buffers for them, and results in place.
// CHECK-LABEL: func.func private @loads
// CHECK-SAME: tile = [192, 128, 64], stages = 4, staging = 0, prefetch = 4, raster = 8, pingpong = true, inplace = true>
func.func private @loads(%a: memref<?x64xbf16>, %w: memref<256x64xbf16>, %r: memref<?x256xbf16>, %o: memref<?x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<256x64xbf16>) ins(%r[m, n] : memref<?x256xbf16>) outs(%o[m, n] : memref<?x256xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A longer one has too few registers in a tile of 192 rows: the pair shares a
// tile, and what it loads comes through the ring. The second result passes
// through staging.
// CHECK-LABEL: func.func private @loads_more
// CHECK-SAME: tile = [128, 256, 64], stages = 4, staging = 2, prefetch = 0, raster = 8, ring = true, inplace = true>
func.func private @loads_more(%a: memref<?x64xbf16>, %w: memref<256x64xbf16>, %r: memref<?x256xbf16>, %c: memref<256xf32>, %o: memref<?x256xbf16>, %h: memref<?x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<256x64xbf16>) ins(%r[m, n], %c[n] : memref<?x256xbf16>, memref<256xf32>) outs(%o[m, n], %h[m, n] : memref<?x256xbf16>, memref<?x256xbf16>) {
  ^bb0(%x: f32, %b: bf16, %d: f32):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    %t = arith.mulf %s, %d : f32
    %u = arith.mulf %t, %s : f32
    %v = arith.addf %u, %f : f32
    %z = arith.mulf %v, %d : f32
    %y = arith.truncf %s : f32 to bf16
    %q = arith.truncf %z : f32 to bf16
    coda.yield %y, %q : bf16, bf16
  }
  return
}

// -----

// Two tiles loaded and three stored: two sets of buffers would leave three stages
// to the ring, with chunks of half the columns four. The products are long enough
// for a longer region.
// CHECK-LABEL: func.func private @loads_two
// CHECK-SAME: tile = [192, 128, 64], stages = 4, staging = 3, prefetch = 2, raster = 8, pingpong = true, chunk = 32>
func.func private @loads_two(%a: memref<?x2048xbf16>, %w: memref<4096x2048xbf16>, %r: memref<?x4096xbf16>, %c: memref<?x4096xbf16>, %o: memref<?x4096xbf16>, %h: memref<?x4096xbf16>, %y: memref<?x4096xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x2048xbf16>, memref<4096x2048xbf16>) ins(%r[m, n], %c[m, n] : memref<?x4096xbf16>, memref<?x4096xbf16>) outs(%o[m, n], %h[m, n], %y[m, n] : memref<?x4096xbf16>, memref<?x4096xbf16>, memref<?x4096xbf16>) {
  ^bb0(%x: f32, %b: bf16, %d: bf16):
    %f = arith.extf %b : bf16 to f32
    %g = arith.extf %d : bf16 to f32
    %s = arith.mulf %x, %f : f32
    %t = arith.mulf %x, %g : f32
    %u = arith.mulf %f, %g : f32
    %p = arith.truncf %s : f32 to bf16
    %q = arith.truncf %t : f32 to bf16
    %v = arith.truncf %u : f32 to bf16
    coda.yield %p, %q, %v : bf16, bf16, bf16
  }
  return
}

// -----

// CHECK-LABEL: func.func private @long
// CHECK-SAME: tile = [128, 128, 64], {{.*}}, raster = 8, pingpong = true
func.func private @long(%a: memref<?x64xbf16>, %w: memref<256x64xbf16>, %o: memref<?x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<256x64xbf16>) outs(%o[m, n] : memref<?x256xbf16>) {
  ^bb0(%x: f32):
    %t = math.tanh %x : f32
    %y = arith.truncf %t : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2}}
func.func private @f32_factors(%a: memref<?x64xf32>, %w: memref<256x64xf32>, %o: memref<?x256xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xf32>, memref<256x64xf32>) outs(%o[m, n] : memref<?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Values of columns make a tall tile better than two fragments of a smaller one,
// which have no room for them but registers. Sums of 128 columns leave out 192.
// CHECK-LABEL: @columns
// CHECK-SAME: tile = [192, 128, 64]
// CHECK-SAME: pingpong = true
func.func private @columns(%a: memref<16384x4096xbf16>, %w: memref<96x128x4096xbf16>, %p: memref<16384xf32>, %f: memref<128xf32>, %o: memref<16384x96x128xbf16>, %t: memref<16384x96xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16384x4096xbf16>, memref<96x128x4096xbf16>) ins(%p[m], %f[n1] : memref<16384xf32>, memref<128xf32>) outs(%o[m, n0, n1], fresh add %t[m, n0] : memref<16384x96x128xbf16>, memref<16384x96xf32>) {
  ^bb0(%x: f32, %r: f32, %c: f32):
    %angle = arith.mulf %r, %c : f32
    %cos = math.cos %angle : f32
    %sin = math.sin %angle : f32
    %x1 = arith.mulf %x, %cos : f32
    %x2 = arith.mulf %x, %sin : f32
    %x3 = arith.mulf %x1, %x2 : f32
    %x4 = arith.addf %x3, %x1 : f32
    %x5 = arith.addf %x4, %x2 : f32
    %x6 = arith.mulf %x5, %x : f32
    %y = arith.truncf %x6 : f32 to bf16
    coda.yield %y, %x6 : bf16, f32
  }
  return
}

// -----

// Without them two fragments of 192 columns move as few bytes, and WGMMA reads less of
// shared memory.
// CHECK-LABEL: @wide_columns
// CHECK-SAME: tile = [128, 192, 64]
// CHECK-SAME: pingpong = true
func.func private @wide_columns(%a: memref<16384x4096xbf16>, %w: memref<96x128x4096xbf16>, %p: memref<16384xf32>, %f: memref<128xf32>, %o: memref<16384x96x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16384x4096xbf16>, memref<96x128x4096xbf16>) ins(%p[m], %f[n1] : memref<16384xf32>, memref<128xf32>) outs(%o[m, n0, n1] : memref<16384x96x128xbf16>) {
  ^bb0(%x: f32, %r: f32, %c: f32):
    %angle = arith.mulf %r, %c : f32
    %cos = math.cos %angle : f32
    %sin = math.sin %angle : f32
    %x1 = arith.mulf %x, %cos : f32
    %x2 = arith.mulf %x, %sin : f32
    %x3 = arith.mulf %x1, %x2 : f32
    %x4 = arith.addf %x3, %x1 : f32
    %x5 = arith.addf %x4, %x2 : f32
    %x6 = arith.mulf %x5, %x : f32
    %y = arith.truncf %x6 : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Constants and what is computed once a row are no work of a point: a region of
// seven ops a point, among twelve, is short.
// CHECK-LABEL: @row_values
// CHECK-SAME: tile = [192, 128, 64]
// CHECK-SAME: pingpong = true
func.func private @row_values(%a: memref<16384x4096xbf16>, %w: memref<96x128x4096xbf16>, %s: memref<16384xf32>, %o: memref<16384x96x128xbf16>, %t: memref<16384x96xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16384x4096xbf16>, memref<96x128x4096xbf16>) ins(%s[m] : memref<16384xf32>) outs(%o[m, n0, n1], fresh add %t[m, n0] : memref<16384x96x128xbf16>, memref<16384x96xf32>) {
  ^bb0(%x: f32, %r: f32):
    %eps = arith.constant 1.0e-5 : f32
    %width = arith.constant 4096.0 : f32
    %mean = arith.divf %r, %width : f32
    %shifted = arith.addf %mean, %eps : f32
    %scale = math.rsqrt %shifted : f32
    %x1 = arith.mulf %x, %scale : f32
    %x2 = arith.mulf %x1, %x1 : f32
    %x3 = arith.addf %x2, %x1 : f32
    %x4 = arith.mulf %x3, %x2 : f32
    %x5 = arith.addf %x4, %x3 : f32
    %y = arith.truncf %x5 : f32 to bf16
    coda.yield %y, %x : bf16, f32
  }
  return
}

// -----

// A map waits for memory: few chunks in flight, of 128 columns, results over what
// they were made of; it has no ring.
// CHECK-LABEL: @map
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 2, staging = 0, prefetch = 2, raster = 8, inplace = true>
func.func private @map(%a: memref<16384x2048xbf16>, %b: memref<16384x2048xbf16>, %o: memref<16384x2048xbf16>) attributes {coda.kernel} {
  coda.map ins(%a[m, n], %b[m, n] : memref<16384x2048xbf16>, memref<16384x2048xbf16>) outs(%o[m, n] : memref<16384x2048xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    %z = arith.mulf %x, %y : bf16
    coda.yield %z : bf16
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a factor is not aligned}}
func.func private @not_aligned(%a: memref<?x63xbf16>, %w: memref<256x63xbf16>, %o: memref<?x256xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x63xbf16>, memref<256x63xbf16>) outs(%o[m, n] : memref<?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a row reduction is wider than a tile; partition it first}}
func.func private @whole_rows(%a: memref<?x64xbf16>, %w: memref<512x64xbf16>, %s: memref<?xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<512x64xbf16>) outs(add %s[m] : memref<?xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// What is dropped has one point, or no more than the rows of a fragment: a tile of 64
// rows holds them, and one of 128 those of more, or of a group of 128; and one column.
// CHECK-LABEL: func.func private @single_row
// CHECK-SAME: tile = [64,
func.func private @single_row(%a: memref<1x64xbf16>, %w: memref<512x64xbf16>, %s: memref<512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<1x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[n] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func private @few_rows
// CHECK-SAME: tile = [64,
func.func private @few_rows(%a: memref<64x64xbf16>, %w: memref<512x64xbf16>, %s: memref<512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[n] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func private @more_rows
// CHECK-SAME: tile = [128,
func.func private @more_rows(%a: memref<65x64xbf16>, %w: memref<512x64xbf16>, %s: memref<512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<65x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[n] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func private @groups_of_rows
// CHECK-SAME: tile = [128,
func.func private @groups_of_rows(%a: memref<40x64xbf16>, %w: memref<512x64xbf16>, %s: memref<1x512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<40x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[m floordiv 128, n] : memref<1x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// Groups of 64 rows: also of a tile of one fragment, and of three of them, where the
// products are long.
// CHECK-LABEL: func.func private @groups_of_a_fragment
// CHECK-SAME: tile = [64,
func.func private @groups_of_a_fragment(%a: memref<40x64xbf16>, %w: memref<512x64xbf16>, %s: memref<1x512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<40x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[m floordiv 64, n] : memref<1x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func private @groups_of_three_fragments
// CHECK-SAME: tile = [192, 128, 64]
// CHECK-SAME: pingpong = true
func.func private @groups_of_three_fragments(%a: memref<16384x6144xbf16>, %w: memref<6144x4096xbf16>, %x: memref<16384x4096xbf16>, %o: memref<16384x4096xbf16>, %s: memref<256x4096xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[k, n] : memref<16384x6144xbf16>, memref<6144x4096xbf16>) ins(%x[m, n] : memref<16384x4096xbf16>) outs(%o[m, n], fresh add %s[m floordiv 64, n] : memref<16384x4096xbf16>, memref<256x4096xf32>) {
  ^bb0(%v: f32, %r: bf16):
    %f = arith.extf %r : bf16 to f32
    %p = arith.mulf %v, %f : f32
    %d = arith.truncf %v : f32 to bf16
    coda.yield %d, %p : bf16, f32
  }
  return
}

// Deep products that end before the chip is at its power limit: the tile of the fewest
// bytes, if its last turn is as full. At the limit a pair.
// CHECK-LABEL: func.func private @deep_and_short
// CHECK-SAME: tile = [256, 192, 64]
func.func private @deep_and_short(%a: memref<16384x5632xbf16>, %w: memref<16384x2048xbf16>, %o: memref<5632x2048xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[k, m] * %w[k, n] : memref<16384x5632xbf16>, memref<16384x2048xbf16>) outs(%o[m, n] : memref<5632x2048xbf16>) {
  ^bb0(%x: f32):
    %t = arith.truncf %x : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// CHECK-LABEL: func.func private @deep_and_long
// CHECK-SAME: tile = [128, 192, 64]
// CHECK-SAME: pingpong = true
func.func private @deep_and_long(%a: memref<16384x22016xbf16>, %w: memref<16384x8192xbf16>, %o: memref<22016x8192xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[k, m] * %w[k, n] : memref<16384x22016xbf16>, memref<16384x8192xbf16>) outs(%o[m, n] : memref<22016x8192xbf16>) {
  ^bb0(%x: f32):
    %t = arith.truncf %x : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// CHECK-LABEL: func.func private @single_column
// CHECK-SAME: coda.schedule
func.func private @single_column(%a: memref<300x64xbf16>, %w: memref<1x64xbf16>, %s: memref<300xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<300x64xbf16>, memref<1x64xbf16>) outs(fresh add %s[m] : memref<300xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a column reduction is taller than a tile; partition it first}}
func.func private @whole_columns(%a: memref<?x64xbf16>, %w: memref<512x64xbf16>, %s: memref<512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<512x64xbf16>) outs(add %s[n] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a column reduction has groups of 32 rows, those of tiles have 64 or 128}}
func.func private @groups_of_32_rows(%a: memref<?x64xbf16>, %w: memref<512x64xbf16>, %s: memref<?x512xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[m floordiv 32, n] : memref<?x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a reduction has groups along one of several n dims}}
func.func private @groups_of_one_dim(%a: memref<?x64xbf16>, %w: memref<3x320x64xbf16>, %s: memref<3x3x?xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<?x64xbf16>, memref<3x320x64xbf16>) outs(fresh add %s[n0, n1 floordiv 128, m] : memref<3x3x?xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a row reduction over 24 columns does not fit tiles of}}
func.func private @groups_of_24(%a: memref<?x64xbf16>, %w: memref<320x64xbf16>, %s: memref<14x?xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x64xbf16>, memref<320x64xbf16>) outs(fresh add %s[n floordiv 24, m] : memref<14x?xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{operands are not memrefs: bufferize first}}
func.func private @tensors(%a: tensor<?x64xbf16>, %w: tensor<256x64xbf16>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {coda.kernel} {
  %0 = coda.gemm acc(%a[m, k] * %w[n, k] : tensor<?x64xbf16>, tensor<256x64xbf16>) outs(%o[m, n] : tensor<?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<?x256xf32>
}

// -----

// A group that is a whole row may end within a chunk, a router's logits of 6 experts
// say; one of several of a row may not.
// CHECK-LABEL: func.func private @group_of_a_row
// CHECK-SAME: tile = [64, 16, 64]
// CHECK-SAME: chunk = 16
func.func private @group_of_a_row(%a: memref<64x1024xbf16>, %w: memref<6x1024xbf16>, %o: memref<64x6xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x1024xbf16>, memref<6x1024xbf16>) outs(%o[m, n] : memref<64x6xf32>) {
  ^bb0(%x: f32):
    %e = math.exp %x : f32
    %s = coda.group_reduce add %e over [n] : f32
    %p = arith.divf %e, %s : f32
    coda.yield %p : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: groups of 8 columns: they must be multiples of 16, and all alike}}
func.func private @groups_in_a_row(%a: memref<64x1024xbf16>, %w: memref<16x8x1024xbf16>, %o: memref<64x16x8xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<64x1024xbf16>, memref<16x8x1024xbf16>) outs(%o[m, n0, n1] : memref<64x16x8xf32>) {
  ^bb0(%x: f32):
    %e = math.exp %x : f32
    %s = coda.group_reduce add %e over [n1] : f32
    %p = arith.divf %e, %s : f32
    coda.yield %p : f32
  }
  return
}

// -----

// A dim of one point is in no one's way: the row sums keep the dim within it, the column
// sums lack it.
// CHECK-LABEL: func.func private @unit_dim
// CHECK-SAME: coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64]
func.func private @unit_dim(%a: memref<128x1024xbf16>, %w: memref<1024x1x16x128xbf16>, %o: memref<128x1x16x128xbf16>, %r: memref<16x128xf32>, %c: memref<16x128xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[k, n0, n1, n2] : memref<128x1024xbf16>, memref<1024x1x16x128xbf16>)
      outs(%o[m, n0, n1, n2], fresh add %r[n1, m], fresh add %c[n1, n2] : memref<128x1x16x128xbf16>, memref<16x128xf32>, memref<16x128xf32>) {
  ^bb0(%x: f32):
    %s = arith.mulf %x, %x : f32
    %t = arith.truncf %x : f32 to bf16
    coda.yield %t, %s, %x : bf16, f32, f32
  }
  return
}

// -----

// One of two points has two sums.
// expected-error @+1 {{no schedule for this kernel on sm_90a: a reduction keeps an inner n dim and drops an outer one}}
func.func private @dim_of_two(%a: memref<128x1024xbf16>, %w: memref<1024x2x16x128xbf16>, %o: memref<128x2x16x128xbf16>, %r: memref<16x128xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[k, n0, n1, n2] : memref<128x1024xbf16>, memref<1024x2x16x128xbf16>)
      outs(%o[m, n0, n1, n2], fresh add %r[n1, m] : memref<128x2x16x128xbf16>, memref<16x128xf32>) {
  ^bb0(%x: f32):
    %s = arith.mulf %x, %x : f32
    %t = arith.truncf %x : f32 to bf16
    coda.yield %t, %s : bf16, f32
  }
  return
}
