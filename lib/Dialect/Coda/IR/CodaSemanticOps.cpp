//===- CodaSemanticOps.cpp - Operators of models ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// Builds a map whose domain has `numM` m dims, `numN` n dims and u dims of the
/// operands' extents; dims are given per operand as positions in the domain.
class MapBuilder {
public:
  MapBuilder(OpBuilder &b, Location loc, int numM, int numN, int numU = 0)
      : b(b), loc(loc), numDims(numM + numN + numU) {
    spec.dims[1] = numM;
    spec.dims[2] = numN;
    spec.dims[3] = numU;
  }

  MapBuilder &load(Value value, ArrayRef<unsigned> dims) {
    spec.inputs.push_back(value);
    spec.loadCombiners.push_back(b.getUnitAttr());
    inputMaps.push_back(getMap(dims));
    return *this;
  }
  MapBuilder &store(Value dest, ArrayRef<unsigned> dims) {
    return addOutput(dest, dims, b.getUnitAttr(), false);
  }
  /// A reduction that starts from the combiner's identity.
  MapBuilder &reduce(Value dest, ArrayRef<unsigned> dims, Attribute combiner) {
    return addOutput(dest, dims, combiner, true);
  }

  /// `body` gets the region's arguments and returns what to yield.
  TileOpInterface
  build(function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> body) {
    spec.maps = inputMaps;
    llvm::append_range(spec.maps, outputMaps);
    TileOpInterface op = createTileOp(b, loc, spec);
    OpBuilder::InsertionGuard guard(b);
    Block &block = op.getBody().front();
    b.setInsertionPointToEnd(&block);
    SmallVector<Value> values = body(b, block.getArguments());
    YieldOp::create(b, loc, values);
    return op;
  }

private:
  MapBuilder &addOutput(Value dest, ArrayRef<unsigned> dims, Attribute combiner,
                        bool fresh) {
    spec.outputs.push_back(dest);
    spec.combiners.push_back(combiner);
    spec.fresh.push_back(fresh);
    outputMaps.push_back(getMap(dims));
    return *this;
  }
  AffineMap getMap(ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(b.getAffineDimExpr(d));
    return AffineMap::get(numDims, 0, exprs, b.getContext());
  }

  OpBuilder &b;
  Location loc;
  unsigned numDims;
  TileOpSpec spec;
  SmallVector<AffineMap> inputMaps, outputMaps;
};
} // namespace

/// The type in which a semantic op on `operands` computes: f64 if any of them
/// is, else f32.
static FloatType getCommonComputeType(ValueRange operands) {
  FloatType type;
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand);
    if (isa<FloatType>(element) && (!type || element.isF64()))
      type = getComputeType(element);
  }
  return type;
}

static Value constant(OpBuilder &b, Location loc, Type type, double value) {
  return arith::ConstantOp::create(b, loc, FloatAttr::get(type, value));
}

/// tensor.empty with the extents of the dims `dims` of `like`.
static Value emptyLike(OpBuilder &b, Location loc, Value like,
                       ArrayRef<unsigned> dims, Type elementType) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned d : dims)
    sizes.push_back(tensor::getMixedSize(b, loc, like, d));
  return tensor::EmptyOp::create(b, loc, sizes, elementType);
}

static SmallVector<unsigned> seq(unsigned end) {
  return llvm::to_vector(llvm::seq<unsigned>(0, end));
}

static LogicalResult reifyLike(Value value, OpBuilder &b, Location loc,
                               ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(b, loc, value));
  return success();
}

//===----------------------------------------------------------------------===//
// scale
//===----------------------------------------------------------------------===//

LogicalResult ScaleOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  auto factor = cast<RankedTensorType>(getFactor().getType());
  if (value.getShape() !=
      cast<RankedTensorType>(getType()).getShape())
    return emitOpError("the result must have the shape of the value");
  if (static_cast<int64_t>(getDims().size()) != factor.getRank())
    return emitOpError("expected ")
           << factor.getRank() << " dims, one per dim of the factor";
  int64_t last = -1;
  for (auto [i, d] : llvm::enumerate(getDims())) {
    if (d <= last || d >= value.getRank())
      return emitOpError("dims must ascend and name dims of the value");
    if (failed(verifyCompatibleShape({value.getDimSize(d)},
                                     {factor.getDimSize(i)})))
      return emitOpError("dim ") << d << " of the value has extent "
                                 << value.getDimSize(d) << ", the factor's "
                                 << factor.getDimSize(i);
    last = d;
  }
  return success();
}

