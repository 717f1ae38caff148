// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-normalize),canonicalize)' | FileCheck %s
// A number in a tensor of rank 0 is read in the linalg that uses it.

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @in_the_body(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[S:.*]]: tensor<f32>)
// CHECK-NOT:   tensor.extract
// CHECK:       linalg.generic {{.*}} ins(%[[A]] : tensor<4x8xf32>)
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]][]
// CHECK-NEXT:    %[[P:.*]] = arith.divf %[[X]], %[[N]]
// CHECK-NEXT:    linalg.yield %[[P]]
func.func @in_the_body(%a: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  %n = tensor.extract %s[] : tensor<f32>
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.divf %x, %n : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// What is computed of it is computed in the body, from several numbers, too.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[S:.*]]: tensor<f32>, %[[T:.*]]: tensor<i64>)
// CHECK-NOT:   tensor.extract
// CHECK-NOT:   arith.sitofp
// CHECK:       linalg.generic {{.*}} ins(%[[A]] : tensor<4x8xf32>)
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG:     %[[N:.*]] = tensor.extract %[[S]][]
// CHECK-DAG:     %[[J:.*]] = tensor.extract %[[T]][]
// CHECK-DAG:     %[[F:.*]] = arith.sitofp %[[J]] : i64 to f32
// CHECK:         %[[Q:.*]] = arith.divf %[[N]], %[[F]]
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[X]], %[[Q]]
// CHECK-NEXT:    linalg.yield %[[P]]
func.func @computed(%a: tensor<4x8xf32>, %s: tensor<f32>, %t: tensor<i64>) -> tensor<4x8xf32> {
  %n = tensor.extract %s[] : tensor<f32>
  %j = tensor.extract %t[] : tensor<i64>
  %f = arith.sitofp %j : i64 to f32
  %q = arith.divf %n, %f : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %q : tensor<4x8xf32>, f32) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tensors_of_it(
// CHECK-SAME:    %[[S:.*]]: tensor<f32>)
// CHECK-NOT:   tensor.extract
// CHECK:       %[[EXPANDED:.*]] = tensor.expand_shape %[[S]] [] output_shape [1]
// CHECK:       %[[FILLED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK:         %[[N:.*]] = tensor.extract %[[S]][]
// CHECK:         linalg.yield %[[N]]
// CHECK:       %[[SPLAT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6xf32>)
// CHECK:         %[[M:.*]] = tensor.extract %[[S]][]
// CHECK:         linalg.yield %[[M]]
// CHECK:       %[[ROOT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<f32>)
// CHECK:         %[[L:.*]] = tensor.extract %[[S]][]
// CHECK:         %[[R:.*]] = math.sqrt %[[L]]
// CHECK:         linalg.yield %[[R]]
// CHECK:       return %[[S]], %[[EXPANDED]], %[[FILLED]], %[[SPLAT]], %[[ROOT]]
func.func @tensors_of_it(%s: tensor<f32>) -> (tensor<f32>, tensor<1xf32>, tensor<8xf32>, tensor<6xf32>, tensor<f32>) {
  %n = tensor.extract %s[] : tensor<f32>
  %r = math.sqrt %n : f32
  %0 = tensor.from_elements %n : tensor<f32>
  %1 = tensor.from_elements %n : tensor<1xf32>
  %e = tensor.empty() : tensor<8xf32>
  %2 = linalg.fill ins(%n : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %3 = tensor.splat %n : tensor<6xf32>
  %4 = tensor.from_elements %r : tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<1xf32>, tensor<8xf32>, tensor<6xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @one_of_several(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<2x4xf32>)
// CHECK:       %[[S:.*]] = tensor.extract_slice %[[V]][1, 3] [1, 1] [1, 1] : tensor<2x4xf32> to tensor<f32>
// CHECK:       linalg.generic {{.*}} ins(%[[A]] : tensor<4xf32>)
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]][]
// CHECK-NEXT:    arith.mulf %[[X]], %[[N]]
func.func @one_of_several(%a: tensor<4xf32>, %v: tensor<2x4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.extract %v[%c1, %c3] : tensor<2x4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.mulf %x, %n : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The host needs an extent itself; a place that is not known may be out of bounds; a
// division may trap and stays where it is.
// CHECK-LABEL: func.func @neg_others(
// CHECK-SAME:    %{{.*}}: tensor<?xf32>, %[[T:.*]]: tensor<index>, %[[V:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<i32>
// CHECK:       %[[M:.*]] = tensor.extract %[[T]][]
// CHECK:       %[[N:.*]] = tensor.extract %[[V]][
// CHECK:       tensor.empty(%[[M]])
// CHECK:       linalg.generic
// CHECK:         arith.mulf %{{.*}}, %[[N]]
// CHECK:       %[[I:.*]] = tensor.extract %[[W]][]
// CHECK:       %[[D:.*]] = arith.divsi %{{.*}}, %[[I]]
// CHECK:       linalg.fill ins(%[[D]] : i32)
func.func @neg_others(%a: tensor<?xf32>, %t: tensor<index>, %v: tensor<4xf32>, %w: tensor<i32>, %k: tensor<4xi32>, %c1: index) -> (tensor<?xf32>, tensor<4xi32>) {
  %c7 = arith.constant 7 : i32
  %m = tensor.extract %t[] : tensor<index>
  %n = tensor.extract %v[%c1] : tensor<4xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.mulf %x, %n : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  %i = tensor.extract %w[] : tensor<i32>
  %d = arith.divsi %c7, %i : i32
  %1 = linalg.fill ins(%d : i32) outs(%k : tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<?xf32>, tensor<4xi32>
}

// A number that linalg computes is computed in the body that reads it, as values of
// more dims are, step by step: one row's mean and root, say.
// CHECK-LABEL: func.func @computed_in_linalg(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<f32>, %[[C:.*]]: f32)
// CHECK-NOT:   linalg.generic {{.*}}iterator_types = []
// CHECK:       linalg.generic {{.*}} ins(%[[A]] : tensor<8xf32>)
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]][]
// CHECK-NEXT:    %[[M:.*]] = arith.divf %[[N]], %[[C]]
// CHECK-NEXT:    %[[R:.*]] = math.rsqrt %[[M]]
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[X]], %[[R]]
// CHECK-NEXT:    linalg.yield %[[P]]
func.func @computed_in_linalg(%a: tensor<8xf32>, %s: tensor<f32>, %c: f32) -> tensor<8xf32> {
  %e0 = tensor.empty() : tensor<f32>
  %mean = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%s, %c : tensor<f32>, f32) outs(%e0 : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.divf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  %root = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%mean : tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.rsqrt %x : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %root : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %r: f32, %o: f32):
    %p = arith.mulf %x, %r : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One that several read is computed once; a sum is no number's body.
// CHECK-LABEL: func.func @neg_computed_once(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<f32>)
// CHECK:       %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<f32>)
// CHECK:         math.exp
// CHECK:       %[[T:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[A]] :
// CHECK:       linalg.generic {{.*}} ins(%[[A]] :
// CHECK:         %[[N:.*]] = tensor.extract %[[R]][]
// CHECK:         arith.mulf %{{.*}}, %[[N]]
// CHECK:       linalg.generic {{.*}} ins(%[[A]] :
// CHECK-DAG:     %[[M:.*]] = tensor.extract %[[R]][]
// CHECK-DAG:     %[[U:.*]] = tensor.extract %[[T]][]
// CHECK-DAG:     arith.addf %[[M]], %[[U]]
func.func @neg_computed_once(%a: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%s : tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<8xf32>) outs(%f : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.addf %o, %x : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %r : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %r, %t : tensor<8xf32>, tensor<f32>, tensor<f32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %p = arith.addf %y, %z : f32
    %q = arith.subf %x, %p : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
