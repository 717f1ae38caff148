// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// Values in the order of the outputs, row-major over an output's u points.
// CHECK-LABEL: func.func @points(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<3x2xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x3xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<3xf64>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n, u] : tensor<3x2xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][u, n], %[[ARG2]][n] : tensor<2x3xf32>, tensor<3xf64>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32, %[[ARG4:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.extf %[[ARG4]] : f32 to f64
// CHECK-NEXT:   coda.yield %[[ARG3]], %[[ARG4]], %[[V1]] : f32, f32, f64
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<2x3xf32>, tensor<3xf64>
// CHECK-NEXT: }
func.func @points(%x: tensor<3x2xf32>, %o: tensor<2x3xf32>, %p: tensor<3xf64>)
    -> (tensor<2x3xf32>, tensor<3xf64>) {
  %0:2 = coda.map ins(%x[n, u] : tensor<3x2xf32>)
      outs(%o[u, n], %p[n] : tensor<2x3xf32>, tensor<3xf64>) {
  ^bb0(%a: f32, %b: f32):
    %w = arith.extf %b : f32 to f64
    coda.yield %a, %b, %w : f32, f32, f64
  }
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<3xf64>
}

// Nothing: a bundle on memrefs.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @nothing() {
  coda.bundle {
    coda.yield
  }
  return
}
