//===- FormTileOps.cpp - coda-form-tile-ops -----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockScales.h"
#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_FORMTILEOPSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

static LogicalResult refuse(Refusal &refusal, FusionReason reason,
                            const Twine &detail) {
  refusal = {reason, nullptr, detail.str()};
  return failure();
}

/// tensor.empty of the shape of `value`.
static Value createEmptyLike(RewriterBase &rewriter, Location loc,
                             Value value) {
  return tensor::EmptyOp::create(rewriter, loc,
                                 tensor::getMixedSizes(rewriter, loc, value),
                                 getElementTypeOrSelf(value));
}

static bool isZeroFill(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
                  matchPattern(fill.getInputs()[0], m_Zero()));
}

/// Whether a tile op makes `value`, through views.
static bool comesFromTileOp(Value value) {
  return isa_and_nonnull<TileOpInterface>(getViewed(value).getDefiningOp());
}

/// Whether `op` only moves elements: a transpose, in one spelling or the other.
static bool isPermutation(linalg::LinalgOp op) {
  if (isa<linalg::TransposeOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1)
    return false;
  Operation *yield = generic.getBody()->getTerminator();
  return yield->getOperand(0) == generic.getBody()->getArgument(0) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isPermutation(); });
}

/// Whether a tile op is among what `op` is computed from (`back`), or among what
/// is computed from it.
static bool reachesTileOp(Operation *op, bool back,
                          llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!op || !seen.insert(op).second)
    return false;
  if (isa<TileOpInterface>(op))
    return true;
  if (back)
    return llvm::any_of(op->getOperands(), [&](Value value) {
      return reachesTileOp(value.getDefiningOp(), back, seen);
    });
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return reachesTileOp(user, back, seen);
  });
}

/// What stands between `op` and a tile op that loads its result, or that makes
/// what it reads.
static std::optional<Refusal> findObstacle(linalg::GenericOp op) {
  SmallVector<Operation *> users(op->getUsers());
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      llvm::append_range(users, user->getUsers());
      continue;
    }
    if (isa<TileOpInterface>(user))
      return Refusal{FusionReason::NoCommonSpace, user,
                     "a gemm takes it as a factor, which is read from memory"};
    llvm::SmallPtrSet<Operation *, 32> seen;
    if (!reachesTileOp(user, /*back=*/false, seen))
      continue;
    if (isa<linalg::GenericOp>(user))
      return Refusal{FusionReason::OtherReader, user,
                     "what reads it is no part of a tile op either"};
    return Refusal{FusionReason::OtherReader, user,
                   ("between it and the tile op that loads it stands '" +
                    user->getName().getStringRef() + "'")
                       .str()};
  }
  for (Value value : op.getDpsInputs()) {
    Operation *def = getViewed(value).getDefiningOp();
    llvm::SmallPtrSet<Operation *, 32> seen;
    if (!reachesTileOp(def, /*back=*/true, seen))
      continue;
    return Refusal{FusionReason::NoCommonSpace, def,
                   ("it reads what '" + def->getName().getStringRef() +
                    "' makes of the values of tile ops")
                       .str()};
  }
  return std::nullopt;
}

/// Why an op that reads no tile op's value and is read by none at a point stays;
/// none if it is no work of a kernel.
static std::optional<Refusal> findReasonToStay(linalg::GenericOp op) {
  if (isMatrixProduct(op) || op->getNumResults() == 0)
    return std::nullopt;
  bool asserts = false;
  op.getBody()->walk([&](Operation *inner) {
    asserts |= !isMemoryEffectFree(inner);
  });
  if (asserts)
    return Refusal{FusionReason::SideEffectBetween, nullptr,
                   "the body may fail: it stays, as a guard of what follows"};
  if (llvm::none_of(op->getResultTypes(), [](Type type) {
        return isa<FloatType>(getElementTypeOrSelf(type));
      }))
    return Refusal{FusionReason::UnsupportedType, nullptr,
                   "it computes integers alone, which no tile op stores"};
  if (std::optional<Refusal> obstacle = findObstacle(op))
    return obstacle;
  return Refusal{FusionReason::NoCommonSpace, nullptr,
                 "no tile op makes what it reads or loads what it gives"};
}

