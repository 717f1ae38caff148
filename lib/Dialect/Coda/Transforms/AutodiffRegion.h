//===- AutodiffRegion.h - The adjoint of one region -*- C++ -*- ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_DIALECT_CODA_TRANSFORMS_AUTODIFFREGION_H
#define CODA_LIB_DIALECT_CODA_TRANSFORMS_AUTODIFFREGION_H

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::coda {

/// A cotangent of output `output` of a tile op, as the adjoint loads it.
struct CotangentLoad {
  unsigned output;
  /// Over the domain of the op; may lack dims of the output along which the
  /// cotangent is constant.
  AffineMap map;
  Value tensor;
};

/// What the adjoint of a region is asked for.
struct RegionAdjointSpec {
  SmallVector<CotangentLoad> cotangents;
  /// Per accumulator and per input: whether a cotangent is needed.
  SmallVector<bool> wantAcc, wantInput;
  /// Keep every rounding; no scale is taken through one.
  bool strict = false;
  /// Take the cotangents of row factors from cut values (Euler's theorem).
  bool euler = true;
};

/// The region of a tile op, copied, and the reverse sweep through it, in a block
/// that belongs to no op. Values of that block are what is asked for; what of
/// the copy they need is found by `getNeeded`, and a choice of values that the
/// backward has at hand (a cut) by `chooseCut`.
class RegionAdjoint {
public:
  RegionAdjoint(TileOpInterface op, const RegionAdjointSpec &spec);
  ~RegionAdjoint();

  /// Runs the sweep. Fails with a diagnostic at an op without an adjoint.
  LogicalResult build();

  /// Cotangents, one per point of the operand's u dims; null: zero.
  SmallVector<Value> accCotangents(unsigned acc) const;
  SmallVector<Value> inputCotangents(unsigned input) const;
  /// Arguments of the block for cotangent `i` of the spec, by point.
  ArrayRef<Value> getCotangentArguments(unsigned i) const {
    return cotangentArguments[i];
  }
  /// Arguments of the block for the value of logaddexp output `o`, by point.
  ArrayRef<Value> getResultArguments(unsigned o) const {
    return resultArguments[o];
  }
  /// The copy of a value of the op's region.
  Value getCopy(Value original) const { return copies.lookup(original); }
  /// The value of the op's region that `copy` is a copy of; null if of none.
  Value getOriginal(Value copy) const { return originals.lookup(copy); }
  Block &getBlock() { return block; }
  /// Whether a row factor's cotangent was taken from a cut.
  bool usesEuler() const { return usedEuler; }

  /// The values of the op's region that `outputs`, values of the block, need:
  /// those that the sweep reads, and the originals of `outputs`.
  SmallVector<Value> getNeeded(ArrayRef<Value> outputs) const;

  /// A set of values of the region from which `needed` can be computed, of least
  /// cost and, among these, nearest to what is needed. `isLeaf`: an argument
  /// that costs something; `cost`: kFree, kNever, or units.
  static constexpr int64_t kNever = int64_t(1) << 50;
  SmallVector<Value> chooseCut(ArrayRef<Value> needed,
                               function_ref<bool(BlockArgument)> isLeaf,
                               function_ref<int64_t(Value)> cost,
                               int64_t &total) const;

  /// Copies what `outputs` need to the end of the block that `builder` is in.
  /// `mapping` has values for the arguments and for copies of a cut.
  void emit(OpBuilder &builder, ArrayRef<Value> outputs,
            IRMapping &mapping) const;

  /// The values in `available`, and of the block's arguments, from which
  /// `outputs` are computed.
  SetVector<Value> getSources(ArrayRef<Value> outputs,
                              const DenseSet<Value> &available) const;

private:
  LogicalResult seed();
  LogicalResult sweep(Operation &op);
  void add(Value original, Value cotangent, Operation *user);
  Value wide(Value copy);
  SetVector<Operation *> slice(ArrayRef<Value> outputs,
                               function_ref<bool(Value)> stop,
                               SetVector<Value> *arguments,
                               SetVector<Value> *stopped) const;

  mutable TileOpInterface op; ///< only read; its accessors are not const
  RegionAdjointSpec spec;
  mutable Block block;
  OpBuilder builder;
  IRMapping copies;
  DenseMap<Value, Value> originals, wideCopies;
  SmallVector<SmallVector<Value>> cotangentArguments, resultArguments;
  DenseMap<Value, Value> cotangents;
  DenseSet<Value> active;
  /// Of each row factor its cut; the sums of v dv so far.
  DenseMap<Value, SmallVector<Value>> cuts;
  DenseMap<Value, SmallVector<Value>> factorsOfCutValue;
  DenseMap<Value, Value> eulerSums;
  bool usedEuler = false;
};

} // namespace mlir::coda

#endif // CODA_LIB_DIALECT_CODA_TRANSFORMS_AUTODIFFREGION_H
