// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// A plain product; the weight as [k, n].
// CHECK-LABEL: func.func @plain(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<8x6xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
// CHECK-NEXT:     outs(%[[ARG2]][m, n] : tensor<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG3:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4x6xf32>
// CHECK-NEXT: }
func.func @plain(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// Loads, a broadcast load, two stores and a reduction; dynamic rows; the
// weight as [n, k].
// CHECK-LABEL: func.func @residual_statistics(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x32xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<16x32xbf16>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<?x16xbf16>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<16xbf16>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<?x16xbf16>
// CHECK-SAME:    %[[ARG5:[a-zA-Z0-9_]+]]: tensor<?x16xbf16>
// CHECK-SAME:    %[[ARG6:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-NEXT: %[[V0:.+]]:3 = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][n, k] : tensor<?x32xbf16>, tensor<16x32xbf16>)
// CHECK-NEXT:     ins(%[[ARG2]][m, n], %[[ARG3]][n] : tensor<?x16xbf16>, tensor<16xbf16>)
// CHECK-NEXT:     outs(%[[ARG4]][m, n], %[[ARG5]][m, n], add %[[ARG6]][m] : tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG7:.+]]: f32, %[[ARG8:.+]]: bf16, %[[ARG9:.+]]: bf16):
// CHECK-NEXT:   %[[V1:.+]] = arith.extf %[[ARG8]] : bf16 to f32
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[ARG9]] : bf16 to f32
// CHECK-NEXT:   %[[V3:.+]] = arith.addf %[[ARG7]], %[[V1]] : f32
// CHECK-NEXT:   %[[V4:.+]] = arith.mulf %[[V3]], %[[V2]] : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.mulf %[[V3]], %[[V3]] : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.truncf %[[V3]] : f32 to bf16
// CHECK-NEXT:   %[[V7:.+]] = arith.truncf %[[V4]] : f32 to bf16
// CHECK-NEXT:   coda.yield %[[V6]], %[[V7]], %[[V5]] : bf16, bf16, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1, %[[V0]]#2 : tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?xf32>
// CHECK-NEXT: }
func.func @residual_statistics(%y: tensor<?x32xbf16>, %wo: tensor<16x32xbf16>,
    %res: tensor<?x16xbf16>, %w: tensor<16xbf16>, %x0: tensor<?x16xbf16>,
    %h0: tensor<?x16xbf16>, %s0: tensor<?xf32>)
    -> (tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?xf32>) {
  %x, %h, %ss = coda.gemm
      acc(%y[m, k] * %wo[n, k] : tensor<?x32xbf16>, tensor<16x32xbf16>)
      ins(%res[m, n], %w[n] : tensor<?x16xbf16>, tensor<16xbf16>)
      outs(%x0[m, n], %h0[m, n], add %s0[m]
           : tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?xf32>) {
  ^bb0(%acc: f32, %r: bf16, %wn: bf16):
    %rf = arith.extf %r : bf16 to f32
    %wf = arith.extf %wn : bf16 to f32
    %xf = arith.addf %acc, %rf : f32
    %hf = arith.mulf %xf, %wf : f32
    %sq = arith.mulf %xf, %xf : f32
    %xb = arith.truncf %xf : f32 to bf16
    %hb = arith.truncf %hf : f32 to bf16
    coda.yield %xb, %hb, %sq : bf16, bf16, f32
  }
  return %x, %h, %ss : tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?xf32>
}

// Two accumulators that share the k loop.
// CHECK-LABEL: func.func @two_accumulators(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x8xf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<6x8xf16>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<6x8xf16>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<4x6xf16>
// CHECK-NEXT: %[[V0:.+]] = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][n, k], %[[ARG0]][m, k] * %[[ARG2]][n, k] : tensor<4x8xf16>, tensor<6x8xf16>, tensor<4x8xf16>, tensor<6x8xf16>)
// CHECK-NEXT:     outs(%[[ARG3]][m, n] : tensor<4x6xf16>) {
// CHECK-NEXT: ^bb0(%[[ARG4:.+]]: f32, %[[ARG5:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.mulf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:   %[[V2:.+]] = arith.truncf %[[V1]] : f32 to f16
// CHECK-NEXT:   coda.yield %[[V2]] : f16
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4x6xf16>
// CHECK-NEXT: }
func.func @two_accumulators(%h: tensor<4x8xf16>, %wg: tensor<6x8xf16>, %wu: tensor<6x8xf16>,
    %o: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %0 = coda.gemm
      acc(%h[m, k] * %wg[n, k], %h[m, k] * %wu[n, k]
          : tensor<4x8xf16>, tensor<6x8xf16>, tensor<4x8xf16>, tensor<6x8xf16>)
      outs(%o[m, n] : tensor<4x6xf16>) {
  ^bb0(%g: f32, %u: f32):
    %p = arith.mulf %g, %u : f32
    %b = arith.truncf %p : f32 to f16
    coda.yield %b : f16
  }
  return %0 : tensor<4x6xf16>
}

