//===- FusionLegality.h - What may be commuted and merged -*- C++ -*- ---===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The one analysis behind coda-commute and coda-fuse: passes, remarks and
// reports ask here and nowhere else.

#ifndef CODA_DIALECT_CODA_ANALYSIS_FUSIONLEGALITY_H
#define CODA_DIALECT_CODA_ANALYSIS_FUSIONLEGALITY_H

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include <set>

namespace mlir::linalg {
class LinalgOp;
} // namespace mlir::linalg

namespace mlir::coda {

/// Columns that a tile has at most, of all accumulators together.
constexpr int64_t kMaxTileColumns = 256;

/// Of one op. A GPU's kernel is passed a descriptor of 128 bytes for each factor, and a
/// few for what it loads and stores.
constexpr unsigned kMaxProducts = 9;

/// Whether `op` multiplies matrices. A sum of elementwise products has the body
/// of a contraction, too, but neither rows nor columns of its own.
bool isMatrixProduct(linalg::LinalgOp op);

/// Whether `map`, of an operand of `op`, has every b, m and n dim of it.
bool isFullMap(TileOpInterface op, AffineMap map);

/// What `value` is a view of, behind reshapes and slices.
Value getViewed(Value value);

/// Whether `op` changes the type of a float and at most rounds it.
bool isCast(Operation *op);

/// Why a rewrite is refused: the reason, the op in its way, and what is wrong.
struct Refusal {
  FusionReason reason = FusionReason::NoCommonSpace;
  Operation *culprit = nullptr;
  std::string detail;
};

/// Sets `refusal`; returns failure.
LogicalResult refuse(Refusal &refusal, FusionReason reason, Operation *culprit,
                     const Twine &detail);

/// Emits the remark `[pass] what: reason: detail` at `op`, with a note at the
/// culprit if that is another op.
void emitRefusal(Operation *op, StringRef pass, StringRef what,
                 const Refusal &refusal);

/// Options of the analysis.
struct LegalityOptions {
  /// Keep every rounding and every order of summation.
  bool strict = false;
  /// Unnormalised values may be stored in f16.
  bool allowF16Range = false;
};

/// Whether a scale of `use`, along the dims `dims` of the used value, can move
/// through its reader, and through what reads that, to the far side of a
/// contraction.
LogicalResult canSinkScale(OpOperand &use, ArrayRef<int64_t> dims,
                           const LegalityOptions &options, Refusal &refusal);

/// Whether the value of `norm` may be kept unnormalised.
LogicalResult canDeferScale(RmsNormOp norm, const LegalityOptions &options,
                            Refusal &refusal);

/// Why the value that `op`, an elementwise generic, makes of a row statistic (a
/// reduction's result, one per row) is no row scale of a linear value, so that
/// no commute is possible whatever the statistic is. Success: nothing speaks
/// against it, or `op` reads no statistic.
LogicalResult checkRowStatistics(linalg::LinalgOp op, Refusal &refusal);

/// How a tile op that loads a result of another can be joined with it.
enum class JoinKind {
  Merge,     ///< one op for both, see mergeTileOps
  Clone,     ///< the producer's region is copied into the reader
  Absorb,    ///< the producer's products become summands of an accumulator
  SplitProducer, ///< a reshape: first split the producer's dims
  SplitConsumer, ///< a reshape: first split the consumer's dims
  Unroll,    ///< first turn a dim of one of the two into a u dim
  Points,    ///< slices at the points of a dim: first load all, at u points
  Slice      ///< the producer is cut into gemms of parts of its weight
};

/// What a region multiplies a product by, or divides, in `step`: a value of it, one
/// for all columns of a row.
struct RowFactor {
  Value value;
  bool divides = false;
  Operation *step = nullptr;
};

struct JoinPlan {
  JoinKind kind = JoinKind::Merge;
  TileOpInterface producer;
  /// Siblings: the one that is taken in, and where it has to be split first, its
  /// input.
  TileOpInterface consumer;
  unsigned input = 0;
  /// The view of the producer's result that stands in the way, if any.
  Operation *view = nullptr;
  /// Merge and absorb: consumer dim -> producer dim, -1 if the consumer's alone.
  SmallVector<int> consumerToProducer;
  /// Absorb: the consumer's accumulator; what the producer's left factor is
  /// multiplied by first; what that of the accumulator's one product is instead of
  /// the accumulator, where the producer's result is not.
  unsigned accumulator = 0;
  SmallVector<RowFactor> factors, ownFactors;
  bool isNegated = false;
  /// Unroll: the op and its dim.
  TileOpInterface unrolled;
  unsigned unrolledDim = 0;
  /// Points: the consumer's inputs that are slices of one value, or the same reshape
  /// of such, each with the point of dim `pointDim` of the value that it takes.
  SmallVector<std::pair<unsigned, int64_t>> points;
  unsigned pointDim = 0;
  /// Slice: the producer's dim that is cut and the parts, (offset, size).
  unsigned slicedDim = 0;
  std::set<std::pair<int64_t, int64_t>> parts;
};

/// Plans how input `input` of `consumer` is joined with the tile op that makes
/// it, through views. Success with a null producer: no tile op makes it. Of a plan
/// that failed the kind is Absorb where the input is the result of a gemm that
/// is added to an accumulator, and could not be a product of that.
LogicalResult planJoin(TileOpInterface consumer, unsigned input,
                       const LegalityOptions &options, JoinPlan &plan,
                       Refusal &refusal);

/// Plans that `producer`, a gemm whose result input `input` of `consumer` is,
/// becomes a summand of an accumulator: A B + C D is one of two products. That of
/// `planJoin`; on failure the refusal has a culprit if the result is added to an
/// accumulator.
LogicalResult planAbsorb(TileOpInterface producer, TileOpInterface consumer,
                         unsigned input, const LegalityOptions &options,
                         JoinPlan &plan, Refusal &refusal);

/// Plans the merge of two maps, or of a gemm and a map, that load one value at
/// every point of their spaces and do not depend on each other. Where one loads it
/// with dims split by a view, the plan is to split the other's.
LogicalResult planSiblings(TileOpInterface first, TileOpInterface second,
                           JoinPlan &plan);

/// Whether `op`, by its operands in its block, depends on `ancestor`; what
/// passes directly from `ancestor` into an operand for which `isDirect` holds
/// does not count.
bool dependsOn(Operation *op, Operation *ancestor,
               function_ref<bool(OpOperand &)> isDirect);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_ANALYSIS_FUSIONLEGALITY_H
