//===- HostSignature.cpp - Caller-allocated outputs and infer functions ---===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "coda/Conversion/CodaToHost/Entry.h"

#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAHOSTSIGNATURE
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {

/// Whether DLPack and the host ABI have a code for `type`.
bool isHostElementType(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type,
             Float32Type, Float64Type>(type) ||
         type.isSignlessInteger(1) || type.isSignlessInteger(8) ||
         type.isSignlessInteger(16) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

/// Fails, with an error, if the elements of a tensor in `func` cannot all have an
/// address, whatever its dynamic extents are.
LogicalResult checkSizes(func::FuncOp func) {
  constexpr uint64_t kMostBytes = uint64_t(1) << 47;
  auto isTooLarge = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || llvm::is_contained(tensor.getShape(), 0))
      return false;
    uint64_t bytes = 1;
    for (int64_t extent : tensor.getShape()) {
      if (ShapedType::isDynamic(extent))
        continue;
      if (uint64_t(extent) > kMostBytes / bytes)
        return true;
      bytes *= extent;
    }
    return false;
  };
  for (Type type : func.getArgumentTypes())
    if (isTooLarge(type))
      return func.emitError("an argument of '")
             << func.getName() << "' is a " << type
             << ", of which the elements are more than 2^47: they do not all "
                "have an address; cut it in parts";
  WalkResult result = func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isTooLarge(type)) {
        op->emitError("'") << op->getName() << "' gives a " << type
                           << ", of which the elements are more than 2^47: "
                              "they do not all have an address; cut it in parts";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Fails, with an error at `func`, unless it can be an entry.
LogicalResult checkEntry(func::FuncOp func) {
  if (func.isExternal())
    return func.emitError("function '")
           << func.getName()
           << "' has no body; only functions that are defined here compile";
  if (!func.getBody().hasOneBlock())
    return func.emitError("function '")
           << func.getName()
           << "' has several blocks; bring branches into the form of `scf`";
  auto check = [&](TypeRange types, StringRef what,
                   StringRef mend) -> LogicalResult {
    for (auto [index, type] : llvm::enumerate(types)) {
      if (isHostElementType(type))
        return func.emitError(what)
               << " " << index << " of '" << func.getName() << "' has type "
               << type << "; an entry takes tensors alone: make it a "
               << RankedTensorType::get({}, type) << ", and " << mend;
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || tensor.getEncoding() ||
          !isHostElementType(tensor.getElementType()))
        return func.emitError(what)
               << " " << index << " of '" << func.getName() << "' has type "
               << type
               << "; an entry takes ranked tensors of f8E4M3FN, f8E5M2, f16, "
                  "bf16, f32, f64, i1, i8, i16, i32 or i64";
      if (tensor.getRank() > kMaxHostRank)
        return func.emitError(what)
               << " " << index << " of '" << func.getName() << "' has rank "
               << tensor.getRank() << ", above the limit of " << kMaxHostRank;
    }
    return success();
  };
  if (failed(check(func.getArgumentTypes(), "argument",
                   "read its number with tensor.extract")) ||
      failed(check(func.getResultTypes(), "result",
                   "make it with tensor.from_elements")))
    return failure();
  if (func.getNumResults() == 0)
    return func.emitError("function '")
           << func.getName() << "' returns nothing, so it computes nothing";
  return checkSizes(func);
}

/// Makes integer divisions by a value total: shapes may be computed with one
/// (x / 0 becomes x / 1), and the source's own check, an assert, is reported
/// instead of a trap.
void guardDivisions(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      return;
    Value divisor = op->getOperand(1);
    Type type = divisor.getType();
    if (!type.isIntOrIndex() || matchPattern(divisor, m_Constant()))
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, type,
                                       builder.getIntegerAttr(type, value));
    };
    Value isZero = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, divisor, constant(0));
    op->setOperand(1, arith::SelectOp::create(builder, loc, isZero,
                                              constant(1), divisor));
  });
}

