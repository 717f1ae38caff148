// RUN: coda-opt %s --coda-check-constants --split-input-file --verify-diagnostics | FileCheck %s

// Sixteen f32 are 64 bytes; a splat is no data; what nobody reads is not there.
// CHECK-LABEL: func.func @small
func.func @small() -> (tensor<16xf32>, tensor<4096xf32>) {
  %t = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf32>
  %s = arith.constant dense<1.5> : tensor<4096xf32>
  %u = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi64>
  return %t, %s : tensor<16xf32>, tensor<4096xf32>
}

// -----

func.func @large() -> tensor<9xi64> {
  // expected-error@+1 {{a constant of 72 bytes ('tensor<9xi64>'): an artifact holds code, and constants of up to 64 bytes; pass the tensor as an argument of the function}}
  %t = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi64>
  return %t : tensor<9xi64>
}

// -----

func.func @resource() -> tensor<32xf32> {
  // expected-error@+1 {{a constant of 128 bytes ('tensor<32xf32>')}}
  %t = arith.constant dense_resource<table> : tensor<32xf32>
  return %t : tensor<32xf32>
}
