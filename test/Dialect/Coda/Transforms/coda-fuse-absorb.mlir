// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse),canonicalize,cse)' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse{numerics=strict}),canonicalize,cse)' -split-input-file 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse{allow-f16-range=true}),canonicalize,cse)' -split-input-file | FileCheck %s --check-prefix=RANGE

// A product is linear in its left factor: what a sum multiplies it by, that is
// multiplied by, where it is made, and both are products of one accumulator.
// CHECK-LABEL: func.func @constant(
// CHECK-SAME:    %[[X:.+]]: tensor<8x16xbf16>, %[[W:.+]]: tensor<4x16xbf16>, %[[A:.+]]: tensor<2x16xbf16>, %[[B:.+]]: tensor<4x2xbf16>,
// CHECK:         %[[T:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k] * %[[A]][n, k] :
// CHECK:         ^bb0(%[[C:.+]]: f32):
// CHECK-NEXT:      %[[TWO:.+]] = arith.constant 2.0{{.*}} : f32
// CHECK-NEXT:      %[[S:.+]] = arith.mulf %[[C]], %[[TWO]] : f32
// CHECK-NEXT:      %[[R:.+]] = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT:      coda.yield %[[R]] : bf16
// CHECK:         %[[Y:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k0] * %[[W]][n, k0] + %[[T]][m, k1] * %[[B]][n, k1] :
// CHECK-NEXT:        outs(
// CHECK-NEXT:    ^bb0(%[[D:.+]]: f32):
// CHECK-NEXT:      %[[Z:.+]] = arith.truncf %[[D]] : f32 to bf16
// CHECK-NEXT:      coda.yield %[[Z]] : bf16
// CHECK:         return %[[Y]]
// STRICT: remark: [coda-fuse] product not added to the accumulator: strict-rounding: a product that is added to another would be summed with it
// STRICT-LABEL: func.func @constant(
// STRICT-COUNT-3: coda.gemm
func.func @constant(%x: tensor<8x16xbf16>, %w: tensor<4x16xbf16>, %a: tensor<2x16xbf16>, %b: tensor<4x2xbf16>, %t0: tensor<8x2xbf16>, %p0: tensor<8x4xf32>, %y0: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xbf16>, tensor<2x16xbf16>) outs(%t0[m, n] : tensor<8x2xbf16>) {
  ^bb0(%c: f32):
    %r = arith.truncf %c : f32 to bf16
    coda.yield %r : bf16
  }
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xbf16>, tensor<4x2xbf16>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xbf16>, tensor<4x16xbf16>) ins(%p[m, n] : tensor<8x4xf32>) outs(%y0[m, n] : tensor<8x4xbf16>) {
  ^bb0(%c: f32, %q: f32):
    %two = arith.constant 2.0 : f32
    %s = arith.mulf %two, %q : f32
    %u = arith.addf %c, %s : f32
    %r = arith.truncf %u : f32 to bf16
    coda.yield %r : bf16
  }
  return %y : tensor<8x4xbf16>
}

// -----

// A factor for each row, divided by another, and taken away: x W^T - (g / d) p. What
// the first product is times as well stays where it is.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<8x16xf32>, %[[W:[^:]+]]: tensor<4x16xf32>, %[[A:[^:]+]]: tensor<2x16xf32>, %[[B:[^:]+]]: tensor<4x2xf32>, %[[G:[^:]+]]: tensor<8xf32>, %[[D:[^:]+]]: tensor<f32>, %[[H:[^:]+]]: tensor<4xf32>,
// CHECK:         %[[T:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k] * %[[A]][n, k] :
// CHECK-NEXT:        ins(%[[G]][m], %[[D]][] :
// CHECK:         ^bb0(%[[C:.+]]: f32, %[[E:.+]]: f32, %[[F:.+]]: f32):
// CHECK-NEXT:      %[[P:.+]] = arith.mulf %[[C]], %[[E]] : f32
// CHECK-NEXT:      %[[Q:.+]] = arith.divf %[[P]], %[[F]] : f32
// CHECK-NEXT:      %[[R:.+]] = arith.negf %[[Q]] : f32
// CHECK-NEXT:      coda.yield %[[R]] : f32
// CHECK:         %[[Y:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k0] * %[[W]][n, k0] + %[[T]][m, k1] * %[[B]][n, k1] :
// CHECK-NEXT:        ins(%[[H]][n] :
// CHECK:         ^bb0(%[[I:.+]]: f32, %[[J:.+]]: f32):
// CHECK-NEXT:      %[[K:.+]] = arith.mulf %[[I]], %[[J]] : f32
// CHECK-NEXT:      coda.yield %[[K]] : f32
// CHECK:         return %[[Y]]
func.func @rows(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %a: tensor<2x16xf32>, %b: tensor<4x2xf32>, %g: tensor<8xf32>, %d: tensor<f32>, %h: tensor<4xf32>, %t0: tensor<8x2xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xf32>, tensor<2x16xf32>) outs(%t0[m, n] : tensor<8x2xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) ins(%g[m] : tensor<8xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %s: f32):
    %u = arith.mulf %c, %s : f32
    coda.yield %u : f32
  }
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%p[m, n], %d[], %h[n] : tensor<8x4xf32>, tensor<f32>, tensor<4xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32, %v: f32, %z: f32):
    %s = arith.divf %q, %v : f32
    %cz = arith.mulf %c, %z : f32
    %sz = arith.mulf %s, %z : f32
    %u = arith.subf %cz, %sz : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// Where what is added to has a factor that the product lacks, its left factor takes
