// RUN: coda-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(coda-split-f32))' | FileCheck %s
// RUN: coda-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(coda-split-f32{products=bf16x6}))' | FileCheck %s --check-prefix=SIX
// RUN: coda-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(coda-split-f32{products=f32}))' | FileCheck %s --check-prefix=WHOLE

// The right factor is split where it is defined, and so is the left one. What meets
// a later part of the other factor is the leading part without infinities.
// CHECK-LABEL: func.func @one(
// CHECK-SAME: %[[A:.+]]: tensor<8x16xf32>, %[[B:.+]]: tensor<4x16xf32>, %[[O:.+]]: tensor<8x4xf32>)
// CHECK: %[[RIGHT:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[B]][m, n] : tensor<4x16xf32>)
// CHECK: %[[LEFT:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[A]][m, n] : tensor<8x16xf32>)
// CHECK-NEXT: outs({{.*}} : tensor<8x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>)
// CHECK-NEXT: ^bb0(%[[X:.+]]: f32):
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[INF:.+]] = arith.constant 0x7F800000 : f32
// CHECK: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[FINITE:.+]] = arith.cmpf olt, %[[ABS]], %[[INF]] : f32
// CHECK-NEXT: %[[X0:.+]] = arith.select %[[FINITE]], %[[X]], %[[ZERO]] : f32
// CHECK: %[[BITS:.+]] = arith.bitcast %[[X0]] : f32 to i32
// CHECK: %[[SUM:.+]] = arith.addi %[[BITS]], %{{.+}} : i32
// CHECK: %[[AND:.+]] = arith.andi %[[SUM]], %{{.+}} : i32
// CHECK: %[[LEAD:.+]] = arith.bitcast %[[AND]] : i32 to f32
// CHECK-NEXT: %[[ALL:.+]] = arith.select %[[FINITE]], %[[LEAD]], %[[X]] : f32
// CHECK-NEXT: %[[REST:.+]] = arith.subf %[[X0]], %[[LEAD]] : f32
// CHECK-NEXT: %[[P0:.+]] = arith.truncf %[[ALL]] : f32 to bf16
// CHECK-NEXT: %[[F0:.+]] = arith.truncf %[[LEAD]] : f32 to bf16
// CHECK-NEXT: %[[P1:.+]] = arith.truncf %[[REST]] : f32 to bf16
// CHECK-NEXT: coda.yield %[[P0]], %[[F0]], %[[P1]] : bf16, bf16, bf16
// CHECK: %[[Y:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[LEFT]]#1[m, k0] * %[[RIGHT]]#2[n, k0] + %[[LEFT]]#2[m, k1] * %[[RIGHT]]#1[n, k1] + %[[LEFT]]#0[m, k2] * %[[RIGHT]]#0[n, k2] :
// CHECK-NEXT: outs(%[[O]][m, n] : tensor<8x4xf32>)
// CHECK: return %[[Y]]
//
// SIX-LABEL: func.func @one(
// SIX: %[[RIGHT:.+]]:4 = coda.map
// SIX: %[[LEFT:.+]]:4 = coda.map
// SIX: coda.gemm
// SIX-NEXT: acc(%[[LEFT]]#1[m, k0] * %[[RIGHT]]#3[n, k0] + %[[LEFT]]#2[m, k1] * %[[RIGHT]]#2[n, k1] + %[[LEFT]]#3[m, k2] * %[[RIGHT]]#1[n, k2] + %[[LEFT]]#1[m, k3] * %[[RIGHT]]#2[n, k3] + %[[LEFT]]#2[m, k4] * %[[RIGHT]]#1[n, k4] + %[[LEFT]]#0[m, k5] * %[[RIGHT]]#0[n, k5] :
//
// WHOLE-LABEL: func.func @one(
// WHOLE-SAME: %[[A:.+]]: tensor<8x16xf32>, %[[B:.+]]: tensor<4x16xf32>
// WHOLE-NEXT: coda.gemm
// WHOLE-NEXT: acc(%[[A]][m, k] * %[[B]][n, k] :
func.func @one(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
      outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// Each factor is split once, accumulators of one k dim go on sharing it, and the dim of
// a load's sum stays behind the new ones.
// CHECK-LABEL: func.func @two_accumulators(
// CHECK-SAME: %[[A:.+]]: tensor<8x16xf32>, %[[B:.+]]: tensor<4x16xf32>, %[[D:.+]]: tensor<16x4xf32>, %[[P:.+]]: tensor<2x8xf32>, %[[O:.+]]: tensor<8x4xf32>)
// CHECK: %[[RIGHT1:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[D]][m, n] :
// CHECK: %[[RIGHT0:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[B]][m, n] :
// CHECK: %[[LEFT:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[A]][m, n] :
// CHECK-NOT: coda.map
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[LEFT]]#1[m, k0] * %[[RIGHT0]]#2[n, k0] + %[[LEFT]]#2[m, k1] * %[[RIGHT0]]#1[n, k1] + %[[LEFT]]#0[m, k2] * %[[RIGHT0]]#0[n, k2], %[[LEFT]]#1[m, k0] * %[[RIGHT1]]#2[k0, n] + %[[LEFT]]#2[m, k1] * %[[RIGHT1]]#1[k1, n] + %[[LEFT]]#0[m, k2] * %[[RIGHT1]]#0[k2, n] :
// CHECK-NEXT: ins(add %[[P]][p, m] : tensor<2x8xf32>)
// CHECK-NEXT: outs(%[[O]][m, n] : tensor<8x4xf32>)
func.func @two_accumulators(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %d: tensor<16x4xf32>, %p: tensor<2x8xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = coda.gemm acc(%a[m, k] * %b[n, k], %a[m, k] * %d[k, n] : tensor<8x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<16x4xf32>)
      ins(add %p[p, m] : tensor<2x8xf32>)
      outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32, %e: f32, %s: f32):
    %f = arith.mulf %c, %e : f32
    %g = arith.addf %f, %s : f32
    coda.yield %g : f32
  }
  return %y : tensor<8x4xf32>
}

