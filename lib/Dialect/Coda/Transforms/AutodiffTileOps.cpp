//===- AutodiffTileOps.cpp - Adjoints of gemm and map -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// adjoint(gemm) = one map, the adjoint of its region, that gives the cotangents
// of the accumulators and of what is loaded, and one product per factor. What
// the map needs of the forward is a cut of the region: values that are stored
// there, or are from now on.

#include "AutodiffFunction.h"

#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

/// The map of a tensor that has the points of the b, m, n dims of `op` and of
/// the u dims `withUnroll` allows, in the order of `first`, then of `second`.
static AffineMap unite(TileOpInterface op, AffineMap first, AffineMap second,
                       bool withUnroll) {
  SmallVector<AffineExpr> exprs;
  for (AffineMap map : {first, second})
    if (map)
      for (AffineExpr e : map.getResults()) {
        DimKind kind = op.getDimKind(cast<AffineDimExpr>(e).getPosition());
        if (kind != DimKind::k && kind != DimKind::p &&
            (withUnroll || kind != DimKind::u) &&
            !llvm::is_contained(exprs, e))
          exprs.push_back(e);
      }
  return AffineMap::get(op.getNumDomainDims(), 0, exprs, op->getContext());
}

AffineMap FunctionAdjoint::getAccMap(TileOpInterface op, unsigned acc) {
  unsigned product = 0;
  for (unsigned a = 0; a < acc; ++a)
    product += op.getAccSizes()[a];
  return unite(op, op.getLhsMap(product), op.getRhsMap(product), true);
}

AffineMap FunctionAdjoint::getFullMap(TileOpInterface op) {
  if (op.getNumProducts())
    return unite(op, op.getLhsMap(0), op.getRhsMap(0), false);
  return unite(op,
               AffineMap::getMultiDimIdentityMap(op.getNumDomainDims(),
                                                 op->getContext()),
               {}, false);
}

/// Whether `map` has every b, m and n dim of `op`.
static bool isFull(TileOpInterface op, AffineMap map) {
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
    if (op.getDimKind(d) <= DimKind::n && !map.isFunctionOfDim(d))
      return false;
  return true;
}

/// `map` without the p dims of `op`; `kept`: the results that are left.
static AffineMap dropPartials(TileOpInterface op, AffineMap map,
                              SmallVectorImpl<int64_t> &kept) {
  SmallVector<AffineExpr> exprs;
  for (auto [r, e] : llvm::enumerate(map.getResults())) {
    if (op.getDimKind(cast<AffineDimExpr>(e).getPosition()) == DimKind::p)
      continue;
    exprs.push_back(e);
    kept.push_back(r);
  }
  return AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}

static int64_t getBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bytes = std::max<int64_t>(
      1, tensor.getElementType().getIntOrFloatBitWidth() / 8);
  for (int64_t extent : tensor.getShape()) {
    // An unknown extent counts as a few thousand tokens.
    bytes *= ShapedType::isDynamic(extent) ? 4096 : extent;
    if (bytes > (int64_t(1) << 44))
      return int64_t(1) << 44;
  }
  return bytes;
}

bool FunctionAdjoint::mayRound(Value original,
                               const DenseSet<Value> &precise) const {
  return !options.strict &&
         (!precise.contains(original) || rounded.contains(original));
}

Type FunctionAdjoint::getSavedType(TileOpInterface op, Value original,
                                   const DenseSet<Value> &precise) const {
  Type type = original.getType();
  if (op.getNumProducts() && type.isF32() && !options.strict &&
      !precise.contains(original)) {
    Type factor = getElementTypeOrSelf(op.getLhs()[0]);
    if (factor.isF16() || factor.isBF16())
      return factor;
  }
  return type;
}

int64_t FunctionAdjoint::getBytesOfStore(TileOpInterface op, Value original,
                                         const DenseSet<Value> &precise) {
  SmallVector<int64_t> extents = op.getStaticExtents(), shape;
  for (AffineExpr e : getFullMap(op).getResults())
    shape.push_back(extents[cast<AffineDimExpr>(e).getPosition()]);
  return getBytes(
      RankedTensorType::get(shape, getSavedType(op, original, precise)));
}

