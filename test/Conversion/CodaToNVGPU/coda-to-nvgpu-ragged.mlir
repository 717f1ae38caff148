// RUN: coda-opt %s --coda-to-nvgpu --canonicalize --cse --split-input-file | FileCheck %s

// Column maxima of an unknown number of rows, per 128: rows beyond the last have
// the identity whatever the region makes of them, and the tile's number is the
// group's.

// CHECK: gpu.func @rows_128x64x64_s3(%[[M:[a-z0-9]+]]: i32,
// CHECK: %[[LEAST:.+]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: %[[ACC:.+]] = vector.from_elements %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : vector<4xf32>
// CHECK: %[[IN0:.+]] = arith.cmpi ult, %{{.+}}, %[[M]] : i32
// CHECK: %[[IN1:.+]] = arith.cmpi ult, %{{.+}}, %[[M]] : i32
// CHECK: %[[IN:.+]] = vector.from_elements %[[IN0]], %[[IN1]]
// CHECK: %[[MASK:.+]] = vector.shuffle %[[IN]], %[[IN]] [0, 0, 1, 1]
// CHECK: arith.select %[[MASK]], %[[ACC]], %[[LEAST]] :
// CHECK-COUNT-8: llvm.load %{{.+}} : !llvm.ptr<3> -> f32
// CHECK-NEXT: %[[MAX:.+]] = arith.maximumf %{{.+}}, %{{.+}} : f32
// CHECK-NEXT: %[[GROUP:.+]] = arith.divui %{{.+}}, %c128_i32
// CHECK-NEXT: %[[WIDE:.+]] = arith.extui %[[GROUP]]
// CHECK-NEXT: %[[ROW:.+]] = arith.muli %[[WIDE]], %c512_i64
// CHECK: %[[AT:.+]] = arith.addi %[[ROW]], %{{.+}}
// CHECK: %[[TO:.+]] = llvm.getelementptr %{{.+}}[%[[AT]]]
// CHECK: llvm.store %[[MAX]], %[[TO]] : f32, !llvm.ptr<1>
func.func private @rows(%a: memref<?x192xbf16>, %w: memref<512x192xbf16>, %s: memref<?x512xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x192xbf16>, memref<512x192xbf16>)
      outs(fresh max %s[m floordiv 128, n] : memref<?x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Row sums in f64: columns beyond the last are zeros, lanes exchange two words each.

// CHECK: gpu.func @wide_rows
// CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<4xf64>
// CHECK: %[[WIDE:.+]] = arith.extf %{{.+}} : vector<4xf32> to vector<4xf64>
// CHECK: %[[TERMS:.+]] = arith.select %{{.+}}, %[[WIDE]], %[[ZERO]] :
// CHECK: %[[FIRST:.+]] = vector.extract %[[TERMS]][0] : f64 from vector<4xf64>
// CHECK: %[[SECOND:.+]] = vector.extract %[[TERMS]][1] : f64 from vector<4xf64>
// CHECK: arith.addf %[[FIRST]], %[[SECOND]] : f64
// CHECK: %[[WORDS:.+]] = llvm.bitcast %[[SUM:.+]] : f64 to vector<2xi32>
// CHECK: %[[LOW:.+]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[OTHERLOW:.+]] = nvvm.shfl.sync bfly %{{.+}}, %[[LOW]],
// CHECK: %[[HALF:.+]] = llvm.insertelement %[[OTHERLOW]], %[[WORDS]]
// CHECK: %[[OTHER:.+]] = llvm.bitcast %{{.+}} : vector<2xi32> to f64
// CHECK: arith.addf %[[SUM]], %[[OTHER]] : f64
// CHECK: llvm.store %{{.+}}, %{{.+}} : f64, !llvm.ptr<1>
func.func private @wide_rows(%a: memref<128x192xbf16>, %w: memref<100x192xbf16>, %s: memref<128xf64>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x192xbf16>, memref<100x192xbf16>)
      outs(fresh add %s[m] : memref<128xf64>) {
  ^bb0(%x: f32):
    %d = arith.extf %x : f32 to f64
    coda.yield %d : f64
  }
  return
}

// -----

// Row sums of 1000 columns, per 128: a tile has two groups, and the last tile a
// group of 104 columns.

