// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise{numerics=strict}))' 2>/dev/null | FileCheck %s --check-prefix=STRICT

// Half split with a concatenation; tables with an entry per element.

#x = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#t = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @half_concat
// CHECK-SAME: %[[X:.+]]: tensor<2x?x8xf32>, %[[C:.+]]: tensor<?x8xf32>, %[[S:.+]]: tensor<?x8xf32>
// CHECK-NEXT: %[[Y:.+]] = coda.rope half %[[X]], %[[C]], %[[S]] table_dims [1] : tensor<2x?x8xf32>, tensor<?x8xf32> -> tensor<2x?x8xf32>
// CHECK-NEXT: return %[[Y]]
// STRICT-LABEL: func.func @half_concat
// STRICT: coda.rope
func.func @half_concat(%x: tensor<2x?x8xf32>, %c: tensor<?x8xf32>, %s: tensor<?x8xf32>) -> tensor<2x?x8xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x8xf32>
  %lo = tensor.extract_slice %x[0, 0, 0] [2, %n, 4] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x4xf32>
  %hi = tensor.extract_slice %x[0, 0, 4] [2, %n, 4] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x4xf32>
  %e = tensor.empty(%n) : tensor<2x?x4xf32>
  %neg = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%hi : tensor<2x?x4xf32>) outs(%e : tensor<2x?x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<2x?x4xf32>
  %r = tensor.concat dim(2) %neg, %lo : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x8xf32>
  %y0 = tensor.empty(%n) : tensor<2x?x8xf32>
  %y = linalg.generic {indexing_maps = [#x, #t, #x, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %c, %r, %s : tensor<2x?x8xf32>, tensor<?x8xf32>, tensor<2x?x8xf32>, tensor<?x8xf32>) outs(%y0 : tensor<2x?x8xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %b, %sin : f32
    %1 = arith.mulf %a, %cos : f32
    %2 = arith.addf %1, %0 : f32
    linalg.yield %2 : f32
  } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// -----

// Half split with insertions, 16-bit steps; one entry for both elements. The
// value is the transpose of a view of a rounded result, which is not rounded.

#x = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#t = affine_map<(d0, d1, d2) -> (d1, d2)>
#m = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @half_insert
// CHECK-SAME: %[[ACC:.+]]: tensor<4x16xf32>, %[[C:.+]]: tensor<4x4xbf16>, %[[S:.+]]: tensor<4x4xbf16>
// CHECK: %[[V:.+]] = tensor.expand_shape %[[ACC]] {{\[\[}}0], [1, 2]] output_shape [4, 2, 8] : tensor<4x16xf32> into tensor<4x2x8xf32>
// CHECK: %[[X:.+]] = linalg.transpose ins(%[[V]] : tensor<4x2x8xf32>) {{.+}} permutation = [1, 0, 2]
// CHECK: %[[Y:.+]] = coda.rope half %[[X]], %[[C]], %[[S]] table_dims [1] : tensor<2x4x8xf32>, tensor<4x4xbf16> -> tensor<2x4x8xbf16>
// CHECK: return %[[Y]]
// STRICT-LABEL: func.func @half_insert
// STRICT-NOT: coda.rope
// STRICT: return
func.func @half_insert(%acc: tensor<4x16xf32>, %c: tensor<4x4xbf16>, %s: tensor<4x4xbf16>) -> tensor<2x4x8xbf16> {
  %e16 = tensor.empty() : tensor<4x16xbf16>
  %q = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<4x16xf32>) outs(%e16 : tensor<4x16xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4x16xbf16>
  %v = tensor.expand_shape %q [[0], [1, 2]] output_shape [4, 2, 8] : tensor<4x16xbf16> into tensor<4x2x8xbf16>
  %xe = tensor.empty() : tensor<2x4x8xbf16>
  %x = linalg.transpose ins(%v : tensor<4x2x8xbf16>) outs(%xe : tensor<2x4x8xbf16>) permutation = [1, 0, 2]
  %lo = tensor.extract_slice %x[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x8xbf16> to tensor<2x4x4xbf16>
  %hi = tensor.extract_slice %x[0, 0, 4] [2, 4, 4] [1, 1, 1] : tensor<2x4x8xbf16> to tensor<2x4x4xbf16>
  %e = tensor.empty() : tensor<2x4x4xbf16>
  %y0 = linalg.generic {indexing_maps = [#x, #t, #x, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%lo, %c, %hi, %s : tensor<2x4x4xbf16>, tensor<4x4xbf16>, tensor<2x4x4xbf16>, tensor<4x4xbf16>) outs(%e : tensor<2x4x4xbf16>) {
  ^bb0(%a: bf16, %cos: bf16, %b: bf16, %sin: bf16, %out: bf16):
    %0 = arith.mulf %a, %cos : bf16
    %1 = arith.mulf %b, %sin : bf16
    %2 = arith.subf %0, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<2x4x4xbf16>
  %y1 = linalg.generic {indexing_maps = [#x, #t, #x, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%lo, %c, %hi, %s : tensor<2x4x4xbf16>, tensor<4x4xbf16>, tensor<2x4x4xbf16>, tensor<4x4xbf16>) outs(%e : tensor<2x4x4xbf16>) {
  ^bb0(%a: bf16, %cos: bf16, %b: bf16, %sin: bf16, %out: bf16):
    %0 = arith.mulf %b, %cos : bf16
    %1 = arith.mulf %a, %sin : bf16
    %2 = arith.addf %0, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<2x4x4xbf16>
  %d = tensor.empty() : tensor<2x4x8xbf16>
  %i0 = tensor.insert_slice %y0 into %d[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x4xbf16> into tensor<2x4x8xbf16>
  %i1 = tensor.insert_slice %y1 into %i0[0, 0, 4] [2, 4, 4] [1, 1, 1] : tensor<2x4x4xbf16> into tensor<2x4x8xbf16>
  return %i1 : tensor<2x4x8xbf16>
}

// -----

// Neighbours as pairs, taken with a stride and stacked.

#x = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#t = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @interleaved_stride
// CHECK-SAME: %[[X:.+]]: tensor<4x2x8xf32>, %[[C:.+]]: tensor<4x4xf32>, %[[S:.+]]: tensor<4x4xf32>
// CHECK-NEXT: %[[Y:.+]] = coda.rope interleaved %[[X]], %[[C]], %[[S]] table_dims [0] : tensor<4x2x8xf32>, tensor<4x4xf32> -> tensor<4x2x8xf32>
// STRICT-LABEL: func.func @interleaved_stride
// STRICT: coda.rope interleaved
func.func @interleaved_stride(%x: tensor<4x2x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x2x8xf32> {
  %even = tensor.extract_slice %x[0, 0, 0] [4, 2, 4] [1, 1, 2] : tensor<4x2x8xf32> to tensor<4x2x4xf32>
  %odd = tensor.extract_slice %x[0, 0, 1] [4, 2, 4] [1, 1, 2] : tensor<4x2x8xf32> to tensor<4x2x4xf32>
  %e = tensor.empty() : tensor<4x2x4xf32>
  %y0 = linalg.generic {indexing_maps = [#x, #t, #x, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%even, %c, %odd, %s : tensor<4x2x4xf32>, tensor<4x4xf32>, tensor<4x2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %a, %cos : f32
    %1 = arith.mulf %b, %sin : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x2x4xf32>
  %y1 = linalg.generic {indexing_maps = [#x, #t, #x, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%even, %c, %odd, %s : tensor<4x2x4xf32>, tensor<4x4xf32>, tensor<4x2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %cos: f32, %b: f32, %sin: f32, %out: f32):
    %0 = arith.mulf %a, %sin : f32
    %1 = arith.mulf %b, %cos : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x2x4xf32>
  %p0 = tensor.expand_shape %y0 [[0], [1], [2, 3]] output_shape [4, 2, 4, 1] : tensor<4x2x4xf32> into tensor<4x2x4x1xf32>
  %p1 = tensor.expand_shape %y1 [[0], [1], [2, 3]] output_shape [4, 2, 4, 1] : tensor<4x2x4xf32> into tensor<4x2x4x1xf32>
  %p = tensor.concat dim(3) %p0, %p1 : (tensor<4x2x4x1xf32>, tensor<4x2x4x1xf32>) -> tensor<4x2x4x2xf32>
  %y = tensor.collapse_shape %p [[0], [1], [2, 3]] : tensor<4x2x4x2xf32> into tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}

// -----

// Complex numbers, gathered from a slice of the columns of one result.

#c = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#t = affine_map<(d0, d1, d2) -> (d0, d2)>
#t2 = affine_map<(d0, d1) -> (d0, d1)>
#re = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @interleaved_complex
// CHECK-SAME: %[[QKV:.+]]: tensor<4x24xf32>, %[[C:.+]]: tensor<4x4xf32>, %[[S:.+]]: tensor<4x4xf32>
// CHECK: %[[Q:.+]] = tensor.extract_slice %[[QKV]][0, 8] [4, 16]
// CHECK: coda.rope interleaved %{{.+}}, %[[C]], %[[S]] table_dims [0] : tensor<4x2x8xf32>, tensor<4x4xf32> -> tensor<4x2x8xf32>
// CHECK-NOT: complex
func.func @interleaved_complex(%qkv: tensor<4x24xf32>, %cos: tensor<4x4xf32>, %sin: tensor<4x4xf32>) -> tensor<4x2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tensor.extract_slice %qkv[0, 8] [4, 16] [1, 1] : tensor<4x24xf32> to tensor<4x16xf32>
  %x = tensor.expand_shape %q [[0], [1, 2, 3]] output_shape [4, 2, 4, 2] : tensor<4x16xf32> into tensor<4x2x4x2xf32>
  %e = tensor.empty() : tensor<4x2x4xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [#c], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<4x2x4xcomplex<f32>>) {
  ^bb0(%out: complex<f32>):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %re = tensor.extract %x[%i, %j, %k, %c0] : tensor<4x2x4x2xf32>
    %im = tensor.extract %x[%i, %j, %k, %c1] : tensor<4x2x4x2xf32>
    %0 = complex.create %re, %im : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<4x2x4xcomplex<f32>>
  %f0 = tensor.empty() : tensor<4x4xcomplex<f32>>
  %f = linalg.generic {indexing_maps = [#t2, #t2, #t2], iterator_types = ["parallel", "parallel"]} ins(%cos, %sin : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f0 : tensor<4x4xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %out: complex<f32>):
    %0 = complex.create %a, %b : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<4x4xcomplex<f32>>
  %zf = linalg.generic {indexing_maps = [#c, #t, #c], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z, %f : tensor<4x2x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) outs(%e : tensor<4x2x4xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %out: complex<f32>):
    %0 = complex.mul %a, %b : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<4x2x4xcomplex<f32>>
  %r0 = tensor.empty() : tensor<4x2x4x2xf32>
  %r = linalg.generic {indexing_maps = [#re, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%zf : tensor<4x2x4xcomplex<f32>>) outs(%r0 : tensor<4x2x4x2xf32>) {
  ^bb0(%a: complex<f32>, %out: f32):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %i = linalg.index 3 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %0 = arith.select %first, %re, %im : f32
    linalg.yield %0 : f32
  } -> tensor<4x2x4x2xf32>
  %y = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<4x2x4x2xf32> into tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}

// -----

// A constant factor and the repetition over query heads stay, after the op.

#x = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#t = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#n = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$IN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func.func @factor_and_repeat
// CHECK: %[[R:.+]] = coda.rope half %{{.+}}, %{{.+}}, %{{.+}} table_dims [1] : tensor<2x4x8xbf16>, tensor<4x8xbf16> -> tensor<2x4x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], {{.+}} ins(%[[R]] : tensor<2x4x8xf32>) outs({{.+}} : tensor<2x3x4x8xf32>)
// CHECK: %[[P:.+]] = arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK: linalg.yield %[[P]]
func.func @factor_and_repeat(%x: tensor<2x4x8xbf16>, %c: tensor<4x8xbf16>, %s: tensor<4x8xbf16>) -> tensor<2x3x4x8xf32> {
  %scale = arith.constant 0.25 : f32
  %lo = tensor.extract_slice %x[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x8xbf16> to tensor<2x4x4xbf16>
  %hi = tensor.extract_slice %x[0, 0, 4] [2, 4, 4] [1, 1, 1] : tensor<2x4x8xbf16> to tensor<2x4x4xbf16>
  %e = tensor.empty() : tensor<2x4x4xbf16>
  %neg = linalg.generic {indexing_maps = [#n, #n], iterator_types = ["parallel", "parallel", "parallel"]} ins(%hi : tensor<2x4x4xbf16>) outs(%e : tensor<2x4x4xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = arith.negf %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<2x4x4xbf16>
  %r = tensor.concat dim(2) %neg, %lo : (tensor<2x4x4xbf16>, tensor<2x4x4xbf16>) -> tensor<2x4x8xbf16>
  %y0 = tensor.empty() : tensor<2x3x4x8xf32>
  %y = linalg.generic {indexing_maps = [#x, #t, #x, #t, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %c, %r, %s : tensor<2x4x8xbf16>, tensor<4x8xbf16>, tensor<2x4x8xbf16>, tensor<4x8xbf16>) outs(%y0 : tensor<2x3x4x8xf32>) {
  ^bb0(%a: bf16, %cos: bf16, %b: bf16, %sin: bf16, %out: f32):
    %0 = arith.mulf %b, %sin : bf16
    %1 = arith.mulf %a, %cos : bf16
    %2 = arith.addf %1, %0 : bf16
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.mulf %3, %scale : f32
    linalg.yield %4 : f32
  } -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// -----

// The adjoint rotates back: the sine is that of the element that is read, and
// the halves are padded with zeros and added.

#x = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[C:.+]]: tensor<4x8xf32>, %[[S:.+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[Y:.+]] = coda.rope half transposed %[[X]], %[[C]], %[[S]] table_dims [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
// The sum with a zero is not exact where the other is a negative zero.
// STRICT-LABEL: func.func @transposed
// STRICT-NOT: coda.rope
func.func @transposed(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %e8 = tensor.empty() : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %xs = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %lo = tensor.extract_slice %xs[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %hi = tensor.extract_slice %xs[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %neg = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%lo : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x4xf32>
  %p1 = tensor.insert_slice %neg into %zeros[0, 4] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %p0 = tensor.insert_slice %hi into %zeros[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#x, #x, #x, #x, #x], iterator_types = ["parallel", "parallel"]} ins(%p1, %p0, %x, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %v: f32, %cos: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %v, %cos : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Neighbours, one entry for a pair, no zeros: exact.

#p = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed_interleaved
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[C:.+]]: tensor<4x4xf32>, %[[S:.+]]: tensor<4x4xf32>
// CHECK-NEXT: %[[Y:.+]] = coda.rope interleaved transposed %[[X]], %[[C]], %[[S]] table_dims [0] : tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
// STRICT-LABEL: func.func @transposed_interleaved
// STRICT: coda.rope interleaved transposed
func.func @transposed_interleaved(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %x0 = tensor.extract_slice %x[0, 0] [4, 4] [1, 2] : tensor<4x8xf32> to tensor<4x4xf32>
  %x1 = tensor.extract_slice %x[0, 1] [4, 4] [1, 2] : tensor<4x8xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %y:2 = linalg.generic {indexing_maps = [#p, #p, #p, #p, #p, #p], iterator_types = ["parallel", "parallel"]} ins(%x0, %x1, %c, %s : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%e, %e : tensor<4x4xf32>, tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %cos: f32, %sin: f32, %o0: f32, %o1: f32):
    %0 = arith.mulf %a, %cos : f32
    %1 = arith.mulf %b, %sin : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.mulf %b, %cos : f32
    %4 = arith.mulf %a, %sin : f32
    %5 = arith.subf %3, %4 : f32
    linalg.yield %2, %5 : f32, f32
  } -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %u0 = tensor.expand_shape %y#0 [[0], [1, 2]] output_shape [4, 4, 1] : tensor<4x4xf32> into tensor<4x4x1xf32>
  %u1 = tensor.expand_shape %y#1 [[0], [1, 2]] output_shape [4, 4, 1] : tensor<4x4xf32> into tensor<4x4x1xf32>
  %both = tensor.concat dim(2) %u0, %u1 : (tensor<4x4x1xf32>, tensor<4x4x1xf32>) -> tensor<4x4x2xf32>
  %r = tensor.collapse_shape %both [[0], [1, 2]] : tensor<4x4x2xf32> into tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
