// RUN: coda-opt %s --coda-autodiff --canonicalize --cse | FileCheck %s
// RUN: coda-opt %s --coda-autodiff-pipeline | FileCheck %s --check-prefix=LAUNCHES

// Partial sums of a ragged dim that their reader adds up: each has the cotangent of
// the sum, so groups need none of their own. They are saved as they are.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x300xf32>, tensor<3x8xf32>)
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x300xf32>, %[[P:[^:]+]]: tensor<3x8xf32>, %[[G:[^:]+]]: tensor<8x300xf32>)
// CHECK: %[[A:.+]]:2 = coda.map
// CHECK-NEXT: ins(%[[X]][m, n], add %[[P]][p, m], %[[G]][m, n]
// CHECK-NEXT: outs(%{{[^,]+}}[m, n], fresh add %{{[^,]+}}[m] : tensor<8x300xf32>, tensor<8xf32>)
// CHECK: %[[B:.+]] = coda.map
// CHECK-NEXT: ins(%[[X]][m, n], %[[A]]#1[m] : tensor<8x300xf32>, tensor<8xf32>)
// CHECK-NEXT: outs(%{{[^,]+}}[m, n] : tensor<8x300xf32>)

// The pipeline makes such sums of whole ones: no finisher runs in the forward.
// LAUNCHES-LABEL: func.func @main_fwd(
// LAUNCHES-SAME: -> (tensor<8x300xf32>, tensor<3x8xf32>)
// LAUNCHES: call
// LAUNCHES: call
// LAUNCHES-NOT: call
// LAUNCHES: return
func.func @main(%x: tensor<8x300xf32>) -> tensor<8x300xf32> {
  %s0 = tensor.empty() : tensor<3x8xf32>
  %o = tensor.empty() : tensor<8x300xf32>
  %s = coda.map ins(%x[m, n] : tensor<8x300xf32>) outs(fresh add %s0[n floordiv 128, m] : tensor<3x8xf32>) {
  ^bb0(%a: f32):
    %b = math.sin %a : f32
    coda.yield %b : f32
  }
  %y = coda.map ins(%x[m, n], add %s[p, m] : tensor<8x300xf32>, tensor<3x8xf32>) outs(%o[m, n] : tensor<8x300xf32>) {
  ^bb0(%a: f32, %q: f32):
    %b = math.tanh %q : f32
    %c = arith.mulf %a, %b : f32
    coda.yield %c : f32
  }
  return %y : tensor<8x300xf32>
}
