//===- RecreateTileOp.cpp - Tile ops with other operands or dims ----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::coda;

TileOpInterface coda::recreate(
    RewriterBase &rewriter, TileOpInterface op, const TileOpSpec &spec,
    function_ref<SmallVector<Value>(OpBuilder &, const IRMapping &)>
        getYielded) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  TileOpInterface result = createTileOp(rewriter, op->getLoc(), spec);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(), result.getBody().getArguments());
  rewriter.setInsertionPointToEnd(&result.getBody().front());
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    rewriter.clone(inner, mapping);
  SmallVector<Value> yielded = getYielded(rewriter, mapping);
  YieldOp::create(rewriter, body.getTerminator()->getLoc(), yielded);
  return result;
}

TileOpInterface coda::recreate(RewriterBase &rewriter, TileOpInterface op,
                               const TileOpSpec &spec,
                               ArrayRef<unsigned> outputs) {
  return recreate(
      rewriter, op, spec, [&](OpBuilder &, const IRMapping &mapping) {
        SmallVector<Value> yielded;
        for (unsigned o : outputs)
          for (Value value : op.getYieldedValues(o))
            yielded.push_back(mapping.lookupOrDefault(value));
        return yielded;
      });
}

TileOpInterface coda::recreate(RewriterBase &rewriter, TileOpInterface op,
                               const TileOpSpec &spec) {
  return recreate(
      rewriter, op, spec,
      llvm::to_vector(llvm::seq<unsigned>(0, op.getOutputs().size())));
}

void coda::reorderDims(TileOpSpec &spec, ArrayRef<unsigned> order) {
  MLIRContext *context = spec.maps.front().getContext();
  SmallVector<AffineExpr> places(order.size());
  for (auto [place, d] : llvm::enumerate(order))
    places[d] = getAffineDimExpr(place, context);
  for (AffineMap &map : spec.maps)
    map = map.replaceDimsAndSymbols(places, {}, order.size(), 0);
}

void coda::renameDims(Operation *inner,
                      function_ref<DimAttr(DimAttr)> rename) {
  if (auto index = dyn_cast<IndexOp>(inner))
    index.setDimAttr(rename(index.getDim()));
  if (auto group = dyn_cast<GroupReduceOp>(inner)) {
    SmallVector<Attribute> over;
    for (auto dim : group.getOver().getAsRange<DimAttr>())
      over.push_back(rename(dim));
    group.setOverAttr(ArrayAttr::get(inner->getContext(), over));
  }
}

void coda::renameDims(TileOpInterface op, TileOpInterface copy,
                      ArrayRef<unsigned> order) {
  auto rename = [&](DimAttr dim) {
    unsigned place =
        llvm::find(order, op.getDimPosition(dim.getKind(), dim.getIndex())) -
        order.begin();
    DimKind kind = copy.getDimKind(place);
    return DimAttr::get(op->getContext(), kind,
                        place - copy.getDimPosition(kind, 0));
  };
  for (Operation &inner : copy.getBody().front())
    renameDims(&inner, rename);
}
