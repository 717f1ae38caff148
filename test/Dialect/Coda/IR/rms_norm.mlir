// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @weighted(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rms_norm %[[ARG0]] weight(%[[ARG1]] : tensor<4xf32>) eps 1.000000e-05 : tensor<?x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT: return %[[V0]] : tensor<?x4xbf16>
// CHECK-NEXT: }
func.func @weighted(%x: tensor<?x4xbf16>, %w: tensor<4xf32>) -> tensor<?x4xbf16> {
  %0 = coda.rms_norm %x weight(%w : tensor<4xf32>) eps 1.0e-05 : tensor<?x4xbf16> -> tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

// CHECK-LABEL: func.func @unweighted(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rms_norm %[[ARG0]] eps 0.000000e+00 : tensor<4xf32> -> tensor<4xf64>
// CHECK-NEXT: return %[[V0]] : tensor<4xf64>
// CHECK-NEXT: }
func.func @unweighted(%x: tensor<4xf32>) -> tensor<4xf64> {
  %0 = coda.rms_norm %x eps 0.0 : tensor<4xf32> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// CHECK-LABEL: func.func @offset(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x3x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rms_norm %[[ARG0]] weight(%[[ARG1]] : tensor<4xf32>) eps 9.9999999747524271E-7 {offset = 1.000000e+00 : f64} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x3x4xf32>
// CHECK-NEXT: }
func.func @offset(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %0 = coda.rms_norm %x weight(%w : tensor<4xf32>) eps 9.9999999747524271e-07 {offset = 1.0 : f64}
      : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