// One accumulator of two products, over contraction dims of their own, and a
// column reduction.
// CHECK-LABEL: func.func @two_products(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<4x5xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<8x6xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<5x6xf32>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-SAME:    %[[ARG5:[a-zA-Z0-9_]+]]: tensor<6xf32>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k0] * %[[ARG2]][k0, n] + %[[ARG1]][m, k1] * %[[ARG3]][k1, n] : tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x5xf32>, tensor<5x6xf32>)
// CHECK-NEXT:     outs(%[[ARG4]][m, n], fresh add %[[ARG5]][n] : tensor<4x6xf32>, tensor<6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG6:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG6]], %[[ARG6]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<4x6xf32>, tensor<6xf32>
// CHECK-NEXT: }
func.func @two_products(%dg: tensor<4x8xf32>, %du: tensor<4x5xf32>, %wg: tensor<8x6xf32>,
    %wu: tensor<5x6xf32>, %o: tensor<4x6xf32>, %s: tensor<6xf32>)
    -> (tensor<4x6xf32>, tensor<6xf32>) {
  %0:2 = coda.gemm
      acc(%dg[m, k0] * %wg[k0, n] + %du[m, k1] * %wu[k1, n]
          : tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x5xf32>, tensor<5x6xf32>)
      outs(%o[m, n], fresh add %s[n] : tensor<4x6xf32>, tensor<6xf32>) {
  ^bb0(%d: f32):
    coda.yield %d, %d : f32, f32
  }
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<6xf32>
}

// Several m and n dims, an unrolled pair, a permuting store, group_reduce.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x?x8xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x2x3x8xbf16>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<2x3xbf16>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<?x2x?x2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m0, m1, k] * %[[ARG1]][n0, u, n1, k] : tensor<?x?x8xbf16>, tensor<2x2x3x8xbf16>)
// CHECK-NEXT:     ins(%[[ARG2]][u, n1] : tensor<2x3xbf16>)
// CHECK-NEXT:     outs(%[[ARG3]][m0, n0, m1, u, n1] : tensor<?x2x?x2x3xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG4:.+]]: f32, %[[ARG5:.+]]: f32, %[[ARG6:.+]]: bf16, %[[ARG7:.+]]: bf16):
// CHECK-NEXT:   %[[V1:.+]] = arith.extf %[[ARG6]] : bf16 to f32
// CHECK-NEXT:   %[[V2:.+]] = arith.extf %[[ARG7]] : bf16 to f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:   %[[V4:.+]] = coda.group_reduce add %[[V3]] over [n1] : f32
// CHECK-NEXT:   %[[V5:.+]] = arith.mulf %[[V1]], %[[V4]] : f32
// CHECK-NEXT:   %[[V6:.+]] = arith.mulf %[[V2]], %[[V4]] : f32
// CHECK-NEXT:   coda.yield %[[V5]], %[[V6]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<?x2x?x2x3xf32>
// CHECK-NEXT: }
func.func @heads(%h: tensor<?x?x8xbf16>, %wq: tensor<2x2x3x8xbf16>, %ga: tensor<2x3xbf16>,
    %q0: tensor<?x2x?x2x3xf32>) -> tensor<?x2x?x2x3xf32> {
  %0 = coda.gemm
      acc(%h[m0, m1, k] * %wq[n0, u, n1, k] : tensor<?x?x8xbf16>, tensor<2x2x3x8xbf16>)
      ins(%ga[u, n1] : tensor<2x3xbf16>)
      outs(%q0[m0, n0, m1, u, n1] : tensor<?x2x?x2x3xf32>) {
  ^bb0(%a0: f32, %a1: f32, %g0: bf16, %g1: bf16):
    %f0 = arith.extf %g0 : bf16 to f32
    %f1 = arith.extf %g1 : bf16 to f32
    %s = arith.mulf %a0, %a1 : f32
    %t = coda.group_reduce add %s over [n1] : f32
    %x0 = arith.mulf %f0, %t : f32
    %x1 = arith.mulf %f1, %t : f32
    coda.yield %x0, %x1 : f32, f32
  }
  return %0 : tensor<?x2x?x2x3xf32>
}

