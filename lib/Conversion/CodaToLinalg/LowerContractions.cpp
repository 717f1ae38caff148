//===- LowerContractions.cpp - Packed, register-tiled contractions --------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop nest for every contraction on the CPU, whatever the order of its
// dims: blocks of both factors are packed into panels, widened to the type of
// the accumulator, and a register tile of kMR rows by two vectors runs over a
// block of the contraction. Each element is one chain of FMAs in ascending
// order of k, whatever the tiles, so that a fused and an unfused program agree
// bit by bit.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODALOWERCONTRACTIONS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

/// Rows of the register tile: with two vectors of columns, 12 accumulators of
/// the 16 vector registers of AVX2.
constexpr int64_t kMR = 6;
/// Extents of the blocks: kMC x kKC of the left factor stays in L2, a panel of
/// kKC x NR of the right one in L1.
constexpr int64_t kMC = 96;
constexpr int64_t kNC = 2048;
constexpr int64_t kKC = 256;
/// Bits of a vector register.
constexpr int64_t kVectorBits = 256;

enum class DimClass { Batch, M, N, K };

/// A contraction C += A * B, B's columns along C's contiguous dim.
struct Contraction {
  Value lhs, rhs, acc;
  AffineMap lhsMap, rhsMap, accMap;
  SmallVector<DimClass> classes;
  /// The dims that are blocked; the others are plain loops.
  unsigned m = 0, n = 0, k = 0;
  FloatType type; ///< Of the accumulator in registers.
};

/// The factor that `value` widens, or `value`.
Value skipExtension(Value value) {
  if (auto ext = value.getDefiningOp<arith::ExtFOp>())
    return ext.getIn();
  return value;
}

/// Whether the body is acc + a * b, the factors perhaps widened.
bool isMultiplyAccumulate(linalg::GenericOp op) {
  Block &body = *op.getBody();
  auto yield = cast<linalg::YieldOp>(body.getTerminator());
  auto add = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  Value out = body.getArgument(2);
  Value product = add.getLhs() == out ? add.getRhs() : add.getLhs();
  if (add.getLhs() != out && add.getRhs() != out)
    return false;
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul || !product.hasOneUse())
    return false;
  Value a = skipExtension(mul.getLhs()), b = skipExtension(mul.getRhs());
  return (a == body.getArgument(0) && b == body.getArgument(1)) ||
         (a == body.getArgument(1) && b == body.getArgument(0));
}

/// Static stride of the dim of `value` that result `result` indexes, if known.
std::optional<int64_t> strideOf(Value value, unsigned result) {
  auto type = cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(strides[result]))
    return std::nullopt;
  return strides[result];
}

std::optional<Contraction> match(linalg::GenericOp op, bool strict) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !isMultiplyAccumulate(op))
    return std::nullopt;
  Contraction c;
  c.lhs = op.getDpsInputs()[0];
  c.rhs = op.getDpsInputs()[1];
  c.acc = op.getDpsInits()[0];
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  c.lhsMap = maps[0];
  c.rhsMap = maps[1];
  c.accMap = maps[2];
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation() || map.getNumResults() == 0)
      return std::nullopt;
  for (Value value : {c.lhs, c.rhs, c.acc}) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || !isa<Float8E4M3FNType, Float8E5M2Type, Float16Type,
                      BFloat16Type, Float32Type, Float64Type>(
                     type.getElementType()))
      return std::nullopt;
  }
  Type accType = cast<MemRefType>(c.acc.getType()).getElementType();
  c.type = dyn_cast<FloatType>(accType);
  if (c.type.getWidth() < 32) {
    // The source rounds every partial sum; that is kept only where rounding is
    // to be kept.
    if (strict)
      return std::nullopt;
    c.type = Float32Type::get(op.getContext());
  }
  for (Value value : {c.lhs, c.rhs}) {
    auto type =
        cast<FloatType>(cast<MemRefType>(value.getType()).getElementType());
    if (type.getWidth() > c.type.getWidth())
      return std::nullopt;
  }

  auto last = cast<AffineDimExpr>(c.accMap.getResults().back()).getPosition();
  if (!c.rhsMap.isFunctionOfDim(last)) {
    std::swap(c.lhs, c.rhs);
    std::swap(c.lhsMap, c.rhsMap);
  }
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::optional<unsigned> m, k;
  auto larger = [&](unsigned dim, std::optional<unsigned> than) {
    auto size = [&](unsigned d) {
      return ShapedType::isDynamic(extents[d]) ? INT64_MAX : extents[d];
    };
    return !than || size(dim) >= size(*than);
  };
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    bool inA = c.lhsMap.isFunctionOfDim(dim);
    bool inB = c.rhsMap.isFunctionOfDim(dim);
    bool inC = c.accMap.isFunctionOfDim(dim);
    if (inA && inB && inC) {
      c.classes.push_back(DimClass::Batch);
    } else if (inA && inC) {
      c.classes.push_back(DimClass::M);
      if (larger(dim, m))
        m = dim;
    } else if (inB && inC) {
      c.classes.push_back(DimClass::N);
    } else if (inA && inB) {
      c.classes.push_back(DimClass::K);
      if (larger(dim, k))
        k = dim;
    } else {
      return std::nullopt;
    }
  }
  if (!m || !k || c.classes[last] != DimClass::N)
    return std::nullopt;
  if (accType != c.type && llvm::count(c.classes, DimClass::K) > 1)
    return std::nullopt;
  c.m = *m;
  c.n = last;
  c.k = *k;
  return c;
}

