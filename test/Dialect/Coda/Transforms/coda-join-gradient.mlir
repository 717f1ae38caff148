// RUN: coda-opt %s -split-input-file -verify-diagnostics --coda-join-gradient | FileCheck %s

// CHECK-LABEL: func.func @f_grad(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[DY:.+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[Y:.+]] = math.exp %[[X]]
// CHECK: %[[DX:.+]] = arith.mulf %[[Y]], %[[DY]]
// CHECK: return %[[Y]], %[[DX]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @f_fwd(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = math.exp %x : tensor<4xf32>
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}
func.func @f_bwd(%y: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> attributes {coda.gradient = {of = @f, forward = @f_fwd, arguments = array<i64>, saved = array<i64: 1>, cotangents = array<i64: 0>, accumulated = array<i64>, gradients = array<i64: 0>}} {
  %dx = arith.mulf %y, %dy : tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

// expected-error @below {{the attribute coda.gradient names no function and no forward}}
func.func @f_bwd(%dy: tensor<4xf32>) -> tensor<4xf32> attributes {coda.gradient = {of = @f}} {
  return %dy : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{the attribute coda.gradient does not account for the function's arguments}}
func.func @f_bwd(%dy: tensor<4xf32>, %dz: tensor<4xf32>) -> tensor<4xf32> attributes {coda.gradient = {of = @f, forward = @f, cotangents = array<i64: 0>}} {
  return %dy : tensor<4xf32>
}
