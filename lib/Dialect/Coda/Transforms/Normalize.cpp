//===- Normalize.cpp - coda-normalize -----------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/TileOpRegion.h"
#include "coda/Dialect/Coda/Transforms/ExpandClamp.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::coda {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

namespace {
/// x^n -> x * x * ... for n in 1..3.
struct ExpandSmallPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    APInt exponent;
    if (!matchPattern(op.getRhs(), m_ConstantInt(&exponent)) ||
        exponent.getSExtValue() < 1 || exponent.getSExtValue() > 3)
      return failure();
    Value power = op.getLhs();
    for (int64_t i = 1; i < exponent.getSExtValue(); ++i)
      power = arith::MulFOp::create(rewriter, op.getLoc(), power, op.getLhs());
    rewriter.replaceOp(op, power);
    return success();
  }
};

struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                             op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
    return success();
  }
};

/// sincos -> sin, cos: one result each, as all else in a region.
struct SplitSincos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    Value sine = math::SinOp::create(rewriter, op.getLoc(), x);
    Value cosine = math::CosOp::create(rewriter, op.getLoc(), x);
    rewriter.replaceOp(op, {sine, cosine});
    return success();
  }
};

/// truncf(constant) -> constant, also where the value is rounded: upstream
/// folds exact ones only, and torch's eps is an inexact f64.
struct RoundConstant : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr constant;
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || !matchPattern(op.getIn(), m_Constant(&constant)))
      return failure();
    APFloat value = constant.getValue();
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, FloatAttr::get(type, value));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// A matmul of widened factors, or one of a row or a batch, takes them narrow: products
/// of 16-bit floats, or of two 8-bit ones, are exact in f32, so nothing changes.
///   matmul(extf A, extf B) : f32  ->  matmul(A, B) : f32
template <typename OpTy>
struct TakeNarrowFactors : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  /// What `value` was widened from, with the reshapes `views` in between.
  static Value getNarrow(Value value, SmallVectorImpl<Operation *> &views) {
    while (Operation *view = value.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(view))
        break;
      views.push_back(view);
      value = view->getOperand(0);
    }
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic || generic.getNumDpsInputs() != 1 ||
        generic.getNumReductionLoops() != 0 ||
        !generic.getMatchingIndexingMap(generic.getDpsInputOperand(0))
             .isIdentity() ||
        !llvm::hasSingleElement(generic.getBody()->without_terminator()))
      return {};
    auto ext = dyn_cast<arith::ExtFOp>(generic.getBody()->front());
    if (!ext)
      return {};
    return generic.getInputs()[0];
  }

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Operation *> views[2];
    Value lhs = getNarrow(op.getInputs()[0], views[0]);
    Value rhs = getNarrow(op.getInputs()[1], views[1]);
    if (!lhs || !rhs || !getElementTypeOrSelf(op.getResult(0)).isF32())
      return failure();
    Type left = getElementTypeOrSelf(lhs), right = getElementTypeOrSelf(rhs);
    if (left != right && !(isQuantizedFloat(left) && isQuantizedFloat(right)))
      return failure();
    SmallVector<Value> factors{lhs, rhs};
    for (auto [factor, chain] : llvm::zip_equal(factors, views))
      for (Operation *view : llvm::reverse(chain)) {
        Type type = cast<RankedTensorType>(view->getResult(0).getType())
                        .clone(getElementTypeOrSelf(factor));
        Operation *copy = rewriter.clone(*view);
        copy->setOperand(0, factor);
        copy->getResult(0).setType(type);
        factor = copy->getResult(0);
      }
    auto narrow = OpTy::create(rewriter, op.getLoc(), op->getResultTypes(),
                               factors, op.getOutputs());
    if constexpr (std::is_same_v<OpTy, linalg::MatmulOp> ||
                  std::is_same_v<OpTy, linalg::BatchMatmulOp>)
      narrow.setIndexingMapsAttr(op.getIndexingMapsAttr());
    rewriter.replaceOp(op, narrow.getResults());
    return success();
  }
};

void populateTakeNarrowFactors(RewritePatternSet &patterns) {
  patterns.add<TakeNarrowFactors<linalg::MatmulOp>,
               TakeNarrowFactors<linalg::BatchMatmulOp>,
               TakeNarrowFactors<linalg::VecmatOp>,
               TakeNarrowFactors<linalg::MatvecOp>>(patterns.getContext());
}

