//===- NormalizeSingleTermSums.cpp - Sums of one term -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Front ends without a scatter write the gradient of a pick as a matrix that is
// zero but where the column's number is the label, and sum its rows.
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

using namespace mlir;
using namespace mlir::coda;

namespace {
/// What is summed, as a value of the body of an op.
struct Term {
  linalg::GenericOp op;
  Value value;
};

/// A sum, seen at one reduced dim.
class SingleTermSum {
public:
  SingleTermSum(linalg::GenericOp sum, Term term, unsigned dim)
      : sum(sum), term(term), dim(dim) {}

  /// Finds the index at which alone the term is not zero.
  bool match();
  Value build(OpBuilder &b);

private:
  /// The other side of a comparison of the dim's index for equality, on which
  /// `condition` depends; null if there is none.
  Value findIndex(Value condition);
  /// Whether `value` is the dim's index, through integer casts that lose
  /// nothing.
  bool isDimIndex(Value value);
  /// Collects the ops of the body that compute `value`, of which none may look
  /// at the dim, but for its index if `atIndex`; false if one does.
  bool collect(Value value, bool atIndex);

  linalg::GenericOp sum;
  Term term;
  unsigned dim;
  Value index;
  llvm::SetVector<Operation *> needed;
};
} // namespace

/// The body of `op` as `out + term`: the term, looked up in the op that makes it
/// point by point where it is read only to be summed.
static std::optional<Term> getTerm(linalg::GenericOp op) {
  Block &body = *op.getBody();
  BlockArgument out = body.getArguments().back();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || !out.hasOneUse() ||
      (add.getLhs() != out && add.getRhs() != out))
    return std::nullopt;
  Value value = add.getLhs() == out ? add.getRhs() : add.getLhs();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return Term{op, value};
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  if (!producer || producer.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(&operand).isIdentity())
    return std::nullopt;
  unsigned number = cast<OpResult>(operand.get()).getResultNumber();
  if (!producer.getIndexingMapMatchingResult(cast<OpResult>(operand.get()))
           .isIdentity())
    return std::nullopt;
  return Term{producer,
              producer.getBody()->getTerminator()->getOperand(number)};
}

bool SingleTermSum::isDimIndex(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto position = dyn_cast<linalg::IndexOp>(def))
      return position.getDim() == dim;
    // Casts of an index that has its place in an i32: the extent has.
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(def) ||
        (isa<IntegerType>(value.getType()) &&
         value.getType().getIntOrFloatBitWidth() < 32))
      return false;
    value = def->getOperand(0);
  }
  return false;
}

Value SingleTermSum::findIndex(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    if (Value found = findIndex(both.getLhs()))
      return found;
    return findIndex(both.getRhs());
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return {};
  for (unsigned side : {0u, 1u})
    if (isDimIndex(compare->getOperand(side)) &&
        collect(compare->getOperand(1 - side), /*atIndex=*/false))
      return compare->getOperand(1 - side);
  return {};
}

bool SingleTermSum::collect(Value value, bool atIndex) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != term.op.getBody())
      return true;
    OpOperand &operand = term.op->getOpOperand(argument.getArgNumber());
    return term.op.isDpsInput(&operand) &&
           !term.op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim);
  }
  Operation *def = value.getDefiningOp();
  if (def->getBlock() != term.op.getBody())
    return true;
  if (auto position = dyn_cast<linalg::IndexOp>(def)) {
    if (position.getDim() == dim && !atIndex)
      return false;
  } else if (!isPure(def) && !isa<tensor::ExtractOp>(def)) {
    return false;
  }
  if (def->getNumRegions() != 0)
    return false;
  if (needed.contains(def))
    return true;
  for (Value operand : def->getOperands())
    if (!collect(operand, atIndex))
      return false;
  needed.insert(def);
  return true;
}

bool SingleTermSum::match() {
  // The index fits each integer type that is looked through.
  int64_t extent = term.op.getStaticLoopRanges()[dim];
  if (ShapedType::isDynamic(extent) || extent > (int64_t(1) << 31) - 1)
    return false;
  Value value = term.value;
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return false;
  index = findIndex(select.getCondition());
  needed.clear();
  return index && collect(term.value, /*atIndex=*/true);
}

