//===- SplitF32.cpp - Products of f32 factors as sums of bf16 ones --------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A float of 24 bits is the sum of three of 8, bf16 has the range of f32, and a
// matrix unit adds up products of bf16 in f32. Where a factor is infinite its
// other parts are zero, and infinity times a zero part of the other factor would
// be NaN; so the products of such parts take the factor without what is not
// finite in it, which leaves infinities and NaN to the product of leading parts.
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_SPLITF32PASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// Whether both factors of product `p` of `gemm` are of `type`.
static bool areOfType(TileOpInterface gemm, unsigned p, Type type) {
  return getElementTypeOrSelf(gemm.getLhs()[p]) == type &&
         getElementTypeOrSelf(gemm.getRhs()[p]) == type;
}

static bool isOfF32(TileOpInterface gemm, unsigned p) {
  return areOfType(gemm, p, Float32Type::get(gemm->getContext()));
}

/// Whether `gemm` has products of f32 factors, and with these in parts bf16 ones alone.
static bool canBeSplit(TileOpInterface gemm) {
  auto bf16 = BFloat16Type::get(gemm->getContext());
  bool hasF32 = false;
  for (unsigned p = 0; p < gemm.getNumProducts(); ++p) {
    hasF32 |= isOfF32(gemm, p);
    if (!isOfF32(gemm, p) && !areOfType(gemm, p, bf16))
      return false;
  }
  return hasF32;
}

namespace {
/// The parts of a factor: what is left of it when the parts before are taken away,
/// rounded to bf16. `LeadingFinite` is zero where the factor is not finite.
enum Part : unsigned { Leading, LeadingFinite, Second, Third, kNumParts };

/// Those that are needed, and as what tensors they are stored.
struct Parts {
  bool needed[kNumParts] = {};
  Value tensors[kNumParts];
};

/// Two parts that are multiplied with each other.
struct PartProduct {
  Part lhs, rhs;
};

class SplitF32Pass : public coda::impl::SplitF32PassBase<SplitF32Pass> {
public:
  using SplitF32PassBase::SplitF32PassBase;

  void runOnOperation() override {
    if (products == F32Products::F32)
      return;
    parts.clear();
    SmallVector<TileOpInterface> gemms;
    getOperation().walk([&](GemmOp op) {
      auto gemm = cast<TileOpInterface>(op.getOperation());
      if (!canBeSplit(gemm))
        return;
      Refusal refusal;
      if (succeeded(checkNumProducts(gemm, refusal))) {
        gemms.push_back(gemm);
        return;
      }
      emitRefusal(gemm, "coda-split-f32", "products not split", refusal);
      ++numRefused;
    });
    for (TileOpInterface gemm : gemms)
      for (unsigned p = 0; p < gemm.getNumProducts(); ++p)
        for (PartProduct product : getProducts(gemm, p)) {
          if (!isOfF32(gemm, p))
            continue;
          parts[gemm.getLhs()[p]].needed[product.lhs] = true;
          parts[gemm.getRhs()[p]].needed[product.rhs] = true;
        }
    IRRewriter rewriter(&getContext());
    for (auto &[factor, its] : parts)
      createParts(rewriter, factor, its);
    // Readers first: what replaces a gemm is known by no name here.
    for (TileOpInterface gemm : llvm::reverse(gemms))
      splitProducts(rewriter, gemm);
    numSplit += gemms.size();
  }

private:
  /// The products of parts that product `p` of `gemm` is the sum of; that of bf16
  /// factors is one.
  SmallVector<PartProduct> getProducts(TileOpInterface gemm, unsigned p);

  LogicalResult checkNumProducts(TileOpInterface gemm, Refusal &refusal);
  void createParts(RewriterBase &rewriter, Value factor, Parts &its);
  void splitProducts(RewriterBase &rewriter, TileOpInterface gemm);

  /// Of the factors of the function that is being rewritten.
  llvm::MapVector<Value, Parts> parts;
};
} // namespace

/// Whether `factor`, an f32 tensor, has nothing but bf16 values that were extended.
static bool isExtendedBF16(Value factor) {
  auto result = dyn_cast<OpResult>(getViewed(factor));
  auto op = result ? dyn_cast<TileOpInterface>(result.getOwner())
                   : TileOpInterface();
  if (!op || op.getCombiner(result.getResultNumber()))
    return false;
  return llvm::all_of(
      op.getYieldedValues(result.getResultNumber()), [](Value value) {
        auto ext = value.getDefiningOp<arith::ExtFOp>();
        return ext && ext.getIn().getType().isBF16();
      });
}

