//===- ComputeOnce.cpp - Tables of what fewer loops tell ------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODACOMPUTEONCE
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// Whether `op` takes longer than to load its result: a call of the math library
/// or a polynomial of many terms.
bool isCostly(Operation &op) {
  return isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
             math::Atan2Op, math::AtanOp, math::AtanhOp, math::CbrtOp,
             math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp, math::Exp2Op,
             math::ExpM1Op, math::ExpOp, math::Log10Op, math::Log1pOp,
             math::Log2Op, math::LogOp, math::PowFOp, math::SinOp, math::SinhOp,
             math::TanOp, math::TanhOp>(op);
}

bool isStorable(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
}

/// What of the body of a generic is worth a table: the values of a group of
/// loops that ops with more loops, or the yield, read.
class TableFinder {
public:
  explicit TableFinder(linalg::GenericOp op);

  /// The largest group of loops that has such values; none if there is none.
  std::optional<llvm::SmallBitVector> findLoops();
  /// Its values, in the order of the body.
  SmallVector<Value> getValues(const llvm::SmallBitVector &loops);

private:
  llvm::SmallBitVector getLoops(Value value) {
    auto it = dependence.find(value);
    return it == dependence.end() ? llvm::SmallBitVector(op.getNumLoops())
                                  : it->second;
  }
  /// Whether what depends on `loops` alone is computed again and again, and along
  /// the innermost loop, of which more than one row is computed at a time.
  bool repeats(const llvm::SmallBitVector &loops);

  linalg::GenericOp op;
  /// The loops that a value of the body depends on.
  DenseMap<Value, llvm::SmallBitVector> dependence;
  /// Values that cost something with no other loops than their own.
  llvm::SetVector<Value> costly;
};

} // namespace

TableFinder::TableFinder(linalg::GenericOp op) : op(op) {
  unsigned numLoops = op.getNumLoops();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    llvm::SmallBitVector loops(numLoops);
    // What is read of an output, or elsewhere than at a point, is no part of a
    // table.
    if (op.isDpsInit(&operand) || !map.isProjectedPermutation())
      loops.set();
    for (unsigned d = 0; d < numLoops; ++d)
      if (map.isFunctionOfDim(d))
        loops.set(d);
    dependence[op.getMatchingBlockArgument(&operand)] = loops;
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    llvm::SmallBitVector loops(numLoops);
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      loops.set(index.getDim());
    for (Value operand : inner.getOperands())
      loops |= getLoops(operand);
    if (!isPure(&inner) || inner.getNumRegions() || inner.getNumResults() != 1)
      loops.set();
    for (Value result : inner.getResults())
      dependence[result] = loops;
    bool costs = isCostly(inner) ||
                 llvm::any_of(inner.getOperands(), [&](Value operand) {
                   return costly.contains(operand) &&
                          getLoops(operand) == loops;
                 });
    if (costs && repeats(loops))
      costly.insert(inner.getResult(0));
  }
}

bool TableFinder::repeats(const llvm::SmallBitVector &loops) {
  unsigned numLoops = op.getNumLoops();
  if (numLoops < 2 || loops.all() || !loops.test(numLoops - 1))
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  return llvm::any_of(llvm::seq<unsigned>(0, numLoops), [&](unsigned d) {
    return !loops.test(d) && extents[d] != 1 && extents[d] != 0;
  });
}

std::optional<llvm::SmallBitVector> TableFinder::findLoops() {
  std::optional<llvm::SmallBitVector> best;
  for (Value value : costly) {
    llvm::SmallBitVector loops = getLoops(value);
    if ((!best || loops.count() > best->count()) && !getValues(loops).empty())
      best = loops;
  }
  return best;
}

SmallVector<Value> TableFinder::getValues(const llvm::SmallBitVector &loops) {
  SmallVector<Value> values;
  for (Value value : costly) {
    if (getLoops(value) != loops || !isStorable(value.getType()))
      continue;
    bool isRead = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() ||
             getLoops(user->getResult(0)) != loops;
    });
    if (isRead)
      values.push_back(value);
  }
  return values;
}

