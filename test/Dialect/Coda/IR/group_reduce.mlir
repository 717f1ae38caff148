// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x2x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?x2x4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n0, n1] : tensor<?x2x4xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][m, n0, n1] : tensor<?x2x4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = coda.group_reduce add %[[ARG2]] over [n1] : f32
// CHECK-NEXT:   %[[V2:.+]] = arith.divf %[[ARG2]], %[[V1]] : f32
// CHECK-NEXT:   %[[V3:.+]] = coda.group_reduce max %[[V2]] over [n0, n1] : f32
// CHECK-NEXT:   coda.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<?x2x4xf32>
// CHECK-NEXT: }
func.func @heads(%x: tensor<?x2x4xf32>, %o: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %0 = coda.map ins(%x[m, n0, n1] : tensor<?x2x4xf32>)
      outs(%o[m, n0, n1] : tensor<?x2x4xf32>) {
  ^bb0(%v: f32):
    %g = coda.group_reduce add %v over [n1] : f32
    %d = arith.divf %v, %g : f32
    %h = coda.group_reduce max %d over [n0, n1] : f32
    coda.yield %h : f32
  }
  return %0 : tensor<?x2x4xf32>
}

// The combiners; in f64; over the only n dim.
// CHECK-LABEL: func.func @row(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x4xf64>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?x4xf64>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<?x4xf64>)
// CHECK-NEXT:     outs(%[[ARG1]][m, n] : tensor<?x4xf64>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f64):
// CHECK-NEXT:   %[[V1:.+]] = coda.group_reduce logaddexp %[[ARG2]] over [n] : f64
// CHECK-NEXT:   %[[V2:.+]] = arith.subf %[[ARG2]], %[[V1]] : f64
// CHECK-NEXT:   coda.yield %[[V2]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<?x4xf64>
// CHECK-NEXT: }
func.func @row(%x: tensor<?x4xf64>, %o: tensor<?x4xf64>) -> tensor<?x4xf64> {
  %0 = coda.map ins(%x[m, n] : tensor<?x4xf64>) outs(%o[m, n] : tensor<?x4xf64>) {
  ^bb0(%v: f64):
    %l = coda.group_reduce logaddexp %v over [n] : f64
    %d = arith.subf %v, %l : f64
    coda.yield %d : f64
  }
  return %0 : tensor<?x4xf64>
}
