//===- RaiseBody.cpp - What a body computes on the way to its results ---===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Front ends write the parts of a loss one by one, coda-normalize merges them
// as their readers allow: where a row's logarithm of the sum stands, alone or
// in the middle of a body, says nothing. So each value of a body is looked at:
// a loss is an operand of the new body then, a softmax and its logarithm are
// made of the row's logarithm of the sum, which is one.
//
// A sum over the columns of what is linear in z - lse,
//   sum(c (z - lse))  ->  sum(c z) - lse sum(c),
// is known with z: nothing waits for lse, and no z is stored for it.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// What a new value is made of: a value of the old body, or a new operand.
struct Part {
  Value inBody;
  unsigned input = 0;
};

/// What takes the place of a value: the sum of `terms`, `constant` and the
/// row's lse, perhaps its exponential, times `coefficient` and by factors.
struct Rewrite {
  Type compute;
  SmallVector<std::pair<bool, Part>> terms; ///< (negated, term)
  std::optional<std::pair<bool, Part>> lse;
  double constant = 0.0;
  bool exponential = false;
  SmallVector<std::pair<bool, Part>> factors; ///< (divides, factor)
  double coefficient = 1.0;
};

/// How a value depends on another one.
enum class Dependence { None, Linear, Other };

class BodyRaiser {
public:
  BodyRaiser(RaiseContext &context, OpBuilder &b, linalg::GenericOp op)
      : context(context), graph(context.graph), b(b), op(op), loc(op.getLoc()),
        ranges(op.getStaticLoopRanges()) {}

  std::optional<RaisedInBody> run();

private:
  // What is found.
  void findLosses();
  void findSoftmaxes();
  bool findSoftmax(Value value);
  std::optional<Rewrite> rewrite(const RowSoftmax &softmax, const Expr *expr);
  std::optional<Part> findPart(const Expr *expr);
  Part addInput(Value tensor, AffineMap map);
  static void forEachPart(const Rewrite &rewrite,
                          function_ref<void(const Part &)> body);
  llvm::DenseSet<Value> getNeeded();

  // What is made of it.
  void replaceOp();
  bool splitSum();
  bool splitSum(Value reduced, Value logarithm);
  Dependence getDependence(Value value, Value on);
  linalg::GenericOp create(TypeRange types, ValueRange inits,
                           ArrayRef<AffineMap> initMaps,
                           ArrayRef<utils::IteratorType> iterators,
                           function_ref<void(OpBuilder &, ValueRange)> body);
  Value emit(OpBuilder &b, Value value);
  Value emit(OpBuilder &b, const Rewrite &rewrite, Type type);
  /// What `value`, linear in `on`, multiplies it with: if it is one number; as
  /// a value.
  std::optional<double> getCoefficient(Value value, Value on);
  Value emitCoefficient(OpBuilder &b, Value value, Value on, Type type);

  RaiseContext &context;
  ExpressionGraph &graph;
  OpBuilder &b;
  linalg::GenericOp op;
  Location loc;
  SmallVector<int64_t> ranges;
  SmallVector<AffineExpr> loops;
  DenseMap<Value, const Expr *> exprs;
  DenseMap<const Expr *, Value> known; ///< values of the body seen so far
  DenseMap<Value, Rewrite> rewrites;
  /// The same of operands, which only a sum that is split has a use for.
  llvm::MapVector<Value, Rewrite> argRewrites;
  /// Values whose logarithms, or quotients, are found before them.
  DenseMap<Value, llvm::SmallPtrSet<const Expr *, 2>> inSum, inProduct;
  DenseMap<const Expr *, Value> logSums;
  SmallVector<Value> inputs; ///< new operands
  SmallVector<AffineMap> maps;
  RaisedInBody found;

