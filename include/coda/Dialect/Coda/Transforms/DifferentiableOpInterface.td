//===- DifferentiableOpInterface.td - Adjoints of scalar ops -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_TRANSFORMS_DIFFERENTIABLEOPINTERFACE_TD
#define CODA_DIALECT_CODA_TRANSFORMS_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::coda";
  let description = [{
    A scalar op of a region through which reverse mode can go. Implemented by
    external models on ops of arith and math; an op that computes a float from
    floats and does not implement it is refused by `coda-autodiff`, by name.
  }];
  let methods = [
    InterfaceMethod<[{
      Appends, for each operand, its cotangent given that of the op's result:
      null where none flows, as through predicates, indices and roundings to
      integers. `operands` and `result` are the primal values at hand, 16-bit
      floats extended to f32; a cotangent is f32, or f64 for an f64 value. Fails,
      with nothing of use built, if the op as it stands has no adjoint.
    }], "::llvm::LogicalResult", "buildAdjoint",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::Value":$result, "::mlir::Value":$cotangent,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$cotangents)>,
  ];
}

#endif // CODA_DIALECT_CODA_TRANSFORMS_DIFFERENTIABLEOPINTERFACE_TD
