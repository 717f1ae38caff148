//===- Autodiff.cpp - coda-autodiff -------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AutodiffFunction.h"

#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::coda {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// Splices the members of bundles into the block and replaces semantic ops by
/// the tile ops that they mean.
static void flatten(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<BundleOp>(op) ||
        (isa_and_nonnull<CodaDialect>(op->getDialect()) &&
         isa<linalg::AggregatedOpInterface>(op) && !isa<TileOpInterface>(op)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto bundle = dyn_cast<BundleOp>(op)) {
      Block &body = bundle.getBody().front();
      SmallVector<Value> results(body.getTerminator()->getOperands());
      for (Operation &member :
           llvm::make_early_inc_range(body.without_terminator()))
        member.moveBefore(op);
      rewriter.replaceOp(op, results);
      continue;
    }
    FailureOr<SmallVector<Value>> values =
        cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
    if (succeeded(values))
      rewriter.replaceOp(op, *values);
  }
}

/// Whether cotangents of `type` exist: a tensor of floats.
static bool isDifferentiable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && getCotangentType(tensor.getElementType());
}

/// Whether all that reads `value`, through reshapes, are loads of tile ops that go
/// through rows and columns and lack some dim of either: what heads, or the sequences
/// of a batch, have in common.
static bool isLoadedAsTable(Value value) {
  auto isTableLoad = [](OpOperand &use) {
    auto tile = dyn_cast<TileOpInterface>(use.getOwner());
    unsigned first = tile ? 2 * tile.getNumProducts() : 0;
    unsigned input = use.getOperandNumber() - first;
    if (!tile || use.getOperandNumber() < first ||
        input >= tile.getInputs().size() || tile.getLoadCombiner(input))
      return false;
    bool hasRows = false, hasColumns = false, lacksDim = false;
    for (unsigned d = 0; d < tile.getNumDomainDims(); ++d) {
      DimKind kind = tile.getDimKind(d);
      if (!tile.getInputMap(input).isFunctionOfDim(d)) {
        lacksDim |= kind <= DimKind::n;
        continue;
      }
      hasRows |= kind == DimKind::m;
      hasColumns |= kind == DimKind::n || kind == DimKind::u;
    }
    return hasRows && hasColumns && lacksDim;
  };
  bool isRead = false;
  for (OpOperand &use : value.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(use.getOwner())
            ? !isLoadedAsTable(use.getOwner()->getResult(0))
            : !isTableLoad(use))
      return false;
    isRead = true;
  }
  return isRead;
}

/// Says which arguments with a gradient may be tables that need none: it takes
/// stores and sums of its own.
static void remarkTables(func::FuncOp main, ArrayRef<int64_t> constants) {
  SmallVector<int64_t> tables;
  for (BlockArgument argument : main.getArguments())
    if (isDifferentiable(argument.getType()) &&
        !llvm::is_contained(constants, argument.getArgNumber()) &&
        isLoadedAsTable(argument))
      tables.push_back(argument.getArgNumber());
  if (tables.empty())
    return;
  SmallVector<int64_t> all(constants);
  llvm::append_range(all, tables);
  llvm::sort(all);
  InFlightDiagnostic remark = emitRemark(main.getLoc());
  remark << "[coda-autodiff] "
         << (tables.size() == 1 ? "gradient of argument "
                                : "gradients of arguments ");
  llvm::interleaveComma(tables, remark);
  remark << ": table-gradient: each element is loaded at several points of a row, "
            "or of the batch, as that of a table of cosines is, and the gradient is "
            "summed over them; what is no variable is best left out, by constants=";
  llvm::interleave(all, remark, ",");
  remark << " (--grad-constants)";
}

