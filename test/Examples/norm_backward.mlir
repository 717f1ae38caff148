// The data gradient over gate and up in one accumulator of two products, with
// the norm's backward, the residual's gradient and the weight's column sums.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%dg: tensor<256x512xbf16>,
                %du: tensor<256x512xbf16>,
                %wg: tensor<512x256xbf16>,
                %wu: tensor<512x256xbf16>,
                %x: tensor<256x256xbf16>,
                %w: tensor<256xbf16>,
                %ds: tensor<256xf32>,
                %dres: tensor<256x256xbf16>)
    -> (tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256xf32>) {
  %dx0 = tensor.empty() : tensor<256x256xbf16>
  %h0 = tensor.empty() : tensor<256x256xbf16>
  %dw0 = tensor.empty() : tensor<256xf32>
  %dx, %h, %dw = coda.gemm
    acc(%dg[m, k0] * %wg[k0, n] + %du[m, k1] * %wu[k1, n] : tensor<256x512xbf16>, tensor<512x256xbf16>, tensor<256x512xbf16>, tensor<512x256xbf16>)
    ins(%x[m, n], %w[n], %ds[m], %dres[m, n] : tensor<256x256xbf16>, tensor<256xbf16>, tensor<256xf32>, tensor<256x256xbf16>)
    outs(%dx0[m, n], %h0[m, n], fresh add %dw0[n] : tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256xf32>) {
  ^bb0(%dh: f32, %xb: bf16, %wb: bf16, %s: f32, %db: bf16):
    %two = arith.constant 2.0 : f32
    %xf = arith.extf %xb : bf16 to f32
    %wf = arith.extf %wb : bf16 to f32
    %df = arith.extf %db : bf16 to f32
    %a = arith.mulf %dh, %wf : f32
    %b = arith.mulf %two, %xf : f32
    %c = arith.mulf %b, %s : f32
    %d = arith.addf %a, %c : f32
    %e = arith.addf %d, %df : f32
    %hf = arith.mulf %xf, %wf : f32
    %dwn = arith.mulf %dh, %xf : f32
    %eb = arith.truncf %e : f32 to bf16
    %hb = arith.truncf %hf : f32 to bf16
    coda.yield %eb, %hb, %dwn : bf16, bf16, f32
  }
  return %dx, %h, %dw : tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256xf32>
}