/// Whether a tile op loads `value`, through reshapes: not as a factor.
static bool isLoaded(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return isLoaded(user->getResult(0));
    auto tile = dyn_cast<TileOpInterface>(user);
    return tile && use.getOperandNumber() >= 2 * tile.getNumProducts() &&
           use.getOperandNumber() <
               2 * tile.getNumProducts() + tile.getInputs().size();
  });
}

/// Whether `value` is an argument or a constant, or what views and ops of it alone
/// make of one, as a weight is.
static bool isGiven(Value value) {
  while (true) {
    value = getViewed(value);
    Operation *op = value.getDefiningOp();
    if (!op || op->hasTrait<OpTrait::ConstantLike>())
      return true;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumReductionLoops() != 0 ||
        linalgOp.getNumDpsInputs() != 1)
      return false;
    value = linalgOp.getDpsInputs()[0];
  }
}

/// Whether `op` is a product of a batch that stays one: attention's have two
/// factors that the graph computes. With `all` none does.
static bool isLeftBatched(linalg::LinalgOp op,
                          const linalg::ContractionDimensions &dims, bool all) {
  return !dims.batch.empty() && !all &&
         llvm::none_of(op.getDpsInputs(), isGiven);
}

/// Whether a tile op, or what becomes one, reads `value`, through reshapes.
static bool feedsTileOp(Value value, bool all) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return feedsTileOp(user->getResult(0), all);
    if (isa_and_nonnull<CodaDialect>(user->getDialect()))
      return true;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    if (!linalgOp || !isMatrixProduct(linalgOp))
      return false;
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(linalgOp);
    return succeeded(dims) && !isLeftBatched(linalgOp, *dims, all);
  });
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// contraction -> gemm whose region yields the accumulator, rounded to the
/// result type; an init that is not zero is loaded and added.
static FailureOr<TileOpInterface> formGemm(RewriterBase &rewriter,
                                           linalg::LinalgOp op, bool all,
                                           Refusal &refusal) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims))
    return refuse(refusal, FusionReason::NonProjectedMap,
                  "the contraction's dims are not those of a gemm");
  Value lhs = op.getDpsInputs()[0], rhs = op.getDpsInputs()[1];
  Type factorType = getElementTypeOrSelf(lhs);
  bool areQuantized = isQuantizedFloat(factorType) &&
                      isQuantizedFloat(getElementTypeOrSelf(rhs));
  if (areQuantized)
    if (Operation *sum = findSumOfBlocks(op, *dims)) {
      refusal = {FusionReason::ContractsScaledDim, sum,
                 "products of 8-bit factors, each by its own scale, are summed: "
                 "block scales, which differ along the contracted dim, are not "
                 "supported"};
      return failure();
    }
  if (isLeftBatched(op, *dims, all))
    return refuse(refusal, FusionReason::NoCommonSpace,
                  "a product of a batch whose factors are both computed, as "
                  "attention's are");
  if ((dims->m.empty() && dims->n.empty()) || dims->k.empty())
    return refuse(refusal, FusionReason::NoCommonSpace,
                  "a gemm has rows or columns, and a contracted dim");
  Value init = op.getDpsInits()[0];
  Type accType = getAccumulatorType(factorType);
  Type resultType = getElementTypeOrSelf(init);
  if (!accType ||
      (factorType != getElementTypeOrSelf(rhs) && !areQuantized) ||
      isa<FloatType>(accType) != isa<FloatType>(resultType) ||
      (isa<IntegerType>(accType) && resultType != accType) ||
      (accType.isF32() && resultType.isF64()))
    return refuse(refusal, FusionReason::UnsupportedType,
                  "factors and result have no common accumulator type");

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // A matrix by a vector is one row: its own dim is that of columns.
  if (dims->n.empty()) {
    std::swap(dims->m, dims->n);
    std::swap(lhs, rhs);
    std::swap(maps[0], maps[1]);
  }
  SmallVector<unsigned> position(op.getNumLoops());
  TileOpSpec spec;
  unsigned next = 0;
  auto place = [&](ArrayRef<unsigned> loops, DimKind kind) {
    spec.dims[static_cast<unsigned>(kind)] = loops.size();
    for (unsigned loop : loops)
      position[loop] = next++;
  };
  place(dims->batch, DimKind::b);
  place(dims->m, DimKind::m);
  place(dims->n, DimKind::n);
  place(dims->k, DimKind::k);
  SmallVector<AffineExpr> newDims;
  for (unsigned p : position)
    newDims.push_back(rewriter.getAffineDimExpr(p));
  auto translate = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(newDims, {}, op.getNumLoops(), 0);
  };
  bool accumulates = !isZeroFill(init);
  Location loc = op.getLoc();
  spec.lhs = {lhs};
  spec.rhs = {rhs};
  spec.accSizes = {1};
  spec.maps = {translate(maps[0]), translate(maps[1])};
  if (accumulates) {
    spec.inputs = {init};
    spec.loadCombiners = {rewriter.getUnitAttr()};
    spec.maps.push_back(translate(maps[2]));
  }
  spec.outputs = {createEmptyLike(rewriter, loc, init)};
  spec.combiners = {rewriter.getUnitAttr()};
  spec.fresh = {false};
  spec.maps.push_back(translate(maps[2]));

  TileOpInterface gemm = createTileOp(rewriter, loc, spec);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&gemm.getBody().front());
  Value value = gemm.getBody().getArgument(0);
  if (accumulates) {
    Value start = gemm.getBody().getArgument(1);
    if (isa<IntegerType>(accType)) {
      value = arith::AddIOp::create(rewriter, loc, value, start);
    } else {
      if (start.getType() != accType)
        start = arith::ExtFOp::create(rewriter, loc, accType, start);
      value = arith::AddFOp::create(rewriter, loc, value, start);
    }
  }
  if (value.getType() != resultType)
    value = arith::TruncFOp::create(rewriter, loc, resultType, value);
  YieldOp::create(rewriter, loc, value);
  return gemm;
}

