//===- ScaleTransparentOpInterfaceImpl.cpp - Models upstream ------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Transforms/ScaleTransparentOpInterfaceImpl.h"
#include "coda/Dialect/Coda/Analysis/DegreeAnalysis.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::coda;

/// Whether the body is linear in the element of `operand`, and, for a
/// contraction, starts from zero: a scaled sum is the sum of scaled terms only
/// if the start is scaled too.
static bool isLinear(linalg::LinalgOp op, OpOperand &operand, bool relaxed) {
  Block &body = op->getRegion(0).front();
  BlockArgument argument = op.getMatchingBlockArgument(&operand);
  Value yielded = body.getTerminator()->getOperand(0);
  if (op.getNumReductionLoops() == 0)
    return getDegree(yielded, argument, relaxed) == 1;
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !(matchPattern(fill.getInputs()[0], m_AnyZeroFloat())))
    return false;
  // out + f(args): f carries the degree.
  Operation *sum = yielded.getDefiningOp();
  BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  if (!sum || sum->getName().getStringRef() != "arith.addf")
    return false;
  for (unsigned i : {0u, 1u})
    if (sum->getOperand(i) == out)
      return getDegree(sum->getOperand(1 - i), argument, relaxed) == 1;
  return false;
}

namespace {
template <typename OpTy>
struct LinalgModel
    : public ScaleTransparentOpInterface::ExternalModel<LinalgModel<OpTy>,
                                                        OpTy> {
  FailureOr<SmallVector<int64_t>>
  getScaledResultDims(Operation *op, OpOperand &operand, ArrayRef<int64_t> dims,
                      bool relaxed, FusionReason &culprit) const {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    culprit = FusionReason::NonlinearReader;
    if (!linalgOp.isDpsInput(&operand) || op->getNumResults() != 1)
      return failure();
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    AffineMap resultMap =
        linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
    if (!map.isProjectedPermutation() || !resultMap.isProjectedPermutation()) {
      culprit = FusionReason::NonProjectedMap;
      return failure();
    }
    SmallVector<int64_t> result;
    for (int64_t d : dims) {
      unsigned loop = map.getDimPosition(d);
      std::optional<unsigned> position = resultMap.getResultPosition(
          getAffineDimExpr(loop, op->getContext()));
      if (!position) {
        culprit = FusionReason::ContractsScaledDim;
        return failure();
      }
      result.push_back(*position);
    }
    if (!isLinear(linalgOp, operand, relaxed))
      return failure();
    return result;
  }
};

template <typename... OpTys>
void attachLinalgModel(MLIRContext &context) {
  (OpTys::template attachInterface<LinalgModel<OpTys>>(context), ...);
}

struct TransposeModel
    : public ScaleTransparentOpInterface::ExternalModel<TransposeModel,
                                                        linalg::TransposeOp> {
  FailureOr<SmallVector<int64_t>>
  getScaledResultDims(Operation *op, OpOperand &, ArrayRef<int64_t> dims, bool,
                      FusionReason &) const {
    ArrayRef<int64_t> permutation =
        cast<linalg::TransposeOp>(op).getPermutation();
    SmallVector<int64_t> result;
    for (int64_t d : dims)
      result.push_back(llvm::find(permutation, d) - permutation.begin());
    return result;
  }
};

/// A reshape after which the scaled dims are dims of their own: a scaled dim may
/// be split, and scaled dims may be merged with each other, not with others.
template <typename OpTy, bool isExpand>
struct ReshapeModel
    : public ScaleTransparentOpInterface::ExternalModel<
          ReshapeModel<OpTy, isExpand>, OpTy> {
  FailureOr<SmallVector<int64_t>>
  getScaledResultDims(Operation *op, OpOperand &operand, ArrayRef<int64_t> dims,
                      bool, FusionReason &culprit) const {
    culprit = FusionReason::NonlinearReader;
    if (operand.getOperandNumber() != 0)
      return failure();
    SmallVector<int64_t> result;
    for (auto [g, group] :
         llvm::enumerate(cast<OpTy>(op).getReassociationIndices())) {
      if (isExpand) {
        if (llvm::is_contained(dims, static_cast<int64_t>(g)))
          llvm::append_range(result, group);
        continue;
      }
      int64_t scaled = llvm::count_if(
          group, [&](int64_t d) { return llvm::is_contained(dims, d); });
      if (scaled == 0)
        continue;
      if (scaled != static_cast<int64_t>(group.size())) {
        // The merged dim has the scale as a part of it.
        culprit = FusionReason::ContractsScaledDim;
        return failure();
      }
      result.push_back(g);
    }
    return result;
  }
};
} // namespace

void coda::registerScaleTransparentOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachLinalgModel<linalg::GenericOp, linalg::ContractOp, linalg::MatmulOp,
                      linalg::BatchMatmulOp>(*context);
    // Products of one row, of which the factor is a number.
    attachLinalgModel<linalg::VecmatOp, linalg::MatvecOp, linalg::BatchVecmatOp,
                      linalg::BatchMatvecOp>(*context);
    linalg::TransposeOp::attachInterface<TransposeModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExpandShapeOp::attachInterface<
        ReshapeModel<tensor::ExpandShapeOp, true>>(*context);
    tensor::CollapseShapeOp::attachInterface<
        ReshapeModel<tensor::CollapseShapeOp, false>>(*context);
  });
}
