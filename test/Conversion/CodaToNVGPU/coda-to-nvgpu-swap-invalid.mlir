// RUN: coda-opt %s --coda-to-nvgpu --split-input-file --verify-diagnostics

// What a schedule with swapped factors does not take.

// expected-error @+1 {{schedule does not fit the kernel: consumers do not share the fragments of swapped factors: with swap, pingpong must be true}}
func.func private @cooperative(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, tile rows must be a multiple of 8, the columns of a fragment, and at most 64}}
func.func private @rows_of_12(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [12, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, tile rows must be a multiple of 8, the columns of a fragment, and at most 64}}
func.func private @rows_of_72(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [72, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, a chunk is the 64 columns that are a fragment's rows}}
func.func private @chunk_of_32(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true, chunk = 32>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: tile columns must be a multiple of 64, the columns of a chunk, and at most 256}}
func.func private @columns_of_96(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 96, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: loaded tiles cannot come through the ring of a ping-pong pair}}
func.func private @ring(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, ring = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, the inner of several n dims must have a multiple of 16 columns, those of a warp, it has 8}}
func.func private @runs(%a: memref<16x512xbf16>, %w: memref<8x8x512xbf16>, %o: memref<8x16x8xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16x512xbf16>, memref<8x8x512xbf16>) outs(%o[n0, m, n1] : memref<8x16x8xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: the inner n dim has rows of 96 columns, no multiple of chunks of 64}}
func.func private @rows_of_96_columns(%a: memref<16x512xbf16>, %w: memref<8x96x512xbf16>, %o: memref<8x16x96xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16x512xbf16>, memref<8x96x512xbf16>) outs(%o[n0, m, n1] : memref<8x16x96xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, the rows of a column are the columns of a fragment: they are not reduced}}
func.func private @columns(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %s: memref<256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(fresh add %s[n] : memref<256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a row reduction over 128 columns does not fit tiles of 64}}
func.func private @wide_sums(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %s: memref<2x16xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(fresh add %s[n floordiv 128, m] : memref<2x16xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, the columns of a group are those of several warps: a region cannot go on with what they are reduced to}}
func.func private @group(%a: memref<16x512xbf16>, %w: memref<4x64x512xbf16>, %o: memref<4x16x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16x512xbf16>, memref<4x64x512xbf16>) outs(%o[n0, m, n1] : memref<4x16x64xf32>) {
  ^bb0(%x: f32):
    %g = coda.group_reduce add %x over [n1] : f32
    coda.yield %g : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, the columns of a right factor cannot alternate between two points: neighbours are in two threads}}
func.func private @pairs(%a: memref<16x128xbf16>, %w: memref<128x4x64x2xbf16>, %o: memref<4x16x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 128, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[k, n0, n1, u] : memref<16x128xbf16>, memref<128x4x64x2xbf16>) outs(%o[n0, m, n1] : memref<4x16x64xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    %b = arith.truncf %s : f32 to bf16
    coda.yield %b : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a map has no products to run its region under}}
func.func private @map(%a: memref<16x256xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.map ins(%a[m, n] : memref<16x256xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: bf16):
    %y = arith.extf %x : bf16 to f32
    coda.yield %y : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a chunk stores 2 buffers, staging has 1}}
func.func private @staging(%a: memref<16x512xbf16>, %w: memref<256x512xbf16>, %o: memref<16x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<256x512xbf16>) outs(%o[m, n] : memref<16x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: with swap, a row reduction is f32: parts of several warps are in words}}
func.func private @wide_rows(%a: memref<16x512xbf16>, %w: memref<64x512xbf16>, %s: memref<16xf64>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<64x512xbf16>) outs(fresh add %s[m] : memref<16xf64>) {
  ^bb0(%x: f32):
    %d = arith.extf %x : f32 to f64
    coda.yield %d : f64
  }
  return
}