namespace {
class AutodiffPass : public coda::impl::AutodiffPassBase<AutodiffPass> {
public:
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    AutodiffOptions options;
    func::FuncOp main;
    if (failed(readOptions(options, main)))
      return signalPassFailure();
    FunctionAdjoint adjoint(main, options);
    flatten(main);
    // Only a note is left of the roundings that coda-fuse kept.
    if (!options.strict) {
      adjoint.noteRoundings();
      IRRewriter rewriter(&getContext());
      getOperation().walk(
          [&](TileOpInterface op) { dropRoundings(rewriter, op); });
    }
    remarkTables(main, options.constants);
    if (failed(adjoint.run()))
      return signalPassFailure();
    numAdjoints += adjoint.getNumAdjoints();
    numSaved += adjoint.getNumSaved();
  }

private:
  // Errors about options are of a place, not of an op, whose text would be printed
  // along.
  LogicalResult readType(Location at, StringRef option, StringRef name,
                         FloatType &type) {
    MLIRContext *context = &getContext();
    if (name.empty())
      return success();
    if (name == "f32")
      type = Float32Type::get(context);
    else if (name == "f16")
      type = Float16Type::get(context);
    else if (name == "bf16")
      type = BFloat16Type::get(context);
    else if (name == "f64")
      type = Float64Type::get(context);
    else
      return emitError(at)
             << option << "=" << name
             << " is no type of gradients; there are f64, f32, f16 and bf16";
    return success();
  }

  LogicalResult readOptions(AutodiffOptions &options, func::FuncOp &main) {
    ModuleOp module = getOperation();
    main = module.lookupSymbol<func::FuncOp>(function);
    if (!main) {
      std::string names;
      for (auto other : module.getOps<func::FuncOp>())
        if (other.isPublic())
          names += (names.empty() ? "'" : ", '") + other.getName().str() + "'";
      return emitError(module.getLoc())
             << "func=" << function
             << ": the module has no function of this name to differentiate; "
                "there are "
             << (names.empty() ? "none" : names);
    }
    if (save == "min")
      options.save = SavePolicy::Min;
    else if (save == "stored")
      options.save = SavePolicy::Stored;
    else if (save == "all")
      options.save = SavePolicy::All;
    else
      return emitError(main.getLoc())
             << "save=" << save << " is unknown; there are min, stored and all";
    if (failed(readType(main.getLoc(), "grad-dtype", gradDtype,
                        options.gradType)) ||
        failed(readType(main.getLoc(), "residual-grad", residualGrad,
                        options.residualGradType)))
      return failure();
    options.constants.assign(constants.begin(), constants.end());
    options.accumulate = accumulate;
    options.recomputeOver = recomputeOver;
    options.strict = numerics == Numerics::Strict;
    if (main.isDeclaration() || !main.getBody().hasOneBlock())
      return main.emitError() << "'" << function
                              << "' has no body of one block; only such a "
                                 "function is differentiated";
    for (StringRef suffix : {"_fwd", "_bwd"})
      if (Operation *other = module.lookupSymbol((function + suffix).str()))
        return other->emitError()
               << "'" << function << suffix
               << "' is the name of a function that coda-autodiff adds; rename "
                  "this one";
    for (int64_t number : options.constants)
      if (number < 0 || number >= main.getNumArguments())
        return emitError(main.getLoc())
               << "constants=" << number << ": '" << function
               << "' has no such argument; they are numbered from 0, and there "
                  "are "
               << main.getNumArguments();
    bool hasVariable = false;
    for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
      hasVariable |= isDifferentiable(type) &&
                     !llvm::is_contained(options.constants, int64_t(i));
    if (!hasVariable)
      return main.emitError()
             << "'" << function
             << "' has no argument to differentiate by: each is a constant, or "
                "no tensor of floats; leave one out of the constants";
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What is active, what is at hand
//===----------------------------------------------------------------------===//

void FunctionAdjoint::noteRoundings() {
  auto isRounding = [](Operation *op) {
    return isa<arith::TruncFOp>(op) &&
           !isQuantizedFloat(op->getResult(0).getType());
  };
  auto note = [&](Value value) {
    if (value.getType().isF32() && !value.use_empty() &&
        llvm::all_of(value.getUsers(), isRounding))
      rounded.insert(value);
  };
  main.walk([&](TileOpInterface op) {
    Block &body = op.getBody().front();
    llvm::for_each(body.getArguments(), note);
    for (Operation &inner : body.without_terminator()) {
      // A product has the relative error of its factors: a scale may have been
      // taken through the rounding.
      auto isRounded = [&](Value operand) {
        auto ext = operand.getDefiningOp<arith::ExtFOp>();
        Operation *source = ext ? ext.getIn().getDefiningOp() : nullptr;
        return (source && isRounding(source)) || rounded.contains(operand);
      };
      if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp>(inner) &&
          inner.getResult(0).getType().isF32() &&
          llvm::any_of(inner.getOperands(), isRounded))
        rounded.insert(inner.getResult(0));
      llvm::for_each(inner.getResults(), note);
    }
  });
}

void FunctionAdjoint::findActive() {
  for (BlockArgument argument : main.getArguments())
    if (isDifferentiable(argument.getType()) &&
        !llvm::is_contained(options.constants, argument.getArgNumber()))
      active.insert(argument);
  for (Operation &op : main.getBody().front().without_terminator()) {
    // A destination is not read; what a sum starts from is.
    auto isRead = [&](OpOperand &operand) {
      if (auto tile = dyn_cast<TileOpInterface>(op)) {
        unsigned first = op.getNumOperands() - tile.getOutputs().size();
        unsigned i = operand.getOperandNumber();
        return i < first || (tile.getCombiner(i - first) &&
                             !tile.getFresh()[i - first]);
      }
      return !isa<tensor::DimOp>(op);
    };
    bool reads = llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
      return isActive(operand.get()) && isRead(operand);
    });
    // What a nested region captures is read, too; it is refused, not missed.
    op.walk([&](Operation *inner) {
      if (inner != &op)
        for (Value operand : inner->getOperands())
          reads |= isActive(operand);
    });
    if (reads)
      for (Value result : op.getResults())
        if (isDifferentiable(result.getType()) ||
            getCotangentType(result.getType()))
          active.insert(result);
  }
}

