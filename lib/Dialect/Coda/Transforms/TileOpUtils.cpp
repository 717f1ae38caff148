//===- TileOpUtils.cpp - Rewrites of one or two tile ops ----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// A domain under construction: dims are added by kind and get their position
/// once all are known.
class DomainBuilder {
public:
  /// Adds a dim; the handle stays valid.
  unsigned add(DimKind kind) {
    kinds.push_back(kind);
    return kinds.size() - 1;
  }
  /// Fixes the positions: by kind, then in the order of addition.
  void finish(TileOpSpec &spec) {
    spec.dims.assign(6, 0);
    positions.resize(kinds.size());
    unsigned next = 0;
    for (unsigned kind = 0; kind < 6; ++kind)
      for (auto [handle, k] : llvm::enumerate(kinds))
        if (static_cast<unsigned>(k) == kind) {
          positions[handle] = next++;
          ++spec.dims[kind];
        }
  }
  unsigned getPosition(unsigned handle) const { return positions[handle]; }
  unsigned size() const { return kinds.size(); }

private:
  SmallVector<DimKind> kinds;
  SmallVector<unsigned> positions;
};
} // namespace

/// Groups of a reshape that splits dim i into `sizes[i]` dims.
static SmallVector<ReassociationIndices>
getReassociation(ArrayRef<unsigned> groupSizes) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (unsigned size : groupSizes) {
    ReassociationIndices &group = groups.emplace_back();
    for (unsigned i = 0; i < size; ++i)
      group.push_back(next++);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// splitDims
//===----------------------------------------------------------------------===//

/// What the region of `op` calls the dim at `position` of its domain.
static DimAttr getDimAt(TileOpInterface op, unsigned position) {
  DimKind kind = op.getDimKind(position);
  return DimAttr::get(op->getContext(), kind,
                      position - op.getDimPosition(kind, 0));
}

TileOpInterface coda::splitDims(RewriterBase &rewriter, TileOpInterface op,
                                unsigned operand, const DimSplit &split) {
  Location loc = op->getLoc();
  unsigned numDims = op.getNumDomainDims();
  // New extents of each old dim; empty: not split.
  SmallVector<SmallVector<OpFoldResult>> extents(numDims);
  for (auto [r, sizes] : llvm::enumerate(split))
    if (sizes.size() > 1)
      extents[getOperandIndex(op.getMap(operand).getResult(r))->dim] = sizes;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o)
    for (AffineExpr e : op.getOutputMap(o).getResults())
      if (OperandIndex index = *getOperandIndex(e);
          index.isGroup() && !extents[index.dim].empty())
        return {};

  WalkResult dynamicIndex = op.getBody().walk([&](IndexOp index) {
    unsigned dim = op.getDimPosition(index.getDim().getKind(),
                                     index.getDim().getIndex());
    bool isStatic = llvm::all_of(extents[dim], [](OpFoldResult size) {
      return isa<Attribute>(size);
    });
    return isStatic ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (dynamicIndex.wasInterrupted())
    return {};

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  TileOpSpec spec(op);
  DomainBuilder domain;
  SmallVector<SmallVector<unsigned>> handles(numDims); // old dim -> new dims
  for (unsigned d = 0; d < numDims; ++d)
    for (size_t i = 0; i < std::max<size_t>(1, extents[d].size()); ++i)
      handles[d].push_back(domain.add(op.getDimKind(d)));
  domain.finish(spec);

  auto newOperands = [&](Value value, AffineMap map, bool isRead,
                         AffineMap &newMap) -> Value {
    SmallVector<AffineExpr> exprs;
    SmallVector<unsigned> groupSizes;
    SmallVector<OpFoldResult> sizes;
    SmallVector<int64_t> shape;
    bool changed = false;
    for (auto [r, size] :
         llvm::enumerate(tensor::getMixedSizes(rewriter, loc, value))) {
      OperandIndex index = *getOperandIndex(map.getResult(r));
      unsigned d = index.dim;
      for (unsigned handle : handles[d])
        exprs.push_back(rewriter.getAffineDimExpr(domain.getPosition(handle))
                            .floorDiv(index.granule));
      groupSizes.push_back(handles[d].size());
      if (extents[d].empty())
        sizes.push_back(size);
      else
        llvm::append_range(sizes, extents[d]);
      changed |= !extents[d].empty();
    }
    newMap = AffineMap::get(domain.size(), 0, exprs, rewriter.getContext());
    if (!changed)
      return value;
    Type elementType = getElementTypeOrSelf(value);
    if (!isRead)
      return tensor::EmptyOp::create(rewriter, loc, sizes, elementType);
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto type = RankedTensorType::get(shape, elementType);
    // A collapse that this expansion undoes is left out.
    if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
      if (collapse.getSrcType() == type &&
          collapse.getReassociationIndices() == getReassociation(groupSizes))
        return collapse.getSrc();
    return tensor::ExpandShapeOp::create(rewriter, loc, type, value,
                                         getReassociation(groupSizes), sizes);
  };

  unsigned index = 0;
  for (SmallVector<Value> *group : {&spec.lhs, &spec.rhs, &spec.inputs})
    for (Value &value : *group) {
      value = newOperands(value, op.getMap(index), true, spec.maps[index]);
      ++index;
    }
  for (auto [o, value] : llvm::enumerate(spec.outputs)) {
    bool isRead = op.getCombiner(o) && !op.getFresh()[o];
    value = newOperands(value, op.getMap(index), isRead, spec.maps[index]);
    ++index;
  }

  TileOpInterface result = createTileOp(rewriter, loc, spec);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block &body = result.getBody().front();
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(), body.getArguments());
  rewriter.setInsertionPointToEnd(&body);
  auto newDim = [&](unsigned handle) {
    return getDimAt(result, domain.getPosition(handle));
  };
  for (Operation &inner : op.getBody().front()) {
    if (auto indexOp = dyn_cast<IndexOp>(inner)) {
      unsigned d = op.getDimPosition(indexOp.getDim().getKind(),
                                     indexOp.getDim().getIndex());
      Value linear;
      for (auto [i, handle] : llvm::enumerate(handles[d])) {
        Value part = IndexOp::create(rewriter, loc, newDim(handle));
        if (!linear) {
          linear = part;
          continue;
        }
        Value size = arith::ConstantIndexOp::create(
            rewriter, loc, *getConstantIntValue(extents[d][i]));
        linear = arith::MulIOp::create(rewriter, loc, linear, size);
        linear = arith::AddIOp::create(rewriter, loc, linear, part);
      }
      mapping.map(indexOp.getResult(), linear);
      continue;
    }
    Operation *copy = rewriter.clone(inner, mapping);
    if (auto group = dyn_cast<GroupReduceOp>(copy)) {
      SmallVector<Attribute> over;
      for (DimAttr dim : group.getOver().getAsRange<DimAttr>())
        for (unsigned handle :
             handles[op.getDimPosition(dim.getKind(), dim.getIndex())])
          over.push_back(newDim(handle));
      group.setOverAttr(rewriter.getArrayAttr(over));
    }
  }

  rewriter.setInsertionPointAfter(result);
  for (auto [o, old] : llvm::enumerate(op->getResults())) {
    Value replacement = result->getResult(o);
    if (replacement.getType() != old.getType()) {
      SmallVector<unsigned> groupSizes;
      for (AffineExpr e : op.getOutputMap(o).getResults())
        groupSizes.push_back(handles[getOperandIndex(e)->dim].size());
      replacement = tensor::CollapseShapeOp::create(
          rewriter, loc, old.getType(), replacement,
          getReassociation(groupSizes));
    }
    rewriter.replaceAllUsesWith(old, replacement);
  }
  rewriter.eraseOp(op);
  return result;
}

//===----------------------------------------------------------------------===//
// unrollDim
//===----------------------------------------------------------------------===//

TileOpInterface coda::unrollDim(RewriterBase &rewriter, TileOpInterface op,
                                unsigned dim) {
  Location loc = op->getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  int64_t extent = op.getStaticExtents()[dim];
  TileOpSpec spec(op);
  DomainBuilder domain;
  SmallVector<unsigned> handles;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
    handles.push_back(domain.add(d == dim ? DimKind::u : op.getDimKind(d)));
  domain.finish(spec);
  SmallVector<AffineExpr> newDims;
  for (unsigned handle : handles)
    newDims.push_back(rewriter.getAffineDimExpr(domain.getPosition(handle)));
  for (AffineMap &map : spec.maps)
    map = map.replaceDimsAndSymbols(newDims, {}, domain.size(), 0);

  TileOpInterface result = createTileOp(rewriter, loc, spec);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.setInsertionPointToEnd(&result.getBody().front());
  unsigned newDim = domain.getPosition(handles[dim]);

  auto translate = [&](const UnrollPoint &point, int64_t value) {
    UnrollPoint out;
    for (auto [d, v] : point)
      out[domain.getPosition(handles[d])] = v;
    out[newDim] = value;
    return out;
  };

  // One copy of the region per point; loads without the dim are shared.
  SmallVector<IRMapping> copies(extent);
  auto mapArguments = [&](AffineMap oldMap, AffineMap newMap,
                          ArrayRef<BlockArgument> oldArgs,
                          ArrayRef<BlockArgument> newArgs) {
    SmallVector<UnrollPoint> newPoints = getUnrollPoints(result, newMap);
    SmallVector<Value> values(newArgs.begin(), newArgs.end());
    for (auto [point, arg] :
         llvm::zip_equal(getUnrollPoints(op, oldMap), oldArgs))
      for (int64_t v = 0; v < extent; ++v)
        copies[v].map(arg, lookupPoint(newPoints, values, translate(point, v)));
  };
  unsigned product = 0;
  for (auto [a, size] : llvm::enumerate(op.getAccSizes())) {
    mapArguments(op.getRhsMap(product), result.getRhsMap(product),
                 op.getAccArguments(a), result.getAccArguments(a));
    product += size;
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    mapArguments(op.getInputMap(i), result.getInputMap(i),
                 op.getInputArguments(i), result.getInputArguments(i));

  // Dims of the same kind behind the unrolled one move up by one.
  auto renumber = [&](DimAttr d) {
    unsigned old = op.getDimPosition(d.getKind(), d.getIndex());
    return getDimAt(result, domain.getPosition(handles[old]));
  };
  auto isOfDim = [&](DimAttr d) {
    return op.getDimPosition(d.getKind(), d.getIndex()) == dim;
  };
  auto renumberOthers = [&](GroupReduceOp group) {
    SmallVector<Attribute> over;
    for (DimAttr d : group.getOver().getAsRange<DimAttr>())
      if (!isOfDim(d))
        over.push_back(renumber(d));
    return rewriter.getArrayAttr(over);
  };
  auto cloneAt = [&](Operation *inner, int64_t v) {
    auto index = dyn_cast<IndexOp>(inner);
    if (index && isOfDim(index.getDim())) {
      copies[v].map(
          index.getResult(),
          arith::ConstantIndexOp::create(rewriter, loc, v).getResult());
      return;
    }
    Operation *copy = rewriter.clone(*inner, copies[v]);
    if (auto copied = dyn_cast<IndexOp>(copy))
      copied.setDimAttr(renumber(copied.getDim()));
    if (auto group = dyn_cast<GroupReduceOp>(copy))
      group.setOverAttr(renumberOthers(cast<GroupReduceOp>(inner)));
  };
  // A group over the dim is one of what its points combine to: it needs all
  // copies of what is before it.
  SmallVector<Operation *> before;
  auto cloneBefore = [&] {
    for (int64_t v = 0; v < extent; ++v)
      for (Operation *inner : before)
        cloneAt(inner, v);
    before.clear();
  };
  for (Operation &inner : op.getBody().front().without_terminator()) {
    auto group = dyn_cast<GroupReduceOp>(inner);
    if (!group || llvm::none_of(group.getOver().getAsRange<DimAttr>(),
                                isOfDim)) {
      before.push_back(&inner);
      continue;
    }
    cloneBefore();
    Value all = copies[0].lookup(group.getValue());
    for (int64_t v = 1; v < extent; ++v)
      all = group.getCombiner().combine(rewriter, group.getLoc(), all,
                                        copies[v].lookup(group.getValue()));
    if (ArrayAttr over = renumberOthers(group); !over.empty())
      all = GroupReduceOp::create(rewriter, group.getLoc(), all.getType(),
                                  group.getCombiner(), all, over);
    for (IRMapping &copy : copies)
      copy.map(group.getResult(), all);
  }
  cloneBefore();

  SmallVector<Value> yielded;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    SmallVector<UnrollPoint> oldPoints = getUnrollPoints(op, op.getOutputMap(o));
    SmallVector<Value> oldValues(op.getYieldedValues(o));
    bool hasDim = op.getOutputMap(o).isFunctionOfDim(dim);
    for (const UnrollPoint &point :
         getUnrollPoints(result, result.getOutputMap(o))) {
      UnrollPoint old;
      for (unsigned d = 0; d < handles.size(); ++d)
        if (auto it = point.find(domain.getPosition(handles[d]));
            it != point.end() && d != dim)
          old[d] = it->second;
      Value value = lookupPoint(oldPoints, oldValues, old);
      if (hasDim) {
        yielded.push_back(copies[point.lookup(newDim)].lookup(value));
        continue;
      }
      // A reduction that drops the dim: combine the points here.
      Value sum = copies[0].lookup(value);
      for (int64_t v = 1; v < extent; ++v)
        sum = op.getCombiner(o).combine(rewriter, loc, sum,
                                        copies[v].lookup(value));
      yielded.push_back(sum);
    }
  }
  YieldOp::create(rewriter, loc, yielded);
  rewriter.replaceOp(op, result->getResults());
  return result;
}

//===----------------------------------------------------------------------===//
// mergeTileOps, cloneIntoReader
//===----------------------------------------------------------------------===//

namespace {
/// Copies the regions of tile ops into that of a new one.
class RegionMerger {
public:
  RegionMerger(RewriterBase &rewriter, TileOpInterface result,
               const DomainBuilder &domain)
      : rewriter(rewriter), result(result), domain(domain) {
    rewriter.setInsertionPointToEnd(&result.getBody().front());
  }

  /// Maps the arguments of an operand of `op` to those of an operand of the
  /// new op; `handles` are the new dims of `op`'s dims.
  void mapArguments(TileOpInterface op, ArrayRef<unsigned> handles,
                    AffineMap oldMap, ArrayRef<BlockArgument> oldArgs,
                    AffineMap newMap, ArrayRef<BlockArgument> newArgs,
                    IRMapping &mapping) {
    SmallVector<UnrollPoint> newPoints = getUnrollPoints(result, newMap);
    SmallVector<Value> values(newArgs.begin(), newArgs.end());
    for (auto [point, arg] :
         llvm::zip_equal(getUnrollPoints(op, oldMap), oldArgs))
      mapping.map(arg, lookupPoint(newPoints, values,
                                   translate(point, handles)));
  }

  void cloneBody(TileOpInterface op, ArrayRef<unsigned> handles,
                 IRMapping &mapping) {
    auto renumber = [&](DimAttr d) {
      return this->renumber(op, handles,
                            op.getDimPosition(d.getKind(), d.getIndex()));
    };
    for (Operation &inner : op.getBody().front().without_terminator())
      renameDims(rewriter.clone(inner, mapping), renumber);
  }

  /// What output `o` of `op` is at a point for which the new op has `value`: that,
  /// or, of a reduction over columns, the one over the group of the point.
  Value reduceGroup(TileOpInterface op, ArrayRef<unsigned> handles, unsigned o,
                    Value value) {
    if (!op.getCombiner(o))
      return value;
    SmallVector<Attribute> over;
    for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
      if (op.getDimKind(d) == DimKind::n && !op.getOutputMap(o).isFunctionOfDim(d))
        over.push_back(renumber(op, handles, d));
    if (over.empty())
      return value;
    return GroupReduceOp::create(rewriter, op->getLoc(), value.getType(),
                                 op.getCombiner(o), value,
                                 rewriter.getArrayAttr(over));
  }

  /// The values for output `o` of `op`, in the order of the new op's points.
  void appendYields(TileOpInterface op, ArrayRef<unsigned> handles, unsigned o,
                    AffineMap newMap, const IRMapping &mapping,
                    SmallVectorImpl<Value> &yielded) {
    SmallVector<UnrollPoint> oldPoints;
    for (const UnrollPoint &point : getUnrollPoints(op, op.getOutputMap(o)))
      oldPoints.push_back(translate(point, handles));
    SmallVector<Value> oldValues(op.getYieldedValues(o));
    for (const UnrollPoint &point : getUnrollPoints(result, newMap))
      yielded.push_back(mapping.lookupOrDefault(
          lookupPoint(oldPoints, oldValues, point)));
  }

  UnrollPoint translate(const UnrollPoint &point, ArrayRef<unsigned> handles) {
    UnrollPoint out;
    for (auto [d, v] : point)
      out[domain.getPosition(handles[d])] = v;
    return out;
  }

private:
  /// What the new op calls dim `dim` of `op`.
  DimAttr renumber(TileOpInterface op, ArrayRef<unsigned> handles,
                   unsigned dim) {
    return getDimAt(result, domain.getPosition(handles[dim]));
  }

  RewriterBase &rewriter;
  TileOpInterface result;
  const DomainBuilder &domain;
};
} // namespace

/// `map` of an op whose dims have the new dims `handles`.
static AffineMap translateMap(AffineMap map, ArrayRef<unsigned> handles,
                              const DomainBuilder &domain) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr e : map.getResults()) {
    OperandIndex index = *getOperandIndex(e);
    exprs.push_back(getAffineDimExpr(domain.getPosition(handles[index.dim]),
                                     map.getContext())
                        .floorDiv(index.granule));
  }
  return AffineMap::get(domain.size(), 0, exprs, map.getContext());
}

