// RUN: coda-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise))' 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-NOT: coda.rms_norm
// REMARK: remark: [coda-raise] not raised to rms_norm: reduction-not-whole: the mean square covers 4 of 8 elements

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @part(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = arith.constant 4.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %h0 = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rms_norm: reduction-not-whole: the mean square covers 4 of 8 elements}}
  %h = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %ss : tensor<4x8xf32>, tensor<4xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %h : tensor<4x8xf32>
}

// -----

// A square input hides which dim is reduced from anything but the indices.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @token_axis(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %h0 = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rms_norm: reduction-not-whole: the mean square is not that of the last dim}}
  %h = linalg.generic {indexing_maps = [#tile, #col, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %ss : tensor<8x8xf32>, tensor<8xf32>) outs(%h0 : tensor<8x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}

// -----

// The same before a product that sums over the dim: the factor cannot leave it.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @token_axis_contracted(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %h0 = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%h0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rms_norm: contracts-scaled-dim: the scale varies along the dim that the reader sums over}}
  %h = linalg.generic {indexing_maps = [#tile, #col, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %ss : tensor<8x8xf32>, tensor<8xf32>) outs(%h0 : tensor<8x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %y = linalg.matmul ins(%h, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// One statistic for each group of the last dim.

#tile = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#head = affine_map<(d0, d1, d2) -> (d0, d1)>
#tile2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @per_head(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = arith.constant 4.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %h0 = tensor.empty() : tensor<4x8xf32>
  %r0 = tensor.empty() : tensor<4x2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %g = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x8xf32> into tensor<4x2x4xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #head], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<4x2x4xf32>) outs(%z : tensor<4x2xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4x2xf32>
  %r = linalg.generic {indexing_maps = [#head, #tile], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ss : tensor<4x2xf32>) outs(%r0 : tensor<4x2x4xf32>) {
  ^bb0(%s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x2x4xf32>
  %c = tensor.collapse_shape %r [[0], [1, 2]] : tensor<4x2x4xf32> into tensor<4x8xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rms_norm: reduction-not-whole}}
  %h = linalg.generic {indexing_maps = [#tile2, #tile2, #tile2], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %3 = arith.mulf %a, %s : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %h : tensor<4x8xf32>
}

// -----

// The sum is not divided by the extent: a row scale, but no mean.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @divisor(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %h0 = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rms_norm: reduction-not-whole: the sum of squares is not divided by the extent 8}}
  %h = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %ss : tensor<4x8xf32>, tensor<4xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %1 = arith.addf %s, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %h : tensor<4x8xf32>
}

// -----

// The mean is subtracted: a layer norm.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @centred(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %h0 = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %2 = arith.addf %a, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %ss = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  // expected-remark@+1 {{[coda-raise] not raised to rms_norm: ln-cancellation: a row statistic is subtracted}}
  %h = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]} ins(%c, %ss : tensor<4x8xf32>, tensor<4xf32>) outs(%h0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %h : tensor<4x8xf32>
}