/// Fails, with an error that names the op, if one on tensors has no form on
/// buffers.
LogicalResult checkBufferizable(func::FuncOp func) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  WalkResult result = func.walk([&](Operation *op) {
    if (isa<bufferization::BufferizableOpInterface>(op) ||
        (llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor)))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' has no lowering: it works on tensors and has no "
                          "form on buffers; write it as linalg";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Puts the bodies of the functions that `func` calls in place of the calls,
/// and of two ways to compute the same one. Shapes are asked of the ops in them.
void inlineCallsOnce(func::FuncOp func, SymbolTable &symbols) {
  SmallVector<func::CallOp> calls;
  func.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
      continue;
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip(
             call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
  SmallVector<scf::IfOp> dispatches;
  func.walk([&](scf::IfOp op) {
    if (op->hasAttr("coda.dispatch"))
      dispatches.push_back(op);
  });
  for (scf::IfOp op : dispatches) {
    IRRewriter rewriter(op);
    Operation *yield = op.elseYield();
    SmallVector<Value> results(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(op.elseBlock(), op);
    rewriter.replaceOp(op, results);
  }
}

/// The same, and for the calls that come into place by it: those of a kernel's
/// versions.
void inlineCalls(func::FuncOp func, SymbolTable &symbols) {
  inlineCallsOnce(func, symbols);
  inlineCallsOnce(func, symbols);
}

/// For each extent of each argument, in order, a number that it shares with
/// the extents that must be equal to it because an op indexes both with one
/// dim; -1 where there is no other.
SmallVector<int32_t> computeExtentClasses(func::FuncOp func) {
  using Extent = std::pair<void *, int64_t>;
  llvm::EquivalenceClasses<Extent> classes;
  auto unite = [&](Value a, int64_t i, Value b, int64_t j) {
    classes.unionSets(Extent(a.getAsOpaquePointer(), i),
                      Extent(b.getAsOpaquePointer(), j));
  };
  // Operands of one op, indexed by maps over its loops.
  auto uniteLoops = [&](Operation *op,
                        llvm::function_ref<AffineMap(OpOperand &)> getMap) {
    DenseMap<unsigned, std::pair<Value, int64_t>> dims;
    for (OpOperand &operand : op->getOpOperands())
      for (auto [i, expr] : llvm::enumerate(getMap(operand).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
          auto [it, isNew] =
              dims.try_emplace(dim.getPosition(), operand.get(), int64_t(i));
          if (!isNew)
            unite(it->second.first, it->second.second, operand.get(), i);
        }
    for (auto [result, init] :
         llvm::zip(op->getResults(),
                   cast<DestinationStyleOpInterface>(op).getDpsInits()))
      for (int64_t i = 0, e = cast<RankedTensorType>(init.getType()).getRank();
           i < e; ++i)
        unite(result, i, init, i);
  };
  func.walk([&](Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      uniteLoops(op, [&](OpOperand &operand) {
        return linalgOp.getMatchingIndexingMap(&operand);
      });
    } else if (auto tile = dyn_cast<TileOpInterface>(op)) {
      uniteLoops(op, [&](OpOperand &operand) {
        return tile.getMap(operand.getOperandNumber());
      });
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      for (auto [i, size] : llvm::enumerate(empty.getDynamicSizes()))
        if (auto dim = size.getDefiningOp<tensor::DimOp>())
          if (std::optional<int64_t> index = dim.getConstantIndex()) {
            int64_t position = 0;
            for (int64_t left = i;; ++position)
              if (empty.getType().isDynamicDim(position) && left-- == 0)
                break;
            unite(empty.getResult(), position, dim.getSource(), *index);
          }
    } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      bool expands = isa<tensor::ExpandShapeOp>(op);
      Value wide = expands ? op->getResult(0) : op->getOperand(0);
      Value narrow = expands ? op->getOperand(0) : op->getResult(0);
      auto groups =
          expands ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
                  : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
      auto type = cast<RankedTensorType>(wide.getType());
      for (auto [i, group] : llvm::enumerate(groups)) {
        SmallVector<int64_t> others = llvm::filter_to_vector(
            group, [&](int64_t d) { return type.getDimSize(d) != 1; });
        if (others.size() == 1)
          unite(narrow, i, wide, others.front());
      }
    }
  });
  SmallVector<int32_t> numbers;
  DenseMap<Extent, int32_t> known;
  DenseMap<int32_t, unsigned> members;
  for (BlockArgument arg : func.getArguments()) {
    auto type = cast<RankedTensorType>(arg.getType());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      Extent extent(arg.getAsOpaquePointer(), i);
      auto leader = classes.findLeader(extent);
      if (!type.isDynamicDim(i) || leader == classes.member_end()) {
        numbers.push_back(-1);
        continue;
      }
      int32_t number =
          known.try_emplace(*leader, int32_t(known.size())).first->second;
      ++members[number];
      numbers.push_back(number);
    }
  }
  for (int32_t &number : numbers)
    if (number >= 0 && members[number] < 2)
      number = -1;
  return numbers;
}

/// An extent of what an `scf.if` gives is that of what the branch gives that is
/// taken, which is one value where it is the same for both.
struct DimOfIf : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto branch = op.getSource().getDefiningOp<scf::IfOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!branch || !dim)
      return failure();
    unsigned number = cast<OpResult>(op.getSource()).getResultNumber();
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(op.getType());
    rewriter.setInsertionPoint(branch);
    auto wider = scf::IfOp::create(rewriter, branch.getLoc(), types,
                                   branch.getCondition(),
                                   /*addThenBlock=*/false,
                                   /*addElseBlock=*/false);
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(),
                                           wider->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      Operation *yield = to.front().getTerminator();
      rewriter.setInsertionPoint(yield);
      Value extent = tensor::DimOp::create(
          rewriter, op.getLoc(), yield->getOperand(number), *dim);
      rewriter.modifyOpInPlace(yield, [&] {
        yield->insertOperands(yield->getNumOperands(), extent);
      });
    }
    rewriter.replaceOp(op, wider->getResults().back());
    rewriter.replaceOp(branch, wider->getResults().drop_back());
    return success();
  }
};