// -----

// A factor that was bf16 is one part; the result of a split gemm is split, too.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[A:.+]]: tensor<8x16xbf16>, %[[B:.+]]: tensor<4x16xf32>, %[[D:.+]]: tensor<6x4xf32>,
// CHECK: %[[RIGHT1:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[D]][m, n] :
// CHECK: %[[RIGHT0:.+]]:2 = coda.map
// CHECK-NEXT: ins(%[[B]][m, n] :
// CHECK: %[[WIDE:.+]] = coda.map
// CHECK-NEXT: ins(%[[A]][m, n] : tensor<8x16xbf16>)
// CHECK: %[[LEFT0:.+]]:2 = coda.map
// CHECK-NEXT: ins(%[[WIDE]][m, n] : tensor<8x16xf32>)
// CHECK: %[[Y:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[LEFT0]]#1[m, k0] * %[[RIGHT0]]#1[n, k0] + %[[LEFT0]]#0[m, k1] * %[[RIGHT0]]#0[n, k1] :
// CHECK: %[[LEFT1:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[Y]][m, n] : tensor<8x4xf32>)
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[LEFT1]]#1[m, k0] * %[[RIGHT1]]#2[n, k0] + %[[LEFT1]]#2[m, k1] * %[[RIGHT1]]#1[n, k1] + %[[LEFT1]]#0[m, k2] * %[[RIGHT1]]#0[n, k2] :
func.func @chain(%a: tensor<8x16xbf16>, %b: tensor<4x16xf32>, %d: tensor<6x4xf32>, %o: tensor<8x4xf32>, %q: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %x = coda.map ins(%a[m, n] : tensor<8x16xbf16>) outs(%e[m, n] : tensor<8x16xf32>) {
  ^bb0(%c: bf16):
    %f = arith.extf %c : bf16 to f32
    coda.yield %f : f32
  }
  %y = coda.gemm acc(%x[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
      outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  %z = coda.gemm acc(%y[m, k] * %d[n, k] : tensor<8x4xf32>, tensor<6x4xf32>)
      outs(%q[m, n] : tensor<8x6xf32>) {
  ^bb0(%c: f32):
    coda.yield %c : f32
  }
  return %z : tensor<8x6xf32>
}

// -----

// Factors of other types are no business of this pass.
// CHECK-LABEL: func.func @others(
// CHECK-SAME: %[[A:.+]]: tensor<8x16xf64>, %[[B:.+]]: tensor<4x16xf64>, %[[O:.+]]: tensor<8x4xf64>, %[[C:.+]]: tensor<8x16xbf16>, %[[D:.+]]: tensor<4x16xbf16>,
// CHECK-NOT: coda.map
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[A]][m, k] * %[[B]][n, k] :
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[C]][m, k] * %[[D]][n, k] :
func.func @others(%a: tensor<8x16xf64>, %b: tensor<4x16xf64>, %o: tensor<8x4xf64>, %c: tensor<8x16xbf16>, %d: tensor<4x16xbf16>, %p: tensor<8x4xf32>) -> (tensor<8x4xf64>, tensor<8x4xf32>) {
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf64>, tensor<4x16xf64>)
      outs(%o[m, n] : tensor<8x4xf64>) {
  ^bb0(%e: f64):
    coda.yield %e : f64
  }
  %z = coda.gemm acc(%c[m, k] * %d[n, k] : tensor<8x16xbf16>, tensor<4x16xbf16>)
      outs(%p[m, n] : tensor<8x4xf32>) {
  ^bb0(%e: f32):
    coda.yield %e : f32
  }
  return %y, %z : tensor<8x4xf64>, tensor<8x4xf32>
}

