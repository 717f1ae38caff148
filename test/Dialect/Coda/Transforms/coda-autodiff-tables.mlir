// RUN: coda-opt %s --coda-autodiff=func=heads -o /dev/null 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: coda-opt %s --coda-autodiff=func=batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: coda-opt %s --coda-autodiff="func=heads constants=2,3" -o /dev/null 2>&1 | count 0
// RUN: coda-opt %s --coda-autodiff=func=no_table -o /dev/null 2>&1 | count 0
// RUN: coda-compile %s --grad --entry=heads --emit=fused -o /dev/null 2>&1 | FileCheck %s --check-prefix=COMPILE
// RUN: coda-compile %s --grad --entry=heads --no-fuse --emit=fused -o /dev/null 2>&1 | count 0
// RUN: coda-compile %s --grad --entry=heads --grad-constants=3,2 --emit=fused -o /dev/null 2>&1 | count 0
// A table of cosines and one of sines have gradients as other arguments have; that
// it may not be meant, and costs, is said in one remark. The compiler prints it, but
// not of a program that others are compared with.

// COMPILE:     {{^}}remark: {{.*}}coda-autodiff-tables.mlir:{{[0-9]+}}:1: [coda-autodiff] gradients of arguments 2, 3: table-gradient: {{.*}}, by constants=2,3 (--grad-constants){{$}}
// COMPILE-NOT: {{.}}

// HEADS:     coda-autodiff-tables.mlir:[[@LINE+3]]:1: remark: [coda-autodiff] gradients of arguments 2, 3: table-gradient: each element is loaded at several points of a row, or of the batch, as that of a table of cosines is, and the gradient is summed over them; what is no variable is best left out, by constants=2,3 (--grad-constants)
// HEADS-NOT: remark

func.func @heads(%x: tensor<8x4xf32>, %w: tensor<24x4xf32>, %c: tensor<8x3xf32>, %s: tensor<8x3xf32>) -> tensor<8x4x2x3xf32> {
  %v = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [4, 2, 3, 4] : tensor<24x4xf32> into tensor<4x2x3x4xf32>
  %o = tensor.empty() : tensor<8x4x2x3xf32>
  %y = coda.gemm acc(%x[m, k] * %v[n0, u, n1, k] : tensor<8x4xf32>, tensor<4x2x3x4xf32>)
      ins(%c[m, n1], %s[m, n1] : tensor<8x3xf32>, tensor<8x3xf32>)
      outs(%o[m, n0, u, n1] : tensor<8x4x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %cos: f32, %sin: f32):
    %0 = arith.mulf %a, %cos : f32
    %1 = arith.mulf %b, %sin : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %b, %cos : f32
    %4 = arith.mulf %a, %sin : f32
    %5 = arith.addf %3, %4 : f32
    coda.yield %2, %5 : f32, f32
  }
  return %y : tensor<8x4x2x3xf32>
}

// One for all sequences of a batch, through a reshape.
// BATCH:     remark: [coda-autodiff] gradient of argument 1: table-gradient: {{.*}}, by constants=1 (--grad-constants)
// BATCH-NOT: remark
func.func @batch(%x: tensor<2x8x4xf32>, %p: tensor<1x8x4xf32>) -> tensor<2x8x4xf32> {
  %o = tensor.empty() : tensor<2x8x4xf32>
  %q = tensor.collapse_shape %p [[0, 1], [2]] : tensor<1x8x4xf32> into tensor<8x4xf32>
  %y = coda.map ins(%x[m0, m1, n], %q[m1, n] : tensor<2x8x4xf32>, tensor<8x4xf32>) outs(%o[m0, m1, n] : tensor<2x8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    coda.yield %0 : f32
  }
  return %y : tensor<2x8x4xf32>
}

// No tables: a factor of products, values of rows and of columns, one of every point,
// and one that something else reads as well.
func.func @no_table(%x: tensor<8x4xf32>, %w: tensor<2x3x4xf32>, %r: tensor<8xf32>, %b: tensor<2x3xf32>, %h: tensor<3xf32>, %res: tensor<8x2x3xf32>, %t: tensor<8x3xf32>) -> (tensor<8x2x3xf32>, tensor<8x3xf32>) {
  %o = tensor.empty() : tensor<8x2x3xf32>
  %y = coda.gemm acc(%x[m, k] * %w[n0, n1, k] : tensor<8x4xf32>, tensor<2x3x4xf32>)
      ins(%r[m], %b[n0, n1], %h[n1], %res[m, n0, n1], %t[m, n1] : tensor<8xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<8x2x3xf32>, tensor<8x3xf32>)
      outs(%o[m, n0, n1] : tensor<8x2x3xf32>) {
  ^bb0(%a: f32, %rr: f32, %bb: f32, %hh: f32, %ee: f32, %tt: f32):
    %0 = arith.mulf %a, %rr : f32
    %1 = arith.addf %0, %bb : f32
    %2 = arith.mulf %1, %hh : f32
    %3 = arith.addf %2, %ee : f32
    %4 = arith.mulf %3, %tt : f32
    coda.yield %4 : f32
  }
  %o2 = tensor.empty() : tensor<8x3xf32>
  %z = coda.map ins(%t[m, n] : tensor<8x3xf32>) outs(%o2[m, n] : tensor<8x3xf32>) {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    coda.yield %0 : f32
  }
  return %y, %z : tensor<8x2x3xf32>, tensor<8x3xf32>
}
