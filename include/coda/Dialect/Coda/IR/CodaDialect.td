//===- CodaDialect.td - Dialect and base classes -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODADIALECT_TD
#define CODA_DIALECT_CODA_IR_CODADIALECT_TD

include "mlir/IR/OpBase.td"

// Naming rule:
//   Ops:        def Coda_GemmOp : Coda_Op<"gemm">   -> C++ GemmOp, coda.gemm
//   Attributes: def Coda_AddAttr : Coda_Attr<"Add", "add"> -> AddAttr, #coda.add
def Coda_Dialect : Dialect {
  let name = "coda";
  let cppNamespace = "::mlir::coda";
  let summary = "GEMM-plus-epilogue kernels on tensors";
  let description = [{
    The dialect holds transformer layers between linear algebra on tensors and
    GPU kernels. Its center is `coda.gemm`: one or more accumulators, a scalar
    region that runs once per output point while the accumulator tile is in
    registers, and stores and reductions of what the region yields. Everything
    that a pass decides (which operators are local to a tile) is visible as an
    operand or an index map of one such op.

    `docs/Dialects/RationaleCoda.md` says why the ops have this form.
  }];
  let useDefaultAttributePrinterParser = 1;
  // What canonicalisation creates.
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

class Coda_Op<string mnemonic, list<Trait> traits = []>
    : Op<Coda_Dialect, mnemonic, traits>;

#endif // CODA_DIALECT_CODA_IR_CODADIALECT_TD
