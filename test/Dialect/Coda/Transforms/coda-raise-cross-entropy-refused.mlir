// RUN: coda-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s

// CHECK-NOT: coda.cross_entropy

// The logit that is subtracted is that of another row's class.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>
func.func @other_row(%z: tensor<8x8xf32>, %t: tensor<8xi64>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x8xf32>) outs(%s0 : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  // expected-remark@+1 {{[coda-raise] not raised to cross_entropy: no-common-space: the logit that is subtracted is not of the same row}}
  %y = linalg.generic {indexing_maps = [#vec, #vec, #vec], iterator_types = ["parallel"]} ins(%t, %s : tensor<8xi64>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i64, %b: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %0 = tensor.extract %z[%j, %i] : tensor<8x8xf32>
    %1 = math.log %b : f32
    %2 = arith.subf %1, %0 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
