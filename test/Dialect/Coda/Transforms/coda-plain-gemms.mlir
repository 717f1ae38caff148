// RUN: coda-opt %s --split-input-file --coda-plain-gemms | FileCheck %s

// The factors are the caller's values; loads, other stores and reductions go,
// and a factor that two accumulators share is one argument.
// CHECK-LABEL: func.func @chain_factors(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x32xbf16>, %[[W:[a-z0-9]+]]: tensor<16x32xbf16>, %[[G:[a-z0-9]+]]: tensor<8x16xbf16>, %[[U:[a-z0-9]+]]: tensor<8x16xbf16>
// CHECK-SAME:    -> (tensor<?x32xbf16>, tensor<16x32xbf16>, tensor<?x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>)
// CHECK:         %[[H:.+]] = call @one(%[[X]], %[[W]]
// CHECK:         return %[[X]], %[[W]], %[[H]], %[[G]], %[[U]]
// CHECK-LABEL: func.func @chain_gemms(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<?x32xbf16>, %[[B:[a-z0-9]+]]: tensor<16x32xbf16>, %[[C:[a-z0-9]+]]: tensor<?x16xbf16>, %[[D:[a-z0-9]+]]: tensor<8x16xbf16>, %[[E:[a-z0-9]+]]: tensor<8x16xbf16>
// CHECK-SAME:    -> (tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK:         %[[M:.+]] = tensor.dim %[[A]]
// CHECK:         %[[E0:.+]] = tensor.empty(%[[M]]) : tensor<?x16xf32>
// CHECK:         %[[R0:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-NEXT:      outs(%[[E0]][m, n] :
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT:      coda.yield %[[ACC]] : f32
// CHECK:         %[[R1:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[C]][m, k] * %[[D]][n, k] :
// CHECK:         %[[R2:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[C]][m, k] * %[[E]][n, k] :
// CHECK:         return %[[R0]], %[[R1]], %[[R2]]
func.func @chain(%x: tensor<?x32xbf16>, %w: tensor<16x32xbf16>, %g: tensor<8x16xbf16>, %u: tensor<8x16xbf16>, %h0: tensor<?x16xbf16>, %y0: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %h = call @one(%x, %w, %h0) : (tensor<?x32xbf16>, tensor<16x32xbf16>, tensor<?x16xbf16>) -> tensor<?x16xbf16>
  %y = call @two(%h, %g, %u, %y0) : (tensor<?x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}
func.func private @one(%x: tensor<?x32xbf16>, %w: tensor<16x32xbf16>, %h0: tensor<?x16xbf16>) -> tensor<?x16xbf16> attributes {coda.kernel} {
  %h = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<?x32xbf16>, tensor<16x32xbf16>) outs(%h0[m, n] : tensor<?x16xbf16>) {
  ^bb0(%a: f32):
    %t = arith.truncf %a : f32 to bf16
    coda.yield %t : bf16
  }
  return %h : tensor<?x16xbf16>
}
func.func private @two(%h: tensor<?x16xbf16>, %g: tensor<8x16xbf16>, %u: tensor<8x16xbf16>, %y0: tensor<?x8xbf16>) -> tensor<?x8xbf16> attributes {coda.kernel} {
  %y = coda.gemm acc(%h[m, k] * %g[n, k], %h[m, k] * %u[n, k] : tensor<?x16xbf16>, tensor<8x16xbf16>, tensor<?x16xbf16>, tensor<8x16xbf16>) outs(%y0[m, n] : tensor<?x8xbf16>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.truncf %p : f32 to bf16
    coda.yield %t : bf16
  }
  return %y : tensor<?x8xbf16>
}

// -----

// Unrolled dims are columns; a product of two terms is one gemm of two.
// CHECK-LABEL: func.func @rotate_gemms(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<4x6x32xf32>, %[[C:[a-z0-9]+]]: tensor<4x6x5xf32>, %[[B:[a-z0-9]+]]: tensor<2x2x8x32xf32>, %[[D:[a-z0-9]+]]: tensor<5x2x2x8xf32>
// CHECK-SAME:    -> tensor<4x6x2x2x8xf32>
// CHECK:         %[[R:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[A]][m0, m1, k0] * %[[B]][n0, n1, n2, k0] + %[[C]][m0, m1, k1] * %[[D]][k1, n0, n1, n2] :
// CHECK-NEXT:      outs(%{{[0-9]+}}[m0, m1, n0, n1, n2] : tensor<4x6x2x2x8xf32>)
// CHECK:         return %[[R]]
func.func @rotate(%x: tensor<4x6x32xf32>, %w: tensor<2x2x8x32xf32>, %z: tensor<4x6x5xf32>, %v: tensor<5x2x2x8xf32>, %q0: tensor<4x2x6x2x8xf32>) -> tensor<4x2x6x2x8xf32> {
  %q = call @three(%x, %w, %z, %v, %q0) : (tensor<4x6x32xf32>, tensor<2x2x8x32xf32>, tensor<4x6x5xf32>, tensor<5x2x2x8xf32>, tensor<4x2x6x2x8xf32>) -> tensor<4x2x6x2x8xf32>
  return %q : tensor<4x2x6x2x8xf32>
}
func.func private @three(%x: tensor<4x6x32xf32>, %w: tensor<2x2x8x32xf32>, %z: tensor<4x6x5xf32>, %v: tensor<5x2x2x8xf32>, %q0: tensor<4x2x6x2x8xf32>) -> tensor<4x2x6x2x8xf32> attributes {coda.kernel} {
  %q = coda.gemm acc(%x[m0, m1, k0] * %w[n0, u, n1, k0] + %z[m0, m1, k1] * %v[k1, n0, u, n1] : tensor<4x6x32xf32>, tensor<2x2x8x32xf32>, tensor<4x6x5xf32>, tensor<5x2x2x8xf32>) outs(%q0[m0, n0, m1, u, n1] : tensor<4x2x6x2x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    coda.yield %b, %a : f32, f32
  }
  return %q : tensor<4x2x6x2x8xf32>
}

// -----

// Nothing to time in a function without gemms.
// CHECK-LABEL: func.func @no_gemm(
// CHECK-NOT:     _gemms
// CHECK:         call @map
func.func @no_gemm(%x: tensor<8xf32>, %y0: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @map(%x, %y0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @map(%x: tensor<8xf32>, %y0: tensor<8xf32>) -> tensor<8xf32> attributes {coda.kernel} {
  %y = coda.map ins(%x[m] : tensor<8xf32>) outs(%y0[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y : tensor<8xf32>
}
