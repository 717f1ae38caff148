// Two ways to compute a tensor, by the number of its rows: both write to one buffer,
// and what is computed after it has a size that follows from that of either.
//
// REQUIRES: numpy
// RUN: mkdir -p %t
// RUN: %python -c "import numpy as np; [np.savez(r'%t/in%%d.npz' %% n, arg0=np.linspace(-2, 2, n, dtype=np.float32)) for n in (50, 100)]"
// RUN: %python -c "import numpy as np; x = lambda n: np.linspace(-2, 2, n, dtype=np.float32).astype(np.float64); np.savez(r'%t/out50.npz', out0_f32=-np.exp(x(50)), out1_f32=26.0); np.savez(r'%t/out100.npz', out0_f32=x(100) - abs(x(100)), out1_f32=50.0)"
// RUN: coda-run %s --no-unfused --repeat=0 --inputs=%t/in50.npz --check=%t/out50.npz | FileCheck %s
// RUN: coda-run %s --no-unfused --repeat=0 --inputs=%t/in100.npz --check=%t/out100.npz | FileCheck %s
// CHECK: all outputs are good

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %few = arith.cmpi ule, %n, %c64 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.if %few -> tensor<?xf32> {
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    %y = linalg.abs ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %z = linalg.sub ins(%y, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  }
  %m = tensor.dim %r, %c0 : tensor<?xf32>
  %q = arith.ceildivui %m, %c4 : index
  %f = tensor.empty(%q) : tensor<?xf32>
  %g = linalg.fill ins(%two : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %h = linalg.exp ins(%g : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %k = linalg.log ins(%h : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = tensor.empty() : tensor<f32>
  %t = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]} ins(%k : tensor<?xf32>) outs(%t : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<f32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %w, %sum : tensor<?xf32>, tensor<f32>
}
