// RUN: coda-opt %s --coda-guard-traps | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#map = affine_map<(d0, d1) -> (d0, d1)>

// By data: zero, and the one division that overflows.
// CHECK-LABEL: func.func @divide(
// CHECK:       ^bb0(%[[A:.+]]: i32, %[[B:.+]]: i32, %{{.+}}: i32):
// CHECK:         %[[C0:.+]] = arith.constant 0 : i32
// CHECK:         %[[NZ:.+]] = arith.cmpi ne, %[[B]], %[[C0]]
// CHECK:         cf.assert %[[NZ]], "integer division by zero"
// CHECK:         %[[IS_MIN:.+]] = arith.cmpi eq, %[[A]], %{{.+}} : i32
// CHECK:         %[[IS_M1:.+]] = arith.cmpi eq, %[[B]], %{{.+}} : i32
// CHECK:         %[[BAD:.+]] = arith.andi %[[IS_MIN]], %[[IS_M1]]
// CHECK:         %[[FINE:.+]] = arith.xori %[[BAD]], %{{.+}}
// CHECK:         cf.assert %[[FINE]], "integer division overflows"
// CHECK:         arith.divsi %[[A]], %[[B]]
func.func @divide(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// By a constant other than 0 and -1: never.
// CHECK-LABEL: func.func @no_divide_by_constant(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @no_divide_by_constant(%x: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %c = arith.constant 3 : i32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %q = arith.remsi %a, %c : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// Extents that are computed: coda-host-signature makes those total.
// CHECK-LABEL: func.func @no_shapes(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @no_shapes(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %q = arith.divui %d, %n : index
  %e = tensor.empty(%q) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// A gather: the row is data, the column is that of the loop.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[T:.+]]: tensor<?x4xf32>, %
// CHECK:         %[[I:.+]] = arith.index_cast
// CHECK:         %[[N:.+]] = tensor.dim %[[T]], %{{.+}}
// CHECK:         %[[IN:.+]] = arith.cmpi ult, %[[I]], %[[N]] : index
// CHECK:         cf.assert %[[IN]], "index 0 into a tensor is out of its bounds"
// CHECK-NOT:     cf.assert
// CHECK:         tensor.extract
func.func @gather(%t: tensor<?x4xf32>, %rows: tensor<8xi64>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #map], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<8xi64>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%row: i64, %o: f32):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%i, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @no_constant_index(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @no_constant_index(%t: tensor<4xi64>, %d: tensor<4xi64>) -> tensor<4xi64> {
  %c3 = arith.constant 3 : index
  %v = tensor.extract %t[%c3] : tensor<4xi64>
  %r = tensor.insert %v into %d[%c3] : tensor<4xi64>
  return %r : tensor<4xi64>
}
