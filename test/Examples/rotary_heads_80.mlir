// Projections to q, rotated by tables, and v of heads of 80 columns. The halves that a
// rotation takes as pairs have 40, no multiple of the 16 that come and go in boxes.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<1000x192xbf16>,
                %wq: tensor<6x2x40x192xbf16>,
                %wv: tensor<480x192xbf16>,
                %cos: tensor<1000x40xf32>,
                %sin: tensor<1000x40xbf16>) -> (tensor<6x1000x2x40xbf16>, tensor<1000x480xf32>) {
  %q0 = tensor.empty() : tensor<6x1000x2x40xbf16>
  %v0 = tensor.empty() : tensor<1000x480xf32>
  %q, %v = coda.bundle -> tensor<6x1000x2x40xbf16>, tensor<1000x480xf32> {
    %qr = coda.gemm
      acc(%h[m, k] * %wq[n0, u, n1, k] : tensor<1000x192xbf16>, tensor<6x2x40x192xbf16>)
      ins(%cos[m, n1], %sin[m, n1] : tensor<1000x40xf32>, tensor<1000x40xbf16>)
      outs(%q0[n0, m, u, n1] : tensor<6x1000x2x40xbf16>) {
    ^bb0(%x: f32, %y: f32, %c: f32, %sb: bf16):
      %s = arith.extf %sb : bf16 to f32
      %xc = arith.mulf %x, %c : f32
      %ys = arith.mulf %y, %s : f32
      %yc = arith.mulf %y, %c : f32
      %xs = arith.mulf %x, %s : f32
      %first = arith.subf %xc, %ys : f32
      %second = arith.addf %yc, %xs : f32
      %f = arith.truncf %first : f32 to bf16
      %g = arith.truncf %second : f32 to bf16
      coda.yield %f, %g : bf16, bf16
    }
    %vr = coda.gemm
      acc(%h[m, k] * %wv[n, k] : tensor<1000x192xbf16>, tensor<480x192xbf16>)
      outs(%v0[m, n] : tensor<1000x480xf32>) {
    ^bb0(%x: f32):
      coda.yield %x : f32
    }
    coda.yield %qr, %vr : tensor<6x1000x2x40xbf16>, tensor<1000x480xf32>
  }
  return %q, %v : tensor<6x1000x2x40xbf16>, tensor<1000x480xf32>
}
