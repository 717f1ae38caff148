//===- CodaTileOps.td - gemm, map, bundle -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODATILEOPS_TD
#define CODA_DIALECT_CODA_IR_CODATILEOPS_TD

include "coda/Dialect/Coda/IR/CodaAttrs.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Coda_TileOp<string mnemonic>
    : Coda_Op<mnemonic, [AttrSizedOperandSegments, IsolatedFromAbove,
        SingleBlock, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<TileOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ConditionallySpeculatable>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<AggregatedOpInterface,
                                  ["decomposeOperation"]>]> {
  let arguments = (ins
    Arg<Variadic<AnyShaped>, "left factors, one per product">:$lhs,
    Arg<Variadic<AnyShaped>, "right factors, one per product">:$rhs,
    Arg<Variadic<AnyShaped>, "loaded operands">:$inputs,
    Arg<Variadic<AnyShaped>, "destinations">:$outputs,
    Arg<AffineMapArrayAttr, "one map over the domain per operand">:$indexing_maps,
    Arg<DenseI32ArrayAttr, "how many b, m, n, u, k and p dims the domain has">:$dims,
    Arg<DenseI32ArrayAttr, "how many products each accumulator sums">:$acc_sizes,
    Arg<ArrayAttr, "per destination: unit (a store) or a combiner">:$combiners,
    Arg<DenseBoolArrayAttr, "per destination: whether its values are ignored">:$fresh,
    Arg<ArrayAttr, "per loaded operand: unit or a combiner">:$load_combiners);
  let results = (outs Res<Variadic<AnyRankedTensor>, "on tensors, one per destination">:$results);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "const ::mlir::coda::TileOpSpec &":$spec)>
  ];
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOutputsMutable();
    }
  }];
}

def Coda_GemmOp : Coda_TileOp<"gemm"> {
  let summary = "sums of products with a fused epilogue: one kernel";
  let description = [{
    One or more accumulators at one iteration point, a scalar region, and
    stores and reductions of what the region yields. On tensors it is a value,
    on memrefs it writes its destinations.

    ```
    acc_i[b, m, n, u] = sum over products p of i, sum over k:
                        lhs_p[b, m, k] * rhs_p[b, n, k, u]
    ```

    Products are exact and summed in the accumulator type (f32 for 8-, 16- and
    32-bit floats, f64 for f64, i32 for i8) in an order that is fixed per
    compiled artifact but not specified. K = 0 gives 0.

    The iteration dims have kinds: **b** batch, **m** and **n** parallel, **u**
    unrolled (static, 2 to 8 points in all), **k** contraction, **p** partial.
    Each operand is followed by the dims that index it, `%wo[n, k]`; a kind with
    several dims numbers them, `m0`, `m1` (at most 16). Layouts are index maps:
    there is no transpose attribute, and a reshape is an explicit
    `tensor.expand_shape`.

    The region runs once per (b, m, n). Its arguments are, per accumulator and
    then per `ins` operand, one value for each point of the u dims in its map
    (for an accumulator, in the maps of its rhs factors). The points are ordered
    row-major by the u dims' numbers, whatever their order in the map. The
    region holds scalar, region-free, speculatable ops of arith and math (so no
    integer division), `coda.index` and `coda.group_reduce`. An `ins` operand
    with a combiner (`add %sp[p, m]`) is a *combining load*: the region sees its
    values combined over p, the combiner's identity if there are none.

    Each `outs` operand is, in destination style,
    - a *store*, if it has no combiner: its map has every b, m and n dim, the
      operand gives destination and shape only;
    - a *reduction*, if it has one (`add %s0[m]`): its map drops some b, m or n
      dim and `result = init + sum over the dropped dims` (with the combiner for
      the sum); with `fresh` the operand's values are not read and the reduction
      starts from the identity. The order of the sum is not specified, but fixed
      per compiled artifact. An index `m floordiv 128` drops a part of m: element
      g along it reduces the points 128 g to 128 g + 127, the last one those that
      there are. That is a *partial reduction*, which another op finishes.

    Either takes one value per point of its u dims from the `coda.yield`.

    In the generic form, operands are lhs\*, rhs\*, ins\*, outs\*;
    `indexing_maps` has one map over the domain for each, `dims` the number of
    b, m, n, u, k and p dims, in this order also the dims of the domain;
    `acc_sizes` the number of products of each accumulator, `combiners` for each
    output and `load_combiners` for each input a combiner or unit, `fresh` a
    flag for each output.

    **Preconditions**:
    - c1: maps are projected permutations without symbols over the domain (but
      for c16), and each dim of it indexes some operand;
    - c2: one index per dim of the operand;
    - c3: static extents agree; u dims are static and have 2 to 8 points in all;
    - c4: lhs has all b and m dims and at least one k, neither n nor u; rhs has
      all b and n dims and the same k, no m; factors have one type;
    - c5: the products of one accumulator use disjoint k dims (two accumulators
      may share a k loop);
    - c6: k dims index factors only;
    - c7: stores have every b, m and n dim, reductions drop one at least;
    - c8: number, order and types of the region's arguments; loads and stores
      are floats or integers;
    - c9: number, order and types of what the region yields;
    - c10: what the region may hold, see above;
    - c11: reductions and combining loads are f32 or f64;
    - c12: groups of `coda.group_reduce` are over static n dims;
    - c13: all operands are ranked tensors, or all memrefs;
    - c14: `coda.index` names a b, m or n dim;
    - c15: p dims index combining loads only, and each of these has one;
    - c16: an index `d floordiv g` stands in the map of a reduction, for a b, m or
      n dim that the map has not besides, with g at least 2; the operand's extent
      there is that of d divided by g, rounded up (static ones are verified).

    On memrefs, an output may share its buffer with a loaded operand that has
    the same, full map; no output may overlap a factor, or an operand with
    another map. This is not verified: bufferization sees to it.

    **Postconditions**: one result per `outs` operand, of its type (none on
    memrefs). Empty M or N: stores are empty, reductions equal their start.

    | operand | dtypes |
    | --- | --- |
    | factors, both of a product alike | f16, bf16, 8-bit floats (two kinds may meet) and f32 (summed in f32), f64 (in f64), i8 (in i32) |
    | loads, stores | floats, integers, index |
    | reductions, combining loads, groups | f32, f64 |

    Example (residual, weighted copy and partial statistics):

    ```mlir
    %x, %h, %ss = coda.gemm
        acc(%y[m, k] * %wo[n, k] : tensor<64x32xbf16>, tensor<16x32xbf16>)
        ins(%res[m, n], %w[n] : tensor<64x16xbf16>, tensor<16xbf16>)
        outs(%x0[m, n], %h0[m, n], fresh add %s0[m]
             : tensor<64x16xbf16>, tensor<64x16xbf16>, tensor<64xf32>) {
    ^bb0(%acc: f32, %r: bf16, %wn: bf16):
      %rf = arith.extf %r : bf16 to f32
      %wf = arith.extf %wn : bf16 to f32
      %xf = arith.addf %acc, %rf : f32
      %hf = arith.mulf %xf, %wf : f32
      %sq = arith.mulf %xf, %xf : f32
      %xb = arith.truncf %xf : f32 to bf16
      %hb = arith.truncf %hf : f32 to bf16
      coda.yield %xb, %hb, %sq : bf16, bf16, f32
    }
    ```
  }];
}

