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

def NormalizePass : InterfacePass<"coda-normalize", "FunctionOpInterface"> {
  let summary = "Bring linalg graphs of all front ends into one form";
  let description = [{
    Rewrites linalg on tensors so that graphs that mean the same look alike:

    1. Scalars: small integer powers become products, rounded constants become
       constants.
    2. Contractions: the rank is reduced where a batch is 1, factors that were
       widened by a cast are taken narrow (exact), a transposed operand or
       result becomes an index map.
    3. Unit dims vanish; `Mx1` statistics become vectors.
    4. Reshapes move away from elementwise ops, so that tokens are one dim;
       slices move up to the contraction that they cut.
    5. Elementwise ops are merged: into a reader if it is the only one, casts
       and negations into all. Contractions take nothing in.

    It neither creates coda ops nor changes what is rounded.

    ```mlir
    %t = linalg.transpose ins(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
    %y = linalg.matmul ins(%x, %t : tensor<2x8xf32>, tensor<8x4xf32>) outs(%z : tensor<2x4xf32>)
    ```
    ==>
    ```mlir
    %y = linalg.matmul indexing_maps = [(m,n,k)->(m,k), (m,n,k)->(n,k), (m,n,k)->(m,n)]
           ins(%x, %w : tensor<2x8xf32>, tensor<4x8xf32>) outs(%z : tensor<2x4xf32>)
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
}

#endif // CODA_DIALECT_CODA_TRANSFORMS_PASSES
