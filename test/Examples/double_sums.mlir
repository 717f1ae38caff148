// Sums and maxima of rows that are kept in f64: of a product's tile, of a tensor of f64,
// and of more columns than a tile has, by parts.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}

#tile = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%h: tensor<300x192xbf16>,
                %w: tensor<200x192xbf16>,
                %x: tensor<300x1000xf64>) -> (tensor<300x200xbf16>, tensor<300xf64>, tensor<300xf64>, tensor<300xf64>) {
  %y0 = tensor.empty() : tensor<300x200xbf16>
  %r0 = tensor.empty() : tensor<300xf64>
  %y:3 = coda.gemm
    acc(%h[m, k] * %w[n, k] : tensor<300x192xbf16>, tensor<200x192xbf16>)
    outs(%y0[m, n], fresh add %r0[m], fresh max %r0[m] : tensor<300x200xbf16>, tensor<300xf64>, tensor<300xf64>) {
  ^bb0(%a: f32):
    %b = arith.truncf %a : f32 to bf16
    %d = arith.extf %a : f32 to f64
    %p = arith.mulf %d, %d : f64
    coda.yield %b, %p, %d : bf16, f64, f64
  }
  %zero = arith.constant 0.0 : f64
  %z = linalg.fill ins(%zero : f64) outs(%r0 : tensor<300xf64>) -> tensor<300xf64>
  %s = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<300x1000xf64>) outs(%z : tensor<300xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %a, %a : f64
    %t = arith.addf %p, %o : f64
    linalg.yield %t : f64
  } -> tensor<300xf64>
  return %y#0, %y#1, %y#2, %s : tensor<300x200xbf16>, tensor<300xf64>, tensor<300xf64>, tensor<300xf64>
}
