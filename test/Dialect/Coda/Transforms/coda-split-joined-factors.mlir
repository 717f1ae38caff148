// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-split-joined-factors))' --split-input-file | FileCheck %s

// Each part by its slice of the weight; one product starts from the other's result.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8x16xf32>, %[[B:[a-z0-9]+]]: tensor<8x32xf32>, %[[W:[a-z0-9]+]]: tensor<48x4xf32>, %[[Z:[a-z0-9]+]]: tensor<8x4xf32>)
// CHECK-NOT:   tensor.concat
// CHECK:       %[[U:.*]] = tensor.extract_slice %[[W]][0, 0] [16, 4] [1, 1]
// CHECK:       %[[Y:.*]] = linalg.matmul ins(%[[A]], %[[U]] : tensor<8x16xf32>, tensor<16x4xf32>) outs(%[[Z]] :
// CHECK:       %[[V:.*]] = tensor.extract_slice %[[W]][16, 0] [32, 4] [1, 1]
// CHECK:       %[[R:.*]] = linalg.matmul ins(%[[B]], %[[V]] : tensor<8x32xf32>, tensor<32x4xf32>) outs(%[[Y]] :
// CHECK:       return %[[R]]
func.func @parts(%a: tensor<8x16xf32>, %b: tensor<8x32xf32>, %w: tensor<48x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x = tensor.concat dim(1) %a, %b : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<8x48xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x48xf32>, tensor<48x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Through a reshape of the rows, of any number; two products read it, of one the weight
// is joined.
// CHECK-LABEL: func.func @readers(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x?x16xbf16>, %[[B:[a-z0-9]+]]: tensor<2x?x8xbf16>, %[[W:[a-z0-9]+]]: tensor<4x24xbf16>,
// CHECK-NOT:   tensor.concat
// CHECK:       %[[A1:.*]] = tensor.collapse_shape %[[A]] {{\[\[}}0, 1], [2]]
// CHECK:       %[[U:.*]] = tensor.extract_slice %[[W]][0, 0] [4, 16] [1, 1]
// CHECK:       %[[Y:.*]] = linalg.matmul {{.*}} ins(%[[A1]], %[[U]] :
// CHECK:       %[[B1:.*]] = tensor.collapse_shape %[[B]] {{\[\[}}0, 1], [2]]
// CHECK:       %[[V:.*]] = tensor.extract_slice %[[W]][0, 16] [4, 8] [1, 1]
// CHECK:       linalg.matmul {{.*}} ins(%[[B1]], %[[V]] : {{.*}}) outs(%[[Y]] :
// CHECK:       %[[A2:.*]] = tensor.collapse_shape %[[A]]
// CHECK:       %[[S:.*]] = linalg.matmul {{.*}} ins(%{{.*}}, %[[A2]] : tensor<4x16xbf16>, tensor<?x16xbf16>)
// CHECK:       %[[B2:.*]] = tensor.collapse_shape %[[B]]
// CHECK:       linalg.matmul {{.*}} ins(%{{.*}}, %[[B2]] : tensor<4x8xbf16>, tensor<?x8xbf16>) outs(%[[S]] :
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @readers(%a: tensor<2x?x16xbf16>, %b: tensor<2x?x8xbf16>, %w: tensor<4x24xbf16>, %z: tensor<?x4xf32>, %t: tensor<4x?xf32>) -> (tensor<?x4xf32>, tensor<4x?xf32>) {
  %x = tensor.concat dim(2) %a, %b : (tensor<2x?x16xbf16>, tensor<2x?x8xbf16>) -> tensor<2x?x24xbf16>
  %x2 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x?x24xbf16> into tensor<?x24xbf16>
  %y = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x2, %w : tensor<?x24xbf16>, tensor<4x24xbf16>) outs(%z : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.matmul indexing_maps = [#a, #b, #c] ins(%w, %x2 : tensor<4x24xbf16>, tensor<?x24xbf16>) outs(%t : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %y, %s : tensor<?x4xf32>, tensor<4x?xf32>
}

// -----

// Another op reads it: it is there anyway.
// CHECK-LABEL: func.func @no_other_reader(
// CHECK:       %[[X:.*]] = tensor.concat
// CHECK:       linalg.matmul ins(%[[X]],
func.func @no_other_reader(%a: tensor<8x16xf32>, %b: tensor<8x32xf32>, %w: tensor<48x4xf32>, %z: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x48xf32>) {
  %x = tensor.concat dim(1) %a, %b : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<8x48xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x48xf32>, tensor<48x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %x : tensor<8x4xf32>, tensor<8x48xf32>
}

// -----

// Rows are joined, not what is contracted.
// CHECK-LABEL: func.func @no_rows(
// CHECK:       tensor.concat
func.func @no_rows(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %w: tensor<16x4xf32>, %z: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %x = tensor.concat dim(0) %a, %b : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x4xf32>) outs(%z : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}

// -----

// The second part starts at 12 bytes.
// CHECK-LABEL: func.func @no_start(
// CHECK:       tensor.concat
func.func @no_start(%a: tensor<8x3xf32>, %b: tensor<8x16xf32>, %w: tensor<19x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x = tensor.concat dim(1) %a, %b : (tensor<8x3xf32>, tensor<8x16xf32>) -> tensor<8x19xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x19xf32>, tensor<19x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A sum of 16 bits would be rounded between the two.
// CHECK-LABEL: func.func @no_narrow_sum(
// CHECK:       tensor.concat
func.func @no_narrow_sum(%a: tensor<8x16xbf16>, %b: tensor<8x16xbf16>, %w: tensor<32x4xbf16>, %z: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %x = tensor.concat dim(1) %a, %b : (tensor<8x16xbf16>, tensor<8x16xbf16>) -> tensor<8x32xbf16>
  %y = linalg.matmul ins(%x, %w : tensor<8x32xbf16>, tensor<32x4xbf16>) outs(%z : tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %y : tensor<8x4xbf16>
}

// -----

// Eight bits have scales beside them; a call alone shows the extent.
// CHECK-LABEL: func.func @no_eight_bits(
// CHECK:       tensor.concat
// CHECK-LABEL: func.func @no_dynamic(
// CHECK:       tensor.concat
func.func @no_eight_bits(%a: tensor<8x16xf8E4M3FN>, %b: tensor<8x16xf8E4M3FN>, %w: tensor<32x4xf8E4M3FN>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x = tensor.concat dim(1) %a, %b : (tensor<8x16xf8E4M3FN>, tensor<8x16xf8E4M3FN>) -> tensor<8x32xf8E4M3FN>
  %y = linalg.matmul ins(%x, %w : tensor<8x32xf8E4M3FN>, tensor<32x4xf8E4M3FN>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func @no_dynamic(%a: tensor<8x?xf32>, %b: tensor<8x16xf32>, %w: tensor<?x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x = tensor.concat dim(1) %a, %b : (tensor<8x?xf32>, tensor<8x16xf32>) -> tensor<8x?xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x?xf32>, tensor<?x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
