// Roundings that are extended again, within an op and between two that are joined:
// they go, unless coda-autodiff is to see them; it drops them itself.
//
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-form-tile-ops,coda-fuse))' | FileCheck %s --check-prefixes=CHECK,DROP --implicit-check-not=arith.extf
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-form-tile-ops{keep-roundings=true},coda-fuse{keep-roundings=true}))' | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-form-tile-ops{keep-roundings=true},coda-fuse{keep-roundings=true}),coda-autodiff)' | FileCheck %s --check-prefixes=CHECK,DROP

// CHECK-LABEL: func.func @main(
// CHECK: ^bb0(%[[ACC:[^:]+]]: f32, %[[S:[^:]+]]: f32):
// KEEP: %[[R:.+]] = arith.truncf %[[ACC]] : f32 to bf16
// KEEP: %[[E:.+]] = arith.extf %[[R]] : bf16 to f32
// KEEP: %[[M:.+]] = arith.mulf %[[E]], %[[S]] : f32
// DROP-NOT: arith.extf
// DROP: %[[M:.+]] = arith.mulf %[[ACC]], %[[S]] : f32
// DROP-NOT: arith.extf
// KEEP: %[[MR:.+]] = arith.truncf %[[M]] : f32 to bf16
// KEEP: %[[ME:.+]] = arith.extf %[[MR]] : bf16 to f32
// KEEP: %[[T:.+]] = math.tanh %[[ME]] : f32
// DROP: %[[T:.+]] = math.tanh %[[M]] : f32
// CHECK: %[[Y:.+]] = arith.truncf %[[T]] : f32 to bf16
// CHECK: coda.yield %[[Y]] : bf16

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<4x6xbf16>, %s: tensor<6xf32>) -> tensor<8x6xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x4xbf16>, tensor<4x6xbf16>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  %o = tensor.empty() : tensor<8x6xbf16>
  %pr = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x6xf32>) outs(%o : tensor<8x6xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %1 = arith.truncf %a : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<8x6xbf16>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%pr, %s : tensor<8x6xbf16>, tensor<6xf32>) outs(%o : tensor<8x6xbf16>) {
  ^bb0(%a: bf16, %q: f32, %out: bf16):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.mulf %1, %q : f32
    %3 = arith.truncf %2 : f32 to bf16
    %4 = math.tanh %3 : bf16
    linalg.yield %4 : bf16
  } -> tensor<8x6xbf16>
  return %r : tensor<8x6xbf16>
}