/// Builds the loops of one contraction.
class ContractionEmitter {
public:
  ContractionEmitter(linalg::GenericOp op, const Contraction &c)
      : b(op.getLoc(), op), op(op), c(c),
        lanes(kVectorBits / FloatType(c.type).getWidth()), nr(2 * lanes),
        vector(VectorType::get({lanes}, c.type)),
        extents(op.getStaticLoopRanges()) {}

  void emit();

private:
  using Body = function_ref<void(Value)>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  void loop(Value lower, Value upper, Value step, Body body);
  void loop(Value upper, int64_t step, Body body) {
    loop(index(0), upper, index(step), body);
  }
  void loops(ArrayRef<unsigned> dims, function_ref<void()> body);
  Value extent(unsigned dim);
  int64_t bounded(unsigned dim, int64_t limit, int64_t multiple);

  Value load(Value from, AffineMap map, ArrayRef<Value> ivs);
  Value widen(Value value);
  Value zero(Type type) {
    return arith::ConstantOp::create(b, b.getZeroAttr(type));
  }
  /// Packs rows [x0, x0 + count) of `from` along `dim` and `depth` points of
  /// the contraction from `k0` on into panels of `width` rows, k-major, zeros
  /// where there is no row, at `base` of `to`.
  void pack(Value from, AffineMap map, unsigned dim, int64_t width, Value x0,
            Value count, Value k0, Value depth, Value to, Value base);
  void packRows(Value from, AffineMap map, unsigned dim, int64_t width,
                Value x0, Value k0, Value depth, Value to, Value base);
  void packScalar(Value from, AffineMap map, unsigned dim, int64_t width,
                  Value x0, Value count, Value kFrom, Value k0, Value depth,
                  Value to, Value base);
  SmallVector<Value> transpose8x8(ArrayRef<Value> rows);
  /// The register tile at row m0, column n0, of `rows` by `columns` points.
  void tile(Value aBase, Value bBase, Value depth, Value m0, Value n0,
            Value rows, Value columns);
  Value accView(Value m0, Value n0);
  void copyAcc(Value m0, Value n0, Value rows, Value columns, bool in);

  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  const Contraction &c;
  int64_t lanes, nr;
  VectorType vector;
  SmallVector<int64_t> extents;
  /// The values of the plain loops, by dim; of blocked dims, set where used.
  SmallVector<Value> ivs;
  Value panelsA, panelsB, edge;
};

