// RUN: coda-opt %s -coda-decompose | FileCheck %s

// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$MAP1:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$MAP2:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$MAP3:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$MAP4:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$MAP5:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$MAP6:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$MAP7:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$MAP8:.+]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[$MAP9:.+]] = affine_map<(d0) -> ()>
// CHECK-DAG: #[[$MAP10:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$GROUPS:.+]] = affine_map<(d0, d1) -> (d0 floordiv 128, d1)>

// An accumulator of two products, a load, a store.
// CHECK-LABEL: func.func @gemm(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x8xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<6x8xbf16>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<4x2xbf16>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<2x6xbf16>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<6xf32>
// CHECK-SAME:    %[[ARG5:[a-zA-Z0-9_]+]]: tensor<6x4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V1:.+]] = linalg.fill ins(%[[CST]] : f32) outs(%[[V0]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[V2:.+]] = linalg.generic {indexing_maps = [#[[$MAP]], #[[$MAP1]], #[[$MAP2]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ARG0]], %[[ARG1]] : tensor<4x8xbf16>, tensor<6x8xbf16>) outs(%[[V1]] : tensor<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: bf16, %[[IN_0:.+]]: bf16, %[[OUT:.+]]: f32):
// CHECK-NEXT:   %[[V5:.+]] = arith.extf %[[IN]] : bf16 to f32
// CHECK-NEXT:   %[[V6:.+]] = arith.extf %[[IN_0]] : bf16 to f32
// CHECK-NEXT:   %[[V7:.+]] = arith.mulf %[[V5]], %[[V6]] : f32
// CHECK-NEXT:   %[[V8:.+]] = arith.addf %[[OUT]], %[[V7]] : f32
// CHECK-NEXT:   linalg.yield %[[V8]] : f32
// CHECK-NEXT: } -> tensor<4x6xf32>
// CHECK-NEXT: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[$MAP]], #[[$MAP3]], #[[$MAP2]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ARG2]], %[[ARG3]] : tensor<4x2xbf16>, tensor<2x6xbf16>) outs(%[[V2]] : tensor<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: bf16, %[[IN_0]]: bf16, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V5]] = arith.extf %[[IN]] : bf16 to f32
// CHECK-NEXT:   %[[V6]] = arith.extf %[[IN_0]] : bf16 to f32
// CHECK-NEXT:   %[[V7]] = arith.mulf %[[V5]], %[[V6]] : f32
// CHECK-NEXT:   %[[V8]] = arith.addf %[[OUT]], %[[V7]] : f32
// CHECK-NEXT:   linalg.yield %[[V8]] : f32
// CHECK-NEXT: } -> tensor<4x6xf32>
// CHECK-NEXT: %[[V4:.+]] = linalg.generic {indexing_maps = [#[[$MAP4]], #[[$MAP5]], #[[$MAP6]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG4]], %[[V3]] : tensor<6xf32>, tensor<4x6xf32>) outs(%[[ARG5]] : tensor<6x4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[IN_0]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V5]] = arith.subf %[[IN_0]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V5]] : f32
// CHECK-NEXT: } -> tensor<6x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<6x4xf32>
// CHECK-NEXT: }
func.func @gemm(%a: tensor<4x8xbf16>, %b: tensor<6x8xbf16>, %c: tensor<4x2xbf16>,
    %d: tensor<2x6xbf16>, %r: tensor<6xf32>, %o: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = coda.gemm
      acc(%a[m, k0] * %b[n, k0] + %c[m, k1] * %d[k1, n]
          : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<4x2xbf16>, tensor<2x6xbf16>)
      ins(%r[n] : tensor<6xf32>) outs(%o[n, m] : tensor<6x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.subf %x, %y : f32
    coda.yield %s : f32
  }
  return %0 : tensor<6x4xf32>
}

