// Gate and up projections whose columns alternate, each with a bias, as GPT-OSS has
// them: both are clamped, and the unit is (up + 1) gate sigmoid(1.702 gate). Pairs, in
// one kernel, and so are their cotangents.
//
// RUN: coda-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-NOT:   linalg.
// CHECK:       %[[Y:.*]] = call @main_gemm_0
// CHECK-NOT:   extract_slice
// CHECK:       call @main_gemm_1(%[[Y]],
// CHECK-NOT:   call
// CHECK:       func.func private @main_gemm_0
// CHECK:         acc(%{{.*}}[m, k] * %{{.*}}[n, u, k] : tensor<?x16xf32>, tensor<12x2x16xf32>)
// CHECK-NEXT:    ins(%{{.*}}[n, u] : tensor<12x2xf32>)
// CHECK-NEXT:    outs(%{{.*}}[m, n] : tensor<?x12xf32>)
// RUN: coda-run %s --extent=20 --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// OUT: all outputs are good
// RUN: coda-run %s --extent=20 --seed=1 --grad --differences --repeat=0 --no-unfused | FileCheck %s --check-prefix=GRAD
// GRAD: arg3 {{.*}} ok
// GRAD: all gradients are good

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<?x16xf32>, %w: tensor<24x16xf32>, %bias: tensor<24xf32>, %down: tensor<16x12xf32>) -> tensor<?x16xf32> {
  %i0 = arith.constant 0 : index
  %t = tensor.dim %x, %i0 : tensor<?x16xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %alpha = arith.constant 1.702 : f32
  %limit = arith.constant 7.0 : f32
  %low = arith.constant -7.0 : f32
  %e = tensor.empty(%t) : tensor<?x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wt0 = tensor.empty() : tensor<16x24xf32>
  %wt = linalg.transpose ins(%w : tensor<24x16xf32>) outs(%wt0 : tensor<16x24xf32>) permutation = [1, 0]
  %h = linalg.matmul ins(%x, %wt : tensor<?x16xf32>, tensor<16x24xf32>) outs(%f : tensor<?x24xf32>) -> tensor<?x24xf32>
  %hb = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %bias : tensor<?x24xf32>, tensor<24xf32>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x24xf32>
  %gate = tensor.extract_slice %hb[0, 0] [%t, 12] [1, 2] : tensor<?x24xf32> to tensor<?x12xf32>
  %up = tensor.extract_slice %hb[0, 1] [%t, 12] [1, 2] : tensor<?x24xf32> to tensor<?x12xf32>
  %e1 = tensor.empty(%t) : tensor<?x12xf32>
  %glu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%gate : tensor<?x12xf32>) outs(%e1 : tensor<?x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.minimumf %a, %limit : f32
    %s = arith.mulf %c, %alpha : f32
    %n = arith.negf %s : f32
    %x0 = math.exp %n : f32
    %d = arith.addf %x0, %one : f32
    %r = arith.divf %c, %d : f32
    linalg.yield %r : f32
  } -> tensor<?x12xf32>
  %act = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%up, %glu : tensor<?x12xf32>, tensor<?x12xf32>) outs(%e1 : tensor<?x12xf32>) {
  ^bb0(%a: f32, %g: f32, %o: f32):
    %c0 = arith.minimumf %a, %limit : f32
    %c1 = arith.maximumf %c0, %low : f32
    %p = arith.addf %c1, %one : f32
    %r = arith.mulf %p, %g : f32
    linalg.yield %r : f32
  } -> tensor<?x12xf32>
  %e2 = tensor.empty(%t) : tensor<?x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %dt0 = tensor.empty() : tensor<12x16xf32>
  %dt = linalg.transpose ins(%down : tensor<16x12xf32>) outs(%dt0 : tensor<12x16xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%act, %dt : tensor<?x12xf32>, tensor<12x16xf32>) outs(%f2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
