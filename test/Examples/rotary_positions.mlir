// Projection and rotary embedding by angles that are the product of a position a
// row and a frequency a pair: no table is in memory.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<200x128xbf16>,
                %w: tensor<3x2x64x128xbf16>,
                %pos: tensor<200xf32>,
                %freq: tensor<64xf32>) -> tensor<200x3x2x64xbf16> {
  %q0 = tensor.empty() : tensor<200x3x2x64xbf16>
  %q = coda.gemm
    acc(%h[m, k] * %w[n0, u, n1, k] : tensor<200x128xbf16>, tensor<3x2x64x128xbf16>)
    ins(%pos[m], %freq[n1] : tensor<200xf32>, tensor<64xf32>)
    outs(%q0[m, n0, u, n1] : tensor<200x3x2x64xbf16>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %f: f32):
    %thousand = arith.constant 1.0e3 : f32
    %turned = arith.mulf %p, %thousand : f32
    %angle = arith.mulf %turned, %f : f32
    %c = math.cos %angle : f32
    %s = math.sin %angle : f32
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
  return %q : tensor<200x3x2x64xbf16>
}
