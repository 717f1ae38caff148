//===- NormalizeBroadcastFactors.cpp - Factors that batches share -------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Front ends that have no product of a batch and a matrix repeat the matrix for each
// of the batch. A factor that is the same along a dim does without it; the dim is
// then one of the other factor's rows, or columns, and the product that of two
// matrices.
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

/// Those of `groups` that have a dim of `dims`, all of whose dims have to be.
static FailureOr<llvm::SmallBitVector>
getWholeGroups(ArrayRef<ReassociationIndices> groups,
               const llvm::SmallBitVector &dims) {
  llvm::SmallBitVector whole(groups.size());
  for (auto [g, group] : llvm::enumerate(groups)) {
    auto isIn = [&](int64_t d) { return dims.test(d); };
    if (llvm::none_of(group, isIn))
      continue;
    if (!llvm::all_of(group, isIn))
      return failure();
    whole.set(g);
  }
  return whole;
}

/// The dims of all `groups` that are in `which`.
static llvm::SmallBitVector getMembers(ArrayRef<ReassociationIndices> groups,
                                       const llvm::SmallBitVector &which) {
  llvm::SmallBitVector members(groups.empty() ? 0 : groups.back().back() + 1);
  for (unsigned g : which.set_bits())
    for (int64_t d : groups[g])
      members.set(d);
  return members;
}

/// `groups` without those in `dropped`, of dims that are numbered anew.
static SmallVector<ReassociationIndices>
getOtherGroups(ArrayRef<ReassociationIndices> groups,
               const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> others;
  int64_t next = 0;
  for (auto [g, group] : llvm::enumerate(groups))
    if (!dropped.test(g))
      for (auto *it = group.begin(); it != group.end(); ++it) {
        if (it == group.begin())
          others.emplace_back();
        others.back().push_back(next++);
      }
  return others;
}

/// The loops of `op` that index `dims` of its result.
static llvm::SmallBitVector getLoops(linalg::GenericOp op,
                                     const llvm::SmallBitVector &dims) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  llvm::SmallBitVector loops(op.getNumLoops());
  for (unsigned d : dims.set_bits())
    loops.set(map.getDimPosition(d));
  return loops;
}

/// The dims of an operand that is read through `map` which `loops` index; none of
/// them where it has another index that depends on one.
static FailureOr<llvm::SmallBitVector>
getIndexed(AffineMap map, const llvm::SmallBitVector &loops) {
  llvm::SmallBitVector dims(map.getNumResults());
  for (auto [d, e] : llvm::enumerate(map.getResults()))
    for (unsigned loop : loops.set_bits()) {
      if (!e.isFunctionOfDim(loop))
        continue;
      if (!isa<AffineDimExpr>(e))
        return failure();
      dims.set(d);
    }
  return dims;
}

/// Whether `value` is known to be the same along all of `dims`, which are not all
/// that it has.
static bool isSameAlong(Value value, const llvm::SmallBitVector &dims) {
  if (dims.all())
    return false;
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
    return isSameAlong(collapse.getSrc(),
                       getMembers(collapse.getReassociationIndices(), dims));
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    FailureOr<llvm::SmallBitVector> whole =
        getWholeGroups(expand.getReassociationIndices(), dims);
    return succeeded(whole) && isSameAlong(expand.getSrc(), *whole);
  }
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>()) {
    llvm::SmallBitVector before(dims.size());
    for (unsigned d : dims.set_bits())
      before.set(transpose.getPermutation()[d]);
    return isSameAlong(transpose.getInput(), before);
  }
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || !generic.hasPureTensorSemantics() ||
      generic.getNumReductionLoops() != 0 || generic->getNumResults() != 1 ||
      !isMemoryEffectFree(generic))
    return false;
  OpOperand *init = generic.getDpsInitOperand(0);
  if (!generic.getMatchingIndexingMap(init).isPermutation() ||
      !generic.getMatchingBlockArgument(init).use_empty())
    return false;
  llvm::SmallBitVector loops = getLoops(generic, dims);
  for (OpOperand *input : generic.getDpsInputOperands()) {
    FailureOr<llvm::SmallBitVector> indexed =
        getIndexed(generic.getMatchingIndexingMap(input), loops);
    if (failed(indexed) ||
        (indexed->any() && !isSameAlong(input->get(), *indexed)))
      return false;
  }
  return llvm::none_of(generic.getBody()->getOps<linalg::IndexOp>(),
                       [&](linalg::IndexOp index) {
                         return loops.test(index.getDim());
                       });
}

/// What is left of `values` without those at the places `dropped`.
template <typename T>
static SmallVector<T> drop(ArrayRef<T> values,
                           const llvm::SmallBitVector &dropped) {
  SmallVector<T> rest;
  for (auto [i, value] : llvm::enumerate(values))
    if (!dropped.test(i))
      rest.push_back(value);
  return rest;
}

