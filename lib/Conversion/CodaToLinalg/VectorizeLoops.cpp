//===- VectorizeLoops.cpp - Elementwise ops and reductions as vectors -----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop nest per linalg.generic, its innermost loop over vectors. What the
// upstream vectoriser leaves is what epilogues consist of: stores and
// reductions in one op, dynamic extents without masks, operands that step over
// elements, and values that do not depend on the vectorised dim, which are
// computed once per row here and not once per element.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAVECTORIZELOOPS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// Elements of a vector; f32 fills a register, f64 two.
constexpr int64_t kLanes = 8;

/// Whether vectors of `type` lie in memory as its elements do.
bool isVectorMemoryType(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type,
             Float32Type, Float64Type, IndexType>(type) ||
         (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() % 8 == 0);
}

/// The op that folds a new value into output `result`, if the body does so with
/// one op: yield combine(out, value).
Operation *getCombiner(linalg::GenericOp op, int64_t result) {
  Block &body = *op.getBody();
  Value out = body.getArgument(op.getNumDpsInputs() + result);
  Operation *combiner =
      body.getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || combiner->getBlock() != &body ||
      combiner->getNumOperands() != 2 || !out.hasOneUse() ||
      !combiner->getResult(0).hasOneUse() ||
      !llvm::is_contained(combiner->getOperands(), out) ||
      !isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
           arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
           arith::AndIOp, arith::OrIOp, arith::XOrIOp>(combiner))
    return nullptr;
  return combiner;
}

/// `expr` as the number of a group of so many points of a dim of the loops.
std::optional<std::pair<unsigned, int64_t>> getGroup(AffineExpr expr) {
  auto groups = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!groups || groups.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(groups.getLHS());
  auto points = dyn_cast<AffineConstantExpr>(groups.getRHS());
  if (!dim || !points || points.getValue() < 1)
    return std::nullopt;
  return std::pair(dim.getPosition(), points.getValue());
}

/// How an operand steps along a dim of the loops.
enum class Access { Uniform, Contiguous, Strided };

Access getAccess(Value operand, AffineMap map, unsigned dim) {
  if (!map.isFunctionOfDim(dim))
    return Access::Uniform;
  auto type = cast<MemRefType>(operand.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!isVectorMemoryType(type.getElementType()) ||
      failed(type.getStridesAndOffset(strides, offset)))
    return Access::Strided;
  for (auto [expr, stride] : llvm::zip(map.getResults(), strides))
    if (auto d = dyn_cast<AffineDimExpr>(expr))
      if (d.getPosition() == dim)
        return stride == 1 ? Access::Contiguous : Access::Strided;
  return Access::Strided;
}

/// Whether the op is one that loops and vectors can be made of.
bool isCandidate(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    Type element = type ? type.getElementType() : operand.get().getType();
    if (!element.isIntOrIndexOrFloat())
      return false;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    llvm::SmallBitVector seen(op.getNumLoops());
    for (AffineExpr expr : map.getResults()) {
      if (isa<AffineConstantExpr>(expr))
        continue;
      auto group = getGroup(expr);
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim && !group)
        return false;
      unsigned position = dim ? dim.getPosition() : group->first;
      if (seen.test(position))
        return false;
      seen.set(position);
    }
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(inner))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&inner) ||
        inner.getNumResults() != 1 ||
        !inner.getResult(0).getType().isIntOrIndexOrFloat() ||
        !isMemoryEffectFree(&inner))
      return false;
  }
  return true;
}

