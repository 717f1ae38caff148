// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse | FileCheck %s

// A u dim of two points that is innermost in a right factor: its columns are loaded
// as they are, two for each point of n, and multiplied at once. A thread has point l
// of a quad's lane l in the first block of 8 columns and point 4 + l in the second,
// both columns of each; it hands one of them to the lane next but one, and one of
// what it has then to the next, for points 2 l and 2 l + 1.

// CHECK: gpu.func @pairs
// CHECK: %[[N:.+]] = arith.muli %[[POINT:.+]], %c2_i32 : i32
// CHECK: %[[NI:.+]] = arith.index_cast %[[N]] : i32 to index
// CHECK: nvgpu.tma.async.load %[[W:[^\[]+]][%[[NI]], %{{.+}}, %{{.+}}], {{.*}} : <tensor = memref<64x1x64xbf16,
// CHECK: nvgpu.tma.async.load %[[W]][%{{.+}}, %{{.+}}, %{{.+}}], {{.*}} : <tensor = memref<64x1x64xbf16,
// CHECK-NOT: nvgpu.tma.async.load
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>
// CHECK: %[[ALL:.+]] = llvm.inline_asm has_side_effects {{.*}} "wgmma.wait_group.sync.aligned 0;"
// CHECK-DAG: %[[X:.+]] = llvm.extractvalue %[[ALL]][0]
// CHECK-DAG: %[[Y:.+]] = llvm.extractvalue %[[ALL]][4]
// CHECK-DAG: %[[UPPER:.+]] = arith.cmpi ugt, %{{.+}}, %c1_i32
// CHECK-DAG: %[[ODD:.+]] = arith.cmpi eq, %{{.+}}, %c1_i32
// CHECK: %[[S:.+]] = arith.select %[[UPPER]], %[[X]], %[[Y]]
// CHECK: %[[G:.+]] = nvvm.shfl.sync bfly %c-1_i32, %[[S]], %c2_i32
// CHECK: %[[X1:.+]] = arith.select %[[UPPER]], %[[G]], %[[X]]
// CHECK: %[[Y1:.+]] = arith.select %[[UPPER]], %[[Y]], %[[G]]
// CHECK: %[[S1:.+]] = arith.select %[[ODD]], %[[X1]], %[[Y1]]
// CHECK: %[[G1:.+]] = nvvm.shfl.sync bfly %c-1_i32, %[[S1]], %c1_i32
// CHECK: %[[X2:.+]] = arith.select %[[ODD]], %[[G1]], %[[X1]]
// CHECK: %[[Y2:.+]] = arith.select %[[ODD]], %[[Y1]], %[[G1]]
// Rows are 8 apart, the first points come first.
// CHECK-COUNT-6: nvvm.shfl.sync bfly
// CHECK: %[[EVEN:.+]] = vector.from_elements %[[X2]], %[[Y2]], %{{.+}}, %{{.+}} : vector<4xf32>
// CHECK: %[[ODDS:.+]] = vector.from_elements
// CHECK: arith.addf %[[EVEN]], %[[ODDS]] : vector<4xf32>
func.func private @pairs(%a: memref<256x128xbf16>, %w: memref<128x4x64x2xbf16>, %o: memref<4x256x64xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 1, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[k, n0, n1, u] : memref<256x128xbf16>, memref<128x4x64x2xbf16>)
      outs(%o[n0, m, n1] : memref<4x256x64xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    %b = arith.truncf %s : f32 to bf16
    coda.yield %b : bf16
  }
  return
}

// Rows of 48 points are three chunks of 16, and six runs of 16 columns of a right
// factor of halves that is contiguous along them: each with all rows of k.

// CHECK: gpu.func @chunks_of_48
// CHECK-COUNT-6: nvgpu.tma.async.load {{.*}} to %{{[a-z_0-9]+}} : <tensor = memref<16x1x1x64xbf16,
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 96, k = 16>
func.func private @chunks_of_48(%a: memref<256x128xbf16>, %w: memref<128x4x2x48xbf16>, %o: memref<4x256x2x48xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 96, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[k, n0, u, n1] : memref<256x128xbf16>, memref<128x4x2x48xbf16>)
      outs(%o[n0, m, u, n1] : memref<4x256x2x48xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %xb = arith.truncf %x : f32 to bf16
    %yb = arith.truncf %y : f32 to bf16
    coda.yield %xb, %yb : bf16, bf16
  }
  return
}

// Contiguous along k, two rows of them are one box.