TileOpInterface coda::mergeTileOps(RewriterBase &rewriter,
                                   TileOpInterface producer,
                                   TileOpInterface consumer,
                                   const MergePlan &plan) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer);
  Location loc = rewriter.getFusedLoc({producer->getLoc(), consumer->getLoc()});

  TileOpSpec spec;
  DomainBuilder domain;
  SmallVector<unsigned> pDims, cDims;
  for (unsigned d = 0; d < producer.getNumDomainDims(); ++d)
    pDims.push_back(domain.add(producer.getDimKind(d)));
  for (unsigned d = 0; d < consumer.getNumDomainDims(); ++d) {
    int to = plan.consumerToProducer[d];
    cDims.push_back(to >= 0 ? pDims[to] : domain.add(consumer.getDimKind(d)));
  }
  domain.finish(spec);

  // Inputs of the consumer that are stores of the producer become values.
  SmallVector<int> fromOutput(consumer.getInputs().size(), -1);
  for (auto [i, input] : llvm::enumerate(consumer.getInputs()))
    if (input.getDefiningOp() == producer.getOperation())
      fromOutput[i] = cast<OpResult>(input).getResultNumber();

  SmallVector<AffineMap> lhsMaps, rhsMaps, inputMaps, outputMaps;
  auto add = [&](TileOpInterface op, ArrayRef<unsigned> dims,
                 function_ref<bool(unsigned)> keepInput) {
    for (unsigned i = 0; i < op.getNumProducts(); ++i) {
      spec.lhs.push_back(op.getLhs()[i]);
      spec.rhs.push_back(op.getRhs()[i]);
      lhsMaps.push_back(translateMap(op.getLhsMap(i), dims, domain));
      rhsMaps.push_back(translateMap(op.getRhsMap(i), dims, domain));
    }
    llvm::append_range(spec.accSizes, op.getAccSizes());
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      if (!keepInput(i))
        continue;
      spec.inputs.push_back(op.getInputs()[i]);
      spec.loadCombiners.push_back(op.getLoadCombiners()[i]);
      inputMaps.push_back(translateMap(op.getInputMap(i), dims, domain));
    }
    for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
      spec.outputs.push_back(op.getOutputs()[o]);
      spec.combiners.push_back(op.getCombiners()[o]);
      spec.fresh.push_back(op.getFresh()[o]);
      outputMaps.push_back(translateMap(op.getOutputMap(o), dims, domain));
    }
  };
  add(producer, pDims, [](unsigned) { return true; });
  add(consumer, cDims, [&](unsigned i) { return fromOutput[i] < 0; });
  for (ArrayRef<AffineMap> maps : {ArrayRef<AffineMap>(lhsMaps),
                                   ArrayRef<AffineMap>(rhsMaps),
                                   ArrayRef<AffineMap>(inputMaps),
                                   ArrayRef<AffineMap>(outputMaps)})
    llvm::append_range(spec.maps, maps);

  TileOpInterface result = createTileOp(rewriter, loc, spec);
  RegionMerger merger(rewriter, result, domain);
  unsigned nextAcc = 0, nextInput = 0;
  auto mapOperands = [&](TileOpInterface op, ArrayRef<unsigned> dims,
                         function_ref<bool(unsigned)> keepInput,
                         IRMapping &mapping) {
    unsigned product = 0;
    for (auto [a, size] : llvm::enumerate(op.getAccSizes())) {
      AffineMap rhsMap = op.getRhsMap(product);
      merger.mapArguments(op, dims, rhsMap, op.getAccArguments(a),
                          translateMap(rhsMap, dims, domain),
                          result.getAccArguments(nextAcc++), mapping);
      product += size;
    }
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      if (!keepInput(i))
        continue;
      merger.mapArguments(op, dims, op.getInputMap(i), op.getInputArguments(i),
                          result.getInputMap(nextInput),
                          result.getInputArguments(nextInput), mapping);
      ++nextInput;
    }
  };
  IRMapping pMapping, cMapping;
  mapOperands(producer, pDims, [](unsigned) { return true; }, pMapping);
  mapOperands(
      consumer, cDims, [&](unsigned i) { return fromOutput[i] < 0; }, cMapping);
  merger.cloneBody(producer, pDims, pMapping);

  for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
    if (fromOutput[i] < 0)
      continue;
    unsigned o = fromOutput[i];
    SmallVector<UnrollPoint> points;
    for (const UnrollPoint &point :
         getUnrollPoints(producer, producer.getOutputMap(o)))
      points.push_back(merger.translate(point, pDims));
    SmallVector<Value> values;
    for (Value value : producer.getYieldedValues(o))
      values.push_back(
          merger.reduceGroup(producer, pDims, o, pMapping.lookup(value)));
    for (auto [point, arg] :
         llvm::zip_equal(getUnrollPoints(consumer, consumer.getInputMap(i)),
                         consumer.getInputArguments(i)))
      cMapping.map(arg, lookupPoint(points, values,
                                    merger.translate(point, cDims)));
  }
  merger.cloneBody(consumer, cDims, cMapping);

  SmallVector<Value> yielded;
  unsigned numProducerOutputs = producer.getOutputs().size();
  for (unsigned o = 0; o < numProducerOutputs; ++o)
    merger.appendYields(producer, pDims, o, result.getOutputMap(o), pMapping,
                        yielded);
  for (unsigned o = 0; o < consumer.getOutputs().size(); ++o)
    merger.appendYields(consumer, cDims, o,
                        result.getOutputMap(numProducerOutputs + o), cMapping,
                        yielded);
  YieldOp::create(rewriter, loc, yielded);

  rewriter.replaceAllUsesWith(
      producer->getResults(),
      result->getResults().take_front(numProducerOutputs));
  rewriter.replaceOp(consumer,
                     result->getResults().drop_front(numProducerOutputs));
  rewriter.eraseOp(producer);
  return result;
}

