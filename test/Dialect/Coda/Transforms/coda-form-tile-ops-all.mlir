// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-form-tile-ops{all=true}))' | FileCheck %s

// Elementwise ops of arguments, of scalars too; integers stay.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8xf32>, %[[N:[^:]+]]: tensor<f32>, %[[L:[^:]+]]: tensor<8xi64>)
// CHECK: %[[E:.+]] = coda.map
// CHECK-NEXT: ins(%[[X]][m] : tensor<8xf32>)
// CHECK: linalg.generic
// CHECK: %[[Q:.+]] = coda.map
// CHECK-NEXT: ins(%[[N]][] : tensor<f32>)
// CHECK-NEXT: outs(%{{.+}}[] : tensor<f32>)
// CHECK-NEXT: ^bb0(%[[V:.+]]: f32):
// CHECK-NEXT: math.sqrt %[[V]]
// CHECK: return %[[E]], %[[Q]]
func.func @main(%x: tensor<8xf32>, %n: tensor<f32>, %l: tensor<8xi64>) -> (tensor<8xf32>, tensor<f32>, tensor<8xi64>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%l : tensor<8xi64>) {
  ^bb0(%a: i64):
    %c = arith.addi %a, %a : i64
    linalg.yield %c : i64
  } -> tensor<8xi64>
  %s = tensor.empty() : tensor<f32>
  %2 = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%s : tensor<f32>) {
  ^bb0(%a: f32):
    %v = tensor.extract %n[] : tensor<f32>
    %c = math.sqrt %v : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %0, %2, %1 : tensor<8xf32>, tensor<f32>, tensor<8xi64>
}

// Products of a batch, whatever their factors are made of.
// CHECK-LABEL: func.func @batched(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x4x16xf32>, %[[B:[^:]+]]: tensor<2x16x4xf32>)
// CHECK: %[[P:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[A]][b, m, k] * %[[B]][b, k, n] : tensor<2x4x16xf32>, tensor<2x16x4xf32>)
// CHECK: %[[Q:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[P]][b, m, k] * %[[P]][b, k, n] : tensor<2x4x4xf32>, tensor<2x4x4xf32>)
// CHECK-NEXT: outs(%{{.+}}[b, m, n] : tensor<2x4x4xf32>)
// CHECK: return %[[Q]]
func.func @batched(%a: tensor<2x4x16xf32>, %b: tensor<2x16x4xf32>) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<2x4x16xf32>, tensor<2x16x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %q = linalg.batch_matmul ins(%p, %p : tensor<2x4x4xf32>, tensor<2x4x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %q : tensor<2x4x4xf32>
}

// A sum with weights, of experts' results say, of which one factor has every dim: where
// the two have no common type, no gemm can have it, and a map does.
// CHECK-LABEL: func.func @weighted_sum(
// CHECK-SAME: %[[Y:[^:]+]]: tensor<3x4x8xf32>, %[[P:[^:]+]]: tensor<3x4xbf16>)
// CHECK-NOT: linalg.generic
// CHECK: %[[S:.+]] = coda.map
// CHECK-NEXT: ins(%[[Y]][m0, m1, n], %[[P]][m0, m1] : tensor<3x4x8xf32>, tensor<3x4xbf16>)
// CHECK-NEXT: outs(add %{{.+}}[m1, n] : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: bf16):
// CHECK-NEXT: %[[W:.+]] = arith.extf %[[B]] : bf16 to f32
// CHECK-NEXT: %[[V:.+]] = arith.mulf %[[A]], %[[W]] : f32
// CHECK-NEXT: coda.yield %[[V]] : f32
// CHECK: return %[[S]]
func.func @weighted_sum(%y: tensor<3x4x8xf32>, %p: tensor<3x4xbf16>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (i, j)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%y, %p : tensor<3x4x8xf32>, tensor<3x4xbf16>) outs(%z : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: bf16, %o: f32):
    %w = arith.extf %b : bf16 to f32
    %v = arith.mulf %a, %w : f32
    %r = arith.addf %o, %v : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// A product of rows and columns is none: it would be as slow as a loop.
// CHECK-LABEL: func.func @no_map_of_mixed_types(
// CHECK-NOT: coda.map
// CHECK: linalg.matmul
// CHECK-NOT: coda.map
func.func @no_map_of_mixed_types(%a: tensor<3x16xf32>, %b: tensor<16x8xbf16>, %e: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %s = linalg.matmul ins(%a, %b : tensor<3x16xf32>, tensor<16x8xbf16>) outs(%e : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %s : tensor<3x8xf32>
}
