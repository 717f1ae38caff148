// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-normalize),canonicalize,cse)' -split-input-file | FileCheck %s
// A factor that is the same for all of a batch is a matrix, and the batch's dims are
// rows, or columns, of the other.

// A transposed weight, repeated, as a product of (B, T, K) by a weight is exported.
// CHECK-DAG: #[[$MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @weight(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x16xbf16>, %[[W:.*]]: tensor<4x16xbf16>)
// CHECK:       %[[R:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2]] : tensor<2x8x16xbf16> into tensor<16x16xbf16>
// CHECK:       %[[Y:.*]] = linalg.matmul indexing_maps = [#[[$MK]], #[[$NK]], #[[$MN]]] ins(%[[R]], %[[W]] : tensor<16x16xbf16>, tensor<4x16xbf16>)
// CHECK:       %[[Z:.*]] = tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]] output_shape [2, 8, 4]
// CHECK:       return %[[Z]]
func.func @weight(%x: tensor<2x8x16xbf16>, %w: tensor<4x16xbf16>) -> tensor<2x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %te = tensor.empty() : tensor<16x4xbf16>
  %t = linalg.transpose ins(%w : tensor<4x16xbf16>) outs(%te : tensor<16x4xbf16>) permutation = [1, 0]
  %be = tensor.empty() : tensor<2x16x4xbf16>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%t : tensor<16x4xbf16>) outs(%be : tensor<2x16x4xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x16x4xbf16>
  %e = tensor.empty() : tensor<2x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = linalg.batch_matmul ins(%x, %b : tensor<2x8x16xbf16>, tensor<2x16x4xbf16>) outs(%f : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Extents that only a call shows, and the transpose after the repetition.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x16xbf16>, %[[W:.*]]: tensor<4x16xbf16>)
// CHECK-DAG:   %[[B:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:   %[[T:.*]] = tensor.dim %[[X]], %c1
// CHECK-DAG:   %[[R:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2]]
// CHECK:       %[[Y:.*]] = linalg.matmul indexing_maps = {{.*}} ins(%[[R]], %[[W]] : tensor<?x16xbf16>, tensor<4x16xbf16>)
// CHECK:       tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]] output_shape [%[[B]], %[[T]], 4]
func.func @dynamic(%x: tensor<?x?x16xbf16>, %w: tensor<4x16xbf16>) -> tensor<?x?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x16xbf16>
  %m = tensor.dim %x, %c1 : tensor<?x?x16xbf16>
  %be = tensor.empty(%n) : tensor<?x4x16xbf16>
  %b = linalg.broadcast ins(%w : tensor<4x16xbf16>) outs(%be : tensor<?x4x16xbf16>) dimensions = [0]
  %te = tensor.empty(%n) : tensor<?x16x4xbf16>
  %t = linalg.transpose ins(%b : tensor<?x4x16xbf16>) outs(%te : tensor<?x16x4xbf16>) permutation = [0, 2, 1]
  %e = tensor.empty(%n, %m) : tensor<?x?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %y = linalg.batch_matmul ins(%x, %t : tensor<?x?x16xbf16>, tensor<?x16x4xbf16>) outs(%f : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// Two dims of a batch that are one, and a cast after the repetition: the factors are
// taken narrow, too.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x8x16xbf16>, %[[W:.*]]: tensor<1x16x4xbf16>)
// CHECK-NOT:   arith.extf
// CHECK-DAG:   %[[R:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2], [3]]
// CHECK-DAG:   %[[V:.*]] = tensor.collapse_shape %[[W]] {{\[}}[0, 1], [2]]
// CHECK:       linalg.matmul ins(%[[R]], %[[V]] : tensor<48x16xbf16>, tensor<16x4xbf16>)
func.func @views(%x: tensor<2x3x8x16xbf16>, %w: tensor<1x16x4xbf16>) -> tensor<6x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %be = tensor.empty() : tensor<2x3x16x4xbf16>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<1x16x4xbf16>) outs(%be : tensor<2x3x16x4xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x3x16x4xbf16>
  %bc = tensor.collapse_shape %b [[0, 1], [2], [3]] : tensor<2x3x16x4xbf16> into tensor<6x16x4xbf16>
  %xc = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x3x8x16xbf16> into tensor<6x8x16xbf16>
  %e1 = tensor.empty() : tensor<6x16x4xf32>
  %wf = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bc : tensor<6x16x4xbf16>) outs(%e1 : tensor<6x16x4xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<6x16x4xf32>
  %e2 = tensor.empty() : tensor<6x8x16xf32>
  %xf = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%xc : tensor<6x8x16xbf16>) outs(%e2 : tensor<6x8x16xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<6x8x16xf32>
  %e = tensor.empty() : tensor<6x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  %y = linalg.batch_matmul ins(%xf, %wf : tensor<6x8x16xf32>, tensor<6x16x4xf32>) outs(%f : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  return %y : tensor<6x8x4xf32>
}

// -----

// One token each: the batch is the rows.
// CHECK-LABEL: func.func @one_token(
// CHECK-SAME:    %[[X:.*]]: tensor<3x1x16xbf16>, %[[W:.*]]: tensor<16x4xbf16>)
// CHECK:       %[[R:.*]] = tensor.collapse_shape %[[X]]
// CHECK:       linalg.matmul ins(%[[R]], %[[W]] : tensor<3x16xbf16>, tensor<16x4xbf16>)
func.func @one_token(%x: tensor<3x1x16xbf16>, %w: tensor<16x4xbf16>) -> tensor<3x1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %be = tensor.empty() : tensor<3x16x4xbf16>
  %b = linalg.broadcast ins(%w : tensor<16x4xbf16>) outs(%be : tensor<3x16x4xbf16>) dimensions = [0]
  %e = tensor.empty() : tensor<3x1x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x1x4xf32>) -> tensor<3x1x4xf32>
  %y = linalg.batch_matmul ins(%x, %b : tensor<3x1x16xbf16>, tensor<3x16x4xbf16>) outs(%f : tensor<3x1x4xf32>) -> tensor<3x1x4xf32>
  return %y : tensor<3x1x4xf32>
}