TileOpInterface coda::absorbProducts(RewriterBase &rewriter,
                                     TileOpInterface producer,
                                     TileOpInterface consumer, unsigned input,
                                     const MergePlan &plan,
                                     unsigned accumulator) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer);
  Location loc = rewriter.getFusedLoc({producer->getLoc(), consumer->getLoc()});

  TileOpSpec old(consumer), spec;
  DomainBuilder domain;
  SmallVector<unsigned> cDims, pDims(producer.getNumDomainDims());
  for (unsigned d = 0; d < consumer.getNumDomainDims(); ++d)
    cDims.push_back(domain.add(consumer.getDimKind(d)));
  for (unsigned d = 0; d < pDims.size(); ++d)
    if (producer.getDimKind(d) == DimKind::k)
      pDims[d] = domain.add(DimKind::k);
  for (auto [c, p] : llvm::enumerate(plan.consumerToProducer))
    if (p >= 0)
      pDims[p] = cDims[c];
  domain.finish(spec);

  SmallVector<AffineMap> lhsMaps, rhsMaps, inputMaps;
  auto addProduct = [&](TileOpInterface op, unsigned i,
                        ArrayRef<unsigned> dims) {
    spec.lhs.push_back(op.getLhs()[i]);
    spec.rhs.push_back(op.getRhs()[i]);
    lhsMaps.push_back(translateMap(op.getLhsMap(i), dims, domain));
    rhsMaps.push_back(translateMap(op.getRhsMap(i), dims, domain));
  };
  unsigned product = 0;
  for (auto [a, size] : llvm::enumerate(old.accSizes)) {
    for (int32_t i = 0; i < size; ++i)
      addProduct(consumer, product++, cDims);
    spec.accSizes.push_back(size);
    if (a != accumulator)
      continue;
    for (unsigned i = 0; i < producer.getNumProducts(); ++i)
      addProduct(producer, i, pDims);
    spec.accSizes.back() += producer.getNumProducts();
  }
  for (unsigned i = 0; i < old.inputs.size(); ++i) {
    if (i == input)
      continue;
    spec.inputs.push_back(old.inputs[i]);
    spec.loadCombiners.push_back(old.loadCombiners[i]);
    inputMaps.push_back(translateMap(consumer.getInputMap(i), cDims, domain));
  }
  spec.outputs = old.outputs;
  spec.combiners = old.combiners;
  spec.fresh = old.fresh;
  for (ArrayRef<AffineMap> maps :
       {ArrayRef<AffineMap>(lhsMaps), ArrayRef<AffineMap>(rhsMaps),
        ArrayRef<AffineMap>(inputMaps)})
    llvm::append_range(spec.maps, maps);
  for (unsigned o = 0; o < old.outputs.size(); ++o)
    spec.maps.push_back(translateMap(consumer.getOutputMap(o), cDims, domain));

  TileOpInterface result = createTileOp(rewriter, loc, spec);
  result->setDiscardableAttrs(consumer->getDiscardableAttrDictionary());
  Block &body = result.getBody().front();
  rewriter.setInsertionPointToStart(&body);
  BlockArgument loaded = consumer.getInputArguments(input).front();
  IRMapping mapping;
  unsigned next = 0;
  for (BlockArgument argument : consumer.getBody().getArguments())
    if (argument != loaded)
      mapping.map(argument, body.getArgument(next++));
  // The sum gets what nothing changes by: -0.0, not 0.0, unless it is subtracted.
  // Times a factor it might be something else, as infinity times zero is.
  OpOperand *summand = &*loaded.use_begin();
  llvm::SmallPtrSet<Operation *, 4> dropped;
  while (!isa<arith::AddFOp, arith::SubFOp>(summand->getOwner())) {
    dropped.insert(summand->getOwner());
    summand = &*summand->getOwner()->getResult(0).use_begin();
  }
  bool isSubtracted = isa<arith::SubFOp>(summand->getOwner()) &&
                      summand->getOperandNumber() == 1;
  auto type = cast<FloatType>(summand->get().getType());
  mapping.map(summand->get(),
              arith::ConstantFloatOp::create(
                  rewriter, loc, type,
                  APFloat::getZero(type.getFloatSemantics(), !isSubtracted))
                  .getResult());
  for (Operation &inner : consumer.getBody().front())
    if (!dropped.contains(&inner))
      rewriter.clone(inner, mapping);
  rewriter.replaceOp(consumer, result->getResults());
  rewriter.eraseOp(producer);
  return result;
}

