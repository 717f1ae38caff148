func.func @main(%q: tensor<2x4x4xf32>, %k: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %e = tensor.empty() : tensor<2x4x4xf32>
  // A product of two activations.
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x4x4xf32>, tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %s : tensor<2x4x4xf32>
}
