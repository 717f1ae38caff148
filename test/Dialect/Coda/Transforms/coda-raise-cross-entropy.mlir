// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s

// torch: log softmax stored, gathered with assertions, negated in the sum. The
// assertions stay and read the labels only.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @torch_sum
// CHECK-SAME: %[[Z:.+]]: tensor<4x8xf32>, %[[T:.+]]: tensor<4xi64>
// CHECK-NOT: math.exp
// CHECK: linalg.generic
// CHECK: cf.assert %{{.+}}, "too large"
// CHECK: cf.assert %{{.+}}, "too small"
// CHECK-NOT: tensor.extract
// CHECK: %[[LOSS:.+]], %{{.+}} = coda.cross_entropy %[[Z]], %[[T]] ignore_index -100 : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>
// CHECK: linalg.generic {{.+}} ins(%[[LOSS]] : tensor<4xf32>) outs(%{{.+}} : tensor<f32>)
// CHECK: arith.addf
func.func @torch_sum(%z: tensor<4x8xf32>, %t: tensor<4xi64>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %ignore = arith.constant -100 : i64
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<4x8xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.maximumf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4x8xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %lp = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = math.log %b : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%t : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: i64, %out: f32):
    %ok = arith.cmpi ne, %a, %ignore : i64
    %label = arith.select %ok, %a, %c0 : i64
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %small = arith.cmpi slt, %j, %c8 : index
    cf.assert %small, "too large"
    %large = arith.cmpi sge, %label, %c0 : i64
    cf.assert %large, "too small"
    %0 = tensor.extract %lp[%i, %j] : tensor<4x8xf32>
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %r0 = tensor.empty() : tensor<f32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#vec, #vec, #all], iterator_types = ["reduction"]} ins(%t, %p : tensor<4xi64>, tensor<4xf32>) outs(%r1 : tensor<f32>) {
  ^bb0(%a: i64, %b: f32, %out: f32):
    %ok = arith.cmpi ne, %a, %ignore : i64
    %0 = arith.negf %b : f32
    %1 = arith.select %ok, %0, %zero : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// JAX: logits of three dims, labels wrapped and clamped, NaN out of range; the
