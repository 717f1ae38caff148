// Causal attention of two heads between two products, softmax by its maximum: the gradients
// have the row's logsumexp instead, and agree with differences, all in f64. The forward is
// the products for q, k and v, scores and softmax, and two products.
//
// REQUIRES: numpy
// RUN: coda-run %s --grad --differences --seed=1 --repeat=0 | FileCheck %s
// CHECK: 12 kernel launches
// CHECK: all gradients are good
// RUN: coda-run %s --against-reference --seed=1 --repeat=0 | FileCheck %s --check-prefix=FORWARD
// FORWARD: all outputs are good

#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#flat = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<6x5xf64>, %q: tensor<5x8xf64>, %k: tensor<5x8xf64>, %v: tensor<5x8xf64>, %o: tensor<8x5xf64>) -> tensor<6x5xf64> {
  %zero = arith.constant 0.0 : f64
  %least = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 5.000000e-01 : f64
  %wide = tensor.empty() : tensor<6x8xf64>
  %wide0 = linalg.fill ins(%zero : f64) outs(%wide : tensor<6x8xf64>) -> tensor<6x8xf64>
  %flat = tensor.empty() : tensor<6x8xf64>
  %head = tensor.empty() : tensor<2x6x4xf64>
  %keys = tensor.empty() : tensor<2x4x6xf64>
  %q0 = linalg.matmul ins(%x, %q : tensor<6x5xf64>, tensor<5x8xf64>) outs(%wide0 : tensor<6x8xf64>) -> tensor<6x8xf64>
  %q1 = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]} ins(%q0 : tensor<6x8xf64>) outs(%flat : tensor<6x8xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<6x8xf64>
  %q2 = tensor.expand_shape %q1 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf64> into tensor<6x2x4xf64>
  %k0 = linalg.matmul ins(%x, %k : tensor<6x5xf64>, tensor<5x8xf64>) outs(%wide0 : tensor<6x8xf64>) -> tensor<6x8xf64>
  %k1 = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]} ins(%k0 : tensor<6x8xf64>) outs(%flat : tensor<6x8xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<6x8xf64>
  %k2 = tensor.expand_shape %k1 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf64> into tensor<6x2x4xf64>
  %v0 = linalg.matmul ins(%x, %v : tensor<6x5xf64>, tensor<5x8xf64>) outs(%wide0 : tensor<6x8xf64>) -> tensor<6x8xf64>
  %v1 = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]} ins(%v0 : tensor<6x8xf64>) outs(%flat : tensor<6x8xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<6x8xf64>
  %v2 = tensor.expand_shape %v1 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf64> into tensor<6x2x4xf64>
  %qh = linalg.transpose ins(%q2 : tensor<6x2x4xf64>) outs(%head : tensor<2x6x4xf64>) permutation = [1, 0, 2]
  %kh = linalg.transpose ins(%k2 : tensor<6x2x4xf64>) outs(%keys : tensor<2x4x6xf64>) permutation = [1, 2, 0]
  %vh = linalg.transpose ins(%v2 : tensor<6x2x4xf64>) outs(%head : tensor<2x6x4xf64>) permutation = [1, 0, 2]
  %square = tensor.empty() : tensor<2x6x6xf64>
  %square0 = linalg.fill ins(%zero : f64) outs(%square : tensor<2x6x6xf64>) -> tensor<2x6x6xf64>
  %narrow = tensor.empty() : tensor<2x6x6xf64>
  %rows = tensor.empty() : tensor<2x6xf64>
  %sum0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<2x6xf64>) -> tensor<2x6xf64>
  %max0 = linalg.fill ins(%least : f64) outs(%rows : tensor<2x6xf64>) -> tensor<2x6xf64>
  %products = linalg.batch_matmul ins(%qh, %kh : tensor<2x6x4xf64>, tensor<2x4x6xf64>) outs(%square0 : tensor<2x6x6xf64>) -> tensor<2x6x6xf64>
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x6x6xf64>) outs(%square : tensor<2x6x6xf64>) {
  ^bb0(%a: f64, %b: f64):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %sees = arith.cmpi ule, %j, %i : index
    %s = arith.mulf %a, %scale : f64
    %m = arith.select %sees, %s, %least : f64
    linalg.yield %m : f64
  } -> tensor<2x6x6xf64>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%z : tensor<2x6x6xf64>) outs(%max0 : tensor<2x6xf64>) {
  ^bb0(%a: f64, %b: f64):
    %m = arith.maximumf %a, %b : f64
    linalg.yield %m : f64
  } -> tensor<2x6xf64>
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z, %max : tensor<2x6x6xf64>, tensor<2x6xf64>) outs(%square : tensor<2x6x6xf64>) {
  ^bb0(%a: f64, %m: f64, %b: f64):
    %s = arith.subf %a, %m : f64
    %e = math.exp %s : f64
    linalg.yield %e : f64
  } -> tensor<2x6x6xf64>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exp : tensor<2x6x6xf64>) outs(%sum0 : tensor<2x6xf64>) {
  ^bb0(%a: f64, %b: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<2x6xf64>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exp, %sum : tensor<2x6x6xf64>, tensor<2x6xf64>) outs(%narrow : tensor<2x6x6xf64>) {
  ^bb0(%a: f64, %m: f64, %b: f64):
    %s = arith.divf %a, %m : f64
    linalg.yield %s : f64
  } -> tensor<2x6x6xf64>
  %outs = tensor.empty() : tensor<2x6x4xf64>
  %outs0 = linalg.fill ins(%zero : f64) outs(%outs : tensor<2x6x4xf64>) -> tensor<2x6x4xf64>
  %w = linalg.batch_matmul ins(%p, %vh : tensor<2x6x6xf64>, tensor<2x6x4xf64>) outs(%outs0 : tensor<2x6x4xf64>) -> tensor<2x6x4xf64>
  %w1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<2x6x4xf64>) outs(%head : tensor<2x6x4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x6x4xf64>
  %split = tensor.empty() : tensor<6x2x4xf64>
  %w2 = linalg.transpose ins(%w1 : tensor<2x6x4xf64>) outs(%split : tensor<6x2x4xf64>) permutation = [1, 0, 2]
  %w3 = tensor.collapse_shape %w2 [[0], [1, 2]] : tensor<6x2x4xf64> into tensor<6x8xf64>
  %y = tensor.empty() : tensor<6x5xf64>
  %y0 = linalg.fill ins(%zero : f64) outs(%y : tensor<6x5xf64>) -> tensor<6x5xf64>
  %y1 = linalg.matmul ins(%w3, %o : tensor<6x8xf64>, tensor<8x5xf64>) outs(%y0 : tensor<6x5xf64>) -> tensor<6x5xf64>
  %ye = tensor.empty() : tensor<6x5xf64>
  %y2 = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]} ins(%y1 : tensor<6x5xf64>) outs(%ye : tensor<6x5xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<6x5xf64>
  return %y2 : tensor<6x5xf64>
}