Value FunctionAdjoint::createPlaceholder(Type type) {
  return UnrealizedConversionCastOp::create(builder, main.getLoc(), type,
                                            ValueRange())
      .getResult(0);
}

void FunctionAdjoint::resolve(Value value, Value tensor) {
  auto it = requests.find(value);
  if (it != requests.end()) {
    resolved.push_back({it->second, tensor});
    requests.erase(it);
  }
  primals[value] = tensor;
}

SmallVector<OpFoldResult>
FunctionAdjoint::getPrimals(ArrayRef<OpFoldResult> values) {
  SmallVector<OpFoldResult> result;
  for (OpFoldResult value : values)
    result.push_back(isa<Value>(value)
                         ? OpFoldResult(getPrimal(cast<Value>(value)))
                         : value);
  return result;
}

Value FunctionAdjoint::getPrimal(Value value) {
  if (Value known = primals.lookup(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value placeholder = createPlaceholder(argument.getType());
    neededArguments[argument.getArgNumber()] = placeholder;
    return primals[value] = placeholder;
  }
  Operation *def = value.getDefiningOp();
  if (isa<TileOpInterface>(def)) {
    Value &placeholder = requests[value];
    if (!placeholder)
      placeholder = createPlaceholder(value.getType());
    return placeholder;
  }
  // Anything else is cheap or does not depend on what is differentiated: it is
  // computed again.
  IRMapping mapping;
  SetVector<Value> operands;
  def->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == def->getBlock())
        operands.insert(operand);
  });
  for (Value operand : operands)
    mapping.map(operand, getPrimal(operand));
  Operation *copy = builder.clone(*def, mapping);
  for (auto [from, to] : llvm::zip_equal(def->getResults(), copy->getResults()))
    primals[from] = to;
  return primals.lookup(value);
}

