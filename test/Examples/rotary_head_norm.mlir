// A row scale, a norm per head and a rotation of half heads, stored with heads
// before tokens: the pair is the u dim, no weight is permuted.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<2x128x256xbf16>,
                %wq: tensor<4x2x64x256xbf16>,
                %ss: tensor<2x128xf32>,
                %ga: tensor<2x64xbf16>,
                %cos: tensor<2x128x2x64xf32>,
                %sin: tensor<2x128x2x64xf32>)
    -> tensor<2x4x128x2x64xbf16> {
  %q0 = tensor.empty() : tensor<2x4x128x2x64xbf16>
  %q = coda.gemm
    acc(%h[m0, m1, k] * %wq[n0, u, n1, k] : tensor<2x128x256xbf16>, tensor<4x2x64x256xbf16>)
    ins(%ss[m0, m1], %ga[u, n1], %cos[m0, m1, u, n1], %sin[m0, m1, u, n1] : tensor<2x128xf32>, tensor<2x64xbf16>, tensor<2x128x2x64xf32>, tensor<2x128x2x64xf32>)
    outs(%q0[m0, n0, m1, u, n1] : tensor<2x4x128x2x64xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %s: f32, %g0b: bf16, %g1b: bf16, %c0: f32, %c1: f32, %s0: f32, %s1: f32):
    %rn = arith.constant 3.90625e-03 : f32
    %rd = arith.constant 7.8125e-03 : f32
    %eps = arith.constant 1.0e-06 : f32
    %g0 = arith.extf %g0b : bf16 to f32
    %g1 = arith.extf %g1b : bf16 to f32
    // Seeded inputs may be negative; a sum of squares is not.
    %sa = math.absf %s : f32
    %ms = arith.mulf %sa, %rn : f32
    %me = arith.addf %ms, %eps : f32
    %r = math.rsqrt %me : f32
    %z0 = arith.mulf %r, %a0 : f32
    %z1 = arith.mulf %r, %a1 : f32
    %z00 = arith.mulf %z0, %z0 : f32
    %z11 = arith.mulf %z1, %z1 : f32
    %zz = arith.addf %z00, %z11 : f32
    %gs = coda.group_reduce add %zz over [n1] : f32
    %gm = arith.mulf %gs, %rd : f32
    %ge = arith.addf %gm, %eps : f32
    %qr = math.rsqrt %ge : f32
    %p0 = arith.mulf %z0, %qr : f32
    %p1 = arith.mulf %z1, %qr : f32
    %x0 = arith.mulf %p0, %g0 : f32
    %x1 = arith.mulf %p1, %g1 : f32
    %t0 = arith.mulf %x0, %c0 : f32
    %t1 = arith.mulf %x1, %s0 : f32
    %y0 = arith.subf %t0, %t1 : f32
    %t2 = arith.mulf %x1, %c1 : f32
    %t3 = arith.mulf %x0, %s1 : f32
    %y1 = arith.addf %t2, %t3 : f32
    %b0 = arith.truncf %y0 : f32 to bf16
    %b1 = arith.truncf %y1 : f32 to bf16
    coda.yield %b0, %b1 : bf16, bf16
  }
  return %q : tensor<2x4x128x2x64xbf16>
}
