// RUN: coda-opt %s --split-input-file --coda-to-nvgpu --canonicalize --cse | FileCheck %s

// Chunks of 32 columns. Boxes have 64 rows of 64 bytes, of 32 columns of 16 bits or
// 16 of 32, and are swizzled over these: two rows are the 128 bytes that the pieces
// of 16 bytes change places by. Buffers take half of what those of 64 columns do.

// The boxes of what is loaded, and of the stored tile of 32 bits.
// CHECK: memref.extract_aligned_pointer_as_index %arg2
// CHECK: llvm.store %c64_i32, %[[BOX:.+]] : i32, !llvm.ptr
// CHECK: %[[INNER:.+]] = llvm.getelementptr %[[BOX]][1]
// CHECK: llvm.store %c32_i32, %[[INNER]] : i32, !llvm.ptr
// CHECK: llvm.call @coda_gpu_tensor_map({{.+}}, %[[BOX]], %c256_i32)
// CHECK: memref.extract_aligned_pointer_as_index %arg4
// CHECK: llvm.store %c64_i32, %[[BOX32:.+]] : i32, !llvm.ptr
// CHECK: %[[INNER32:.+]] = llvm.getelementptr %[[BOX32]][1]
// CHECK: llvm.store %c16_i32, %[[INNER32]] : i32, !llvm.ptr
// CHECK: llvm.call @coda_gpu_tensor_map({{.+}}, %[[BOX32]], %c256_i32)
// CHECK: gpu.func @half_128x128x64_s3_pingpong_inplace_ordered_chunk32

// Four chunks of each fragment, a box of 4 KB each.
// CHECK: scf.for %[[TURN:.+]] = %c0_i32 to %c8_i32
// CHECK: %[[CHUNK:.+]] = arith.remui %[[TURN]], %c4_i32
// CHECK: %[[SKIPPED:.+]] = arith.muli %[[CHUNK]], %c32_i32
// CHECK: %[[COLUMN:.+]] = arith.addi %{{.+}}, %[[SKIPPED]]
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL:.+]][%[[AT:.+]]], %c4096
// CHECK: %[[COLUMNI:.+]] = arith.index_cast %[[COLUMN]] : i32 to index
// CHECK: nvgpu.tma.async.load %{{.+}}[%[[COLUMNI]], %{{.+}}], %[[FULL]][%[[AT]]]

// CHECK: nvvm.setmaxregister increase
// A lane's place: row * 64 + ((piece of 16 bytes) ^ (row / 2 % 4)) * 16.
// CHECK: %[[INQUAD:.+]] = arith.remui %[[LANE:.+]], %c4_i32
// CHECK: %[[IN:.+]] = arith.remui %[[LANE]], %c8_i32
// CHECK: %[[ROW:.+]] = arith.addi %{{.+}}, %[[IN]]
// CHECK: %[[BYTES:.+]] = arith.muli %[[ROW]], %c64_i32
// CHECK: %[[LINE:.+]] = arith.divui %[[IN]], %c2_i32
// CHECK: %[[MASK:.+]] = arith.remui %[[LINE]], %c4_i32
// CHECK: %[[PIECE:.+]] = arith.xori %{{.+}}, %[[MASK]]
// CHECK: %[[OFFSET:.+]] = arith.muli %[[PIECE]], %c16_i32
// CHECK: %[[PLACE:.+]] = arith.addi %[[BYTES]], %[[OFFSET]]
// CHECK: "wgmma.wait_group.sync.aligned 0;"

// A chunk is two pieces, both read by the lane at once. Of 32-bit elements each is a
// box: the second is 4 KB further.
// CHECK: %[[BASE:.+]] = arith.addi %{{.+}}, %[[PLACE]]
// CHECK: %[[ADDRESS:.+]] = arith.addi %{{.+}}, %[[BASE]]
// CHECK: %[[FIRST:.+]] = llvm.inttoptr %[[ADDRESS]]
// CHECK: nvvm.ldmatrix %[[FIRST]]
// CHECK: %[[OTHER:.+]] = arith.xori %[[ADDRESS]], %c32_i32
// CHECK: %[[SECOND:.+]] = llvm.inttoptr %[[OTHER]]
// CHECK: nvvm.ldmatrix %[[SECOND]]
// CHECK: llvm.store %{{.+}}, %[[P0:.+]] : vector<2xf32>, !llvm.ptr<3>
// CHECK: %[[BELOW:.+]] = llvm.getelementptr %[[P0]][512]
// CHECK: llvm.store %{{.+}}, %[[BELOW]] : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.stmatrix %[[FIRST]],
// CHECK: %[[P1:.+]] = llvm.getelementptr %[[P0]][4096]
// CHECK: llvm.store %{{.+}}, %[[P1]] : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.stmatrix %[[SECOND]],

