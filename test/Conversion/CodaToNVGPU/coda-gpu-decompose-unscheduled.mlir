// RUN: coda-opt %s --coda-gpu-decompose-unscheduled --split-input-file --verify-diagnostics | FileCheck %s

// A kernel with a schedule stays one.
// CHECK-LABEL: func.func private @fits(
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK: coda.gemm
func.func private @fits(%a: tensor<?x64xbf16>, %w: tensor<256x64xbf16>, %o: tensor<?x256xbf16>) -> tensor<?x256xbf16> attributes {coda.kernel, no_inline} {
  %0 = coda.gemm acc(%a[m, k] * %w[n, k] : tensor<?x64xbf16>, tensor<256x64xbf16>) outs(%o[m, n] : tensor<?x256xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return %0 : tensor<?x256xbf16>
}

// -----

// CHECK-LABEL: func.func private @f32_factors
// CHECK-NOT: attributes
// CHECK-SAME: {
// CHECK: linalg.generic
// CHECK-NOT: coda.
// CHECK: return
func.func private @f32_factors(%a: tensor<?x64xf32>, %w: tensor<256x64xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{'f32_factors' is not one kernel: unfused-on-device: no schedule on sm_90a: factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2 (coda-split-f32, f32-products=bf16x3, makes such of f32); it runs as loops}}
  %0 = coda.gemm acc(%a[m, k] * %w[n, k] : tensor<?x64xf32>, tensor<256x64xf32>) outs(%o[m, n] : tensor<?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<?x256xf32>
}

// -----

// Rows that are not whole 16 bytes, of one dim or of two that are walked as one, have
// to be padded; they are not where more than the first dim is not known.
// CHECK-LABEL: func.func private @padded(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x63xbf16> {coda.padded_row = 1 : i64}, %{{[a-z0-9]+}}: tensor<256x63xbf16> {coda.padded_row = 1 : i64}, %{{[a-z0-9]+}}: tensor<?x256xf32>)
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK: coda.gemm
func.func private @padded(%a: tensor<?x63xbf16>, %w: tensor<256x63xbf16>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{'padded': padded-rows: the copy engine takes rows of whole 16 bytes, and those of 2 of its factors are not: they are made with more, or copied to a buffer that has more}}
  %0 = coda.gemm acc(%a[m, k] * %w[n, k] : tensor<?x63xbf16>, tensor<256x63xbf16>) outs(%o[m, n] : tensor<?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<?x256xf32>
}

// -----

// CHECK-LABEL: func.func private @padded_two(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<64x512xbf16>, %{{[a-z0-9]+}}: tensor<512x12x3xbf16> {coda.padded_row = 1 : i64}, %{{[a-z0-9]+}}: tensor<64x12x3xf32>)
// CHECK-SAME: attributes {coda.kernel, no_inline}
func.func private @padded_two(%a: tensor<64x512xbf16>, %w: tensor<512x12x3xbf16>, %o: tensor<64x12x3xf32>) -> tensor<64x12x3xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{those of 1 of its factors are not}}
  %0 = coda.gemm acc(%a[m, k] * %w[k, n0, n1] : tensor<64x512xbf16>, tensor<512x12x3xbf16>) outs(%o[m, n0, n1] : tensor<64x12x3xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<64x12x3xf32>
}

// -----

// CHECK: module attributes {coda.unscheduled = {not_aligned = "no schedule on sm_90a: a factor is not aligned: its rows must be whole 16 bytes; it runs as loops"}}
func.func private @not_aligned(%a: tensor<4x?x63xbf16>, %w: tensor<256x63xbf16>, %o: tensor<4x?x256xf32>) -> tensor<4x?x256xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{no schedule on sm_90a: a factor is not aligned: its rows must be whole 16 bytes; it runs as loops}}
  %0 = coda.gemm acc(%a[m0, m1, k] * %w[n, k] : tensor<4x?x63xbf16>, tensor<256x63xbf16>) outs(%o[m0, m1, n] : tensor<4x?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x?x256xf32>
}

// -----

func.func private @no_k(%a: tensor<?x0xbf16>, %w: tensor<256x0xbf16>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{no schedule on sm_90a: an extent is 0}}
  %0 = coda.gemm acc(%a[m, k] * %w[n, k] : tensor<?x0xbf16>, tensor<256x0xbf16>) outs(%o[m, n] : tensor<?x256xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<?x256xf32>
}