int FunctionAdjoint::findResult(Value value,
                                SmallVectorImpl<Operation *> &views) const {
  for (OpOperand &operand :
       main.getBody().front().getTerminator()->getOpOperands()) {
    views.clear();
    Value v = operand.get();
    while (v != value) {
      Operation *def = v.getDefiningOp();
      if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def))
        break;
      auto source = cast<RankedTensorType>(def->getOperand(0).getType());
      if (!source.hasStaticShape() ||
          !cast<RankedTensorType>(v.getType()).hasStaticShape())
        break;
      views.push_back(def);
      v = def->getOperand(0);
    }
    if (v == value)
      return operand.getOperandNumber();
  }
  return -1;
}

const FunctionAdjoint::Saved *
FunctionAdjoint::findSaved(Value inRegion) const {
  for (const Saved &entry : saved)
    if (entry.inRegion && entry.inRegion == inRegion)
      return &entry;
  return nullptr;
}

void FunctionAdjoint::saveResult(OpResult result) {
  if (primals.contains(result))
    return;
  SmallVector<Operation *> views;
  int number = findResult(result, views);
  if (number < 0) {
    Saved entry;
    entry.value = result;
    entry.placeholder = createPlaceholder(result.getType());
    saved.push_back(entry);
    return resolve(result, entry.placeholder);
  }
  // The forward returns it anyway; back from what it returns to the value.
  Value &argument = resultsUsed[number];
  if (!argument)
    argument = createPlaceholder(main.getFunctionType().getResult(number));
  Value value = argument;
  for (Operation *view : views) {
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
      value = tensor::CollapseShapeOp::create(builder, view->getLoc(),
                                              expand.getSrcType(), value,
                                              expand.getReassociationIndices());
    else
      value = tensor::ExpandShapeOp::create(
          builder, view->getLoc(),
          cast<tensor::CollapseShapeOp>(view).getSrcType(), value,
          cast<tensor::CollapseShapeOp>(view).getReassociationIndices());
  }
  resolve(result, value);
}

//===----------------------------------------------------------------------===//
// Ops of tensors
//===----------------------------------------------------------------------===//