/// Whether a store of `yielded` is one of `value`: it is, or with `mayRound` its
/// rounding.
static bool isStoreOf(Value yielded, Value value, bool mayRound) {
  if (yielded == value)
    return true;
  auto rounding = yielded.getDefiningOp<arith::TruncFOp>();
  return mayRound && rounding && rounding.getIn() == value &&
         !isQuantizedFloat(rounding.getType());
}

/// The output of `op` that stores `value` of its region; -1 if none does.
static int findStore(TileOpInterface op, Value value, bool mayRound) {
  for (unsigned o = 0; o < op.getOutputs().size(); ++o)
    if (!op.getCombiner(o) &&
        llvm::any_of(op.getYieldedValues(o), [&](Value yielded) {
          return isStoreOf(yielded, value, mayRound);
        }))
      return o;
  return -1;
}

int64_t FunctionAdjoint::getCost(TileOpInterface op, Value original,
                                 const DenseSet<Value> &precise) {
  auto argument = dyn_cast<BlockArgument>(original);
  auto isFree = [&](Value tensor, bool isStored) {
    SmallVector<Operation *> views;
    return requests.contains(tensor) || primals.contains(tensor) ||
           (isStored && options.save != SavePolicy::Min) ||
           findResult(tensor, views) >= 0;
  };
  if (argument)
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      ArrayRef<BlockArgument> points = op.getInputArguments(i);
      if (!llvm::is_contained(points, argument))
        continue;
      Value tensor = op.getInputs()[i];
      return isFree(tensor, true)
                 ? 0
                 : getBytes(tensor.getType()) /
                       static_cast<int64_t>(points.size());
    }
  if (findSaved(original))
    return 0;
  int store = findStore(op, original, mayRound(original, precise));
  if (store >= 0) {
    Value tensor = op->getResult(store);
    SmallVector<Operation *> views;
    // What was asked for before may be computed as well: that it is asked for
    // does not mean that it is at hand.
    bool isFreeStore = primals.contains(tensor) && !requests.contains(tensor);
    isFreeStore |= options.save != SavePolicy::Min;
    isFreeStore |= findResult(tensor, views) >= 0;
    return isFreeStore ? 0
                       : getBytes(tensor.getType()) /
                             static_cast<int64_t>(
                                 op.getYieldedValues(store).size());
  }
  if (!isa<FloatType>(original.getType()))
    return RegionAdjoint::kNever;
  // A new store.
  if (options.save != SavePolicy::All)
    return getBytesOfStore(op, original, precise);
  // Saved for nothing but its price in time, unless it is a value per row.
  DenseSet<Value> fullValues;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
    for (BlockArgument v : op.getAccArguments(a))
      fullValues.insert(v);
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (isFull(op, op.getInputMap(i)))
      for (BlockArgument v : op.getInputArguments(i))
        fullValues.insert(v);
  for (Operation &inner : op.getBody().front().without_terminator())
    if (llvm::any_of(inner.getOperands(),
                     [&](Value v) { return fullValues.contains(v); }))
      fullValues.insert(inner.result_begin(), inner.result_end());
  return fullValues.contains(original) ? 0 : RegionAdjoint::kNever;
}

int64_t FunctionAdjoint::getAddedBytes(TileOpInterface op,
                                       const Cut &cut) {
  int64_t bytes = 0;
  for (Value value : cut.values) {
    bool isLoad = false;
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      isLoad |= llvm::is_contained(op.getInputArguments(i), value);
    if (!isLoad && !findSaved(value) &&
        findStore(op, value, mayRound(value, cut.precise)) < 0)
      bytes += getBytesOfStore(op, value, cut.precise);
  }
  return bytes;
}

