// An op of a dialect that is not registered, as in a compiler that embeds the pipeline,
// stays as it is, and what is beside it is fused.
//
// RUN: coda-opt %s --allow-unregistered-dialect --coda-fuse-pipeline | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<8x16xf32>)
// CHECK: %[[G:.*]] = call @{{.*}}(%[[X]], %[[W]]
// CHECK: %[[Y:.*]] = "other.op"(%[[G]]) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: return %[[Y]] : tensor<8x8xf32>
func.func @main(%x: tensor<8x16xf32>, %w: tensor<8x16xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %g = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %y = "other.op"(%g) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
