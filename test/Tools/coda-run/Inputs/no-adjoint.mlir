func.func @main(%q: tensor<2x3x8xf32>, %k: tensor<4x3x3xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  // A convolution.
  %s = linalg.conv_1d_ncw_fcw ins(%q, %k : tensor<2x3x8xf32>, tensor<4x3x3xf32>) outs(%z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %s : tensor<2x4x6xf32>
}
