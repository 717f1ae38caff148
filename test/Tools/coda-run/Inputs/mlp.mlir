// A norm, gate and up, down, a residual; the last argument is a constant table.
func.func @main(%x: tensor<8x16xf32>, %g: tensor<16xf32>, %wg: tensor<24x16xf32>, %wu: tensor<24x16xf32>, %wd: tensor<16x24xf32>, %mask: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %h = coda.rms_norm %x weight(%g : tensor<16xf32>) eps 1.0e-05 : tensor<8x16xf32> -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x24xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %gate = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%h, %wg : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z : tensor<8x24xf32>) -> tensor<8x24xf32>
  %up = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%h, %wu : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z : tensor<8x24xf32>) -> tensor<8x24xf32>
  %a = coda.glu silu %gate, %up : tensor<8x24xf32>, tensor<8x24xf32> -> tensor<8x24xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %down = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %wd : tensor<8x24xf32>, tensor<16x24xf32>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  %masked = linalg.mul ins(%down, %mask : tensor<8x16xf32>, tensor<8x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.add ins(%masked, %x : tensor<8x16xf32>, tensor<8x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