/// Makes, before `func`, the private function that maps `func`'s arguments to
/// the dynamic extents of its results, in order. Null if there are none;
/// failure, with an error, if one depends on the data of an argument.
FailureOr<func::FuncOp> makeInferFunction(func::FuncOp func,
                                          SymbolTable &symbols) {
  if (llvm::all_of(func.getResultTypes(), [](Type type) {
        return cast<RankedTensorType>(type).hasStaticShape();
      }))
    return func::FuncOp();

  auto infer = cast<func::FuncOp>(func->clone());
  infer.setName((func.getName() + "_infer").str());
  infer.setPrivate();
  symbols.insert(infer);
  inlineCalls(infer, symbols);

  auto terminator =
      cast<func::ReturnOp>(infer.getBody().front().getTerminator());
  OpBuilder builder(terminator);
  SmallVector<Value> extents;
  for (Value value : terminator.getOperands()) {
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        extents.push_back(
            tensor::DimOp::create(builder, value.getLoc(), value, dim));
  }
  func::ReturnOp::create(builder, terminator.getLoc(), extents);
  terminator.erase();
  infer.setFunctionType(builder.getFunctionType(
      infer.getArgumentTypes(),
      SmallVector<Type>(extents.size(), builder.getIndexType())));
  infer.setResAttrsAttr(nullptr);
  // What the source asserts is checked when it runs, not when it is asked for
  // shapes.
  infer.walk([](cf::AssertOp op) { op.erase(); });

  RewritePatternSet patterns(func.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, func.getContext());
  tensor::CastOp::getCanonicalizationPatterns(patterns, func.getContext());
  tensor::ExtractOp::getCanonicalizationPatterns(patterns, func.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, func.getContext());
  patterns.add<DimOfIf>(func.getContext());
  FrozenRewritePatternSet frozen(std::move(patterns));
  if (failed(applyPatternsGreedily(infer, frozen)))
    return infer.emitError("shapes of results do not resolve");
  // What both branches of an `scf.if` compute alike is no choice.
  infer.walk([](scf::IfOp op) {
    moveLoopInvariantCode(
        {&op.getThenRegion(), &op.getElseRegion()},
        [](Value value, Region *region) {
          return !region->isAncestor(value.getParentRegion());
        },
        [](Operation *inner, Region *) { return isPure(inner); },
        [&](Operation *inner, Region *) { inner->moveBefore(op); });
  });
  IRRewriter rewriter(func.getContext());
  DominanceInfo dominance(infer);
  eliminateCommonSubExpressions(rewriter, dominance, infer);
  if (failed(applyPatternsGreedily(infer, frozen)))
    return infer.emitError("shapes of results do not resolve");
  // What computed only the data of the results.
  bool changed = true;
  while (changed) {
    changed = false;
    infer.walk([&](Operation *op) {
      if (op != infer && !op->hasTrait<OpTrait::IsTerminator>() &&
          op->use_empty() && wouldOpBeTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
    });
  }
  for (BlockArgument arg : infer.getArguments())
    for (Operation *user : arg.getUsers())
      if (!isa<tensor::DimOp>(user))
        return func.emitError("the shape of a result of '")
               << func.getName()
               << "' depends on the data of argument " << arg.getArgNumber()
               << "; only shapes that follow from shapes compile";
  return infer;
}

/// `out`, a block argument or a view of one, in the shape that `reshape` has
/// before it; null if that does not follow from the shape of `out`.
Value undoReshape(Operation *reshape, Value out, OpBuilder &builder) {
  Location loc = reshape->getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(out);
  return TypeSwitch<Operation *, Value>(reshape)
      .Case([&](tensor::ExpandShapeOp op) {
        return tensor::CollapseShapeOp::create(builder, loc, op.getSrcType(),
                                               out,
                                               op.getReassociationIndices());
      })
      .Case([&](tensor::CollapseShapeOp op) -> Value {
        RankedTensorType type = op.getSrcType();
        SmallVector<OpFoldResult> sizes(type.getRank());
        for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
          int64_t known = 1;
          std::optional<int64_t> unknown;
          for (int64_t d : group) {
            if (!type.isDynamicDim(d)) {
              known *= type.getDimSize(d);
              sizes[d] = builder.getIndexAttr(type.getDimSize(d));
            } else if (unknown) {
              return {};
            } else {
              unknown = d;
            }
          }
          if (!unknown)
            continue;
          Value size = tensor::DimOp::create(builder, loc, out, i);
          if (known != 1)
            size = arith::DivUIOp::create(
                builder, loc, size,
                arith::ConstantIndexOp::create(builder, loc, known));
          sizes[*unknown] = size;
        }
        return tensor::ExpandShapeOp::create(builder, loc, type, out,
                                             op.getReassociationIndices(),
                                             sizes);
      })
      .Default([](Operation *) { return Value(); });
}