/// `value` at any point of `dims`, along which it is the same.
static Value dropDims(PatternRewriter &rewriter, Value value,
                      const llvm::SmallBitVector &dims) {
  auto type = cast<RankedTensorType>(value.getType());
  Location loc = value.getLoc();
  Type elementType = type.getElementType();
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    Value source =
        dropDims(rewriter, collapse.getSrc(), getMembers(groups, dims));
    SmallVector<ReassociationIndices> others = getOtherGroups(groups, dims);
    if (static_cast<int64_t>(others.size()) ==
        cast<RankedTensorType>(source.getType()).getRank())
      return source;
    return tensor::CollapseShapeOp::create(rewriter, loc, source, others);
  }
  SmallVector<OpFoldResult> sizes =
      drop<OpFoldResult>(tensor::getMixedSizes(rewriter, loc, value), dims);
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
    llvm::SmallBitVector whole = *getWholeGroups(groups, dims);
    Value source = dropDims(rewriter, expand.getSrc(), whole);
    SmallVector<ReassociationIndices> others = getOtherGroups(groups, whole);
    if (others.size() == sizes.size())
      return source;
    return tensor::ExpandShapeOp::create(
        rewriter, loc,
        RankedTensorType::get(drop<int64_t>(type.getShape(), dims),
                              elementType),
        source, others, sizes);
  }
  Value init = tensor::EmptyOp::create(rewriter, loc, sizes, elementType);
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>()) {
    llvm::SmallBitVector before(dims.size());
    for (unsigned d : dims.set_bits())
      before.set(transpose.getPermutation()[d]);
    SmallVector<int64_t> permutation;
    for (int64_t p : drop(transpose.getPermutation(), dims))
      permutation.push_back(p - llvm::count_if(before.set_bits(),
                                               [&](int64_t d) { return d < p; }));
    Value source = dropDims(rewriter, transpose.getInput(), before);
    return linalg::TransposeOp::create(rewriter, loc, source, init, permutation)
        ->getResult(0);
  }

  auto generic = value.getDefiningOp<linalg::GenericOp>();
  llvm::SmallBitVector loops = getLoops(generic, dims);
  MLIRContext *context = rewriter.getContext();
  SmallVector<AffineExpr> newLoops;
  unsigned numLoops = 0;
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop)
    newLoops.push_back(loops.test(loop)
                           ? rewriter.getAffineConstantExpr(0)
                           : rewriter.getAffineDimExpr(numLoops++));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(input);
    llvm::SmallBitVector indexed = *getIndexed(map, loops);
    inputs.push_back(indexed.any() ? dropDims(rewriter, input->get(), indexed)
                                   : input->get());
    maps.push_back(
        AffineMap::get(map.getNumDims(), 0, drop(map.getResults(), indexed),
                       context)
            .replaceDimsAndSymbols(newLoops, {}, numLoops, 0));
  }
  AffineMap stored =
      generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  SmallVector<AffineExpr> storedDims;
  for (AffineExpr e : drop(stored.getResults(), dims))
    storedDims.push_back(newLoops[cast<AffineDimExpr>(e).getPosition()]);
  maps.push_back(AffineMap::get(numLoops, 0, storedDims, context));
  // A repetition and no more leaves what is repeated.
  Operation *yield = generic.getBody()->getTerminator();
  if (auto argument = dyn_cast<BlockArgument>(yield->getOperand(0)))
    if (argument.getOwner() == generic.getBody() &&
        argument.getArgNumber() < maps.size() - 1 &&
        maps[argument.getArgNumber()] == maps.back())
      return inputs[argument.getArgNumber()];
  auto result = linalg::GenericOp::create(
      rewriter, loc, init.getType(), inputs, init, maps,
      SmallVector<utils::IteratorType>(numLoops,
                                       utils::IteratorType::parallel));
  rewriter.cloneRegionBefore(generic.getRegion(), result.getRegion(),
                             result.getRegion().begin());
  for (auto index : result.getBody()->getOps<linalg::IndexOp>())
    index.setDim(
        cast<AffineDimExpr>(newLoops[index.getDim()]).getPosition());
  return result.getResult(0);
}