// Batch dims, a combining load of partials, all combiners, reductions over
// everything.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<2x4x8xf64>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<2x8x6xf64>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<3x2x4xf64>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<2x4xf64>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<2xf64>
// CHECK-SAME:    %[[ARG5:[a-zA-Z0-9_]+]]: tensor<f64>
// CHECK-NEXT: %[[V0:.+]]:3 = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][b, m, k] * %[[ARG1]][b, k, n] : tensor<2x4x8xf64>, tensor<2x8x6xf64>)
// CHECK-NEXT:     ins(add %[[ARG2]][p, b, m] : tensor<3x2x4xf64>)
// CHECK-NEXT:     outs(logaddexp %[[ARG3]][b, m], fresh max %[[ARG4]][b], add %[[ARG5]][] : tensor<2x4xf64>, tensor<2xf64>, tensor<f64>) {
// CHECK-NEXT: ^bb0(%[[ARG6:.+]]: f64, %[[ARG7:.+]]: f64):
// CHECK-NEXT:   %[[V1:.+]] = arith.mulf %[[ARG6]], %[[ARG7]] : f64
// CHECK-NEXT:   coda.yield %[[V1]], %[[V1]], %[[V1]] : f64, f64, f64
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1, %[[V0]]#2 : tensor<2x4xf64>, tensor<2xf64>, tensor<f64>
// CHECK-NEXT: }
func.func @batch(%a: tensor<2x4x8xf64>, %b: tensor<2x8x6xf64>, %sp: tensor<3x2x4xf64>,
    %l0: tensor<2x4xf64>, %m0: tensor<2xf64>, %t0: tensor<f64>)
    -> (tensor<2x4xf64>, tensor<2xf64>, tensor<f64>) {
  %0:3 = coda.gemm
      acc(%a[b, m, k] * %b[b, k, n] : tensor<2x4x8xf64>, tensor<2x8x6xf64>)
      ins(add %sp[p, b, m] : tensor<3x2x4xf64>)
      outs(logaddexp %l0[b, m], fresh max %m0[b], add %t0[]
           : tensor<2x4xf64>, tensor<2xf64>, tensor<f64>) {
  ^bb0(%x: f64, %s: f64):
    %z = arith.mulf %x, %s : f64
    coda.yield %z, %z, %z : f64, f64, f64
  }
  return %0#0, %0#1, %0#2 : tensor<2x4xf64>, tensor<2xf64>, tensor<f64>
}

// Integers and 8-bit floats; a scalar operand; attributes.
// CHECK-LABEL: func.func @eight_bits(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<4x8xi8>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<6x8xi8>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<4x8xf8E4M3FN>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<6x8xf8E4M3FN>
// CHECK-SAME:    %[[ARG4:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-SAME:    %[[ARG5:[a-zA-Z0-9_]+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][n, k], %[[ARG2]][m, k] * %[[ARG3]][n, k] : tensor<4x8xi8>, tensor<6x8xi8>, tensor<4x8xf8E4M3FN>, tensor<6x8xf8E4M3FN>)
// CHECK-NEXT:     ins(%[[ARG4]][] : tensor<f32>)
// CHECK-NEXT:     outs(%[[ARG5]][m, n] : tensor<4x6xf32>) attributes {note = "kept"} {
// CHECK-NEXT: ^bb0(%[[ARG6:.+]]: i32, %[[ARG7:.+]]: f32, %[[ARG8:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.sitofp %[[ARG6]] : i32 to f32
// CHECK-NEXT:   %[[V2:.+]] = arith.addf %[[V1]], %[[ARG7]] : f32
// CHECK-NEXT:   %[[V3:.+]] = arith.mulf %[[V2]], %[[ARG8]] : f32
// CHECK-NEXT:   coda.yield %[[V3]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<4x6xf32>
// CHECK-NEXT: }
func.func @eight_bits(%a: tensor<4x8xi8>, %b: tensor<6x8xi8>, %c: tensor<4x8xf8E4M3FN>,
    %d: tensor<6x8xf8E4M3FN>, %scale: tensor<f32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.gemm
      acc(%a[m, k] * %b[n, k], %c[m, k] * %d[n, k]
          : tensor<4x8xi8>, tensor<6x8xi8>, tensor<4x8xf8E4M3FN>, tensor<6x8xf8E4M3FN>)
      ins(%scale[] : tensor<f32>)
      outs(%o[m, n] : tensor<4x6xf32>) attributes {note = "kept"} {
  ^bb0(%i: i32, %f: f32, %s: f32):
    %if = arith.sitofp %i : i32 to f32
    %t = arith.addf %if, %f : f32
    %u = arith.mulf %t, %s : f32
    coda.yield %u : f32
  }
  return %0 : tensor<4x6xf32>
}