LogicalResult ScaleOp::reifyResultShapes(OpBuilder &b,
                                         ReifiedRankedShapedTypeDims &shapes) {
  return reifyLike(getValue(), b, getLoc(), shapes);
}

FailureOr<SmallVector<Value>> ScaleOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  auto type = cast<RankedTensorType>(getType());
  FloatType compute = getCommonComputeType(getOperands());
  unsigned rank = type.getRank();
  // Scaled dims are the m dims, in order; the others the n dims.
  SmallVector<unsigned> valueDims(rank), factorDims = seq(getDims().size());
  unsigned next = getDims().size();
  for (unsigned d = 0; d < rank; ++d) {
    const auto *it = llvm::find(getDims(), static_cast<int64_t>(d));
    valueDims[d] =
        it == getDims().end() ? next++ : std::distance(getDims().begin(), it);
  }
  Value init = emptyLike(b, loc, getValue(), seq(rank), type.getElementType());
  TileOpInterface op =
      MapBuilder(b, loc, getDims().size(), rank - getDims().size())
          .load(getValue(), valueDims)
          .load(getFactor(), factorDims)
          .store(init, valueDims)
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            Value product = arith::MulFOp::create(
                b, loc, convertFloat(b, loc, args[0], compute),
                convertFloat(b, loc, args[1], compute));
            return {convertFloat(b, loc, product, type.getElementType())};
          });
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  if (x.getShape() != cast<RankedTensorType>(getType()).getShape())
    return emitOpError("the result must have the shape of x");
  if (x.getRank() < 1 || x.isDynamicDim(x.getRank() - 1))
    return emitOpError("the last dim of x must be there and static");
  if (!getWeight())
    return success();
  auto weight = cast<RankedTensorType>(getWeight().getType());
  if (weight.getRank() != 1 || weight.getDimSize(0) != x.getShape().back())
    return emitOpError("expected a weight of shape [")
           << x.getShape().back() << "]";
  return success();
}

LogicalResult
RmsNormOp::reifyResultShapes(OpBuilder &b,
                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyLike(getX(), b, getLoc(), shapes);
}

/// Sums of squares of the rows of `x`.
static Value buildSquareSums(OpBuilder &b, Location loc, Value x,
                             FloatType compute) {
  unsigned rank = cast<RankedTensorType>(x.getType()).getRank();
  SmallVector<unsigned> rows = seq(rank - 1);
  TileOpInterface op =
      MapBuilder(b, loc, rank - 1, 1)
          .load(x, seq(rank))
          .reduce(emptyLike(b, loc, x, rows, compute), rows,
                  AddAttr::get(b.getContext()))
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            Value v = convertFloat(b, loc, args[0], compute);
            return {arith::MulFOp::create(b, loc, v, v).getResult()};
          });
  return op->getResult(0);
}

/// rsqrt(sum / N + eps)
static Value buildRsqrt(OpBuilder &b, RmsNormOp op, Value sum) {
  Location loc = op.getLoc();
  Type compute = sum.getType();
  int64_t extent =
      cast<RankedTensorType>(op.getX().getType()).getShape().back();
  Value mean = arith::DivFOp::create(b, loc, sum,
                                     constant(b, loc, compute, extent));
  Value eps = constant(b, loc, compute, op.getEps().convertToDouble());
  return math::RsqrtOp::create(
      b, loc, arith::AddFOp::create(b, loc, mean, eps).getResult());
}

/// weight + offset in the computation type.
static Value buildWeight(OpBuilder &b, RmsNormOp op, Value weight,
                         Type compute) {
  Location loc = op.getLoc();
  Value w = convertFloat(b, loc, weight, compute);
  if (op.getOffset().isZero())
    return w;
  return arith::AddFOp::create(
      b, loc, w, constant(b, loc, compute, op.getOffset().convertToDouble()));
}

Value coda::buildRmsNormFactor(OpBuilder &b, RmsNormOp op) {
  Location loc = op.getLoc();
  FloatType compute = getCommonComputeType(op->getOperands());
  unsigned numRows = cast<RankedTensorType>(op.getType()).getRank() - 1;
  SmallVector<unsigned> rows = seq(numRows);
  Value sums = buildSquareSums(b, loc, op.getX(), compute);
  TileOpInterface factor =
      MapBuilder(b, loc, numRows, 0)
          .load(sums, rows)
          .store(emptyLike(b, loc, op.getX(), rows, compute), rows)
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            return {buildRsqrt(b, op, args[0])};
          });
  return factor->getResult(0);
}

