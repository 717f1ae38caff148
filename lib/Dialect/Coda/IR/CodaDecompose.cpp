//===- CodaDecompose.cpp - Tile ops as linalg: the definition of meaning --===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What gemm, map and bundle mean, written once: the CPU path, the reference in
// tests and the `coda-decompose` pass all use this.

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// Decomposes one tile op on tensors:
///   1. each accumulator: a fill with 0 and one contraction per product,
///   2. each combining load: a reduction over its p dims,
///   3. the region, over the b, m and n dims: one elementwise generic; before
///      it, for each group_reduce, a generic for its operand and a reduction,
///   4. each reduced output: a reduction of what 3 yields for it (logaddexp: of
///      its maximum and of exponentials below it).
/// A value per point of the u dims is a slice of its operand at that point.
class TileOpDecomposer {
public:
  TileOpDecomposer(OpBuilder &b, TileOpInterface op)
      : b(b), loc(op->getLoc()), op(op),
        numParallel(op.getDims()[0] + op.getDims()[1] + op.getDims()[2]),
        extents(op.getStaticExtents()) {}

  SmallVector<Value> run();

private:
  /// A scalar of the region that is an element of a tensor, by its map over
  /// the parallel dims.
  struct Source {
    Value tensor;
    AffineMap map;
  };

  OpFoldResult getExtent(unsigned dim);
  Value createEmpty(ArrayRef<unsigned> dims, Type elementType);
  Value createFill(ArrayRef<unsigned> dims, TypedAttr value);
  /// `map` over the domain, rewritten over the dims `kept` in their order.
  AffineMap compress(AffineMap map, ArrayRef<unsigned> kept);
  /// The part of `operand` at `point` of its u dims, and its map without them.
  Source sliceAt(Value operand, AffineMap map,
                 const UnrollPoint &point);
  Value insertAt(Value slice, Value dest, AffineMap map,
                 const UnrollPoint &point);
  Value buildAccumulator(unsigned first, unsigned size);
  using Combine = function_ref<Value(OpBuilder &, Location, ValueRange)>;
  /// A generic over `domain` of `inputs` into `init`, which reduces the dims
  /// that `initMap` drops, or has groups of; `combine` gets the elements of the
  /// inputs and of the init.
  Value fold(ValueRange inputs, ArrayRef<AffineMap> inputMaps,
             ArrayRef<unsigned> domain, Value init, AffineMap initMap,
             Combine combine);
  Value reduce(Value value, AffineMap valueMap, ArrayRef<unsigned> domain,
               Value init, AffineMap initMap, CombinerAttrInterface combiner);
  Value reduceLogAddExp(Value value, AffineMap valueMap,
                        ArrayRef<unsigned> domain, Value init,
                        AffineMap initMap, LogAddExpAttr combiner);
  /// Computes `values` of the region at every point into `inits`.
  SmallVector<Value> compute(ValueRange values, ValueRange inits,
                             ArrayRef<AffineMap> initMaps);
  SmallVector<unsigned> getParallelDims() {
    return llvm::to_vector(llvm::seq<unsigned>(0, numParallel));
  }

  OpBuilder &b;
  Location loc;
  TileOpInterface op;
  unsigned numParallel;
  SmallVector<int64_t> extents;
  DenseMap<Value, Source> sources;
};
} // namespace

OpFoldResult TileOpDecomposer::getExtent(unsigned dim) {
  if (!ShapedType::isDynamic(extents[dim]))
    return b.getIndexAttr(extents[dim]);
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (std::optional<unsigned> r =
            op.getMap(i).getResultPosition(b.getAffineDimExpr(dim)))
      return tensor::getMixedSize(b, loc, op->getOperand(i), *r);
  llvm_unreachable("the verifier rejects dims that index no operand");
}

Value TileOpDecomposer::createEmpty(ArrayRef<unsigned> dims,
                                    Type elementType) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned d : dims)
    sizes.push_back(getExtent(d));
  return tensor::EmptyOp::create(b, loc, sizes, elementType);
}

Value TileOpDecomposer::createFill(ArrayRef<unsigned> dims, TypedAttr value) {
  Value empty = createEmpty(dims, value.getType());
  Value scalar = arith::ConstantOp::create(b, loc, value);
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}

AffineMap TileOpDecomposer::compress(AffineMap map, ArrayRef<unsigned> kept) {
  SmallVector<AffineExpr> dims(map.getNumDims(), b.getAffineConstantExpr(0));
  for (auto [i, d] : llvm::enumerate(kept))
    dims[d] = b.getAffineDimExpr(i);
  return map.replaceDimsAndSymbols(dims, {}, kept.size(), 0);
}

