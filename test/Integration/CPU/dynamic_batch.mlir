// Batches and lengths that only a call shows: a dim is split into two unknown extents
// for a result, and for what reads it.
//
// RUN: coda-run %s --extent=5 --seed=1 --against-reference --repeat=0 | FileCheck %s
// RUN: coda-run %s --extent=1 --seed=1 --against-reference --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=linear --extent=5 --seed=1 --against-reference --repeat=0 | FileCheck %s
// RUN: coda-run %s --extent=5 --seed=1 --grad --grad-constants=2 --differences --no-unfused --repeat=0 | FileCheck %s --check-prefix=GRAD
// RUN: coda-compile %s --target=sm_90a --emit=nvgpu -o %t.mlir
// CHECK: all outputs are good
// GRAD:  all gradients are good

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#bk = affine_map<(d0, d1, d2) -> (d2, d0)>
func.func @main(%x: tensor<?x?x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x?xf32>) -> tensor<?x?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %d = arith.muli %d0, %d1 : index
  %e = tensor.empty(%d) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%c, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%d0, %d1, 64] : tensor<?x64xf32> into tensor<?x?x64xf32>
  %o = tensor.empty(%d0, %d1) : tensor<?x?x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #bk, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r, %v : tensor<?x?x64xf32>, tensor<64x?xf32>) outs(%o : tensor<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %oo: f32):
    %t = math.tanh %a : f32
    %u = arith.mulf %t, %b : f32
    linalg.yield %u : f32
  } -> tensor<?x?x64xf32>
  return %s : tensor<?x?x64xf32>
}

func.func @linear(%x: tensor<?x?x128xbf16>, %w: tensor<128x256xbf16>) -> tensor<?x?x256xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x128xbf16>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x128xbf16>
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x128xbf16> into tensor<?x128xbf16>
  %d = arith.muli %d0, %d1 : index
  %e = tensor.empty(%d) : tensor<?x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.matmul ins(%c, %w : tensor<?x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%d0, %d1, 256] : tensor<?x256xf32> into tensor<?x?x256xf32>
  return %r : tensor<?x?x256xf32>
}
