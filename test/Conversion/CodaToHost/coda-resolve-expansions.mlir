// RUN: coda-opt %s --coda-resolve-expansions --canonicalize --cse --split-input-file | FileCheck %s

// Rows become batches and tokens: one stride is the product of the others'.

// CHECK-LABEL: func.func @two_unknown(
// CHECK-SAME: %[[X:.+]]: memref<?x4xf32>, %[[B:.+]]: index, %[[T:.+]]: index)
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG: %[[S:.+]] = arith.muli %[[T]], %[[C4]] : index
// CHECK: %[[Y:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[B]], %[[T]], 4], strides: [%[[S]], 4, 1]
// CHECK: return %[[Y]]
func.func @two_unknown(%x: memref<?x4xf32>, %b: index, %t: index) -> memref<?x?x4xf32> {
  %y = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %t, 4] : memref<?x4xf32> into memref<?x?x4xf32>
  return %y : memref<?x?x4xf32>
}

// -----

// What lies between the two counts, too, and so do strides of the source.

// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %[[X:.+]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[B:.+]]: index, %[[T:.+]]: index, %[[N:.+]]: index)
// CHECK-DAG: %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG: %{{.+}}, %[[O:.+]], %{{.+}}:2, %[[S:.+]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK-DAG: %[[T1:.+]] = arith.muli %[[S]]#0, %[[T]] : index
// CHECK-DAG: %[[T3:.+]] = arith.muli %[[T1]], %[[C3]] : index
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%[[O]]], sizes: [%[[B]], 3, %[[T]], %[[N]]], strides: [%[[T3]], %[[T1]], %[[S]]#0, 1]
func.func @strided(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %b: index, %t: index, %n: index) -> memref<?x3x?x?xf32, strided<[?, ?, ?, 1], offset: ?>> {
  %y = memref.expand_shape %x [[0, 1, 2], [3]] output_shape [%b, 3, %t, %n] : memref<?x?xf32, strided<[?, 1], offset: ?>> into memref<?x3x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
  return %y : memref<?x3x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
}

// -----

// One unknown extent a group stays.

// CHECK-LABEL: func.func @no_several(
// CHECK: memref.expand_shape
// CHECK-NOT: memref.reinterpret_cast
func.func @no_several(%x: memref<?x?xf32>, %b: index, %n: index) -> memref<?x2x?x8xf32> {
  %y = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%b, 2, %n, 8] : memref<?x?xf32> into memref<?x2x?x8xf32>
  return %y : memref<?x2x?x8xf32>
}
