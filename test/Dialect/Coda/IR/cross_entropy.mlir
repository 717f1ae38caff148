// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8xi64>
// CHECK-NEXT: %[[LOSS:.+]], %[[LSE:.+]] = coda.cross_entropy %[[ARG0]], %[[ARG1]] ignore_index -100 : tensor<8x4xbf16>, tensor<8xi64> -> tensor<8xf32>
// CHECK-NEXT: return %[[LOSS]], %[[LSE]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
func.func @both(%z: tensor<8x4xbf16>, %t: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100
      : tensor<8x4xbf16>, tensor<8xi64> -> tensor<8xf32>
  return %loss, %lse : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x?xf64>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?xi32>
// CHECK-NEXT: %[[LOSS:.+]], %[[LSE:.+]] = coda.cross_entropy %[[ARG0]], %[[ARG1]] ignore_index 0 : tensor<?x?xf64>, tensor<?xi32> -> tensor<?xf64>
// CHECK-NEXT: return %[[LOSS]] : tensor<?xf64>
// CHECK-NEXT: }
func.func @dynamic(%z: tensor<?x?xf64>, %t: tensor<?xi32>) -> tensor<?xf64> {
  %loss, %lse = coda.cross_entropy %z, %t ignore_index 0
      : tensor<?x?xf64>, tensor<?xi32> -> tensor<?xf64>
  return %loss : tensor<?xf64>
}
