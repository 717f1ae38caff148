//===- LaunchLoops.cpp - linalg of the host code into simple kernels ------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of what no schedule fits: right for any shape, stride, alignment
// and type, and slow. A thread owns points of the parallel dims, so nothing is
// shared, ordered or masked.
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToNVGPU/Passes.h"

#include "Launcher.h"

#include "coda/Conversion/CodaToHost/Entry.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::coda_gpu {
#define GEN_PASS_DEF_GPULAUNCHLOOPS
#include "coda/Conversion/CodaToNVGPU/Passes.h.inc"
} // namespace mlir::coda_gpu

using namespace mlir;
using namespace mlir::coda_gpu;

/// Threads of a block.
static constexpr int64_t kThreads = 256;

namespace {

/// A sum in f16 or bf16 that is kept in f32: the addition, what it adds, and
/// the product that is the term, if only the addition reads it.
struct WideSum {
  Operation *add;
  Value term;
  Operation *product;
};

/// A reduced dim of which all outputs have groups of `points`, and nothing else:
/// these are independent.
struct GroupedDim {
  unsigned dim;
  int64_t points;
};

/// Builds one kernel at the end of the module of kernels.
class LoopKernelEmitter {
public:
  LoopKernelEmitter(gpu::GPUModuleOp kernels, ModuleOp module, Location loc)
      : kernels(kernels), module(module), loc(loc), b(module.getContext()) {}

  /// The kernel of `op`; `extents` are those of its loops, on the host.
  gpu::GPUFuncOp emit(StringRef name, linalg::GenericOp op,
                      ArrayRef<OpFoldResult> extents, Value points);
  /// A kernel of one thread that stores one element.
  gpu::GPUFuncOp emit(StringRef name, memref::StoreOp op);

  /// What the kernel's parameters stand for on the host.
  ArrayRef<Value> getArguments() const { return arguments; }

private:
  gpu::GPUFuncOp begin(StringRef name);
  void end();
  /// `host`, a value of the host code, in the kernel.
  Value device(Value host);
  Value device(OpFoldResult host);
  Value index(int64_t v) {
    return arith::ConstantIndexOp::create(b, loc, v);
  }

  void findWideSums(linalg::GenericOp op);
  void emitPoint(linalg::GenericOp op, Value point);
  /// The loops over `reductions`, outermost first; returns what is carried.
  SmallVector<Value> emitReductions(linalg::GenericOp op,
                                    ArrayRef<unsigned> reductions,
                                    SmallVector<Value> carried);
  SmallVector<Value> emitElement(linalg::GenericOp op,
                                 ArrayRef<Value> carried);
  /// The ops of a body from `op` on; returns what it yields.
  SmallVector<Value> emitBody(Operation *op, IRMapping &mapping);
  void emitWideSum(const WideSum &sum, IRMapping &mapping);
  SmallVector<Value> address(AffineMap map);
  Type carriedType(linalg::GenericOp op, unsigned output);
  bool isCarried(linalg::GenericOp op, unsigned output);

  std::optional<GroupedDim> groups;
  /// Bounds of the loop over that dim, for the group at hand.
  Value groupBegin, groupEnd;
  gpu::GPUModuleOp kernels;
  ModuleOp module;
  Location loc;
  OpBuilder b;
  gpu::GPUFuncOp func;
  /// Host values in the kernel.
  IRMapping known;
  SmallVector<Value> arguments;
  SmallVector<Value> loopExtents;
  /// The position of the point at hand.
  SmallVector<Value> ivs;
  /// By the addition.
  llvm::DenseMap<Operation *, WideSum> wideSums;
  llvm::SmallPtrSet<Operation *, 4> wideProducts;
};

} // namespace

static std::optional<GroupedDim> findGroupedDim(linalg::GenericOp op) {
  std::optional<GroupedDim> found;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<GroupedDim> own;
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (AffineExpr expr : map.getResults()) {
      auto index = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!index)
        continue;
      auto dim = dyn_cast<AffineDimExpr>(index.getLHS());
      auto points = dyn_cast<AffineConstantExpr>(index.getRHS());
      if (index.getKind() != AffineExprKind::FloorDiv || !dim || !points || own)
        return std::nullopt;
      own = GroupedDim{dim.getPosition(), points.getValue()};
    }
    if (!own || own->points < 1 ||
        llvm::count_if(map.getResults(), [&](AffineExpr expr) {
          return expr.isFunctionOfDim(own->dim);
        }) != 1)
      return std::nullopt;
    if (found && (found->dim != own->dim || found->points != own->points))
      return std::nullopt;
    found = own;
  }
  if (found && op.getIteratorTypesArray()[found->dim] !=
                   utils::IteratorType::reduction)
    return std::nullopt;
  return found;
}