SmallVector<PartProduct> SplitF32Pass::getProducts(TileOpInterface gemm,
                                                   unsigned p) {
  unsigned numKept = products == F32Products::BF16x3 ? 2 : 3;
  if (!isOfF32(gemm, p))
    return {{Leading, Leading}};
  unsigned ofLhs = isExtendedBF16(gemm.getLhs()[p]) ? 1 : numKept;
  unsigned ofRhs = isExtendedBF16(gemm.getRhs()[p]) ? 1 : numKept;
  auto getPart = [](unsigned order, unsigned orderOfOther) {
    constexpr Part later[] = {LeadingFinite, Second, Third};
    return order == 0 && orderOfOther == 0 ? Leading : later[order];
  };
  // The smallest first: what is added to a large sum loses bits.
  SmallVector<PartProduct> result;
  for (unsigned order = numKept; order-- > 0;)
    for (unsigned i = 0; i <= order; ++i)
      if (unsigned j = order - i; i < ofLhs && j < ofRhs)
        result.push_back({getPart(i, j), getPart(j, i)});
  return result;
}

/// Whether all copies of its k dims are as many as a gemm has.
LogicalResult SplitF32Pass::checkNumProducts(TileOpInterface gemm,
                                             Refusal &refusal) {
  size_t most = 1;
  for (unsigned p = 0; p < gemm.getNumProducts(); ++p)
    most = std::max(most, getProducts(gemm, p).size());
  if (most * gemm.getNumDims(DimKind::k) <= kMaxDimsPerKind)
    return success();
  return refuse(refusal, FusionReason::ResourceBound, gemm,
                "its parts would be contracted over more than " +
                    Twine(kMaxDimsPerKind) + " dims");
}

/// `value`, an f32, rounded to the eight bits of bf16, as an f32: in integers, since
/// a rounding that is extended again is one that fusion may forgo. Ties go away from
/// zero. What would round to infinity is cut off instead.
static Value roundToEightBits(ImplicitLocOpBuilder &b, Value value) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  auto integer = [&](uint32_t bits) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(bits)).getResult();
  };
  // The least of which adding half of the last bit kept makes an infinity.
  constexpr float kRoundsToInfinity = 0x1.FFp127f;
  Value isBelow = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, value),
      arith::ConstantOp::create(b, b.getF32FloatAttr(kRoundsToInfinity)));
  Value half = arith::SelectOp::create(b, isBelow, integer(0x8000), integer(0));
  Value bits = arith::AddIOp::create(
      b, arith::BitcastOp::create(b, i32, value), half);
  bits = arith::AndIOp::create(b, bits, integer(0xFFFF0000));
  return arith::BitcastOp::create(b, f32, bits);
}

