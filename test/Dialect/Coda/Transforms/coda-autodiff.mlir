// RUN: coda-opt %s -split-input-file --coda-autodiff --canonicalize --cse | FileCheck %s
// RUN: coda-opt %s -split-input-file --coda-autodiff=save=stored --canonicalize --cse | FileCheck %s --check-prefix=STORED

// One map for the region, one gemm per factor; both weights in the major that
// they have, and no transpose. The order of everything is in the attribute.
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %v: tensor<6x2xbf16>) -> tensor<8x2xbf16> {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>) outs(%o[m, n] : tensor<8x6xbf16>) {
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    %b = arith.truncf %t : f32 to bf16
    coda.yield %b : bf16
  }
  %p = tensor.empty() : tensor<8x2xbf16>
  %z = coda.gemm acc(%y[m, k] * %v[k, n] : tensor<8x6xbf16>, tensor<6x2xbf16>) outs(%p[m, n] : tensor<8x2xbf16>) {
  ^bb0(%a: f32):
    %b = arith.truncf %a : f32 to bf16
    coda.yield %b : bf16
  }
  return %z : tensor<8x2xbf16>
}
// tanh's derivative is a function of its value, which the forward stores.
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x2xbf16>, tensor<8x6xbf16>)
// CHECK: %[[Y:.+]] = coda.gemm
// CHECK: %[[Z:.+]] = coda.gemm
// CHECK: return %[[Z]], %[[Y]]
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[X:.+]]: tensor<8x4xbf16>, %[[W:.+]]: tensor<6x4xbf16>, %[[V:.+]]: tensor<6x2xbf16>, %[[Y:.+]]: tensor<8x6xbf16>, %[[DZ:.+]]: tensor<8x2xbf16>)
// CHECK-SAME: coda.gradient = {accumulated = array<i64>, arguments = array<i64: 0, 1, 2>, cotangents = array<i64: 0>, forward = @main_fwd, gradients = array<i64: 0, 1, 2>, of = @main, saved = array<i64: 1>}
// CHECK: %[[DA:.+]] = coda.map
// CHECK-NEXT: ins(%[[DZ]][m, n]
// CHECK: %[[DY:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[DA]][m, k] * %[[V]][n, k]
// CHECK: %[[DB:.+]] = coda.map
// CHECK-NEXT: ins(%[[Y]][m, n], %[[DY]][m, n]
// CHECK: ^bb0(%[[YV:.+]]: bf16, %[[DYV:.+]]: bf16):
// CHECK: %[[T:.+]] = arith.extf %[[YV]]
// CHECK: %[[G:.+]] = arith.extf %[[DYV]]
// CHECK: %[[TT:.+]] = arith.mulf %[[T]], %[[T]]
// CHECK: %[[S:.+]] = arith.subf %{{.+}}, %[[TT]]
// CHECK: arith.mulf %[[G]], %[[S]]
// CHECK: %[[DX:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[DB]][m, k] * %[[W]][k, n]
// CHECK: %[[DW:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[DB]][k, m] * %[[X]][k, n]
// CHECK-NEXT: outs(%{{.+}}[m, n] : tensor<6x4xbf16>)
// CHECK: %[[DV:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[Y]][k, m] * %[[DA]][k, n]
// CHECK-NEXT: outs(%{{.+}}[m, n] : tensor<6x2xbf16>)
// CHECK: return %[[DX]], %[[DW]], %[[DV]]

// -----

