// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse),canonicalize,cse)' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-fuse{numerics=strict}),canonicalize,cse)' -split-input-file | FileCheck %s --check-prefix=STRICT

// The sum over a head's columns is known in the tile that makes them: each point has
// that of its group, of what was summed. A sum that others read, too, stays.
// CHECK-LABEL: func.func @head_sum(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<4x64x16xf32>, %[[E:.*]]: tensor<8x4x64xf32>, %[[S0:.*]]: tensor<8x4xf32>
// CHECK:       %[[X:.*]]:2 = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n0, n1, k] :
// CHECK-NEXT:    outs(fresh add %[[S0]][m, n0], %[[E]][m, n0, n1] :
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32):
// CHECK-NEXT:    %[[SQ:.*]] = arith.mulf %[[C]], %[[C]] : f32
// CHECK-NEXT:    %[[G:.*]] = coda.group_reduce add %[[SQ]] over [n1] : f32
// CHECK-NEXT:    %[[Y:.*]] = arith.divf %[[C]], %[[G]] : f32
// CHECK-NEXT:    coda.yield %[[SQ]], %[[Y]] : f32, f32
// CHECK:       return %[[X]]#1, %[[X]]#0
func.func @head_sum(%a: tensor<8x16xf32>, %b: tensor<4x64x16xf32>, %e: tensor<8x4x64xf32>, %s0: tensor<8x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x4xf32>) {
  %x, %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<4x64x16xf32>) outs(%e[m, n0, n1], fresh add %s0[m, n0] : tensor<8x4x64xf32>, tensor<8x4xf32>) {
  ^bb0(%c: f32):
    %0 = arith.mulf %c, %c : f32
    coda.yield %c, %0 : f32, f32
  }
  %y = coda.map ins(%x[m0, m1, n], %s[m0, m1] : tensor<8x4x64xf32>, tensor<8x4xf32>) outs(%e[m0, m1, n] : tensor<8x4x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y, %s : tensor<8x4x64xf32>, tensor<8x4xf32>
}

// -----

// So is that of a row that a tile holds, if nobody else reads it.
// CHECK-LABEL: func.func @narrow_row(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<128x16xf32>, %[[E:.*]]: tensor<8x128xf32>
// CHECK:       coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-NEXT:    outs(%[[E]][m, n] :
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32):
// CHECK-NEXT:    %[[G:.*]] = coda.group_reduce add %[[C]] over [n] : f32
// CHECK-NEXT:    arith.divf %[[C]], %[[G]] : f32
// CHECK-NOT:   coda.map
func.func @narrow_row(%a: tensor<8x16xf32>, %b: tensor<128x16xf32>, %e: tensor<8x128xf32>, %s0: tensor<8xf32>) -> tensor<8x128xf32> {
  %x, %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<128x16xf32>) outs(%e[m, n], fresh add %s0[m] : tensor<8x128xf32>, tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  %y = coda.map ins(%x[m, n], %s[m] : tensor<8x128xf32>, tensor<8xf32>) outs(%e[m, n] : tensor<8x128xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x128xf32>
}

// -----

// Who reads this one's sum elsewhere has it from the tiles that make the row.
// CHECK-LABEL: func.func @no_read_row(
// CHECK:       coda.gemm
// CHECK:       coda.map
func.func @no_read_row(%a: tensor<8x16xf32>, %b: tensor<128x16xf32>, %e: tensor<8x128xf32>, %s0: tensor<8xf32>) -> (tensor<8x128xf32>, tensor<8xf32>) {
  // expected-note @below {{because of this op}}
  %x, %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<128x16xf32>) outs(%e[m, n], fresh add %s0[m] : tensor<8x128xf32>, tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: producer-partial-sum}}
  %y = coda.map ins(%x[m, n], %s[m] : tensor<8x128xf32>, tensor<8xf32>) outs(%e[m, n] : tensor<8x128xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y, %s : tensor<8x128xf32>, tensor<8xf32>
}

// -----

// Of a head's columns, a sum that takes part in one: it is more than the group's.
// CHECK-LABEL: func.func @no_init(
// CHECK:       coda.gemm
// CHECK:       coda.map
func.func @no_init(%a: tensor<8x16xf32>, %b: tensor<4x64x16xf32>, %e: tensor<8x4x64xf32>, %s0: tensor<8x4xf32>) -> tensor<8x4x64xf32> {
  // expected-note @below {{because of this op}}
  %x, %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<4x64x16xf32>) outs(%e[m, n0, n1], add %s0[m, n0] : tensor<8x4x64xf32>, tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: producer-partial-sum}}
  %y = coda.map ins(%x[m0, m1, n], %s[m0, m1] : tensor<8x4x64xf32>, tensor<8x4xf32>) outs(%e[m0, m1, n] : tensor<8x4x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x4x64xf32>
}

// -----

// A sum over the heads, for each of their columns, is of no run of columns.
// CHECK-LABEL: func.func @no_run(
// CHECK:       coda.gemm
// CHECK:       coda.map
func.func @no_run(%a: tensor<8x16xf32>, %b: tensor<4x64x16xf32>, %e: tensor<8x4x64xf32>, %s0: tensor<8x64xf32>) -> tensor<8x4x64xf32> {
  // expected-note @below {{because of this op}}
  %x, %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<4x64x16xf32>) outs(%e[m, n0, n1], fresh add %s0[m, n1] : tensor<8x4x64xf32>, tensor<8x64xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: producer-partial-sum}}
  %y = coda.map ins(%x[m, n0, n1], %s[m, n1] : tensor<8x4x64xf32>, tensor<8x64xf32>) outs(%e[m, n0, n1] : tensor<8x4x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x4x64xf32>
}

