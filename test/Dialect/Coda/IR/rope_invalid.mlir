// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @rope_shape(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>, %s: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{the result must have the shape of x}}
  %0 = coda.rope half %x, %c, %s table_dims [0] : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @rope_odd(%x: tensor<8x3xf32>, %c: tensor<8x3xf32>, %s: tensor<8x3xf32>) -> tensor<8x3xf32> {
  // expected-error @below {{the last dim of x must be static and even}}
  %0 = coda.rope half %x, %c, %s table_dims [0] : tensor<8x3xf32>, tensor<8x3xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

func.func @rope_dynamic(%x: tensor<8x?xf32>, %c: tensor<8x?xf32>, %s: tensor<8x?xf32>) -> tensor<8x?xf32> {
  // expected-error @below {{the last dim of x must be static and even}}
  %0 = coda.rope half %x, %c, %s table_dims [0] : tensor<8x?xf32>, tensor<8x?xf32> -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

// -----

func.func @rope_rank(%x: tensor<f32>, %c: tensor<f32>, %s: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{the last dim of x must be static and even}}
  %0 = coda.rope half %x, %c, %s table_dims [] : tensor<f32>, tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @rope_table_rank(%x: tensor<0xf32>, %c: tensor<f32>, %s: tensor<f32>) -> tensor<0xf32> {
  // expected-error @below {{the tables must have a last dim, of elements or pairs}}
  %0 = coda.rope half %x, %c, %s table_dims [] : tensor<0xf32>, tensor<f32> -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// -----

func.func @rope_table_width(%x: tensor<8x4xf32>, %c: tensor<8x3xf32>, %s: tensor<8x3xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{the last dim of the tables must be 4 or 2}}
  %0 = coda.rope half %x, %c, %s table_dims [0] : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rope_table_count(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>, %s: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expected 1 'table_dims', one per dim of the tables but the last}}
  %0 = coda.rope half %x, %c, %s table_dims [] : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rope_table_dims(%x: tensor<8x4xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'table_dims' must name different dims of x but the last}}
  %0 = coda.rope half %x, %c, %s table_dims [1] : tensor<8x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rope_table_dims_twice(%x: tensor<8x8x4xf32>, %c: tensor<8x8x4xf32>, %s: tensor<8x8x4xf32>) -> tensor<8x8x4xf32> {
  // expected-error @below {{'table_dims' must name different dims of x but the last}}
  %0 = coda.rope half %x, %c, %s table_dims [0, 0] : tensor<8x8x4xf32>, tensor<8x8x4xf32> -> tensor<8x8x4xf32>
  return %0 : tensor<8x8x4xf32>
}

// -----

func.func @rope_table_extent(%x: tensor<8x4xf32>, %c: tensor<7x4xf32>, %s: tensor<7x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{dim 0 of the tables has extent 7, that of x 8}}
  %0 = coda.rope half %x, %c, %s table_dims [0] : tensor<8x4xf32>, tensor<7x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rope_tables(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>, %s: tensor<8x2xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{failed to verify that all of {cos, sin} have same type}}
  %0 = "coda.rope"(%x, %c, %s) <{layout = #coda<rope_layout half>, table_dims = array<i64: 0>}> : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rope_layout(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>, %s: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{unknown layout 'split': expected one of half, interleaved}}
  %0 = coda.rope split %x, %c, %s table_dims [0] : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