// CHECK: gpu.func @columns_128x256x64_s3(
// CHECK: nvvm.shfl.sync bfly
// CHECK: %[[LANE:.+]] = arith.cmpi eq,
// CHECK-NEXT: %[[FIRST:.+]] = arith.cmpi ult, %[[COLUMN:.+]], %c1000_i32
// CHECK-NEXT: %[[WRITES:.+]] = arith.andi %[[LANE]], %[[FIRST]]
// CHECK: scf.if %[[WRITES]]
// CHECK: arith.divui %[[COLUMN]], %c128_i32
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK: %[[SECOND:[0-9]+]] = arith.cmpi ult, %[[NEXT:[0-9]+]], %c1000_i32
// CHECK-NEXT: %[[WRITES2:.+]] = arith.andi %[[LANE]], %[[SECOND]]
// CHECK: scf.if %[[WRITES2]]
// CHECK: arith.divui %[[NEXT]], %c128_i32
func.func private @columns(%a: memref<?x192xbf16>, %w: memref<1000x192xbf16>, %s: memref<8x?xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 256, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<?x192xbf16>, memref<1000x192xbf16>)
      outs(fresh add %s[n floordiv 128, m] : memref<8x?xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// As many terms as a call shows: 32 at a time, of which the last may be none.

// CHECK: gpu.func @terms_128x64x64_s2(
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[SUMS:.+]] = scf.for %[[I:.+]] = %c0_i64 to %[[COUNT:.+]] step %c32_i64 iter_args(%{{.+}} = %[[ZERO]])
// CHECK: %[[NUMBER:.+]] = arith.addi %[[I]],
// CHECK: %[[INSIDE:.+]] = arith.cmpi ult, %[[NUMBER]], %[[COUNT]]
// CHECK: arith.minui %[[NUMBER]],
// CHECK: %[[TERM:.+]] = llvm.load
// CHECK: arith.select %[[INSIDE]], %[[TERM]], %[[ZERO]]
// CHECK: nvvm.shfl.sync bfly %{{[^,]+}}, %[[SUMS]],
func.func private @terms(%p: memref<?x512xf32>, %s: memref<512xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 2, staging = 0, prefetch = 0, raster = 8>} {
  coda.map ins(add %p[p, m] : memref<?x512xf32>) outs(%s[m] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// The columns of a group that is a whole row: those beyond the last are the combiner's
// identity, whatever the region makes of what stands there.
// CHECK-LABEL: gpu.func @group_of_a_row
// CHECK-DAG:   %[[SIX:.*]] = arith.constant 6 : i32
// CHECK-DAG:   %[[LOWEST:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK:       %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[SIX]] : i32
// CHECK:       arith.select %{{.*}}, %{{.*}}, %[[LOWEST]] : vector<4xi1>, vector<4xf32>
func.func private @group_of_a_row(%a: memref<64x1024xbf16>, %w: memref<6x1024xbf16>, %o: memref<64x6xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 16, 64], stages = 8, staging = 0, prefetch = 0, raster = 8, pingpong = true, chunk = 16>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x1024xbf16>, memref<6x1024xbf16>) outs(%o[m, n] : memref<64x6xf32>) {
  ^bb0(%x: f32):
    %m = coda.group_reduce max %x over [n] : f32
    %p = arith.subf %x, %m : f32
    coda.yield %p : f32
  }
  return
}

// -----

// A reduction over no more rows than a fragment's in a tile of 64: the scratch has a
// strip of 16 rows for each of the four warps, and each consumer its own.
// CHECK-LABEL: gpu.func @few_rows
// CHECK:       nvvm.shfl.sync bfly
// CHECK:       llvm.store %{{.*}}, %{{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT:   llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:       gpu.return
func.func private @few_rows(%a: memref<40x64xbf16>, %w: memref<512x64xbf16>, %s: memref<512xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [64, 64, 64], stages = 2, staging = 0, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<40x64xbf16>, memref<512x64xbf16>) outs(fresh add %s[n] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Groups of 64 rows of a tile of both consumers: each has one, and its warps meet at a
// barrier of their own. Its strips lie behind those of the other.

// CHECK: gpu.func @groups_of_consumers_128x64x64_s3(
// CHECK: %[[CONSUMER:.+]] = arith.subi %[[WARPGROUP:.+]], %c1_i32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
// CHECK: scf.if
// CHECK: %[[STRIPS:.+]] = arith.muli %[[CONSUMER]], %c1024_i32
// CHECK: %[[BEGIN:.+]] = arith.addi %{{.+}}, %[[STRIPS]]
// CHECK: %[[FIRST:.+]] = llvm.getelementptr %{{.+}}[%[[BEGIN]]]
// CHECK: llvm.load %[[FIRST]]
// CHECK-COUNT-3: llvm.load %{{.+}} : !llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load
// CHECK: arith.divui %{{.+}}, %c64_i32
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
func.func private @groups_of_consumers(%a: memref<256x192xbf16>, %w: memref<512x192xbf16>, %s: memref<4x512xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x192xbf16>, memref<512x192xbf16>)
      outs(fresh add %s[m floordiv 64, n] : memref<4x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Of the fragments of one consumer: each ends a group, of which only those that have
// rows are written.

// CHECK: gpu.func @groups_of_fragments_192x64x64_s3_pingpong(
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvvm.barrier id = %[[WARPGROUP:.+]] number_of_threads = %c128_i32
// CHECK: arith.cmpi ult, %[[ROW:.+]], %c1000_i32
// CHECK: scf.if
// CHECK-COUNT-4: llvm.load %{{.+}} : !llvm.ptr<3> -> f32
// CHECK: arith.divui %[[ROW]], %c64_i32
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
// CHECK: %[[TILE1:.+]] = arith.muli %{{.+}}, %c192_i32
// CHECK: %[[ROW1:.+]] = arith.addi %[[TILE1]], %c64_i32
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
// CHECK: arith.cmpi ult, %[[ROW1]], %c1000_i32
// CHECK: arith.divui %[[ROW1]], %c64_i32
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
// CHECK: %[[TILE2:.+]] = arith.muli %{{.+}}, %c192_i32
// CHECK: %[[ROW2:.+]] = arith.addi %[[TILE2]], %c128_i32
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
// CHECK: arith.cmpi ult, %[[ROW2]], %c1000_i32
// CHECK: arith.divui %[[ROW2]], %c64_i32
// CHECK: nvvm.barrier id = %[[WARPGROUP]] number_of_threads = %c128_i32
func.func private @groups_of_fragments(%a: memref<1000x192xbf16>, %w: memref<512x192xbf16>, %s: memref<16x512xf32>)
    attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [192, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, pingpong = true>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<1000x192xbf16>, memref<512x192xbf16>)
      outs(fresh add %s[m floordiv 64, n] : memref<16x512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}