gpu::GPUFuncOp LoopKernelEmitter::begin(StringRef name) {
  b.setInsertionPointToEnd(kernels.getBody());
  func = gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(kThreads), 1, 1}));
  b.setInsertionPointToStart(&func.getBody().front());
  return func;
}

void LoopKernelEmitter::end() {
  gpu::ReturnOp::create(b, loc);
  func.setFunctionType(
      b.getFunctionType(func.getBody().front().getArgumentTypes(), {}));
}

Value LoopKernelEmitter::device(Value host) {
  if (Value value = known.lookupOrNull(host))
    return value;
  OpBuilder::InsertionGuard guard(b);
  Block *entry = &func.getBody().front();
  Operation *def = host.getDefiningOp();
  if (def && def->hasTrait<OpTrait::ConstantLike>()) {
    b.setInsertionPointToStart(entry);
    return b.clone(*def, known)->getResult(0);
  }
  if (auto global = dyn_cast_or_null<memref::GetGlobalOp>(def)) {
    if (!SymbolTable::lookupSymbolIn(kernels, global.getName())) {
      auto symbol = module.lookupSymbol<memref::GlobalOp>(global.getName());
      b.setInsertionPointToStart(kernels.getBody());
      b.clone(*symbol);
    }
    b.setInsertionPointToStart(entry);
    return b.clone(*def, known)->getResult(0);
  }
  Value argument = entry->addArgument(host.getType(), loc);
  arguments.push_back(host);
  known.map(host, argument);
  return argument;
}

Value LoopKernelEmitter::device(OpFoldResult host) {
  if (auto value = dyn_cast<Value>(host))
    return device(value);
  return index(*getConstantIntValue(host));
}

SmallVector<Value> LoopKernelEmitter::address(AffineMap map) {
  SmallVector<Value> position;
  if (map.isProjectedPermutation()) {
    for (AffineExpr expr : map.getResults())
      position.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
    return position;
  }
  llvm::append_range(position, *affine::expandAffineMap(b, loc, map, ivs));
  return position;
}

/// Whether the kernel keeps the value of output `output` in a register over the
/// loops of reductions.
bool LoopKernelEmitter::isCarried(linalg::GenericOp op, unsigned output) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  return llvm::none_of(reductions, [&](unsigned d) {
    return map.isFunctionOfDim(d) && !(groups && groups->dim == d);
  });
}

Type LoopKernelEmitter::carriedType(linalg::GenericOp op, unsigned output) {
  Value yielded = op.getBody()->getTerminator()->getOperand(output);
  if (wideSums.contains(yielded.getDefiningOp()))
    return b.getF32Type();
  return getElementTypeOrSelf(op.getDpsInitOperand(output)->get());
}

void LoopKernelEmitter::findWideSums(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  for (unsigned o = 0; o < op.getNumDpsInits(); ++o) {
    Value yielded = op.getBody()->getTerminator()->getOperand(o);
    auto add = yielded.getDefiningOp<arith::AddFOp>();
    BlockArgument old = op.getRegionOutputArgs()[o];
    if (!add || !isCarried(op, o) || !old.hasOneUse() || !yielded.hasOneUse() ||
        (!yielded.getType().isF16() && !yielded.getType().isBF16()))
      continue;
    if (add.getLhs() != old && add.getRhs() != old)
      continue;
    Value term = add.getLhs() == old ? add.getRhs() : add.getLhs();
    auto product = term.getDefiningOp<arith::MulFOp>();
    if (product && (!term.hasOneUse() || product->getBlock() != op.getBody()))
      product = nullptr;
    wideSums[add] = {add, term, product};
    if (product)
      wideProducts.insert(product);
  }
}

void LoopKernelEmitter::emitWideSum(const WideSum &sum, IRMapping &mapping) {
  Type f32 = b.getF32Type();
  auto widen = [&](Value value) -> Value {
    return arith::ExtFOp::create(b, loc, f32, mapping.lookup(value));
  };
  auto add = cast<arith::AddFOp>(sum.add);
  Value old = add.getLhs() == sum.term ? add.getRhs() : add.getLhs();
  Value term;
  if (sum.product)
    term = arith::MulFOp::create(b, loc, widen(sum.product->getOperand(0)),
                                 widen(sum.product->getOperand(1)));
  else
    term = widen(sum.term);
  mapping.map(add.getResult(),
              arith::AddFOp::create(b, loc, mapping.lookup(old), term)
                  .getResult());
}