Value FunctionAdjoint::getAccAgain(TileOpInterface op, unsigned acc) {
  SmallVector<Value> &known = again[op];
  if (!known.empty())
    return known[acc];
  // The products alone, each accumulator stored as it is; the adjoint of the
  // region that loads them becomes their epilogue.
  Location loc = op->getLoc();
  MLIRContext *context = op->getContext();
  TileOpSpec spec;
  unsigned numProducts = op.getNumProducts();
  for (unsigned p = 0; p < numProducts; ++p) {
    spec.lhs.push_back(getPrimal(op.getLhs()[p]));
    spec.rhs.push_back(getPrimal(op.getRhs()[p]));
  }
  for (unsigned i = 0; i < 2 * numProducts; ++i)
    spec.maps.push_back(op.getMap(i));
  spec.accSizes.assign(op.getAccSizes().begin(), op.getAccSizes().end());
  for (unsigned a = 0; a < spec.accSizes.size(); ++a) {
    AffineMap map = getAccMap(op, a);
    SmallVector<OpFoldResult> shape;
    for (AffineExpr e : map.getResults())
      for (unsigned i = 0; i < 2 * numProducts; ++i)
        if (std::optional<unsigned> r = op.getMap(i).getResultPosition(e)) {
          Value factor = i < numProducts ? spec.lhs[i]
                                         : spec.rhs[i - numProducts];
          shape.push_back(tensor::getMixedSize(builder, loc, factor, *r));
          break;
        }
    spec.outputs.push_back(tensor::EmptyOp::create(
        builder, loc, shape,
        getAccumulatorType(getElementTypeOrSelf(spec.lhs.front()))));
    spec.maps.push_back(map);
    spec.combiners.push_back(builder.getUnitAttr());
    spec.fresh.push_back(false);
  }
  // Dims that only loads have are gone.
  SmallVector<AffineExpr> newDims(op.getNumDomainDims(),
                                  getAffineConstantExpr(0, context));
  unsigned next = 0;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
    if (llvm::any_of(spec.maps,
                     [&](AffineMap map) { return map.isFunctionOfDim(d); })) {
      newDims[d] = getAffineDimExpr(next++, context);
      ++spec.dims[static_cast<unsigned>(op.getDimKind(d))];
    }
  for (AffineMap &map : spec.maps)
    map = map.replaceDimsAndSymbols(newDims, {}, next, 0);
  TileOpInterface gemm = createTileOp(builder, loc, spec);
  OpBuilder inner = OpBuilder::atBlockEnd(&gemm.getBody().front());
  YieldOp::create(inner, loc, gemm.getBody().getArguments());
  llvm::append_range(known, gemm->getResults());
  return known[acc];
}

FunctionAdjoint::Cut
FunctionAdjoint::chooseCut(TileOpInterface op, RegionAdjoint &adjoint,
                           ArrayRef<Value> outputs,
                           ArrayRef<Value> preciseOutputs) {
  Cut cut;
  SmallVector<Value> worklist = adjoint.getNeeded(preciseOutputs);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!cut.precise.insert(value).second)
      continue;
    if (Operation *def = value.getDefiningOp())
      llvm::append_range(worklist, def->getOperands());
  }
  DenseSet<Value> accs;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
    for (BlockArgument argument : op.getAccArguments(a))
      accs.insert(argument);
  auto isLeaf = [&](BlockArgument argument) {
    // Whatever is loaded is where values may come from; of arguments of the
    // function nothing is to be saved, unless what is stored anyway is to be.
    if (accs.contains(argument))
      return !again.contains(op);
    if (options.save != SavePolicy::Min)
      return true;
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (llvm::is_contained(op.getInputArguments(i), argument))
        return isa_and_nonnull<TileOpInterface>(
            op.getInputs()[i].getDefiningOp());
    return false;
  };
  cut.values = adjoint.chooseCut(
      adjoint.getNeeded(outputs), isLeaf,
      [&](Value value) { return getCost(op, value, cut.precise); }, cut.cost);
  return cut;
}

SmallVector<FunctionAdjoint::Source>
FunctionAdjoint::save(TileOpInterface op, const Cut &cut) {
  SmallVector<Source> sources;
  for (Value value : cut.values) {
    Source source;
    source.original = value;
    auto argument = dyn_cast<BlockArgument>(value);
    bool isLoad = argument && !llvm::any_of(
        llvm::seq<unsigned>(0, op.getAccSizes().size()), [&](unsigned a) {
          return llvm::is_contained(op.getAccArguments(a), argument);
        });
    if (isLoad)
      continue; // loaded again
    if (const Saved *known = findSaved(value)) {
      source.tensor = known->placeholder;
      source.map = known->map;
      sources.push_back(source);
      continue;
    }
    int store = findStore(op, value, mayRound(value, cut.precise));
    if (store >= 0) {
      saveResult(cast<OpResult>(op->getResult(store)));
      source.result = store;
      sources.push_back(source);
      continue;
    }
    Saved entry;
    entry.inRegion = value;
    entry.op = op;
    entry.map = getFullMap(op);
    entry.elementType = getSavedType(op, value, cut.precise);
    SmallVector<int64_t> extents = op.getStaticExtents(), shape;
    for (AffineExpr e : entry.map.getResults())
      shape.push_back(extents[cast<AffineDimExpr>(e).getPosition()]);
    entry.placeholder =
        createPlaceholder(RankedTensorType::get(shape, entry.elementType));
    source.tensor = entry.placeholder;
    source.map = entry.map;
    saved.push_back(entry);
    sources.push_back(source);
  }
  return sources;
}

