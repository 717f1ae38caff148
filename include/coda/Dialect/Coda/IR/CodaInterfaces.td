//===- CodaInterfaces.td - Interfaces of the dialect -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODAINTERFACES_TD
#define CODA_DIALECT_CODA_IR_CODAINTERFACES_TD

include "mlir/IR/OpBase.td"

def CombinerAttrInterface : AttrInterface<"CombinerAttrInterface"> {
  let cppNamespace = "::mlir::coda";
  let description = [{
    An associative and commutative combiner of scalars with an identity: how a
    reduction of a tile op folds the values of its dropped dims.
  }];
  let methods = [
    InterfaceMethod<"The keyword in the assembly of tile ops.",
      "::llvm::StringRef", "getKeyword">,
    InterfaceMethod<"The identity in `type`, which is f32 or f64.",
      "::mlir::TypedAttr", "getIdentity", (ins "::mlir::FloatType":$type)>,
    InterfaceMethod<"Builds `lhs` combined with `rhs`.",
      "::mlir::Value", "combine", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::Location":$loc, "::mlir::Value":$lhs, "::mlir::Value":$rhs)>,
  ];
}

def TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::mlir::coda";
  let description = [{
    What `coda.gemm` and `coda.map` have in common: one iteration domain whose
    dims have kinds, operands indexed by projected permutations of it, a scalar
    region, and stores and reductions of what the region yields.

    Operand order, and that of the index maps: lhs*, rhs*, ins*, outs*.
  }];
  let methods = [
    InterfaceMethod<"Left factors, one per product.",
      "::mlir::OperandRange", "getLhs">,
    InterfaceMethod<"Right factors, one per product.",
      "::mlir::OperandRange", "getRhs">,
    InterfaceMethod<"Loaded operands.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"Destinations.", "::mlir::OperandRange", "getOutputs">,
    InterfaceMethod<"Destinations, mutable.", "::mlir::MutableOperandRange",
      "getOutputsMutable">,
    InterfaceMethod<"One map per operand.", "::mlir::ArrayAttr",
      "getIndexingMaps">,
    InterfaceMethod<"Number of dims of each kind, in the order b m n u k p.",
      "::llvm::ArrayRef<int32_t>", "getDims">,
    InterfaceMethod<"Number of products of each accumulator.",
      "::llvm::ArrayRef<int32_t>", "getAccSizes">,
    InterfaceMethod<"Per output: unit (a store) or a combiner.",
      "::mlir::ArrayAttr", "getCombiners">,
    InterfaceMethod<"Per output: whether a reduction starts from the identity.",
      "::llvm::ArrayRef<bool>", "getFresh">,
    InterfaceMethod<"Per input: unit (a load) or a combiner.",
      "::mlir::ArrayAttr", "getLoadCombiners">,
    InterfaceMethod<"The scalar region.", "::mlir::Region &", "getBody">,
  ];
  let extraSharedClassDeclaration = [{
    unsigned getNumProducts() { return $_op.getLhs().size(); }
    unsigned getNumDomainDims() {
      unsigned n = 0;
      for (int32_t d : $_op.getDims())
        n += d;
      return n;
    }
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(
                 $_op.getIndexingMaps()[operand]).getValue();
    }
    ::mlir::AffineMap getLhsMap(unsigned i) { return getMap(i); }
    ::mlir::AffineMap getRhsMap(unsigned i) {
      return getMap(getNumProducts() + i);
    }
    ::mlir::AffineMap getInputMap(unsigned i) {
      return getMap(2 * getNumProducts() + i);
    }
    ::mlir::AffineMap getOutputMap(unsigned i) {
      return getMap(2 * getNumProducts() + $_op.getInputs().size() + i);
    }
    /// The position in the domain of dim `index` of kind `kind`.
    unsigned getDimPosition(::mlir::coda::DimKind kind, unsigned index) {
      unsigned pos = index;
      for (unsigned k = 0; k < static_cast<unsigned>(kind); ++k)
        pos += $_op.getDims()[k];
      return pos;
    }
    unsigned getNumDims(::mlir::coda::DimKind kind) {
      return $_op.getDims()[static_cast<unsigned>(kind)];
    }
    ::mlir::coda::DimKind getDimKind(unsigned pos) {
      unsigned k = 0;
      while (pos >= static_cast<unsigned>($_op.getDims()[k]))
        pos -= $_op.getDims()[k++];
      return static_cast<::mlir::coda::DimKind>(k);
    }
    /// The combiner of output `i`; null for a store.
    ::mlir::coda::CombinerAttrInterface getCombiner(unsigned i) {
      return ::llvm::dyn_cast<::mlir::coda::CombinerAttrInterface>(
          $_op.getCombiners()[i]);
    }
    /// The combiner of a combining load; null for a plain load.
    ::mlir::coda::CombinerAttrInterface getLoadCombiner(unsigned i) {
      return ::llvm::dyn_cast<::mlir::coda::CombinerAttrInterface>(
          $_op.getLoadCombiners()[i]);
    }
    /// Static extents of the domain dims; kDynamic where no operand knows.
    ::llvm::SmallVector<int64_t> getStaticExtents() {
      return ::mlir::coda::detail::getStaticExtents($_op);
    }
    /// Product of the extents of the u dims that `map` uses.
    int64_t getUnrollFactor(::mlir::AffineMap map) {
      return ::mlir::coda::detail::getUnrollFactor($_op, map);
    }
    /// Block arguments of accumulator `i` (one per point of its u dims).
    ::llvm::ArrayRef<::mlir::BlockArgument> getAccArguments(unsigned i) {
      return ::mlir::coda::detail::getAccArguments($_op, i);
    }
    /// Block arguments of input `i` (one per point of its u dims).
    ::llvm::ArrayRef<::mlir::BlockArgument> getInputArguments(unsigned i) {
      return ::mlir::coda::detail::getInputArguments($_op, i);
    }
    /// Operands of the yield that belong to output `i`.
    ::mlir::OperandRange getYieldedValues(unsigned i) {
      return ::mlir::coda::detail::getYieldedValues($_op, i);
    }
  }];
  let verify = [{ return ::mlir::coda::detail::verifyTileOp($_op); }];
  let verifyWithRegions = 1;
}

def ScaleTransparentOpInterface : OpInterface<"ScaleTransparentOpInterface"> {
  let cppNamespace = "::mlir::coda";
  let description = [{
    An op through which a scale of one operand can be moved to its result.
    Implemented by external models for linalg, tensor and coda ops.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether op(v o r, ...) = op(v, ...) o r, where r scales `operand` along
      `dims` (dims of the operand, ascending). On success, gives the dims of
      the result along which r then scales; `culprit` receives the reason
      otherwise.
    }], "::mlir::FailureOr<::llvm::SmallVector<int64_t>>", "getScaledResultDims",
      (ins "::mlir::OpOperand &":$operand, "::llvm::ArrayRef<int64_t>":$dims,
           "bool":$relaxed, "::mlir::coda::FusionReason &":$culprit)>,
  ];
}

#endif // CODA_DIALECT_CODA_IR_CODAINTERFACES_TD
