// Projection, bias and rotary embedding of heads of 32: the halves of a head are
// the dim u, and one chunk of columns holds several heads.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: coda-run %s --seed=1 --grad --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}
// RUN: %if gpu %{ coda-run %s --seed=1 --grad --against-reference --device=cuda %}
//
// The tables are those of both sequences; their gradients, too, are kernels.
// RUN: coda-compile %s --target=sm_90a --grad --emit=scheduled -o %t.mlir 2> %t.err
// RUN: FileCheck %s --allow-empty --input-file=%t.err
// CHECK-NOT: no schedule

func.func @main(%h: tensor<2x64x128xbf16>,
                %w: tensor<6x2x16x128xbf16>,
                %bias: tensor<6x2x16xbf16>,
                %cos: tensor<64x16xf32>,
                %sin: tensor<64x16xf32>) -> tensor<2x6x64x2x16xbf16> {
  %q0 = tensor.empty() : tensor<2x6x64x2x16xbf16>
  %q = coda.gemm
    acc(%h[m0, m1, k] * %w[n0, u, n1, k] : tensor<2x64x128xbf16>, tensor<6x2x16x128xbf16>)
    ins(%bias[n0, u, n1], %cos[m1, n1], %sin[m1, n1] : tensor<6x2x16xbf16>, tensor<64x16xf32>, tensor<64x16xf32>)
    outs(%q0[m0, n0, m1, u, n1] : tensor<2x6x64x2x16xbf16>) {
  ^bb0(%lo: f32, %hi: f32, %blo: bf16, %bhi: bf16, %c: f32, %s: f32):
    %blof = arith.extf %blo : bf16 to f32
    %bhif = arith.extf %bhi : bf16 to f32
    %x = arith.addf %lo, %blof : f32
    %y = arith.addf %hi, %bhif : f32
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
  return %q : tensor<2x6x64x2x16xbf16>
}
