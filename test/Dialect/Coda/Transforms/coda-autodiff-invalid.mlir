// RUN: coda-opt %s -split-input-file -verify-diagnostics --coda-autodiff

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %o = tensor.empty() : tensor<4xf32>
  %y = coda.map ins(%x[m] : tensor<4xf32>) outs(%o[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    // expected-error @below {{'arith.bitcast' computes with a value to be differentiated and has no adjoint}}
    %b = arith.bitcast %a : f32 to i32
    %c = arith.sitofp %b : i32 to f32
    coda.yield %c : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %o = tensor.empty() : tensor<4xf32>
  // expected-error @below {{a reduction with 'max' has no adjoint; only add and logaddexp have}}
  %y = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(fresh max %o[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %o = tensor.empty() : tensor<4x4xf32>
  %y = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(%o[m, n] : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    // expected-error @below {{'coda.group_reduce' has no adjoint in this form}}
    %g = coda.group_reduce max %a over [n] : f32
    coda.yield %g : f32
  }
  return %y : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{an init of a reduction with 'logaddexp' that takes part has no adjoint}}
  %y = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(logaddexp %s[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%p: tensor<2x4xf32>) -> tensor<4xf32> {
  %o = tensor.empty() : tensor<4xf32>
  // expected-error @below {{a combining load with 'max' has no adjoint; only add has}}
  %y = coda.map ins(max %p[p, m] : tensor<2x4xf32>) outs(%o[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%q: tensor<2x4x4xf32>, %k: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // expected-error @below {{'linalg.batch_matmul' is on the way from an argument to a result and has no adjoint; split the function there}}
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x4x4xf32>, tensor<2x4x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %s : tensor<2x4x4xf32>
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' is on the way from an argument to a result and has no adjoint}}
  %y = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf8E4M3FN>, %w: tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32> {
  %o = tensor.empty() : tensor<4x4xf32>
  // expected-error @below {{a product of factors of type 'f8E4M3FN' has no adjoint}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) outs(%o[m, n] : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN> {
  %o = tensor.empty() : tensor<4x4xf8E4M3FN>
  // expected-error @below {{a value of type 'tensor<4x4xf8E4M3FN>' is on the way from an argument to a result and has no adjoint: cotangents have no range in eight bits}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o[m, n] : tensor<4x4xf8E4M3FN>) {
  ^bb0(%a: f32):
    %q = arith.truncf %a : f32 to f8E4M3FN
    coda.yield %q : f8E4M3FN
  }
  return %y : tensor<4x4xf8E4M3FN>
}

// -----

// expected-error @below {{func=main: the module has no function of this name to differentiate; there are 'f'}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{'main' has no body of one block}}
func.func private @main(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{'main_bwd' is the name of a function that coda-autodiff adds}}
func.func private @main_bwd()

// -----

func.func @main(%x: tensor<300x4xf32>) -> tensor<3x4xf32> {
  %o = tensor.empty() : tensor<3x4xf32>
  // expected-error @below {{groups of a reduction ('floordiv') that something tells apart have no adjoint; differentiate before reductions are partitioned}}
  %y = coda.map ins(%x[m, n] : tensor<300x4xf32>) outs(fresh add %o[m floordiv 128, n] : tensor<3x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y : tensor<3x4xf32>
}
