// RUN: coda-opt %s --coda-autodiff="constants=0,3 grad-dtype=f32 accumulate=true residual-grad=f32" --canonicalize --cse | FileCheck %s
// RUN: coda-opt %s --coda-autodiff=func=other --canonicalize --cse | FileCheck %s --check-prefix=OTHER
// RUN: sh -c 'for o in func=nope save=most constants=9 grad-dtype=f8 residual-grad=i8; do coda-opt %s --coda-autodiff=$o; echo "exit $?"; done' 2>&1 | FileCheck %s --check-prefix=BAD
// BAD:      error: func=nope: the module has no function of this name to differentiate; there are
// BAD-NEXT: exit 1
// BAD-NEXT: error: save=most is unknown; there are min, stored and all
// BAD:      exit 1
// BAD-NEXT: error: constants=9: 'main' has no such argument; they are numbered from 0, and there are
// BAD:      exit 1
// BAD-NEXT: error: grad-dtype=f8 is no type of gradients; there are f64, f32, f16 and bf16
// BAD:      exit 1
// BAD-NEXT: error: residual-grad=i8 is no type of gradients; there are f64, f32, f16 and bf16
// BAD:      exit 1
// BAD-NOT:  see current operation

// Gradients of weights in f32, added to what is given; none for the constants;
// the cotangent between the two gemms in f32.
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %b: tensor<6xbf16>, %c: tensor<8x6xbf16>, %v: tensor<2x6xbf16>) -> tensor<8x2xbf16> {
  %o = tensor.empty() : tensor<8x6xbf16>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<8x4xbf16>, tensor<6x4xbf16>)
      ins(%b[n], %c[m, n] : tensor<6xbf16>, tensor<8x6xbf16>) outs(%o[m, n] : tensor<8x6xbf16>) {
  ^bb0(%a: f32, %bb: bf16, %cc: bf16):
    %bf = arith.extf %bb : bf16 to f32
    %cf = arith.extf %cc : bf16 to f32
    %s = arith.addf %a, %bf : f32
    %t = arith.mulf %s, %cf : f32
    %r = arith.truncf %t : f32 to bf16
    coda.yield %r : bf16
  }
  %p = tensor.empty() : tensor<8x2xbf16>
  %z = coda.gemm acc(%y[m, k] * %v[n, k] : tensor<8x6xbf16>, tensor<2x6xbf16>) outs(%p[m, n] : tensor<8x2xbf16>) {
  ^bb0(%a: f32):
    %r = arith.truncf %a : f32 to bf16
    coda.yield %r : bf16
  }
  return %z : tensor<8x2xbf16>
}
// CHECK-LABEL: func.func @main_bwd(
// CHECK-SAME: %[[DZ:[^:]+]]: tensor<8x2xbf16>, %[[AW:[^:]+]]: tensor<6x4xf32>, %[[AB:[^:]+]]: tensor<6xf32>, %[[AV:[^:]+]]: tensor<2x6xf32>)
// CHECK-SAME: -> (tensor<6x4xf32>, tensor<6xf32>, tensor<2x6xf32>)
// CHECK-SAME: accumulated = array<i64: 1, 2, 4>
// CHECK-SAME: gradients = array<i64: 1, 2, 4>
// CHECK: %[[DA:.+]] = coda.map
// CHECK: %[[DY:.+]] = coda.gemm
// CHECK-NEXT: acc(%[[DA]][m, k] * %{{.+}}[k, n]
// CHECK-NEXT: outs(%{{.+}}[m, n] : tensor<8x6xf32>)
// CHECK: %[[DW:.+]] = coda.gemm
// CHECK: coda.map
// CHECK-NEXT: ins(%[[DW]][m, n], %[[AW]][m, n]

func.func @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %o = tensor.empty() : tensor<4x4xf32>
  %y = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(%o[m, n] : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    coda.yield %b : f32
  }
  return %y : tensor<4x4xf32>
}
// OTHER: func.func @other_bwd(%{{.+}}: tensor<4x4xf32>, %{{.+}}: tensor<4x4xf32>) -> tensor<4x4xf32>
