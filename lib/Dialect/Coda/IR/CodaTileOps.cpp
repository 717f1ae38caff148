//===- CodaTileOps.cpp - gemm, map, bundle: builders, verifier --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::coda;

//===----------------------------------------------------------------------===//
// Shared helpers
//===----------------------------------------------------------------------===//

std::string coda::getDimName(ArrayRef<int32_t> dims, unsigned position) {
  unsigned kind = 0;
  while (position >= static_cast<unsigned>(dims[kind]))
    position -= dims[kind++];
  std::string name = stringifyDimKind(static_cast<DimKind>(kind)).str();
  return dims[kind] == 1 ? name : name + std::to_string(position);
}

std::optional<OperandIndex> coda::getOperandIndex(AffineExpr index) {
  if (auto dim = dyn_cast<AffineDimExpr>(index))
    return OperandIndex{dim.getPosition()};
  auto groups = dyn_cast<AffineBinaryOpExpr>(index);
  if (!groups || groups.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(groups.getLHS());
  auto granule = dyn_cast<AffineConstantExpr>(groups.getRHS());
  if (!dim || !granule || granule.getValue() < 2)
    return std::nullopt;
  return OperandIndex{dim.getPosition(), granule.getValue()};
}

std::string coda::getIndexName(ArrayRef<int32_t> dims, AffineExpr index) {
  OperandIndex of = *getOperandIndex(index);
  std::string name = getDimName(dims, of.dim);
  return of.isGroup() ? name + " floordiv " + std::to_string(of.granule) : name;
}

bool coda::hasGroupIndex(TileOpInterface op) {
  return llvm::any_of(
      op.getIndexingMaps().getAsValueRange<AffineMapAttr>(),
      [](AffineMap map) { return !map.isProjectedPermutation(); });
}

Type coda::getAccumulatorType(Type type) {
  if (type.isSignlessInteger(8))
    return IntegerType::get(type.getContext(), 32);
  if (type.isF64())
    return type;
  auto floatType = dyn_cast<FloatType>(type);
  if (floatType && floatType.getWidth() <= 32)
    return Float32Type::get(type.getContext());
  return {};
}

FloatType coda::getComputeType(Type type) {
  if (type.isF64())
    return cast<FloatType>(type);
  return Float32Type::get(type.getContext());
}

unsigned TileOpSpec::getNumDomainDims() const {
  unsigned n = 0;
  for (int32_t d : dims)
    n += d;
  return n;
}

TileOpSpec::TileOpSpec(TileOpInterface op)
    : lhs(op.getLhs()), rhs(op.getRhs()), inputs(op.getInputs()),
      outputs(op.getOutputs()),
      maps(op.getIndexingMaps().getAsValueRange<AffineMapAttr>()),
      dims(op.getDims()), accSizes(op.getAccSizes()),
      combiners(op.getCombiners().getValue()), fresh(op.getFresh()),
      loadCombiners(op.getLoadCombiners().getValue()) {}

/// Extents of the domain from operand types; kDynamic where unknown.
static SmallVector<int64_t> getExtents(unsigned numDims, ValueRange operands,
                                       ArrayRef<AffineMap> maps) {
  SmallVector<int64_t> extents(numDims, ShapedType::kDynamic);
  for (auto [value, map] : llvm::zip_equal(operands, maps)) {
    auto type = cast<ShapedType>(value.getType());
    for (auto [index, size] : llvm::zip_equal(map.getResults(), type.getShape())) {
      OperandIndex of = *getOperandIndex(index);
      if (!ShapedType::isDynamic(size) && !of.isGroup())
        extents[of.dim] = size;
    }
  }
  return extents;
}

/// Product of the extents of the u dims in `map`.
static int64_t getUnroll(ArrayRef<int32_t> dims, ArrayRef<int64_t> extents,
                         AffineMap map) {
  unsigned begin = dims[0] + dims[1] + dims[2], end = begin + dims[3];
  int64_t factor = 1;
  for (unsigned d = begin; d < end; ++d)
    if (map.isFunctionOfDim(d))
      factor *= extents[d];
  return factor;
}

SmallVector<int64_t> coda::detail::getStaticExtents(TileOpInterface op) {
  SmallVector<AffineMap> maps(
      op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  return getExtents(op.getNumDomainDims(), op->getOperands(), maps);
}

int64_t coda::detail::getUnrollFactor(TileOpInterface op, AffineMap map) {
  return getUnroll(op.getDims(), getStaticExtents(op), map);
}

ArrayRef<BlockArgument> coda::detail::getAccArguments(TileOpInterface op,
                                                unsigned acc) {
  unsigned begin = 0, product = 0;
  for (unsigned i = 0; i < acc; ++i) {
    begin += getUnrollFactor(op, op.getRhsMap(product));
    product += op.getAccSizes()[i];
  }
  return op.getBody().getArguments().slice(
      begin, getUnrollFactor(op, op.getRhsMap(product)));
}

ArrayRef<BlockArgument> coda::detail::getInputArguments(TileOpInterface op,
                                                  unsigned input) {
  unsigned begin = 0, product = 0;
  for (int32_t size : op.getAccSizes()) {
    begin += getUnrollFactor(op, op.getRhsMap(product));
    product += size;
  }
  for (unsigned i = 0; i < input; ++i)
    begin += getUnrollFactor(op, op.getInputMap(i));
  return op.getBody().getArguments().slice(
      begin, getUnrollFactor(op, op.getInputMap(input)));
}

OperandRange coda::detail::getYieldedValues(TileOpInterface op, unsigned output) {
  unsigned begin = 0;
  for (unsigned i = 0; i < output; ++i)
    begin += getUnrollFactor(op, op.getOutputMap(i));
  return op.getBody().front().getTerminator()->getOperands().slice(
      begin, getUnrollFactor(op, op.getOutputMap(output)));
}

/// Types of the region's arguments: per accumulator, then per input, one value
/// a point of the u dims. Null types where an element type cannot be a factor.
static SmallVector<Type> getRegionArgumentTypes(const TileOpSpec &spec) {
  SmallVector<Value> operands;
  for (ArrayRef<Value> group :
       {ArrayRef<Value>(spec.lhs), ArrayRef<Value>(spec.rhs),
        ArrayRef<Value>(spec.inputs), ArrayRef<Value>(spec.outputs)})
    llvm::append_range(operands, group);
  SmallVector<int64_t> extents =
      getExtents(spec.getNumDomainDims(), operands, spec.maps);
  SmallVector<Type> types;
  unsigned product = 0, numProducts = spec.lhs.size();
  for (int32_t size : spec.accSizes) {
    Type type = getAccumulatorType(getElementTypeOrSelf(spec.lhs[product]));
    types.append(
        getUnroll(spec.dims, extents, spec.maps[numProducts + product]), type);
    product += size;
  }
  for (auto [i, input] : llvm::enumerate(spec.inputs))
    types.append(getUnroll(spec.dims, extents, spec.maps[2 * numProducts + i]),
                 getElementTypeOrSelf(input));
  return types;
}

static void buildTileOp(OpBuilder &b, OperationState &state,
                        const TileOpSpec &spec) {
  state.addOperands(spec.lhs);
  state.addOperands(spec.rhs);
  state.addOperands(spec.inputs);
  state.addOperands(spec.outputs);
  for (Value output : spec.outputs)
    if (isa<RankedTensorType>(output.getType()))
      state.addTypes(output.getType());
  auto segments = {static_cast<int32_t>(spec.lhs.size()),
                   static_cast<int32_t>(spec.rhs.size()),
                   static_cast<int32_t>(spec.inputs.size()),
                   static_cast<int32_t>(spec.outputs.size())};
  state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  state.addAttribute("indexing_maps", b.getAffineMapArrayAttr(spec.maps));
  state.addAttribute("dims", b.getDenseI32ArrayAttr(spec.dims));
  state.addAttribute("acc_sizes", b.getDenseI32ArrayAttr(spec.accSizes));
  state.addAttribute("combiners", b.getArrayAttr(spec.combiners));
  state.addAttribute("fresh", b.getDenseBoolArrayAttr(spec.fresh));
  state.addAttribute("load_combiners", b.getArrayAttr(spec.loadCombiners));
  Block &body = state.addRegion()->emplaceBlock();
  for (Type type : getRegionArgumentTypes(spec))
    body.addArgument(type, state.location);
}

void GemmOp::build(OpBuilder &b, OperationState &state,
                   const TileOpSpec &spec) {
  buildTileOp(b, state, spec);
}
void MapOp::build(OpBuilder &b, OperationState &state,
                  const TileOpSpec &spec) {
  buildTileOp(b, state, spec);
}

TileOpInterface coda::createTileOp(OpBuilder &b, Location loc,
                                   const TileOpSpec &spec) {
  if (spec.accSizes.empty())
    return cast<TileOpInterface>(MapOp::create(b, loc, spec).getOperation());
  return cast<TileOpInterface>(GemmOp::create(b, loc, spec).getOperation());
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {
/// Checks the constraints c1 to c16; the labels stand in the diagnostics and
/// name the tests.
class TileOpVerifier {
public:
  explicit TileOpVerifier(TileOpInterface op)
      : op(op), numProducts(op.getNumProducts()) {}

  LogicalResult verify() {
    return failure(failed(verifySegments()) || failed(verifyMaps()) ||
                   failed(verifyGroups()) || failed(verifyProducts()) || failed(verifyLoads()) ||
                   failed(verifyOutputs()) || failed(verifyRegionTypes()) ||
                   failed(verifyRegionOps()));
  }

private:
  LogicalResult verifySegments();
  LogicalResult verifyMaps();
  LogicalResult verifyGroups();
  LogicalResult verifyProducts();
  LogicalResult verifyLoads();
  LogicalResult verifyOutputs();
  LogicalResult verifyRegionTypes();
  LogicalResult verifyRegionOps();

  std::string name(unsigned dim) { return getDimName(op.getDims(), dim); }
  DimKind kind(unsigned dim) { return op.getDimKind(dim); }
  bool usesAll(const llvm::SmallBitVector &used, DimKind k) {
    for (unsigned d = 0; d < numDims; ++d)
      if (kind(d) == k && !used.test(d))
        return false;
    return true;
  }
  bool usesAny(const llvm::SmallBitVector &used, DimKind k) {
    for (unsigned d : used.set_bits())
      if (kind(d) == k)
        return true;
    return false;
  }

  TileOpInterface op;
  unsigned numDims = 0, numProducts;
  SmallVector<int64_t> extents;           // per dim of the domain
  SmallVector<llvm::SmallBitVector> used; // per operand: its dims as a whole
};
} // namespace

LogicalResult TileOpVerifier::verifySegments() {
  if (op.getDims().size() != kNumKinds ||
      llvm::any_of(op.getDims(), [](int32_t d) {
        return d < 0 || d > static_cast<int32_t>(kMaxDimsPerKind);
      }))
    return op->emitOpError("c1: 'dims' counts the b, m, n, u, k and p dims, "
                           "each 0 to ")
           << kMaxDimsPerKind;
  numDims = op.getNumDomainDims();
  extents.assign(numDims, ShapedType::kDynamic);
  if (op.getLhs().size() != op.getRhs().size())
    return op->emitOpError("c4: as many lhs as rhs factors expected, got ")
           << op.getLhs().size() << " and " << op.getRhs().size();
  int64_t sum = 0;
  for (int32_t size : op.getAccSizes()) {
    if (size < 1)
      return op->emitOpError("c8: an accumulator needs at least one product");
    sum += size;
  }
  if (sum != numProducts)
    return op->emitOpError("c8: 'acc_sizes' sums to ")
           << sum << " but there are " << numProducts << " products";
  if (isa<MapOp>(op.getOperation()) != (numProducts == 0))
    return op->emitOpError("c8: a gemm has accumulators, a map has none");
  if (op.getCombiners().size() != op.getOutputs().size() ||
      op.getFresh().size() != op.getOutputs().size())
    return op->emitOpError("c7: one combiner and one 'fresh' per output");
  if (op.getLoadCombiners().size() != op.getInputs().size())
    return op->emitOpError("c15: one load combiner per input");
  if (op.getOutputs().empty())
    return op->emitOpError("c7: at least one output expected");
  return success();
}

LogicalResult TileOpVerifier::verifyMaps() {
  if (op.getIndexingMaps().size() != op->getNumOperands())
    return op->emitOpError("c1: one index map per operand expected, got ")
           << op.getIndexingMaps().size();
  bool anyTensor = false, anyMemref = false;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    AffineMap map = op.getMap(i);
    Type operandType = op->getOperand(i).getType();
    llvm::SmallBitVector indexed(numDims);
    auto isKnown = [&](AffineExpr index) {
      std::optional<OperandIndex> of = getOperandIndex(index);
      if (!of || indexed.test(of->dim))
        return false;
      indexed.set(of->dim);
      return true;
    };
    if (map.getNumSymbols() != 0 || map.getNumDims() != numDims ||
        !llvm::all_of(map.getResults(), isKnown))
      return op->emitOpError("c1: map of operand #")
             << i << " is not a projected permutation of the " << numDims
             << " dims";
    if (!isa<RankedTensorType, MemRefType>(operandType))
      return op->emitOpError("c13: operand #")
             << i << " is a " << operandType
             << ": expected a ranked tensor or a memref";
    anyTensor |= isa<RankedTensorType>(operandType);
    anyMemref |= isa<MemRefType>(operandType);
    auto type = cast<ShapedType>(operandType);
    if (type.getRank() != map.getNumResults())
      return op->emitOpError("c2: operand #")
             << i << " has rank " << type.getRank() << " but "
             << map.getNumResults() << " indices";
    llvm::SmallBitVector &dims = used.emplace_back(numDims);
    for (auto [r, size] : llvm::enumerate(type.getShape())) {
      OperandIndex index = *getOperandIndex(map.getResult(r));
      if (index.isGroup())
        continue;
      unsigned d = index.dim;
      dims.set(d);
      if (ShapedType::isDynamic(size)) {
        if (kind(d) == DimKind::u)
          return op->emitOpError("c3: unrolled dim ")
                 << name(d) << " of operand #" << i << " must be static";
        continue;
      }
      if (!ShapedType::isDynamic(extents[d]) && extents[d] != size)
        return op->emitOpError("c3: dim ")
               << name(d) << " is " << extents[d] << " and, in operand #" << i
               << ", " << size;
      extents[d] = size;
    }
  }
  if (anyTensor && anyMemref)
    return op->emitOpError("c13: operands must be all tensors or all memrefs");
  if (op->getNumResults() != (anyTensor ? op.getOutputs().size() : 0))
    return op->emitOpError("c13: one result per output on tensors, none on "
                           "memrefs");
  for (auto [result, output] : llvm::zip(op->getResults(), op.getOutputs()))
    if (result.getType() != output.getType())
      return op->emitOpError("c13: a result has type ")
             << result.getType() << " but its output " << output.getType();
  llvm::SmallBitVector all(numDims);
  for (const llvm::SmallBitVector &dims : used)
    all |= dims;
  if (!all.all())
    return op->emitOpError("c1: dim ")
           << name(all.find_first_unset()) << " indexes no operand";
  if (!op.getNumDims(DimKind::u))
    return success();
  int64_t points = 1;
  for (unsigned d = 0; d < numDims; ++d)
    if (kind(d) == DimKind::u && llvm::MulOverflow(points, extents[d], points))
      points = std::numeric_limits<int64_t>::max();
  if (points < 2 || points > 8)
    return op->emitOpError("c3: the u dims have ")
           << points << " points: expected 2 to 8";
  return success();
}

/// Once the extents of all dims are known.
LogicalResult TileOpVerifier::verifyGroups() {
  unsigned firstOutput = op->getNumOperands() - op.getOutputs().size();
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    for (auto [r, expr] : llvm::enumerate(op.getMap(i).getResults())) {
      OperandIndex index = *getOperandIndex(expr);
      if (!index.isGroup())
        continue;
      std::string text = getIndexName(op.getDims(), expr);
      if (i < firstOutput || !op.getCombiner(i - firstOutput))
        return op->emitOpError("c16: operand #")
               << i << " has the index '" << text
               << "' but is no reduction: only these go over groups";
      if (kind(index.dim) > DimKind::n)
        return op->emitOpError("c16: output #")
               << i - firstOutput << ": '" << text
               << "' groups points of no b, m or n dim";
      int64_t extent = extents[index.dim];
      int64_t size =
          cast<ShapedType>(op->getOperand(i).getType()).getDimSize(r);
      if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(size) &&
          size != static_cast<int64_t>(llvm::divideCeil(extent, index.granule)))
        return op->emitOpError("c16: output #")
               << i - firstOutput << " has " << size << " groups '" << text
               << "' of " << extent << " points: expected "
               << llvm::divideCeil(extent, index.granule);
    }
  return success();
}

LogicalResult TileOpVerifier::verifyProducts() {
  unsigned product = 0;
  for (int32_t size : op.getAccSizes()) {
    llvm::SmallBitVector seen(numDims);
    unsigned first = product;
    for (int32_t j = 0; j < size; ++j, ++product) {
      const llvm::SmallBitVector &a = used[product];
      const llvm::SmallBitVector &b = used[numProducts + product];
      if (!usesAll(a, DimKind::b) || !usesAll(b, DimKind::b) ||
          !usesAll(a, DimKind::m) || !usesAll(b, DimKind::n) ||
          usesAny(a, DimKind::n) || usesAny(b, DimKind::m) ||
          usesAny(a, DimKind::u) || !usesAny(a, DimKind::k))
        return op->emitOpError("c4: product #")
               << product
               << ": lhs is indexed by all b and m dims and k, rhs by all b "
                  "and n dims, k and possibly u";
      for (unsigned d = 0; d < numDims; ++d) {
        if (kind(d) != DimKind::k || a.test(d) == b.test(d))
          continue;
        return op->emitOpError("c4: product #")
               << product << ": contraction dim " << name(d)
               << " indexes one factor only";
      }
      for (unsigned d : a.set_bits()) {
        if (kind(d) != DimKind::k)
          continue;
        if (seen.test(d))
          return op->emitOpError("c5: contraction dim ")
                 << name(d) << " is used by two products of one accumulator";
        seen.set(d);
      }
      Type lhsType = getElementTypeOrSelf(op.getLhs()[product]);
      Type rhsType = getElementTypeOrSelf(op.getRhs()[product]);
      Type accType = getAccumulatorType(lhsType);
      auto isFloat8 = [](Type type) {
        return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
      };
      bool alike = lhsType == rhsType || (isFloat8(lhsType) && isFloat8(rhsType));
      if (!alike || !accType ||
          accType != getAccumulatorType(
                         getElementTypeOrSelf(op.getLhs()[first])))
        return op->emitOpError("c4: product #")
               << product << ": factors of types " << lhsType << " and "
               << rhsType
               << ": expected one type, f16, bf16, f32, f64 or i8, or two 8-bit "
                  "floats, with one accumulator type";
      for (unsigned d = 0; d < numDims; ++d)
        if (kind(d) == DimKind::u &&
            b.test(d) != used[numProducts + first].test(d))
          return op->emitOpError("c8: products of one accumulator differ in "
                                 "the u dim ")
                 << name(d);
    }
  }
  for (unsigned i = 2 * numProducts; i < used.size(); ++i)
    if (usesAny(used[i], DimKind::k))
      return op->emitOpError("c6: operand #")
             << i << " is indexed by a contraction dim but is no factor";
  return success();
}

LogicalResult TileOpVerifier::verifyLoads() {
  for (unsigned i = 0; i < used.size(); ++i) {
    bool isInput =
        i >= 2 * numProducts && i < 2 * numProducts + op.getInputs().size();
    CombinerAttrInterface combiner =
        isInput ? op.getLoadCombiner(i - 2 * numProducts) : nullptr;
    if (isInput && !combiner &&
        !isa<UnitAttr>(op.getLoadCombiners()[i - 2 * numProducts]))
      return op->emitOpError("c15: operand #")
             << i << ": 'load_combiners' holds unit or combiner attributes";
    Type type = getElementTypeOrSelf(op->getOperand(i));
    if (!isa<FloatType, IntegerType, IndexType>(type))
      return op->emitOpError("c8: operand #")
             << i << " has elements of type " << type
             << ": expected floats or integers";
    if (usesAny(used[i], DimKind::p) != static_cast<bool>(combiner))
      return op->emitOpError("c15: operand #")
             << i << ": p dims index combining loads, and only them";
    if (combiner && !type.isF32() && !type.isF64())
      return op->emitOpError("c11: combining load of operand #")
             << i << " must be f32 or f64";
  }
  return success();
}

LogicalResult TileOpVerifier::verifyOutputs() {
  unsigned first = used.size() - op.getOutputs().size();
  for (unsigned o = 0; o < op.getOutputs().size(); ++o) {
    const llvm::SmallBitVector &dims = used[first + o];
    bool full = usesAll(dims, DimKind::b) && usesAll(dims, DimKind::m) &&
                usesAll(dims, DimKind::n);
    CombinerAttrInterface combiner = op.getCombiner(o);
    if (!combiner && !isa<UnitAttr>(op.getCombiners()[o]))
      return op->emitOpError("c7: output #")
             << o << ": 'combiners' holds unit or combiner attributes";
    if (!combiner && !full)
      return op->emitOpError("c7: stored output #")
             << o << " must be indexed by every b, m and n dim";
    if (combiner && full)
      return op->emitOpError("c7: reduced output #")
             << o << " must drop a b, m or n dim";
    if (op.getFresh()[o] && !combiner)
      return op->emitOpError("c7: output #") << o << ": only reductions are fresh";
    Type type = getElementTypeOrSelf(op.getOutputs()[o]);
    if (combiner && !type.isF32() && !type.isF64())
      return op->emitOpError("c11: reduction to ")
             << type << ": expected f32 or f64";
  }
  return success();
}

LogicalResult TileOpVerifier::verifyRegionTypes() {
  TileOpSpec spec(op);
  SmallVector<Type> expected = getRegionArgumentTypes(spec);
  auto report = [&](StringRef text, TypeRange types) {
    InFlightDiagnostic diag = op->emitOpError(text);
    diag << types.size() << " values (";
    llvm::interleaveComma(types, diag);
    diag << ")";
    return diag;
  };
  if (!llvm::equal(expected, op.getBody().getArgumentTypes()))
    return report("c8: the region must take ", expected);
  SmallVector<Type> yielded;
  for (unsigned o = 0; o < op.getOutputs().size(); ++o)
    yielded.append(getUnroll(op.getDims(), extents, op.getOutputMap(o)),
                   getElementTypeOrSelf(op.getOutputs()[o]));
  auto yield = dyn_cast<YieldOp>(op.getBody().front().back());
  if (!yield)
    return op->emitOpError("c9: the region must end with coda.yield");
  if (!llvm::equal(yielded, yield.getOperandTypes()))
    return report("c9: the region must yield ", yielded);
  return success();
}

LogicalResult TileOpVerifier::verifyRegionOps() {
  auto isKnown = [&](DimAttr dim) {
    return dim.getIndex() < op.getNumDims(dim.getKind());
  };
  for (Operation &inner : op.getBody().front().without_terminator()) {
    StringRef dialect = inner.getName().getDialectNamespace();
    if ((dialect != "arith" && dialect != "math" &&
         !isa<IndexOp, GroupReduceOp>(inner)) ||
        inner.getNumRegions() != 0 || !isPure(&inner))
      return inner.emitOpError(
          "c10: an epilogue region holds speculatable scalar ops of arith and "
          "math, coda.index and coda.group_reduce only");
    if (llvm::any_of(inner.getResultTypes(), llvm::IsaPred<ShapedType>))
      return inner.emitOpError("c10: an epilogue region computes scalars");
    if (auto index = dyn_cast<IndexOp>(inner)) {
      DimAttr dim = index.getDim();
      if (!isKnown(dim) || dim.getKind() > DimKind::n)
        return inner.emitOpError("c14: '")
               << stringifyDimKind(dim.getKind()) << dim.getIndex()
               << "' is not a b, m or n dim of the tile op";
    }
    if (auto group = dyn_cast<GroupReduceOp>(inner)) {
      if (!group.getValue().getType().isF32() &&
          !group.getValue().getType().isF64())
        return inner.emitOpError("c11: group reduction of ")
               << group.getValue().getType() << ": expected f32 or f64";
      if (group.getOver().empty())
        return inner.emitOpError("c12: a group is over at least one n dim");
      llvm::SmallDenseSet<Attribute> seen;
      for (DimAttr dim : group.getOver().getAsRange<DimAttr>())
        if (dim.getKind() != DimKind::n || !isKnown(dim) ||
            !seen.insert(dim).second ||
            ShapedType::isDynamic(
                extents[op.getDimPosition(DimKind::n, dim.getIndex())]))
          return inner.emitOpError("c12: groups are over different static n dims, '")
                 << stringifyDimKind(dim.getKind()) << dim.getIndex()
                 << "' is none";
    }
  }
  return success();
}

LogicalResult coda::detail::verifyTileOp(Operation *op) {
  return TileOpVerifier(cast<TileOpInterface>(op)).verify();
}

LogicalResult BundleOp::verify() {
  Block &body = getBody().front();
  DenseMap<Value, Operation *> writers; // of memrefs
  for (Operation &op : body.without_terminator()) {
    auto tile = dyn_cast<TileOpInterface>(op);
    if (!tile)
      return op.emitOpError("b1: a bundle holds tile ops only");
    for (Value output : tile.getOutputs())
      if (isa<MemRefType>(output.getType()))
        writers[output] = &op;
  }
  for (Operation &op : body.without_terminator())
    for (Value operand : op.getOperands()) {
      Operation *writer = writers.lookup(operand);
      if (operand.getParentBlock() == &body || (writer && writer != &op))
        return op.emitOpError("b2: members of a bundle must be independent");
    }
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || !llvm::equal(yield.getOperandTypes(), getResultTypes()))
    return emitOpError("b3: the yielded values must match the results");
  for (Value value : yield.getOperands())
    if (value.getParentBlock() != &body)
      return emitOpError("b3: a bundle yields what its members give");
  return success();
}

