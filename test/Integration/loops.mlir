// Loops on tensors: a value that goes from one iteration to the next, rows that
// are made one by one, values that change places, a branch.

// RUN: split-file %s %t
// RUN: coda-run %t/chain.mlir --seed=1 --against-reference --repeat=1 | FileCheck %s
// RUN: coda-run %t/rows.mlir --seed=2 --against-reference --repeat=1 | FileCheck %s
// RUN: coda-run %t/swap.mlir --seed=3 --against-reference --repeat=1 | FileCheck %s
// RUN: coda-run %t/branch.mlir --seed=4 --against-reference --repeat=1 | FileCheck %s
// CHECK: all outputs are good

// RUN: not coda-run %t/while.mlir --seed=1 2>&1 | FileCheck %s --check-prefix=WHILE
// WHILE: error: {{.*}}while.mlir:5:8: 'scf.while' on tensors has no lowering; bring it into the form of scf.for or scf.if

//--- chain.mlir
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<8x4xf32>) {
    %y = linalg.tanh ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.yield %y : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

//--- rows.mlir
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %e) -> (tensor<8x4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %e1 = tensor.empty() : tensor<1x4xf32>
    %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<1x4xf32>) -> tensor<1x4xf32>
    %y = linalg.matmul ins(%s, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%f : tensor<1x4xf32>) -> tensor<1x4xf32>
    %b = tensor.insert_slice %y into %a[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    scf.yield %b : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

//--- swap.mlir
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    scf.yield %b, %a : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<8x4xf32>
}

//--- branch.mlir
func.func @main(%x: tensor<8x4xf32>, %n: tensor<i64>) -> tensor<8x4xf32> {
  %v = tensor.extract %n[] : tensor<i64>
  %c1 = arith.constant 1 : i64
  %b = arith.cmpi eq, %v, %c1 : i64
  %r = scf.if %b -> (tensor<8x4xf32>) {
    scf.yield %x : tensor<8x4xf32>
  } else {
    %e = tensor.empty() : tensor<8x4xf32>
    %y = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.yield %y : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

//--- while.mlir
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.while (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %v = tensor.extract %a[%c0] : tensor<8xf32>
    %small = arith.cmpf olt, %v, %one : f32
    scf.condition(%small) %a : tensor<8xf32>
  } do {
  ^bb0(%b: tensor<8xf32>):
    %y = linalg.exp ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
