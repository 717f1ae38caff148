// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse),canonicalize,cse)' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse{numerics=strict}),canonicalize,cse)' -split-input-file | FileCheck %s --check-prefix=STRICT

// An epilogue and a statistic go into the gemm; both stores stay, since both are
// read.
// CHECK-LABEL: func.func @vertical(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<4x16xf32>, %[[R:.*]]: tensor<8x4xf32>, %[[E:.*]]: tensor<8x4xf32>, %[[S0:.*]]: tensor<8xf32>
// CHECK:       %[[X:.*]]:2 = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-NEXT:    ins(%[[R]][m, n] :
// CHECK-NEXT:    outs(%[[E]][m, n], fresh add %[[S0]][m] :
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32, %[[RES:.*]]: f32):
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[ACC]], %[[RES]]
// CHECK-NEXT:    %[[SQ:.*]] = arith.mulf %[[SUM]], %[[SUM]]
// CHECK-NEXT:    coda.yield %[[SUM]], %[[SQ]]
// CHECK-NOT:   coda.map
// CHECK:       return %[[X]]#0, %[[X]]#1
func.func @vertical(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %r: tensor<8x4xf32>, %e: tensor<8x4xf32>, %s0: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %x = coda.map ins(%y[m, n], %r[m, n] : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0 : f32
  }
  %s = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%p: f32):
    %0 = arith.mulf %p, %p : f32
    coda.yield %0 : f32
  }
  return %x, %s : tensor<8x4xf32>, tensor<8xf32>
}

// -----