/// The operand of a transpose, by `order`, a linalg.transpose or a yield-only generic
/// (JAX); null if `value` is none.
Value getTransposed(Value value, ArrayRef<int64_t> order = {1, 0}) {
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>())
    if (transpose.getPermutation() == order)
      return transpose.getInput();
  if (auto generic = value.getDefiningOp<linalg::GenericOp>())
    if (auto permutation = linalg::isaTransposeOpInterface(generic))
      if (ArrayRef<int64_t>(*permutation) == order)
        return generic.getInputs()[0];
  return {};
}

/// matmul(A, transpose(W)) -> matmul with W indexed (n, k); the same for A, and for
/// each of a batch.
template <typename OpTy>
struct FoldTransposedFactor : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    constexpr bool isBatch = std::is_same_v<OpTy, linalg::BatchMatmulOp>;
    SmallVector<int64_t> order{1, 0};
    if (isBatch)
      order = {0, 2, 1};
    Value factors[] = {getTransposed(op.getInputs()[0], order),
                       getTransposed(op.getInputs()[1], order)};
    if (!factors[0] && !factors[1])
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    rewriter.modifyOpInPlace(op, [&] {
      for (unsigned i : {0u, 1u}) {
        if (!factors[i])
          continue;
        SmallVector<AffineExpr> exprs(maps[i].getResults());
        std::swap(exprs.end()[-2], exprs.end()[-1]);
        maps[i] = AffineMap::get(maps[i].getNumDims(), 0, exprs,
                                 rewriter.getContext());
        op->setOperand(i, factors[i]);
      }
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};

/// vecmat(x, transpose(W)) -> matvec(W, x), and the other way round.
template <typename OpTy, typename SwappedTy, unsigned kMatrix>
struct FoldTransposedMatrix : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value matrix = getTransposed(op.getInputs()[kMatrix]);
    if (!matrix)
      return failure();
    Value inputs[] = {matrix, matrix};
    inputs[kMatrix] = op.getInputs()[1 - kMatrix];
    rewriter.replaceOpWithNewOp<SwappedTy>(op, op->getResultTypes(),
                                           ValueRange(inputs), op.getOutputs());
    return success();
  }
};

/// transpose(matmul(A, B)) -> matmul(B^T, A^T), for an init that is a fill.
template <typename TransposeOpTy>
struct FoldTransposedResult : OpRewritePattern<TransposeOpTy> {
  using OpRewritePattern<TransposeOpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOpTy op,
                                PatternRewriter &rewriter) const override {
    // A generic that only asserts has no result.
    Value product =
        op->getNumResults() == 1 ? getTransposed(op->getResult(0)) : Value();
    if (!product || !product.hasOneUse())
      return failure();
    auto matmul = product.getDefiningOp<linalg::MatmulOp>();
    if (!matmul)
      return failure();
    auto fill = matmul.getOutputs()[0].template getDefiningOp<linalg::FillOp>();
    if (!fill)
      return failure();
    MLIRContext *context = rewriter.getContext();
    AffineExpr m, n, k;
    bindDims(context, m, n, k);
    auto swap = [&](AffineMap map) {
      return map.replaceDimsAndSymbols({n, m, k}, {}, 3, 0);
    };
    SmallVector<AffineMap> maps = matmul.getIndexingMapsArray();
    Value dest =
        cast<linalg::LinalgOp>(op.getOperation()).getDpsInits()[0];
    Value init = linalg::FillOp::create(rewriter, op.getLoc(),
                                        fill.getInputs(), ValueRange{dest})
                     .getResult(0);
    auto swapped = linalg::MatmulOp::create(
        rewriter, op.getLoc(), TypeRange{op->getResult(0).getType()},
        ValueRange{matmul.getInputs()[1], matmul.getInputs()[0]},
        ValueRange{init});
    swapped.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(
        {swap(maps[1]), swap(maps[0]),
         AffineMap::get(3, 0, {m, n}, context)}));
    rewriter.replaceOp(op, swapped.getResults());
    return success();
  }
};

/// A transpose of a tensor with unit dims as a generic, which folding of unit
/// dims makes smaller or, where nothing else moves, erases.
struct GeneralizeUnitTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(
            cast<RankedTensorType>(op.getInput().getType()).getShape(), 1))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// A reshape whose extents are a tensor, as front ends write it where one extent
