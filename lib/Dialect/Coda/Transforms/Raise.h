//===- Raise.h - What the matchers of coda-raise share -*- C++ -*--------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_LIB_DIALECT_CODA_TRANSFORMS_RAISE_H
#define CODA_LIB_DIALECT_CODA_TRANSFORMS_RAISE_H

#include "coda/Dialect/Coda/Analysis/ExpressionGraph.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>
#include <set>

namespace mlir::coda {

/// A product of factors, looked at through casts; `numerator` and `denominator`
/// hold the factors with their casts, `nodes` every product on the way.
struct Product {
  double coefficient = 1.0;
  SmallVector<const Expr *> numerator, denominator, nodes;
};

/// A sum of terms, looked at through casts.
struct Sum {
  double constant = 0.0;
  SmallVector<std::pair<bool, const Expr *>> terms; ///< (negated, term)
};

/// The sum of exp(z - m) over the last dim of a matrix z, m any value of the row.
struct SumOfExponentials {
  const Expr *reduction; ///< the sum
  const Expr *exponent;  ///< z - m at (rows, column)
  int64_t columns;      ///< extent of the last dim
  SmallVector<AffineExpr, 2> rows; ///< several for a batch, none for one row
  AffineExpr column;
  SmallVector<std::pair<bool, const Expr *>> matrix, shift; ///< terms of z, -m
};

/// `terms` + `constant` and the row's logarithm of `sum`; or an exponential of it,
/// times factors and a number.
struct RowSoftmax {
  SumOfExponentials sum;
  bool isNegated = false; ///< the logarithm is subtracted
  SmallVector<std::pair<bool, const Expr *>> terms;
  double constant = 0.0;
  const Expr *exponent = nullptr; ///< of the exponential; null if it is none
  SmallVector<std::pair<bool, const Expr *>> factors; ///< (divides, factor)
  double coefficient = 1.0;
};

/// How a view of an existing tensor gives a tensor over some dims of a target
/// space, with no computation.
struct ViewPlan {
  Value source;
  /// The part of the source that is seen; empty: all of it.
  SmallVector<int64_t> offsets, sizes, strides;
  /// Source dims that become one; each group becomes `digits` of the target.
  SmallVector<SmallVector<int64_t>> groups;
  SmallVector<SmallVector<unsigned>> digits;
  /// The target dims that the view has, in the order of the source.
  SmallVector<unsigned> order;
};

/// State of one run on one function.
class RaiseContext {
public:
  RaiseContext(ExpressionGraph &graph, DominanceInfo &dominance, bool strict,
               bool all)
      : graph(graph), space(graph.getIndexSpace()), strict(strict), all(all),
        dominance(dominance) {}

  ExpressionGraph &graph;
  IndexSpace &space;
  /// Keep every rounding and every order of operations.
  const bool strict;
  /// Raise what is attention's, too.
  const bool all;
  /// Row statistics that an op raised before holds.
  llvm::DenseSet<const Expr *> raisedStatistics;

  /// The identity indices of a tensor of this shape.
  SmallVector<AffineExpr> getDims(ArrayRef<int64_t> shape);

  /// Remarks, once per candidate `key`, that `op` was not raised.
  void refuse(Operation *op, StringRef target, FusionReason reason,
              const Twine &detail, const Expr *key);

  /// Existing tensors with an element equal to `expr` (through casts: widening
  /// always, rounding if not strict) that dominate `user`; the preferred first.
  SmallVector<TensorElement> getSources(const Expr *expr, Operation *user);

  /// How a view of `element` gives a tensor indexed by `target`, whose dims have
  /// the extents `shape`; dims that the element does not depend on are missing.
  std::optional<ViewPlan> planView(const TensorElement &element,
                                   ArrayRef<AffineExpr> target,
                                   ArrayRef<int64_t> shape);

  /// Builds the view over the target dims `keep` (ascending): those of the plan
  /// and any of extent 1.
  Value buildView(OpBuilder &b, Location loc, const ViewPlan &plan,
                  ArrayRef<unsigned> keep, ArrayRef<int64_t> shape);

