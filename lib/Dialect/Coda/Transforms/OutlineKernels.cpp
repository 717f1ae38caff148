//===- OutlineKernels.cpp - coda-outline-kernels ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaOps.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::coda {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "coda/Dialect/Coda/Transforms/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;
using namespace mlir::coda;

/// The values from outside that a kernel reads or writes, each once.
static llvm::SetVector<Value> getKernelOperands(Operation *kernel) {
  llvm::SetVector<Value> operands;
  operands.insert(kernel->operand_begin(), kernel->operand_end());
  if (auto bundle = dyn_cast<BundleOp>(kernel))
    for (Operation &member : bundle.getBody().front().without_terminator())
      operands.insert(member.operand_begin(), member.operand_end());
  return operands;
}

namespace {
class OutlineKernelsPass
    : public coda::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
public:
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    made.clear();
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr("coda.kernel"))
        functions.push_back(function);
    for (func::FuncOp function : functions) {
      SmallVector<Operation *> kernels;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!isa<TileOpInterface, BundleOp>(op))
          return WalkResult::advance();
        kernels.push_back(op);
        return WalkResult::skip();
      });
      for (Operation *kernel : kernels)
        outline(symbols, function, kernel);
    }
  }

private:
  void outline(SymbolTable &symbols, func::FuncOp caller, Operation *kernel);

  /// The kernels of the module at hand.
  SmallVector<func::FuncOp> made;
};
} // namespace

void OutlineKernelsPass::outline(SymbolTable &symbols, func::FuncOp caller,
                                 Operation *kernel) {
  OpBuilder builder(&getContext());
  llvm::SetVector<Value> operands = getKernelOperands(kernel);
  SmallVector<Type> operandTypes;
  for (Value operand : operands)
    operandTypes.push_back(operand.getType());
  StringRef kind = kernel->getName().stripDialect();
  auto function = func::FuncOp::create(
      builder, kernel->getLoc(),
      (caller.getName() + "_" + kind + "_" + Twine(made.size())).str(),
      builder.getFunctionType(operandTypes, kernel->getResultTypes()));
  function.setPrivate();
  function->setAttr("coda.kernel", builder.getUnitAttr());
  // A kernel is a launch: the inliner would undo it.
  function.setNoInline(true);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body->getArguments()))
    mapping.map(operand, argument);
  Operation *copy = builder.clone(*kernel, mapping);
  func::ReturnOp::create(builder, kernel->getLoc(), copy->getResults());

  // A kernel that is alike, of another layer say, serves both.
  auto *same = llvm::find_if(made, [&](func::FuncOp other) {
    return other.getFunctionType() == function.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(
               &other.getBody(), &function.getBody(),
               OperationEquivalence::IgnoreLocations);
  });
  func::FuncOp callee;
  if (same != made.end()) {
    callee = *same;
    function.erase();
  } else {
    callee = function;
    symbols.insert(function, std::next(Block::iterator(caller)));
    made.push_back(function);
    ++numKernels;
  }
  builder.setInsertionPoint(kernel);
  auto call = func::CallOp::create(builder, kernel->getLoc(), callee,
                                   operands.getArrayRef());
  kernel->replaceAllUsesWith(call.getResults());
  kernel->erase();
  ++numLaunches;
}
