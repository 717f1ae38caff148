//===- AutodiffFunction.h - Reverse mode over one function -*- C++ -*----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_DIALECT_CODA_TRANSFORMS_AUTODIFFFUNCTION_H
#define CODA_LIB_DIALECT_CODA_TRANSFORMS_AUTODIFFFUNCTION_H

#include "AutodiffRegion.h"

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::coda {

/// Which values of the forward the backward gets.
enum class SavePolicy {
  Min,    ///< fewest bytes; elementwise ops and sums' readers run again
  Stored, ///< what the forward stores anyway, and else fewest bytes
  All     ///< whatever the backward reads
};

struct AutodiffOptions {
  SavePolicy save = SavePolicy::Min;
  /// Element type of the gradients of arguments that are summed over rows
  /// (weights); null: the argument's.
  FloatType gradType;
  /// Element type in which cotangents of intermediate values are stored; null:
  /// the value's.
  FloatType residualGradType;
  /// Arguments that get no gradient.
  SmallVector<int64_t> constants;
  /// The backward adds to gradients that it is given, where these are summed
  /// over rows.
  bool accumulate = false;
  /// Keep roundings: no scale is taken through one.
  bool strict = false;
  /// A gemm for which more bytes than this would be saved runs again in the
  /// backward; 0: none does.
  int64_t recomputeOver = 0;
};

/// Differentiates one function, a single block on tensors: fills a forward that
/// returns what is saved besides the results, and a backward. Values of the
/// function are the keys everywhere; "at hand" means in the backward.
class FunctionAdjoint {
public:
  FunctionAdjoint(func::FuncOp main, const AutodiffOptions &options)
      : main(main), options(options), builder(main.getContext()) {}

  /// Notes which values of regions have the precision of 16 bits in the source:
  /// those that all readers have rounded, and products of such. To be called
  /// before these roundings are dropped.
  void noteRoundings();

  /// Creates the two functions behind `main`. Fails with a diagnostic, and may
  /// then leave them unfinished.
  LogicalResult run();

  unsigned getNumAdjoints() const { return numAdjoints; }
  unsigned getNumSaved() const { return saved.size(); }

private:
  /// A cotangent of a value, or a part of the sum that it is; `dims` are the
  /// dims of the value that the tensor has, along the others it is constant.
  struct Cotangent {
    Value tensor;
    SmallVector<int64_t> dims;
    bool isSum = false;
  };
  /// A part that is a sum of products of a cotangent of accumulators, `dacc`,
  /// with the other factor. Maps are over the domain of a tile op.
  struct Product {
    Operation *op; ///< whose product it is the adjoint of
    Value dacc, other;
    AffineMap daccMap, otherMap, targetMap;
    /// By dim of the target: the kind that it has in the gemm.
    SmallVector<DimKind> kinds;
    bool daccIsLeft = true;
    bool isSum = false;
  };
  /// A part that covers a slice of the value.
  struct Slice {
    Value tensor;
    tensor::ExtractSliceOp op;
  };
  /// One output of a map that `emitMap` makes.
  struct MapOutput {
    SmallVector<Value> values; ///< per point; null: zero
    AffineMap map;             ///< over the domain of the tile op
    Type elementType;
    bool isSum = false;
  };
  /// Values of the region of a tile op that the backward gets, or gets what
  /// they are computed from.
  struct Cut {
    SmallVector<Value> values;
    /// Values of the region on which a gradient depends that is not rounded to
    /// 16 bits on its way to an argument.
    DenseSet<Value> precise;
    int64_t cost = 0;
  };
  /// Where a value of a region comes from in the backward.
  struct Source {
    Value original; ///< a value of the region
    int result = -1; ///< a store of the tile op, or
    Value tensor;    ///< a tensor that the forward saves for it
    AffineMap map;
  };

  // Function level (Autodiff.cpp, AutodiffCotangents.cpp).
  void findActive();
  LogicalResult visit(Operation *op);
  LogicalResult visitStructural(Operation *op);
  bool isActive(Value value) const { return active.contains(value); }
  void addCotangent(Value value, Cotangent cotangent);
  void addFull(Value value, Value tensor, bool isSum = false);
  /// All parts of the cotangent of `value`; products become gemms that store
  /// `type`.
  SmallVector<Cotangent> takeCotangents(Value value, Type type);
  /// The cotangent as one tensor of all dims; null if there is none.
  Value takeWhole(Value value);
  Value sum(Value of, RankedTensorType type, ArrayRef<Cotangent> parts);
  /// The location of an adjoint of ops at `locs`.
  Location getAdjointLoc(ArrayRef<Location> locs);
  /// The gemm of the products that have these kinds.
  Value buildProducts(Value target, ArrayRef<Product> products, Type type);
  Value buildOuterProduct(Value target, const Product &product, Type type);
  Value assembleSlices(Value target, ArrayRef<Slice> parts);
  Value createZero(Location loc, RankedTensorType type, Value like);
  /// `value` of the function at hand.
  Value getPrimal(Value value);
  /// Of extents and offsets, those that are values.
  SmallVector<OpFoldResult> getPrimals(ArrayRef<OpFoldResult> values);
  Value getGradient(BlockArgument argument);
  Type getStoredCotangentType(Value value) const;
  /// Whether the cotangent of `value` reaches an argument in f32 or more.
  bool isPrecise(Value value);
  /// Whether a cotangent at hand, or what it was computed from, has been rounded
  /// to 16 bits since it left the results.
  bool isRounded(Value cotangent) const;
  /// The cotangents among `loads` that `values` of the adjoint's block are
  /// computed from have been.
  bool isRounded(const RegionAdjoint &adjoint, ArrayRef<Value> values,
                 ArrayRef<CotangentLoad> loads) const;
  /// The result of the function that is `value`, through reshapes of static
  /// shape; -1 if none. `views`: from the result to the value.
  int findResult(Value value, SmallVectorImpl<Operation *> &views) const;
  LogicalResult finish();

  // Tile ops (AutodiffTileOps.cpp).
  LogicalResult visitTileOp(TileOpInterface op);
  LogicalResult differentiate(TileOpInterface op,
                              ArrayRef<CotangentLoad> loads);
  void recompute(TileOpInterface op);
  /// Has what `op` loads for values of `cut.precise` at hand as it is stored.
  void requestPrecise(TileOpInterface op, const Cut &cut);
  void requestPrecise(Value value);
  /// The stores of `op` that something asked for, as values of the adjoint's
  /// block.
  void addRequested(TileOpInterface op, RegionAdjoint &adjoint,
                    SmallVectorImpl<Value> &outputs,
                    SmallVectorImpl<Value> &preciseOutputs);
  /// Where the values of `cut` come from: saves what is not stored yet.
  SmallVector<Source> save(TileOpInterface op, const Cut &cut);
  /// A cut for `outputs`, values of the adjoint's block; `preciseOutputs` are
  /// those of them that are not rounded to 16 bits.
  Cut chooseCut(TileOpInterface op, RegionAdjoint &adjoint,
                ArrayRef<Value> outputs, ArrayRef<Value> preciseOutputs);
  SmallVector<Value> emitMap(TileOpInterface op, RegionAdjoint &adjoint,
                             ArrayRef<Source> sources,
                             ArrayRef<CotangentLoad> loads,
                             ArrayRef<MapOutput> outputs);
  void addProducts(TileOpInterface op, ArrayRef<Value> daccs);
  AffineMap getAccMap(TileOpInterface op, unsigned acc);
  AffineMap getFullMap(TileOpInterface op);
  /// Whether a store of its rounding to 16 bits may stand for `original`.
  bool mayRound(Value original, const DenseSet<Value> &precise) const;
  /// The element type in which a value of the region of `op` is saved.
  Type getSavedType(TileOpInterface op, Value original,
                    const DenseSet<Value> &precise) const;
  int64_t getBytesOfStore(TileOpInterface op, Value original,
                          const DenseSet<Value> &precise);
  int64_t getCost(TileOpInterface op, Value original,
                  const DenseSet<Value> &precise);
  /// Bytes of the stores that the forward gets for values of `cut`.
  int64_t getAddedBytes(TileOpInterface op, const Cut &cut);
  /// Accumulator `acc` of `op`, computed again.
  Value getAccAgain(TileOpInterface op, unsigned acc);

  /// A value that stands for one that is not known yet.
  Value createPlaceholder(Type type);
  /// Has `value` at hand as `tensor` from now on.
  void resolve(Value value, Value tensor);
  /// Has a result of a tile op at hand by saving it.
  void saveResult(OpResult result);

  mutable func::FuncOp main;
  func::FuncOp forward, backward;
  AutodiffOptions options;
  OpBuilder builder; ///< at the end of the backward
  IRMapping toForward;
  DenseSet<Value> active;
  DenseMap<Value, bool> precise;
  DenseSet<Value> roundedCotangents; ///< results of tile ops of the backward
  DenseSet<Value> rounded; ///< see noteRoundings
  DenseSet<Value> returned; ///< results of the function, through reshapes
  DenseMap<Value, SmallVector<Cotangent>> cotangents;
  DenseMap<Value, SmallVector<Product>> products;
  DenseMap<Value, SmallVector<Slice>> slices;
  DenseMap<Value, Value> primals;
  /// Gemms that run again, and their accumulators.
  DenseMap<Operation *, SmallVector<Value>> again;
  /// Placeholders and what takes their place in the end.
  SmallVector<std::pair<Value, Value>> resolved;
  /// Results of tile ops that something asked for and that are not at hand yet.
  llvm::MapVector<Value, Value> requests;
  /// Values that are asked for, now or later, without a rounding.
  DenseSet<Value> preciseRequests;

  // Arguments of the backward, as placeholders.
  llvm::MapVector<unsigned, Value> neededArguments;
  struct Saved {
    Value value;       ///< of the function; or null, and then
    Value inRegion;    ///< a value of the region of `op`,
    Operation *op = nullptr;
    AffineMap map;     ///< over the op's domain
    Type elementType;
    Value placeholder; ///< in the backward
  };
  SmallVector<Saved> saved;
  /// The entry for a value of a region; null if it is not saved.
  const Saved *findSaved(Value inRegion) const;
  llvm::MapVector<unsigned, Value> resultsUsed; ///< results of the function
  SmallVector<std::pair<unsigned, Value>> outputCotangents;
  SmallVector<std::pair<unsigned, Value>> accumulators;
  unsigned numAdjoints = 0;
};

} // namespace mlir::coda

#endif // CODA_LIB_DIALECT_CODA_TRANSFORMS_AUTODIFFFUNCTION_H
