// Where an exponential is infinite in f32, a sigmoid is 0 or 1 and a softplus is its
// operand, as front ends write them: their gradients are numbers, those of f64, which has
// room for the exponential.
//
// RUN: coda-run %s --grad --against-reference --seed=1 --repeat=0 | FileCheck %s
// CHECK: out2 {{.*}} ok
// CHECK: out3 {{.*}} ok
// CHECK: all outputs are good

#id = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %large = arith.constant 1000.0 : f32
  %limit = arith.constant 20.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  %silu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %large : f32
    %n = arith.negf %b : f32
    %p = math.exp %n : f32
    %d = arith.addf %p, %one : f32
    %s = arith.divf %one, %d : f32
    %r = arith.mulf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<8x32xf32>
  %softplus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %large : f32
    %c = arith.cmpf ogt, %b, %limit : f32
    %p = math.exp %b : f32
    %l = math.log1p %p : f32
    %s = arith.select %c, %b, %l : f32
    %r = arith.divf %s, %large : f32
    linalg.yield %r : f32
  } -> tensor<8x32xf32>
  return %silu, %softplus : tensor<8x32xf32>, tensor<8x32xf32>
}
