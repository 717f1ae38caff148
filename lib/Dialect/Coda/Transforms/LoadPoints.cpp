//===- LoadPoints.cpp - Loads of all points of a dim together -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::coda;

TileOpInterface
coda::loadPoints(RewriterBase &rewriter, TileOpInterface op, Value whole,
                 unsigned dim, ArrayRef<std::pair<unsigned, int64_t>> points) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  TileOpSpec spec(op);
  // The new dim is the last of the u dims; k and p dims stand behind it.
  unsigned pointDim = 0;
  for (unsigned kind = 0; kind <= unsigned(DimKind::u); ++kind)
    pointDim += spec.dims[kind];
  ++spec.dims[unsigned(DimKind::u)];
  SmallVector<AffineExpr> newDims;
  for (unsigned d = 0; d < op.getNumDomainDims(); ++d)
    newDims.push_back(rewriter.getAffineDimExpr(d < pointDim ? d : d + 1));
  for (AffineMap &map : spec.maps)
    map = map.replaceDimsAndSymbols(newDims, {}, spec.getNumDomainDims(), 0);

  unsigned numFactors = 2 * op.getNumProducts();
  AffineMap wholeMap =
      spec.maps[numFactors + points.front().first].insertResult(
          rewriter.getAffineDimExpr(pointDim), dim);
  // The whole is the last input.
  SmallVector<unsigned> kept;
  for (unsigned i = op.getInputs().size(); i-- > 0;) {
    if (!llvm::is_contained(llvm::make_first_range(points), i)) {
      kept.insert(kept.begin(), i);
      continue;
    }
    spec.inputs.erase(spec.inputs.begin() + i);
    spec.loadCombiners.erase(spec.loadCombiners.begin() + i);
    spec.maps.erase(spec.maps.begin() + numFactors + i);
  }
  spec.maps.insert(spec.maps.begin() + numFactors + kept.size(), wholeMap);
  spec.inputs.push_back(whole);
  spec.loadCombiners.push_back(rewriter.getUnitAttr());

  TileOpInterface result = createTileOp(rewriter, op->getLoc(), spec);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
    mapping.map(op.getAccArguments(a), result.getAccArguments(a));
  for (auto [i, old] : llvm::enumerate(kept))
    mapping.map(op.getInputArguments(old), result.getInputArguments(i));
  SmallVector<UnrollPoint> newPoints = getUnrollPoints(result, wholeMap);
  ArrayRef<BlockArgument> arguments = result.getInputArguments(kept.size());
  SmallVector<Value> values(arguments.begin(), arguments.end());
  for (auto [input, offset] : points)
    for (auto [point, argument] :
         llvm::zip_equal(getUnrollPoints(op, op.getInputMap(input)),
                         op.getInputArguments(input))) {
      UnrollPoint wanted = point;
      wanted[pointDim] = offset;
      mapping.map(argument, lookupPoint(newPoints, values, wanted));
    }
  rewriter.setInsertionPointToEnd(&result.getBody().front());
  for (Operation &inner : op.getBody().front())
    rewriter.clone(inner, mapping);
  rewriter.replaceOp(op, result->getResults());
  return result;
}
