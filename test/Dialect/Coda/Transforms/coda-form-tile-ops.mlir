// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-form-tile-ops))' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-form-tile-ops{numerics=strict}))' -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=STRICT

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xbf16>, %[[B:.*]]: tensor<16x4xbf16>
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK:       %[[Y:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][k, n] :
// CHECK-NEXT:    outs(%[[E]][m, n] :
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32):
// CHECK-NEXT:    coda.yield %[[ACC]] : f32
// CHECK:       return %[[Y]]
func.func @matmul(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A start that is not zero is loaded and added; a 16-bit result is rounded once.
// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xbf16>, %[[B:.*]]: tensor<16x4xbf16>, %[[C:.*]]: tensor<8x4xbf16>
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][k, n] :
// CHECK-NEXT:    ins(%[[C]][m, n] :
// CHECK:       ^bb0(%[[ACC:.*]]: f32, %[[START:.*]]: bf16):
// CHECK-NEXT:    %[[F:.*]] = arith.extf %[[START]]
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[ACC]], %[[F]] : f32
// CHECK-NEXT:    %[[T:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT:    coda.yield %[[T]] : bf16
func.func @accumulate(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>, %c: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %y = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%c : tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %y : tensor<8x4xbf16>
}

// -----

// An elementwise reader and a sum become maps; 16-bit arithmetic is done in f32
// unless strict.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @readers(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x4xbf16>,
// CHECK:       %[[G:.*]] = coda.gemm
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n], %[[G]][m, n] :
// CHECK:       ^bb0(%[[P:.*]]: bf16, %[[Q:.*]]: f32):
// CHECK:         %[[PF:.*]] = arith.extf %[[P]]
// CHECK:         %[[SUM:.*]] = arith.addf %[[PF]], %[[Q]] : f32
// CHECK:         %[[SB:.*]] = arith.truncf %[[SUM]]
// CHECK:         coda.yield %[[SB]]
// CHECK:       coda.map
// CHECK-NEXT:    ins(%[[S]][m, n] :
// CHECK-NEXT:    outs(add %{{.*}}[m] :
// STRICT-LABEL: func.func @readers(
// STRICT:         arith.addf %{{.*}}, %{{.*}} : bf16
func.func @readers(%x: tensor<8x4xbf16>, %a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>, %e: tensor<8x4xf32>, %e2: tensor<8x4xbf16>, %s0: tensor<8xf32>) -> (tensor<8x4xbf16>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x4xbf16>, tensor<8x4xf32>) outs(%e2 : tensor<8x4xbf16>) {
  ^bb0(%p: bf16, %q: f32, %o: bf16):
    %0 = arith.truncf %q : f32 to bf16
    %1 = arith.addf %p, %0 : bf16
    linalg.yield %1 : bf16
  } -> tensor<8x4xbf16>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<8x4xbf16>) outs(%s0 : tensor<8xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %s, %r : tensor<8x4xbf16>, tensor<8xf32>
}

// -----

