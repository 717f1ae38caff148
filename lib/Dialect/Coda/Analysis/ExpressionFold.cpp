//===- ExpressionFold.cpp - Scalar identities of expressions ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Construction of expressions. All folds are exact in every rounding, except
// that the sign of a NaN may differ.
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/ExpressionGraph.h"

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::coda;

static bool isCommutative(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"arith.addf", "arith.mulf", "arith.addi", "arith.muli"}, true)
      .Cases({"arith.maximumf", "arith.minimumf", "arith.maxnumf",
              "arith.minnumf"},
             true)
      .Cases({"arith.andi", "arith.ori", "arith.xori"}, true)
      .Default(false);
}

static bool isCast(StringRef name) {
  return name == "arith.extf" || name == "arith.truncf";
}

const Expr *ExpressionGraph::intern(Expr expr) {
  Key key{static_cast<int>(expr.kind), expr.type.getAsOpaquePointer(),
          expr.name, expr.attr.getAsOpaquePointer(),
          expr.value.getAsOpaquePointer(), {}, {}};
  for (const Expr *operand : expr.operands)
    std::get<5>(key).push_back(operand);
  for (AffineExpr index : expr.indices)
    std::get<6>(key).push_back(index.getAsOpaquePointer());
  auto it = interned.find(key);
  if (it != interned.end())
    return it->second;

  auto include = [&](const llvm::SmallBitVector &dims) {
    if (expr.dims.size() < dims.size())
      expr.dims.resize(dims.size());
    expr.dims |= dims;
  };
  for (const Expr *operand : expr.operands)
    include(operand->dims);
  for (AffineExpr index : expr.indices)
    index.walk([&](AffineExpr e) {
      if (auto dim = dyn_cast<AffineDimExpr>(e)) {
        if (expr.dims.size() <= dim.getPosition())
          expr.dims.resize(dim.getPosition() + 1);
        expr.dims.set(dim.getPosition());
      } else if (const Expr *symbol = getSymbolExpr(e)) {
        include(symbol->dims);
      }
    });

  expr.id = exprs.size();
  exprs.push_back(std::move(expr));
  Expr &stored = exprs.back();
  interned.emplace(std::move(key), &stored);

  stored.relaxed = &stored;
  if (stored.kind == ExprKind::Constant) {
    if (auto value = dyn_cast<FloatAttr>(stored.attr))
      if (!stored.type.isF64())
        stored.relaxed = getConstant(Float64Type::get(context),
                                     value.getValueAsDouble());
    return &stored;
  }
  if (stored.kind != ExprKind::Op)
    return &stored;
  bool quantizes =
      stored.name == "arith.truncf" && isQuantizedFloat(stored.type);
  if (isCast(stored.name) && !quantizes) {
    stored.relaxed = stored.operands.front()->relaxed;
    return &stored;
  }
  bool typed =
      isa_and_nonnull<FloatType, ComplexType>(stored.type) && !quantizes;
  SmallVector<const Expr *> operands;
  for (const Expr *operand : stored.operands)
    operands.push_back(operand->relaxed);
  if (typed || !llvm::equal(operands, stored.operands))
    stored.relaxed = getOp(stored.name, typed ? Type() : stored.type, operands,
                           stored.attr);
  return &stored;
}

const Expr *ExpressionGraph::getConstant(TypedAttr value) {
  Expr expr{};
  expr.kind = ExprKind::Constant;
  expr.type = value.getType();
  expr.attr = value;
  return intern(std::move(expr));
}

const Expr *ExpressionGraph::getConstant(Type type, double value) {
  return getConstant(FloatAttr::get(type, value));
}

const Expr *ExpressionGraph::getIndex(AffineExpr index) {
  if (auto constant = space.getConstantValue(index))
    return getConstant(
        IntegerAttr::get(IndexType::get(context), *constant));
  // A symbol stands for its expression.
  if (const Expr *expr = getSymbolExpr(index))
    return expr;
  Expr expr{};
  expr.kind = ExprKind::Index;
  expr.type = IndexType::get(context);
  expr.indices.push_back(index);
  return intern(std::move(expr));
}

const Expr *ExpressionGraph::getLeaf(ExprKind kind, Value value,
                                     ArrayRef<AffineExpr> indices) {
  Expr expr{};
  expr.kind = kind;
  expr.type = getElementTypeOrSelf(value.getType());
  expr.value = value;
  expr.indices.assign(indices.begin(), indices.end());
  return intern(std::move(expr));
}

const Expr *ExpressionGraph::convert(const Expr *expr, Type type) {
  if (expr->type == type)
    return expr;
  unsigned from = expr->type.getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to) // f16 <-> bf16
    expr = convert(expr, Float32Type::get(context));
  return getOp(from < to ? "arith.extf" : "arith.truncf", type, expr);
}

