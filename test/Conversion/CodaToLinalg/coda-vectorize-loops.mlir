// RUN: coda-opt %s --coda-vectorize-loops --canonicalize --split-input-file | FileCheck %s
// RUN: coda-opt %s --coda-vectorize-loops="numerics=strict" --split-input-file | FileCheck %s --check-prefix=STRICT

// What depends on the row only is computed once per row; a store and a sum come
// from one pass; the rest of a row is scalar.

// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x20xf32>, %[[R:[a-z0-9]+]]: memref<4xf32>, %[[Y:[a-z0-9]+]]: memref<4x20xf32>, %[[S:[a-z0-9]+]]: memref<4xf32>
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<{{-?}}0.0{{.*}}> : vector<8xf32>
// CHECK: scf.for %[[M:.*]] =
// CHECK: %[[RM:.*]] = memref.load %[[R]][%[[M]]]
// CHECK: %[[RS:.*]] = math.rsqrt %[[RM]] : f32
// CHECK: %[[LANES:.*]] = scf.for %[[N:.*]] = %{{.*}} to %[[C16]] {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]])
// CHECK: %[[XV:.*]] = vector.load %[[X]][%[[M]], %[[N]]]
// CHECK: %[[RV:.*]] = vector.broadcast %[[RS]]
// CHECK: %[[YV:.*]] = arith.mulf %[[XV]], %[[RV]] : vector<8xf32>
// CHECK: vector.store %[[YV]], %[[Y]][%[[M]], %[[N]]]
// CHECK: arith.addf %[[ACC]], %[[YV]]
// CHECK: vector.extract %[[LANES]][0]
// CHECK: scf.for
// CHECK: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[S]][%[[M]]]

// Without a change of order, no vectors along the sum; along the rows the
// extent is too small.
// STRICT-LABEL: func.func @row
// STRICT: linalg.generic
func.func @row(%x: memref<4x20xf32>, %r: memref<4xf32>, %y: memref<4x20xf32>, %s: memref<4xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %r : memref<4x20xf32>, memref<4xf32>) outs(%y, %s : memref<4x20xf32>, memref<4xf32>) {
  ^bb0(%xe: f32, %re: f32, %ye: f32, %se: f32):
    %q = math.rsqrt %re : f32
    %p = arith.mulf %xe, %q : f32
    %t = arith.addf %se, %p : f32
    linalg.yield %p, %t : f32, f32
  }
  return
}

// -----

// A column sum runs along the columns, in the order of the rows.

// CHECK-LABEL: func.func @column
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<16x32xf32>, %[[S:[a-z0-9]+]]: memref<32xf32>
// CHECK: scf.for %[[M:.*]] =
// CHECK: scf.for %[[N:.*]] =
// CHECK-DAG: %[[XV:.*]] = vector.load %[[X]][%[[M]], %[[N]]]
// CHECK-DAG: %[[SV:.*]] = vector.load %[[S]][%[[N]]]
// CHECK: %[[T:.*]] = arith.addf %[[SV]], %[[XV]] : vector<8xf32>
// CHECK: vector.store %[[T]], %[[S]][%[[N]]]
// STRICT-LABEL: func.func @column
// STRICT-NOT: linalg.generic
func.func @column(%x: memref<16x32xf32>, %s: memref<32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<16x32xf32>) outs(%s : memref<32xf32>) {
  ^bb0(%xe: f32, %se: f32):
    %t = arith.addf %se, %xe : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// A body that reads memory is not elementwise.

// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic
// STRICT-LABEL: func.func @gather
// STRICT: linalg.generic
func.func @gather(%i: memref<16xi64>, %x: memref<100xf32>, %y: memref<16xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>],
      iterator_types = ["parallel"]} ins(%i : memref<16xi64>) outs(%y : memref<16xf32>) {
  ^bb0(%ie: i64, %ye: f32):
    %at = arith.index_cast %ie : i64 to index
    %v = memref.load %x[%at] : memref<100xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

// Vectors run along no dim that something counts in groups.

// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<300x32xf32>, %[[S:[a-z0-9]+]]: memref<3x32xf32>
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: scf.for %[[M:.*]] =
// CHECK: scf.for %[[N:.*]] =
// CHECK: %[[XV:.*]] = vector.load %[[X]][%[[M]], %[[N]]]
// CHECK: %[[G:.*]] = arith.divui %[[M]], %[[C128]]
// CHECK: %[[SV:.*]] = vector.load %[[S]][%[[G]], %[[N]]]
// CHECK: %[[T:.*]] = arith.addf %[[SV]], %[[XV]] : vector<8xf32>
// CHECK: vector.store %[[T]], %[[S]]
func.func @groups(%x: memref<300x32xf32>, %s: memref<3x32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m floordiv 128, n)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<300x32xf32>) outs(%s : memref<3x32xf32>) {
  ^bb0(%xe: f32, %se: f32):
    %t = arith.addf %se, %xe : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK-LABEL: func.func @only_groups
// CHECK-NOT: vector
// CHECK: linalg.generic
func.func @only_groups(%x: memref<300xf32>, %s: memref<3xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m floordiv 128)>],
      iterator_types = ["reduction"]}
      ins(%x : memref<300xf32>) outs(%s : memref<3xf32>) {
  ^bb0(%xe: f32, %se: f32):
    %t = arith.addf %se, %xe : f32
    linalg.yield %t : f32
  }
  return
}
