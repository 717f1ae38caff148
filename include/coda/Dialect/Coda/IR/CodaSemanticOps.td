//===- CodaSemanticOps.td - Operators of models -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODASEMANTICOPS_TD
#define CODA_DIALECT_CODA_IR_CODASEMANTICOPS_TD

include "coda/Dialect/Coda/IR/CodaAttrs.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Every op here is computed in f32 (f64 if any operand is f64) and rounded once,
// to its result type; what it means is its decomposition into tile ops.
class Coda_SemanticOp<string mnemonic, list<Trait> traits = []>
    : Coda_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<AggregatedOpInterface,
                                  ["decomposeOperation"]>], traits)> {
  let hasVerifier = 1;
}

def Coda_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;

def Coda_ScaleOp : Coda_SemanticOp<"scale"> {
  let summary = "multiplies a tensor by a factor that varies along some dims";
  let description = [{
    `result[i] = value[i] * factor[i restricted to dims]`. Carries a row scale
    through the linear readers of a normalised tensor (`coda-commute`).

    **Preconditions**: `dims` ascends, names dims of `value`, one per dim of
    `factor`, with the same extents. Operands and result: f16, bf16, f32 or f64,
    each its own.

    **Postconditions**: the result has `value`'s shape. The product is computed
    in f32 (f64 if an operand is f64) and rounded once.

    Example:

    ```mlir
    %s = coda.scale %v, %r along [0] : tensor<8x4xbf16>, tensor<8xf32> -> tensor<8x4xbf16>
    ```
  }];
  let arguments = (ins Coda_FloatTensor:$value, Coda_FloatTensor:$factor,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Coda_FloatTensor:$result);
  let assemblyFormat = [{
    $value `,` $factor `along` $dims attr-dict
    `:` type($value) `,` type($factor) `->` type($result)
  }];
}

