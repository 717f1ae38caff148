// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @half(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x4x8x16xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x8x16xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<2x8x16xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rope  half %[[ARG0]], %[[ARG1]], %[[ARG2]] table_dims [0, 2] : tensor<2x4x8x16xbf16>, tensor<2x8x16xf32> -> tensor<2x4x8x16xbf16>
// CHECK-NEXT: return %[[V0]] : tensor<2x4x8x16xbf16>
// CHECK-NEXT: }
func.func @half(%x: tensor<2x4x8x16xbf16>, %c: tensor<2x8x16xf32>, %s: tensor<2x8x16xf32>)
    -> tensor<2x4x8x16xbf16> {
  %0 = coda.rope half %x, %c, %s table_dims [0, 2]
      : tensor<2x4x8x16xbf16>, tensor<2x8x16xf32> -> tensor<2x4x8x16xbf16>
  return %0 : tensor<2x4x8x16xbf16>
}

// CHECK-LABEL: func.func @interleaved(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x4x8x16xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8x?x8xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<8x?x8xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rope  interleaved %[[ARG0]], %[[ARG1]], %[[ARG2]] table_dims [2, 0] : tensor<?x4x8x16xf32>, tensor<8x?x8xf32> -> tensor<?x4x8x16xf32>
// CHECK-NEXT: return %[[V0]] : tensor<?x4x8x16xf32>
// CHECK-NEXT: }
func.func @interleaved(%x: tensor<?x4x8x16xf32>, %c: tensor<8x?x8xf32>, %s: tensor<8x?x8xf32>)
    -> tensor<?x4x8x16xf32> {
  %0 = coda.rope interleaved %x, %c, %s table_dims [2, 0]
      : tensor<?x4x8x16xf32>, tensor<8x?x8xf32> -> tensor<?x4x8x16xf32>
  return %0 : tensor<?x4x8x16xf32>
}

// One table for all.
// CHECK-LABEL: func.func @vector(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rope  half %[[ARG0]], %[[ARG1]], %[[ARG2]] table_dims [] : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @vector(%x: tensor<4xf32>, %c: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.rope half %x, %c, %s table_dims [] : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The adjoint.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<2x4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.rope  half transposed %[[ARG0]], %[[ARG1]], %[[ARG2]] table_dims [0] : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x4xf32>
// CHECK-NEXT: }
func.func @transposed(%x: tensor<2x4xf32>, %c: tensor<2x4xf32>, %s: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = coda.rope half transposed %x, %c, %s table_dims [0] : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