// that. What both have stays.
// CHECK-LABEL: func.func @other_side(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<8x16xf32>, %[[W:[^:]+]]: tensor<4x16xf32>, %[[A:[^:]+]]: tensor<2x16xf32>, %[[B:[^:]+]]: tensor<4x2xf32>, %[[G:[^:]+]]: tensor<8xf32>, %[[H:[^:]+]]: tensor<8xf32>,
// CHECK:         %[[T:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k] * %[[A]][n, k] :
// CHECK-NEXT:        ins(%[[G]][m] :
// CHECK:         ^bb0(%[[C:.+]]: f32, %[[E:.+]]: f32):
// CHECK-NEXT:      %[[P:.+]] = arith.mulf %[[C]], %[[E]] : f32
// CHECK-NEXT:      coda.yield %[[P]] : f32
// CHECK:         %[[Y:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[T]][m, k0] * %[[B]][n, k0] + %[[X]][m, k1] * %[[W]][n, k1] :
// CHECK-NEXT:        ins(%[[H]][m] :
// CHECK:         ^bb0(%[[I:.+]]: f32, %[[J:.+]]: f32):
// CHECK-NEXT:      %[[K:.+]] = arith.mulf %[[I]], %[[J]] : f32
// CHECK-NEXT:      coda.yield %[[K]] : f32
// CHECK:         return %[[Y]]
func.func @other_side(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %a: tensor<2x16xf32>, %b: tensor<4x2xf32>, %g: tensor<8xf32>, %h: tensor<8xf32>, %t0: tensor<8x2xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xf32>, tensor<2x16xf32>) outs(%t0[m, n] : tensor<8x2xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %p = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%h[m] : tensor<8xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %s: f32):
    %u = arith.mulf %c, %s : f32
    coda.yield %u : f32
  }
  %y = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) ins(%p[m, n], %g[m], %h[m] : tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32, %s: f32, %v: f32):
    %d = arith.mulf %c, %v : f32
    %e = arith.mulf %s, %d : f32
    %u = arith.addf %q, %e : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// Two gemms that share a left factor become one with two accumulators, though each
// has another product besides.
// CHECK-LABEL: func.func @two_sums(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<8x16xf32>, %[[W:[^:]+]]: tensor<4x16xf32>, %[[V:[^:]+]]: tensor<4x16xf32>, %[[S:[^:]+]]: tensor<8x2xf32>, %[[T:[^:]+]]: tensor<8x2xf32>, %[[B:[^:]+]]: tensor<4x2xf32>,
// CHECK-NEXT:    %[[Z:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k0] * %[[W]][n, k0] + %[[S]][m, k1] * %[[B]][n, k1], %[[X]][m, k0] * %[[V]][n, k0] + %[[T]][m, k2] * %[[B]][n, k2] :
// CHECK:         ^bb0(%[[C:.+]]: f32, %[[D:.+]]: f32):
// CHECK-NEXT:      %[[U:.+]] = arith.mulf %[[D]], %[[C]] : f32
// CHECK-NEXT:      coda.yield %[[U]] : f32
// CHECK-NOT:     coda.gemm
func.func @two_sums(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %v: tensor<4x16xf32>, %s: tensor<8x2xf32>, %t: tensor<8x2xf32>, %b: tensor<4x2xf32>, %y0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = coda.gemm acc(%x[m, k0] * %w[n, k0] + %s[m, k1] * %b[n, k1] : tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x2xf32>, tensor<4x2xf32>) outs(%y0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %z = coda.gemm acc(%x[m, k0] * %v[n, k0] + %t[m, k1] * %b[n, k1] : tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x2xf32>, tensor<4x2xf32>) ins(%y[m, n] : tensor<8x4xf32>) outs(%y0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32):
    %u = arith.mulf %c, %q : f32
    coda.yield %u : f32
  }
  return %z : tensor<8x4xf32>
}

