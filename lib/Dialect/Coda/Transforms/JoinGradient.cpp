//===- JoinGradient.cpp - coda-join-gradient ----------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::coda {
#define GEN_PASS_DEF_JOINGRADIENTPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// Copies the body of `from` with `arguments` to `builder`; what it returns.
static SmallVector<Value> inlineBody(OpBuilder &builder, func::FuncOp from,
                                     ArrayRef<Value> arguments) {
  IRMapping mapping;
  mapping.map(from.getArguments(), arguments);
  Block &body = from.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

/// The tensor of the shape of `value` that the kernel that makes it is given to
/// write to; `value` itself if no kernel makes it.
static Value getDestination(Value value, ModuleOp module) {
  while (auto call = value.getDefiningOp<func::CallOp>()) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isDeclaration() || !callee.getBody().hasOneBlock())
      break;
    Value inner = callee.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber());
    while (auto result = dyn_cast<OpResult>(inner)) {
      if (auto bundle = dyn_cast<BundleOp>(result.getOwner()))
        inner = bundle.getBody().front().getTerminator()->getOperand(
            result.getResultNumber());
      else if (auto op =
                   dyn_cast<DestinationStyleOpInterface>(result.getOwner()))
        inner = op.getTiedOpOperand(result)->get();
      else
        return value;
    }
    value = call.getOperand(cast<BlockArgument>(inner).getArgNumber());
  }
  return value;
}

namespace {
class JoinGradientPass
    : public coda::impl::JoinGradientPassBase<JoinGradientPass> {
public:
  using JoinGradientPassBase::JoinGradientPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> backwards;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttrOfType<DictionaryAttr>("coda.gradient"))
        backwards.push_back(func);
    for (func::FuncOp backward : backwards)
      if (failed(join(backward)))
        return signalPassFailure();
  }

private:
  LogicalResult join(func::FuncOp backward) {
    auto order = backward->getAttrOfType<DictionaryAttr>("coda.gradient");
    auto malformed = [&](const Twine &what) {
      return backward.emitError()
             << "the attribute coda.gradient " << what
             << "; take it as coda-autodiff writes it";
    };
    auto getNumbers = [&](StringRef name) {
      auto numbers = order.getAs<DenseI64ArrayAttr>(name);
      return numbers ? SmallVector<int64_t>(numbers.asArrayRef())
                     : SmallVector<int64_t>();
    };
    auto of = order.getAs<FlatSymbolRefAttr>("of");
    auto forwardName = order.getAs<FlatSymbolRefAttr>("forward");
    ModuleOp module = getOperation();
    auto main = of ? module.lookupSymbol<func::FuncOp>(of) : func::FuncOp();
    auto forward = forwardName ? module.lookupSymbol<func::FuncOp>(forwardName)
                               : func::FuncOp();
    if (!main || !forward || !forward.getBody().hasOneBlock() ||
        !backward.getBody().hasOneBlock())
      return malformed("names no function and no forward");
    SmallVector<int64_t> arguments = getNumbers("arguments"),
                         saved = getNumbers("saved"),
                         cotangents = getNumbers("cotangents"),
                         accumulated = getNumbers("accumulated");
    if (arguments.size() + saved.size() + cotangents.size() +
            accumulated.size() !=
        backward.getNumArguments())
      return malformed("does not account for the function's arguments");
    auto isWithin = [](ArrayRef<int64_t> numbers, unsigned count) {
      return llvm::all_of(numbers, [&](int64_t n) {
        return n >= 0 && n < static_cast<int64_t>(count);
      });
    };
    if (forward.getNumArguments() != main.getNumArguments() ||
        !isWithin(arguments, forward.getNumArguments()) ||
        !isWithin(saved, forward.getNumResults()))
      return malformed("has a number of no argument or result");
    std::string name = (main.getName() + "_grad").str();
    if (Operation *other = module.lookupSymbol(name))
      return other->emitError() << "'" << name
                                << "' is the name of a function that "
                                   "coda-join-gradient adds; rename this one";

    unsigned numRest = cotangents.size() + accumulated.size();
    SmallVector<Type> inputs(forward.getArgumentTypes());
    llvm::append_range(inputs,
                       backward.getArgumentTypes().take_back(numRest));
    SmallVector<Type> results(main.getResultTypes());
    llvm::append_range(results, backward.getResultTypes());
    OpBuilder builder(backward);
    builder.setInsertionPointAfter(backward);
    auto joint = func::FuncOp::create(builder, backward.getLoc(), name,
                                      builder.getFunctionType(inputs, results));
    joint.setVisibility(main.getVisibility());
    Block *block = joint.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> given(block->getArguments());
    SmallVector<Value> ofForward = inlineBody(
        builder, forward,
        ArrayRef<Value>(given).take_front(forward.getNumArguments()));
    SmallVector<Value> toBackward;
    for (int64_t number : arguments)
      toBackward.push_back(given[number]);
    for (int64_t number : saved)
      toBackward.push_back(ofForward[number]);
    llvm::append_range(toBackward, ArrayRef<Value>(given).take_back(numRest));
    for (auto [value, type] :
         llvm::zip_equal(toBackward, backward.getArgumentTypes()))
      if (value.getType() != type)
        return malformed("has a number of a value of another type");
    SmallVector<Value> returned(ofForward);
    returned.resize(main.getNumResults());
    llvm::append_range(returned, inlineBody(builder, backward, toBackward));
    func::ReturnOp::create(builder, backward.getLoc(), returned);
    // Extents of what is saved follow from those of the arguments: they are asked
    // of no kernel's result.
    joint.walk([&](tensor::DimOp dim) {
      dim.getSourceMutable().assign(getDestination(dim.getSource(), module));
    });
    return success();
  }
};
} // namespace