SmallVector<Value> FunctionAdjoint::emitMap(TileOpInterface op,
                                            RegionAdjoint &adjoint,
                                            ArrayRef<Source> sources,
                                            ArrayRef<CotangentLoad> loads,
                                            ArrayRef<MapOutput> outputs) {
  Location loc = getAdjointLoc(op->getLoc());
  MLIRContext *context = op->getContext();
  SmallVector<Value> flat;
  for (const MapOutput &output : outputs)
    llvm::append_range(flat, output.values);
  DenseSet<Value> available;
  for (const Source &source : sources)
    available.insert(adjoint.getCopy(source.original));
  SetVector<Value> used = adjoint.getSources(flat, available);
  auto isUsed = [&](Value v) { return used.contains(v); };

  // Loads: tensor, map over the domain of `op`, combiner, values of the block
  // of the adjoint by point (null: not needed).
  TileOpSpec spec;
  SmallVector<SmallVector<Value>> points;
  auto load = [&](Value tensor, AffineMap map, Attribute combiner,
                  ArrayRef<Value> values) {
    spec.inputs.push_back(tensor);
    spec.maps.push_back(map);
    spec.loadCombiners.push_back(combiner);
    points.emplace_back(values);
  };
  Attribute plain = builder.getUnitAttr();
  SmallVector<std::pair<Value, Value>> twins;
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    SmallVector<Value> values;
    for (BlockArgument argument : op.getInputArguments(i))
      values.push_back(adjoint.getCopy(argument));
    if (llvm::any_of(values, isUsed))
      load(getPrimal(op.getInputs()[i]), op.getInputMap(i),
           op.getLoadCombiners()[i], values);
  }
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    SmallVector<Value> values;
    for (Value yielded : op.getYieldedValues(o)) {
      values.push_back(Value());
      for (const Source &source : sources)
        if (source.result == static_cast<int>(o) &&
            isStoreOf(yielded, source.original, !options.strict)) {
          // The value before and after its rounding may both be in the cut.
          if (values.back())
            twins.push_back({values.back(), adjoint.getCopy(source.original)});
          else
            values.back() = adjoint.getCopy(source.original);
        }
    }
    if (llvm::any_of(values, isUsed) ||
        llvm::any_of(twins, [&](auto &twin) { return isUsed(twin.second); }))
      load(getPrimal(op->getResult(o)), op.getOutputMap(o), plain, values);
  }
  for (unsigned a = 0; again.contains(op) && a < op.getAccSizes().size(); ++a) {
    SmallVector<Value> values;
    for (BlockArgument argument : op.getAccArguments(a))
      values.push_back(adjoint.getCopy(argument));
    if (llvm::any_of(values, isUsed))
      load(getAccAgain(op, a), getAccMap(op, a), plain, values);
  }
  for (const Source &source : sources)
    if (source.tensor && isUsed(adjoint.getCopy(source.original)))
      load(source.tensor, source.map, plain,
           {adjoint.getCopy(source.original)});
  for (auto [i, cotangent] : llvm::enumerate(loads))
    if (llvm::any_of(adjoint.getCotangentArguments(i), isUsed))
      load(cotangent.tensor, cotangent.map, plain,
           adjoint.getCotangentArguments(i));
  for (unsigned o = 0; !loads.empty() && o < op.getOutputs().size(); ++o)
    if (llvm::any_of(adjoint.getResultArguments(o), isUsed))
      load(getPrimal(op->getResult(o)), op.getOutputMap(o), plain,
           adjoint.getResultArguments(o));

  // Extents, from what is loaded or what `op` has as operands.
  SmallVector<int64_t> extents = op.getStaticExtents();
  auto getExtent = [&](unsigned dim) -> OpFoldResult {
    if (!ShapedType::isDynamic(extents[dim]))
      return builder.getIndexAttr(extents[dim]);
    AffineExpr e = getAffineDimExpr(dim, context);
    for (auto [tensor, map] : llvm::zip_equal(spec.inputs, spec.maps))
      if (std::optional<unsigned> r = map.getResultPosition(e))
        return tensor::getMixedSize(builder, loc, tensor, *r);
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (std::optional<unsigned> r = op.getMap(i).getResultPosition(e))
        return tensor::getMixedSize(builder, loc,
                                    getPrimal(op->getOperand(i)), *r);
    llvm_unreachable("every dim indexes an operand");
  };

  SmallVector<AffineMap> outputMaps;
  for (const MapOutput &output : outputs) {
    SmallVector<OpFoldResult> shape;
    for (AffineExpr e : output.map.getResults())
      shape.push_back(getExtent(cast<AffineDimExpr>(e).getPosition()));
    spec.outputs.push_back(
        tensor::EmptyOp::create(builder, loc, shape, output.elementType));
    spec.combiners.push_back(output.isSum ? Attribute(AddAttr::get(context))
                                          : plain);
    spec.fresh.push_back(output.isSum);
    outputMaps.push_back(output.map);
  }

  // The domain: what is left of that of `op`. A dim that nothing has and that
  // sums run over still counts: a tensor of its extent stands for it.
  auto isCovered = [&](unsigned d) {
    auto has = [&](AffineMap map) { return map.isFunctionOfDim(d); };
    return llvm::any_of(spec.maps, has) || llvm::any_of(outputMaps, has);
  };
  SmallVector<AffineExpr> newDims(op.getNumDomainDims(),
                                  getAffineConstantExpr(0, context));
  unsigned next = 0;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d) {
    DimKind kind = op.getDimKind(d);
    if (kind == DimKind::k || (kind > DimKind::n && !isCovered(d)))
      continue;
    if (!isCovered(d)) {
      Value extent = tensor::EmptyOp::create(
          builder, loc, ArrayRef<OpFoldResult>{getExtent(d)},
          builder.getF32Type());
      load(extent,
           AffineMap::get(op.getNumDomainDims(), 0, getAffineDimExpr(d, context),
                          context),
           plain, {});
    }
    newDims[d] = getAffineDimExpr(next++, context);
    ++spec.dims[static_cast<unsigned>(kind)];
  }
  llvm::append_range(spec.maps, outputMaps);
  for (AffineMap &map : spec.maps)
    map = map.replaceDimsAndSymbols(newDims, {}, next, 0);

  TileOpInterface map = createTileOp(builder, loc, spec);
  OpBuilder inner = OpBuilder::atBlockEnd(&map.getBody().front());
  IRMapping mapping;
  for (auto [i, values] : llvm::enumerate(points)) {
    if (values.empty())
      continue;
    for (auto [value, argument] :
         llvm::zip_equal(values, map.getInputArguments(i))) {
      if (!value || mapping.contains(value))
        continue;
      auto give = [&, from = Value(argument)](Value to) {
        Value given = from;
        if (given.getType() != to.getType())
          given = arith::ExtFOp::create(inner, loc, to.getType(), given);
        mapping.map(to, given);
      };
      give(value);
      for (const std::pair<Value, Value> &twin : twins)
        if (twin.first == value)
          give(twin.second);
    }
  }
  adjoint.emit(inner, flat, mapping);
  SmallVector<Value> yielded;
  for (const MapOutput &output : outputs)
    for (Value value : output.values) {
      auto type = cast<FloatType>(output.elementType);
      if (!value) {
        yielded.push_back(arith::ConstantOp::create(
            inner, loc, inner.getFloatAttr(type, 0.0)));
        continue;
      }
      Value result = mapping.lookup(value);
      auto from = cast<FloatType>(result.getType());
      if (from.getWidth() > type.getWidth())
        result = arith::TruncFOp::create(inner, loc, type, result);
      else if (from.getWidth() < type.getWidth())
        result = arith::ExtFOp::create(inner, loc, type, result);
      yielded.push_back(result);
    }
  YieldOp::create(inner, loc, yielded);
  return llvm::to_vector_of<Value>(map->getResults());
}