// -----

// The left factor may be the one; the batch is then among the columns.
// CHECK-DAG: #[[$L:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[$R:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[$O:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @left(
// CHECK-SAME:    %[[W:.*]]: tensor<4x16xf32>, %[[X:.*]]: tensor<2x16x8xf32>)
// CHECK:       linalg.generic {indexing_maps = [#[[$L]], #[[$R]], #[[$O]]], {{.*}} ins(%[[W]], %[[X]] : tensor<4x16xf32>, tensor<2x16x8xf32>)
func.func @left(%w: tensor<4x16xf32>, %x: tensor<2x16x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %be = tensor.empty() : tensor<2x4x16xf32>
  %b = linalg.broadcast ins(%w : tensor<4x16xf32>) outs(%be : tensor<2x4x16xf32>) dimensions = [0]
  %e = tensor.empty() : tensor<2x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %y = linalg.batch_matmul ins(%b, %x : tensor<2x4x16xf32>, tensor<2x16x8xf32>) outs(%f : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// What is computed at each point of the batch alike is computed once, by its index
// along other dims, too.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x16xf32>, %[[W:.*]]: tensor<16x4xf32>)
// CHECK:       %[[V:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<16x4xf32>) outs(%{{.*}} : tensor<16x4xf32>)
// CHECK:         linalg.index 1
// CHECK:       linalg.matmul ins(%{{.*}}, %[[V]] : tensor<16x16xf32>, tensor<16x4xf32>)
func.func @computed(%x: tensor<2x8x16xf32>, %w: tensor<16x4xf32>) -> tensor<2x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %be = tensor.empty() : tensor<2x16x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<16x4xf32>) outs(%be : tensor<2x16x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 2 : index
    %c = arith.cmpi ult, %i, %two : index
    %v = arith.select %c, %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<2x16x4xf32>
  %e = tensor.empty() : tensor<2x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = linalg.batch_matmul ins(%x, %b : tensor<2x8x16xf32>, tensor<2x16x4xf32>) outs(%f : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// A factor of its own for each of the batch, or for one of its dims: heads that
// share keys, say, are still a batch.
// CHECK-LABEL: func.func @neg_batched(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x16xf32>, %[[W:.*]]: tensor<2x16x4xf32>, %[[H:.*]]: tensor<6x8x16xf32>, %[[K:.*]]: tensor<2x16x4xf32>)
// CHECK:       linalg.batch_matmul ins(%[[X]], %[[W]] :
// CHECK:       %[[KC:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2], [3]]
// CHECK:       linalg.batch_matmul ins(%[[H]], %[[KC]] :
func.func @neg_batched(%x: tensor<2x8x16xf32>, %w: tensor<2x16x4xf32>, %h: tensor<6x8x16xf32>, %k: tensor<2x16x4xf32>) -> (tensor<2x8x4xf32>, tensor<6x8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x8x16xf32>, tensor<2x16x4xf32>) outs(%f : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %be = tensor.empty() : tensor<2x3x16x4xf32>
  %b = linalg.broadcast ins(%k : tensor<2x16x4xf32>) outs(%be : tensor<2x3x16x4xf32>) dimensions = [1]
  %bc = tensor.collapse_shape %b [[0, 1], [2], [3]] : tensor<2x3x16x4xf32> into tensor<6x16x4xf32>
  %e2 = tensor.empty() : tensor<6x8x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  %z = linalg.batch_matmul ins(%h, %bc : tensor<6x8x16xf32>, tensor<6x16x4xf32>) outs(%f2 : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  return %y, %z : tensor<2x8x4xf32>, tensor<6x8x4xf32>
}

// -----

// Both factors are the same along the batch: one of them keeps its dim, or there
// would be none. What depends on the batch's index is not the same.
// CHECK-LABEL: func.func @neg_both(
// CHECK-SAME:    %[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<16x4xf32>)
// CHECK:       linalg.matmul ins(%{{.*}}, %[[W]] : tensor<16x16xf32>, tensor<16x4xf32>)
// CHECK:       linalg.generic
// CHECK:         linalg.index 0
// CHECK:       linalg.batch_matmul
func.func @neg_both(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %xe = tensor.empty() : tensor<2x8x16xf32>
  %xb = linalg.broadcast ins(%x : tensor<8x16xf32>) outs(%xe : tensor<2x8x16xf32>) dimensions = [0]
  %we = tensor.empty() : tensor<2x16x4xf32>
  %wb = linalg.broadcast ins(%w : tensor<16x4xf32>) outs(%we : tensor<2x16x4xf32>) dimensions = [0]
  %e = tensor.empty() : tensor<2x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = linalg.batch_matmul ins(%xb, %wb : tensor<2x8x16xf32>, tensor<2x16x4xf32>) outs(%f : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<16x4xf32>) outs(%we : tensor<2x16x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi ult, %i, %one : index
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<2x16x4xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%xe : tensor<2x8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi ult, %i, %one : index
    %s = arith.select %c, %zero, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x8x16xf32>
  %z = linalg.batch_matmul ins(%u, %v : tensor<2x8x16xf32>, tensor<2x16x4xf32>) outs(%f : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %y, %z : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}
