//===- consumer.cpp - A program that embeds the installed package ---------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the file that its argument names, runs a pipeline of coda's passes
// that it builds in C++, and prints the module.
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaDialect.h"
#include "coda/Dialect/Coda/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: consumer FILE\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::coda::CodaDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 2;
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(mlir::coda::createDecomposePass());
  if (failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
