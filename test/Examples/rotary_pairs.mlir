// A rotation of neighbours, columns 2 i and 2 i + 1, by a weight of which the columns
// are contiguous: the pair is the dim u, and the innermost of the right factor. Heads
// of 64: rows of 32 pairs.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: coda-compile %s --target=sm_90a -o %t.so --report=%t.json 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: unfused-on-device
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<300x128xbf16>,
                %w: tensor<128x6x32x2xbf16>,
                %bias: tensor<6x32x2xbf16>,
                %cos: tensor<300x32xf32>,
                %sin: tensor<300x32xf32>) -> tensor<6x300x32x2xbf16> {
  %q0 = tensor.empty() : tensor<6x300x32x2xbf16>
  %q = coda.gemm
    acc(%h[m, k] * %w[k, n0, n1, u] : tensor<300x128xbf16>, tensor<128x6x32x2xbf16>)
    ins(%bias[n0, n1, u], %cos[m, n1], %sin[m, n1] : tensor<6x32x2xbf16>, tensor<300x32xf32>, tensor<300x32xf32>)
    outs(%q0[n0, m, n1, u] : tensor<6x300x32x2xbf16>) {
  ^bb0(%even: f32, %odd: f32, %be: bf16, %bo: bf16, %c: f32, %s: f32):
    %bef = arith.extf %be : bf16 to f32
    %bof = arith.extf %bo : bf16 to f32
    %x = arith.addf %even, %bef : f32
    %y = arith.addf %odd, %bof : f32
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
  return %q : tensor<6x300x32x2xbf16>
}
