// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// One dim of a kind goes without a number, written with it or not.
// CHECK-LABEL: func.func @single(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x3x4xindex>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     outs(%[[ARG0]][b, m, n] : tensor<2x3x4xindex>) {
// CHECK-NEXT:   %[[V1:.+]] = coda.index b
// CHECK-NEXT:   %[[V2:.+]] = coda.index m
// CHECK-NEXT:   %[[V3:.+]] = coda.index n
// CHECK-NEXT:   %[[V4:.+]] = arith.addi %[[V1]], %[[V2]] : index
// CHECK-NEXT:   %[[V5:.+]] = arith.addi %[[V4]], %[[V3]] : index
// CHECK-NEXT:   coda.yield %[[V5]] : index
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<2x3x4xindex>
// CHECK-NEXT: }
func.func @single(%o: tensor<2x3x4xindex>) -> tensor<2x3x4xindex> {
  %0 = coda.map outs(%o[b, m, n] : tensor<2x3x4xindex>) {
    %i = coda.index b0
    %j = coda.index m
    %k = coda.index n
    %ij = arith.addi %i, %j : index
    %ijk = arith.addi %ij, %k : index
    coda.yield %ijk : index
  }
  return %0 : tensor<2x3x4xindex>
}

// CHECK-LABEL: func.func @several(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x3x4xindex>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     outs(%[[ARG0]][n0, m, n1] : tensor<2x3x4xindex>) {
// CHECK-NEXT:   %[[V1:.+]] = coda.index n0
// CHECK-NEXT:   %[[V2:.+]] = coda.index n1
// CHECK-NEXT:   %[[V3:.+]] = arith.muli %[[V1]], %[[V2]] : index
// CHECK-NEXT:   coda.yield %[[V3]] : index
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<2x3x4xindex>
// CHECK-NEXT: }
func.func @several(%o: tensor<2x3x4xindex>) -> tensor<2x3x4xindex> {
  %0 = coda.map outs(%o[n0, m, n1] : tensor<2x3x4xindex>) {
    %i = coda.index n
    %j = coda.index n1
    %ij = arith.muli %i, %j : index
    coda.yield %ij : index
  }
  return %0 : tensor<2x3x4xindex>
}
