// Every second element of a head and the ones between, rotated and written back
// with the same stride: pairs, in one kernel.
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
  %cos = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%ang : tensor<?x4xf32>) outs(%a0 : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.cos %p : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %sin = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%ang : tensor<?x4xf32>) outs(%a0 : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.sin %p : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %even = tensor.extract_slice %qh[0, 0, 0] [%t, 3, 4] [1, 1, 2] : tensor<?x3x8xf32> to tensor<?x3x4xf32>
  %odd = tensor.extract_slice %qh[0, 0, 1] [%t, 3, 4] [1, 1, 2] : tensor<?x3x8xf32> to tensor<?x3x4xf32>
  %r0 = tensor.empty(%t) : tensor<?x3x4xf32>
  %first = linalg.generic {indexing_maps = [#id3, #id3, #table, #table, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%even, %odd, %cos, %sin : tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%r0 : tensor<?x3x4xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32, %s: f32, %o: f32):
    %xc = arith.mulf %x, %c : f32
    %ys = arith.mulf %y, %s : f32
    %r = arith.subf %xc, %ys : f32
    linalg.yield %r : f32
  } -> tensor<?x3x4xf32>
  %second = linalg.generic {indexing_maps = [#id3, #id3, #table, #table, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%odd, %even, %cos, %sin : tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%r0 : tensor<?x3x4xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32, %s: f32, %o: f32):
    %xc = arith.mulf %x, %c : f32
    %ys = arith.mulf %y, %s : f32
    %r = arith.addf %xc, %ys : f32
    linalg.yield %r : f32
  } -> tensor<?x3x4xf32>
  %d = tensor.empty(%t) : tensor<?x3x8xf32>
  %i1 = tensor.insert_slice %first into %d[0, 0, 0] [%t, 3, 4] [1, 1, 2] : tensor<?x3x4xf32> into tensor<?x3x8xf32>
  %out = tensor.insert_slice %second into %i1[0, 0, 1] [%t, 3, 4] [1, 1, 2] : tensor<?x3x4xf32> into tensor<?x3x8xf32>
  return %out : tensor<?x3x8xf32>
}
