// Of few rows sums may be of fewer columns than of many, which is none of what is
// differentiated: the sum of a row's capped logits that its label picks, here, beside
// their logsumexp. As a front end writes it, soft cap and cross-entropy of 256 rows.
// RUN: coda-compile %s --grad --grad-constants=3 --target=sm_90a --emit=scheduled -o %t.mlir
// RUN: coda-run %s --grad --grad-constants=3 --differences --seed=1 --integers=1024 --no-unfused --repeat=0 | FileCheck %s
// CHECK: all gradients are good
module {
  func.func @main(%arg0: tensor<1x256x256xbf16>, %arg1: tensor<256xbf16>, %arg2: tensor<1024x256xbf16>, %arg3: tensor<256xi64>) -> (tensor<f32>) {
    %cst_f32_0p0 = arith.constant 0.00000000e+00 : f32
    %cst_f32_256p0 = arith.constant 2.56000000e+02 : f32
    %cst_f32_1em05 = arith.constant 1.00000000e-05 : f32
    %cst_f32_30p0 = arith.constant 3.00000000e+01 : f32
    %cst_f32_minf = arith.constant 0xFF800000 : f32
    %cst_i64_0 = arith.constant 0 : i64
    %cst_i64_m100 = arith.constant -100 : i64
    %v1 = tensor.empty() : tensor<1x256x256xf32>
    %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x256x256xbf16>) outs(%v1 : tensor<1x256x256xf32>) {
    ^bb0(%a0: bf16, %out: f32):
      %r = arith.extf %a0 : bf16 to f32
      linalg.yield %r : f32
    } -> tensor<1x256x256xf32>
    %v3 = tensor.empty() : tensor<1x256x256xf32>
    %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v2 : tensor<1x256x256xf32>, tensor<1x256x256xf32>) outs(%v3 : tensor<1x256x256xf32>) {
    ^bb0(%a0: f32, %a1: f32, %out: f32):
      %r = arith.mulf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<1x256x256xf32>
    %v5 = tensor.empty() : tensor<1x256x1xf32>
    %v6 = linalg.fill ins(%cst_f32_0p0 : f32) outs(%v5 : tensor<1x256x1xf32>) -> tensor<1x256x1xf32>
    %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v4 : tensor<1x256x256xf32>) outs(%v6 : tensor<1x256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.addf %a0, %out : f32
      linalg.yield %r : f32
    } -> tensor<1x256x1xf32>
    %v8 = tensor.empty() : tensor<1x256x1xf32>
    %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v7 : tensor<1x256x1xf32>) outs(%v8 : tensor<1x256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.divf %a0, %cst_f32_256p0 : f32
      linalg.yield %r : f32
    } -> tensor<1x256x1xf32>
    %v10 = tensor.empty() : tensor<1x256x1xf32>
    %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v9 : tensor<1x256x1xf32>) outs(%v10 : tensor<1x256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.addf %a0, %cst_f32_1em05 : f32
      linalg.yield %r : f32
    } -> tensor<1x256x1xf32>
    %v12 = tensor.empty() : tensor<1x256x1xf32>
    %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v11 : tensor<1x256x1xf32>) outs(%v12 : tensor<1x256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = math.rsqrt %a0 : f32
      linalg.yield %r : f32
    } -> tensor<1x256x1xf32>
    %v14 = tensor.empty() : tensor<1x256x256xf32>
    %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v13 : tensor<1x256x256xf32>, tensor<1x256x1xf32>) outs(%v14 : tensor<1x256x256xf32>) {
    ^bb0(%a0: f32, %a1: f32, %out: f32):
      %r = arith.mulf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<1x256x256xf32>
    %v16 = tensor.empty() : tensor<1x256x256xbf16>
    %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v15 : tensor<1x256x256xf32>) outs(%v16 : tensor<1x256x256xbf16>) {
    ^bb0(%a0: f32, %out: bf16):
      %r = arith.truncf %a0 : f32 to bf16
      linalg.yield %r : bf16
    } -> tensor<1x256x256xbf16>
    %v18 = tensor.empty() : tensor<1x256x256xbf16>
    %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v17, %arg1 : tensor<1x256x256xbf16>, tensor<256xbf16>) outs(%v18 : tensor<1x256x256xbf16>) {
    ^bb0(%a0: bf16, %a1: bf16, %out: bf16):
      %r = arith.mulf %a0, %a1 : bf16
      linalg.yield %r : bf16
    } -> tensor<1x256x256xbf16>
    %v20 = tensor.empty() : tensor<256x1024xbf16>
    %v21 = linalg.transpose ins(%arg2 : tensor<1024x256xbf16>) outs(%v20 : tensor<256x1024xbf16>) permutation = [1, 0]
    %v22 = tensor.collapse_shape %v19 [[0, 1], [2]] : tensor<1x256x256xbf16> into tensor<256x256xbf16>
    %v23 = tensor.empty() : tensor<256x1024xf32>
    %v24 = linalg.fill ins(%cst_f32_0p0 : f32) outs(%v23 : tensor<256x1024xf32>) -> tensor<256x1024xf32>
    %v25 = linalg.matmul ins(%v22, %v21 : tensor<256x256xbf16>, tensor<256x1024xbf16>) outs(%v24 : tensor<256x1024xf32>) -> tensor<256x1024xf32>
    %v26 = tensor.empty() : tensor<256x1024xbf16>
    %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v25 : tensor<256x1024xf32>) outs(%v26 : tensor<256x1024xbf16>) {
    ^bb0(%a0: f32, %out: bf16):
      %r = arith.truncf %a0 : f32 to bf16
      linalg.yield %r : bf16
    } -> tensor<256x1024xbf16>
    %v28 = tensor.expand_shape %v27 [[0, 1], [2]] output_shape [1, 256, 1024] : tensor<256x1024xbf16> into tensor<1x256x1024xbf16>
    %v29 = tensor.empty() : tensor<1x256x1024xf32>
    %v30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v28 : tensor<1x256x1024xbf16>) outs(%v29 : tensor<1x256x1024xf32>) {
    ^bb0(%a0: bf16, %out: f32):
      %r = arith.extf %a0 : bf16 to f32
      linalg.yield %r : f32
    } -> tensor<1x256x1024xf32>
    %v31 = tensor.collapse_shape %v30 [[0, 1], [2]] : tensor<1x256x1024xf32> into tensor<256x1024xf32>
    %v32 = tensor.empty() : tensor<256x1024xf32>
    %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v31 : tensor<256x1024xf32>) outs(%v32 : tensor<256x1024xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.divf %a0, %cst_f32_30p0 : f32
      linalg.yield %r : f32
    } -> tensor<256x1024xf32>
    %v34 = tensor.empty() : tensor<256x1024xf32>
    %v35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v33 : tensor<256x1024xf32>) outs(%v34 : tensor<256x1024xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = math.tanh %a0 : f32
      linalg.yield %r : f32
    } -> tensor<256x1024xf32>
    %v36 = tensor.empty() : tensor<256x1024xf32>
    %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v35 : tensor<256x1024xf32>) outs(%v36 : tensor<256x1024xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.mulf %a0, %cst_f32_30p0 : f32
      linalg.yield %r : f32
    } -> tensor<256x1024xf32>
    %v38 = tensor.empty() : tensor<256x1xf32>
    %v39 = linalg.fill ins(%cst_f32_minf : f32) outs(%v38 : tensor<256x1xf32>) -> tensor<256x1xf32>
    %v40 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%v37 : tensor<256x1024xf32>) outs(%v39 : tensor<256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.maximumf %a0, %out : f32
      linalg.yield %r : f32
    } -> tensor<256x1xf32>
    %v41 = tensor.empty() : tensor<256x1024xf32>
    %v42 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v37, %v40 : tensor<256x1024xf32>, tensor<256x1xf32>) outs(%v41 : tensor<256x1024xf32>) {
    ^bb0(%a0: f32, %a1: f32, %out: f32):
      %r = arith.subf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<256x1024xf32>
    %v43 = tensor.empty() : tensor<256x1024xf32>
    %v44 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v42 : tensor<256x1024xf32>) outs(%v43 : tensor<256x1024xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = math.exp %a0 : f32
      linalg.yield %r : f32
    } -> tensor<256x1024xf32>
    %v45 = tensor.empty() : tensor<256x1xf32>
    %v46 = linalg.fill ins(%cst_f32_0p0 : f32) outs(%v45 : tensor<256x1xf32>) -> tensor<256x1xf32>
    %v47 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%v44 : tensor<256x1024xf32>) outs(%v46 : tensor<256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.addf %a0, %out : f32
      linalg.yield %r : f32
    } -> tensor<256x1xf32>
    %v48 = tensor.empty() : tensor<256x1xf32>
    %v49 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v47 : tensor<256x1xf32>) outs(%v48 : tensor<256x1xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = math.log %a0 : f32
      linalg.yield %r : f32
    } -> tensor<256x1xf32>
    %v50 = tensor.empty() : tensor<256x1024xf32>
    %v51 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v42, %v49 : tensor<256x1024xf32>, tensor<256x1xf32>) outs(%v50 : tensor<256x1024xf32>) {
    ^bb0(%a0: f32, %a1: f32, %out: f32):
      %r = arith.subf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<256x1024xf32>
    %v52 = tensor.empty() : tensor<256x1xf32>
    %v53 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v40, %v49 : tensor<256x1xf32>, tensor<256x1xf32>) outs(%v52 : tensor<256x1xf32>) {
    ^bb0(%a0: f32, %a1: f32, %out: f32):
      %r = arith.addf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<256x1xf32>
    %v54 = tensor.empty() : tensor<256xf32>
    %v55 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg3 : tensor<256xi64>) outs(%v54 : tensor<256xf32>) {
    ^bb0(%l: i64, %out: f32):
      %ok = arith.cmpi ne, %l, %cst_i64_m100 : i64
      %sl = arith.select %ok, %l, %cst_i64_0 : i64
      %i = linalg.index 0 : index
      %j = arith.index_cast %sl : i64 to index
      %e = tensor.extract %v51[%i, %j] : tensor<256x1024xf32>
      %ne = arith.negf %e : f32
      %r = arith.select %ok, %ne, %cst_f32_0p0 : f32
      linalg.yield %r : f32
    } -> tensor<256xf32>
    %v56 = tensor.empty() : tensor<256xf32>
    %v57 = linalg.fill ins(%cst_f32_0p0 : f32) outs(%v56 : tensor<256xf32>) -> tensor<256xf32>
    %v58 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%v51 : tensor<256x1024xf32>) outs(%v57 : tensor<256xf32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.addf %a0, %out : f32
      linalg.yield %r : f32
    } -> tensor<256xf32>
    %v59 = tensor.collapse_shape %v53 [[0, 1]] : tensor<256x1xf32> into tensor<256xf32>
    %v60 = tensor.empty() : tensor<256xf32>
    %v61 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg3 : tensor<256xi64>) outs(%v60 : tensor<256xf32>) {
    ^bb0(%a0: i64, %out: f32):
      %ok = arith.cmpi ne, %a0, %cst_i64_m100 : i64
      %r = arith.uitofp %ok : i1 to f32
      linalg.yield %r : f32
    } -> tensor<256xf32>
    %v62 = tensor.empty() : tensor<f32>
    %v63 = linalg.fill ins(%cst_f32_0p0 : f32) outs(%v62 : tensor<f32>) -> tensor<f32>
    %v64 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%v55 : tensor<256xf32>) outs(%v63 : tensor<f32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.addf %a0, %out : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %v65 = tensor.empty() : tensor<f32>
    %v66 = linalg.fill ins(%cst_f32_0p0 : f32) outs(%v65 : tensor<f32>) -> tensor<f32>
    %v67 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%v61 : tensor<256xf32>) outs(%v66 : tensor<f32>) {
    ^bb0(%a0: f32, %out: f32):
      %r = arith.addf %a0, %out : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %v68 = tensor.empty() : tensor<f32>
    %v69 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%v64, %v67 : tensor<f32>, tensor<f32>) outs(%v68 : tensor<f32>) {
    ^bb0(%a0: f32, %a1: f32, %out: f32):
      %r = arith.divf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    return %v69 : tensor<f32>
  }
}