  /// Of the body that is being made.
  IRMapping mapping;
  DenseMap<unsigned, Value> newArgs;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is found
//===----------------------------------------------------------------------===//

void BodyRaiser::forEachPart(const Rewrite &rewrite,
                             function_ref<void(const Part &)> body) {
  for (auto &[negated, part] : rewrite.terms)
    body(part);
  if (rewrite.lse)
    body(rewrite.lse->second);
  for (auto &[divides, part] : rewrite.factors)
    body(part);
}

/// The values that the results are made of, without what rewrites do without.
llvm::DenseSet<Value> BodyRaiser::getNeeded() {
  llvm::DenseSet<Value> needed;
  SmallVector<Value> worklist(op.getBlock()->getTerminator()->getOperands());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!needed.insert(value).second)
      continue;
    if (auto it = rewrites.find(value); it != rewrites.end())
      forEachPart(it->second, [&](const Part &part) {
        if (part.inBody)
          worklist.push_back(part.inBody);
      });
    else if (Operation *def = value.getDefiningOp();
             def && def->getBlock() == op.getBlock())
      llvm::append_range(worklist, def->getOperands());
  }
  return needed;
}

Part BodyRaiser::addInput(Value tensor, AffineMap map) {
  for (auto [i, known] : llvm::enumerate(llvm::zip_equal(inputs, maps)))
    if (known == std::make_tuple(tensor, map))
      return {Value(), static_cast<unsigned>(i)};
  inputs.push_back(tensor);
  maps.push_back(map);
  return {Value(), static_cast<unsigned>(inputs.size() - 1)};
}

void BodyRaiser::findLosses() {
  if (loops.size() != 1)
    return;
  std::optional<RaiseRefusal> refusal;
  // The last value of a pattern is the whole of it: rows that are ignored, say.
  for (Operation &inner : llvm::reverse(op.getBlock()->without_terminator())) {
    llvm::DenseSet<Value> needed = getNeeded();
    for (Value value : inner.getResults()) {
      const Expr *expr = exprs.lookup(value);
      if (!expr || !needed.contains(value) || !isa<FloatType>(value.getType()))
        continue;
      std::optional<RaiseRefusal> reason;
      Value loss = raiseToCrossEntropy(context, b, op, expr, loops[0],
                                       ranges[0], reason);
      if (!refusal)
        refusal = reason;
      if (!loss)
        continue;
      Rewrite rewrite;
      rewrite.compute = getElementTypeOrSelf(loss);
      rewrite.terms.emplace_back(false,
                                 addInput(loss, b.getMultiDimIdentityMap(1)));
      rewrites[value] = rewrite;
      ++found.numCrossEntropy;
    }
  }
  if (refusal && found.numCrossEntropy == 0)
    context.refuse(op, "cross_entropy", refusal->reason, refusal->detail,
                   refusal->key);
}

std::optional<Part> BodyRaiser::findPart(const Expr *expr) {
  SmallVector<AffineExpr> target, results;
  SmallVector<int64_t> shape;
  for (auto [d, loop] : llvm::enumerate(loops))
    if (expr->dependsOn(loop)) {
      target.push_back(loop);
      results.push_back(b.getAffineDimExpr(d));
      shape.push_back(ranges[d]);
    }
  Value tensor = context.findTensor(b, op, expr, target, shape);
  if (tensor && isa<FloatType>(getElementTypeOrSelf(tensor)))
    return addInput(tensor,
                    AffineMap::get(loops.size(), 0, results, b.getContext()));
  for (const Expr *e : {expr, stripCasts(expr)})
    if (Value value = known.lookup(e))
      return Part{value, 0};
  return std::nullopt;
}

