// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise{numerics=strict}))' 2>/dev/null | FileCheck %s --check-prefix=STRICT

// torch: the weight first, rounded to 16 bit before it.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @torch_bf16
// CHECK-SAME: %[[X:.+]]: tensor<4x8xbf16>, %[[W:.+]]: tensor<8xbf16>
// CHECK-NEXT: %[[Y:.+]] = coda.rms_norm %[[X]] weight(%[[W]] : tensor<8xbf16>) eps 9.9999{{[0-9]+}}E-6 : tensor<4x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT: return %[[Y]]
// STRICT-LABEL: func.func @torch_bf16
// STRICT-NOT: coda.rms_norm
// STRICT: return
func.func @torch_bf16(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xbf16>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %h0 = tensor.empty() : tensor<4x8xbf16>
  %h = linalg.generic {indexing_maps = [#col, #tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%w, %x, %ss : tensor<8xbf16>, tensor<4x8xbf16>, tensor<4xf32>) outs(%h0 : tensor<4x8xbf16>) {
  ^bb0(%b: bf16, %a: bf16, %s: f32, %out: bf16):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.mulf %3, %2 : f32
    %5 = arith.truncf %4 : f32 to bf16
    %6 = arith.mulf %b, %5 : bf16
    linalg.yield %6 : bf16
  } -> tensor<4x8xbf16>
  return %h : tensor<4x8xbf16>
}

// -----

// JAX: operands of the sum swapped, the weight last; exactly what the op does.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @jax_f32
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[W:.+]]: tensor<8xf32>
// CHECK: coda.rms_norm %[[X]] weight(%[[W]] : tensor<8xf32>) eps 9.9999{{[0-9]+}}E-6 :
// STRICT-LABEL: func.func @jax_f32
// STRICT: coda.rms_norm
func.func @jax_f32(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %h0 = tensor.empty() : tensor<4x8xf32>
  %h = linalg.generic {indexing_maps = [#tile, #row, #col, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %ss, %w : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %b : f32
    linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  return %h : tensor<4x8xf32>
}

// -----

// Statistics in 16 bit, in separate ops; three dims; 1 / sqrt; 1 + weight.

#tile = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#col = affine_map<(d0, d1, d2) -> (d2)>
#vec = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @offset
// CHECK-SAME: %[[X:.+]]: tensor<2x?x8xbf16>, %[[W:.+]]: tensor<8xbf16>
// CHECK: coda.rms_norm %[[X]] weight(%[[W]] : tensor<8xbf16>) eps 1.0{{.+}} {offset = 1.000000e+00 : f64} : tensor<2x?x8xbf16> -> tensor<2x?x8xbf16>
func.func @offset(%x: tensor<2x?x8xbf16>, %w: tensor<8xbf16>) -> tensor<2x?x8xbf16> {
  %n = arith.constant 8.0 : bf16
  %one = arith.constant 1.0 : f32
  %eps = arith.constant 1.0e-5 : bf16
  %zero = arith.constant 0.0 : bf16
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<2x?x8xbf16>
  %e = tensor.empty(%t) : tensor<2x?xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<2x?xbf16>) -> tensor<2x?xbf16>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x?x8xbf16>) outs(%z : tensor<2x?xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %1 = arith.mulf %a, %a : bf16
    %2 = arith.addf %1, %out : bf16
    linalg.yield %2 : bf16
  } -> tensor<2x?xbf16>
  %r = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel", "parallel"]} ins(%ss : tensor<2x?xbf16>) outs(%e : tensor<2x?xbf16>) {
  ^bb0(%s: bf16, %out: bf16):
    %0 = arith.divf %s, %n : bf16
    %1 = arith.addf %0, %eps : bf16
    %2 = math.sqrt %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<2x?xbf16>
  %h0 = tensor.empty(%t) : tensor<2x?x8xbf16>
  %h = linalg.generic {indexing_maps = [#tile, #row, #col, #tile], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %r, %w : tensor<2x?x8xbf16>, tensor<2x?xbf16>, tensor<8xbf16>) outs(%h0 : tensor<2x?x8xbf16>) {
  ^bb0(%a: bf16, %s: bf16, %b: bf16, %out: bf16):
    %0 = arith.extf %b : bf16 to f32
    %1 = arith.addf %0, %one : f32
    %2 = arith.divf %a, %s : bf16
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.mulf %1, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<2x?x8xbf16>
  return %h : tensor<2x?x8xbf16>
}

// -----

// Other readers of x * r and of the statistics keep them; no second op is made.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#vec = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @saved
// CHECK: %[[SS:.+]] = linalg.generic {{.+}}["parallel", "reduction"]
// CHECK: %[[R:.+]] = linalg.generic {{.+}} ins(%[[SS]]
// CHECK: %[[XR:.+]] = linalg.generic {{.+}} ins(%{{.+}}, %[[R]]
// CHECK: %[[H:.+]] = coda.rms_norm
// CHECK-NOT: coda.rms_norm
// CHECK: return %[[H]], %[[XR]], %[[R]]
func.func @saved(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %h0 = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%ss : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %xr = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<4x8xf32>, tensor<4xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.mulf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %h = linalg.generic {indexing_maps = [#tile, #col, #tile], iterator_types = ["parallel", "parallel"]} ins(%xr, %w : tensor<4x8xf32>, tensor<8xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %h, %xr, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
}
