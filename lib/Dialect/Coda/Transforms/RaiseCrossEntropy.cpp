//===- RaiseCrossEntropy.cpp - Matcher of coda.cross_entropy ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// select(t != ignore, m + log(sum(exp(z - m))) - z[t], 0) for any m.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::coda;

namespace {
class CrossEntropyMatcher {
public:
  CrossEntropyMatcher(RaiseContext &context, OpBuilder &b, Operation *user,
                      AffineExpr row, int64_t rows)
      : context(context), graph(context.graph), b(b), user(user), row(row),
        rows(rows) {}

  /// The loss of every row, if `expr` is that of one; else null.
  Value match(const Expr *expr, std::optional<RaiseRefusal> &refusal);

private:
  /// `expr` as a loss with 0 where the target is to be ignored.
  const Expr *takeIgnored(const Expr *expr);
  /// The label that an index is made of: what only keeps it in range is
  /// dropped, as the op takes any label.
  const Expr *getLabel(const Expr *index, int64_t classes);

  RaiseContext &context;
  ExpressionGraph &graph;
  OpBuilder &b;
  Operation *user;
  AffineExpr row;
  int64_t rows;

  const Expr *comparedLabel = nullptr;
  int64_t ignoreIndex = 0;
};
} // namespace

static std::optional<int64_t> getIntConstant(const Expr *expr) {
  if (expr->kind == ExprKind::Constant)
    if (auto value = dyn_cast<IntegerAttr>(expr->attr))
      return value.getValue().getSExtValue();
  return std::nullopt;
}

static const Expr *stripIndexCasts(const Expr *expr) {
  while (expr->isOp("arith.index_cast") || expr->isOp("arith.extsi"))
    expr = expr->operands.front();
  return expr;
}

/// `value <predicate> constant`: the value and the constant.
static std::optional<std::pair<const Expr *, int64_t>>
matchCompare(const Expr *expr, arith::CmpIPredicate predicate) {
  auto attr = dyn_cast_or_null<arith::CmpIPredicateAttr>(expr->attr);
  if (!expr->isOp("arith.cmpi") || !attr || attr.getValue() != predicate)
    return std::nullopt;
  auto constant = getIntConstant(expr->operands[1]);
  if (!constant)
    return std::nullopt;
  return std::make_pair(stripIndexCasts(expr->operands[0]), *constant);
}

const Expr *CrossEntropyMatcher::takeIgnored(const Expr *expr) {
  const Expr *e = stripCasts(expr);
  bool negated = e->isOp("arith.negf");
  if (negated)
    e = stripCasts(e->operands[0]);
  if (!e->isOp("arith.select"))
    return expr;
  for (bool kept : {true, false}) {
    const Expr *value = e->operands[kept ? 1 : 2];
    if (getFloatConstant(e->operands[kept ? 2 : 1]) != 0.0)
      continue;
    auto compare =
        matchCompare(e->operands[0], kept ? arith::CmpIPredicate::ne
                                          : arith::CmpIPredicate::eq);
    if (!compare)
      continue;
    comparedLabel = compare->first;
    ignoreIndex = compare->second;
    return negated ? graph.getOp("arith.negf", value->type, value) : value;
  }
  return expr;
}

const Expr *CrossEntropyMatcher::getLabel(const Expr *index, int64_t classes) {
  while (true) {
    index = stripIndexCasts(index);
    auto clamps = [&](StringRef op, int64_t bound) -> const Expr * {
      if (!index->isOp(op))
        return nullptr;
      for (unsigned i = 0; i < 2; ++i)
        if (getIntConstant(index->operands[i]) == bound)
          return index->operands[1 - i];
      return nullptr;
    };
    if (const Expr *inner = clamps("arith.maxsi", 0)) {
      index = inner;
      continue;
    }
    if (const Expr *inner = clamps("arith.minsi", classes - 1)) {
      index = inner;
      continue;
    }
    if (!index->isOp("arith.select"))
      return index;
    // t < 0 ? t + V : t
    const Expr *other = stripIndexCasts(index->operands[2]);
    if (auto negative =
            matchCompare(index->operands[0], arith::CmpIPredicate::slt);
        negative && negative->second == 0 && negative->first == other) {
      index = other;
      continue;
    }
    // t != ignored ? t : any class
    const Expr *taken = stripIndexCasts(index->operands[1]);
    auto compare =
        matchCompare(index->operands[0], arith::CmpIPredicate::ne);
    if (!compare) {
      compare = matchCompare(index->operands[0], arith::CmpIPredicate::eq);
      taken = other;
    }
    if (!compare || !comparedLabel || compare->second != ignoreIndex ||
        compare->first != taken)
      return index;
    index = taken;
  }
}