void ContractionEmitter::loop(Value lower, Value upper, Value step,
                              Body body) {
  auto forOp = scf::ForOp::create(b, lower, upper, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

void ContractionEmitter::loops(ArrayRef<unsigned> dims,
                               function_ref<void()> body) {
  if (dims.empty())
    return body();
  loop(extent(dims.front()), 1, [&](Value iv) {
    ivs[dims.front()] = iv;
    loops(dims.drop_front(), body);
  });
}

Value ContractionEmitter::extent(unsigned dim) {
  if (!ShapedType::isDynamic(extents[dim]))
    return index(extents[dim]);
  for (auto [value, map] :
       {std::pair{c.lhs, c.lhsMap}, std::pair{c.rhs, c.rhsMap}})
    if (std::optional<unsigned> result =
            map.getResultPosition(b.getAffineDimExpr(dim)))
      return memref::DimOp::create(b, value, *result);
  llvm_unreachable("every dim indexes a factor");
}

/// Extent of a block of `dim`: at most `limit`, a multiple of `multiple`.
int64_t ContractionEmitter::bounded(unsigned dim, int64_t limit,
                                    int64_t multiple) {
  if (ShapedType::isDynamic(extents[dim]))
    return limit;
  return std::min(limit, std::max<int64_t>(
                             llvm::alignTo(extents[dim], multiple), multiple));
}

Value ContractionEmitter::load(Value from, AffineMap map,
                               ArrayRef<Value> point) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
  return memref::LoadOp::create(b, from, indices);
}

Value ContractionEmitter::widen(Value value) {
  Type to = c.type;
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    to = vectorType.clone(to);
  if (value.getType() == to)
    return value;
  return arith::ExtFOp::create(b, to, value);
}

void ContractionEmitter::packScalar(Value from, AffineMap map, unsigned dim,
                                    int64_t width, Value x0, Value count,
                                    Value kFrom, Value k0, Value depth,
                                    Value to, Value base) {
  loop(kFrom, depth, index(1), [&](Value k) {
    Value row = add(base, mul(k, index(width)));
    ivs[c.k] = add(k0, k);
    loop(count, 1, [&](Value x) {
      ivs[dim] = add(x0, x);
      memref::StoreOp::create(b, widen(load(from, map, ivs)), to,
                              ValueRange{add(row, x)});
    });
    loop(count, index(width), index(1), [&](Value x) {
      memref::StoreOp::create(b, zero(c.type), to, ValueRange{add(row, x)});
    });
  });
}

/// The transpose of 8 vectors of 8, in three rounds of shuffles.
SmallVector<Value> ContractionEmitter::transpose8x8(ArrayRef<Value> rows) {
  SmallVector<Value> in(rows), out(8);
  auto shuffle = [&](Value x, Value y, ArrayRef<int64_t> mask) -> Value {
    return vector::ShuffleOp::create(b, x, y, mask);
  };
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = shuffle(in[2 * i], in[2 * i + 1], {0, 8, 1, 9, 4, 12, 5, 13});
    out[2 * i + 1] =
        shuffle(in[2 * i], in[2 * i + 1], {2, 10, 3, 11, 6, 14, 7, 15});
  }
  in = out;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      Value x = in[4 * i + j], y = in[4 * i + 2 + j];
      out[4 * i + 2 * j] = shuffle(x, y, {0, 1, 8, 9, 4, 5, 12, 13});
      out[4 * i + 2 * j + 1] = shuffle(x, y, {2, 3, 10, 11, 6, 7, 14, 15});
    }
  in = out;
  for (int i = 0; i < 4; ++i) {
    out[i] = shuffle(in[i], in[4 + i], {0, 1, 2, 3, 8, 9, 10, 11});
    out[4 + i] = shuffle(in[i], in[4 + i], {4, 5, 6, 7, 12, 13, 14, 15});
  }
  return out;
}

