// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse),canonicalize,cse)' -split-input-file -verify-diagnostics | FileCheck %s

// Batch and tokens are collapsed and expanded again, to the extents of another
// operand of the gemm: nothing stands between it and the map, which moves the heads.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[X:.+]]: tensor<?x?x16xf32>, %[[W:.+]]: tensor<8x16xf32>, %[[R:.+]]: tensor<?x?x8xf32>)
// CHECK-DAG:     %[[W2:.+]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 16]
// CHECK-DAG:     %[[R2:.+]] = tensor.expand_shape %[[R]] {{\[\[}}0], [1], [2, 3]]
// CHECK:         %[[Y:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m0, m1, k] * %[[W2]][n0, n1, k] :
// CHECK-NEXT:        ins(%[[R2]][m0, m1, n0, n1] :
// CHECK-NEXT:        outs(%{{.+}}[m0, n0, m1, n1] : tensor<?x2x?x4xf32>)
// CHECK-NOT:     coda.map
// CHECK:         return %[[Y]]
func.func @heads(%x: tensor<?x?x16xf32>, %w: tensor<8x16xf32>, %r: tensor<?x?x8xf32>) -> tensor<?x2x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x16xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x16xf32>
  %rb = tensor.dim %r, %c0 : tensor<?x?x8xf32>
  %rt = tensor.dim %r, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x8xf32>
  %y = coda.gemm acc(%x[m0, m1, k] * %w[n, k] : tensor<?x?x16xf32>, tensor<8x16xf32>) ins(%r[m0, m1, n] : tensor<?x?x8xf32>) outs(%e[m0, m1, n] : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    coda.yield %0 : f32
  }
  %f = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %h = tensor.expand_shape %f [[0, 1], [2, 3]] output_shape [%rb, %rt, 2, 4] : tensor<?x8xf32> into tensor<?x?x2x4xf32>
  %o = tensor.empty(%b, %t) : tensor<?x2x?x4xf32>
  %z = coda.map ins(%h[m0, m1, m2, n] : tensor<?x?x2x4xf32>) outs(%o[m0, m2, m1, n] : tensor<?x2x?x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %z : tensor<?x2x?x4xf32>
}

// -----

// What is known to be the same is left alone, the rest is reshaped as it was.
// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %[[X:.+]]: tensor<?x6x?x4xf32>, %[[N:.+]]: index)
// CHECK:         %[[C:.+]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2, 3]] : tensor<?x6x?x4xf32> into tensor<?x?xf32>
// CHECK:         %[[E:.+]] = tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]] output_shape [%{{.+}}, 4, %[[N]]]
// CHECK:         return %[[E]]
func.func @part(%x: tensor<?x6x?x4xf32>, %n: index) -> tensor<?x4x?xf32> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x6x?x4xf32>
  %f = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<?x6x?x4xf32> into tensor<?xf32>
  %h = tensor.expand_shape %f [[0, 1, 2]] output_shape [%b, 4, %n] : tensor<?xf32> into tensor<?x4x?xf32>
  return %h : tensor<?x4x?xf32>
}

// -----

// Extents of which nothing says that they are the same are not.
// CHECK-LABEL: func.func @neg_other_extents(
// CHECK-SAME:    %[[X:.+]]: tensor<?x?x4xf32>, %[[B:.+]]: index, %[[T:.+]]: index)
// CHECK:         %[[C:.+]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
// CHECK:         %[[E:.+]] = tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2]] output_shape [%[[B]], %[[T]], 4]
// CHECK:         return %[[E]]
func.func @neg_other_extents(%x: tensor<?x?x4xf32>, %b: index, %t: index) -> tensor<?x?x4xf32> {
  %f = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  %h = tensor.expand_shape %f [[0, 1], [2]] output_shape [%b, %t, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  return %h : tensor<?x?x4xf32>
}

// -----

// Of two dims the second is the same only where the first is not 0.
// CHECK-LABEL: func.func @neg_other_extent(
// CHECK:         tensor.collapse_shape
// CHECK:         tensor.expand_shape
func.func @neg_other_extent(%x: tensor<?x?x4xf32>, %t: index) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %f = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  %h = tensor.expand_shape %f [[0, 1], [2]] output_shape [%b, %t, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  return %h : tensor<?x?x4xf32>
}
