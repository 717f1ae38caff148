//===- ExpressionGraph.cpp - Tensors as scalar expressions --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/ExpressionGraph.h"

#include "coda/Dialect/Coda/Analysis/SizeOrigin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coda;

/// The evaluation of one linalg op's body at the loop indices `loops`.
struct ExpressionGraph::Scope {
  Scope(linalg::LinalgOp op, ArrayRef<AffineExpr> loops, bool readsResults)
      : op(op), loops(loops), readsResults(readsResults) {}

  linalg::LinalgOp op;
  SmallVector<AffineExpr> loops;
  /// Not in reductions: what these read of their results has no value of its
  /// own.
  bool readsResults;
  DenseMap<Value, const Expr *> values;
};

ExpressionGraph::ExpressionGraph(MLIRContext *context)
    : space(context), context(context) {}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

AffineExpr ExpressionGraph::linearize(ArrayRef<AffineExpr> indices,
                                      ArrayRef<int64_t> sizes) {
  AffineExpr sum = space.getConstant(0);
  bool first = true;
  for (auto [index, size] : llvm::zip_equal(indices, sizes)) {
    if (size == 1)
      continue;
    if (ShapedType::isDynamic(size) && !first)
      return {};
    sum = first ? index : space.add(space.mul(sum, size), index);
    first = false;
  }
  return sum;
}

bool ExpressionGraph::delinearize(AffineExpr index, ArrayRef<int64_t> sizes,
                                  SmallVectorImpl<AffineExpr> &indices) {
  SmallVector<AffineExpr> reversed;
  int64_t outer = 0;
  while (outer + 1 < static_cast<int64_t>(sizes.size()) && sizes[outer] == 1)
    ++outer;
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    if (sizes[d] == 1) {
      reversed.push_back(space.getConstant(0));
    } else if (d == outer) {
      reversed.push_back(index);
    } else {
      if (ShapedType::isDynamic(sizes[d]))
        return false;
      reversed.push_back(space.mod(index, sizes[d]));
      index = space.floorDiv(index, sizes[d]);
    }
  }
  llvm::append_range(indices, llvm::reverse(reversed));
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

const Expr *ExpressionGraph::evaluate(Value tensor,
                                      ArrayRef<AffineExpr> indices) {
  // The counts need only be large enough: the key is the list of expressions.
  constexpr unsigned many = 1 << 24;
  AffineMap key = AffineMap::get(many, many, indices, context);
  if (const Expr *known = evaluated.lookup({tensor, key}))
    return known;
  const Expr *expr = evaluateOnce(tensor, indices);
  if (!expr)
    expr = getLeaf(ExprKind::Leaf, tensor, indices);
  evaluated[{tensor, key}] = expr;
  elements[expr].push_back(
      {tensor, SmallVector<AffineExpr>(indices.begin(), indices.end())});
  return expr;
}

ArrayRef<TensorElement> ExpressionGraph::getElements(const Expr *expr) const {
  auto it = elements.find(expr);
  return it == elements.end() ? ArrayRef<TensorElement>()
                              : ArrayRef<TensorElement>(it->second);
}

const Expr *ExpressionGraph::evaluateOnce(Value tensor,
                                          ArrayRef<AffineExpr> indices) {
  Operation *def = tensor.getDefiningOp();
  if (!def)
    return nullptr;
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) && constant.isSplat())
    return getConstant(constant.getSplatValue<TypedAttr>());
  if (auto op = dyn_cast<linalg::LinalgOp>(def))
    return evaluateLinalg(op, cast<OpResult>(tensor).getResultNumber(),
                          indices);
  if (auto op = dyn_cast<tensor::CastOp>(def)) {
    if (isa<RankedTensorType>(op.getSource().getType()))
      return evaluate(op.getSource(), indices);
    return nullptr;
  }
  if (auto op = dyn_cast<tensor::CollapseShapeOp>(def)) {
    SmallVector<AffineExpr> source;
    ArrayRef<int64_t> shape = op.getSrcType().getShape();
    for (auto [index, group] :
         llvm::zip_equal(indices, op.getReassociationIndices()))
      if (!delinearize(index, shape.slice(group.front(), group.size()), source))
        return nullptr;
    return evaluate(op.getSrc(), source);
  }
  if (auto op = dyn_cast<tensor::ExpandShapeOp>(def)) {
    SmallVector<AffineExpr> source;
    ArrayRef<int64_t> shape = op.getResultType().getShape();
    for (const ReassociationIndices &group : op.getReassociationIndices()) {
      AffineExpr index = linearize(indices.slice(group.front(), group.size()),
                                   shape.slice(group.front(), group.size()));
      if (!index)
        return nullptr;
      source.push_back(index);
    }
    return evaluate(op.getSrc(), source);
  }
  if (auto op = dyn_cast<tensor::ReshapeOp>(def))
    return evaluateReshape(op, indices);
  if (auto op = dyn_cast<tensor::ExtractSliceOp>(def))
    return evaluateSlice(op, indices);
  if (auto op = dyn_cast<tensor::InsertSliceOp>(def))
    return evaluateInsert(op, indices);
  if (auto op = dyn_cast<tensor::ConcatOp>(def))
    return evaluateConcat(op, indices);
  return nullptr;
}