// What reads no tile op stays.
// CHECK-LABEL: func.func @apart(
// CHECK:       linalg.generic
// CHECK-NOT:   coda.
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @apart(%x: tensor<8x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %1 = arith.addf %p, %p : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// -----

// A factor is what an argument holds, a weight of each of several experts say: the batch
// is a dim of the gemm.
// CHECK-LABEL: func.func @batched(
// CHECK-SAME:  %[[A:.*]]: tensor<2x8x16xf32>, %[[B:.*]]: tensor<2x16x4xf16>, %[[Z:.*]]: tensor<2x8x4xf32>)
// CHECK:       %[[W:.*]] = linalg.generic
// CHECK:       %[[Y:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][b, m, k] * %[[W]][b, k, n] : tensor<2x8x16xf32>, tensor<2x16x4xf32>)
// CHECK-NEXT:    ins(%[[Z]][b, m, n] : tensor<2x8x4xf32>)
// CHECK-NEXT:    outs(%{{.*}}[b, m, n] : tensor<2x8x4xf32>)
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32, %[[ADD:.*]]: f32):
// CHECK-NEXT:    %[[V:.*]] = arith.addf %[[C]], %[[ADD]]
// CHECK-NEXT:    coda.yield %[[V]]
// CHECK:       return %[[Y]]
#whole = affine_map<(b, i, j) -> (b, i, j)>
func.func @batched(%a: tensor<2x8x16xf32>, %b: tensor<2x16x4xf16>, %z: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %e = tensor.empty() : tensor<2x16x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: no-common-space: a gemm takes it as a factor, which is read from memory}}
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<2x16x4xf16>) outs(%e : tensor<2x16x4xf32>) {
  ^bb0(%v: f16, %o: f32):
    %0 = arith.extf %v : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<2x16x4xf32>
  // expected-note @below {{because of this op}}
  %y = linalg.batch_matmul ins(%a, %w : tensor<2x8x16xf32>, tensor<2x16x4xf32>) outs(%z : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Products of what the graph computes, as attention's are, stay products of a batch.
// CHECK-LABEL: func.func @neg_batched(
// CHECK:       coda.gemm
// CHECK:       coda.gemm
// CHECK:       linalg.batch_matmul
func.func @neg_batched(%x: tensor<8x16xf32>, %wq: tensor<16x16xf32>, %wk: tensor<16x16xf32>) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<8x16xf32>, tensor<16x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<8x16xf32>, tensor<16x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  %q3 = tensor.expand_shape %q [[0, 1], [2]] output_shape [2, 4, 16] : tensor<8x16xf32> into tensor<2x4x16xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %k4 = tensor.collapse_shape %k3 [[0, 1], [2]] : tensor<8x4x4xf32> into tensor<32x4xf32>
  %k5 = tensor.expand_shape %k4 [[0, 1], [2]] output_shape [2, 16, 4] : tensor<32x4xf32> into tensor<2x16x4xf32>
  %e2 = tensor.empty() : tensor<2x4x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no gemm formed: no-common-space: a product of a batch whose factors are both computed, as attention's are}}
  %s = linalg.batch_matmul ins(%q3, %k5 : tensor<2x4x16xf32>, tensor<2x16x4xf32>) outs(%z2 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %s : tensor<2x4x4xf32>
}

// -----

// A vector by a matrix, or a matrix by a vector, is a gemm of one row: the
// matrix has the columns.
// CHECK-LABEL: func.func @vector_by_matrix(
// CHECK-SAME:  %[[X:.*]]: tensor<16xf32>, %[[W:.*]]: tensor<16x4xf32>
// CHECK:       coda.gemm
// CHECK-NEXT:  acc(%[[X]][k] * %[[W]][k, n] : tensor<16xf32>, tensor<16x4xf32>)
// CHECK-NEXT:  outs(%{{.*}}[n] : tensor<4xf32>)
func.func @vector_by_matrix(%x: tensor<16xf32>, %w: tensor<16x4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.vecmat ins(%x, %w : tensor<16xf32>, tensor<16x4xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @matrix_by_vector(
// CHECK-SAME:  %[[W:.*]]: tensor<4x16xf32>, %[[X:.*]]: tensor<16xf32>
// CHECK:       coda.gemm
// CHECK-NEXT:  acc(%[[X]][k] * %[[W]][n, k] : tensor<16xf32>, tensor<4x16xf32>)
func.func @matrix_by_vector(%w: tensor<4x16xf32>, %x: tensor<16xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.matvec ins(%w, %x : tensor<4x16xf32>, tensor<16xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @mixed_types(
// CHECK:       linalg.matmul
func.func @mixed_types(%a: tensor<8x16xbf16>, %b: tensor<16x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-remark @below {{[coda-form-tile-ops] no gemm formed: unsupported-type}}
  %y = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A gather may fail at run time: it stays behind the gemm.
// CHECK-LABEL: func.func @impure_reader(
// CHECK:       coda.gemm
// CHECK:       linalg.generic
// CHECK:         cf.assert
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @impure_reader(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: side-effect-between}}
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %ok = arith.cmpf ogt, %p, %zero : f32
    cf.assert %ok, "positive"
    linalg.yield %p : f32
  } -> tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @strange_index(
// CHECK:       coda.gemm
// CHECK:       linalg.generic
#id = affine_map<(d0, d1) -> (d0, d1)>
#diag = affine_map<(d0, d1) -> (d0 + d1, d1)>
func.func @strange_index(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %e: tensor<8x4xf32>, %e2: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: non-projected-map}}
  %s = linalg.generic {indexing_maps = [#diag, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x4xf32>) outs(%e2 : tensor<5x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<5x4xf32>
  return %s : tensor<5x4xf32>
}

// -----

// CHECK-LABEL: func.func @product(
// CHECK:       coda.gemm
// CHECK:       linalg.generic
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @product(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %e: tensor<8x4xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: nonlinear-reader}}
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<8x4xf32>) outs(%s0 : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.mulf %p, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// Attention repeats its keys: the copy is no kernel of its own.
// CHECK-LABEL: func.func @repeat(
// CHECK:       coda.gemm
// CHECK:       linalg.generic
#rep = affine_map<(d0, d1, d2) -> (d0, d2)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @repeat(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %e: tensor<8x4xf32>, %e3: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: no-common-space}}
  %s = linalg.generic {indexing_maps = [#rep, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<8x4xf32>) outs(%e3 : tensor<8x2x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<8x2x4xf32>
  return %s : tensor<8x2x4xf32>
}

// -----

// A sum in 16 bit is done in f32 and rounded once, unless strict.
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @narrow_sum(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x4xbf16>
// CHECK:       %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x4xbf16>) outs(%{{.*}} : tensor<4xf32>)
// CHECK:         %[[W:.*]] = arith.extf
// CHECK:         arith.addf %{{.*}}, %[[W]] : f32
// CHECK:       linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK:         arith.truncf
// STRICT-LABEL: func.func @narrow_sum(
// STRICT:         arith.addf %{{.*}}, %{{.*}} : bf16
func.func @narrow_sum(%x: tensor<8x4xbf16>, %e: tensor<4xbf16>) -> tensor<4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %s = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x4xbf16>) outs(%z : tensor<4xbf16>) {
  ^bb0(%p: bf16, %o: bf16):
    %0 = arith.addf %p, %o : bf16
    linalg.yield %0 : bf16
  } -> tensor<4xbf16>
  return %s : tensor<4xbf16>
}

// -----

// Two kinds of 8-bit floats meet in a product.
// CHECK-LABEL: func.func @eight_bits(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf8E4M3FN>, %[[B:.*]]: tensor<16x4xf8E5M2>
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][k, n] : tensor<8x16xf8E4M3FN>, tensor<16x4xf8E5M2>)
func.func @eight_bits(%a: tensor<8x16xf8E4M3FN>, %b: tensor<16x4xf8E5M2>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<8x16xf8E4M3FN>, tensor<16x4xf8E5M2>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A scale for every 8 of 16 contracted points: the product is one of f32.
// CHECK-LABEL: func.func @block_scales(
// CHECK:       %[[X:.*]] = tensor.collapse_shape %{{.*}} : tensor<4x2x8xf32> into tensor<4x16xf32>
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[X]][m, k] * %{{.*}}[k, n] : tensor<4x16xf32>, tensor<16x4xf32>)
#id = affine_map<(m, b, k) -> (m, b, k)>
#block = affine_map<(m, b, k) -> (m, b)>
func.func @block_scales(%x: tensor<4x2x8xf8E4M3FN>, %s: tensor<4x2xf32>, %w: tensor<16x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2x8xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: no-common-space: a gemm takes it as a factor, which is read from memory}}
  // expected-note @below {{because of this op}}
  %d = linalg.generic {indexing_maps = [#id, #block, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<4x2x8xf8E4M3FN>, tensor<4x2xf32>) outs(%e : tensor<4x2x8xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f32, %o: f32):
    %f = arith.extf %a : f8E4M3FN to f32
    %p = arith.mulf %f, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x2x8xf32>
  %c = tensor.collapse_shape %d [[0], [1, 2]] : tensor<4x2x8xf32> into tensor<4x16xf32>
  %i = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no gemm of 8-bit factors: contracts-scaled-dim: block scales, which differ along the contracted dim, are multiplied in before}}
  // expected-note @below {{because of this op}}
  %y = linalg.matmul ins(%c, %w : tensor<4x16xf32>, tensor<16x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Each product of a batch has a scale, and so has each row and column of it; so have
// products of blocks of the contracted dim, but those are summed.

// CHECK-LABEL: func.func @experts(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x8xf8E4M3FN>, %[[W:.*]]: tensor<2x8x4xf8E5M2>,
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[X]][b, m, k] * %[[W]][b, k, n] : tensor<2x4x8xf8E4M3FN>, tensor<2x8x4xf8E5M2>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{.*}}[m0, m1, n], %{{.*}}[m0], %{{.*}}[m0, m1], %{{.*}}[m0, n] :
#tile = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#column = affine_map<(b, m, n) -> (b, n)>
#one = affine_map<(b, m, n) -> (b)>
func.func @experts(%x: tensor<2x4x8xf8E4M3FN>, %w: tensor<2x8x4xf8E5M2>, %q: tensor<2xf32>, %s: tensor<2x4xf32>, %t: tensor<2x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x4x8xf8E4M3FN>, tensor<2x8x4xf8E5M2>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %r = linalg.generic {indexing_maps = [#tile, #one, #row, #column, #tile], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %q, %s, %t : tensor<2x4x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    %2 = arith.mulf %1, %d : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x4xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#tile, #one], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%r : tensor<2x4x4xf32>) outs(%z1 : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  %e2 = tensor.empty() : tensor<2x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %columns = linalg.generic {indexing_maps = [#tile, #column], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%r : tensor<2x4x4xf32>) outs(%z2 : tensor<2x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x4xf32>
  return %r, %sum, %columns : tensor<2x4x4xf32>, tensor<2xf32>, tensor<2x4xf32>
}

// -----

// What is added up without a scale of its own, or not as it is, is no block's.

// CHECK-LABEL: func.func @sums_of_experts(
// CHECK-COUNT-2: coda.gemm
#tile = affine_map<(b, m, n) -> (b, m, n)>
#own = affine_map<(b, m, n) -> (b)>
#row = affine_map<(b, m, n) -> (m)>
#column = affine_map<(b, m, n) -> (b, n)>
#sum = affine_map<(b, m, n) -> (m, n)>
func.func @sums_of_experts(%x: tensor<2x4x8xf8E4M3FN>, %w: tensor<2x8x4xf8E4M3FN>, %q: tensor<2xf32>, %s: tensor<4xf32>, %t: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x4x8xf8E4M3FN>, tensor<2x8x4xf8E4M3FN>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // A scale that all products share, a bias of each.
  %r = linalg.generic {indexing_maps = [#tile, #row, #column, #sum], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%y, %s, %t : tensor<2x4x4xf32>, tensor<4xf32>, tensor<2x4xf32>) outs(%z2 : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<4x4xf32>
  %u = linalg.batch_matmul ins(%x, %w : tensor<2x4x8xf8E4M3FN>, tensor<2x8x4xf8E4M3FN>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %v = linalg.generic {indexing_maps = [#tile, #own, #sum], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%u, %q : tensor<2x4x4xf32>, tensor<2xf32>) outs(%z2 : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = math.tanh %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<4x4xf32>
  return %r, %v : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @products_of_blocks(
// CHECK:       linalg.batch_matmul
#tile = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#sum = affine_map<(b, m, n) -> (m, n)>
func.func @products_of_blocks(%x: tensor<2x4x8xf8E4M3FN>, %w: tensor<2x8x4xf8E4M3FN>, %s: tensor<2x4xf32>, %e: tensor<2x4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // expected-remark @below {{[coda-form-tile-ops] no gemm formed: contracts-scaled-dim: products of 8-bit factors, each by its own scale, are summed: block scales, which differ along the contracted dim, are not supported}}
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x4x8xf8E4M3FN>, tensor<2x8x4xf8E4M3FN>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note @below {{because of this op}}
  %r = linalg.generic {indexing_maps = [#tile, #row, #sum], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%y, %s : tensor<2x4x4xf32>, tensor<2x4xf32>) outs(%z2 : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Blocks of each of three experts; the scales of columns are before the sum, in bf16,
// behind a view.
// CHECK-LABEL: func.func @blocks_of_experts(
// CHECK-NOT:   coda.gemm
#left = affine_map<(e, b, m, n, k) -> (e, m, b, k)>
#right = affine_map<(e, b, m, n, k) -> (e, b, n, k)>
#product = affine_map<(e, b, m, n, k) -> (e, b, m, n)>
#tile = affine_map<(e, b, m, n) -> (e, b, m, n)>
#column = affine_map<(e, b, m, n) -> (e, b, n)>
#from = affine_map<(e, i, b) -> (e, b, i)>
#sum = affine_map<(e, i, b) -> (e, i)>
func.func @blocks_of_experts(%x: tensor<3x4x2x8xf8E4M3FN>, %w: tensor<3x2x4x8xf8E4M3FN>, %s: tensor<3x2x4xf32>) -> tensor<3x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  // expected-remark @below {{block scales, which differ along the contracted dim, are not supported}}
  %y = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x4x2x8xf8E4M3FN>, tensor<3x2x4x8xf8E4M3FN>) outs(%z : tensor<3x2x4x4xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %o: f32):
    %0 = arith.extf %a : f8E4M3FN to f32
    %1 = arith.extf %b : f8E4M3FN to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x2x4x4xf32>
  %eb = tensor.empty() : tensor<3x2x4x4xbf16>
  %v = linalg.generic {indexing_maps = [#tile, #column, #tile], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %s : tensor<3x2x4x4xf32>, tensor<3x2x4xf32>) outs(%eb : tensor<3x2x4x4xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<3x2x4x4xbf16>
  %c = tensor.collapse_shape %v [[0], [1], [2, 3]] : tensor<3x2x4x4xbf16> into tensor<3x2x16xbf16>
  %e2 = tensor.empty() : tensor<3x16xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x16xf32>) -> tensor<3x16xf32>
  // expected-note @below {{because of this op}}
  %r = linalg.generic {indexing_maps = [#from, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<3x2x16xbf16>) outs(%z2 : tensor<3x16xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<3x16xf32>
  return %r : tensor<3x16xf32>
}

// -----

// What a map loads is formed, too, and what that loads, up to integers and what
// may fail; numbers are maps without a dim.

// CHECK-LABEL: func.func @loaded(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<6x8xf32>, %[[T:.*]]: tensor<4xi64>, %[[C:.*]]: tensor<f32>
// CHECK:       %[[N:.*]] = linalg.generic
// CHECK:       %[[Y:.*]] = coda.gemm
// CHECK:       %[[INV:.*]] = coda.map
// CHECK-NEXT:    ins(%[[C]][] : tensor<f32>)
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(%[[T]][m], %[[INV]][] : tensor<4xi64>, tensor<f32>)
// CHECK:       %[[Z:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Y]][m, n], %[[R]][m], %[[N]][] : tensor<4x6xf32>, tensor<4xf32>, tensor<i64>)
// CHECK:       %[[SUM:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Z]][m, n] : tensor<4x6xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(%[[SUM]][], %[[C]][] : tensor<f32>, tensor<f32>)
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#none = affine_map<(m, n) -> ()>
func.func @loaded(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %t: tensor<4xi64>, %c: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %en = tensor.empty() : tensor<i64>
  %zn = linalg.fill ins(%none : i64) outs(%en : tensor<i64>) -> tensor<i64>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: unsupported-type: it computes integers alone, which no tile op stores}}
  %n = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> ()>], iterator_types = ["reduction"]}
      ins(%t : tensor<4xi64>) outs(%zn : tensor<i64>) {
  ^bb0(%a: i64, %o: i64):
    %s = arith.addi %a, %o : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %ew = tensor.empty() : tensor<4x6xf32>
  %zw = linalg.fill ins(%zero : f32) outs(%ew : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%zw : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e0 = tensor.empty() : tensor<f32>
  %inv = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%c : tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  %er = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> ()>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%t, %inv : tensor<4xi64>, tensor<f32>) outs(%er : tensor<4xf32>) {
  ^bb0(%a: i64, %b: f32, %o: f32):
    %f = arith.sitofp %a : i64 to f32
    %p = arith.mulf %f, %b : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#full, #row, #none, #full], iterator_types = ["parallel", "parallel"]}
      ins(%y, %r, %n : tensor<4x6xf32>, tensor<4xf32>, tensor<i64>) outs(%ew : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %d: i64, %o: f32):
    %f = arith.sitofp %d : i64 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %f : f32
    linalg.yield %q : f32
  } -> tensor<4x6xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#full, #none], iterator_types = ["reduction", "reduction"]}
      ins(%z : tensor<4x6xf32>) outs(%z0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %mean = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%sum, %c : tensor<f32>, tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  return %mean : tensor<f32>
}

// -----

// What stays says what stands between it and a tile op: a slice of a table of
// unknown width, the reader of it, what is made of a tile op's value; or that there
// is no tile op near.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @obstacles(
// CHECK:       linalg.generic
// CHECK:         math.exp
// CHECK:       linalg.generic
// CHECK:         math.cos
// CHECK:       linalg.generic
// CHECK:         math.sin
// CHECK:       linalg.generic
// CHECK:         math.absf
func.func @obstacles(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %t: tensor<8x?xf32>, %u: tensor<8x4xf32>, %n: index) -> (tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %te = tensor.empty(%n) : tensor<8x?xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: other-reader: what reads it is no part of a tile op either}}
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<8x?xf32>) outs(%te : tensor<8x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x?xf32>
  // expected-note @below {{because of this op}}
  // expected-remark @below {{[coda-form-tile-ops] no map formed: other-reader: between it and the tile op that loads it stands 'tensor.extract_slice'}}
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<8x?xf32>) outs(%te : tensor<8x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.cos %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x?xf32>
  // expected-note @below {{because of this op}}
  %part = tensor.extract_slice %c[0, 1] [8, 4] [1, 1] : tensor<8x?xf32> to tensor<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %part : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  // expected-note @below {{because of this op}}
  %two = tensor.concat dim(1) %r, %u : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e2 = tensor.empty() : tensor<8x8xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: no-common-space: it reads what 'tensor.concat' makes of the values of tile ops}}
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%two : tensor<8x8xf32>) outs(%e2 : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  // expected-remark @below {{[coda-form-tile-ops] no map formed: no-common-space: no tile op makes what it reads or loads what it gives}}
  %alone = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  return %r, %s, %alone : tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x4xf32>
}