SmallVector<Value> LoopKernelEmitter::emitBody(Operation *op,
                                               IRMapping &mapping) {
  for (; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
    if (wideProducts.contains(op))
      continue;
    if (auto sum = wideSums.find(op); sum != wideSums.end()) {
      emitWideSum(sum->second, mapping);
      continue;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), ivs[index.getDim()]);
      continue;
    }
    // What the body takes from around the op.
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!mapping.contains(operand) &&
            !op->isAncestor(operand.getParentBlock()->getParentOp()))
          mapping.map(operand, device(operand));
    });
    auto check = dyn_cast<cf::AssertOp>(op);
    if (!check) {
      b.clone(*op, mapping);
      continue;
    }
    // What follows may rely on the condition: an access in bounds, say.
    Operation *yield = op->getBlock()->getTerminator();
    SmallVector<Type> types;
    for (Value yielded : yield->getOperands())
      types.push_back(wideSums.contains(yielded.getDefiningOp())
                          ? b.getF32Type()
                          : yielded.getType());
    auto holds =
        scf::IfOp::create(b, loc, types, mapping.lookup(check.getArg()),
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(holds.thenBlock());
    scf::YieldOp::create(b, loc, emitBody(op->getNextNode(), mapping));
    b.setInsertionPointToStart(holds.elseBlock());
    SmallVector<Value> wrong;
    for (Type type : types) {
      if (auto pair = dyn_cast<ComplexType>(type)) {
        auto element = cast<FloatType>(pair.getElementType());
        Attribute part = b.getFloatAttr(
            element, APFloat::getNaN(element.getFloatSemantics()));
        wrong.push_back(complex::ConstantOp::create(
            b, loc, type, b.getArrayAttr({part, part})));
        continue;
      }
      TypedAttr value = b.getZeroAttr(type);
      if (auto floating = dyn_cast<FloatType>(type))
        value = b.getFloatAttr(
            type, APFloat::getNaN(floating.getFloatSemantics()));
      wrong.push_back(arith::ConstantOp::create(b, loc, value));
    }
    scf::YieldOp::create(b, loc, wrong);
    return SmallVector<Value>(holds.getResults());
  }
  SmallVector<Value> results;
  for (Value yielded : op->getOperands()) {
    if (!mapping.contains(yielded))
      mapping.map(yielded, device(yielded));
    results.push_back(mapping.lookup(yielded));
  }
  return results;
}

/// One run of the body at `ivs`. Outputs that are not carried are loaded and
/// stored here; returns the new values of those that are.
SmallVector<Value> LoopKernelEmitter::emitElement(linalg::GenericOp op,
                                                  ArrayRef<Value> carried) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    Value value = device(input->get());
    if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(b, loc, value,
                                     address(op.getMatchingIndexingMap(input)));
    mapping.map(argument, value);
  }
  unsigned next = 0;
  for (auto [o, argument] : llvm::enumerate(op.getRegionOutputArgs())) {
    if (isCarried(op, o)) {
      mapping.map(argument, carried[next++]);
      continue;
    }
    if (argument.use_empty())
      continue;
    OpOperand *init = op.getDpsInitOperand(o);
    mapping.map(argument, memref::LoadOp::create(
                              b, loc, device(init->get()),
                              address(op.getMatchingIndexingMap(init)))
                              .getResult());
  }
  SmallVector<Value> yielded = emitBody(&op.getBody()->front(), mapping);
  SmallVector<Value> results;
  for (auto [o, value] : llvm::enumerate(yielded)) {
    if (isCarried(op, o)) {
      results.push_back(value);
      continue;
    }
    OpOperand *init = op.getDpsInitOperand(o);
    memref::StoreOp::create(b, loc, value, device(init->get()),
                            address(op.getMatchingIndexingMap(init)));
  }
  return results;
}