TileOpInterface coda::cloneIntoReader(RewriterBase &rewriter,
                                      TileOpInterface producer,
                                      TileOpInterface consumer,
                                      unsigned input) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer);
  unsigned output =
      cast<OpResult>(consumer.getInputs()[input]).getResultNumber();
  AffineMap loadMap = consumer.getInputMap(input);
  AffineMap storeMap = producer.getOutputMap(output);

  TileOpSpec old(consumer), spec;
  DomainBuilder domain;
  SmallVector<unsigned> cDims, pDims(producer.getNumDomainDims());
  for (unsigned d = 0; d < consumer.getNumDomainDims(); ++d)
    cDims.push_back(domain.add(consumer.getDimKind(d)));
  for (unsigned d = 0; d < pDims.size(); ++d) {
    std::optional<unsigned> r =
        storeMap.getResultPosition(rewriter.getAffineDimExpr(d));
    // What is not stored over is combined over in a load: a p dim.
    pDims[d] = r ? cDims[loadMap.getDimPosition(*r)]
                 : domain.add(producer.getDimKind(d));
  }
  domain.finish(spec);

  unsigned numFactors = 2 * consumer.getNumProducts();
  spec.lhs = old.lhs;
  spec.rhs = old.rhs;
  spec.accSizes = old.accSizes;
  spec.outputs = old.outputs;
  spec.combiners = old.combiners;
  spec.fresh = old.fresh;
  for (unsigned i = 0; i < numFactors; ++i)
    spec.maps.push_back(translateMap(old.maps[i], cDims, domain));
  for (unsigned i = 0; i < old.inputs.size(); ++i) {
    if (i == input)
      continue;
    spec.inputs.push_back(old.inputs[i]);
    spec.loadCombiners.push_back(old.loadCombiners[i]);
    spec.maps.push_back(
        translateMap(consumer.getInputMap(i), cDims, domain));
  }
  for (unsigned i = 0; i < producer.getInputs().size(); ++i) {
    spec.inputs.push_back(producer.getInputs()[i]);
    spec.loadCombiners.push_back(producer.getLoadCombiners()[i]);
    spec.maps.push_back(
        translateMap(producer.getInputMap(i), pDims, domain));
  }
  for (unsigned o = 0; o < old.outputs.size(); ++o)
    spec.maps.push_back(
        translateMap(consumer.getOutputMap(o), cDims, domain));

  TileOpInterface result = createTileOp(rewriter, consumer->getLoc(), spec);
  result->setDiscardableAttrs(consumer->getDiscardableAttrDictionary());
  RegionMerger merger(rewriter, result, domain);
  IRMapping cMapping, pMapping;
  unsigned product = 0, next = 0;
  for (auto [a, size] : llvm::enumerate(consumer.getAccSizes())) {
    merger.mapArguments(consumer, cDims, consumer.getRhsMap(product),
                        consumer.getAccArguments(a), result.getRhsMap(product),
                        result.getAccArguments(a), cMapping);
    product += size;
  }
  for (unsigned i = 0; i < old.inputs.size(); ++i) {
    if (i == input)
      continue;
    merger.mapArguments(consumer, cDims, consumer.getInputMap(i),
                        consumer.getInputArguments(i), result.getInputMap(next),
                        result.getInputArguments(next), cMapping);
    ++next;
  }
  for (unsigned i = 0; i < producer.getInputs().size(); ++i, ++next)
    merger.mapArguments(producer, pDims, producer.getInputMap(i),
                        producer.getInputArguments(i), result.getInputMap(next),
                        result.getInputArguments(next), pMapping);
  merger.cloneBody(producer, pDims, pMapping);
  cMapping.map(
      consumer.getInputArguments(input).front(),
      pMapping.lookupOrDefault(producer.getYieldedValues(output).front()));
  merger.cloneBody(consumer, cDims, cMapping);
  SmallVector<Value> yielded;
  for (unsigned o = 0; o < old.outputs.size(); ++o)
    merger.appendYields(consumer, cDims, o, result.getOutputMap(o), cMapping,
                        yielded);
  YieldOp::create(rewriter, consumer->getLoc(), yielded);
  rewriter.replaceOp(consumer, result->getResults());
  return result;
}