LogicalResult FunctionAdjoint::visitStructural(Operation *op) {
  Location loc = getAdjointLoc(op->getLoc());
  // Broadcast parts go through a reshape as whole tensors only.
  Value whole = takeWhole(op->getResult(0));
  if (!whole)
    return success();
  auto getType = [&](Value like) {
    return cast<RankedTensorType>(like.getType())
        .clone(getElementTypeOrSelf(whole));
  };
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    addFull(expand.getSrc(),
            tensor::CollapseShapeOp::create(builder, loc,
                                            getType(expand.getSrc()), whole,
                                            expand.getReassociationIndices()));
    return success();
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    RankedTensorType type = getType(collapse.getSrc());
    SmallVector<OpFoldResult> sizes;
    for (auto [d, extent] : llvm::enumerate(type.getShape()))
      sizes.push_back(ShapedType::isDynamic(extent)
                          ? tensor::getMixedSize(
                                builder, loc, getPrimal(collapse.getSrc()), d)
                          : OpFoldResult(builder.getIndexAttr(extent)));
    addFull(collapse.getSrc(),
            tensor::ExpandShapeOp::create(builder, loc, type, whole,
                                          collapse.getReassociationIndices(),
                                          sizes));
    return success();
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      return failure();
    addFull(cast.getSource(),
            tensor::CastOp::create(builder, loc, getType(cast.getSource()),
                                   whole));
    return success();
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (isActive(slice.getSource()))
      slices[slice.getSource()].push_back({whole, slice});
    return success();
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    SmallVector<OpFoldResult> offsets = getPrimals(insert.getMixedOffsets());
    SmallVector<OpFoldResult> sizes = getPrimals(insert.getMixedSizes());
    SmallVector<OpFoldResult> strides = getPrimals(insert.getMixedStrides());
    if (isActive(insert.getSource()))
      addFull(insert.getSource(),
              tensor::ExtractSliceOp::create(builder, loc,
                                             getType(insert.getSource()), whole,
                                             offsets, sizes, strides));
    if (isActive(insert.getDest()))
      addFull(insert.getDest(),
              tensor::InsertSliceOp::create(
                  builder, loc,
                  createZero(loc, getType(insert.getSource()),
                             insert.getSource()),
                  whole, offsets, sizes, strides));
    return success();
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    RankedTensorType type = getType(concat.getResult());
    int64_t offset = 0;
    for (Value input : concat.getInputs()) {
      RankedTensorType inputType = getType(input);
      if (!inputType.hasStaticShape())
        return failure();
      SmallVector<OpFoldResult> offsets(type.getRank(),
                                        builder.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(type.getRank(),
                                        builder.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes;
      for (int64_t extent : inputType.getShape())
        sizes.push_back(builder.getIndexAttr(extent));
      offsets[concat.getDim()] = builder.getIndexAttr(offset);
      offset += inputType.getDimSize(concat.getDim());
      if (isActive(input))
        addFull(input, tensor::ExtractSliceOp::create(
                           builder, loc, inputType, whole, offsets, sizes,
                           strides));
    }
    return success();
  }
  return failure();
}

/// What has no adjoint in the region of a linalg op that is no tile op; empty if
/// it is the op as a whole.
static std::string describeBody(Operation *op) {
  auto linalgOp = dyn_cast<linalg::GenericOp>(op);
  if (!linalgOp)
    return {};
  for (Operation &inner : linalgOp.getBody()->without_terminator())
    if (!isa<linalg::IndexOp>(inner) &&
        !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            inner.getDialect()))
      return (" with '" + inner.getName().getStringRef() + "' in its body")
          .str();
  if (linalgOp.getNumReductionLoops() == 0)
    return {};
  Operation *combine =
      linalgOp.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (combine && !isa<arith::AddFOp>(combine))
    return (" that reduces by '" + combine->getName().getStringRef() + "'")
        .str();
  return {};
}

LogicalResult FunctionAdjoint::visit(Operation *op) {
  for (Value result : op->getResults())
    if (isQuantizedFloat(getElementTypeOrSelf(result)) && isActive(result) &&
        (cotangents.contains(result) || products.contains(result)))
      return op->emitError()
             << "a value of type " << result.getType()
             << " is on the way from an argument to a result and has no "
                "adjoint: cotangents have no range in eight bits; split the "
                "function there, or keep its gradient from passing here";
  if (auto tile = dyn_cast<TileOpInterface>(op))
    return visitTileOp(tile);
  bool reached = llvm::any_of(op->getResults(), [&](Value result) {
    return isActive(result) &&
           (cotangents.contains(result) || products.contains(result) ||
            slices.contains(result));
  });
  if (!reached)
    return success();
  if (op->getNumResults() == 1 &&
      isDifferentiable(op->getResult(0).getType()) &&
      succeeded(visitStructural(op)))
    return success();
  return op->emitError()
         << "'" << op->getName().getStringRef() << "'" << describeBody(op)
         << " is on the way from an argument to a result and has no adjoint; "
            "split the function there, or keep its gradient from passing here";
}

//===----------------------------------------------------------------------===//
// The two functions
//===----------------------------------------------------------------------===//

