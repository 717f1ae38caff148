//===- AbsorbLegality.cpp - Products that may be summands -----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The part of FusionLegality that looks at sums of products. A product is linear
// in the rows of its left factor, so what a sum multiplies it by may as well
// multiply these, where they are made. It is then one rounding of another value,
// as where a norm's scale moves.

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::coda;

/// The uses of what `value` becomes by steps that are linear in it, each the only
/// reader of the one before.
static SmallVector<OpOperand *> getLinearUses(Value value) {
  SmallVector<OpOperand *> uses;
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    bool isDividend = isa<arith::DivFOp>(user) && use.getOperandNumber() == 0;
    if (!isCast(user) && !isDividend &&
        !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(user))
      break;
    uses.push_back(&use);
    value = user->getResult(0);
  }
  return uses;
}

namespace {
/// What a value of a region is times in a sum.
struct Factors {
  SmallVector<RowFactor> steps;
  bool isNegative = false;
};

/// A value of a region that is added to another, each times something.
struct Summand {
  /// What the other has no equal of.
  Factors own;
  /// What of the other this one has no equal of.
  Factors others;
};
} // namespace

/// Those of the value whose linear uses are `uses` up to the addition `sum`.
static Factors getFactors(ArrayRef<OpOperand *> uses, Operation *sum) {
  Factors factors;
  for (OpOperand *use : uses) {
    Operation *user = use->getOwner();
    if (isa<arith::MulFOp, arith::DivFOp>(user))
      factors.steps.push_back({user->getOperand(1 - use->getOperandNumber()),
                               isa<arith::DivFOp>(user), user});
    else if (isa<arith::NegFOp>(user) ||
             (isa<arith::SubFOp>(user) && use->getOperandNumber() == 1))
      factors.isNegative = !factors.isNegative;
    if (user == sum)
      break;
  }
  return factors;
}

/// The input of `op` that `argument` is loaded from; none for an accumulator.
static std::optional<unsigned> getInput(TileOpInterface op,
                                        BlockArgument argument) {
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (llvm::is_contained(op.getInputArguments(i), argument))
      return i;
  return std::nullopt;
}

/// The tile op of whose region `value` is.
static TileOpInterface getOwner(Value value) {
  return cast<TileOpInterface>(value.getParentBlock()->getParentOp());
}

/// Whether `value`, of a region, is one for all columns of a row and made of
/// constants and loads, which go to `loads`.
static bool isOfRows(Value value, llvm::SetVector<BlockArgument> &loads) {
  TileOpInterface op = getOwner(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    std::optional<unsigned> input = getInput(op, argument);
    loads.insert(argument);
    return input &&
           llvm::all_of(op.getInputMap(*input).getResults(), [&](AffineExpr e) {
             DimKind kind = op.getDimKind(getOperandIndex(e)->dim);
             return kind == DimKind::b || kind == DimKind::m ||
                    kind == DimKind::p;
           });
  }
  Operation *def = value.getDefiningOp();
  return isPure(def) && !isa<IndexOp, GroupReduceOp>(def) &&
         llvm::all_of(def->getOperands(), [&](Value operand) {
           return isOfRows(operand, loads);
         });
}

/// Whether `c`, of the region of a consumer, is what `p` is in that of a producer,
/// whose dims `consumerToProducer` has, or in that of the consumer itself.
static bool isSame(Value c, Value p, ArrayRef<int> consumerToProducer) {
  TileOpInterface consumer = getOwner(c), producer = getOwner(p);
  if (consumer == producer)
    return c == p;
  auto cArgument = dyn_cast<BlockArgument>(c), pArgument = dyn_cast<BlockArgument>(p);
  if (cArgument && pArgument) {
    std::optional<unsigned> i = getInput(consumer, cArgument),
                            j = getInput(producer, pArgument);
    if (!i || !j || consumer.getInputs()[*i] != producer.getInputs()[*j] ||
        consumer.getLoadCombiners()[*i] != producer.getLoadCombiners()[*j])
      return false;
    return llvm::all_of(
        llvm::zip_equal(consumer.getInputMap(*i).getResults(),
                        producer.getInputMap(*j).getResults()),
        [&](auto exprs) {
          OperandIndex own = *getOperandIndex(std::get<0>(exprs)),
                       other = *getOperandIndex(std::get<1>(exprs));
          bool isCombined = consumer.getDimKind(own.dim) == DimKind::p &&
                            producer.getDimKind(other.dim) == DimKind::p;
          return own.granule == other.granule &&
                 (isCombined ||
                  consumerToProducer[own.dim] == static_cast<int>(other.dim));
        });
  }
  Operation *cOp = c.getDefiningOp(), *pOp = p.getDefiningOp();
  return cOp && pOp && cOp->getName() == pOp->getName() &&
         cOp->getNumRegions() == 0 && !isa<IndexOp>(cOp) &&
         c.getType() == p.getType() &&
         cOp->getAttrDictionary() == pOp->getAttrDictionary() &&
         cOp->getNumOperands() == pOp->getNumOperands() &&
         llvm::all_of(llvm::zip(cOp->getOperands(), pOp->getOperands()),
                      [&](auto operands) {
                        return isSame(std::get<0>(operands),
                                      std::get<1>(operands),
                                      consumerToProducer);
                      });
}