def Coda_RmsNormOp : Coda_SemanticOp<"rms_norm"> {
  let summary = "root-mean-square normalisation of the last dim";
  let description = [{
    `result = x * rsqrt(mean(x^2 over the last dim) + eps) * (weight + offset)`
    (Zhang and Sennrich 2019, arXiv 1910.07467; `offset` 1 is Gemma's). Without
    `weight` the last factor is 1. `eps` is added as it stands, in the
    computation type.

    **Preconditions**: rank of `x` at least 1; `weight` is `[N]` with N the
    extent of the last dim, which is static. `x`, `weight` and the result: f16,
    bf16, f32 or f64, each its own.

    **Postconditions**: the result has `x`'s shape. Computed in f32 (f64 if an
    operand is f64) and rounded once. All-zero rows give 0 for eps > 0, NaN for
    eps = 0.

    Example:

    ```mlir
    %y = coda.rms_norm %x weight(%w : tensor<4xf32>) eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Coda_FloatTensor:$x, Optional<Coda_FloatTensor>:$weight,
                       F64Attr:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset);
  let results = (outs Coda_FloatTensor:$result);
  let assemblyFormat = [{
    $x (`weight` `(` $weight^ `:` type($weight) `)`)? `eps` custom<F64>($eps)
    attr-dict `:` type($x) `->` type($result)
  }];
}

def Coda_GluOp : Coda_SemanticOp<"glu", [SameOperandsAndResultShape]> {
  let summary = "gated linear unit: activation(gate) * up";
  let description = [{
    `silu(g) = g / (1 + exp(-g))`, `gelu_tanh(g) = g/2 (1 + tanh(sqrt(2/pi) (g +
    0.044715 g^3)))`, `gelu_erf(g) = g/2 (1 + erf(g/sqrt(2)))`, `relu`,
    `sigmoid` (Shazeer 2020, arXiv 2002.05202). `tanh_scale` replaces
    sqrt(2/pi) where a front end rounds it.

    **Preconditions**: both operands have one shape; `tanh_scale` is given for
    `gelu_tanh` only. Operands and result: f16, bf16, f32 or f64, each its own.

    **Postconditions**: the result has `gate`'s shape. Computed in f32 (f64 if an
    operand is f64) and rounded once.

    Example:

    ```mlir
    %y = coda.glu silu %g, %u : tensor<8x4xbf16>, tensor<8x4xbf16> -> tensor<8x4xbf16>
    ```
  }];
  let arguments = (ins Coda_GluKindAttr:$kind, Coda_FloatTensor:$gate,
                       Coda_FloatTensor:$up, OptionalAttr<F64Attr>:$tanh_scale);
  let results = (outs Coda_FloatTensor:$result);
  let assemblyFormat = [{
    custom<GluKind>($kind) $gate `,` $up attr-dict `:` type($gate) `,` type($up) `->`
    type($result)
  }];
}

def Coda_RopeOp : Coda_SemanticOp<"rope", [AllTypesMatch<["cos", "sin"]>]> {
  let summary = "rotary position embedding of pairs of the last dim";
  let description = [{
    With (x0, x1) a pair, `y0 = x0 c0 - x1 s0`, `y1 = x1 c1 + x0 s1` (Su et al.
    2021, arXiv 2104.09864). `half` pairs (j, j + D/2), `interleaved` (2j,
    2j + 1). The tables are indexed by the dims `table_dims` of `x` and, last,
    by the element (extent D: both elements of a pair have entries of their own,
    in x's layout) or by the pair (extent D/2: the entry serves both).
    `transposed` is the transposed map, the adjoint: `y0 = x0 c0 + x1 s1`, `y1 =
    x1 c1 - x0 s0`.

    **Preconditions**: D static and even; `table_dims` names dims of `x` but the
    last, one per dim of the tables but the last (any order), extents agree;
    `cos` and `sin` have one type. `x`, tables and result: f16, bf16, f32 or
    f64.

    **Postconditions**: the result has `x`'s shape. Computed in f32 (f64 if an
    operand is f64) and rounded once.

    Example:

    ```mlir
    %y = coda.rope half %x, %c, %s table_dims [0, 2] : tensor<2x4x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x4x8x16xf32>
    ```
  }];
  let arguments = (ins Coda_RopeLayoutAttr:$layout, UnitAttr:$transposed,
                       Coda_FloatTensor:$x, Coda_FloatTensor:$cos,
                       Coda_FloatTensor:$sin, DenseI64ArrayAttr:$table_dims);
  let results = (outs Coda_FloatTensor:$result);
  let assemblyFormat = [{
    custom<RopeLayout>($layout) (`transposed` $transposed^)? $x `,` $cos `,` $sin
    `table_dims` $table_dims attr-dict
    `:` type($x) `,` type($cos) `->` type($result)
  }];
}

def Coda_CrossEntropyOp : Coda_SemanticOp<"cross_entropy"> {
  let summary = "per-row cross entropy of logits with class targets";
  let description = [{
    `loss[m] = logsumexp(logits[m, :]) - logits[m, target[m]]`, and 0 where
    `target[m]` is `ignore_index`; `lse[m] = logsumexp(logits[m, :])`. A target
    outside [0, V) that is not `ignore_index` picks no logit: the loss is the
    lse.

    **Preconditions**: logits `[M, V]`, targets `[M]` of i32 or i64, which
    `ignore_index` fits; loss and lse `[M]` of the computation type (f32; f64 for
    f64 logits), M as in the type of the logits.

    **Postconditions**: an ignored row's loss is exactly 0, its lse that of its
    logits. With V = 0 the lse is -inf.

    Example:

    ```mlir
    %loss, %lse = coda.cross_entropy %z, %t ignore_index -100 : tensor<8x4xf32>, tensor<8xi64> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Coda_FloatTensor:$logits,
                       RankedTensorOf<[I32, I64]>:$targets,
                       I64Attr:$ignore_index);
  let results = (outs Coda_FloatTensor:$loss, Coda_FloatTensor:$lse);
  let assemblyFormat = [{
    $logits `,` $targets `ignore_index` custom<I64>($ignore_index) attr-dict `:`
    type($logits) `,` type($targets) `->` custom<SameType>(type($loss), type($lse))
  }];
}

#endif // CODA_DIALECT_CODA_IR_CODASEMANTICOPS_TD