/// A generic over `loops` of `op` that yields `values` of its body.
static linalg::GenericOp createTable(RewriterBase &rewriter,
                                     linalg::GenericOp op,
                                     const llvm::SmallBitVector &loops,
                                     ArrayRef<Value> values) {
  Location loc = op.getLoc();
  Block &body = *op.getBody();
  // What the values are computed from.
  llvm::SmallPtrSet<Operation *, 16> needed;
  llvm::SmallPtrSet<Value, 8> read;
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def)
      read.insert(value);
    else if (def->getBlock() == &body && needed.insert(def).second)
      llvm::append_range(worklist, def->getOperands());
  }
  SmallVector<AffineExpr> dims(op.getNumLoops(),
                               rewriter.getAffineConstantExpr(0));
  SmallVector<unsigned> position(op.getNumLoops());
  SmallVector<OpFoldResult> sizes;
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(rewriter, loc);
  for (unsigned d : loops.set_bits()) {
    position[d] = sizes.size();
    dims[d] = rewriter.getAffineDimExpr(sizes.size());
    sizes.push_back(ranges[d].size);
  }
  SmallVector<Value> inputs, arguments, inits;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value argument = op.getMatchingBlockArgument(operand);
    if (!read.contains(argument))
      continue;
    inputs.push_back(operand->get());
    arguments.push_back(argument);
    maps.push_back(op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(
        dims, {}, sizes.size(), 0));
  }
  for (Value value : values) {
    inits.push_back(
        tensor::EmptyOp::create(rewriter, loc, sizes, value.getType()));
    maps.push_back(rewriter.getMultiDimIdentityMap(sizes.size()));
  }
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      rewriter, loc, TypeRange(inits), inputs, inits, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        IRMapping mapping;
        mapping.map(arguments, args.take_front(arguments.size()));
        for (Operation &inner : body.without_terminator()) {
          if (!needed.contains(&inner))
            continue;
          if (auto index = dyn_cast<linalg::IndexOp>(inner))
            mapping.map(index.getResult(),
                        linalg::IndexOp::create(b, loc,
                                                position[index.getDim()])
                            .getResult());
          else
            b.clone(inner, mapping);
        }
        SmallVector<Value> yielded;
        for (Value value : values)
          yielded.push_back(mapping.lookup(value));
        linalg::YieldOp::create(b, loc, yielded);
      });
}

/// Has `op` load `values` of its body from the results of `table`.
static void loadTable(RewriterBase &rewriter, linalg::GenericOp op,
                      const llvm::SmallBitVector &loops, ArrayRef<Value> values,
                      linalg::GenericOp table) {
  SmallVector<AffineExpr> exprs;
  for (unsigned d : loops.set_bits())
    exprs.push_back(rewriter.getAffineDimExpr(d));
  AffineMap map =
      AffineMap::get(op.getNumLoops(), 0, exprs, rewriter.getContext());
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (auto [value, result] : llvm::zip_equal(values, table->getResults())) {
      unsigned number = op.getNumDpsInputs();
      op.getInputsMutable().append(result);
      maps.insert(maps.begin() + number, map);
      BlockArgument argument = op.getBody()->insertArgument(
          number, value.getType(), value.getLoc());
      rewriter.replaceAllUsesWith(value, argument);
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  // What nothing reads any more, last first.
  SmallVector<Operation *> ops;
  for (Operation &inner : op.getBody()->without_terminator())
    ops.push_back(&inner);
  for (Operation *inner : llvm::reverse(ops))
    if (isOpTriviallyDead(inner))
      rewriter.eraseOp(inner);
}

namespace {
struct ComputeOnce : public coda::impl::CodaComputeOnceBase<ComputeOnce> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> worklist;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        worklist.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    while (!worklist.empty()) {
      linalg::GenericOp op = worklist.pop_back_val();
      TableFinder finder(op);
      std::optional<llvm::SmallBitVector> loops = finder.findLoops();
      if (!loops)
        continue;
      SmallVector<Value> values = finder.getValues(*loops);
      rewriter.setInsertionPoint(op);
      linalg::GenericOp table = createTable(rewriter, op, *loops, values);
      loadTable(rewriter, op, *loops, values, table);
      ++numTables;
      // Both may have values of fewer loops.
      worklist.push_back(table);
      worklist.push_back(op);
    }
  }
};
} // namespace
