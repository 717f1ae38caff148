// Products that read slices of one joint weight, as models store the weights of q,
// k and v, or of gate and up: the slices are taken where they are.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}
// RUN: coda-compile %s --target=sm_90a --emit=scheduled -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %{{.*}}: memref<200x256xbf16>, %[[W:.*]]: memref<256x768xbf16>, %[[WT:.*]]: memref<768x256xbf16>
// CHECK-NOT:   memref.copy
// CHECK-DAG:   memref.subview %[[W]][0, 512] [256, 256] [1, 1]
// CHECK-DAG:   memref.subview %[[WT]][512, 0] [256, 256] [1, 1]
// CHECK-NOT:   memref.copy
// CHECK:       func.func private

func.func @main(%x: tensor<200x256xbf16>, %w: tensor<256x768xbf16>, %wt: tensor<768x256xbf16>) -> (tensor<200x512xbf16>, tensor<200x256xbf16>, tensor<200x512xbf16>, tensor<200x256xbf16>) {
  %a = tensor.extract_slice %w[0, 0] [256, 512] [1, 1] : tensor<256x768xbf16> to tensor<256x512xbf16>
  %b = tensor.extract_slice %w[0, 512] [256, 256] [1, 1] : tensor<256x768xbf16> to tensor<256x256xbf16>
  %c = tensor.extract_slice %wt[0, 0] [512, 256] [1, 1] : tensor<768x256xbf16> to tensor<512x256xbf16>
  %d = tensor.extract_slice %wt[512, 0] [256, 256] [1, 1] : tensor<768x256xbf16> to tensor<256x256xbf16>
  %e0 = tensor.empty() : tensor<200x512xbf16>
  %e1 = tensor.empty() : tensor<200x256xbf16>
  %0 = coda.gemm acc(%x[m, k] * %a[k, n] : tensor<200x256xbf16>, tensor<256x512xbf16>) outs(%e0[m, n] : tensor<200x512xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %1 = coda.gemm acc(%x[m, k] * %b[k, n] : tensor<200x256xbf16>, tensor<256x256xbf16>) outs(%e1[m, n] : tensor<200x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %2 = coda.gemm acc(%x[m, k] * %c[n, k] : tensor<200x256xbf16>, tensor<512x256xbf16>) outs(%e0[m, n] : tensor<200x512xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  %3 = coda.gemm acc(%x[m, k] * %d[n, k] : tensor<200x256xbf16>, tensor<256x256xbf16>) outs(%e1[m, n] : tensor<200x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return %0, %1, %2, %3 : tensor<200x512xbf16>, tensor<200x256xbf16>, tensor<200x512xbf16>, tensor<200x256xbf16>
}
