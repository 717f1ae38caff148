// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @kinds(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8x4xbf16>
// CHECK-NEXT: %[[V0:.+]] = coda.glu  silu %[[ARG0]], %[[ARG1]] : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT: %[[V1:.+]] = coda.glu  gelu_tanh %[[ARG0]], %[[ARG1]] : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT: %[[V2:.+]] = coda.glu  gelu_erf %[[ARG0]], %[[ARG1]] : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT: %[[V3:.+]] = coda.glu  relu %[[ARG0]], %[[ARG1]] : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xf32>
// CHECK-NEXT: %[[V4:.+]] = coda.glu  sigmoid %[[ARG0]], %[[ARG1]] : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]], %[[V3]], %[[V4]] : tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<8x4xf32>, tensor<8x4xbf16>
// CHECK-NEXT: }
func.func @kinds(%g: tensor<8x4xbf16>, %u: tensor<8x4xbf16>)
    -> (tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<8x4xf32>, tensor<8x4xbf16>) {
  %0 = coda.glu silu %g, %u : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
  %1 = coda.glu gelu_tanh %g, %u : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
  %2 = coda.glu gelu_erf %g, %u : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
  %3 = coda.glu relu %g, %u : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xf32>
  %4 = coda.glu sigmoid %g, %u : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
  return %0, %1, %2, %3, %4
      : tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<8x4xf32>, tensor<8x4xbf16>
}

// CHECK-LABEL: func.func @own_scale(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-NEXT: %[[V0:.+]] = coda.glu  gelu_tanh %[[ARG0]], %[[ARG1]] {tanh_scale = 0.79788458347320556 : f64} : tensor<f32>, tensor<f32> -> tensor<f32>
// CHECK-NEXT: return %[[V0]] : tensor<f32>
// CHECK-NEXT: }
func.func @own_scale(%g: tensor<f32>, %u: tensor<f32>) -> tensor<f32> {
  %0 = coda.glu gelu_tanh %g, %u {tanh_scale = 0.79788458347320556 : f64}
      : tensor<f32>, tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}
