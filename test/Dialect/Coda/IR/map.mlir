// RUN: coda-opt %s | FileCheck %s
// RUN: coda-opt %s | coda-opt | FileCheck %s
// RUN: coda-opt %s -mlir-print-op-generic | coda-opt | FileCheck %s

// Row sums of squares.
// CHECK-LABEL: func.func @statistics(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<64x16xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<64xf32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n] : tensor<64x16xf32>)
// CHECK-NEXT:     outs(fresh add %[[ARG1]][m] : tensor<64xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:   coda.yield %[[V1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<64xf32>
// CHECK-NEXT: }
func.func @statistics(%x: tensor<64x16xf32>, %s0: tensor<64xf32>) -> tensor<64xf32> {
  %ss = coda.map ins(%x[m, n] : tensor<64x16xf32>)
      outs(fresh add %s0[m] : tensor<64xf32>) {
  ^bb0(%v: f32):
    %sq = arith.mulf %v, %v : f32
    coda.yield %sq : f32
  }
  return %ss : tensor<64xf32>
}

// A pair of u points, loads of either, an index, any element type.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<?x2x4xbf16>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<?xi64>
// CHECK-SAME:    %[[ARG2:[a-zA-Z0-9_]+]]: tensor<?x4x2xf32>
// CHECK-SAME:    %[[ARG3:[a-zA-Z0-9_]+]]: tensor<?x4xi1>
// CHECK-NEXT: %[[V0:.+]]:2 = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, u, n], %[[ARG1]][m] : tensor<?x2x4xbf16>, tensor<?xi64>)
// CHECK-NEXT:     outs(%[[ARG2]][m, n, u], %[[ARG3]][m, n] : tensor<?x4x2xf32>, tensor<?x4xi1>) {
// CHECK-NEXT: ^bb0(%[[ARG4:.+]]: bf16, %[[ARG5:.+]]: bf16, %[[ARG6:.+]]: i64):
// CHECK-NEXT:   %[[V1:.+]] = coda.index n
// CHECK-NEXT:   %[[V2:.+]] = arith.index_cast %[[ARG6]] : i64 to index
// CHECK-NEXT:   %[[V3:.+]] = arith.cmpi eq, %[[V1]], %[[V2]] : index
// CHECK-NEXT:   %[[V4:.+]] = arith.extf %[[ARG4]] : bf16 to f32
// CHECK-NEXT:   %[[V5:.+]] = arith.extf %[[ARG5]] : bf16 to f32
// CHECK-NEXT:   coda.yield %[[V5]], %[[V4]], %[[V3]] : f32, f32, i1
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1 : tensor<?x4x2xf32>, tensor<?x4xi1>
// CHECK-NEXT: }
func.func @pairs(%x: tensor<?x2x4xbf16>, %t: tensor<?xi64>, %o0: tensor<?x4x2xf32>,
    %i0: tensor<?x4xi1>) -> (tensor<?x4x2xf32>, tensor<?x4xi1>) {
  %0:2 = coda.map ins(%x[m, u, n], %t[m] : tensor<?x2x4xbf16>, tensor<?xi64>)
      outs(%o0[m, n, u], %i0[m, n] : tensor<?x4x2xf32>, tensor<?x4xi1>) {
  ^bb0(%a: bf16, %b: bf16, %target: i64):
    %i = coda.index n
    %c = arith.index_cast %target : i64 to index
    %hit = arith.cmpi eq, %i, %c : index
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    coda.yield %bf, %af, %hit : f32, f32, i1
  }
  return %0#0, %0#1 : tensor<?x4x2xf32>, tensor<?x4xi1>
}

// Nothing is loaded.
// CHECK-LABEL: func.func @iota(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<5xindex>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     outs(%[[ARG0]][n] : tensor<5xindex>) {
// CHECK-NEXT:   %[[V1:.+]] = coda.index n
// CHECK-NEXT:   coda.yield %[[V1]] : index
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<5xindex>
// CHECK-NEXT: }
func.func @iota(%o: tensor<5xindex>) -> tensor<5xindex> {
  %0 = coda.map outs(%o[n] : tensor<5xindex>) {
    %i = coda.index n
    coda.yield %i : index
  }
  return %0 : tensor<5xindex>
}

// Rank 0.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: tensor<f32>
// CHECK-NEXT: %[[V0:.+]] = coda.map
// CHECK-NEXT:     ins(%[[ARG0]][] : tensor<f32>)
// CHECK-NEXT:     outs(%[[ARG1]][] : tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32):
// CHECK-NEXT:   %[[V1:.+]] = arith.negf %[[ARG2]] : f32
// CHECK-NEXT:   coda.yield %[[V1]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]] : tensor<f32>
// CHECK-NEXT: }
func.func @scalar(%x: tensor<f32>, %o: tensor<f32>) -> tensor<f32> {
  %0 = coda.map ins(%x[] : tensor<f32>) outs(%o[] : tensor<f32>) {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    coda.yield %n : f32
  }
  return %0 : tensor<f32>
}

// Partials combined by a maximum, in place on memrefs.
// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME:    %[[ARG0:[a-zA-Z0-9_]+]]: memref<4x6xf32>
// CHECK-SAME:    %[[ARG1:[a-zA-Z0-9_]+]]: memref<3x4xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[ARG0]][m, n], max %[[ARG1]][p, m] : memref<4x6xf32>, memref<3x4xf32>)
// CHECK-NEXT:     outs(%[[ARG0]][m, n] : memref<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32):
// CHECK-NEXT:   %[[V0:.+]] = arith.subf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:   coda.yield %[[V0]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @memrefs(%x: memref<4x6xf32>, %p: memref<3x4xf32>) {
  coda.map ins(%x[m, n], max %p[p, m] : memref<4x6xf32>, memref<3x4xf32>)
      outs(%x[m, n] : memref<4x6xf32>) {
  ^bb0(%v: f32, %top: f32):
    %d = arith.subf %v, %top : f32
    coda.yield %d : f32
  }
  return
}

// Groups of 128 points, the last one of fewer: per group of rows, of a number that
// is not known, and of columns.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x300xf32>, %[[P:[a-z0-9]+]]: tensor<?x300xf32>, %[[Q:[a-z0-9]+]]: tensor<3x?xf32>
// CHECK-NEXT: coda.map
// CHECK-NEXT:     ins(%[[X]][m, n] : tensor<?x300xf32>)
// CHECK-NEXT:     outs(add %[[P]][m floordiv 128, n], fresh max %[[Q]][n floordiv 128, m] : tensor<?x300xf32>, tensor<3x?xf32>) {
func.func @groups(%x: tensor<?x300xf32>, %p: tensor<?x300xf32>, %q: tensor<3x?xf32>) -> (tensor<?x300xf32>, tensor<3x?xf32>) {
  %r:2 = coda.map ins(%x[m, n] : tensor<?x300xf32>)
      outs(add %p[m floordiv 128, n], fresh max %q[n floordiv 128, m] : tensor<?x300xf32>, tensor<3x?xf32>) {
  ^bb0(%v: f32):
    coda.yield %v, %v : f32, f32
  }
  return %r#0, %r#1 : tensor<?x300xf32>, tensor<3x?xf32>
}
