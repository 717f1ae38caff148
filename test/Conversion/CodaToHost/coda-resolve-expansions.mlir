// RUN: coda-opt %s --coda-resolve-expansions | FileCheck %s

// Each extent is what the op says; strides follow from them.
// CHECK-LABEL: func.func @two_unknown(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32>, %[[B:.*]]: index, %[[T:.*]]: index)
// CHECK:       %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %[[S:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:       %[[ST:.*]] = arith.muli %[[S]]#0, %[[T]]
// CHECK:       memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[B]], %[[T]], 8], strides: [%[[ST]], 8, 1] : memref<f32> to memref<?x?x8xf32>
func.func @two_unknown(%x: memref<?x8xf32>, %b: index, %t: index) -> memref<?x?x8xf32> {
  %v = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %t, 8] : memref<?x8xf32> into memref<?x?x8xf32>
  return %v : memref<?x?x8xf32>
}

// One for each dim is upstream's.
// CHECK-LABEL: func.func @no_one_unknown(
// CHECK:       memref.expand_shape
// CHECK-NOT:   memref.reinterpret_cast
func.func @no_one_unknown(%x: memref<?x?xf32>, %b: index, %t: index) -> memref<?x4x?x2xf32> {
  %v = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%b, 4, %t, 2] : memref<?x?xf32> into memref<?x4x?x2xf32>
  return %v : memref<?x4x?x2xf32>
}