// -----

// Columns of which only a call shows the number are no group.
// CHECK-LABEL: func.func @no_dynamic_group(
// CHECK:       coda.gemm
// CHECK:       coda.map
func.func @no_dynamic_group(%a: tensor<8x16xf32>, %b: tensor<4x?x16xf32>, %e: tensor<8x4x?xf32>, %s0: tensor<8x4xf32>) -> tensor<8x4x?xf32> {
  // expected-note @below {{because of this op}}
  %x, %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<4x?x16xf32>) outs(%e[m, n0, n1], fresh add %s0[m, n0] : tensor<8x4x?xf32>, tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: dynamic-group}}
  %y = coda.map ins(%x[m, n0, n1], %s[m, n0] : tensor<8x4x?xf32>, tensor<8x4xf32>) outs(%e[m, n0, n1] : tensor<8x4x?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    coda.yield %0 : f32
  }
  return %y : tensor<8x4x?xf32>
}

// -----

// Two accumulators, each with a head of 256 columns, do not fit a tile.
// CHECK-LABEL: func.func @no_room(
// CHECK-COUNT-2: coda.gemm
func.func @no_room(%a: tensor<8x16xf32>, %b: tensor<4x256x16xf32>, %e: tensor<8x4x256xf32>, %s0: tensor<8x4xf32>) -> tensor<8x4x256xf32> {
  %x, %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<4x256x16xf32>) outs(%e[m, n0, n1], fresh add %s0[m, n0] : tensor<8x4x256xf32>, tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  %y = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<4x256x16xf32>) ins(%x[m, n0, n1], %s[m, n0] : tensor<8x4x256xf32>, tensor<8x4xf32>) outs(%e[m, n0, n1] : tensor<8x4x256xf32>) {
  ^bb0(%c: f32, %p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    %1 = arith.mulf %0, %c : f32
    coda.yield %1 : f32
  }
  return %y : tensor<8x4x256xf32>
}

// -----

// A group goes over the dim that the reader unrolls: it is one of what the points
// add up to, over the dims that are left, if any. That is another order of its sum.
// CHECK-LABEL: func.func @group(
// CHECK-SAME:    %[[V:.*]]: tensor<8x4x3x2xf32>
// CHECK:       coda.map
// CHECK-NEXT:    ins(%[[V]][m, n0, n1, u] :
// CHECK-NEXT:    outs(%[[V]][m, n0, n1, u] :
// CHECK-NEXT:  ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
// CHECK-NEXT:    %[[G:.*]] = coda.group_reduce add %[[S]] over [n1] : f32
// CHECK-NEXT:    %[[P1:.*]] = arith.divf %[[P]], %[[G]] : f32
// CHECK-NEXT:    %[[P2:.*]] = arith.divf %[[P1]], %[[S]] : f32
// CHECK-NEXT:    %[[Q1:.*]] = arith.divf %[[Q]], %[[G]] : f32
// CHECK-NEXT:    %[[Q2:.*]] = arith.divf %[[Q1]], %[[S]] : f32
// CHECK-NEXT:    %[[X:.*]] = arith.addf %[[P2]], %[[Q2]] : f32
// CHECK-NEXT:    coda.yield %[[X]], %[[Q2]] : f32, f32
// CHECK-NOT:   coda.map
// STRICT-LABEL: func.func @group(
// STRICT:      coda.group_reduce add %{{.*}} over [n1, n2]
// STRICT:      coda.group_reduce add %{{.*}} over [n2]
// STRICT:      coda.map
func.func @group(%v: tensor<8x4x3x2xf32>) -> tensor<8x4x3x2xf32> {
  %y = coda.map ins(%v[m, n0, n1, n2] : tensor<8x4x3x2xf32>) outs(%v[m, n0, n1, n2] : tensor<8x4x3x2xf32>) {
  ^bb0(%p: f32):
    %g = coda.group_reduce add %p over [n1, n2] : f32
    %h = coda.group_reduce add %p over [n2] : f32
    %0 = arith.divf %p, %g : f32
    %1 = arith.divf %0, %h : f32
    coda.yield %1 : f32
  }
  %x = coda.map ins(%y[m, n0, n1, u] : tensor<8x4x3x2xf32>) outs(%v[m, n0, n1, u] : tensor<8x4x3x2xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0, %q : f32, f32
  }
  return %x : tensor<8x4x3x2xf32>
}

// -----

// One that goes over the others needs twice the columns.
// CHECK-LABEL: func.func @no_room_unrolled(
// CHECK:       coda.gemm
// CHECK:       coda.map
func.func @no_room_unrolled(%a: tensor<8x16xf32>, %b: tensor<2x256x16xf32>, %e: tensor<8x2x256xf32>) -> tensor<8x2x256xf32> {
  // expected-note @below {{because of this op}}
  %y = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<8x16xf32>, tensor<2x256x16xf32>) outs(%e[m, n0, n1] : tensor<8x2x256xf32>) {
  ^bb0(%p: f32):
    %g = coda.group_reduce add %p over [n1] : f32
    %0 = arith.divf %p, %g : f32
    coda.yield %0 : f32
  }
  // expected-remark @below {{[coda-fuse] not fused with the producer: resource-bound}}
  %x = coda.map ins(%y[m, u, n] : tensor<8x2x256xf32>) outs(%e[m, u, n] : tensor<8x2x256xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    coda.yield %0, %q : f32, f32
  }
  return %x : tensor<8x2x256xf32>
}
