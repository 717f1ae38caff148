//===- TileOpUtils.h - Rewrites of one or two tile ops -*- C++ -*- ------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_TILEOPUTILS_H
#define CODA_DIALECT_CODA_TRANSFORMS_TILEOPUTILS_H

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coda {

/// How one tensor dim of an operand is split: the extents of the new dims, all
/// of one group row-major. A group of one leaves the dim as it is.
using DimSplit = SmallVector<SmallVector<OpFoldResult>>;

/// Splits the domain dims that index operand `operand` of `op` as `split` says
/// (one group per dim of the operand): m becomes m0, m1. Operands that have
/// such a dim are expanded by views, results collapsed back by views. Replaces
/// `op` and returns the new op; null, with nothing changed, if the region uses
/// the index of a dim that is split into dynamic extents.
///
///   coda.gemm acc(%a[m, k] * ...) outs(%o[m, n])   with %o split [2, 64] x [n]
///   ==>
///   coda.gemm acc(%a2[m0, m1, k] * ...) outs(%o2[m0, m1, n])
TileOpInterface splitDims(RewriterBase &rewriter, TileOpInterface op,
                          unsigned operand, const DimSplit &split);

/// Turns the static b, m or n dim `dim` into a u dim: the region then runs once
/// for all its points. Sums that drop the dim add the points' values in the
/// region, and so do groups over it. Replaces `op`. The caller has checked that the
/// kind may change (no lhs uses the dim) and that the u dims then have at most 8
/// points.
TileOpInterface unrollDim(RewriterBase &rewriter, TileOpInterface op,
                          unsigned dim);

/// Loads `whole` instead of the inputs in `points`, which are slices of it: each
/// what lies at the point given with it of dim `dim`, a u dim of the new op. All are
/// loaded through one map. Replaces `op`.
///
///   coda.map ins(%w[:, 0][n], %w[:, 1][n])  ==>  coda.map ins(%w[n, u])
TileOpInterface
loadPoints(RewriterBase &rewriter, TileOpInterface op, Value whole, unsigned dim,
           ArrayRef<std::pair<unsigned, int64_t>> points);

/// What `mergeTileOps` does: how the consumer's domain maps to the producer's.
struct MergePlan {
  /// Consumer dim (by position) -> producer dim, for dims of both; -1: a dim of
  /// the consumer alone.
  SmallVector<int> consumerToProducer;
};

/// Creates, before `consumer`, the tile op that does the work of both: the
/// producer's accumulators, loads, outputs, then the consumer's; loads of the
/// producer's stores take the yielded values, those of its reductions over columns
/// these values reduced over the group of the point. Replaces both ops. The plan
/// has been checked by FusionLegality.
TileOpInterface mergeTileOps(RewriterBase &rewriter, TileOpInterface producer,
                             TileOpInterface consumer, const MergePlan &plan);

/// Creates, before `consumer`, the tile op that adds the products of `producer`,
/// a gemm that stores its one accumulator, to accumulator `accumulator` instead
/// of loading their sum as input `input`, which its region only adds to it; both
/// times the same, if they are multiplied before.
/// Replaces `consumer`; `producer` is erased.
TileOpInterface absorbProducts(RewriterBase &rewriter, TileOpInterface producer,
                               TileOpInterface consumer, unsigned input,
                               const MergePlan &plan, unsigned accumulator);

/// Computes input `input` of `consumer` in its region: copies the region of
/// `producer`, a map that stores the loaded value, and loads what it loads.
/// Replaces `consumer`; `producer` stays for its other readers.
TileOpInterface cloneIntoReader(RewriterBase &rewriter,
                                TileOpInterface producer,
                                TileOpInterface consumer, unsigned input);

/// Creates the tile op that computes the part `[offset, offset + size)` of
/// `op` along domain dim `dim`, an n or m dim, from slices of its operands.
/// `op` stays. It has no reductions that drop the dim and no index of it.
TileOpInterface sliceTileOp(RewriterBase &rewriter, TileOpInterface op,
                            unsigned dim, int64_t offset, int64_t size);

/// A tile op like `op`, before it, with the operands and maps of `spec`; the region is
/// copied as it is, and yields what `getYielded` makes at its end, of values that the
/// mapping has the copies of. `op` stays.
TileOpInterface
recreate(RewriterBase &rewriter, TileOpInterface op, const TileOpSpec &spec,
         function_ref<SmallVector<Value>(OpBuilder &, const IRMapping &)>
             getYielded);
/// The same with what `op` yields for `outputs`, the outputs of `spec`.
TileOpInterface recreate(RewriterBase &rewriter, TileOpInterface op,
                         const TileOpSpec &spec, ArrayRef<unsigned> outputs);
/// The same with all outputs.
TileOpInterface recreate(RewriterBase &rewriter, TileOpInterface op,
                         const TileOpSpec &spec);

/// Has the maps of `spec` take the dims in the order `order`, by their positions before;
/// how many there are of each kind is for the caller to set.
void reorderDims(TileOpSpec &spec, ArrayRef<unsigned> order);
/// Has `inner`, of the region of a tile op, name the dims that it names as `rename` does.
void renameDims(Operation *inner, function_ref<DimAttr(DimAttr)> rename);
/// Has the region of `copy`, the dims of which are those of `op` in the order `order`,
/// name them as they are now.
void renameDims(TileOpInterface op, TileOpInterface copy,
                ArrayRef<unsigned> order);

/// Makes the b dims of `op`, a gemm of one accumulator, that it only adds up over, as
/// the gradient of keys that several heads share does, dims of the contraction:
/// then no product of one of the batch is anywhere. Replaces `op`; null, with
/// nothing changed, if there is no such dim.
///
///   coda.gemm acc(%p[b, k, m] * %q[b, k, n]) outs(fresh add %o[m, n]) {c}
///   ==>
///   coda.gemm acc(%p[k0, k1, m] * %q[k0, k1, n]) outs(%o[m, n]) {c}
TileOpInterface contractBatch(RewriterBase &rewriter, TileOpInterface op);

/// extf(truncf x) -> x where the types agree, in the region of `op`: one
/// rounding per store instead of one per step.
void dropRoundings(RewriterBase &rewriter, TileOpInterface op);

/// Does the arithmetic on 16-bit floats in the region of `op` in f32.
void computeInF32(RewriterBase &rewriter, TileOpInterface op);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_TRANSFORMS_TILEOPUTILS_H