std::optional<Rewrite> BodyRaiser::rewrite(const RowSoftmax &softmax,
                                           const Expr *expr) {
  ArrayRef<AffineExpr> rows = softmax.sum.rows;
  SmallVector<AffineExpr> rowResults;
  for (AffineExpr row : rows) {
    auto *loop = llvm::find(loops, row);
    if (loop == loops.end())
      return std::nullopt;
    rowResults.push_back(b.getAffineDimExpr(std::distance(loops.begin(), loop)));
  }
  Rewrite rewrite;
  auto addTerm = [&](bool negated, const Expr *term) {
    std::optional<Part> part = findPart(term);
    if (part)
      rewrite.terms.emplace_back(negated, *part);
    return part.has_value();
  };
  const Expr *rest =
      findAddend(softmax.exponent ? softmax.exponent : expr, softmax.terms);
  if (rest ? !addTerm(false, rest)
           : !llvm::all_of(softmax.terms, [&](auto term) {
               return addTerm(term.first, term.second);
             }))
    return std::nullopt;

  // What is no value of the row alone waits for the row: worth it if a product
  // can take the row's sum along.
  bool ofRow =
      !softmax.exponent && llvm::none_of(softmax.terms, [&](auto term) {
        return llvm::any_of(loops, [&](AffineExpr loop) {
          return !llvm::is_contained(rows, loop) &&
                 term.second->dependsOn(loop);
        });
      });
  Value matrix = findMatrix(context, b, op, softmax.sum);
  if (!matrix || (!ofRow && !comesFromProduct(matrix, context.all)))
    return std::nullopt;
  auto refuse = [&](FusionReason reason, const Twine &detail) {
    context.refuse(op, "softmax", reason, detail, expr);
    return std::nullopt;
  };
  if (context.strict)
    return refuse(FusionReason::StrictRounding,
                  "the sum of exponentials is taken in another order");
  rewrite.compute = getComputeType(getElementTypeOrSelf(matrix));
  rewrite.constant = softmax.constant;
  rewrite.exponential = softmax.exponent != nullptr;
  rewrite.coefficient = softmax.coefficient;
  Value &logSum = logSums[softmax.sum.reduction];
  if (!logSum)
    logSum = createLogSum(b, loc, matrix);
  AffineMap rowMap =
      AffineMap::get(loops.size(), 0, rowResults, b.getContext());
  rewrite.lse = {softmax.isNegated, addInput(logSum, rowMap)};
  for (auto [divides, factor] : softmax.factors) {
    std::optional<Part> part = findPart(factor);
    if (!part)
      return refuse(FusionReason::NoCommonSpace,
                    "what the softmax is multiplied by is no tensor");
    rewrite.factors.emplace_back(divides, *part);
  }
  return rewrite;
}

bool BodyRaiser::findSoftmax(Value value) {
  const Expr *expr = exprs.lookup(value);
  if (!expr || !isa<FloatType>(value.getType()))
    return false;
  if (auto softmax = matchLogSoftmax(context, expr, inSum[value]))
    if (auto made = rewrite(*softmax, expr)) {
      inSum[value].insert(softmax->sum.reduction);
      rewrites[value] = *made;
      return true;
    }
  if (auto softmax = matchSoftmax(context, expr, inProduct[value]))
    if (auto made = rewrite(*softmax, expr)) {
      inProduct[value].insert(softmax->sum.reduction);
      rewrites[value] = *made;
      return true;
    }
  return false;
}

void BodyRaiser::findSoftmaxes() {
  auto join = [](auto &into, const auto &from) {
    into.insert(from.begin(), from.end());
  };
  for (BlockArgument arg : op.getBlock()->getArguments()) {
    const Expr *expr = exprs.lookup(arg);
    if (!expr)
      continue;
    known.try_emplace(expr, arg);
    llvm::SmallPtrSet<const Expr *, 2> none;
    // Their own ops are raised; a sum of them may do without.
    if (auto softmax = matchLogSoftmax(context, expr, none)) {
      inSum[arg].insert(softmax->sum.reduction);
      if (op.getNumReductionLoops() != 0)
        if (auto made = rewrite(*softmax, expr))
          argRewrites[arg] = *made;
    }
    if (auto softmax = matchSoftmax(context, expr, none))
      inProduct[arg].insert(softmax->sum.reduction);
  }
  llvm::DenseSet<Value> needed = getNeeded();
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.getNumResults() != 1)
      continue;
    Value value = inner.getResult(0);
    for (Value operand : inner.getOperands()) {
      if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::ExtFOp,
              arith::TruncFOp>(inner))
        join(inSum[value], inSum.lookup(operand));
      if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::ExtFOp,
              arith::TruncFOp>(inner))
        join(inProduct[value], inProduct.lookup(operand));
    }
    if (needed.contains(value) && !rewrites.contains(value) &&
        findSoftmax(value))
      ++found.numSoftmax;
    if (const Expr *expr = exprs.lookup(value))
      known.try_emplace(expr, value);
  }
}

//===----------------------------------------------------------------------===//
// What is made of it
//===----------------------------------------------------------------------===//

