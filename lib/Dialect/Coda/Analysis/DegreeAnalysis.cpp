//===- DegreeAnalysis.cpp - Degree of a scalar in another ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/DegreeAnalysis.h"

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {
class DegreeVisitor {
public:
  DegreeVisitor(Value base, bool throughCasts)
      : base(base), throughCasts(throughCasts) {}

  std::optional<int> visit(Value value) {
    if (value == base)
      return 1;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != base.getParentBlock())
      return 0; // another argument, or a value from outside
    auto it = known.find(value);
    if (it != known.end())
      return it->second;
    std::optional<int> degree = compute(op);
    known[value] = degree;
    return degree;
  }

private:
  std::optional<int> compute(Operation *op) {
    SmallVector<std::optional<int>> degrees;
    bool depends = false;
    for (Value operand : op->getOperands()) {
      degrees.push_back(visit(operand));
      if (!degrees.back())
        return {};
      depends |= *degrees.back() != 0;
    }
    if (!depends)
      return 0;
    using Degree = std::optional<int>;
    return llvm::TypeSwitch<Operation *, Degree>(op)
        .Case<arith::MulFOp>(
            [&](auto) -> Degree { return *degrees[0] + *degrees[1]; })
        .Case<arith::DivFOp>(
            [&](auto) -> Degree { return *degrees[0] - *degrees[1]; })
        .Case<arith::AddFOp, arith::SubFOp, arith::MaximumFOp,
              arith::MinimumFOp>([&](auto) -> Degree {
          return degrees[0] == degrees[1] ? degrees[0] : Degree();
        })
        .Case<arith::NegFOp, math::AbsFOp>([&](auto) { return degrees[0]; })
        .Case<arith::ExtFOp>([&](auto) { return degrees[0]; })
        .Case<arith::TruncFOp>([&](auto trunc) {
          // The range of eight bits has no room for another factor.
          return throughCasts && !coda::isQuantizedFloat(trunc.getType())
                     ? degrees[0]
                     : Degree();
        })
        .Case<arith::SelectOp>([&](auto) -> Degree {
          // The predicate must not change with the factor.
          return *degrees[0] == 0 && degrees[1] == degrees[2] ? degrees[1]
                                                              : Degree();
        })
        .Default([](Operation *) { return Degree(); });
  }

  Value base;
  bool throughCasts;
  DenseMap<Value, std::optional<int>> known;
};
} // namespace

std::optional<int> coda::getDegree(Value value, Value base,
                                   bool throughCasts) {
  return DegreeVisitor(base, throughCasts).visit(value);
}

SmallVector<Value> coda::getHomogeneousCut(Value base, bool throughCasts) {
  Block &block = *base.getParentBlock();
  DegreeVisitor degrees(base, throughCasts);
  // Values of degree 1 that depend on the base through such values alone. One
  // that something else reads ends the zone: it is a part of the cut, and what
  // reads it is outside.
  llvm::SmallPtrSet<Value, 16> members, ends;
  bool changed = true;
  while (changed) {
    changed = false;
    members.clear();
    members.insert(base);
    for (Operation &op : block) {
      if (op.getNumResults() != 1 || op.getResult(0) == base ||
          degrees.visit(op.getResult(0)) != 1)
        continue;
      bool inside = false, outside = false;
      for (Value operand : op.getOperands())
        if (degrees.visit(operand) == 1)
          (members.contains(operand) && !ends.contains(operand) ? inside
                                                                : outside) =
              true;
      if (inside && !outside)
        members.insert(op.getResult(0));
    }
    for (Value member : members)
      for (Operation *user : member.getUsers())
        if (user->getNumResults() != 1 ||
            !members.contains(user->getResult(0)))
          changed |= ends.insert(member).second;
  }
  if (ends.contains(base))
    return {};
  SmallVector<Value> cut;
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (members.contains(result) && ends.contains(result))
        cut.push_back(result);
  return cut;
}
