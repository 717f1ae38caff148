// A norm over 328 columns, no multiple of a granule, between two products of any
// number of rows: its partial sums are saved by the kernel that makes them, and the
// sizes of what the backward makes follow from the arguments on each target.
//
// REQUIRES: numpy
// RUN: coda-run %s --grad --against-reference --seed=1 --extent=300 --repeat=0 | FileCheck %s
// CHECK: 8 kernel launches
// CHECK: all outputs are good
// RUN: coda-compile %s --grad --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// PTX: .entry main_bwd_

func.func @main(%a0: tensor<?x96xbf16>, %a1: tensor<328x96xbf16>, %a2: tensor<?x328xbf16>, %a3: tensor<328xbf16>, %a4: tensor<64x328xbf16>) -> (tensor<?x328xbf16>, tensor<?x64xbf16>) {
  %v1 = arith.constant 0 : index
  %v2 = tensor.dim %a0, %v1 : tensor<?x96xbf16>
  %v3 = tensor.empty(%v2) : tensor<?x328xf32>
  %v4 = arith.constant 0.0 : f32
  %v5 = linalg.fill ins(%v4 : f32) outs(%v3 : tensor<?x328xf32>) -> tensor<?x328xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<?x96xbf16>, tensor<328x96xbf16>) outs(%v5 : tensor<?x328xf32>) {
  ^bb0(%i0: bf16, %i1: bf16, %o: f32):
    %e0 = arith.extf %i0 : bf16 to f32
    %e1 = arith.extf %i1 : bf16 to f32
    %m = arith.mulf %e0, %e1 : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x328xf32>
  %v7 = arith.constant 0 : index
  %v8 = tensor.dim %a0, %v7 : tensor<?x96xbf16>
  %v9 = tensor.empty(%v8) : tensor<?x328xbf16>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<?x328xf32>) outs(%v9 : tensor<?x328xbf16>) {
  ^bb0(%i0: f32, %o: bf16):
    %y = arith.truncf %i0 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x328xbf16>
  %v11 = arith.constant 0 : index
  %v12 = tensor.dim %a0, %v11 : tensor<?x96xbf16>
  %v13 = tensor.empty(%v12) : tensor<?x328xbf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v10, %a2 : tensor<?x328xbf16>, tensor<?x328xbf16>) outs(%v13 : tensor<?x328xbf16>) {
  ^bb0(%i0: bf16, %i1: bf16, %o: bf16):
    %x0 = arith.extf %i0 : bf16 to f32
    %x1 = arith.extf %i1 : bf16 to f32
    %t1 = arith.addf %x0, %x1 : f32
    %y = arith.truncf %t1 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x328xbf16>
  %v15 = arith.constant 0 : index
  %v16 = tensor.dim %a0, %v15 : tensor<?x96xbf16>
  %v17 = tensor.empty(%v16) : tensor<?xf32>
  %v18 = arith.constant 0.0 : f32
  %v19 = linalg.fill ins(%v18 : f32) outs(%v17 : tensor<?xf32>) -> tensor<?xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%v14 : tensor<?x328xbf16>) outs(%v19 : tensor<?xf32>) {
  ^bb0(%i0: bf16, %o: f32):
    %x0 = arith.extf %i0 : bf16 to f32
    %t1 = arith.mulf %x0, %x0 : f32
    %s = arith.addf %o, %t1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %v21 = arith.constant 0 : index
  %v22 = tensor.dim %a0, %v21 : tensor<?x96xbf16>
  %v23 = tensor.empty(%v22) : tensor<?x328xbf16>
  %v24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v14, %v20, %a3 : tensor<?x328xbf16>, tensor<?xf32>, tensor<328xbf16>) outs(%v23 : tensor<?x328xbf16>) {
  ^bb0(%i0: bf16, %i1: f32, %i2: bf16, %o: bf16):
    %x0 = arith.extf %i0 : bf16 to f32
    %x2 = arith.extf %i2 : bf16 to f32
    %t1 = arith.constant 3.280000000e+02  : f32
    %t2 = arith.divf %i1, %t1 : f32
    %t3 = arith.constant 1.000000000e-05  : f32
    %t4 = arith.addf %t2, %t3 : f32
    %t5 = math.rsqrt %t4 : f32
    %t6 = arith.mulf %x0, %t5 : f32
    %t7 = arith.mulf %t6, %x2 : f32
    %y = arith.truncf %t7 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x328xbf16>
  %v25 = arith.constant 0 : index
  %v26 = tensor.dim %a0, %v25 : tensor<?x96xbf16>
  %v27 = tensor.empty(%v26) : tensor<?x64xf32>
  %v28 = arith.constant 0.0 : f32
  %v29 = linalg.fill ins(%v28 : f32) outs(%v27 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %v30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v24, %a4 : tensor<?x328xbf16>, tensor<64x328xbf16>) outs(%v29 : tensor<?x64xf32>) {
  ^bb0(%i0: bf16, %i1: bf16, %o: f32):
    %e0 = arith.extf %i0 : bf16 to f32
    %e1 = arith.extf %i1 : bf16 to f32
    %m = arith.mulf %e0, %e1 : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %v31 = arith.constant 0 : index
  %v32 = tensor.dim %a0, %v31 : tensor<?x96xbf16>
  %v33 = tensor.empty(%v32) : tensor<?x64xbf16>
  %v34 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v30 : tensor<?x64xf32>) outs(%v33 : tensor<?x64xbf16>) {
  ^bb0(%i0: f32, %o: bf16):
    %y = arith.truncf %i0 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x64xbf16>
  return %v14, %v34 : tensor<?x328xbf16>, tensor<?x64xbf16>
}

