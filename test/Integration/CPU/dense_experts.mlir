// Experts that all tokens go through, each result times the token's share of the expert,
// and their sum: no tile op of products has both types, f32 and bf16, so that it is a map.
//
// RUN: coda-run %s --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// OUT: all outputs are good
// RUN: coda-run %s --seed=1 --grad --differences --repeat=0 --no-unfused | FileCheck %s --check-prefix=GRAD
// GRAD: arg3 {{.*}} ok
// GRAD: all gradients are good
// RUN: coda-compile %s --target=sm_90a --emit=scheduled -o - 2>&1 | FileCheck %s --check-prefix=GPU
// GPU-NOT: remark
// GPU-NOT: linalg.
module {
  func.func @main(%arg0: tensor<3x24x64xbf16>, %arg1: tensor<3x64x48xbf16>, %arg2: tensor<3x48x64xbf16>, %arg3: tensor<3x24xbf16>) -> tensor<24x64xbf16> {
    %c0 = arith.constant 0.000000000e+00 : f32
    %c1 = arith.constant 0.000000000e+00 : bf16
    %c2 = arith.constant 1.562500000e-02 : bf16
    %v1 = tensor.empty() : tensor<3x24x48xf32>
    %v2 = linalg.fill ins(%c0 : f32) outs(%v1 : tensor<3x24x48xf32>) -> tensor<3x24x48xf32>
    %v3 = linalg.batch_matmul ins(%arg0, %arg1 : tensor<3x24x64xbf16>, tensor<3x64x48xbf16>) outs(%v2 : tensor<3x24x48xf32>) -> tensor<3x24x48xf32>
    %v7 = tensor.empty() : tensor<3x24x48xbf16>
    %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3 : tensor<3x24x48xf32>) outs(%v7 : tensor<3x24x48xbf16>) {
    ^bb0(%v4: f32, %v5: bf16):
      %v6 = arith.truncf %v4 : f32 to bf16
      linalg.yield %v6 : bf16
    } -> tensor<3x24x48xbf16>
    %v13 = tensor.empty() : tensor<3x24x48xbf16>
    %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8 : tensor<3x24x48xbf16>) outs(%v13 : tensor<3x24x48xbf16>) {
    ^bb0(%v9: bf16, %v10: bf16):
      %v11 = arith.maximumf %v9, %c1 : bf16
      %v12 = arith.mulf %v11, %c2 : bf16
      linalg.yield %v12 : bf16
    } -> tensor<3x24x48xbf16>
    %v15 = tensor.empty() : tensor<3x24x64xf32>
    %v16 = linalg.fill ins(%c0 : f32) outs(%v15 : tensor<3x24x64xf32>) -> tensor<3x24x64xf32>
    %v17 = linalg.batch_matmul ins(%v14, %arg2 : tensor<3x24x48xbf16>, tensor<3x48x64xbf16>) outs(%v16 : tensor<3x24x64xf32>) -> tensor<3x24x64xf32>
    %v21 = tensor.empty() : tensor<3x24x64xbf16>
    %v22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v17 : tensor<3x24x64xf32>) outs(%v21 : tensor<3x24x64xbf16>) {
    ^bb0(%v18: f32, %v19: bf16):
      %v20 = arith.truncf %v18 : f32 to bf16
      linalg.yield %v20 : bf16
    } -> tensor<3x24x64xbf16>
    %v23 = tensor.expand_shape %arg3 [[0], [1, 2]] output_shape [3, 24, 1] : tensor<3x24xbf16> into tensor<3x24x1xbf16>
    %v28 = tensor.empty() : tensor<3x24x64xbf16>
    %v29 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v22, %v23 : tensor<3x24x64xbf16>, tensor<3x24x1xbf16>) outs(%v28 : tensor<3x24x64xbf16>) {
    ^bb0(%v24: bf16, %v25: bf16, %v26: bf16):
      %v27 = arith.mulf %v24, %v25 : bf16
      linalg.yield %v27 : bf16
    } -> tensor<3x24x64xbf16>
    %v33 = tensor.empty() : tensor<3x24x64xf32>
    %v34 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v29 : tensor<3x24x64xbf16>) outs(%v33 : tensor<3x24x64xf32>) {
    ^bb0(%v30: bf16, %v31: f32):
      %v32 = arith.extf %v30 : bf16 to f32
      linalg.yield %v32 : f32
    } -> tensor<3x24x64xf32>
    %v35 = tensor.empty() : tensor<24x64xf32>
    %v36 = linalg.fill ins(%c0 : f32) outs(%v35 : tensor<24x64xf32>) -> tensor<24x64xf32>
    %v40 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%v34 : tensor<3x24x64xf32>) outs(%v36 : tensor<24x64xf32>) {
    ^bb0(%v37: f32, %v38: f32):
      %v39 = arith.addf %v37, %v38 : f32
      linalg.yield %v39 : f32
    } -> tensor<24x64xf32>
    %v44 = tensor.empty() : tensor<24x64xbf16>
    %v45 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v40 : tensor<24x64xf32>) outs(%v44 : tensor<24x64xbf16>) {
    ^bb0(%v41: f32, %v42: bf16):
      %v43 = arith.truncf %v41 : f32 to bf16
      linalg.yield %v43 : bf16
    } -> tensor<24x64xbf16>
    return %v45 : tensor<24x64xbf16>
  }
}