const Expr *ExpressionGraph::evaluateReshape(tensor::ReshapeOp op,
                                             ArrayRef<AffineExpr> indices) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!source || !result || source.getNumDynamicDims() > 1 ||
      source.getNumDynamicDims() != result.getNumDynamicDims())
    return nullptr;
  // The element counts agree, so the dynamic dims do if the static ones do:
  // what stands before and after them is reshaped on its own.
  auto findDynamic = [](RankedTensorType type) -> int64_t {
    const auto *it = llvm::find(type.getShape(), ShapedType::kDynamic);
    return std::distance(type.getShape().begin(), it);
  };
  auto count = [](ArrayRef<int64_t> sizes) {
    int64_t product = 1;
    for (int64_t size : sizes)
      product *= size;
    return product;
  };
  int64_t from = findDynamic(source), to = findDynamic(result);
  ArrayRef<int64_t> sourceShape = source.getShape();
  ArrayRef<int64_t> resultShape = result.getShape();
  SmallVector<AffineExpr> sourceIndices;
  auto reshape = [&](ArrayRef<int64_t> fromSizes, ArrayRef<int64_t> toSizes,
                     ArrayRef<AffineExpr> toIndices) {
    if (count(fromSizes) != count(toSizes))
      return false;
    AffineExpr index = linearize(toIndices, toSizes);
    return index && delinearize(index, fromSizes, sourceIndices);
  };
  if (!reshape(sourceShape.take_front(from), resultShape.take_front(to),
               indices.take_front(to)))
    return nullptr;
  if (source.getNumDynamicDims() == 1) {
    sourceIndices.push_back(indices[to]);
    if (!reshape(sourceShape.drop_front(from + 1),
                 resultShape.drop_front(to + 1), indices.drop_front(to + 1)))
      return nullptr;
  }
  return evaluate(op.getSource(), sourceIndices);
}

const Expr *ExpressionGraph::evaluateSlice(tensor::ExtractSliceOp op,
                                           ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> source;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned next = 0;
  for (auto [d, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(),
                       op.getMixedStrides())) {
    std::optional<int64_t> begin = getConstantIntValue(offset);
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!begin || !step || *step < 1)
      return nullptr;
    if (dropped.test(d)) {
      source.push_back(space.getConstant(*begin));
      continue;
    }
    // A part of unknown size would pass for the whole.
    if (!getConstantIntValue(size) &&
        (*step != 1 || !isWholeDim(op.getSource(), d, offset, size)))
      return nullptr;
    source.push_back(space.add(space.mul(indices[next++], *step),
                               space.getConstant(*begin)));
  }
  return evaluate(op.getSource(), source);
}

const Expr *ExpressionGraph::evaluateInsert(tensor::InsertSliceOp op,
                                            ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> source;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  bool inside = true;
  for (auto [d, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(),
                       op.getMixedStrides())) {
    AffineExpr index = indices[d];
    if (!isWholeDim(op.getDest(), d, offset, size)) {
      std::optional<int64_t> begin = getConstantIntValue(offset);
      std::optional<int64_t> count = getConstantIntValue(size);
      if (!begin || !count || !isConstantIntValue(stride, 1))
        return nullptr;
      std::optional<int64_t> low = space.getLowerBound(index);
      std::optional<int64_t> high = space.getUpperBound(index);
      if (!low || !high)
        return nullptr;
      if (*high < *begin || *low >= *begin + *count) {
        inside = false;
        continue;
      }
      if (*low < *begin || *high >= *begin + *count)
        return nullptr;
      index = space.add(index, space.getConstant(-*begin));
    } else if (!isConstantIntValue(stride, 1)) {
      return nullptr;
    }
    if (!dropped.test(d))
      source.push_back(index);
  }
  if (!inside)
    return evaluate(op.getDest(), indices);
  return evaluate(op.getSource(), source);
}

