// Pairs of neighbours rotated by a table that is repeated for the two of a pair,
// for any number of tokens: one kernel, which computes the table where it reads it.
//
// RUN: coda-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-NOT:   linalg.
// CHECK:       call @main_gemm_0
// CHECK-NOT:   call
// CHECK:       func.func private @main_gemm_0
// CHECK:         acc(%{{.*}}[m, k] * %{{.*}}[n0, n1, u, k] : tensor<?x32xf32>, tensor<3x4x2x32xf32>)
// CHECK-NEXT:    ins(%{{.*}}[m], %{{.*}}[n1] : tensor<?xi64>, tensor<4xf32>)
// RUN: coda-run %s --extent=20 --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// OUT: all outputs are good
// RUN: coda-run %s --extent=20 --seed=1 --grad --differences --repeat=0 --no-unfused | FileCheck %s --check-prefix=GRAD
// GRAD: arg3 {{.*}} ok 4 of 4
// GRAD: all gradients are good

#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#table = affine_map<(d0, d1, d2) -> (d0, d2)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%h: tensor<?x32xf32>, %w: tensor<24x32xf32>, %pos: tensor<?xi64>, %freq: tensor<4xf32>) -> tensor<?x3x8xf32> {
  %i0 = arith.constant 0 : index
  %t = tensor.dim %h, %i0 : tensor<?x32xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%t) : tensor<?x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wt0 = tensor.empty() : tensor<32x24xf32>
  %wt = linalg.transpose ins(%w : tensor<24x32xf32>) outs(%wt0 : tensor<32x24xf32>) permutation = [1, 0]
  %q = linalg.matmul ins(%h, %wt : tensor<?x32xf32>, tensor<32x24xf32>) outs(%f : tensor<?x24xf32>) -> tensor<?x24xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 3, 8] : tensor<?x24xf32> into tensor<?x3x8xf32>
  %a0 = tensor.empty(%t) : tensor<?x4xf32>
  %ang = linalg.generic {indexing_maps = [#row, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%pos, %freq : tensor<?xi64>, tensor<4xf32>) outs(%a0 : tensor<?x4xf32>) {
  ^bb0(%p: i64, %fr: f32, %o: f32):
    %pf = arith.sitofp %p : i64 to f32
    %x = arith.mulf %pf, %fr : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %ch = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%ang : tensor<?x4xf32>) outs(%a0 : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.cos %p : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %sh = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%ang : tensor<?x4xf32>) outs(%a0 : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.sin %p : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %b0 = tensor.empty(%t) : tensor<?x4x2xf32>
  %cb = linalg.broadcast ins(%ch : tensor<?x4xf32>) outs(%b0 : tensor<?x4x2xf32>) dimensions = [2]
  %cos = tensor.collapse_shape %cb [[0], [1, 2]] : tensor<?x4x2xf32> into tensor<?x8xf32>
  %sb = linalg.broadcast ins(%sh : tensor<?x4xf32>) outs(%b0 : tensor<?x4x2xf32>) dimensions = [2]
  %sin = tensor.collapse_shape %sb [[0], [1, 2]] : tensor<?x4x2xf32> into tensor<?x8xf32>
  %pairs = tensor.expand_shape %qh [[0], [1], [2, 3]] output_shape [%t, 3, 4, 2] : tensor<?x3x8xf32> into tensor<?x3x4x2xf32>
  %even = tensor.extract_slice %pairs[0, 0, 0, 0] [%t, 3, 4, 1] [1, 1, 1, 1] : tensor<?x3x4x2xf32> to tensor<?x3x4x1xf32>
  %odd = tensor.extract_slice %pairs[0, 0, 0, 1] [%t, 3, 4, 1] [1, 1, 1, 1] : tensor<?x3x4x2xf32> to tensor<?x3x4x1xf32>
  %n0 = tensor.empty(%t) : tensor<?x3x4x1xf32>
  %neg = linalg.negf ins(%odd : tensor<?x3x4x1xf32>) outs(%n0 : tensor<?x3x4x1xf32>) -> tensor<?x3x4x1xf32>
  %both = tensor.concat dim(3) %neg, %even : (tensor<?x3x4x1xf32>, tensor<?x3x4x1xf32>) -> tensor<?x3x4x2xf32>
  %rot = tensor.collapse_shape %both [[0], [1], [2, 3]] : tensor<?x3x4x2xf32> into tensor<?x3x8xf32>
  %r0 = tensor.empty(%t) : tensor<?x3x8xf32>
  %out = linalg.generic {indexing_maps = [#id3, #id3, #table, #table, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qh, %rot, %cos, %sin : tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) outs(%r0 : tensor<?x3x8xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32, %s: f32, %o: f32):
    %xc = arith.mulf %x, %c : f32
    %ys = arith.mulf %y, %s : f32
    %r = arith.addf %xc, %ys : f32
    linalg.yield %r : f32
  } -> tensor<?x3x8xf32>
  return %out : tensor<?x3x8xf32>
}
