// RUN: coda-opt %s --coda-keep-roundings --canonicalize | FileCheck %s
// RUN: coda-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:       %[[P:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:       %[[N:.*]] = arith.truncf %[[P]] : f32 to bf16
// CHECK:       %[[W:.*]] = arith.extf %[[N]] : bf16 to f32
// CHECK:       return %[[W]]

// FOLDED-LABEL: func.func @product(
// FOLDED:       %[[P:.*]] = arith.mulf
// FOLDED:       return %[[P]]
func.func @product(%x: f32) -> f32 {
  %p = arith.mulf %x, %x : f32
  %n = arith.truncf %p fastmath<contract> : f32 to bf16
  %w = arith.extf %n fastmath<contract> : bf16 to f32
  return %w : f32
}