bool FunctionAdjoint::isRounded(const RegionAdjoint &adjoint,
                                ArrayRef<Value> values,
                                ArrayRef<CotangentLoad> loads) const {
  SetVector<Value> sources = adjoint.getSources(values, {});
  for (auto [i, load] : llvm::enumerate(loads))
    if (isRounded(load.tensor) &&
        llvm::any_of(adjoint.getCotangentArguments(i),
                     [&](Value v) { return sources.contains(v); }))
      return true;
  return false;
}

void FunctionAdjoint::requestPrecise(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || !preciseRequests.insert(value).second ||
      isa<TileOpInterface>(def))
    return;
  for (Value operand : def->getOperands())
    requestPrecise(operand);
}

void FunctionAdjoint::requestPrecise(TileOpInterface op, const Cut &cut) {
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (llvm::any_of(op.getInputArguments(i),
                     [&](Value v) { return cut.precise.contains(v); }))
      requestPrecise(op.getInputs()[i]);
}

void FunctionAdjoint::addRequested(TileOpInterface op, RegionAdjoint &adjoint,
                                   SmallVectorImpl<Value> &outputs,
                                   SmallVectorImpl<Value> &preciseOutputs) {
  for (OpResult result : op->getResults()) {
    unsigned o = result.getResultNumber();
    if (!requests.contains(result) || op.getCombiner(o))
      continue;
    for (Value value : op.getYieldedValues(o)) {
      outputs.push_back(adjoint.getCopy(value));
      if (preciseRequests.contains(result))
        preciseOutputs.push_back(outputs.back());
    }
  }
}

