//===- Passes.td - Passes on the coda dialect -*- tablegen -*- ----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_PASSES
#define CODA_DIALECT_CODA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def DecomposePass : InterfacePass<"coda-decompose", "FunctionOpInterface"> {
  let summary = "Replace coda ops by what they mean in linalg";
  let description = [{
    Replaces semantic ops by tile ops and tile ops on tensors by linalg on
    tensors, through `decomposeOperation`; a bundle is replaced by its members.
    The result is the definition of what the ops mean and the reference that
    tests compare compiled code with.

    ```mlir
    %ss = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(fresh add %s0[m] : tensor<8xf32>) {
    ^bb0(%v: f32):
      %sq = arith.mulf %v, %v : f32
      coda.yield %sq : f32
    }
    ```
    ==>
    ```mlir
    %sq = linalg.generic {iterator_types = ["parallel", "parallel"]} ins(%x) outs(%e) {mulf}
    %z = linalg.fill ins(%zero) outs(%s0)
    %ss = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%sq) outs(%z) {addf}
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "linalg::LinalgDialect", "math::MathDialect",
                           "tensor::TensorDialect"];
  let options = [
    Option<"semanticOnly", "semantic-only", "bool", "false",
           "Replace semantic ops only: tile ops stay">
  ];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "ops replaced">
  ];
}

#endif // CODA_DIALECT_CODA_TRANSFORMS_PASSES
