// RUN: coda-opt %s --coda-widen-to-f64 --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @rounded
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xbf16>) -> tensor<4xf32>
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4xbf16>) outs(%{{.*}} : tensor<4xf64>)
// CHECK: arith.extf %{{.*}} : bf16 to f64
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xf64>)
// CHECK: ^bb0(%[[E:.*]]: f64,
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[E]], %[[E]] : f64
// CHECK-NEXT: linalg.yield %[[S]] : f64
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : tensor<4xf64>)
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @rounded(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %f = arith.extf %x : bf16 to f32
    %s = arith.mulf %f, %f : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// -----

// A result of f64 is not rounded; beside it one of f32 is.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf32>)
// CHECK: %[[X:.*]]:2 = linalg.generic {{.*}} ins(%[[A]] : tensor<4xf64>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]]#1 : tensor<4xf64>)
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: return %[[X]]#0, %[[Y]] : tensor<4xf64>, tensor<4xf32>
func.func @kept(%a: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf64>
  %g = tensor.empty() : tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf64>) outs(%e, %g : tensor<4xf64>, tensor<4xf32>) {
  ^bb0(%x: f64, %o: f64, %p: f32):
    %s = arith.mulf %x, %x : f64
    %t = arith.truncf %s : f64 to f32
    linalg.yield %s, %t : f64, f32
  } -> (tensor<4xf64>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf64>, tensor<4xf32>
}

// -----

func.func @bits(%a: tensor<4xf32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: f32, %o: i32):
    // expected-error@below {{'arith.bitcast' has no counterpart in f64}}
    %b = arith.bitcast %x : f32 to i32
    linalg.yield %b : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// Of several blocks each return rounds, and each block reads the widened argument.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[C:[a-z0-9]+]]: i1) -> tensor<4xf32>
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xf64>)
// CHECK: cf.cond_br %[[C]], ^[[ONE:.*]], ^[[TWO:.*]](%[[X]] : tensor<4xf64>)
// CHECK: ^[[ONE]]:
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xf64>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: return %[[R]] : tensor<4xf32>
// CHECK: ^[[TWO]](%[[B:.*]]: tensor<4xf64>):
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<4xf64>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: return %[[S]] : tensor<4xf32>
func.func @blocks(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^bb1, ^bb2(%a : tensor<4xf32>)
^bb1:
  return %a : tensor<4xf32>
^bb2(%b: tensor<4xf32>):
  return %b : tensor<4xf32>
}
