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