def Coda_MapOp : Coda_TileOp<"map"> {
  let summary = "an epilogue without accumulators: one elementwise kernel";
  let description = [{
    `coda.gemm` without `acc`: the same domain, region, loads, stores and
    reductions. A statistic of a tensor that no gemm of the function produces,
    or an elementwise op between two attention calls, is a map.

    **Preconditions**: those of `coda.gemm` that do not speak of products; there
    are no k dims, and a domain without any dim is one point.

    **Postconditions**: those of `coda.gemm`.

    Example (row sums of squares):

    ```mlir
    %ss = coda.map ins(%x[m, n] : tensor<64x16xf32>)
        outs(fresh add %s0[m] : tensor<64xf32>) {
    ^bb0(%v: f32):
      %sq = arith.mulf %v, %v : f32
      coda.yield %sq : f32
    }
    ```
  }];
}

def Coda_BundleOp : Coda_Op<"bundle", [SingleBlock, RecursiveMemoryEffects,
    RecursivelySpeculatable, NoRegionArguments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "independent tile ops in one launch";
  let description = [{
    Holds mutually independent `coda.gemm` and `coda.map` ops that one kernel
    launch computes; its results are theirs. Which tiles run where is the
    schedule's choice, not part of the meaning.

    **Preconditions**:
    - b1: members are `coda.gemm` and `coda.map`;
    - b2: no member uses another's result nor, on memrefs, a buffer that another
      one writes;
    - b3: the terminator yields results of members, of the bundle's types.

    **Postconditions**: each result is the member's. On memrefs there are none:
    the members write their destinations.

    Example:

    ```mlir
    %kv:2 = coda.bundle -> tensor<8x4xf32>, tensor<8x2xf32> {
      %k = coda.gemm acc(%h[m, k] * %wk[n, k] : tensor<8x16xf32>, tensor<4x16xf32>)
          outs(%k0[m, n] : tensor<8x4xf32>) {
      ^bb0(%a: f32):
        coda.yield %a : f32
      }
      %v = coda.gemm acc(%h[m, k] * %wv[n, k] : tensor<8x16xf32>, tensor<2x16xf32>)
          outs(%v0[m, n] : tensor<8x2xf32>) {
      ^bb0(%a: f32):
        coda.yield %a : f32
      }
      coda.yield %k, %v : tensor<8x4xf32>, tensor<8x2xf32>
    }
    ```
  }];
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // CODA_DIALECT_CODA_IR_CODATILEOPS_TD