void FunctionAdjoint::recompute(TileOpInterface op) {
  SmallVector<unsigned> wanted;
  for (OpResult result : op->getResults())
    if (requests.contains(result))
      wanted.push_back(result.getResultNumber());
  if (wanted.empty())
    return;
  // Stores may be computed again; sums over rows are saved.
  RegionAdjointSpec none;
  none.wantAcc.assign(op.getAccSizes().size(), false);
  none.wantInput.assign(op.getInputs().size(), false);
  RegionAdjoint region(op, none);
  (void)region.build();
  SmallVector<Value> needed, precise;
  addRequested(op, region, needed, precise);
  Cut cut = chooseCut(op, region, needed, precise);
  auto isCut = [&](unsigned o) {
    return op.getCombiner(o) ||
           llvm::any_of(op.getYieldedValues(o), [&](Value v) {
             return llvm::is_contained(cut.values, v);
           });
  };
  // A sum is saved; so is a store that the cut has.
  for (unsigned o : wanted)
    if (isCut(o))
      saveResult(cast<OpResult>(op->getResult(o)));
  SmallVector<MapOutput> outputs;
  SmallVector<unsigned> numbers;
  for (unsigned o : wanted) {
    if (isCut(o))
      continue;
    MapOutput output;
    for (Value value : op.getYieldedValues(o))
      output.values.push_back(region.getCopy(value));
    output.map = op.getOutputMap(o);
    output.elementType = getElementTypeOrSelf(op->getResult(o));
    outputs.push_back(output);
    numbers.push_back(o);
  }
  if (outputs.empty())
    return;
  requestPrecise(op, cut);
  SmallVector<Value> values =
      emitMap(op, region, save(op, cut), {}, outputs);
  for (auto [o, value] : llvm::zip_equal(numbers, values))
    resolve(op->getResult(o), value);
}

LogicalResult FunctionAdjoint::visitTileOp(TileOpInterface op) {
  SmallVector<CotangentLoad> loads;
  for (auto [o, result] : llvm::enumerate(op->getResults())) {
    if (!isActive(result))
      continue;
    for (Cotangent &part :
         takeCotangents(result, getStoredCotangentType(result))) {
      SmallVector<AffineExpr> exprs;
      AffineMap map = op.getOutputMap(o);
      for (int64_t d : part.dims)
        exprs.push_back(map.getResult(d));
      // Partials that are added up have one cotangent, which has no groups.
      if (!llvm::all_of(exprs, llvm::IsaPred<AffineDimExpr>))
        return op->emitError()
               << "groups of a reduction ('floordiv') that something tells apart "
                  "have no adjoint; differentiate before reductions are "
                  "partitioned";
      loads.push_back({static_cast<unsigned>(o),
                       AffineMap::get(map.getNumDims(), 0, exprs,
                                      op->getContext()),
                       part.tensor});
      // An init that takes part has the result's cotangent.
      if (!op.getCombiner(o) || op.getFresh()[o] || !isActive(op.getOutputs()[o]))
        continue;
      if (!isa<AddAttr>(op.getCombiner(o)))
        return op->emitError()
               << "an init of a reduction with '"
               << op.getCombiner(o).getKeyword()
               << "' that takes part has no adjoint; start from the identity "
                  "(fresh) and combine afterwards";
      addCotangent(op.getOutputs()[o], part);
    }
  }
  if (!loads.empty() && failed(differentiate(op, loads)))
    return failure();
  recompute(op);
  return success();
}

