//===- IndexSpace.cpp - Indices with known ranges -----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/IndexSpace.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::coda;

AffineExpr IndexSpace::getDim(unsigned position, int64_t extent) {
  if (extent == 1)
    return getConstant(0);
  auto [it, inserted] = dims.try_emplace({position, extent}, extents.size());
  if (inserted)
    extents.push_back(extent);
  return getAffineDimExpr(it->second, context);
}

AffineExpr IndexSpace::getSymbol() {
  return getAffineSymbolExpr(numSymbols++, context);
}

AffineExpr IndexSpace::getConstant(int64_t value) const {
  return getAffineConstantExpr(value, context);
}

static void addTerm(LinearIndex &index, AffineExpr atom, int64_t coefficient) {
  for (auto &[other, sum] : index.terms)
    if (other == atom) {
      sum += coefficient;
      return;
    }
  index.terms.emplace_back(atom, coefficient);
}

static void addAll(LinearIndex &index, const LinearIndex &other,
                   int64_t factor) {
  index.constant += other.constant * factor;
  for (auto [atom, coefficient] : other.terms)
    addTerm(index, atom, coefficient * factor);
}

LinearIndex IndexSpace::decompose(AffineExpr expr) {
  LinearIndex index;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    index.constant = constant.getValue();
    return index;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add) {
    addAll(index, decompose(binary.getLHS()), 1);
    addAll(index, decompose(binary.getRHS()), 1);
    return index;
  }
  if (binary && binary.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
      addAll(index, decompose(binary.getLHS()), factor.getValue());
      return index;
    }
  addTerm(index, expr, 1);
  return index;
}

/// A total order of atoms that does not depend on addresses.
static int compare(AffineExpr lhs, AffineExpr rhs) {
  if (lhs == rhs)
    return 0;
  if (lhs.getKind() != rhs.getKind())
    return lhs.getKind() < rhs.getKind() ? -1 : 1;
  auto order = [](auto l, auto r) { return l < r ? -1 : l > r; };
  if (auto dim = dyn_cast<AffineDimExpr>(lhs))
    return order(dim.getPosition(), cast<AffineDimExpr>(rhs).getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(lhs))
    return order(symbol.getPosition(),
                 cast<AffineSymbolExpr>(rhs).getPosition());
  if (auto constant = dyn_cast<AffineConstantExpr>(lhs))
    return order(constant.getValue(), cast<AffineConstantExpr>(rhs).getValue());
  auto l = cast<AffineBinaryOpExpr>(lhs), r = cast<AffineBinaryOpExpr>(rhs);
  if (int c = compare(l.getLHS(), r.getLHS()))
    return c;
  return compare(l.getRHS(), r.getRHS());
}

/// The binary expression `atom` is, if of the kind `kind` by a constant.
static std::optional<std::pair<AffineExpr, int64_t>>
matchAtom(AffineExpr atom, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return std::nullopt;
  return std::make_pair(binary.getLHS(), constant.getValue());
}

/// Replaces `k * c * (e floordiv c) + k * (e mod c)` by `k * e`, once.
static bool recombine(LinearIndex &index) {
  for (auto [modAtom, k] : index.terms) {
    auto mod = matchAtom(modAtom, AffineExprKind::Mod);
    if (!mod)
      continue;
    for (auto [divAtom, coefficient] : index.terms) {
      auto div = matchAtom(divAtom, AffineExprKind::FloorDiv);
      if (!div || *div != *mod || coefficient != k * mod->second)
        continue;
      int64_t factor = k;
      AffineExpr whole = mod->first, first = modAtom, second = divAtom;
      llvm::erase_if(index.terms, [&](const auto &term) {
        return term.first == first || term.first == second;
      });
      addAll(index, IndexSpace::decompose(whole), factor);
      return true;
    }
  }
  return false;
}

AffineExpr IndexSpace::build(LinearIndex index) {
  while (recombine(index))
    ;
  llvm::erase_if(index.terms, [](const auto &term) { return term.second == 0; });
  llvm::sort(index.terms, [](const auto &lhs, const auto &rhs) {
    return compare(lhs.first, rhs.first) < 0;
  });
  AffineExpr expr = getConstant(index.constant);
  for (auto [atom, coefficient] : llvm::reverse(index.terms)) {
    AffineExpr term =
        coefficient == 1
            ? atom
            : getAffineBinaryOpExpr(AffineExprKind::Mul, atom,
                                    getConstant(coefficient));
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    expr = constant && constant.getValue() == 0
               ? term
               : getAffineBinaryOpExpr(AffineExprKind::Add, term, expr);
  }
  return expr;
}

AffineExpr IndexSpace::add(AffineExpr lhs, AffineExpr rhs) {
  LinearIndex index = decompose(lhs);
  addAll(index, decompose(rhs), 1);
  return build(index);
}

AffineExpr IndexSpace::mul(AffineExpr expr, int64_t factor) {
  LinearIndex index;
  addAll(index, decompose(expr), factor);
  return build(index);
}

std::pair<LinearIndex, LinearIndex> IndexSpace::split(const LinearIndex &index,
                                                      int64_t divisor) {
  LinearIndex quotient, rest;
  quotient.constant = llvm::divideFloorSigned(index.constant, divisor);
  rest.constant = index.constant - quotient.constant * divisor;
  for (auto [atom, coefficient] : index.terms) {
    if (coefficient % divisor == 0)
      quotient.terms.emplace_back(atom, coefficient / divisor);
    else
      rest.terms.emplace_back(atom, coefficient);
  }
  return {quotient, rest};
}

