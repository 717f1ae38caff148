// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @yield_parent() {
  // expected-error @below {{'coda.yield' op expects parent op to be one of 'coda.gemm, coda.map, coda.bundle'}}
  coda.yield
}

// -----

func.func @yield_not_last(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{must be the last operation in the parent block}}
    coda.yield %v : f32
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @yield_type_count(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{number of operands and types do not match: got 1 operands and 2 types}}
    coda.yield %v : f32, f32
  }
  return %0 : tensor<4xf32>
}
