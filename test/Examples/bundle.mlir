// Two products of one left factor in one launch; each adds the partial sums of
// squares as it loads them.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<2x128x256xbf16>,
                %wk: tensor<4x128x256xbf16>,
                %wv: tensor<2x128x256xbf16>,
                %sp: tensor<2x2x128xf32>)
    -> (tensor<2x4x128x128xbf16>, tensor<2x2x128x128xbf16>) {
  %k0 = tensor.empty() : tensor<2x4x128x128xbf16>
  %v0 = tensor.empty() : tensor<2x2x128x128xbf16>
  %kv:2 = coda.bundle -> tensor<2x4x128x128xbf16>, tensor<2x2x128x128xbf16> {
    %k = coda.gemm
      acc(%h[m0, m1, k] * %wk[n0, n1, k] : tensor<2x128x256xbf16>, tensor<4x128x256xbf16>)
      ins(add %sp[p, m0, m1] : tensor<2x2x128xf32>)
      outs(%k0[m0, n0, m1, n1] : tensor<2x4x128x128xbf16>) {
    ^bb0(%a: f32, %s: f32):
      // Seeded inputs may be negative; a sum of squares is not.
      %sa = math.absf %s : f32
      %r = math.rsqrt %sa : f32
      %z = arith.mulf %r, %a : f32
      %b = arith.truncf %z : f32 to bf16
      coda.yield %b : bf16
    }
    %v = coda.gemm
      acc(%h[m0, m1, k] * %wv[n0, n1, k] : tensor<2x128x256xbf16>, tensor<2x128x256xbf16>)
      ins(add %sp[p, m0, m1] : tensor<2x2x128xf32>)
      outs(%v0[m0, n0, m1, n1] : tensor<2x2x128x128xbf16>) {
    ^bb0(%a: f32, %s: f32):
      // Seeded inputs may be negative; a sum of squares is not.
      %sa = math.absf %s : f32
      %r = math.rsqrt %sa : f32
      %z = arith.mulf %r, %a : f32
      %b = arith.truncf %z : f32 to bf16
      coda.yield %b : bf16
    }
    coda.yield %k, %v : tensor<2x4x128x128xbf16>, tensor<2x2x128x128xbf16>
  }
  return %kv#0, %kv#1 : tensor<2x4x128x128xbf16>, tensor<2x2x128x128xbf16>
}
