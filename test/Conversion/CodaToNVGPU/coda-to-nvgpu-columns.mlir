// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// 256 columns of f32 would be 64 registers of a thread beside the accumulators. Of
// each consumer 128 threads copy two each, from before the products on; the region
// reads pairs from shared memory, behind the rest of it.
// CHECK-LABEL: gpu.func @staged
// CHECK-SAME: coda.shared_bytes = 182272 : i64
// CHECK-DAG: %[[C1024:.+]] = arith.constant 1024 : i32
// CHECK-DAG: %[[BUFFERS:.+]] = arith.constant 180224 : i32
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : i32
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[OWN:.+]] = arith.muli %{{.+}}, %[[C1024]]
// CHECK: %[[BASE:.+]] = arith.addi %[[OWN]], %[[BUFFERS]]
// CHECK: nvvm.barrier id = %[[JOIN:.+]] number_of_threads = %[[ALL:.+]]
// CHECK: %[[BYTES:.+]] = arith.muli %[[THREAD:.+]], %[[C4]]
// CHECK: %[[AT:.+]] = arith.addi %[[BASE]], %[[BYTES]]
// CHECK: %[[TO:.+]] = llvm.getelementptr %{{.+}}[%[[AT]]]
// CHECK: nvvm.cp.async.shared.global %[[TO]], %{{.+}}, 4, cache =  ca
// CHECK: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 4, cache =  ca
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.wgmma.mma_async
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.barrier id = %[[JOIN]] number_of_threads = %[[ALL]]
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK-COUNT-32: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: gpu.return
func.func @staged(%x: memref<128x64xbf16>, %w: memref<256x64xbf16>, %v: memref<256xf32>,
    %o: memref<128x256xf32>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<128x64xbf16>, memref<256x64xbf16>)
      ins(%v[n] : memref<256xf32>)
      outs(%o[m, n] : memref<128x256xf32>) {
  ^bb0(%acc: f32, %b: f32):
    %y = arith.addf %acc, %b : f32
    coda.yield %y : f32
  }
  return
}

// -----

// Nothing gives way to them: what does not fit behind the stages is loaded where it
// is used. Here there is room for 1024 bytes of a consumer, the first vector's.
// CHECK-LABEL: gpu.func @no_room
// CHECK-SAME: coda.shared_bytes = 231424 : i64
// CHECK: nvvm.setmaxregister increase
// CHECK-COUNT-2: nvvm.cp.async.shared.global
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: llvm.load %{{.+}} invariant : !llvm.ptr<1> -> i32
func.func @no_room(%x: memref<128x64xbf16>, %w: memref<256x64xbf16>, %v: memref<256xf32>, %g: memref<256xbf16>,
    %o: memref<128x256xf32>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 4, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<128x64xbf16>, memref<256x64xbf16>)
      ins(%v[n], %g[n] : memref<256xf32>, memref<256xbf16>)
      outs(%o[m, n] : memref<128x256xf32>) {
  ^bb0(%acc: f32, %b: f32, %c: bf16):
    %0 = arith.addf %acc, %b : f32
    %1 = arith.extf %c : bf16 to f32
    %y = arith.mulf %0, %1 : f32
    coda.yield %y : f32
  }
  return
}

// -----

// What a load combines one thread combines a column, not each of a row's, in
// whatever room there is beside the accumulators; the columns beyond the last are the
// last.
// CHECK-LABEL: gpu.func @combined
// CHECK-DAG: %[[LAST:.+]] = arith.constant 99 : i32
// CHECK: nvvm.setmaxregister increase
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.wgmma.mma_async
// CHECK: %[[COLUMN:.+]] = arith.minui %{{.+}}, %[[LAST]]
// CHECK: %[[A:.+]] = llvm.load %{{.+}} invariant : !llvm.ptr<1> -> f32
// CHECK: %[[B:.+]] = llvm.load %{{.+}} invariant : !llvm.ptr<1> -> f32
// CHECK: %[[C:.+]] = llvm.load %{{.+}} invariant : !llvm.ptr<1> -> f32
// CHECK: %[[AB:.+]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[ABC:.+]] = arith.addf %[[AB]], %[[C]]
// CHECK: llvm.store %[[ABC]], %{{.+}} : f32, !llvm.ptr<3>
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: nvvm.barrier
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: gpu.return
func.func @combined(%x: memref<128x64xbf16>, %w: memref<100x64xbf16>, %v: memref<3x100xf32>,
    %o: memref<128x100xf32>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<128x64xbf16>, memref<100x64xbf16>)
      ins(add %v[p, n] : memref<3x100xf32>)
      outs(%o[m, n] : memref<128x100xf32>) {
  ^bb0(%acc: f32, %b: f32):
    %y = arith.addf %acc, %b : f32
    coda.yield %y : f32
  }
  return
}

// -----

// Columns that are no words go one by one, without a copy. Where k is split only the
// owner of a tile has a use for them, when it has the sums.
// CHECK-LABEL: gpu.func @owner
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[OWNER:.+]] = arith.cmpi ult, %{{.+}}, %c1_i32
// CHECK-NEXT: scf.if %[[OWNER]] {
// CHECK-NEXT:   nvvm.barrier
// CHECK: nvvm.wgmma.mma_async
// CHECK: scf.if %[[OWNER]]
// CHECK:   %[[V:.+]] = llvm.load %{{.+}} invariant : !llvm.ptr<1> -> bf16
// CHECK:   llvm.store %[[V]], %{{.+}} : bf16, !llvm.ptr<3>
// CHECK:   llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<3> -> vector<2xbf16>
func.func @owner(%x: memref<64x512xbf16>, %w: memref<64x512xbf16>, %v: memref<64xbf16, strided<[3]>>, %o: memref<64x64xf32>) attributes
    {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 4, staging = 2, prefetch = 0, raster = 8, pingpong = true, split = 2>} {
  coda.gemm
      acc(%x[m, k] * %w[n, k] : memref<64x512xbf16>, memref<64x512xbf16>)
      ins(%v[n] : memref<64xbf16, strided<[3]>>)
      outs(%o[m, n] : memref<64x64xf32>) {
  ^bb0(%acc: f32, %b: bf16):
    %0 = arith.extf %b : bf16 to f32
    %y = arith.addf %acc, %0 : f32
    coda.yield %y : f32
  }
  return
}
