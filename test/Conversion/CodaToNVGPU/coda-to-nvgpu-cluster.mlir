// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s
// RUN: coda-opt %s --split-input-file | FileCheck %s --check-prefix=ATTR

// What is not the default is printed, and read.
// ATTR: func.func private @along_m{{.*}} raster = 8, cluster = [2, 1]>
// ATTR: func.func private @along_n{{.*}} raster = 8, pingpong = true, cluster = [1, 2]>
// ATTR: func.func private @both{{.*}} cluster = [2, 2]>
// ATTR: func.func private @alone{{.*}} raster = 8>}

// Two blocks have tiles one above the other: each loads half of the 128 rows of
// the right factor, for both.

// CHECK: llvm.mlir.global internal @coda_gpu_kernel_along_m_128x128x64_s4_c2x1
// CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(384 : i32)
// CHECK-DAG: %[[CLUSTER:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.insertvalue %[[CLUSTER]], %{{.*}}[4]

// CHECK: gpu.func @along_m
// CHECK-DAG: %[[BOTH:.*]] = arith.constant 3 : i16
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i32
// CHECK-DAG: %[[C8192:.*]] = arith.constant 8192 : i32
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 32768 : index
// CHECK: %[[FULL:.*]] = nvgpu.mbarrier.create
// CHECK: %[[EMPTY:.*]] = nvgpu.mbarrier.create
// CHECK: %[[ID:.*]] = gpu.block_id x
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i32
// CHECK: %[[FIRST:.*]] = arith.divui %[[BLOCK]], %[[C2]]
// CHECK: %[[STEP:.*]] = arith.divui %{{.*}}, %[[C2]]
// CHECK: %[[RANK:.*]] = arith.remui %[[BLOCK]], %[[C2]]
// Both consumers of both blocks hand a stage back.
// CHECK: nvgpu.mbarrier.init %[[FULL]][%{{.*}}], %c1 :
// CHECK: nvgpu.mbarrier.init %[[EMPTY]][%{{.*}}], %c4 :
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait

// 8 x 4 tiles are 16 pairs; a pair's columns are the same.
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.for %[[PAIR:.*]] = %[[FIRST]] to %[[C16]] step %[[STEP]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[PAIRROW:.*]], %[[C2]]
// CHECK: %[[ROWTILE:.*]] = arith.addi %[[ROWS]], %[[RANK]]
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %[[C128]]
// CHECK: %[[ROW:.*]] = arith.muli %[[ROWTILE]], %[[C128]]
// CHECK: nvgpu.mbarrier.try_wait.parity %[[EMPTY]]
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][%[[STAGE:.*]]], %[[BYTES]]
// CHECK: %[[ROWAT:.*]] = arith.index_cast %[[ROW]]
// CHECK: nvgpu.tma.async.load %{{.*}}[%{{.*}}, %[[ROWAT]]], %[[FULL]][%[[STAGE]]] to %{{.*}} : {{.*}} -> memref<128x64xbf16
// CHECK: %[[PART:.*]] = arith.muli %[[RANK]], %[[C64]]
// CHECK: %[[FROM:.*]] = arith.addi %[[COLUMN]], %[[PART]]
// CHECK: %[[SKIP:.*]] = arith.muli %[[RANK]], %[[C8192]]
// CHECK: %[[TO:.*]] = arith.addi %{{.*}}, %[[SKIP]]
// CHECK: %[[TOAT:.*]] = arith.index_cast %[[TO]]
// CHECK: %[[VIEW:.*]] = memref.view %{{.*}}[%[[TOAT]]]
// CHECK: %[[FROMAT:.*]] = arith.index_cast %[[FROM]]
// CHECK: nvgpu.tma.async.load %{{.*}}[%{{.*}}, %[[FROMAT]]], %[[FULL]][%[[STAGE]]] to %[[VIEW]] multicast_mask = %[[BOTH]] : {{.*}} -> memref<64x64xbf16
// CHECK-NOT: nvgpu.tma.async.load

