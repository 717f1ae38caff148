// More products of one left factor than a kernel has tensor maps for: two launches.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}
// RUN: coda-compile %s --target=sm_90a --emit=scheduled -o - 2>&1 | FileCheck %s
// CHECK: its 14 members are 2 launches
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: call @
// CHECK-NOT:   call @
// CHECK:       func.func private

func.func @main(%x: tensor<200x192xbf16>, %w0: tensor<128x192xbf16>, %w1: tensor<128x192xbf16>, %w2: tensor<128x192xbf16>, %w3: tensor<128x192xbf16>, %w4: tensor<128x192xbf16>, %w5: tensor<128x192xbf16>, %w6: tensor<128x192xbf16>, %w7: tensor<128x192xbf16>, %w8: tensor<128x192xbf16>, %w9: tensor<128x192xbf16>, %w10: tensor<128x192xbf16>, %w11: tensor<128x192xbf16>, %w12: tensor<128x192xbf16>, %w13: tensor<128x192xbf16>) -> (tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>) {
  %e = tensor.empty() : tensor<200x128xbf16>
  %y0 = coda.gemm acc(%x[m, k] * %w0[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y1 = coda.gemm acc(%x[m, k] * %w1[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y2 = coda.gemm acc(%x[m, k] * %w2[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y3 = coda.gemm acc(%x[m, k] * %w3[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y4 = coda.gemm acc(%x[m, k] * %w4[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y5 = coda.gemm acc(%x[m, k] * %w5[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y6 = coda.gemm acc(%x[m, k] * %w6[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y7 = coda.gemm acc(%x[m, k] * %w7[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y8 = coda.gemm acc(%x[m, k] * %w8[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y9 = coda.gemm acc(%x[m, k] * %w9[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y10 = coda.gemm acc(%x[m, k] * %w10[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y11 = coda.gemm acc(%x[m, k] * %w11[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y12 = coda.gemm acc(%x[m, k] * %w12[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %y13 = coda.gemm acc(%x[m, k] * %w13[n, k] : tensor<200x192xbf16>, tensor<128x192xbf16>) outs(%e[m, n] : tensor<200x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9, %y10, %y11, %y12, %y13 : tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>, tensor<200x128xbf16>
}