/// A full panel: whole vectors along whichever dim is contiguous.
void ContractionEmitter::packRows(Value from, AffineMap map, unsigned dim,
                                  int64_t width, Value x0, Value k0,
                                  Value depth, Value to, Value base) {
  auto vectorLoad = [&](int64_t size) -> Value {
    SmallVector<Value> indices;
    for (AffineExpr expr : map.getResults())
      indices.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
    auto type = VectorType::get(
        {size}, cast<MemRefType>(from.getType()).getElementType());
    return widen(vector::LoadOp::create(b, type, from, indices));
  };
  auto strideAlong = [&](unsigned d) {
    return strideOf(from, *map.getResultPosition(b.getAffineDimExpr(d)));
  };
  if (strideAlong(dim) == 1) {
    loop(depth, 1, [&](Value k) {
      ivs[c.k] = add(k0, k);
      Value row = add(base, mul(k, index(width)));
      int64_t step = width == kMR ? kMR : lanes;
      for (int64_t x = 0; x < width; x += step) {
        ivs[dim] = add(x0, index(x));
        vector::StoreOp::create(b, vectorLoad(step), to,
                                ValueRange{add(row, index(x))});
      }
    });
    return;
  }
  if (strideAlong(c.k) != 1 || lanes != 8) {
    packScalar(from, map, dim, width, x0, index(width), index(0), k0, depth, to,
               base);
    return;
  }
  // Blocks of 8 rows by 8 points; with 6 rows, the last two lanes of a store
  // are overwritten by the next one.
  Value whole = mul(arith::DivUIOp::create(b, depth, index(8)), index(8));
  loop(whole, 8, [&](Value k) {
    ivs[c.k] = add(k0, k);
    for (int64_t x = 0; x < width; x += 8) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < std::min<int64_t>(8, width - x); ++r) {
        ivs[dim] = add(x0, index(x + r));
        rows.push_back(vectorLoad(8));
      }
      rows.resize(8, zero(vector));
      for (auto [i, column] : llvm::enumerate(transpose8x8(rows))) {
        Value row = add(base, mul(add(k, index(i)), index(width)));
        vector::StoreOp::create(b, column, to,
                                ValueRange{add(row, index(x))});
      }
    }
  });
  packScalar(from, map, dim, width, x0, index(width), whole, k0, depth, to,
             base);
}

void ContractionEmitter::pack(Value from, AffineMap map, unsigned dim,
                              int64_t width, Value x0, Value count, Value k0,
                              Value depth, Value to, Value base) {
  loop(count, width, [&](Value x) {
    Value left = sub(count, x);
    Value at = add(base, mul(x, depth));
    Value full = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left,
                                       index(width));
    auto ifOp = scf::IfOp::create(b, full, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    packRows(from, map, dim, width, add(x0, x), k0, depth, to, at);
    b.setInsertionPointToStart(ifOp.elseBlock());
    packScalar(from, map, dim, width, add(x0, x), left, index(0), k0, depth, to,
               at);
  });
}

/// The accumulator at (m0, n0) as kMR x nr, m by n.
Value ContractionEmitter::accView(Value m0, Value n0) {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  int64_t mResult = 0;
  for (auto [i, expr] : llvm::enumerate(c.accMap.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim == c.m)
      mResult = i;
    offsets.push_back(dim == c.m ? m0 : dim == c.n ? n0 : ivs[dim]);
    sizes.push_back(b.getIndexAttr(dim == c.m ? kMR : dim == c.n ? nr : 1));
    strides.push_back(b.getIndexAttr(1));
  }
  auto type = cast<MemRefType>(c.acc.getType());
  SmallVector<int64_t> accStrides;
  int64_t offset;
  (void)type.getStridesAndOffset(accStrides, offset);
  auto resultType = MemRefType::get(
      {kMR, nr}, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                             {accStrides[mResult], accStrides.back()}));
  Value view = memref::SubViewOp::create(b, resultType, c.acc, offsets, sizes,
                                         strides);
  auto common = MemRefType::get(
      {kMR, nr}, c.type,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                             {ShapedType::kDynamic, 1}));
  return memref::CastOp::create(b, common, view);
}

/// Between the accumulator and the edge tile, with conversion.
void ContractionEmitter::copyAcc(Value m0, Value n0, Value rows, Value columns,
                                 bool in) {
  loop(rows, 1, [&](Value r) {
    loop(columns, 1, [&](Value x) {
      SmallVector<Value> indices;
      for (AffineExpr expr : c.accMap.getResults()) {
        unsigned dim = cast<AffineDimExpr>(expr).getPosition();
        indices.push_back(dim == c.m   ? add(m0, r)
                          : dim == c.n ? add(n0, x)
                                       : ivs[dim]);
      }
      if (in) {
        Value value = memref::LoadOp::create(b, c.acc, indices);
        memref::StoreOp::create(b, widen(value), edge, ValueRange{r, x});
        return;
      }
      Value value = memref::LoadOp::create(b, edge, ValueRange{r, x});
      Type type = cast<MemRefType>(c.acc.getType()).getElementType();
      if (type != c.type)
        value = arith::TruncFOp::create(b, type, value);
      memref::StoreOp::create(b, value, c.acc, indices);
    });
  });
}