// A map that reads two gemms of one left factor: two accumulators, one k loop.
// CHECK-LABEL: func.func @sibling(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[G:.*]]: tensor<4x16xf32>, %[[U:.*]]: tensor<4x16xf32>,
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[U]][n, k], %[[A]][m, k] * %[[G]][n, k] :
// CHECK:       ^bb0(%[[AU:.*]]: f32, %[[AG:.*]]: f32):
// CHECK-NEXT:    %[[Y:.*]] = arith.divf %[[AG]], %[[AU]]
// CHECK-NEXT:    coda.yield %[[Y]]
// CHECK-NOT:   coda.gemm
func.func @sibling(%a: tensor<8x16xf32>, %g: tensor<4x16xf32>, %u: tensor<4x16xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = coda.gemm acc(%a[m, k] * %g[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %z = coda.gemm acc(%a[m, k] * %u[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %x = coda.map ins(%y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %x : tensor<8x4xf32>
}

// -----

// A row's factor is computed in the reader, from what the map loads.
// CHECK-LABEL: func.func @clone(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<4x16xf32>, %[[S:.*]]: tensor<8xf32>,
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-NEXT:    ins(%[[S]][m] :
// CHECK:       ^bb0(%[[ACC:.*]]: f32, %[[SM:.*]]: f32):
// CHECK-NEXT:    %[[R:.*]] = math.rsqrt %[[SM]]
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %[[ACC]], %[[R]]
// CHECK-NEXT:    coda.yield %[[Y]]
// CHECK-NOT:   coda.map
func.func @clone(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %s: tensor<8xf32>, %e: tensor<8x4xf32>, %r0: tensor<8xf32>) -> tensor<8x4xf32> {
  %r = coda.map ins(%s[m] : tensor<8xf32>) outs(%r0[m] : tensor<8xf32>) {
  ^bb0(%v: f32):
    %0 = math.rsqrt %v : f32
    coda.yield %0 : f32
  }
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %x = coda.map ins(%y[m, n], %r[m] : tensor<8x4xf32>, tensor<8xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    coda.yield %0 : f32
  }
  return %x : tensor<8x4xf32>
}

// -----

// A table of a value a row and one a column is computed where it is loaded, by the
// map too, which stands for the readers of a backward pass.
// CHECK-LABEL: func.func @clone_table(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8x16xf32>, %[[B:[a-z0-9]+]]: tensor<6x4x16xf32>, %[[P:[a-z0-9]+]]: tensor<8xi64>, %[[F:[a-z0-9]+]]: tensor<4xf32>,
// CHECK-NOT:   coda.map
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n0, n1, k] :
// CHECK-NEXT:    ins(%[[P]][m], %[[F]][n1] :
// CHECK:       ^bb0(%[[ACC:.*]]: f32, %[[PM:.*]]: i64, %[[FN:.*]]: f32):
// CHECK-NEXT:    %[[PF:.*]] = arith.sitofp %[[PM]] : i64 to f32
// CHECK-NEXT:    %[[ANGLE:.*]] = arith.mulf %[[PF]], %[[FN]]
// CHECK-NEXT:    %[[COS:.*]] = math.cos %[[ANGLE]]
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %[[ACC]], %[[COS]]
// CHECK-NEXT:    coda.yield %[[Y]]
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n0, n1], %[[P]][m], %[[F]][n1] :
func.func @clone_table(%a: tensor<8x16xf32>, %b: tensor<6x4x16xf32>, %p: tensor<8xi64>, %f: tensor<4xf32>, %g: tensor<8x6x4xf32>, %e: tensor<8x6x4xf32>, %t0: tensor<8x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x6x4xf32>) {
  %t = coda.map ins(%p[m], %f[n] : tensor<8xi64>, tensor<4xf32>) outs(%t0[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: i64, %w: f32):
    %0 = arith.sitofp %v : i64 to f32
    %1 = arith.mulf %0, %w : f32
    %2 = math.cos %1 : f32
    coda.yield %2 : f32
  }
  %y = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<6x4x16xf32>) ins(%t[m, n1] : tensor<8x4xf32>) outs(%e[m, n0, n1] : tensor<8x6x4xf32>) {
  ^bb0(%c: f32, %q: f32):
    %0 = arith.mulf %c, %q : f32
    coda.yield %0 : f32
  }
  %x = coda.map ins(%g[m, n0, n1], %t[m, n1] : tensor<8x6x4xf32>, tensor<8x4xf32>) outs(%e[m, n0, n1] : tensor<8x6x4xf32>) {
  ^bb0(%c: f32, %q: f32):
    %0 = arith.mulf %c, %q : f32
    coda.yield %0 : f32
  }
  return %y, %x : tensor<8x6x4xf32>, tensor<8x6x4xf32>
}

// -----

// What is made of a whole table is stored: its reader would load as much, and
// compute it for each of the heads.
// CHECK-LABEL: func.func @clone_table_refused(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<8x4xf32>,
// CHECK:       %[[T:.*]] = coda.map
// CHECK-NEXT:    ins(%[[P]][m, n] :
// CHECK:       coda.gemm
// CHECK:         ins(%[[T]][m, n1] :
func.func @clone_table_refused(%p: tensor<8x4xf32>, %a: tensor<8x16xf32>, %b: tensor<6x4x16xf32>, %e: tensor<8x6x4xf32>, %t0: tensor<8x4xf32>) -> tensor<8x6x4xf32> {
  %t = coda.map ins(%p[m, n] : tensor<8x4xf32>) outs(%t0[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    %0 = math.cos %v : f32
    coda.yield %0 : f32
  }
  %y = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<6x4x16xf32>) ins(%t[m, n1] : tensor<8x4xf32>) outs(%e[m, n0, n1] : tensor<8x6x4xf32>) {
  ^bb0(%c: f32, %q: f32):
    %0 = arith.mulf %c, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x6x4xf32>
}

// -----

// A reshape between the two refines the iteration space; the pair becomes a u
// dim of the gemm; the transposed store stays in the map.
// CHECK-LABEL: func.func @reshape_unroll(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<12x16xf32>, %[[E2:.*]]: tensor<2x3x4x2x2xf32>
// CHECK-DAG:   %[[A2:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 16]
// CHECK-DAG:   %[[B2:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1, 2], [3]] output_shape [3, 2, 2, 16]
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A2]][m0, m1, k] * %[[B2]][n0, u, n1, k] :
// CHECK-NEXT:    outs(%[[E2]][m0, n0, m1, u, n1] :
// CHECK-NEXT:  ^bb0(%[[X0:.*]]: f32, %[[X1:.*]]: f32):
// CHECK-NEXT:    %[[Y0:.*]] = arith.subf %[[X0]], %[[X1]]
// CHECK-NEXT:    %[[Y1:.*]] = arith.addf %[[X0]], %[[X1]]
// CHECK-NEXT:    coda.yield %[[Y0]], %[[Y1]]
func.func @reshape_unroll(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>, %e2: tensor<2x3x4x2x2xf32>) -> tensor<2x3x4x2x2xf32> {
  %e = tensor.empty() : tensor<8x12xf32>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %v = tensor.expand_shape %y [[0, 1], [2, 3, 4]] output_shape [2, 4, 3, 2, 2] : tensor<8x12xf32> into tensor<2x4x3x2x2xf32>
  %x = coda.map ins(%v[m0, m1, m2, u, n] : tensor<2x4x3x2x2xf32>) outs(%e2[m0, m2, m1, u, n] : tensor<2x3x4x2x2xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = arith.addf %p, %q : f32
    coda.yield %0, %1 : f32, f32
  }
  return %x : tensor<2x3x4x2x2xf32>
}

// -----

// Slices of a gemm's result are gemms of slices of the weight, also where a
// reshape stands between the slice and its reader.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<12x16xf32>
// CHECK-DAG:   %[[B0:.*]] = tensor.extract_slice %[[B]][0, 0] [8, 16] [1, 1]
// CHECK-DAG:   %[[B1:.*]] = tensor.extract_slice %[[B]][8, 0] [4, 16] [1, 1]
// CHECK-DAG:     acc(%[[A]][m, k] * %[[B0]][n, k] :
// CHECK-DAG:     acc(%[[A]][m, k] * %[[B1]][n, k] :
func.func @slices(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %e0 = tensor.empty() : tensor<8x8xf32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %s0 = tensor.extract_slice %y[0, 0] [8, 8] [1, 1] : tensor<8x12xf32> to tensor<8x8xf32>
  %s1 = tensor.extract_slice %y[0, 8] [8, 4] [1, 1] : tensor<8x12xf32> to tensor<8x4xf32>
  %p = coda.map ins(%s0[m, n] : tensor<8x8xf32>) outs(%e0[m, n] : tensor<8x8xf32>) {
  ^bb0(%v: f32):
    %0 = arith.negf %v : f32
    coda.yield %0 : f32
  }
  %q = coda.map ins(%s1[m, n] : tensor<8x4xf32>) outs(%e1[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    coda.yield %0 : f32
  }
  return %p, %q : tensor<8x8xf32>, tensor<8x4xf32>
}

// -----

// The whole row's sum is not known in the tile that makes it: that has 256 columns
// at most.
// CHECK-LABEL: func.func @partial_sum(
// CHECK:       coda.gemm
// CHECK:       coda.map
func.func @partial_sum(%a: tensor<8x16xf32>, %b: tensor<512x16xf32>, %e: tensor<8x512xf32>, %s0: tensor<8xf32>) -> tensor<8x512xf32> {
  // expected-note @below {{because of this op}}
  %x, %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<512x16xf32>) outs(%e[m, n], fresh add %s0[m] : tensor<8x512xf32>, tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: producer-partial-sum}}
  %y = coda.map ins(%x[m, n], %s[m] : tensor<8x512xf32>, tensor<8xf32>) outs(%e[m, n] : tensor<8x512xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x512xf32>
}

// -----

// The map needs what a gemm outside of the pair makes of the producer's value.
// CHECK-LABEL: func.func @cycle(
func.func @cycle(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %t = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  // expected-remark @below {{[coda-fuse] not fused with the producer: would-create-cycle}}
  %y = coda.map ins(%x[m, n], %t[m, n] : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %e: tensor<8x4xf32>, %e3: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  // expected-note @below {{because of this op}}
  %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: no-common-space}}
  %y = coda.map ins(%x[m0, n] : tensor<8x4xf32>) outs(%e3[m0, m1, n] : tensor<8x2x4xf32>) {
  ^bb0(%p: f32):
    coda.yield %p : f32
  }
  return %y : tensor<8x2x4xf32>
}

// -----

// Two loads of the producer at different points.
// CHECK-LABEL: func.func @two_points(
func.func @two_points(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: non-projected-map}}
  %y = coda.map ins(%x[m, n], %x[n, m] : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x8xf32>
}

// -----

