// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.scale %[[ARG0]], %[[ARG1]] along [0] : tensor<8x4xbf16>, tensor<8xf32> -> tensor<8x4xbf16>
// CHECK-NEXT: return %[[V0]] : tensor<8x4xbf16>
// CHECK-NEXT: }
func.func @rows(%v: tensor<8x4xbf16>, %r: tensor<8xf32>) -> tensor<8x4xbf16> {
  %0 = coda.scale %v, %r along [0] : tensor<8x4xbf16>, tensor<8xf32> -> tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}

// CHECK-LABEL: func.func @several_dims(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x?x4x5xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x?x5xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.scale %[[ARG0]], %[[ARG1]] along [0, 1, 3] : tensor<2x?x4x5xf32>, tensor<2x?x5xf32> -> tensor<2x?x4x5xf64>
// CHECK-NEXT: return %[[V0]] : tensor<2x?x4x5xf64>
// CHECK-NEXT: }
func.func @several_dims(%v: tensor<2x?x4x5xf32>, %r: tensor<2x?x5xf32>) -> tensor<2x?x4x5xf64> {
  %0 = coda.scale %v, %r along [0, 1, 3] : tensor<2x?x4x5xf32>, tensor<2x?x5xf32> -> tensor<2x?x4x5xf64>
  return %0 : tensor<2x?x4x5xf64>
}

// CHECK-LABEL: func.func @by_a_scalar(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-NEXT: %[[V0:.+]] = coda.scale %[[ARG0]], %[[ARG1]] along [] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @by_a_scalar(%v: tensor<4xf32>, %r: tensor<f32>) -> tensor<4xf32> {
  %0 = coda.scale %v, %r along [] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