/// is dynamic, becomes a view: as elements neither come nor go, the static
/// extents say what the dynamic one is.
///   reshape x(shape) : ?x64 -> ?x2x32  ->  expand_shape x [[0], [1, 2]]
struct ReshapeToView : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !to || from.getRank() == to.getRank() ||
        from.getNumDynamicDims() > 1 ||
        from.getNumDynamicDims() != to.getNumDynamicDims())
      return failure();
    std::optional<SmallVector<ReassociationIndices>> groups =
        getReassociationIndicesForReshape(from, to);
    if (!groups)
      return failure();
    bool expands = from.getRank() < to.getRank();
    SmallVector<OpFoldResult> sizes;
    for (auto [outer, group] : llvm::enumerate(*groups)) {
      RankedTensorType fine = expands ? to : from, coarse = expands ? from : to;
      int64_t known = 1;
      bool isDynamic = false;
      for (int64_t d : group) {
        isDynamic |= fine.isDynamicDim(d);
        known *= fine.isDynamicDim(d) ? 1 : fine.getDimSize(d);
      }
      if (isDynamic != coarse.isDynamicDim(outer) || known == 0 ||
          (!isDynamic && known != coarse.getDimSize(outer)))
        return failure();
      for (int64_t d : group) {
        if (!expands || !fine.isDynamicDim(d)) {
          sizes.push_back(rewriter.getIndexAttr(fine.getDimSize(d)));
          continue;
        }
        OpFoldResult size = tensor::getMixedSize(rewriter, op.getLoc(),
                                                 op.getSource(), outer);
        sizes.push_back(affine::makeComposedFoldedAffineApply(
            rewriter, op.getLoc(),
            rewriter.getAffineSymbolExpr(0).floorDiv(known), size));
      }
    }
    if (expands)
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
          op, to, op.getSource(), *groups, sizes);
    else
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
          op, to, op.getSource(), *groups);
    return success();
  }
};

/// The dims of a tensor, some of which are split so that what a slice takes with
/// a stride is a part of one dim at one point of another, the stride's.
struct SplitStrides {
  /// Whether a slice takes every so many elements of a static dim that it can be
  /// split into such steps along, and of which other dims.
  static FailureOr<SplitStrides> get(OpBuilder &b, Location loc, Value tensor,
                                     OffsetSizeAndStrideOpInterface slice);

  RankedTensorType type;
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> shape, offsets, sizes, strides;
};

FailureOr<SplitStrides>
SplitStrides::get(OpBuilder &b, Location loc, Value tensor,
                  OffsetSizeAndStrideOpInterface slice) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SplitStrides split;
  SmallVector<int64_t> shape;
  auto add = [&](int64_t extent, OpFoldResult offset, OpFoldResult size,
                 OpFoldResult stride) {
    split.groups.back().push_back(shape.size());
    shape.push_back(extent);
    split.offsets.push_back(offset);
    split.sizes.push_back(size);
    split.strides.push_back(stride);
  };
  bool isSplit = false;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    split.groups.emplace_back();
    int64_t extent = type.getDimSize(d), offset = slice.getStaticOffset(d);
    int64_t size = slice.getStaticSize(d), stride = slice.getStaticStride(d);
    bool isKnown = !llvm::is_contained({extent, offset, size, stride},
                                       ShapedType::kDynamic);
    if (!isKnown || stride < 2 || size < 2 || extent % stride != 0) {
      add(extent, slice.getMixedOffsets()[d], slice.getMixedSizes()[d],
          slice.getMixedStrides()[d]);
      continue;
    }
    isSplit = true;
    add(extent / stride, b.getIndexAttr(offset / stride), b.getIndexAttr(size),
        b.getIndexAttr(1));
    add(stride, b.getIndexAttr(offset % stride), b.getIndexAttr(1),
        b.getIndexAttr(1));
  }
  if (!isSplit)
    return failure();
  split.type = RankedTensorType::get(shape, type.getElementType());
  for (auto [d, group] : llvm::enumerate(split.groups))
    for (int64_t part : group)
      split.shape.push_back(ShapedType::isDynamic(shape[part])
                                ? tensor::getMixedSize(b, loc, tensor, d)
                                : b.getIndexAttr(shape[part]));
  return split;
}

/// See populateStridedSlicePatterns.
struct StridedSliceToPoint : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SplitStrides> split =
        SplitStrides::get(rewriter, op.getLoc(), op.getSource(), op);
    if (failed(split))
      return failure();
    Value source = tensor::ExpandShapeOp::create(rewriter, op.getLoc(),
                                                 split->type, op.getSource(),
                                                 split->groups, split->shape);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, op.getType(), source, split->offsets, split->sizes, split->strides);
    return success();
  }
};

