// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise),canonicalize)' | FileCheck %s
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise{numerics=strict}))' 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise{all=true}),canonicalize)' | FileCheck %s --check-prefix=BATCH

// The logarithm: the maximum is read no more.

// CHECK-LABEL: func.func @log_softmax(
// CHECK:       %[[Z:.*]] = linalg.matmul
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Z]][m, n] : tensor<8x16xf32>)
// CHECK-NEXT:    outs(fresh logaddexp %{{.*}}[m] : tensor<8xf32>)
// CHECK:       linalg.generic {{.*}} ins(%[[Z]], %[[LSE]] : tensor<8x16xf32>, tensor<8xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[R:.*]] = arith.subf %[[A]], %[[B]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
// CHECK-NOT:   linalg.generic
// STRICT:      remark: [coda-raise] not raised to softmax: strict-rounding
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @log_softmax(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<8x16xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x1 = math.exp %a : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %p : tensor<8x16xf32>
}

// -----

// The quotient, times a value of the row and a number, as a gradient has it.

// CHECK-LABEL: func.func @softmax_times_row(
// CHECK-SAME:    %[[G:[a-z0-9]+]]: tensor<8xf32>
// CHECK-DAG:   %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG:   %[[Z:.*]] = linalg.matmul
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK:       linalg.generic {{.*}} ins(%[[Z]], %[[LSE]], %[[G]] :
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[D:.*]] = arith.subf %[[A]], %[[B]] : f32
// CHECK-NEXT:    %[[E:.*]] = math.exp %[[D]] : f32
// CHECK-NEXT:    %[[F:.*]] = arith.mulf %[[E]], %[[C]] : f32
// CHECK-NEXT:    %[[R:.*]] = arith.mulf %[[F]], %[[TWO]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @softmax_times_row(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %g: tensor<8xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<8x16xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x1 = math.exp %a : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %two = arith.constant 2.0 : f32
  %p = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%d, %s, %g : tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %t = math.exp %a : f32
    %q = arith.divf %c, %b : f32
    %u = arith.mulf %q, %two : f32
    %r = arith.mulf %u, %t : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %p : tensor<8x16xf32>
}

// -----

// Not of one matrix: the sum is of another one's exponentials.

// CHECK-LABEL: func.func @no_common_matrix(
// CHECK-NOT:   coda.map
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @no_common_matrix(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<8x16xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x1 = math.exp %a : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %p : tensor<8x16xf32>
}

// -----

// No product makes the matrix: nothing could take its sums along.

// CHECK-LABEL: func.func @no_product(
// CHECK-NOT:   coda.map
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @no_product(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%y, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<8x16xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x1 = math.exp %a : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %p : tensor<8x16xf32>
}

// -----

// The sum of the logarithms over the columns, as label smoothing has it: that of
// the logits, less 16 of the row's logsumexp. No logit waits for it.

