// The sums of rows that are zero but at the label, and the gradient of a loss
// that is made of them, with labels that are no column on both sides; and a
// softmax that is not of a loss.
//
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"seed": 5, "args": [{"shape": [64, 32], "dtype": "f32", "kind": "uniform", "scale": 1.0, "offset": 0.0}, {"shape": [32, 24], "dtype": "f32", "kind": "uniform", "scale": 1.0, "offset": 0.0}, {"shape": [64], "dtype": "i64", "kind": "randint", "lo": -8, "hi": 32, "ignore_every": 7, "ignore_value": 3}, {"shape": [64], "dtype": "f32", "kind": "uniform", "scale": 1.0, "offset": 0.0}]}' > %t/labels.json
// RUN: coda-run %s --inputs=%t/labels.json --against-reference --repeat=0 | FileCheck %s
// CHECK: out0 {{.*}} ok
// CHECK: out1 {{.*}} ok
// CHECK: out2 {{.*}} ok
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x24xf32>, %t: tensor<64xi64>, %v: tensor<64xf32>) -> (tensor<64xf32>, tensor<64x24xf32>, tensor<64x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %ignore = arith.constant 3 : i64
  %e = tensor.empty() : tensor<64x24xf32>
  %er = tensor.empty() : tensor<64xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<64x24xf32>) -> tensor<64x24xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %z = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x24xf32>) outs(%zz : tensor<64x24xf32>) -> tensor<64x24xf32>
  %ei = tensor.empty() : tensor<64x24xi1>
  %hit = linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<64xi64>) outs(%ei : tensor<64x24xi1>) {
  ^bb0(%a: i64, %o: i1):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %eq = arith.cmpi eq, %k, %a : i64
    %ne = arith.cmpi ne, %a, %ignore : i64
    %both = arith.andi %eq, %ne : i1
    linalg.yield %both : i1
  } -> tensor<64x24xi1>
  %g = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%hit, %v : tensor<64x24xi1>, tensor<64xf32>) outs(%e : tensor<64x24xf32>) {
  ^bb0(%h: i1, %a: f32, %o: f32):
    %r = arith.select %h, %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<64x24xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%g : tensor<64x24xf32>) outs(%zr : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<64x24xf32>) outs(%lr : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<64x24xf32>, tensor<64xf32>) outs(%e : tensor<64x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<64x24xf32>
  %c = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<64x24xf32>) outs(%zr : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%p, %c : tensor<64x24xf32>, tensor<64xf32>) outs(%e : tensor<64x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x24xf32>
  %dz = linalg.generic {indexing_maps = [#full, #full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%g, %q, %s : tensor<64x24xf32>, tensor<64x24xf32>, tensor<64xf32>) outs(%e : tensor<64x24xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %f = arith.mulf %b, %d : f32
    %r = arith.subf %a, %f : f32
    linalg.yield %r : f32
  } -> tensor<64x24xf32>
  return %s, %dz, %q : tensor<64xf32>, tensor<64x24xf32>, tensor<64x24xf32>
}