/// The dim that index `r` of `map` is of, alone or in groups.
static unsigned getDim(AffineMap map, unsigned r) {
  return getOperandIndex(map.getResult(r))->dim;
}

/// Offsets and sizes of the part of an operand at a point of its u dims.
static void getSlice(OpBuilder &b, Location loc, Value operand, AffineMap map,
                     const UnrollPoint &point,
                     SmallVector<OpFoldResult> &offsets,
                     SmallVector<OpFoldResult> &sizes,
                     SmallVector<OpFoldResult> &strides,
                     SmallVector<int64_t> &shape,
                     SmallVector<AffineExpr> &exprs) {
  auto type = cast<RankedTensorType>(operand.getType());
  for (auto [r, size] :
       llvm::enumerate(tensor::getMixedSizes(b, loc, operand))) {
    auto it = point.find(getDim(map, r));
    strides.push_back(b.getIndexAttr(1));
    if (it != point.end()) {
      offsets.push_back(b.getIndexAttr(it->second));
      sizes.push_back(b.getIndexAttr(1));
      continue;
    }
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(size);
    shape.push_back(type.getDimSize(r));
    exprs.push_back(map.getResult(r));
  }
}

/// How the dims of an operand are grouped so that each group holds one dim that
/// is kept at a point of the u dims; none if no dim is.
static SmallVector<ReassociationIndices>
groupDims(AffineMap map, const UnrollPoint &point) {
  SmallVector<ReassociationIndices> groups;
  bool open = false; // a group that lacks its kept dim
  for (unsigned r = 0; r < map.getNumResults(); ++r) {
    bool isKept = !point.contains(getDim(map, r));
    if (groups.empty() || (isKept && !open)) {
      groups.push_back({r});
      open = !isKept;
      continue;
    }
    groups.back().push_back(r);
    open &= !isKept;
  }
  if (open)
    groups.clear();
  return groups;
}

/// The type of a slice before the u dims, of which it has one point, are taken
/// away. Which of the dims of extent 1 these are, a rank-reducing slice does
/// not say if the tensor has others: so these are reshaped.
static RankedTensorType
getSliceType(Value operand, AffineMap map,
             const UnrollPoint &point) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (unsigned r = 0; r < shape.size(); ++r)
    if (point.contains(getDim(map, r)))
      shape[r] = 1;
  return RankedTensorType::get(shape, type.getElementType());
}

/// Whether the type says that there are no elements. A slice of such a tensor
/// is refused by the tensor dialect: its offset is out of bounds.
static bool isEmpty(Value value) {
  return llvm::is_contained(cast<RankedTensorType>(value.getType()).getShape(),
                            0);
}

TileOpDecomposer::Source
TileOpDecomposer::sliceAt(Value operand, AffineMap map,
                          const UnrollPoint &point) {
  if (point.empty())
    return {operand, compress(map, getParallelDims())};
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  getSlice(b, loc, operand, map, point, offsets, sizes, strides, shape, exprs);
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(operand));
  Value slice;
  if (isEmpty(operand)) {
    SmallVector<OpFoldResult> kept;
    for (auto [r, size] : llvm::enumerate(sizes))
      if (!point.contains(getDim(map, r)))
        kept.push_back(size);
    slice = tensor::EmptyOp::create(b, loc, kept, type.getElementType());
  } else if (llvm::is_contained(shape, 1)) {
    slice = tensor::ExtractSliceOp::create(b, loc,
                                           getSliceType(operand, map, point),
                                           operand, offsets, sizes, strides);
    slice = tensor::CollapseShapeOp::create(b, loc, type, slice,
                                            groupDims(map, point));
  } else {
    slice = tensor::ExtractSliceOp::create(b, loc, type, operand, offsets,
                                           sizes, strides);
  }
  AffineMap kept = AffineMap::get(map.getNumDims(), 0, exprs, b.getContext());
  return {slice, compress(kept, getParallelDims())};
}

Value TileOpDecomposer::insertAt(Value slice, Value dest, AffineMap map,
                                 const UnrollPoint &point) {
  if (point.empty())
    return slice;
  if (isEmpty(dest))
    return dest;
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  getSlice(b, loc, dest, map, point, offsets, sizes, strides, shape, exprs);
  if (llvm::is_contained(shape, 1))
    slice = tensor::ExpandShapeOp::create(b, loc,
                                          getSliceType(dest, map, point), slice,
                                          groupDims(map, point), sizes);
  return tensor::InsertSliceOp::create(b, loc, slice, dest, offsets, sizes,
                                       strides);
}

