// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// Two blocks have half of the k blocks each, and one of the two chunks of 64
// columns to run the region on. Of 16 rows no box is taller, and the other rows
// of the fragment are what lies behind in shared memory.

// The record: bytes, threads, blocks of a cluster.
// CHECK: llvm.mlir.global internal @coda_gpu_kernel_shared
// CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(384 : i32)
// CHECK-DAG: %[[CLUSTER:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.insertvalue %[[THREADS]], %{{.*}}[3]
// CHECK: llvm.insertvalue %[[CLUSTER]], %{{.*}}[4]

// CHECK: gpu.func @shared
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
// CHECK: %[[ID:.*]] = gpu.block_id x
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i32
// CHECK: %[[FIRST:.*]] = arith.divui %[[BLOCK]], %[[C2]]
// CHECK: %[[STEP:.*]] = arith.divui %{{.*}}, %[[C2]]
// CHECK: %[[SLICE:.*]] = arith.remui %[[BLOCK]], %[[C2]]
// An arrival of each block.
// CHECK-COUNT-4: nvgpu.mbarrier.init %{{.*}}[%{{.*}}], %c2 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait

// The producers, a thread of the first warp and one of the last: this block's
// slice of the 8 blocks, every other stage each.
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[WARP:.*]] = arith.divui %{{.*}}, %c32_i32
// CHECK: %[[PRODUCER:.*]] = arith.divui %[[WARP]], %c3_i32
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK: %[[ALL:.*]] = arith.muli %[[SLICE]], %[[C8]]
// CHECK: %[[BEGIN:.*]] = arith.divui %[[ALL]], %[[C2]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to {{.*}} iter_args(%[[STAGE:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[TURN:.*]] = arith.remui %[[STAGE]], %[[C2]]
// CHECK: %[[FILLS:.*]] = arith.cmpi eq, %[[TURN]], %[[PRODUCER]]
// CHECK: scf.if %[[FILLS]]
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: nvgpu.mbarrier.arrive.expect_tx
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<16x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16

// A consumer shows what it has, and tells both blocks.
// CHECK: nvvm.setmaxregister increase
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.inline_asm has_side_effects {{.*}}mbarrier.try_wait.parity.acquire.cluster
// CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: %[[TELLS:.*]] = arith.cmpi ult, %{{.*}}, %[[C2]]
// CHECK: scf.if %[[TELLS]]
// CHECK: llvm.inline_asm has_side_effects {{.*}}mbarrier.arrive.release.cluster
// Then it adds the slices, in their order, of its own columns.
// CHECK: llvm.inline_asm has_side_effects {{.*}}mbarrier.try_wait.parity.acquire.cluster
// CHECK: %[[R0:.*]] = nvvm.mapa %[[LOCAL:.*]], %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK: %[[P0:.*]] = llvm.load %[[R0]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK-COUNT-7: llvm.load {{.*}} : !llvm.ptr<7> -> vector<4xf32>
// CHECK: %[[R1:.*]] = nvvm.mapa %[[LOCAL]], %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK: %[[P1:.*]] = llvm.load %[[R1]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK: arith.addf %[[P0]], %[[P1]] : vector<4xf32>
// CHECK: llvm.inline_asm has_side_effects {{.*}}mbarrier.arrive.release.cluster
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK-NOT: nvvm.stmatrix
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: gpu.return
func.func private @shared(%a: memref<16x512xbf16>, %w: memref<512x512xbf16>, %o: memref<16x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 128, 64], stages = 8, staging = 1, prefetch = 0, raster = 8, pingpong = true, split = 2>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<16x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A row's 128 columns are reduced in one thread: the first block has them all,
// the others go on to the next tile.
// CHECK: gpu.func @one_owner
// CHECK: %[[SLICE:.*]] = arith.remui
// CHECK: nvvm.setmaxregister increase
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: mbarrier.arrive.release.cluster
// CHECK: %[[OWNS:.*]] = arith.cmpi ult, %[[SLICE]], %{{.*}} : i32
// CHECK: scf.if %[[OWNS]]
// CHECK: mbarrier.try_wait.parity.acquire.cluster
// CHECK-COUNT-4: nvvm.mapa
// CHECK: nvvm.shfl.sync bfly
// CHECK: } else {
// CHECK: mbarrier.arrive.release.cluster
func.func private @one_owner(%a: memref<100x512xbf16>, %w: memref<2x128x512xbf16>, %s: memref<2x100xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 128, 64], stages = 6, staging = 0, prefetch = 0, raster = 8, pingpong = true, split = 4>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<100x512xbf16>, memref<2x128x512xbf16>) outs(fresh add %s[n0, m] : memref<2x100xf32>) {
  ^bb0(%x: f32):
    %y = arith.mulf %x, %x : f32
    coda.yield %y : f32
  }
  return
}

// -----

// A left factor without rows is one: a box of 128 bytes.
// CHECK: gpu.func @vector
// CHECK: %[[BYTES:.*]] = arith.constant 8320 : index
// CHECK: nvgpu.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<64x64xbf16
func.func private @vector(%a: memref<512xbf16>, %w: memref<512x512xbf16>, %o: memref<512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 8, staging = 0, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[k] * %w[n, k] : memref<512xbf16>, memref<512x512xbf16>) outs(%o[n] : memref<512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// The kernel begins before the one before it has ended, and waits for it.
// CHECK: gpu.func @waits
// CHECK: nvgpu.tma.prefetch.descriptor
// CHECK: nvgpu.mbarrier.init
// CHECK: gpu.barrier
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK: nvgpu.tma.async.load
func.func private @waits(%a: memref<128x512xbf16>, %w: memref<512x512xbf16>, %o: memref<128x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 4, staging = 1, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<128x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// What is loaded of columns is on its way to shared memory before the products, by
// 32 threads a pair of neighbours each. Pairs are stored at once.

// CHECK: gpu.func @row
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[COPIES:.+]] = arith.cmpi ult, %{{.+}}, %c32_i32
// CHECK-NEXT: scf.if %[[COPIES]] {
// CHECK: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 4, cache =  ca
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: mbarrier.arrive.release.cluster
// CHECK: mbarrier.try_wait.parity.acquire.cluster
// CHECK: nvvm.mapa
// CHECK-NOT: invariant
// CHECK: llvm.store %{{.*}}, %{{.*}} : vector<2xbf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store %{{.*}}, %{{.*}} : bf16
func.func private @row(%a: memref<512xbf16>, %w: memref<256x512xbf16>, %r: memref<256xbf16>, %o: memref<256xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 128, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, split = 2>} {
  coda.gemm acc(%a[k] * %w[n, k] : memref<512xbf16>, memref<256x512xbf16>) ins(%r[n] : memref<256xbf16>) outs(%o[n] : memref<256xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %z = arith.extf %y : bf16 to f32
    %s = arith.addf %x, %z : f32
    %t = arith.truncf %s : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
