// RUN: coda-opt %s --coda-fuse-pipeline 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.err
// The backward of a norm alone, of what a forward elsewhere saved, of rows that no tile
// holds: the gemm that makes what the row's sum is of has its partial sums, and one map
// adds them up and makes the rest. No sum is known before that gemm ends, so that the
// rest is no part of it.

// REMARK:     norm-backward.mlir:{{[0-9]+}}:{{[0-9]+}}: remark: [coda-fuse] not fused with the producer: producer-partial-sum
// REMARK-NOT: remark

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[DZ:[a-z0-9]+]]: tensor<4096x8192xf32>, %[[W:[a-z0-9]+]]: tensor<8192x2048xf32>,
// CHECK:       %[[V:.*]] = tensor.expand_shape %[[W]]
// CHECK:       %[[G:.*]]:2 = call @main_gemm_0(%[[DZ]], %[[V]],
// CHECK-NEXT:  %[[Y:.*]] = tensor.collapse_shape %[[G]]#0
// CHECK-NEXT:  %[[D:.*]] = call @main_map_1(%[[Y]], {{.*}}%[[G]]#1
// CHECK-NEXT:  return %[[D]]
// CHECK:       func.func private @main_map_1(
// CHECK:         ins({{.*}}add %{{[a-z0-9]+}}[p, m]{{.*}} :
// CHECK-NEXT:    outs(%{{[a-z0-9]+}}[m, n] :
// CHECK:       func.func private @main_gemm_0(
// CHECK:         acc(%{{[a-z0-9]+}}[m, k] * %{{[a-z0-9]+}}[k, n0, n1] :
// CHECK:         outs({{.*}}fresh add %{{[a-z0-9]+}}[n0, m]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%dz: tensor<4096x8192xf32>, %w: tensor<8192x2048xf32>, %x: tensor<4096x2048xf32>, %r: tensor<4096xf32>, %g: tensor<2048xf32>) -> tensor<4096x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 2048.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %er = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %dy = linalg.matmul ins(%dz, %w : tensor<4096x8192xf32>, tensor<8192x2048xf32>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #column, #row], iterator_types = ["parallel", "reduction"]} ins(%dy, %x, %g : tensor<4096x2048xf32>, tensor<4096x2048xf32>, tensor<2048xf32>) outs(%fr : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4096xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #column, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%dy, %x, %g, %r, %s : tensor<4096x2048xf32>, tensor<4096x2048xf32>, tensor<2048xf32>, tensor<4096xf32>, tensor<4096xf32>) outs(%e : tensor<4096x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %q: f32, %t: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.mulf %q, %q : f32
    %3 = arith.mulf %2, %q : f32
    %4 = arith.divf %3, %n : f32
    %5 = arith.mulf %4, %t : f32
    %6 = arith.mulf %5, %b : f32
    %7 = arith.subf %1, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4096x2048xf32>
  return %dx : tensor<4096x2048xf32>
}