/// Whether one factor of a contraction has all of its dims: the sum of experts'
/// results, each times its share of a token, say. A map can have it, too.
static bool isWeightedSum(linalg::LinalgOp op) {
  return isa<linalg::GenericOp>(op) &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *factor) {
           return op.getMatchingIndexingMap(factor).isPermutation();
         });
}

//===----------------------------------------------------------------------===//
// Elementwise ops, sums, transposes
//===----------------------------------------------------------------------===//

/// The combiner of a reduction body `comb(out, f(ins))`, and f's value.
static CombinerAttrInterface getReductionBody(linalg::LinalgOp op,
                                              Value &element) {
  Block &body = op->getRegion(0).front();
  BlockArgument out = body.getArguments().back();
  Operation *last = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!last || !out.hasOneUse() || last->getNumOperands() != 2)
    return {};
  unsigned side = last->getOperand(0) == out ? 0 : 1;
  if (last->getOperand(side) != out)
    return {};
  element = last->getOperand(1 - side);
  if (isa<arith::AddFOp>(last))
    return AddAttr::get(op.getContext());
  if (isa<arith::MaximumFOp>(last))
    return MaxAttr::get(op.getContext());
  return {};
}

/// A sum in 16 bit that starts from zero, as some front ends write the mean over
/// tokens, becomes a sum in f32 that is rounded once.
///   sum : bf16  ->  truncf(sum : f32)
static void widenSum(RewriterBase &rewriter, linalg::GenericOp op) {
  Value element;
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op->getNumResults() != 1 || isMatrixProduct(op) ||
      !isZeroFill(op.getOutputs()[0]) ||
      !isa_and_nonnull<AddAttr>(getReductionBody(op, element)))
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.getElementType().isF16() && !type.getElementType().isBF16())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Type f32 = rewriter.getF32Type();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getOutputs()[0]);
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getF32FloatAttr(0.0));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, f32);
  Value init = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  Block &body = *op.getBody();
  Operation *last = body.getTerminator()->getOperand(0).getDefiningOp();
  auto wide = linalg::GenericOp::create(
      rewriter, loc, init.getType(), op.getInputs(), init,
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        IRMapping mapping;
        for (auto [from, to] : llvm::zip(body.getArguments().drop_back(), args))
          mapping.map(from, to);
        for (Operation &inner : body.without_terminator())
          if (&inner != last)
            b.clone(inner, mapping);
        Value term = arith::ExtFOp::create(b, loc, f32,
                                           mapping.lookupOrDefault(element));
        Value sum = arith::AddFOp::create(b, loc, args.back(), term);
        linalg::YieldOp::create(b, loc, sum);
      });
  Value narrowInit =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange{type}, wide.getResults(), narrowInit,
      ArrayRef<AffineMap>{identity, identity}, parallel,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value narrow =
            arith::TruncFOp::create(b, loc, type.getElementType(), args[0]);
        linalg::YieldOp::create(b, loc, narrow);
      });
}