const Expr *ExpressionGraph::getSymbolExpr(AffineExpr symbol) const {
  return symbolExprs.lookup(symbol);
}

AffineExpr ExpressionGraph::toIndex(const Expr *expr) {
  if (std::optional<AffineExpr> index = asIndex(expr))
    return *index;
  // A cast of a label to an index changes nothing.
  while (expr->isOp("arith.index_cast") || expr->isOp("arith.extsi"))
    expr = expr->operands.front();
  AffineExpr &symbol = symbols[expr];
  if (!symbol) {
    symbol = space.getSymbol();
    symbolExprs[symbol] = expr;
  }
  return symbol;
}

std::optional<AffineExpr> ExpressionGraph::asIndex(const Expr *expr) const {
  if (expr->kind == ExprKind::Index)
    return expr->indices.front();
  if (expr->kind == ExprKind::Constant)
    if (auto value = dyn_cast<IntegerAttr>(expr->attr))
      if (value.getValue().getSignificantBits() <= 64)
        return space.getConstant(value.getValue().getSExtValue());
  return std::nullopt;
}

/// Arithmetic on indices that stays affine; null otherwise.
const Expr *ExpressionGraph::getAffine(StringRef name,
                                       ArrayRef<const Expr *> operands) {
  SmallVector<AffineExpr> args;
  bool varies = false;
  for (const Expr *operand : operands) {
    std::optional<AffineExpr> index = asIndex(operand);
    if (!index)
      return nullptr;
    varies |= operand->kind == ExprKind::Index;
    args.push_back(*index);
  }
  // Constants alone are left to other folds.
  if (!varies)
    return nullptr;
  if (name == "arith.index_cast" || name == "arith.index_castui" ||
      name == "arith.extsi")
    return operands.front();
  if (args.size() != 2)
    return nullptr;
  if (name == "arith.addi")
    return getIndex(space.add(args[0], args[1]));
  if (name == "arith.subi")
    return getIndex(space.add(args[0], space.mul(args[1], -1)));
  std::optional<int64_t> rhs = space.getConstantValue(args[1]);
  if (name == "arith.muli") {
    if (rhs)
      return getIndex(space.mul(args[0], *rhs));
    if (auto lhs = space.getConstantValue(args[0]))
      return getIndex(space.mul(args[1], *lhs));
    return nullptr;
  }
  std::optional<int64_t> low = space.getLowerBound(args[0]);
  if (!rhs || *rhs <= 0 || !low || *low < 0)
    return nullptr;
  if (name == "arith.divsi" || name == "arith.divui" ||
      name == "arith.floordivsi")
    return getIndex(space.floorDiv(args[0], *rhs));
  if (name == "arith.remsi" || name == "arith.remui")
    return getIndex(space.mod(args[0], *rhs));
  return nullptr;
}

/// A comparison of indices that their ranges decide; null otherwise.
const Expr *ExpressionGraph::foldCompare(ArrayRef<const Expr *> operands,
                                         Attribute predicate) {
  std::optional<AffineExpr> lhs = asIndex(operands[0]);
  std::optional<AffineExpr> rhs = asIndex(operands[1]);
  auto kind = dyn_cast_or_null<arith::CmpIPredicateAttr>(predicate);
  if (!lhs || !rhs || !kind)
    return nullptr;
  AffineExpr difference = space.add(*lhs, space.mul(*rhs, -1));
  std::optional<int64_t> low = space.getLowerBound(difference);
  std::optional<int64_t> high = space.getUpperBound(difference);
  bool zero = low && high && *low == 0 && *high == 0;
  bool positive = low && *low > 0, negative = high && *high < 0;
  std::optional<bool> known;
  auto decide = [&](bool yes, bool no) {
    if (yes || no)
      known = yes;
  };
  switch (kind.getValue()) {
  case arith::CmpIPredicate::eq:
    decide(zero, positive || negative);
    break;
  case arith::CmpIPredicate::ne:
    decide(positive || negative, zero);
    break;
  case arith::CmpIPredicate::slt:
    decide(negative, low && *low >= 0);
    break;
  case arith::CmpIPredicate::sle:
    decide(high && *high <= 0, positive);
    break;
  case arith::CmpIPredicate::sgt:
    decide(positive, high && *high <= 0);
    break;
  case arith::CmpIPredicate::sge:
    decide(low && *low >= 0, negative);
    break;
  default:
    break;
  }
  if (!known)
    return nullptr;
  return getConstant(IntegerAttr::get(IntegerType::get(context, 1), *known));
}

