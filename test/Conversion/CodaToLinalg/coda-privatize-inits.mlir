// RUN: coda-opt %s --coda-privatize-inits --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shared_fill
// CHECK: %[[F0:.*]] = linalg.fill
// CHECK: %[[F1:.*]] = linalg.fill
// CHECK-DAG: linalg.matmul {{.*}} outs(%[[F0]]
// CHECK-DAG: linalg.matmul {{.*}} outs(%[[F1]]
func.func @shared_fill(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// One value in two results: the second is a copy, made first.

// CHECK-LABEL: func.func @returned_twice
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4xf32>, %[[O0:[a-z0-9]+]]: tensor<4xf32>, %[[O1:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[R:.*]] = linalg.exp
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[R]] : {{.*}}) outs(%[[O1]]
// CHECK: materialize_in_destination %[[R]] in %[[O0]]
// CHECK: materialize_in_destination %[[COPY]] in %[[O1]]
func.func @returned_twice(%a: tensor<4xf32>, %o0: tensor<4xf32>, %o1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m0 = bufferization.materialize_in_destination %r in %o0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %m1 = bufferization.materialize_in_destination %r in %o1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %m0, %m1 : tensor<4xf32>, tensor<4xf32>
}