/// A body that extracts the element of a 0-d tensor gets it as an operand.
static void loadScalars(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<tensor::ExtractOp> extracts;
  op.walk([&](tensor::ExtractOp extract) {
    if (extract.getIndices().empty() &&
        !op->isProperAncestor(extract.getTensor().getParentRegion()->getParentOp()))
      extracts.push_back(extract);
  });
  if (extracts.empty())
    return;
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (tensor::ExtractOp extract : extracts) {
      unsigned number = op.getInputs().size();
      op.getInputsMutable().append(extract.getTensor());
      maps.insert(maps.begin() + number,
                  AffineMap::get(op.getNumLoops(), 0, {}, op.getContext()));
      BlockArgument argument = op.getBody()->insertArgument(
          number, extract.getType(), extract.getLoc());
      extract.getResult().replaceAllUsesWith(argument);
      rewriter.eraseOp(extract);
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// Whether the region of a linalg op can be that of a map.
static LogicalResult checkBody(linalg::LinalgOp op, Refusal &refusal) {
  for (Operation &inner : op->getRegion(0).front().without_terminator()) {
    if (isa<linalg::IndexOp>(inner))
      continue;
    StringRef dialect = inner.getName().getDialectNamespace();
    if (!isPure(&inner))
      return refuse(refusal, FusionReason::SideEffectBetween,
                    "the body has '" + inner.getName().getStringRef() +
                        "', which may not run or may run twice");
    if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(inner))
      return refuse(refusal, FusionReason::UnsupportedType,
                    "the body has '" + inner.getName().getStringRef() +
                        "': block scales are not supported");
    if ((dialect != "arith" && dialect != "math") || inner.getNumRegions())
      return refuse(refusal, FusionReason::UnsupportedType,
                    "the body has '" + inner.getName().getStringRef() +
                        "', which no tile computes");
  }
  return success();
}

/// linalg elementwise op or sum -> map.
/// `anywhere`: also if no tile op's value is read at every point.
static FailureOr<TileOpInterface> formMap(RewriterBase &rewriter,
                                          linalg::LinalgOp op, bool anywhere,
                                          Refusal &refusal) {
  unsigned numLoops = op.getNumLoops();
  bool reduces = op.getNumReductionLoops() != 0;
  Value element;
  CombinerAttrInterface combiner;
  if (reduces) {
    if (op.getNumDpsInits() != 1 || !(combiner = getReductionBody(op, element)))
      return refuse(refusal, FusionReason::NonlinearReader,
                    "the reduction is no sum and no maximum");
    Type type = getElementTypeOrSelf(op.getDpsInits()[0]);
    if (!type.isF32() && !type.isF64())
      return refuse(refusal, FusionReason::UnsupportedType,
                    "tile reductions are f32 or f64");
  }
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return refuse(refusal, FusionReason::NonProjectedMap,
                    "an operand's index is not a dim");
  if (failed(checkBody(op, refusal)))
    return failure();
  if (!anywhere &&
      llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
        return comesFromTileOp(operand->get()) &&
               op.getMatchingIndexingMap(operand).isPermutation();
      }))
    return refuse(refusal, FusionReason::NoCommonSpace,
                  "the tile op's value is broadcast, or only a part of what "
                  "is read");
  for (OpOperand &operand : op->getOpOperands())
    if (!isa<RankedTensorType>(operand.get().getType()))
      return refuse(refusal, FusionReason::UnsupportedType,
                    "an operand is a scalar");
  llvm::SmallBitVector covered(numLoops);
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr e : map.getResults())
      covered.set(cast<AffineDimExpr>(e).getPosition());
  if (!covered.all())
    return refuse(refusal, FusionReason::NonProjectedMap,
                  "a dim indexes no operand");
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!reduces && !op.getMatchingIndexingMap(&init).isPermutation())
      return refuse(refusal, FusionReason::NonProjectedMap,
                    "a result does not have every dim");

  // The last loop is the column dim, the others are row dims.
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] =
      numLoops > 1 ? numLoops - 1 : numLoops;
  spec.dims[static_cast<unsigned>(DimKind::n)] = numLoops > 1 ? 1 : 0;
  auto domainDim = [&](unsigned loop) {
    return loop + 1 == numLoops && numLoops > 1
               ? DimAttr::get(op.getContext(), DimKind::n, 0)
               : DimAttr::get(op.getContext(), DimKind::m, loop);
  };
  Block &body = op->getRegion(0).front();
  SmallVector<Value> oldArgs;
  auto load = [&](OpOperand *operand) {
    spec.inputs.push_back(operand->get());
    spec.loadCombiners.push_back(rewriter.getUnitAttr());
    spec.maps.push_back(op.getMatchingIndexingMap(operand));
    oldArgs.push_back(op.getMatchingBlockArgument(operand));
  };
  for (OpOperand *operand : op.getDpsInputOperands())
    load(operand);
  // An init whose element the body reads is a load, too.
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!reduces && !op.getMatchingBlockArgument(&init).use_empty())
      load(&init);
  Location loc = op.getLoc();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    spec.outputs.push_back(reduces ? init.get()
                                   : createEmptyLike(rewriter, loc, init.get()));
    spec.combiners.push_back(reduces ? Attribute(combiner)
                                     : rewriter.getUnitAttr());
    spec.fresh.push_back(false);
    spec.maps.push_back(op.getMatchingIndexingMap(&init));
  }

  TileOpInterface map = createTileOp(rewriter, loc, spec);
  IRMapping mapping;
  for (auto [from, to] :
       llvm::zip_equal(oldArgs, map.getBody().getArguments()))
    mapping.map(from, to);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&map.getBody().front());
  Operation *combine =
      reduces ? body.getTerminator()->getOperand(0).getDefiningOp() : nullptr;
  auto lookup = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    // A constant from outside moves into the isolated region.
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return {};
    Value copy = arith::ConstantOp::create(rewriter, loc,
                                           cast<TypedAttr>(constant));
    mapping.map(value, copy);
    return copy;
  };
  for (Operation &inner : body.without_terminator()) {
    if (&inner == combine)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(),
                  IndexOp::create(rewriter, loc, domainDim(index.getDim()))
                      .getResult());
      continue;
    }
    for (Value operand : inner.getOperands())
      if (!lookup(operand)) {
        rewriter.eraseOp(map);
        return refuse(refusal, FusionReason::UnsupportedType,
                      "the body reads a scalar from outside");
      }
    rewriter.clone(inner, mapping);
  }
  SmallVector<Value> yielded;
  for (Value value : body.getTerminator()->getOperands()) {
    Value mapped = lookup(reduces ? element : value);
    if (!mapped) {
      rewriter.eraseOp(map);
      return refuse(refusal, FusionReason::UnsupportedType,
                    "the body yields a scalar from outside");
    }
    yielded.push_back(mapped);
  }
  YieldOp::create(rewriter, loc, yielded);
  return map;
}

