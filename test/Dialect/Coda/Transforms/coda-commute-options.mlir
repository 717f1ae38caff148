// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-commute{allow-f16-range=true}))' | FileCheck %s --check-prefix=RANGE
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-commute{numerics=strict allow-f16-range=true}))' 2>&1 | FileCheck %s --check-prefix=STRICT

// RANGE-LABEL: func.func @f16(
// RANGE-NOT:     coda.rms_norm
// RANGE:         %[[P:.*]] = linalg.matmul
// RANGE:         coda.scale %[[P]], %{{.*}} along [0]

// STRICT:        remark: [coda-commute] scale not moved: strict-rounding
// STRICT-LABEL: func.func @f16(
// STRICT:         coda.rms_norm
// STRICT-NOT:     coda.scale
func.func @f16(%x: tensor<8x4xf16>, %v: tensor<4x2xf16>, %e: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf16> -> tensor<8x4xf16>
  %y = linalg.matmul ins(%h, %v : tensor<8x4xf16>, tensor<4x2xf16>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