LogicalResult FunctionAdjoint::run() {
  Block &body = main.getBody().front();
  Location loc = main.getLoc();
  findActive();
  OpBuilder outside(main.getContext());
  outside.setInsertionPointAfter(main);
  backward = func::FuncOp::create(outside, loc, (main.getName() + "_bwd").str(),
                                  outside.getFunctionType({}, {}));
  backward.setVisibility(main.getVisibility());
  Block *block = backward.addEntryBlock();
  builder.setInsertionPointToEnd(block);

  for (OpOperand &result : body.getTerminator()->getOpOperands()) {
    Type type = result.get().getType();
    if (!isDifferentiable(type)) {
      if (isActive(result.get()))
        return main.emitError()
               << "result " << result.getOperandNumber()
               << " is a float that is no tensor; return a 0-d tensor";
      continue;
    }
    Value cotangent = createPlaceholder(type);
    outputCotangents.push_back({result.getOperandNumber(), cotangent});
    addFull(result.get(), cotangent);
  }
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (failed(visit(&op)))
      return failure();
  return finish();
}

/// `op` with more outputs: `values` of its region, each stored through a map
/// over its domain in an element type. Replaces `op` and returns the new results.
static SmallVector<Value>
addOutputs(RewriterBase &rewriter, TileOpInterface op, ArrayRef<Value> values,
           ArrayRef<AffineMap> maps, ArrayRef<Type> types) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  TileOpSpec spec(op);
  for (auto [map, type] : llvm::zip_equal(maps, types)) {
    SmallVector<OpFoldResult> sizes;
    for (AffineExpr e : map.getResults())
      for (unsigned i = 0; i < op->getNumOperands(); ++i)
        if (std::optional<unsigned> r = op.getMap(i).getResultPosition(e)) {
          sizes.push_back(
              tensor::getMixedSize(rewriter, loc, op->getOperand(i), *r));
          break;
        }
    spec.outputs.push_back(tensor::EmptyOp::create(rewriter, loc, sizes, type));
    spec.maps.push_back(map);
    spec.combiners.push_back(rewriter.getUnitAttr());
    spec.fresh.push_back(false);
  }
  TileOpInterface result = recreate(
      rewriter, op, spec, [&](OpBuilder &b, const IRMapping &mapping) {
        SmallVector<Value> yielded;
        for (Value value : op.getBody().front().getTerminator()->getOperands())
          yielded.push_back(mapping.lookupOrDefault(value));
        for (auto [value, type] : llvm::zip_equal(values, types))
          yielded.push_back(
              convertFloat(b, loc, mapping.lookupOrDefault(value), type));
        return yielded;
      });
  unsigned old = op->getNumResults();
  rewriter.replaceOp(op, result->getResults().take_front(old));
  return llvm::to_vector_of<Value>(result->getResults().drop_front(old));
}

