// RUN: coda-opt %s --coda-share-branch-inits --split-input-file | FileCheck %s

// Two ways to compute a tensor write to one.

// CHECK-LABEL: func.func @two_ways(
// CHECK-SAME: %[[C:.+]]: i1, %[[X:.+]]: tensor<?xf32>)
// CHECK: %[[N:.+]] = tensor.dim %[[X]], %{{.+}} : tensor<?xf32>
// CHECK: %[[E:.+]] = tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK-NOT: tensor.empty
// CHECK: scf.if %[[C]] -> (tensor<?xf32>) {
// CHECK:   linalg.exp ins(%[[X]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
// CHECK: } else {
// CHECK:   linalg.abs ins(%[[X]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
// CHECK: }
func.func @two_ways(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %a = tensor.empty(%n) : tensor<?xf32>
  %r = scf.if %c -> tensor<?xf32> {
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    %b = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.abs ins(%x : tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Three branches, of which two are nested, and two results: as many tensors as
// results.

// CHECK-LABEL: func.func @nested(
// CHECK-DAG: %[[E:.+]] = tensor.empty() : tensor<8xf32>
// CHECK-DAG: %[[F:.+]] = tensor.empty() : tensor<8xf32>
// CHECK-NOT: tensor.empty
// CHECK: scf.if
// CHECK:   linalg.exp {{.*}} outs(%[[G:.+]] : tensor<8xf32>)
// CHECK:   linalg.abs {{.*}} outs(%[[H:.+]] : tensor<8xf32>)
// CHECK: } else {
// CHECK:   scf.if
// CHECK:     linalg.log {{.*}} outs(%[[G]] : tensor<8xf32>)
// CHECK:     linalg.ceil {{.*}} outs(%[[H]] : tensor<8xf32>)
// CHECK:   } else {
// CHECK:     linalg.floor {{.*}} outs(%[[G]] : tensor<8xf32>)
// CHECK:     linalg.negf {{.*}} outs(%[[H]] : tensor<8xf32>)
func.func @nested(%c: i1, %d: i1, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = scf.if %c -> (tensor<8xf32>, tensor<8xf32>) {
    %a = tensor.empty() : tensor<8xf32>
    %b = tensor.empty() : tensor<8xf32>
    %y = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    %z = linalg.abs ins(%x : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y, %z : tensor<8xf32>, tensor<8xf32>
  } else {
    %s:2 = scf.if %d -> (tensor<8xf32>, tensor<8xf32>) {
      %a = tensor.empty() : tensor<8xf32>
      %b = tensor.empty() : tensor<8xf32>
      %y = linalg.log ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
      %z = linalg.ceil ins(%x : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %y, %z : tensor<8xf32>, tensor<8xf32>
    } else {
      %a = tensor.empty() : tensor<8xf32>
      %b = tensor.empty() : tensor<8xf32>
      %y = linalg.floor ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
      %z = linalg.negf ins(%x : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %y, %z : tensor<8xf32>, tensor<8xf32>
    }
    scf.yield %s#0, %s#1 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Each runs, one of them in either branch: nothing is shared.

// CHECK-LABEL: func.func @no_other_branch(
// CHECK: %[[A:.+]] = tensor.empty() : tensor<8xf32>
// CHECK: %[[B:.+]] = tensor.empty() : tensor<8xf32>
// CHECK: linalg.exp {{.*}} outs(%[[A]] : tensor<8xf32>)
// CHECK: scf.if
// CHECK:   linalg.abs {{.*}} outs(%[[B]] : tensor<8xf32>)
// CHECK: } else {
// CHECK:   linalg.log {{.*}} outs(%[[B]] : tensor<8xf32>)
func.func @no_other_branch(%c: i1, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = tensor.empty() : tensor<8xf32>
  %b = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.if %c -> tensor<8xf32> {
    %z = linalg.abs ins(%x : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  } else {
    %z = linalg.log ins(%x : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  return %y, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// Other sizes, another type.

// CHECK-LABEL: func.func @no_equal_size(
// CHECK-SAME: %{{.+}}: i1, %[[M:.+]]: index, %[[N:.+]]: index,
// CHECK: scf.if
// CHECK:   tensor.empty(%[[M]]) : tensor<?xf32>
// CHECK: } else {
// CHECK:   tensor.empty(%[[N]]) : tensor<?xf32>
func.func @no_equal_size(%c: i1, %m: index, %n: index, %v: f32) -> tensor<?xf32> {
  %r = scf.if %c -> tensor<?xf32> {
    %a = tensor.empty(%m) : tensor<?xf32>
    %y = linalg.fill ins(%v : f32) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    %a = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.fill ins(%v : f32) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