linalg::GenericOp
BodyRaiser::create(TypeRange types, ValueRange inits,
                   ArrayRef<AffineMap> initMaps,
                   ArrayRef<utils::IteratorType> iterators,
                   function_ref<void(OpBuilder &, ValueRange)> body) {
  SmallVector<Value> operands(op.getInputs());
  SmallVector<AffineMap> operandMaps;
  for (OpOperand *operand : op.getDpsInputOperands())
    operandMaps.push_back(op.getMatchingIndexingMap(operand));
  llvm::append_range(operands, inputs);
  llvm::append_range(operandMaps, maps);
  llvm::SmallBitVector used(operands.size(), true);
  auto make = [&] {
    SmallVector<Value> taken;
    SmallVector<AffineMap> takenMaps;
    for (unsigned i : used.set_bits()) {
      taken.push_back(operands[i]);
      takenMaps.push_back(operandMaps[i]);
    }
    llvm::append_range(takenMaps, initMaps);
    return linalg::GenericOp::create(
        b, loc, types, taken, inits, takenMaps, iterators,
        [&](OpBuilder &b, Location, ValueRange args) {
          mapping.clear();
          newArgs.clear();
          unsigned next = 0, numOld = op.getNumDpsInputs();
          for (unsigned i : used.set_bits()) {
            Value arg = args[next++];
            if (i >= numOld)
              newArgs[i - numOld] = arg;
            else if (!rewrites.contains(op.getRegionInputArgs()[i]))
              mapping.map(op.getRegionInputArgs()[i], arg);
          }
          body(b, args.drop_front(next));
        });
  };
  linalg::GenericOp made = make();
  // Once more, without what the body does not read, but for what alone tells the
  // extent of a loop: one of whose points only the number is read, say.
  llvm::SmallBitVector sized(op.getNumLoops());
  auto takeExtents = [&](AffineMap map) {
    unsigned known = sized.count();
    for (AffineExpr index : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(index))
        sized.set(dim.getPosition());
    return sized.count() != known;
  };
  llvm::for_each(initMaps, takeExtents);
  for (BlockArgument arg : made.getRegionInputArgs()) {
    if (arg.use_empty())
      used.reset(arg.getArgNumber());
    else
      takeExtents(operandMaps[arg.getArgNumber()]);
  }
  // The new ones first: they are known earlier than what they stand for.
  for (unsigned i = operands.size(); i-- > 0;)
    if (!used.test(i) && takeExtents(operandMaps[i]))
      used.set(i);
  if (used.all())
    return made;
  made.erase();
  return make();
}

Value BodyRaiser::emit(OpBuilder &b, Value value) {
  if (Value made = mapping.lookupOrNull(value))
    return made;
  Value made = value;
  if (auto it = rewrites.find(value); it != rewrites.end()) {
    made = emit(b, it->second, value.getType());
  } else if (Operation *def = value.getDefiningOp();
             def && def->getBlock() == op.getBlock()) {
    for (Value operand : def->getOperands())
      emit(b, operand);
    b.clone(*def, mapping);
    return mapping.lookup(value);
  }
  mapping.map(value, made);
  return made;
}

Value BodyRaiser::emit(OpBuilder &b, const Rewrite &rewrite, Type type) {
  Type compute = rewrite.compute;
  auto get = [&](const Part &part) {
    Value value = part.inBody ? emit(b, part.inBody) : newArgs.at(part.input);
    return convertFloat(b, loc, value, compute);
  };
  SmallVector<std::pair<bool, Part>> terms = rewrite.terms;
  if (rewrite.lse)
    terms.push_back(*rewrite.lse);
  // One that is added comes first.
  auto *added = llvm::find_if(terms, [](auto &term) { return !term.first; });
  if (added != terms.end())
    std::rotate(terms.begin(), added, added + 1);
  auto getNumber = [&](double number) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(compute, number));
  };
  Value value;
  for (auto &[negated, part] : terms) {
    Value term = get(part);
    if (!value)
      value = negated ? arith::NegFOp::create(b, loc, term).getResult() : term;
    else if (negated)
      value = arith::SubFOp::create(b, loc, value, term);
    else
      value = arith::AddFOp::create(b, loc, value, term);
  }
  if (!value)
    value = getNumber(rewrite.constant);
  else if (rewrite.constant != 0.0)
    value = arith::AddFOp::create(b, loc, value, getNumber(rewrite.constant));
  if (rewrite.exponential)
    value = math::ExpOp::create(b, loc, value);
  for (auto &[divides, part] : rewrite.factors) {
    Value factor = get(part);
    value = divides ? arith::DivFOp::create(b, loc, value, factor).getResult()
                    : arith::MulFOp::create(b, loc, value, factor).getResult();
  }
  if (rewrite.coefficient != 1.0)
    value =
        arith::MulFOp::create(b, loc, value, getNumber(rewrite.coefficient));
  return convertFloat(b, loc, value, type);
}