SmallVector<Value>
LoopKernelEmitter::emitReductions(linalg::GenericOp op,
                                  ArrayRef<unsigned> reductions,
                                  SmallVector<Value> carried) {
  if (reductions.empty())
    return emitElement(op, carried);
  unsigned dim = reductions.front();
  bool ofGroup = groups && groups->dim == dim;
  auto loop = scf::ForOp::create(b, loc, ofGroup ? groupBegin : index(0),
                                 ofGroup ? groupEnd : loopExtents[dim],
                                 index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ivs[dim] = loop.getInductionVar();
  SmallVector<Value> results =
      emitReductions(op, reductions.drop_front(),
                     SmallVector<Value>(loop.getRegionIterArgs()));
  // The builder of a loop without results has made the terminator.
  if (!results.empty())
    scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

/// One point of the parallel dims, number `point` of them row-major; of groups and
/// these dims, where an op has any.
void LoopKernelEmitter::emitPoint(linalg::GenericOp op, Value point) {
  SmallVector<unsigned> parallel, reductions;
  op.getParallelDims(parallel);
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (!llvm::is_contained(parallel, d))
      reductions.push_back(d);
  ivs.assign(op.getNumLoops(), Value());
  Value rest = point;
  for (unsigned d : llvm::reverse(parallel)) {
    if (d == parallel.front() && !groups) {
      ivs[d] = rest;
      break;
    }
    ivs[d] = arith::RemUIOp::create(b, loc, rest, loopExtents[d]);
    rest = arith::DivUIOp::create(b, loc, rest, loopExtents[d]);
  }
  if (groups) {
    Value extent = loopExtents[groups->dim], points = index(groups->points);
    groupBegin = arith::MulIOp::create(b, loc, rest, points);
    groupEnd = arith::MinUIOp::create(
        b, loc, extent, arith::AddIOp::create(b, loc, groupBegin, points));
    ivs[groups->dim] = groupBegin;
  }
  SmallVector<Value> carried;
  for (unsigned o = 0; o < op.getNumDpsInits(); ++o) {
    if (!isCarried(op, o))
      continue;
    OpOperand *init = op.getDpsInitOperand(o);
    Type type = carriedType(op, o);
    Type element = getElementTypeOrSelf(init->get());
    // Where nothing is reduced and the old value is not read, none is loaded.
    if (reductions.empty() && op.getMatchingBlockArgument(init).use_empty()) {
      carried.push_back(Value());
      continue;
    }
    Value value = memref::LoadOp::create(
        b, loc, device(init->get()), address(op.getMatchingIndexingMap(init)));
    if (type != element)
      value = arith::ExtFOp::create(b, loc, type, value);
    carried.push_back(value);
  }
  SmallVector<Value> results = emitReductions(op, reductions, carried);
  if (groups)
    ivs[groups->dim] = groupBegin;
  unsigned next = 0;
  for (unsigned o = 0; o < op.getNumDpsInits(); ++o) {
    if (!isCarried(op, o))
      continue;
    OpOperand *init = op.getDpsInitOperand(o);
    Value value = results[next++];
    Type element = getElementTypeOrSelf(init->get());
    if (value.getType() != element)
      value = arith::TruncFOp::create(b, loc, element, value);
    memref::StoreOp::create(b, loc, value, device(init->get()),
                            address(op.getMatchingIndexingMap(init)));
  }
}

gpu::GPUFuncOp LoopKernelEmitter::emit(StringRef name, linalg::GenericOp op,
                                       ArrayRef<OpFoldResult> extents,
                                       Value points) {
  begin(name);
  groups = findGroupedDim(op);
  findWideSums(op);
  for (OpFoldResult extent : extents)
    loopExtents.push_back(device(extent));
  Value count = device(points);
  Value threads = index(kThreads);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value blocks = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value first = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, block, threads), thread);
  Value step = arith::MulIOp::create(b, loc, blocks, threads);
  auto loop = scf::ForOp::create(b, loc, first, count, step);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitPoint(op, loop.getInductionVar());
  }
  end();
  return func;
}

gpu::GPUFuncOp LoopKernelEmitter::emit(StringRef name, memref::StoreOp op) {
  begin(name);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        thread, index(0));
  SmallVector<Value> position;
  for (Value i : op.getIndices())
    position.push_back(device(i));
  Value value = device(op.getValue()), memref = device(op.getMemRef());
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    memref::StoreOp::create(b, loc, value, memref, position);
  }
  end();
  return func;
}

/// Whether the launch runtime can copy it in one piece.
static bool isContiguous(memref::CopyOp copy) {
  auto compact = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getLayout().isIdentity();
  };
  return compact(copy.getSource()) && compact(copy.getTarget()) &&
         !copy.getSource().getDefiningOp<memref::GetGlobalOp>();
}

bool coda_gpu::isLaunchedAsLoops(Operation *op) {
  // Bodies of kernels are not host code.
  if (op->getParentOfType<linalg::LinalgOp>())
    return false;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return !isContiguous(copy);
  // What is still on tensors has nowhere to store to.
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.hasPureBufferSemantics();
  return isa<memref::StoreOp>(op);
}