/// transpose -> map that stores what it loads through another map.
static TileOpInterface formTranspose(RewriterBase &rewriter,
                                     linalg::TransposeOp op) {
  unsigned rank = op.getPermutation().size();
  TileOpSpec spec;
  spec.dims[static_cast<unsigned>(DimKind::m)] = rank > 1 ? rank - 1 : rank;
  spec.dims[static_cast<unsigned>(DimKind::n)] = rank > 1 ? 1 : 0;
  SmallVector<AffineExpr> store;
  for (int64_t d : op.getPermutation())
    store.push_back(rewriter.getAffineDimExpr(d));
  spec.inputs = {op.getInput()};
  spec.loadCombiners = {rewriter.getUnitAttr()};
  spec.outputs = {createEmptyLike(rewriter, op.getLoc(), op.getInit())};
  spec.combiners = {rewriter.getUnitAttr()};
  spec.fresh = {false};
  spec.maps = {rewriter.getMultiDimIdentityMap(rank),
               AffineMap::get(rank, 0, store, rewriter.getContext())};
  TileOpInterface map = createTileOp(rewriter, op.getLoc(), spec);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&map.getBody().front());
  YieldOp::create(rewriter, op.getLoc(),
                  ValueRange{map.getBody().getArgument(0)});
  return map;
}