// Gemms of different left factors keep their own kernels, unless their results
// are only added: the reader joins one.
// CHECK-LABEL: func.func @two_factors(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[A2:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<4x16xf32>,
// CHECK-DAG:       acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-DAG:       acc(%[[A2]][m, k] * %[[B]][n, k] :
// CHECK-NOT:   coda.map
func.func @two_factors(%a: tensor<8x16xf32>, %a2: tensor<8x16xf32>, %b: tensor<4x16xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %z = coda.gemm acc(%a2[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %x = coda.map ins(%y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    coda.yield %0 : f32
  }
  return %x : tensor<8x4xf32>
}

// -----

// A pair of 16 points cannot be unrolled.
// CHECK-LABEL: func.func @too_many_points(
func.func @too_many_points(%a: tensor<8x16xf32>, %b: tensor<2x4x16xf32>, %e: tensor<8x2x4xf32>, %v: tensor<8x2x4x2xf32>) -> tensor<8x2x4x2xf32> {
  %y = coda.map ins(%v[m, n0, u, n1] : tensor<8x2x4x2xf32>) outs(%v[m, n0, u, n1] : tensor<8x2x4x2xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0, %q, %r, %s : f32, f32, f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: resource-bound}}
  %x = coda.map ins(%y[m, u0, n0, u1] : tensor<8x2x4x2xf32>) outs(%v[m, u0, n0, u1] : tensor<8x2x4x2xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0, %q, %r, %s : f32, f32, f32, f32
  }
  return %x : tensor<8x2x4x2xf32>
}

// -----

// CHECK-LABEL: func.func @crosses_region(
func.func @crosses_region(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %e: tensor<8x4xf32>, %p: i1) -> tensor<8x4xf32> {
  // expected-note @below {{because of this op}}
  %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %r = scf.if %p -> tensor<8x4xf32> {
    // expected-remark @below {{[coda-fuse] not fused with the producer: crosses-region}}
    %y = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
    ^bb0(%v: f32):
      %0 = math.exp %v : f32
      coda.yield %0 : f32
    }
    scf.yield %y : tensor<8x4xf32>
  } else {
    scf.yield %x : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// The logits are read as a whole, too: they are not cut.
// CHECK-LABEL: func.func @slice_and_whole(
func.func @slice_and_whole(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>) -> (tensor<8x12xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %e0 = tensor.empty() : tensor<8x8xf32>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %s0 = tensor.extract_slice %y[0, 0] [8, 8] [1, 1] : tensor<8x12xf32> to tensor<8x8xf32>
  // expected-remark @below {{[coda-fuse] not fused with the producer: other-reader}}
  %p = coda.map ins(%s0[m, n] : tensor<8x8xf32>) outs(%e0[m, n] : tensor<8x8xf32>) {
  ^bb0(%v: f32):
    %0 = arith.negf %v : f32
    coda.yield %0 : f32
  }
  // expected-note @below {{because of this op}}
  return %y, %p : tensor<8x12xf32>, tensor<8x8xf32>
}

// -----

// Even and odd columns, of which an op reads both, are points of a u dim: one gemm
// has both, with no column of the weight moved. What offset a slice has says which.
// CHECK-LABEL: func.func @slices_with_stride(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<12x16xf32>, %[[BIAS:.*]]: tensor<12xf32>)
func.func @slices_with_stride(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>, %bias: tensor<12xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x12xf32>
  %e0 = tensor.empty() : tensor<8x6xf32>
  // CHECK-DAG:  %[[W:.*]] = tensor.expand_shape %[[B]] {{\[}}[0, 1], [2]] output_shape [6, 2, 16]
  // CHECK-DAG:  %[[V:.*]] = tensor.expand_shape %[[BIAS]] {{\[}}[0, 1]] output_shape [6, 2]
  // CHECK:      %[[P:.*]] = coda.gemm
  // CHECK-NEXT:     acc(%[[A]][m, k] * %[[W]][n, u, k] : tensor<8x16xf32>, tensor<6x2x16xf32>)
  // CHECK-NEXT:     ins(%[[V]][n, u] : tensor<6x2xf32>)
  // CHECK-NEXT:     outs(%{{.*}}[m, n] : tensor<8x6xf32>)
  // CHECK-NEXT: ^bb0(%[[C0:.*]]: f32, %[[C1:.*]]: f32, %[[B0:.*]]: f32, %[[B1:.*]]: f32):
  // CHECK-DAG:    %[[Y0:.*]] = arith.addf %[[C0]], %[[B0]]
  // CHECK-DAG:    %[[Y1:.*]] = arith.addf %[[C1]], %[[B1]]
  // CHECK:        %[[D:.*]] = arith.divf %[[Y1]], %[[Y0]]
  // CHECK:        coda.yield %[[D]]
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) ins(%bias[n] : tensor<12xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32, %v: f32):
    %0 = arith.addf %c, %v : f32
    coda.yield %0 : f32
  }
  %s0 = tensor.extract_slice %y[0, 0] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  %s1 = tensor.extract_slice %y[0, 1] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  %p = coda.map ins(%s1[m, n], %s0[m, n] : tensor<8x6xf32>, tensor<8x6xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%u: f32, %v: f32):
    %0 = arith.divf %u, %v : f32
    coda.yield %0 : f32
  }
  // CHECK: return %[[P]]
  return %p : tensor<8x6xf32>
}

// -----

// The same of points of a dim, of rows that only a call counts; a second reader, and
// one of the whole, find the pairs where the first left them.
// CHECK-LABEL: func.func @points(
// CHECK-SAME:    %[[A:.*]]: tensor<?x16xf32>, %[[B:.*]]: tensor<12x16xf32>
// CHECK:       %[[W:.*]] = tensor.expand_shape %[[B]] {{\[}}[0, 1], [2]] output_shape [6, 2, 16]
// CHECK:       %[[G:.*]]:3 = coda.gemm
// CHECK-NEXT:      acc(%[[A]][m, k] * %[[W]][n, u, k] : tensor<?x16xf32>, tensor<6x2x16xf32>)
// CHECK-NEXT:      outs(%{{.*}}[m, n, u], %{{.*}}[m, n], %{{.*}}[m, n] : tensor<?x6x2xf32>, tensor<?x6xf32>, tensor<?x6xf32>)
// CHECK-NOT:   coda.map
// CHECK:       %[[Y:.*]] = tensor.collapse_shape %[[G]]#0 {{\[}}[0], [1, 2]]
// CHECK:       return %[[Y]], %[[G]]#1, %[[G]]#2
func.func @points(%a: tensor<?x16xf32>, %b: tensor<12x16xf32>, %m: index) -> (tensor<?x12xf32>, tensor<?x6xf32>, tensor<?x6xf32>) {
  %i0 = arith.constant 0 : index
  %t = tensor.dim %a, %i0 : tensor<?x16xf32>
  %e = tensor.empty(%t) : tensor<?x12xf32>
  %e0 = tensor.empty(%t) : tensor<?x6xf32>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<?x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<?x12xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %x = tensor.expand_shape %y [[0], [1, 2]] output_shape [%t, 6, 2] : tensor<?x12xf32> into tensor<?x6x2xf32>
  %s0 = tensor.extract_slice %x[0, 0, 0] [%t, 6, 1] [1, 1, 1] : tensor<?x6x2xf32> to tensor<?x6xf32>
  %s1 = tensor.extract_slice %x[0, 0, 1] [%t, 6, 1] [1, 1, 1] : tensor<?x6x2xf32> to tensor<?x6xf32>
  %p = coda.map ins(%s0[m, n], %s1[m, n] : tensor<?x6xf32>, tensor<?x6xf32>) outs(%e0[m, n] : tensor<?x6xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.mulf %v, %u : f32
    coda.yield %0 : f32
  }
  %s2 = tensor.extract_slice %y[0, 0] [%t, 6] [1, 2] : tensor<?x12xf32> to tensor<?x6xf32>
  %s3 = tensor.extract_slice %y[0, 1] [%t, 6] [1, 2] : tensor<?x12xf32> to tensor<?x6xf32>
  %q = coda.map ins(%s2[m, n], %s3[m, n] : tensor<?x6xf32>, tensor<?x6xf32>) outs(%e0[m, n] : tensor<?x6xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.subf %v, %u : f32
    coda.yield %0 : f32
  }
  return %y, %p, %q : tensor<?x12xf32>, tensor<?x6xf32>, tensor<?x6xf32>
}

