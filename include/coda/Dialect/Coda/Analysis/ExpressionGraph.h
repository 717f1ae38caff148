//===- ExpressionGraph.h - Tensors as scalar expressions -*- C++ -*------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_ANALYSIS_EXPRESSIONGRAPH_H
#define CODA_DIALECT_CODA_ANALYSIS_EXPRESSIONGRAPH_H

#include "coda/Dialect/Coda/Analysis/IndexSpace.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

#include <deque>
#include <map>
#include <optional>
#include <tuple>

namespace mlir::linalg {
class LinalgOp;
} // namespace mlir::linalg
namespace mlir::tensor {
class ConcatOp;
class ExtractOp;
class ExtractSliceOp;
class InsertSliceOp;
class ReshapeOp;
} // namespace mlir::tensor

namespace mlir::coda {

enum class ExprKind {
  Constant,  ///< `attr`: FloatAttr or IntegerAttr
  Index,     ///< `indices[0]`: an affine index
  Leaf,      ///< the element `indices` of the tensor `value`, or the scalar
  Reduction, ///< as Leaf, of a tensor that reduces others with one combiner
  Op,        ///< the operation `name` on `operands`
};

/// A scalar, as an expression. Interned by its graph: equal expressions are one
/// object. `a - b` is `a + (-b)`, negations are pulled out of products and
/// quotients (both exact), operands of commutative ops are ordered.
struct Expr {
  ExprKind kind;
  unsigned id;
  Type type;
  StringRef name;
  Attribute attr;
  SmallVector<const Expr *, 2> operands;
  Value value;
  SmallVector<AffineExpr, 4> indices;
  /// The same expression with no casts between float types but to 8 bits, and
  /// no types: equal where two expressions differ in roundings only.
  const Expr *relaxed;
  /// The dims of the index space that it depends on.
  llvm::SmallBitVector dims;

  bool isOp(StringRef op) const { return kind == ExprKind::Op && name == op; }
  bool dependsOn(AffineExpr dim) const {
    auto d = dyn_cast<AffineDimExpr>(dim);
    return d && d.getPosition() < dims.size() && dims.test(d.getPosition());
  }
};

/// A reduction node's parts.
struct ReductionInfo {
  StringRef combiner;               ///< name of the combining operation
  SmallVector<int64_t> extents;     ///< of the reduced dims
  const Expr *init;                 ///< what the reduction starts from
};

/// A tensor and the affine index of one of its elements.
struct TensorElement {
  Value tensor;
  SmallVector<AffineExpr> indices;
};

/// Evaluates elements of tensors at symbolic indices. Looks through elementwise
/// linalg ops, fills, transposes, broadcasts, reshapes, casts, slices,
/// concatenations, gathers and complex numbers; whatever else makes a tensor
/// (contractions, calls, arguments) is a leaf.
///
/// Holds on to the values that it has seen: erase none of them as long as it is
/// in use.
class ExpressionGraph {
public:
  explicit ExpressionGraph(MLIRContext *context);

  IndexSpace &getIndexSpace() { return space; }

  /// The element `indices` of `tensor`; never null.
  const Expr *evaluate(Value tensor, ArrayRef<AffineExpr> indices);

  /// What a reduction combines, at the index `reduced` of the reduced dims (the
  /// kept dims are at the indices of `reduction`); null if unknown.
  const Expr *getReducedExpr(const Expr *reduction,
                             ArrayRef<AffineExpr> reduced);
  ReductionInfo getReductionInfo(const Expr *reduction);

  /// The values of the linalg op's body at the loop indices `loops`, as far as
  /// they are expressions.
  DenseMap<Value, const Expr *> evaluateBody(linalg::LinalgOp op,
                                             ArrayRef<AffineExpr> loops);

  /// Elements of tensors that are `expr`, in the order of evaluation.
  ArrayRef<TensorElement> getElements(const Expr *expr) const;

  /// Where a gather walks along a dynamic dim of a tensor that may have another
  /// size than the loop, its index is a dim of its own: the loop's dim that
  /// `dim` stands for if the sizes agree, or null.
  AffineExpr getAssumedDim(AffineExpr dim) const {
    return assumedDims.lookup(dim);
  }

  /// The index that a symbol of the index space stands for; null if none.
  const Expr *getSymbolExpr(AffineExpr symbol) const;

  const Expr *getConstant(Type type, double value);
  const Expr *getConstant(TypedAttr value);
  const Expr *getIndex(AffineExpr index);
  const Expr *getOp(StringRef name, Type type,
                    ArrayRef<const Expr *> operands, Attribute attr = {});
  /// `expr` widened or rounded to `type`.
  const Expr *convert(const Expr *expr, Type type);

private:
  struct Scope;
  using Key = std::tuple<int, const void *, StringRef, const void *,
                         const void *, SmallVector<const void *, 4>,
                         SmallVector<const void *, 4>>;

  const Expr *intern(Expr expr);
  const Expr *getLeaf(ExprKind kind, Value value, ArrayRef<AffineExpr> indices);
  const Expr *fold(StringRef name, Type type, ArrayRef<const Expr *> operands,
                   Attribute attr);
  const Expr *getAffine(StringRef name, ArrayRef<const Expr *> operands);
  const Expr *foldCompare(ArrayRef<const Expr *> operands, Attribute predicate);
  std::optional<AffineExpr> asIndex(const Expr *expr) const;
  /// `expr` as an index, through a symbol where it depends on data.
  AffineExpr toIndex(const Expr *expr);

  /// What the linalg op's result `number` combines at the loop indices `loops`;
  /// null if the op does not reduce with one combiner.
  const Expr *getReducedExpr(linalg::LinalgOp op, unsigned number,
                             ArrayRef<AffineExpr> loops);
  const Expr *evaluateOnce(Value tensor, ArrayRef<AffineExpr> indices);
  const Expr *evaluateLinalg(linalg::LinalgOp op, unsigned number,
                             ArrayRef<AffineExpr> indices);
  const Expr *evaluateSlice(tensor::ExtractSliceOp op,
                            ArrayRef<AffineExpr> indices);
  const Expr *evaluateInsert(tensor::InsertSliceOp op,
                             ArrayRef<AffineExpr> indices);
  const Expr *evaluateConcat(tensor::ConcatOp op, ArrayRef<AffineExpr> indices);
  const Expr *evaluateReshape(tensor::ReshapeOp op,
                              ArrayRef<AffineExpr> indices);
  const Expr *evaluateExtract(tensor::ExtractOp op, Scope &scope);
  const Expr *evaluateScalar(Value value, Scope &scope);
  /// Joins `indices` of the shape `sizes` into one, or splits one; null where a
  /// dynamic size stands in the way.
  AffineExpr linearize(ArrayRef<AffineExpr> indices, ArrayRef<int64_t> sizes);
  bool delinearize(AffineExpr index, ArrayRef<int64_t> sizes,
                   SmallVectorImpl<AffineExpr> &indices);

  IndexSpace space;
  MLIRContext *context;
  std::deque<Expr> exprs;
  std::map<Key, const Expr *> interned;
  DenseMap<std::pair<Value, AffineMap>, const Expr *> evaluated;
  DenseMap<const Expr *, SmallVector<TensorElement, 1>> elements;
  DenseMap<const Expr *, AffineExpr> symbols;
  DenseMap<AffineExpr, const Expr *> symbolExprs;
  DenseMap<AffineExpr, AffineExpr> assumedDims;
};

} // namespace mlir::coda

#endif // CODA_DIALECT_CODA_ANALYSIS_EXPRESSIONGRAPH_H