namespace {
class FormTileOpsPass
    : public coda::impl::FormTileOpsPassBase<FormTileOpsPass> {
public:
  using FormTileOpsPassBase::FormTileOpsPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    formed.clear();
    refused.clear();
    getOperation()->walk(
        [&](linalg::GenericOp op) { loadScalars(rewriter, op); });
    if (numerics != Numerics::Strict)
      getOperation()->walk(
          [&](linalg::GenericOp op) { widenSum(rewriter, op); });
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      // Nothing below the region of another op: tile ops live in blocks whose
      // values are tensors.
      if (!op->getBlock() || isa<linalg::LinalgOp>(op->getParentOp()))
        continue;
      rewriter.setInsertionPoint(op);
      visit(rewriter, op);
    }
    // What tile ops load and no other op of its kind has a part in is computed
    // where it is loaded, if coda-fuse finds that it can be.
    ops.clear();
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops)) {
      rewriter.setInsertionPoint(op);
      formLoaded(rewriter, cast<linalg::GenericOp>(op));
    }
    if (!formed.empty())
      getOperation()->walk([&](linalg::GenericOp op) {
        if (refused.contains(op) || isa<linalg::LinalgOp>(op->getParentOp()))
          return;
        if (std::optional<Refusal> reason = findReasonToStay(op))
          refuse(op, "no map formed", *reason);
      });
    for (TileOpInterface op : formed)
      if (numerics != Numerics::Strict) {
        computeInF32(rewriter, op);
        if (!keepRoundings)
          dropRoundings(rewriter, op);
      }
  }