void ContractionEmitter::tile(Value aBase, Value bBase, Value depth, Value m0,
                              Value n0, Value rows, Value columns) {
  bool direct =
      cast<MemRefType>(c.acc.getType()).getElementType() == c.type &&
      strideOf(c.acc, c.accMap.getNumResults() - 1) == 1;
  auto common = MemRefType::get(
      {kMR, nr}, c.type,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                             {ShapedType::kDynamic, 1}));
  Value full = arith::AndIOp::create(
      b,
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rows, index(kMR)),
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, columns, index(nr)));
  if (!direct)
    full = arith::ConstantIntOp::create(b, 0, 1);
  // Tiles at an edge go through a tile of their own, so that there is one loop.
  auto choose = scf::IfOp::create(b, TypeRange{common}, full,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choose.thenBlock());
    Value view = direct ? accView(m0, n0)
                        : Value(memref::CastOp::create(b, common, edge));
    scf::YieldOp::create(b, view);
    b.setInsertionPointToStart(choose.elseBlock());
    for (int64_t r = 0; r < kMR; ++r)
      for (int64_t x = 0; x < nr; x += lanes)
        vector::StoreOp::create(b, zero(vector), edge,
                                ValueRange{index(r), index(x)});
    copyAcc(m0, n0, rows, columns, /*in=*/true);
    scf::YieldOp::create(b, Value(memref::CastOp::create(b, common, edge)));
  }
  Value view = choose.getResult(0);
  SmallVector<Value> accs;
  for (int64_t r = 0; r < kMR; ++r)
    for (int64_t x = 0; x < nr; x += lanes)
      accs.push_back(vector::LoadOp::create(
          b, vector, view, ValueRange{index(r), index(x)}));
  auto forOp = scf::ForOp::create(b, index(0), depth, index(1), accs);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    Value k = forOp.getInductionVar();
    Value aRow = add(aBase, mul(k, index(kMR)));
    Value bRow = add(bBase, mul(k, index(nr)));
    SmallVector<Value> columnsOfB, next;
    for (int64_t x = 0; x < nr; x += lanes)
      columnsOfB.push_back(vector::LoadOp::create(
          b, vector, panelsB, ValueRange{add(bRow, index(x))}));
    for (int64_t r = 0; r < kMR; ++r) {
      Value a = memref::LoadOp::create(b, panelsA,
                                       ValueRange{add(aRow, index(r))});
      Value wide = vector::BroadcastOp::create(b, vector, a);
      for (auto [i, column] : llvm::enumerate(columnsOfB))
        next.push_back(vector::FMAOp::create(
            b, wide, column,
            forOp.getRegionIterArg(r * columnsOfB.size() + i)));
    }
    scf::YieldOp::create(b, next);
  }
  int64_t i = 0;
  for (int64_t r = 0; r < kMR; ++r)
    for (int64_t x = 0; x < nr; x += lanes)
      vector::StoreOp::create(b, forOp.getResult(i++), view,
                              ValueRange{index(r), index(x)});
  auto partial = scf::IfOp::create(
      b, arith::XOrIOp::create(b, full, arith::ConstantIntOp::create(b, 1, 1)),
      /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(partial.thenBlock());
  copyAcc(m0, n0, rows, columns, /*in=*/false);
}