// A reduction takes its init along, a fresh one the identity.
// CHECK-LABEL: func.func @reductions(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x?xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-NEXT: %[[C1:.+]] = arith.constant 1 : index
// CHECK-NEXT: %[[DIM:.+]] = tensor.dim %[[ARG0]], %[[C1]] : tensor<4x?xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty(%[[DIM]]) : tensor<4x?xf32>
// CHECK-NEXT: %[[C1_0:.+]] = arith.constant 1 : index
// CHECK-NEXT: %[[DIM_1:.+]] = tensor.dim %[[ARG0]], %[[C1_0]] : tensor<4x?xf32>
// CHECK-NEXT: %[[V1:.+]] = tensor.empty(%[[DIM_1]]) : tensor<4x?xf32>
// CHECK-NEXT: %[[V2:.+]]:2 = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$MAP5]], #[[$MAP5]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG0]] : tensor<4x?xf32>) outs(%[[V0]], %[[V1]] : tensor<4x?xf32>, tensor<4x?xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32, %[[OUT_2:.+]]: f32):
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[IN]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V6]], %[[IN]] : f32, f32
// CHECK-NEXT: } -> (tensor<4x?xf32>, tensor<4x?xf32>)
// CHECK-NEXT: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$MAP7]]], iterator_types = ["parallel", "reduction"]} ins(%[[V2]]#0 : tensor<4x?xf32>) outs(%[[ARG1]] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V6]] = arith.addf %[[OUT]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT: %[[V4:.+]] = linalg.fill ins(%[[CST]] : f32) outs(%[[ARG2]] : tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: %[[V5:.+]] = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$MAP4]]], iterator_types = ["reduction", "parallel"]} ins(%[[V2]]#1 : tensor<4x?xf32>) outs(%[[V4]] : tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V6]] = arith.maximumf %[[OUT]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<?xf32>
// CHECK-NEXT: return %[[V3]], %[[V5]] : tensor<4xf32>, tensor<?xf32>
// CHECK-NEXT: }
func.func @reductions(%x: tensor<4x?xf32>, %s: tensor<4xf32>, %t: tensor<?xf32>)
    -> (tensor<4xf32>, tensor<?xf32>) {
  %0:2 = coda.map ins(%x[m, n] : tensor<4x?xf32>)
      outs(add %s[m], fresh max %t[n] : tensor<4xf32>, tensor<?xf32>) {
  ^bb0(%v: f32):
    %q = arith.mulf %v, %v : f32
    coda.yield %q, %v : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<?xf32>
}

// One exponential for each element; a maximum of -inf or +inf is not taken off.
// CHECK-LABEL: func.func @logaddexp(
// CHECK-SAME:    %[[X:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[S:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK:       %[[V:.+]] = linalg.generic {{.+}} ins(%[[X]] : tensor<4xf32>)
// CHECK:       %[[LOWEST:.+]] = linalg.fill
// CHECK-NEXT:  %[[MAX:.+]] = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP9]]], iterator_types = ["reduction"]} ins(%[[V]] : tensor<4xf32>) outs(%[[LOWEST]] : tensor<f32>) {
// CHECK-NEXT:  ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:    %[[M:.+]] = arith.maximumf %[[OUT]], %[[IN]]
// CHECK-NEXT:    linalg.yield %[[M]]
// CHECK:       %[[NONE:.+]] = linalg.fill
// CHECK-NEXT:  %[[SUM:.+]] = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP9]], #[[$MAP9]]], iterator_types = ["reduction"]} ins(%[[V]], %[[MAX]] : tensor<4xf32>, tensor<f32>) outs(%[[NONE]] : tensor<f32>) {
// CHECK-NEXT:  ^bb0(%[[IN:.+]]: f32, %[[TOP:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:    %[[INF:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT:    %[[ABS:.+]] = math.absf %[[TOP]]
// CHECK-NEXT:    %[[IS:.+]] = arith.cmpf oeq, %[[ABS]], %[[INF]]
// CHECK-NEXT:    %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[FINITE:.+]] = arith.select %[[IS]], %[[ZERO]], %[[TOP]]
// CHECK-NEXT:    %[[BELOW:.+]] = arith.subf %[[IN]], %[[FINITE]]
// CHECK-NEXT:    %[[EXP:.+]] = math.exp %[[BELOW]]
// CHECK-NEXT:    %[[ADD:.+]] = arith.addf %[[OUT]], %[[EXP]]
// CHECK-NEXT:    linalg.yield %[[ADD]]
// CHECK:       %[[R:.+]] = linalg.generic {{.+}} ins(%[[MAX]], %[[SUM]] : tensor<f32>, tensor<f32>) outs(%[[S]] : tensor<f32>) {
// CHECK-NEXT:  ^bb0(%[[TOP:.+]]: f32, %[[TOTAL:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:    %[[LOG:.+]] = math.log %[[TOTAL]]
// CHECK:         %[[FINITE:.+]] = arith.select %{{.+}}, %{{.+}}, %[[TOP]]
// CHECK-NEXT:    %[[LSE:.+]] = arith.addf %[[FINITE]], %[[LOG]]
// CHECK-NEXT:    %[[HI:.+]] = arith.maximumf %[[OUT]], %[[LSE]]
// CHECK-NEXT:    %[[LO:.+]] = arith.minimumf %[[OUT]], %[[LSE]]
// CHECK:         %[[DIFF:.+]] = arith.subf %[[LO]], %[[HI]]
// CHECK-NEXT:    %[[E:.+]] = math.exp %[[DIFF]]
// CHECK-NEXT:    %[[L:.+]] = math.log1p %[[E]]
// CHECK-NEXT:    %[[BOTH:.+]] = arith.addf %[[HI]], %[[L]]
// CHECK-NEXT:    %[[RESULT:.+]] = arith.select %{{.+}}, %[[HI]], %[[BOTH]]
// CHECK-NEXT:    linalg.yield %[[RESULT]]
// CHECK:       return %[[R]]
func.func @logaddexp(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(logaddexp %s[] : tensor<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<f32>
}

// The points of a u dim are slices.
// CHECK-LABEL: func.func @unrolled(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<3x2xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE:.+]] = tensor.extract_slice %[[ARG0]][0, 0] [3, 1] [1, 1] : tensor<3x2xf32> to tensor<3xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE_0:.+]] = tensor.extract_slice %[[ARG0]][0, 1] [3, 1] [1, 1] : tensor<3x2xf32> to tensor<3xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE_1:.+]] = tensor.extract_slice %[[ARG1]][0, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE_2:.+]] = tensor.extract_slice %[[ARG1]][1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP8]], #[[$MAP8]], #[[$MAP8]]], iterator_types = ["parallel"]} ins(%[[EXTRACTED_SLICE_0]], %[[EXTRACTED_SLICE]] : tensor<3xf32>, tensor<3xf32>) outs(%[[EXTRACTED_SLICE_1]], %[[EXTRACTED_SLICE_2]] : tensor<3xf32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[IN_4:.+]]: f32, %[[OUT:.+]]: f32, %[[OUT_5:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.subf %[[IN_4]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[IN]], %[[V1]] : f32, f32
// CHECK-NEXT: } -> (tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: %[[INSERTED_SLICE:.+]] = tensor.insert_slice %[[V0]]#0 into %[[ARG1]][0, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
// CHECK-NEXT: %[[INSERTED_SLICE_3:.+]] = tensor.insert_slice %[[V0]]#1 into %[[INSERTED_SLICE]][1, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
// CHECK-NEXT: return %[[INSERTED_SLICE_3]] : tensor<2x3xf32>
// CHECK-NEXT: }
func.func @unrolled(%x: tensor<3x2xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = coda.map ins(%x[n, u] : tensor<3x2xf32>) outs(%o[u, n] : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    coda.yield %b, %s : f32, f32
  }
  return %0 : tensor<2x3xf32>
}

// With another dim of extent 1 a rank-reducing slice would not say which of the
// two it drops.
// CHECK-LABEL: func.func @unrolled_unit_dim(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x1x?xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<1x2x?xf32>
// CHECK-NEXT: %[[C2:.+]] = arith.constant 2 : index
// CHECK-NEXT: %[[DIM:.+]] = tensor.dim %[[ARG0]], %[[C2]] : tensor<2x1x?xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE:.+]] = tensor.extract_slice %[[ARG0]][0, 0, 0] [1, 1, %[[DIM]]] [1, 1, 1] : tensor<2x1x?xf32> to tensor<1x1x?xf32>
// CHECK-NEXT: %[[COLLAPSED:.+]] = tensor.collapse_shape %[[EXTRACTED_SLICE]] {{\[\[}}0, 1], [2]] : tensor<1x1x?xf32> into tensor<1x?xf32>
// CHECK-NEXT: %[[C2_0:.+]] = arith.constant 2 : index
// CHECK-NEXT: %[[DIM_1:.+]] = tensor.dim %[[ARG0]], %[[C2_0]] : tensor<2x1x?xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE_2:.+]] = tensor.extract_slice %[[ARG0]][1, 0, 0] [1, 1, %[[DIM_1]]] [1, 1, 1] : tensor<2x1x?xf32> to tensor<1x1x?xf32>
// CHECK-NEXT: %[[COLLAPSED_3:.+]] = tensor.collapse_shape %[[EXTRACTED_SLICE_2]] {{\[\[}}0, 1], [2]] : tensor<1x1x?xf32> into tensor<1x?xf32>
// CHECK-NEXT: %[[C2_4:.+]] = arith.constant 2 : index
// CHECK-NEXT: %[[DIM_5:.+]] = tensor.dim %[[ARG1]], %[[C2_4]] : tensor<1x2x?xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE_6:.+]] = tensor.extract_slice %[[ARG1]][0, 0, 0] [1, 1, %[[DIM_5]]] [1, 1, 1] : tensor<1x2x?xf32> to tensor<1x1x?xf32>
// CHECK-NEXT: %[[COLLAPSED_7:.+]] = tensor.collapse_shape %[[EXTRACTED_SLICE_6]] {{\[\[}}0, 1], [2]] : tensor<1x1x?xf32> into tensor<1x?xf32>
// CHECK-NEXT: %[[C2_8:.+]] = arith.constant 2 : index
// CHECK-NEXT: %[[DIM_9:.+]] = tensor.dim %[[ARG1]], %[[C2_8]] : tensor<1x2x?xf32>
// CHECK-NEXT: %[[EXTRACTED_SLICE_10:.+]] = tensor.extract_slice %[[ARG1]][0, 1, 0] [1, 1, %[[DIM_9]]] [1, 1, 1] : tensor<1x2x?xf32> to tensor<1x1x?xf32>
// CHECK-NEXT: %[[COLLAPSED_11:.+]] = tensor.collapse_shape %[[EXTRACTED_SLICE_10]] {{\[\[}}0, 1], [2]] : tensor<1x1x?xf32> into tensor<1x?xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$MAP5]], #[[$MAP5]], #[[$MAP5]]], iterator_types = ["parallel", "parallel"]} ins(%[[COLLAPSED]], %[[COLLAPSED_3]] : tensor<1x?xf32>, tensor<1x?xf32>) outs(%[[COLLAPSED_7]], %[[COLLAPSED_11]] : tensor<1x?xf32>, tensor<1x?xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[IN_18:.+]]: f32, %[[OUT:.+]]: f32, %[[OUT_19:.+]]: f32):
// CHECK-NEXT:   linalg.yield %[[IN_18]], %[[IN]] : f32, f32
// CHECK-NEXT: } -> (tensor<1x?xf32>, tensor<1x?xf32>)
// CHECK-NEXT: %[[C2_12:.+]] = arith.constant 2 : index
// CHECK-NEXT: %[[DIM_13:.+]] = tensor.dim %[[ARG1]], %[[C2_12]] : tensor<1x2x?xf32>
// CHECK-NEXT: %[[EXPANDED:.+]] = tensor.expand_shape %[[V0]]#0 {{\[\[}}0, 1], [2]] output_shape [1, 1, %[[DIM_13]]] : tensor<1x?xf32> into tensor<1x1x?xf32>
// CHECK-NEXT: %[[INSERTED_SLICE:.+]] = tensor.insert_slice %[[EXPANDED]] into %[[ARG1]][0, 0, 0] [1, 1, %[[DIM_13]]] [1, 1, 1] : tensor<1x1x?xf32> into tensor<1x2x?xf32>
// CHECK-NEXT: %[[C2_14:.+]] = arith.constant 2 : index
// CHECK-NEXT: %[[DIM_15:.+]] = tensor.dim %[[INSERTED_SLICE]], %[[C2_14]] : tensor<1x2x?xf32>
// CHECK-NEXT: %[[EXPANDED_16:.+]] = tensor.expand_shape %[[V0]]#1 {{\[\[}}0, 1], [2]] output_shape [1, 1, %[[DIM_15]]] : tensor<1x?xf32> into tensor<1x1x?xf32>
// CHECK-NEXT: %[[INSERTED_SLICE_17:.+]] = tensor.insert_slice %[[EXPANDED_16]] into %[[INSERTED_SLICE]][0, 1, 0] [1, 1, %[[DIM_15]]] [1, 1, 1] : tensor<1x1x?xf32> into tensor<1x2x?xf32>
// CHECK-NEXT: return %[[INSERTED_SLICE_17]] : tensor<1x2x?xf32>
// CHECK-NEXT: }
func.func @unrolled_unit_dim(%x: tensor<2x1x?xf32>, %o: tensor<1x2x?xf32>) -> tensor<1x2x?xf32> {
  %0 = coda.map ins(%x[u, m, n] : tensor<2x1x?xf32>) outs(%o[m, u, n] : tensor<1x2x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    coda.yield %b, %a : f32, f32
  }
  return %0 : tensor<1x2x?xf32>
}

// Slices of nothing have no offset: there are none.
// CHECK-LABEL: func.func @unrolled_empty(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x0xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x0xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT: %[[V1:.+]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT: %[[V2:.+]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT: %[[V3:.+]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT: %[[V4:.+]]:2 = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP8]], #[[$MAP8]], #[[$MAP8]]], iterator_types = ["parallel"]} ins(%[[V0]], %[[V1]] : tensor<0xf32>, tensor<0xf32>) outs(%[[V2]], %[[V3]] : tensor<0xf32>, tensor<0xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[IN_0:.+]]: f32, %[[OUT:.+]]: f32, %[[OUT_1:.+]]: f32):
// CHECK-NEXT:   linalg.yield %[[IN_0]], %[[IN]] : f32, f32
// CHECK-NEXT: } -> (tensor<0xf32>, tensor<0xf32>)
// CHECK-NEXT: return %[[ARG1]] : tensor<2x0xf32>
// CHECK-NEXT: }
func.func @unrolled_empty(%x: tensor<2x0xf32>, %o: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %0 = coda.map ins(%x[u, n] : tensor<2x0xf32>) outs(%o[u, n] : tensor<2x0xf32>) {
  ^bb0(%a: f32, %b: f32):
    coda.yield %b, %a : f32, f32
  }
  return %0 : tensor<2x0xf32>
}

// CHECK-LABEL: func.func @group_reduce(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x2x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?x2x4xf32>
// CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.+]] = tensor.dim %[[ARG0]], %[[C0]] : tensor<?x2x4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty(%[[DIM]]) : tensor<?x2x4xf32>
// CHECK-NEXT: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[$MAP10]], #[[$MAP10]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[ARG0]] : tensor<?x2x4xf32>) outs(%[[V0]] : tensor<?x2x4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[IN]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<?x2x4xf32>
// CHECK-NEXT: %[[C0_0:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM_1:.+]] = tensor.dim %[[ARG0]], %[[C0_0]] : tensor<?x2x4xf32>
// CHECK-NEXT: %[[V2:.+]] = tensor.empty(%[[DIM_1]]) : tensor<?x2xf32>
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V3:.+]] = linalg.fill ins(%[[CST]] : f32) outs(%[[V2]] : tensor<?x2xf32>) -> tensor<?x2xf32>
// CHECK-NEXT: %[[V4:.+]] = linalg.generic {indexing_maps = [#[[$MAP10]], #[[$MAP2]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[V1]] : tensor<?x2x4xf32>) outs(%[[V3]] : tensor<?x2xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V6]] = arith.addf %[[OUT]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<?x2xf32>
// CHECK-NEXT: %[[V5:.+]] = linalg.generic {indexing_maps = [#[[$MAP2]], #[[$MAP10]], #[[$MAP10]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[V4]], %[[ARG0]] : tensor<?x2xf32>, tensor<?x2x4xf32>) outs(%[[ARG1]] : tensor<?x2x4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[IN_2:.+]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V6]] = arith.divf %[[IN_2]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<?x2x4xf32>
// CHECK-NEXT: return %[[V5]] : tensor<?x2x4xf32>
// CHECK-NEXT: }
func.func @group_reduce(%x: tensor<?x2x4xf32>, %o: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %0 = coda.map ins(%x[m, n0, n1] : tensor<?x2x4xf32>) outs(%o[m, n0, n1] : tensor<?x2x4xf32>) {
  ^bb0(%v: f32):
    %q = arith.mulf %v, %v : f32
    %g = coda.group_reduce add %q over [n1] : f32
    %d = arith.divf %v, %g : f32
    coda.yield %d : f32
  }
  return %0 : tensor<?x2x4xf32>
}