// -----

// A result that is what is loaded is not stored again.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<8x16xf32>, %[[W:[^:]+]]: tensor<4x16xf32>,
// CHECK-NEXT:    %[[Y:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k] * %[[W]][n, k] :
// CHECK:         %[[T:.+]] = coda.map
// CHECK-NEXT:        ins(%[[X]][m, n] :
// CHECK-NEXT:        outs(%{{.+}}[n, m] :
// CHECK:         return %[[Y]], %[[T]]
func.func @copy(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %x0: tensor<8x16xf32>, %y0: tensor<8x4xf32>, %t0: tensor<16x8xf32>) -> (tensor<8x4xf32>, tensor<16x8xf32>) {
  %c = coda.map ins(%x[m, n] : tensor<8x16xf32>) outs(%x0[m, n] : tensor<8x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %y = coda.gemm acc(%c[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%y0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  // That of a transpose is another value.
  %t = coda.map ins(%x[m, n] : tensor<8x16xf32>) outs(%t0[n, m] : tensor<16x8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %y, %t : tensor<8x4xf32>, tensor<16x8xf32>
}

// -----

// A factor for each column is none of the left factor's.
// CHECK-LABEL: func.func @neg_columns(
// CHECK-COUNT-3: coda.gemm
func.func @neg_columns(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %a: tensor<2x16xf32>, %b: tensor<4x2xf32>, %g: tensor<4xf32>, %t0: tensor<8x2xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xf32>, tensor<2x16xf32>) outs(%t0[m, n] : tensor<8x2xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-note @below {{because of this op}}
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] product not added to the accumulator: contracts-scaled-dim: what a product is multiplied by is not one value for all columns of a row}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%p[m, n], %g[n] : tensor<8x4xf32>, tensor<4xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32, %s: f32):
    %v = arith.mulf %q, %s : f32
    %u = arith.addf %c, %v : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// What is added to has a factor of its own, and no tile op makes its left factor.
// CHECK-LABEL: func.func @neg_other_factor(
// CHECK-COUNT-2: coda.gemm
func.func @neg_other_factor(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %t: tensor<8x2xf32>, %b: tensor<4x2xf32>, %g: tensor<8xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] product not added to the accumulator: no-common-space: no tile op makes the left factor of the product, which its factor could be multiplied into}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%p[m, n], %g[m] : tensor<8x4xf32>, tensor<8xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32, %s: f32):
    %v = arith.mulf %c, %s : f32
    %u = arith.addf %v, %q : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// No tile op makes the left factor.
// CHECK-LABEL: func.func @neg_argument(
// CHECK-COUNT-2: coda.gemm
func.func @neg_argument(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %t: tensor<8x2xf32>, %b: tensor<4x2xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-note @below {{because of this op}}
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] product not added to the accumulator: no-common-space: no tile op makes the left factor of the product, which its factor could be multiplied into}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%p[m, n] : tensor<8x4xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32):
    %u = arith.subf %c, %q : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// The factor is made of what it would be multiplied into.
// CHECK-LABEL: func.func @neg_cycle(
// CHECK-COUNT-3: coda.gemm
func.func @neg_cycle(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %a: tensor<2x16xf32>, %b: tensor<4x2xf32>, %g0: tensor<8xf32>, %t0: tensor<8x2xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-note @below {{because of this op}}
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xf32>, tensor<2x16xf32>) outs(%t0[m, n] : tensor<8x2xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %g = coda.map ins(%t[m, n] : tensor<8x2xf32>) outs(fresh add %g0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    %e = math.exp %c : f32
    coda.yield %e : f32
  }
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] product not added to the accumulator: would-create-cycle: what a product is multiplied by is made of its left factor}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%p[m, n], %g[m] : tensor<8x4xf32>, tensor<8xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32, %s: f32):
    %v = arith.mulf %q, %s : f32
    %u = arith.addf %c, %v : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// f16 times more than one may be none.