void BodyRaiser::replaceOp() {
  SmallVector<AffineMap> initMaps;
  for (OpOperand &init : op.getDpsInitsMutable())
    initMaps.push_back(op.getMatchingIndexingMap(&init));
  auto yield = cast<linalg::YieldOp>(op.getBlock()->getTerminator());
  // A result may be a new operand as it stands.
  if (op->getNumResults() == 1 && op.getNumReductionLoops() == 0)
    if (auto it = rewrites.find(yield.getOperand(0)); it != rewrites.end()) {
      const Rewrite &rewrite = it->second;
      SmallVector<std::pair<bool, Part>> terms = rewrite.terms;
      if (rewrite.lse)
        terms.push_back(*rewrite.lse);
      if (terms.size() == 1 && !terms[0].first && !terms[0].second.inBody &&
          rewrite.constant == 0.0 && !rewrite.exponential &&
          rewrite.coefficient == 1.0 && rewrite.factors.empty()) {
        unsigned input = terms[0].second.input;
        if (maps[input] == initMaps[0] &&
            inputs[input].getType() == op->getResultTypes()[0]) {
          op->replaceAllUsesWith(ValueRange{inputs[input]});
          return;
        }
      }
    }
  linalg::GenericOp made =
      create(op->getResultTypes(), op.getOutputs(), initMaps,
             op.getIteratorTypesArray(), [&](OpBuilder &b, ValueRange outs) {
               mapping.map(op.getRegionOutputArgs(), outs);
               SmallVector<Value> results;
               for (Value value : yield.getOperands())
                 results.push_back(emit(b, value));
               linalg::YieldOp::create(b, loc, results);
             });
  op->replaceAllUsesWith(made);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Dependence BodyRaiser::getDependence(Value value, Value on) {
  if (value == on)
    return Dependence::Linear;
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != op.getBlock())
    return Dependence::None;
  SmallVector<Dependence> operands;
  for (Value operand : def->getOperands())
    operands.push_back(getDependence(operand, on));
  auto isNone = [](Dependence d) { return d == Dependence::None; };
  if (llvm::all_of(operands, isNone))
    return Dependence::None;
  if (llvm::is_contained(operands, Dependence::Other))
    return Dependence::Other;
  bool linear =
      isa<arith::NegFOp, arith::ExtFOp, arith::AddFOp, arith::SubFOp>(def) ||
      (isa<arith::TruncFOp>(def) && !isQuantizedFloat(value.getType())) ||
      (isa<arith::MulFOp>(def) && llvm::count_if(operands, isNone) == 1) ||
      (isa<arith::DivFOp>(def) && isNone(operands[1])) ||
      (isa<arith::SelectOp>(def) && isNone(operands[0]));
  return linear ? Dependence::Linear : Dependence::Other;
}

std::optional<double> BodyRaiser::getCoefficient(Value value, Value on) {
  if (value == on)
    return 1.0;
  if (getDependence(value, on) == Dependence::None)
    return 0.0;
  Operation *def = value.getDefiningOp();
  auto get = [&](unsigned i) { return getCoefficient(def->getOperand(i), on); };
  auto getNumber = [&](unsigned i) -> std::optional<double> {
    FloatAttr number;
    if (matchPattern(def->getOperand(i), m_Constant(&number)))
      return number.getValueAsDouble();
    return std::nullopt;
  };
  if (isa<arith::ExtFOp, arith::TruncFOp>(def))
    return get(0);
  if (isa<arith::SelectOp>(def))
    return std::nullopt;
  std::optional<double> lhs = get(0), rhs;
  if (isa<arith::NegFOp>(def))
    return lhs ? std::optional<double>(-*lhs) : std::nullopt;
  rhs = get(1);
  if (isa<arith::AddFOp, arith::SubFOp>(def)) {
    if (!lhs || !rhs)
      return std::nullopt;
    return isa<arith::AddFOp>(def) ? *lhs + *rhs : *lhs - *rhs;
  }
  bool leftIsLinear = lhs != 0.0;
  std::optional<double> coefficient = leftIsLinear ? lhs : rhs;
  std::optional<double> number = getNumber(leftIsLinear ? 1 : 0);
  if (!coefficient || !number)
    return std::nullopt;
  return isa<arith::DivFOp>(def) ? *coefficient / *number
                                 : *coefficient * *number;
}

