// Numbers in tensors of rank 0, used in each way, beside the reference and
// differences; for a GPU they are read there.
//
// RUN: coda-run %s --seed=3 --integers=9 --against-reference --repeat=0 | FileCheck %s
// CHECK: 1 kernel launches
// CHECK: all outputs are good
// RUN: coda-run %s --seed=3 --grad --differences --no-unfused --repeat=0 | FileCheck %s --check-prefix=GRAD
// GRAD: arg2 scalar:f32 {{.*}} ok
// GRAD: all gradients are good
// RUN: sed 's/%%s: tensor<f32>, /%%sv: tensor<4xf32>, /; s/^  %%x = .*/%%c2 = arith.constant 2 : index\n%%x = tensor.extract %%sv[%%c2] : tensor<4xf32>/' %s > %t.mlir
// RUN: coda-run %t.mlir --seed=3 --integers=9 --against-reference --repeat=0 | FileCheck %s
// RUN: coda-compile %t.mlir --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: coda-compile %s --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// PTX: .visible .entry main_gemm_0
#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @main(%a: tensor<128x256xf16>, %b: tensor<256x128xf16>, %s: tensor<f32>, %t: tensor<i64>) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<f32>, tensor<1xf32>, tensor<4xf32>) {
  %z = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x128xf16>) outs(%i : tensor<128x128xf32>) -> tensor<128x128xf32>
  %x = tensor.extract %s[] : tensor<f32>
  %y = arith.mulf %x, %two : f32
  %q = tensor.extract %t[] : tensor<i64>
  %qf = arith.sitofp %q : i64 to f32
  %w = arith.addf %y, %qf : f32
  %o = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %w : tensor<128x128xf32>, f32) outs(%e : tensor<128x128xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    %n = arith.addf %m, %x : f32
    linalg.yield %n : f32
  } -> tensor<128x128xf32>
  %f = linalg.fill ins(%y : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = linalg.add ins(%r, %f : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %u = tensor.from_elements %w : tensor<f32>
  %v = tensor.from_elements %x : tensor<1xf32>
  %k = tensor.splat %y : tensor<4xf32>
  return %o, %p, %u, %v, %k : tensor<128x128xf32>, tensor<128x128xf32>, tensor<f32>, tensor<1xf32>, tensor<4xf32>
}
