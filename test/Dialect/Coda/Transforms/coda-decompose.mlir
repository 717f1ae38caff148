// RUN: coda-opt %s -split-input-file -coda-decompose | FileCheck %s

// An accumulator of two products, a load, a store.
func.func @gemm(%a: tensor<4x8xbf16>, %b: tensor<6x8xbf16>, %c: tensor<4x2xbf16>,
    %d: tensor<2x6xbf16>, %r: tensor<6xf32>, %o: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = coda.gemm
      acc(%a[m, k0] * %b[n, k0] + %c[m, k1] * %d[k1, n]
          : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<4x2xbf16>, tensor<2x6xbf16>)
      ins(%r[n] : tensor<6xf32>) outs(%o[n, m] : tensor<6x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.subf %x, %y : f32
    coda.yield %s : f32
  }
  return %0 : tensor<6x4xf32>
}

// -----

// A reduction takes its init along, a fresh one the identity.
func.func @reductions(%x: tensor<4x?xf32>, %s: tensor<4xf32>, %t: tensor<?xf32>)
    -> (tensor<4xf32>, tensor<?xf32>) {
  %0:2 = coda.map ins(%x[m, n] : tensor<4x?xf32>)
      outs(add %s[m], fresh max %t[n] : tensor<4xf32>, tensor<?xf32>) {
  ^bb0(%v: f32):
    %q = arith.mulf %v, %v : f32
    coda.yield %q, %v : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<?xf32>
}

// -----

func.func @logaddexp(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(logaddexp %s[] : tensor<f32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<f32>
}

// -----

// The points of a u dim are slices.
func.func @unrolled(%x: tensor<3x2xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = coda.map ins(%x[n, u] : tensor<3x2xf32>) outs(%o[u, n] : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    coda.yield %b, %s : f32, f32
  }
  return %0 : tensor<2x3xf32>
}

// -----

// With another dim of extent 1 a rank-reducing slice would not say which of the
// two it drops.
func.func @unrolled_unit_dim(%x: tensor<2x1x?xf32>, %o: tensor<1x2x?xf32>) -> tensor<1x2x?xf32> {
  %0 = coda.map ins(%x[u, m, n] : tensor<2x1x?xf32>) outs(%o[m, u, n] : tensor<1x2x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    coda.yield %b, %a : f32, f32
  }
  return %0 : tensor<1x2x?xf32>
}

// -----

// Slices of nothing have no offset: there are none.
func.func @unrolled_empty(%x: tensor<2x0xf32>, %o: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %0 = coda.map ins(%x[u, n] : tensor<2x0xf32>) outs(%o[u, n] : tensor<2x0xf32>) {
  ^bb0(%a: f32, %b: f32):
    coda.yield %b, %a : f32, f32
  }
  return %0 : tensor<2x0xf32>
}

// -----

func.func @group_reduce(%x: tensor<?x2x4xf32>, %o: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %0 = coda.map ins(%x[m, n0, n1] : tensor<?x2x4xf32>) outs(%o[m, n0, n1] : tensor<?x2x4xf32>) {
  ^bb0(%v: f32):
    %q = arith.mulf %v, %v : f32
    %g = coda.group_reduce add %q over [n1] : f32
    %d = arith.divf %v, %g : f32
    coda.yield %d : f32
  }
  return %0 : tensor<?x2x4xf32>
}

// -----

func.func @index(%o: tensor<2x3xindex>) -> tensor<2x3xindex> {
  %0 = coda.map outs(%o[m, n] : tensor<2x3xindex>) {
    %i = coda.index m
    %j = coda.index n
    %d = arith.subi %i, %j : index
    coda.yield %d : index
  }
  return %0 : tensor<2x3xindex>
}

// -----

func.func @combining_load(%p: tensor<3x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(max %p[p, n] : tensor<3x4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    %q = math.exp %v : f32
    coda.yield %q : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bundle(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %q = math.exp %v : f32
      coda.yield %q : f32
    }
    %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %q = math.sqrt %v : f32
      coda.yield %q : f32
    }
    coda.yield %2, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
