// RUN: coda-opt %s --coda-loop-destinations --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.+]]: tensor<8xf32>, %[[N:.+]]: index)
// CHECK:         %[[P:.+]] = bufferization.alloc_tensor() : tensor<8xf32>
// CHECK:         scf.for {{.+}} iter_args(%[[A:.+]] = %[[X]], %[[B:.+]] = %[[P]])
// CHECK:           %[[Y:.+]] = linalg.exp ins(%[[A]]
// CHECK:           %[[MA:.+]] = bufferization.materialize_in_destination %[[Y]] in %[[A]]
// CHECK:           %[[MB:.+]] = bufferization.materialize_in_destination %[[Y]] in %[[B]]
// CHECK:           scf.yield %[[MA]], %[[MB]]
func.func @chain(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %e) -> (tensor<8xf32>, tensor<8xf32>) {
    %f = tensor.empty() : tensor<8xf32>
    %y = linalg.exp ins(%a : tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y, %y : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Two values that change places: both are read before one is written.
// CHECK-LABEL: func.func @swap(
// CHECK:         scf.for {{.+}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}})
// CHECK:           %[[CB:.+]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK:           %[[CA:.+]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK:           %[[MA:.+]] = bufferization.materialize_in_destination %[[CB]] in %[[A]]
// CHECK:           %[[MB:.+]] = bufferization.materialize_in_destination %[[CA]] in %[[B]]
// CHECK:           scf.yield %[[MA]], %[[MB]]
func.func @swap(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %b, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @no_tensor(
// CHECK-NOT:     bufferization
// CHECK:         return
func.func @no_tensor(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %b = arith.addi %a, %i : index
    scf.yield %b : index
  }
  return %r : index
}

// -----

func.func @neg_while(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  // expected-error@+1 {{'scf.while' on tensors has no lowering; bring it into the form of scf.for or scf.if}}
  %r = scf.while (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    scf.condition(%c) %a : tensor<8xf32>
  } do {
  ^bb0(%b: tensor<8xf32>):
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
