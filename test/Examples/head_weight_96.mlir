// The gradients of a weight that all heads of 96 columns share, by halves: columns of
// three chunks of 16 are reduced over granules of rows, then heads as rows. A row's
// sum has a part for each head.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: coda-compile %s --target=sm_90a -o %t.so --report=%t.json 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: unfused-on-device
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%x: tensor<300x5x2x48xbf16>,
                %r: tensor<300xf32>,
                %dq: tensor<5x300x2x48xbf16>)
    -> (tensor<300x5x2x48xbf16>, tensor<2x48xf32>, tensor<300xf32>) {
  %q0 = tensor.empty() : tensor<300x5x2x48xbf16>
  %s0 = tensor.empty() : tensor<2x48xf32>
  %t0 = tensor.empty() : tensor<300xf32>
  %q, %s, %t = coda.map
    ins(%x[m, n0, u, n1], %r[m], %dq[n0, m, u, n1] : tensor<300x5x2x48xbf16>, tensor<300xf32>, tensor<5x300x2x48xbf16>)
    outs(%q0[m, n0, u, n1], fresh add %s0[u, n1], fresh add %t0[m] : tensor<300x5x2x48xbf16>, tensor<2x48xf32>, tensor<300xf32>) {
  ^bb0(%xlo: bf16, %xhi: bf16, %scale: f32, %dlo: bf16, %dhi: bf16):
    %xl = arith.extf %xlo : bf16 to f32
    %xh = arith.extf %xhi : bf16 to f32
    %dl = arith.extf %dlo : bf16 to f32
    %dh = arith.extf %dhi : bf16 to f32
    %nl = arith.mulf %xl, %scale : f32
    %nh = arith.mulf %xh, %scale : f32
    %pl = arith.mulf %dl, %nl : f32
    %ph = arith.mulf %dh, %nh : f32
    %sum = arith.addf %pl, %ph : f32
    %ol = arith.mulf %dl, %scale : f32
    %oh = arith.mulf %dh, %scale : f32
    %olb = arith.truncf %ol : f32 to bf16
    %ohb = arith.truncf %oh : f32 to bf16
    coda.yield %olb, %ohb, %pl, %ph, %sum : bf16, bf16, f32, f32, f32
  }
  return %q, %s, %t : tensor<300x5x2x48xbf16>, tensor<2x48xf32>, tensor<300xf32>
}
