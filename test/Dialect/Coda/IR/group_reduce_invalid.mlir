// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @group_reduce_parent(%x: f32) -> f32 {
  // expected-error @below {{'coda.group_reduce' op expects parent op to be one of 'coda.gemm, coda.map'}}
  %0 = coda.group_reduce add %x over [n] : f32
  return %0 : f32
}

// -----

func.func @group_reduce_c11(%x: tensor<4xbf16>, %o: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = coda.map ins(%x[n] : tensor<4xbf16>) outs(%o[n] : tensor<4xbf16>) {
  ^bb0(%v: bf16):
    // expected-error @below {{c11: group reduction of 'bf16': expected f32 or f64}}
    %g = coda.group_reduce add %v over [n] : bf16
    coda.yield %g : bf16
  }
  return %0 : tensor<4xbf16>
}

// -----

func.func @group_reduce_c12(%x: tensor<8x4xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{c12: groups are over different static n dims, 'm0' is none}}
    %g = coda.group_reduce add %v over [m] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<8x4xf32>
}

// -----

func.func @group_reduce_c12_unknown(%x: tensor<8x4xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{c12: groups are over different static n dims, 'n7' is none}}
    %g = coda.group_reduce add %v over [n7] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<8x4xf32>
}

// -----

func.func @group_reduce_c12_twice(%x: tensor<8x4xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{c12: groups are over different static n dims, 'n0' is none}}
    %g = coda.group_reduce add %v over [n, n0] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<8x4xf32>
}

// -----

func.func @group_reduce_c12_dynamic(%x: tensor<8x?xf32>, %o: tensor<8x?xf32>) -> tensor<8x?xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<8x?xf32>) outs(%o[m, n] : tensor<8x?xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{c12: groups are over different static n dims, 'n0' is none}}
    %g = coda.group_reduce add %v over [n] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<8x?xf32>
}

// -----

func.func @group_reduce_c12_nothing(%x: tensor<8x4xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{c12: a group is over at least one n dim}}
    %g = coda.group_reduce add %v over [] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<8x4xf32>
}

// -----

func.func @group_reduce_combiner(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{unknown combiner 'mul': expected add, max or logaddexp}}
    %g = coda.group_reduce mul %v over [n] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @group_reduce_type(%x: tensor<4xi32>, %o: tensor<4xi32>) -> tensor<4xi32> {
  %0 = coda.map ins(%x[n] : tensor<4xi32>) outs(%o[n] : tensor<4xi32>) {
  ^bb0(%v: i32):
    // expected-error @below {{invalid kind of type specified}}
    %g = coda.group_reduce add %v over [n] : i32
    coda.yield %g : i32
  }
  return %0 : tensor<4xi32>
}

// -----

func.func @group_reduce_attributes(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    // expected-error @below {{attribute 'over' failed to satisfy constraint: array of dims}}
    %g = "coda.group_reduce"(%v) <{combiner = #coda.add, over = [1]}> : (f32) -> f32
    coda.yield %g : f32
  }
  return %0 : tensor<4xf32>
}
