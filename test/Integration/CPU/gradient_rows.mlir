// A norm, SwiGLU, a product and the residual, of any number of batches of any number
// of tokens: rows are the product of two extents that only a call shows. Of the
// backward's buffers the sizes follow from those of the arguments on each target.
//
// REQUIRES: numpy
// RUN: coda-run %s --grad --against-reference --differences --seed=1 --extent=5 --repeat=0 | FileCheck %s
// CHECK: all outputs are good
// CHECK: all gradients are good
// RUN: coda-compile %s --grad --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-DAG: .entry main_gemm_{{[0-9]+}}_few_
// PTX-DAG: .entry main_bwd_gemm_{{[0-9]+}}_few_

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%xx: tensor<?x?x256xbf16>, %g: tensor<256xbf16>, %wg: tensor<256x512xbf16>, %wu: tensor<256x512xbf16>, %wd: tensor<512x256xbf16>) -> tensor<?x?x256xbf16> {
  %c1 = arith.constant 1 : index
  %x = tensor.collapse_shape %xx [[0, 1], [2]] : tensor<?x?x256xbf16> into tensor<?x256xbf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 256.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %bb = tensor.dim %xx, %c0 : tensor<?x?x256xbf16>
  %tt = tensor.dim %xx, %c1 : tensor<?x?x256xbf16>
  %t = arith.muli %bb, %tt : index
  %e1 = tensor.empty(%t) : tensor<?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %ss = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x256xbf16>) outs(%z1 : tensor<?xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %f = arith.extf %a : bf16 to f32
    %q = arith.mulf %f, %f : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%ss : tensor<?xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.divf %a, %n : f32
    %p = arith.addf %m, %eps : f32
    %q = math.rsqrt %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %eb = tensor.empty(%t) : tensor<?x256xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %r, %g : tensor<?x256xbf16>, tensor<?xf32>, tensor<256xbf16>) outs(%eb : tensor<?x256xbf16>) {
  ^bb0(%a: bf16, %s: f32, %w: bf16, %o: bf16):
    %f = arith.extf %a : bf16 to f32
    %v = arith.extf %w : bf16 to f32
    %p = arith.mulf %f, %s : f32
    %q = arith.mulf %p, %v : f32
    %b = arith.truncf %q : f32 to bf16
    linalg.yield %b : bf16
  } -> tensor<?x256xbf16>
  %e512 = tensor.empty(%t) : tensor<?x512xf32>
  %z512 = linalg.fill ins(%zero : f32) outs(%e512 : tensor<?x512xf32>) -> tensor<?x512xf32>
  %gate = linalg.matmul ins(%h, %wg : tensor<?x256xbf16>, tensor<256x512xbf16>) outs(%z512 : tensor<?x512xf32>) -> tensor<?x512xf32>
  %up = linalg.matmul ins(%h, %wu : tensor<?x256xbf16>, tensor<256x512xbf16>) outs(%z512 : tensor<?x512xf32>) -> tensor<?x512xf32>
  %eb5 = tensor.empty(%t) : tensor<?x512xbf16>
  %act = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%gate, %up : tensor<?x512xf32>, tensor<?x512xf32>) outs(%eb5 : tensor<?x512xbf16>) {
  ^bb0(%a: f32, %u: f32, %o: bf16):
    %ng = arith.negf %a : f32
    %ex = math.exp %ng : f32
    %d = arith.addf %ex, %one : f32
    %si = arith.divf %a, %d : f32
    %p = arith.mulf %si, %u : f32
    %b = arith.truncf %p : f32 to bf16
    linalg.yield %b : bf16
  } -> tensor<?x512xbf16>
  %e256 = tensor.empty(%t) : tensor<?x256xf32>
  %z256 = linalg.fill ins(%zero : f32) outs(%e256 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %down = linalg.matmul ins(%act, %wd : tensor<?x512xbf16>, tensor<512x256xbf16>) outs(%z256 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %down : tensor<?x256xbf16>, tensor<?x256xf32>) outs(%eb : tensor<?x256xbf16>) {
  ^bb0(%a: bf16, %d: f32, %o: bf16):
    %f = arith.extf %a : bf16 to f32
    %s = arith.addf %f, %d : f32
    %b = arith.truncf %s : f32 to bf16
    linalg.yield %b : bf16
  } -> tensor<?x256xbf16>
  %yy = tensor.expand_shape %y [[0, 1], [2]] output_shape [%bb, %tt, 256] : tensor<?x256xbf16> into tensor<?x?x256xbf16>
  return %yy : tensor<?x?x256xbf16>
}