// CHECK: gpu.func @box_of_48
// CHECK: nvgpu.tma.async.load {{.*}} : <tensor = memref<2x1x48x64xbf16,
// CHECK: nvgpu.tma.async.load {{.*}} : <tensor = memref<2x1x48x64xbf16,
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 192, k = 16>
func.func private @box_of_48(%a: memref<256x128xbf16>, %w: memref<4x2x48x128xbf16>, %o: memref<4x256x2x48xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 192, 64], stages = 3, staging = 2, prefetch = 0, raster = 8, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x128xbf16>, memref<4x2x48x128xbf16>)
      outs(%o[n0, m, u, n1] : memref<4x256x2x48xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %xb = arith.truncf %x : f32 to bf16
    %yb = arith.truncf %y : f32 to bf16
    coda.yield %xb, %yb : bf16, bf16
  }
  return
}

// A reduction over rows of chunks of 16 columns: of the 8 lanes that have the same
// columns each two end with one sum, and the first of them writes it.

// CHECK: gpu.func @rows_of_48
// CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.+}}, %c16_i32
// CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.+}}, %c8_i32
// CHECK: %[[SEND:.+]] = nvvm.shfl.sync bfly %c-1_i32, %[[SUM:.+]], %c4_i32
// CHECK: %[[BOTH:.+]] = arith.addf %[[SUM]], %[[SEND]]
// CHECK: %[[BIT:.+]] = arith.andi %{{.+}}, %c4_i32
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[BIT]], %c0_i32
// CHECK: scf.if %[[FIRST]]
// CHECK: llvm.store
func.func private @rows_of_48(%x: memref<4x128x48xbf16>, %s: memref<4x48xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 96, 64], stages = 2, staging = 0, prefetch = 2, raster = 8, chunk = 16>} {
  coda.map ins(%x[n0, m, n1] : memref<4x128x48xbf16>) outs(fresh add %s[n0, n1] : memref<4x48xf32>) {
  ^bb0(%v: bf16):
    %f = arith.extf %v : bf16 to f32
    coda.yield %f : f32
  }
  return
}

// Values of a column that lie next to each other are stored together, with those of the
// next column, of which both are there or none.

// CHECK: gpu.func @stored_pairs
// CHECK: %[[Y:.+]] = arith.truncf %{{.+}} : vector<4xf32> to vector<4xbf16>
// CHECK: %[[Z:.+]] = arith.truncf %{{.+}} : vector<4xf32> to vector<4xbf16>
// CHECK: %[[Y0:.+]] = vector.extract %[[Y]][0] : bf16 from vector<4xbf16>
// CHECK: %[[Z0:.+]] = vector.extract %[[Z]][0] : bf16 from vector<4xbf16>
// CHECK: %[[Y1:.+]] = vector.extract %[[Y]][1] : bf16 from vector<4xbf16>
// CHECK: %[[Z1:.+]] = vector.extract %[[Z]][1] : bf16 from vector<4xbf16>
// CHECK: %[[VALUES:.+]] = vector.from_elements %[[Y0]], %[[Z0]], %[[Y1]], %[[Z1]] : vector<4xbf16>
// CHECK: llvm.store %[[VALUES]], %{{.+}} : vector<4xbf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store %{{.+}} : bf16
func.func private @stored_pairs(%a: memref<256x128xbf16>, %w: memref<256x128xbf16>, %o: memref<256x256x2xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x128xbf16>, memref<256x128xbf16>)
      outs(%o[m, n, u] : memref<256x256x2xbf16>) {
  ^bb0(%x: f32):
    %e = arith.mulf %x, %x : f32
    %y = arith.truncf %x : f32 to bf16
    %z = arith.truncf %e : f32 to bf16
    coda.yield %y, %z : bf16, bf16
  }
  return
}

// An odd number of columns ends within a pair of them: each column's are stored
// together. Three values are no access.

// CHECK: gpu.func @stored_runs
// CHECK: llvm.store %{{.+}} : vector<2xbf16>, !llvm.ptr<1>
// CHECK: llvm.store %{{.+}} : bf16, !llvm.ptr<1>
// CHECK-NOT: llvm.store %{{.+}} : vector<4xbf16>
func.func private @stored_runs(%a: memref<256x128xbf16>, %w: memref<255x128xbf16>, %o: memref<256x255x2xbf16>, %p: memref<256x255x3xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x128xbf16>, memref<255x128xbf16>)
      outs(%o[m, n, u0], %p[m, n, u1] : memref<256x255x2xbf16>, memref<256x255x3xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y, %y, %y, %y, %y : bf16, bf16, bf16, bf16, bf16
  }
  return
}
