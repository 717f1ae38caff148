// The gated unit's backward in the data gradient of the projection behind it,
// the row statistic of the norm's backward with it.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%dx: tensor<256x256xbf16>,
                %wd: tensor<256x512xbf16>,
                %z: tensor<256x2x512xbf16>,
                %ss: tensor<256xf32>)
    -> (tensor<256x2x512xbf16>, tensor<256x512xbf16>, tensor<256xf32>) {
  %dz0 = tensor.empty() : tensor<256x2x512xbf16>
  %y0 = tensor.empty() : tensor<256x512xbf16>
  %ds0 = tensor.empty() : tensor<256xf32>
  %dz, %y, %ds = coda.gemm
    acc(%dx[m, k] * %wd[k, n] : tensor<256x256xbf16>, tensor<256x512xbf16>)
    ins(%z[m, u, n], %ss[m] : tensor<256x2x512xbf16>, tensor<256xf32>)
    outs(%dz0[m, u, n], %y0[m, n], fresh add %ds0[m] : tensor<256x2x512xbf16>, tensor<256x512xbf16>, tensor<256xf32>) {
  ^bb0(%dy: f32, %gb: bf16, %ub: bf16, %s: f32):
    %rn = arith.constant 3.90625e-03 : f32
    %eps = arith.constant 1.0e-05 : f32
    %one = arith.constant 1.0 : f32
    %mh = arith.constant -0.5 : f32
    %g = arith.extf %gb : bf16 to f32
    %u = arith.extf %ub : bf16 to f32
    %ms = arith.mulf %s, %rn : f32
    %me = arith.addf %ms, %eps : f32
    %r = math.rsqrt %me : f32
    %ng = arith.negf %g : f32
    %e = math.exp %ng : f32
    %d = arith.addf %one, %e : f32
    %sg = arith.divf %one, %d : f32
    %sl = arith.mulf %g, %sg : f32
    %y = arith.mulf %sl, %u : f32
    %du = arith.mulf %dy, %sl : f32
    %om = arith.subf %one, %sg : f32
    %t0 = arith.mulf %sl, %om : f32
    %t1 = arith.addf %sg, %t0 : f32
    %t2 = arith.mulf %u, %t1 : f32
    %dg = arith.mulf %dy, %t2 : f32
    %dag = arith.mulf %r, %dg : f32
    %dau = arith.mulf %r, %du : f32
    %q0 = arith.mulf %dg, %g : f32
    %q1 = arith.mulf %du, %u : f32
    %zdz = arith.addf %q0, %q1 : f32
    %r2 = arith.mulf %r, %r : f32
    %c0 = arith.mulf %r2, %rn : f32
    %c1 = arith.mulf %c0, %mh : f32
    %dsn = arith.mulf %c1, %zdz : f32
    %o0 = arith.truncf %dag : f32 to bf16
    %o1 = arith.truncf %dau : f32 to bf16
    %yb = arith.truncf %y : f32 to bf16
    coda.yield %o0, %o1, %yb, %dsn : bf16, bf16, bf16, f32
  }
  return %dz, %y, %ds : tensor<256x2x512xbf16>, tensor<256x512xbf16>, tensor<256xf32>
}
