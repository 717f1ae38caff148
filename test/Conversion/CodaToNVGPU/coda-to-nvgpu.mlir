// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// The launcher: a tensor map an operand, then the parameters.
// CHECK: llvm.mlir.global internal @coda_gpu_kernel_plain
// CHECK: func.func private @plain(
// CHECK: %[[HANDLE:.*]] = llvm.mlir.addressof @coda_gpu_kernel_plain
// CHECK-COUNT-3: llvm.call @coda_gpu_tensor_map
// CHECK: llvm.call @coda_gpu_launch(%[[HANDLE]],

// CHECK: gpu.module @coda_kernels
// CHECK: gpu.func @plain_128x256x64_s3(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64}
// CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
// CHECK-COUNT-2: nvgpu.mbarrier.create
// The producer.
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvgpu.mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvgpu.tma.async.load
// The consumers: one WGMMA a 16 of k, the first of a tile from zero.
// CHECK: nvvm.setmaxregister increase 232
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK-COUNT-7: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: llvm.inline_asm has_side_effects {{.*}} "wgmma.wait_group.sync.aligned 0;"
// CHECK: %[[V:.*]] = arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK: vector.bitcast %[[V]] : vector<4xbf16> to vector<2xi32>
// CHECK: nvvm.stmatrix
// CHECK: nvgpu.tma.async.store
func.func private @plain(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %o: memref<?x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A value of a row is computed once a row: two rows a thread, before the walk
// over the columns. The layouts of the factors are those of their index maps.
// CHECK: gpu.func @extents
// CHECK: nvvm.wgmma.mma_async {{.*}} A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
// CHECK: %[[R:.*]] = math.rsqrt {{.*}} : vector<2xf32>
// CHECK-NOT: math.rsqrt
// CHECK: %[[RR:.*]] = vector.shuffle %[[R]], %[[R]] [0, 0, 1, 1]
// CHECK: arith.mulf %[[RR]], {{.*}} : vector<4xf32>
// CHECK: gpu.return
func.func private @extents(%a: memref<256x512xf16>, %w: memref<256x512xf16>, %s: memref<512xf32>, %o: memref<512x512xf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[k, m] * %w[k, n] : memref<256x512xf16>, memref<256x512xf16>)
      ins(%s[m] : memref<512xf32>) outs(%o[m, n] : memref<512x512xf16>) {
  ^bb0(%x: f32, %sm: f32):
    %r = math.rsqrt %sm : f32
    %z = arith.mulf %r, %x : f32
    %y = arith.truncf %z : f32 to f16
    coda.yield %y : f16
  }
  return
}

// -----

// Several m and n dims that are adjacent everywhere are one: 2-D boxes.
// CHECK: gpu.func @merged
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<256x64xbf16
func.func private @merged(%a: memref<2x64x256xbf16>, %w: memref<4x128x256xbf16>, %o: memref<2x64x4x128xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m0, m1, k] * %w[n0, n1, k] : memref<2x64x256xbf16>, memref<4x128x256xbf16>)
      outs(%o[m0, m1, n0, n1] : memref<2x64x4x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Dims that a result orders otherwise are walked apart, and its boxes say so.
// CHECK: gpu.func @permuted
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<1x128x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<2x128x64xbf16
// CHECK: nvgpu.tma.async.store {{.*}} : memref<1x1x64x64xbf16
func.func private @permuted(%a: memref<2x64x256xbf16>, %w: memref<4x128x256xbf16>, %o: memref<2x4x64x128xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m0, m1, k] * %w[n0, n1, k] : memref<2x64x256xbf16>, memref<4x128x256xbf16>)
      outs(%o[m0, n0, m1, n1] : memref<2x4x64x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Two accumulators share the k loop and one WGMMA.
// CHECK: gpu.func @two
// CHECK-COUNT-3: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>
// CHECK: nvvm.ldmatrix
func.func private @two(%a: memref<256x256xbf16>, %v: memref<512x256xbf16>, %w: memref<512x256xbf16>, %t: memref<256x512xbf16>, %o: memref<256x512xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m, k] * %v[n, k], %a[m, k] * %w[n, k] : memref<256x256xbf16>, memref<512x256xbf16>, memref<256x256xbf16>, memref<512x256xbf16>)
      ins(%t[m, n] : memref<256x512xbf16>) outs(%o[m, n] : memref<256x512xf32>) {
  ^bb0(%x: f32, %y: f32, %tb: bf16):
    %tf = arith.extf %tb : bf16 to f32
    %z = arith.mulf %x, %y : f32
    %s = arith.addf %z, %tf : f32
    coda.yield %s : f32
  }
  return
}

