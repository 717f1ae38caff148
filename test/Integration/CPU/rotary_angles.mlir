// Heads of one projection rotated by angles that the graph makes of positions and
// frequencies, joined to two halves before cosines and sines are taken: one kernel,
// without a table, and the gradients of all, the frequencies too.
//
// RUN: coda-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-NOT:   linalg.
// CHECK:       call @main_gemm_0
// CHECK-NOT:   call
// CHECK:       func.func private @main_gemm_0
// RUN: coda-run %s --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// OUT: all outputs are good
// RUN: coda-run %s --seed=1 --grad --differences --repeat=0 --no-unfused | FileCheck %s --check-prefix=GRAD
// GRAD: arg3 {{.*}} ok 4 of 4
// GRAD: all gradients are good

func.func @main(%h: tensor<20x32xf32>, %w: tensor<24x32xf32>, %pos: tensor<20xi64>, %freq: tensor<4xf32>) -> tensor<20x3x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x24xf32>) -> tensor<20x24xf32>
  %wt0 = tensor.empty() : tensor<32x24xf32>
  %wt = linalg.transpose ins(%w : tensor<24x32xf32>) outs(%wt0 : tensor<32x24xf32>) permutation = [1, 0]
  %q = linalg.matmul ins(%h, %wt : tensor<20x32xf32>, tensor<32x24xf32>) outs(%f : tensor<20x24xf32>) -> tensor<20x24xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [20, 3, 8] : tensor<20x24xf32> into tensor<20x3x8xf32>
  %a0 = tensor.empty() : tensor<20x4xf32>
  %ang = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%pos, %freq : tensor<20xi64>, tensor<4xf32>) outs(%a0 : tensor<20x4xf32>) {
  ^bb0(%p: i64, %fr: f32, %o: f32):
    %pf = arith.sitofp %p : i64 to f32
    %x = arith.mulf %pf, %fr : f32
    linalg.yield %x : f32
  } -> tensor<20x4xf32>
  %emb = tensor.concat dim(1) %ang, %ang : (tensor<20x4xf32>, tensor<20x4xf32>) -> tensor<20x8xf32>
  %c0 = tensor.empty() : tensor<20x8xf32>
  %cos = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%emb : tensor<20x8xf32>) outs(%c0 : tensor<20x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.cos %p : f32
    linalg.yield %x : f32
  } -> tensor<20x8xf32>
  %sin = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%emb : tensor<20x8xf32>) outs(%c0 : tensor<20x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.sin %p : f32
    linalg.yield %x : f32
  } -> tensor<20x8xf32>
  %lo = tensor.extract_slice %qh[0,0,0][20,3,4][1,1,1] : tensor<20x3x8xf32> to tensor<20x3x4xf32>
  %hi = tensor.extract_slice %qh[0,0,4][20,3,4][1,1,1] : tensor<20x3x8xf32> to tensor<20x3x4xf32>
  %n0 = tensor.empty() : tensor<20x3x4xf32>
  %nh = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2)->(d0,d1,d2)>, affine_map<(d0,d1,d2)->(d0,d1,d2)>], iterator_types = ["parallel","parallel","parallel"]} ins(%hi : tensor<20x3x4xf32>) outs(%n0 : tensor<20x3x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = arith.negf %p : f32
    linalg.yield %x : f32
  } -> tensor<20x3x4xf32>
  %rot = tensor.concat dim(2) %nh, %lo : (tensor<20x3x4xf32>, tensor<20x3x4xf32>) -> tensor<20x3x8xf32>
  %r0 = tensor.empty() : tensor<20x3x8xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2)->(d0,d1,d2)>, affine_map<(d0,d1,d2)->(d0,d1,d2)>, affine_map<(d0,d1,d2)->(d0,d2)>, affine_map<(d0,d1,d2)->(d0,d2)>, affine_map<(d0,d1,d2)->(d0,d1,d2)>], iterator_types = ["parallel","parallel","parallel"]} ins(%qh, %rot, %cos, %sin : tensor<20x3x8xf32>, tensor<20x3x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>) outs(%r0 : tensor<20x3x8xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32, %s: f32, %o: f32):
    %xc = arith.mulf %x, %c : f32
    %ys = arith.mulf %y, %s : f32
    %r = arith.addf %xc, %ys : f32
    linalg.yield %r : f32
  } -> tensor<20x3x8xf32>
  return %out : tensor<20x3x8xf32>
}
