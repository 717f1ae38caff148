// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-normalize))' | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-normalize, coda-raise))' | FileCheck %s --check-prefix=ROPE

// A reshape that joins batch and heads, for a batched product say, does not come
// between the sum of a rotation and its products with the tables, in which these
// dims cannot be joined.

#x = affine_map<(b, h, t, d) -> (b, h, t, d)>
#table = affine_map<(b, h, t, d) -> (b, t, d)>
#y = affine_map<(m, t, d) -> (m, t, d)>

// CHECK-LABEL: func.func @tables_of_sequences(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x8x6xf32>, %[[COS:.*]]: tensor<2x8x6xf32>, %[[SIN:.*]]: tensor<2x8x6xf32>
// CHECK:       %[[ROTATED:.*]] = tensor.concat
// CHECK-NOT:   tensor.collapse_shape
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[COS]], %[[ROTATED]], %[[SIN]] :
// CHECK:       %[[Y:.*]] = tensor.collapse_shape %[[SUM]] {{\[}}[0, 1], [2], [3]]
// CHECK:       return %[[Y]]
// ROPE-LABEL: func.func @tables_of_sequences(
// ROPE-SAME:    %[[X:.*]]: tensor<2x4x8x6xf32>, %[[COS:.*]]: tensor<2x8x6xf32>, %[[SIN:.*]]: tensor<2x8x6xf32>
// ROPE:        coda.rope half %[[X]], %[[COS]], %[[SIN]]
func.func @tables_of_sequences(%x: tensor<2x4x8x6xf32>, %cos: tensor<2x8x6xf32>, %sin: tensor<2x8x6xf32>) -> tensor<8x8x6xf32> {
  %e = tensor.empty() : tensor<2x4x8x6xf32>
  %h = tensor.empty() : tensor<2x4x8x3xf32>
  %a = tensor.extract_slice %x[0, 0, 0, 0] [2, 4, 8, 3] [1, 1, 1, 1] : tensor<2x4x8x6xf32> to tensor<2x4x8x3xf32>
  %b = tensor.extract_slice %x[0, 0, 0, 3] [2, 4, 8, 3] [1, 1, 1, 1] : tensor<2x4x8x6xf32> to tensor<2x4x8x3xf32>
  %n = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<2x4x8x3xf32>) outs(%h : tensor<2x4x8x3xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.negf %i : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x3xf32>
  %r = tensor.concat dim(3) %n, %a : (tensor<2x4x8x3xf32>, tensor<2x4x8x3xf32>) -> tensor<2x4x8x6xf32>
  %c = linalg.generic {indexing_maps = [#x, #table, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %cos : tensor<2x4x8x6xf32>, tensor<2x8x6xf32>) outs(%e : tensor<2x4x8x6xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.mulf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x6xf32>
  %s = linalg.generic {indexing_maps = [#x, #table, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r, %sin : tensor<2x4x8x6xf32>, tensor<2x8x6xf32>) outs(%e : tensor<2x4x8x6xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.mulf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x6xf32>
  %y = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %s : tensor<2x4x8x6xf32>, tensor<2x4x8x6xf32>) outs(%e : tensor<2x4x8x6xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.addf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x6xf32>
  %m = tensor.collapse_shape %y [[0, 1], [2], [3]] : tensor<2x4x8x6xf32> into tensor<8x8x6xf32>
  return %m : tensor<8x8x6xf32>
}

// Where it stands between none that merge, it goes up: what reads the sum of the
// products reads two values of batch and heads.
// CHECK-LABEL: func.func @read_as_it_is(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x8x6xf32>, %[[Z:.*]]: tensor<2x4x8x6xf32>
// CHECK-DAG:   %[[A:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2], [3]]
// CHECK-DAG:   %[[B:.*]] = tensor.collapse_shape %[[Z]] {{\[}}[0, 1], [2], [3]]
// CHECK:       linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<8x8x6xf32>, tensor<8x8x6xf32>)
func.func @read_as_it_is(%x: tensor<2x4x8x6xf32>, %z: tensor<2x4x8x6xf32>) -> tensor<8x8x6xf32> {
  %e = tensor.empty() : tensor<2x4x8x6xf32>
  %c = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %z : tensor<2x4x8x6xf32>, tensor<2x4x8x6xf32>) outs(%e : tensor<2x4x8x6xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.mulf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x6xf32>
  %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<2x4x8x6xf32>) outs(%e : tensor<2x4x8x6xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.tanh %i : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x6xf32>
  %m = tensor.collapse_shape %y [[0, 1], [2], [3]] : tensor<2x4x8x6xf32> into tensor<8x8x6xf32>
  return %m : tensor<8x8x6xf32>
}
