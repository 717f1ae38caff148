//===- CodaPlugin.cpp - coda as a plugin of a stock mlir-opt --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt --load-dialect-plugin=CodaPlugin.so
//            --load-pass-plugin=CodaPlugin.so
//            --pass-pipeline='builtin.module(coda-fuse-pipeline)'
//
// The host must use the same libMLIR.so as this library was built against;
// the entry points hand the host their API version, which it checks.
//
//===----------------------------------------------------------------------===//

#include "coda/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Coda", CODA_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::coda::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Coda", CODA_VERSION,
          [] { mlir::coda::registerAllPasses(); }};
}