// CHECK-LABEL: func.func @sum_of_logarithms(
// CHECK-DAG:   %[[ALL:.*]] = arith.constant 1.600000e+01 : f32
// CHECK-DAG:   %[[Z:.*]] = linalg.matmul
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Z]][m, n] : tensor<8x16xf32>)
// CHECK-NEXT:    outs(fresh logaddexp %{{.*}}[m] : tensor<8xf32>)
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[Z]] : tensor<8x16xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[A]] : f32
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[O]], %[[N]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
// CHECK:       linalg.generic {{.*}}["parallel"]} ins(%[[SUM]], %[[LSE]] : tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT:  ^bb0(%[[B:.*]]: f32, %[[L:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[S:.*]] = arith.mulf %[[L]], %[[ALL]] : f32
// CHECK-NEXT:    %[[D:.*]] = arith.addf %[[B]], %[[S]] : f32
// CHECK-NEXT:    linalg.yield %[[D]] : f32
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @sum_of_logarithms(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %x1 = math.exp %d : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m, %s : tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %l = math.log %c : f32
    %u = arith.subf %d, %l : f32
    %n = arith.negf %u : f32
    %r = arith.addf %n, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}

// -----

// Over rows, too, of shares given: the weights are summed beside.

// CHECK-LABEL: func.func @divergence(
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<8x16xf32>) ->
// CHECK:       %[[Z:.*]] = linalg.matmul
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[T]], %[[Z]] : tensor<8x16xf32>, tensor<8x16xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT:    %[[M:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[O]], %[[M]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
// CHECK:       %[[WEIGHT:.*]] = linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[T]] : tensor<8x16xf32>)
// CHECK-NEXT:  ^bb0(%[[C:.*]]: f32, %[[P:.*]]: f32):
// CHECK-NEXT:    %[[W:.*]] = arith.addf %[[P]], %[[C]] : f32
// CHECK-NEXT:    linalg.yield %[[W]] : f32
// CHECK:       linalg.generic {{.*}}["reduction"]} ins(%[[SUM]], %[[LSE]], %[[WEIGHT]] :
// CHECK-NEXT:  ^bb0(%[[D:.*]]: f32, %[[L:.*]]: f32, %[[V:.*]]: f32, %[[Q:.*]]: f32):
// CHECK-NEXT:    %[[S:.*]] = arith.mulf %[[L]], %[[V]] : f32
// CHECK-NEXT:    %[[G:.*]] = arith.subf %[[D]], %[[S]] : f32
// CHECK-NEXT:    %[[H:.*]] = arith.addf %[[Q]], %[[G]] : f32
// CHECK-NEXT:    linalg.yield %[[H]] : f32
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#none = affine_map<(m, n) -> ()>
func.func @divergence(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %t: tensor<8x16xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %x1 = math.exp %d : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<f32>
  %zf = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %p = linalg.generic {indexing_maps = [#full, #row, #row, #full, #none], iterator_types = ["reduction", "reduction"]} ins(%z, %m, %s, %t : tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x16xf32>) outs(%zf : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %g: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %l = math.log %c : f32
    %u = arith.subf %d, %l : f32
    %v = arith.mulf %g, %u : f32
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %p : tensor<f32>
}

// -----

// The entropy is not linear in the logarithm: its sum reads the row's logsumexp.

// CHECK-LABEL: func.func @no_split_of_entropy(
// CHECK:       %[[Z:.*]] = linalg.matmul
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK:       linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[Z]], %[[LSE]] : tensor<8x16xf32>, tensor<8xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[L:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT:    %[[U:.*]] = arith.subf %[[A]], %[[L]] : f32
// CHECK-NEXT:    %[[P:.*]] = math.exp %[[U]] : f32
// CHECK-NEXT:    %[[V:.*]] = arith.mulf %[[P]], %[[U]] : f32
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[V]], %[[O]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @no_split_of_entropy(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %x1 = math.exp %d : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m, %s : tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %l = math.log %c : f32
    %u = arith.subf %d, %l : f32
    %q = math.exp %u : f32
    %v = arith.mulf %q, %u : f32
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}

// -----

// The logarithm without its shift is no logsumexp of the row.

// CHECK-LABEL: func.func @no_shift(
// CHECK-NOT:   coda.map
// CHECK:       math.log
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#vec = affine_map<(m) -> (m)>
func.func @no_shift(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %x1 = math.exp %d : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%er : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %l = math.log %a : f32
    %r = arith.mulf %l, %l : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}

// -----

// The scores of attention, rows of a batch: with `all` only.

// CHECK-LABEL: func.func @of_batch(
// CHECK-NOT:   coda.map
// CHECK:       arith.maximumf
// CHECK-NOT:   coda.map
// BATCH-LABEL:   func.func @of_batch(
// BATCH:         %[[Z:.*]] = linalg.batch_matmul
// BATCH-NOT:     maximumf
// BATCH:         %[[LSE:.*]] = coda.map
// BATCH-NEXT:      ins(%[[Z]][m0, m1, n] : tensor<2x8x16xf32>)
// BATCH-NEXT:      outs(fresh logaddexp %{{.*}}[m0, m1] : tensor<2x8xf32>)
// BATCH:         linalg.generic {indexing_maps = [#[[ALL:.*]], #[[ROW:.*]], #[[ALL]]], {{.*}} ins(%[[Z]], %[[LSE]] : tensor<2x8x16xf32>, tensor<2x8xf32>)
// BATCH-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// BATCH-NEXT:      %[[D:.*]] = arith.subf %[[A]], %[[B]] : f32
// BATCH-NEXT:      %[[E:.*]] = math.exp %[[D]] : f32
// BATCH-NEXT:      linalg.yield %[[E]] : f32
#full = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @of_batch(%q: tensor<2x8x4xf32>, %k: tensor<2x4x16xf32>) -> tensor<2x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x8x16xf32>
  %er = tensor.empty() : tensor<2x8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x8xf32>) -> tensor<2x8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<2x8xf32>) -> tensor<2x8xf32>
  %z = linalg.batch_matmul ins(%q, %k : tensor<2x8x4xf32>, tensor<2x4x16xf32>) outs(%zz : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%z : tensor<2x8x16xf32>) outs(%lr : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z, %m : tensor<2x8x16xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<2x8x16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : tensor<2x8x16xf32>) outs(%zr : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %s : tensor<2x8x16xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<2x8x16xf32>
  return %y : tensor<2x8x16xf32>
}

// -----

// One row alone, as coda-normalize has it: what the row is known by is a number, read where
// the body is.

// CHECK-LABEL: func.func @of_one_row(
// CHECK:       %[[Z:.*]] = linalg.vecmat
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK-NEXT:    ins(%[[Z]][n] : tensor<16xf32>)
// CHECK-NEXT:    outs(fresh logaddexp %{{.*}}[] : tensor<f32>)
// CHECK:       linalg.generic {{.*}} ins(%[[Z]], %[[LSE]] : tensor<16xf32>, tensor<f32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[D:.*]] = arith.subf %[[A]], %[[B]] : f32
// CHECK-NEXT:    %[[E:.*]] = math.exp %[[D]] : f32
// CHECK-NEXT:    linalg.yield %[[E]] : f32
#full = affine_map<(n) -> (n)>
#row = affine_map<(n) -> ()>
func.func @of_one_row(%x: tensor<4xf32>, %w: tensor<4x16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %er = tensor.empty() : tensor<f32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<f32>) -> tensor<f32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<f32>) -> tensor<f32>
  %z = linalg.vecmat ins(%x, %w : tensor<4xf32>, tensor<4x16xf32>) outs(%zz : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["reduction"]} ins(%z : tensor<16xf32>) outs(%lr : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %p = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel"]} ins(%z : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = tensor.extract %m[] : tensor<f32>
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["reduction"]} ins(%p : tensor<16xf32>) outs(%zr : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = tensor.extract %s[] : tensor<f32>
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

// Picked by a comparison: the weights read the labels and the column's number alone, so
// that the matrix tells how many columns there are. Not the logarithms, which nothing
// else reads then.

// CHECK-LABEL: func.func @sum_of_picked(
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<8xi64>) ->
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG:   %[[ONE:.*]] = arith.constant 1.0
// CHECK-DAG:   %[[Z:.*]] = linalg.matmul
// CHECK-NOT:   maximumf
// CHECK:       %[[LSE:.*]] = coda.map
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[T]], %[[Z]] : tensor<8xi64>, tensor<8x16xf32>)
// CHECK:       %[[WEIGHT:.*]] = linalg.generic {indexing_maps = [#[[ROW:.*]], #[[FULL:.*]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[T]], %[[Z]] : tensor<8xi64>, tensor<8x16xf32>)
// CHECK-NEXT:  ^bb0(%[[L:.*]]: i64, %{{.*}}: f32, %[[O:.*]]: f32):
// CHECK-NEXT:    %[[I:.*]] = linalg.index 1 : index
// CHECK-NEXT:    %[[C:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    %[[Q:.*]] = arith.cmpi eq, %[[L]], %[[C]] : i64
// CHECK-NEXT:    %[[S:.*]] = arith.select %[[Q]], %[[ONE]], %[[ZERO]] : f32
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[O]], %[[S]] : f32
// CHECK-NEXT:    linalg.yield %[[R]] : f32
// CHECK:       linalg.generic {{.*}}["parallel"]} ins(%[[SUM]], %[[LSE]], %[[WEIGHT]] :
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @sum_of_picked(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %t: tensor<8xi64>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%zz : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<8x16xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%z, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<8x16xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x1 = math.exp %a : f32
    %r = arith.addf %x1, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#row, #full, #row], iterator_types = ["parallel", "reduction"]} ins(%t, %p : tensor<8xi64>, tensor<8x16xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%l: i64, %a: f32, %o: f32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i64
    %q = arith.cmpi eq, %l, %c : i64
    %v = arith.select %q, %a, %zero : f32
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