LogicalResult FunctionAdjoint::finish() {
  Location loc = main.getLoc();
  MLIRContext *context = main.getContext();
  SmallVector<Value> gradients;
  SmallVector<int64_t> gradientOf;
  for (BlockArgument argument : main.getArguments())
    if (isActive(argument)) {
      gradients.push_back(getGradient(argument));
      gradientOf.push_back(argument.getArgNumber());
    }
  func::ReturnOp::create(builder, loc, gradients);

  // Arguments: those of the function, what is saved, cotangents.
  Block &block = backward.getBody().front();
  SmallVector<int64_t> argumentsOf, savedOf, cotangentsOf, accumulatesOf;
  auto addArgument = [&](Value placeholder) {
    resolved.push_back(
        {placeholder, block.addArgument(placeholder.getType(), loc)});
  };
  auto takeSorted = [](auto &map) {
    SmallVector<std::pair<unsigned, Value>> entries(map.begin(), map.end());
    llvm::sort(entries,
               [](auto &a, auto &b) { return a.first < b.first; });
    return entries;
  };
  for (auto &entry : takeSorted(neededArguments)) {
    auto [number, placeholder] = entry;
    if (placeholder.use_empty() &&
        llvm::none_of(resolved, [&, wanted = entry.second](auto &known) {
          return known.second == wanted;
        }))
      continue;
    argumentsOf.push_back(number);
    addArgument(placeholder);
  }
  for (auto [number, placeholder] : takeSorted(resultsUsed)) {
    savedOf.push_back(number);
    addArgument(placeholder);
  }
  for (auto [i, entry] : llvm::enumerate(saved)) {
    savedOf.push_back(main.getNumResults() + i);
    addArgument(entry.placeholder);
  }
  for (auto [number, placeholder] : outputCotangents) {
    cotangentsOf.push_back(number);
    addArgument(placeholder);
  }
  for (auto [number, placeholder] : accumulators) {
    accumulatesOf.push_back(number);
    addArgument(placeholder);
  }
  for (auto [placeholder, value] : resolved)
    placeholder.replaceAllUsesWith(value);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
      if (cast->getNumOperands() == 0)
        cast.erase();
  // What was asked for before it was made stands behind its readers.
  sortTopologically(&block);
  SmallVector<Type> types;
  for (Value gradient : block.getTerminator()->getOperands())
    types.push_back(gradient.getType());
  backward.setFunctionType(
      FunctionType::get(context, block.getArgumentTypes(), types));

  // The forward: the function with more results.
  IRRewriter rewriter(context);
  rewriter.setInsertionPointAfter(main);
  forward = cast<func::FuncOp>(rewriter.clone(*main, toForward));
  forward.setName((main.getName() + "_fwd").str());
  Block &forwardBlock = forward.getBody().front();
  // Values of one op's region are added to it together.
  DenseMap<Operation *, SmallVector<unsigned>> byOp;
  SmallVector<Operation *> order;
  for (auto [i, entry] : llvm::enumerate(saved))
    if (entry.inRegion) {
      SmallVector<unsigned> &entries = byOp[entry.op];
      if (entries.empty())
        order.push_back(entry.op);
      entries.push_back(i);
    }
  SmallVector<Value> savedValues(saved.size());
  for (Operation *op : order) {
    SmallVector<Value> values;
    SmallVector<AffineMap> maps;
    SmallVector<Type> elementTypes;
    for (unsigned i : byOp[op]) {
      values.push_back(toForward.lookup(saved[i].inRegion));
      maps.push_back(saved[i].map);
      elementTypes.push_back(saved[i].elementType);
    }
    auto copy = cast<TileOpInterface>(
        toForward.lookup(op->getResult(0)).getDefiningOp());
    SmallVector<Value> more =
        addOutputs(rewriter, copy, values, maps, elementTypes);
    Operation *replacement = more.front().getDefiningOp();
    for (auto [number, old] : llvm::enumerate(op->getResults()))
      toForward.map(old, replacement->getResult(number));
    for (auto [i, value] : llvm::zip_equal(byOp[op], more))
      savedValues[i] = value;
  }
  SmallVector<Value> allResults(forwardBlock.getTerminator()->getOperands());
  for (auto [i, entry] : llvm::enumerate(saved))
    allResults.push_back(entry.inRegion ? savedValues[i]
                                        : toForward.lookup(entry.value));
  forwardBlock.getTerminator()->setOperands(allResults);
  SmallVector<Type> resultTypes;
  for (Value value : allResults)
    resultTypes.push_back(value.getType());
  forward.setFunctionType(FunctionType::get(
      context, forward.getFunctionType().getInputs(), resultTypes));

  // Who gets what, for callers: numbers of arguments and results.
  auto numbers = [&](ArrayRef<int64_t> values) {
    return DenseI64ArrayAttr::get(context, values);
  };
  backward->setAttr(
      "coda.gradient",
      DictionaryAttr::get(
          context,
          {rewriter.getNamedAttr("of", FlatSymbolRefAttr::get(main)),
           rewriter.getNamedAttr("forward", FlatSymbolRefAttr::get(forward)),
           rewriter.getNamedAttr("arguments", numbers(argumentsOf)),
           rewriter.getNamedAttr("saved", numbers(savedOf)),
           rewriter.getNamedAttr("cotangents", numbers(cotangentsOf)),
           rewriter.getNamedAttr("accumulated", numbers(accumulatesOf)),
           rewriter.getNamedAttr("gradients", numbers(gradientOf))}));
  return success();
}
