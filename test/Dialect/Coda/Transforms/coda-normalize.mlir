// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-normalize))' | FileCheck %s

// CHECK-DAG: #[[$MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$BMK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[$BNK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>

// Of one row, too: the unit dim goes first.
// CHECK-LABEL: func.func @transposed_factor_of_one_row(
// CHECK-SAME:  %[[X:.*]]: tensor<1x8xf32>, %[[W:.*]]: tensor<4x8xf32>
// CHECK-NOT:   linalg.transpose
// CHECK:       %[[V:.*]] = tensor.collapse_shape %[[X]]
// CHECK:       linalg.matvec ins(%[[W]], %[[V]] : tensor<4x8xf32>, tensor<8xf32>)
func.func @transposed_factor_of_one_row(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<1x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<1x4xf32>) -> tensor<1x4xf32>
  %y = linalg.matmul ins(%x, %t : tensor<1x8xf32>, tensor<8x4xf32>) outs(%z : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// -----

// A transposed weight becomes an index map.
// CHECK-LABEL: func.func @transposed_factor(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8xf32>, %[[W:.*]]: tensor<4x8xf32>
// CHECK-NOT:   linalg.transpose
// CHECK:       linalg.matmul indexing_maps = [#[[$MK]], #[[$NK]], #[[$MN]]] ins(%[[X]], %[[W]] :
func.func @transposed_factor(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%x, %t : tensor<2x8xf32>, tensor<8x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// So does that of each of a batch, which is taken narrow, too; not one that moves the
// batch.
// CHECK-LABEL: func.func @transposed_factors_of_a_batch(
// CHECK-SAME:  %[[X:.*]]: tensor<3x2x8xbf16>, %[[W:.*]]: tensor<3x4x8xbf16>, %[[V:.*]]: tensor<2x3x8xbf16>
// CHECK:       linalg.batch_matmul indexing_maps = [#[[$BMK]], #[[$BNK]], #{{.*}}]
// CHECK-SAME:    ins(%[[X]], %[[W]] : tensor<3x2x8xbf16>, tensor<3x4x8xbf16>)
// CHECK:       %[[T:.*]] = linalg.transpose ins(%[[V]] : tensor<2x3x8xbf16>)
// CHECK:       linalg.batch_matmul indexing_maps = [#[[$BMK]], #[[$BNK]], #{{.*}}]
// CHECK-SAME:    ins(%[[T]], %[[W]] :
func.func @transposed_factors_of_a_batch(%x: tensor<3x2x8xbf16>, %w: tensor<3x4x8xbf16>, %v: tensor<2x3x8xbf16>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x8x4xbf16>
  %t = linalg.transpose ins(%w : tensor<3x4x8xbf16>) outs(%e : tensor<3x8x4xbf16>) permutation = [0, 2, 1]
  %ef = tensor.empty() : tensor<3x8x4xf32>
  %tf = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<3x8x4xbf16>) outs(%ef : tensor<3x8x4xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<3x8x4xf32>
  %ex = tensor.empty() : tensor<3x2x8xf32>
  %xf = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x2x8xbf16>) outs(%ex : tensor<3x2x8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<3x2x8xf32>
  %ey = tensor.empty() : tensor<3x2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%ey : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %y = linalg.batch_matmul ins(%xf, %tf : tensor<3x2x8xf32>, tensor<3x8x4xf32>) outs(%z : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %ev = tensor.empty() : tensor<3x2x8xbf16>
  %vt = linalg.transpose ins(%v : tensor<2x3x8xbf16>) outs(%ev : tensor<3x2x8xbf16>) permutation = [1, 0, 2]
  %u = linalg.batch_matmul ins(%vt, %t : tensor<3x2x8xbf16>, tensor<3x8x4xbf16>) outs(%z : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  return %y, %u : tensor<3x2x4xf32>, tensor<3x2x4xf32>
}

// Widened factors are taken narrow: exact.
// CHECK-LABEL: func.func @narrow_factors(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8xbf16>, %[[W:.*]]: tensor<8x4xbf16>
// CHECK-NOT:   arith.extf
// CHECK:       linalg.matmul ins(%[[X]], %[[W]] : tensor<2x8xbf16>, tensor<8x4xbf16>)
// CHECK-SAME:    -> tensor<2x4xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @narrow_factors(%x: tensor<2x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x8xf32>
  %xf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x8xbf16>) outs(%ex : tensor<2x8xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<2x8xf32>
  %ew = tensor.empty() : tensor<8x4xf32>
  %wf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x4xbf16>) outs(%ew : tensor<8x4xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  %o = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%xf, %wf : tensor<2x8xf32>, tensor<8x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Elementwise ops do not enter a contraction, and what several ops read is not
// computed twice.
// CHECK-LABEL: func.func @merge(
// CHECK:       %[[S:.*]] = linalg.generic
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:       %[[Y:.*]] = linalg.matmul ins(%[[S]],
// CHECK:       return %[[Y]], %[[S]]
func.func @merge(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<2x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<2x8xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<2x8xf32>
  %o = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%s, %w : tensor<2x8xf32>, tensor<8x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y, %s : tensor<2x4xf32>, tensor<2x8xf32>
}

// Scalars: a power becomes products, a rounded constant a constant.
// CHECK-LABEL: func.func @scalars(
// CHECK-DAG:   %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK:       ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK:         %[[SQ:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK:         arith.addf %[[SQ]], %[[EPS]]
// CHECK-NOT:   math.fpowi
func.func @scalars(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %two = arith.constant 2 : i64
  %eps = arith.constant 1.0e-05 : f64
  %e = tensor.empty() : tensor<2x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.fpowi %a, %two : f32, i64
    %1 = arith.truncf %eps : f64 to f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}

// Named ops and scalar ops on tensors are generics, and merge like these.
// CHECK-LABEL: func.func @named(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x8xf32>, %[[Y:[^:]*]]: tensor<2x8xf32>)
// CHECK:       linalg.generic {{.*}} ins(%[[X]], %[[Y]] : tensor<2x8xf32>, tensor<2x8xf32>)
// CHECK:       ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT:    %[[EXP:.*]] = math.exp %[[SUM]]
// CHECK-NEXT:    %[[MUL:.*]] = arith.mulf %[[EXP]], %[[B]]
// CHECK-NEXT:    linalg.yield %[[MUL]]
// CHECK-NOT:   linalg.add
func.func @named(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %s = linalg.add ins(%x, %y : tensor<2x8xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %t = math.exp %s : tensor<2x8xf32>
  %u = arith.mulf %t, %y : tensor<2x8xf32>
  return %u : tensor<2x8xf32>
}

// An op that only asserts has no result, and stays.
// CHECK-LABEL: func.func @assertion(
// CHECK-SAME:    %[[T:.*]]: tensor<4xi1>)
// CHECK:       linalg.generic {{.*}} ins(%[[T]] : tensor<4xi1>)
// CHECK:       cf.assert
func.func @assertion(%t: tensor<4xi1>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : tensor<4xi1>) {
  ^bb0(%ok: i1):
    cf.assert %ok, "refused"
    linalg.yield
  }
  return
}

// A reshape by a tensor of extents is a view where one extent is dynamic, whatever
// the extents are computed from; not where two are, or where dims are mixed.

// CHECK-LABEL: func.func @reshapes(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x64xf32>, %[[Y:[^:]+]]: tensor<?x8x2xf32>, %[[Z:[^:]+]]: tensor<?x?xf32>, %[[S:[^:]+]]: tensor<3xi64>, %[[P:[^:]+]]: tensor<2xi64>
// CHECK:         %[[D:.+]] = tensor.dim %[[X]], %{{.+}} : tensor<?x64xf32>
// CHECK:         %[[A:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%[[D]], 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
// CHECK:         %[[B:.+]] = tensor.collapse_shape %[[Y]] {{\[\[}}0], [1, 2]] : tensor<?x8x2xf32> into tensor<?x16xf32>
// CHECK:         %[[C:.+]] = tensor.reshape %[[Z]](%[[S]]) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x2x?xf32>
// CHECK:         %[[E:.+]] = tensor.reshape %[[Y]](%[[P]]) : (tensor<?x8x2xf32>, tensor<2xi64>) -> tensor<?x12xf32>
// CHECK:         return %[[A]], %[[B]], %[[C]], %[[E]] :
func.func @reshapes(%x: tensor<?x64xf32>, %y: tensor<?x8x2xf32>, %z: tensor<?x?xf32>, %s: tensor<3xi64>, %p: tensor<2xi64>) -> (tensor<?x2x32xf32>, tensor<?x16xf32>, tensor<?x2x?xf32>, tensor<?x12xf32>) {
  %a = tensor.reshape %x(%s) : (tensor<?x64xf32>, tensor<3xi64>) -> tensor<?x2x32xf32>
  %b = tensor.reshape %y(%p) : (tensor<?x8x2xf32>, tensor<2xi64>) -> tensor<?x16xf32>
  %c = tensor.reshape %z(%s) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x2x?xf32>
  %e = tensor.reshape %y(%p) : (tensor<?x8x2xf32>, tensor<2xi64>) -> tensor<?x12xf32>
  return %a, %b, %c, %e : tensor<?x2x32xf32>, tensor<?x16xf32>, tensor<?x2x?xf32>, tensor<?x12xf32>
}

// A sum of elementwise products is no product of matrices, though its body is that
// of one: it takes in the cast, which has another reader.

// CHECK-LABEL: func.func @sum_of_products(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<16x8xbf16>, %[[Y:[^:]+]]: tensor<16x8xf32>
// CHECK-NOT:     arith.extf
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[X]], %[[Y]] :
// CHECK:           %[[W:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK:           arith.mulf %[[W]], %{{.+}} : f32
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
// CHECK:           arith.extf
func.func @sum_of_products(%x: tensor<16x8xbf16>, %y: tensor<16x8xf32>, %e: tensor<16x8xf32>, %s: tensor<8xf32>) -> (tensor<8xf32>, tensor<16x8xf32>) {
  %w = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x8xbf16>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<16x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]} ins(%w, %y : tensor<16x8xf32>, tensor<16x8xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%w, %y : tensor<16x8xf32>, tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.tanh %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<16x8xf32>
  return %r, %t : tensor<8xf32>, tensor<16x8xf32>
}

// -----

// Clamps and sincos in ops that all else knows.

// CHECK-LABEL: func.func @scalar_spellings(
// CHECK:       %[[LOW:.*]] = arith.constant -1.0
// CHECK:       ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG:     %[[MAX:.*]] = arith.maximumf %[[A]], %[[LOW]] : f32
// CHECK-DAG:     %[[MIN:.*]] = arith.minimumf %[[MAX]], %[[B]] : f32
// CHECK-DAG:     %[[SIN:.*]] = math.sin %[[MIN]] : f32
// CHECK-DAG:     %[[COS:.*]] = math.cos %[[MIN]] : f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[SIN]], %[[COS]] : f32
// CHECK:         linalg.yield %[[SUM]] : f32
func.func @scalar_spellings(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %high: f32, %out: f32):
    %low = arith.constant -1.0 : f32
    %c = math.clampf %x to [%low, %high] : f32
    %s, %t = math.sincos %c : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A table that is read at all points of another dim stays apart, though nothing
// else reads it: its cosines would be taken for each head. A value of columns alone
// is none.
// CHECK-LABEL: func.func @table(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4x6xf32>, %[[A:.*]]: tensor<8x6xf32>, %[[W:.*]]: tensor<6xf32>)
// CHECK:       %[[COS:.*]] = linalg.generic {{.*}} ins(%[[A]] :
// CHECK:         math.cos
// CHECK:       linalg.generic {{.*}} ins(%[[X]], %[[COS]], %[[W]] :
// CHECK:         math.exp
// CHECK-NOT:   linalg.generic
func.func @table(%x: tensor<8x4x6xf32>, %a: tensor<8x6xf32>, %w: tensor<6xf32>) -> tensor<8x4x6xf32> {
  %e2 = tensor.empty() : tensor<8x6xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x6xf32>) outs(%e2 : tensor<8x6xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = math.cos %v : f32
    linalg.yield %0 : f32
  } -> tensor<8x6xf32>
  %e1 = tensor.empty() : tensor<6xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w : tensor<6xf32>) outs(%e1 : tensor<6xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = math.exp %v : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %e3 = tensor.empty() : tensor<8x4x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %c, %d : tensor<8x4x6xf32>, tensor<8x6xf32>, tensor<6xf32>) outs(%e3 : tensor<8x4x6xf32>) {
  ^bb0(%v: f32, %u: f32, %s: f32, %o: f32):
    %0 = arith.mulf %v, %u : f32
    %1 = arith.mulf %0, %s : f32
    linalg.yield %1 : f32
  } -> tensor<8x4x6xf32>
  return %r : tensor<8x4x6xf32>
}

// -----

// A product of one row and one column is a sum: a generic, not a dot. What it is
// summed in stays.

// CHECK-LABEL: func.func @row_by_column(
// CHECK-SAME:  %[[X:.*]]: tensor<1x8xf32>, %[[W:.*]]: tensor<8x1xf32>)
// CHECK-DAG:   %[[A:.*]] = tensor.collapse_shape %[[X]]
// CHECK-DAG:   %[[B:.*]] = tensor.collapse_shape %[[W]]
// CHECK:       %[[Y:.*]] = linalg.generic {indexing_maps = [#[[V:map[0-9]*]], #[[V]], #{{map[0-9]*}}], iterator_types = ["reduction"]}
// CHECK-SAME:    ins(%[[A]], %[[B]] : tensor<8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<f32>)
// CHECK:       ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK:         %[[PQ:.*]] = arith.mulf %[[P]], %[[Q]] : f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[ACC]], %[[PQ]] : f32
// CHECK:         linalg.yield %[[SUM]] : f32
// CHECK:       tensor.expand_shape %[[Y]] [] output_shape [1, 1]
func.func @row_by_column(%x: tensor<1x8xf32>, %w: tensor<8x1xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<1x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x8xf32>, tensor<8x1xf32>) outs(%z : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// CHECK-LABEL: func.func @narrow_row_by_column(
// CHECK:       ^bb0(%[[P:.*]]: bf16, %[[Q:.*]]: bf16, %[[ACC:.*]]: f32):
// CHECK-DAG:     %[[PW:.*]] = arith.extf %[[P]] : bf16 to f32
// CHECK-DAG:     %[[QW:.*]] = arith.extf %[[Q]] : bf16 to f32
// CHECK:         %[[PQ:.*]] = arith.mulf %[[PW]], %[[QW]] : f32
// CHECK:         arith.addf %[[ACC]], %[[PQ]] : f32
func.func @narrow_row_by_column(%x: tensor<8xbf16>, %w: tensor<8xbf16>, %acc: tensor<f32>) -> tensor<f32> {
  %y = linalg.dot ins(%x, %w : tensor<8xbf16>, tensor<8xbf16>) outs(%acc : tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// What is taken or written with a stride is one point of a dim of the stride's
// extent; offsets beyond the stride begin further on.
// CHECK-LABEL: func.func @strides(
// CHECK-SAME:    %[[X:.*]]: tensor<?x16xf32>, %[[Y:.*]]: tensor<?x8xf32>, %[[D:.*]]: tensor<?x16xf32>, %[[N:.*]]: index)
// CHECK:       %[[PAIRS:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2]] output_shape [%{{.*}}, 8, 2]
// CHECK:       %[[ODD:.*]] = tensor.extract_slice %[[PAIRS]][0, 0, 1] [%[[N]], 8, 1] [1, 1, 1] : tensor<?x8x2xf32> to tensor<?x8xf32>
// CHECK:       %[[FOURS:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2]] output_shape [%{{.*}}, 4, 4]
// CHECK:       %[[LATE:.*]] = tensor.extract_slice %[[FOURS]][0, 1, 2] [%[[N]], 3, 1] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x3xf32>
// CHECK:       %[[OUT:.*]] = tensor.expand_shape %[[D]] {{\[}}[0], [1, 2]] output_shape [%{{.*}}, 8, 2]
// CHECK:       %[[EVEN:.*]] = tensor.insert_slice %[[Y]] into %[[OUT]][0, 0, 0] [%[[N]], 8, 1] [1, 1, 1] : tensor<?x8xf32> into tensor<?x8x2xf32>
// CHECK:       %[[FLAT:.*]] = tensor.collapse_shape %[[EVEN]] {{\[}}[0], [1, 2]]
// CHECK:       return %[[ODD]], %[[LATE]], %[[FLAT]]
func.func @strides(%x: tensor<?x16xf32>, %y: tensor<?x8xf32>, %d: tensor<?x16xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x3xf32>, tensor<?x16xf32>) {
  %odd = tensor.extract_slice %x[0, 1] [%n, 8] [1, 2] : tensor<?x16xf32> to tensor<?x8xf32>
  %late = tensor.extract_slice %x[0, 6] [%n, 3] [1, 4] : tensor<?x16xf32> to tensor<?x3xf32>
  %even = tensor.insert_slice %y into %d[0, 0] [%n, 8] [1, 2] : tensor<?x8xf32> into tensor<?x16xf32>
  return %odd, %late, %even : tensor<?x8xf32>, tensor<?x3xf32>, tensor<?x16xf32>
}

// An extent that is no multiple of the stride, or not known, and a stride or an
// offset that only a call knows, stay.
// CHECK-LABEL: func.func @neg_strides(
// CHECK-SAME:    %[[X:.*]]: tensor<4x15xf32>, %[[Y:.*]]: tensor<4x?xf32>, %[[Z:.*]]: tensor<4x16xf32>, %[[N:.*]]: index)
// CHECK-DAG:   tensor.extract_slice %[[X]][0, 0] [4, 7] [1, 2]
// CHECK-DAG:   tensor.extract_slice %[[Y]][0, 0] [4, 7] [1, 2]
// CHECK-DAG:   tensor.extract_slice %[[Z]][0, 0] [4, 7] [1, %[[N]]]
// CHECK-DAG:   tensor.extract_slice %[[Z]][0, %[[N]]] [4, 7] [1, 2]
// CHECK-DAG:   tensor.insert_slice %[[Z]] into %{{.*}}[0, 0] [4, 16] [1, 2]
func.func @neg_strides(%x: tensor<4x15xf32>, %y: tensor<4x?xf32>, %z: tensor<4x16xf32>, %n: index) -> (tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x33xf32>) {
  %a = tensor.extract_slice %x[0, 0] [4, 7] [1, 2] : tensor<4x15xf32> to tensor<4x7xf32>
  %b = tensor.extract_slice %y[0, 0] [4, 7] [1, 2] : tensor<4x?xf32> to tensor<4x7xf32>
  %c = tensor.extract_slice %z[0, 0] [4, 7] [1, %n] : tensor<4x16xf32> to tensor<4x7xf32>
  %d = tensor.extract_slice %z[0, %n] [4, 7] [1, 2] : tensor<4x16xf32> to tensor<4x7xf32>
  %e = tensor.empty() : tensor<4x33xf32>
  %f = tensor.insert_slice %z into %e[0, 0] [4, 16] [1, 2] : tensor<4x16xf32> into tensor<4x33xf32>
  return %a, %b, %c, %d, %f : tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x33xf32>
}

// -----

// A product of one row takes its factors narrow, as one of many does; whichever of
// the two the row is.
// CHECK-LABEL: func.func @narrow_factors_of_one_row(
// CHECK-SAME:    %[[X:.*]]: tensor<8xbf16>, %[[W:.*]]: tensor<8x4xbf16>, %[[V:.*]]: tensor<4x8xf16>, %[[H:.*]]: tensor<8xf16>)
// CHECK-NOT:   arith.extf
// CHECK-DAG:   linalg.vecmat ins(%[[X]], %[[W]] : tensor<8xbf16>, tensor<8x4xbf16>) outs(%{{.*}} : tensor<4xf32>)
// CHECK-DAG:   linalg.matvec ins(%[[V]], %[[H]] : tensor<4x8xf16>, tensor<8xf16>) outs(%{{.*}} : tensor<4xf32>)
func.func @narrow_factors_of_one_row(%x: tensor<8xbf16>, %w: tensor<8x4xbf16>, %v: tensor<4x8xf16>, %h: tensor<8xf16>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8xf32>
  %xf = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xbf16>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %hf = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%h : tensor<8xf16>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%a: f16, %b: f32):
    %0 = arith.extf %a : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %wf = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x4xbf16>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  %e3 = tensor.empty() : tensor<4x8xf32>
  %vf = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<4x8xf16>) outs(%e3 : tensor<4x8xf32>) {
  ^bb0(%a: f16, %b: f32):
    %0 = arith.extf %a : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %o = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.vecmat ins(%xf, %wf : tensor<8xf32>, tensor<8x4xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
  %u = linalg.matvec ins(%vf, %hf : tensor<4x8xf32>, tensor<8xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
  return %y, %u : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is joined has no unit dims, so that it is what reads and makes it that is
// next to it; the dim that is joined along stays, whatever its extents.
// CHECK-LABEL: func.func @concat_of_unit_dims(
// CHECK-SAME:    %[[X:.*]]: tensor<?x16xf32>, %[[Y:.*]]: tensor<1x?x1x1xf32>)
// CHECK-DAG:   %[[M:.*]] = tensor.dim %[[Y]], %c1
// CHECK-DAG:   %[[Z:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0, 1, 2], [3]]
// CHECK-DAG:   %[[Z2:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0, 1, 2], [3]]
// CHECK-DAG:   %[[XX:.*]] = tensor.concat dim(1) %[[X]], %[[X]] : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x32xf32>
// CHECK-DAG:   %[[ZZ:.*]] = tensor.concat dim(1) %[[Z]], %[[Z2]] : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
// CHECK-DAG:   linalg.generic {{.*}} ins(%[[XX]] : tensor<?x32xf32>)
// CHECK-DAG:   tensor.expand_shape %[[ZZ]] {{\[}}[0, 1, 2], [3]] output_shape [1, %[[M]], 1, 2]
func.func @concat_of_unit_dims(%x: tensor<?x16xf32>, %y: tensor<1x?x1x1xf32>) -> (tensor<1x?x32xf32>, tensor<1x?x1x2xf32>) {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x16xf32>
  %v = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, %n, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
  %c = tensor.concat dim(2) %v, %v : (tensor<1x?x16xf32>, tensor<1x?x16xf32>) -> tensor<1x?x32xf32>
  %e = tensor.empty(%n) : tensor<1x?x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c : tensor<1x?x32xf32>) outs(%e : tensor<1x?x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.cos %a : f32
    linalg.yield %0 : f32
  } -> tensor<1x?x32xf32>
  %d = tensor.concat dim(3) %y, %y : (tensor<1x?x1x1xf32>, tensor<1x?x1x1xf32>) -> tensor<1x?x1x2xf32>
  return %r, %d : tensor<1x?x32xf32>, tensor<1x?x1x2xf32>
}

// Of a part whose extent is not known to be one, nothing is taken.
// CHECK-LABEL: func.func @no_concat_of_unit_dims(
// CHECK-SAME:    %[[X:.*]]: tensor<1x8xf32>, %[[Y:.*]]: tensor<?x8xf32>)
// CHECK-NEXT:  %[[C:.*]] = tensor.concat dim(1) %[[X]], %[[Y]] : (tensor<1x8xf32>, tensor<?x8xf32>) -> tensor<1x16xf32>
// CHECK-NEXT:  return %[[C]]
func.func @no_concat_of_unit_dims(%x: tensor<1x8xf32>, %y: tensor<?x8xf32>) -> tensor<1x16xf32> {
  %c = tensor.concat dim(1) %x, %y : (tensor<1x8xf32>, tensor<?x8xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}