// -----

// The logarithm of a sum of exponentials: one exponential a value relative to
// the chunk's maximum, one logarithm a row and group.
// CHECK: gpu.func @log_sum_exp
// CHECK: %[[MAX:.*]] = arith.maxnumf
// CHECK: math.exp2
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-4: math.log
// CHECK-NOT: math.log
// CHECK: gpu.return
func.func private @log_sum_exp(%a: memref<128x64xbf16>, %w: memref<2x128x64xbf16>, %l: memref<2x128xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<128x64xbf16>, memref<2x128x64xbf16>)
      outs(fresh logaddexp %l[n0, m] : memref<2x128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// A group's value is made before its columns are walked: once a row and group.
// CHECK: gpu.func @grouped
// CHECK: %[[G:.*]] = vector.from_elements {{.*}} : vector<2xf32>
// CHECK: %[[R:.*]] = math.rsqrt %[[G]] : vector<2xf32>
// CHECK: vector.shuffle %[[R]], %[[R]] [0, 0, 1, 1]
// CHECK: math.rsqrt
// CHECK-NOT: math.rsqrt
// CHECK: gpu.return
func.func private @grouped(%a: memref<128x64xbf16>, %w: memref<2x128x64xbf16>, %o: memref<128x2x128xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 3, prefetch = 1, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<128x64xbf16>, memref<2x128x64xbf16>)
      outs(%o[m, n0, n1] : memref<128x2x128xbf16>) {
  ^bb0(%x: f32):
    %q = arith.mulf %x, %x : f32
    %g = coda.group_reduce add %q over [n1] : f32
    %r = math.rsqrt %g : f32
    %y = arith.mulf %x, %r : f32
    %z = arith.truncf %y : f32 to bf16
    coda.yield %z : bf16
  }
  return
}

// -----

// Ping-pong: the tiles of a block go to the consumers in turn, a barrier each
// says whose turn it is, and a stage is handed back by one of them. Two
// fragments of 64 rows each multiply with the same right factor.
// CHECK: gpu.func @pingpong
// CHECK: %[[TURN:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
// CHECK: nvgpu.mbarrier.init %[[TURN]]
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.if
// CHECK: nvgpu.mbarrier.try_wait.parity %[[TURN]]
// CHECK-COUNT-2: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-6: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>, D[<f32>, <one>]
// CHECK: nvgpu.mbarrier.arrive %[[TURN]]
// CHECK: "wgmma.wait_group.sync.aligned 0;"
func.func private @pingpong(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %o: memref<?x512xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Loaded tiles: a thread for each consumer fills its buffers, 64 rows of 128
// bytes a box, two boxes for 32-bit elements; the consumer gives them back.
// CHECK: gpu.func @prefetched
// CHECK: %[[PFULL:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
// CHECK: %[[PEMPTY:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
// CHECK: nvgpu.mbarrier.try_wait.parity %[[PEMPTY]]
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[PFULL]][%{{.*}}], %c24576
// CHECK: nvgpu.tma.async.load {{.*}}, %[[PFULL]]{{.*}} -> memref<64x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}}, %[[PFULL]]{{.*}} -> memref<64x32xf32
// CHECK: nvgpu.tma.async.load {{.*}}, %[[PFULL]]{{.*}} -> memref<64x32xf32
// CHECK: nvvm.setmaxregister increase
// CHECK: nvgpu.mbarrier.try_wait.parity %[[PFULL]]
// CHECK: nvvm.ldmatrix
// CHECK: nvgpu.mbarrier.arrive %[[PEMPTY]]
func.func private @prefetched(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %r: memref<?x512xbf16>, %q: memref<?x512xf32>, %o: memref<?x512xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 2, staging = 1, prefetch = 2, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>)
      ins(%r[m, n], %q[m, n] : memref<?x512xbf16>, memref<?x512xf32>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32, %rb: bf16, %qf: f32):
    %rf = arith.extf %rb : bf16 to f32
    %s = arith.addf %x, %rf : f32
    %t = arith.addf %s, %qf : f32
    %y = arith.truncf %t : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Of a ping-pong consumer, what the region derives from the thread's number is made