Value BodyRaiser::emitCoefficient(OpBuilder &b, Value value, Value on,
                                  Type type) {
  if (std::optional<double> number = getCoefficient(value, on))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, *number));
  Operation *def = value.getDefiningOp();
  auto get = [&](unsigned i) {
    return emitCoefficient(b, def->getOperand(i), on, type);
  };
  auto getOther = [&](unsigned i) {
    return convertFloat(b, loc, emit(b, def->getOperand(i)), type);
  };
  if (isa<arith::ExtFOp, arith::TruncFOp>(def))
    return get(0);
  if (isa<arith::NegFOp>(def))
    return arith::NegFOp::create(b, loc, get(0));
  if (isa<arith::AddFOp>(def))
    return arith::AddFOp::create(b, loc, get(0), get(1));
  if (isa<arith::SubFOp>(def))
    return arith::SubFOp::create(b, loc, get(0), get(1));
  if (isa<arith::SelectOp>(def))
    return arith::SelectOp::create(b, loc, emit(b, def->getOperand(0)), get(1),
                                   get(2));
  if (isa<arith::DivFOp>(def))
    return arith::DivFOp::create(b, loc, get(0), getOther(1));
  bool leftIsLinear =
      getDependence(def->getOperand(0), on) == Dependence::Linear;
  return arith::MulFOp::create(b, loc, get(leftIsLinear ? 0 : 1),
                               getOther(leftIsLinear ? 1 : 0));
}

bool BodyRaiser::splitSum() {
  if (op->getNumResults() != 1 || loops.size() != 2 ||
      op.getNumReductionLoops() == 0)
    return false;
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  Value out = op.getRegionOutputArgs()[0];
  if (!isa_and_nonnull<arith::AddFOp>(combiner) ||
      combiner->getBlock() != op.getBlock() || !out.hasOneUse() ||
      !llvm::is_contained(combiner->getOperands(), out))
    return false;
  Value reduced = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
  SmallVector<Value> logarithms;
  for (auto &[arg, rewrite] : argRewrites)
    logarithms.push_back(arg);
  for (Operation &inner : op.getBlock()->without_terminator())
    for (Value value : inner.getResults())
      if (auto it = rewrites.find(value);
          it != rewrites.end() && !it->second.exponential && it->second.lse)
        logarithms.push_back(value);
  return llvm::any_of(logarithms,
                      [&](Value value) { return splitSum(reduced, value); });
}

