// The dialect and the passes in the distribution's own mlir-opt.
// RUN: mlir-opt --load-dialect-plugin=%coda_libs/CodaPlugin%shlibext \
// RUN:   --load-pass-plugin=%coda_libs/CodaPlugin%shlibext \
// RUN:   --pass-pipeline='builtin.module(func.func(coda-decompose))' %s | FileCheck %s

// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[V:.+]]: tensor<8x4xf32>, %[[R:.+]]: tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[V]] : tensor<8xf32>, tensor<8x4xf32>)
// CHECK-NOT: coda.
func.func @scale(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x4xf32> {
  %0 = coda.scale %v, %r along [0] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