/// What `op`, a gemm, stores its only accumulator times, if that is all that it
/// does.
static std::optional<Factors> getStoredFactors(TileOpInterface op) {
  if (op.getAccSizes().size() != 1 || op.getOutputs().size() != 1 ||
      op.getCombiner(0) || op.getAccArguments(0).size() != 1)
    return std::nullopt;
  BlockArgument accumulator = op.getAccArguments(0).front();
  SmallVector<OpOperand *> uses = getLinearUses(accumulator);
  Value stored = uses.empty() ? Value(accumulator)
                              : uses.back()->getOwner()->getResult(0);
  if (stored != op.getYieldedValues(0).front() ||
      llvm::any_of(uses, [](OpOperand *use) {
        return isa<arith::AddFOp, arith::SubFOp>(use->getOwner());
      }))
    return std::nullopt;
  return getFactors(uses, /*sum=*/nullptr);
}

/// What `y`, which is loaded and is `stored` of an accumulator, is in a sum with
/// `x`, if that, with more summands perhaps, is all that a region makes of the two.
static std::optional<Summand> getSummand(Value x, Value y,
                                         const Factors &stored,
                                         ArrayRef<int> consumerToProducer) {
  SmallVector<OpOperand *> xUses = getLinearUses(x), yUses = getLinearUses(y);
  auto *met = llvm::find_if(yUses, [&](OpOperand *use) {
    return llvm::any_of(xUses, [&](OpOperand *other) {
      return other->getOwner() == use->getOwner();
    });
  });
  if (met == yUses.end())
    return std::nullopt;
  Operation *sum = (*met)->getOwner();
  if (!isa<arith::AddFOp, arith::SubFOp>(sum))
    return std::nullopt;
  Factors other = getFactors(xUses, sum), own = getFactors(yUses, sum);
  Summand summand{stored};
  SmallVector<RowFactor> &steps = summand.own.steps;
  llvm::append_range(steps, own.steps);
  summand.own.isNegative ^= own.isNegative ^ other.isNegative;
  for (const RowFactor &step : other.steps) {
    auto *equal = llvm::find_if(steps, [&](const RowFactor &candidate) {
      return candidate.divides == step.divides &&
             isSame(step.value, candidate.value, consumerToProducer);
    });
    if (equal == steps.end())
      summand.others.steps.push_back(step);
    else
      steps.erase(equal);
  }
  return summand;
}

/// Whether what has the factor `step` is never larger for it.
static bool isNotEnlarging(const RowFactor &step) {
  FloatAttr constant;
  if (!matchPattern(step.value, m_Constant(&constant)))
    return false;
  APFloat magnitude = abs(constant.getValue());
  APFloat one(magnitude.getSemantics(), 1);
  return step.divides ? magnitude >= one : magnitude <= one;
}