// anew for each fragment. The number of the consumer is not: what a whole warp
// waits for has to be known to be the same in all threads, or the descriptors of
// the products are not computed once a warp.
// CHECK: gpu.func @pingpong_prefetched
// CHECK: %[[WARPGROUP:.*]] = nvvm.shfl.sync
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[CONSUMER:.*]] = arith.subi %[[WARPGROUP]], %c1_i32
// CHECK: %[[THREAD:.*]] = llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $1;"
// CHECK-NOT: arith.divui %[[THREAD]], %c128_i32
// CHECK: %[[BUFFERS:.*]] = arith.muli %[[CONSUMER]], %c2_i32
// CHECK: nvgpu.mbarrier.try_wait.parity
func.func private @pingpong_prefetched(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %r: memref<?x512xbf16>, %o: memref<?x512xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 2, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>)
      ins(%r[m, n] : memref<?x512xbf16>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32, %rb: bf16):
    %rf = arith.extf %rb : bf16 to f32
    %s = arith.addf %x, %rf : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Regions in the order of their tiles: one thread fills the buffers of both
// consumers, two in all, for every tile of the block; a consumer passes over those
// of the other's tiles. It waits for its turn before it does for a buffer, and
// passes the turn on when its last stores have been read, as what it stores passes
// through the same staging buffers, too.
// CHECK: gpu.func @ordered
// CHECK: %[[PFULL:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
// CHECK: %[[PEMPTY:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
// CHECK: %[[TURN:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
// CHECK: %[[REGION:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
// CHECK-COUNT-2: nvgpu.mbarrier.init %[[REGION]]
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[NUMBER:.*]] = arith.subi %{{.*}}, %c1_i32
// CHECK: %[[IS_ONE:.*]] = arith.cmpi ult, %[[NUMBER]], %c1_i32
// CHECK: nvgpu.mbarrier.try_wait.parity %[[PEMPTY]]
// CHECK: nvgpu.tma.async.load {{.*}}, %[[PFULL]]{{.*}} -> memref<64x64xbf16
// CHECK: nvvm.setmaxregister increase
// CHECK: nvgpu.mbarrier.try_wait.parity %[[TURN]][{{.*}}], %[[PARITY:.*]], %
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvgpu.mbarrier.try_wait.parity %[[REGION]][{{.*}}], %[[PARITY]], %
// CHECK: nvgpu.mbarrier.try_wait.parity %[[PFULL]]
// CHECK: nvgpu.mbarrier.arrive %[[PEMPTY]]
// The last of the other three chunks, and the end of the tile.
// CHECK-COUNT-3: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: nvgpu.mbarrier.arrive %[[REGION]]
// Of the other's tile, four chunks in a ring of three.
// CHECK: } else {
// CHECK: arith.addi %{{.*}}, %c4_i32
// CHECK: arith.remui %{{.*}}, %c3_i32
func.func private @ordered(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %r: memref<?x512xbf16>, %o: memref<?x512xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 3, raster = 8, pingpong = true, ordered = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>)
      ins(%r[m, n] : memref<?x512xbf16>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32, %rb: bf16):
    %rf = arith.extf %rb : bf16 to f32
    %s = arith.addf %x, %rf : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Loaded tiles come through the ring behind the k blocks: boxes with the rows of