namespace {

struct GPULaunchLoops
    : public coda_gpu::impl::GPULaunchLoopsBase<GPULaunchLoops> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    made.clear();
    SmallVector<Operation *> ops;
    for (func::FuncOp func : module.getOps<func::FuncOp>())
      if (!func->hasAttr(kKernelAttrName))
        func.walk([&](Operation *op) {
          if (isLaunchedAsLoops(op))
            ops.push_back(op);
        });
    for (Operation *op : ops) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        launch(generic);
      } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        OpBuilder builder(copy);
        linalg::GenericOp loops = linalg::makeMemRefCopyOp(
            builder, copy.getLoc(), copy.getSource(), copy.getTarget());
        copy.erase();
        launch(loops);
      } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
        launch(store);
      }
    }
    if (made.empty())
      return;
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getKernels(), std::move(patterns))))
      signalPassFailure();
  }

  gpu::GPUModuleOp getKernels() {
    ModuleOp module = getOperation();
    auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernelsName);
    if (!kernels) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointToEnd(module.getBody());
      kernels = gpu::GPUModuleOp::create(builder, module.getLoc(), kKernelsName);
    }
    return kernels;
  }

  std::string nameFor(Operation *op) {
    return (op->getParentOfType<func::FuncOp>().getName() + kLoopKernelMark +
            Twine(made.size()))
        .str();
  }

  void launch(linalg::GenericOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> extents;
    for (const Range &range :
         cast<linalg::LinalgOp>(op.getOperation())
             .createLoopRanges(builder, loc))
      extents.push_back(range.size);
    Value points = arith::ConstantIndexOp::create(builder, loc, 1);
    SmallVector<unsigned> parallel;
    op.getParallelDims(parallel);
    for (unsigned d : parallel)
      points = builder.createOrFold<arith::MulIOp>(
          loc, points,
          getValueOrCreateConstantIndexOp(builder, loc, extents[d]));
    if (std::optional<GroupedDim> groups = findGroupedDim(op))
      points = builder.createOrFold<arith::MulIOp>(
          loc, points,
          builder.createOrFold<arith::CeilDivUIOp>(
              loc,
              getValueOrCreateConstantIndexOp(builder, loc,
                                              extents[groups->dim]),
              arith::ConstantIndexOp::create(builder, loc, groups->points)));
    LoopKernelEmitter emitter(getKernels(), getOperation(), loc);
    gpu::GPUFuncOp kernel = emitter.emit(nameFor(op), op, extents, points);
    finish(op, kernel, points, emitter.getArguments());
  }

  void launch(memref::StoreOp op) {
    OpBuilder builder(op);
    Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), 1);
    LoopKernelEmitter emitter(getKernels(), getOperation(), op.getLoc());
    gpu::GPUFuncOp kernel = emitter.emit(nameFor(op), op);
    finish(op, kernel, one, emitter.getArguments());
  }

  /// Replaces `op` by the launch of `kernel`, or of an equal one made before.
  void finish(Operation *op, gpu::GPUFuncOp kernel, Value points,
              ArrayRef<Value> arguments) {
    OpBuilder builder(op);
    auto *same = llvm::find_if(made, [&](gpu::GPUFuncOp other) {
      return other.getFunctionType() == kernel.getFunctionType() &&
             OperationEquivalence::isRegionEquivalentTo(
                 &other.getBody(), &kernel.getBody(),
                 OperationEquivalence::IgnoreLocations);
    });
    if (same != made.end()) {
      kernel.erase();
      kernel = *same;
    } else {
      made.push_back(kernel);
      createHandle(builder, getOperation(), op->getLoc(), kernel.getName(),
                   /*image=*/"", {/*sharedBytes=*/0, kThreads});
      ++numKernels;
    }
    emitLoopLaunch(builder, getOperation(), op->getLoc(), kernel.getName(),
                   points, arguments);
    countLaunch(op->getParentOfType<func::FuncOp>());
    op->erase();
    ++numLaunches;
  }

  /// A launch more in the description of an entry.
  void countLaunch(func::FuncOp func) {
    auto entry = func->getAttrOfType<DictionaryAttr>(coda::kEntryAttr);
    auto launches = entry ? entry.getAs<IntegerAttr>("launches") : nullptr;
    if (!launches)
      return;
    NamedAttrList fields(entry);
    fields.set("launches", IntegerAttr::get(launches.getType(),
                                            launches.getInt() + 1));
    func->setAttr(coda::kEntryAttr, fields.getDictionary(&getContext()));
  }

  /// The kernels of the module at hand.
  SmallVector<gpu::GPUFuncOp> made;
};

} // namespace