void SplitF32Pass::createParts(RewriterBase &rewriter, Value factor,
                               Parts &its) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(factor);
  Location loc = factor.getLoc();
  auto type = cast<RankedTensorType>(factor.getType());
  int64_t rank = type.getRank();
  Type bf16 = rewriter.getBF16Type();
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  TileOpSpec spec;
  // The last is a column, and the others are rows.
  spec.dims[unsigned(DimKind::m)] = std::max<int64_t>(rank - 1, 0);
  spec.dims[unsigned(DimKind::n)] = std::min<int64_t>(rank, 1);
  spec.inputs = {factor};
  spec.loadCombiners = {rewriter.getUnitAttr()};
  spec.maps = {identity};
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, factor);
  for (bool isNeeded : its.needed) {
    if (!isNeeded)
      continue;
    spec.outputs.push_back(
        tensor::EmptyOp::create(rewriter, loc, sizes, bf16));
    spec.maps.push_back(identity);
    spec.combiners.push_back(rewriter.getUnitAttr());
    spec.fresh.push_back(false);
  }
  TileOpInterface map = createTileOp(rewriter, loc, spec);
  for (unsigned part = 0, output = 0; part < kNumParts; ++part)
    if (its.needed[part])
      its.tensors[part] = map->getResult(output++);

  ImplicitLocOpBuilder b(loc, rewriter);
  b.setInsertionPointToEnd(&map.getBody().front());
  Value value = map.getInputArguments(0)[0];
  bool hasRest = its.needed[Second];
  Value values[kNumParts];
  if (!hasRest && !its.needed[LeadingFinite]) {
    values[Leading] = value;
  } else {
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    Value infinity = arith::ConstantOp::create(
        b, b.getF32FloatAttr(std::numeric_limits<float>::infinity()));
    Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                           math::AbsFOp::create(b, value),
                                           infinity);
    Value rest = arith::SelectOp::create(b, isFinite, value, zero);
    Value leading = roundToEightBits(b, rest);
    values[LeadingFinite] = leading;
    values[Leading] = arith::SelectOp::create(b, isFinite, leading, value);
    if (hasRest) {
      rest = arith::SubFOp::create(b, rest, leading);
      values[Second] = rest;
    }
    if (its.needed[Third]) {
      values[Second] = roundToEightBits(b, rest);
      values[Third] = arith::SubFOp::create(b, rest, values[Second]);
    }
  }
  SmallVector<Value> yielded;
  for (unsigned part = 0; part < kNumParts; ++part)
    if (its.needed[part])
      yielded.push_back(arith::TruncFOp::create(b, bf16, values[part]));
  YieldOp::create(b, yielded);
}

void SplitF32Pass::splitProducts(RewriterBase &rewriter,
                                 TileOpInterface gemm) {
  TileOpSpec spec(gemm);
  unsigned numProducts = gemm.getNumProducts();
  spec.lhs.clear();
  spec.rhs.clear();
  // A k dim belongs to one product of an accumulator, and to products of others:
  // the n-th one of its parts has it, or the n-th copy of it.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> copies;
  unsigned numDims = spec.getNumDomainDims();
  auto withOwnK = [&](AffineMap map, unsigned part) {
    SmallVector<AffineExpr> results(map.getResults());
    for (AffineExpr &result : results) {
      unsigned d = cast<AffineDimExpr>(result).getPosition();
      if (part == 0 || gemm.getDimKind(d) != DimKind::k)
        continue;
      auto [copy, isNew] = copies.try_emplace({d, part}, numDims);
      numDims += isNew;
      result = rewriter.getAffineDimExpr(copy->second);
    }
    return AffineMap::get(numDims, 0, results, rewriter.getContext());
  };
  // A bf16 factor has no parts.
  auto getTensor = [&](Value factor, Part part) {
    auto it = parts.find(factor);
    return it == parts.end() ? factor : it->second.tensors[part];
  };
  SmallVector<AffineMap> lhsMaps, rhsMaps;
  unsigned p = 0;
  for (int32_t &size : spec.accSizes) {
    int32_t numParts = 0;
    for (unsigned end = p + size; p < end; ++p)
      for (auto [part, product] : llvm::enumerate(getProducts(gemm, p))) {
        spec.lhs.push_back(getTensor(gemm.getLhs()[p], product.lhs));
        spec.rhs.push_back(getTensor(gemm.getRhs()[p], product.rhs));
        lhsMaps.push_back(withOwnK(gemm.getLhsMap(p), part));
        rhsMaps.push_back(withOwnK(gemm.getRhsMap(p), part));
        ++numParts;
      }
    size = numParts;
  }
  SmallVector<AffineMap> maps = std::move(lhsMaps);
  llvm::append_range(maps, rhsMaps);
  llvm::append_range(maps, ArrayRef(spec.maps).drop_front(2 * numProducts));
  for (AffineMap &map : maps)
    map = AffineMap::get(numDims, 0, map.getResults(), rewriter.getContext());
  spec.maps = std::move(maps);
  // The copies come after the k dims; p dims are behind those.
  unsigned firstP = gemm.getDimPosition(DimKind::p, 0);
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq(firstP));
  llvm::append_range(order, llvm::seq(spec.getNumDomainDims(), numDims));
  llvm::append_range(order, llvm::seq(firstP, spec.getNumDomainDims()));
  reorderDims(spec, order);
  spec.dims[unsigned(DimKind::k)] += copies.size();
  TileOpInterface split = recreate(rewriter, gemm, spec);
  rewriter.replaceOp(gemm, split->getResults());
}