Value SingleTermSum::build(OpBuilder &b) {
  int64_t extent = term.op.getStaticLoopRanges()[dim];
  unsigned numLoops = sum.getNumLoops();
  SmallVector<AffineExpr> newDims;
  SmallVector<utils::IteratorType> iterators;
  for (unsigned d = 0; d < numLoops; ++d) {
    newDims.push_back(b.getAffineDimExpr(d < dim ? d : d == dim ? 0 : d - 1));
    if (d != dim)
      iterators.push_back(sum.getIteratorTypesArray()[d]);
  }
  auto drop = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(newDims, {}, numLoops - 1, 0);
  };
  SmallVector<Value> inputs, args;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : term.op.getDpsInputOperands()) {
    if (term.op.getMatchingIndexingMap(operand).isFunctionOfDim(dim))
      continue;
    inputs.push_back(operand->get());
    args.push_back(term.op.getMatchingBlockArgument(operand));
    maps.push_back(drop(term.op.getMatchingIndexingMap(operand)));
  }
  OpOperand *init = sum.getDpsInitOperand(0);
  maps.push_back(drop(sum.getMatchingIndexingMap(init)));
  auto picked = linalg::GenericOp::create(
      b, sum.getLoc(), sum->getResultTypes(), inputs, init->get(), maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange newArgs) {
        IRMapping mapping;
        mapping.map(args, newArgs.drop_back());
        SmallVector<linalg::IndexOp> positions;
        for (Operation &inner : term.op.getBody()->without_terminator()) {
          auto position = dyn_cast<linalg::IndexOp>(inner);
          if (!position || !needed.contains(&inner))
            continue;
          if (position.getDim() == dim)
            positions.push_back(position);
          else
            mapping.map(position.getResult(),
                        linalg::IndexOp::create(
                            b, loc,
                            position.getDim() - (position.getDim() > dim))
                            .getResult());
        }
        // What the index needs comes first: it does not need itself.
        std::function<Value(Value)> copy = [&](Value value) -> Value {
          if (Value known = mapping.lookupOrNull(value))
            return known;
          Operation *def = value.getDefiningOp();
          if (!def || def->getBlock() != term.op.getBody())
            return value;
          for (Value operand : def->getOperands())
            copy(operand);
          return b.clone(*def, mapping)->getResult(
              cast<OpResult>(value).getResultNumber());
        };
        Value at = copy(index);
        if (!at.getType().isIndex())
          at = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
        for (linalg::IndexOp position : positions)
          mapping.map(position.getResult(), at);
        Value value = copy(term.value);
        // Unsigned: a negative index is beyond the extent, too.
        Value size = arith::ConstantIndexOp::create(b, loc, extent);
        Value within = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             at, size);
        Value zero = arith::ConstantOp::create(
            b, loc, b.getZeroAttr(value.getType()));
        value = arith::SelectOp::create(b, loc, within, value, zero);
        Value total = value;
        // Zero and the term are the term.
        auto fill = init->get().getDefiningOp<linalg::FillOp>();
        if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
            llvm::is_contained(iterators, utils::IteratorType::reduction))
          total = arith::AddFOp::create(b, loc, newArgs.back(), value);
        linalg::YieldOp::create(b, loc, total);
      });
  return picked.getResult(0);
}

namespace {
struct PickSingleTerm : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 ||
        op.getNumLoops() < 2 || !op.hasPureTensorSemantics())
      return failure();
    std::optional<Term> term = getTerm(op);
    if (!term)
      return failure();
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    for (unsigned dim : reduced) {
      SingleTermSum sum(op, *term, dim);
      if (!sum.match())
        continue;
      rewriter.replaceOp(op, sum.build(rewriter));
      return success();
    }
    return failure();
  }
};
} // namespace

void coda::populateSingleTermSumPatterns(RewritePatternSet &patterns) {
  patterns.add<PickSingleTerm>(patterns.getContext());
}
