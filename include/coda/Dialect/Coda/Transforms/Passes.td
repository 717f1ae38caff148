//===- Passes.td - Passes on the coda dialect -*- tablegen -*- ----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_PASSES
#define CODA_DIALECT_CODA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"coda-decompose"> {
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

    1. Scalars: small integer powers become products, clamps a maximum and a
       minimum, sincos a sine and a cosine, rounded constants become constants.
       A number that is read from a tensor of rank 0 (`tensor.extract %s[]`), or
       from a place that is known to be in bounds (a slice of it is one), is
       read in the bodies that use it, and what is computed of it is computed
       there: on a device the number is there, too. Named elementwise and reducing ops, and arith and math on
       tensors, become generics.
    2. Contractions: the rank is reduced where a batch is 1, factors that were
       widened by a cast are taken narrow (exact), a transposed operand or
       result becomes an index map. A product of one row and one column becomes
       a generic, a sum of products. A factor of a batched product that is the
       same for all of the batch, repeated by a broadcast and perhaps cast,
       reshaped or transposed after that, is taken as it is: the batch's dims are
       the other factor's alone, and the product is that of two matrices.
    3. Unit dims vanish, those of concatenations, too; `Mx1` statistics become
       vectors, those of one row numbers; reshapes by a tensor
       of extents, of which one is dynamic, become views. What a slice takes or
       writes with a stride along a static dim is one point of a dim that the view
       of the dim as so many strides has: every second element of a row is one of
       each pair.
    4. Reshapes move away from elementwise ops, so that tokens are one dim;
       slices move up to the contraction that they cut.
    5. Elementwise ops are merged: into a reader if it is the only one; casts,
       negations and masks, which are made of integers and positions, into all.
       What computes a number merges into the bodies that read it in the same way.
       Contractions take nothing in.
    6. A sum over a dim whose terms are zero but where the dim's index is a value
       given (a label, say) is that one term, or zero if there is none.

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
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "math::MathDialect",
                           "tensor::TensorDialect"];
}

