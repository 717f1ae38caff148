// The statistics of a loss without the logits: log-sum-exp and the target's
// logit.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<256x256xbf16>,
                %wv: tensor<512x256xbf16>,
                %ss: tensor<256xf32>,
                %t: tensor<256xi32>)
    -> (tensor<256xf32>, tensor<256xf32>) {
  %l0 = tensor.empty() : tensor<256xf32>
  %p0 = tensor.empty() : tensor<256xf32>
  %lse, %pick = coda.gemm
    acc(%h[m, k] * %wv[n, k] : tensor<256x256xbf16>, tensor<512x256xbf16>)
    ins(%ss[m], %t[m] : tensor<256xf32>, tensor<256xi32>)
    outs(fresh logaddexp %l0[m], fresh add %p0[m] : tensor<256xf32>, tensor<256xf32>) {
  ^bb0(%acc: f32, %s: f32, %tm: i32):
    %rn = arith.constant 3.90625e-03 : f32
    %eps = arith.constant 1.0e-05 : f32
    %zero = arith.constant 0.0 : f32
    %ms = arith.mulf %s, %rn : f32
    %me = arith.addf %ms, %eps : f32
    %r = math.rsqrt %me : f32
    %z = arith.mulf %r, %acc : f32
    %i = coda.index n
    %ti = arith.index_cast %tm : i32 to index
    %eq = arith.cmpi eq, %i, %ti : index
    %p = arith.select %eq, %z, %zero : f32
    coda.yield %z, %p : f32, f32
  }
  return %lse, %pick : tensor<256xf32>, tensor<256xf32>
}