// both consumers, three to a stage of 48 KB, whose barrier expects as many as
// it gets. A consumer reads its half and hands the stage back like that of a k
// block. Nothing has buffers of its own.
// CHECK: gpu.func @ring
// CHECK: %[[FULL:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
// CHECK: %[[EMPTY:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
// CHECK-NOT: nvgpu.mbarrier.create
// CHECK: nvgpu.tma.async.load {{.*}}, %[[FULL]]{{.*}} -> memref<256x64xbf16
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %c4_i32
// CHECK: %[[BOX:.*]] = arith.muli %[[I]], %c3_i32
// CHECK: %[[PLACE:.*]] = arith.remui %[[BOX]], %c3_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[PLACE]], %c0_i32
// CHECK: scf.if %[[FIRST]] {
// CHECK: nvgpu.mbarrier.try_wait.parity %[[EMPTY]]
// CHECK: %[[REST:.*]] = arith.subi %c12_i32, %[[BOX]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[REST]], %c3_i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[COUNT]], %c16384_i32
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[BYTES]]
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][%{{.*}}], %[[SIZE]]
// CHECK: nvgpu.tma.async.load {{.*}}, %[[FULL]]{{.*}} -> memref<128x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}}, %[[FULL]]{{.*}} -> memref<128x32xf32
// CHECK: nvgpu.tma.async.load {{.*}}, %[[FULL]]{{.*}} -> memref<128x32xf32
// The consumers: a stage has one chunk's boxes.
// CHECK: nvvm.setmaxregister increase
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvgpu.mbarrier.try_wait.parity %[[FULL]]
// CHECK: nvvm.ldmatrix
// CHECK: nvgpu.mbarrier.arrive %[[EMPTY]]
// CHECK: nvgpu.mbarrier.try_wait.parity %[[FULL]]
func.func private @ring(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %r: memref<?x512xbf16>, %q: memref<?x512xf32>, %o: memref<?x512xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, ring = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>)
      ins(%r[m, n], %q[m, n] : memref<?x512xbf16>, memref<?x512xf32>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32, %rb: bf16, %qf: f32):
    %rf = arith.extf %rb : bf16 to f32
    %s = arith.addf %x, %rf : f32
    %t = arith.addf %s, %qf : f32
    %y = arith.truncf %t : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A table that lacks the outer n dim is the same for every second chunk of this