//===----------------------------------------------------------------------===//
// sliceTileOp
//===----------------------------------------------------------------------===//

TileOpInterface coda::sliceTileOp(RewriterBase &rewriter, TileOpInterface op,
                                  unsigned dim, int64_t offset, int64_t size) {
  Location loc = op->getLoc();
  TileOpSpec spec(op);
  auto slice = [&](Value value, AffineMap map, bool isRead) -> Value {
    std::optional<unsigned> r =
        map.getResultPosition(rewriter.getAffineDimExpr(dim));
    if (!r)
      return value;
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, value);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    offsets[*r] = rewriter.getIndexAttr(offset);
    sizes[*r] = rewriter.getIndexAttr(size);
    if (!isRead)
      return tensor::EmptyOp::create(rewriter, loc, sizes,
                                     getElementTypeOrSelf(value));
    return tensor::ExtractSliceOp::create(rewriter, loc, value, offsets, sizes,
                                          strides);
  };
  unsigned index = 0;
  for (SmallVector<Value> *group : {&spec.lhs, &spec.rhs, &spec.inputs})
    for (Value &value : *group)
      value = slice(value, spec.maps[index++], true);
  for (auto [o, value] : llvm::enumerate(spec.outputs))
    value = slice(value, spec.maps[index++],
                  op.getCombiner(o) && !op.getFresh()[o]);
  TileOpInterface result = createTileOp(rewriter, loc, spec);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(), result.getBody().getArguments());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&result.getBody().front());
  for (Operation &inner : op.getBody().front())
    rewriter.clone(inner, mapping);
  return result;
}

