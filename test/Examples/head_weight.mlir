// A sum over rows and heads of what each column of a head contributes: the gradient
// of a weight that all heads share, a norm's or a table's. The columns of all heads
// are reduced over granules of rows, then heads as rows.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: coda-compile %s --target=sm_90a -o %t.so --report=%t.json 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: unfused-on-device
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

func.func @main(%h: tensor<300x128xbf16>,
                %w: tensor<4x64x128xbf16>,
                %x: tensor<300x4x64xbf16>,
                %r: tensor<300xf32>) -> (tensor<300x4x64xbf16>, tensor<64xf32>) {
  %q0 = tensor.empty() : tensor<300x4x64xbf16>
  %s0 = tensor.empty() : tensor<64xf32>
  %q, %s = coda.gemm
    acc(%h[m, k] * %w[n0, n1, k] : tensor<300x128xbf16>, tensor<4x64x128xbf16>)
    ins(%x[m, n0, n1], %r[m] : tensor<300x4x64xbf16>, tensor<300xf32>)
    outs(%q0[m, n0, n1], fresh add %s0[n1] : tensor<300x4x64xbf16>, tensor<64xf32>) {
  ^bb0(%acc: f32, %xb: bf16, %scale: f32):
    %xf = arith.extf %xb : bf16 to f32
    %n = arith.mulf %xf, %scale : f32
    %d = arith.mulf %acc, %n : f32
    %o = arith.truncf %acc : f32 to bf16
    coda.yield %o, %d : bf16, f32
  }
  return %q, %s : tensor<300x4x64xbf16>, tensor<64xf32>
}
