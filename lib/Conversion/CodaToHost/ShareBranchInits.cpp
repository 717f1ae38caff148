//===- ShareBranchInits.cpp - One empty tensor for two ways to compute ----===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Conversion/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::coda {
#define GEN_PASS_DEF_CODASHAREBRANCHINITS
#include "coda/Conversion/Passes.h.inc"
} // namespace mlir::coda

using namespace mlir;

namespace {

using Empties = SmallVector<tensor::EmptyOp>;

/// Whether whatever uses `one` is in another branch than whatever uses `other`.
bool areExclusive(tensor::EmptyOp one, tensor::EmptyOp other) {
  return llvm::all_of(one->getUsers(), [&](Operation *user) {
    return llvm::all_of(other->getUsers(), [&](Operation *second) {
      return insideMutuallyExclusiveRegions(user, second);
    });
  });
}

/// The innermost op that holds all users of `empties`.
Operation *getCommonAncestor(ArrayRef<tensor::EmptyOp> empties) {
  Operation *ancestor = *empties.front()->user_begin();
  for (tensor::EmptyOp empty : empties)
    for (Operation *user : empty->getUsers())
      while (!ancestor->isAncestor(user))
        ancestor = ancestor->getParentOp();
  return ancestor;
}

struct ShareBranchInits
    : public coda::impl::CodaShareBranchInitsBase<ShareBranchInits> {
  void runOnOperation() override {
    SmallVector<Empties> groups;
    getOperation()->walk([&](tensor::EmptyOp op) {
      if (op->use_empty())
        return;
      auto *group = llvm::find_if(groups, [&](Empties &members) {
        return members.front().getType() == op.getType() &&
               members.front()->getOperands() == op->getOperands() &&
               llvm::all_of(members, [&](tensor::EmptyOp member) {
                 return areExclusive(member, op);
               });
      });
      if (group == groups.end())
        groups.push_back({op});
      else
        group->push_back(op);
    });
    for (Empties &members : groups) {
      if (members.size() == 1)
        continue;
      // What the sizes are computed of is in none of the branches, which have
      // it in common.
      tensor::EmptyOp shared = members.front();
      shared->moveBefore(getCommonAncestor(members));
      for (tensor::EmptyOp other : ArrayRef(members).drop_front()) {
        other->replaceAllUsesWith(shared);
        other->erase();
      }
    }
  }
};

} // namespace