namespace {
/// A factor of a batched product that is the same for all of the batch:
///   batch_matmul(x, broadcast(w)) : 2x8x16, 2x16x4 -> 2x8x4
///     ->  expand_shape (matmul(collapse_shape x, w) : 16x16, 16x4)
struct ShareFactor : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        !linalg::isaContractionOpInterface(op) || op->getNumResults() != 1)
      return failure();
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (failed(dims) || dims->batch.empty() || dims->k.empty() ||
        !llvm::all_of(maps, [](AffineMap map) {
          return map.isProjectedPermutation();
        }))
      return failure();
    // Each dim of the batch is one factor's alone, the right one's if it can be.
    Value factors[] = {op.getDpsInputs()[0], op.getDpsInputs()[1]};
    llvm::SmallBitVector dropped[2];
    for (unsigned i : {0u, 1u})
      dropped[i].resize(maps[i].getNumResults());
    for (unsigned loop : dims->batch) {
      bool found = false;
      for (unsigned i : {1u, 0u}) {
        llvm::SmallBitVector wanted = dropped[i];
        wanted.set(*maps[i].getResultPosition(rewriter.getAffineDimExpr(loop)));
        if (!(found = isSameAlong(factors[i], wanted)))
          continue;
        dropped[i] = wanted;
        break;
      }
      if (!found)
        return failure();
    }
    for (unsigned i : {0u, 1u}) {
      if (dropped[i].none())
        continue;
      factors[i] = dropDims(rewriter, factors[i], dropped[i]);
      maps[i] =
          AffineMap::get(maps[i].getNumDims(), 0,
                         drop(maps[i].getResults(), dropped[i]),
                         rewriter.getContext());
    }
    if (isNamedProduct(op))
      if (Value product = createMatmul(rewriter, op, factors, maps)) {
        rewriter.replaceOp(op, product);
        return success();
      }
    auto product = linalg::GenericOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), factors, op.getDpsInits(),
        maps, op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op->getRegion(0), product.getRegion(),
                               product.getRegion().begin());
    rewriter.replaceOp(op, product);
    return success();
  }

private:
  /// Whether the op multiplies and adds floats as a matmul does.
  static bool isNamedProduct(linalg::LinalgOp op) {
    return isa<linalg::BatchMatmulOp, linalg::BatchMatvecOp,
               linalg::BatchVecmatOp>(op) &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  }

  /// The product as a matmul, of rows that are one dim; null if its dims are not
  /// those of one, in an order that a reshape keeps.
  static Value createMatmul(PatternRewriter &rewriter, linalg::LinalgOp op,
                            ArrayRef<Value> factors, ArrayRef<AffineMap> maps) {
    ArrayRef<AffineExpr> left = maps[0].getResults(),
                         right = maps[1].getResults(),
                         result = maps[2].getResults();
    if (right.size() != 2 || result.size() != left.size())
      return {};
    // The columns come last, the contracted dim first or last.
    AffineExpr n = result.back();
    bool isRightTransposed = right[0] == n;
    AffineExpr k = right[isRightTransposed ? 1 : 0];
    if (right[isRightTransposed ? 0 : 1] != n)
      return {};
    bool isLeftTransposed = left.front() == k;
    if (left[isLeftTransposed ? 0 : left.size() - 1] != k ||
        (isLeftTransposed ? left.drop_front() : left.drop_back()) !=
            result.drop_back())
      return {};

    Location loc = op.getLoc();
    int64_t numRowDims = result.size() - 1;
    auto getGroups = [&](bool rowsLast) {
      SmallVector<ReassociationIndices> groups(2);
      for (int64_t d = 0; d <= numRowDims; ++d)
        groups[rowsLast ? d > 0 : d == numRowDims].push_back(d);
      return groups;
    };
    Value lhs = factors[0], init = op.getDpsInits()[0];
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, init);
    if (numRowDims > 1) {
      lhs = tensor::CollapseShapeOp::create(rewriter, loc, lhs,
                                            getGroups(isLeftTransposed));
      init = tensor::CollapseShapeOp::create(rewriter, loc, init,
                                             getGroups(/*rowsLast=*/false));
    }
    auto matmul = linalg::MatmulOp::create(
        rewriter, loc, TypeRange{init.getType()}, ValueRange{lhs, factors[1]},
        ValueRange{init});
    AffineExpr d0, d1, d2;
    bindDims(rewriter.getContext(), d0, d1, d2);
    auto getMap = [&](AffineExpr first, AffineExpr second, bool isTransposed) {
      return AffineMap::get(3, 0, {isTransposed ? second : first,
                                   isTransposed ? first : second},
                            rewriter.getContext());
    };
    if (isLeftTransposed || isRightTransposed)
      matmul.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(
          {getMap(d0, d2, isLeftTransposed), getMap(d2, d1, isRightTransposed),
           getMap(d0, d1, false)}));
    if (numRowDims == 1)
      return matmul.getResult(0);
    return tensor::ExpandShapeOp::create(
        rewriter, loc, cast<RankedTensorType>(op->getResult(0).getType()),
        matmul.getResult(0), getGroups(/*rowsLast=*/false), sizes);
  }
};
} // namespace

void coda::populateSharedFactorPatterns(RewritePatternSet &patterns) {
  patterns.add<ShareFactor>(patterns.getContext());
}