// CHECK-LABEL: func.func @f16(
// CHECK-COUNT-3: coda.gemm
// RANGE-LABEL: func.func @f16(
// RANGE-SAME:    %[[X:[^:]+]]: tensor<8x16xf16>, %[[W:[^:]+]]: tensor<4x16xf16>, %[[A:[^:]+]]: tensor<2x16xf16>, %[[B:[^:]+]]: tensor<4x2xf16>,
// RANGE:         %[[T:.+]] = coda.gemm
// RANGE-NEXT:        acc(%[[X]][m, k] * %[[A]][n, k] :
// RANGE:         = coda.gemm
// RANGE-NEXT:        acc(%[[X]][m, k0] * %[[W]][n, k0] + %[[T]][m, k1] * %[[B]][n, k1] :
// RANGE-LABEL: func.func @f16_smaller(
func.func @f16(%x: tensor<8x16xf16>, %w: tensor<4x16xf16>, %a: tensor<2x16xf16>, %b: tensor<4x2xf16>, %t0: tensor<8x2xf16>, %p0: tensor<8x4xf32>, %y0: tensor<8x4xf16>) -> tensor<8x4xf16> {
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xf16>, tensor<2x16xf16>) outs(%t0[m, n] : tensor<8x2xf16>) {
  ^bb0(%c: f32):
    %r = arith.truncf %c : f32 to f16
    coda.yield %r : f16
  }
  // expected-note @below {{because of this op}}
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf16>, tensor<4x2xf16>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] product not added to the accumulator: f16-range: the left factor of a product, times what that is multiplied by, may exceed the range of f16; allow-f16-range permits it}}
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf16>, tensor<4x16xf16>) ins(%p[m, n] : tensor<8x4xf32>) outs(%y0[m, n] : tensor<8x4xf16>) {
  ^bb0(%c: f32, %q: f32):
    %two = arith.constant 2.0 : f32
    %s = arith.mulf %two, %q : f32
    %u = arith.addf %c, %s : f32
    %r = arith.truncf %u : f32 to f16
    coda.yield %r : f16
  }
  return %y : tensor<8x4xf16>
}

// -----

// By a constant of at most one f16 becomes no larger.
// CHECK-LABEL: func.func @f16_smaller(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<8x16xf16>, %[[W:[^:]+]]: tensor<4x16xf16>, %[[A:[^:]+]]: tensor<2x16xf16>, %[[B:[^:]+]]: tensor<4x2xf16>,
// CHECK:         %[[T:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k] * %[[A]][n, k] :
// CHECK:         = coda.gemm
// CHECK-NEXT:        acc(%[[X]][m, k0] * %[[W]][n, k0] + %[[T]][m, k1] * %[[B]][n, k1] :
// CHECK-NOT:     coda.gemm
func.func @f16_smaller(%x: tensor<8x16xf16>, %w: tensor<4x16xf16>, %a: tensor<2x16xf16>, %b: tensor<4x2xf16>, %t0: tensor<8x2xf16>, %p0: tensor<8x4xf32>, %y0: tensor<8x4xf16>) -> tensor<8x4xf16> {
  %t = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x16xf16>, tensor<2x16xf16>) outs(%t0[m, n] : tensor<8x2xf16>) {
  ^bb0(%c: f32):
    %r = arith.truncf %c : f32 to f16
    coda.yield %r : f16
  }
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf16>, tensor<4x2xf16>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x16xf16>, tensor<4x16xf16>) ins(%p[m, n] : tensor<8x4xf32>) outs(%y0[m, n] : tensor<8x4xf16>) {
  ^bb0(%c: f32, %q: f32):
    %half = arith.constant -0.5 : f32
    %four = arith.constant 4.0 : f32
    %s = arith.mulf %half, %q : f32
    %v = arith.divf %s, %four : f32
    %u = arith.addf %c, %v : f32
    %r = arith.truncf %u : f32 to f16
    coda.yield %r : f16
  }
  return %y : tensor<8x4xf16>
}

// -----

// A kernel is not passed any number of factors.
// CHECK-LABEL: func.func @neg_many(
// CHECK-COUNT-2: coda.gemm
func.func @neg_many(%x: tensor<8x16xf32>, %w0: tensor<4x16xf32>, %w1: tensor<4x16xf32>, %w2: tensor<4x16xf32>, %w3: tensor<4x16xf32>, %w4: tensor<4x16xf32>, %w5: tensor<4x16xf32>, %w6: tensor<4x16xf32>, %w7: tensor<4x16xf32>, %w8: tensor<4x16xf32>, %t: tensor<8x2xf32>, %b: tensor<4x2xf32>, %p0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-note @below {{because of this op}}
  %p = coda.gemm acc(%t[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] product not added to the accumulator: resource-bound: a kernel would have more than 9 products}}
  %y = coda.gemm acc(%x[m, k0] * %w0[n, k0] + %x[m, k1] * %w1[n, k1] + %x[m, k2] * %w2[n, k2] + %x[m, k3] * %w3[n, k3] + %x[m, k4] * %w4[n, k4] + %x[m, k5] * %w5[n, k5] + %x[m, k6] * %w6[n, k6] + %x[m, k7] * %w7[n, k7] + %x[m, k8] * %w8[n, k8] : tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>) ins(%p[m, n] : tensor<8x4xf32>) outs(%p0[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %q: f32):
    %u = arith.addf %c, %q : f32
    coda.yield %u : f32
  }
  return %y : tensor<8x4xf32>
}
