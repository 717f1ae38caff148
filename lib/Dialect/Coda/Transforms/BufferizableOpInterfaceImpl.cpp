//===- BufferizableOpInterfaceImpl.cpp - Tile ops on memrefs ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Transforms/BufferizableOpInterfaceImpl.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::coda;

namespace {
/// Gemm and map: destination style. A store's init, and that of a fresh
/// reduction, is not read. A load may share the buffer of a store that it is
/// indexed like (in-place residual gradients) if no factor of a product can be
/// it: factors are read at other points than the one that is stored.
template <typename OpTy>
struct TileOpInterfaceModel
    : public DstBufferizableOpInterfaceExternalModel<TileOpInterfaceModel<OpTy>,
                                                     OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto tile = cast<TileOpInterface>(op);
    unsigned first = op->getNumOperands() - tile.getOutputs().size();
    if (operand.getOperandNumber() < first)
      return true;
    unsigned output = operand.getOperandNumber() - first;
    return tile.getCombiner(output) && !tile.getFresh()[output];
  }

  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto tile = cast<TileOpInterface>(op);
    unsigned numFactors = 2 * tile.getNumProducts();
    AffineMap map;
    for (OpOperand *operand : operands) {
      unsigned i = operand->getOperandNumber();
      // Every access of these operands must be at the same element, in one
      // visit of the region.
      if (i < numFactors || !isa<RankedTensorType>(operand->get().getType()))
        return false;
      AffineMap own = tile.getMap(i);
      if ((map && own != map) || !own.isProjectedPermutation() ||
          own.getNumResults() !=
              tile.getNumDomainDims() - tile.getNumDims(DimKind::k) -
                  tile.getNumDims(DimKind::p))
        return false;
      map = own;
    }
    return true;
  }

  /// The analysis takes the members of a bundle for a sequence, but they run at
  /// once: a member must not write what another one reads or writes.
  LogicalResult resolveConflicts(Operation *op, RewriterBase &rewriter,
                                 const AnalysisState &analysis,
                                 const BufferizationState &state) const {
    if (failed(cast<BufferizableOpInterface>(op).resolveTensorOpOperandConflicts(
            rewriter, analysis, state)))
      return failure();
    if (!isa<BundleOp>(op->getParentOp()))
      return success();
    auto tile = cast<TileOpInterface>(op);
    for (OpOperand &output : tile.getOutputsMutable()) {
      auto isShared = [&](Operation &other) {
        return &other != op && isa<TileOpInterface>(other) &&
               llvm::any_of(other.getOperands(), [&](Value value) {
                 return analysis.areAliasingBufferizedValues(output.get(),
                                                             value);
               });
      };
      if (!isa<RankedTensorType>(output.get().getType()) ||
          llvm::none_of(*op->getBlock(), isShared))
        continue;
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(op);
      FailureOr<Value> copy = allocateTensorForShapedValue(
          rewriter, op->getLoc(), output.get(), analysis.getOptions(), state,
          bufferizesToMemoryRead(op, output, analysis));
      if (failed(copy))
        return failure();
      rewriter.modifyOpInPlace(op, [&] { output.set(*copy); });
    }
    return success();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    auto tile = cast<TileOpInterface>(op);
    SmallVector<Value> operands, destinations;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    destinations.append(operands.end() - tile.getOutputs().size(),
                        operands.end());
    OperationState newState(op->getLoc(), op->getName(), operands, TypeRange{},
                            op->getAttrs());
    newState.addRegion();
    Operation *newOp = Operation::create(newState);
    newOp->getRegion(0).takeBody(op->getRegion(0));
    rewriter.insert(newOp);
    replaceOpWithBufferizedValues(rewriter, op, destinations);
    return success();
  }
};

/// A bundle's results are its members' results.
struct BundleOpInterfaceModel
    : public BufferizableOpInterface::ExternalModel<BundleOpInterfaceModel,
                                                    BundleOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false; // no operands
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value,
                                              const AnalysisState &) const {
    Operation *yield = cast<BundleOp>(op).getBody().front().getTerminator();
    return {{&yield->getOpOperand(cast<OpResult>(value).getResultNumber()),
             BufferRelation::Equivalent}};
  }
  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocationStack) const {
    Operation *yield = cast<BundleOp>(op).getBody().front().getTerminator();
    return bufferization::getBufferType(
        yield->getOperand(cast<OpResult>(value).getResultNumber()), options,
        state, invocationStack);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto bundle = cast<BundleOp>(op);
    Operation *yield = bundle.getBody().front().getTerminator();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(yield);
    // On memrefs the members write their destinations, which are defined
    // outside: the bundle has no results and yields nothing.
    SmallVector<Value> buffers;
    for (Value value : yield->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    // Views that bufferization put between the members belong before them.
    Block &body = bundle.getBody().front();
    for (Operation &inner : llvm::make_early_inc_range(body))
      if (!isa<TileOpInterface, YieldOp>(inner))
        rewriter.moveOpBefore(&inner, op);
    rewriter.setInsertionPoint(yield);
    YieldOp::create(rewriter, yield->getLoc(), ValueRange{});
    rewriter.eraseOp(yield);
    rewriter.setInsertionPoint(op);
    auto replacement =
        BundleOp::create(rewriter, op->getLoc(), TypeRange{});
    replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replacement.getBody().takeBody(bundle.getBody());
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

/// A yield in a bundle hands on its operands; in a tile op it has scalars.
struct YieldOpInterfaceModel
    : public BufferizableOpInterface::ExternalModel<YieldOpInterfaceModel,
                                                    YieldOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (auto bundle = dyn_cast<BundleOp>(op->getParentOp()))
      return {{bundle->getResult(operand.getOperandNumber()),
               BufferRelation::Equivalent}};
    return {};
  }
  bool mustBufferizeInPlace(Operation *, OpOperand &,
                            const AnalysisState &) const {
    return true;
  }
  LogicalResult bufferize(Operation *, RewriterBase &,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    return success(); // its bundle replaces it
  }
};
} // namespace

void coda::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CodaDialect *) {
    GemmOp::attachInterface<TileOpInterfaceModel<GemmOp>>(*context);
    MapOp::attachInterface<TileOpInterfaceModel<MapOp>>(*context);
    BundleOp::attachInterface<BundleOpInterfaceModel>(*context);
    YieldOp::attachInterface<YieldOpInterfaceModel>(*context);
  });
}