  /// The view of all target dims that is `expr`; null if there is none.
  Value findTensor(OpBuilder &b, Operation *user, const Expr *expr,
                   ArrayRef<AffineExpr> target, ArrayRef<int64_t> shape);

private:
  DominanceInfo &dominance;
  std::set<std::pair<const Expr *, std::string>> refused;
};

/// Looks through casts between float types.
const Expr *stripCasts(const Expr *expr);
std::optional<double> getFloatConstant(const Expr *expr);
Product flattenProduct(const Expr *expr);
Sum flattenSum(const Expr *expr);
/// Removes the terms `part`, with their signs flipped if `flip`, from `from`;
/// false if it does not have them all.
bool removeTerms(SmallVectorImpl<std::pair<bool, const Expr *>> &from,
                 ArrayRef<std::pair<bool, const Expr *>> part, bool flip);
/// The node of the sum `expr` that has exactly the terms `wanted`; null if none.
const Expr *findAddend(const Expr *expr,
                       ArrayRef<std::pair<bool, const Expr *>> wanted);
/// Removes the factors `part` from `from`, equal up to roundings.
bool removeFactors(SmallVectorImpl<const Expr *> &from,
                   ArrayRef<const Expr *> part);
/// The node of `product` that is the product of `factors` alone; null if none.
const Expr *findFactor(const Product &product, ArrayRef<const Expr *> factors);
/// Whether `number` is `expected` up to a relative `tolerance`.
bool isNear(double number, double expected, double tolerance);

/// What `expr` adds up, if it is a sum of exponentials at the index `row`, or at
/// a gather's own index that stands for it; at any indices if `row` is null. The
/// other dim is the one after these of the index space.
std::optional<SumOfExponentials>
matchSumOfExponentials(RaiseContext &context, const Expr *expr,
                       AffineExpr row = {});

/// What `expr` is, if it is a sum with the logarithm of a row's softmax, or of its
/// denominator with the shift; of the sums of exponentials that are not in
/// `without`.
std::optional<RowSoftmax>
matchLogSoftmax(RaiseContext &context, const Expr *expr,
                const llvm::SmallPtrSetImpl<const Expr *> &without);
/// The same of a product with a softmax.
std::optional<RowSoftmax>
matchSoftmax(RaiseContext &context, const Expr *expr,
             const llvm::SmallPtrSetImpl<const Expr *> &without);
/// The matrix whose exponentials `sum` adds up, of rows and columns; null if it is
/// no tensor.
Value findMatrix(RaiseContext &context, OpBuilder &b, Operation *user,
                 const SumOfExponentials &sum);
/// Whether `value` is made, by views and point by point, of a product, which is
/// none of a batch unless `all`: the scores of attention are.
bool comesFromProduct(Value value, bool all, unsigned depth = 0);
/// log(sum(exp)) of each row of `matrix`.
Value createLogSum(OpBuilder &b, Location loc, Value matrix);

/// One op, one matcher: what `root` becomes, or null. Matchers create ops before
/// `root`; those of an attempt that fails are left without a use.
Value raiseToRmsNorm(RaiseContext &context, OpBuilder &b, OpResult root);
Value raiseToGlu(RaiseContext &context, OpBuilder &b, OpResult root);
Value raiseToRope(RaiseContext &context, OpBuilder &b, OpResult root);

/// Why something that resembles an op is not raised to it.
struct RaiseRefusal {
  FusionReason reason;
  StringRef detail;
  const Expr *key; ///< of the candidate
};

/// The losses of all `rows` if `expr` is that of the row `row`; else null, with a
/// refusal if it resembles one. The op is created before `user`.
Value raiseToCrossEntropy(RaiseContext &context, OpBuilder &b, Operation *user,
                          const Expr *expr, AffineExpr row, int64_t rows,
                          std::optional<RaiseRefusal> &refusal);

/// What was found in a body.
struct RaisedInBody {
  int64_t numCrossEntropy = 0, numSoftmax = 0;
};

/// Raises what `op`, elementwise or a sum, computes on the way to its results:
/// losses of rows, softmaxes and their logarithms. Replaces the results if there
/// is any; `op` is left without uses.
std::optional<RaisedInBody> raiseInBody(RaiseContext &context, OpBuilder &b,
                                        linalg::GenericOp op);

} // namespace mlir::coda

#endif // CODA_LIB_DIALECT_CODA_TRANSFORMS_RAISE_H
