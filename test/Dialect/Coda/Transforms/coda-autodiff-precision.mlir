// RUN: coda-opt %s -split-input-file --coda-autodiff | FileCheck %s
// RUN: coda-opt %s -split-input-file --coda-autodiff=numerics=strict | FileCheck %s --check-prefix=STRICT

// The gradient of s is a sum of acc dy in f32, from a cotangent as it is given:
// the accumulator is saved as the source has it.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x6xbf16>, tensor<8x6xf32>)
// CHECK: ^bb0(%[[ACC:[^:]+]]: f32, %[[S:[^:]+]]: f32):
// CHECK: coda.yield %{{[^,]+}}, %[[ACC]] : bf16, f32
// STRICT-LABEL: func.func @main_fwd(
// STRICT-SAME: -> (tensor<8x6xbf16>, tensor<8x6xf32>)
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %s: tensor<6xf32>) -> tensor<8x6xbf16> {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      ins(%s[n] : tensor<6xf32>) outs(%o[m, n] : tensor<8x6xbf16>) {
  ^bb0(%a: f32, %q: f32):
    %t = arith.mulf %a, %q : f32
    %r = arith.truncf %t : f32 to bf16
    coda.yield %r : bf16
  }
  return %y : tensor<8x6xbf16>
}

// -----

// A gradient of 16 bits needs no more than 16 bits; numerics=strict rounds nothing
// that the source does not.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x6xbf16>, tensor<8x6xbf16>)
// STRICT-LABEL: func.func @main_fwd(
// STRICT-SAME: -> (tensor<8x6xbf16>, tensor<8x6xf32>)
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %s: tensor<6xbf16>) -> tensor<8x6xbf16> {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      ins(%s[n] : tensor<6xbf16>) outs(%o[m, n] : tensor<8x6xbf16>) {
  ^bb0(%a: f32, %q: bf16):
    %qf = arith.extf %q : bf16 to f32
    %t = arith.mulf %a, %qf : f32
    %r = arith.truncf %t : f32 to bf16
    coda.yield %r : bf16
  }
  return %y : tensor<8x6xbf16>
}

// -----

// The source rounds the product before it scales it. Relaxed numerics leaves nothing
// of that rounding in the forward, nor in what is saved.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x6xbf16>, tensor<8x6xf32>)
// CHECK: ^bb0(%[[ACC:[^:]+]]: f32, %[[S:[^:]+]]: f32):
// CHECK: arith.mulf %[[ACC]], %[[S]]
// STRICT-LABEL: func.func @main_fwd(
// STRICT-SAME: -> (tensor<8x6xbf16>, tensor<8x6xbf16>)
// STRICT: ^bb0(%[[ACC:[^:]+]]: f32, %[[S:[^:]+]]: f32):
// STRICT: %[[ROUNDED:.+]] = arith.truncf %[[ACC]]
// STRICT: coda.yield %{{[^,]+}}, %[[ROUNDED]] : bf16, bf16
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %s: tensor<6xf32>) -> tensor<8x6xbf16> {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      ins(%s[n] : tensor<6xf32>) outs(%o[m, n] : tensor<8x6xbf16>) {
  ^bb0(%a: f32, %q: f32):
    %b = arith.truncf %a : f32 to bf16
    %c = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %q : f32
    %r = arith.truncf %t : f32 to bf16
    coda.yield %r : bf16
  }
  return %y : tensor<8x6xbf16>
}

// -----

// The cotangent of y comes from a product of rounded ones: the gradient of s has
// their error, whatever is saved.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x2xbf16>, tensor<8x6xbf16>)
// STRICT-LABEL: func.func @main_fwd(
// STRICT-SAME: -> (tensor<8x2xbf16>, tensor<8x6xf32>)
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %s: tensor<6xf32>, %v: tensor<2x6xbf16>) -> tensor<8x2xbf16> {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      ins(%s[n] : tensor<6xf32>) outs(%o[m, n] : tensor<8x6xbf16>) {
  ^bb0(%a: f32, %q: f32):
    %t = arith.mulf %a, %q : f32
    %r = arith.truncf %t : f32 to bf16
    coda.yield %r : bf16
  }
  %p = tensor.empty() : tensor<8x2xbf16>
  %z = coda.gemm acc(%y[m, k] * %v[n, k] : tensor<8x6xbf16>, tensor<2x6xbf16>) outs(%p[m, n] : tensor<8x2xbf16>) {
  ^bb0(%a: f32):
    %r = arith.truncf %a : f32 to bf16
    coda.yield %r : bf16
  }
  return %z : tensor<8x2xbf16>
}

// -----

// A value stored in f32 that the gradient of s reads in another op: it is not
// computed again from a rounded accumulator.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x6xf32>, tensor<8x6xf32>)
// STRICT-LABEL: func.func @main_fwd(
// STRICT-SAME: -> (tensor<8x6xf32>, tensor<8x6xf32>)
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %s: tensor<6xf32>) -> tensor<8x6xf32> {
  %o = tensor.empty() : tensor<8x6xf32>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    coda.yield %t : f32
  }
  %z = coda.map ins(%y[m, n], %s[n] : tensor<8x6xf32>, tensor<6xf32>) outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%a: f32, %q: f32):
    %t = arith.mulf %a, %q : f32
    coda.yield %t : f32
  }
  return %z : tensor<8x6xf32>
}

// -----

// The forward returns the rounding, and it is what the source multiplies: nothing
// is saved besides.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x6xbf16>, tensor<8x6xbf16>)
// STRICT-LABEL: func.func @main_fwd(
// STRICT-SAME: -> (tensor<8x6xbf16>, tensor<8x6xbf16>)
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %s: tensor<6xf32>) -> (tensor<8x6xbf16>, tensor<8x6xbf16>) {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y:2 = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      ins(%s[n] : tensor<6xf32>) outs(%o[m, n], %o[m, n] : tensor<8x6xbf16>, tensor<8x6xbf16>) {
  ^bb0(%a: f32, %q: f32):
    %b = arith.truncf %a : f32 to bf16
    %c = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %q : f32
    %r = arith.truncf %t : f32 to bf16
    coda.yield %r, %b : bf16, bf16
  }
  return %y#0, %y#1 : tensor<8x6xbf16>, tensor<8x6xbf16>
}
