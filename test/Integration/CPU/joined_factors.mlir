// A hidden state and an embedding that are joined, as the heads that draft tokens have
// them: a gemm takes the two as two products, and nothing joins them.
//
// RUN: coda-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main(
// CHECK-NOT:   tensor.concat
// CHECK:       %[[H:.*]] = call @main_gemm_0
// CHECK:       call @main_bundle_1({{.*}}%[[H]],
// CHECK-NOT:   call
// CHECK:       func.func private @main_bundle_1
// CHECK:         acc(%{{.*}}[m, k0] * %{{.*}}[n, k0] + %{{.*}}[m, k1] * %{{.*}}[n, k1] :
// CHECK:         acc(%{{.*}}[m, k0] * %{{.*}}[n, k0] + %{{.*}}[m, k1] * %{{.*}}[n, k1] :
// RUN: coda-compile %s --numerics=strict --emit=fused -o - | FileCheck %s --check-prefix=STRICT
// STRICT:      tensor.concat
// RUN: coda-run %s --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=OUT
// OUT: all outputs are good
// RUN: coda-run %s --seed=1 --grad --differences --repeat=0 --no-unfused | FileCheck %s --check-prefix=GRAD
// GRAD: arg4 {{.*}} ok
// GRAD: all gradients are good
module {
  func.func @main(%arg0: tensor<2x9x64xf32>, %arg1: tensor<2x9x64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<48x128xf32>, %arg5: tensor<32x128xf32>) -> (tensor<2x9x48xf32>, tensor<2x9x32xf32>) {
    %c0 = arith.constant 0.000000000e+00 : f32
    %c1 = arith.constant 6.400000000e+01 : f32
    %c2 = arith.constant 1.000000000e-05 : f32
    %c3 = arith.constant 1.000000000e+00 : f32
    %v1 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<2x9x64xf32> into tensor<18x64xf32>
    %v2 = tensor.empty() : tensor<64x64xf32>
    %v3 = linalg.transpose ins(%arg2 : tensor<64x64xf32>) outs(%v2 : tensor<64x64xf32>) permutation = [1, 0]
    %v4 = tensor.empty() : tensor<18x64xf32>
    %v5 = linalg.fill ins(%c0 : f32) outs(%v4 : tensor<18x64xf32>) -> tensor<18x64xf32>
    %v6 = linalg.matmul ins(%v1, %v3 : tensor<18x64xf32>, tensor<64x64xf32>) outs(%v5 : tensor<18x64xf32>) -> tensor<18x64xf32>
    %v7 = tensor.expand_shape %v6 [[0, 1], [2]] output_shape [2, 9, 64] : tensor<18x64xf32> into tensor<2x9x64xf32>
    %v11 = tensor.empty() : tensor<2x9x64xf32>
    %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v7 : tensor<2x9x64xf32>) outs(%v11 : tensor<2x9x64xf32>) {
    ^bb0(%v8: f32, %v9: f32):
      %v10 = arith.mulf %v8, %v8 : f32
      linalg.yield %v10 : f32
    } -> tensor<2x9x64xf32>
    %v13 = tensor.empty() : tensor<2x9x1xf32>
    %v14 = linalg.fill ins(%c0 : f32) outs(%v13 : tensor<2x9x1xf32>) -> tensor<2x9x1xf32>
    %v18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v12 : tensor<2x9x64xf32>) outs(%v14 : tensor<2x9x1xf32>) {
    ^bb0(%v15: f32, %v16: f32):
      %v17 = arith.addf %v15, %v16 : f32
      linalg.yield %v17 : f32
    } -> tensor<2x9x1xf32>
    %v22 = tensor.empty() : tensor<2x9x1xf32>
    %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v18 : tensor<2x9x1xf32>) outs(%v22 : tensor<2x9x1xf32>) {
    ^bb0(%v19: f32, %v20: f32):
      %v21 = arith.divf %v19, %c1 : f32
      linalg.yield %v21 : f32
    } -> tensor<2x9x1xf32>
    %v27 = tensor.empty() : tensor<2x9x1xf32>
    %v28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v23 : tensor<2x9x1xf32>) outs(%v27 : tensor<2x9x1xf32>) {
    ^bb0(%v24: f32, %v25: f32):
      %v26 = arith.addf %v24, %c2 : f32
      linalg.yield %v26 : f32
    } -> tensor<2x9x1xf32>
    %v32 = tensor.empty() : tensor<2x9x1xf32>
    %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v28 : tensor<2x9x1xf32>) outs(%v32 : tensor<2x9x1xf32>) {
    ^bb0(%v29: f32, %v30: f32):
      %v31 = math.rsqrt %v29 : f32
      linalg.yield %v31 : f32
    } -> tensor<2x9x1xf32>
    %v38 = tensor.empty() : tensor<2x9x64xf32>
    %v39 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v7, %v33 : tensor<2x9x64xf32>, tensor<2x9x1xf32>) outs(%v38 : tensor<2x9x64xf32>) {
    ^bb0(%v34: f32, %v35: f32, %v36: f32):
      %v37 = arith.mulf %v34, %v35 : f32
      linalg.yield %v37 : f32
    } -> tensor<2x9x64xf32>
    %v44 = tensor.empty() : tensor<2x9x64xf32>
    %v45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3, %v39 : tensor<64xf32>, tensor<2x9x64xf32>) outs(%v44 : tensor<2x9x64xf32>) {
    ^bb0(%v40: f32, %v41: f32, %v42: f32):
      %v43 = arith.mulf %v40, %v41 : f32
      linalg.yield %v43 : f32
    } -> tensor<2x9x64xf32>
    %v46 = tensor.concat dim(2) %arg0, %v45 : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x128xf32>
    %v47 = tensor.collapse_shape %v46 [[0, 1], [2]] : tensor<2x9x128xf32> into tensor<18x128xf32>
    %v48 = tensor.empty() : tensor<128x48xf32>
    %v49 = linalg.transpose ins(%arg4 : tensor<48x128xf32>) outs(%v48 : tensor<128x48xf32>) permutation = [1, 0]
    %v50 = tensor.empty() : tensor<18x48xf32>
    %v51 = linalg.fill ins(%c0 : f32) outs(%v50 : tensor<18x48xf32>) -> tensor<18x48xf32>
    %v52 = linalg.matmul ins(%v47, %v49 : tensor<18x128xf32>, tensor<128x48xf32>) outs(%v51 : tensor<18x48xf32>) -> tensor<18x48xf32>
    %v53 = tensor.expand_shape %v52 [[0, 1], [2]] output_shape [2, 9, 48] : tensor<18x48xf32> into tensor<2x9x48xf32>
    %v60 = tensor.empty() : tensor<2x9x48xf32>
    %v61 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v53 : tensor<2x9x48xf32>) outs(%v60 : tensor<2x9x48xf32>) {
    ^bb0(%v54: f32, %v55: f32):
      %v56 = arith.negf %v54 : f32
      %v57 = math.exp %v56 : f32
      %v58 = arith.addf %v57, %c3 : f32
      %v59 = arith.divf %c3, %v58 : f32
      linalg.yield %v59 : f32
    } -> tensor<2x9x48xf32>
    %v66 = tensor.empty() : tensor<2x9x48xf32>
    %v67 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v53, %v61 : tensor<2x9x48xf32>, tensor<2x9x48xf32>) outs(%v66 : tensor<2x9x48xf32>) {
    ^bb0(%v62: f32, %v63: f32, %v64: f32):
      %v65 = arith.mulf %v62, %v63 : f32
      linalg.yield %v65 : f32
    } -> tensor<2x9x48xf32>
    %v68 = tensor.collapse_shape %v46 [[0, 1], [2]] : tensor<2x9x128xf32> into tensor<18x128xf32>
    %v69 = tensor.empty() : tensor<128x32xf32>
    %v70 = linalg.transpose ins(%arg5 : tensor<32x128xf32>) outs(%v69 : tensor<128x32xf32>) permutation = [1, 0]
    %v71 = tensor.empty() : tensor<18x32xf32>
    %v72 = linalg.fill ins(%c0 : f32) outs(%v71 : tensor<18x32xf32>) -> tensor<18x32xf32>
    %v73 = linalg.matmul ins(%v68, %v70 : tensor<18x128xf32>, tensor<128x32xf32>) outs(%v72 : tensor<18x32xf32>) -> tensor<18x32xf32>
    %v74 = tensor.expand_shape %v73 [[0, 1], [2]] output_shape [2, 9, 32] : tensor<18x32xf32> into tensor<2x9x32xf32>
    return %v67, %v74 : tensor<2x9x48xf32>, tensor<2x9x32xf32>
  }
}
