//===- CodaOps.h - Ops of the coda dialect ----------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODAOPS_H
#define CODA_DIALECT_CODA_IR_CODAOPS_H

#include "coda/Dialect/Coda/IR/CodaDialect.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::coda {

class TileOpInterface;

/// What defines a tile op besides its region; the value form of its operands
/// and properties, for rewrites that take one apart and build another. Index
/// maps are over the domain `dims` (order b m n u k p); `maps` is in operand
/// order: lhs, rhs, inputs, outputs.
struct TileOpSpec {
  SmallVector<Value> lhs, rhs, inputs, outputs;
  SmallVector<AffineMap> maps;
  SmallVector<int32_t> dims = SmallVector<int32_t>(6, 0);
  SmallVector<int32_t> accSizes;
  /// Per output: a CombinerAttrInterface, or UnitAttr for a store.
  SmallVector<Attribute> combiners;
  SmallVector<bool> fresh;
  /// Per input: a CombinerAttrInterface, or UnitAttr for a plain load.
  SmallVector<Attribute> loadCombiners;

  TileOpSpec() = default;
  explicit TileOpSpec(TileOpInterface op);

  unsigned getNumDomainDims() const;
};

namespace detail {
LogicalResult verifyTileOp(Operation *op);
SmallVector<int64_t> getStaticExtents(TileOpInterface op);
int64_t getUnrollFactor(TileOpInterface op, AffineMap map);
ArrayRef<BlockArgument> getAccArguments(TileOpInterface op, unsigned i);
ArrayRef<BlockArgument> getInputArguments(TileOpInterface op, unsigned i);
OperandRange getYieldedValues(TileOpInterface op, unsigned i);
} // namespace detail

/// The name of a domain dim in assembly: its kind, then its number unless the
/// kind has one dim only.
std::string getDimName(ArrayRef<int32_t> dims, unsigned position);

/// What indexes one dim of an operand: a dim of the domain, or, with a granule
/// above 1, the number of the group of so many neighbours along it.
struct OperandIndex {
  unsigned dim;
  int64_t granule = 1;

  bool isGroup() const { return granule != 1; }
};

/// `index` as a map of a tile op has it; none if it is neither a dim nor
/// `dim floordiv granule`.
std::optional<OperandIndex> getOperandIndex(AffineExpr index);

/// `index`, a result of a map of a tile op, as assembly has it: m1,
/// m1 floordiv 128.
std::string getIndexName(ArrayRef<int32_t> dims, AffineExpr index);

/// The type in which products of factors of element type `type` are summed:
/// f32, f64 or i32; null if `type` cannot be a factor.
Type getAccumulatorType(Type type);

/// The type in which a semantic op on `type` computes: f64 for f64, else f32.
FloatType getComputeType(Type type);

} // namespace mlir::coda

#include "coda/Dialect/Coda/IR/CodaOpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "coda/Dialect/Coda/IR/CodaOps.h.inc"

namespace mlir::coda {
/// Creates a tile op from `spec`: a gemm if it has products, else a map. The
/// body is an empty block with the arguments that the spec asks for, ready to
/// be filled; `*op` then needs a terminator.
TileOpInterface createTileOp(OpBuilder &b, Location loc,
                             const TileOpSpec &spec);

/// Whether a reduction of `op` has an index of groups, `m floordiv 128`: one of
/// a kernel as it is launched, which is joined with nothing and has no adjoint.
bool hasGroupIndex(TileOpInterface op);

/// Creates a tile op with the inputs and outputs of `op` that are listed, and
/// the part of its region that these outputs need. Null, and nothing created,
/// if some dim would then index no operand.
TileOpInterface rebuildTileOp(RewriterBase &rewriter, TileOpInterface op,
                              ArrayRef<unsigned> inputs,
                              ArrayRef<unsigned> outputs);

/// The factors of `op` with the scale apart, so that
/// `op = weighted o factor` along the rows:
///   factor   = rsqrt(mean(x^2) + eps), `[rows]`, computation type,
///   weighted = x o (weight + offset), in the shape and type of the result.
Value buildRmsNormFactor(OpBuilder &b, RmsNormOp op);
Value buildRmsNormWeighted(OpBuilder &b, RmsNormOp op);

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_IR_CODAOPS_H