// -----

// The other product of a sum stays as it is, if it is of bf16, and both do with one
// of f16.
// CHECK-LABEL: func.func @summands(
// CHECK-SAME: %[[A:.+]]: tensor<8x16xf32>, %[[B:.+]]: tensor<4x16xf32>, %[[C:.+]]: tensor<8x3xbf16>, %[[D:.+]]: tensor<4x3xbf16>, %[[E:.+]]: tensor<8x3xf16>, %[[F:.+]]: tensor<4x3xf16>,
// CHECK: %[[RIGHT:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[B]][m, n] :
// CHECK: %[[LEFT:.+]]:3 = coda.map
// CHECK-NEXT: ins(%[[A]][m, n] :
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[C]][m, k0] * %[[D]][n, k0] + %[[LEFT]]#1[m, k1] * %[[RIGHT]]#2[n, k1] + %[[LEFT]]#2[m, k2] * %[[RIGHT]]#1[n, k2] + %[[LEFT]]#0[m, k3] * %[[RIGHT]]#0[n, k3] :
// CHECK: coda.gemm
// CHECK-NEXT: acc(%[[E]][m, k0] * %[[F]][n, k0] + %[[A]][m, k1] * %[[B]][n, k1] :
func.func @summands(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %c: tensor<8x3xbf16>, %d: tensor<4x3xbf16>, %e: tensor<8x3xf16>, %f: tensor<4x3xf16>, %o: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y = coda.gemm acc(%c[m, k0] * %d[n, k0] + %a[m, k1] * %b[n, k1] : tensor<8x3xbf16>, tensor<4x3xbf16>, tensor<8x16xf32>, tensor<4x16xf32>)
      outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%g: f32):
    coda.yield %g : f32
  }
  %z = coda.gemm acc(%e[m, k0] * %f[n, k0] + %a[m, k1] * %b[n, k1] : tensor<8x3xf16>, tensor<4x3xf16>, tensor<8x16xf32>, tensor<4x16xf32>)
      outs(%o[m, n] : tensor<8x4xf32>) {
  ^bb0(%g: f32):
    coda.yield %g : f32
  }
  return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}
