// Weights that the source repeats for each of a batch are no batch: two linear layers
// after a norm, of as many sequences and tokens as a call has, are two gemms.
//
// RUN: coda-compile %s --emit=fused -o - | FileCheck %s
// RUN: coda-compile %s --emit=scheduled --target=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=GPU --implicit-check-not=remark
// RUN: coda-run %s --extent=5 --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// RUN: coda-run %s --extent=1 --seed=2 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// RUN: coda-run %s --extent=5 --seed=1 --numerics=strict --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// RUN: coda-run %s --entry=left --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// RUN: coda-run %s --entry=left --grad --seed=1 --differences --no-unfused --repeat=0 | FileCheck %s --check-prefix=GRAD
// OUT:  all outputs are good
// GRAD: all gradients are good
//
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-3: call @main_
// CHECK-NOT:   linalg.
// CHECK-LABEL: func.func @left(
// CHECK:       call @left_gemm
// CHECK-NOT:   linalg.
// CHECK:       func.func private @left_gemm
// CHECK:         acc(%{{.*}}[m, k] * %{{.*}}[n0, k, n1] : tensor<32x64xbf16>, tensor<3x64x64xbf16>)
//
// GPU-NOT:     linalg.
// GPU:         coda.schedule
func.func @main(%x: tensor<?x?x64xbf16>, %g: tensor<64xbf16>, %w: tensor<32x64xbf16>, %v: tensor<64x32xbf16>) -> (tensor<?x?x64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x64xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x64xbf16>
  %h = coda.rms_norm %x weight(%g : tensor<64xbf16>) eps 1.0e-05 : tensor<?x?x64xbf16> -> tensor<?x?x64xbf16>
  %we = tensor.empty(%b) : tensor<?x32x64xbf16>
  %wb = linalg.broadcast ins(%w : tensor<32x64xbf16>) outs(%we : tensor<?x32x64xbf16>) dimensions = [0]
  %te = tensor.empty(%b) : tensor<?x64x32xbf16>
  %wt = linalg.transpose ins(%wb : tensor<?x32x64xbf16>) outs(%te : tensor<?x64x32xbf16>) permutation = [0, 2, 1]
  %e = tensor.empty(%b, %t) : tensor<?x?x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %y = linalg.batch_matmul ins(%h, %wt : tensor<?x?x64xbf16>, tensor<?x64x32xbf16>) outs(%f : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %ae = tensor.empty(%b, %t) : tensor<?x?x32xbf16>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<?x?x32xf32>) outs(%ae : tensor<?x?x32xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %n = arith.negf %in : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %s = arith.divf %in, %q : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x?x32xbf16>
  %ve = tensor.empty(%b) : tensor<?x32x64xbf16>
  %vt = tensor.empty() : tensor<32x64xbf16>
  %v0 = linalg.transpose ins(%v : tensor<64x32xbf16>) outs(%vt : tensor<32x64xbf16>) permutation = [1, 0]
  %vb = linalg.broadcast ins(%v0 : tensor<32x64xbf16>) outs(%ve : tensor<?x32x64xbf16>) dimensions = [0]
  %e2 = tensor.empty(%b, %t) : tensor<?x?x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  %z = linalg.batch_matmul ins(%a, %vb : tensor<?x?x32xbf16>, tensor<?x32x64xbf16>) outs(%f2 : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  %re = tensor.empty(%b, %t) : tensor<?x?x64xbf16>
  %res = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z, %x : tensor<?x?x64xf32>, tensor<?x?x64xbf16>) outs(%re : tensor<?x?x64xbf16>) {
  ^bb0(%in: f32, %old: bf16, %out: bf16):
    %w0 = arith.extf %old : bf16 to f32
    %s = arith.addf %in, %w0 : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x?x64xbf16>
  return %res : tensor<?x?x64xbf16>
}

func.func @left(%w: tensor<32x64xbf16>, %x: tensor<3x64x64xbf16>) -> tensor<3x32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<3x32x64xbf16>
  %wb = linalg.broadcast ins(%w : tensor<32x64xbf16>) outs(%we : tensor<3x32x64xbf16>) dimensions = [0]
  %e = tensor.empty() : tensor<3x32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  %y = linalg.batch_matmul ins(%wb, %x : tensor<3x32x64xbf16>, tensor<3x64x64xbf16>) outs(%f : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return %y : tensor<3x32x64xf32>
}
