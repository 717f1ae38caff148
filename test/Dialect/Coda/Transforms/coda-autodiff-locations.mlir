// RUN: coda-opt %s --coda-autodiff --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// What an op of the backward is the adjoint of is its location: of the map that of
// the gemm, of a data and of a weight gradient too, not that of the argument that
// has the gradient; of a sum over two readers those of both.
//
// CHECK-LABEL: func.func @main_bwd(
// CHECK: coda.map
// CHECK: ^bb0
// CHECK: } loc("adjoint"("second"))
// CHECK: coda.gemm
// CHECK: ^bb0
// CHECK: } loc("adjoint"("second"))
// CHECK: coda.map
// CHECK: ^bb0
// CHECK: arith.mulf {{.*}} loc("scale")
// CHECK: } loc("adjoint"("first"))
// CHECK: coda.map
// CHECK: ^bb0
// CHECK: } loc("adjoint"("first"))
// CHECK: coda.gemm
// CHECK: ^bb0
// CHECK: } loc("adjoint"("first"))
// CHECK: coda.gemm
// CHECK: ^bb0
// CHECK: } loc("adjoint"(fused["second", "first"]))
func.func @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<4x4xf32> loc("w"), %s: tensor<4xf32> loc("s")) -> tensor<4x4xf32> {
  %o = tensor.empty() : tensor<4x4xf32>
  %y = coda.gemm acc(%x[m, k] * %w[n, k] : tensor<4x4xf32>, tensor<4x4xf32>)
      ins(%s[n] : tensor<4xf32>) outs(%o[m, n] : tensor<4x4xf32>) {
  ^bb0(%a: f32, %q: f32):
    %t = arith.mulf %a, %q : f32 loc("scale")
    coda.yield %t : f32
  } loc("first")
  %z = coda.gemm acc(%y[m, k] * %w[k, n] : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o[m, n] : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    coda.yield %a : f32
  } loc("second")
  return %z : tensor<4x4xf32>
}