// A thread for each block tells it that a stage is free.
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[THREAD:.*]] = arith.remui %{{.*}}, %[[C128]]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: %[[TELLS:.*]] = arith.cmpi ult, %[[THREAD]], %[[C2]]
// CHECK: scf.if %[[TELLS]]
// CHECK: %[[ADDRESS:.*]] = nvgpu.mbarrier.get %[[EMPTY]]
// CHECK: llvm.inline_asm has_side_effects {{.*}}mapa.shared::cluster{{.*}}mbarrier.arrive.shared::cluster.b64 _, [remote]{{.*}} %[[ADDRESS]], %[[THREAD]]
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: arith.cmpi ult, %[[THREAD]], %[[C2]]
// CHECK: mbarrier.arrive.shared::cluster
// All are there until none is written to any more.
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: gpu.return
func.func private @along_m(%a: memref<1024x512xbf16>, %w: memref<512x512xbf16>, %o: memref<1024x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, cluster = [2, 1]>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<1024x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<1024x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Side by side they share the left factor: a box is dealt whole where there are
// enough. The last column tile has no neighbour: its pair's columns are masked.

// CHECK: gpu.func @along_n
// CHECK-DAG: %[[BOTH:.*]] = arith.constant 3 : i16
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
// CHECK-DAG: %[[C320:.*]] = arith.constant 320 : i32
// CHECK: %[[RANK:.*]] = arith.remui
// One consumer of each block hands a stage back.
// CHECK: nvgpu.mbarrier.init %{{.*}}[%{{.*}}], %c1 :
// CHECK: nvgpu.mbarrier.init %{{.*}}[%{{.*}}], %c2 :
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[PAIR:.*]] = arith.muli %{{.*}}, %[[C2]]
// CHECK: arith.addi %[[PAIR]], %[[RANK]]
// CHECK: %[[PART:.*]] = arith.muli %[[RANK]], %[[C64]]
// CHECK: nvgpu.tma.async.load {{.*}} multicast_mask = %[[BOTH]] : {{.*}} -> memref<64x64xbf16
// CHECK: nvgpu.tma.async.load
// CHECK-NOT: multicast_mask
// CHECK: nvvm.setmaxregister increase
// CHECK: arith.cmpi ult, %{{.*}}, %[[C320]]
func.func private @along_n(%a: memref<512x1024xbf16>, %w: memref<320x512xbf16>, %o: memref<1024x320xi16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, cluster = [1, 2]>} {
  coda.gemm acc(%a[k, m] * %w[n, k] : memref<512x1024xbf16>, memref<320x512xbf16>) outs(%o[m, n] : memref<1024x320xi16>) {
  ^bb0(%x: f32):
    %y = arith.fptosi %x : f32 to i16
    coda.yield %y : i16
  }
  return
}

// -----

// Four blocks: each shares with two others, and has their arrivals. The third row
// tile has none below it: the blocks there take it once more, as rows that are
// beyond the last. A stage of loaded tiles is full when the other two have seen
// it free: a byte of each.

