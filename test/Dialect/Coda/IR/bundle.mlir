// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// CHECK-LABEL: func.func @two_members(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x16xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4x16xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<2x16xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<8x2xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x2xf32> {
// CHECK-NEXT:   %[[V1:.+]] = coda.gemm
// CHECK-NEXT:       acc(%[[ARG0]][m, k] * %[[ARG1]][n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
// CHECK-NEXT:       outs(%[[ARG3]][m, n] : tensor<8x4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG5:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = coda.gemm
// CHECK-NEXT:       acc(%[[ARG0]][m, k] * %[[ARG2]][n, k] : tensor<8x16xf32>, tensor<2x16xf32>)
// CHECK-NEXT:       outs(%[[ARG4]][m, n] : tensor<8x2xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG5]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield %[[V1]], %[[V2]] : tensor<8x4xf32>, tensor<8x2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<8x4xf32>, tensor<8x2xf32>
// CHECK-NEXT: }
func.func @two_members(%h: tensor<8x16xf32>, %wk: tensor<4x16xf32>, %wv: tensor<2x16xf32>,
    %k0: tensor<8x4xf32>, %v0: tensor<8x2xf32>) -> (tensor<8x4xf32>, tensor<8x2xf32>) {
  %kv:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x2xf32> {
    %k = coda.gemm acc(%h[m, k] * %wk[n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
        outs(%k0[m, n] : tensor<8x4xf32>) {
    ^bb0(%a: f32):
      coda.yield %a : f32
    }
    %v = coda.gemm acc(%h[m, k] * %wv[n, k] : tensor<8x16xf32>, tensor<2x16xf32>)
        outs(%v0[m, n] : tensor<8x2xf32>) {
    ^bb0(%a: f32):
      coda.yield %a : f32
    }
    coda.yield %k, %v : tensor<8x4xf32>, tensor<8x2xf32>
  }
  return %kv#0, %kv#1 : tensor<8x4xf32>, tensor<8x2xf32>
}

// A gemm and a map; the results in another order than the members; attributes.
// CHECK-LABEL: func.func @mixed(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<8x16xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4x16xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<8xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.bundle -> tensor<8xf32>, tensor<8x4xf32> attributes {note = "kept"} {
// CHECK-NEXT:   %[[V1:.+]] = coda.gemm
// CHECK-NEXT:       acc(%[[ARG0]][m, k] * %[[ARG1]][n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
// CHECK-NEXT:       outs(%[[ARG2]][m, n] : tensor<8x4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG4:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = coda.map
// CHECK-NEXT:       ins(%[[ARG0]][m, n] : tensor<8x16xf32>)
// CHECK-NEXT:       outs(fresh add %[[ARG3]][m] : tensor<8xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG4]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield %[[V2]], %[[V1]] : tensor<8xf32>, tensor<8x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<8xf32>, tensor<8x4xf32>
// CHECK-NEXT: }
func.func @mixed(%h: tensor<8x16xf32>, %w: tensor<4x16xf32>, %o0: tensor<8x4xf32>,
    %s0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x4xf32>) {
  %r:2 = coda.bundle -> tensor<8xf32>, tensor<8x4xf32> attributes {note = "kept"} {
    %o = coda.gemm acc(%h[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
        outs(%o0[m, n] : tensor<8x4xf32>) {
    ^bb0(%a: f32):
      coda.yield %a : f32
    }
    %s = coda.map ins(%h[m, n] : tensor<8x16xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield %s, %o : tensor<8xf32>, tensor<8x4xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8x4xf32>
}

// On memrefs the bundle has no results.
// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<8x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<8x4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: memref<8xf32>
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][m, n] : memref<8x4xf32>)
// CHECK-NEXT:       outs(%[[ARG1]][m, n] : memref<8x4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG3:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][m, n] : memref<8x4xf32>)
// CHECK-NEXT:       outs(add %[[ARG2]][m] : memref<8xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG3]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @memrefs(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %z: memref<8xf32>) {
  coda.bundle {
    coda.map ins(%x[m, n] : memref<8x4xf32>) outs(%y[m, n] : memref<8x4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.map ins(%x[m, n] : memref<8x4xf32>) outs(add %z[m] : memref<8xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield
  }
  return
}
