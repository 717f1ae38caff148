// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @cross_entropy_rank(%z: tensor<2x8x4xf32>, %t: tensor<2x8xi64>) -> tensor<8xf32> {
  // expected-error @below {{expected logits [M, V] and targets [M]}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<2x8x4xf32>, tensor<2x8xi64> -> tensor<8xf32>
  return %loss : tensor<8xf32>
}

// -----

func.func @cross_entropy_type(%z: tensor<8x4xbf16>, %t: tensor<8xi64>) -> tensor<8xbf16> {
  // expected-error @below {{expected results of shape [M] and type 'f32'}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<8x4xbf16>, tensor<8xi64> -> tensor<8xbf16>
  return %loss : tensor<8xbf16>
}

// -----

func.func @cross_entropy_result_rank(%z: tensor<8x4xf32>, %t: tensor<8xi64>) -> tensor<f32> {
  // expected-error @below {{expected results of shape [M] and type 'f32'}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<8x4xf32>, tensor<8xi64> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @cross_entropy_result_rows(%z: tensor<?x4xf32>, %t: tensor<8xi64>) -> tensor<8xf32> {
  // expected-error @below {{the results must have the rows of the logits}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<?x4xf32>, tensor<8xi64> -> tensor<8xf32>
  return %loss : tensor<8xf32>
}

// -----

func.func @cross_entropy_target_rows(%z: tensor<8x4xf32>, %t: tensor<7xi64>) -> tensor<8xf32> {
  // expected-error @below {{the targets must have the rows of the logits}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<8x4xf32>, tensor<7xi64> -> tensor<8xf32>
  return %loss : tensor<8xf32>
}

// -----

func.func @cross_entropy_target_type(%z: tensor<8x4xf32>, %t: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{operand #1 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<8x4xf32>, tensor<8xf32> -> tensor<8xf32>
  return %loss : tensor<8xf32>
}

// -----

func.func @cross_entropy_ignore_index_range(%z: tensor<8x4xf32>, %t: tensor<8xi32>) -> tensor<8xf32> {
  // expected-error @below {{ignore_index 4294967196 does not fit the targets' type 'i32'}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index 4294967196 : tensor<8x4xf32>, tensor<8xi32> -> tensor<8xf32>
  return %loss : tensor<8xf32>
}

// -----

func.func @cross_entropy_ignore_index(%z: tensor<8x4xf32>, %t: tensor<8xi64>) -> tensor<8xf32> {
  // expected-error @below {{integer value too large}}
  %loss, %lse = coda.cross_entropy %z, %t ignore_index 99999999999999999999 : tensor<8x4xf32>, tensor<8xi64> -> tensor<8xf32>
  return %loss : tensor<8xf32>
}
