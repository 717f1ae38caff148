// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-fuse))' | FileCheck %s
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-fuse{numerics=strict}))' | FileCheck %s --check-prefix=STRICT

// Keys that four heads share: what each would give their gradient is only added up, times
// what does not differ. A head is a part of the contraction.
// A sum in another order is nothing for strict numerics.
// STRICT-LABEL: func.func @shared_keys(
// STRICT:       acc(%{{.*}}[b0, b1, k, m] * %{{.*}}[b0, b1, k, n] :
// CHECK-LABEL: func.func @shared_keys(
// CHECK-SAME:    %[[P:.*]]: tensor<2x4x64x16xf32>, %[[Q:.*]]: tensor<2x4x64x8xf32>, %[[R:.*]]: tensor<2x16xf32>)
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[P]][b, k0, k1, m] * %[[Q]][b, k0, k1, n] : tensor<2x4x64x16xf32>, tensor<2x4x64x8xf32>)
// CHECK-NEXT:    ins(%[[R]][b, m] : tensor<2x16xf32>)
// CHECK-NEXT:    outs(%{{.*}}[b, m, n] : tensor<2x16x8xf32>)
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32, %[[S:.*]]: f32):
// CHECK-NEXT:    %[[V:.*]] = arith.mulf %[[C]], %[[S]]
// CHECK-NEXT:    coda.yield %[[V]]
func.func @shared_keys(%p: tensor<2x4x64x16xf32>, %q: tensor<2x4x64x8xf32>, %r: tensor<2x16xf32>) -> tensor<2x16x8xf32> {
  %e = tensor.empty() : tensor<2x16x8xf32>
  %y = coda.gemm acc(%p[b0, b1, k, m] * %q[b0, b1, k, n] : tensor<2x4x64x16xf32>, tensor<2x4x64x8xf32>) ins(%r[b0, m] : tensor<2x16xf32>)
      outs(fresh add %e[b0, m, n] : tensor<2x16x8xf32>) {
  ^bb0(%c: f32, %s: f32):
    %0 = arith.mulf %c, %s : f32
    coda.yield %0 : f32
  }
  return %y : tensor<2x16x8xf32>
}

// -----

// A dim of the batch whose index is read stays, by its new name; sums over rows stay sums.
// CHECK-LABEL: func.func @others(
// CHECK:       acc(%{{.*}}[k0, b, k1, m] * %{{.*}}[k0, b, k1, n] :
// CHECK-NEXT:  outs(fresh add %{{.*}}[n] : tensor<8xf32>)
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32):
// CHECK-NEXT:    %[[I:.*]] = coda.index b
// CHECK:         %[[F:.*]] = arith.uitofp
// CHECK-NEXT:    %[[V:.*]] = arith.mulf %[[C]], %[[F]]
// CHECK-NEXT:    coda.yield %[[V]]
func.func @others(%p: tensor<4x3x64x16xf32>, %q: tensor<4x3x64x8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = coda.gemm acc(%p[b0, b1, k, m] * %q[b0, b1, k, n] : tensor<4x3x64x16xf32>, tensor<4x3x64x8xf32>)
      outs(fresh add %e[n] : tensor<8xf32>) {
  ^bb0(%c: f32):
    %i = coda.index b1
    %0 = arith.index_castui %i : index to i32
    %1 = arith.uitofp %0 : i32 to f32
    %2 = arith.mulf %c, %1 : f32
    coda.yield %2 : f32
  }
  return %y : tensor<8xf32>
}

// -----

// Not where the sum is of what is not linear in the product, where its terms differ in
// more than that, where a result has the dim, or of a maximum.
// CHECK-LABEL: func.func @neg(
// CHECK-COUNT-5: [b, k, m] * %{{.*}}[b, k, n]
func.func @neg(%p: tensor<4x64x16xf32>, %q: tensor<4x64x8xf32>, %r: tensor<4xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<16x8xf32>
  %e1 = tensor.empty() : tensor<4x8xf32>
  %a = coda.gemm acc(%p[b, k, m] * %q[b, k, n] : tensor<4x64x16xf32>, tensor<4x64x8xf32>) outs(fresh add %e[m, n] : tensor<16x8xf32>) {
  ^bb0(%c: f32):
    %0 = math.absf %c : f32
    coda.yield %0 : f32
  }
  %b = coda.gemm acc(%p[b, k, m] * %q[b, k, n] : tensor<4x64x16xf32>, tensor<4x64x8xf32>) ins(%r[b] : tensor<4xf32>) outs(fresh add %e[m, n] : tensor<16x8xf32>) {
  ^bb0(%c: f32, %s: f32):
    %0 = arith.mulf %c, %s : f32
    coda.yield %0 : f32
  }
  %d:2 = coda.gemm acc(%p[b, k, m] * %q[b, k, n] : tensor<4x64x16xf32>, tensor<4x64x8xf32>) outs(fresh add %e[m, n], fresh add %e1[b, n] : tensor<16x8xf32>, tensor<4x8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  %f = coda.gemm acc(%p[b, k, m] * %q[b, k, n] : tensor<4x64x16xf32>, tensor<4x64x8xf32>) outs(fresh max %e[m, n] : tensor<16x8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %g = coda.gemm acc(%p[b, k, m] * %q[b, k, n] : tensor<4x64x16xf32>, tensor<4x64x8xf32>) outs(fresh add %e[m, n] : tensor<16x8xf32>) {
  ^bb0(%c: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %c, %one : f32
    coda.yield %0 : f32
  }
  return %a, %b, %d#0, %d#1, %f, %g : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
