// Reductions over 200 rows, which are three groups of 64 and one of 8: the weight
// gradient and the bias gradient of a norm, the largest value and the logarithm
// of a sum of exponentials of each column. In rows that are none the region makes
// NaN of the zeros that it is given; they must not count.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-opt %s --coda-fuse-pipeline | FileCheck %s
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

// CHECK: fresh add %{{.*}}[m floordiv 64, n], fresh add %{{.*}}[m floordiv 64, n], fresh max %{{.*}}[m floordiv 64, n], fresh logaddexp %{{.*}}[m floordiv 64, n] :

func.func @main(%dz: tensor<200x512xbf16>,
                %w: tensor<512x256xbf16>,
                %x: tensor<200x256xbf16>,
                %s: tensor<200xf32>)
    -> (tensor<200x256xbf16>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) {
  %dx0 = tensor.empty() : tensor<200x256xbf16>
  %e = tensor.empty() : tensor<256xf32>
  %dx, %dw, %db, %top, %lse = coda.gemm
    acc(%dz[m, k] * %w[k, n] : tensor<200x512xbf16>, tensor<512x256xbf16>)
    ins(%x[m, n], %s[m] : tensor<200x256xbf16>, tensor<200xf32>)
    outs(%dx0[m, n], fresh add %e[n], fresh add %e[n], fresh max %e[n], fresh logaddexp %e[n] : tensor<200x256xbf16>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) {
  ^bb0(%dh: f32, %xb: bf16, %r: f32):
    %xf = arith.extf %xb : bf16 to f32
    %norm = math.absf %dh : f32
    %sign = arith.divf %dh, %norm : f32
    %d = arith.mulf %dh, %r : f32
    %dwn = arith.mulf %d, %xf : f32
    %dbn = arith.addf %d, %sign : f32
    %dxb = arith.truncf %d : f32 to bf16
    coda.yield %dxb, %dwn, %dbn, %dbn, %dbn : bf16, f32, f32, f32, f32
  }
  return %dx, %dw, %db, %top, %lse : tensor<200x256xbf16>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
}