// -----

// An op that reads one column of each two is not joined, whoever reads the others; nor
// one where the extent is no multiple of the stride, or rows have one.
// CHECK-LABEL: func.func @neg_slices_with_stride(
func.func @neg_slices_with_stride(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>, %d: tensor<13x16xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<4x12xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %e1 = tensor.empty() : tensor<8x13xf32>
  %e0 = tensor.empty() : tensor<8x6xf32>
  %e2 = tensor.empty() : tensor<4x12xf32>
  // CHECK: %[[Y:.*]] = coda.gemm
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // CHECK-DAG: %[[S0:.*]] = tensor.extract_slice %[[Y]][0, 0, 0] [8, 6, 1] [1, 1, 1]
  // CHECK-DAG: %[[S1:.*]] = tensor.extract_slice %[[Y]][0, 0, 1] [8, 6, 1] [1, 1, 1]
  // expected-note @below {{because of this op}}
  %s0 = tensor.extract_slice %y[0, 0] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  // expected-note @below {{because of this op}}
  %s1 = tensor.extract_slice %y[0, 1] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  // CHECK: coda.map
  // CHECK-NEXT: ins(%[[S0]][m, n] :
  // expected-remark @below {{[coda-fuse] not fused with the producer: other-reader: slices of the result that the op reads take 1 of the 2 points of dim 2; only one that reads all of them is joined}}
  %p = coda.map ins(%s0[m, n] : tensor<8x6xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    coda.yield %0 : f32
  }
  // CHECK: coda.map
  // CHECK-NEXT: ins(%[[S1]][m, n] :
  // expected-remark @below {{take 1 of the 2 points}}
  %q = coda.map ins(%s1[m, n] : tensor<8x6xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    coda.yield %0 : f32
  }
  // CHECK: %[[Z:.*]] = coda.gemm
  %z = coda.gemm acc(%a[m, k] * %d[n, k] : tensor<8x16xf32>, tensor<13x16xf32>) outs(%e1[m, n] : tensor<8x13xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // CHECK: %[[S2:.*]] = tensor.extract_slice %[[Z]][0, 0] [8, 6] [1, 2]
  // CHECK: %[[S3:.*]] = tensor.extract_slice %[[Z]][0, 1] [8, 6] [1, 2]
  %s2 = tensor.extract_slice %z[0, 0] [8, 6] [1, 2] : tensor<8x13xf32> to tensor<8x6xf32>
  // expected-note @below {{because of this op}}
  %s3 = tensor.extract_slice %z[0, 1] [8, 6] [1, 2] : tensor<8x13xf32> to tensor<8x6xf32>
  // CHECK: coda.map
  // CHECK-NEXT: ins(%[[S2]][m, n], %[[S3]][m, n] :
  // expected-remark @below {{[coda-fuse] not fused with the producer: other-reader: a slice of the result has stride 2 along dim 1; only parts of the columns with stride 1 are cut}}
  %r = coda.map ins(%s2[m, n], %s3[m, n] : tensor<8x6xf32>, tensor<8x6xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.mulf %v, %u : f32
    coda.yield %0 : f32
  }
  // CHECK: coda.gemm
  %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32):
    %0 = math.tanh %c : f32
    coda.yield %0 : f32
  }
  // expected-note @below {{because of this op}}
  %s4 = tensor.extract_slice %x[0, 0] [4, 12] [2, 1] : tensor<8x12xf32> to tensor<4x12xf32>
  %s5 = tensor.extract_slice %x[1, 0] [4, 12] [2, 1] : tensor<8x12xf32> to tensor<4x12xf32>
  // CHECK: coda.map
  // expected-remark @below {{[coda-fuse] not fused with the producer: other-reader: the result is not read through slices of its columns only}}
  %s = coda.map ins(%s4[m, n], %s5[m, n] : tensor<4x12xf32>, tensor<4x12xf32>) outs(%e2[m, n] : tensor<4x12xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.mulf %v, %u : f32
    coda.yield %0 : f32
  }
  return %p, %q, %r, %s : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<4x12xf32>
}

// -----