/// The same of what is written with a stride.
struct StridedInsertToPoint : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SplitStrides> split =
        SplitStrides::get(rewriter, op.getLoc(), op.getDest(), op);
    if (failed(split))
      return failure();
    Value dest = tensor::ExpandShapeOp::create(rewriter, op.getLoc(),
                                               split->type, op.getDest(),
                                               split->groups, split->shape);
    Value inserted = tensor::InsertSliceOp::create(
        rewriter, op.getLoc(), op.getSource(), dest, split->offsets,
        split->sizes, split->strides);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        op, op.getType(), inserted, split->groups);
    return success();
  }
};

/// A concatenation of tensors with unit dims does without them, as upstream's
/// patterns have it of linalg ops: what reads and makes the parts has none, and a
/// reshape would stand between. The dim that is joined along stays.
///   concat dim(2) a, b : 1x8x16, 1x8x16 -> 1x8x32
///     ->  expand_shape (concat dim(1) (collapse_shape a), (collapse_shape b))
struct FoldUnitDimsOfConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResultType();
    int64_t dim = op.getDim();
    // Each group has one dim that is kept; leading unit dims go to the first.
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> kept;
    ReassociationIndices group;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      bool isKept = d == dim || type.getDimSize(d) != 1;
      if (isKept && kept.size() > groups.size()) {
        groups.push_back(group);
        group.clear();
      }
      if (isKept)
        kept.push_back(d);
      group.push_back(d);
    }
    groups.push_back(group);
    if (static_cast<int64_t>(kept.size()) == type.getRank())
      return failure();
    auto dropUnits = [&](RankedTensorType from) {
      SmallVector<int64_t> shape;
      for (int64_t d : kept)
        shape.push_back(from.getDimSize(d));
      return RankedTensorType::get(shape, from.getElementType());
    };
    // Of a part whose extent is not known to be one, nothing is taken.
    for (Value input : op.getInputs())
      for (auto [d, extent] : llvm::enumerate(
               cast<RankedTensorType>(input.getType()).getShape()))
        if (!llvm::is_contained(kept, static_cast<int64_t>(d)) && extent != 1)
          return failure();
    ReifiedRankedShapedTypeDims shape;
    if (failed(op.reifyResultShapes(rewriter, shape)))
      return failure();
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(tensor::CollapseShapeOp::create(
          rewriter, op.getLoc(),
          dropUnits(cast<RankedTensorType>(input.getType())), input, groups));
    Value joined = tensor::ConcatOp::create(
        rewriter, op.getLoc(), dropUnits(type),
        llvm::find(kept, dim) - kept.begin(), inputs);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, joined, groups,
                                                       shape.front());
    return success();
  }
};

/// Named ops that compute point by point or reduce (add, exp, reduce, map,
/// broadcast ...) as generics. Contractions, fills and transposes are known by
/// name; convolutions and pooling are nobody's here.
struct GeneralizeNamed : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp>(
            op.getOperation()) ||
        linalg::isaContractionOpInterface(op) ||
        linalg::isaConvolutionOpInterface(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// A product of one row and one column, which reducing the rank leaves of a
/// matmul, as a generic: a sum like others, for every reader of sums.
struct GeneralizeDot : OpRewritePattern<linalg::DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::DotOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::generalizeNamedOp(rewriter, op);
  }
};
} // namespace

void coda::populateExpandClampPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandClamp>(patterns.getContext());
}

//===----------------------------------------------------------------------===//
// What is merged with what
//===----------------------------------------------------------------------===//

/// Whether `op` takes an element by an index that its body computes. A number,
/// a tensor of rank 0, has none.
static bool isGather(Operation &op) {
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  return extract && !extract.getIndices().empty();
}

/// A choice between numbers by integers and positions: what is stored of it is
/// no less than what it is made of.
static bool isMask(linalg::LinalgOp op) {
  for (Value input : op.getDpsInputs()) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!getElementTypeOrSelf(input).isIntOrIndex() && type &&
        type.getRank() != 0)
      return false;
  }
  return llvm::all_of(op->getRegion(0).front(), [](Operation &inner) {
    return !isGather(inner) &&
           isa<arith::ConstantOp, arith::CmpIOp, arith::AndIOp, arith::OrIOp,
               arith::XOrIOp, arith::SelectOp, arith::IndexCastOp,
               arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, linalg::IndexOp,
               tensor::ExtractOp, linalg::YieldOp>(inner);
  });
}

