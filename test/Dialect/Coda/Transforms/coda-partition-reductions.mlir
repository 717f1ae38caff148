// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions),canonicalize,cse)' | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{max-partials=1}),canonicalize,cse)' | FileCheck %s --check-prefix=FINISH
// RUN: not coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{granule=0}))' 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: coda-partition-reductions: granule and max-partials must be positive

// CHECK-LABEL: func.func @row_sum(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<256x16xf32>,
// CHECK-DAG:   %[[S0:.*]] = tensor.empty() : tensor<2x8xf32>
// CHECK-DAG:   %[[B2:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2]] output_shape [2, 128, 16]
// CHECK:       %[[S:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B2]][n0, n1, k] :
// CHECK-NEXT:    outs(fresh add %[[S0]][n0, m] : tensor<2x8xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m] : tensor<2x8xf32>)
// CHECK:       ^bb0(%[[V:.*]]: f32):
// CHECK-NEXT:    math.rsqrt %[[V]]

// FINISH-LABEL: func.func @row_sum(
// FINISH:       %[[S:.*]] = coda.gemm
// FINISH:       %[[F:.*]] = coda.map
// FINISH-NEXT:    ins(add %[[S]][p, m] : tensor<2x8xf32>)
// FINISH:       ^bb0(%[[V:.*]]: f32):
// FINISH-NEXT:    coda.yield %[[V]]
// FINISH:       coda.map
// FINISH-NEXT:    ins(%[[F]][m] : tensor<8xf32>)
func.func @row_sum(%a: tensor<8x16xf32>, %b: tensor<256x16xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<256x16xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    %0 = arith.mulf %c, %c : f32
    coda.yield %0 : f32
  }
  %r = coda.map ins(%s[m] : tensor<8xf32>) outs(%s0[m] : tensor<8xf32>) {
  ^bb0(%v: f32):
    %0 = math.rsqrt %v : f32
    coda.yield %0 : f32
  }
  return %r : tensor<8xf32>
}

// A reader that is no tile op gets the finished sum.
// CHECK-LABEL: func.func @other_reader(
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, m] :
// CHECK:       %[[F:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m] :
// CHECK:       return %[[F]]
func.func @other_reader(%x: tensor<8x384xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.map ins(%x[m, n] : tensor<8x384xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

// No whole number of granules, a single one, an init that takes part, a
// maximum: as they were.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-4: {{outs\((fresh )?(add|max) %[^ ]*\[m\] :}}
// CHECK-NOT:   [p, m]
func.func @kept(%x: tensor<8x192xf32>, %y: tensor<8x128xf32>, %z: tensor<8x256xf32>, %s0: tensor<8xf32>, %t0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = coda.map ins(%x[m, n] : tensor<8x192xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %1 = coda.map ins(%y[m, n] : tensor<8x128xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %2 = coda.map ins(%z[m, n] : tensor<8x256xf32>) outs(add %t0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %3 = coda.map ins(%z[m, n] : tensor<8x256xf32>) outs(fresh max %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
