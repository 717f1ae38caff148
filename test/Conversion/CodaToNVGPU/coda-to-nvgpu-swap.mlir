// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// 16 rows are the columns of a fragment, whose 64 rows are columns of the tile: the
// right factor is the first of the products. A stage has 16 rows and 64 columns.

// CHECK: gpu.func @plain_16x64x64_s8_pingpong_swap(
// CHECK: nvvm.setmaxregister decrease
// CHECK: nvgpu.mbarrier.arrive.expect_tx %{{.*}}, %c10240
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<16x64xbf16
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<64x64xbf16
// CHECK: nvvm.setmaxregister increase
// The lane's address in a box: of matrix i the rows are those of half i / 2 of 16,
// the columns those of half i % 2 of the warp's 16.
// CHECK: %[[WARP:[a-z0-9_#]+]] = arith.divui %{{.+}}, %c32_i32
// CHECK: %[[LANE:[a-z0-9_#]+]] = arith.remui %{{.+}}, %c32_i32
// CHECK: %[[MATRIX:[a-z0-9_#]+]] = arith.divui %[[LANE]], %c8_i32
// CHECK: %[[ROW:[a-z0-9_#]+]] = arith.remui %[[LANE]], %c8_i32
// CHECK: %[[LOWER:[a-z0-9_#]+]] = arith.divui %[[MATRIX]], %c2_i32
// CHECK: %[[EIGHT:[a-z0-9_#]+]] = arith.muli %[[LOWER]], %c8_i32
// CHECK: %[[BOX_ROW:[a-z0-9_#]+]] = arith.addi %[[EIGHT]], %[[ROW]]
// CHECK: %[[LINE:[a-z0-9_#]+]] = arith.muli %[[BOX_ROW]], %c128_i32
// CHECK: %[[PAIR:[a-z0-9_#]+]] = arith.muli %[[WARP]], %c2_i32
// CHECK: %[[RIGHT:[a-z0-9_#]+]] = arith.remui %[[MATRIX]], %c2_i32
// CHECK: %[[COLUMNS:[a-z0-9_#]+]] = arith.addi %[[PAIR]], %[[RIGHT]]
// CHECK: %[[SWIZZLED:[a-z0-9_#]+]] = arith.xori %[[COLUMNS]], %{{.+}}
// CHECK: %[[BYTES:[a-z0-9_#]+]] = arith.muli %[[SWIZZLED]], %c16_i32
// CHECK: %[[IN_BOX:[a-z0-9_#]+]] = arith.addi %[[LINE]], %[[BYTES]]
// CHECK: %[[BEGIN:[a-z0-9_#]+]] = arith.muli %{{.+}}, %c10240_i32
// CHECK: %[[LEFT:[a-z0-9_#]+]] = memref.view %{{.+}} to memref<16x64xbf16
// CHECK: %[[B:[a-z0-9_#]+]] = nvgpu.warpgroup.generate.descriptor %[[LEFT]]
// CHECK: %[[OF_B:[a-z0-9_#]+]] = builtin.unrealized_conversion_cast %[[B]]
// CHECK: arith.addi %[[BEGIN]], %c2048_i32
// CHECK: %[[RIGHT_FACTOR:[a-z0-9_#]+]] = memref.view %{{.+}} to memref<64x64xbf16
// CHECK: %[[A:[a-z0-9_#]+]] = nvgpu.warpgroup.generate.descriptor %[[RIGHT_FACTOR]]
// CHECK: %[[OF_A:[a-z0-9_#]+]] = builtin.unrealized_conversion_cast %[[A]]
// CHECK: nvvm.wgmma.mma_async %[[OF_A]], %[[OF_B]], %{{.+}}, <m = 64, n = 16, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK: %[[NEXT_A:[a-z0-9_#]+]] = arith.addi %[[OF_A]], %c2_i64
// CHECK: %[[NEXT_B:[a-z0-9_#]+]] = arith.addi %[[OF_B]], %c2_i64
// CHECK: nvvm.wgmma.mma_async %[[NEXT_A]], %[[NEXT_B]], {{.*}}D[<f32>, <one>]
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// 8 accumulators of each thread, 8 rows after another; one store of all of them.
// CHECK: %[[AT:[a-z0-9_#]+]] = arith.addi %{{.+}}, %[[IN_BOX]]
// CHECK: %[[ADDRESS:[a-z0-9_#]+]] = arith.addi %{{.+}}, %[[AT]]
// CHECK: %[[POINTER:[a-z0-9_#]+]] = llvm.inttoptr %[[ADDRESS]]
// CHECK: nvvm.stmatrix %[[POINTER]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {{.*}}#nvvm.mma_layout<col>
// CHECK-NOT: nvvm.stmatrix
// CHECK: nvgpu.tma.async.store %{{.*}} : memref<16x64xbf16
func.func private @plain(%a: memref<16x512xbf16>, %w: memref<512x512xbf16>, %o: memref<16x512xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 8, staging = 1, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<512x512xbf16>) outs(%o[m, n] : memref<16x512xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Two accumulators have fragments of their own, with one left factor. A value of a
// row is element e of two, one of a column element q, of element 2 q + e of a block.
// Without staging buffers threads store.

// CHECK: gpu.func @two_8x128x64_s8_pingpong_swap(
// CHECK-SAME: %[[R:[a-z0-9]+]]: !llvm.ptr<1>, %[[C:[a-z0-9]+]]: !llvm.ptr<1>, %[[O:[a-z0-9]+]]: !llvm.ptr<1>)
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[R0:[a-z0-9_#]+]] = llvm.load %{{.+}} invariant : !llvm.ptr<1> -> f32
// CHECK: %[[R1:[a-z0-9_#]+]] = llvm.load %{{.+}} invariant : !llvm.ptr<1> -> f32
// CHECK: %[[OF_ROWS:[a-z0-9_#]+]] = vector.from_elements %[[R0]], %[[R1]] : vector<2xf32>
// CHECK: nvvm.wgmma.mma_async %[[A0:[a-z0-9_#]+]], %[[B0:[a-z0-9_#]+]], %{{.+}}, <m = 64, n = 8, k = 16>, D[<f32>, <zero>]
// CHECK: nvvm.wgmma.mma_async %{{.+}}, %[[B0]], %{{.+}}, <m = 64, n = 8, k = 16>, D[<f32>, <zero>]
// CHECK: llvm.getelementptr %[[C]][
// CHECK-NEXT: %[[C0:[a-z0-9_#]+]] = llvm.load
// CHECK-NEXT: %[[EIGHT_ON:[a-z0-9_#]+]] = arith.addi %{{.+}}, %c8_i32
// CHECK-NEXT: %[[COLUMN:[a-z0-9_#]+]] = arith.addi %{{.+}}, %[[EIGHT_ON]]
// CHECK-NEXT: %[[COLUMN64:[a-z0-9_#]+]] = arith.extui %[[COLUMN]]
// CHECK-NEXT: llvm.getelementptr %[[C]][%[[COLUMN64]]]
// CHECK-NEXT: %[[C1:[a-z0-9_#]+]] = llvm.load
// CHECK: %[[OF_COLUMNS:[a-z0-9_#]+]] = vector.from_elements %[[C0]], %[[C1]] : vector<2xf32>
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: vector.shuffle %[[OF_ROWS]], %[[OF_ROWS]] [0, 1, 0, 1]
// CHECK: vector.shuffle %[[OF_COLUMNS]], %[[OF_COLUMNS]] [0, 0, 1, 1]
// CHECK: %[[H:[a-z0-9_#]+]] = arith.truncf %{{.+}} : vector<4xf32> to vector<4xbf16>
// CHECK: %[[H0:[a-z0-9_#]+]] = vector.extract %[[H]][0]
// CHECK: %[[P0:[a-z0-9_#]+]] = llvm.getelementptr %[[O]]
// CHECK: llvm.store %[[H0]], %[[P0]] : bf16, !llvm.ptr<1>
// CHECK-COUNT-3: llvm.store %{{.+}}, %{{.+}} : bf16, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK-NOT: nvgpu.tma.async.store
// CHECK: gpu.return
func.func private @two(%a: memref<8x512xbf16>, %w: memref<192x512xbf16>, %v: memref<192x512xbf16>, %r: memref<8xf32>, %c: memref<192xf32>, %o: memref<8x192xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [8, 128, 64], stages = 8, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k], %a[m, k] * %v[n, k] : memref<8x512xbf16>, memref<192x512xbf16>, memref<8x512xbf16>, memref<192x512xbf16>)
      ins(%r[m], %c[n] : memref<8xf32>, memref<192xf32>) outs(%o[m, n] : memref<8x192xbf16>) {
  ^bb0(%x: f32, %y: f32, %s: f32, %t: f32):
    %z = arith.mulf %x, %y : f32
    %p = arith.mulf %z, %s : f32
    %q = arith.addf %p, %t : f32
    %h = arith.truncf %q : f32 to bf16
    coda.yield %h : bf16
  }
  return
}

// -----

// Of 24 rows the last 8 are half a piece. What is loaded ahead is written over, at the
// same addresses; elements of 32 bits are stored one by one, 8 columns and a row
// further on where the swizzle has them.

// CHECK: gpu.func @residual_24x64x64_s8_pingpong_inplace_swap(
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<24x64xf16
// CHECK: %[[R01:[a-z0-9_#]+]] = nvvm.ldmatrix %[[P01:[a-z0-9_#]+]] {{.*}}#nvvm.mma_layout<col>, num = 4
// CHECK: %[[P2:[a-z0-9_#]+]] = llvm.getelementptr %[[P01]][2048]
// CHECK: nvvm.ldmatrix %[[P2]] {{.*}}#nvvm.mma_layout<col>, num = 2
// CHECK: %[[F0:[a-z0-9_#]+]] = llvm.inttoptr %[[FIRST:[a-z0-9_#]+]] : i32
// CHECK: llvm.store %{{.+}}, %[[F0]] : f32
// CHECK: %[[ROW1:[a-z0-9_#]+]] = arith.xori %[[FIRST]], %c144_i32
// CHECK: %[[COLUMN1:[a-z0-9_#]+]] = arith.xori %[[FIRST]], %c32_i32
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.stmatrix %[[P01]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {{.*}}#nvvm.mma_layout<col>
// CHECK: %[[F8:[a-z0-9_#]+]] = llvm.getelementptr %[[F0]][1024]
// CHECK: llvm.store %{{.+}}, %[[F8]] : f32
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.stmatrix %[[P2]], %{{[^,]+}}, %{{[^,]+}} {{.*}}#nvvm.mma_layout<col>
// CHECK: nvgpu.tma.async.store %{{.*}} : memref<24x64xf16
// CHECK: nvgpu.tma.async.store %{{.*}} : memref<24x32xf32
// CHECK: nvgpu.tma.async.store %{{.*}} : memref<24x32xf32
func.func private @residual(%a: memref<24x512xf16>, %w: memref<192x512xf16>, %r: memref<24x192xf16>, %o: memref<24x192xf16>, %f: memref<24x192xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [24, 64, 64], stages = 8, staging = 2, prefetch = 1, raster = 8, pingpong = true, inplace = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<24x512xf16>, memref<192x512xf16>) ins(%r[m, n] : memref<24x192xf16>) outs(%o[m, n], %f[m, n] : memref<24x192xf16>, memref<24x192xf32>) {
  ^bb0(%x: f32, %y: f16):
    %e = arith.extf %y : f16 to f32
    %z = arith.addf %x, %e : f32
    %h = arith.truncf %z : f32 to f16
    coda.yield %h, %z : f16, f32
  }
  return
}

// -----

// A warp has 16 columns of a row, over 8 lanes: sums of 16 are its own, and stored by
// the first of them. Those of 64 are four warps', which a thread adds up for each row.

// CHECK: gpu.func @rows_16x64x64_s8_pingpong_swap(
// CHECK-SAME: %[[S:[a-z0-9]+]]: !llvm.ptr<1>, %[[T:[a-z0-9]+]]: !llvm.ptr<1>)
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: %[[SUM:[a-z0-9_#]+]] = arith.addf %{{.+}}, %{{.+}} : f32
// CHECK: %[[BY4:[a-z0-9_#]+]] = nvvm.shfl.sync bfly %{{.+}}, %[[SUM]], %c4_i32
// CHECK: %[[SUM4:[a-z0-9_#]+]] = arith.addf %[[SUM]], %[[BY4]]
// CHECK: %[[BY8:[a-z0-9_#]+]] = nvvm.shfl.sync bfly %{{.+}}, %[[SUM4]], %c8_i32
// CHECK: %[[SUM8:[a-z0-9_#]+]] = arith.addf %[[SUM4]], %[[BY8]]
// CHECK: %[[BY16:[a-z0-9_#]+]] = nvvm.shfl.sync bfly %{{.+}}, %[[SUM8]], %c16_i32
// CHECK: %[[SUM16:[a-z0-9_#]+]] = arith.addf %[[SUM8]], %[[BY16]]
// CHECK: scf.if %[[IS_FIRST:[a-z0-9_#]+]] {
// CHECK: %[[TO:[a-z0-9_#]+]] = llvm.getelementptr %[[S]]
// CHECK: llvm.store %[[SUM16]], %[[TO]] : f32, !llvm.ptr<1>
// CHECK-COUNT-3: llvm.store %{{.+}}, %{{.+}} : f32, !llvm.ptr<1>
// CHECK-COUNT-12: nvvm.shfl.sync bfly
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK-COUNT-2: llvm.store %{{.+}}, %{{.+}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier id
// CHECK: %[[HAS_ROW:[a-z0-9_#]+]] = arith.cmpi ult, %{{.+}}, %c16_i32
// CHECK: scf.if %[[HAS_ROW]] {
// CHECK: %[[M0:[a-z0-9_#]+]] = llvm.load %[[STRIP:[a-z0-9_#]+]] : !llvm.ptr<3> -> f32
// CHECK: %[[STRIP1:[a-z0-9_#]+]] = llvm.getelementptr %[[STRIP]][64]
// CHECK: %[[M1:[a-z0-9_#]+]] = llvm.load %[[STRIP1]] : !llvm.ptr<3> -> f32
// CHECK: arith.maximumf %[[M0]], %[[M1]]
// CHECK: %[[MOST:[a-z0-9_#]+]] = arith.maximumf
// CHECK: %[[MOST3:[a-z0-9_#]+]] = arith.maximumf %[[MOST]]
// CHECK: %[[TO:[a-z0-9_#]+]] = llvm.getelementptr %[[T]]
// CHECK: llvm.store %[[MOST3]], %[[TO]] : f32, !llvm.ptr<1>
// CHECK: }
// CHECK-NEXT: nvvm.barrier id
func.func private @rows(%a: memref<16x512xbf16>, %w: memref<512x512xbf16>, %s: memref<32x16xf32>, %t: memref<8x16xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 8, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<512x512xbf16>) outs(fresh add %s[n floordiv 16, m], fresh max %t[n floordiv 64, m] : memref<32x16xf32>, memref<8x16xf32>) {
  ^bb0(%x: f32):
    coda.yield %x, %x : f32, f32
  }
  return
}

// -----

// Both factors are contiguous along m and n: the left one comes in runs of 16 rows, the
// right one in boxes of 64 columns, one for each fragment.

// CHECK: gpu.func @across_48x128x64_s4_pingpong_swap(
// CHECK: nvvm.setmaxregister decrease
// CHECK-COUNT-3: nvgpu.tma.async.load {{.*}} -> memref<16x64xbf16
// CHECK-COUNT-2: nvgpu.tma.async.load {{.*}} -> memref<64x64xbf16
// CHECK: nvvm.setmaxregister increase
// CHECK: nvvm.wgmma.mma_async %[[A0:[a-z0-9_#]+]], %[[B:[a-z0-9_#]+]], %{{.+}}, <m = 64, n = 48, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <col>], B[<bf16>, <one>, <row>]
// CHECK: nvvm.wgmma.mma_async %[[A1:[a-z0-9_#]+]], %[[B]], %{{.+}}, <m = 64, n = 48, k = 16>, D[<f32>, <zero>]
// CHECK: %[[NEXT_A:[a-z0-9_#]+]] = arith.addi %[[A0]], %c128_i64
// CHECK: %[[NEXT_B:[a-z0-9_#]+]] = arith.addi %[[B]], %c32_i64
// CHECK: nvvm.wgmma.mma_async %[[NEXT_A]], %[[NEXT_B]]
func.func private @across(%a: memref<512x48xbf16>, %w: memref<512x256xbf16>, %o: memref<48x256xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [48, 128, 64], stages = 4, staging = 0, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[k, m] * %w[k, n] : memref<512x48xbf16>, memref<512x256xbf16>) outs(%o[m, n] : memref<48x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Four blocks have a quarter of k each, and two of them 8 of the rows to run the region
// on, with all columns of these.

// CHECK: gpu.func @split_16x64x64_s8_pingpong_swap_split4(
// CHECK: %[[SLICE:[a-z0-9_#]+]] = arith.remui %{{.+}}, %c4_i32
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[OWN:[a-z0-9_#]+]] = arith.muli %[[SLICE]], %c8_i32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-COUNT-2: llvm.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: %[[OWNS:[a-z0-9_#]+]] = arith.cmpi ult, %[[SLICE]], %c2_i32
// CHECK: scf.if %[[OWNS]] {
// CHECK: arith.muli %[[SLICE]], %c2048_i32
// CHECK-COUNT-4: llvm.load %{{.+}} : !llvm.ptr<7> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: nvvm.stmatrix %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}} {
// CHECK: nvgpu.tma.async.store %{{.*}} : memref<8x64xbf16
func.func private @split(%a: memref<16x512xbf16>, %w: memref<128x512xbf16>, %o: memref<16x128xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 8, staging = 1, prefetch = 0, raster = 8, pingpong = true, swap = true, split = 4>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<16x512xbf16>, memref<128x512xbf16>) outs(%o[m, n] : memref<16x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// 8-bit factors change places, too. A result of 8 bits is stored byte by byte: a row
// further on by 64 bytes, 8 columns by 8, 8 rows by 512.

// CHECK: gpu.func @eight_32x64x128_s8_pingpong_swap(
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 32, k = 32>, D[<f32>, <zero>], A[<e5m2>, <one>, <row>], B[<e4m3>, <one>, <col>]
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.store %{{.+}}, %[[P:[a-z0-9_#]+]] : i8, !llvm.ptr<3>
// CHECK: %[[ROW1:[a-z0-9_#]+]] = llvm.getelementptr %[[P]][64]
// CHECK: llvm.store %{{.+}}, %[[ROW1]] : i8
// CHECK: %[[COLUMN8:[a-z0-9_#]+]] = llvm.getelementptr %[[P]][8]
// CHECK: llvm.store %{{.+}}, %[[COLUMN8]] : i8
// CHECK: llvm.getelementptr %[[P]][72]
// CHECK: llvm.getelementptr %[[P]][512]
// CHECK: nvgpu.tma.async.store
func.func private @eight(%a: memref<32x512xf8E4M3FN>, %w: memref<128x512xf8E5M2>, %o: memref<32x128xf8E4M3FN>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [32, 64, 128], stages = 8, staging = 1, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<32x512xf8E4M3FN>, memref<128x512xf8E5M2>) outs(%o[m, n] : memref<32x128xf8E4M3FN>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f8E4M3FN
    coda.yield %y : f8E4M3FN
  }
  return
}

// -----

// Rows of 32 columns: a warp's 16 are a half of one, of the coordinate that half of its
// number is further on, and a box is swizzled over 64 bytes.

// CHECK: gpu.func @narrow_16x64x64_s8_pingpong_swap(
// CHECK-SAME: %[[C:[a-z0-9]+]]: !llvm.ptr<1>
// CHECK: nvgpu.tma.async.load {{.*}} -> memref<2x32x64xbf16
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[WARP:[a-z0-9_#]+]] = arith.divui %{{.+}}, %c32_i32
// CHECK: %[[SIXTEEN:[a-z0-9_#]+]] = arith.muli %[[WARP]], %c16_i32
// CHECK: %[[ROW:[a-z0-9_#]+]] = arith.addi %[[SIXTEEN]], %{{.+}}
// CHECK: %[[PAIR:[a-z0-9_#]+]] = arith.muli %[[WARP]], %c2_i32
// CHECK: %[[LINE:[a-z0-9_#]+]] = arith.remui %{{.+}}, %c4_i32
// CHECK: arith.xori %{{.+}}, %[[LINE]]
// CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 16, k = 16>
// CHECK: %[[COLUMN:[a-z0-9_#]+]] = arith.remui %[[ROW]], %c32_i32
// CHECK: %[[INNER:[a-z0-9_#]+]] = arith.addi %{{.+}}, %[[COLUMN]]
// CHECK: %[[FURTHER:[a-z0-9_#]+]] = arith.divui %[[WARP]], %c2_i32
// CHECK: %[[OUTER:[a-z0-9_#]+]] = arith.addi %{{.+}}, %[[FURTHER]]
// CHECK: llvm.getelementptr %[[C]][
// CHECK: nvvm.stmatrix {{.*}}#nvvm.mma_layout<col>
// CHECK: nvgpu.tma.async.store
func.func private @narrow(%a: memref<16x512xbf16>, %w: memref<8x32x512xbf16>, %c: memref<8x32xf32>, %o: memref<8x16x32xbf16>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [16, 64, 64], stages = 8, staging = 1, prefetch = 0, raster = 8, pingpong = true, swap = true>} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, k] : memref<16x512xbf16>, memref<8x32x512xbf16>) ins(%c[n0, n1] : memref<8x32xf32>) outs(%o[n0, m, n1] : memref<8x16x32xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    %h = arith.truncf %z : f32 to bf16
    coda.yield %h : bf16
  }
  return
}
