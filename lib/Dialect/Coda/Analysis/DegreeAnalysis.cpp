//===- DegreeAnalysis.cpp - Degree of a scalar in another ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/DegreeAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {
class DegreeVisitor {
public:
  DegreeVisitor(BlockArgument argument, bool throughCasts)
      : argument(argument), throughCasts(throughCasts) {}

  std::optional<int> visit(Value value) {
    if (value == argument)
      return 1;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != argument.getOwner())
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
        .Case<arith::TruncFOp>(
            [&](auto) { return throughCasts ? degrees[0] : Degree(); })
        .Case<arith::SelectOp>([&](auto) -> Degree {
          // The predicate must not change with the factor.
          return *degrees[0] == 0 && degrees[1] == degrees[2] ? degrees[1]
                                                              : Degree();
        })
        .Default([](Operation *) { return Degree(); });
  }

  BlockArgument argument;
  bool throughCasts;
  DenseMap<Value, std::optional<int>> known;
};
} // namespace

std::optional<int> coda::getDegree(Value value, BlockArgument argument,
                                   bool throughCasts) {
  return DegreeVisitor(argument, throughCasts).visit(value);
}
