// RUN: coda-opt %s --coda-outline-kernels | FileCheck %s
// RUN: coda-opt %s --coda-outline-kernels --inline | FileCheck %s --check-prefix=INLINE

// Two gemms that are alike share a kernel; the inliner leaves kernels alone.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8x8xf32>, %[[E:.*]]: tensor<8x8xf32>
// CHECK:       %[[X:.*]] = call @main_gemm_0(%[[A]], %[[B]], %[[E]])
// CHECK:       %[[Y:.*]] = call @main_gemm_0(%[[X]], %[[B]], %[[E]])
// CHECK:       %[[Z:.*]] = call @main_map_1(%[[Y]], %[[E]])
// CHECK:       %[[W:.*]] = call @main_bundle_2(%[[Z]], %[[B]], %[[E]])
// CHECK:       return %[[W]]

// CHECK:       func.func private @main_bundle_2(
// CHECK-SAME:    attributes {coda.kernel, no_inline}
// CHECK:         coda.bundle
// CHECK:       func.func private @main_map_1(%[[IN:.*]]: tensor<8x8xf32>, %[[OUT:.*]]: tensor<8x8xf32>)
// CHECK:         %[[R:.*]] = coda.map
// CHECK-NEXT:      ins(%[[IN]][m, n] :
// CHECK-NEXT:      outs(%[[OUT]][m, n] :
// CHECK:         return %[[R]]
// CHECK:       func.func private @main_gemm_0(

// INLINE-LABEL: func.func @main(
// INLINE-COUNT-4: call @main_
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %y = coda.gemm acc(%x[m, k] * %b[n, k] : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %z = coda.map ins(%y[m, n] : tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%c: f32):
    %0 = math.exp %c : f32
    coda.yield %0 : f32
  }
  %w = coda.bundle -> tensor<8x8xf32> {
    %0 = coda.gemm acc(%z[m, k] * %b[k, n] : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
    ^bb0(%c: f32):
      coda.yield %c : f32
    }
    coda.yield %0 : tensor<8x8xf32>
  }
  return %w : tensor<8x8xf32>
}
