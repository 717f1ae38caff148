// RUN: coda-opt %s --coda-to-nvgpu --split-input-file --verify-diagnostics

// expected-error @+1 {{kernel has no schedule; run coda-select-schedule}}
func.func private @unscheduled(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: tile columns must be a multiple of 64, the columns of a chunk, and at most 256}}
func.func private @columns(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 512, 64], stages = 3, staging = 4, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: needs 327680 bytes of shared memory, a block has 231424}}
func.func private @shared_memory(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 6, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a chunk stores 2 buffers, staging has 1}}
func.func private @staging(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 1, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: tile rows must be a multiple of 128, 64 for each warpgroup of the tile, and at most 256}}
func.func private @rows(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [192, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a thread has 256 accumulators, at most 192 fit}}
func.func private @accumulators(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a group's tiles are loaded ahead: prefetch must be 0, or at least 2}}
func.func private @no_prefetch(%a: memref<64x64xbf16>, %w: memref<1x128x64xbf16>, %r: memref<64x1x128xbf16>, %o: memref<64x1x128xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<64x64xbf16>, memref<1x128x64xbf16>) ins(%r[m, n0, n1] : memref<64x1x128xbf16>) outs(%o[m, n0, n1] : memref<64x1x128xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %f = arith.extf %y : bf16 to f32
    %g = coda.group_reduce add %f over [n1] : f32
    %z = arith.truncf %g : f32 to bf16
    coda.yield %z : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: loaded tiles cannot come through the ring of a ping-pong pair}}
func.func private @ring_of_pair(%a: memref<64x64xbf16>, %w: memref<128x64xbf16>, %r: memref<64x128xbf16>, %o: memref<64x128xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, pingpong = true, ring = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<128x64xbf16>) ins(%r[m, n] : memref<64x128xbf16>) outs(%o[m, n] : memref<64x128xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: loaded tiles come through the ring or through buffers of their own: with ring, prefetch must be 0}}
func.func private @ring_and_buffers(%a: memref<64x64xbf16>, %w: memref<128x64xbf16>, %r: memref<64x128xbf16>, %o: memref<64x128xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 2, raster = 8, ring = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<128x64xbf16>) ins(%r[m, n] : memref<64x128xbf16>) outs(%o[m, n] : memref<64x128xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: nothing is stored in place: no stored tile has elements as wide as those of one that is loaded ahead}}
func.func private @in_place_of_nothing(%a: memref<64x64xbf16>, %w: memref<128x64xbf16>, %r: memref<64x128xbf16>, %o: memref<64x128xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, inplace = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<128x64xbf16>) ins(%r[m, n] : memref<64x128xbf16>) outs(%o[m, n] : memref<64x128xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: nothing is stored in place}}
func.func private @in_place_of_narrower(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %r: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, ring = true, inplace = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) ins(%r[m, n] : memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32, %b: bf16):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    coda.yield %s : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: loaded tiles that are held together take 3 stages, the ring has 2}}
func.func private @ring_of_groups(%a: memref<64x64xbf16>, %w: memref<1x256x64xbf16>, %r: memref<64x1x256xf32>, %o: memref<64x1x256xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 2, staging = 2, prefetch = 0, raster = 8, ring = true>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<64x64xbf16>, memref<1x256x64xbf16>) ins(%r[m, n0, n1] : memref<64x1x256xf32>) outs(%o[m, n0, n1] : memref<64x1x256xf32>) {
  ^bb0(%x: f32, %y: f32):
    %g = coda.group_reduce add %y over [n1] : f32
    coda.yield %g : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a stage of 0 bytes does not hold a loaded box of 16384}}
func.func private @ring_of_map(%r: memref<64x64xbf16>, %o: memref<64x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 2, staging = 1, prefetch = 0, raster = 8, ring = true>} {
  coda.map ins(%r[m, n] : memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%b: bf16):
    coda.yield %b : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: split must be 1 to 8: blocks of a cluster}}
func.func private @split_of_nine(%a: memref<64x512xbf16>, %w: memref<64x512xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, pingpong = true, split = 9>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x512xbf16>, memref<64x512xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: k has 3 blocks of 64, split deals one to each of 4}}
func.func private @split_of_short_k(%a: memref<64x136xbf16>, %w: memref<64x136xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, pingpong = true, split = 4>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x136xbf16>, memref<64x136xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: k of which the extent is not known is not split}}
func.func private @split_of_dynamic_k(%a: memref<64x?xbf16, strided<[512, 1]>>, %w: memref<64x?xbf16, strided<[512, 1]>>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, pingpong = true, split = 2>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x?xbf16, strided<[512, 1]>>, memref<64x?xbf16, strided<[512, 1]>>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: cluster must have 1, 2 or 4 blocks along m, and along n}}
func.func private @cluster_of_three(%a: memref<128x128xbf16>, %w: memref<64x128xbf16>, %o: memref<128x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, cluster = [3, 1]>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x128xbf16>, memref<64x128xbf16>) outs(%o[m, n] : memref<128x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a cluster has 8 blocks that share factors, at most 4 may}}
func.func private @cluster_of_eight(%a: memref<128x128xbf16>, %w: memref<64x128xbf16>, %o: memref<128x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, cluster = [2, 4]>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x128xbf16>, memref<64x128xbf16>) outs(%o[m, n] : memref<128x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: the blocks of a cluster have slices of k, or tiles of their own: with cluster, split must be 1}}
func.func private @cluster_and_split(%a: memref<128x128xbf16>, %w: memref<64x128xbf16>, %o: memref<128x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, split = 2, cluster = [1, 2]>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x128xbf16>, memref<64x128xbf16>) outs(%o[m, n] : memref<128x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a map has no factors that blocks could share}}
func.func private @cluster_of_map(%a: memref<128x128xbf16>, %o: memref<128x128xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, cluster = [2, 1]>} {
  coda.map ins(%a[m, n] : memref<128x128xbf16>) outs(%o[m, n] : memref<128x128xf32>) {
  ^bb0(%x: bf16):
    %y = arith.extf %x : bf16 to f32
    coda.yield %y : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a map has no products to split}}
