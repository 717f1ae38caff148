// RUN: coda-opt %s --pass-pipeline='builtin.module(func.func(coda-bundle))' | FileCheck %s

// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[H:.*]]: tensor<8x16xf32>, %[[WQ:.*]]: tensor<4x16xf32>, %[[WV:.*]]: tensor<2x16xf32>
// CHECK:       %[[B:.*]]:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x2xf32> {
// CHECK:         %[[Q:.*]] = coda.gemm
// CHECK-NEXT:      acc(%[[H]][m, k] * %[[WQ]][n, k] :
// CHECK:         %[[V:.*]] = coda.gemm
// CHECK-NEXT:      acc(%[[H]][m, k] * %[[WV]][n, k] :
// CHECK:         coda.yield %[[Q]], %[[V]]
// CHECK:       %[[N:.*]] = coda.map
// CHECK-NEXT:    ins(%[[B]]#0[m, n] :
// CHECK:       return %[[N]], %[[B]]#1
func.func @two(%h: tensor<8x16xf32>, %wq: tensor<4x16xf32>, %wv: tensor<2x16xf32>, %q0: tensor<8x4xf32>, %v0: tensor<8x2xf32>) -> (tensor<8x4xf32>, tensor<8x2xf32>) {
  %q = coda.gemm acc(%h[m, k] * %wq[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  // A reader between the members moves behind the bundle.
  %n = coda.map ins(%q[m, n] : tensor<8x4xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    coda.yield %0 : f32
  }
  %v = coda.gemm acc(%h[m, k] * %wv[n, k] : tensor<8x16xf32>, tensor<2x16xf32>) outs(%v0[m, n] : tensor<8x2xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %n, %v : tensor<8x4xf32>, tensor<8x2xf32>
}

// The second gemm loads what is made of the first one's result: two launches.
// CHECK-LABEL: func.func @dependent(
// CHECK-NOT:   coda.bundle
func.func @dependent(%h: tensor<8x16xf32>, %wq: tensor<4x16xf32>, %wv: tensor<4x16xf32>, %q0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %q = coda.gemm acc(%h[m, k] * %wq[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %v = coda.gemm acc(%h[m, k] * %wv[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) ins(%q[m, n] : tensor<8x4xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    coda.yield %0 : f32
  }
  return %v : tensor<8x4xf32>
}

// One right factor: the gradients of two weights of one activation.
// CHECK-LABEL: func.func @right(
// CHECK-SAME:    %[[DQ:[^:]*]]: tensor<8x4xf32>, %[[DV:[^:]*]]: tensor<8x2xf32>, %[[H:[^:]*]]: tensor<8x16xf32>
// CHECK:       coda.bundle -> tensor<4x16xf32>, tensor<2x16xf32> {
// CHECK:         acc(%[[DQ]][k, m] * %[[H]][k, n]
// CHECK:         acc(%[[DV]][k, m] * %[[H]][k, n]
func.func @right(%dq: tensor<8x4xf32>, %dv: tensor<8x2xf32>, %h: tensor<8x16xf32>, %q0: tensor<4x16xf32>, %v0: tensor<2x16xf32>) -> (tensor<4x16xf32>, tensor<2x16xf32>) {
  %q = coda.gemm acc(%dq[k, m] * %h[k, n] : tensor<8x4xf32>, tensor<8x16xf32>) outs(%q0[m, n] : tensor<4x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %v = coda.gemm acc(%dv[k, m] * %h[k, n] : tensor<8x2xf32>, tensor<8x16xf32>) outs(%v0[m, n] : tensor<2x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %q, %v : tensor<4x16xf32>, tensor<2x16xf32>
}

// A factor of both, but its rows are rows of one product and summed over in the
// other: nothing is shared.
// CHECK-LABEL: func.func @other_role(
// CHECK-NOT:   coda.bundle
func.func @other_role(%d: tensor<8x4xf32>, %w: tensor<4x16xf32>, %x: tensor<8x16xf32>, %x0: tensor<8x16xf32>, %w0: tensor<4x16xf32>) -> (tensor<8x16xf32>, tensor<4x16xf32>) {
  %dx = coda.gemm acc(%d[m, k] * %w[k, n] : tensor<8x4xf32>, tensor<4x16xf32>) outs(%x0[m, n] : tensor<8x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %dw = coda.gemm acc(%d[k, m] * %x[k, n] : tensor<8x4xf32>, tensor<8x16xf32>) outs(%w0[m, n] : tensor<4x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %dx, %dw : tensor<8x16xf32>, tensor<4x16xf32>
}

// CHECK-LABEL: func.func @other_factor(
// CHECK-NOT:   coda.bundle
func.func @other_factor(%h: tensor<8x16xf32>, %g: tensor<8x16xf32>, %w: tensor<4x16xf32>, %v: tensor<4x16xf32>, %q0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %q = coda.gemm acc(%h[m, k] * %w[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %p = coda.gemm acc(%g[m, k] * %v[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %q, %p : tensor<8x4xf32>, tensor<8x4xf32>
}

// Maps of different spaces whose results one gemm reads.
// CHECK-LABEL: func.func @maps(
// CHECK:       %[[B:.*]]:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x2xf32> {
// CHECK:         coda.map
// CHECK:         coda.map
// CHECK:       acc(%[[B]]#0[m, k0] * %{{.*}}[k0, n] + %[[B]]#1[m, k1]
func.func @maps(%dq: tensor<8x4xf32>, %dv: tensor<8x2xf32>, %wq: tensor<4x16xf32>, %wv: tensor<2x16xf32>, %q0: tensor<8x4xf32>, %v0: tensor<8x2xf32>, %x0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %q = coda.map ins(%dq[m, n] : tensor<8x4xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    coda.yield %0 : f32
  }
  %v = coda.map ins(%dv[m, n] : tensor<8x2xf32>) outs(%v0[m, n] : tensor<8x2xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    coda.yield %0 : f32
  }
  %dx = coda.gemm acc(%q[m, k0] * %wq[k0, n] + %v[m, k1] * %wv[k1, n] : tensor<8x4xf32>, tensor<4x16xf32>, tensor<8x2xf32>, tensor<2x16xf32>) outs(%x0[m, n] : tensor<8x16xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  return %dx : tensor<8x16xf32>
}

// Two gemms of one left factor, though each has a product of another besides. Those
// that share all of theirs are not among them.
// CHECK-LABEL: func.func @one_of_two(
// CHECK-SAME:    %[[H:[^:]+]]: tensor<8x16xf32>, %[[S:[^:]+]]: tensor<8x2xf32>, %[[T:[^:]+]]: tensor<8x2xf32>, %[[WQ:[^:]+]]: tensor<4x16xf32>, %[[B:[^:]+]]: tensor<4x2xf32>,
// CHECK:       %[[P:.+]]:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x4xf32> {
// CHECK:         %[[Q:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[H]][m, k0] * %[[WQ]][n, k0] + %[[S]][m, k1] * %[[B]][n, k1] :
// CHECK:         %[[V:.+]] = coda.gemm
// CHECK-NEXT:      acc(%[[T]][m, k0] * %[[B]][n, k0] + %[[H]][m, k1] * %[[WQ]][n, k1] :
// CHECK:         coda.yield %[[Q]], %[[V]]
// CHECK:       %[[R:.+]]:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x4xf32> {
// CHECK:         coda.gemm
// CHECK-NEXT:      acc(%[[S]][m, k] * %[[B]][n, k] :
// CHECK:         coda.gemm
// CHECK-NEXT:      acc(%[[S]][m, k] * %[[B]][n, k] :
// CHECK:       return %[[P]]#0, %[[P]]#1, %[[R]]#0, %[[R]]#1
func.func @one_of_two(%h: tensor<8x16xf32>, %s: tensor<8x2xf32>, %t: tensor<8x2xf32>, %wq: tensor<4x16xf32>, %b: tensor<4x2xf32>, %q0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %q = coda.gemm acc(%h[m, k0] * %wq[n, k0] + %s[m, k1] * %b[n, k1] : tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x2xf32>, tensor<4x2xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %v = coda.gemm acc(%t[m, k0] * %b[n, k0] + %h[m, k1] * %wq[n, k1] : tensor<8x2xf32>, tensor<4x2xf32>, tensor<8x16xf32>, tensor<4x16xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %x = coda.gemm acc(%s[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %y = coda.gemm acc(%s[m, k] * %b[n, k] : tensor<8x2xf32>, tensor<4x2xf32>) outs(%q0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    coda.yield %0 : f32
  }
  return %q, %v, %x, %y : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// Maps of which nothing waits for the results, which are returned as they are, in
// another shape or a part of a tensor, whatever they compute.
// CHECK-LABEL: func.func @last(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<2x8xf32>, %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>,
// CHECK:       %[[B:.*]]:3 = coda.bundle -> tensor<8xf32>, tensor<8x4xf32>, tensor<4xf32> {
// CHECK:         %[[S:.*]] = coda.map
// CHECK-NEXT:      ins(add %[[P]][p, m] : tensor<2x8xf32>)
// CHECK:         %[[O:.*]] = coda.map
// CHECK-NEXT:      ins(%[[X]][m], %[[Y]][n] : tensor<8xf32>, tensor<4xf32>)
// CHECK:         %[[R:.*]] = coda.map
// CHECK-NEXT:      ins(%[[Y]][m] : tensor<4xf32>)
// CHECK:         coda.yield %[[S]], %[[O]], %[[R]]
// CHECK-DAG:   %[[E:.*]] = tensor.expand_shape %[[B]]#1
// CHECK-DAG:   %[[I:.*]] = tensor.insert_slice %[[B]]#2 into
// CHECK:       return %[[B]]#0, %[[E]], %[[I]]
func.func @last(%p: tensor<2x8xf32>, %x: tensor<8xf32>, %y: tensor<4xf32>, %s0: tensor<8xf32>, %o0: tensor<8x4xf32>, %r0: tensor<4xf32>, %all: tensor<12xf32>) -> (tensor<8xf32>, tensor<2x4x4xf32>, tensor<12xf32>) {
  %s = coda.map ins(add %p[p, m] : tensor<2x8xf32>) outs(%s0[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %o = coda.map ins(%x[m], %y[n] : tensor<8xf32>, tensor<4xf32>) outs(%o0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    coda.yield %0 : f32
  }
  %e = tensor.expand_shape %o [[0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
  %r = coda.map ins(%y[m] : tensor<4xf32>) outs(%r0[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    coda.yield %0 : f32
  }
  %i = tensor.insert_slice %r into %all[8] [4] [1] : tensor<4xf32> into tensor<12xf32>
  return %s, %e, %i : tensor<8xf32>, tensor<2x4x4xf32>, tensor<12xf32>
}

// One that another op reads, or writes into, is not last; one that reduces is what
// others may finish.
// CHECK-LABEL: func.func @not_last(
// CHECK-NOT:   coda.bundle
// CHECK:       return
func.func @not_last(%x: tensor<8xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %o0: tensor<8x4xf32>, %s0: tensor<8xf32>, %t0: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) {
  %o = coda.map ins(%x[m], %y[n] : tensor<8xf32>, tensor<4xf32>) outs(%o0[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    coda.yield %0 : f32
  }
  %s = coda.map ins(%o[m, n] : tensor<8x4xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %0 = arith.mulf %a, %a : f32
    coda.yield %0 : f32
  }
  %t = coda.map ins(%y[m] : tensor<4xf32>) outs(%t0[m] : tensor<4xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    coda.yield %0 : f32
  }
  %i = tensor.insert_slice %z into %t[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
  return %o, %i, %s, %z : tensor<8x4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
}

// No more than eight in one.
// CHECK-LABEL: func.func @many(
// CHECK:       coda.bundle
// CHECK-COUNT-8: coda.map
// CHECK:       coda.yield
// CHECK-NOT:   coda.bundle
// CHECK:       coda.map
// CHECK:       return
func.func @many(%x: tensor<8xf32>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %1 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %2 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %3 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %4 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %5 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %6 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %7 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  %8 = coda.map ins(%x[m] : tensor<8xf32>) outs(%o[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    coda.yield %v : f32
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Nor more than a kernel passes: six have 24 tensors of two dims, the seventh is alone.
// CHECK-LABEL: func.func @many_tensors(
// CHECK:       coda.bundle
// CHECK-COUNT-6: coda.map
// CHECK:       coda.yield {{%.*, %.*, %.*, %.*, %.*, %[^,]* :}}
// CHECK-NOT:   coda.bundle
// CHECK:       coda.map
// CHECK:       return
func.func @many_tensors(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %z: tensor<8x4xf32>, %o: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  %1 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  %2 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  %3 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  %4 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  %5 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  %6 = coda.map ins(%x[m, n], %y[m, n], %z[m, n] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    coda.yield %w : f32
  }
  return %0, %1, %2, %3, %4, %5, %6 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