const Expr *ExpressionGraph::evaluateConcat(tensor::ConcatOp op,
                                            ArrayRef<AffineExpr> indices) {
  int64_t dim = op.getDim();
  std::optional<int64_t> low = space.getLowerBound(indices[dim]);
  std::optional<int64_t> high = space.getUpperBound(indices[dim]);
  if (!low || !high)
    return nullptr;
  int64_t begin = 0;
  for (Value input : op.getInputs()) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(size))
      return nullptr;
    if (*low >= begin && *high < begin + size) {
      SmallVector<AffineExpr> source(indices);
      source[dim] = space.add(indices[dim], space.getConstant(-begin));
      return evaluate(input, source);
    }
    begin += size;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Linalg bodies
//===----------------------------------------------------------------------===//

/// The value that a reducing body combines into its result `number`, and the
/// combining operation; null if it does anything else.
static std::pair<Value, Operation *> getReduced(linalg::LinalgOp op,
                                                unsigned number) {
  Value out = op.getRegionOutputArgs()[number];
  Operation *yield = op.getBlock()->getTerminator();
  Operation *combiner = yield->getOperand(number).getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBlock() ||
      combiner->getNumOperands() != 2)
    return {};
  if (!llvm::is_contained(combiner->getOperands(), out))
    return {};
  Value reduced = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
  if (reduced == out)
    return {};
  return {reduced, combiner};
}

const Expr *ExpressionGraph::evaluateLinalg(linalg::LinalgOp op,
                                            unsigned number,
                                            ArrayRef<AffineExpr> indices) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  SmallVector<AffineExpr> loops(op.getNumLoops());
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), indices)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
    else if (!isa<AffineConstantExpr>(expr))
      return nullptr;
  }
  if (op.getNumReductionLoops() != 0) {
    if (getReduced(op, number).first)
      return getLeaf(ExprKind::Reduction, op->getResult(number), indices);
    return nullptr;
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, range] : llvm::zip_equal(loops, ranges)) {
    if (loop)
      continue;
    if (range != 1)
      return nullptr;
    loop = space.getConstant(0);
  }
  Scope scope(op, loops, /*readsResults=*/true);
  return evaluateScalar(op.getBlock()->getTerminator()->getOperand(number),
                        scope);
}

const Expr *ExpressionGraph::evaluateScalar(Value value, Scope &scope) {
  if (const Expr *known = scope.values.lookup(value))
    return known;
  Block *body = scope.op.getBlock();
  const Expr *expr = nullptr;
  auto arg = dyn_cast<BlockArgument>(value);
  Operation *def = value.getDefiningOp();
  TypedAttr constant;
  if (arg && arg.getOwner() == body) {
    OpOperand *operand = scope.op.getMatchingOpOperand(arg);
    if (scope.op.isDpsInit(operand) && !scope.readsResults)
      return nullptr;
    if (!isa<RankedTensorType>(operand->get().getType())) {
      if (isa<ShapedType>(operand->get().getType()))
        return nullptr;
      expr = evaluateScalar(operand->get(), scope);
    } else {
      SmallVector<AffineExpr> indices;
      for (AffineExpr e :
           scope.op.getMatchingIndexingMap(operand).getResults()) {
        AffineExpr index = space.simplify(e.replaceDims(scope.loops));
        if (!index)
          return nullptr;
        indices.push_back(index);
      }
      expr = evaluate(operand->get(), indices);
    }
  } else if (matchPattern(value, m_Constant(&constant))) {
    expr = getConstant(constant);
  } else if (!def || def->getBlock() != body) {
    expr = getLeaf(ExprKind::Leaf, value, {});
  } else if (auto index = dyn_cast<linalg::IndexOp>(def)) {
    expr = getIndex(scope.loops[index.getDim()]);
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(def)) {
    expr = evaluateExtract(extract, scope);
  } else if (def->getNumResults() == 1 && def->getNumRegions() == 0 &&
             isPure(def)) {
    SmallVector<const Expr *> operands;
    for (Value operand : def->getOperands()) {
      const Expr *e = evaluateScalar(operand, scope);
      if (!e)
        return nullptr;
      operands.push_back(e);
    }
    // Fast-math flags license more than what is done here.
    Attribute attr = def->getAttr("predicate");
    bool hasOtherAttrs =
        llvm::any_of(def->getAttrs(), [](NamedAttribute named) {
          StringRef name = named.getName().strref();
          return name != "predicate" && name != "fastmath" &&
                 name != "overflowFlags";
        });
    if (hasOtherAttrs)
      return nullptr;
    expr = getOp(def->getName().getStringRef(), value.getType(), operands,
                 attr);
  }
  if (expr)
    scope.values[value] = expr;
  return expr;
}