// -----

// The member with a schedule becomes a kernel of its own.
// CHECK-LABEL: func.func private @bundle(
// CHECK-SAME: %[[A:.+]]: tensor<?x64xbf16>, %[[V:.+]]: tensor<256x64xbf16>, %[[B:.+]]: tensor<?x64xf32>, %[[W:.+]]: tensor<40x64xf32>, %[[O:.+]]: tensor<?x256xbf16>,
// CHECK: %[[FIT:.+]] = call @bundle_member_rows(%[[A]], %[[V]], %[[O]])
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[W]] :
// CHECK: return %[[FIT]], %{{.+}} :
// CHECK: func.func private @bundle_member(
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK: coda.gemm
func.func private @bundle(%a: tensor<?x64xbf16>, %v: tensor<256x64xbf16>, %b: tensor<?x64xf32>, %w: tensor<40x64xf32>, %o: tensor<?x256xbf16>, %p: tensor<?x40xf32>) -> (tensor<?x256xbf16>, tensor<?x40xf32>) attributes {coda.kernel, no_inline} {
  %0:2 = coda.bundle -> tensor<?x256xbf16>, tensor<?x40xf32> {
    %1 = coda.gemm acc(%a[m, k] * %v[n, k] : tensor<?x64xbf16>, tensor<256x64xbf16>) outs(%o[m, n] : tensor<?x256xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    // expected-remark @+1 {{no schedule on sm_90a: factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2}}
    %2 = coda.gemm acc(%b[m, k] * %w[n, k] : tensor<?x64xf32>, tensor<40x64xf32>) outs(%p[m, n] : tensor<?x40xf32>) {
    ^bb0(%x: f32):
      coda.yield %x : f32
    }
    coda.yield %1, %2 : tensor<?x256xbf16>, tensor<?x40xf32>
  }
  return %0#0, %0#1 : tensor<?x256xbf16>, tensor<?x40xf32>
}

// -----

// The rows of %o and of both factors are whole 16 bytes only for some n and k,
// and the main loop needs a k: known when it is called.
// CHECK-LABEL: func.func private @dynamic_any(
// CHECK-SAME: %[[A:.+]]: tensor<?x?xbf16>, %[[W:.+]]: tensor<?x?xbf16>, %[[O:.+]]: tensor<?x?xbf16>)
// CHECK-DAG: %[[K:.+]] = tensor.dim %[[A]], %{{.+}} : tensor<?x?xbf16>
// CHECK-DAG: arith.remui %{{.+}}, %{{.+}} : index
// CHECK: %[[R:.+]] = scf.if %{{.+}} -> (tensor<?x?xbf16>) {
// CHECK:   %[[FAST:.+]] = func.call @dynamic(%[[A]], %[[W]], %[[O]])
// CHECK:   scf.yield %[[FAST]]
// CHECK: } else {
// CHECK:   linalg.generic
// CHECK: } {coda.dispatch}
// CHECK: return %[[R]]
// CHECK: func.func private @dynamic(
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK: func.func @caller
// CHECK: call @dynamic_any
func.func private @dynamic(%a: tensor<?x?xbf16>, %w: tensor<?x?xbf16>, %o: tensor<?x?xbf16>) -> tensor<?x?xbf16> attributes {coda.kernel, no_inline} {
  // expected-remark @+2 {{two versions of 'dynamic': unfused-on-device: loops where a dynamic stride is no multiple of 16 bytes or k is empty}}
  // expected-remark @+1 {{one version of 'dynamic': few-rows: at most 64 of them have no schedule of their own: columns, or terms of a sum, are not known either}}
  %0 = coda.gemm acc(%a[m, k] * %w[n, k] : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%o[m, n] : tensor<?x?xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return %0 : tensor<?x?xbf16>
}
func.func @caller(%a: tensor<?x?xbf16>, %w: tensor<?x?xbf16>, %o: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = call @dynamic(%a, %w, %o) : (tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// -----

// A dynamic outer extent moves no stride that is not whole 16 bytes anyway. Few
// rows have a kernel of their own.
// CHECK-LABEL: func.func private @dynamic_rows_rows(
// CHECK-SAME: %[[A:.*]]: tensor<2x?x64xbf16>, %[[W:.*]]: tensor<128x64xbf16>, %[[O:.*]]: tensor<2x?x128xbf16>) -> tensor<2x?x128xbf16> {
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[M:.*]] = tensor.dim %[[A]], %[[C1]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[C2]], %[[M]]
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[ROWS]], %[[C64]]
// CHECK: %[[R:.*]] = scf.if %[[FEW]] -> (tensor<2x?x128xbf16>) {
// CHECK:   %[[X:.*]] = func.call @dynamic_rows_few(%[[A]], %[[W]], %[[O]])
// CHECK:   scf.yield %[[X]]
// CHECK: } else {
// CHECK:   %[[Y:.*]] = func.call @dynamic_rows(%[[A]], %[[W]], %[[O]])
// CHECK:   scf.yield %[[Y]]
// CHECK: } {coda.dispatch}
// CHECK: return %[[R]]
// CHECK: func.func private @dynamic_rows(
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK: func.func private @dynamic_rows_few(
// CHECK-SAME: attributes {coda.kernel, coda.max_rows = 64 : i64, no_inline}
func.func private @dynamic_rows(%a: tensor<2x?x64xbf16>, %w: tensor<128x64xbf16>, %o: tensor<2x?x128xbf16>) -> tensor<2x?x128xbf16> attributes {coda.kernel, no_inline} {
  %0 = coda.gemm acc(%a[m0, m1, k] * %w[n, k] : tensor<2x?x64xbf16>, tensor<128x64xbf16>) outs(%o[m0, m1, n] : tensor<2x?x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return %0 : tensor<2x?x128xbf16>
}

// -----

// So have those of a bundle, here of two numbers: few are few in each member.
// CHECK-LABEL: func.func private @two_numbers_rows(
// CHECK-SAME: %[[A:.+]]: tensor<?x64xbf16>, %[[W:.+]]: tensor<64x128xbf16>, %[[O:.+]]: tensor<?x128xbf16>, %[[B:.+]]: tensor<?x64xbf16>, %[[P:.+]]: tensor<?x128xbf16>)
// CHECK-DAG: %[[M:.+]] = tensor.dim %[[A]], %{{.+}} : tensor<?x64xbf16>
// CHECK-DAG: %[[N:.+]] = tensor.dim %[[B]], %{{.+}} : tensor<?x64xbf16>
// CHECK-DAG: %[[MROWS:.+]] = arith.muli %{{.+}}, %[[M]] : index
// CHECK-DAG: %[[NROWS:.+]] = arith.muli %{{.+}}, %[[N]] : index
// CHECK-DAG: %[[MFEW:.+]] = arith.cmpi ule, %[[MROWS]], %{{.+}} : index
// CHECK-DAG: %[[NFEW:.+]] = arith.cmpi ule, %[[NROWS]], %{{.+}} : index
// CHECK: %[[FEW:.+]] = arith.andi %[[MFEW]], %[[NFEW]] : i1
// CHECK: %[[R:.+]]:2 = scf.if %[[FEW]] -> (tensor<?x128xbf16>, tensor<?x128xbf16>) {
// CHECK:   %[[X:.+]]:2 = func.call @two_numbers_few(%[[A]], %[[W]], %[[O]], %[[B]], %[[P]])
// CHECK:   scf.yield %[[X]]#0, %[[X]]#1
// CHECK: } else {
// CHECK:   %[[Y:.+]]:2 = func.call @two_numbers(%[[A]], %[[W]], %[[O]], %[[B]], %[[P]])
// CHECK:   scf.yield %[[Y]]#0, %[[Y]]#1
// CHECK: } {coda.dispatch}
// CHECK: return %[[R]]#0, %[[R]]#1
// CHECK: func.func private @two_numbers(
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK: func.func private @two_numbers_few(
// CHECK-SAME: attributes {coda.kernel, coda.max_rows = 64 : i64, no_inline}
func.func private @two_numbers(%a: tensor<?x64xbf16>, %w: tensor<64x128xbf16>, %o: tensor<?x128xbf16>, %b: tensor<?x64xbf16>, %p: tensor<?x128xbf16>) -> (tensor<?x128xbf16>, tensor<?x128xbf16>) attributes {coda.kernel, no_inline} {
  %0:2 = coda.bundle -> tensor<?x128xbf16>, tensor<?x128xbf16> {
    %1 = coda.gemm acc(%a[m, k] * %w[k, n] : tensor<?x64xbf16>, tensor<64x128xbf16>) outs(%o[m, n] : tensor<?x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %2 = coda.gemm acc(%b[m, k] * %w[k, n] : tensor<?x64xbf16>, tensor<64x128xbf16>) outs(%p[m, n] : tensor<?x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.yield %1, %2 : tensor<?x128xbf16>, tensor<?x128xbf16>
  }
  return %0#0, %0#1 : tensor<?x128xbf16>, tensor<?x128xbf16>
}

// -----

// Members of one left factor have one number of rows.
// CHECK-LABEL: func.func private @one_number_rows(
// CHECK-SAME: %[[A:.+]]: tensor<?x64xbf16>, %[[V:.+]]: tensor<64x128xbf16>,
// CHECK: %[[M:.+]] = tensor.dim %[[A]], %{{.+}} : tensor<?x64xbf16>
// CHECK: %[[ROWS:.+]] = arith.muli %{{.+}}, %[[M]] : index
// CHECK: %[[FEW:.+]] = arith.cmpi ule, %[[ROWS]], %{{.+}} : index
// CHECK-NOT: arith.
// CHECK: scf.if %[[FEW]]
// CHECK:   func.call @one_number_few(
// CHECK:   func.call @one_number(
func.func private @one_number(%a: tensor<?x64xbf16>, %v: tensor<64x128xbf16>, %o: tensor<?x128xbf16>, %w: tensor<64x64xbf16>, %p: tensor<?x64xbf16>) -> (tensor<?x128xbf16>, tensor<?x64xbf16>) attributes {coda.kernel, no_inline} {
  %0:2 = coda.bundle -> tensor<?x128xbf16>, tensor<?x64xbf16> {
    %1 = coda.gemm acc(%a[m, k] * %v[k, n] : tensor<?x64xbf16>, tensor<64x128xbf16>) outs(%o[m, n] : tensor<?x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %2 = coda.gemm acc(%a[m, k] * %w[k, n] : tensor<?x64xbf16>, tensor<64x64xbf16>) outs(%p[m, n] : tensor<?x64xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.yield %1, %2 : tensor<?x128xbf16>, tensor<?x64xbf16>
  }
  return %0#0, %0#1 : tensor<?x128xbf16>, tensor<?x64xbf16>
}

// -----

// One member has many rows: they are never few.
// CHECK-LABEL: func.func private @no_few_of_many(
// CHECK-SAME: attributes {coda.kernel, no_inline}
// CHECK-NOT: coda.max_rows
func.func private @no_few_of_many(%a: tensor<?x64xbf16>, %w: tensor<64x128xbf16>, %o: tensor<?x128xbf16>, %b: tensor<256x64xbf16>, %p: tensor<256x128xbf16>) -> (tensor<?x128xbf16>, tensor<256x128xbf16>) attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{one version of 'no_few_of_many': few-rows: at most 64 of them have no schedule of their own: another member has more of them in any call}}
  %0:2 = coda.bundle -> tensor<?x128xbf16>, tensor<256x128xbf16> {
    %1 = coda.gemm acc(%a[m, k] * %w[k, n] : tensor<?x64xbf16>, tensor<64x128xbf16>) outs(%o[m, n] : tensor<?x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %2 = coda.gemm acc(%b[m, k] * %w[k, n] : tensor<256x64xbf16>, tensor<64x128xbf16>) outs(%p[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.yield %1, %2 : tensor<?x128xbf16>, tensor<256x128xbf16>
  }
  return %0#0, %0#1 : tensor<?x128xbf16>, tensor<256x128xbf16>
}

// -----

// Products over the rows, gradients of weights, have none of their own; a map
// streams no weights. Nothing is said.
// CHECK-LABEL: func.func private @no_rows(
// CHECK-NOT: coda.max_rows
func.func private @no_rows(%a: tensor<?x64xbf16>, %b: tensor<?x128xbf16>, %o: tensor<64x128xf32>) -> tensor<64x128xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{two versions of 'no_rows': unfused-on-device}}
  %0 = coda.gemm acc(%a[k, m] * %b[k, n] : tensor<?x64xbf16>, tensor<?x128xbf16>) outs(%o[m, n] : tensor<64x128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<64x128xf32>
}
func.func private @no_products(%x: tensor<?x128xf32>, %o: tensor<?x128xf32>) -> tensor<?x128xf32> attributes {coda.kernel, no_inline} {
  %0 = coda.map ins(%x[m, n] : tensor<?x128xf32>) outs(%o[m, n] : tensor<?x128xf32>) {
  ^bb0(%y: f32):
    %z = arith.negf %y : f32
    coda.yield %z : f32
  }
  return %0 : tensor<?x128xf32>
}

// -----

func.func private @predicate_loaded(%p: tensor<64x64xi1>, %x: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{no schedule on sm_90a: a loaded element is narrower than a byte}}
  %0 = coda.map ins(%p[m, n], %x[m, n] : tensor<64x64xi1>, tensor<64x64xf32>) outs(%o[m, n] : tensor<64x64xf32>) {
  ^bb0(%c: i1, %y: f32):
    %z = arith.negf %y : f32
    %s = arith.select %c, %y, %z : f32
    coda.yield %s : f32
  }
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @predicate_stored(%x: tensor<64x64xf32>, %o: tensor<64x64xi1>) -> tensor<64x64xi1> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{no schedule on sm_90a: a stored element is narrower than a byte}}
  %0 = coda.map ins(%x[m, n] : tensor<64x64xf32>) outs(%o[m, n] : tensor<64x64xi1>) {
  ^bb0(%y: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %y, %zero : f32
    coda.yield %c : i1
  }
  return %0 : tensor<64x64xi1>
}

// -----

// Where the products alone fit a schedule they are kernels, unrolled dims being
// columns like others; the region is a map of what they store.
// CHECK-LABEL: func.func private @separated(
// CHECK-SAME: %[[A:.+]]: tensor<256x64xbf16>, %[[V:.+]]: tensor<64x3x2x16xbf16>, %[[W:.+]]: tensor<64x3x16xbf16>, %[[C:.+]]: tensor<256x16xf32>,
// CHECK: %[[X:.+]] = call @separated_member(%[[A]], %[[V]], %{{.+}}) : {{.*}} -> tensor<256x3x2x16xf32>
// CHECK: %[[Z:.+]] = call @separated_member_0(%[[A]], %[[W]], %{{.+}}) : {{.*}} -> tensor<256x3x16xf32>
// CHECK: %[[X0:.+]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [256, 3, 1, 16]
// CHECK: %[[X1:.+]] = tensor.extract_slice %[[X]][0, 0, 1, 0] [256, 3, 1, 16]
// CHECK: linalg.generic {{.*}} ins(%[[Z]], %[[X1]], %[[C]], %[[X0]] :
// CHECK: func.func private @separated_member_0({{.*}} attributes {coda.kernel, no_inline}
// CHECK: acc(%{{.+}}[m, k] * %{{.+}}[k, n0, n1] :
// CHECK: func.func private @separated_member({{.*}} attributes {coda.kernel, no_inline}
// CHECK: acc(%{{.+}}[m, k] * %{{.+}}[k, n0, n1, n2] :
func.func private @separated(%a: tensor<256x64xbf16>, %v: tensor<64x3x2x16xbf16>, %w: tensor<64x3x16xbf16>, %c: tensor<256x16xf32>, %o: tensor<3x256x2x16xi1>, %s: tensor<256xf32>) -> (tensor<3x256x2x16xi1>, tensor<256xf32>) attributes {coda.kernel, no_inline} {
  // expected-remark-re @+1 {{'separated' is not one kernel: unfused-on-device: no schedule on sm_90a: {{.+}}; its products are kernels of their own, the rest of it runs as loops}}
  %0:2 = coda.gemm acc(%a[m, k] * %v[k, n0, u, n1], %a[m, k] * %w[k, n0, n1] : tensor<256x64xbf16>, tensor<64x3x2x16xbf16>, tensor<256x64xbf16>, tensor<64x3x16xbf16>)
      ins(%c[m, n1] : tensor<256x16xf32>)
      outs(%o[n0, m, u, n1], fresh add %s[m] : tensor<3x256x2x16xi1>, tensor<256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %t: f32):
    %p = arith.mulf %x, %t : f32
    %q = arith.mulf %y, %z : f32
    %zero = arith.constant 0.0 : f32
    %pn = arith.cmpf ogt, %p, %zero : f32
    %qn = arith.cmpf ogt, %q, %zero : f32
    coda.yield %pn, %qn, %q : i1, i1, f32
  }
  return %0#0, %0#1 : tensor<3x256x2x16xi1>, tensor<256xf32>
}

// -----

// Halves of 20 columns are no chunks: the products are a kernel all the same.
// CHECK-LABEL: func.func private @halves_of_20(
// CHECK: call @halves_of_20_member
// CHECK: linalg.generic
// CHECK: func.func private @halves_of_20_member({{.*}} attributes {coda.kernel, no_inline}
// CHECK: acc(%{{.+}}[m, k] * %{{.+}}[n0, n1, n2, k] :
func.func private @halves_of_20(%a: tensor<256x64xbf16>, %w: tensor<3x2x20x64xbf16>, %c: tensor<256x20xf32>, %o: tensor<3x256x2x20xbf16>) -> tensor<3x256x2x20xbf16> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{no schedule on sm_90a: the inner of several n dims is no multiple of 8; its products are kernels of their own, the rest of it runs as loops}}
  %0 = coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : tensor<256x64xbf16>, tensor<3x2x20x64xbf16>)
      ins(%c[m, n1] : tensor<256x20xf32>) outs(%o[n0, m, u, n1] : tensor<3x256x2x20xbf16>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %s : f32
    %q = arith.mulf %y, %s : f32
    %pb = arith.truncf %p : f32 to bf16
    %qb = arith.truncf %q : f32 to bf16
    coda.yield %pb, %qb : bf16, bf16
  }
  return %0 : tensor<3x256x2x20xbf16>
}

// -----

// Tensor cores multiply no factors of f32 exactly: that product is taken out of the
// sum, and loaded; the other one stays with its region.
// CHECK-LABEL: func.func private @f32_summand(
// CHECK-SAME: %[[A:[^:]+]]: tensor<256x64xbf16>, %[[W:[^:]+]]: tensor<128x64xbf16>, %[[T:[^:]+]]: tensor<256x4xf32>, %[[B:[^:]+]]: tensor<128x4xf32>, %[[R:[^:]+]]: tensor<256x128xbf16>,
// CHECK: %[[P:.+]] = linalg.generic {{.*}} ins(%[[T]], %[[B]] :
// CHECK: %[[Q:.+]] = linalg.generic {{.*}} ins(%[[P]] :
// CHECK: call @f32_summand_member(%[[A]], %[[W]], %[[R]], %[[Q]], %{{.+}})
// CHECK: func.func private @f32_summand_member({{.*}} attributes {coda.kernel, no_inline}
// CHECK: acc(%{{.+}}[m, k] * %{{.+}}[n, k] :
// CHECK: ^bb0(%[[X:.+]]: f32, %[[Y:.+]]: bf16, %[[Z:.+]]: f32):
// CHECK-NEXT: %[[S:.+]] = arith.addf %[[X]], %[[Z]] : f32
// CHECK-NEXT: %[[V:.+]] = arith.extf %[[Y]] : bf16 to f32
// CHECK-NEXT: arith.addf %[[S]], %[[V]] : f32
func.func private @f32_summand(%a: tensor<256x64xbf16>, %w: tensor<128x64xbf16>, %t: tensor<256x4xf32>, %b: tensor<128x4xf32>, %r: tensor<256x128xbf16>, %o: tensor<256x128xbf16>) -> tensor<256x128xbf16> attributes {coda.kernel, no_inline} {
  // expected-remark @+2 {{factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2 (coda-split-f32, f32-products=bf16x3, makes such of f32); a product of it is taken out of its sum}}
  // expected-remark @+1 {{factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2 (coda-split-f32, f32-products=bf16x3, makes such of f32); it runs as loops}}
  %0 = coda.gemm acc(%a[m, k0] * %w[n, k0] + %t[m, k1] * %b[n, k1] : tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x4xf32>, tensor<128x4xf32>)
      ins(%r[m, n] : tensor<256x128xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %v = arith.extf %y : bf16 to f32
    %s = arith.addf %x, %v : f32
    %p = arith.truncf %s : f32 to bf16
    coda.yield %p : bf16
  }
  return %0 : tensor<256x128xbf16>
}

// -----

// Where no product is a kernel, nothing is left to take one out of.
// CHECK-LABEL: func.func private @f32_summands(
// CHECK-NOT: call
func.func private @f32_summands(%a: tensor<256x4xf32>, %w: tensor<128x4xf32>, %o: tensor<256x128xbf16>) -> tensor<256x128xbf16> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2 (coda-split-f32, f32-products=bf16x3, makes such of f32); it runs as loops}}
  %0 = coda.gemm acc(%a[m, k0] * %w[n, k0] + %a[m, k1] * %w[n, k1] : tensor<256x4xf32>, tensor<128x4xf32>, tensor<256x4xf32>, tensor<128x4xf32>) outs(%o[m, n] : tensor<256x128xbf16>) {
  ^bb0(%x: f32):
    %p = arith.truncf %x : f32 to bf16
    coda.yield %p : bf16
  }
  return %0 : tensor<256x128xbf16>
}

// -----

// What no kernel holds is said of products, whatever their shape, and of
// reductions whose terms are many or not known.
func.func @row_by_column(%a: tensor<512xbf16>, %b: tensor<512xbf16>, %o: tensor<f32>) -> tensor<f32> {
  // expected-remark @+1 {{'linalg.dot' is in no kernel: unfused-on-device: no tile op does this product; it runs as loops}}
  %0 = linalg.dot ins(%a, %b : tensor<512xbf16>, tensor<512xbf16>) outs(%o : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @sum(%a: tensor<8x5x3xf32>, %b: tensor<8x?xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // Fifteen.
  %0 = linalg.reduce ins(%a : tensor<8x5x3xf32>) outs(%o : tensor<8xf32>) dimensions = [1, 2] (%x: f32, %y: f32) {
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  // expected-remark @+1 {{'linalg.reduce' is in no kernel: unfused-on-device: no tile op does this reduction; it runs as loops}}
  %1 = linalg.reduce ins(%b : tensor<8x?xf32>) outs(%0 : tensor<8xf32>) dimensions = [1] (%x: f32, %y: f32) {
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return %1 : tensor<8xf32>
}

func.func @sum_of_all(%a: tensor<8x5xf32>, %o: tensor<f32>) -> tensor<f32> {
  // expected-remark @+1 {{'linalg.reduce' is in no kernel: unfused-on-device: no tile op does this reduction; it runs as loops}}
  %0 = linalg.reduce ins(%a : tensor<8x5xf32>) outs(%o : tensor<f32>) dimensions = [0, 1] (%x: f32, %y: f32) {
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return %0 : tensor<f32>
}

// -----

// Of more products than a kernel is passed factors the last are kernels of their own.
// CHECK-LABEL: func.func private @many_products(
// CHECK-SAME: %[[A11:[^:]+]]: tensor<256x64xbf16>, %[[A12:[^:]+]]: tensor<256x64xbf16>, %[[W0:[^:]+]]: tensor<128x64xbf16>
// CHECK-DAG: %[[P:.+]] = call @many_products_member_0(%[[A12]],
// CHECK-DAG: %[[Q:.+]] = call @many_products_member_1(%[[A11]],
// CHECK: call @many_products_member({{.*}}%[[P]], %[[Q]],
// CHECK: func.func private @many_products_member({{.*}} attributes {coda.kernel, no_inline}
// CHECK: %{{.+}}[m, k10] * %{{.+}}[n, k10] :
// CHECK-NEXT: ins(%{{.+}}[m, n], %{{.+}}[m, n] : tensor<256x128xf32>, tensor<256x128xf32>)
// CHECK: ^bb0(%[[X:.+]]: f32, %[[Y:.+]]: f32, %[[Z:.+]]: f32):
// CHECK-NEXT: %[[S:.+]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK-NEXT: arith.addf %[[S]], %[[Z]] : f32
func.func private @many_products(%a0: tensor<256x64xbf16>, %a1: tensor<256x64xbf16>, %a2: tensor<256x64xbf16>, %a3: tensor<256x64xbf16>, %a4: tensor<256x64xbf16>, %a5: tensor<256x64xbf16>, %a6: tensor<256x64xbf16>, %a7: tensor<256x64xbf16>, %a8: tensor<256x64xbf16>, %a9: tensor<256x64xbf16>, %a10: tensor<256x64xbf16>, %a11: tensor<256x64xbf16>, %a12: tensor<256x64xbf16>, %w0: tensor<128x64xbf16>, %w1: tensor<128x64xbf16>, %w2: tensor<128x64xbf16>, %w3: tensor<128x64xbf16>, %w4: tensor<128x64xbf16>, %w5: tensor<128x64xbf16>, %w6: tensor<128x64xbf16>, %w7: tensor<128x64xbf16>, %w8: tensor<128x64xbf16>, %w9: tensor<128x64xbf16>, %w10: tensor<128x64xbf16>, %w11: tensor<128x64xbf16>, %w12: tensor<128x64xbf16>, %o: tensor<256x128xbf16>) -> tensor<256x128xbf16> attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{'many_products' is not one kernel: unfused-on-device: no schedule on sm_90a: factors, loaded and stored tiles need 27 tensor maps, a kernel has at most 24; 2 products of it are taken out of their sums}}
  %0 = coda.gemm acc(%a0[m, k0] * %w0[n, k0] + %a1[m, k1] * %w1[n, k1] + %a2[m, k2] * %w2[n, k2] + %a3[m, k3] * %w3[n, k3] + %a4[m, k4] * %w4[n, k4] + %a5[m, k5] * %w5[n, k5] + %a6[m, k6] * %w6[n, k6] + %a7[m, k7] * %w7[n, k7] + %a8[m, k8] * %w8[n, k8] + %a9[m, k9] * %w9[n, k9] + %a10[m, k10] * %w10[n, k10] + %a11[m, k11] * %w11[n, k11] + %a12[m, k12] * %w12[n, k12] : tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return %0 : tensor<256x128xbf16>
}

// -----

// A bundle of more factors and results than a kernel is passed: as many launches as it
// takes.
// CHECK-LABEL: func.func private @many_members(
// CHECK-SAME: %[[A:[^:]+]]: tensor<256x64xbf16>, %[[W0:[^:]+]]: tensor<128x64xbf16>,
// CHECK: %[[F:.+]]:11 = call @many_members_member(%[[A]], %[[W0]],
// CHECK: %[[L:.+]] = call @many_members_member_0(%[[A]],
// CHECK: return %[[F]]#0, {{.*}}, %[[F]]#10, %[[L]] :
// CHECK: func.func private @many_members_member_0({{.*}} attributes {coda.kernel, no_inline}
// CHECK-NEXT: coda.gemm
// CHECK: func.func private @many_members_member({{.*}} attributes {coda.kernel, no_inline}
// CHECK-NEXT: coda.bundle
// CHECK-COUNT-11: coda.gemm
// CHECK-NOT: coda.gemm
func.func private @many_members(%a: tensor<256x64xbf16>, %w0: tensor<128x64xbf16>, %w1: tensor<128x64xbf16>, %w2: tensor<128x64xbf16>, %w3: tensor<128x64xbf16>, %w4: tensor<128x64xbf16>, %w5: tensor<128x64xbf16>, %w6: tensor<128x64xbf16>, %w7: tensor<128x64xbf16>, %w8: tensor<128x64xbf16>, %w9: tensor<128x64xbf16>, %w10: tensor<128x64xbf16>, %w11: tensor<128x64xbf16>, %o: tensor<256x128xbf16>) -> (tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>) attributes {coda.kernel, no_inline} {
  // expected-remark @+1 {{'many_members' is not one launch: unfused-on-device: factors, loaded and stored tiles need 25 tensor maps, a kernel has at most 24; its 12 members are 2 launches}}
  %r:12 = coda.bundle -> tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16> {
    %0 = coda.gemm acc(%a[m, k] * %w0[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %1 = coda.gemm acc(%a[m, k] * %w1[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %2 = coda.gemm acc(%a[m, k] * %w2[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %3 = coda.gemm acc(%a[m, k] * %w3[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %4 = coda.gemm acc(%a[m, k] * %w4[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %5 = coda.gemm acc(%a[m, k] * %w5[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %6 = coda.gemm acc(%a[m, k] * %w6[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %7 = coda.gemm acc(%a[m, k] * %w7[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %8 = coda.gemm acc(%a[m, k] * %w8[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %9 = coda.gemm acc(%a[m, k] * %w9[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %10 = coda.gemm acc(%a[m, k] * %w10[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    %11 = coda.gemm acc(%a[m, k] * %w11[n, k] : tensor<256x64xbf16>, tensor<128x64xbf16>) outs(%o[m, n] : tensor<256x128xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.yield %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11 : tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>
}