/// NaN for labels out of range is the front end's policy: what is selected
/// otherwise.
static const Expr *stripNaN(const Expr *expr) {
  const Expr *e = stripCasts(expr);
  if (!e->isOp("arith.select"))
    return expr;
  for (unsigned i : {1u, 2u})
    if (auto number = getFloatConstant(e->operands[i]);
        number && std::isnan(*number))
      return e->operands[3 - i];
  return expr;
}

/// The symbols in the indices of the leaves of `expr`.
static void collectSymbols(const Expr *expr,
                           llvm::SmallSetVector<AffineExpr, 2> &symbols) {
  for (AffineExpr index : expr->indices)
    index.walk([&](AffineExpr e) {
      if (isa<AffineSymbolExpr>(e))
        symbols.insert(e);
    });
  for (const Expr *operand : expr->operands)
    collectSymbols(operand, symbols);
}

Value CrossEntropyMatcher::match(const Expr *expr,
                                 std::optional<RaiseRefusal> &refusal) {
  const Expr *loss = takeIgnored(expr);
  Sum sum = flattenSum(loss);
  if (sum.constant != 0.0 || sum.terms.size() < 2)
    return {};

  // log(sum(exp(z - m)))
  std::optional<SumOfExponentials> total;
  for (auto *it = sum.terms.begin(); it != sum.terms.end() && !total; ++it) {
    const Expr *e = stripCasts(it->second);
    if (it->first || !e->isOp("math.log"))
      continue;
    total = matchSumOfExponentials(context, e->operands[0], row);
    if (total) {
      sum.terms.erase(it);
      break;
    }
  }
  if (!total || !removeTerms(sum.terms, total->shift, /*flip=*/true) ||
      sum.terms.empty())
    return {};
  const Expr *exponent = total->exponent;
  int64_t classes = total->columns;
  AffineExpr column = total->column, logitRow = total->rows.front();

  // What is left must be the logit of one class of the same row.
  llvm::SmallSetVector<AffineExpr, 2> symbols;
  for (auto &term : sum.terms) {
    term.second = stripNaN(term.second);
    collectSymbols(term.second, symbols);
  }
  if (symbols.size() != 1)
    return {};
  auto refuse = [&](FusionReason reason, StringRef detail) -> Value {
    refusal = RaiseRefusal{reason, detail, exponent};
    return {};
  };
  const Expr *logit = findAddend(exponent, total->matrix);
  Value z = logit ? context.findTensor(b, user, logit, {logitRow, column},
                                       {rows, classes})
                  : Value();
  if (!z)
    return refuse(FusionReason::NoCommonSpace,
                  "the logits are no matrix of rows and classes");
  SmallVector<std::pair<bool, const Expr *>> picked = sum.terms;
  if (!removeTerms(picked,
                   flattenSum(graph.evaluate(z, {logitRow, symbols.front()}))
                       .terms,
                   /*flip=*/true) ||
      !picked.empty())
    return refuse(FusionReason::NoCommonSpace,
                  "the logit that is subtracted is not of the same row");
  const Expr *label = getLabel(graph.getSymbolExpr(symbols.front()), classes);
  // By another label rows are chosen, not ignored.
  if (comparedLabel && label != comparedLabel)
    return {};
  Value targets = context.findTensor(b, user, label, row, rows);
  if (!targets || !(getElementTypeOrSelf(targets.getType()).isInteger(32) ||
                    getElementTypeOrSelf(targets.getType()).isInteger(64)))
    return refuse(FusionReason::NoCommonSpace,
                  "the targets are no vector of i32 or i64");
  if (context.strict)
    return refuse(FusionReason::StrictRounding,
                  "the sum of exponentials is taken in another order");
  // With nothing to ignore, a label that is in no range of classes.
  if (!comparedLabel)
    ignoreIndex = std::numeric_limits<int32_t>::min();
  if (logitRow != row) {
    Location loc = user->getLoc();
    Value same = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        tensor::DimOp::create(b, loc, z, 0).getResult(),
        tensor::DimOp::create(b, loc, targets, 0).getResult());
    cf::AssertOp::create(b, loc, same,
                         "the logits have another number of rows than the "
                         "targets");
  }
  Type compute = getComputeType(getElementTypeOrSelf(z.getType()));
  auto type = RankedTensorType::get(rows, compute);
  return CrossEntropyOp::create(b, user->getLoc(), TypeRange{type, type}, z,
                                targets, b.getI64IntegerAttr(ignoreIndex))
      .getLoss();
}

Value coda::raiseToCrossEntropy(RaiseContext &context, OpBuilder &b,
                                Operation *user, const Expr *expr,
                                AffineExpr row, int64_t rows,
                                std::optional<RaiseRefusal> &refusal) {
  return CrossEntropyMatcher(context, b, user, row, rows).match(expr, refusal);
}