// CHECK: gpu.func @both
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[C384:.*]] = arith.constant 384 : i32
// CHECK: %[[FULL:.*]] = nvgpu.mbarrier.create
// CHECK: %[[EMPTY:.*]] = nvgpu.mbarrier.create
// CHECK: %[[RANK:.*]] = arith.remui
// CHECK: %[[ROWOF:.*]] = arith.remui %[[RANK]], %[[C2]]
// CHECK: %[[COLUMNOF:.*]] = arith.divui %[[RANK]], %[[C2]]
// CHECK: nvgpu.mbarrier.init %[[EMPTY]][%{{.*}}], %c6 :
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[ROWOF]]
// CHECK: %[[LAST:.*]] = arith.minui %[[ROW]], %[[C2]]
// CHECK: %[[OUTSIDE:.*]] = arith.cmpi ugt, %[[ROW]], %[[C2]]
// CHECK: arith.select %[[OUTSIDE]], %[[C384]], %{{.*}} : i32
// CHECK: %[[LEFT:.*]] = arith.shli %[[C5]], %[[ROWOF]]
// CHECK: %[[LEFTMASK:.*]] = arith.trunci %[[LEFT]] : i32 to i16
// CHECK: %[[BASE:.*]] = arith.muli %[[COLUMNOF]], %[[C2]]
// CHECK: %[[RIGHT:.*]] = arith.shli %[[C3]], %[[BASE]]
// CHECK: %[[RIGHTMASK:.*]] = arith.trunci %[[RIGHT]] : i32 to i16
// CHECK: nvgpu.tma.async.load {{.*}} multicast_mask = %[[LEFTMASK]] : {{.*}} -> memref<64x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} multicast_mask = %[[RIGHTMASK]] : {{.*}} -> memref<64x64xbf16
// The loaded tile.
// CHECK: nvgpu.mbarrier.try_wait.parity %[[EMPTY]]
// CHECK: %[[MORE:.*]] = arith.addi %{{.*}}, %[[C2]]
// CHECK-COUNT-3: llvm.inline_asm has_side_effects {{.*}}mapa.shared::cluster{{.*}}mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [remote], 1
// CHECK: %[[BYTES:.*]] = arith.index_cast %[[MORE]] : i32 to index
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][%{{.*}}], %[[BYTES]]
// CHECK-NOT: multicast_mask
// CHECK: nvvm.setmaxregister increase
func.func private @both(%a: memref<384x512xbf16>, %w: memref<512x512xbf16>, %r: memref<384x512xbf16>, %o: memref<384x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, ring = true, inplace = true, cluster = [2, 2]>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<384x512xbf16>, memref<512x512xbf16>) ins(%r[m, n] : memref<384x512xbf16>) outs(%o[m, n] : memref<384x512xbf16>) {
  ^bb0(%x: f32, %rv: bf16):
    %rf = arith.extf %rv : bf16 to f32
    %s = arith.addf %x, %rf : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A batch has its own right factors: blocks share those of one, and the third row
// tile of each has no neighbour. A partial of rows that are beyond the last is
// not stored.

// CHECK: gpu.func @batched
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i32
// CHECK: %[[RANK:.*]] = arith.remui
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[B:.*]] = arith.divui %[[PAIR:.*]], %[[C2]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[B]], %[[C3]]
// CHECK: %[[IN:.*]] = arith.remui %[[PAIR]], %[[C2]]
// CHECK: %[[TWICE:.*]] = arith.muli %[[IN]], %[[C2]]
// CHECK: %[[ROW:.*]] = arith.addi %[[TWICE]], %[[RANK]]
// CHECK: %[[LAST:.*]] = arith.minui %[[ROW]], %[[C2]]
// CHECK: %[[TILE:.*]] = arith.addi %[[BEFORE]], %[[LAST]]
// CHECK: %[[OUTSIDE:.*]] = arith.cmpi ugt, %[[ROW]], %[[C2]]
// CHECK: arith.remui %[[TILE]], %[[C3]]
// CHECK: arith.select %[[OUTSIDE]], %[[C128]], %{{.*}} : i32
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %[[C128]], %{{.*}} : i32
// CHECK: %[[COLUMNS:.*]] = arith.andi {{.*}} : i1
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[FIRST]], %[[C128]]
// CHECK: %[[WRITES:.*]] = arith.andi %[[COLUMNS]], %[[INSIDE]]
// CHECK: scf.if %[[WRITES]]
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
func.func private @batched(%a: memref<4x3x128x512xbf16>, %w: memref<4x128x512xbf16>, %s: memref<4x3x128xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, cluster = [2, 1]>} {
  coda.gemm acc(%a[b, m0, m1, k] * %w[b, n, k] : memref<4x3x128x512xbf16>, memref<4x128x512xbf16>) outs(fresh add %s[b, m0, n] : memref<4x3x128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// CHECK: gpu.func @alone_128x128x64_s4(
// CHECK-NOT: nvvm.cluster
// CHECK-NOT: multicast_mask
func.func private @alone(%a: memref<1024x512xbf16>, %w: memref<512x512xbf16>, %o: memref<1024x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, cluster = [1, 1]>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<1024x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<1024x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A block that has no rows loads from where a next tile would begin, not from the last
// row on, which the copy engine does not take of a factor that is contiguous along
// rows: their number is no multiple of 8.
// CHECK: gpu.func @few_rows
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[TILE:.*]] = arith.constant 128 : i32
// CHECK: %[[ROW:.*]] = arith.select %{{.*}}, %[[TILE]], %[[ZERO]] : i32
// CHECK: %[[AT:.*]] = arith.index_cast %[[ROW]] : i32 to index
// CHECK: nvgpu.tma.async.load %{{.*}}[%[[AT]], %{{.*}}]
func.func private @few_rows(%a: memref<64x20xbf16, strided<[24, 1]>>, %w: memref<128x64xbf16>, %o: memref<20x128xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 0, raster = 8, cluster = [2, 1]>} {
  coda.gemm acc(%a[k, m] * %w[n, k] : memref<64x20xbf16, strided<[24, 1]>>, memref<128x64xbf16>) outs(%o[m, n] : memref<20x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}