// Columns of which only a call shows the number are no multiple of anything, and what
// also needs a value made of the product's result is no part of it.
func.func private @half(tensor<8x12xf32>) -> tensor<8x6xf32>
// CHECK-LABEL: func.func @neg_points(
func.func @neg_points(%a: tensor<8x16xf32>, %b: tensor<?x16xf32>, %d: tensor<12x16xf32>, %h: index) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %i0 = arith.constant 0 : index
  %t = tensor.dim %b, %i0 : tensor<?x16xf32>
  %e = tensor.empty(%t) : tensor<8x?xf32>
  %e1 = tensor.empty() : tensor<8x12xf32>
  %e0 = tensor.empty() : tensor<8x6xf32>
  // CHECK: coda.gemm
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<?x16xf32>) outs(%e[m, n] : tensor<8x?xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %s0 = tensor.extract_slice %y[0, 0] [8, 6] [1, 2] : tensor<8x?xf32> to tensor<8x6xf32>
  // expected-note @below {{because of this op}}
  %s1 = tensor.extract_slice %y[0, 1] [8, 6] [1, 2] : tensor<8x?xf32> to tensor<8x6xf32>
  // CHECK: coda.map
  // expected-remark @below {{a slice of the result has stride 2 along dim 1}}
  %p = coda.map ins(%s0[m, n], %s1[m, n] : tensor<8x6xf32>, tensor<8x6xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.mulf %v, %u : f32
    coda.yield %0 : f32
  }
  // CHECK: coda.gemm
  %z = coda.gemm acc(%a[m, k] * %d[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e1[m, n] : tensor<8x12xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %s2 = tensor.extract_slice %z[0, 0] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  %s3 = tensor.extract_slice %z[0, 1] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  // CHECK: call @half
  %o = func.call @half(%z) : (tensor<8x12xf32>) -> tensor<8x6xf32>
  // CHECK: coda.map
  // expected-remark @below {{would-create-cycle}}
  %q = coda.map ins(%s2[m, n], %s3[m, n], %o[m, n] : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%v: f32, %u: f32, %w: f32):
    %0 = arith.mulf %v, %u : f32
    %1 = arith.mulf %0, %w : f32
    coda.yield %1 : f32
  }
  return %p, %q : tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// Points that are read reshaped, as rows of a batch are or as one dim of them.
// CHECK-LABEL: func.func @reshaped_points(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<12x16xf32>, %[[C:.*]]: tensor<2x4x16xf32>
// CHECK-DAG:   %[[W:.*]] = tensor.expand_shape %[[B]] {{\[}}[0, 1], [2]] output_shape [6, 2, 16]
// CHECK-DAG:   %[[X:.*]] = tensor.expand_shape %[[A]] {{\[}}[0, 1], [2]] output_shape [2, 4, 16]
// CHECK:       %[[P:.*]] = coda.gemm
// CHECK-NEXT:      acc(%[[X]][m0, m1, k] * %[[W]][n, u, k] : tensor<2x4x16xf32>, tensor<6x2x16xf32>)
// CHECK-NEXT:      outs(%{{.*}}[m0, m1, n] : tensor<2x4x6xf32>)
// CHECK:       %[[Q:.*]] = coda.gemm
// CHECK-NEXT:      acc(%[[C]][m0, m1, k] * %[[W]][n, u, k] : tensor<2x4x16xf32>, tensor<6x2x16xf32>)
// CHECK-NEXT:      outs(%{{.*}}[m0, m1, n] : tensor<2x4x6xf32>)
// CHECK-NOT:   coda.map
// CHECK:       %[[R:.*]] = tensor.collapse_shape %[[Q]] {{\[}}[0, 1], [2]]
// CHECK:       return %[[P]], %[[R]]
func.func @reshaped_points(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>, %c: tensor<2x4x16xf32>) -> (tensor<2x4x6xf32>, tensor<8x6xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %e3 = tensor.empty() : tensor<2x4x12xf32>
  %e0 = tensor.empty() : tensor<2x4x6xf32>
  %e1 = tensor.empty() : tensor<8x6xf32>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n] : tensor<8x12xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %s0 = tensor.extract_slice %y[0, 0] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  %s1 = tensor.extract_slice %y[0, 1] [8, 6] [1, 2] : tensor<8x12xf32> to tensor<8x6xf32>
  %x0 = tensor.expand_shape %s0 [[0, 1], [2]] output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
  %x1 = tensor.expand_shape %s1 [[0, 1], [2]] output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
  %p = coda.map ins(%x0[m0, m1, n], %x1[m0, m1, n] : tensor<2x4x6xf32>, tensor<2x4x6xf32>) outs(%e0[m0, m1, n] : tensor<2x4x6xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.divf %v, %u : f32
    coda.yield %0 : f32
  }
  %z = coda.gemm acc(%c[m0, m1, k] * %b[n, k] : tensor<2x4x16xf32>, tensor<12x16xf32>) outs(%e3[m0, m1, n] : tensor<2x4x12xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  %s2 = tensor.extract_slice %z[0, 0, 0] [2, 4, 6] [1, 1, 2] : tensor<2x4x12xf32> to tensor<2x4x6xf32>
  %s3 = tensor.extract_slice %z[0, 0, 1] [2, 4, 6] [1, 1, 2] : tensor<2x4x12xf32> to tensor<2x4x6xf32>
  %x2 = tensor.collapse_shape %s2 [[0, 1], [2]] : tensor<2x4x6xf32> into tensor<8x6xf32>
  %x3 = tensor.collapse_shape %s3 [[0, 1], [2]] : tensor<2x4x6xf32> into tensor<8x6xf32>
  %q = coda.map ins(%x2[m, n], %x3[m, n] : tensor<8x6xf32>, tensor<8x6xf32>) outs(%e1[m, n] : tensor<8x6xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.divf %v, %u : f32
    coda.yield %0 : f32
  }
  return %p, %q : tensor<2x4x6xf32>, tensor<8x6xf32>
}

// -----

// A reshape that joins dims on both sides of that of the points has no place for it.
// CHECK-LABEL: func.func @neg_mixed_points(
func.func @neg_mixed_points(%a: tensor<8x16xf32>, %b: tensor<4x2x3x16xf32>) -> tensor<8x12xf32> {
  %e = tensor.empty() : tensor<8x4x2x3xf32>
  %e0 = tensor.empty() : tensor<8x12xf32>
  // CHECK: %[[Y:.*]] = coda.gemm
  %y = coda.gemm acc(%a[m, k] * %b[n0, n1, n2, k] : tensor<8x16xf32>, tensor<4x2x3x16xf32>) outs(%e[m, n0, n1, n2] : tensor<8x4x2x3xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  // CHECK-DAG: tensor.extract_slice %[[Y]][0, 0, 0, 0] [8, 4, 1, 3]
  // CHECK-DAG: tensor.extract_slice %[[Y]][0, 0, 1, 0] [8, 4, 1, 3]
  // expected-note @below {{because of this op}}
  %s0 = tensor.extract_slice %y[0, 0, 0, 0] [8, 4, 1, 3] [1, 1, 1, 1] : tensor<8x4x2x3xf32> to tensor<8x4x3xf32>
  %s1 = tensor.extract_slice %y[0, 0, 1, 0] [8, 4, 1, 3] [1, 1, 1, 1] : tensor<8x4x2x3xf32> to tensor<8x4x3xf32>
  %x0 = tensor.collapse_shape %s0 [[0], [1, 2]] : tensor<8x4x3xf32> into tensor<8x12xf32>
  %x1 = tensor.collapse_shape %s1 [[0], [1, 2]] : tensor<8x4x3xf32> into tensor<8x12xf32>
  // CHECK: coda.map
  // expected-remark @below {{[coda-fuse] not fused with the producer: non-projected-map: the reshapes between the two mix dims}}
  %p = coda.map ins(%x0[m, n], %x1[m, n] : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e0[m, n] : tensor<8x12xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.mulf %v, %u : f32
    coda.yield %0 : f32
  }
  return %p : tensor<8x12xf32>
}

// -----

// A number has no dims beside which that of the points could stand.
// CHECK-LABEL: func.func @neg_point_alone(
func.func @neg_point_alone(%a: tensor<2xf32>) -> tensor<1x1xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %e0 = tensor.empty() : tensor<1x1xf32>
  %y = coda.map ins(%a[n] : tensor<2xf32>) outs(%e[n] : tensor<2xf32>) {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    coda.yield %0 : f32
  }
  %s0 = tensor.extract_slice %y[0] [1] [1] : tensor<2xf32> to tensor<f32>
  // expected-note @below {{because of this op}}
  %s1 = tensor.extract_slice %y[1] [1] [1] : tensor<2xf32> to tensor<f32>
  %x0 = tensor.expand_shape %s0 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %x1 = tensor.expand_shape %s1 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  // CHECK: coda.map
  // CHECK: coda.map
  // expected-remark @below {{[coda-fuse] not fused with the producer: other-reader: the result is not read through slices of its columns only}}
  %p = coda.map ins(%x0[m, n], %x1[m, n] : tensor<1x1xf32>, tensor<1x1xf32>) outs(%e0[m, n] : tensor<1x1xf32>) {
  ^bb0(%v: f32, %u: f32):
    %0 = arith.mulf %v, %u : f32
    coda.yield %0 : f32
  }
  return %p : tensor<1x1xf32>
}

// -----

// A map joins a gemm that loads the same, where one stores several values of a column:
// the u dims are the same if both load one value at them.
// CHECK-LABEL: func.func @sibling_with_points(
// CHECK:       %[[G:.*]]:3 = coda.gemm
// CHECK-NEXT:      acc(
// CHECK-NEXT:      ins(%{{.*}}[n, u], %{{.*}}[m, n] : tensor<6x2xf32>, tensor<8x6xf32>)
// CHECK-NEXT:      outs(%{{.*}}[m, n, u], %{{.*}}[m, n], %{{.*}}[m, n] :
// CHECK-NEXT:    ^bb0(%[[C:.*]]: f32, %[[B0:.*]]: f32, %[[B1:.*]]: f32, %[[V:.*]]: f32):
// CHECK-DAG:     %[[C0:.*]] = arith.mulf %[[C]], %[[B0]]
// CHECK-DAG:     %[[C1:.*]] = arith.mulf %[[C]], %[[B1]]
// CHECK-DAG:     %[[S:.*]] = arith.divf %[[B0]], %[[B1]]
// CHECK-DAG:     %[[T:.*]] = arith.mulf %[[V]], %[[S]]
// CHECK-DAG:     %[[X:.*]] = math.exp %[[V]]
// CHECK:         coda.yield %[[C0]], %[[C1]], %[[X]], %[[T]]
// CHECK-NOT:   coda.map
// CHECK:       return %[[G]]#0, %[[G]]#2, %[[G]]#1
func.func @sibling_with_points(%a: tensor<8x16xf32>, %b: tensor<6x16xf32>, %v: tensor<8x6xf32>, %bias: tensor<6x2xf32>) -> (tensor<8x6x2xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %e = tensor.empty() : tensor<8x6x2xf32>
  %e0 = tensor.empty() : tensor<8x6xf32>
  %y, %x = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<6x16xf32>) ins(%bias[n, u], %v[m, n] : tensor<6x2xf32>, tensor<8x6xf32>) outs(%e[m, n, u], %e0[m, n] : tensor<8x6x2xf32>, tensor<8x6xf32>) {
  ^bb0(%c: f32, %b0: f32, %b1: f32, %w: f32):
    %0 = arith.mulf %c, %b0 : f32
    %1 = arith.mulf %c, %b1 : f32
    %2 = math.exp %w : f32
    coda.yield %0, %1, %2 : f32, f32, f32
  }
  %p = coda.map ins(%v[m, n], %bias[n, u] : tensor<8x6xf32>, tensor<6x2xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%w: f32, %b0: f32, %b1: f32):
    %0 = arith.divf %b0, %b1 : f32
    %1 = arith.mulf %w, %0 : f32
    coda.yield %1 : f32
  }
  return %y, %p, %x : tensor<8x6x2xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// Nothing shows which of the gemm's u dims the map's is.
// CHECK-LABEL: func.func @neg_sibling_with_points(
// CHECK:       coda.map
// CHECK-NEXT:      ins(%{{.*}}[m, n], %{{.*}}[n, u] :
// CHECK:       coda.gemm
// CHECK-NEXT:      acc(
// CHECK-NEXT:      ins(%{{.*}}[m, n] :
func.func @neg_sibling_with_points(%a: tensor<8x16xf32>, %b: tensor<6x16xf32>, %v: tensor<8x6xf32>, %bias: tensor<6x2xf32>) -> (tensor<8x6x2xf32>, tensor<8x6xf32>) {
  %e = tensor.empty() : tensor<8x6x2xf32>
  %e0 = tensor.empty() : tensor<8x6xf32>
  %p = coda.map ins(%v[m, n], %bias[n, u] : tensor<8x6xf32>, tensor<6x2xf32>) outs(%e0[m, n] : tensor<8x6xf32>) {
  ^bb0(%w: f32, %b0: f32, %b1: f32):
    %0 = arith.divf %b0, %b1 : f32
    %1 = arith.mulf %w, %0 : f32
    coda.yield %1 : f32
  }
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<6x16xf32>) ins(%v[m, n] : tensor<8x6xf32>) outs(%e[m, n, u] : tensor<8x6x2xf32>) {
  ^bb0(%c: f32, %w: f32):
    %0 = arith.mulf %c, %w : f32
    coda.yield %0, %c : f32, f32
  }
  return %y, %p : tensor<8x6x2xf32>, tensor<8x6xf32>
}

