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

// A row alone is a vector and its factor a number, which moves as others do:
// behind the vector's product with a matrix, whichever of the two comes first.
// CHECK-LABEL: func.func @one_row(
// CHECK-SAME:    %[[X:.*]]: tensor<4xbf16>, %[[W:.*]]: tensor<4xbf16>, %[[V:.*]]: tensor<4x2xbf16>, %[[VT:.*]]: tensor<2x4xbf16>,
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][n] :
// CHECK-NEXT:    outs(fresh add
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(%[[S]][] :
// CHECK:         math.rsqrt
// CHECK:       %[[U:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][n], %[[W]][n] :
// CHECK-DAG:   %[[P:.*]] = linalg.vecmat ins(%[[U]], %[[V]] :
// CHECK-DAG:   %[[Q:.*]] = linalg.matvec ins(%[[VT]], %[[U]] :
// CHECK-DAG:   %[[Y:.*]] = coda.scale %[[P]], %[[R]] along [] :
// CHECK-DAG:   %[[YT:.*]] = coda.scale %[[Q]], %[[R]] along [] :
// CHECK:       return %[[Y]], %[[YT]]
func.func @one_row(%x: tensor<4xbf16>, %w: tensor<4xbf16>, %v: tensor<4x2xbf16>, %vt: tensor<2x4xbf16>, %e: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %h = coda.rms_norm %x weight(%w : tensor<4xbf16>) eps 1.0e-05 : tensor<4xbf16> -> tensor<4xbf16>
  %y = linalg.vecmat ins(%h, %v : tensor<4xbf16>, tensor<4x2xbf16>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  %yt = linalg.matvec ins(%vt, %h : tensor<2x4xbf16>, tensor<4xbf16>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  return %y, %yt : tensor<2xf32>, tensor<2xf32>
}

// -----

// Heads of a row's product: reshapes and transposes in between are no obstacle.
// CHECK-LABEL: func.func @one_row_in_parts(
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[n] :
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(%[[S]][] :
// CHECK:       %[[P:.*]] = linalg.contract
// CHECK:       %[[Y:.*]] = coda.scale %[[P]], %[[R]] along [] :
// CHECK:       return %[[Y]]
func.func @one_row_in_parts(%x: tensor<4xf32>, %v: tensor<2x2x3xf32>, %e: tensor<3xf32>, %e2: tensor<2x2xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  %s = tensor.expand_shape %h [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %t = linalg.transpose ins(%s : tensor<2x2xf32>) outs(%e2 : tensor<2x2xf32>) permutation = [1, 0]
  %y = linalg.contract indexing_maps = [affine_map<(n, k, l) -> (k, l)>, affine_map<(n, k, l) -> (k, l, n)>, affine_map<(n, k, l) -> (n)>]
    ins(%t, %v : tensor<2x2xf32>, tensor<2x2x3xf32>) outs(%z : tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// What a product of one row starts from would need the scale, too.
// CHECK-LABEL: func.func @one_row_accumulates(
// CHECK-NOT:   coda.scale
func.func @one_row_accumulates(%x: tensor<4xf32>, %v: tensor<4x2xf32>, %z: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark @below {{[coda-commute] scale not moved: nonlinear-reader: the reader is not linear in the value}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  // expected-note @below {{because of this op}}
  %y = linalg.vecmat ins(%h, %v : tensor<4xf32>, tensor<4x2xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A reader that no scale moves through is named.
// CHECK-LABEL: func.func @unknown_reader(
// CHECK-NOT:   coda.scale
func.func @unknown_reader(%x: tensor<4xf32>, %a: tensor<4xf32>, %v: tensor<8x2xf32>, %e: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  // expected-remark @below {{[coda-commute] scale not moved: nonlinear-reader: no scale moves through 'tensor.concat'}}
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  // expected-note @below {{because of this op}}
  %c = tensor.concat dim(0) %h, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %y = linalg.vecmat ins(%c, %v : tensor<8xf32>, tensor<8x2xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
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

// -----

// The same of one row, whose mean is a number.
#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0) -> ()>
func.func @mean_of_one_row_subtracted(%x: tensor<4xf32>, %v: tensor<4x2xf32>, %e: tensor<2xf32>, %e2: tensor<4xf32>, %s0: tensor<f32>) -> tensor<2xf32> {
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%s0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  // expected-remark @below {{[coda-commute] scale not moved: ln-cancellation}}
  %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel"]} ins(%x, %s : tensor<4xf32>, tensor<f32>) outs(%e2 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.vecmat ins(%t, %v : tensor<4xf32>, tensor<4x2xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// Where a product of a product is added to one that has the same scale, it passes
// both: the sum is of products, scaled once.
// CHECK-LABEL: func.func @two_products(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<8x4xbf16>, %[[V:[^:]+]]: tensor<4x2xbf16>, %[[A:[^:]+]]: tensor<4x3xbf16>, %[[B:[^:]+]]: tensor<3x2xbf16>,
// CHECK:       %[[P:.+]] = linalg.matmul ins(%[[X]], %[[V]] :
// CHECK:       %[[SP:.+]] = coda.scale %[[P]], %[[R:.+]] along [0]
// CHECK:       %[[Q:.+]] = linalg.matmul ins(%[[X]], %[[A]] :
// CHECK:       %[[T:.+]] = linalg.generic {{.*}} ins(%[[Q]] :
// CHECK:       %[[U:.+]] = linalg.matmul ins(%[[T]], %[[B]] :
// CHECK:       %[[SU:.+]] = coda.scale %[[U]], %[[R]] along [0]
// CHECK:       linalg.generic {{.*}} ins(%[[SP]], %[[SU]] :
// CHECK-NOT:   coda.scale
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @two_products(%x: tensor<8x4xbf16>, %v: tensor<4x2xbf16>, %a: tensor<4x3xbf16>, %b: tensor<3x2xbf16>, %e: tensor<8x2xf32>, %e3: tensor<8x3xf32>, %t0: tensor<8x3xbf16>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %p = linalg.matmul ins(%h, %v : tensor<8x4xbf16>, tensor<4x2xbf16>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  %q = linalg.matmul ins(%h, %a : tensor<8x4xbf16>, tensor<4x3xbf16>) outs(%z3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x3xf32>) outs(%t0 : tensor<8x3xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %0 = arith.truncf %i : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x3xbf16>
  %u = linalg.matmul ins(%t, %b : tensor<8x3xbf16>, tensor<3x2xbf16>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %u : tensor<8x2xf32>, tensor<8x2xf32>) outs(%e : tensor<8x2xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.addf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// So it does where a row alone is the right factor of its products.
// CHECK-LABEL: func.func @two_products_of_a_row(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<4xf32>, %[[V:[^:]+]]: tensor<2x4xf32>, %[[A:[^:]+]]: tensor<3x4xf32>, %[[B:[^:]+]]: tensor<2x3xf32>,
// CHECK:       %[[P:.+]] = linalg.matvec ins(%[[V]], %[[X]] :
// CHECK:       %[[SP:.+]] = coda.scale %[[P]], %[[R:.+]] along []
// CHECK:       %[[Q:.+]] = linalg.matvec ins(%[[A]], %[[X]] :
// CHECK:       %[[U:.+]] = linalg.matvec ins(%[[B]], %[[Q]] :
// CHECK:       %[[SU:.+]] = coda.scale %[[U]], %[[R]] along []
// CHECK:       linalg.generic {{.*}} ins(%[[SP]], %[[SU]] :
// CHECK-NOT:   coda.scale
func.func @two_products_of_a_row(%x: tensor<4xf32>, %v: tensor<2x4xf32>, %a: tensor<3x4xf32>, %b: tensor<2x3xf32>, %e: tensor<2xf32>, %e3: tensor<3xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<3xf32>) -> tensor<3xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  %p = linalg.matvec ins(%v, %h : tensor<2x4xf32>, tensor<4xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  %q = linalg.matvec ins(%a, %h : tensor<3x4xf32>, tensor<4xf32>) outs(%z3 : tensor<3xf32>) -> tensor<3xf32>
  %u = linalg.matvec ins(%b, %q : tensor<2x3xf32>, tensor<3xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p, %u : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.addf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// One that is added to nothing of that scale keeps it where it is, as does one whose
// left factor the scale would leave in f16.
// CHECK-LABEL: func.func @no_further(
// CHECK:       %[[Q:.+]] = linalg.matmul
// CHECK:       %[[S:.+]] = coda.scale %[[Q]], %{{.+}} along [0]
// CHECK:       %[[U:.+]] = linalg.matmul ins(%[[S]],
// CHECK:       return %[[U]]
func.func @no_further(%x: tensor<8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<3x2xf32>, %e: tensor<8x2xf32>, %e3: tensor<8x3xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  %q = linalg.matmul ins(%h, %a : tensor<8x4xf32>, tensor<4x3xf32>) outs(%z3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %u = linalg.matmul ins(%q, %b : tensor<8x3xf32>, tensor<3x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %u : tensor<8x2xf32>
}

// -----

// CHECK-LABEL: func.func @no_further_f16(
// CHECK:       %[[P:.+]] = linalg.matmul
// CHECK:       coda.scale %[[P]],
// CHECK:       %[[Q:.+]] = linalg.matmul
// CHECK:       %[[S:.+]] = coda.scale %[[Q]], %{{.+}} along [0]
// CHECK:       %[[T:.+]] = linalg.generic {{.*}} ins(%[[S]] :
// CHECK:       %[[U:.+]] = linalg.matmul ins(%[[T]],
// CHECK-NOT:   coda.scale
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @no_further_f16(%x: tensor<8x4xf32>, %v: tensor<4x2xf32>, %a: tensor<4x3xf32>, %b: tensor<3x2xf16>, %e: tensor<8x2xf32>, %e3: tensor<8x3xf32>, %t0: tensor<8x3xf16>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %h = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  %p = linalg.matmul ins(%h, %v : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  %q = linalg.matmul ins(%h, %a : tensor<8x4xf32>, tensor<4x3xf32>) outs(%z3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x3xf32>) outs(%t0 : tensor<8x3xf16>) {
  ^bb0(%i: f32, %o: f16):
    %0 = arith.truncf %i : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<8x3xf16>
  %u = linalg.matmul ins(%t, %b : tensor<8x3xf16>, tensor<3x2xf16>) outs(%z : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %u : tensor<8x2xf32>, tensor<8x2xf32>) outs(%e : tensor<8x2xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.addf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
