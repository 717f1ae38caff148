// RUN: coda-opt %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   | FileCheck %s

// A load may share the buffer of the store that is indexed like it.
// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4x6xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG1]][m, n] : memref<4x6xf32>, memref<4x6xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][m, n] : memref<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V0:.+]] = arith.addf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V0]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ARG1]] : memref<4x6xf32>
// CHECK-NEXT: }
func.func @residual(%x: tensor<4x6xf32>, %r: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.map ins(%x[m, n], %r[m, n] : tensor<4x6xf32>, tensor<4x6xf32>)
      outs(%r[m, n] : tensor<4x6xf32>) {
  ^bb0(%v: f32, %w: f32):
    %s = arith.addf %v, %w : f32
    coda.yield %s : f32
  }
  return %0 : tensor<4x6xf32>
}

// Another map: read at one point, written at another.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x4xf32>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : memref<4x4xf32>)
// CHECK-NEXT:     outs(%[[ALLOC]][n, m] : memref<4x4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ALLOC]] : memref<4x4xf32>
// CHECK-NEXT: }
func.func @transposed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(%x[n, m] : tensor<4x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4x4xf32>
}

// A factor is read for all points: no sharing, whatever the load does.
// CHECK-LABEL: func.func @factor(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4x4xf32>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32>
// CHECK-NEXT: coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][k, n] : memref<4x4xf32>, memref<4x4xf32>)
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : memref<4x4xf32>)
// CHECK-NEXT:     outs(%[[ALLOC]][m, n] : memref<4x4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V0:.+]] = arith.addf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V0]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ALLOC]] : memref<4x4xf32>
// CHECK-NEXT: }
func.func @factor(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x4xf32>, tensor<4x4xf32>)
      ins(%a[m, n] : tensor<4x4xf32>) outs(%a[m, n] : tensor<4x4xf32>) {
  ^bb0(%v: f32, %w: f32):
    %s = arith.addf %v, %w : f32
    coda.yield %s : f32
  }
  return %0 : tensor<4x4xf32>
}

// A fresh reduction does not read what it starts from, the other one does; both
// are in place.
// CHECK-LABEL: func.func @fresh(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : memref<4x6xf32>)
// CHECK-NEXT:     outs(fresh add %[[ARG1]][m] : memref<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : memref<4x6xf32>)
// CHECK-NEXT:     outs(add %[[ARG1]][m] : memref<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ARG1]], %[[ARG1]] : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
func.func @fresh(%x: tensor<4x6xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(fresh add %s[m] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %1 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(add %0[m] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %1, %1 : tensor<4xf32>, tensor<4xf32>
}

// A combining load reads more than the point.
// CHECK-LABEL: func.func @combining(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x4xf32>
// CHECK-NEXT: %[[SUBVIEW:.+]] = memref.subview %[[ARG0]][0, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1]>>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(add %[[ARG0]][p, n] : memref<4x4xf32>)
// CHECK-NEXT:     outs(%[[ALLOC]][n] : memref<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ALLOC]] : memref<4xf32>
// CHECK-NEXT: }
func.func @combining(%p: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.extract_slice %p[0, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
  %0 = coda.map ins(add %p[p, n] : tensor<4x4xf32>) outs(%e[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// The members run at once: what one writes, another one must not read, though
// in a sequence it could.
// CHECK-LABEL: func.func @bundle_race(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : memref<4xf32>)
// CHECK-NEXT:       outs(%[[ARG1]][n] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       outs(%[[ALLOC]][n] : memref<4xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     coda.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ARG1]], %[[ALLOC]] : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
func.func @bundle_race(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%y[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    %2 = coda.map outs(%x[n] : tensor<4xf32>) {
      %c = arith.constant 1.0 : f32
      coda.yield %c : f32
    }
    coda.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Nor write.
// CHECK-LABEL: func.func @bundle_same_dest(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: %[[ALLOC_0:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : memref<4xf32>)
// CHECK-NEXT:       outs(%[[ALLOC_0]][n] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG1:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       outs(%[[ALLOC]][n] : memref<4xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     coda.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ALLOC_0]], %[[ALLOC]] : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
func.func @bundle_same_dest(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%e[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    %2 = coda.map outs(%e[n] : tensor<4xf32>) {
      %c = arith.constant 1.0 : f32
      coda.yield %c : f32
    }
    coda.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Not even where nobody reads the first result.
// CHECK-LABEL: func.func @bundle_dead_same_dest(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : memref<4xf32>)
// CHECK-NEXT:       outs(%[[ALLOC]][n] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       outs(%[[ARG1]][n] : memref<4xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     coda.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ARG1]] : memref<4xf32>
// CHECK-NEXT: }
func.func @bundle_dead_same_dest(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%e[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    %2 = coda.map outs(%e[n] : tensor<4xf32>) {
      %c = arith.constant 1.0 : f32
      coda.yield %c : f32
    }
    coda.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// A reduction that takes its init along copies it if another member reads it,
// before the bundle.
// CHECK-LABEL: func.func @bundle_accumulate(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: %[[ALLOC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: memref.copy %[[ARG1]], %[[ALLOC]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG1]][n] : memref<4xf32>)
// CHECK-NEXT:       outs(%[[ARG2]][n] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG3:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][m, n] : memref<4x4xf32>)
// CHECK-NEXT:       outs(add %[[ALLOC]][m] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG3]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ARG2]], %[[ALLOC]] : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
func.func @bundle_accumulate(%x: tensor<4x4xf32>, %s: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%s[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    %2 = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(add %s[m] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// All u points of a load are read before any of the store is written.
// CHECK-LABEL: func.func @unrolled_residual(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x2x6xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, u, n] : memref<4x2x6xf32>)
// CHECK-NEXT:     outs(%[[ARG0]][m, u, n] : memref<4x2x6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]], %[[ARG1]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ARG0]] : memref<4x2x6xf32>
// CHECK-NEXT: }
func.func @unrolled_residual(%x: tensor<4x2x6xf32>) -> tensor<4x2x6xf32> {
  %0 = coda.map ins(%x[m, u, n] : tensor<4x2x6xf32>) outs(%x[m, u, n] : tensor<4x2x6xf32>) {
  ^bb0(%v: f32, %w: f32):
    coda.yield %w, %v : f32, f32
  }
  return %0 : tensor<4x2x6xf32>
}
