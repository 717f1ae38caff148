// RUN: coda-opt %s --pass-pipeline='builtin.module(coda-autodiff{recompute-over=1},canonicalize,cse,func.func(coda-fuse),canonicalize,cse)' | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(coda-autodiff{recompute-over=192},canonicalize,cse)' | FileCheck %s --check-prefix=SAVED

// The accumulator is in nothing that is stored. Rather than save its 192 bytes,
// the products run again, with the adjoint of the region as their epilogue.
func.func @main(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>) -> tensor<8x6xf32> {
  %o = tensor.empty() : tensor<8x6xf32>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xf32>, tensor<6x4xf32>) ins(%b[n] : tensor<6xf32>) outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    %t = math.sin %s : f32
    coda.yield %t : f32
  }
  return %y : tensor<8x6xf32>
}
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> tensor<8x6xf32> {
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x4xf32>, %[[W:[^:]+]]: tensor<6x4xf32>, %[[B:[^:]+]]: tensor<6xf32>, %[[DY:[^:]+]]: tensor<8x6xf32>)
// CHECK: %[[D:.+]]:2 = coda.gemm
// CHECK-NEXT: acc(%[[X]][m, k] * %[[W]][n, k]
// CHECK-NEXT: ins(%[[B]][n], %[[DY]][m, n]
// CHECK-NEXT: outs(%{{.+}}[m, n], fresh add %{{.+}}[n]
// CHECK: math.cos
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[D]]#0[m, k] * %[[W]][k, n]
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[D]]#0[k, m] * %[[X]][k, n]
// CHECK-NOT: coda.map
// SAVED-LABEL: func.func @main_fwd(
// SAVED-SAME: -> (tensor<8x6xf32>, tensor<8x6xf32>) {
