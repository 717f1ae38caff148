// RUN: coda-opt %s --coda-lower-contractions --canonicalize --split-input-file | FileCheck %s
// RUN: coda-opt %s --coda-lower-contractions="numerics=strict" --split-input-file | FileCheck %s --check-prefix=STRICT

// A weight of n by k is packed by transposing blocks of 8 by 8; the register
// tile is 6 rows by two vectors.

// CHECK-LABEL: func.func @weight
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<64x32xf32>, %[[B:[a-z0-9]+]]: memref<48x32xf32>, %[[C:[a-z0-9]+]]: memref<64x48xf32>
// CHECK-NOT: linalg.generic
// CHECK: vector.load %[[B]]
// CHECK: vector.shuffle
// CHECK: vector.load %[[A]]
// CHECK: memref.subview %[[C]]
// CHECK-SAME: [6, 16] [1, 1]
// CHECK: %[[R:.*]]:12 = scf.for
// CHECK: %[[W:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: vector.fma %[[W]]
// CHECK: vector.store %[[R]]#0
func.func @weight(%a: memref<64x32xf32>, %b: memref<48x32xf32>, %c: memref<64x48xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x32xf32>, memref<48x32xf32>) outs(%c : memref<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Factors of 16 bits are widened while they are packed.

// CHECK-LABEL: func.func @widened
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<64x32xbf16>
// CHECK: %[[X:.*]] = vector.load %[[A]]{{.*}} vector<8xbf16>
// CHECK: arith.extf %[[X]] : vector<8xbf16> to vector<8xf32>
func.func @widened(%a: memref<64x32xbf16>, %b: memref<48x32xbf16>, %c: memref<64x48xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x32xbf16>, memref<48x32xbf16>) outs(%c : memref<64x48xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A sum that the source rounds to bf16 at every step is rounded once, but with
// `strict` it stays as it is written.

// CHECK-LABEL: func.func @narrow
// CHECK-NOT: linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// STRICT-LABEL: func.func @narrow
// STRICT: linalg.generic
func.func @narrow(%a: memref<64x32xbf16>, %b: memref<32x48xbf16>, %c: memref<64x48xbf16>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x32xbf16>, memref<32x48xbf16>) outs(%c : memref<64x48xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  }
  return
}

// -----

// No contraction: the product is not what is added. And one without n dims.

// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-2: linalg.generic
func.func @left_alone(%a: memref<8x4xf32>, %b: memref<8x4xf32>, %v: memref<4xf32>, %c: memref<8x8xf32>, %d: memref<8xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<8x4xf32>) outs(%c : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.subf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a, %v : memref<8x4xf32>, memref<4xf32>) outs(%d : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}