// CHECK-LABEL: func.func @index(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x3xindex>
// CHECK-NEXT: %[[V0:.+]] = linalg.generic {indexing_maps = [#[[$MAP5]]], iterator_types = ["parallel", "parallel"]} outs(%[[ARG0]] : tensor<2x3xindex>) {
// CHECK-NEXT: ^bb0(%[[OUT:.+]]: index):
// CHECK-NEXT:   %[[V1:.+]] = linalg.index 0 : index
// CHECK-NEXT:   %[[V2:.+]] = linalg.index 1 : index
// CHECK-NEXT:   %[[V3:.+]] = arith.subi %[[V1]], %[[V2]] : index
// CHECK-NEXT:   linalg.yield %[[V3]] : index
// CHECK-NEXT: } -> tensor<2x3xindex>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xindex>
// CHECK-NEXT: }
func.func @index(%o: tensor<2x3xindex>) -> tensor<2x3xindex> {
  %0 = coda.map outs(%o[m, n] : tensor<2x3xindex>) {
    %i = coda.index m
    %j = coda.index n
    %d = arith.subi %i, %j : index
    coda.yield %d : index
  }
  return %0 : tensor<2x3xindex>
}

// CHECK-LABEL: func.func @combining_load(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<3x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[CST:.+]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT: %[[V1:.+]] = linalg.fill ins(%[[CST]] : f32) outs(%[[V0]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.+]] = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$MAP4]]], iterator_types = ["reduction", "parallel"]} ins(%[[ARG0]] : tensor<3x4xf32>) outs(%[[V1]] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:   %[[V4:.+]] = arith.maximumf %[[OUT]], %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V4]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP8]]], iterator_types = ["parallel"]} ins(%[[V2]] : tensor<4xf32>) outs(%[[ARG1]] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V4]] = math.exp %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V4]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @combining_load(%p: tensor<3x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(max %p[p, n] : tensor<3x4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    %q = math.exp %v : f32
    coda.yield %q : f32
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @bundle(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP8]]], iterator_types = ["parallel"]} ins(%[[ARG0]] : tensor<4xf32>) outs(%[[ARG1]] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:   %[[V2:.+]] = math.exp %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V2]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[$MAP8]], #[[$MAP8]]], iterator_types = ["parallel"]} ins(%[[ARG0]] : tensor<4xf32>) outs(%[[ARG1]] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[OUT]]: f32):
// CHECK-NEXT:   %[[V2]] = math.sqrt %[[IN]] : f32
// CHECK-NEXT:   linalg.yield %[[V2]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK-NEXT: return %[[V1]], %[[V0]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @bundle(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %q = math.exp %v : f32
      coda.yield %q : f32
    }
    %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %q = math.sqrt %v : f32
      coda.yield %q : f32
    }
    coda.yield %2, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Groups of rows: each row adds to what its group has.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<300x4xf32>, %[[P:[a-z0-9]+]]: tensor<3x4xf32>, %[[Q:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK:      %[[V:.+]]:2 = linalg.generic
// CHECK:      linalg.generic {indexing_maps = [#[[$MAP5]], #[[$GROUPS]]], iterator_types = ["reduction", "parallel"]} ins(%[[V]]#0 : tensor<300x4xf32>) outs(%[[P]] : tensor<3x4xf32>)
// CHECK:      %[[MAX:.+]] = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$GROUPS]]], iterator_types = ["reduction", "parallel"]} ins(%[[V]]#1 : tensor<300x4xf32>)
// CHECK:      %[[SUM:.+]] = linalg.generic {indexing_maps = [#[[$MAP5]], #[[$GROUPS]], #[[$GROUPS]]], iterator_types = ["reduction", "parallel"]} ins(%[[V]]#1, %[[MAX]] : tensor<300x4xf32>, tensor<3x4xf32>)
// CHECK:      linalg.generic {indexing_maps = [#[[$MAP5]], #[[$MAP5]], #[[$MAP5]]], iterator_types = ["parallel", "parallel"]} ins(%[[MAX]], %[[SUM]] : tensor<3x4xf32>, tensor<3x4xf32>)
func.func @groups(%x: tensor<300x4xf32>, %p: tensor<3x4xf32>, %q: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %r:2 = coda.map ins(%x[m, n] : tensor<300x4xf32>)
      outs(add %p[m floordiv 128, n], fresh logaddexp %q[m floordiv 128, n] : tensor<3x4xf32>, tensor<3x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v, %v : f32, f32
  }
  return %r#0, %r#1 : tensor<3x4xf32>, tensor<3x4xf32>
}