bool IndexSpace::isWithin(const LinearIndex &index, int64_t extent) const {
  auto [low, high] = getRange(index);
  return low && high && *low >= 0 && *high < extent;
}

AffineExpr IndexSpace::floorDiv(AffineExpr expr, int64_t divisor) {
  if (divisor == 1)
    return expr;
  auto [quotient, rest] = split(decompose(expr), divisor);
  if (isWithin(rest, divisor))
    return build(quotient);
  // (g r + c) floordiv (g d) = r floordiv d for 0 <= c < g.
  int64_t common = divisor;
  for (auto [atom, coefficient] : rest.terms)
    common = std::gcd(common, coefficient);
  if (common > 1) {
    divisor /= common;
    rest.constant /= common;
    for (auto &[atom, coefficient] : rest.terms)
      coefficient /= common;
  }
  AffineExpr inner = build(rest);
  AffineExpr divided;
  if (auto div = matchAtom(inner, AffineExprKind::FloorDiv))
    divided = floorDiv(div->first, div->second * divisor);
  else if (auto mod = matchAtom(inner, AffineExprKind::Mod);
           mod && mod->second % divisor == 0)
    divided = this->mod(floorDiv(mod->first, divisor), mod->second / divisor);
  else if (divisor == 1)
    divided = inner;
  else
    divided = getAffineBinaryOpExpr(AffineExprKind::FloorDiv, inner,
                                    getConstant(divisor));
  return add(build(quotient), divided);
}

AffineExpr IndexSpace::mod(AffineExpr expr, int64_t divisor) {
  if (divisor == 1)
    return getConstant(0);
  LinearIndex rest = split(decompose(expr), divisor).second;
  if (isWithin(rest, divisor))
    return build(rest);
  AffineExpr inner = build(rest);
  if (auto mod = matchAtom(inner, AffineExprKind::Mod);
      mod && mod->second % divisor == 0)
    return this->mod(mod->first, divisor);
  return getAffineBinaryOpExpr(AffineExprKind::Mod, inner,
                               getConstant(divisor));
}

AffineExpr IndexSpace::simplify(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
  if (!lhs || !rhs)
    return {};
  auto constant = dyn_cast<AffineConstantExpr>(rhs);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    if (constant)
      return mul(lhs, constant.getValue());
    if (auto factor = dyn_cast<AffineConstantExpr>(lhs))
      return mul(rhs, factor.getValue());
    return {};
  case AffineExprKind::FloorDiv:
    if (constant && constant.getValue() > 0)
      return floorDiv(lhs, constant.getValue());
    return {};
  case AffineExprKind::Mod:
    if (constant && constant.getValue() > 0)
      return mod(lhs, constant.getValue());
    return {};
  default:
    return {};
  }
}

AffineExpr IndexSpace::substitute(AffineExpr expr, AffineExpr dim,
                                  AffineExpr by) {
  if (!isa<AffineDimExpr>(dim))
    return expr;
  return simplify(expr.replace(dim, by));
}

IndexSpace::Range IndexSpace::getRange(const LinearIndex &index) const {
  std::optional<int64_t> low = index.constant, high = index.constant;
  auto accumulate = [](std::optional<int64_t> &sum, std::optional<int64_t> bound,
                       int64_t factor) {
    int64_t product, total;
    if (!sum || !bound || llvm::MulOverflow(*bound, factor, product) ||
        llvm::AddOverflow(*sum, product, total))
      sum = std::nullopt;
    else
      sum = total;
  };
  for (auto [atom, coefficient] : index.terms) {
    auto [atomLow, atomHigh] = getRange(atom);
    accumulate(low, coefficient > 0 ? atomLow : atomHigh, coefficient);
    accumulate(high, coefficient > 0 ? atomHigh : atomLow, coefficient);
  }
  return {low, high};
}

IndexSpace::Range IndexSpace::getRange(AffineExpr expr) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t extent = getExtent(dim);
    if (ShapedType::isDynamic(extent))
      return {0, std::nullopt};
    return {0, extent - 1};
  }
  if (isa<AffineSymbolExpr>(expr))
    return {std::nullopt, std::nullopt};
  if (auto div = matchAtom(expr, AffineExprKind::FloorDiv)) {
    auto [low, high] = getRange(div->first);
    if (low)
      low = llvm::divideFloorSigned(*low, div->second);
    if (high)
      high = llvm::divideFloorSigned(*high, div->second);
    return {low, high};
  }
  if (auto mod = matchAtom(expr, AffineExprKind::Mod))
    return {0, mod->second - 1};
  LinearIndex index = decompose(expr);
  if (index.terms.size() == 1 && index.terms.front().first == expr)
    return {std::nullopt, std::nullopt};
  return getRange(index);
}

std::optional<int64_t> IndexSpace::getLowerBound(AffineExpr expr) const {
  return getRange(expr).first;
}

std::optional<int64_t> IndexSpace::getUpperBound(AffineExpr expr) const {
  return getRange(expr).second;
}

std::optional<int64_t> IndexSpace::getConstantValue(AffineExpr expr) const {
  auto [low, high] = getRange(expr);
  if (low && high && *low == *high)
    return low;
  return std::nullopt;
}
