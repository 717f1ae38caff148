// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @scale_shape(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x5xf32> {
  // expected-error @below {{the result must have the shape of the value}}
  %0 = coda.scale %v, %r along [0] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @scale_count(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expected 1 dims, one per dim of the factor}}
  %0 = coda.scale %v, %r along [0, 1] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @scale_order(%v: tensor<8x4xf32>, %r: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{dims must ascend and name dims of the value}}
  %0 = coda.scale %v, %r along [1, 0] : tensor<8x4xf32>, tensor<4x8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @scale_range(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{dims must ascend and name dims of the value}}
  %0 = coda.scale %v, %r along [9223372036854775807] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @scale_negative(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{dims must ascend and name dims of the value}}
  %0 = coda.scale %v, %r along [-1] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @scale_extent(%v: tensor<8x4xf32>, %r: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{dim 0 of the value has extent 8, the factor's 4}}
  %0 = coda.scale %v, %r along [0] : tensor<8x4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @scale_type(%v: tensor<8xi32>, %r: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @below {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8xi32>'}}
  %0 = coda.scale %v, %r along [0] : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @scale_unranked(%v: tensor<*xf32>, %r: tensor<8xf32>) -> tensor<*xf32> {
  // expected-error @below {{expected builtin.tensor, but found 'tensor<*xf32>'}}
  %0 = coda.scale %v, %r along [0] : tensor<*xf32>, tensor<8xf32> -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
