//===- DecomposeUnscheduled.cpp - Kernels that no schedule fits -----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "KernelModel.h"

#include "coda/Dialect/Coda/Analysis/FusionLegality.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"
#include "coda/Dialect/Coda/Transforms/SeparateProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPUDECOMPOSEUNSCHEDULED
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda;
using namespace mlir::coda_gpu;

/// `type` as bufferization of a function's arguments makes it.
static Type toBufferType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Arguments of a kernel by number, and the first dims of their rows, that have to be
/// padded.
using PaddedRows = SmallVector<std::pair<unsigned, unsigned>>;

/// The factors of `kernel` of which the rows are not whole 16 bytes, and could be.
static PaddedRows getPaddedRows(const KernelModel &kernel) {
  PaddedRows padded;
  for (const TileModel &tile : kernel.tiles)
    forFactors(tile, [&](const OperandModel &factor) {
      std::optional<unsigned> row = getUnalignedRow(factor);
      auto argument = dyn_cast<BlockArgument>(factor.memref);
      if (!row || !argument || !factor.type.getLayout().isIdentity() ||
          getPaddedRow(factor.type, *row) == 0)
        return;
      std::pair<unsigned, unsigned> found(argument.getArgNumber(), *row);
      if (!llvm::is_contained(padded, found))
        padded.push_back(found);
    });
  return padded;
}

/// Copies a tile op or bundle onto memrefs: its operands by `mapping`, no
/// results.
static void cloneOnBuffers(OpBuilder &builder, Operation *op,
                           IRMapping &mapping) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(mapping.lookup(operand));
  Operation *copy = Operation::create(
      op->getLoc(), op->getName(), TypeRange(), operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
      BlockRange(), op->getNumRegions());
  builder.insert(copy);
  if (isa<TileOpInterface>(op)) {
    IRMapping body;
    op->getRegion(0).cloneInto(&copy->getRegion(0), body);
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&copy->getRegion(0));
  for (Operation &member : op->getRegion(0).front().without_terminator())
    cloneOnBuffers(builder, &member, mapping);
}

/// The tensors that a tile op or bundle reads and gives its results' places.
static SetVector<Value> getOperands(Operation *op) {
  SetVector<Value> operands(op->operand_begin(), op->operand_end());
  op->walk([&](TileOpInterface tile) {
    operands.insert(tile->operand_begin(), tile->operand_end());
  });
  return operands;
}

namespace {
/// What a kernel needs of extents that only a call shows: the product of
/// `factor` and the extents `dims` of `tensor` is a multiple of `divisor`, or,
/// where that is 0, is not 0.
struct Requirement {
  Value tensor;
  SmallVector<int64_t> dims;
  int64_t factor = 1;
  int64_t divisor = 0;

  bool isStatic() const {
    return dims.empty() || (divisor != 0 && factor % divisor == 0);
  }
};

/// The rows of a tile op of a kernel: the product of `factor` and of extents
/// that only a call shows, dims of the kernel's arguments.
struct RowCount {
  int64_t factor = 1;
  SmallVector<std::pair<unsigned, unsigned>> dims;
  /// Whether all other extents of the op are known.
  bool isOnlyUnknown = true;

  bool operator==(const RowCount &other) const {
    return factor == other.factor && dims == other.dims;
  }
};
} // namespace

/// The rows of `op`, whose operands are arguments of its kernel.
static RowCount getRowCount(TileOpInterface op) {
  RowCount count;
  for (auto [d, extent] : llvm::enumerate(op.getStaticExtents())) {
    DimKind kind = op.getDimKind(d);
    bool isRow = kind == DimKind::b || kind == DimKind::m;
    if (!ShapedType::isDynamic(extent)) {
      count.factor *= isRow ? extent : 1;
      continue;
    }
    count.isOnlyUnknown &= isRow;
    if (!isRow)
      continue;
    AffineExpr dim = getAffineDimExpr(d, op->getContext());
    for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
      if (std::optional<unsigned> position =
              op.getMap(i).getResultPosition(dim)) {
        auto argument = cast<BlockArgument>(op->getOperand(i));
        count.dims.push_back({argument.getArgNumber(), *position});
        break;
      }
  }
  return count;
}

/// Whether so many terms meet in one element of a result that a thread is long at
/// them.
static bool hasManyTerms(linalg::LinalgOp op) {
  constexpr int64_t kFewTerms = 32;
  int64_t terms = 1;
  for (auto [extent, kind] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    if (ShapedType::isDynamic(extent) || extent > kFewTerms)
      return true;
    terms *= extent;
  }
  return terms > kFewTerms;
}