//===----------------------------------------------------------------------===//
// Effects, shapes
//===----------------------------------------------------------------------===//

static void
getTileOpEffects(TileOpInterface op,
                 SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  unsigned firstOutput = op->getNumOperands() - op.getOutputs().size();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    unsigned i = operand.getOperandNumber();
    bool isOutput = i >= firstOutput;
    bool reads = !isOutput || (op.getCombiner(i - firstOutput) &&
                               !op.getFresh()[i - firstOutput]);
    if (reads)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isOutput)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

static LogicalResult reifyTileOp(TileOpInterface op, OpBuilder &b,
                                 ReifiedRankedShapedTypeDims &shapes) {
  if (op->getNumResults() == 0)
    return success(); // on memrefs
  for (Value output : op.getOutputs())
    shapes.push_back(tensor::getMixedSizes(b, op->getLoc(), output));
  return success();
}

void GemmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  getTileOpEffects(*this, e);
}
void MapOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  getTileOpEffects(*this, e);
}
Speculation::Speculatability GemmOp::getSpeculatability() {
  return getNumResults() ? Speculation::Speculatable
                         : Speculation::NotSpeculatable;
}
Speculation::Speculatability MapOp::getSpeculatability() {
  return getNumResults() ? Speculation::Speculatable
                         : Speculation::NotSpeculatable;
}
LogicalResult
GemmOp::reifyResultShapes(OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  return reifyTileOp(*this, b, shapes);
}
LogicalResult
MapOp::reifyResultShapes(OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  return reifyTileOp(*this, b, shapes);
}
LogicalResult
BundleOp::reifyResultShapes(OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  // Destinations of members are not made within the bundle.
  for (Value value : getBody().front().getTerminator()->getOperands()) {
    auto result = cast<OpResult>(value);
    auto member = cast<TileOpInterface>(result.getOwner());
    Value output = member.getOutputs()[result.getResultNumber()];
    shapes.push_back(tensor::getMixedSizes(b, getLoc(), output));
  }
  return success();
}
