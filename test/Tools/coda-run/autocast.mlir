// Arguments and results in f32, a product in bf16 between: the program is one of bf16,
// and its errors and gradients are judged as such. Without any 16-bit value it is one
// of f32.

// RUN: coda-compile %s -o %t.so --report=%t.json
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// REPORT: "narrowest": "bf16",
// RUN: coda-run %s --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=GOOD
// GOOD: out0 32x64:f32 {{[^ ]+}} [[E:[1-9][^ ]*e-0[2-3]]] {{.*}} ok
// GOOD: all outputs are good
// RUN: coda-run %s --grad --seed=1 --differences --repeat=0 | FileCheck %s --check-prefix=GRADIENTS
// GRADIENTS: all gradients are good

// The function beside it has none; alone it is held to f32.
// RUN: coda-run %s --entry=plain --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=PLAIN
// PLAIN: out0 32x64:f32 {{.*}} - {{.*}}e-0{{[4-5]}} ok
// RUN: coda-compile %s --entry=plain -o %t.so --report=%t.json
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t.json
// NONE: "narrowest": null,

// What is compiled does not say what it computes with, and is held to f32.
// RUN: coda-compile %s -o %t.so
// RUN: coda-run %s --seed=1 --repeat=0 --no-unfused --out=%t.npz
// RUN: %python -c "import numpy, sys; a = numpy.load(sys.argv[1]); numpy.savez(sys.argv[2], out0=a['out0'] * 1.001)" %t.npz %t.off.npz
// RUN: not coda-run %t.so --seed=1 --repeat=0 --check=%t.off.npz | FileCheck %s --check-prefix=FAR
// FAR: out0 32x64:f32 {{.*}} FAIL

#full = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<32x64xbf16>
  %xn = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x64xf32>) outs(%ex : tensor<32x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<32x64xbf16>
  %ew = tensor.empty() : tensor<64x64xbf16>
  %wn = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x64xf32>) outs(%ew : tensor<64x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<64x64xbf16>
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.matmul ins(%xn, %wn : tensor<32x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  %t = math.tanh %y : tensor<32x64xf32>
  return %t : tensor<32x64xf32>
}
func.func @plain(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}
