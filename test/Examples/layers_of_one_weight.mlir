// Layers, or experts, whose weights and biases are parts of one tensor: one kernel takes
// them where they are.
//
// RUN: coda-opt %s --verify-roundtrip -o /dev/null
// RUN: coda-run %s --seed=1 --against-reference
// RUN: %if gpu %{ coda-run %s --seed=1 --against-reference --device=cuda %}
// RUN: coda-compile %s --target=sm_90a --emit=scheduled -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %{{[^:]*}}: memref<200x256xbf16>, %[[W:.*]]: memref<3x256x256xbf16>, %[[B:.*]]: memref<3x256xbf16>
// CHECK-NOT:   memref.copy
// CHECK-COUNT-3: call @[[KERNEL:[a-z0-9_]+]](
// CHECK-NOT:   memref.copy
// CHECK:       func.func private @[[KERNEL]](

func.func @main(%x: tensor<200x256xbf16>, %w: tensor<3x256x256xbf16>, %b: tensor<3x256xbf16>) -> tensor<200x256xbf16> {
  %e = tensor.empty() : tensor<200x256xbf16>
  %w0 = tensor.extract_slice %w[0, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<3x256x256xbf16> to tensor<256x256xbf16>
  %b0 = tensor.extract_slice %b[0, 0] [1, 256] [1, 1] : tensor<3x256xbf16> to tensor<256xbf16>
  %y0 = coda.gemm acc(%x[m, k] * %w0[n, k] : tensor<200x256xbf16>, tensor<256x256xbf16>) ins(%b0[n] : tensor<256xbf16>) outs(%e[m, n] : tensor<200x256xbf16>) {
  ^bb0(%v: f32, %c: bf16):
    %f = arith.extf %c : bf16 to f32
    %s = arith.addf %v, %f : f32
    %h = math.tanh %s : f32
    %t = arith.truncf %h : f32 to bf16
    coda.yield %t : bf16
  }
  %w1 = tensor.extract_slice %w[1, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<3x256x256xbf16> to tensor<256x256xbf16>
  %b1 = tensor.extract_slice %b[1, 0] [1, 256] [1, 1] : tensor<3x256xbf16> to tensor<256xbf16>
  %y1 = coda.gemm acc(%y0[m, k] * %w1[n, k] : tensor<200x256xbf16>, tensor<256x256xbf16>) ins(%b1[n] : tensor<256xbf16>) outs(%e[m, n] : tensor<200x256xbf16>) {
  ^bb0(%v: f32, %c: bf16):
    %f = arith.extf %c : bf16 to f32
    %s = arith.addf %v, %f : f32
    %h = math.tanh %s : f32
    %t = arith.truncf %h : f32 to bf16
    coda.yield %t : bf16
  }
  %w2 = tensor.extract_slice %w[2, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<3x256x256xbf16> to tensor<256x256xbf16>
  %b2 = tensor.extract_slice %b[2, 0] [1, 256] [1, 1] : tensor<3x256xbf16> to tensor<256xbf16>
  %y2 = coda.gemm acc(%y1[m, k] * %w2[n, k] : tensor<200x256xbf16>, tensor<256x256xbf16>) ins(%b2[n] : tensor<256xbf16>) outs(%e[m, n] : tensor<200x256xbf16>) {
  ^bb0(%v: f32, %c: bf16):
    %f = arith.extf %c : bf16 to f32
    %s = arith.addf %v, %f : f32
    %h = math.tanh %s : f32
    %t = arith.truncf %h : f32 to bf16
    coda.yield %t : bf16
  }
  return %y2 : tensor<200x256xbf16>
}