private:
  void visit(RewriterBase &rewriter, Operation *op);
  void formLoaded(RewriterBase &rewriter, linalg::GenericOp op);
  void replace(RewriterBase &rewriter, Operation *op, TileOpInterface tile) {
    formed.push_back(tile);
    rewriter.replaceOp(op, tile->getResults());
    if (tile.getNumProducts())
      ++numGemms;
    else
      ++numMaps;
  }

  void refuse(Operation *op, StringRef what, const Refusal &refusal) {
    refused.insert(op);
    emitRefusal(op, "coda-form-tile-ops", what, refusal);
  }

  /// Ops that a remark was given for.
  llvm::SmallPtrSet<Operation *, 8> refused;
  /// The tile ops made in the function at hand.
  SmallVector<TileOpInterface> formed;
};
} // namespace

void FormTileOpsPass::visit(RewriterBase &rewriter, Operation *op) {
  if (isa_and_nonnull<CodaDialect>(op->getDialect())) {
    auto semantic = dyn_cast<linalg::AggregatedOpInterface>(op);
    if (!semantic || isa<TileOpInterface>(op))
      return;
    Operation *before = op->getPrevNode();
    FailureOr<SmallVector<Value>> results =
        semantic.decomposeOperation(rewriter);
    if (failed(results))
      return;
    Operation *created =
        before ? before->getNextNode() : &op->getBlock()->front();
    for (; created != op; created = created->getNextNode())
      if (auto tile = dyn_cast<TileOpInterface>(created)) {
        formed.push_back(tile);
        ++numMaps;
      }
    rewriter.replaceOp(op, *results);
    return;
  }

  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || op->getNumResults() == 0 || isa<linalg::FillOp>(op))
    return;
  Refusal refusal;
  if (isMatrixProduct(linalgOp)) {
    for (OpOperand *factor : linalgOp.getDpsInputOperands())
      if (Operation *scaling = findBlockScales(linalgOp, factor))
        emitRefusal(op, "coda-form-tile-ops", "no gemm of 8-bit factors",
                    {FusionReason::ContractsScaledDim, scaling,
                     "block scales, which differ along the contracted dim, are "
                     "multiplied in before"});
    FailureOr<TileOpInterface> gemm = formGemm(rewriter, linalgOp, all, refusal);
    if (succeeded(gemm))
      return replace(rewriter, op, *gemm);
    if (!isWeightedSum(linalgOp))
      return emitRefusal(op, "coda-form-tile-ops", "no gemm formed", refusal);
  }
  // A transpose of an argument is a load of the tile op that reads it, or is a
  // launch with others that the tile op waits for. What other ops make they can
  // as well transpose.
  bool moves = isPermutation(linalgOp) && feedsTileOp(op->getResult(0), all) &&
               isa<BlockArgument>(getViewed(linalgOp.getDpsInputs()[0]));
  if (!all && !moves &&
      llvm::none_of(linalgOp.getDpsInputs(), comesFromTileOp))
    return;
  // Maps of integers alone have no use and their sums are none.
  if (all && llvm::none_of(op->getResultTypes(), [](Type type) {
        return isa<FloatType>(getElementTypeOrSelf(type));
      }))
    return;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return replace(rewriter, op, formTranspose(rewriter, transpose));
  if (!isa<linalg::GenericOp>(op))
    return;
  FailureOr<TileOpInterface> map = formMap(rewriter, linalgOp, all || moves, refusal);
  if (succeeded(map))
    return replace(rewriter, op, *map);
  refuse(op, "no map formed", refusal);
}

void FormTileOpsPass::formLoaded(RewriterBase &rewriter, linalg::GenericOp op) {
  if (isMatrixProduct(op) || !llvm::any_of(op->getResults(), isLoaded) ||
      llvm::any_of(op->getResultTypes(), [](Type type) {
        return !isa<FloatType>(getElementTypeOrSelf(type));
      }))
    return;
  Refusal refusal;
  FailureOr<TileOpInterface> map =
      formMap(rewriter, op, /*anywhere=*/true, refusal);
  if (succeeded(map))
    return replace(rewriter, op, *map);
  refuse(op, "no map formed", refusal);
}
