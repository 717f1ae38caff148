// RUN: coda-opt %s -coda-decompose=semantic-only | FileCheck %s

// Each semantic op, as the tile ops that define it.

func.func @scale(%v: tensor<?x4xbf16>, %r: tensor<?xf32>) -> tensor<?x4xbf16> {
  %0 = coda.scale %v, %r along [0] : tensor<?x4xbf16>, tensor<?xf32> -> tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

// The scaled dim comes last: it is the m dim all the same.
func.func @scale_last(%v: tensor<8x4xf32>, %r: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = coda.scale %v, %r along [1] : tensor<8x4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// An f64 operand is multiplied as it is.
func.func @scale_wide(%v: tensor<4xf64>, %r: tensor<f32>) -> tensor<4xf32> {
  %0 = coda.scale %v, %r along [] : tensor<4xf64>, tensor<f32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @rms_norm(%x: tensor<?x4xbf16>, %w: tensor<4xbf16>) -> tensor<?x4xbf16> {
  %0 = coda.rms_norm %x weight(%w : tensor<4xbf16>) eps 1.0e-05 {offset = 1.0 : f64}
      : tensor<?x4xbf16> -> tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

func.func @rms_norm_unweighted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.rms_norm %x eps 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @silu(%g: tensor<8x4xf16>, %u: tensor<8x4xf16>) -> tensor<8x4xf16> {
  %0 = coda.glu silu %g, %u : tensor<8x4xf16>, tensor<8x4xf16> -> tensor<8x4xf16>
  return %0 : tensor<8x4xf16>
}

func.func @gelu_tanh(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.glu gelu_tanh %g, %u {tanh_scale = 0.75 : f64} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @gelu_erf(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.glu gelu_erf %g, %u : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @relu(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.glu relu %g, %u : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @sigmoid(%g: tensor<f32>, %u: tensor<f32>) -> tensor<f32> {
  %0 = coda.glu sigmoid %g, %u : tensor<f32>, tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// Tables with an entry per element are split like x.
func.func @rope_half(%x: tensor<2x4x8x16xbf16>, %c: tensor<2x8x16xf32>, %s: tensor<2x8x16xf32>)
    -> tensor<2x4x8x16xbf16> {
  %0 = coda.rope half %x, %c, %s table_dims [0, 2]
      : tensor<2x4x8x16xbf16>, tensor<2x8x16xf32> -> tensor<2x4x8x16xbf16>
  return %0 : tensor<2x4x8x16xbf16>
}

func.func @rope_interleaved(%x: tensor<?x6xf32>, %c: tensor<?x3xf32>, %s: tensor<?x3xf32>)
    -> tensor<?x6xf32> {
  %0 = coda.rope interleaved %x, %c, %s table_dims [0] : tensor<?x6xf32>, tensor<?x3xf32> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

func.func @cross_entropy(%z: tensor<8x4xbf16>, %t: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100
      : tensor<8x4xbf16>, tensor<8xi64> -> tensor<8xf32>
  return %loss, %lse : tensor<8xf32>, tensor<8xf32>
}

// Tile ops stay.
func.func @tile_op(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}