void ContractionEmitter::emit() {
  // Between blocks of k, sums are kept in the accumulator's buffer; where that
  // is narrower than the register, there is one block.
  bool narrow =
      cast<MemRefType>(c.acc.getType()).getElementType() != c.type;
  SmallVector<unsigned> outer, outerN;
  for (unsigned dim = 0; dim < c.classes.size(); ++dim) {
    if (dim == c.m || dim == c.n || dim == c.k)
      continue;
    (c.classes[dim] == DimClass::N ? outerN : outer).push_back(dim);
  }
  ivs.assign(c.classes.size(), Value());

  Value extentM = extent(c.m), extentN = extent(c.n), extentK = extent(c.k);
  int64_t mc = bounded(c.m, kMC, kMR), nc = bounded(c.n, kNC, nr);
  Value copies = index(1);
  for (unsigned dim : outerN)
    copies = mul(copies, extent(dim));
  Value kc = narrow ? extentK : index(bounded(c.k, kKC, 1));

  auto alloc = [&](Value size) -> Value {
    auto type = MemRefType::get({ShapedType::kDynamic}, c.type);
    return memref::AllocOp::create(b, type, ValueRange{size},
                                   b.getI64IntegerAttr(64));
  };
  // The last store of a panel of six rows reaches two elements further.
  panelsA = alloc(add(mul(index(mc), kc), index(8)));
  panelsB = alloc(mul(mul(index(nc), kc), copies));
  edge = memref::AllocOp::create(b, MemRefType::get({kMR, nr}, c.type),
                                 b.getI64IntegerAttr(64));

  loops(outer, [&]() {
    loop(extentN, nc, [&](Value n0) {
      Value columns = min(index(nc), sub(extentN, n0));
      Value padded = mul(arith::CeilDivUIOp::create(b, columns, index(nr)),
                         index(nr));
      loop(index(0), extentK, arith::MaxSIOp::create(b, kc, index(1)), [&](Value k0) {
        Value depth = min(kc, sub(extentK, k0));
        // Where in the panels the columns at the outer n dims begin.
        auto baseOf = [&]() {
          Value base = index(0);
          for (unsigned dim : outerN)
            base = add(mul(base, extent(dim)), ivs[dim]);
          return mul(mul(base, padded), depth);
        };
        loops(outerN, [&]() {
          pack(c.rhs, c.rhsMap, c.n, nr, n0, columns, k0, depth, panelsB,
               baseOf());
        });
        loop(extentM, mc, [&](Value m0) {
          Value rows = min(index(mc), sub(extentM, m0));
          pack(c.lhs, c.lhsMap, c.m, kMR, m0, rows, k0, depth, panelsA,
               index(0));
          loops(outerN, [&]() {
            Value base = baseOf();
            loop(columns, nr, [&](Value n) {
              Value width = min(index(nr), sub(columns, n));
              loop(rows, kMR, [&](Value m) {
                tile(mul(m, depth), add(base, mul(n, depth)), depth,
                     add(m0, m), add(n0, n), min(index(kMR), sub(rows, m)),
                     width);
              });
            });
          });
        });
      });
    });
  });
}

/// Makes one dim of neighbouring dims that all operands have, or not, together
/// and contiguously: (batch, token) is one m dim to a weight.
linalg::GenericOp collapseDims(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto together = [&](unsigned dim, unsigned next) {
    ReassociationIndices pair = {int64_t(dim), int64_t(next)};
    return linalg::areDimSequencesPreserved(maps, {pair}) &&
           llvm::all_of(maps, [&](AffineMap map) {
             return map.isFunctionOfDim(dim) == map.isFunctionOfDim(next);
           });
  };
  IRRewriter rewriter(op);
  for (unsigned dim = 0; dim + 1 < op.getNumLoops();) {
    if (!together(dim, dim + 1)) {
      ++dim;
      continue;
    }
    ReassociationIndices pair = {int64_t(dim), int64_t(dim + 1)};
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed =
        linalg::collapseOpIterationDims(op, {pair}, rewriter);
    if (failed(collapsed)) {
      ++dim;
      continue;
    }
    rewriter.eraseOp(op);
    op = cast<linalg::GenericOp>(collapsed->collapsedOp.getOperation());
    maps = op.getIndexingMapsArray();
  }
  return op;
}

struct LowerContractions
    : public coda::impl::CodaLowerContractionsBase<LowerContractions> {
  using CodaLowerContractionsBase::CodaLowerContractionsBase;

  void runOnOperation() override {
    bool strict = numerics == coda::Numerics::Strict;
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (!match(op, strict))
        continue;
      op = collapseDims(op);
      std::optional<Contraction> contraction = match(op, strict);
      if (!contraction)
        continue;
      ContractionEmitter(op, *contraction).emit();
      op.erase();
      ++numLowered;
    }
  }
};

} // namespace