// Euler's theorem: the cotangent of the row's sum of squares is taken from the
// stored result and its cotangent, and nothing else is saved.
func.func @main(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %s: tensor<8xf32>) -> tensor<8x6xf32> {
  %o = tensor.empty() : tensor<8x6xf32>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xf32>, tensor<6x4xf32>) ins(%s[m] : tensor<8xf32>) outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%a: f32, %q: f32):
    %r = math.rsqrt %q : f32
    %z = arith.mulf %a, %r : f32
    coda.yield %z : f32
  }
  return %y : tensor<8x6xf32>
}
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> tensor<8x6xf32>
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[S:[^:]+]]: tensor<8xf32>, %[[Y:[^:]+]]: tensor<8x6xf32>, %[[DY:[^:]+]]: tensor<8x6xf32>) -> (tensor<8x4xf32>, tensor<6x4xf32>, tensor<8xf32>)
// CHECK: coda.map
// CHECK-NEXT: ins(%[[S]][m], %[[Y]][m, n], %[[DY]][m, n]
// CHECK-NEXT: outs(%{{.+}}[m, n], fresh add %{{.+}}[m] : tensor<8x6xf32>, tensor<8xf32>)
// CHECK-NEXT: ^bb0(%[[Q:.+]]: f32, %[[YV:.+]]: f32, %[[G:.+]]: f32):
// CHECK-DAG: %[[R:.+]] = math.rsqrt %[[Q]]
// CHECK-DAG: %[[E:.+]] = arith.mulf %[[YV]], %[[G]]
// CHECK-DAG: %[[DACC:.+]] = arith.mulf %[[G]], %[[R]]
// CHECK-DAG: %[[RR:.+]] = arith.mulf %[[R]], %[[R]]
// CHECK-DAG: %[[HALF:.+]] = arith.mulf %[[RR]], %{{.+}}
// CHECK: %[[DS:.+]] = arith.mulf %[[HALF]], %[[E]]
// CHECK-NEXT: coda.yield %[[DACC]], %[[DS]]

// -----

// Readers of one value: terms of products are products of one accumulator, a
// residual's cotangent is forwarded, loads that lack a dim get a sum over it.
// What is only weighted is weighted again.
func.func @main(%x: tensor<8x4xf32>, %g: tensor<4xf32>, %w: tensor<6x4xf32>, %v: tensor<4x4xf32>) -> (tensor<8x6xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %h = coda.map ins(%x[m, n], %g[n] : tensor<8x4xf32>, tensor<4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    coda.yield %c : f32
  }
  %o = tensor.empty() : tensor<8x6xf32>
  %y = coda.gemm acc(%h[m, k] * %w[n, k] : tensor<8x4xf32>, tensor<6x4xf32>) outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  }
  %z = coda.gemm acc(%h[m, k] * %v[n, k] : tensor<8x4xf32>, tensor<4x4xf32>) ins(%x[m, n] : tensor<8x4xf32>) outs(%e[m, n] : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    coda.yield %c : f32
  }
  return %y, %z : tensor<8x6xf32>, tensor<8x4xf32>
}
// CHECK-LABEL: func.func @main_fwd(
// CHECK-SAME: -> (tensor<8x6xf32>, tensor<8x4xf32>) {
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x4xf32>, %[[GW:[^:]+]]: tensor<4xf32>, %[[W:[^:]+]]: tensor<6x4xf32>, %[[V:[^:]+]]: tensor<4x4xf32>, %[[DY:[^:]+]]: tensor<8x6xf32>, %[[DZ:[^:]+]]: tensor<8x4xf32>)
// CHECK: %[[DZA:.+]] = coda.map
// CHECK-NEXT: ins(%[[DZ]][m, n]
// CHECK: %[[DYA:.+]] = coda.map
// CHECK-NEXT: ins(%[[DY]][m, n]
// CHECK: %[[DH:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[DZA]][m, k0] * %[[V]][k0, n] + %[[DYA]][m, k1] * %[[W]][k1, n]
// CHECK: %[[DG:.+]]:2 = coda.map
// CHECK-NEXT: ins(%[[X]][m, n], %[[GW]][n], %[[DH]][m, n]
// CHECK-NEXT: outs(%{{.+}}[m, n], fresh add %{{.+}}[n]
// CHECK: %[[H:.+]] = coda.map
// CHECK-NEXT: ins(%[[X]][m, n], %[[GW]][n]
// CHECK: %[[DX:.+]] = coda.map
// CHECK-NEXT: ins(%[[DZA]][m, n], %[[DG]]#0[m, n]
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[DYA]][k, m] * %[[H]][k, n]
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[DZA]][k, m] * %[[H]][k, n]
// STORED: func.func @main_fwd({{.+}} -> (tensor<8x6xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {

// -----

// Sums over rows: of logaddexp each term's part. A choice's cotangent is a
// choice. Labels have none.
func.func @main(%z: tensor<8x6xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %l, %p = coda.map ins(%z[m, n], %t[m] : tensor<8x6xf32>, tensor<8xi32>) outs(fresh logaddexp %e[m], fresh add %e[m] : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: i32):
    %zero = arith.constant 0.0 : f32
    %i = coda.index n
    %j = arith.index_cast %b : i32 to index
    %hit = arith.cmpi eq, %i, %j : index
    %s = arith.select %hit, %a, %zero : f32
    coda.yield %a, %s : f32, f32
  }
  return %l, %p : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[Z:[^:]+]]: tensor<8x6xf32>, %[[T:[^:]+]]: tensor<8xi32>, %[[L:[^:]+]]: tensor<8xf32>, %[[DL:[^:]+]]: tensor<8xf32>, %[[DP:[^:]+]]: tensor<8xf32>)