// tile: two chunks of it come, before the other tile's four, six boxes in all.
// CHECK: gpu.func @ring_repeats
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<2x128x64xbf16
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %c2_i32
// CHECK: %[[PLACE:.*]] = arith.remui %[[I]], %c3_i32
// CHECK: %[[REST:.*]] = arith.subi %c6_i32, %[[I]]
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16
// CHECK: scf.for %[[J:.*]] = %c0_i32 to %c4_i32
// CHECK: %[[BOX:.*]] = arith.addi %[[J]], %c2_i32
// CHECK: arith.remui %[[BOX]], %c3_i32
// CHECK: arith.subi %c4_i32, %[[J]]
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x1x64xbf16
// Both of its stages are held to the end.
// CHECK: nvvm.setmaxregister increase
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-COUNT-4: nvgpu.tma.async.store
// CHECK: nvgpu.mbarrier.arrive
// CHECK: nvgpu.mbarrier.arrive
// CHECK: gpu.return
func.func private @ring_repeats(%a: memref<256x256xbf16>, %w: memref<4x128x256xbf16>, %c: memref<256x128xbf16>, %r: memref<256x4x128xbf16>, %o: memref<256x4x128xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, ring = true>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<256x256xbf16>, memref<4x128x256xbf16>)
      ins(%c[m, n1], %r[m, n0, n1] : memref<256x128xbf16>, memref<256x4x128xbf16>) outs(%o[m, n0, n1] : memref<256x4x128xbf16>) {
  ^bb0(%x: f32, %cb: bf16, %rb: bf16):
    %cf = arith.extf %cb : bf16 to f32
    %rf = arith.extf %rb : bf16 to f32
    %s = arith.mulf %x, %cf : f32
    %t = arith.addf %s, %rf : f32
    %y = arith.truncf %t : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// In place: the result of 16 bits is written where the loaded box was read, by
// the same lanes after the warp has joined, and stored from there; the one of
// 32 bits, of which no tile is loaded, passes through staging. The last stages
// of a tile go back when the stores have been read, under the first products of
// the next.
// CHECK: gpu.func @in_place
// CHECK: %[[FULL:.*]] = nvgpu.mbarrier.create
// CHECK: %[[EMPTY:.*]] = nvgpu.mbarrier.create
// CHECK: nvvm.setmaxregister increase
// CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %c0_i32, %{{.*}} = %false, %[[HELD:.*]] = %c0_i32) -> (i32, i1, i32)
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: scf.if
// CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: scf.for %{{.*}} = %c0_i32 to %[[HELD]] step %c1_i32
// CHECK: nvgpu.mbarrier.arrive %[[EMPTY]]
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvgpu.mbarrier.try_wait.parity %[[FULL]]
// CHECK: %[[BASE:.*]] = arith.muli {{.*}}, %c49152_i32
// CHECK: %[[HALF:.*]] = arith.addi %[[BASE]], %{{.*}} : i32
// CHECK: %[[LANE:.*]] = arith.addi %[[HALF]], %{{.*}} : i32
// CHECK: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[LANE]] : i32
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<3>
// CHECK: nvvm.ldmatrix %[[POINTER]]
// CHECK: %[[SECOND:.*]] = arith.xori %[[ADDRESS]], %c32_i32 : i32
// CHECK: %[[POINTER2:.*]] = llvm.inttoptr %[[SECOND]] : i32 to !llvm.ptr<3>
// CHECK: nvvm.ldmatrix %[[POINTER2]]
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.stmatrix %[[POINTER]]
// CHECK: %[[BOX:.*]] = memref.view {{.*}} to memref<64x64xbf16
// CHECK: nvgpu.tma.async.store %[[BOX]]
// Of three boxes a stage the second chunk's store is committed before the first
// stage can go.
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvgpu.mbarrier.arrive %[[EMPTY]]
func.func private @in_place(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %r: memref<?x512xbf16>, %o: memref<?x512xbf16>, %p: memref<?x512xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, ring = true, inplace = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>)
      ins(%r[m, n] : memref<?x512xbf16>) outs(%o[m, n], %p[m, n] : memref<?x512xbf16>, memref<?x512xf32>) {
  ^bb0(%x: f32, %rb: bf16):
    %rf = arith.extf %rb : bf16 to f32
    %s = arith.addf %x, %rf : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y, %s : bf16, f32
  }
  return
}

// -----

// Elements of 32 bits are read and written by the same thread: all reads of a
// block of columns come before its first write, here of another tile.
// CHECK: gpu.func @in_place_f32
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: %[[P:.*]] = llvm.getelementptr
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: gpu.return
func.func private @in_place_f32(%a: memref<?x256xbf16>, %w: memref<512x256xbf16>, %q: memref<?x512xf32>, %o: memref<?x512xf32>, %p: memref<?x512xbf16>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 1, prefetch = 2, raster = 8, pingpong = true, inplace = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x256xbf16>, memref<512x256xbf16>)
      ins(%q[m, n] : memref<?x512xf32>) outs(%o[m, n], %p[m, n] : memref<?x512xf32>, memref<?x512xbf16>) {
  ^bb0(%x: f32, %qf: f32):
    %s = arith.addf %x, %qf : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %x, %y : f32, bf16
  }
  return
}

