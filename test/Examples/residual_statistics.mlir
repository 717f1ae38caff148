// A projection with the residual, the weighted copy for the next norm, and the
// row's sum of squares: x = acc + res, h = x w, ss = sum x^2.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%y: tensor<256x256xbf16>,
                %wo: tensor<256x256xbf16>,
                %res: tensor<256x256xbf16>,
                %w: tensor<256xbf16>)
    -> (tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256xf32>) {
  %x0 = tensor.empty() : tensor<256x256xbf16>
  %h0 = tensor.empty() : tensor<256x256xbf16>
  %s0 = tensor.empty() : tensor<256xf32>
  %x, %h, %ss = coda.gemm
    acc(%y[m, k] * %wo[n, k] : tensor<256x256xbf16>, tensor<256x256xbf16>)
    ins(%res[m, n], %w[n] : tensor<256x256xbf16>, tensor<256xbf16>)
    outs(%x0[m, n], %h0[m, n], fresh add %s0[m] : tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256xf32>) {
  ^bb0(%acc: f32, %r: bf16, %wn: bf16):
    %rf = arith.extf %r : bf16 to f32
    %wf = arith.extf %wn : bf16 to f32
    %xf = arith.addf %acc, %rf : f32
    %hf = arith.mulf %xf, %wf : f32
    %sq = arith.mulf %xf, %xf : f32
    %xb = arith.truncf %xf : f32 to bf16
    %hb = arith.truncf %hf : f32 to bf16
    coda.yield %xb, %hb, %sq : bf16, bf16, f32
  }
  return %x, %h, %ss : tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256xf32>
}