def HoistSlicesPass : InterfacePass<"coda-hoist-slices", "FunctionOpInterface"> {
  let summary = "Compute only the part of an elementwise value that is read";
  let description = [{
    A slice of an elementwise op's value becomes the op on slices of its operands,
    where the slice is all that is read, and a slice of a concatenation becomes a
    slice of the operand that it lies in. A slice of the whole of a tensor, also of
    a dynamic number of rows, is the tensor, and unit dims that remain vanish. Front
    ends join two copies of the angles of a rotary embedding, or repeat each for the
    two of a pair, before they take sines and cosines or after; the rotation reads
    one copy.

    ```mlir
    %two = tensor.concat dim(1) %angle, %angle
    %cos = linalg.generic ins(%two) outs(%e) {cos}
    %half = tensor.extract_slice %cos[0, 0] [128, 64] [1, 1]
    ```
    ==>
    ```mlir
    %half = linalg.generic ins(%angle) outs(%e1) {cos}
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

def SplitJoinedFactorsPass
    : InterfacePass<"coda-split-joined-factors", "FunctionOpInterface"> {
  let summary = "Multiply the parts of a joined factor, not their concatenation";
  let description = [{
    NON-NUMERIC-PRESERVING: sums in another order.

    `[A B] W` is `A W1 + B W2`. A concatenation that nothing reads but products, along a
    dim that they contract, is not made: each part is multiplied by a slice of the other
    factor, which is a view, and one product starts from the other's result. So the
    hidden state and the embedding of the next token, each normalised, meet in one
    kernel, and each part may be what an epilogue makes. Parts that start at no multiple
    of 16 bytes stay joined, as do more than one kernel multiplies, those of which only
    a call shows the extents, and factors of eight bits.

    ```mlir
    %x = tensor.concat dim(1) %a, %b : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<8x48xf32>
    %y = linalg.matmul ins(%x, %w : tensor<8x48xf32>, tensor<48x4xf32>) outs(%z : tensor<8x4xf32>)
    ```
    ==>
    ```mlir
    %w1 = tensor.extract_slice %w[0, 0] [16, 4] [1, 1] : tensor<48x4xf32> to tensor<16x4xf32>
    %y1 = linalg.matmul ins(%a, %w1 : ...) outs(%z : tensor<8x4xf32>)
    %w2 = tensor.extract_slice %w[16, 0] [32, 4] [1, 1] : tensor<48x4xf32> to tensor<32x4xf32>
    %y = linalg.matmul ins(%b, %w2 : ...) outs(%y1 : tensor<8x4xf32>)
    ```
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
  let statistics = [
    Statistic<"numSplit", "num-split", "products of a joined factor">
  ];
}

def TransposeRowSumsPass
    : InterfacePass<"coda-transpose-row-sums", "FunctionOpInterface"> {
  let summary = "Take row sums of data gradients to the axis of the product";
  let description = [{
    NON-NUMERIC-PRESERVING: sums in another order.

    `<A B, c> = <A, c B^T>` for each row. A backward graph sums the columns of a
    data gradient `D = A B` times what the forward multiplied by `B^T`, up to a
    factor of the row: the forward's product is there, and the sum is one of its
    elements times those of `A`. It is known where `A` is made, before `D` is.
    `D` may be a sum of such products, over one `c`. The factor of the row, which
    is divided by, is a reciprocal square root: no other one is known to be
    neither zero nor infinite.

    ```mlir
    %y = linalg.generic ins(%x, %w, %r) outs(%e) {x * w * r}
    %z = linalg.matmul ins(%y, %b) outs(%z0)
    %d = linalg.matmul indexing_maps = [.., (n, k), ..] ins(%dz, %b) outs(%z1)
    %s = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%d, %x, %w) outs(%z2) {d * x * w + out}
    ```
    ==>
    ```mlir
    %t = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%dz, %z) outs(%z2) {dz * z + out}
    %s = linalg.generic {iterator_types = ["parallel"]} ins(%t, %r) outs(%e1) {t / r}
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
  let statistics = [
    Statistic<"numSums", "num-sums", "row sums taken to another axis">
  ];
}

