// RUN: coda-opt %s --coda-compute-once --split-input-file | FileCheck %s

#all = affine_map<(m, h, d) -> (m, h, d)>
#row = affine_map<(m, h, d) -> (m)>
#col = affine_map<(m, h, d) -> (d)>

// The sine and the cosine of a position and a frequency are those of all heads, and
// the frequency, an exponential, that of all positions.
// CHECK-DAG:   #[[$ID1:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG:   #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[$COL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG:   #[[$ID2:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$TABLE:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4x16xf32>, %[[P:[^:]*]]: tensor<?xf32>, %[[F:[^:]*]]: tensor<16xf32>, %[[E:[^:]*]]: tensor<?x4x16xf32>)
// CHECK:       %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:       %[[T0:.*]] = tensor.empty(%[[N]]) : tensor<?x16xf32>
// CHECK:       %[[FREQ:.*]] = linalg.generic {indexing_maps = [#[[$ID1]], #[[$ID1]]], iterator_types = ["parallel"]} ins(%[[F]] : tensor<16xf32>)
// CHECK:         %[[I:.*]] = linalg.index 0
// CHECK:         math.exp
// CHECK:       %[[CS:.*]]:2 = linalg.generic {indexing_maps = [#[[$ROW]], #[[$COL]], #[[$COL]], #[[$ID2]], #[[$ID2]]], iterator_types = ["parallel", "parallel"]} ins(%[[P]], %[[F]], %[[FREQ]] : tensor<?xf32>, tensor<16xf32>, tensor<16xf32>)
// CHECK-NEXT:  ^bb0(%[[POS:[^:]*]]: f32, %{{[^:]*}}: f32, %[[G:[^:]*]]: f32,
// CHECK-NEXT:    %[[A:.*]] = arith.mulf %[[POS]], %[[G]]
// CHECK-NEXT:    %[[C:.*]] = math.cos %[[A]]
// CHECK-NEXT:    %[[S:.*]] = math.sin %[[A]]
// CHECK-NEXT:    linalg.yield %[[C]], %[[S]]
// CHECK:       linalg.generic {{.*}}#[[$TABLE]], #[[$TABLE]]{{.*}} ins(%[[X]], %[[P]], %[[F]], %[[CS]]#0, %[[CS]]#1 :
// CHECK-NEXT:  ^bb0(%[[V:[^:]*]]: f32, %{{[^:]*}}: f32, %{{[^:]*}}: f32, %[[COS:[^:]*]]: f32, %[[SIN:[^:]*]]: f32,
// CHECK-NEXT:    %[[L:.*]] = arith.mulf %[[V]], %[[COS]]
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[L]], %[[SIN]]
// CHECK-NEXT:    linalg.yield %[[R]]
func.func @heads(%x: tensor<?x4x16xf32>, %p: tensor<?xf32>, %f: tensor<16xf32>, %e: tensor<?x4x16xf32>) -> tensor<?x4x16xf32> {
  %y = linalg.generic {indexing_maps = [#all, #row, #col, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %p, %f : tensor<?x4x16xf32>, tensor<?xf32>, tensor<16xf32>) outs(%e : tensor<?x4x16xf32>) {
  ^bb0(%v: f32, %pos: f32, %freq: f32, %o: f32):
    %i = linalg.index 2 : index
    %n = arith.index_cast %i : index to i32
    %k = arith.sitofp %n : i32 to f32
    %s = arith.mulf %freq, %k : f32
    %g = math.exp %s : f32
    %a = arith.mulf %pos, %g : f32
    %c = math.cos %a : f32
    %t = math.sin %a : f32
    %l = arith.mulf %v, %c : f32
    %r = arith.addf %l, %t : f32
    linalg.yield %r : f32
  } -> tensor<?x4x16xf32>
  return %y : tensor<?x4x16xf32>
}

// -----

// What is made of it along the same loops is stored instead; so is what is the same
// for all rows of the terms of a reduction.
// CHECK-DAG:   #[[$ID1:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @weights(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x16xf32>, %[[W:[^:]*]]: tensor<16xf32>, %[[S:[^:]*]]: tensor<8xf32>)
// CHECK:       %[[T:.*]] = linalg.generic {indexing_maps = [#[[$ID1]], #[[$ID1]]], iterator_types = ["parallel"]} ins(%[[W]] : tensor<16xf32>) outs(%{{.*}} : tensor<16xf32>)
// CHECK:         %[[E:.*]] = math.exp
// CHECK-NEXT:    %[[N:.*]] = arith.truncf %[[E]] : f32 to bf16
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %[[N]]
// CHECK-NEXT:    linalg.yield %[[WIDE]]
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[W]], %[[T]] : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%[[S]]
// CHECK-NEXT:  ^bb0(%[[A:[^:]*]]: f32, %{{[^:]*}}: f32, %[[B:[^:]*]]: f32, %[[O:[^:]*]]: f32):
// CHECK-NEXT:    %[[M:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[O]], %[[M]]
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
#col = affine_map<(m, d) -> (d)>
func.func @weights(%x: tensor<8x16xf32>, %w: tensor<16xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #col, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<8x16xf32>, tensor<16xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = math.exp %b : f32
    %n = arith.truncf %e : f32 to bf16
    %wide = arith.extf %n : bf16 to f32
    %m = arith.mulf %a, %wide : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// No table: of a value of all loops, of one of a row, of what costs less than a
// load, of what one row alone needs, and of what is read of an output.
// CHECK-LABEL: func.func @neg_tables(
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:   linalg.generic
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
#col = affine_map<(m, d) -> (d)>
func.func @neg_tables(%x: tensor<8x16xf32>, %r: tensor<8xf32>, %w: tensor<16xf32>, %e: tensor<8x16xf32>, %one: tensor<1x16xf32>) -> (tensor<8x16xf32>, tensor<1x16xf32>, tensor<16xf32>) {
  %y = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %r, %w : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = math.exp %a : f32
    %1 = math.exp %b : f32
    %2 = arith.mulf %c, %c : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %0, %1 : f32
    %5 = arith.mulf %4, %3 : f32
    linalg.yield %5 : f32
  } -> tensor<8x16xf32>
  %z = linalg.generic {indexing_maps = [#col, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<16xf32>) outs(%one : tensor<1x16xf32>) {
  ^bb0(%c: f32, %o: f32):
    %0 = math.exp %c : f32
    linalg.yield %0 : f32
  } -> tensor<1x16xf32>
  %s = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%w : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %o : f32
    %1 = arith.addf %0, %a : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %y, %z, %s : tensor<8x16xf32>, tensor<1x16xf32>, tensor<16xf32>
}