// -----

// The sum over all columns would be lost if the columns were cut.
// CHECK-LABEL: func.func @slice_of_sum(
func.func @slice_of_sum(%a: tensor<8x16xf32>, %b: tensor<12x16xf32>, %q0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %e0 = tensor.empty() : tensor<8x8xf32>
  // expected-note @below {{because of this op}}
  %y, %q = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<12x16xf32>) outs(%e[m, n], fresh add %q0[m] : tensor<8x12xf32>, tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  %s0 = tensor.extract_slice %y[0, 0] [8, 8] [1, 1] : tensor<8x12xf32> to tensor<8x8xf32>
  // expected-remark @below {{[coda-fuse] not fused with the producer: reduction-not-whole}}
  %p = coda.map ins(%s0[m, n] : tensor<8x8xf32>) outs(%e0[m, n] : tensor<8x8xf32>) {
  ^bb0(%v: f32):
    %0 = arith.negf %v : f32
    coda.yield %0 : f32
  }
  return %q, %p : tensor<8xf32>, tensor<8x8xf32>
}

// -----

// Two maps that read one value are one launch.
// CHECK-LABEL: func.func @siblings(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4xf32>, %[[E:.*]]: tensor<8x4xf32>, %[[S0:.*]]: tensor<8xf32>
// CHECK:       %[[R:.*]]:2 = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n], %[[W]][n] :
// CHECK-NEXT:    outs(fresh add %[[S0]][m], %[[E]][m, n] :
// CHECK:       ^bb0(%[[V:.*]]: f32, %[[WN:.*]]: f32):
// CHECK-DAG:     %[[SQ:.*]] = arith.mulf %[[V]], %[[V]]
// CHECK-DAG:     %[[H:.*]] = arith.mulf %[[V]], %[[WN]]
// CHECK:         coda.yield %[[SQ]], %[[H]]
// CHECK-NOT:   coda.map
func.func @siblings(%x: tensor<8x4xf32>, %w: tensor<4xf32>, %e: tensor<8x4xf32>, %s0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x4xf32>) {
  %s = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%v: f32):
    %0 = arith.mulf %v, %v : f32
    coda.yield %0 : f32
  }
  %h = coda.map ins(%x[m, n], %w[n] : tensor<8x4xf32>, tensor<4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32, %q: f32):
    %0 = arith.mulf %v, %q : f32
    coda.yield %0 : f32
  }
  return %s, %h : tensor<8xf32>, tensor<8x4xf32>
}

