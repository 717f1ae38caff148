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

// -----

// Extents of what the forward's kernel stores, also one of a bundle: those of what
// it was given to write to.
// CHECK-LABEL: func.func @sized_grad(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x4xf32>
// CHECK: %[[ROWS:.+]] = tensor.dim %[[X]]
// CHECK: %[[E:.+]] = tensor.empty(%[[ROWS]]) : tensor<?x4xf32>
// CHECK: call @store(%[[X]], %[[E]])
// CHECK: tensor.dim %[[E]]
// CHECK: %[[DX:.+]] = tensor.empty
func.func @sized(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
func.func private @store(%x: tensor<?x4xf32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {coda.kernel, no_inline} {
  %b = coda.bundle -> tensor<?x4xf32> {
    %y = coda.map ins(%x[m, n] : tensor<?x4xf32>) outs(%o[m, n] : tensor<?x4xf32>) {
    ^bb0(%a: f32):
      coda.yield %a : f32
    }
    coda.yield %y : tensor<?x4xf32>
  }
  return %b : tensor<?x4xf32>
}
func.func @sized_fwd(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%rows) : tensor<?x4xf32>
  %y = call @store(%x, %e) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @sized_bwd(%s: tensor<?x4xf32>, %g: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {coda.gradient = {accumulated = array<i64>, arguments = array<i64>, cotangents = array<i64: 0>, forward = @sized_fwd, gradients = array<i64: 0>, of = @sized, saved = array<i64: 1>}} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %s, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%rows) : tensor<?x4xf32>
  %d = call @store(%g, %e) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %d : tensor<?x4xf32>
}
