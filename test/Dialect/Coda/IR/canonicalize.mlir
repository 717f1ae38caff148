// RUN: coda-opt %s -canonicalize | FileCheck %s

// A reduction of what is filled with the identity is fresh.
// CHECK-LABEL: func.func @mark_fresh(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(fresh add %[[ARG1]][m] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @mark_fresh(%x: tensor<4x6xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(add %s0[m] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// Each combiner has its own identity: -inf here.
// CHECK-LABEL: func.func @mark_fresh_infinity(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(fresh max %[[ARG1]][m], fresh logaddexp %[[ARG1]][m] : tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]], %[[ARG2]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @mark_fresh_infinity(%x: tensor<4x6xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %s0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = coda.map ins(%x[m, n] : tensor<4x6xf32>)
      outs(max %s0[m], logaddexp %s0[m] : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v, %v : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @mark_fresh_constant(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(fresh add %[[V0]][m] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @mark_fresh_constant(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %s0 = arith.constant dense<0.0> : tensor<4xf32>
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(add %s0[m] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// Not the identity: the init takes part.
// CHECK-LABEL: func.func @no_fresh_other_value(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[CST_0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[V0:.+]] = linalg.fill ins(%[[CST]] : f32) outs(%[[ARG1]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = linalg.fill ins(%[[CST_0]] : f32) outs(%[[ARG1]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(add %[[V0]][m], max %[[V1]][m] : tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]], %[[ARG2]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V2]]#0, %[[V2]]#1 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @no_fresh_other_value(%x: tensor<4x6xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = coda.map ins(%x[m, n] : tensor<4x6xf32>)
      outs(add %s0[m], max %m0[m] : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v, %v : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @no_fresh_unknown(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: f32
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = linalg.fill ins(%[[ARG2]] : f32) outs(%[[ARG3]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(add %[[ARG1]][m], add %[[V0]][m] : tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG4:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG4]], %[[ARG4]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]#0, %[[V1]]#1 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @no_fresh_unknown(%x: tensor<4x6xf32>, %s0: tensor<4xf32>, %value: f32, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t0 = linalg.fill ins(%value : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = coda.map ins(%x[m, n] : tensor<4x6xf32>)
      outs(add %s0[m], add %t0[m] : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v, %v : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @no_fresh_mixed_constant(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x6xf32>
// CHECK-NEXT: %[[CST:.+]] = arith.constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<2x6xf32>)
// CHECK-NEXT:     outs(add %[[CST]][m] : tensor<2xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<2xf32>
// CHECK-NEXT: }
func.func @no_fresh_mixed_constant(%x: tensor<2x6xf32>) -> tensor<2xf32> {
  %s0 = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = coda.map ins(%x[m, n] : tensor<2x6xf32>) outs(add %s0[m] : tensor<2xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<2xf32>
}

// What a store or a fresh reduction starts from need not be filled at all.
// CHECK-LABEL: func.func @unread_init(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: f32
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(%[[ARG2]][m, n], fresh max %[[ARG3]][m] : tensor<4x6xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG4:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG4]], %[[ARG4]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<4x6xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @unread_init(%x: tensor<4x6xf32>, %value: f32, %e: tensor<4x6xf32>, %f: tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
  %o0 = linalg.fill ins(%value : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s0 = linalg.fill ins(%value : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = coda.map ins(%x[m, n] : tensor<4x6xf32>)
      outs(%o0[m, n], fresh max %s0[m] : tensor<4x6xf32>, tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v, %v : f32, f32
  }
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4xf32>
}

// A result that nobody reads goes, with the loads and region ops for it.
// CHECK-LABEL: func.func @drop_unused(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8x6xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<6xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
// CHECK-NEXT:     outs(add %[[ARG4]][m] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG5:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.mulf %[[ARG5]], %[[ARG5]] : f32
// CHECK-NEXT:   coda.yield %[[V1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @drop_unused(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %w: tensor<6xf32>, %o: tensor<4x6xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%w[n] : tensor<6xf32>)
      outs(%o[m, n], add %s[m] : tensor<4x6xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %x, %x : f32
    coda.yield %p, %q : f32, f32
  }
  return %0#1 : tensor<4xf32>
}

// The load is not read but gives the number of points.
// CHECK-LABEL: func.func @keep_extent(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x?xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<?x?xf32>)
// CHECK-NEXT:     outs(add %[[ARG1]][m] : tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   coda.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<?xf32>
// CHECK-NEXT: }
func.func @keep_extent(%x: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {
  %0 = coda.map ins(%x[m, n] : tensor<?x?xf32>) outs(add %s[m] : tensor<?xf32>) {
  ^bb0(%v: f32):
    %one = arith.constant 1.0 : f32
    coda.yield %one : f32
  }
  return %0 : tensor<?xf32>
}

// So does the dropped output's load: that output goes alone.
// CHECK-LABEL: func.func @keep_extent_drop_output(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x?xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<?x?xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<?x?xf32>)
// CHECK-NEXT:     outs(add %[[ARG1]][m] : tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   coda.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<?xf32>
// CHECK-NEXT: }
func.func @keep_extent_drop_output(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %o: tensor<?x?xf32>) -> tensor<?xf32> {
  %0:2 = coda.map ins(%x[m, n] : tensor<?x?xf32>)
      outs(add %s[m], %o[m, n] : tensor<?xf32>, tensor<?x?xf32>) {
  ^bb0(%v: f32):
    %one = arith.constant 1.0 : f32
    coda.yield %one, %v : f32, f32
  }
  return %0#0 : tensor<?xf32>
}

// The group needs the static extent that only the unread load has.
// CHECK-LABEL: func.func @keep_group_extent(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x?xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<?x?xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG1]][n] : tensor<?x?xf32>, tensor<4xf32>)
// CHECK-NEXT:     outs(%[[ARG2]][m, n] : tensor<?x?xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32, %[[ARG4:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = coda.group_reduce add %[[ARG3]] over [n] : f32
// CHECK-NEXT:   coda.yield %[[V1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<?x?xf32>
// CHECK-NEXT: }
func.func @keep_group_extent(%x: tensor<?x?xf32>, %w: tensor<4xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = coda.map ins(%x[m, n], %w[n] : tensor<?x?xf32>, tensor<4xf32>)
      outs(%o[m, n] : tensor<?x?xf32>) {
  ^bb0(%v: f32, %unread: f32):
    %g = coda.group_reduce add %v over [n] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<?x?xf32>
}

// One value, one map: one load.
// CHECK-LABEL: func.func @merge_loads(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<6xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG1]][n] : tensor<4x6xf32>, tensor<6xf32>)
// CHECK-NEXT:     outs(%[[ARG2]][m, n] : tensor<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32, %[[ARG4:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.mulf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:   %[[V2:.+]] = arith.subf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:   coda.yield %[[V2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4x6xf32>
// CHECK-NEXT: }
func.func @merge_loads(%x: tensor<4x6xf32>, %w: tensor<6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.map ins(%x[m, n], %w[n], %x[m, n] : tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%v: f32, %s: f32, %v2: f32):
    %p = arith.mulf %v, %s : f32
    %q = arith.subf %v2, %p : f32
    coda.yield %q : f32
  }
  return %0 : tensor<4x6xf32>
}

// Another map, or another combiner: another value.
// CHECK-LABEL: func.func @no_merge(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4x4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], %[[ARG0]][n, m], add %[[ARG2]][p, n], max %[[ARG2]][p, n] : tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][m, n] : tensor<4x4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32, %[[ARG4:.+]]: f32, %[[ARG5:.+]]: f32, %[[ARG6:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.subf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:   %[[V2:.+]] = arith.subf %[[ARG5]], %[[ARG6]] : f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:   coda.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4x4xf32>
// CHECK-NEXT: }
func.func @no_merge(%x: tensor<4x4xf32>, %o: tensor<4x4xf32>, %p: tensor<3x4xf32>) -> tensor<4x4xf32> {
  %0 = coda.map ins(%x[m, n], %x[n, m], add %p[p, n], max %p[p, n]
           : tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
      outs(%o[m, n] : tensor<4x4xf32>) {
  ^bb0(%v: f32, %t: f32, %a: f32, %b: f32):
    %d = arith.subf %v, %t : f32
    %e = arith.subf %a, %b : f32
    %f = arith.mulf %d, %e : f32
    coda.yield %f : f32
  }
  return %0 : tensor<4x4xf32>
}

// Static extents reach the op through casts.
// CHECK-LABEL: func.func @fold_cast(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][m, n] : tensor<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[CAST:.+]] = tensor.cast %[[V0]] : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT: return %[[CAST]] : tensor<?x?xf32>
// CHECK-NEXT: }
func.func @fold_cast(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>) -> tensor<?x?xf32> {
  %xd = tensor.cast %x : tensor<4x6xf32> to tensor<?x?xf32>
  %od = tensor.cast %o : tensor<4x6xf32> to tensor<?x?xf32>
  %0 = coda.map ins(%xd[m, n] : tensor<?x?xf32>) outs(%od[m, n] : tensor<?x?xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<?x?xf32>
}

// Rounding is not undone.
// CHECK-LABEL: func.func @no_fold_rounding(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.truncf %[[ARG2]] : f32 to bf16
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[V1]] : bf16 to f32
// CHECK-NEXT:   coda.yield %[[V2]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @no_fold_rounding(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    %b = arith.truncf %v : f32 to bf16
    %f = arith.extf %b : bf16 to f32
    coda.yield %f : f32
  }
  return %0 : tensor<4xf32>
}

// A dead op goes; one on memrefs is never dead.
// CHECK-LABEL: func.func @dead(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     outs(%[[ARG2]][n] : memref<4xf32>) {
// CHECK-NEXT:   %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   coda.yield %[[CST]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @dead(%x: tensor<4xf32>, %o: tensor<4xf32>, %m: memref<4xf32>) {
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  coda.map outs(%m[n] : memref<4xf32>) {
    %one = arith.constant 1.0 : f32
    coda.yield %one : f32
  }
  return
}

// The member that gives no read result leaves the bundle.
// CHECK-LABEL: func.func @bundle_dead_result(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> attributes {note = "kept"} {
// CHECK-NEXT:   %[[V1:.+]] = coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:       outs(%[[ARG1]][n] : tensor<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:     %[[V3:.+]] = arith.negf %[[ARG2]] : f32
// CHECK-NEXT:     coda.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:       outs(%[[ARG1]][n] : tensor<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG2]]: f32):
// CHECK-NEXT:     %[[V3]] = math.sqrt %[[ARG2]] : f32
// CHECK-NEXT:     coda.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield %[[V1]], %[[V2]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @bundle_dead_result(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:3 = coda.bundle -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32> attributes {note = "kept"} {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %w = arith.negf %v : f32
      coda.yield %w : f32
    }
    %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %w = math.exp %v : f32
      coda.yield %w : f32
    }
    %3 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %w = math.sqrt %v : f32
      coda.yield %w : f32
    }
    coda.yield %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#2 : tensor<4xf32>, tensor<4xf32>
}

// One member needs no bundle.
// CHECK-LABEL: func.func @bundle_of_one(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:     outs(%[[ARG1]][n] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.negf %[[ARG2]] : f32
// CHECK-NEXT:   coda.yield %[[V1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @bundle_of_one(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %w = arith.negf %v : f32
      coda.yield %w : f32
    }
    %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @bundle_kept(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: memref<4xf32>
// CHECK-NEXT: coda.bundle {
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : memref<4xf32>)
// CHECK-NEXT:       outs(%[[ARG1]][n] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG3:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : memref<4xf32>)
// CHECK-NEXT:       outs(%[[ARG2]][n] : memref<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG3]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @bundle_kept(%x: memref<4xf32>, %o: memref<4xf32>, %p: memref<4xf32>) {
  coda.bundle {
    coda.map ins(%x[n] : memref<4xf32>) outs(%o[n] : memref<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.map ins(%x[n] : memref<4xf32>) outs(%p[n] : memref<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield
  }
  return
}

// Casts of inits are folded without a cast staying in the bundle; constants
// and their replacements are outside of it.
// CHECK-LABEL: func.func @bundle_casts(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]]:2 = coda.bundle -> tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT:   %[[V2:.+]] = coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:       outs(%[[ARG1]][n] : tensor<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:     coda.yield %[[ARG2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = coda.map
// CHECK-NEXT:       ins(%[[ARG0]][n] : tensor<4xf32>)
// CHECK-NEXT:       outs(%[[V0]][n] : tensor<4xf32>) {
// CHECK-NEXT:   ^bb0(%[[ARG2]]: f32):
// CHECK-NEXT:     %[[V4:.+]] = arith.negf %[[ARG2]] : f32
// CHECK-NEXT:     coda.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   coda.yield %[[V2]], %[[V3]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[CAST:.+]] = tensor.cast %[[V1]]#0 : tensor<4xf32> to tensor<?xf32>
// CHECK-NEXT: return %[[CAST]], %[[V1]]#1 : tensor<?xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @bundle_casts(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  %od = tensor.cast %o : tensor<4xf32> to tensor<?xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0:2 = coda.bundle -> tensor<?xf32>, tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%od[n] : tensor<?xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%zero[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      %w = arith.negf %v : f32
      coda.yield %w : f32
    }
    coda.yield %1, %2 : tensor<?xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<?xf32>, tensor<4xf32>
}

// Two fresh sums of one value are one; of two values, by two combiners or into
// an init they are two.
// CHECK-LABEL: func.func @merge_reductions(
// CHECK-SAME:    %[[X:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[E:[a-zA-Z0-9_]+]]: tensor<4xf32>
// CHECK:       %[[R:.+]]:4 = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n] : tensor<4x6xf32>)
// CHECK-NEXT:    outs(fresh add %[[E]][m], add %[[E]][m], fresh max %[[E]][m], fresh add %[[E]][m] :
// CHECK:         %[[N:.+]] = arith.negf
// CHECK:         coda.yield %[[V:.+]], %[[V]], %[[V]], %[[N]] :
// CHECK:       return %[[R]]#0, %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3
func.func @merge_reductions(%x: tensor<4x6xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:5 = coda.map ins(%x[m, n] : tensor<4x6xf32>)
      outs(fresh add %e[m], fresh add %e[m], add %e[m], fresh max %e[m], fresh add %e[m] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    coda.yield %v, %v, %v, %v, %n : f32, f32, f32, f32, f32
  }
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}


// Two stores of one value at the same points are one.
// CHECK-LABEL: func.func @same_stores(
// CHECK:       %[[Y:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n] : tensor<8x4xf32>)
// CHECK-NEXT:    outs(%{{.*}}[m, n] : tensor<8x4xf32>)
// CHECK:       linalg.matmul {{.*}} ins(%[[Y]], %[[Y]] :
func.func @same_stores(%x: tensor<8x4xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %y:2 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n], %e[m, n] : tensor<8x4xf32>, tensor<8x4xf32>) {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    coda.yield %v, %v : f32, f32
  }
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%y#0, %y#1 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}


// One that is returned, or rounded, is another one.
// CHECK-LABEL: func.func @no_same_stores(
// CHECK:       %[[Y:.*]]:3 = coda.map
// CHECK:       %[[V:.*]] = tensor.expand_shape %[[Y]]#1
// CHECK:       return %[[Y]]#0, %[[V]], %[[Y]]#2
func.func @no_same_stores(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<8x4xbf16>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %f = tensor.empty() : tensor<8x4xbf16>
  %y:3 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n], %e[m, n], %f[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xbf16>) {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    %w = arith.truncf %v : f32 to bf16
    coda.yield %v, %v, %w : f32, f32, bf16
  }
  %u = tensor.expand_shape %y#1 [[0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
  return %y#0, %u, %y#2 : tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<8x4xbf16>
}
