// RUN: coda-opt %s -coda-decompose=semantic-only | FileCheck %s

// Each semantic op, as the tile ops that define it.

// CHECK-LABEL: func.func @scale(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.+]] = tensor.dim %[[ARG0]], %[[C0]] : tensor<?x4xbf16>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty(%[[DIM]]) : tensor<?x4xbf16>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG1]][m] : tensor<?x4xbf16>, tensor<?xf32>)
// CHECK-NEXT:     outs(%[[V0]][m, n] : tensor<?x4xbf16>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: bf16, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[ARG2]] : bf16 to f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[V2]], %[[ARG3]] : f32
// CHECK-NEXT:   %[[V4:.+]] = arith.truncf %[[V3]] : f32 to bf16
// CHECK-NEXT:   coda.yield %[[V4]] : bf16
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<?x4xbf16>
// CHECK-NEXT: }
func.func @scale(%v: tensor<?x4xbf16>, %r: tensor<?xf32>) -> tensor<?x4xbf16> {
  %0 = coda.scale %v, %r along [0] : tensor<?x4xbf16>, tensor<?xf32> -> tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

// The scaled dim comes last: it is the m dim all the same.
// CHECK-LABEL: func.func @scale_last(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n, m], %[[ARG1]][m] : tensor<8x4xf32>, tensor<4xf32>)
// CHECK-NEXT:     outs(%[[V0]][n, m] : tensor<8x4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<8x4xf32>
// CHECK-NEXT: }
func.func @scale_last(%v: tensor<8x4xf32>, %r: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = coda.scale %v, %r along [1] : tensor<8x4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// An f64 operand is multiplied as it is.
// CHECK-LABEL: func.func @scale_wide(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf64>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n], %[[ARG1]][] : tensor<4xf64>, tensor<f32>)
// CHECK-NEXT:     outs(%[[V0]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f64, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[ARG3]] : f32 to f64
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[ARG2]], %[[V2]] : f64
// CHECK-NEXT:   %[[V4:.+]] = arith.truncf %[[V3]] : f64 to f32
// CHECK-NEXT:   coda.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @scale_wide(%v: tensor<4xf64>, %r: tensor<f32>) -> tensor<4xf32> {
  %0 = coda.scale %v, %r along [] : tensor<4xf64>, tensor<f32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xbf16>
// CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.+]] = tensor.dim %[[ARG0]], %[[C0]] : tensor<?x4xbf16>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty(%[[DIM]]) : tensor<?xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<?x4xbf16>)
// CHECK-NEXT:     outs(fresh add %[[V0]][m] : tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: bf16):
// CHECK-NEXT:   %[[V4:.+]] = arith.extf %[[ARG2]] : bf16 to f32
// CHECK-NEXT:   %[[V5:.+]] = arith.mulf %[[V4]], %[[V4]] : f32
// CHECK-NEXT:   coda.yield %[[V5]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[C0_0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM_1:.+]] = tensor.dim %[[ARG0]], %[[C0_0]] : tensor<?x4xbf16>
// CHECK-NEXT: %[[V2:.+]] = tensor.empty(%[[DIM_1]]) : tensor<?x4xbf16>
// CHECK-NEXT: %[[V3:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[V1]][m], %[[ARG1]][n] : tensor<?x4xbf16>, tensor<?xf32>, tensor<4xbf16>)
// CHECK-NEXT:     outs(%[[V2]][m, n] : tensor<?x4xbf16>) {
// CHECK-NEXT: ^bb0(%[[ARG2]]: bf16, %[[ARG3:.+]]: f32, %[[ARG4:.+]]: bf16):
// CHECK-NEXT:   %[[V4]] = arith.extf %[[ARG2]] : bf16 to f32
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-NEXT:   %[[V5]] = arith.divf %[[ARG3]], %[[CST]] : f32
// CHECK-NEXT:   %[[CST_2:.+]] = arith.constant 9.99999974E-6 : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.addf %[[V5]], %[[CST_2]] : f32
// CHECK-NEXT:   %[[V7:.+]] = math.rsqrt %[[V6]] : f32
// CHECK-NEXT:   %[[V8:.+]] = arith.mulf %[[V4]], %[[V7]] : f32
// CHECK-NEXT:   %[[V9:.+]] = arith.extf %[[ARG4]] : bf16 to f32
// CHECK-NEXT:   %[[CST_3:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[V10:.+]] = arith.addf %[[V9]], %[[CST_3]] : f32
// CHECK-NEXT:   %[[V11:.+]] = arith.mulf %[[V8]], %[[V10]] : f32
// CHECK-NEXT:   %[[V12:.+]] = arith.truncf %[[V11]] : f32 to bf16
// CHECK-NEXT:   coda.yield %[[V12]] : bf16
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V3]] : tensor<?x4xbf16>
// CHECK-NEXT: }
func.func @rms_norm(%x: tensor<?x4xbf16>, %w: tensor<4xbf16>) -> tensor<?x4xbf16> {
  %0 = coda.rms_norm %x weight(%w : tensor<4xbf16>) eps 1.0e-05 {offset = 1.0 : f64}
      : tensor<?x4xbf16> -> tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

// CHECK-LABEL: func.func @rms_norm_unweighted(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:     outs(fresh add %[[V0]][] : tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: f32):
// CHECK-NEXT:   %[[V4:.+]] = arith.mulf %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT:   coda.yield %[[V4]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V3:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n], %[[V1]][] : tensor<4xf32>, tensor<f32>)
// CHECK-NEXT:     outs(%[[V2]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG1]]: f32, %[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-NEXT:   %[[V4]] = arith.divf %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT:   %[[CST_0:.+]] = arith.constant 9.99999974E-6 : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.addf %[[V4]], %[[CST_0]] : f32
// CHECK-NEXT:   %[[V6:.+]] = math.rsqrt %[[V5]] : f32
// CHECK-NEXT:   %[[V7:.+]] = arith.mulf %[[ARG1]], %[[V6]] : f32
// CHECK-NEXT:   coda.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V3]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @rms_norm_unweighted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.rms_norm %x eps 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @silu(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x4xf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8x4xf16>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<8x4xf16>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG1]][m, n] : tensor<8x4xf16>, tensor<8x4xf16>)
// CHECK-NEXT:     outs(%[[V0]][m, n] : tensor<8x4xf16>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f16, %[[ARG3:.+]]: f16):
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[ARG2]] : f16 to f32
// CHECK-NEXT:   %[[V3:.+]] = arith.extf %[[ARG3]] : f16 to f32
// CHECK-NEXT:   %[[V4:.+]] = arith.negf %[[V2]] : f32
// CHECK-NEXT:   %[[V5:.+]] = math.exp %[[V4]] : f32
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.addf %[[V5]], %[[CST]] : f32
// CHECK-NEXT:   %[[V7:.+]] = arith.divf %[[V2]], %[[V6]] : f32
// CHECK-NEXT:   %[[V8:.+]] = arith.mulf %[[V7]], %[[V3]] : f32
// CHECK-NEXT:   %[[V9:.+]] = arith.truncf %[[V8]] : f32 to f16
// CHECK-NEXT:   coda.yield %[[V9]] : f16
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<8x4xf16>
// CHECK-NEXT: }
func.func @silu(%g: tensor<8x4xf16>, %u: tensor<8x4xf16>) -> tensor<8x4xf16> {
  %0 = coda.glu silu %g, %u : tensor<8x4xf16>, tensor<8x4xf16> -> tensor<8x4xf16>
  return %0 : tensor<8x4xf16>
}

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n], %[[ARG1]][n] : tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:     outs(%[[V0]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[V2]], %[[ARG2]] : f32
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 4.471500e-02 : f32
// CHECK-NEXT:   %[[V4:.+]] = arith.mulf %[[V3]], %[[CST]] : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.addf %[[ARG2]], %[[V4]] : f32
// CHECK-NEXT:   %[[CST_0:.+]] = arith.constant 7.500000e-01 : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[V5]], %[[CST_0]] : f32
// CHECK-NEXT:   %[[V7:.+]] = math.tanh %[[V6]] : f32
// CHECK-NEXT:   %[[CST_1:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:   %[[V8:.+]] = arith.mulf %[[ARG2]], %[[CST_1]] : f32
// CHECK-NEXT:   %[[CST_2:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[V9:.+]] = arith.addf %[[V7]], %[[CST_2]] : f32
// CHECK-NEXT:   %[[V10:.+]] = arith.mulf %[[V8]], %[[V9]] : f32
// CHECK-NEXT:   %[[V11:.+]] = arith.mulf %[[V10]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V11]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @gelu_tanh(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.glu gelu_tanh %g, %u {tanh_scale = 0.75 : f64} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @gelu_erf(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n], %[[ARG1]][n] : tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:     outs(%[[V0]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 0.707106769 : f32
// CHECK-NEXT:   %[[V2:.+]] = arith.mulf %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT:   %[[V3:.+]] = math.erf %[[V2]] : f32
// CHECK-NEXT:   %[[CST_0:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:   %[[V4:.+]] = arith.mulf %[[ARG2]], %[[CST_0]] : f32
// CHECK-NEXT:   %[[CST_1:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.addf %[[V3]], %[[CST_1]] : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:   %[[V7:.+]] = arith.mulf %[[V6]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @gelu_erf(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.glu gelu_erf %g, %u : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n], %[[ARG1]][n] : tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:     outs(%[[V0]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %[[V2:.+]] = arith.maximumf %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[V2]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @relu(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.glu relu %g, %u : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][], %[[ARG1]][] : tensor<f32>, tensor<f32>)
// CHECK-NEXT:     outs(%[[V0]][] : tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.negf %[[ARG2]] : f32
// CHECK-NEXT:   %[[V3:.+]] = math.exp %[[V2]] : f32
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[CST_0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[V4:.+]] = arith.addf %[[V3]], %[[CST_0]] : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.divf %[[CST]], %[[V4]] : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[V5]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V6]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<f32>
// CHECK-NEXT: }
func.func @sigmoid(%g: tensor<f32>, %u: tensor<f32>) -> tensor<f32> {
  %0 = coda.glu sigmoid %g, %u : tensor<f32>, tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// Tables with an entry per element are split like x.
// CHECK-LABEL: func.func @rope_half(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x4x8x16xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x8x16xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<2x8x16xf32>
// CHECK-NEXT: %[[EXPANDED:.+]] = tensor.expand_shape %[[ARG0]] {{\[\[}}0], [1], [2], [3, 4]] output_shape [2, 4, 8, 2, 8] : tensor<2x4x8x16xbf16> into tensor<2x4x8x2x8xbf16>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<2x4x8x2x8xbf16>
// CHECK-NEXT: %[[EXPANDED_0:.+]] = tensor.expand_shape %[[ARG1]] {{\[\[}}0], [1], [2, 3]] output_shape [2, 8, 2, 8] : tensor<2x8x16xf32> into tensor<2x8x2x8xf32>
// CHECK-NEXT: %[[EXPANDED_1:.+]] = tensor.expand_shape %[[ARG2]] {{\[\[}}0], [1], [2, 3]] output_shape [2, 8, 2, 8] : tensor<2x8x16xf32> into tensor<2x8x2x8xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[EXPANDED]][m0, m1, m2, u, n], %[[EXPANDED_0]][m0, m2, u, n], %[[EXPANDED_1]][m0, m2, u, n] : tensor<2x4x8x2x8xbf16>, tensor<2x8x2x8xf32>, tensor<2x8x2x8xf32>)
// CHECK-NEXT:     outs(%[[V0]][m0, m1, m2, u, n] : tensor<2x4x8x2x8xbf16>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: bf16, %[[ARG4:.+]]: bf16, %[[ARG5:.+]]: f32, %[[ARG6:.+]]: f32, %[[ARG7:.+]]: f32, %[[ARG8:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[ARG3]] : bf16 to f32
// CHECK-NEXT:   %[[V3:.+]] = arith.extf %[[ARG4]] : bf16 to f32
// CHECK-NEXT:   %[[V4:.+]] = arith.mulf %[[V2]], %[[ARG5]] : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.mulf %[[V3]], %[[ARG7]] : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.subf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:   %[[V7:.+]] = arith.mulf %[[V3]], %[[ARG6]] : f32
// CHECK-NEXT:   %[[V8:.+]] = arith.mulf %[[V2]], %[[ARG8]] : f32
// CHECK-NEXT:   %[[V9:.+]] = arith.addf %[[V7]], %[[V8]] : f32
// CHECK-NEXT:   %[[V10:.+]] = arith.truncf %[[V6]] : f32 to bf16
// CHECK-NEXT:   %[[V11:.+]] = arith.truncf %[[V9]] : f32 to bf16
// CHECK-NEXT:   coda.yield %[[V10]], %[[V11]] : bf16, bf16
// CHECK-NEXT: }
// CHECK-NEXT: %[[COLLAPSED:.+]] = tensor.collapse_shape %[[V1]] {{\[\[}}0], [1], [2], [3, 4]] : tensor<2x4x8x2x8xbf16> into tensor<2x4x8x16xbf16>
// CHECK-NEXT: return %[[COLLAPSED]] : tensor<2x4x8x16xbf16>
// CHECK-NEXT: }
func.func @rope_half(%x: tensor<2x4x8x16xbf16>, %c: tensor<2x8x16xf32>, %s: tensor<2x8x16xf32>)
    -> tensor<2x4x8x16xbf16> {
  %0 = coda.rope half %x, %c, %s table_dims [0, 2]
      : tensor<2x4x8x16xbf16>, tensor<2x8x16xf32> -> tensor<2x4x8x16xbf16>
  return %0 : tensor<2x4x8x16xbf16>
}

// CHECK-LABEL: func.func @rope_interleaved(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?x3xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<?x3xf32>
// CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.+]] = tensor.dim %[[ARG0]], %[[C0]] : tensor<?x6xf32>
// CHECK-NEXT: %[[C1:.+]] = arith.constant 1 : index
// CHECK-NEXT: %[[EXPANDED:.+]] = tensor.expand_shape %[[ARG0]] {{\[\[}}0], [1, 2]] output_shape [%[[DIM]], 3, 2] : tensor<?x6xf32> into tensor<?x3x2xf32>
// CHECK-NEXT: %[[C0_0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM_1:.+]] = tensor.dim %[[EXPANDED]], %[[C0_0]] : tensor<?x3x2xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty(%[[DIM_1]]) : tensor<?x3x2xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[EXPANDED]][m, n, u], %[[ARG1]][m, n], %[[ARG2]][m, n] : tensor<?x3x2xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
// CHECK-NEXT:     outs(%[[V0]][m, n, u] : tensor<?x3x2xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32, %[[ARG4:.+]]: f32, %[[ARG5:.+]]: f32, %[[ARG6:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = arith.mulf %[[ARG3]], %[[ARG5]] : f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[ARG4]], %[[ARG6]] : f32
// CHECK-NEXT:   %[[V4:.+]] = arith.subf %[[V2]], %[[V3]] : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.mulf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[ARG3]], %[[ARG6]] : f32
// CHECK-NEXT:   %[[V7:.+]] = arith.addf %[[V5]], %[[V6]] : f32
// CHECK-NEXT:   coda.yield %[[V4]], %[[V7]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[COLLAPSED:.+]] = tensor.collapse_shape %[[V1]] {{\[\[}}0], [1, 2]] : tensor<?x3x2xf32> into tensor<?x6xf32>
// CHECK-NEXT: return %[[COLLAPSED]] : tensor<?x6xf32>
// CHECK-NEXT: }
func.func @rope_interleaved(%x: tensor<?x6xf32>, %c: tensor<?x3xf32>, %s: tensor<?x3xf32>)
    -> tensor<?x6xf32> {
  %0 = coda.rope interleaved %x, %c, %s table_dims [0] : tensor<?x6xf32>, tensor<?x3xf32> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @cross_entropy(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8xi64>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT: %[[V1:.+]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT: %[[V2:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG1]][m] : tensor<8x4xbf16>, tensor<8xi64>)
// CHECK-NEXT:     outs(fresh logaddexp %[[V0]][m], fresh add %[[V1]][m] : tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: bf16, %[[ARG3:.+]]: i64):
// CHECK-NEXT:   %[[V5:.+]] = arith.extf %[[ARG2]] : bf16 to f32
// CHECK-NEXT:   %[[V6:.+]] = coda.index n
// CHECK-NEXT:   %[[V7:.+]] = arith.index_cast %[[ARG3]] : i64 to index
// CHECK-NEXT:   %[[V8:.+]] = arith.cmpi eq, %[[V6]], %[[V7]] : index
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %[[V9:.+]] = arith.select %[[V8]], %[[V5]], %[[CST]] : f32
// CHECK-NEXT:   coda.yield %[[V5]], %[[V9]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.+]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT: %[[V4:.+]] = coda.map
// CHECK-NEXT:     ins(%[[V2]]#0[m], %[[V2]]#1[m], %[[ARG1]][m] : tensor<8xf32>, tensor<8xf32>, tensor<8xi64>)
// CHECK-NEXT:     outs(%[[V3]][m] : tensor<8xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2]]: f32, %[[ARG3]]: f32, %[[ARG4:.+]]: i64):
// CHECK-NEXT:   %[[C:.+]]-100_i64 = arith.constant -100 : i64
// CHECK-NEXT:   %[[V5]] = arith.cmpi eq, %[[ARG4]], %[[C]]-100_i64 : i64
// CHECK-NEXT:   %[[V6]] = arith.subf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:   %[[CST]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %[[V7]] = arith.select %[[V5]], %[[CST]], %[[V6]] : f32
// CHECK-NEXT:   coda.yield %[[V7]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V4]], %[[V2]]#0 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
func.func @cross_entropy(%z: tensor<8x4xbf16>, %t: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100
      : tensor<8x4xbf16>, tensor<8xi64> -> tensor<8xf32>
  return %loss, %lse : tensor<8xf32>, tensor<8xf32>
}

// Tile ops stay.
// CHECK-LABEL: func.func @tile_op(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @tile_op(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}
