// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @rms_norm_shape(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the result must have the shape of x}}
  %0 = coda.rms_norm %x eps 1.0e-05 : tensor<8x4xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @rms_norm_rank(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{the last dim of x must be there and static}}
  %0 = coda.rms_norm %x eps 1.0e-05 : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @rms_norm_dynamic(%x: tensor<8x?xf32>) -> tensor<8x?xf32> {
  // expected-error @below {{the last dim of x must be there and static}}
  %0 = coda.rms_norm %x eps 1.0e-05 : tensor<8x?xf32> -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

// -----

func.func @rms_norm_weight(%x: tensor<8x4xf32>, %w: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expected a weight of shape [4]}}
  %0 = coda.rms_norm %x weight(%w : tensor<8xf32>) eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rms_norm_weight_rank(%x: tensor<8x4xf32>, %w: tensor<1x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expected a weight of shape [4]}}
  %0 = coda.rms_norm %x weight(%w : tensor<1x4xf32>) eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rms_norm_eps(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expected floating point literal}}
  %0 = coda.rms_norm %x eps small : tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rms_norm_eps_type(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{attribute 'eps' failed to satisfy constraint: 64-bit float attribute}}
  %0 = "coda.rms_norm"(%x) <{eps = 1.0 : f32}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