/// Casts, negations, masks and bare yields are free to copy into every reader.
static bool isFree(linalg::LinalgOp op) {
  return isMask(op) ||
         llvm::all_of(op->getRegion(0).front(),
                      llvm::IsaPred<arith::ExtFOp, arith::TruncFOp,
                                    arith::NegFOp, linalg::YieldOp>);
}

/// Gathers and asserts stay apart.
static bool isPlain(linalg::LinalgOp op) {
  return llvm::all_of(op->getRegion(0).front(), [](Operation &inner) {
    return isa<linalg::YieldOp>(inner) ||
           (!isGather(inner) && isMemoryEffectFree(&inner));
  });
}

static bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && isMatrixProduct(linalgOp);
}

/// Whether the operands that `op` reads tell the sizes of all its loops; masks
/// that will be computed in its body do not.
static bool givesSizes(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto def = input->get().getDefiningOp<linalg::LinalgOp>();
    if (!def || def.getNumReductionLoops() != 0 || !isMask(def) ||
        givesSizes(def))
      maps.push_back(op.getMatchingIndexingMap(input));
  }
  return !maps.empty() && inversePermutation(concatAffineMaps(
                              maps, op.getContext()));
}

/// Whether `use` reads a table: a value of several dims, the innermost of the
/// reader among them, at all points of another.
static bool readsTable(OpOperand *use) {
  auto consumer = cast<linalg::LinalgOp>(use->getOwner());
  AffineMap map = consumer.getMatchingIndexingMap(use);
  unsigned numLoops = consumer.getNumLoops();
  return map.getNumResults() >= 2 && map.getNumResults() < numLoops &&
         map.isFunctionOfDim(numLoops - 1);
}

static bool mayMerge(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(use->getOwner());
  if (!producer || !consumer)
    return true;
  if (isContraction(consumer) || producer.getNumReductionLoops() != 0 ||
      !isPlain(producer) || !isPlain(consumer))
    return false;
  // A reduction that does not see how far it goes keeps what it reduces.
  if (consumer.getNumReductionLoops() != 0 && !givesSizes(producer))
    return false;
  if (isFree(producer))
    return true;
  // A table, of cosines say, stays one: the reader would compute it once more at
  // each point that it is broadcast to, and it is no view of anything then.
  return producer->hasOneUse() && !readsTable(use);
}

namespace {
/// A number that a generic without loops computes is computed in the body that
/// reads it, under the conditions that hold for values of more dims: one row's
/// statistic is a number, and fuses as those of many rows do.
///   %r = generic() {rsqrt(extract %s[])}; generic ins(%x) {mul %in, extract %r[]}
///   ==>  generic ins(%x) {mul %in, rsqrt(extract %s[])}
struct ComputeNumberInBody : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  static linalg::GenericOp getProducer(tensor::ExtractOp extract) {
    auto producer = extract.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!producer || producer.getNumLoops() != 0 ||
        !producer.hasPureTensorSemantics() || !isPlain(producer) ||
        !(isFree(producer) || producer->hasOneUse()))
      return {};
    return producer;
  }

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (isContraction(op) || !isPlain(op))
      return failure();
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>()) {
      linalg::GenericOp producer = getProducer(extract);
      if (!producer)
        continue;
      rewriter.setInsertionPoint(extract);
      IRMapping mapping;
      for (OpOperand &operand : producer->getOpOperands()) {
        BlockArgument argument = producer.getMatchingBlockArgument(&operand);
        Value value = operand.get();
        if (!argument.use_empty() && isa<RankedTensorType>(value.getType()))
          value = tensor::ExtractOp::create(rewriter, extract.getLoc(), value,
                                            ValueRange());
        mapping.map(argument, value);
      }
      for (Operation &inner : producer.getBody()->without_terminator())
        rewriter.clone(inner, mapping);
      unsigned result =
          cast<OpResult>(extract.getTensor()).getResultNumber();
      rewriter.replaceOp(extract,
                         mapping.lookupOrDefault(
                             producer.getBody()->getTerminator()->getOperand(
                                 result)));
      return success();
    }
    return failure();
  }
};
} // namespace