LogicalResult FunctionAdjoint::differentiate(TileOpInterface op,
                                             ArrayRef<CotangentLoad> loads) {
  RegionAdjointSpec spec;
  spec.cotangents.assign(loads.begin(), loads.end());
  spec.strict = options.strict;
  unsigned product = 0;
  for (int32_t size : op.getAccSizes()) {
    bool wanted = false;
    for (int32_t i = 0; i < size; ++i, ++product)
      wanted |= isActive(op.getLhs()[product]) || isActive(op.getRhs()[product]);
    spec.wantAcc.push_back(wanted);
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    Value input = op.getInputs()[i];
    if (isActive(input) && op.getLoadCombiner(i) &&
        !isa<AddAttr>(op.getLoadCombiner(i)))
      return op->emitError() << "a combining load with '"
                             << op.getLoadCombiner(i).getKeyword()
                             << "' has no adjoint; only add has";
    spec.wantInput.push_back(isActive(input));
  }

  // Both forms of the cotangents of row factors; the one that needs less of the
  // forward is taken.
  auto build = [&](bool euler, Cut &cut) -> std::unique_ptr<RegionAdjoint> {
    spec.euler = euler;
    auto adjoint = std::make_unique<RegionAdjoint>(op, spec);
    if (failed(adjoint->build()))
      return nullptr;
    SmallVector<Value> wanted, preciseWanted;
    for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
      llvm::append_range(wanted, adjoint->accCotangents(a));
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      llvm::append_range(wanted, adjoint->inputCotangents(i));
      if (isPrecise(op.getInputs()[i]) &&
          !isRounded(*adjoint, adjoint->inputCotangents(i), loads))
        llvm::append_range(preciseWanted, adjoint->inputCotangents(i));
    }
    // Stores that are asked for belong to the same decision.
    addRequested(op, *adjoint, wanted, preciseWanted);
    cut = chooseCut(op, *adjoint, wanted, preciseWanted);
    return adjoint;
  };
  Cut cut;
  std::unique_ptr<RegionAdjoint> adjoint = build(true, cut);
  if (!adjoint)
    return failure();
  if (adjoint->usesEuler()) {
    Cut plainCut;
    std::unique_ptr<RegionAdjoint> plain = build(false, plainCut);
    if (!plain)
      return failure();
    if (plainCut.cost < cut.cost) {
      adjoint = std::move(plain);
      cut = std::move(plainCut);
    }
  }

  if (options.recomputeOver > 0 &&
      getAddedBytes(op, cut) > options.recomputeOver) {
    again[op] = {};
    adjoint = build(true, cut);
    if (!adjoint)
      return failure();
  }

  SmallVector<MapOutput> outputs;
  // One tensor for equal values: a residual's cotangent is the accumulator's.
  auto addOutput = [&](MapOutput output) -> unsigned {
    for (auto [i, known] : llvm::enumerate(outputs))
      if (known.values == output.values && known.map == output.map &&
          known.elementType == output.elementType &&
          known.isSum == output.isSum)
        return i;
    outputs.push_back(output);
    return outputs.size() - 1;
  };
  constexpr unsigned kNone = ~0u;
  SmallVector<unsigned> ofAcc, ofInput;
  product = 0;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a) {
    SmallVector<Value> values = adjoint->accCotangents(a);
    Type type = getElementTypeOrSelf(op.getLhs()[product]);
    product += op.getAccSizes()[a];
    if (!spec.wantAcc[a] || llvm::none_of(values, [](Value v) { return !!v; })) {
      ofAcc.push_back(kNone);
      continue;
    }
    if (!type.isBF16() && !type.isF16() && !type.isF32() && !type.isF64())
      return op->emitError()
             << "a product of factors of type " << type
             << " has no adjoint: cotangents have no range in it";
    ofAcc.push_back(addOutput({values, getAccMap(op, a), type, false}));
  }
  SmallVector<SmallVector<int64_t>> keptDims(op.getInputs().size());
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    SmallVector<Value> values = adjoint->inputCotangents(i);
    AffineMap map = dropPartials(op, op.getInputMap(i), keptDims[i]);
    if (!spec.wantInput[i] ||
        llvm::none_of(values, [](Value v) { return !!v; })) {
      ofInput.push_back(kNone);
      continue;
    }
    Type element = getElementTypeOrSelf(op.getInputs()[i]);
    bool full = isFull(op, map);
    Type type = full ? getStoredCotangentType(op.getInputs()[i])
                     : Type(getCotangentType(element));
    ofInput.push_back(addOutput({values, map, type, !full}));
  }
  if (outputs.empty())
    return success();
  ++numAdjoints;
  requestPrecise(op, cut);
  SmallVector<Source> sources = save(op, cut);
  SmallVector<Value> results =
      emitMap(op, *adjoint, sources, loads, outputs);
  for (auto [result, output] : llvm::zip_equal(results, outputs)) {
    // A cotangent that goes through as it is, a residual's, stays as it is.
    bool rounds = output.elementType.getIntOrFloatBitWidth() <= 16;
    rounds &= !llvm::all_of(output.values, [type = output.elementType](Value v) {
      while (auto ext = v ? v.getDefiningOp<arith::ExtFOp>() : nullptr)
        v = ext.getIn();
      return v && isa<BlockArgument>(v) && v.getType() == type;
    });
    if (rounds ||
        isRounded(*adjoint, output.values, loads))
      roundedCotangents.insert(result);
  }

  for (auto [i, output] : llvm::enumerate(ofInput))
    if (output != kNone)
      addCotangent(op.getInputs()[i],
                   {results[output], keptDims[i], outputs[output].isSum});
  SmallVector<Value> daccs;
  for (unsigned output : ofAcc)
    daccs.push_back(output == kNone ? Value() : results[output]);
  addProducts(op, daccs);
  return success();
}