def RaisePass : InterfacePass<"coda-raise", "FunctionOpInterface"> {
  let summary = "Recognise the operators of models in linalg";
  let description = [{
    NON-NUMERIC-PRESERVING unless `numerics=strict`: a raised op rounds once, to
    its result type, whatever was rounded on the way.

    Expects the form that `coda-normalize` gives. Every elementwise result is
    read as an expression over elements of other tensors, through views, slices,
    concatenations and gathers; where it is `coda.rms_norm`, `coda.glu`,
    `coda.rope` or `coda.cross_entropy` of existing tensors or views of them, the
    op takes its place. The last op of a pattern is its root: values on the way
    that have other readers stay, and so do assertions. What a front end does
    with labels out of range (wrap, clamp, NaN) gives way to what the op does.
    Where nothing ties the dynamic sizes of logits and targets, an assertion
    does.

    Losses and softmaxes are found in the middle of a body, too, of an
    elementwise op or of a sum. `m + log(sum(exp(z - m)))`, whatever m of the row
    is, is the row's `lse`, a `coda.map` that reduces by `logaddexp`. Softmax of a
    matrix that a product makes, or its logarithm, is written by it: `z - lse`
    for `z - m - log(sum(exp(z - m)))`, and `exp(z - lse)` for the quotient. A loss
    of the same logits has that sum anyway. A sum over the row of what is linear
    in `z - lse` becomes sums of z and of the weights, which do not wait for lse.
    The scores of attention, a product of a batch, are none of these but with
    `all`.

    What resembles an op but is not gets a remark with a reason of the closed
    list, e.g. `not raised to rms_norm: reduction-not-whole`.

    ```mlir
    %ss = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%x) outs(%z) {x * x + out}
    %h = linalg.generic {iterator_types = ["parallel", "parallel"]} ins(%x, %ss, %w) outs(%e) {x * rsqrt(ss / N + eps) * w}
    ```
    ==>
    ```mlir
    %h = coda.rms_norm %x weight(%w : tensor<4xf32>) eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "cf::ControlFlowDialect",
                           "coda::CodaDialect", "linalg::LinalgDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
  let options = [
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: raise only what the op computes bit for bit",
           [{::mlir::coda::getNumericsValues()}]>,
    Option<"all", "all", "bool", "false", "Raise the softmax of attention, too">
  ];
  let statistics = [
    Statistic<"numRmsNorm", "num-rms-norm", "values raised to coda.rms_norm">,
    Statistic<"numGlu", "num-glu", "values raised to coda.glu">,
    Statistic<"numRope", "num-rope", "values raised to coda.rope">,
    Statistic<"numCrossEntropy", "num-cross-entropy",
              "losses raised to coda.cross_entropy">,
    Statistic<"numSoftmax", "num-softmax",
              "softmaxes and their logarithms written by the row's logsumexp">
  ];
}

def CommutePass : InterfacePass<"coda-commute", "FunctionOpInterface"> {
  let summary = "Move row scales behind the contractions that read them";
  let description = [{
    NON-NUMERIC-PRESERVING: changes where values are rounded.

    Writes a normalisation as a `coda.scale` of the unnormalised value by a
    factor per row, and sinks scales through their readers, as
    `ScaleTransparentOpInterface` allows, to the far side of a contraction:
    `RMSNorm(x; w) W = r o ((x o w) W)`. A reader that cannot take the
    unscaled value keeps the normalised one. The statistic is then local to the
    tile that makes x, and the factor to the tile that reads it. A scale goes on
    through a second contraction, `r o (u A) B`, whose result is added to something
    with the same scale: the sum is then of products, and scaled once.

    Options: `numerics=strict` refuses every commute (reason strict-rounding);
    `allow-f16-range` permits it where the unnormalised value would be stored in
    f16, whose range it may exceed (reason f16-range).

    ```mlir
    %h = coda.rms_norm %x weight(%w : tensor<4xf32>) eps 1.0e-05 : tensor<8x4xf32> -> tensor<8x4xf32>
    %y = linalg.matmul ins(%h, %v : ...) outs(%z : tensor<8x2xf32>)
    ```
    ==>
    ```mlir
    %s = coda.map ins(%x[m, n]) outs(fresh add %s0[m]) {x * x}
    %r = coda.map ins(%s[m]) outs(%r0[m]) {rsqrt(s / 4 + eps)}
    %u = coda.map ins(%x[m, n], %w[n]) outs(%u0[m, n]) {x * w}
    %p = linalg.matmul ins(%u, %v : ...) outs(%z : tensor<8x2xf32>)
    %y = coda.scale %p, %r along [0]
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "linalg::LinalgDialect", "math::MathDialect",
                           "tensor::TensorDialect"];
  let options = [
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: refuse every commute",
           [{::mlir::coda::getNumericsValues()}]>,
    Option<"allowF16Range", "allow-f16-range", "bool", "false",
           "Store unnormalised values in f16">
  ];
  let statistics = [
    Statistic<"numCommuted", "num-commuted", "contractions a scale passed">,
    Statistic<"numRefused", "num-refused", "normalisations left as they were">
  ];
}

def FormTileOpsPass : InterfacePass<"coda-form-tile-ops", "FunctionOpInterface"> {
  let summary = "Write contractions as gemms, what reads them as maps";
  let description = [{
    Contractions become `coda.gemm` with a region that yields the accumulator;
    those of a batch only if a factor is an argument or a constant, or made of
    one alone, as the weights of several experts are, or with `all`: attention's
    stay. Semantic ops become
    maps; elementwise ops, sums and transposes that read, through views, a
    result of a tile op become maps too, and so do transposes of arguments that a
    tile op reads and what makes the floats that a tile op loads; with `all`,
    whatever they read. A number, a tensor of rank 0, has a map without a dim.
    Anything else stays linalg, with the reason as a remark.

    Unless `numerics=strict`, scalar arithmetic on 16-bit floats is done in f32
    and rounded once per stored value, and sums in 16 bit are sums in f32.

    ```mlir
    %y = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%z : tensor<8x4xf32>)
    ```
    ==>
    ```mlir
    %y = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<8x16xbf16>, tensor<16x4xbf16>)
        outs(%e[m, n] : tensor<8x4xf32>) {
    ^bb0(%acc: f32):
      coda.yield %acc : f32
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
  let options = [
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: keep every rounding",
           [{::mlir::coda::getNumericsValues()}]>,
    Option<"all", "all", "bool", "false",
           "Make maps of all elementwise ops and sums of floats, and gemms of "
           "all products">,
    Option<"keepRoundings", "keep-roundings", "bool", "false",
           "Leave a rounding that is extended again for coda-autodiff to see">
  ];
  let statistics = [
    Statistic<"numGemms", "num-gemms", "gemms formed">,
    Statistic<"numMaps", "num-maps", "maps formed">
  ];
}

def FusePass : InterfacePass<"coda-fuse", "FunctionOpInterface"> {
  let summary = "Merge tile ops that work on one iteration space";
  let description = [{
    A tile op that loads, at every point, the value that another stores there is
    merged with it: epilogues into gemms, statistics into the producer of the
    tensor that they reduce, gate and up into one gemm with two accumulators.
    Small maps over fewer dims (a row's rsqrt) are copied into their readers. A
    reshape between the two becomes a finer iteration space; a slice of a gemm's
    result becomes a gemm of a slice of the weight. Slices that together take all
    points of a dim, every second column and the others say, become one load of all of
    them at a u dim. Maps that join no producer
    but load one value are merged with each other, or with a gemm that loads it.
    A result that is what the op loads there is the loaded value.
    A sum of the producer over columns that a tile holds, those of a head say, is a
    `coda.group_reduce` for the reader.
    A gemm whose result another gemm only adds to an accumulator gives its
    products to that accumulator; what it is multiplied by before, one value for a
    row or for all, its left factor is multiplied by where a tile op makes that
    (f16: with `allow-f16-range`, or by a constant of at most 1). What a gemm only
    adds up over a batch, linear in the product, is contracted over it. Gemms are
    never recomputed.

    What is refused gets a remark with a reason of the closed list.

    ```mlir
    %y = coda.gemm acc(%a[m, k] * %b[n, k]) outs(%y0[m, n]) {^bb0(%c: f32): coda.yield %c}
    %x = coda.map ins(%y[m, n], %res[m, n]) outs(%x0[m, n]) {y + res}
    %s = coda.map ins(%x[m, n]) outs(fresh add %s0[m]) {x * x}
    ```
    ==>
    ```mlir
    %x, %s = coda.gemm acc(%a[m, k] * %b[n, k]) ins(%res[m, n])
        outs(%x0[m, n], fresh add %s0[m]) {c + res, (c + res)^2}
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "tensor::TensorDialect"];
  let options = [
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: keep every rounding",
           [{::mlir::coda::getNumericsValues()}]>,
    Option<"keepRoundings", "keep-roundings", "bool", "false",
           "Leave a rounding that is extended again for coda-autodiff to see">,
    Option<"allowF16Range", "allow-f16-range", "bool", "false",
           "Store values in f16 that are multiplied before and not after a "
           "product">
  ];
  let statistics = [
    Statistic<"numFused", "num-fused", "pairs of tile ops merged">,
    Statistic<"numAbsorbed", "num-absorbed", "gemms that became summands">,
    Statistic<"numCloned", "num-cloned", "small maps copied into a reader">,
    Statistic<"numRefused", "num-refused", "pairs refused">
  ];
}

def SplitF32Pass : InterfacePass<"coda-split-f32", "FunctionOpInterface"> {
  let summary = "Write products of f32 factors as sums of products of bf16 parts";
  let description = [{
    NON-NUMERIC-PRESERVING: a factor is known to 16 bits with `bf16x3`, and to 24
    with `bf16x6`, of which products below 2^-24 of the whole are left out.

    A matrix unit that multiplies 16-bit factors and adds up in f32 multiplies f32
    ones in parts: `a = a0 + a1`, each the rest rounded to bf16, and
    `a b = a1 b0 + a0 b1 + a0 b0`, sums of one accumulator, the smallest first. With
    `bf16x6` there are three parts, and six products. A gemm all of whose products are
    of f32 factors or of bf16 ones has the former split; an f32 factor of bf16 values that
    were extended is one part. Parts are made by maps, each tensor's once, which `coda-fuse` joins with
    what makes the tensor. bf16 has the range of f32, so nothing overflows. Infinities
    and NaN are in the leading parts alone, and only their product meets them: it
    has the result that f32 would.

    Options: `products=f32` splits nothing.

    ```mlir
    %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<8x16xf32>, tensor<4x16xf32>) outs(%y0[m, n]) {...}
    ```
    ==>
    ```mlir
    %a0, %f0, %a1 = coda.map ins(%a[m, n]) outs(..., ..., ...) {bf16(a), bf16(a) if finite, bf16(a - bf16(a))}
    %b0, %g0, %b1 = coda.map ins(%b[m, n]) outs(..., ..., ...) {...}
    %y = coda.gemm acc(%f0[m, k] * %b1[n, k] + %a1[m, k] * %g0[n, k] + %a0[m, k] * %b0[n, k]) outs(%y0[m, n]) {...}
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
  let options = [
    Option<"products", "products", "::mlir::coda::F32Products",
           "::mlir::coda::F32Products::BF16x3",
           "What multiplies f32 factors",
           [{::mlir::coda::getF32ProductsValues()}]>
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "gemms whose products were split">,
    Statistic<"numRefused", "num-refused", "gemms of f32 left as they were">
  ];
}

def AutodiffPass : Pass<"coda-autodiff", "ModuleOp"> {
  let summary = "Derive the backward of a function";
  let description = [{
    NON-NUMERIC-PRESERVING unless `numerics=strict`: values of the forward are
    saved in the 16 bits of the factors where the gradients that read them have no
    more, and roundings that are extended again are dropped.

    Adds `@F_fwd`, which returns the results of `@F` and then what is saved, and
    `@F_bwd`: from arguments of `@F` that it needs, saved values, and one
    cotangent per float result to one gradient per float argument. The
    attribute `coda.gradient` of the latter has the order: numbers of arguments,
    of results of `@F_fwd`, of results and of arguments of `@F`. `@F` stays.

    Reverse mode op by op, no fusion: the adjoint of a gemm is one map, the
    adjoint of its region, and one gemm per factor; views and slices have theirs;
    what else stands on the way from an argument to a result is refused by name,
    as is a scalar op without `DifferentiableOpInterface`. See
    `docs/autodiff.md`.

    Options: `func`, the function; `save`, which values of the forward the
    backward gets (`min`: the fewest bytes; `stored`: what is stored anyway;
    `all`: whatever it reads); `constants`, numbers of arguments without
    gradient; `grad-dtype`, the type of gradients that are sums over rows, of
    weights that is; `residual-grad`, the type in which cotangents of
    intermediate values are stored; `accumulate`: gradients of weights are added
    to values that the backward gets as its last arguments; `recompute-over`: a
    gemm for which more bytes would be saved than this (logits, say) runs again in
    the backward, with the adjoint of its region as its epilogue.

    ```mlir
    func.func @main(%x: tensor<8x4xf32>, %w: tensor<2x4xf32>) -> tensor<8x2xf32> {
      %y = coda.gemm acc(%x[m, k] * %w[n, k]) outs(%o[m, n]) {^bb0(%a: f32): coda.yield %a}
      return %y
    }
    ```
    ==>
    ```mlir
    func.func @main_bwd(%x, %w, %dy) -> (tensor<8x4xf32>, tensor<2x4xf32>) {
      %da = coda.map ins(%dy[m, n]) outs(%o[m, n]) {^bb0(%g: f32): coda.yield %g}
      %dx = coda.gemm acc(%da[m, k] * %w[k, n]) outs(%x0[m, n]) {...}
      %dw = coda.gemm acc(%da[k, m] * %x[k, n]) outs(%w0[m, n]) {...}
      return %dx, %dw
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "func::FuncDialect", "linalg::LinalgDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
  let options = [
    Option<"function", "func", "std::string", "\"main\"",
           "The function to differentiate">,
    Option<"save", "save", "std::string", "\"min\"",
           "What the forward saves: min, stored or all">,
    ListOption<"constants", "constants", "int64_t",
               "Numbers of arguments that get no gradient">,
    Option<"gradDtype", "grad-dtype", "std::string", "\"\"",
           "Type of gradients summed over rows; empty: the argument's">,
    Option<"residualGrad", "residual-grad", "std::string", "\"\"",
           "Type of stored cotangents; empty: the value's">,
    Option<"accumulate", "accumulate", "bool", "false",
           "Add gradients summed over rows to given ones">,
    Option<"recomputeOver", "recompute-over", "int64_t", "0",
           "Run a gemm again rather than save more bytes; 0: never">,
    Option<"numerics", "numerics", "::mlir::coda::Numerics",
           "::mlir::coda::Numerics::Relaxed",
           "strict: take no scale through a rounding",
           [{::mlir::coda::getNumericsValues()}]>
  ];
  let statistics = [
    Statistic<"numAdjoints", "num-adjoints", "tile ops differentiated">,
    Statistic<"numSaved", "num-saved", "values that the forward saves">
  ];
}

def JoinGradientPass : Pass<"coda-join-gradient", "ModuleOp"> {
  let summary = "Put a forward and its backward into one function";
  let description = [{
    For each function with the attribute `coda.gradient`, the backward of `@F`,
    adds `@F_grad`: from the arguments of `@F` and one cotangent per float result
    to the results of `@F` and one gradient per differentiated argument, in order.
    It does what `@F_fwd` and then `@F_bwd` do, kernel by kernel; what is saved
    stays within. The form in which gradients are checked.

    ```mlir
    func.func @f_fwd(%x) -> (%y, %saved)
    func.func @f_bwd(%saved, %dy) -> %dx attributes {coda.gradient = ...}
    ```
    ==>
    ```mlir
    func.func @f_grad(%x, %dy) -> (%y, %dx)
    ```
  }];
  let dependentDialects = ["func::FuncDialect"];
}

def BundlePass : InterfacePass<"coda-bundle", "FunctionOpInterface"> {
  let summary = "Launch independent gemms of one left factor together";
  let description = [{
    Gemms of one block that read the same left factor, by the same kinds of
    dims, and do not depend on each other become one `coda.bundle`; so do those
    that are left and have one of several left factors in common (of q, k and v with
    low-rank adapters). So do those that are left after that and read the same right
    factor (gradients of the weights of one activation), and maps of different
    spaces that one gemm reads the results of (adjoints of the epilogues of such a
    bundle). Maps that reduce nothing and of
    which the results are only returned, those that finish sums and the gradients of
    weights of one token say, are launched together, up to eight of them, with up to 24
    tensors of more than one dim.

    ```mlir
    %q = coda.gemm acc(%h[m, k] * %wq[n, k]) outs(%q0[m, n]) {...}
    %v = coda.gemm acc(%h[m, k] * %wv[n, k]) outs(%v0[m, n]) {...}
    ```
    ==>
    ```mlir
    %qv:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x2xf32> {
      %q = coda.gemm acc(%h[m, k] * %wq[n, k]) outs(%q0[m, n]) {...}
      %v = coda.gemm acc(%h[m, k] * %wv[n, k]) outs(%v0[m, n]) {...}
      coda.yield %q, %v
    }
    ```
  }];
  let dependentDialects = ["coda::CodaDialect"];
  let statistics = [
    Statistic<"numBundles", "num-bundles", "bundles formed">
  ];
}

def PartitionReductionsPass
    : InterfacePass<"coda-partition-reductions", "FunctionOpInterface"> {
  let summary = "Make whole reductions partial ones of a fixed granule";
  let description = [{
    NON-NUMERIC-PRESERVING: changes the order of summation.

    A fresh reduction over the m or the n dims of a tile op, whatever its
    combiner, becomes one per granule of 128 columns or 64 rows, those of one
    fragment, `tensor<P x M x f32>`: a tile then writes its own and none waits for
    another. What has no more than 128 rows, or columns, a tile holds. Of several dims
    that it drops the inner ones make up the granule; rows of two that some operand
    does not have next to each other are in none together. Where `row-granule` is less than
    `granule` rows are not split: their groups, of which the last may have fewer, are an
    index of the result, `m floordiv 64`, and a tile may have several. So are the groups
    of columns, and of rows, the number of which is no multiple of the granule, or is not
    known, of columns where no other n dim is there and a tile, 256, does not hold them; of several n dims the
    inner ones may make up a granule that has fewer columns, those of a head of 96.
    A map that sums over columns outside of ones that it keeps, a gradient over heads
    say, does so in a map of its own (unless `sums-only`), of which those columns are
    the rows, and rows and columns that are kept the columns. Where it sums over rows
    outside of ones that it keeps, too, over sequences, another map does that after it.
    `ragged = false` leaves all of these whole. One over rows and columns, the largest
    magnitude of a tensor say, is taken over columns first, and over rows by a
    map; where a column that is kept lies within one that is dropped, the weight of
    a norm of heads say, over rows first, and the columns dropped are rows of the
    map. A batch is reduced last, too, by that map: a tile has no more than one of it.
    The granule is fixed, so a row's bits depend neither on M nor on the
    tile; with `few-rows-granule` it is a half, a quarter, and so on down to that
    where there are few rows, until tiles of as many columns, and as many rows but
    at least 64, are 128, or a row would have more than `max-partials`; down to 32
    columns where the op reduces columns over their rows, too. Readers that are tile
    ops combine the partials as they load them (`add %s[p, m]`). For other readers a
    map finishes the reduction, and for gemms and maps that load an element more than
    once beyond `max-partials`.

    ```mlir
    %s = coda.gemm acc(%a[m, k] * %b[n, k]) outs(fresh add %s0[m] : tensor<8xf32>) {...}
    %t = coda.map ins(%s[m] : tensor<8xf32>) ...
    ```
    ==>
    ```mlir
    %s = coda.gemm acc(%a[m, k] * %b2[n0, n1, k]) outs(fresh add %s0[n0, m] : tensor<2x8xf32>) {...}
    %t = coda.map ins(add %s[p, m] : tensor<2x8xf32>) ...
    ```

    With 1000 rows, `%x[m, n] : tensor<1000x64xf32>`:

    ```mlir
    %s = coda.map ins(%x[m, n]) outs(fresh add %s0[n] : tensor<64xf32>) {...}
    ```
    ==>
    ```mlir
    %p = coda.map ins(%x[m, n]) outs(fresh add %p0[m floordiv 64, n] : tensor<16x64xf32>) {...}
    %s = coda.map ins(add %p[p, m] : tensor<16x64xf32>) outs(%s0[m] : tensor<64xf32>) {...}
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "coda::CodaDialect",
                           "tensor::TensorDialect"];
  let options = [
    Option<"granule", "granule", "int64_t", "128", "Columns per partial sum">,
    Option<"rowGranule", "row-granule", "int64_t", "64", "Rows per partial sum">,
    Option<"fewRowsGranule", "few-rows-granule", "int64_t", "0",
           "Fewest columns per partial sum of an op of few rows; 0: as of others">,
    Option<"ragged", "ragged", "bool", "true",
           "Cut what is, or may be, no multiple of the granule, too">,
    Option<"sumsOnly", "sums-only", "bool", "false",
           "Leave reductions with other combiners whole">,
    Option<"maxPartials", "max-partials", "int64_t", "128",
           "Partials that a reader adds itself">
  ];
  let statistics = [
    Statistic<"numPartitioned", "num-partitioned", "sums made partial">,
    Statistic<"numFinishers", "num-finishers", "maps that finish a sum">
  ];
}

def OutlineKernelsPass : Pass<"coda-outline-kernels", "ModuleOp"> {
  let summary = "One function per kernel";
  let description = [{
    Each tile op or bundle becomes the body of a private function with the unit
    attribute `coda.kernel`, and a call of it: one call is one launch. The
    op's operands, destinations included, are the arguments. Kernels that are
    alike share one function.

    ```mlir
    %y = coda.gemm acc(%a[m, k] * %b[n, k]) outs(%y0[m, n]) {...}
    ```
    ==>
    ```mlir
    func.func private @main_gemm_0(%a, %b, %y0) -> tensor<...> attributes {coda.kernel} {
      %y = coda.gemm acc(%a[m, k] * %b[n, k]) outs(%y0[m, n]) {...}
      return %y
    }
    %y = call @main_gemm_0(%a, %b, %y0)
    ```
  }];
  let dependentDialects = ["func::FuncDialect"];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "functions made">,
    Statistic<"numLaunches", "num-launches", "calls of them">
  ];
}

def PlainGemmsPass : Pass<"coda-plain-gemms", "ModuleOp"> {
  let summary = "Leave the gemms of a fused program, and nothing else";
  let description = [{
    What the time of a fused program is compared with. After
    `coda-outline-kernels`, each public function `@F` that calls kernels with
    accumulators becomes two:

    - `@F_factors`, of the arguments of `@F`, returns the factors of all
      accumulators as the kernels read them, each once;
    - `@F_gemms`, of these factors, returns the accumulators: one gemm for each,
      with the same operands and index maps, that stores the sums as they are,
      in the type of the accumulator. Unrolled dims are columns like others.

    A function without accumulators stays as it is.

    ```mlir
    %h = call @main_gemm_0(%x, %w, %res, %h0)    // coda.gemm, stores acc + res
    %y = call @main_gemm_1(%h, %v, %y0)
    return %y
    ```
    ==>
    ```mlir
    func.func @main_factors(%x, %w, %res, %v) {
      %h = call @main_gemm_0(%x, %w, %res, %h0)
      return %x, %w, %h, %v
    }
    func.func @main_gemms(%x, %w, %h, %v) {
      %0 = coda.gemm acc(%x[m, k] * %w[n, k]) outs(%a0[m, n]) {^bb0(%a: f32): coda.yield %a}
      %1 = coda.gemm acc(%h[m, k] * %v[n, k]) outs(%a1[m, n]) {^bb0(%a: f32): coda.yield %a}
      return %0, %1
    }
    ```
  }];
  let dependentDialects = ["coda::CodaDialect", "func::FuncDialect",
                           "tensor::TensorDialect"];
  let statistics = [
    Statistic<"numGemms", "num-gemms", "gemms made">
  ];
}

#endif // CODA_DIALECT_CODA_TRANSFORMS_PASSES