/// Whether the dims `groups` of the result `value` can be joined in what makes it,
/// and in all that `mayMerge` will put into that: else a reshape that moved there
/// would stay between the two, which would not merge.
static bool mayCollapse(Value value, ArrayRef<ReassociationIndices> groups) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op)
    return true;
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(value));
  if (!map.isProjectedPermutation())
    return false;
  SmallVector<ReassociationIndices> dims;
  for (const ReassociationIndices &group : groups) {
    if (group.size() < 2)
      continue;
    ReassociationIndices &joined = dims.emplace_back();
    for (int64_t index : group)
      joined.push_back(map.getDimPosition(index));
  }
  if (!linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), dims))
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!input->get().getDefiningOp<linalg::GenericOp>() || !mayMerge(input))
      continue;
    // The sequences are in this map whole, or not at all.
    AffineMap read = op.getMatchingIndexingMap(input);
    SmallVector<ReassociationIndices> inner;
    for (const ReassociationIndices &joined : dims) {
      std::optional<unsigned> first = read.getResultPosition(
          getAffineDimExpr(joined.front(), read.getContext()));
      if (!first)
        continue;
      ReassociationIndices &group = inner.emplace_back();
      for (unsigned i = 0, e = joined.size(); i < e; ++i)
        group.push_back(*first + i);
    }
    if (!inner.empty() && !mayCollapse(input->get(), inner))
      return false;
  }
  return true;
}

void coda::populateStridedSlicePatterns(RewritePatternSet &patterns) {
  patterns.add<StridedSliceToPoint>(patterns.getContext());
}

static bool mayMoveReshape(OpOperand *use) {
  if (isContraction(use->get().getDefiningOp()) ||
      isContraction(use->getOwner()))
    return false;
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(use->getOwner());
  return !collapse ||
         mayCollapse(use->get(), collapse.getReassociationIndices());
}

namespace {
class NormalizePass : public coda::impl::NormalizePassBase<NormalizePass> {
public:
  using NormalizePassBase::NormalizePassBase;

  void runOnOperation() override {
    // Each step brings the clean-up of what it leaves behind; the order is
    // that of the description.
    apply([](RewritePatternSet &patterns) {
      populateExpandClampPatterns(patterns);
      populateScalarReadPatterns(patterns);
      populateSharedFactorPatterns(patterns);
      patterns.add<ExpandSmallPower, SplitSincos, RoundConstant,
                   GeneralizeUnitTranspose, GeneralizeNamed, GeneralizeDot,
                   ReshapeToView, StridedInsertToPoint>(patterns.getContext());
      populateStridedSlicePatterns(patterns);
      populateTakeNarrowFactors(patterns);
      linalg::populateElementwiseToLinalgConversionPatterns(patterns);
      linalg::populateContractionOpRankReducingPatterns(patterns);
    });
    apply([](RewritePatternSet &patterns) {
      linalg::ControlDropUnitDims options;
      linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
      linalg::populateMoveInitOperandsToInputPattern(patterns);
      patterns.add<FoldUnitDimsOfConcat>(patterns.getContext());
    });
    apply([](RewritePatternSet &patterns) {
      linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns,
                                                         mayMoveReshape);
      tensor::populateBubbleUpExtractSliceOpPatterns(patterns);
      linalg::populateInlineConstantOperandsPatterns(patterns);
    });
    apply([](RewritePatternSet &patterns) {
      linalg::populateElementwiseOpsFusionPatterns(patterns, mayMerge);
      patterns.add<ComputeNumberInBody>(patterns.getContext());
      populateSingleTermSumPatterns(patterns);
      linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    });
    apply([](RewritePatternSet &patterns) {
      populateTakeNarrowFactors(patterns);
      patterns.add<FoldTransposedFactor<linalg::MatmulOp>,
                   FoldTransposedFactor<linalg::BatchMatmulOp>,
                   FoldTransposedMatrix<linalg::VecmatOp, linalg::MatvecOp, 1>,
                   FoldTransposedMatrix<linalg::MatvecOp, linalg::VecmatOp, 0>,
                   FoldTransposedResult<linalg::TransposeOp>,
                   FoldTransposedResult<linalg::GenericOp>>(
          patterns.getContext());
    });
  }

private:
  void apply(function_ref<void(RewritePatternSet &)> populate) {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populate(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    linalg::FillOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    // Not reaching a fixpoint is no error: what is left is still right.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
