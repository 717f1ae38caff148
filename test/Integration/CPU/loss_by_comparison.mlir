// The loss of labels that a comparison picks, as JAX's one_hot has it, of ragged columns:
// one gemm has the logsumexp, the logit that is picked, and whether the label is any
// column's. No logits are stored.
//
// RUN: coda-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-NOT:   linalg.
// CHECK:       %[[SUMS:.*]]:3 = call @main_gemm_0
// CHECK:       call @main_map_1(%[[SUMS]]#
// CHECK-NOT:   call
// CHECK:       func.func private @main_gemm_0
// CHECK:         outs(fresh logaddexp %{{.*}}[n floordiv 16, m], fresh add %{{.*}}[n floordiv 16, m], fresh add %{{.*}}[n floordiv 16, m] :
// RUN: coda-run %s --seed=1 --integers=301 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// Labels that are no column's have no loss.
// RUN: coda-run %s --seed=1 --integers=400 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// OUT: all outputs are good
// RUN: coda-run %s --seed=1 --integers=400 --grad --differences --repeat=0 --no-unfused | FileCheck %s --check-prefix=GRAD
// GRAD: arg0 {{.*}} ok
// GRAD: arg1 {{.*}} ok
// GRAD: all gradients are good

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @main(%x: tensor<17x24xf32>, %w: tensor<24x301xf32>, %t: tensor<17xi64>) -> tensor<17xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<17x301xf32>
  %er = tensor.empty() : tensor<17xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<17x301xf32>) -> tensor<17x301xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<17xf32>) -> tensor<17xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<17xf32>) -> tensor<17xf32>
  %z = linalg.matmul ins(%x, %w : tensor<17x24xf32>, tensor<24x301xf32>) outs(%zz : tensor<17x301xf32>) -> tensor<17x301xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<17x301xf32>) outs(%lr : tensor<17xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<17xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<17x301xf32>, tensor<17xf32>) outs(%e : tensor<17x301xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<17x301xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<17x301xf32>) outs(%zr : tensor<17xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x1 = math.exp %a : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<17xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<17x301xf32>, tensor<17xf32>) outs(%e : tensor<17x301xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<17x301xf32>
  %y = linalg.generic {indexing_maps = [#row, #full, #row], iterator_types = ["parallel", "reduction"]} ins(%t, %p : tensor<17xi64>, tensor<17x301xf32>) outs(%zr : tensor<17xf32>) {
  ^bb0(%l: i64, %a: f32, %o: f32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i64
    %q = arith.cmpi eq, %l, %c : i64
    %v = arith.select %q, %a, %zero : f32
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<17xf32>
  return %y : tensor<17xf32>
}
