// A norm per head and a rotation of half heads of 32 columns, a chunk each, by a
// weight of which the columns are contiguous.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: coda-compile %s --target=sm_90a -o %t.so --report=%t.json 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: unfused-on-device
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<300x128xbf16>,
                %w: tensor<128x5x2x32xbf16>,
                %g: tensor<2x32xbf16>,
                %cos: tensor<300x32xf32>,
                %sin: tensor<300x32xf32>) -> tensor<5x300x2x32xbf16> {
  %q0 = tensor.empty() : tensor<5x300x2x32xbf16>
  %q = coda.gemm
    acc(%h[m, k] * %w[k, n0, u, n1] : tensor<300x128xbf16>, tensor<128x5x2x32xbf16>)
    ins(%g[u, n1], %cos[m, n1], %sin[m, n1] : tensor<2x32xbf16>, tensor<300x32xf32>, tensor<300x32xf32>)
    outs(%q0[n0, m, u, n1] : tensor<5x300x2x32xbf16>) {
  ^bb0(%lo: f32, %hi: f32, %glo: bf16, %ghi: bf16, %c: f32, %s: f32):
    %d = arith.constant 1.5625e-02 : f32
    %eps = arith.constant 1.0e-06 : f32
    %ll = arith.mulf %lo, %lo : f32
    %hh = arith.mulf %hi, %hi : f32
    %both = arith.addf %ll, %hh : f32
    %sum = coda.group_reduce add %both over [n1] : f32
    %mean = arith.mulf %sum, %d : f32
    %shifted = arith.addf %mean, %eps : f32
    %r = math.rsqrt %shifted : f32
    %glof = arith.extf %glo : bf16 to f32
    %ghif = arith.extf %ghi : bf16 to f32
    %rlo = arith.mulf %lo, %r : f32
    %rhi = arith.mulf %hi, %r : f32
    %x = arith.mulf %rlo, %glof : f32
    %y = arith.mulf %rhi, %ghif : f32
    %xc = arith.mulf %x, %c : f32
    %ys = arith.mulf %y, %s : f32
    %yc = arith.mulf %y, %c : f32
    %xs = arith.mulf %x, %s : f32
    %first = arith.subf %xc, %ys : f32
    %second = arith.addf %yc, %xs : f32
    %fb = arith.truncf %first : f32 to bf16
    %sb = arith.truncf %second : f32 to bf16
    coda.yield %fb, %sb : bf16, bf16
  }
  return %q : tensor<5x300x2x32xbf16>
}
