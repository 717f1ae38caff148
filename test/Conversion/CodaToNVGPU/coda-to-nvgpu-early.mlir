// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// The right factor of the first tile is on its way before the kernel waits: as many
// k blocks as there are stages, each with the bytes of both factors. The left one
// follows; only of later blocks a stage has to be free first. What the launch has
// to check is the right factor.
// CHECK: func.func private @weights(%{{.+}}: memref<128x512xbf16>, %[[W:.+]]: memref<512x512xbf16> {coda.unwritten},
// CHECK: %[[AT:.+]] = memref.extract_aligned_pointer_as_index %[[W]]
// CHECK: %[[NUMBER:.+]] = arith.index_cast %[[AT]]
// CHECK: %[[BASE:.+]] = llvm.inttoptr %[[NUMBER]]
// CHECK: llvm.call @coda_gpu_tensor_map(%{{.+}}, %{{.+}}, %[[BASE]],
// CHECK: llvm.call @coda_gpu_loads_early(%[[BASE]])
// CHECK-NOT: coda_gpu_loads_early
// CHECK: llvm.call @coda_gpu_launch(

// CHECK: gpu.func @weights
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[C1:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : i32
// CHECK-DAG: %[[C8:.+]] = arith.constant 8 : i32
// CHECK-DAG: %[[BYTES:.+]] = arith.constant 24576 : index
// CHECK: %[[FULL:.+]] = nvgpu.mbarrier.create
// CHECK: %[[EMPTY:.+]] = nvgpu.mbarrier.create
// CHECK: gpu.barrier
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NOT: nvvm.griddepcontrol wait
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[HAS:.+]] = arith.cmpi ult, %[[FIRST:.+]], %[[C8]]
// CHECK: %[[EARLY:.+]] = arith.select %[[HAS]], %[[C4]], %[[C0]]
// CHECK: scf.if %[[HAS]] {
// CHECK:   scf.for %[[S:.+]] = %[[C0]] to %[[C4]] step %[[C1]]
// CHECK:     %[[I:.+]] = arith.index_cast %[[S]]
// CHECK:     nvgpu.mbarrier.arrive.expect_tx %[[FULL]][%[[I]]], %[[BYTES]]
// CHECK-NOT: nvgpu.tma.async.load
// CHECK:     nvgpu.tma.async.load {{.*}}, %[[FULL]][%[[I]]] to {{.*}} -> memref<64x64xbf16
// CHECK-NOT: nvgpu.tma.async.load
// CHECK: }
// CHECK: nvvm.griddepcontrol wait
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %[[C8]] {{.*}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %[[CARRIED:.+]] = %[[EARLY]])
// CHECK: scf.for {{.*}} iter_args(%[[STAGE:.+]] = %{{.+}}, %[[PARITY:.+]] = %{{.+}}, %[[LEFT:.+]] = %[[CARRIED]])
// CHECK: %[[NEW:.+]] = arith.cmpi eq, %[[LEFT]], %[[C0]]
// CHECK: %[[FEWER:.+]] = arith.subi %[[LEFT]], %[[C1]]
// CHECK: arith.select %[[NEW]], %[[LEFT]], %[[FEWER]]
// CHECK: scf.if %[[NEW]] {
// CHECK:   nvgpu.mbarrier.try_wait.parity %[[EMPTY]]
// CHECK:   nvgpu.mbarrier.arrive.expect_tx %[[FULL]]
// CHECK:   nvgpu.tma.async.load {{.*}} -> memref<64x64xbf16
// CHECK: }
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<128x64xbf16
// CHECK: nvvm.setmaxregister increase
// CHECK-NEXT: nvvm.griddepcontrol wait
func.func private @weights(%a: memref<128x512xbf16>, %w: memref<512x512xbf16> {coda.unwritten}, %o: memref<128x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 4, staging = 1, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<128x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// The threads that load tiles for the region wait, too.
// CHECK: gpu.func @three_waits
// CHECK: nvvm.setmaxregister decrease
// CHECK: nvvm.griddepcontrol wait
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: nvvm.griddepcontrol wait
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: nvvm.setmaxregister increase
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NOT: nvvm.griddepcontrol wait
func.func private @three_waits(%a: memref<128x512xbf16>, %w: memref<512x512xbf16> {coda.unwritten}, %t: memref<128x512xbf16> {coda.unwritten}, %o: memref<128x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 4, staging = 1, prefetch = 2, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x512xbf16>, memref<512x512xbf16>) ins(%t[m, n] : memref<128x512xbf16>) outs(%o[m, n] : memref<128x512xbf16>) {
  ^bb0(%x: f32, %r: bf16):
    %f = arith.extf %r : bf16 to f32
    %s = arith.addf %x, %f : f32
    %y = arith.truncf %s : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Of a bundle a block's first tile may be any op's; k is split, so that a block
// begins with its slice. The second op has nothing to load early.
// CHECK: gpu.func @members
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : i32
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.if %{{.+}} -> (i32) {
// CHECK:   arith.minui %{{.+}}, %[[C4]]
// CHECK:   nvgpu.tma.async.load {{.*}} -> memref<64x64xbf16
// CHECK:   nvgpu.tma.async.load {{.*}} -> memref<64x64xbf16
// CHECK-NOT: nvgpu.tma.async.load
// CHECK: nvvm.griddepcontrol wait
func.func private @members(%a: memref<64x512xbf16> {coda.unwritten}, %w: memref<64x512xbf16> {coda.unwritten}, %v: memref<64x512xbf16>, %b: memref<64x512xbf16>, %o: memref<64x64xbf16>, %p: memref<64x64xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 4, staging = 1, prefetch = 0, raster = 8, pingpong = true, split = 2>} {
  coda.bundle {
    coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x512xbf16>, memref<64x512xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.gemm acc(%b[m, k] * %v[n, k] : memref<64x512xbf16>, memref<64x512xbf16>) outs(%p[m, n] : memref<64x64xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.yield
  }
  return
}

// -----

// With more than two turns of tiles for the multiprocessors, or an unknown number of
// them, the launch is not ahead of the end of the kernel before, and nothing is early:
// the blocks of neighbouring tiles are to be neighbours.
// CHECK: llvm.mlir.global internal @coda_gpu_kernel_many_turns
// CHECK: %[[NO:.+]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.insertvalue %[[NO]], %{{.+}}[5]
// CHECK-NOT: coda_gpu_loads_early
// CHECK: gpu.func @many_turns
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NOT: nvvm.griddepcontrol
func.func private @many_turns(%a: memref<16384x512xbf16>, %w: memref<512x512xbf16> {coda.unwritten}, %o: memref<16384x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16384x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<16384x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// CHECK: llvm.mlir.global internal @coda_gpu_kernel_two_turns
// CHECK: %[[YES:.+]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.insertvalue %[[YES]], %{{.+}}[5]
// CHECK: coda_gpu_loads_early
func.func private @two_turns(%a: memref<8448x512xbf16>, %w: memref<512x512xbf16> {coda.unwritten}, %o: memref<8448x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<8448x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<8448x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// CHECK: llvm.mlir.global internal @coda_gpu_kernel_any_turns
// CHECK: %[[NO:.+]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.insertvalue %[[NO]], %{{.+}}[5]
func.func private @any_turns(%a: memref<?x512xbf16>, %w: memref<512x512xbf16> {coda.unwritten}, %o: memref<?x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 2, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<?x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}