/// The requirements of the kernel of `tile`, the model of `op` on tensors.
static void getRequirements(const TileModel &tile, TileOpInterface op,
                            SmallVectorImpl<Requirement> &requirements) {
  auto product = [&](const OperandModel &operand, ArrayRef<unsigned> positions,
                     int64_t divisor) {
    Requirement needed;
    needed.tensor = op->getOperand(operand.number);
    needed.divisor = divisor;
    auto type = cast<RankedTensorType>(needed.tensor.getType());
    for (unsigned p : positions) {
      if (type.isDynamicDim(p))
        needed.dims.push_back(p);
      else
        needed.factor *= type.getDimSize(p);
    }
    if (!needed.isStatic())
      requirements.push_back(needed);
  };
  // The strides of what the copy engine moves: what lies inside of each dim.
  auto strides = [&](const OperandModel &operand) {
    int64_t divisor = 128 / operand.element.getIntOrFloatBitWidth();
    unsigned rank = operand.type.getRank();
    for (ArrayRef<unsigned> positions : ArrayRef(operand.positions).drop_back())
      product(operand,
              llvm::to_vector(llvm::seq<unsigned>(positions.back() + 1, rank)),
              divisor);
  };
  for (const Phase &phase : tile.phases) {
    strides(phase.lhs);
    for (const std::optional<OperandModel> &rhs : phase.rhs)
      if (rhs)
        strides(*rhs);
    // Accumulators are set by their first product.
    if (phase.hasFirstOfPart())
      for (unsigned d : phase.k)
        product(phase.lhs, phase.lhs.positions[phase.lhs.find(d)],
                /*divisor=*/0);
  }
  for (const InputModel &input : tile.inputs)
    if (input.path == LoadPath::Prefetched)
      strides(input);
  for (const OutputModel &output : tile.outputs)
    if (output.path == StorePath::Staged)
      strides(output);
}

/// The results of `ops`, one after another.
static SmallVector<Value> getResults(ArrayRef<Operation *> ops) {
  SmallVector<Value> results;
  for (Operation *op : ops)
    llvm::append_range(results, op->getResults());
  return results;
}

/// A bundle of copies of `members` before `op`; its results are theirs.
static BundleOp copyToBundle(Operation *op, ArrayRef<Operation *> members) {
  OpBuilder builder(op);
  SmallVector<Location> locations;
  for (Operation *member : members)
    locations.push_back(member->getLoc());
  auto bundle = BundleOp::create(builder, builder.getFusedLoc(locations),
                                 ValueRange(getResults(members)).getTypes());
  builder.createBlock(&bundle.getBody());
  SmallVector<Operation *> copies;
  for (Operation *member : members)
    copies.push_back(builder.clone(*member));
  YieldOp::create(builder, bundle.getLoc(), getResults(copies));
  return bundle;
}

/// Whether a schedule fits `op`, a tile op or bundle on tensors, once it is on
/// memrefs, provided that `requirements` hold, and that there are no more than
/// `maxRows` rows (0: any number); if not, `reason` says why. `padded` are the
/// operands, by their places in `getOperands`, of which the rows have to be padded
/// for it.
static bool hasSchedule(Operation *op, std::string &reason,
                        SmallVectorImpl<Requirement> &requirements,
                        PaddedRows &padded, int64_t maxRows = 0) {
  SetVector<Value> operands = getOperands(op);
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(toBufferType(operand.getType()));
  OpBuilder builder(op->getContext());
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(
      op->getLoc(), "probe", builder.getFunctionType(types, {}));
  Block *body = function->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  mapping.map(operands.getArrayRef(), body->getArguments());
  cloneOnBuffers(builder, op, mapping);
  if (maxRows)
    (*function)->setAttr(kMaxRowsAttrName, builder.getI64IntegerAttr(maxRows));
  FailureOr<KernelModel> kernel = buildKernelModel(*function, reason);
  if (failed(kernel))
    return false;
  padded = getPaddedRows(*kernel);
  for (auto [number, row] : padded) {
    BlockArgument argument = body->getArgument(number);
    argument.setType(
        getPaddedType(cast<MemRefType>(argument.getType()), row));
  }
  if (!padded.empty())
    kernel = buildKernelModel(*function, reason);
  if (failed(kernel) ||
      !selectSchedule(*kernel, /*batchInvariant=*/false, reason))
    return false;
  SmallVector<TileOpInterface> tiles;
  op->walk([&](TileOpInterface tile) { tiles.push_back(tile); });
  for (auto [model, tile] : llvm::zip_equal(kernel->tiles, tiles))
    getRequirements(model, tile, requirements);
  return true;
}