/// Widens a factor to the accumulator type; exact.
static Value widen(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<IntegerType>(type))
    return arith::ExtSIOp::create(b, loc, type, value);
  return arith::ExtFOp::create(b, loc, type, value);
}

Value TileOpDecomposer::buildAccumulator(unsigned first, unsigned size) {
  // The u dims come first: a slice at a point of them is contiguous.
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < op.getNumDims(DimKind::u); ++i) {
    unsigned d = op.getDimPosition(DimKind::u, i);
    if (op.getRhsMap(first).isFunctionOfDim(d))
      kept.push_back(d);
  }
  llvm::append_range(kept, getParallelDims());
  Type accType = getAccumulatorType(getElementTypeOrSelf(op.getLhs()[first]));
  Value acc = createFill(kept, b.getZeroAttr(accType));
  AffineMap accMap = b.getMultiDimIdentityMap(kept.size());
  for (unsigned product = first; product < first + size; ++product) {
    SmallVector<unsigned> domain = kept;
    SmallVector<utils::IteratorType> iterators(kept.size(),
                                               utils::IteratorType::parallel);
    for (unsigned i = 0; i < op.getNumDims(DimKind::k); ++i) {
      unsigned d = op.getDimPosition(DimKind::k, i);
      if (!op.getLhsMap(product).isFunctionOfDim(d))
        continue;
      domain.push_back(d);
      iterators.push_back(utils::IteratorType::reduction);
    }
    AffineMap maps[] = {
        compress(op.getLhsMap(product), domain),
        compress(op.getRhsMap(product), domain),
        AffineMap::get(domain.size(), 0, accMap.getResults(), b.getContext())};
    auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
      Value lhs = widen(b, loc, args[0], accType);
      Value rhs = widen(b, loc, args[1], accType);
      Value sum;
      if (isa<IntegerType>(accType)) {
        Value mul = arith::MulIOp::create(b, loc, lhs, rhs);
        sum = arith::AddIOp::create(b, loc, args[2], mul);
      } else {
        Value mul = arith::MulFOp::create(b, loc, lhs, rhs);
        sum = arith::AddFOp::create(b, loc, args[2], mul);
      }
      linalg::YieldOp::create(b, loc, sum);
    };
    acc = linalg::GenericOp::create(
              b, loc, acc.getType(),
              ValueRange{op.getLhs()[product], op.getRhs()[product]}, acc, maps,
              iterators, body)
              .getResult(0);
  }
  return acc;
}

Value TileOpDecomposer::fold(ValueRange inputs, ArrayRef<AffineMap> inputMaps,
                             ArrayRef<unsigned> domain, Value init,
                             AffineMap initMap, Combine combine) {
  SmallVector<utils::IteratorType> iterators;
  for (unsigned i = 0; i < domain.size(); ++i)
    iterators.push_back(initMap.getResultPosition(b.getAffineDimExpr(i))
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(initMap);
  return linalg::GenericOp::create(
             b, loc, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, combine(b, loc, args));
             })
      .getResult(0);
}

Value TileOpDecomposer::reduce(Value value, AffineMap valueMap,
                               ArrayRef<unsigned> domain, Value init,
                               AffineMap initMap,
                               CombinerAttrInterface combiner) {
  if (auto logAddExp = dyn_cast<LogAddExpAttr>(combiner))
    return reduceLogAddExp(value, valueMap, domain, init, initMap, logAddExp);
  return fold(value, valueMap, domain, init, initMap,
              [&](OpBuilder &b, Location loc, ValueRange args) {
                return combiner.combine(b, loc, args[1], args[0]);
              });
}