// One box of 16-bit elements, two of 32-bit ones, 16 columns apart.
// CHECK: nvgpu.tma.async.store %{{.+}} to %{{.+}}[%[[C0:.+]], %[[R:.+]]]
// CHECK: nvgpu.tma.async.store %{{.+}} to %[[MAP:.+]][%[[C0]], %[[R]]]
// CHECK: %[[NEXT:.+]] = arith.addi %{{.+}}, %c16_i32
// CHECK: %[[C1:.+]] = arith.index_cast %[[NEXT]] : i32 to index
// CHECK: nvgpu.tma.async.store %{{.+}} to %[[MAP]][%[[C1]], %[[R]]]
func.func private @half(%a: memref<256x192xbf16>, %w: memref<512x192xbf16>, %r: memref<256x512xbf16>, %o: memref<256x512xbf16>, %p: memref<256x512xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 128, 64], stages = 3, staging = 4, prefetch = 3, raster = 8, pingpong = true, inplace = true, ordered = true, chunk = 32>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x192xbf16>, memref<512x192xbf16>)
      ins(%r[m, n] : memref<256x512xbf16>)
      outs(%o[m, n], %p[m, n] : memref<256x512xbf16>, memref<256x512xf32>) {
  ^bb0(%x: f32, %rb: bf16):
    %rf = arith.extf %rb : bf16 to f32
    %y = arith.addf %x, %rf : f32
    %q = arith.truncf %y : f32 to bf16
    coda.yield %q, %y : bf16, f32
  }
  return
}

// -----

// A column's sum of 32 columns ends in one lane: 8 (lane / 8) + 2 (lane % 4) +
// lane / 4 % 2.

// CHECK: gpu.func @column_sums_128x64x64_s3_chunk32
// CHECK: %[[COLUMN:.+]] = arith.muli %[[INQUAD:.+]], %c2_i32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: %[[EIGHT:.+]] = arith.muli %{{.+}}, %c8_i32
// CHECK: %[[PAIR:.+]] = arith.addi %[[EIGHT]], %[[COLUMN]]
// CHECK: %[[ONE:.+]] = arith.remui %{{.+}}, %c2_i32
// CHECK: %[[OWN:.+]] = arith.addi %[[PAIR]], %[[ONE]]
// CHECK: %[[AT:.+]] = arith.muli %[[OWN]], %c4_i32
// CHECK: %[[TO:.+]] = arith.addi %{{.+}}, %[[AT]]
// CHECK: %[[SCRATCH:.+]] = llvm.getelementptr %{{.+}}[%{{.+}}]
// CHECK: llvm.store %{{.+}}, %[[SCRATCH]] : vector<1xf32>, !llvm.ptr<3>
func.func private @column_sums(%a: memref<128x192xbf16>, %w: memref<512x192xbf16>, %s: memref<512xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, chunk = 32>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x192xbf16>, memref<512x192xbf16>)
      outs(fresh add %s[n] : memref<512xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// Of 8-bit elements a row of a box has 32 bytes: eight rows below are 256.

// CHECK: gpu.func @narrow_128x64x128_s3_chunk32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.store %{{.+}}, %[[AT:.+]] : i16, !llvm.ptr<3>
// CHECK: %[[BELOW:.+]] = llvm.getelementptr %[[AT]][256]
// CHECK: llvm.store %{{.+}}, %[[BELOW]] : i16, !llvm.ptr<3>
func.func private @narrow(%a: memref<128x256xf8E4M3FN>, %w: memref<512x256xf8E4M3FN>, %o: memref<128x512xf8E4M3FN>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 128], stages = 3, staging = 1, prefetch = 0, raster = 8, chunk = 32>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x256xf8E4M3FN>, memref<512x256xf8E4M3FN>)
      outs(%o[m, n] : memref<128x512xf8E4M3FN>) {
  ^bb0(%x: f32):
    %q = arith.truncf %x : f32 to f8E4M3FN
    coda.yield %q : f8E4M3FN
  }
  return
}

// -----

// What is combined of 64 columns is combined at once, as in chunks of 64: 16 terms of
// each of two rows, relative to one maximum.

// CHECK: gpu.func @logarithm_128x64x64_s3_chunk32
// CHECK-COUNT-32: math.exp2
// CHECK-NOT: math.exp2
// CHECK: nvvm.shfl.sync bfly
func.func private @logarithm(%a: memref<128x192xbf16>, %w: memref<64x192xbf16>, %s: memref<128xf32>) attributes {coda.kernel, coda.schedule = #coda_gpu.schedule<tile = [128, 64, 64], stages = 3, staging = 0, prefetch = 0, raster = 8, chunk = 32>} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x192xbf16>, memref<64x192xbf16>)
      outs(fresh logaddexp %s[m] : memref<128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}
