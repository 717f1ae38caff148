// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @glu_kind(%g: tensor<8xf32>, %u: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{unknown activation 'swish': expected one of silu, gelu_tanh, gelu_erf, relu, sigmoid}}
  %0 = coda.glu swish %g, %u : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @glu_shape(%g: tensor<8xf32>, %u: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = coda.glu silu %g, %u : tensor<8xf32>, tensor<4xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @glu_result_shape(%g: tensor<?xf32>, %u: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{the result must have the shape of the gate}}
  %0 = coda.glu silu %g, %u : tensor<?xf32>, tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @glu_tanh_scale(%g: tensor<8xf32>, %u: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tanh_scale' belongs to gelu_tanh}}
  %0 = coda.glu silu %g, %u {tanh_scale = 0.8 : f64} : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