Value coda::buildRmsNormWeighted(OpBuilder &b, RmsNormOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  if (!op.getWeight() && op.getX().getType() == type)
    return op.getX();
  FloatType compute = getCommonComputeType(op->getOperands());
  unsigned rank = type.getRank();
  MapBuilder map(b, loc, rank - 1, 1);
  map.load(op.getX(), seq(rank));
  if (op.getWeight())
    map.load(op.getWeight(), {rank - 1});
  map.store(emptyLike(b, loc, op.getX(), seq(rank), type.getElementType()),
            seq(rank));
  TileOpInterface weighted =
      map.build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        Value y = convertFloat(b, loc, args[0], compute);
        if (op.getWeight())
          y = arith::MulFOp::create(b, loc, y,
                                    buildWeight(b, op, args[1], compute));
        return {convertFloat(b, loc, y, type.getElementType())};
      });
  return weighted->getResult(0);
}

FailureOr<SmallVector<Value>> RmsNormOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  auto type = cast<RankedTensorType>(getType());
  FloatType compute = getCommonComputeType(getOperands());
  unsigned rank = type.getRank();
  Value sums = buildSquareSums(b, loc, getX(), compute);
  MapBuilder map(b, loc, rank - 1, 1);
  map.load(getX(), seq(rank)).load(sums, seq(rank - 1));
  if (getWeight())
    map.load(getWeight(), {rank - 1});
  map.store(emptyLike(b, loc, getX(), seq(rank), type.getElementType()),
            seq(rank));
  TileOpInterface normalised =
      map.build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        Value y =
            arith::MulFOp::create(b, loc, convertFloat(b, loc, args[0], compute),
                                  buildRsqrt(b, *this, args[1]));
        if (getWeight())
          y = arith::MulFOp::create(b, loc, y,
                                    buildWeight(b, *this, args[2], compute));
        return {convertFloat(b, loc, y, type.getElementType())};
      });
  return SmallVector<Value>(normalised->getResults());
}

//===----------------------------------------------------------------------===//
// glu
//===----------------------------------------------------------------------===//

LogicalResult GluOp::verify() {
  if (cast<RankedTensorType>(getType()).getShape() !=
      cast<RankedTensorType>(getGate().getType()).getShape())
    return emitOpError("the result must have the shape of the gate");
  if (getTanhScale() && getKind() != GluKind::gelu_tanh)
    return emitOpError("'tanh_scale' belongs to gelu_tanh");
  return success();
}

LogicalResult GluOp::reifyResultShapes(OpBuilder &b,
                                       ReifiedRankedShapedTypeDims &shapes) {
  return reifyLike(getGate(), b, getLoc(), shapes);
}

/// The activation of `x` as `kind` says.
static Value activate(OpBuilder &b, Location loc, GluKind kind, Value x,
                      double tanhScale) {
  Type type = x.getType();
  auto number = [&](double v) { return constant(b, loc, type, v); };
  auto mul = [&](Value l, Value r) -> Value {
    return arith::MulFOp::create(b, loc, l, r);
  };
  auto add = [&](Value l, Value r) -> Value {
    return arith::AddFOp::create(b, loc, l, r);
  };
  switch (kind) {
  case GluKind::silu:
  case GluKind::sigmoid: {
    Value e = math::ExpOp::create(b, loc,
                                  arith::NegFOp::create(b, loc, x).getResult());
    Value numerator = kind == GluKind::silu ? x : number(1.0);
    return arith::DivFOp::create(b, loc, numerator, add(e, number(1.0)));
  }
  case GluKind::gelu_tanh: {
    Value cubic = mul(mul(mul(x, x), x), number(0.044715));
    Value inner = mul(add(x, cubic), number(tanhScale));
    Value t = math::TanhOp::create(b, loc, inner);
    return mul(mul(x, number(0.5)), add(t, number(1.0)));
  }
  case GluKind::gelu_erf: {
    Value e = math::ErfOp::create(b, loc, mul(x, number(M_SQRT1_2)));
    return mul(mul(x, number(0.5)), add(e, number(1.0)));
  }
  case GluKind::relu:
    return arith::MaximumFOp::create(b, loc, x, number(0.0));
  }
  llvm_unreachable("all kinds handled");
}