// A map that finds no producer joins a gemm that loads the same value: a second
// store. Where it needs the gemm's result, or the gemm its, it does not.
// CHECK-LABEL: func.func @sibling_of_gemm(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<8x16xf32>, %[[B:[^:]*]]: tensor<4x16xf32>, %[[X:[^:]*]]: tensor<8x4xf32>
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-NEXT:    ins(%[[X]][m, n]
// CHECK-NEXT:    outs(%{{.*}}[m, n], %{{.*}}[m, n] :
// CHECK-NOT:   coda.map
func.func @sibling_of_gemm(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %x: tensor<8x4xf32>, %w: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %h = coda.map ins(%x[m, n], %w[n] : tensor<8x4xf32>, tensor<4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32, %c: f32):
    %0 = arith.mulf %v, %c : f32
    coda.yield %0 : f32
  }
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %v: f32):
    %0 = arith.addf %c, %v : f32
    coda.yield %0 : f32
  }
  return %h, %y : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @factor_of_gemm(
// CHECK:       coda.map
// CHECK:       coda.gemm
func.func @factor_of_gemm(%b: tensor<4x4xf32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %h = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    coda.yield %0 : f32
  }
  %y = coda.gemm acc(%h[m, k] * %b[n, k] : tensor<8x4xf32>, tensor<4x4xf32>) ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %v: f32):
    %0 = arith.addf %c, %v : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// A gemm whose result is only added to an accumulator gives its products to
// it, though the sum is read twice and the summands are added first.

// CHECK-LABEL: func.func @absorb(
// CHECK-SAME:    %[[A:.+]]: tensor<8x16xbf16>, %[[B:.+]]: tensor<4x16xbf16>, %[[C:.+]]: tensor<8x32xbf16>, %[[D:.+]]: tensor<32x4xbf16>,
// CHECK-SAME:    %[[E:.+]]: tensor<8x4xbf16>, %[[R:.+]]: tensor<8x4xbf16>, %[[S:.+]]: tensor<8xf32>)
// CHECK-NEXT:    %[[Z:.+]]:2 = coda.gemm
// CHECK-NEXT:        acc(%[[C]][m, k0] * %[[D]][k0, n] + %[[A]][m, k1] * %[[B]][n, k1] :
// CHECK-NEXT:        ins(%[[R]][m, n] : tensor<8x4xbf16>)
// CHECK-NEXT:        outs(%[[E]][m, n], fresh add %[[S]][m] :
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32, %[[P:.+]]: bf16):
// CHECK-NEXT:      %[[W:.+]] = arith.extf %[[P]] : bf16 to f32
// CHECK-NEXT:      %[[T:.+]] = arith.addf %[[X]], %[[W]] : f32
// CHECK-NEXT:      %[[U:.+]] = arith.truncf %[[T]] : f32 to bf16
// CHECK-NEXT:      %[[V:.+]] = arith.mulf %[[T]], %[[T]] : f32
// CHECK-NEXT:      coda.yield %[[U]], %[[V]] : bf16, f32
// CHECK-NOT:     coda.gemm
// STRICT-LABEL: func.func @absorb(
// STRICT-COUNT-2: coda.gemm
func.func @absorb(%a: tensor<8x16xbf16>, %b: tensor<4x16xbf16>, %c: tensor<8x32xbf16>, %d: tensor<32x4xbf16>, %e: tensor<8x4xbf16>, %r: tensor<8x4xbf16>, %s0: tensor<8xf32>) -> (tensor<8x4xbf16>, tensor<8xf32>) {
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xbf16>, tensor<4x16xbf16>) outs(%e[m, n] : tensor<8x4xbf16>) {
  ^bb0(%x: f32):
    %t = arith.truncf %x : f32 to bf16
    coda.yield %t : bf16
  }
  %z:2 = coda.gemm acc(%c[m, k] * %d[k, n] : tensor<8x32xbf16>, tensor<32x4xbf16>) ins(%r[m, n], %y[m, n] : tensor<8x4xbf16>, tensor<8x4xbf16>) outs(%e[m, n], fresh add %s0[m] : tensor<8x4xbf16>, tensor<8xf32>) {
  ^bb0(%x: f32, %p: bf16, %q: bf16):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %s = arith.addf %wp, %wq : f32
    %t = arith.addf %x, %s : f32
    %u = arith.truncf %t : f32 to bf16
    %v = arith.mulf %t, %t : f32
    coda.yield %u, %v : bf16, f32
  }
  return %z#0, %z#1 : tensor<8x4xbf16>, tensor<8xf32>
}

// -----

// Not where the result is read elsewhere, nor where it is more than added: there
// the two are accumulators of one gemm, as they share a factor.

