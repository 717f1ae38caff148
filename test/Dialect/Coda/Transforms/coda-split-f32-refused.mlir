// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-split-f32{products=bf16x6}))' -verify-diagnostics | FileCheck %s

// Six products, each with 11 k dims of its own, are more dims than a gemm has.
// CHECK-LABEL: func.func @too_many_dims(
// CHECK-SAME: %[[A:.+]]: tensor<8x1x1x1x1x1x1x1x1x1x1x1xf32>, %[[B:.+]]: tensor<4x1x1x1x1x1x1x1x1x1x1x1xf32>,
// CHECK-NEXT: coda.gemm
// CHECK-NEXT: acc(%[[A]][m, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10] * %[[B]][n, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10] :
func.func @too_many_dims(%a: tensor<8x1x1x1x1x1x1x1x1x1x1x1xf32>, %b: tensor<4x1x1x1x1x1x1x1x1x1x1x1xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-remark @below {{[coda-split-f32] products not split: resource-bound: its parts would be contracted over more than 64 dims}}
  %y = coda.gemm acc(%a[m, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10] * %b[n, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10] : tensor<8x1x1x1x1x1x1x1x1x1x1x1xf32>, tensor<4x1x1x1x1x1x1x1x1x1x1x1xf32>)
      outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %y : tensor<8x4xf32>
}