/// The maximum m, then init + (m + log of the sum of exp(v - m)): one exp for
/// each element, and sums that need no order. Where m is infinite, v - 0 gives
/// what is right: exp(-inf) is 0, log(0) is -inf.
Value TileOpDecomposer::reduceLogAddExp(Value value, AffineMap valueMap,
                                        ArrayRef<unsigned> domain, Value init,
                                        AffineMap initMap,
                                        LogAddExpAttr combiner) {
  auto type = cast<FloatType>(getElementTypeOrSelf(init));
  auto filled = [&](TypedAttr attr) -> Value {
    Value empty = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, init), type);
    Value scalar = arith::ConstantOp::create(b, loc, attr);
    return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
  };
  auto finite = [&](OpBuilder &b, Location loc, Value max) -> Value {
    Value inf = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics())));
    Value isInfinite =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                              math::AbsFOp::create(b, loc, max), inf);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    return arith::SelectOp::create(b, loc, isInfinite, zero, max);
  };
  Value max = fold(value, valueMap, domain, filled(combiner.getIdentity(type)),
                   initMap, [](OpBuilder &b, Location loc, ValueRange args) {
                     return arith::MaximumFOp::create(b, loc, args[1], args[0])
                         .getResult();
                   });
  Value sum =
      fold({value, max}, {valueMap, initMap}, domain,
           filled(b.getZeroAttr(type)), initMap,
           [&](OpBuilder &b, Location loc, ValueRange args) {
             Value below = arith::SubFOp::create(b, loc, args[0],
                                                 finite(b, loc, args[1]));
             Value exp = math::ExpOp::create(b, loc, below);
             return arith::AddFOp::create(b, loc, args[2], exp).getResult();
           });
  // Over the dims of the init alone; groups are points of one.
  SmallVector<unsigned> kept;
  SmallVector<AffineExpr> exprs(initMap.getNumResults());
  for (auto [i, dim] : llvm::enumerate(domain))
    for (auto [r, index] : llvm::enumerate(initMap.getResults()))
      if (getOperandIndex(index)->dim == i) {
        exprs[r] = b.getAffineDimExpr(kept.size());
        kept.push_back(dim);
      }
  AffineMap map = AffineMap::get(kept.size(), 0, exprs, b.getContext());
  return fold({max, sum}, {map, map}, kept, init, map,
              [&](OpBuilder &b, Location loc, ValueRange args) {
                Value log = math::LogOp::create(b, loc, args[1]);
                Value total = arith::AddFOp::create(
                    b, loc, finite(b, loc, args[0]), log);
                return combiner.combine(b, loc, args[2], total);
              });
}

SmallVector<Value> TileOpDecomposer::compute(ValueRange values,
                                             ValueRange inits,
                                             ArrayRef<AffineMap> initMaps) {
  // The ops of the region that `values` depend on, and the tensors read.
  Block &body = op.getBody().front();
  llvm::SetVector<Value> reads;
  llvm::SmallPtrSet<Operation *, 32> needed =
      getNeededOps(values, [&](Value value) {
        if (!sources.contains(value))
          return false;
        reads.insert(value);
        return true;
      });

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (Value value : reads) {
    inputs.push_back(sources[value].tensor);
    maps.push_back(sources[value].map);
  }
  llvm::append_range(maps, initMaps);
  SmallVector<utils::IteratorType> iterators(numParallel,
                                             utils::IteratorType::parallel);
  auto build = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping mapping;
    for (auto [value, arg] : llvm::zip(reads, args))
      mapping.map(value, arg);
    for (Operation &inner : body.without_terminator()) {
      if (!needed.contains(&inner))
        continue;
      if (auto index = dyn_cast<IndexOp>(inner)) {
        unsigned pos = op.getDimPosition(index.getDim().getKind(),
                                         index.getDim().getIndex());
        mapping.map(index.getResult(),
                    linalg::IndexOp::create(b, loc, pos).getResult());
        continue;
      }
      b.clone(inner, mapping);
    }
    SmallVector<Value> results;
    for (Value value : values)
      results.push_back(mapping.lookup(value));
    linalg::YieldOp::create(b, loc, results);
  };
  return SmallVector<Value>(linalg::GenericOp::create(
                                b, loc, TypeRange(inits), inputs, inits, maps,
                                iterators, build)
                                .getResults());
}

