// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-commute))' -split-input-file -verify-diagnostics | FileCheck %s

// The scale moves behind the contraction; the statistic reads x.
// CHECK-LABEL: func.func @norm_matmul(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xbf16>, %[[W:.*]]: tensor<4xbf16>, %[[V:.*]]: tensor<4x2xbf16>, %[[Z:.*]]: tensor<8x2xf32>
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n] :
// CHECK-NEXT:    outs(fresh add
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(%[[S]][m] :
// CHECK:         math.rsqrt
// CHECK:       %[[U:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n], %[[W]][n] :
// CHECK:       %[[P:.*]] = linalg.matmul ins(%[[U]], %[[V]] :
// CHECK:       %[[Y:.*]] = coda.scale %[[P]], %[[R]] along [0]
// CHECK:       return %[[Y]]
func.func @norm_matmul(%x: tensor<8x4xbf16>, %w: tensor<4xbf16>, %v: tensor<4x2xbf16>, %e: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %h = coda.rms_norm %x weight(%w : tensor<4xbf16>) eps 1.0e-05 : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %y = linalg.matmul ins(%h, %v : tensor<8x4xbf16>, tensor<4x2xbf16>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// It sinks through linear elementwise readers, by degree: x -> 3 x.
// CHECK-LABEL: func.func @through_linear(
// CHECK:       %[[U:.*]] = linalg.generic
// CHECK:         arith.mulf
// CHECK:       %[[P:.*]] = linalg.matmul ins(%[[U]],
// CHECK:       coda.scale %[[P]], %{{.*}} along [0]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @through_linear(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %e: tensor<8x2xf32>, %e2: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<8x4xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %three : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  %y = linalg.matmul ins(%t, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// A reader that needs the normalised value keeps it.
// CHECK-LABEL: func.func @other_reader(
// CHECK-SAME:    %[[X:[^:]*]]:
// CHECK:       %[[H:.*]] = coda.rms_norm %[[X]]
// CHECK:       %[[P:.*]] = linalg.matmul ins(%[[X]],
// CHECK:       %[[Y:.*]] = coda.scale %[[P]]
// CHECK:       return %[[Y]], %[[H]]
func.func @other_reader(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %e: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  // expected-remark @below {{[coda-commute] normalised value kept for a reader: other-reader}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  %y = linalg.matmul ins(%h, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  // expected-note @below {{because of this op}}
  return %y, %h : tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @nonlinear_reader(
// CHECK:       coda.rms_norm
// CHECK-NOT:   coda.scale
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @nonlinear_reader(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %e: tensor<8x2xf32>, %e2: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  // expected-remark @below {{[coda-commute] scale not moved: nonlinear-reader}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  // expected-note @below {{because of this op}}
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<8x4xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  %y = linalg.matmul ins(%t, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// The weight gradient contracts over the tokens: the scale varies along them.
// CHECK-LABEL: func.func @contracts_scaled_dim(
// CHECK:       coda.rms_norm
// CHECK-NOT:   coda.scale
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contracts_scaled_dim(%x: tensor<8x4xf32>, %dz: tensor<8x2xf32>, %e: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  // expected-remark @below {{[coda-commute] scale not moved: contracts-scaled-dim}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  // expected-note @below {{because of this op}}
  %y = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%h, %dz : tensor<8x4xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// An accumulating contraction is not linear: its start would need the scale.
// CHECK-LABEL: func.func @accumulates(
// CHECK-NOT:   coda.scale
func.func @accumulates(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %z: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // expected-remark @below {{[coda-commute] scale not moved: nonlinear-reader}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  // expected-note @below {{because of this op}}
  %y = linalg.matmul ins(%h, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// CHECK-LABEL: func.func @opaque_call(
// CHECK-NOT:   coda.scale
func.func private @f(tensor<8x4xf32>) -> tensor<8x4xf32>
func.func @opaque_call(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-remark @below {{[coda-commute] scale not moved: opaque-call}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  // expected-note @below {{because of this op}}
  %y = call @f(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// The unnormalised value may leave the range of f16.
// CHECK-LABEL: func.func @f16_range(
// CHECK-NOT:   coda.scale
func.func @f16_range(%x: tensor<8x4xf16>, %v: tensor<4x2xf16>, %e: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  // expected-remark @below {{[coda-commute] scale not moved: f16-range}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf16> -> tensor<8x4xf16>
  %y = linalg.matmul ins(%h, %v : tensor<8x4xf16>, tensor<4x2xf16>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// A reshape of the rows reshapes the factor with them.
// CHECK-LABEL: func.func @reshaped_rows(
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m0, m1, n] : tensor<2x4x4xf32>)
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(%[[S]][m0, m1] : tensor<2x4xf32>)
// CHECK:         math.rsqrt
// CHECK-DAG:   %[[RC:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0, 1]]
// CHECK-DAG:   %[[XC:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
// CHECK:       %[[P:.*]] = linalg.matmul ins(%[[XC]],
// CHECK:       coda.scale %[[P]], %[[RC]] along [0]
func.func @reshaped_rows(%x: tensor<2x4x4xf32>, %v: tensor<4x2xf32>, %e: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<2x4x4xf32> -> tensor<2x4x4xf32>
  %c = tensor.collapse_shape %h [[0, 1], [2]] : tensor<2x4x4xf32> into tensor<8x4xf32>
  %y = linalg.matmul ins(%c, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// A scale per head cannot leave the contraction over all heads.
// CHECK-LABEL: func.func @per_head(
// CHECK-NOT:   coda.scale
func.func @per_head(%x: tensor<8x2x4xf32>, %v: tensor<8x2xf32>, %e: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  // expected-remark @below {{[coda-commute] scale not moved: contracts-scaled-dim}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x2x4xf32> -> tensor<8x2x4xf32>
  // expected-note @below {{because of this op}}
  %c = tensor.collapse_shape %h [[0], [1, 2]] : tensor<8x2x4xf32> into tensor<8x8xf32>
  %y = linalg.matmul ins(%c, %v : tensor<8x8xf32>, tensor<8x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// No norm was raised, but the remark says why none could move: an activation
// between the scale and the contraction, and a mean that is subtracted.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @statistic_then_activation(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %e: tensor<8x2xf32>, %e2: tensor<8x4xf32>, %s0: tensor<8xf32>) -> tensor<8x2xf32> {
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x4xf32>) outs(%s0 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  // expected-remark @below {{[coda-commute] scale not moved: nonlinear-reader: between the row's scale and the contraction}}
  %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x4xf32>, tensor<8xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.rsqrt %b : f32
    %1 = arith.mulf %a, %0 : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x4xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.matmul ins(%t, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @mean_subtracted(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %e: tensor<8x2xf32>, %e2: tensor<8x4xf32>, %s0: tensor<8xf32>) -> tensor<8x2xf32> {
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x4xf32>) outs(%s0 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  // expected-remark @below {{[coda-commute] scale not moved: ln-cancellation}}
  %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x4xf32>, tensor<8xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.matmul ins(%t, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
