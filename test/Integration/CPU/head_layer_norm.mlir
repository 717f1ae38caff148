// A layer norm of each head of a projection: a sum over the head's columns, and one of
// squares that need the first. Both are groups of the gemm, and of its gradient's map.
//
// RUN: coda-opt %s --coda-fuse-pipeline | FileCheck %s
// RUN: coda-run %s --seed=1 --against-reference --repeat=0
// RUN: coda-run %s --seed=1 --grad --differences --no-unfused --repeat=0
// CHECK-LABEL: func.func @main(
// CHECK: call @main_gemm_0
// CHECK-NOT: call
// CHECK: ^bb0(%[[ACC:.+]]: f32, %[[G:.+]]: f32, %[[H:.+]]: f32):
// CHECK: %[[S:.+]] = coda.group_reduce add %[[ACC]] over [n1] : f32
// CHECK: %[[M:.+]] = arith.divf %[[S]], %{{.+}} : f32
// CHECK: %[[C:.+]] = arith.subf %[[ACC]], %[[M]] : f32
// CHECK: %[[Q:.+]] = arith.mulf %[[C]], %[[C]] : f32
// CHECK: %[[V:.+]] = coda.group_reduce add %[[Q]] over [n1] : f32
// CHECK: %[[R:.+]] = math.rsqrt
// CHECK: %[[N:.+]] = arith.mulf %[[C]], %[[R]] : f32
// CHECK: %[[W:.+]] = arith.mulf %[[N]], %[[G]] : f32
// CHECK: %[[Y:.+]] = arith.addf %[[W]], %[[H]] : f32
// CHECK: coda.yield %[[Y]] : f32

#i3 = affine_map<(a, b, c) -> (a, b, c)>
#r3 = affine_map<(a, b, c) -> (a, b)>
#w3 = affine_map<(a, b, c) -> (c)>
#i2 = affine_map<(a, b) -> (a, b)>
func.func @main(%x: tensor<64x96xf32>, %w: tensor<256x96xf32>, %g: tensor<64xf32>, %h: tensor<64xf32>) -> tensor<64x4x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %we = tensor.empty() : tensor<96x256xf32>
  %wt = linalg.transpose ins(%w : tensor<256x96xf32>) outs(%we : tensor<96x256xf32>) permutation = [1, 0]
  %y0 = linalg.matmul ins(%x, %wt : tensor<64x96xf32>, tensor<96x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = tensor.expand_shape %y0 [[0], [1, 2]] output_shape [64, 4, 64] : tensor<64x256xf32> into tensor<64x4x64xf32>
  %s0 = tensor.empty() : tensor<64x4xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<64x4xf32>) -> tensor<64x4xf32>
  %s = linalg.generic {indexing_maps = [#i3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<64x4x64xf32>) outs(%s1 : tensor<64x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %a, %o : f32
    linalg.yield %q : f32
  } -> tensor<64x4xf32>
  %n0 = tensor.empty() : tensor<64x4x64xf32>
  %c = linalg.generic {indexing_maps = [#i3, #r3, #i3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<64x4x64xf32>, tensor<64x4xf32>) outs(%n0 : tensor<64x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.constant 64.0 : f32
    %m = arith.divf %b, %d : f32
    %q = arith.subf %a, %m : f32
    linalg.yield %q : f32
  } -> tensor<64x4x64xf32>
  %v = linalg.generic {indexing_maps = [#i3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c : tensor<64x4x64xf32>) outs(%s1 : tensor<64x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<64x4xf32>
  %r = linalg.generic {indexing_maps = [#i3, #r3, #w3, #w3, #i3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %v, %g, %h : tensor<64x4x64xf32>, tensor<64x4xf32>, tensor<64xf32>, tensor<64xf32>) outs(%n0 : tensor<64x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %gg: f32, %hh: f32, %o: f32):
    %d = arith.constant 64.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %m = arith.divf %b, %d : f32
    %me = arith.addf %m, %eps : f32
    %rs = math.rsqrt %me : f32
    %q = arith.mulf %a, %rs : f32
    %t = arith.mulf %q, %gg : f32
    %u = arith.addf %t, %hh : f32
    linalg.yield %u : f32
  } -> tensor<64x4x64xf32>
  return %r : tensor<64x4x64xf32>
}