SmallVector<Value> TileOpDecomposer::run() {
  SmallVector<unsigned> parallel = getParallelDims();
  AffineMap identity = b.getMultiDimIdentityMap(numParallel);

  unsigned product = 0;
  for (auto [i, size] : llvm::enumerate(op.getAccSizes())) {
    Value acc = buildAccumulator(product, size);
    // The accumulator's own map over the domain: its u dims, then b, m, n.
    SmallVector<AffineExpr> exprs;
    for (unsigned u = 0; u < op.getNumDims(DimKind::u); ++u) {
      unsigned d = op.getDimPosition(DimKind::u, u);
      if (op.getRhsMap(product).isFunctionOfDim(d))
        exprs.push_back(b.getAffineDimExpr(d));
    }
    for (unsigned d : parallel)
      exprs.push_back(b.getAffineDimExpr(d));
    AffineMap map =
        AffineMap::get(op.getNumDomainDims(), 0, exprs, b.getContext());
    for (auto [arg, point] :
         llvm::zip_equal(op.getAccArguments(i), getUnrollPoints(op, map)))
      sources[arg] = sliceAt(acc, map, point);
    product += size;
  }

  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    Value input = op.getInputs()[i];
    AffineMap map = op.getInputMap(i);
    if (CombinerAttrInterface combiner = op.getLoadCombiner(i)) {
      SmallVector<unsigned> domain, kept;
      SmallVector<AffineExpr> keptExprs;
      for (AffineExpr e : map.getResults()) {
        unsigned d = cast<AffineDimExpr>(e).getPosition();
        domain.push_back(d);
        if (op.getDimKind(d) == DimKind::p)
          continue;
        kept.push_back(d);
        keptExprs.push_back(e);
      }
      AffineMap keptMap =
          AffineMap::get(map.getNumDims(), 0, keptExprs, b.getContext());
      auto type = cast<FloatType>(getElementTypeOrSelf(input));
      Value init = createFill(kept, combiner.getIdentity(type));
      input = reduce(input, compress(map, domain), domain, init,
                     compress(keptMap, domain), combiner);
      map = keptMap;
    }
    for (auto [arg, point] :
         llvm::zip_equal(op.getInputArguments(i), getUnrollPoints(op, map)))
      sources[arg] = sliceAt(input, map, point);
  }

  for (Operation &inner : op.getBody().front().without_terminator()) {
    auto group = dyn_cast<GroupReduceOp>(inner);
    if (!group)
      continue;
    auto type = cast<FloatType>(group.getValue().getType());
    Value points = compute(group.getValue(), createEmpty(parallel, type),
                           identity)[0];
    llvm::SmallBitVector over(numParallel);
    for (DimAttr dim : group.getOver().getAsRange<DimAttr>())
      over.set(op.getDimPosition(dim.getKind(), dim.getIndex()));
    SmallVector<unsigned> kept;
    SmallVector<AffineExpr> exprs;
    for (unsigned d : parallel)
      if (!over.test(d)) {
        kept.push_back(d);
        exprs.push_back(b.getAffineDimExpr(d));
      }
    AffineMap keptMap = AffineMap::get(numParallel, 0, exprs, b.getContext());
    CombinerAttrInterface combiner = group.getCombiner();
    Value init = createFill(kept, combiner.getIdentity(type));
    sources[group.getResult()] = {
        reduce(points, identity, parallel, init, keptMap, combiner), keptMap};
  }

  // One generic for everything that the region yields.
  SmallVector<Value> values, inits;
  SmallVector<AffineMap> initMaps;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    AffineMap map = op.getOutputMap(o);
    for (auto [value, point] :
         llvm::zip_equal(op.getYieldedValues(o), getUnrollPoints(op, map))) {
      values.push_back(value);
      if (op.getCombiner(o)) {
        inits.push_back(createEmpty(parallel, value.getType()));
        initMaps.push_back(identity);
        continue;
      }
      Source dest = sliceAt(op.getOutputs()[o], map, point);
      inits.push_back(dest.tensor);
      initMaps.push_back(dest.map);
    }
  }
  SmallVector<Value> computed = compute(values, inits, initMaps);

  SmallVector<Value> results;
  unsigned next = 0;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    AffineMap map = op.getOutputMap(o);
    Value result = op.getOutputs()[o];
    CombinerAttrInterface combiner = op.getCombiner(o);
    if (combiner && op.getFresh()[o]) {
      auto type = cast<FloatType>(getElementTypeOrSelf(result));
      Value scalar =
          arith::ConstantOp::create(b, loc, combiner.getIdentity(type));
      result = linalg::FillOp::create(b, loc, scalar, result).getResult(0);
    }
    for (const auto &point : getUnrollPoints(op, map)) {
      Value value = computed[next++];
      if (combiner) {
        Source init = sliceAt(result, map, point);
        value = reduce(value, identity, parallel, init.tensor, init.map,
                       combiner);
      }
      result = insertAt(value, result, map, point);
    }
    results.push_back(result);
  }
  return results;
}

static FailureOr<SmallVector<Value>> decomposeTileOp(TileOpInterface op,
                                                     OpBuilder &b) {
  if (op->getNumResults() == 0)
    return failure(); // on memrefs: a kernel, not a value
  return TileOpDecomposer(b, op).run();
}

FailureOr<SmallVector<Value>> GemmOp::decomposeOperation(OpBuilder &b) {
  return decomposeTileOp(*this, b);
}
FailureOr<SmallVector<Value>> MapOp::decomposeOperation(OpBuilder &b) {
  return decomposeTileOp(*this, b);
}