/// The dim to run vectors along, if any is worth it.
std::optional<unsigned> chooseDim(linalg::GenericOp op, bool strict) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::optional<unsigned> best;
  int64_t bestCost = 0;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    if (!ShapedType::isDynamic(extents[dim]) && extents[dim] < kLanes)
      continue;
    // Lanes may be of two groups.
    bool legal = llvm::none_of(op.getIndexingMapsArray(), [&](AffineMap map) {
      return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
        auto group = getGroup(expr);
        return group && group->first == dim;
      });
    });
    for (auto [result, init] : llvm::enumerate(op.getDpsInits())) {
      if (op.getMatchingIndexingMap(op.getDpsInitOperand(result))
              .isFunctionOfDim(dim))
        continue;
      Operation *combiner = getCombiner(op, result);
      legal &= combiner && arith::getNeutralElement(combiner).has_value() &&
               // Lanes change the order of a sum.
               !(strict && isa<arith::AddFOp, arith::MulFOp>(combiner));
    }
    if (!legal)
      continue;
    int64_t cost = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      Access access = getAccess(operand.get(),
                                op.getMatchingIndexingMap(&operand), dim);
      if (access == Access::Strided)
        cost += 4 * (op.isDpsInit(&operand) ? 3 : 2);
    }
    if (!ShapedType::isDynamic(extents[dim]) && extents[dim] % kLanes)
      cost += 1;
    if (!best || cost <= bestCost) {
      best = dim;
      bestCost = cost;
    }
  }
  return best;
}

/// Builds the loops of one op, with vectors along `dim`.
class LoopEmitter {
public:
  LoopEmitter(linalg::GenericOp op, unsigned dim)
      : b(op.getLoc(), op), op(op), dim(dim),
        extents(op.getStaticLoopRanges()), ivs(op.getNumLoops()) {}

  void emit();

private:
  /// One output that is reduced along `dim`.
  struct Reduction {
    int64_t result;
    Operation *combiner;
    bool accFirst; ///< Whether the running value is its left operand.
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value extent(unsigned d);
  SmallVector<Value> indicesOf(OpOperand &operand, Value at);
  bool isVarying(Value value) const { return varying.contains(value); }
  Type vectorOf(Type type) { return VectorType::get({kLanes}, type); }
  /// `value` of the body as a vector (`wide`) or a scalar.
  Value get(const IRMapping &mapping, Value value, bool wide);
  Value loadElement(OpOperand &operand, Value at, bool wide);
  void storeElement(OpOperand &operand, Value at, Value value, bool wide);
  Value cloneOp(Operation *inner, IRMapping &mapping, Value at, bool wide);
  Value combine(const Reduction &reduction, Value acc, Value value);
  void findVarying();
  void emitRow();
  /// One step at `at`: a vector or an element; returns the new accumulators.
  SmallVector<Value> emitStep(Value at, ValueRange accs, bool wide);

  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  unsigned dim;
  SmallVector<int64_t> extents;
  SmallVector<Value> ivs;
  SmallVector<Reduction> reductions;
  DenseSet<Operation *> combiners;
  /// Values of the body that depend on the position along `dim`.
  DenseSet<Value> varying;
  /// What does not, computed once per row.
  IRMapping uniform;
};

Value LoopEmitter::extent(unsigned d) {
  if (!ShapedType::isDynamic(extents[d]))
    return index(extents[d]);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> result =
            map.getResultPosition(b.getAffineDimExpr(d)))
      return memref::DimOp::create(b, operand.get(), *result);
  }
  llvm_unreachable("every dim of a linalg op indexes an operand");
}

SmallVector<Value> LoopEmitter::indicesOf(OpOperand &operand, Value at) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      indices.push_back(index(constant.getValue()));
      continue;
    }
    if (auto group = getGroup(expr)) {
      indices.push_back(arith::DivUIOp::create(b, ivs[group->first],
                                               index(group->second)));
      continue;
    }
    unsigned position = cast<AffineDimExpr>(expr).getPosition();
    indices.push_back(position == dim ? at : ivs[position]);
  }
  return indices;
}

Value LoopEmitter::get(const IRMapping &mapping, Value value, bool wide) {
  Value mapped = mapping.lookupOrNull(value);
  if (!mapped)
    mapped = uniform.lookupOrDefault(value);
  if (wide && !isa<VectorType>(mapped.getType()))
    mapped =
        vector::BroadcastOp::create(b, vectorOf(mapped.getType()), mapped);
  return mapped;
}