/// Stores `value`, a result, into `out`. What reshapes hide is stored in its
/// own shape: then who makes it can write to `out`, and nothing is copied.
Value storeInto(Value value, Value out, OpBuilder &builder) {
  Location loc = value.getLoc();
  Operation *reshape = value.getDefiningOp();
  if (reshape &&
      isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape) &&
      !isa<BlockArgument>(reshape->getOperand(0)))
    if (Value inner = undoReshape(reshape, out, builder)) {
      IRMapping mapping;
      mapping.map(reshape->getOperand(0),
                  storeInto(reshape->getOperand(0), inner, builder));
      return builder.clone(*reshape, mapping)->getResult(0);
    }
  return bufferization::MaterializeInDestinationOp::create(
             builder, loc, value.getType(), value, out)
      .getResult();
}

struct HostSignature
    : public coda::impl::CodaHostSignatureBase<HostSignature> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPublic() && !func->hasAttr(kEntryAttr))
        entries.push_back(func);

    // One call of an outlined kernel is one launch. Counted while they are
    // calls: below, everything is inlined.
    DenseMap<Operation *, int32_t> launches;
    for (func::FuncOp func : entries)
      func.walk([&](func::CallOp call) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (callee && callee->hasAttr("coda.kernel"))
          ++launches[func];
      });
    for (func::FuncOp func : entries)
      if (failed(checkEntry(func)))
        return signalPassFailure();
    // Kernels are functions for the GPU's sake; elsewhere they are code like
    // other. coda-separate-destinations marks those that are launched.
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPrivate() && !func->hasAttr("coda.launched"))
        func->removeAttr("no_inline");
    OpPassManager inlining(ModuleOp::getOperationName());
    inlining.addPass(createInlinerPass());
    inlining.addPass(createSymbolDCEPass());
    if (failed(runPipeline(inlining, module)))
      return signalPassFailure();

    SymbolTable symbols(module);
    for (func::FuncOp func : entries)
      if (failed(makeEntry(func, symbols, launches.lookup(func))))
        return signalPassFailure();
  }

  LogicalResult makeEntry(func::FuncOp func, SymbolTable &symbols,
                          int32_t launches) {
    WalkResult calls = func.walk([&](Operation *op) {
      if (!isa<CallOpInterface>(op))
        return WalkResult::advance();
      // A launch, where kernels stay functions.
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
            callee && callee->hasAttr("coda.kernel"))
          return WalkResult::advance();
      op->emitError("a call that cannot be inlined; only functions defined in "
                    "the module, without recursion, compile");
      return WalkResult::interrupt();
    });
    if (calls.wasInterrupted() || failed(checkBufferizable(func)))
      return failure();
    guardDivisions(func);
    FailureOr<func::FuncOp> infer = makeInferFunction(func, symbols);
    if (failed(infer))
      return failure();

    Builder builder(func.getContext());
    SmallVector<NamedAttribute> entry;
    entry.emplace_back("name", builder.getStringAttr(func.getName()));
    entry.emplace_back("inputs",
                       builder.getTypeArrayAttr(func.getArgumentTypes()));
    entry.emplace_back("outputs",
                       builder.getTypeArrayAttr(func.getResultTypes()));
    entry.emplace_back("launches", builder.getI32IntegerAttr(launches));
    OwningOpRef<func::FuncOp> whole = cast<func::FuncOp>(func->clone());
    inlineCalls(*whole, symbols);
    SmallVector<int32_t> extents = computeExtentClasses(*whole);
    if (llvm::any_of(extents, [](int32_t number) { return number >= 0; }))
      entry.emplace_back("extents", builder.getDenseI32ArrayAttr(extents));
    if (*infer)
      entry.emplace_back("infer", FlatSymbolRefAttr::get(*infer));

    // Inputs are the caller's to write, not ours.
    for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
      func.setArgAttr(i, "bufferization.writable", builder.getBoolAttr(false));

    // Destinations are tensors here, and returned, so that the analysis of
    // bufferization sees all writes to them.
    auto terminator =
        cast<func::ReturnOp>(func.getBody().front().getTerminator());
    OpBuilder at(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value value = operand.get();
      Value out =
          func.getBody().front().addArgument(value.getType(), value.getLoc());
      operand.set(storeInto(value, out, at));
    }
    SmallVector<Attribute> argAttrs(func.getBody().getNumArguments(),
                                    builder.getDictionaryAttr({}));
    for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
      argAttrs[i] = func.getArgAttrDict(i) ? func.getArgAttrDict(i)
                                           : builder.getDictionaryAttr({});
    func.setFunctionType(builder.getFunctionType(
        func.getBody().front().getArgumentTypes(), func.getResultTypes()));
    func.setArgAttrsAttr(builder.getArrayAttr(argAttrs));
    func.setResAttrsAttr(nullptr);
    func->setAttr(kEntryAttr, builder.getDictionaryAttr(entry));
    return success();
  }
};

} // namespace
