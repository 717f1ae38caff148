// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-normalize),canonicalize,cse)' | FileCheck %s

// A mask of labels goes to each of its readers; the sum of its rows is a choice
// of the row, zero for labels that are no column.

// CHECK-LABEL: func.func @masked_rows(
// CHECK-SAME:    %[[T:.*]]: tensor<4xi64>, %[[C:.*]]: tensor<f32>, %[[Z:.*]]: tensor<4x6xf32>
// CHECK-DAG:   %[[IGNORE:.*]] = arith.constant -100 : i64
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG:   %[[SIZE:.*]] = arith.constant 6 : index
// CHECK:       %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[T]] : tensor<4xi64>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: i64, %{{.*}}: f32):
// CHECK-DAG:     %[[AT:.*]] = arith.index_cast %[[A]] : i64 to index
// CHECK-DAG:     %[[KEPT:.*]] = arith.cmpi ne, %[[A]], %[[IGNORE]] : i64
// CHECK-DAG:     %[[V:.*]] = tensor.extract %[[C]][] : tensor<f32>
// CHECK-DAG:     %[[TERM:.*]] = arith.select %{{.*}}, %[[V]], %[[ZERO]] : f32
// CHECK-DAG:     %[[IN:.*]] = arith.cmpi ult, %[[AT]], %[[SIZE]] : index
// CHECK:         %[[R:.*]] = arith.select %[[IN]], %[[TERM]], %[[ZERO]] : f32
// CHECK:         linalg.yield %[[R]] : f32
// CHECK:       %[[D:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[T]], %[[Z]] :
// CHECK-NEXT:  ^bb0(%[[B:.*]]: i64, %[[L:.*]]: f32, %{{.*}}: f32):
// CHECK:         arith.cmpi eq, %{{.*}}, %[[B]] : i64
// CHECK:         arith.subf
// CHECK-NOT:   linalg.generic
// CHECK:       return %[[S]], %[[D]]
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#none = affine_map<(m, n) -> ()>
func.func @masked_rows(%t: tensor<4xi64>, %c: tensor<f32>, %z: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %ignore = arith.constant -100 : i64
  %ei = tensor.empty() : tensor<4x6xi1>
  %hit = linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4xi64>) outs(%ei : tensor<4x6xi1>) {
  ^bb0(%a: i64, %o: i1):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %eq = arith.cmpi eq, %k, %a : i64
    %ne = arith.cmpi ne, %a, %ignore : i64
    %both = arith.andi %eq, %ne : i1
    linalg.yield %both : i1
  } -> tensor<4x6xi1>
  %e = tensor.empty() : tensor<4x6xf32>
  %g = linalg.generic {indexing_maps = [#full, #none, #full], iterator_types = ["parallel", "parallel"]} ins(%hit, %c : tensor<4x6xi1>, tensor<f32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%h: i1, %v: f32, %o: f32):
    %r = arith.select %h, %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  %er = tensor.empty() : tensor<4xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%g : tensor<4x6xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]} ins(%g, %z : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %s, %d : tensor<4xf32>, tensor<4x6xf32>
}

// -----

// Sums of more than one term: of what is not zero elsewhere, of a comparison that
// is none for equality, of a label of the column, of values of the column.

// CHECK-LABEL: func.func @no_single_term(
// CHECK-COUNT-4: iterator_types = ["parallel", "reduction"]
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#col = affine_map<(m, n) -> (n)>
func.func @no_single_term(%t: tensor<4xi64>, %u: tensor<6xi64>, %z: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %er = tensor.empty() : tensor<4xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#row, #full, #row], iterator_types = ["parallel", "reduction"]} ins(%t, %z : tensor<4xi64>, tensor<4x6xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%l: i64, %v: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %p = arith.cmpi eq, %k, %l : i64
    %r = arith.select %p, %zero, %one : f32
    %s = arith.addf %r, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#row, #full, #row], iterator_types = ["parallel", "reduction"]} ins(%t, %z : tensor<4xi64>, tensor<4x6xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%l: i64, %v: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %p = arith.cmpi slt, %k, %l : i64
    %r = arith.select %p, %one, %zero : f32
    %s = arith.addf %r, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#col, #full, #row], iterator_types = ["parallel", "reduction"]} ins(%u, %z : tensor<6xi64>, tensor<4x6xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%l: i64, %v: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %p = arith.cmpi eq, %k, %l : i64
    %r = arith.select %p, %one, %zero : f32
    %s = arith.addf %r, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#row, #full, #row], iterator_types = ["parallel", "reduction"]} ins(%t, %z : tensor<4xi64>, tensor<4x6xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%l: i64, %v: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %p = arith.cmpi eq, %k, %l : i64
    %r = arith.select %p, %v, %zero : f32
    %s = arith.addf %r, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