const Expr *ExpressionGraph::fold(StringRef name, Type type,
                                  ArrayRef<const Expr *> operands,
                                  Attribute attr) {
  auto isNeg = [](const Expr *e) { return e->isOp("arith.negf"); };
  auto inner = [](const Expr *e) { return e->operands.front(); };
  auto is = [](const Expr *e, double number) {
    auto value = dyn_cast_or_null<FloatAttr>(e->attr);
    return e->kind == ExprKind::Constant && value &&
           value.getValueAsDouble() == number;
  };
  auto negate = [&](const Expr *e) { return getOp("arith.negf", type, e); };

  if (name == "arith.subf")
    return getOp("arith.addf", type, {operands[0], negate(operands[1])});
  if (name == "arith.negf") {
    if (isNeg(operands[0]))
      return inner(operands[0]);
    if (auto value = dyn_cast_or_null<FloatAttr>(operands[0]->attr))
      return getConstant(FloatAttr::get(value.getType(), -value.getValue()));
    return nullptr;
  }
  if (name == "arith.mulf" || name == "arith.divf") {
    if (isNeg(operands[0]))
      return negate(getOp(name, type, {inner(operands[0]), operands[1]}));
    if (isNeg(operands[1]))
      return negate(getOp(name, type, {operands[0], inner(operands[1])}));
    if (is(operands[1], 1.0))
      return operands[0];
    if (is(operands[1], -1.0))
      return negate(operands[0]);
    if (name == "arith.mulf" && is(operands[0], 1.0))
      return operands[1];
    if (name == "arith.mulf" && is(operands[0], -1.0))
      return negate(operands[1]);
    return nullptr;
  }
  if (isCast(name)) {
    if (isNeg(operands[0]))
      return negate(getOp(name, type, inner(operands[0])));
    auto value = dyn_cast_or_null<FloatAttr>(operands[0]->attr);
    auto floatType = dyn_cast_or_null<FloatType>(type);
    if (!value || !floatType)
      return nullptr;
    APFloat number = value.getValue();
    bool loses;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &loses);
    return getConstant(FloatAttr::get(type, number));
  }
  if (name == "arith.sitofp" && isa_and_nonnull<FloatType>(type)) {
    if (auto value = dyn_cast_or_null<IntegerAttr>(operands[0]->attr))
      return getConstant(type,
                         static_cast<double>(value.getValue().getSExtValue()));
    return nullptr;
  }
  if (name == "math.fpowi") {
    auto power = dyn_cast_or_null<IntegerAttr>(operands[1]->attr);
    if (!power || power.getInt() < 1 || power.getInt() > 3)
      return nullptr;
    const Expr *product = operands[0];
    for (int64_t i = 1; i < power.getInt(); ++i)
      product = getOp("arith.mulf", type, {product, operands[0]});
    return product;
  }
  if (name == "arith.cmpi")
    return foldCompare(operands, attr);
  if (name == "arith.select") {
    if (operands[1] == operands[2])
      return operands[1];
    auto condition = dyn_cast_or_null<IntegerAttr>(operands[0]->attr);
    if (operands[0]->kind == ExprKind::Constant && condition)
      return condition.getValue().isZero() ? operands[2] : operands[1];
    return nullptr;
  }
  if (name.starts_with("complex.")) {
    auto isCreate = [](const Expr *e) { return e->isOp("complex.create"); };
    if (name == "complex.re" && isCreate(operands[0]))
      return operands[0]->operands[0];
    if (name == "complex.im" && isCreate(operands[0]))
      return operands[0]->operands[1];
    if (name == "complex.mul" && isCreate(operands[0]) &&
        isCreate(operands[1])) {
      auto complexType = dyn_cast_or_null<ComplexType>(type);
      Type part = complexType ? complexType.getElementType() : Type();
      auto mul = [&](unsigned l, unsigned r) {
        return getOp("arith.mulf", part,
                     {operands[0]->operands[l], operands[1]->operands[r]});
      };
      const Expr *re = getOp("arith.subf", part, {mul(0, 0), mul(1, 1)});
      const Expr *im = getOp("arith.addf", part, {mul(0, 1), mul(1, 0)});
      return getOp("complex.create", type, {re, im});
    }
    return nullptr;
  }
  return getAffine(name, operands);
}

const Expr *ExpressionGraph::getOp(StringRef name, Type type,
                                   ArrayRef<const Expr *> operands,
                                   Attribute attr) {
  if (const Expr *folded = fold(name, type, operands, attr))
    return folded;
  Expr expr{};
  expr.kind = ExprKind::Op;
  expr.type = type;
  expr.name = name;
  expr.attr = attr;
  expr.operands.assign(operands.begin(), operands.end());
  if (isCommutative(name))
    llvm::sort(expr.operands, [](const Expr *lhs, const Expr *rhs) {
      return lhs->id < rhs->id;
    });
  return intern(std::move(expr));
}