// Two kinds of 8-bit floats may meet, and what is stored may be one.
// CHECK-LABEL: func.func @mixed_floats(
// CHECK-SAME:    %[[A:[a-zA-Z0-9_]+]]: tensor<?x8xf8E4M3FN>
// CHECK-SAME:    %[[B:[a-zA-Z0-9_]+]]: tensor<6x8xf8E5M2>
// CHECK-SAME:    %[[S:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-SAME:    %[[O:[a-zA-Z0-9_]+]]: tensor<?x6xf8E4M3FN>
// CHECK-SAME:    %[[M:[a-zA-Z0-9_]+]]: tensor<?xf32>
// CHECK-NEXT: coda.gemm
// CHECK-NEXT:   acc(%[[A]][m, k] * %[[B]][n, k] : tensor<?x8xf8E4M3FN>, tensor<6x8xf8E5M2>)
// CHECK-NEXT:   ins(%[[S]][m] : tensor<?xf32>)
// CHECK-NEXT:   outs(%[[O]][m, n], max %[[M]][m] : tensor<?x6xf8E4M3FN>, tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[ACC:.+]]: f32, %[[ARG:.+]]: f32):
// CHECK-NEXT:   %[[X:.+]] = arith.mulf %[[ACC]], %[[ARG]] : f32
// CHECK-NEXT:   %[[Q:.+]] = arith.truncf %[[X]] : f32 to f8E4M3FN
// CHECK-NEXT:   %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT:   coda.yield %[[Q]], %[[ABS]] : f8E4M3FN, f32
func.func @mixed_floats(%a: tensor<?x8xf8E4M3FN>, %b: tensor<6x8xf8E5M2>, %s: tensor<?xf32>,
    %o: tensor<?x6xf8E4M3FN>, %m: tensor<?xf32>) -> (tensor<?x6xf8E4M3FN>, tensor<?xf32>) {
  %0:2 = coda.gemm
      acc(%a[m, k] * %b[n, k] : tensor<?x8xf8E4M3FN>, tensor<6x8xf8E5M2>)
      ins(%s[m] : tensor<?xf32>)
      outs(%o[m, n], max %m[m] : tensor<?x6xf8E4M3FN>, tensor<?xf32>) {
  ^bb0(%acc: f32, %scale: f32):
    %x = arith.mulf %acc, %scale : f32
    %q = arith.truncf %x : f32 to f8E4M3FN
    %abs = math.absf %x : f32
    coda.yield %q, %abs : f8E4M3FN, f32
  }
  return %0#0, %0#1 : tensor<?x6xf8E4M3FN>, tensor<?xf32>
}

// On memrefs there are no results.
// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<?x8xf32, strided<[?, 1], offset: ?>>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<6x8xf32>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: memref<?x6xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: memref<?xf32>
// CHECK-NEXT: coda.gemm
// CHECK-NEXT:     acc(%[[ARG0]][m, k] * %[[ARG1]][n, k] : memref<?x8xf32, strided<[?, 1], offset: ?>>, memref<6x8xf32>)
// CHECK-NEXT:     outs(%[[ARG2]][m, n], add %[[ARG3]][m] : memref<?x6xf32>, memref<?xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG4:.+]]: f32):
// CHECK-NEXT:   coda.yield %[[ARG4]], %[[ARG4]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @memrefs(%a: memref<?x8xf32, strided<[?, 1], offset: ?>>, %b: memref<6x8xf32>,
    %o: memref<?x6xf32>, %s: memref<?xf32>) {
  coda.gemm
      acc(%a[m, k] * %b[n, k] : memref<?x8xf32, strided<[?, 1], offset: ?>>, memref<6x8xf32>)
      outs(%o[m, n], add %s[m] : memref<?x6xf32>, memref<?xf32>) {
  ^bb0(%x: f32):
    coda.yield %x, %x : f32, f32
  }
  return
}