bool BodyRaiser::splitSum(Value reduced, Value logarithm) {
  if (getDependence(reduced, logarithm) != Dependence::Linear)
    return false;
  auto argRewrite = argRewrites.find(logarithm);
  const Rewrite whole = argRewrite != argRewrites.end()
                            ? argRewrite->second
                            : rewrites.lookup(logarithm);
  bool negated = whole.lse->first;
  Part lse = whole.lse->second;
  unsigned row =
      cast<AffineDimExpr>(maps[lse.input].getResult(0)).getPosition();
  unsigned column = 1 - row;
  auto isReduced = [&](unsigned dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  };
  AffineMap initMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!isReduced(column) ||
      initMap.getNumResults() != (isReduced(row) ? 0u : 1u))
    return false;

  // Without it, nothing may wait for a row's sum.
  Rewrite rest = whole;
  rest.lse.reset();
  if (rest.terms.empty())
    return false;
  auto previous = rewrites.find(logarithm);
  bool had = previous != rewrites.end();
  rewrites[logarithm] = rest;
  llvm::DenseSet<Value> needed = getNeeded();
  for (auto &[value, rewrite] : rewrites)
    if (needed.contains(value) && rewrite.lse) {
      if (had)
        rewrites[logarithm] = whole;
      else
        rewrites.erase(logarithm);
      return false;
    }

  Type type = getElementTypeOrSelf(op->getResultTypes()[0]);
  Type compute = getComputeType(type);
  std::optional<double> number = getCoefficient(reduced, logarithm);
  bool counts = number && !ShapedType::isDynamic(ranges[column]);
  MLIRContext *ctx = b.getContext();
  AffineMap rowMap = AffineMap::get(2, 0, b.getAffineDimExpr(row), ctx);
  Value empty =
      tensor::EmptyOp::create(b, loc,
                              ArrayRef<OpFoldResult>{tensor::getMixedSize(
                                  b, loc, inputs[lse.input], 0)},
                              compute);
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(compute, 0.0));
  Value zeros = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::reduction);
  iterators[row] = utils::IteratorType::parallel;
  auto createSum = [&](Value init, function_ref<Value(OpBuilder &)> emitTerm) {
    return create(init.getType(), init, rowMap, iterators,
                  [&](OpBuilder &b, ValueRange outs) {
                    Value term = convertFloat(b, loc, emitTerm(b), compute);
                    Value sum = arith::AddFOp::create(b, loc, outs[0], term);
                    linalg::YieldOp::create(b, loc, sum);
                  })
        ->getResult(0);
  };
  // A row's sum starts from what it started from.
  bool takesInit = !isReduced(row) && type == compute;
  Value sum = createSum(takesInit ? op.getOutputs()[0] : zeros,
                        [&](OpBuilder &b) { return emit(b, reduced); });
  Value weights;
  if (!counts)
    weights = createSum(zeros, [&](OpBuilder &b) {
      return emitCoefficient(b, reduced, logarithm, compute);
    });

  // sum(c z) -+ lse sum(c)
  SmallVector<Value> operands{sum, inputs[lse.input]};
  if (!counts)
    operands.push_back(weights);
  SmallVector<AffineMap> finalMaps(operands.size(),
                                   b.getMultiDimIdentityMap(1));
  finalMaps.push_back(isReduced(row) ? AffineMap::get(1, 0, ctx)
                                     : b.getMultiDimIdentityMap(1));
  utils::IteratorType iterator = op.getIteratorTypesArray()[row];
  auto total = linalg::GenericOp::create(
      b, loc, op->getResultTypes(), operands,
      takesInit ? ValueRange(empty) : op.getOutputs(), finalMaps, iterator,
      [&](OpBuilder &b, Location, ValueRange args) {
        Value weight =
            counts
                ? arith::ConstantOp::create(
                      b, loc,
                      b.getFloatAttr(compute, (negated ? -*number : *number) *
                                                  ranges[column]))
                      .getResult()
                : args[2];
        Value share = arith::MulFOp::create(
            b, loc, convertFloat(b, loc, args[1], compute), weight);
        Value value =
            negated && !counts
                ? arith::SubFOp::create(b, loc, args[0], share).getResult()
                : arith::AddFOp::create(b, loc, args[0], share).getResult();
        value = convertFloat(b, loc, value, type);
        if (!takesInit)
          value = arith::AddFOp::create(b, loc, args.back(), value);
        linalg::YieldOp::create(b, loc, value);
      });
  op->replaceAllUsesWith(total);
  return true;
}

std::optional<RaisedInBody> BodyRaiser::run() {
  if (!op.hasPureTensorSemantics() ||
      llvm::any_of(*op.getBlock(),
                   [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return std::nullopt;
  loops = context.getDims(ranges);
  exprs = graph.evaluateBody(op, loops);
  findLosses();
  findSoftmaxes();
  if (splitSum()) {
    ++found.numSoftmax;
    return found;
  }
  if (rewrites.empty())
    return std::nullopt;
  replaceOp();
  return found;
}

std::optional<RaisedInBody>
coda::raiseInBody(RaiseContext &context, OpBuilder &b, linalg::GenericOp op) {
  return BodyRaiser(context, b, op).run();
}
