// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-hoist-slices))' --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Of the two copies of the angles that are joined, the one that the slice reads.
// CHECK-LABEL: func.func @elementwise_of_concat(
// CHECK-SAME:    %[[ANGLE:.*]]: tensor<8x4xf32>)
// CHECK-NOT:   tensor.concat
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK:       %[[COS:.*]] = linalg.generic {{.*}} ins(%[[ANGLE]] : tensor<8x4xf32>) outs(%[[E]] : tensor<8x4xf32>)
// CHECK:         math.cos
// CHECK-NOT:   tensor.extract_slice
// CHECK:       return %[[COS]]
func.func @elementwise_of_concat(%angle: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %two = tensor.concat dim(1) %angle, %angle : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %cos = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%two : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = math.cos %x : f32
    linalg.yield %c : f32
  } -> tensor<8x8xf32>
  %half = tensor.extract_slice %cos[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  return %half : tensor<8x4xf32>
}

// -----

// A part of the second operand, with a stride and dynamic rows.
// CHECK-LABEL: func.func @part_of_concat(
// CHECK-SAME:    %{{.*}}: tensor<?x4xf32>, %[[B:.*]]: tensor<?x6xf32>, %[[N:.*]]: index)
// CHECK-NEXT:  %[[S:.*]] = tensor.extract_slice %[[B]][1, 1] [%[[N]], 3] [1, 2] : tensor<?x6xf32> to tensor<?x3xf32>
// CHECK-NEXT:  return %[[S]]
func.func @part_of_concat(%a: tensor<?x4xf32>, %b: tensor<?x6xf32>, %n: index) -> tensor<?x3xf32> {
  %both = tensor.concat dim(1) %a, %b : (tensor<?x4xf32>, tensor<?x6xf32>) -> tensor<?x10xf32>
  %part = tensor.extract_slice %both[1, 5] [%n, 3] [1, 2] : tensor<?x10xf32> to tensor<?x3xf32>
  return %part : tensor<?x3xf32>
}

// -----

// A slice of both operands, at a place that only a call knows, or of a
// concatenation of dynamic extents, stays; so does one of a value that others read.
// CHECK-LABEL: func.func @refused(
// CHECK:       %[[BOTH:.*]] = tensor.concat dim(1)
// CHECK:       tensor.extract_slice %[[BOTH]][0, 2] [8, 4] [1, 1]
// CHECK:       tensor.extract_slice %[[BOTH]][0, %{{.*}}] [8, 4] [1, 1]
// CHECK:       %[[WIDE:.*]] = tensor.concat dim(1)
// CHECK:       tensor.extract_slice %[[WIDE]][0, 0] [8, 4] [1, 1]
// CHECK:       %[[COS:.*]] = linalg.generic
// CHECK:       tensor.extract_slice %[[COS]][0, 0] [8, 4] [1, 1]
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @refused(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x?xf32>, %at: index) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>) {
  %both = tensor.concat dim(1) %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %across = tensor.extract_slice %both[0, 2] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %unknown = tensor.extract_slice %both[0, %at] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %wide = tensor.concat dim(1) %c, %a : (tensor<8x?xf32>, tensor<8x4xf32>) -> tensor<8x?xf32>
  %dynamic = tensor.extract_slice %wide[0, 0] [8, 4] [1, 1] : tensor<8x?xf32> to tensor<8x4xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %cos = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%both : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = math.cos %x : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %half = tensor.extract_slice %cos[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  return %across, %unknown, %dynamic, %half, %cos : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>
}

// -----

// As many rows as there are, whatever names the number: the concatenation itself,
// the tensor that it was sized by, or its size.
// CHECK-LABEL: func.func @whole_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>, %[[ANGLE:.*]]: tensor<?x4xf32>)
// CHECK-NOT:   tensor.concat
// CHECK-NOT:   tensor.extract_slice
// CHECK:       %[[E:.*]] = tensor.empty(%[[N:.*]]) : tensor<?x4xf32>
// CHECK:       %[[COS:.*]] = linalg.generic {{.*}} ins(%[[ANGLE]] : tensor<?x4xf32>)
// CHECK:         math.cos
// CHECK-NOT:   tensor.extract_slice
// CHECK:       return %[[COS]], %[[COS]]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @whole_rows(%x: tensor<?x4xf32>, %angle: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %cos = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%angle : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = math.cos %a : f32
    linalg.yield %c : f32
  } -> tensor<?x4xf32>
  %two = tensor.concat dim(1) %cos, %cos : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %m = tensor.dim %two, %c0 : tensor<?x8xf32>
  %half = tensor.extract_slice %two[0, 0] [%m, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %other = tensor.extract_slice %two[0, 4] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  return %half, %other : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Some rows, or rows that may be others than there are, are no whole.
// CHECK-LABEL: func.func @neg_some_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>, %[[K:.*]]: index)
// CHECK:       %[[N:.*]] = tensor.dim %[[Y]]
// CHECK:       tensor.extract_slice %[[X]][0, 0] [%[[K]], 4] [1, 1]
// CHECK:       tensor.extract_slice %[[X]][0, 0] [%[[N]], 4] [1, 1]
// CHECK:       tensor.extract_slice %[[X]][%[[K]], 0] [%[[K]], 4] [1, 1]
func.func @neg_some_rows(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %k: index) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x4xf32>
  %a = tensor.extract_slice %x[0, 0] [%k, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %b = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %c = tensor.extract_slice %x[%k, 0] [%k, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %a, %b, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// One of two copies along a dim of its own: the dim is gone with the other copy.
// CHECK-LABEL: func.func @one_of_two(
// CHECK-SAME:    %[[ANGLE:.*]]: tensor<8x4xf32>)
// CHECK:       %[[COS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[ANGLE]] : tensor<8x4xf32>) outs(%{{.*}} : tensor<8x4xf32>)
// CHECK:         math.cos
// CHECK-NOT:   tensor.collapse_shape
// CHECK:       return %[[COS]]
func.func @one_of_two(%angle: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4x2xf32>
  %cos = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%angle : tensor<8x4xf32>) outs(%e : tensor<8x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = math.cos %a : f32
    linalg.yield %c : f32
  } -> tensor<8x4x2xf32>
  %one = tensor.extract_slice %cos[0, 0, 1] [8, 4, 1] [1, 1, 1] : tensor<8x4x2xf32> to tensor<8x4x1xf32>
  %flat = tensor.collapse_shape %one [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  return %flat : tensor<8x4xf32>
}
