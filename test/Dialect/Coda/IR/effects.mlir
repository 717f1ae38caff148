// RUN: coda-opt %s -cse | FileCheck %s --check-prefix=CSE
// RUN: coda-opt %s -loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: coda-opt %s -resolve-ranked-shaped-type-result-dims | FileCheck %s --check-prefix=DIMS

// On tensors an op is a value: computed once.
// CSE-LABEL: func.func @same_value(
// CSE-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>
// CSE:         %[[V:.+]] = coda.map
// CSE-NOT:     coda.map
// CSE:         return %[[V]], %[[V]]
func.func @same_value(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// On memrefs it writes: both stay.
// CSE-LABEL: func.func @same_write(
// CSE-COUNT-2: coda.map
func.func @same_write(%x: memref<4xf32>, %s: memref<f32>) {
  coda.map ins(%x[n] : memref<4xf32>) outs(add %s[] : memref<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  coda.map ins(%x[n] : memref<4xf32>) outs(add %s[] : memref<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// Another combiner, another region, fresh or not: another value.
// CSE-LABEL: func.func @other_values(
// CSE-COUNT-4: coda.map
func.func @other_values(%x: tensor<4xf32>, %s: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(add %s[] : tensor<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(max %s[] : tensor<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(fresh add %s[] : tensor<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %3 = coda.map ins(%x[n] : tensor<4xf32>) outs(add %s[] : tensor<f32>) {
  ^bb0(%v: f32):
    %w = arith.negf %v : f32
    coda.yield %w : f32
  }
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// LICM-LABEL: func.func @hoisted(
// LICM:         coda.map
// LICM:         scf.for
func.func @hoisted(%x: tensor<4xf32>, %o: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %o) -> tensor<4xf32> {
    %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%x[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// LICM-LABEL: func.func @negative_memrefs_not_hoisted(
// LICM:         scf.for
// LICM:         coda.map
func.func @negative_memrefs_not_hoisted(%x: memref<4xf32>, %o: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    coda.map ins(%x[n] : memref<4xf32>) outs(%o[n] : memref<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
  }
  return
}

// The shape of a result is that of its destination, or of the operand that a
// semantic op follows.
// DIMS-LABEL: func.func @shapes(
// DIMS-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>, %[[W:[a-z0-9]+]]: tensor<?x4xf32>
// DIMS-SAME:    %[[O:[a-z0-9]+]]: tensor<?x?xf32>, %[[T:[a-z0-9]+]]: tensor<?xi64>
// DIMS-DAG:     %[[C0:.+]] = arith.constant 0 : index
// DIMS-DAG:     %[[C1:.+]] = arith.constant 1 : index
// DIMS-DAG:     %[[GEMM:.+]] = tensor.dim %[[O]], %[[C1]]
// DIMS-DAG:     %[[NORM:.+]] = tensor.dim %[[X]], %[[C0]]
// DIMS-DAG:     %[[LOSS:.+]] = tensor.dim %[[W]], %[[C0]]
// DIMS:         return %[[GEMM]], %[[NORM]], %[[LOSS]]
func.func @shapes(%x: tensor<?x4xf32>, %w: tensor<?x4xf32>, %o: tensor<?x?xf32>, %t: tensor<?xi64>)
    -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<?x4xf32>, tensor<?x4xf32>)
      outs(%o[m, n] : tensor<?x?xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %1 = coda.rms_norm %x eps 1.0e-05 : tensor<?x4xf32> -> tensor<?x4xf32>
  %loss, %lse = coda.cross_entropy %w, %t ignore_index -100 : tensor<?x4xf32>, tensor<?xi64> -> tensor<?xf32>
  %d0 = tensor.dim %0, %c1 : tensor<?x?xf32>
  %d1 = tensor.dim %1, %c0 : tensor<?x4xf32>
  %d2 = tensor.dim %loss, %c0 : tensor<?xf32>
  return %d0, %d1, %d2 : index, index, index
}

// A bundle's results have the shapes of its members' destinations.
// DIMS-LABEL: func.func @shapes_of_bundle(
// DIMS-SAME:    %[[O:[a-z0-9]+]]: tensor<?x4xf32>, %[[P:[a-z0-9]+]]: tensor<2x?xf32>
// DIMS-DAG:     %[[C0:.+]] = arith.constant 0 : index
// DIMS-DAG:     %[[C1:.+]] = arith.constant 1 : index
// DIMS-DAG:     %[[ROWS:.+]] = tensor.dim %[[O]], %[[C0]]
// DIMS-DAG:     %[[COLUMNS:.+]] = tensor.dim %[[P]], %[[C1]]
// DIMS:         return %[[ROWS]], %[[COLUMNS]]
func.func @shapes_of_bundle(%x: tensor<?x8xf32>, %y: tensor<2x8xf32>, %w: tensor<4x8xf32>, %o: tensor<?x4xf32>, %p: tensor<2x?xf32>, %v: tensor<?x8xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = coda.bundle -> tensor<2x?xf32>, tensor<?x4xf32> {
    %1 = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<?x8xf32>, tensor<4x8xf32>)
        outs(%o[m, n] : tensor<?x4xf32>) {
    ^bb0(%a: f32):
      coda.yield %a : f32
    }
    %2 = coda.gemm acc(%y[m, k] * %v[n, k] : tensor<2x8xf32>, tensor<?x8xf32>)
        outs(%p[m, n] : tensor<2x?xf32>) {
    ^bb0(%a: f32):
      coda.yield %a : f32
    }
    coda.yield %2, %1 : tensor<2x?xf32>, tensor<?x4xf32>
  }
  %rows = tensor.dim %0#1, %c0 : tensor<?x4xf32>
  %columns = tensor.dim %0#0, %c1 : tensor<2x?xf32>
  return %rows, %columns : index, index
}