// -----

// Values of columns are loaded while the last products run, where they fit in
// registers beside the accumulators; a pair of 16 bits is a word.
// CHECK: gpu.func @columns_early
// CHECK: nvvm.setmaxregister increase
// CHECK-COUNT-32: llvm.load {{.*}} invariant : !llvm.ptr<1> -> i32
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: gpu.return
func.func @columns_early(%x: memref<128x64xbf16>, %w: memref<256x64xbf16>, %v: memref<256xbf16>,
                         %o: memref<128x256xf32>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<128x64xbf16>, memref<256x64xbf16>)
      ins(%v[n] : memref<256xbf16>)
      outs(%o[m, n] : memref<128x256xf32>) {
  ^bb0(%acc: f32, %b: bf16):
    %0 = arith.extf %b : bf16 to f32
    %1 = arith.addf %acc, %0 : f32
    coda.yield %1 : f32
  }
  return
}

// -----

// Which tile a number is takes no division but by constants: the last group of
// row tiles is smaller. In turn, what a region begins with is known to be uniform.
// CHECK: gpu.func @last_group
// CHECK: scf.for %[[NUMBER:.*]] =
// CHECK: %[[GROUP:.*]] = arith.divui %{{.*}}, %c32_i32
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c32_i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c8_i32
// CHECK: %[[ROW:.*]] = arith.remui %[[REST]], %c8_i32
// CHECK: %[[COLUMN:.*]] = arith.divui %[[REST]], %c8_i32
// CHECK: %[[FULL:.*]] = arith.cmpi ult, %[[FIRST]], %c8_i32
// CHECK: %[[ROW2:.*]] = arith.remui %[[REST]], %c3_i32
// CHECK: %[[ROW3:.*]] = arith.select %[[FULL]], %[[ROW]], %[[ROW2]]
// CHECK: %[[COLUMN2:.*]] = arith.divui %[[REST]], %c3_i32
// CHECK: arith.select %[[FULL]], %[[COLUMN]], %[[COLUMN2]]
// CHECK: arith.addi %[[FIRST]], %[[ROW3]]
// CHECK: nvvm.setmaxregister increase
// CHECK: "mov.b32 $0, $1;"
// CHECK: %[[OPAQUE:.*]] = llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $1;"
// CHECK: %[[UNIFORM:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[OPAQUE]]
// CHECK: arith.divui %[[UNIFORM]], %c32_i32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
func.func @last_group(%x: memref<1408x64xbf16>, %w: memref<512x64xbf16>, %o: memref<1408x512xbf16>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<1408x64xbf16>, memref<512x64xbf16>)
      outs(%o[m, n] : memref<1408x512xbf16>) {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to bf16
    coda.yield %0 : bf16
  }
  return
}

// -----

// Fewer row tiles than a group has: all are in the last one.
// CHECK: gpu.func @one_group
// CHECK: %[[FULL:.*]] = arith.cmpi ult, %{{.*}}, %c0_i32
// CHECK: %[[ROW:.*]] = arith.remui %[[REST:.*]], %c3_i32
// CHECK: arith.select %[[FULL]], %{{.*}}, %[[ROW]]
// CHECK: %[[COLUMN:.*]] = arith.divui %[[REST]], %c3_i32
// CHECK: arith.select %[[FULL]], %{{.*}}, %[[COLUMN]]
func.func @one_group(%x: memref<384x64xbf16>, %w: memref<512x64xbf16>, %o: memref<384x512xbf16>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 1, prefetch = 0, raster = 8>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<384x64xbf16>, memref<512x64xbf16>)
      outs(%o[m, n] : memref<384x512xbf16>) {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to bf16
    coda.yield %0 : bf16
  }
  return
}
