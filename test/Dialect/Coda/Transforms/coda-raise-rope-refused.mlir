// RUN: coda-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s

// CHECK-NOT: coda.rope

// The halves are tensors of their own.

#x = affine_map<(d0, d1) -> (d0, d1)>
func.func @two_tensors(%lo: tensor<4x4xf32>, %hi: tensor<4x4xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %y0 = linalg.generic {indexing_maps = [#x, #x, #x, #x, #x], iterator_types = ["parallel", "parallel"]} ins(%lo, %c, %hi, %s : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %a, %cos : f32
    %1 = arith.mulf %b, %sin : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x4xf32>
  %y1 = linalg.generic {indexing_maps = [#x, #x, #x, #x, #x], iterator_types = ["parallel", "parallel"]} ins(%lo, %c, %hi, %s : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %a, %sin : f32
    %1 = arith.mulf %b, %cos : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x4xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rope: no-common-space: the rotated value or its tables are no views of one tensor}}
  %y = tensor.concat dim(1) %y0, %y1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A slice of unknown size does not pass for the whole: nothing is matched.

#x = affine_map<(d0, d1) -> (d0, d1)>
func.func @part(%x: tensor<?x8xf32>, %c: tensor<?x4xf32>, %s: tensor<?x4xf32>, %n: index) -> tensor<?x8xf32> {
  %p = tensor.extract_slice %x[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %lo = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %hi = tensor.extract_slice %x[0, 4] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y0 = linalg.generic {indexing_maps = [#x, #x, #x, #x, #x], iterator_types = ["parallel", "parallel"]} ins(%lo, %c, %hi, %s : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %a, %cos : f32
    %1 = arith.mulf %b, %sin : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4xf32>
  %y1 = linalg.generic {indexing_maps = [#x, #x, #x, #x, #x], iterator_types = ["parallel", "parallel"]} ins(%lo, %c, %hi, %s : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %a, %sin : f32
    %1 = arith.mulf %b, %cos : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rope: no-common-space}}
  %y = tensor.concat dim(1) %y0, %y1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
