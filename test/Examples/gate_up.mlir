// Two accumulators of one left factor: the row scale, the gated unit, and both
// pre-activations saved.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<256x256xbf16>,
                %wg: tensor<512x256xbf16>,
                %wu: tensor<512x256xbf16>,
                %ss: tensor<256xf32>)
    -> (tensor<256x512xbf16>, tensor<256x512xbf16>, tensor<256x512xbf16>) {
  %o0 = tensor.empty() : tensor<256x512xbf16>
  %g0 = tensor.empty() : tensor<256x512xbf16>
  %u0 = tensor.empty() : tensor<256x512xbf16>
  %o, %ga, %ua = coda.gemm
    acc(%h[m, k] * %wg[n, k], %h[m, k] * %wu[n, k] : tensor<256x256xbf16>, tensor<512x256xbf16>, tensor<256x256xbf16>, tensor<512x256xbf16>)
    ins(%ss[m] : tensor<256xf32>)
    outs(%o0[m, n], %g0[m, n], %u0[m, n] : tensor<256x512xbf16>, tensor<256x512xbf16>, tensor<256x512xbf16>) {
  ^bb0(%ag: f32, %au: f32, %s: f32):
    %rn = arith.constant 3.90625e-03 : f32
    %eps = arith.constant 1.0e-05 : f32
    %one = arith.constant 1.0 : f32
    %ms = arith.mulf %s, %rn : f32
    %me = arith.addf %ms, %eps : f32
    %r = math.rsqrt %me : f32
    %g = arith.mulf %r, %ag : f32
    %u = arith.mulf %r, %au : f32
    %ng = arith.negf %g : f32
    %e = math.exp %ng : f32
    %d = arith.addf %one, %e : f32
    %sl = arith.divf %g, %d : f32
    %y = arith.mulf %sl, %u : f32
    %yb = arith.truncf %y : f32 to bf16
    %gb = arith.truncf %g : f32 to bf16
    %ub = arith.truncf %u : f32 to bf16
    coda.yield %yb, %gb, %ub : bf16, bf16, bf16
  }
  return %o, %ga, %ua : tensor<256x512xbf16>, tensor<256x512xbf16>, tensor<256x512xbf16>
}