FailureOr<SmallVector<Value>> GluOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  auto type = cast<RankedTensorType>(getType());
  FloatType compute = getCommonComputeType(getOperands());
  unsigned rank = type.getRank();
  SmallVector<unsigned> all = seq(rank);
  double tanhScale = getTanhScale() ? getTanhScale()->convertToDouble()
                                    : std::sqrt(2.0 / M_PI);
  TileOpInterface op =
      MapBuilder(b, loc, rank ? rank - 1 : 0, rank ? 1 : 0)
          .load(getGate(), all)
          .load(getUp(), all)
          .store(emptyLike(b, loc, getGate(), all, type.getElementType()), all)
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            Value gate = convertFloat(b, loc, args[0], compute);
            Value up = convertFloat(b, loc, args[1], compute);
            Value y = arith::MulFOp::create(
                b, loc, activate(b, loc, getKind(), gate, tanhScale), up);
            return {convertFloat(b, loc, y, type.getElementType())};
          });
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto table = cast<RankedTensorType>(getCos().getType());
  if (x.getShape() != cast<RankedTensorType>(getType()).getShape())
    return emitOpError("the result must have the shape of x");
  if (table.getShape() !=
      cast<RankedTensorType>(getSin().getType()).getShape())
    return emitOpError("cos and sin must have one shape");
  int64_t rank = x.getRank();
  if (rank < 1 || x.isDynamicDim(rank - 1) || x.getShape().back() % 2 != 0)
    return emitOpError("the last dim of x must be static and even");
  if (table.getRank() < 1)
    return emitOpError("the tables must have a last dim, of elements or pairs");
  int64_t width = table.getShape().back();
  if (width != x.getShape().back() && 2 * width != x.getShape().back())
    return emitOpError("the last dim of the tables must be ")
           << x.getShape().back() << " or " << x.getShape().back() / 2;
  if (static_cast<int64_t>(getTableDims().size()) != table.getRank() - 1)
    return emitOpError("expected ")
           << table.getRank() - 1
           << " 'table_dims', one per dim of the tables but the last";
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [i, d] : llvm::enumerate(getTableDims())) {
    if (d < 0 || d >= rank - 1 || !seen.insert(d).second)
      return emitOpError("'table_dims' must name different dims of x but the "
                         "last");
    if (failed(verifyCompatibleShape({x.getDimSize(d)}, {table.getDimSize(i)})))
      return emitOpError("dim ") << i << " of the tables has extent "
                                 << table.getDimSize(i) << ", that of x "
                                 << x.getDimSize(d);
  }
  return success();
}

LogicalResult RopeOp::reifyResultShapes(OpBuilder &b,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyLike(getX(), b, getLoc(), shapes);
}

/// Splits the last dim D into (2, D/2) or (D/2, 2), whichever makes the pair a
/// dim of its own.
static Value splitPairs(OpBuilder &b, Location loc, Value value,
                        RopeLayout layout) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  int64_t half = type.getShape().back() / 2;
  if (layout == RopeLayout::half)
    shape.append({2, half});
  else
    shape.append({half, 2});
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < type.getRank() - 1; ++d)
    groups.push_back({d});
  groups.push_back({type.getRank() - 1, type.getRank()});
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), value,
      groups);
}

