// RUN: coda-opt %s --coda-gpu-resolve-reshapes | FileCheck %s

// CHECK-LABEL: func.func @values
// CHECK-SAME: %[[X:.+]]: tensor<?x4xf32>, %[[M:.+]]: index, %[[N:.+]]: i64
// CHECK: %[[NI:.+]] = arith.index_cast %[[N]] : i64 to index
// CHECK: %[[FLAT:.+]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<?x4xf32> into tensor<?xf32>
// CHECK: %[[R:.+]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2]] output_shape [2, %{{.+}}, %[[NI]]] : tensor<?xf32> into tensor<2x?x?xf32>
// CHECK: return %[[R]]
func.func @values(%x: tensor<?x4xf32>, %m: index, %n: i64) -> tensor<2x?x?xf32> {
  %mi = arith.index_cast %m : index to i64
  %two = arith.constant 2 : i64
  %s = tensor.from_elements %two, %mi, %n : tensor<3xi64>
  %r = tensor.reshape %x(%s) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
  return %r : tensor<2x?x?xf32>
}

// CHECK-LABEL: func.func @static
// CHECK-SAME: %[[X:.+]]: tensor<?x4xf32>, %[[S:.+]]: tensor<2xi64>
// CHECK: %[[FLAT:.+]] = tensor.collapse_shape %[[X]]
// CHECK: %[[KNOWN:.+]] = tensor.cast %[[FLAT]] : tensor<?xf32> to tensor<8xf32>
// CHECK: tensor.expand_shape %[[KNOWN]] {{\[\[}}0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
func.func @static(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<2x4xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// A shape that is data stays; the host code refuses it.
// CHECK-LABEL: func.func @neg_data
// CHECK: tensor.reshape
func.func @neg_data(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