void FunctionAdjoint::addProducts(TileOpInterface op, ArrayRef<Value> daccs) {
  unsigned p = 0;
  for (auto [a, size] : llvm::enumerate(op.getAccSizes()))
    for (int32_t i = 0; i < size; ++i, ++p) {
      if (!daccs[a])
        continue;
      for (bool ofLhs : {true, false}) {
        Value target = ofLhs ? op.getLhs()[p] : op.getRhs()[p];
        if (!isActive(target))
          continue;
        Product product;
        product.op = op;
        product.dacc = daccs[a];
        product.daccMap = getAccMap(op, a);
        Value other = ofLhs ? op.getRhs()[p] : op.getLhs()[p];
        if (isPrecise(target) && !isRounded(product.dacc))
          requestPrecise(other);
        product.other = getPrimal(other);
        product.otherMap = ofLhs ? op.getRhsMap(p) : op.getLhsMap(p);
        product.targetMap = ofLhs ? op.getLhsMap(p) : op.getRhsMap(p);
        product.isSum = !ofLhs;
        // Columns of the result are those along which the target is
        // contiguous; the factor that has them is the right one.
        unsigned last = product.targetMap.getDimPosition(
            product.targetMap.getNumResults() - 1);
        DimKind lastKind = op.getDimKind(last);
        bool lastInDacc = lastKind != DimKind::k && lastKind != DimKind::b;
        product.daccIsLeft = !lastInDacc;
        for (AffineExpr e : product.targetMap.getResults()) {
          unsigned d = cast<AffineDimExpr>(e).getPosition();
          DimKind kind = op.getDimKind(d);
          bool inDacc = kind != DimKind::k;
          product.kinds.push_back(kind == DimKind::b ? DimKind::b
                                  : inDacc == product.daccIsLeft ? DimKind::m
                                                                 : DimKind::n);
        }
        products[target].push_back(product);
      }
    }
}