FailureOr<SmallVector<Value>> RopeOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  auto type = cast<RankedTensorType>(getType());
  FloatType compute = getCommonComputeType(getOperands());
  unsigned rank = type.getRank(), numM = rank - 1;
  // Domain: the leading dims as m, the pair's number as n, the element as u.
  unsigned n = numM, u = numM + 1;
  auto withPair = [&](ArrayRef<unsigned> leading) {
    SmallVector<unsigned> dims(leading);
    if (getLayout() == RopeLayout::half)
      dims.append({u, n});
    else
      dims.append({n, u});
    return dims;
  };
  SmallVector<unsigned> xDims = withPair(seq(numM));
  bool perElement = cast<RankedTensorType>(getCos().getType())
                        .getShape()
                        .back() == type.getShape().back();
  SmallVector<unsigned> tableDims(getTableDims());
  if (perElement)
    tableDims = withPair(tableDims);
  else
    tableDims.push_back(n);
  auto table = [&](Value value) {
    return perElement ? splitPairs(b, loc, value, getLayout()) : value;
  };

  Value x = splitPairs(b, loc, getX(), getLayout());
  Value init = emptyLike(b, loc, x, seq(rank + 1), type.getElementType());
  TileOpInterface op =
      MapBuilder(b, loc, numM, 1, 1)
          .load(x, xDims)
          .load(table(getCos()), tableDims)
          .load(table(getSin()), tableDims)
          .store(init, xDims)
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            SmallVector<Value> v;
            for (Value arg : args)
              v.push_back(convertFloat(b, loc, arg, compute));
            Value x0 = v[0], x1 = v[1];
            Value c0 = v[2], c1 = perElement ? v[3] : v[2];
            Value s0 = perElement ? v[4] : v[3], s1 = perElement ? v[5] : v[3];
            auto mul = [&](Value l, Value r) -> Value {
              return arith::MulFOp::create(b, loc, l, r);
            };
            auto add = [&](Value l, Value r, bool negated) -> Value {
              if (negated)
                return arith::SubFOp::create(b, loc, l, r);
              return arith::AddFOp::create(b, loc, l, r);
            };
            bool back = getTransposed();
            Value y0 = add(mul(x0, c0), mul(x1, back ? s1 : s0), !back);
            Value y1 = add(mul(x1, c1), mul(x0, back ? s0 : s1), back);
            return {convertFloat(b, loc, y0, type.getElementType()),
                    convertFloat(b, loc, y1, type.getElementType())};
          });
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < numM; ++d)
    groups.push_back({d});
  groups.push_back({numM, numM + 1});
  Value result = tensor::CollapseShapeOp::create(b, loc, type,
                                                 op->getResult(0), groups);
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// cross_entropy
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::verify() {
  auto logits = cast<RankedTensorType>(getLogits().getType());
  auto targets = cast<RankedTensorType>(getTargets().getType());
  if (logits.getRank() != 2 || targets.getRank() != 1)
    return emitOpError("expected logits [M, V] and targets [M]");
  Type compute = getComputeType(logits.getElementType());
  for (Value result : getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() != 1 || type.getElementType() != compute)
      return emitOpError("expected results of shape [M] and type ") << compute;
    if (type.getDimSize(0) != logits.getDimSize(0))
      return emitOpError("the results must have the rows of the logits");
  }
  if (failed(verifyCompatibleShape({logits.getDimSize(0)},
                                   targets.getShape())))
    return emitOpError("the targets must have the rows of the logits");
  if (targets.getElementType().isInteger(32) &&
      !llvm::isInt<32>(static_cast<int64_t>(getIgnoreIndex())))
    return emitOpError("ignore_index ")
           << static_cast<int64_t>(getIgnoreIndex())
           << " does not fit the targets' type " << targets.getElementType();
  return success();
}

LogicalResult
CrossEntropyOp::reifyResultShapes(OpBuilder &b,
                                  ReifiedRankedShapedTypeDims &shapes) {
  OpFoldResult rows = tensor::getMixedSize(b, getLoc(), getLogits(), 0);
  shapes.assign(2, {rows});
  return success();
}

FailureOr<SmallVector<Value>>
CrossEntropyOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  Type elementType =
      cast<RankedTensorType>(getLogits().getType()).getElementType();
  Type compute = getComputeType(elementType);
  auto rows = [&] { return emptyLike(b, loc, getLogits(), {0}, compute); };
  TileOpInterface statistics =
      MapBuilder(b, loc, 1, 1)
          .load(getLogits(), {0, 1})
          .load(getTargets(), {0})
          .reduce(rows(), {0}, LogAddExpAttr::get(getContext()))
          .reduce(rows(), {0}, AddAttr::get(getContext()))
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            Value z = convertFloat(b, loc, args[0], compute);
            Value column = IndexOp::create(
                b, loc, DimAttr::get(getContext(), DimKind::n, 0));
            Value target = arith::IndexCastOp::create(
                b, loc, b.getIndexType(), args[1]);
            Value hit = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::eq, column, target);
            Value picked = arith::SelectOp::create(
                b, loc, hit, z, constant(b, loc, compute, 0.0));
            return {z, picked};
          });
  Value lse = statistics->getResult(0);
  TileOpInterface loss =
      MapBuilder(b, loc, 1, 0)
          .load(lse, {0})
          .load(statistics->getResult(1), {0})
          .load(getTargets(), {0})
          .store(rows(), {0})
          .build([&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            Value ignore = arith::ConstantOp::create(
                b, loc,
                b.getIntegerAttr(args[2].getType(), getIgnoreIndex()));
            Value ignored = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::eq, args[2], ignore);
            Value diff = arith::SubFOp::create(b, loc, args[0], args[1]);
            return {arith::SelectOp::create(b, loc, ignored,
                                            constant(b, loc, compute, 0.0),
                                            diff)
                        .getResult()};
          });
  return SmallVector<Value>{loss->getResult(0), lse};
}