// CHECK-LABEL: func.func @absorb_refused(
// CHECK-SAME:    %[[A:[^:]+]]: tensor<8x16xf32>, %[[B:[^:]+]]: tensor<4x16xf32>, %[[B2:[^:]+]]: tensor<4x32xf32>, %[[C:[^:]+]]: tensor<8x32xf32>, %[[D:[^:]+]]:
// CHECK:         %[[Y:.+]] = coda.gemm
// CHECK-NEXT:        acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK:         = coda.gemm
// CHECK-NEXT:        acc(%[[C]][m, k] * %[[D]][k, n] :
// CHECK-NEXT:        ins(%[[Y]][m, n] :
// CHECK:         = coda.gemm
// CHECK-NEXT:        acc(%[[C]][m, k] * %[[B2]][n, k], %[[C]][m, k] * %[[D]][k, n] :
func.func @absorb_refused(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %b2: tensor<4x32xf32>, %c: tensor<8x32xf32>, %d: tensor<32x4xf32>, %e: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  %z = coda.gemm acc(%c[m, k] * %d[k, n] : tensor<8x32xf32>, tensor<32x4xf32>) ins(%y[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%x: f32, %q: f32):
    %t = arith.addf %x, %q : f32
    coda.yield %t : f32
  }
  %w = coda.gemm acc(%c[m, k] * %b2[n, k] : tensor<8x32xf32>, tensor<4x32xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  %v = coda.gemm acc(%c[m, k] * %d[k, n] : tensor<8x32xf32>, tensor<32x4xf32>) ins(%w[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%x: f32, %q: f32):
    %t = arith.addf %x, %q : f32
    %p = arith.mulf %t, %q : f32
    coda.yield %p : f32
  }
  return %y, %z, %v : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A gemm that loads a value with its columns split takes in a map that loads the
// value as it is: the map's columns are split, too.

// CHECK-LABEL: func.func @sibling_split(
// CHECK-SAME:    %[[A:.+]]: tensor<8x16xf32>, %[[B:.+]]: tensor<2x4x16xf32>, %[[X:.+]]: tensor<8x8xf32>,
// CHECK:         %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [8, 2, 4]
// CHECK:         %[[Z:.+]]:2 = coda.gemm
// CHECK-NEXT:        acc(%[[A]][m, k] * %[[B]][n0, n1, k] :
// CHECK-NEXT:        ins(%[[V]][m, n0, n1] : tensor<8x2x4xf32>)
// CHECK:         ^bb0(%[[C:.+]]: f32, %[[L:.+]]: f32):
// CHECK-NEXT:      %[[P:.+]] = arith.mulf %[[C]], %[[L]] : f32
// CHECK-NEXT:      %[[Q:.+]] = math.tanh %[[L]] : f32
// CHECK-NEXT:      coda.yield %[[P]], %[[Q]] : f32, f32
// CHECK:         %[[Y:.+]] = tensor.collapse_shape %[[Z]]#1 {{\[\[}}0], [1, 2]]
// CHECK:         return %[[Z]]#0, %[[Y]] :
func.func @sibling_split(%a: tensor<8x16xf32>, %b: tensor<2x4x16xf32>, %x: tensor<8x8xf32>, %s0: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>) {
  %v = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<2x4x16xf32>) ins(%v[m, n0, n1] : tensor<8x2x4xf32>) outs(fresh add %s0[m, n0] : tensor<8x2xf32>) {
  ^bb0(%c: f32, %l: f32):
    %0 = arith.mulf %c, %l : f32
    coda.yield %0 : f32
  }
  %e = tensor.empty() : tensor<8x8xf32>
  %y = coda.map ins(%x[m, n] : tensor<8x8xf32>) outs(%e[m, n] : tensor<8x8xf32>) {
  ^bb0(%l: f32):
    %0 = math.tanh %l : f32
    coda.yield %0 : f32
  }
  return %s, %y : tensor<8x2xf32>, tensor<8x8xf32>
}

// -----

// An op that nothing reads goes with its blocks while the others are joined.

// CHECK-LABEL: func.func @dead_blocks(
// CHECK-NOT:     scf.if
// CHECK:         coda.map
// CHECK-NOT:     coda.map
func.func @dead_blocks(%x: tensor<8x4xf32>, %p: i1) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %y = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%l: f32):
    %0 = math.tanh %l : f32
    coda.yield %0 : f32
  }
  %d = scf.if %p -> tensor<8x4xf32> {
    %a = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
    ^bb0(%l: f32):
      %0 = math.exp %l : f32
      coda.yield %0 : f32
    }
    %b = coda.map ins(%a[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
    ^bb0(%l: f32):
      %0 = math.exp %l : f32
      coda.yield %0 : f32
    }
    scf.yield %b : tensor<8x4xf32>
  } else {
    scf.yield %x : tensor<8x4xf32>
  }
  %z = coda.map ins(%y[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%l: f32):
    %0 = math.exp %l : f32
    coda.yield %0 : f32
  }
  return %z : tensor<8x4xf32>
}

// -----

// An extent that is computed after the producer, from what is there before, does
// not stand in the way of a split.

// CHECK-LABEL: func.func @extent_computed_later
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>, %[[W:[a-z0-9]+]]: tensor<6x8xf32>, %[[R:[a-z0-9]+]]: tensor<?x2x3xf32>
// CHECK: coda.gemm
// CHECK: ins(%[[R]][m, n0, n1] : tensor<?x2x3xf32>)
// CHECK-NOT: coda.map
func.func @extent_computed_later(%x: tensor<?x8xf32>, %w: tensor<6x8xf32>, %r: tensor<?x2x3xf32>) -> tensor<?x2x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<?x8xf32>, tensor<6x8xf32>) outs(%e[m, n] : tensor<?x6xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %m = tensor.dim %r, %c0 : tensor<?x2x3xf32>
  %s = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
  %f = tensor.empty(%m) : tensor<?x2x3xf32>
  %z = coda.map ins(%s[m0, m1, n], %r[m0, m1, n] : tensor<?x2x3xf32>, tensor<?x2x3xf32>) outs(%f[m0, m1, n] : tensor<?x2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    coda.yield %0 : f32
  }
  return %z : tensor<?x2x3xf32>
}

// -----

// What is cut into groups stays as it is.
// CHECK-LABEL: func.func @groups(
// CHECK:       coda.map
// CHECK:       coda.map
func.func @groups(%x: tensor<300x4xf32>, %e: tensor<300x4xf32>, %p: tensor<3x4xf32>) -> (tensor<300x4xf32>, tensor<3x4xf32>) {
  // expected-note @below {{because of this op}}
  %y:2 = coda.map ins(%x[m, n] : tensor<300x4xf32>) outs(%e[m, n], fresh add %p[m floordiv 128, n] : tensor<300x4xf32>, tensor<3x4xf32>) {
  ^bb0(%a: f32):
    %0 = arith.mulf %a, %a : f32
    coda.yield %0, %a : f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: reduction-not-whole: a reduction of it is cut into groups already}}
  %z = coda.map ins(%y#0[m, n] : tensor<300x4xf32>) outs(%e[m, n] : tensor<300x4xf32>) {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    coda.yield %0 : f32
  }
  return %z, %y#1 : tensor<300x4xf32>, tensor<3x4xf32>
}