Value LoopEmitter::loadElement(OpOperand &operand, Value at, bool wide) {
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<Value> indices = indicesOf(operand, at);
  if (!wide)
    return memref::LoadOp::create(b, operand.get(), indices);
  auto vectorType = cast<VectorType>(vectorOf(type.getElementType()));
  if (getAccess(operand.get(), op.getMatchingIndexingMap(&operand), dim) ==
      Access::Contiguous)
    return vector::LoadOp::create(b, vectorType, operand.get(), indices);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    elements.push_back(loadElement(
        operand, arith::AddIOp::create(b, at, index(lane)), /*wide=*/false));
  return vector::FromElementsOp::create(b, vectorType, elements);
}

void LoopEmitter::storeElement(OpOperand &operand, Value at, Value value,
                               bool wide) {
  if (!wide) {
    memref::StoreOp::create(b, value, operand.get(), indicesOf(operand, at));
    return;
  }
  if (getAccess(operand.get(), op.getMatchingIndexingMap(&operand), dim) ==
      Access::Contiguous) {
    vector::StoreOp::create(b, value, operand.get(), indicesOf(operand, at));
    return;
  }
  for (int64_t lane = 0; lane < kLanes; ++lane)
    storeElement(operand, arith::AddIOp::create(b, at, index(lane)),
                 vector::ExtractOp::create(b, value, lane), /*wide=*/false);
}

Value LoopEmitter::cloneOp(Operation *inner, IRMapping &mapping, Value at,
                           bool wide) {
  if (auto indexOp = dyn_cast<linalg::IndexOp>(inner)) {
    if (indexOp.getDim() != dim)
      return ivs[indexOp.getDim()];
    if (!wide)
      return at;
    auto type = cast<VectorType>(vectorOf(b.getIndexType()));
    return arith::AddIOp::create(b, vector::BroadcastOp::create(b, type, at),
                                 vector::StepOp::create(b, type));
  }
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(get(mapping, operand, wide));
  Type type = inner->getResult(0).getType();
  OperationState state(b.getLoc(), inner->getName());
  state.addOperands(operands);
  state.addTypes(wide ? vectorOf(type) : type);
  state.addAttributes(inner->getAttrs());
  return b.create(state)->getResult(0);
}

Value LoopEmitter::combine(const Reduction &reduction, Value acc,
                           Value value) {
  OperationState state(b.getLoc(), reduction.combiner->getName());
  if (reduction.accFirst)
    state.addOperands({acc, value});
  else
    state.addOperands({value, acc});
  state.addTypes(acc.getType());
  state.addAttributes(reduction.combiner->getAttrs());
  return b.create(state)->getResult(0);
}

void LoopEmitter::findVarying() {
  Block &body = *op.getBody();
  for (OpOperand &operand : op->getOpOperands())
    if (op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim))
      varying.insert(body.getArgument(operand.getOperandNumber()));
  for (auto [result, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (op.getMatchingIndexingMap(&init).isFunctionOfDim(dim))
      continue;
    Operation *combiner = getCombiner(op, result);
    bool accFirst = combiner->getOperand(0) ==
                    body.getArgument(op.getNumDpsInputs() + result);
    reductions.push_back({int64_t(result), combiner, accFirst});
    combiners.insert(combiner);
  }
  for (Operation &inner : body.without_terminator()) {
    auto indexOp = dyn_cast<linalg::IndexOp>(inner);
    if ((indexOp && indexOp.getDim() == dim) ||
        llvm::any_of(inner.getOperands(),
                     [&](Value value) { return isVarying(value); }))
      varying.insert(inner.getResult(0));
  }
}

SmallVector<Value> LoopEmitter::emitStep(Value at, ValueRange accs,
                                         bool wide) {
  Block &body = *op.getBody();
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = body.getArgument(operand.getOperandNumber());
    if (isVarying(arg) && !arg.use_empty())
      mapping.map(arg, loadElement(operand, at, wide));
  }
  for (Operation &inner : body.without_terminator())
    if (isVarying(inner.getResult(0)) && !combiners.contains(&inner))
      mapping.map(inner.getResult(0), cloneOp(&inner, mapping, at, wide));
  for (auto [result, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!op.getMatchingIndexingMap(&init).isFunctionOfDim(dim))
      continue;
    Value value = body.getTerminator()->getOperand(result);
    storeElement(init, at, get(mapping, value, wide), wide);
  }
  SmallVector<Value> next;
  for (auto [reduction, acc] : llvm::zip(reductions, accs)) {
    Value value = reduction.combiner->getOperand(reduction.accFirst ? 1 : 0);
    next.push_back(combine(reduction, acc, get(mapping, value, wide)));
  }
  return next;
}

