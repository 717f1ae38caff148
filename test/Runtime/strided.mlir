// Arguments of any strides: the code works on compact copies in the workspace,
// which the query counts, and results are copied back.
//
// RUN: rm -rf %t && mkdir %t
// RUN: %host_cc -w -I %coda_src_root/include %S/Inputs/strided.c -o %t/calls -ldl
// RUN: coda-compile %s -o %t/f.so
// RUN: %t/calls %t/f.so | FileCheck %s
//
// CHECK:      compact: 0, [[CODE:[0-9]+]] bytes more, right
// CHECK-NEXT: rows apart: 0, 96 bytes more, right
// CHECK-NEXT: transposed: 0, 96 bytes more, right
// CHECK-NEXT: backwards: 0, 96 bytes more, right
// CHECK-NEXT: one row for all: 0, 96 bytes more, right
// CHECK-NEXT: result apart: 0, 96 bytes more, right
// CHECK-NEXT: both: 0, 352 bytes more, right
// CHECK-NEXT: off by two elements: 0, 0 bytes more, right
// CHECK-NEXT: without the workspace: 2: main: workspace of 0 bytes, expected at least {{[0-9]+}}, with copies of arguments that are not compact or not aligned (see coda_main_workspace)
// CHECK-NEXT: results over each other: 1: main: argument 1 (out0) has stride 0 in dimension 0: the elements of an output must lie apart

func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
