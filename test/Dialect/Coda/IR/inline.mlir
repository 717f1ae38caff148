// RUN: coda-opt %s -inline | FileCheck %s

// Without the dialect's inliner interface the calls would stay.

func.func private @layer(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %o: tensor<4x6xf32>,
    %r: tensor<4xf32>) -> tensor<4x6xf32> {
  %0 = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<4x8xf32>, tensor<6x8xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %1 = coda.scale %0, %r along [0] : tensor<4x6xf32>, tensor<4xf32> -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<6x8xf32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[R:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %[[P:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[X]][m, k] * %[[W]][n, k] :
// CHECK-NEXT:      outs(%[[O]][m, n] :
// CHECK:         %[[S:.+]] = coda.scale %[[P]], %[[R]] along [0]
// CHECK-NEXT:    return %[[S]]
func.func @caller(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %o: tensor<4x6xf32>, %r: tensor<4xf32>)
    -> tensor<4x6xf32> {
  %0 = func.call @layer(%x, %w, %o, %r)
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func private @pair(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %w = arith.negf %v : f32
      coda.yield %w : f32
    }
    coda.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @caller_of_bundle(
// CHECK:         %[[B:.+]]:2 = coda.bundle
// CHECK-COUNT-2:   coda.map
// CHECK:         return %[[B]]#1, %[[B]]#0
func.func @caller_of_bundle(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = func.call @pair(%x, %o) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1, %0#0 : tensor<4xf32>, tensor<4xf32>
}