namespace {

struct GPUDecomposeUnscheduled
    : public coda_gpu::impl::GPUDecomposeUnscheduledBase<
          GPUDecomposeUnscheduled> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    unscheduled.clear();
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp func : module.getOps<func::FuncOp>()) {
      if (func->hasAttr(kKernelAttrName))
        kernels.push_back(func);
      else
        remarkReductions(func);
    }
    for (func::FuncOp func : kernels)
      visit(func, symbols);
    if (!unscheduled.empty())
      module->setAttr(kUnscheduledAttrName,
                      unscheduled.getDictionary(&getContext()));
    OpPassManager decompose(func::FuncOp::getOperationName());
    decompose.addPass(createDecomposePass());
    for (func::FuncOp func :
         llvm::to_vector(module.getOps<func::FuncOp>()))
      if (!func->hasAttr(kKernelAttrName) && !func.isExternal() &&
          failed(runPipeline(decompose, func)))
        return signalPassFailure();
  }

  void visit(func::FuncOp func, SymbolTable &symbols) {
    Operation *op = nullptr;
    func.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (!isa<TileOpInterface, BundleOp>(inner))
        return WalkResult::advance();
      op = inner;
      return WalkResult::interrupt();
    });
    // Kernels on memrefs are past this.
    if (!op || op->getNumResults() == 0)
      return;
    std::string reason;
    SmallVector<Requirement> requirements;
    PaddedRows padded;
    if (hasSchedule(op, reason, requirements, padded)) {
      padRows(func, op, padded);
      if (!requirements.empty())
        dispatch(func, op, requirements, symbols);
      dispatchRows(func, op, symbols);
      return;
    }
    func->removeAttr(kKernelAttrName);
    func->removeAttr("no_inline");
    auto bundle = dyn_cast<BundleOp>(op);
    if (!bundle)
      return decompose(func, op, reason, symbols);
    SmallVector<Operation *> members;
    for (Operation &member : bundle.getBody().front().without_terminator())
      members.push_back(&member);
    // As many members as have a schedule together, one after another, are a launch.
    SmallVector<SmallVector<Operation *>> launches;
    SmallVector<std::pair<Operation *, std::string>> others;
    for (Operation *member : members) {
      std::string own;
      SmallVector<Requirement> unused;
      PaddedRows padded;
      if (!hasSchedule(member, own, unused, padded)) {
        others.push_back({member, own});
        continue;
      }
      if (!launches.empty()) {
        SmallVector<Operation *> more(launches.back());
        more.push_back(member);
        BundleOp joined = copyToBundle(bundle, more);
        bool fits = hasSchedule(joined, own, unused, padded);
        joined->erase();
        if (fits) {
          launches.back().push_back(member);
          continue;
        }
      }
      launches.push_back({member});
    }
    if (others.empty())
      remark(func, bundle, "launch",
             reason + "; its " + Twine(members.size()) + " members are " +
                 Twine(launches.size()) + " launches");
    // The members stand alone from here on.
    IRRewriter rewriter(&getContext());
    Operation *yield = bundle.getBody().front().getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&bundle.getBody().front(), bundle);
    rewriter.replaceOp(bundle, results);
    for (ArrayRef<Operation *> launch : launches) {
      if (launch.size() == 1) {
        outline(func, launch.front(), symbols);
        continue;
      }
      BundleOp joined = copyToBundle(launch.back(), launch);
      for (auto [i, result] : llvm::enumerate(getResults(launch)))
        result.replaceAllUsesWith(joined->getResult(i));
      for (Operation *member : launch)
        rewriter.eraseOp(member);
      outline(func, joined, symbols);
    }
    for (auto &[member, own] : others)
      decompose(func, member, own, symbols);
  }

  /// `op`, in `func`, is no kernel; where it is one without some of the products of
  /// its accumulators, these are taken out and loaded: those that are none, factors of
  /// f32 say; if all of them are, the last of its sums, which are too many for one.
  /// False if it is not.
  bool separate(func::FuncOp func, TileOpInterface tile, StringRef reason,
                SymbolTable &symbols) {
    OpBuilder builder(tile);
    llvm::MapVector<unsigned, PlainGemm> others;
    SmallVector<std::string> reasons;
    auto createProduct = [&](unsigned product) {
      return createPlainGemm(builder, tile, product, {tile.getLhs()[product]},
                             {tile.getRhs()[product]});
    };
    auto isKernel = [&](Operation *op, std::string &own) {
      SmallVector<Requirement> requirements;
      PaddedRows padded;
      return hasSchedule(op, own, requirements, padded);
    };
    // Products that are not the first of their accumulators.
    SmallVector<unsigned> added;
    bool isRest = true;
    unsigned product = 0;
    for (int32_t size : tile.getAccSizes()) {
      unsigned first = product, numOthers = others.size();
      for (; product < first + size; ++product) {
        if (product != first)
          added.push_back(product);
        std::string own;
        PlainGemm gemm = createProduct(product);
        if (isKernel(gemm.op, own)) {
          gemm.op->erase();
          continue;
        }
        others.insert({product, gemm});
        reasons.push_back(own);
      }
      isRest &= others.size() - numOthers < static_cast<size_t>(size);
    }
    TileOpInterface rest;
    std::string unused;
    auto createRest = [&] {
      rest = createGemmWithout(builder, tile, others);
      if (isKernel(rest, unused))
        return;
      rest->erase();
      rest = {};
    };
    bool areTooMany = others.empty();
    if (isRest && !areTooMany)
      createRest();
    while (areTooMany && !rest && !added.empty()) {
      unsigned last = added.pop_back_val();
      others.insert({last, createProduct(last)});
      createRest();
    }
    if (!rest) {
      for (auto &[number, gemm] : others)
        gemm.op->erase();
      return false;
    }
    remark(func, tile, "kernel",
           "no schedule on sm_90a: " + reason + "; " +
               (others.size() == 1
                    ? "a product of it is taken out of its sum"
                    : Twine(others.size()) +
                          " products of it are taken out of their sums"));
    tile->replaceAllUsesWith(rest->getResults());
    tile->erase();
    outline(func, rest, symbols);
    for (auto [i, entry] : llvm::enumerate(others)) {
      Operation *gemm = entry.second.op;
      if (areTooMany)
        outline(func, gemm, symbols);
      else
        decompose(func, gemm, reasons[i], symbols);
    }
    return true;
  }

  /// Notes at the arguments of `func`, a kernel that holds `op`, that their rows are
  /// to be padded.
  void padRows(func::FuncOp func, Operation *op, const PaddedRows &padded) {
    if (padded.empty())
      return;
    SetVector<Value> operands = getOperands(op);
    OpBuilder builder(&getContext());
    for (auto [number, row] : padded)
      func.setArgAttr(cast<BlockArgument>(operands[number]).getArgNumber(),
                      kPaddedRowAttrName, builder.getI64IntegerAttr(row));
    op->emitRemark("[coda-gpu-decompose-unscheduled] '")
        << func.getName()
        << "': padded-rows: the copy engine takes rows of whole 16 bytes, and "
           "those of "
        << padded.size()
        << " of its factors are not: they are made with more, or copied to a "
           "buffer that has more";
  }

  /// `op`, in `func`, is no kernel: where its accumulators alone are, they become
  /// kernels, and what its region does is left as a map.
  void decompose(func::FuncOp func, Operation *op, StringRef reason,
                 SymbolTable &symbols) {
    auto tile = cast<TileOpInterface>(op);
    if (separate(func, tile, reason, symbols)) {
      ++numDecomposed;
      return;
    }
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    SmallVector<PlainGemm> gemms;
    bool areKernels = tile.getNumProducts() != 0;
    unsigned product = 0;
    for (int32_t size : tile.getAccSizes()) {
      auto take = [&](ValueRange factors) {
        return llvm::to_vector(factors.slice(product, size));
      };
      gemms.push_back(createPlainGemm(builder, tile, product,
                                      take(tile.getLhs()),
                                      take(tile.getRhs())));
      product += size;
      std::string unused;
      SmallVector<Requirement> requirements;
      PaddedRows padded;
      areKernels &= hasSchedule(gemms.back().op, unused, requirements, padded);
    }
    ++numDecomposed;
    std::string what = "no schedule on sm_90a: " + reason.str();
    if (!areKernels) {
      remark(func, op, "kernel", what + "; it runs as loops");
      while (op->getPrevNode() != before)
        op->getPrevNode()->erase();
      return;
    }
    TileOpInterface map = createEpilogueMap(builder, tile, gemms);
    std::string unused;
    SmallVector<Requirement> requirements;
    PaddedRows padded;
    bool isKernel = hasSchedule(map, unused, requirements, padded);
    remark(func, op, "kernel",
           what + "; its products are kernels of their own" +
               (isKernel ? "" : ", the rest of it runs as loops"));
    op->replaceAllUsesWith(map->getResults());
    op->erase();
    for (const PlainGemm &gemm : gemms)
      outline(func, gemm.op, symbols);
    if (isKernel)
      outline(func, map, symbols);
  }

  /// Makes callers of the kernel `func`, which holds `op`, call a function that
  /// looks at the extents first.
  void dispatch(func::FuncOp func, Operation *op,
                ArrayRef<Requirement> requirements, SymbolTable &symbols) {
    op->emitRemark("[coda-gpu-decompose-unscheduled] two versions of '")
        << func.getName()
        << "': unfused-on-device: loops where a dynamic stride is no multiple "
           "of 16 bytes or k is empty";
    Location loc = op->getLoc();
    Block *body = wrap(func, "_any", symbols);
    OpBuilder b = OpBuilder::atBlockBegin(body);
    auto index = [&](int64_t v) -> Value {
      return arith::ConstantIndexOp::create(b, loc, v);
    };
    Value holds = arith::ConstantIntOp::create(b, loc, 1, 1);
    for (const Requirement &needed : requirements) {
      Value tensor = body->getArgument(
          cast<BlockArgument>(needed.tensor).getArgNumber());
      Value number = index(needed.factor);
      for (int64_t dim : needed.dims)
        number = arith::MulIOp::create(
            b, loc, number, tensor::DimOp::create(b, loc, tensor, dim));
      if (needed.divisor)
        number =
            arith::RemUIOp::create(b, loc, number, index(needed.divisor));
      Value isZero = arith::CmpIOp::create(
          b, loc,
          needed.divisor ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
          number, index(0));
      holds = arith::AndIOp::create(b, loc, holds, isZero);
    }
    auto branch = scf::IfOp::create(b, loc, func.getResultTypes(), holds,
                                    /*withElseRegion=*/true);
    branch->setAttr(kDispatchAttrName, b.getUnitAttr());
    func::ReturnOp::create(b, loc, branch.getResults());
    b.setInsertionPointToStart(branch.thenBlock());
    auto call = func::CallOp::create(b, loc, func, body->getArguments());
    scf::YieldOp::create(b, loc, call.getResults());
    b.setInsertionPointToStart(branch.elseBlock());
    IRMapping mapping;
    mapping.map(func.getArguments(), body->getArguments());
    Block &kernel = func.getBody().front();
    for (Operation &inner : kernel.without_terminator())
      b.clone(inner, mapping);
    SmallVector<Value> results;
    for (Value result : kernel.getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(result));
    scf::YieldOp::create(b, loc, results);
  }

  /// Makes callers of the kernel `func` call an ordinary function, whose body it
  /// returns.
  Block *wrap(func::FuncOp func, StringRef suffix, SymbolTable &symbols) {
    auto wrapper = cast<func::FuncOp>(func->cloneWithoutRegions());
    wrapper->removeAttr(kKernelAttrName);
    wrapper->removeAttr("no_inline");
    wrapper.setName((func.getName() + suffix).str());
    symbols.insert(wrapper, Block::iterator(func));
    if (failed(SymbolTable::replaceAllSymbolUses(func, wrapper.getNameAttr(),
                                                 getOperation())))
      llvm_unreachable("functions are called by flat symbols");
    return wrapper.addEntryBlock();
  }

  /// The kernel `func`, which holds `op`, gets a second version for few rows,
  /// which want another schedule, where only a call shows how many there are.
  void dispatchRows(func::FuncOp func, Operation *op, SymbolTable &symbols) {
    SmallVector<RowCount> counts;
    bool hasProducts = false, hasMany = false, isOnlyUnknown = true;
    op->walk([&](TileOpInterface tile) {
      RowCount count = getRowCount(tile);
      hasProducts |= tile.getNumProducts() != 0;
      hasMany |= count.factor > kFragmentRows;
      isOnlyUnknown &= count.isOnlyUnknown;
      if (!count.dims.empty() && count.factor <= kFragmentRows &&
          !llvm::is_contained(counts, count))
        counts.push_back(count);
    });
    // No weights stream to a map.
    if (!hasProducts || counts.empty())
      return;
    std::string reason;
    SmallVector<Requirement> requirements;
    PaddedRows padded;
    bool fits = false;
    if (hasMany)
      reason = "another member has more of them in any call";
    else if (!isOnlyUnknown)
      // What is known of one version only is not worth another.
      reason = "columns, or terms of a sum, are not known either";
    else
      fits = hasSchedule(op, reason, requirements, padded, kFragmentRows);
    if (!fits) {
      op->emitRemark("[coda-gpu-decompose-unscheduled] one version of '")
          << func.getName() << "': few-rows: at most " << kFragmentRows
          << " of them have no schedule of their own: " << reason;
      return;
    }

    Location loc = op->getLoc();
    Block *body = wrap(func, "_rows", symbols);
    auto few = cast<func::FuncOp>(func->clone());
    few.setName((func.getName() + "_few").str());
    OpBuilder b = OpBuilder::atBlockBegin(body);
    few->setAttr(kMaxRowsAttrName, b.getI64IntegerAttr(kFragmentRows));
    symbols.insert(few, std::next(Block::iterator(func)));
    Value isFew;
    for (const RowCount &count : counts) {
      Value rows = arith::ConstantIndexOp::create(b, loc, count.factor);
      for (auto [argument, position] : count.dims)
        rows = arith::MulIOp::create(
            b, loc, rows,
            tensor::DimOp::create(b, loc, body->getArgument(argument),
                                  position));
      Value own = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::ule, rows,
          arith::ConstantIndexOp::create(b, loc, kFragmentRows));
      isFew = isFew ? arith::AndIOp::create(b, loc, isFew, own).getResult()
                    : own;
    }
    auto branch = scf::IfOp::create(b, loc, func.getResultTypes(), isFew,
                                    /*withElseRegion=*/true);
    branch->setAttr(kDispatchAttrName, b.getUnitAttr());
    func::ReturnOp::create(b, loc, branch.getResults());
    for (auto [block, callee] : {std::pair(branch.thenBlock(), few),
                                 std::pair(branch.elseBlock(), func)}) {
      b.setInsertionPointToStart(block);
      auto call = func::CallOp::create(b, loc, callee, body->getArguments());
      scf::YieldOp::create(b, loc, call.getResults());
    }
  }

  /// Products and reductions of the graph that no tile op does are the slowest of
  /// loops: a thread takes all terms of a point, one by one.
  void remarkReductions(func::FuncOp func) {
    func.walk([](linalg::LinalgOp op) {
      bool isProduct = linalg::isaContractionOpInterface(op);
      if (isProduct || hasManyTerms(op))
        op->emitRemark("[coda-gpu-decompose-unscheduled] '")
            << op->getName()
            << "' is in no kernel: unfused-on-device: no tile op does this "
            << (isProduct ? "product" : "reduction") << "; it runs as loops";
    });
  }

  /// Says, and notes at the module, that `op` of the kernel `func` is not one
  /// `what`.
  void remark(func::FuncOp func, Operation *op, StringRef what,
              const Twine &why) {
    std::string text = why.str();
    op->emitRemark("[coda-gpu-decompose-unscheduled] '")
        << func.getName() << "' is not one " << what
        << ": unfused-on-device: " << text;
    // Members of a bundle have their own reasons.
    if (auto other = dyn_cast_or_null<StringAttr>(
            unscheduled.get(func.getName()));
        other && other.getValue() != text)
      text = (other.getValue() + "; " + text).str();
    unscheduled.set(func.getName(), StringAttr::get(&getContext(), text));
  }

  /// Moves `op` into a kernel function of its own, called from `caller`.
  void outline(func::FuncOp caller, Operation *op, SymbolTable &symbols) {
    OpBuilder builder(&getContext());
    SetVector<Value> operands = getOperands(op);
    SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    auto function = func::FuncOp::create(
        op->getLoc(), (caller.getName() + "_member").str(),
        builder.getFunctionType(types, op->getResultTypes()));
    function.setPrivate();
    function->setAttr(kKernelAttrName, builder.getUnitAttr());
    function.setNoInline(true);
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    IRMapping mapping;
    mapping.map(operands.getArrayRef(), body->getArguments());
    Operation *copy = builder.clone(*op, mapping);
    func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
    symbols.insert(function, std::next(Block::iterator(caller)));
    builder.setInsertionPoint(op);
    auto call = func::CallOp::create(builder, op->getLoc(), function,
                                     operands.getArrayRef());
    op->replaceAllUsesWith(call.getResults());
    op->erase();
    visit(function, symbols);
  }

  /// Kernels that have no schedule, and why.
  NamedAttrList unscheduled;
};

} // namespace