// CHECK-SAME: gradients = array<i64: 0>
// CHECK: %[[DZ:.+]] = coda.map
// CHECK-NEXT: ins(%[[Z]][m, n], %[[T]][m], %[[DL]][m], %[[DP]][m], %[[L]][m]
// CHECK-NEXT: outs(%{{.+}}[m, n] : tensor<8x6xf32>)
// CHECK: ^bb0(%[[A:.+]]: f32, %{{.+}}: i32, %[[GL:.+]]: f32, %[[GP:.+]]: f32, %[[R:.+]]: f32):
// CHECK-DAG: %[[HIT:.+]] = arith.cmpi eq
// CHECK-DAG: %[[D:.+]] = arith.subf %[[A]], %[[R]]
// CHECK-DAG: %[[E:.+]] = math.exp %[[D]]
// CHECK-DAG: %[[P:.+]] = arith.mulf %[[E]], %[[GL]]
// CHECK-DAG: %[[C:.+]] = arith.select %[[HIT]], %[[GP]], %{{.+}} : f32
// CHECK: %[[SUM:.+]] = arith.addf %[[P]], %[[C]]
// CHECK-NEXT: coda.yield %[[SUM]]

// -----

// Slices of a weight, disjoint and covering it, are put together without zeros.
func.func @main(%x: tensor<8x4xf32>, %w: tensor<12x4xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %a = tensor.extract_slice %w[0, 0] [6, 4] [1, 1] : tensor<12x4xf32> to tensor<6x4xf32>
  %b = tensor.extract_slice %w[6, 0] [6, 4] [1, 1] : tensor<12x4xf32> to tensor<6x4xf32>
  %o = tensor.empty() : tensor<8x6xf32>
  %y = coda.gemm acc(%x[m, k] * %a[n, k] : tensor<8x4xf32>, tensor<6x4xf32>) outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %z = coda.gemm acc(%x[m, k] * %b[n, k] : tensor<8x4xf32>, tensor<6x4xf32>) outs(%o[m, n] : tensor<8x6xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %y, %z : tensor<8x6xf32>, tensor<8x6xf32>
}
// CHECK-LABEL: func.func @main_bwd(
// CHECK-NOT: linalg.fill
// CHECK: %[[FIRST:.+]] = tensor.insert_slice %{{.+}} into %{{.+}}[{{[06]}}, 0] [6, 4] [1, 1]
// CHECK: %[[WHOLE:.+]] = tensor.insert_slice %{{.+}} into %[[FIRST]][{{[06]}}, 0] [6, 4] [1, 1]
// CHECK: return %{{.+}}, %[[WHOLE]]

// -----

// An exponential that is infinite, of which no cotangent comes, has none: it is taken
// as the largest number.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = coda.map ins(%x[m] : tensor<8xf32>) outs(%e[m] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %p = math.exp %a : f32
    %d = arith.addf %one, %p : f32
    %s = arith.divf %one, %d : f32
    coda.yield %s : f32
  }
  return %y : tensor<8xf32>
}
// CHECK-LABEL: func.func @main_bwd(
// CHECK: coda.map
// CHECK-DAG: %[[LARGEST:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.0{{.*}} : f32
// CHECK: %[[P:.+]] = math.exp
// CHECK: %[[D:.+]] = arith.addf %[[P]], %[[ONE]]
// CHECK: %[[S:.+]] = arith.divf %[[ONE]], %[[D]]
// CHECK: %[[G:.+]] = arith.mulf %{{.+}}, %[[S]]
// CHECK: %[[N:.+]] = arith.negf %[[G]]
// CHECK: %[[Q:.+]] = arith.divf %[[N]], %[[D]]
// CHECK: %[[F:.+]] = arith.minimumf %[[P]], %[[LARGEST]]
// CHECK: %[[R:.+]] = arith.mulf %[[Q]], %[[F]]
// CHECK: coda.yield %[[R]]