// losses are a tensor of their own.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @jax_none
// CHECK-SAME: %[[Z:.+]]: tensor<4x8xf32>, %[[T:.+]]: tensor<4xi32>
// CHECK: %[[LOSS:.+]], %{{.+}} = coda.cross_entropy %[[Z]], %[[T]] ignore_index 7 : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
// CHECK-NEXT: return %[[LOSS]]
func.func @jax_none(%z: tensor<4x8xf32>, %t: tensor<4xi32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %low = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %ignore = arith.constant 7 : i32
  %i0 = arith.constant 0 : i32
  %i7 = arith.constant 7 : i32
  %i8 = arith.constant 8 : i32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<4xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z3 = tensor.expand_shape %z [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
  %mx = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<4x8xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.maximumf %out, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%mx : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.absf %a : f32
    %1 = arith.cmpf one, %0, %inf : f32
    %2 = arith.select %1, %a, %zero : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#vec, #vec, #vec, #vec], iterator_types = ["parallel"]} ins(%t, %m, %s : tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: i32, %b: f32, %c: f32, %out: f32):
    %ok = arith.cmpi ne, %a, %ignore : i32
    %0 = arith.select %ok, %a, %i0 : i32
    %1 = arith.addi %0, %i8 : i32
    %2 = arith.cmpi slt, %0, %i0 : i32
    %3 = arith.select %2, %1, %0 : i32
    %i = linalg.index 0 : index
    %i1 = arith.divsi %i, %c2 : index
    %i2 = arith.remsi %i, %c2 : index
    %4 = arith.index_cast %3 : i32 to index
    %5 = arith.maxsi %4, %c0 : index
    %6 = arith.minsi %5, %c7 : index
    %7 = tensor.extract %z3[%i1, %i2, %6] : tensor<2x2x8xf32>
    %8 = arith.cmpi sle, %3, %i7 : i32
    %9 = arith.cmpi sge, %3, %i0 : i32
    %10 = arith.andi %9, %8 : i1
    %11 = arith.select %10, %7, %nan : f32
    %12 = math.absf %c : f32
    %13 = math.log %12 : f32
    %14 = arith.addf %13, %b : f32
    %15 = arith.subf %14, %11 : f32
    %16 = arith.select %ok, %15, %zero : f32
    linalg.yield %16 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Nothing ties the sizes of logits and targets: an assertion does. No label is
// ignored.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[Z:.+]]: tensor<?x8xf32>, %[[T:.+]]: tensor<?xi64>
// CHECK-DAG: %[[ZM:.+]] = tensor.dim %[[Z]]
// CHECK-DAG: %[[TM:.+]] = tensor.dim %[[T]]
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[ZM]], %[[TM]]
// CHECK: cf.assert %[[SAME]], "the logits have another number of rows than the targets"
// CHECK: coda.cross_entropy %[[Z]], %[[T]] ignore_index -2147483648
func.func @dynamic(%z: tensor<?x8xf32>, %t: tensor<?xi64>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %z, %c0 : tensor<?x8xf32>
  %k = tensor.dim %t, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<?x8xf32>) outs(%s0 : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%k) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%t : tensor<?xi64>) outs(%e2 : tensor<?xf32>) {
  ^bb0(%a: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %0 = tensor.extract %z[%i, %j] : tensor<?x8xf32>
    %1 = tensor.extract %s[%i] : tensor<?xf32>
    %2 = math.log %1 : f32
    %3 = arith.subf %2, %0 : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Rows are chosen by other labels than their targets: the choice stays.

// CHECK-LABEL: func.func @other_labels(
// CHECK-SAME:    %[[Z:[a-z0-9]+]]: tensor<4x8xf32>, %[[T:[a-z0-9]+]]: tensor<4xi64>, %[[U:[a-z0-9]+]]: tensor<4xi64>
// CHECK:       %[[LOSS:.*]], %{{.*}} = coda.cross_entropy %[[Z]], %[[T]] ignore_index -2147483648
// CHECK:       linalg.generic {{.*}} ins(%[[U]], %[[LOSS]] : tensor<4xi64>, tensor<4xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: i64, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[OK:.*]] = arith.cmpi ne, %[[A]], %{{.*}} : i64
// CHECK-NEXT:    %[[R:.*]] = arith.select %[[OK]], %[[B]], %{{.*}} : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>
func.func @other_labels(%z: tensor<4x8xf32>, %t: tensor<4xi64>, %u: tensor<4xi64>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %ignore = arith.constant -100 : i64
  %e = tensor.empty() : tensor<4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<4x8xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#vec, #vec, #vec, #vec], iterator_types = ["parallel"]} ins(%t, %s, %u : tensor<4xi64>, tensor<4xf32>, tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: i64, %b: f32, %c: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %0 = tensor.extract %z[%i, %j] : tensor<4x8xf32>
    %1 = math.log %b : f32
    %2 = arith.subf %1, %0 : f32
    %ok = arith.cmpi ne, %c, %ignore : i64
    %3 = arith.select %ok, %2, %zero : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// In the middle of a body, in a sum with a penalty of the row's logsumexp, which
// is no product's.

// CHECK-LABEL: func.func @with_penalty(
// CHECK-SAME:    %[[Z:[a-z0-9]+]]: tensor<4x8xf32>, %[[T:[a-z0-9]+]]: tensor<4xi64>
// CHECK-NOT:   maximumf
// CHECK:       %[[LOSS:.*]], %{{.*}} = coda.cross_entropy %[[Z]], %[[T]]
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Z]][m, n] : tensor<4x8xf32>)
// CHECK-NEXT:    outs(fresh logaddexp %{{.*}}[m] : tensor<4xf32>)
// CHECK:       linalg.generic {{.*}} ins(%[[LOSS]], %[[LSE]] : tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[B]], %[[B]] : f32
// CHECK-NEXT:    %[[Q:.*]] = arith.addf %[[A]], %[[P]] : f32
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[O]], %[[Q]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @with_penalty(%z: tensor<4x8xf32>, %t: tensor<4xi64>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m1 = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<4x8xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.maximumf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%m1 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.absf %a : f32
    %1 = arith.cmpf one, %0, %inf : f32
    %2 = arith.select %1, %a, %zero : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %g = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%t : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %0 = tensor.extract %z[%i, %j] : tensor<4x8xf32>
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %r = tensor.empty() : tensor<f32>
  %r0 = linalg.fill ins(%zero : f32) outs(%r : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#vec, #vec, #vec, #none], iterator_types = ["reduction"]} ins(%s, %m, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%r0 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = math.log %a : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.subf %1, %c : f32
    %3 = arith.mulf %1, %1 : f32
    %4 = arith.addf %2, %3 : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