const Expr *ExpressionGraph::evaluateExtract(tensor::ExtractOp op,
                                             Scope &scope) {
  SmallVector<AffineExpr> indices;
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  for (auto [d, value] : llvm::enumerate(op.getIndices())) {
    const Expr *expr = evaluateScalar(value, scope);
    if (!expr)
      return nullptr;
    AffineExpr index = toIndex(expr);
    indices.push_back(index);
    if (!type.isDynamicDim(d) || getSymbolExpr(index))
      continue;
    // A loop over a part of the tensor would pass for one over the whole.
    auto it = llvm::find(scope.loops, index);
    if (it == scope.loops.end() || !isa<AffineDimExpr>(index))
      return nullptr;
    unsigned loop = std::distance(scope.loops.begin(), it);
    auto origin = getSizeOrigin(op.getTensor(), d);
    bool whole = false;
    for (OpOperand &operand : scope.op->getOpOperands())
      for (auto [pos, e] : llvm::enumerate(
               scope.op.getMatchingIndexingMap(&operand).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(e);
            dim && dim.getPosition() == loop)
          whole |= getSizeOrigin(operand.get(), pos) == origin;
    if (whole)
      continue;
    // A position that no shape has; one dim for each that it may stand for.
    constexpr unsigned beyondShapes = 1 << 16;
    unsigned position = cast<AffineDimExpr>(index).getPosition();
    indices.back() =
        space.getDim(beyondShapes + position, ShapedType::kDynamic);
    assumedDims[indices.back()] = index;
  }
  return evaluate(op.getTensor(), indices);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

const Expr *ExpressionGraph::getReducedExpr(linalg::LinalgOp op,
                                            unsigned number,
                                            ArrayRef<AffineExpr> loops) {
  auto [reduced, combiner] = getReduced(op, number);
  if (!reduced)
    return nullptr;
  Scope scope(op, loops, /*readsResults=*/false);
  return evaluateScalar(reduced, scope);
}

const Expr *ExpressionGraph::getReducedExpr(const Expr *reduction,
                                            ArrayRef<AffineExpr> reduced) {
  if (reduction->kind != ExprKind::Reduction)
    return nullptr;
  auto op = reduction->value.getDefiningOp<linalg::LinalgOp>();
  unsigned number = cast<OpResult>(reduction->value).getResultNumber();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  SmallVector<AffineExpr> loops(op.getNumLoops());
  for (auto [expr, index] :
       llvm::zip_equal(map.getResults(), reduction->indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
  unsigned next = 0;
  for (auto [loop, kind, range] :
       llvm::zip_equal(loops, op.getIteratorTypesArray(),
                       op.getStaticLoopRanges())) {
    if (kind == utils::IteratorType::reduction) {
      if (loop || next == reduced.size())
        return nullptr;
      loop = reduced[next++];
    } else if (!loop) {
      if (range != 1)
        return nullptr;
      loop = space.getConstant(0);
    }
  }
  if (next != reduced.size())
    return nullptr;
  return getReducedExpr(op, number, loops);
}

DenseMap<Value, const Expr *>
ExpressionGraph::evaluateBody(linalg::LinalgOp op, ArrayRef<AffineExpr> loops) {
  Scope scope(op, loops, /*readsResults=*/op.getNumReductionLoops() == 0);
  for (BlockArgument arg : op.getBlock()->getArguments())
    evaluateScalar(arg, scope);
  for (Operation &inner : op.getBlock()->without_terminator())
    for (Value value : inner.getResults())
      evaluateScalar(value, scope);
  return std::move(scope.values);
}

ReductionInfo ExpressionGraph::getReductionInfo(const Expr *reduction) {
  auto op = reduction->value.getDefiningOp<linalg::LinalgOp>();
  unsigned number = cast<OpResult>(reduction->value).getResultNumber();
  ReductionInfo info;
  info.combiner = getReduced(op, number).second->getName().getStringRef();
  for (auto [kind, range] : llvm::zip_equal(op.getIteratorTypesArray(),
                                            op.getStaticLoopRanges()))
    if (kind == utils::IteratorType::reduction)
      info.extents.push_back(range);
  info.init = evaluate(op.getDpsInits()[number], reduction->indices);
  return info;
}
