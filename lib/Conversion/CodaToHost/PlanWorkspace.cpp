//===- PlanWorkspace.cpp - Allocations of an entry into one workspace -----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/CodaToHost/Entry.h"
#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Transforms.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODAPLANWORKSPACE
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

namespace {

/// Offsets are multiples of this, the alignment of the workspace.
constexpr int64_t kAlignment = 64;
/// What a dynamic extent counts for where allocations are compared by size.
constexpr int64_t kNominalExtent = 1024;

/// One allocation and where it is live: from the first to the last of the
/// function's top-level operations that may touch it.
struct Buffer {
  memref::AllocOp op;
  int64_t first = 0;
  int64_t last = 0;
  int64_t nominalBytes = 0;
  std::optional<int64_t> bytes; // Where all extents are static.
  Value size;                   // Bytes, a multiple of kAlignment.
  Value offset;

  bool meets(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

int64_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Whether two extents surely are one.
bool areSame(Value extent, Value other) {
  if (isEqualConstantIntOrValue(extent, other))
    return true;
  auto dim = extent.getDefiningOp<memref::DimOp>();
  auto second = other.getDefiningOp<memref::DimOp>();
  return dim && second && dim.getSource() == second.getSource() &&
         dim.getConstantIndex() &&
         dim.getConstantIndex() == second.getConstantIndex();
}

/// Plans one entry.
class Planner {
public:
  Planner(func::FuncOp func)
      : func(func), body(func.getBody().front()),
        prologue(func.getContext()), loc(func.getLoc()) {}

  /// Replaces the allocations and returns the function that computes the size
  /// of the workspace, not yet in a module.
  FailureOr<func::FuncOp> run();

private:
  /// Results are what the caller's buffers, the last arguments, then hold.
  LogicalResult dropResults();
  LogicalResult collect();
  /// Computes `value` on entry; failure if it changes in a loop.
  FailureOr<Value> exactly(Value value);
  /// The same of an extent of a buffer.
  FailureOr<Value> exactly(Value buffer, int64_t dim);
  /// The same, or the largest value that it gets; an error at `user` if there
  /// is no bound.
  FailureOr<Value> onEntry(Value value, Operation *user);
  LogicalResult computeSize(Buffer &buffer);
  void placeStatic();
  void placeDynamic();
  bool isEntryArgument(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &body;
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(prologue, loc, value);
  }

  func::FuncOp func;
  Block &body;
  OpBuilder prologue;
  Location loc;
  IRMapping hoisted;
  DenseMap<Value, Value> bounds;
  SmallVector<Buffer> buffers;
  Value total;
};

LogicalResult Planner::collect() {
  // An allocation on the stack is one like the others.
  func.walk([](memref::AllocaOp op) {
    OpBuilder builder(op);
    auto alloc =
        memref::AllocOp::create(builder, op.getLoc(), op.getType(),
                                op.getDynamicSizes(), op.getAlignmentAttr());
    op.replaceAllUsesWith(alloc.getResult());
    op.erase();
  });
  func.walk([](memref::DeallocOp op) { op.erase(); });

  DenseMap<Operation *, int64_t> position;
  for (auto [index, op] : llvm::enumerate(body))
    position[&op] = index;
  BufferViewFlowAnalysis views(func);
  auto topLevel = [&](Operation *op) {
    return position.lookup(body.findAncestorOpInBlock(*op));
  };
  WalkResult result = func.walk([&](memref::AllocOp op) {
    if (!op.getType().getLayout().isIdentity() ||
        !op.getSymbolOperands().empty()) {
      op.emitError("allocation of type ")
          << op.getType() << " has a layout; only compact ones are planned";
      return WalkResult::interrupt();
    }
    Buffer buffer;
    buffer.op = op;
    buffer.first = buffer.last = topLevel(op);
    for (Value view : views.resolve(op.getResult()))
      for (Operation *user : view.getUsers())
        buffer.last = std::max(buffer.last, topLevel(user));
    buffers.push_back(buffer);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<Value> Planner::exactly(Value value) {
  if (Value known = hoisted.lookupOrNull(value))
    return known;
  if (isEntryArgument(value))
    return value;
  if (Operation *op = value.getDefiningOp()) {
    if (auto dim = dyn_cast<memref::DimOp>(op))
      if (std::optional<int64_t> index = dim.getConstantIndex())
        if (FailureOr<Value> extent = exactly(dim.getSource(), *index);
            succeeded(extent))
          return extent;
    bool extentOfArg =
        isa<memref::DimOp>(op) && isEntryArgument(op->getOperand(0));
    if (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
        llvm::none_of(op->getOperandTypes(), [&](Type type) {
          return isa<MemRefType>(type) && !extentOfArg;
        })) {
      bool all = true;
      for (Value operand : op->getOperands()) {
        FailureOr<Value> there = exactly(operand);
        if (failed(there)) {
          all = false;
          break;
        }
        hoisted.map(operand, *there);
      }
      if (all) {
        Operation *copy = prologue.clone(*op, hoisted);
        for (auto [from, to] :
             llvm::zip(op->getResults(), copy->getResults()))
          hoisted.map(from, to);
        return hoisted.lookup(value);
      }
    }
  }
  return failure();
}

FailureOr<Value> Planner::exactly(Value buffer, int64_t dim) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return failure();
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  // The extent of another allocation is one of its size operands.
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return exactly(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (isEntryArgument(buffer))
    return memref::DimOp::create(prologue, loc, buffer, dim).getResult();
  // That of a reshape follows from what is reshaped.
  if (auto expand = buffer.getDefiningOp<memref::ExpandShapeOp>())
    return exactly(cast<Value>(expand.getMixedOutputShape()[dim]));
  if (auto collapse = buffer.getDefiningOp<memref::CollapseShapeOp>()) {
    Value product;
    for (int64_t d : collapse.getReassociationIndices()[dim]) {
      FailureOr<Value> extent = exactly(collapse.getSrc(), d);
      if (failed(extent))
        return failure();
      product = product ? arith::MulIOp::create(prologue, loc, product, *extent)
                              .getResult()
                        : *extent;
    }
    return product;
  }
  // That of one of two buffers is known where it is that of both.
  Value either, other;
  if (auto select = buffer.getDefiningOp<arith::SelectOp>()) {
    either = select.getTrueValue();
    other = select.getFalseValue();
  } else if (auto branch = buffer.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(buffer).getResultNumber();
    either = branch.thenYield()->getOperand(number);
    other = branch.elseYield()->getOperand(number);
  } else {
    return failure();
  }
  FailureOr<Value> extent = exactly(either, dim);
  if (failed(extent))
    return failure();
  FailureOr<Value> second = exactly(other, dim);
  if (failed(second) || !areSame(*extent, *second))
    return failure();
  return extent;
}

FailureOr<Value> Planner::onEntry(Value value, Operation *user) {
  // Bounds are of whole values: a bound of an operand says nothing about the
  // result of an op that is not monotone in it.
  if (FailureOr<Value> exact = exactly(value); succeeded(exact))
    return exact;
  if (auto known = bounds.find(value); known != bounds.end())
    return known->second;
  if (value.getType().isIndex()) {
    auto stop = [&](Value v, std::optional<int64_t> dim,
                    ValueBoundsConstraintSet &) { return isEntryArgument(v); };
    FailureOr<OpFoldResult> bound = arith::reifyValueBound(
        prologue, loc, presburger::BoundType::UB,
        ValueBoundsConstraintSet::Variable(value), stop, /*closedUB=*/true);
    if (succeeded(bound)) {
      Value there = isa<Value>(*bound)
                        ? cast<Value>(*bound)
                        : constant(*getConstantIntValue(*bound));
      bounds[value] = there;
      return there;
    }
  }
  user->emitError("the size of this buffer does not follow from the shapes "
                  "of the arguments; the workspace is static, so sizes that "
                  "depend on data do not compile");
  return failure();
}

LogicalResult Planner::computeSize(Buffer &buffer) {
  MemRefType type = buffer.op.getType();
  int64_t staticBytes = elementBytes(type.getElementType());
  buffer.nominalBytes = staticBytes;
  for (int64_t extent : type.getShape()) {
    bool dynamic = ShapedType::isDynamic(extent);
    buffer.nominalBytes *= dynamic ? kNominalExtent : extent;
    staticBytes *= dynamic ? 1 : extent;
  }
  if (type.hasStaticShape()) {
    buffer.bytes = llvm::alignTo(staticBytes, kAlignment);
    return success();
  }
  Value size = constant(staticBytes);
  for (Value extent : buffer.op.getDynamicSizes()) {
    FailureOr<Value> there = onEntry(extent, buffer.op);
    if (failed(there))
      return failure();
    size = arith::MulIOp::create(prologue, loc, size, *there);
  }
  Value blocks = arith::CeilDivUIOp::create(prologue, loc, size,
                                            constant(kAlignment));
  buffer.size =
      arith::MulIOp::create(prologue, loc, blocks, constant(kAlignment));
  return success();
}

/// Largest first, each at the lowest offset where nothing that it meets lies.
void Planner::placeStatic() {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    if (buffer.bytes)
      order.push_back(&buffer);
  llvm::stable_sort(order, [](Buffer *a, Buffer *b) {
    return *a->bytes > *b->bytes;
  });
  struct Placed {
    Buffer *buffer;
    int64_t offset;
  };
  SmallVector<Placed> placed; // By offset.
  int64_t end = 0;
  for (Buffer *buffer : order) {
    int64_t offset = 0;
    for (const Placed &other : placed) {
      if (!other.buffer->meets(*buffer))
        continue;
      if (offset + *buffer->bytes <= other.offset)
        break;
      offset = std::max(offset, other.offset + *other.buffer->bytes);
    }
    auto *at = llvm::upper_bound(
        placed, offset,
        [](int64_t value, const Placed &p) { return value < p.offset; });
    placed.insert(at, {buffer, offset});
    end = std::max(end, offset + *buffer->bytes);
    buffer->offset = constant(offset);
  }
  total = constant(end);
}

/// Slots behind the static part: buffers of one slot do not meet, and the slot
/// is as large as the largest of them.
void Planner::placeDynamic() {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    if (!buffer.bytes)
      order.push_back(&buffer);
  llvm::stable_sort(order, [](Buffer *a, Buffer *b) {
    return a->nominalBytes > b->nominalBytes;
  });
  SmallVector<SmallVector<Buffer *>> slots;
  for (Buffer *buffer : order) {
    auto *slot = llvm::find_if(slots, [&](ArrayRef<Buffer *> members) {
      return llvm::none_of(
          members, [&](Buffer *other) { return other->meets(*buffer); });
    });
    if (slot == slots.end()) {
      slots.push_back({buffer});
      continue;
    }
    slot->push_back(buffer);
  }
  for (ArrayRef<Buffer *> members : slots) {
    Value size = members.front()->size;
    for (Buffer *buffer : members) {
      buffer->offset = total;
      if (buffer != members.front())
        size = arith::MaxUIOp::create(prologue, loc, size, buffer->size);
    }
    total = arith::AddIOp::create(prologue, loc, total, size);
  }
}

/// What `value` is a reshape of. Elements stay where they are: where two extents of
/// one dim are known to a call only, no folder sees that one reshape takes back the
/// other.
static Value getReshaped(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

LogicalResult Planner::dropResults() {
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  int64_t first = body.getNumArguments() - terminator.getNumOperands();
  for (auto [index, value] : llvm::enumerate(terminator.getOperands()))
    if (getReshaped(value) != body.getArgument(first + index))
      return terminator.emitError("result ")
             << index << " is not in the caller's buffer";
  terminator->setOperands({});
  return success();
}

FailureOr<func::FuncOp> Planner::run() {
  if (failed(dropResults()))
    return failure();
  if (failed(collect()))
    return failure();
  prologue.setInsertionPointToStart(&body);
  Operation *firstOfBody = &body.front();
  for (Buffer &buffer : buffers)
    if (failed(computeSize(buffer)))
      return failure();
  placeStatic();
  placeDynamic();

  // Everything before `firstOfBody` computes the size.
  Builder builder(func.getContext());
  auto size = func::FuncOp::create(
      loc, (func.getName() + "_workspace").str(),
      builder.getFunctionType(func.getArgumentTypes(),
                              {builder.getIndexType()}));
  size.setPrivate();
  Block *sizeBody = size.addEntryBlock();
  OpBuilder at = OpBuilder::atBlockBegin(sizeBody);
  IRMapping mapping;
  mapping.map(body.getArguments(), sizeBody->getArguments());
  for (Operation &op : body) {
    if (&op == firstOfBody)
      break;
    at.clone(op, mapping);
  }
  func::ReturnOp::create(at, loc, mapping.lookup(total));

  auto bytesType = MemRefType::get({ShapedType::kDynamic},
                                   builder.getIntegerType(8));
  Value workspace = body.addArgument(bytesType, loc);
  for (Buffer &buffer : buffers) {
    // Offsets and extents are known on entry, but an allocation in a loop may
    // take less than its largest extent in one iteration.
    OpBuilder here(buffer.op);
    Value view = memref::ViewOp::create(
        here, buffer.op.getLoc(), buffer.op.getType(), workspace,
        buffer.offset, buffer.op.getDynamicSizes());
    buffer.op.replaceAllUsesWith(view);
    buffer.op.erase();
  }
  func.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), {}));
  func.setResAttrsAttr(nullptr);
  if (ArrayAttr attrs = func.getArgAttrsAttr()) {
    SmallVector<Attribute> extended(attrs.getValue());
    extended.push_back(builder.getDictionaryAttr({}));
    func.setArgAttrsAttr(builder.getArrayAttr(extended));
  }
  return size;
}

struct PlanWorkspace
    : public coda::impl::CodaPlanWorkspaceBase<PlanWorkspace> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(kEntryAttr))
        entries.push_back(func);
    for (func::FuncOp func : entries) {
      FailureOr<func::FuncOp> size = Planner(func).run();
      if (failed(size))
        return signalPassFailure();
      symbols.insert(*size);
      auto entry = func->getAttrOfType<DictionaryAttr>(kEntryAttr);
      NamedAttrList fields(entry);
      fields.set("workspace", FlatSymbolRefAttr::get(*size));
      func->setAttr(kEntryAttr, fields.getDictionary(&getContext()));
    }
  }
};

} // namespace