//===----------------------------------------------------------------------===//
// Roundings
//===----------------------------------------------------------------------===//

void coda::dropRoundings(RewriterBase &rewriter, TileOpInterface op) {
  for (Operation &inner :
       llvm::make_early_inc_range(op.getBody().front().without_terminator())) {
    auto ext = dyn_cast<arith::ExtFOp>(inner);
    if (!ext)
      continue;
    auto trunc = ext.getIn().getDefiningOp<arith::TruncFOp>();
    if (trunc && trunc.getIn().getType() == ext.getType() &&
        !isQuantizedFloat(trunc.getType()))
      rewriter.replaceOp(ext, trunc.getIn());
  }
  // Casts that nothing reads any more, last first.
  SmallVector<Operation *> ops;
  for (Operation &inner : op.getBody().front().without_terminator())
    ops.push_back(&inner);
  for (Operation *inner : llvm::reverse(ops))
    if (isOpTriviallyDead(inner))
      rewriter.eraseOp(inner);
}

static bool isNarrowFloat(Type type) { return type.isF16() || type.isBF16(); }

void coda::computeInF32(RewriterBase &rewriter, TileOpInterface op) {
  OpBuilder::InsertionGuard guard(rewriter);
  Type f32 = rewriter.getF32Type();
  for (Operation &inner :
       llvm::make_early_inc_range(op.getBody().front().without_terminator())) {
    bool narrowOperand =
        llvm::any_of(inner.getOperandTypes(), isNarrowFloat);
    if (!narrowOperand || inner.getNumResults() != 1 ||
        isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, GroupReduceOp>(
            inner))
      continue;
    rewriter.setInsertionPoint(&inner);
    IRMapping mapping;
    for (Value operand : inner.getOperands())
      if (isNarrowFloat(operand.getType()))
        mapping.map(operand, arith::ExtFOp::create(rewriter, inner.getLoc(),
                                                   f32, operand)
                                 .getResult());
    Operation *wide = rewriter.clone(inner, mapping);
    Value result = wide->getResult(0);
    Type type = inner.getResult(0).getType();
    if (isNarrowFloat(type)) {
      result.setType(f32);
      result = arith::TruncFOp::create(rewriter, inner.getLoc(), type, result);
    }
    rewriter.replaceOp(&inner, result);
  }
}