/// Whether what accumulator `accumulator` of `op` is multiplied by, `factors`, can be
/// multiplied into the left factor of its product, where that is made.
static LogicalResult canMoveFactors(TileOpInterface op, unsigned accumulator,
                                    const Factors &factors,
                                    const LegalityOptions &options,
                                    Refusal &refusal) {
  llvm::SetVector<BlockArgument> loads;
  for (const RowFactor &step : factors.steps)
    if (!isOfRows(step.value, loads))
      return refuse(refusal, FusionReason::ContractsScaledDim, op,
                    "what a product is multiplied by is not one value for all "
                    "columns of a row");
  unsigned product = 0;
  for (int32_t size : op.getAccSizes().take_front(accumulator))
    product += size;
  Value factor = op.getLhs()[product];
  Type type = getElementTypeOrSelf(factor);
  if (isQuantizedFloat(type))
    return refuse(refusal, FusionReason::F16Range, op,
                  "the left factor of a product, times what that is multiplied "
                  "by, may exceed the range of eight bits");
  if (type.isF16() && !options.allowF16Range &&
      !llvm::all_of(factors.steps, isNotEnlarging))
    return refuse(refusal, FusionReason::F16Range, op,
                  "the left factor of a product, times what that is multiplied "
                  "by, may exceed the range of f16; allow-f16-range permits it");
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  auto maker = factor.getDefiningOp<TileOpInterface>();
  if (!maker || maker->getBlock() != op->getBlock() ||
      op.getAccSizes()[accumulator] != 1)
    return refuse(refusal, FusionReason::NoCommonSpace, op,
                  "no tile op makes the left factor of the product, which its "
                  "factor could be multiplied into");
  for (BlockArgument load : loads) {
    TileOpInterface owner = getOwner(load);
    unsigned input = *getInput(owner, load);
    if (owner.getLoadCombiner(input))
      return refuse(refusal, FusionReason::ProducerPartialSum, owner,
                    "what a product is multiplied by is in parts");
    Operation *def = owner.getInputs()[input].getDefiningOp();
    if (def && (def == maker || dependsOn(def, maker, [](OpOperand &) {
                  return false;
                })))
      return refuse(refusal, FusionReason::WouldCreateCycle, maker,
                    "what a product is multiplied by is made of its left factor");
  }
  return success();
}

LogicalResult coda::planAbsorb(TileOpInterface producer, TileOpInterface consumer,
                               unsigned input, const LegalityOptions &options,
                               JoinPlan &plan, Refusal &refusal) {
  if (!consumer.getNumProducts() || !producer->getResult(0).hasOneUse() ||
      consumer.getInputArguments(input).size() != 1)
    return failure();
  std::optional<Factors> stored = getStoredFactors(producer);
  if (!stored)
    return failure();
  plan.consumerToProducer.assign(consumer.getNumDomainDims(), -1);
  AffineMap loadMap = consumer.getInputMap(input);
  for (unsigned r = 0; r < loadMap.getNumResults(); ++r) {
    unsigned c = loadMap.getDimPosition(r);
    unsigned p = producer.getOutputMap(0).getDimPosition(r);
    if (consumer.getDimKind(c) != producer.getDimKind(p))
      return failure();
    plan.consumerToProducer[c] = p;
  }
  unsigned product = 0;
  for (auto [a, size] : llvm::enumerate(consumer.getAccSizes())) {
    ArrayRef<BlockArgument> arguments = consumer.getAccArguments(a);
    // All products of an accumulator have its dims.
    bool isFull = true;
    for (unsigned d = 0; d < consumer.getNumDomainDims(); ++d)
      if (consumer.getDimKind(d) <= DimKind::n &&
          !consumer.getLhsMap(product).isFunctionOfDim(d) &&
          !consumer.getRhsMap(product).isFunctionOfDim(d))
        isFull = false;
    product += size;
    if (!isFull || arguments.size() != 1)
      continue;
    std::optional<Summand> summand = getSummand(
        arguments.front(), consumer.getInputArguments(input).front(), *stored,
        plan.consumerToProducer);
    if (!summand)
      continue;
    if (options.strict)
      return refuse(refusal, FusionReason::StrictRounding, producer,
                    "a product that is added to another would be summed with it");
    if (producer.getNumProducts() + consumer.getNumProducts() > kMaxProducts)
      return refuse(refusal, FusionReason::ResourceBound, producer,
                    "a kernel would have more than " + Twine(kMaxProducts) +
                        " products");
    bool hasFactors = !summand->own.steps.empty() || summand->own.isNegative;
    if ((hasFactors && failed(canMoveFactors(producer, 0, summand->own, options,
                                             refusal))) ||
        (!summand->others.steps.empty() &&
         failed(canMoveFactors(consumer, a, summand->others, options, refusal))))
      return failure();
    // What the consumer needs besides may come after the producer.
    unsigned operand = 2 * consumer.getNumProducts() + input;
    if (dependsOn(consumer, producer, [&](OpOperand &o) {
          return o.getOperandNumber() == operand;
        }))
      return failure();
    plan.accumulator = a;
    plan.factors = summand->own.steps;
    plan.ownFactors = summand->others.steps;
    plan.isNegated = summand->own.isNegative;
    plan.kind = JoinKind::Absorb;
    return success();
  }
  return failure();
}

