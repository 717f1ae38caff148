// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions),canonicalize,cse)' | FileCheck %s
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{max-partials=1}),canonicalize,cse)' | FileCheck %s --check-prefix=FINISH
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{few-rows-granule=16}),canonicalize,cse)' | FileCheck %s --check-prefix=FEW
// RUN: coda-opt %s --pass-pipeline='builtin.module(coda-fuse-pipeline)' | FileCheck %s --check-prefix=FEW
// RUN: coda-opt %s --pass-pipeline='builtin.module(coda-fuse-pipeline{numerics=batch-invariant})' | FileCheck %s --check-prefix=INVARIANT
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{ragged=false}),canonicalize,cse)' | FileCheck %s --check-prefix=WHOLE
// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{row-granule=128}),canonicalize,cse)' | FileCheck %s --check-prefix=ROWS
// RUN: not coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{granule=0}))' 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{row-granule=0}))' 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not coda-opt %s --pass-pipeline='builtin.module(func.func(coda-partition-reductions{few-rows-granule=-1}))' 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: coda-partition-reductions: granule, row-granule and max-partials must be positive, few-rows-granule must not be negative

// Sums over the columns of few rows of a product may have a granule of their own, which
// the pipeline gives them unless the bits of a row must not depend on how many there
// are. Sums over rows have not, nor those of a map, of several n dims, or of what is the
// sum of a granule already.
// FEW-LABEL: @few_rows(
// FEW:       fresh add %{{.+}}[n0, m0, m1] : tensor<16x2x32xf32>
// FEW-LABEL: @few_rows_many_columns(
// FEW:       outs(fresh add %{{.+}}[n floordiv 32, m] : tensor<128x8xf32>)
// FEW-LABEL: @more_rows(
// FEW:       fresh add %{{.+}}[n floordiv 64, m0, m1] : tensor<32x4x64xf32>
// FEW-LABEL: @many_rows(
// FEW:       fresh add %{{.+}}[n0, m0, m1] : tensor<16x16x64xf32>
// FEW-LABEL: @sum_of_granule(
// FEW:       fresh add %{{.+}}[m] : tensor<8xf32>
// FEW-LABEL: @few_rows_of_map(
// FEW:       fresh add %{{.+}}[n0, m] : tensor<16x8xf32>
// FEW-LABEL: @few_rows_of_heads(
// FEW:       fresh add %{{.+}}[n0, m] : tensor<4x8xf32>
// FEW-LABEL: @any_rows(
// FEW:       fresh add %{{.+}}[n0, m] : tensor<2x?xf32>
// FEW-LABEL: @column_sum_of_few(
// FEW:       fresh add %{{.+}}[m floordiv 64, n] : tensor<4x8xf32>
// INVARIANT-LABEL: @few_rows(
// INVARIANT:       fresh add %{{.+}}[n0, m0, m1] : tensor<2x2x32xf32>

