// A norm, gate, up and down of several experts, whose weights are one tensor: the batch is a
// dim of the gemms. Which tokens an expert has is found before.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: coda-run %s --seed=1 --grad --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}
// RUN: coda-opt %s --coda-fuse-pipeline | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x100x128xbf16>, %[[GAMMA:[^:]*]]: tensor<128xbf16>, %[[GATE:[^:]*]]: tensor<4x128x192xbf16>, %[[UP:[^:]*]]: tensor<4x128x192xbf16>, %[[BIAS:[^:]*]]: tensor<4x192xbf16>, %[[DOWN:[^:]*]]: tensor<4x192x128xbf16>)
// CHECK:         %[[S:.*]]:2 = call @[[NORM:.*]](%[[X]], %[[GAMMA]],
// CHECK:         %[[A:.*]] = call @[[GATED:.*]](%[[S]]#1, %[[UP]], %[[GATE]], %[[S]]#0, %[[BIAS]],
// CHECK:         %[[Y:.*]] = call @[[LAST:.*]](%[[A]], %[[DOWN]], %[[X]],
// CHECK:         return %[[Y]]
// CHECK-DAG:   func.func private @[[NORM]](
// CHECK-DAG:   func.func private @[[GATED]](
// CHECK-DAG:   acc(%arg0[b, m, k] * %arg1[b, k, n], %arg0[b, m, k] * %arg2[b, k, n] :
// CHECK-DAG:   ins(%arg3[b, m], %arg4[b, n] :
// CHECK-DAG:   func.func private @[[LAST]](
// CHECK-DAG:   acc(%arg0[b, m, k] * %arg1[b, k, n] :
// CHECK-DAG:   ins(%arg2[b, m, n] :

#tile = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#column = affine_map<(b, i, j) -> (b, j)>
#shared = affine_map<(b, i, j) -> (j)>
func.func @main(%x: tensor<4x100x128xbf16>, %gamma: tensor<128xbf16>, %gate: tensor<4x128x192xbf16>, %up: tensor<4x128x192xbf16>, %bias: tensor<4x192xbf16>, %down: tensor<4x192x128xbf16>) -> tensor<4x100x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 1.280000e+02 : f32
  %eps = arith.constant 1.0e-5 : f32
  %row = tensor.empty() : tensor<4x100xf32>
  %row0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4x100xf32>) -> tensor<4x100xf32>
  %xe = tensor.empty() : tensor<4x100x128xbf16>
  %wide = tensor.empty() : tensor<4x100x192xf32>
  %wide0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<4x100x192xf32>) -> tensor<4x100x192xf32>
  %ae = tensor.empty() : tensor<4x100x192xbf16>
  %out = tensor.empty() : tensor<4x100x128xf32>
  %out0 = linalg.fill ins(%zero : f32) outs(%out : tensor<4x100x128xf32>) -> tensor<4x100x128xf32>
  %squares = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x100x128xbf16>) outs(%row0 : tensor<4x100xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %a = arith.extf %v : bf16 to f32
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x100xf32>
  %normed = linalg.generic {indexing_maps = [#tile, #row, #shared, #tile], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %squares, %gamma : tensor<4x100x128xbf16>, tensor<4x100xf32>, tensor<128xbf16>) outs(%xe : tensor<4x100x128xbf16>) {
  ^bb0(%v: bf16, %q: f32, %g: bf16, %o: bf16):
    %m = arith.divf %q, %n : f32
    %me = arith.addf %m, %eps : f32
    %r = math.rsqrt %me : f32
    %a = arith.extf %v : bf16 to f32
    %s = arith.mulf %a, %r : f32
    %t = arith.truncf %s : f32 to bf16
    %u = arith.mulf %t, %g : bf16
    linalg.yield %u : bf16
  } -> tensor<4x100x128xbf16>
  %g = linalg.batch_matmul ins(%normed, %gate : tensor<4x100x128xbf16>, tensor<4x128x192xbf16>) outs(%wide0 : tensor<4x100x192xf32>) -> tensor<4x100x192xf32>
  %u = linalg.batch_matmul ins(%normed, %up : tensor<4x100x128xbf16>, tensor<4x128x192xbf16>) outs(%wide0 : tensor<4x100x192xf32>) -> tensor<4x100x192xf32>
  %a = linalg.generic {indexing_maps = [#tile, #tile, #column, #tile], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %u, %bias : tensor<4x100x192xf32>, tensor<4x100x192xf32>, tensor<4x192xbf16>) outs(%ae : tensor<4x100x192xbf16>) {
  ^bb0(%p: f32, %q: f32, %c: bf16, %o: bf16):
    %ce = arith.extf %c : bf16 to f32
    %z = arith.addf %p, %ce : f32
    %negated = arith.negf %z : f32
    %exp = math.exp %negated : f32
    %d = arith.addf %exp, %one : f32
    %s = arith.divf %z, %d : f32
    %m = arith.mulf %s, %q : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x100x192xbf16>
  %d = linalg.batch_matmul ins(%a, %down : tensor<4x100x192xbf16>, tensor<4x192x128xbf16>) outs(%out0 : tensor<4x100x128xf32>) -> tensor<4x100x128xf32>
  %y = linalg.generic {indexing_maps = [#tile, #tile, #tile], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %x : tensor<4x100x128xf32>, tensor<4x100x128xbf16>) outs(%xe : tensor<4x100x128xbf16>) {
  ^bb0(%p: f32, %v: bf16, %o: bf16):
    %ve = arith.extf %v : bf16 to f32
    %s = arith.addf %p, %ve : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x100x128xbf16>
  return %y : tensor<4x100x128xbf16>
}
