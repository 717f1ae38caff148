// RUN: coda-opt %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   | FileCheck %s

// A load may share the buffer of the store that is indexed like it.
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
func.func @transposed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(%x[n, m] : tensor<4x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4x4xf32>
}

// A factor is read for all points: no sharing, whatever the load does.
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
func.func @unrolled_residual(%x: tensor<4x2x6xf32>) -> tensor<4x2x6xf32> {
  %0 = coda.map ins(%x[m, u, n] : tensor<4x2x6xf32>) outs(%x[m, u, n] : tensor<4x2x6xf32>) {
  ^bb0(%v: f32, %w: f32):
    coda.yield %w, %v : f32, f32
  }
  return %0 : tensor<4x2x6xf32>
}
