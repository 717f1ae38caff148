//===- TileOpRegion.cpp - Points and parts of a tile op's region ----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::coda;

SmallVector<UnrollPoint> coda::getUnrollPoints(TileOpInterface op,
                                               AffineMap map) {
  SmallVector<int64_t> extents = op.getStaticExtents();
  SmallVector<UnrollPoint> points(1);
  for (unsigned i = 0; i < op.getNumDims(DimKind::u); ++i) {
    unsigned dim = op.getDimPosition(DimKind::u, i);
    if (!map.isFunctionOfDim(dim))
      continue;
    SmallVector<UnrollPoint> next;
    for (const UnrollPoint &point : points)
      for (int64_t v = 0; v < extents[dim]; ++v) {
        next.push_back(point);
        next.back()[dim] = v;
      }
    points = std::move(next);
  }
  return points;
}

Value coda::lookupPoint(ArrayRef<UnrollPoint> points, ValueRange values,
                        const UnrollPoint &wanted) {
  for (auto [point, value] : llvm::zip_equal(points, values))
    if (llvm::all_of(point, [&](const auto &entry) {
          auto it = wanted.find(entry.first);
          return it != wanted.end() && it->second == entry.second;
        }))
      return value;
  return {};
}

llvm::SmallPtrSet<Operation *, 32>
coda::getNeededOps(ValueRange values, function_ref<bool(Value)> isGiven) {
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (isGiven(value))
      continue;
    Operation *def = value.getDefiningOp();
    if (def && needed.insert(def).second)
      llvm::append_range(worklist, def->getOperands());
  }
  return needed;
}

Value coda::convertFloat(OpBuilder &b, Location loc, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(b, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(b, loc, type, value);
  // f16 and bf16: no direct cast.
  Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  return arith::TruncFOp::create(b, loc, type, wide);
}

bool coda::isQuantizedFloat(Type type) {
  return isa_and_nonnull<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}
