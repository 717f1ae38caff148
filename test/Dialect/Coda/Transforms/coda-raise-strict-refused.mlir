// RUN: coda-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(coda-raise{numerics=strict}))' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// Relaxed, this is a coda.glu; strict, the product that is rounded keeps it
// from being one.
// CHECK-NOT: coda.glu
func.func @rounded_product(%g: tensor<4x8xbf16>, %u: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x8xbf16>
  // expected-remark@+1 {{[coda-raise] not raised to glu: strict-rounding: rounded between the steps, or in another order}}
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %out: bf16):
    %w = arith.extf %a : bf16 to f32
    %0 = arith.negf %w : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %w, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    %5 = arith.mulf %4, %b : bf16
    linalg.yield %5 : bf16
  } -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}