func.func @few_rows(%x: tensor<2x32x64xf32>, %w: tensor<256x64xf32>, %s0: tensor<2x32xf32>) -> tensor<2x32xf32> {
  %s = coda.gemm acc(%x[m0, m1, k] * %w[n, k] : tensor<2x32x64xf32>, tensor<256x64xf32>) outs(fresh add %s0[m0, m1] : tensor<2x32xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<2x32xf32>
}

// As many times two of 16 as leave 128 of a row, along one dim.
func.func @few_rows_many_columns(%x: tensor<8x64xf32>, %w: tensor<4096x64xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x64xf32>, tensor<4096x64xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

// 128 tiles of 64 rows and columns.
func.func @more_rows(%x: tensor<4x64x64xf32>, %w: tensor<2048x64xf32>, %s0: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %s = coda.gemm acc(%x[m0, m1, k] * %w[n, k] : tensor<4x64x64xf32>, tensor<2048x64xf32>) outs(fresh add %s0[m0, m1] : tensor<4x64xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<4x64xf32>
}

// As many of 128, which takes 1024 rows; with 512 there are more of 64.
func.func @many_rows(%x: tensor<16x64x64xf32>, %w: tensor<2048x64xf32>, %s0: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %s = coda.gemm acc(%x[m0, m1, k] * %w[n, k] : tensor<16x64x64xf32>, tensor<2048x64xf32>) outs(fresh add %s0[m0, m1] : tensor<16x64xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<16x64xf32>
}

func.func @sum_of_granule(%x: tensor<8x64xf32>, %w: tensor<128x64xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x64xf32>, tensor<128x64xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

func.func @few_rows_of_map(%x: tensor<8x2048xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.map ins(%x[m, n] : tensor<8x2048xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

func.func @few_rows_of_heads(%x: tensor<8x64xf32>, %w: tensor<4x128x64xf32>, %y: tensor<8x4x128xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.gemm acc(%x[m, k] * %w[n0, n1, k] : tensor<8x64xf32>, tensor<4x128x64xf32>) ins(%y[m, n0, n1] : tensor<8x4x128xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32, %e: f32):
    %d = arith.addf %c, %e : f32
    coda.yield %d : f32
  }
  return %s : tensor<8xf32>
}

func.func @any_rows(%x: tensor<?x256xf32>, %s0: tensor<?xf32>) -> tensor<?xf32> {
  %s = coda.map ins(%x[m, n] : tensor<?x256xf32>) outs(fresh add %s0[m] : tensor<?xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<?xf32>
}

func.func @column_sum_of_few(%x: tensor<256x8xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.map ins(%x[m, n] : tensor<256x8xf32>) outs(fresh add %s0[n] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

// CHECK-LABEL: func.func @row_sum(
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<256x16xf32>,
// CHECK-DAG:   %[[S0:.*]] = tensor.empty() : tensor<2x8xf32>
// CHECK-DAG:   %[[B2:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2]] output_shape [2, 128, 16]
// CHECK:       %[[S:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B2]][n0, n1, k] :
// CHECK-NEXT:    outs(fresh add %[[S0]][n0, m] : tensor<2x8xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m] : tensor<2x8xf32>)
// CHECK:       ^bb0(%[[V:.*]]: f32):
// CHECK-NEXT:    math.rsqrt %[[V]]

func.func @row_sum(%a: tensor<8x16xf32>, %b: tensor<256x16xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<256x16xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    %0 = arith.mulf %c, %c : f32
    coda.yield %0 : f32
  }
  %r = coda.map ins(%s[m] : tensor<8xf32>) outs(%s0[m] : tensor<8xf32>) {
  ^bb0(%v: f32):
    %0 = math.rsqrt %v : f32
    coda.yield %0 : f32
  }
  return %r : tensor<8xf32>
}

// A reader that is no tile op gets the finished sum.
// CHECK-LABEL: func.func @other_reader(
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, m] :
// CHECK:       %[[F:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m] :
// CHECK:       return %[[F]]
func.func @other_reader(%x: tensor<8x384xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.map ins(%x[m, n] : tensor<8x384xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

// Who loads the sums for each of its columns loads them finished, if there are
// many.
// FINISH-LABEL: func.func @repeated(
// FINISH:       %[[S:.*]] = coda.gemm
// FINISH:       %[[F:.*]] = coda.map
// FINISH-NEXT:    ins(add %[[S]][p, m] : tensor<2x8xf32>)
// FINISH:       ^bb0(%[[V:.*]]: f32):
// FINISH-NEXT:    coda.yield %[[V]]
// FINISH:       coda.map
// FINISH-NEXT:    ins(%[[F]][m], %{{.*}}[m, n] :
func.func @repeated(%a: tensor<8x16xf32>, %b: tensor<256x16xf32>, %s0: tensor<8xf32>, %x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<256x16xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %r = coda.map ins(%s[m], %x[m, n] : tensor<8xf32>, tensor<8x32xf32>) outs(%x[m, n] : tensor<8x32xf32>) {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.mulf %v, %w : f32
    coda.yield %0 : f32
  }
  return %r : tensor<8x32xf32>
}

// Any combiner; a map that loads each element once combines any number.
// FINISH-LABEL: func.func @many(
// FINISH:       %[[L:.*]]:2 = coda.gemm
// FINISH:       outs(fresh logaddexp %{{.*}}[n0, m], fresh max %{{.*}}[n0, m] :
// FINISH:       coda.map
// FINISH-NEXT:  ins(logaddexp %[[L]]#0[p0, m], max %[[L]]#1[p1, m] :
// FINISH-NOT:   coda.map
// FINISH:       return
func.func @many(%a: tensor<8x16xf32>, %b: tensor<512x16xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %l:2 = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<512x16xf32>) outs(fresh logaddexp %s0[m], fresh max %s0[m] : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c, %c : f32, f32
  }
  %r = coda.map ins(%l#0[m], %l#1[m] : tensor<8xf32>, tensor<8xf32>) outs(%s0[m] : tensor<8xf32>) {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.subf %v, %w : f32
    coda.yield %0 : f32
  }
  return %r : tensor<8xf32>
}

// A reader of partials that has a whole reduction of its own.
// CHECK-LABEL: func.func @chain(
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, m] :
// CHECK:       %[[T:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m], %{{.*}}[m, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, m] :
// CHECK:       coda.map
// CHECK-NEXT:    ins(add %[[T]][p, m] :
func.func @chain(%x: tensor<8x256xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.map ins(%x[m, n] : tensor<8x256xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %t = coda.map ins(%s[m], %x[m, n] : tensor<8xf32>, tensor<8x256xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%v: f32, %c: f32):
    %0 = arith.mulf %v, %c : f32
    coda.yield %0 : f32
  }
  %r = coda.map ins(%t[m] : tensor<8xf32>) outs(%s0[m] : tensor<8xf32>) {
  ^bb0(%v: f32):
    %0 = math.rsqrt %v : f32
    coda.yield %0 : f32
  }
  return %r : tensor<8xf32>
}

// Columns of a tile that are no whole granules, a single one, an init that takes
// part: as they were.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-3: {{outs\((fresh )?add %[^ ]*\[m\] :}}
// CHECK-NOT:   [p, m]
func.func @kept(%x: tensor<8x192xf32>, %y: tensor<8x128xf32>, %z: tensor<8x256xf32>, %s0: tensor<8xf32>, %t0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = coda.map ins(%x[m, n] : tensor<8x192xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %1 = coda.map ins(%y[m, n] : tensor<8x128xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %2 = coda.map ins(%z[m, n] : tensor<8x256xf32>) outs(add %t0[m] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Sums over rows are partial per granule of rows, which stay one dim, and a finisher
// adds them up; with a granule of as many rows as columns they are two dims.
// CHECK-LABEL: func.func @column_sum(
// CHECK-SAME:    %[[X:.*]]: tensor<256x4xf32>
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n] : tensor<256x4xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[m floordiv 64, n] : tensor<4x4xf32>)
// CHECK:       %[[F:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m] : tensor<4x4xf32>)
// CHECK:       return %[[F]]
// ROWS-LABEL:  func.func @column_sum(
// ROWS:          ins(%{{.*}}[m0, m1, n] : tensor<2x128x4xf32>)
// ROWS-NEXT:     outs(fresh add %{{.*}}[m0, n] : tensor<2x4xf32>)
// WHOLE-LABEL: func.func @column_sum(
// WHOLE:         ins(%{{.*}}[m0, m1, n] : tensor<4x64x4xf32>)
func.func @column_sum(%x: tensor<256x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = coda.map ins(%x[m, n] : tensor<256x4xf32>) outs(fresh add %e[n] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %s : tensor<4xf32>
}

// Of several dims that a sum drops, the inner ones (32 columns of a head, both
// halves of it) make up the granule with a part of the outer one.
// CHECK-LABEL: func.func @heads(
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n0, n1, u, n2] : tensor<4x2x4x2x16xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, m] : tensor<2x4xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m] : tensor<2x4xf32>)
func.func @heads(%x: tensor<4x8x2x16xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = coda.map ins(%x[m, n0, u, n1] : tensor<4x8x2x16xf32>) outs(fresh add %e[m] : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    coda.yield %c : f32
  }
  %t = coda.map ins(%s[m] : tensor<4xf32>) outs(%e[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    %r = math.rsqrt %a : f32
    coda.yield %r : f32
  }
  return %t : tensor<4xf32>
}

// A sum over rows and one over columns of one op, two granules each: both.
// CHECK-LABEL: func.func @both(
// CHECK:       outs(fresh add %{{.*}}[n0, m], fresh add %{{.*}}[m floordiv 64, n0, n1] : tensor<2x256xf32>, tensor<4x2x128xf32>)
func.func @both(%x: tensor<256x256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  %e = tensor.empty() : tensor<256xf32>
  %r, %c = coda.map ins(%x[m, n] : tensor<256x256xf32>) outs(fresh add %e[m], fresh add %e[n] : tensor<256xf32>, tensor<256xf32>) {
  ^bb0(%a: f32):
    coda.yield %a, %a : f32, f32
  }
  return %r, %c : tensor<256xf32>, tensor<256xf32>
}

// Of rows and columns, columns first; both by granules.
// CHECK-LABEL: func.func @of_all(
// CHECK-SAME:    %[[A:.*]]: tensor<256x16xf32>, %[[B:.*]]: tensor<256x16xf32>
// CHECK:       %[[S:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %{{.*}}[n0, n1, k] :
// CHECK-NEXT:    outs(fresh max %{{.*}}[n0, m] : tensor<2x256xf32>)
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(max %[[S]][p, m] :
// CHECK-NEXT:    outs(fresh max %{{.*}}[m floordiv 64] : tensor<4xf32>)
// CHECK:       %[[F:.*]] = coda.map
// CHECK-NEXT:    ins(max %[[R]][p] : tensor<4xf32>)
// CHECK-NEXT:    outs(%{{.*}}[] : tensor<f32>)
// CHECK:       return %[[F]]
func.func @of_all(%a: tensor<256x16xf32>, %b: tensor<256x16xf32>, %s0: tensor<f32>) -> tensor<f32> {
  %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<256x16xf32>, tensor<256x16xf32>) outs(fresh max %s0[] : tensor<f32>) {
  ^bb0(%c: f32):
    %0 = math.absf %c : f32
    coda.yield %0 : f32
  }
  return %s : tensor<f32>
}

// Of the rows, and of the heads outside of the columns that are kept: the rows
// first, by granules, for each column of each head; then heads are rows.
// CHECK-LABEL: func.func @of_rows_and_heads(
// CHECK-SAME:    %[[A:.*]]: tensor<256x16xf32>, %[[B:.*]]: tensor<4x8x16xf32>
// CHECK:       %[[S:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n0, n1, k] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[m floordiv 64, n0, n1] : tensor<4x4x8xf32>)
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[S]][p, m, n] : tensor<4x4x8xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[n] : tensor<8xf32>)
// CHECK:       return %[[R]]
func.func @of_rows_and_heads(%a: tensor<256x16xf32>, %b: tensor<4x8x16xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<256x16xf32>, tensor<4x8x16xf32>) outs(fresh add %s0[n1] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

// Of the rows and the columns of each head: columns first.
// CHECK-LABEL: func.func @of_each_head(
// CHECK-SAME:    %[[A:.*]]: tensor<64x16xf32>, %[[B:.*]]: tensor<4x8x16xf32>
// CHECK:       %[[S:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n0, n1, k] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[m, n0] : tensor<64x4xf32>)
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(%[[S]][m, n] : tensor<64x4xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[n] : tensor<4xf32>)
// CHECK:       return %[[R]]
func.func @of_each_head(%a: tensor<64x16xf32>, %b: tensor<4x8x16xf32>, %s0: tensor<4xf32>) -> tensor<4xf32> {
  %s = coda.gemm acc(%a[m, k] * %b[n0, n1, k] : tensor<64x16xf32>, tensor<4x8x16xf32>) outs(fresh add %s0[n0] : tensor<4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<4xf32>
}

// Of 300 rows the last granule has 44.
// CHECK-LABEL: func.func @ragged_rows(
// CHECK-SAME:    %[[A:.*]]: tensor<300x16xf32>, %[[B:.*]]: tensor<8x16xf32>
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<5x8xf32>
// CHECK:       %[[P:.*]] = coda.gemm
// CHECK-NEXT:    acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK-NEXT:    outs(fresh add %[[E]][m floordiv 64, n] : tensor<5x8xf32>)
// CHECK:       %[[F:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[P]][p, m] : tensor<5x8xf32>)
// CHECK:       return %[[F]]
// WHOLE-LABEL: func.func @ragged_rows(
// WHOLE:       outs(fresh add %{{[a-z0-9]+}}[n] : tensor<8xf32>)
func.func @ragged_rows(%a: tensor<300x16xf32>, %b: tensor<8x16xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<300x16xf32>, tensor<8x16xf32>) outs(fresh add %e[n] : tensor<8xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<8xf32>
}

// The same of a number that a call shows; a finisher, since there may be many.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[SIZE:.*]] = arith.constant 64 : index
// CHECK-DAG:   %[[M:.*]] = tensor.dim %[[X]], %[[ZERO]]
// CHECK:       %[[COUNT:.*]] = arith.ceildivui %[[M]], %[[SIZE]]
// CHECK:       %[[E:.*]] = tensor.empty(%[[COUNT]]) : tensor<?x4xf32>
// CHECK:       %[[P:.*]]:2 = coda.map
// CHECK-NEXT:    ins(%[[X]][m, n] :
// CHECK-NEXT:    outs(fresh logaddexp %[[E]][m floordiv 64, n], fresh max %{{.*}}[m floordiv 64, n] :
// CHECK:       coda.map
// CHECK-NEXT:    ins(max %[[P]]#1[p, m] : tensor<?x4xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(logaddexp %[[P]]#0[p, m] :
// WHOLE-LABEL: func.func @unknown_rows(
// WHOLE:       outs(fresh logaddexp %{{[a-z0-9]+}}[n], fresh max %{{[a-z0-9]+}}[n] :
func.func @unknown_rows(%x: tensor<?x4xf32>, %y: tensor<6x4xf32>) -> (tensor<4xf32>, tensor<6x4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %e2 = tensor.empty() : tensor<6x4xf32>
  %s:2 = coda.map ins(%x[m, n] : tensor<?x4xf32>) outs(fresh logaddexp %e[n], fresh max %e[n] : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a, %a : f32, f32
  }
  %t = coda.map ins(%s#0[m] : tensor<4xf32>) outs(%e[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    coda.yield %r : f32
  }
  // Loads each of them six times.
  %u = coda.map ins(%y[m, n], %s#1[n] : tensor<6x4xf32>, tensor<4xf32>) outs(%e2[m, n] : tensor<6x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    coda.yield %r : f32
  }
  return %t, %u : tensor<4xf32>, tensor<6x4xf32>
}

// Inner rows that are no granule and make up none with others: groups of fewer.
// Of those that are not known the inner ones are grouped.
// CHECK-LABEL: func.func @inner_rows(
// CHECK:       outs(fresh add %{{.*}}[m0, n] : tensor<10x4xf32>)
// CHECK:       ins(add %{{.*}}[p, m] : tensor<10x4xf32>)
// CHECK:       %[[P:.*]] = coda.map
// CHECK-NEXT:    ins(%{{.*}}[m0, m1, n] : tensor<2x?x4xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[m0, m1 floordiv 64, n] : tensor<2x?x4xf32>)
// CHECK:       %[[ALL:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0, 1], [2]]
// CHECK:       coda.map
// CHECK-NEXT:    ins(add %[[ALL]][p, m] : tensor<?x4xf32>)
func.func @inner_rows(%x: tensor<10x100x4xf32>, %y: tensor<2x?x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %s = coda.map ins(%x[m0, m1, n] : tensor<10x100x4xf32>) outs(fresh add %e[n] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %t = coda.map ins(%y[m0, m1, n] : tensor<2x?x4xf32>) outs(fresh add %e[n] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// Columns that a tile does not hold, or of an unknown number, and rows of the same
// op; of several n dims those of a head, if no granule has as many, but not a part
// of them.
// CHECK-LABEL: func.func @ragged_columns(
// CHECK:       outs(fresh add %{{.*}}[n floordiv 128, m] : tensor<3x4xf32>)
// CHECK:       outs(fresh add %{{.*}}[m floordiv 64, n], fresh add %{{.*}}[n floordiv 128, m] :
// CHECK:       outs(fresh add %{{.*}}[n0, m] : tensor<3x4xf32>)
// CHECK:       outs(fresh add %{{.*}}[m] : tensor<4xf32>)
// CHECK:       outs(fresh add %{{.*}}[m] : tensor<4xf32>)
// FEW-LABEL: func.func @ragged_columns(
// FEW: outs(fresh add %{{.*}}[n floordiv 128, m] : tensor<3x4xf32>)
func.func @ragged_columns(%x: tensor<4x300xf32>, %y: tensor<?x?xf32>, %z: tensor<4x3x96xf32>, %z2: tensor<4x2x96xf32>, %z3: tensor<4x2x300xf32>, %r0: tensor<?xf32>, %c0: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %s = coda.map ins(%x[m, n] : tensor<4x300xf32>) outs(fresh add %e[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %t:2 = coda.map ins(%y[m, n] : tensor<?x?xf32>) outs(fresh add %c0[n], fresh add %r0[m] : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%a: f32):
    coda.yield %a, %a : f32, f32
  }
  %u = coda.map ins(%z[m, n0, n1] : tensor<4x3x96xf32>) outs(fresh add %e[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %v = coda.map ins(%z2[m, n0, n1] : tensor<4x2x96xf32>) outs(fresh add %e[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %w = coda.map ins(%z3[m, n0, n1] : tensor<4x2x300xf32>) outs(fresh add %e[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %s, %t#0, %t#1, %u, %v, %w : tensor<4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Of all of an unknown number of rows: no row is stored whole.
// CHECK-LABEL: func.func @of_any(
// CHECK:       %[[S:.*]] = coda.gemm
// CHECK:         outs(fresh max %{{.*}}[n0, m] : tensor<2x?xf32>)
// CHECK:       %[[R:.*]] = coda.map
// CHECK-NEXT:    ins(max %[[S]][p, m] :
// CHECK-NEXT:    outs(fresh max %{{.*}}[m floordiv 64] : tensor<?xf32>)
// CHECK:       %[[F:.*]] = coda.map
// CHECK-NEXT:    ins(max %[[R]][p] : tensor<?xf32>)
// CHECK:       return %[[F]]
func.func @of_any(%a: tensor<?x16xf32>, %b: tensor<256x16xf32>, %s0: tensor<f32>) -> tensor<f32> {
  %s = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<?x16xf32>, tensor<256x16xf32>) outs(fresh max %s0[] : tensor<f32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %s : tensor<f32>
}

// A sum over heads that keeps a head's columns is one over rows: a map of its own has
// heads as rows, and what it keeps as columns. What else the map makes stays as it
// was, a row's sum as partial ones.
// CHECK-LABEL: func.func @over_heads(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x6x2x64xf32>, %[[C:[a-z0-9]+]]: tensor<8x64xf32>,
// CHECK:       coda.map
// CHECK-NEXT:    ins(%[[X]][m, n0, u, n1], %[[C]][m, n1] :
// CHECK-NEXT:    outs(%{{[a-z0-9_]+}}[m, n0, u, n1], fresh add %{{[a-z0-9_]+}}[n0, m] :
// CHECK:       coda.map
// CHECK-NEXT:    ins(add %{{.*}}[p, m] : tensor<6x8xf32>)
// CHECK:       %[[D:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][n0, m, u, n1] : tensor<8x6x2x64xf32>)
// CHECK-NEXT:    outs(fresh add %{{[a-z0-9_]+}}[n0, n1] : tensor<8x64xf32>) {
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK:         %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT:    coda.yield %[[P]] : f32
// CHECK:       return %{{.*}}, %{{.*}}, %[[D]]
func.func @over_heads(%x: tensor<8x6x2x64xf32>, %c: tensor<8x64xf32>, %y0: tensor<8x6x2x64xf32>, %s0: tensor<8xf32>, %d0: tensor<8x64xf32>) -> (tensor<8x6x2x64xf32>, tensor<8xf32>, tensor<8x64xf32>) {
  %y:3 = coda.map ins(%x[m, n0, u, n1], %c[m, n1] : tensor<8x6x2x64xf32>, tensor<8x64xf32>)
      outs(%y0[m, n0, u, n1], fresh add %s0[m], fresh add %d0[m, n1] : tensor<8x6x2x64xf32>, tensor<8xf32>, tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %a, %t : f32
    %r = arith.mulf %b, %t : f32
    coda.yield %q, %r, %p, %p : f32, f32, f32, f32
  }
  return %y#0, %y#1, %y#2 : tensor<8x6x2x64xf32>, tensor<8xf32>, tensor<8x64xf32>
}

// The region names its dims anew: those of a coordinate, and of a group that is kept.
// CHECK-LABEL: func.func @over_heads_named(
// CHECK:       coda.map
// CHECK-NEXT:    ins(%[[X:[a-z0-9]+]][n0, m, n1] : tensor<8x6x64xf32>)
// CHECK-NEXT:    outs(fresh add %{{[a-z0-9_]+}}[n0, n1] : tensor<8x64xf32>) {
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT:    %[[I:.*]] = coda.index m
// CHECK:         %[[G:.*]] = coda.group_reduce add %[[A]] over [n1] : f32
func.func @over_heads_named(%x: tensor<8x6x64xf32>, %d0: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %d = coda.map ins(%x[m, n0, n1] : tensor<8x6x64xf32>) outs(fresh add %d0[m, n1] : tensor<8x64xf32>) {
  ^bb0(%a: f32):
    %i = coda.index n0
    %j = arith.index_cast %i : index to i64
    %f = arith.sitofp %j : i64 to f32
    %g = coda.group_reduce add %a over [n1] : f32
    %p = arith.mulf %g, %f : f32
    coda.yield %p : f32
  }
  return %d : tensor<8x64xf32>
}

// Not where groups are over the heads, or the map drops rows as well, which are summed
// first.
// CHECK-LABEL: func.func @over_heads_refused(
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{[a-z0-9_]+}}[m, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{[a-z0-9_]+}}[m, n1] :
// CHECK:         coda.group_reduce add %{{.*}} over [n0, n1] : f32
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{[a-z0-9_]+}}[m, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{[a-z0-9_]+}}[n0, n1] :
func.func @over_heads_refused(%x: tensor<8x6x64xf32>, %d0: tensor<8x64xf32>, %w0: tensor<64xf32>) -> (tensor<8x64xf32>, tensor<64xf32>) {
  %d = coda.map ins(%x[m, n0, n1] : tensor<8x6x64xf32>) outs(fresh add %d0[m, n1] : tensor<8x64xf32>) {
  ^bb0(%a: f32):
    %g = coda.group_reduce add %a over [n0, n1] : f32
    %p = arith.mulf %a, %g : f32
    coda.yield %p : f32
  }
  %w = coda.map ins(%x[m, n0, n1] : tensor<8x6x64xf32>) outs(fresh add %w0[n1] : tensor<64xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %d, %w : tensor<8x64xf32>, tensor<64xf32>
}

// Where the columns are summed over the rows as well, a tile has 32 at least: those of
// a row are of as many. Without that they are of 16.
// CHECK-LABEL: func.func @few_rows_and_column_sums(
// FEW-LABEL: func.func @few_rows_and_column_sums(
// FEW: outs(fresh add %{{.*}}[n floordiv 32, m], fresh add %{{.*}}[n] : tensor<16x128xf32>, tensor<512xf32>)
// FEW: outs(fresh add %{{.*}}[n floordiv 16, m] : tensor<32x128xf32>)
func.func @few_rows_and_column_sums(%x: tensor<128x64xbf16>, %w: tensor<512x64xbf16>) -> (tensor<128xf32>, tensor<512xf32>, tensor<128xf32>) {
  %m = tensor.empty() : tensor<128xf32>
  %n = tensor.empty() : tensor<512xf32>
  %s:2 = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<128x64xbf16>, tensor<512x64xbf16>)
      outs(fresh add %m[m], fresh add %n[n] : tensor<128xf32>, tensor<512xf32>) {
  ^bb0(%a: f32):
    %q = arith.mulf %a, %a : f32
    coda.yield %q, %a : f32, f32
  }
  %t = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<128x64xbf16>, tensor<512x64xbf16>)
      outs(fresh add %m[m] : tensor<128xf32>) {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    coda.yield %e : f32
  }
  return %s#0, %s#1, %t : tensor<128xf32>, tensor<512xf32>, tensor<128xf32>
}

// No tile has several of a batch: what drops it keeps it first, and a map reduces that,
// after rows or columns are; what drops nothing else is stored.
// CHECK-LABEL: func.func @of_batch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x64x32xf32>, %[[W:[a-z0-9]+]]: tensor<8x32x16xf32>
// CHECK:       %[[G:.*]]:4 = coda.gemm
// CHECK-NEXT:    acc(%[[X]][b, m, k] * %[[W]][b, k, n] : tensor<8x64x32xf32>, tensor<8x32x16xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[b, m], fresh max %{{.*}}[b, n], %{{.*}}[b, m, n], fresh add %{{.*}}[b, m] : tensor<8x64xf32>, tensor<8x16xf32>, tensor<8x64x16xf32>, tensor<8x64xf32>)
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32):
// CHECK-NEXT:    %[[Q:.*]] = arith.mulf %[[C]], %[[C]]
// CHECK-NEXT:    coda.yield %[[Q]], %[[C]], %[[Q]], %[[C]]
// CHECK:       %[[S0:.*]] = coda.map
// CHECK-NEXT:    ins(%[[G]]#0[m, n] : tensor<8x64xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[n] : tensor<64xf32>)
// CHECK:       %[[S1:.*]] = coda.map
// CHECK-NEXT:    ins(%[[G]]#1[m, n] : tensor<8x16xf32>)
// CHECK-NEXT:    outs(fresh max %{{.*}}[n] : tensor<16xf32>)
// CHECK:       %[[S2:.*]] = coda.map
// CHECK-NEXT:    ins(%[[G]]#2[m, n0, n1] : tensor<8x64x16xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, n1] : tensor<64x16xf32>)
// CHECK:       return %[[S0]], %[[S1]], %[[S2]], %[[G]]#3
func.func @of_batch(%x: tensor<8x64x32xf32>, %w: tensor<8x32x16xf32>) -> (tensor<64xf32>, tensor<16xf32>, tensor<64x16xf32>, tensor<8x64xf32>) {
  %m = tensor.empty() : tensor<64xf32>
  %n = tensor.empty() : tensor<16xf32>
  %t = tensor.empty() : tensor<64x16xf32>
  %bm = tensor.empty() : tensor<8x64xf32>
  %s:4 = coda.gemm acc(%x[b, m, k] * %w[b, k, n] : tensor<8x64x32xf32>, tensor<8x32x16xf32>)
      outs(fresh add %m[m], fresh max %n[n], fresh add %t[m, n], fresh add %bm[b, m] : tensor<64xf32>, tensor<16xf32>, tensor<64x16xf32>, tensor<8x64xf32>) {
  ^bb0(%c: f32):
    %q = arith.mulf %c, %c : f32
    coda.yield %q, %c, %q, %c : f32, f32, f32, f32
  }
  return %s#0, %s#1, %s#2, %s#3 : tensor<64xf32>, tensor<16xf32>, tensor<64x16xf32>, tensor<8x64xf32>
}

// Rows of two dims are a group together only if a tile may go over them as one: not where
// a table has the inner ones alone.
// CHECK-LABEL: func.func @short_rows(
// CHECK:       outs(fresh add %{{.*}}[m0, n] : tensor<4x8xf32>)
// CHECK:       ins(add %{{.*}}[p, m] : tensor<4x8xf32>)
// CHECK:       outs(fresh add %{{.*}}[n] : tensor<8xf32>)
// CHECK:       outs(fresh add %{{.*}}[m0, n] : tensor<2x8xf32>)
// CHECK:       ins(add %{{.*}}[p, m] : tensor<2x8xf32>)
func.func @short_rows(%x: tensor<4x16x8xf32>, %t: tensor<16x8xf32>, %x2: tensor<2x64x8xf32>, %t2: tensor<64x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %s = coda.map ins(%x[m0, m1, n], %t[m1, n] : tensor<4x16x8xf32>, tensor<16x8xf32>) outs(fresh add %e[n] : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    coda.yield %0 : f32
  }
  %w = coda.map ins(%x[m0, m1, n] : tensor<4x16x8xf32>) outs(fresh add %e[n] : tensor<8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %v = coda.map ins(%x2[m0, m1, n], %t2[m1, n] : tensor<2x64x8xf32>, tensor<64x8xf32>) outs(fresh add %e[n] : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    coda.yield %0 : f32
  }
  return %s, %w, %v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A row of each of several sequences, as the gradient of a table of positions is summed: a gemm
// stores what it adds up, a map that has it already adds it up.
// CHECK-LABEL: func.func @positions(
// CHECK:       %[[Y:.*]] = coda.gemm
// CHECK-NEXT:    acc(%{{.*}}[m0, m1, k] * %{{.*}}[k, n] :
// CHECK-NEXT:    outs(%{{.*}}[m0, m1, n] : tensor<200x16x8xf32>)
// CHECK:       %[[P:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Y]][m, n0, n1] : tensor<200x16x8xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[m floordiv 64, n0, n1] : tensor<4x16x8xf32>)
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(add %[[P]][p, m0, m1] : tensor<4x16x8xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{.*}}[m0, m1, n] : tensor<200x16x8xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[m0 floordiv 64, m1, n] : tensor<4x16x8xf32>)
// CHECK:       %[[T:.*]] = coda.map
// CHECK:       return %[[S]], %[[T]]
func.func @positions(%x: tensor<200x16x32xf32>, %w: tensor<32x8xf32>, %g: tensor<200x16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<16x8xf32>
  %s = coda.gemm acc(%x[m0, m1, k] * %w[k, n] : tensor<200x16x32xf32>, tensor<32x8xf32>) outs(fresh add %e[m1, n] : tensor<16x8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %t = coda.map ins(%g[m0, m1, n] : tensor<200x16x8xf32>) outs(fresh add %e[m1, n] : tensor<16x8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %s, %t : tensor<16x8xf32>, tensor<16x8xf32>
}

// Several values of a column that are stored are no columns of the tile: granules have as
// many as without them. Where there are accumulators for them, they are.
// CHECK-LABEL: func.func @stored_points(
// CHECK: outs(%{{.*}}[m, n, u], fresh add %{{.*}}[n floordiv 128, m] :
// CHECK: outs(%{{.*}}[m, n, u], fresh add %{{.*}}[n floordiv 64, m] :
// FEW-LABEL: func.func @stored_points(
// FEW: outs(%{{.*}}[m, n, u], fresh add %{{.*}}[n floordiv 16, m] :
// FEW: outs(%{{.*}}[m, n, u], fresh add %{{.*}}[n floordiv 8, m] :
func.func @stored_points(%x: tensor<128x64xbf16>, %w: tensor<500x64xbf16>, %v: tensor<500x2x64xbf16>) -> (tensor<128x500x2xbf16>, tensor<128xf32>, tensor<128x500x2xbf16>, tensor<128xf32>) {
  %m = tensor.empty() : tensor<128xf32>
  %o = tensor.empty() : tensor<128x500x2xbf16>
  %s:2 = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<128x64xbf16>, tensor<500x64xbf16>)
      outs(%o[m, n, u], fresh add %m[m] : tensor<128x500x2xbf16>, tensor<128xf32>) {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    %y = arith.truncf %a : f32 to bf16
    %z = arith.truncf %e : f32 to bf16
    coda.yield %y, %z, %e : bf16, bf16, f32
  }
  %t:2 = coda.gemm acc(%x[m, k] * %v[n, u, k] : tensor<128x64xbf16>, tensor<500x2x64xbf16>)
      outs(%o[m, n, u], fresh add %m[m] : tensor<128x500x2xbf16>, tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.mulf %a, %b : f32
    %y = arith.truncf %a : f32 to bf16
    %z = arith.truncf %b : f32 to bf16
    coda.yield %y, %z, %e : bf16, bf16, f32
  }
  return %s#0, %s#1, %t#0, %t#1 : tensor<128x500x2xbf16>, tensor<128xf32>, tensor<128x500x2xbf16>, tensor<128xf32>
}

// The gradient of a table that all heads and both sequences share: a map of which the
// heads are the rows sums these, another the sequences. What is left is no sum.
// CHECK-LABEL: func.func @heads_and_sequences(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x4x16xf32>, %[[T:.*]]: tensor<8x16xf32>,
// CHECK:       %[[Y:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][m0, m1, n0, n1], %[[T]][m1, n1] :
// CHECK-NEXT:    outs(%{{.*}}[m0, m1, n0, n1] :
// CHECK:       %[[S:.*]] = coda.map
// CHECK-NEXT:    ins(%[[X]][n0, n1, m, n2], %[[T]][n1, n2] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, n1, n2] : tensor<2x8x16xf32>)
// CHECK:       %[[D:.*]] = coda.map
// CHECK-NEXT:    ins(%[[S]][m, n0, n1] : tensor<2x8x16xf32>)
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, n1] : tensor<8x16xf32>)
// CHECK:       return %[[Y]], %[[D]]
func.func @heads_and_sequences(%x: tensor<2x8x4x16xf32>, %t: tensor<8x16xf32>, %y0: tensor<2x8x4x16xf32>, %d0: tensor<8x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<8x16xf32>) {
  %r:2 = coda.map
    ins(%x[m0, m1, n0, n1], %t[m1, n1] : tensor<2x8x4x16xf32>, tensor<8x16xf32>)
    outs(%y0[m0, m1, n0, n1], fresh add %d0[m1, n1] : tensor<2x8x4x16xf32>, tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    coda.yield %p, %p : f32, f32
  }
  return %r#0, %r#1 : tensor<2x8x4x16xf32>, tensor<8x16xf32>
}

// Not of the tokens within the sequences: these are summed first, and the heads by a
// map; nor of the sequences alone, which loops sum.
// CHECK-LABEL: func.func @heads_and_tokens(
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{.*}}[m0, m1, n0, n1] :
// CHECK-NEXT:    outs(fresh add %{{.*}}[n0, m0, n1], fresh add %{{.*}}[m1, n0, n1] : tensor<4x2x16xf32>, tensor<8x4x16xf32>)
// CHECK:       coda.map
// CHECK-NEXT:    ins(%{{.*}}[m, n0, n1] : tensor<4x2x16xf32>)
func.func @heads_and_tokens(%x: tensor<2x8x4x16xf32>, %d0: tensor<2x16xf32>, %e0: tensor<8x4x16xf32>) -> (tensor<2x16xf32>, tensor<8x4x16xf32>) {
  %r:2 = coda.map
    ins(%x[m0, m1, n0, n1] : tensor<2x8x4x16xf32>)
    outs(fresh add %d0[m0, n1], fresh add %e0[m1, n0, n1] : tensor<2x16xf32>, tensor<8x4x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a, %a : f32, f32
  }
  return %r#0, %r#1 : tensor<2x16xf32>, tensor<8x4x16xf32>
}
