//===- CodaRegionOps.td - Ops inside the region of a tile op -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODAREGIONOPS_TD
#define CODA_DIALECT_CODA_IR_CODAREGIONOPS_TD

include "coda/Dialect/Coda/IR/CodaAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Coda_YieldOp : Coda_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["GemmOp", "MapOp", "BundleOp"]>]> {
  let summary = "values of one iteration point, or results of a bundle";
  let description = [{
    In a tile op: for each `outs` operand, in order, one scalar per point of its
    u dims (row-major by their numbers), of the operand's element type. In a
    bundle: its results, each a member's.

    **Preconditions**: c9 (tile op), b3 (bundle).

    Example:

    ```mlir
    %0 = coda.map ins(%x[m, n] : tensor<8x4xf32>) outs(%o[m, n] : tensor<8x4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ /* No values. */ }]>];
}

def Coda_IndexOp : Coda_Op<"index", [Pure,
    ParentOneOf<["GemmOp", "MapOp"]>]> {
  let summary = "the iteration index along a dim";
  let description = [{
    **Preconditions**: c14: the dim is a b, m or n dim of the enclosing tile op.

    **Postconditions**: 0 <= result < extent of the dim.

    Example (the target's logit):

    ```mlir
    %p = coda.map ins(%z[m, n], %t[m] : tensor<8x4xf32>, tensor<8xi32>)
        outs(fresh add %p0[m] : tensor<8xf32>) {
    ^bb0(%v: f32, %target: i32):
      %zero = arith.constant 0.0 : f32
      %i = coda.index n
      %ti = arith.index_cast %target : i32 to index
      %hit = arith.cmpi eq, %i, %ti : index
      %s = arith.select %hit, %v, %zero : f32
      coda.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Coda_DimAttr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Dim>($dim) attr-dict";
}

def Coda_GroupReduceOp : Coda_Op<"group_reduce", [Pure,
    SameOperandsAndResultType, ParentOneOf<["GemmOp", "MapOp"]>]> {
  let summary = "combines a value over the group of points it belongs to";
  let description = [{
    Each point gets the combination of `value` over the points that differ from
    it in the dims `over` only, itself included: the sum over a head's columns,
    say. Only the region sees the result; a value per group is stored by a
    reduction of the tile op (a store has every b, m and n dim).

    **Preconditions**: c11: f32 or f64; c12: `over` names at least one n dim,
    none twice, each of static extent. Whether a group fits a tile is the
    schedule's question.

    **Postconditions**: the result is equal at all points of a group.

    Example (sum over the columns of a head):

    ```mlir
    %q = coda.map ins(%x[m, n0, n1] : tensor<8x2x4xf32>)
        outs(%o[m, n0, n1] : tensor<8x2x4xf32>) {
    ^bb0(%v: f32):
      %g = coda.group_reduce add %v over [n1] : f32
      %d = arith.divf %v, %g : f32
      coda.yield %d : f32
    }
    ```
  }];
  let arguments = (ins CombinerAttrInterface:$combiner, AnyFloat:$value,
                       Coda_DimArrayAttr:$over);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = [{
    custom<Combiner>($combiner) $value `over` custom<DimList>($over) attr-dict
    `:` type($value)
  }];
}

#endif // CODA_DIALECT_CODA_IR_CODAREGIONOPS_TD