func.func private @split_of_map(%a: memref<128x128xbf16>, %o: memref<128x128xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, split = 2>} {
  coda.map ins(%a[m, n] : memref<128x128xbf16>) outs(%o[m, n] : memref<128x128xf32>) {
  ^bb0(%x: bf16):
    %y = arith.extf %x : bf16 to f32
    coda.yield %y : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: stages must be 2 to 16}}
func.func private @stages(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 17, staging = 2, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: loaded tiles cannot come through the ring where k is split}}
func.func private @split_and_ring(%a: memref<128x128xbf16>, %w: memref<64x128xbf16>, %r: memref<128x64xbf16>, %o: memref<128x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, ring = true, split = 2>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x128xbf16>, memref<64x128xbf16>) ins(%r[m, n] : memref<128x64xbf16>) outs(%o[m, n] : memref<128x64xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %f = arith.extf %b : bf16 to f32
    %s = arith.addf %x, %f : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: tile must be [rows, columns, 128]}}
func.func private @depth_of_8_bits(%a: memref<64x128xf8E4M3FN>, %w: memref<64x128xf8E4M3FN>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 4, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x128xf8E4M3FN>, memref<64x128xf8E4M3FN>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: only the regions of a ping-pong pair follow each other: with ordered, pingpong must be true}}
func.func private @ordered_pair(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %r: memref<64x64xbf16>, %o: memref<64x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 1, prefetch = 2, raster = 8, ordered = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>)
      ins(%r[m, n] : memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: where k is split a block may run no region on a tile: with ordered, split must be 1}}
func.func private @ordered_split(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %r: memref<64x64xbf16>, %o: memref<64x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 3, staging = 1, prefetch = 2, raster = 8, pingpong = true, ordered = true, split = 2>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>)
      ins(%r[m, n] : memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: no tiles are loaded into buffers that regions could take in order}}
func.func private @ordered_without_buffers(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %r: memref<64x64xbf16>, %o: memref<64x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 1, prefetch = 0, raster = 8, pingpong = true, ordered = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>)
      ins(%r[m, n] : memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32, %b: bf16):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: no tiles are loaded into buffers that regions could take in order}}
func.func private @ordered_without_loads(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %r: memref<64x64xbf16>, %o: memref<64x64xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 1, prefetch = 2, raster = 8, pingpong = true, ordered = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: chunk must be 8, 16, 32 or 64 columns}}
func.func private @chunk(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, chunk = 48>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: chunks of 8 columns are for rows of the inner n dim that are no multiple of 16}}
func.func private @chunk_of_8(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, chunk = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a column reduction needs chunks of 32 or 64 columns}}
func.func private @reduced_rows_of_40(%a: memref<128x64xbf16>, %w: memref<4x40x64xbf16>, %o: memref<4x128x40xbf16>, %s: memref<4x40xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 80, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, chunk = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<128x64xbf16>, memref<4x40x64xbf16>)
      outs(%o[n0, m, n1], fresh add %s[n0, n1] : memref<4x128x40xbf16>, memref<4x40xf32>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y, %x : bf16, f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: the inner n dim has rows of 48 columns, no multiple of chunks of 32}}
func.func private @chunk_over_rows(%a: memref<256x128xbf16>, %w: memref<4x2x48x128xbf16>, %o: memref<4x256x2x48xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 192, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, chunk = 32>} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x128xbf16>, memref<4x2x48x128xbf16>)
      outs(%o[n0, m, u, n1] : memref<4x256x2x48xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %xb = arith.truncf %x : f32 to bf16
    %yb = arith.truncf %y : f32 to bf16
    coda.yield %xb, %yb : bf16, bf16
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: groups of 32 columns do not fit tiles of 64, or chunks of 64}}
func.func private @group_in_chunk(%a: memref<256x128xbf16>, %w: memref<4x2x32x128xbf16>, %o: memref<4x256x2x32xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 4, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x128xbf16>, memref<4x2x32x128xbf16>)
      outs(%o[n0, m, u, n1] : memref<4x256x2x32xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    %g = coda.group_reduce add %z over [n1] : f32
    coda.yield %g, %z : f32, f32
  }
  return
}

// -----

// expected-error @+1 {{schedule does not fit the kernel: a column reduction over 128 rows does not fit tiles of 192}}
func.func private @groups_of_other_rows(%a: memref<1000x192xbf16>, %w: memref<512x192xbf16>, %s: memref<8x512xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [192, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<1000x192xbf16>, memref<512x192xbf16>)
      outs(fresh add %s[m floordiv 128, n] : memref<8x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}