void LoopEmitter::emitRow() {
  Block &body = *op.getBody();
  uniform.clear();
  Value zero = index(0);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = body.getArgument(operand.getOperandNumber());
    if (isVarying(arg) || arg.use_empty())
      continue;
    if (!isa<MemRefType>(operand.get().getType()))
      uniform.map(arg, operand.get());
    else
      uniform.map(arg, loadElement(operand, zero, /*wide=*/false));
  }
  for (Operation &inner : body.without_terminator())
    if (!isVarying(inner.getResult(0)) && !combiners.contains(&inner))
      uniform.map(inner.getResult(0),
                  isa<arith::ConstantOp>(inner)
                      ? b.clone(inner)->getResult(0)
                      : cloneOp(&inner, uniform, zero, /*wide=*/false));

  Value count = extent(dim);
  Value lanes = index(kLanes);
  Value whole = arith::MulIOp::create(
      b, arith::DivUIOp::create(b, count, lanes), lanes);
  SmallVector<Value> accs;
  for (const Reduction &reduction : reductions) {
    TypedAttr neutral = *arith::getNeutralElement(reduction.combiner);
    Value scalar = arith::ConstantOp::create(b, neutral);
    accs.push_back(
        vector::BroadcastOp::create(b, vectorOf(scalar.getType()), scalar));
  }
  auto nest = [&](Value lower, Value upper, Value step, ValueRange inits,
                  bool wide) {
    auto forOp = scf::ForOp::create(b, lower, upper, step, inits);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    SmallVector<Value> next = emitStep(forOp.getInductionVar(),
                                       forOp.getRegionIterArgs(), wide);
    if (inits.empty())
      b.setInsertionPointToStart(forOp.getBody());
    else
      scf::YieldOp::create(b, next);
    return forOp.getResults();
  };
  ResultRange partials = nest(zero, whole, lanes, accs, /*wide=*/true);

  // The lanes in pairs, then what the buffer holds, then the rest in order.
  SmallVector<Value> scalars;
  for (auto [reduction, partial] : llvm::zip(reductions, partials)) {
    SmallVector<Value> parts;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      parts.push_back(vector::ExtractOp::create(b, partial, lane));
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        parts[lane] = combine(reduction, parts[lane], parts[lane + half]);
    Value out = body.getArgument(op.getNumDpsInputs() + reduction.result);
    scalars.push_back(combine(reduction, uniform.lookup(out), parts[0]));
  }
  ResultRange totals = nest(whole, count, index(1), scalars, /*wide=*/false);
  for (auto [reduction, total] : llvm::zip(reductions, totals))
    storeElement(*op.getDpsInitOperand(reduction.result), zero, total,
                 /*wide=*/false);
}

void LoopEmitter::emit() {
  findVarying();
  OpBuilder::InsertionGuard guard(b);
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    if (d == dim)
      continue;
    if (extents[d] == 1) {
      ivs[d] = index(0);
      continue;
    }
    auto forOp = scf::ForOp::create(b, index(0), extent(d), index(1));
    ivs[d] = forOp.getInductionVar();
    b.setInsertionPointToStart(forOp.getBody());
  }
  emitRow();
}

struct VectorizeLoops
    : public coda::impl::CodaVectorizeLoopsBase<VectorizeLoops> {
  using CodaVectorizeLoopsBase::CodaVectorizeLoopsBase;

  void runOnOperation() override {
    bool strict = numerics == coda::Numerics::Strict;
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (!isCandidate(op))
        continue;
      std::optional<unsigned> dim = chooseDim(op, strict);
      if (!dim)
        continue;
      LoopEmitter(op, *dim).emit();
      op.erase();
      ++numVectorized;
    }
  }
};

} // namespace
