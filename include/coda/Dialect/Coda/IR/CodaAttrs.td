//===- CodaAttrs.td - Attributes of the dialect -*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODA_IR_CODAATTRS_TD
#define CODA_DIALECT_CODA_IR_CODAATTRS_TD

include "coda/Dialect/Coda/IR/CodaDialect.td"
include "coda/Dialect/Coda/IR/CodaInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Coda_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Coda_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Coda_Combiner<string name, string keyword>
    : Coda_Attr<name, keyword, [DeclareAttrInterfaceMethods<CombinerAttrInterface>]>;

def Coda_AddAttr : Coda_Combiner<"Add", "add"> {
  let summary = "Sum; identity 0";
}
def Coda_MaxAttr : Coda_Combiner<"Max", "max"> {
  let summary = "Maximum, NaN if any value is NaN; identity -inf";
}
def Coda_LogAddExpAttr : Coda_Combiner<"LogAddExp", "logaddexp"> {
  let summary = "log(exp(a) + exp(b)); identity -inf";
  let description = [{
    A lowering keeps (max, sum of exp relative to it) in registers and takes
    one logarithm at the end.
  }];
}

def Coda_DimKind : I32EnumAttr<"DimKind", "kind of an iteration dim", [
    I32EnumAttrCase<"b", 0>, I32EnumAttrCase<"m", 1>, I32EnumAttrCase<"n", 2>,
    I32EnumAttrCase<"u", 3>, I32EnumAttrCase<"k", 4>, I32EnumAttrCase<"p", 5>]> {
  let cppNamespace = "::mlir::coda";
}

// Why something was left as it was: the closed list that the fusion analysis,
// the remarks and the reports share.
def Coda_FusionReason : I32EnumAttr<"FusionReason", "why a rewrite was refused", [
    I32EnumAttrCase<"OtherReader", 0, "other-reader">,
    I32EnumAttrCase<"NonlinearReader", 1, "nonlinear-reader">,
    I32EnumAttrCase<"ContractsScaledDim", 2, "contracts-scaled-dim">,
    I32EnumAttrCase<"ReductionNotWhole", 3, "reduction-not-whole">,
    I32EnumAttrCase<"ProducerPartialSum", 4, "producer-partial-sum">,
    I32EnumAttrCase<"F16Range", 5, "f16-range">,
    I32EnumAttrCase<"StrictRounding", 6, "strict-rounding">,
    I32EnumAttrCase<"LnCancellation", 7, "ln-cancellation">,
    I32EnumAttrCase<"SideEffectBetween", 8, "side-effect-between">,
    I32EnumAttrCase<"CrossesRegion", 9, "crosses-region">,
    I32EnumAttrCase<"OpaqueCall", 10, "opaque-call">,
    I32EnumAttrCase<"DynamicGroup", 11, "dynamic-group">,
    I32EnumAttrCase<"UnsupportedType", 12, "unsupported-type">,
    I32EnumAttrCase<"NonProjectedMap", 13, "non-projected-map">,
    I32EnumAttrCase<"WouldCreateCycle", 14, "would-create-cycle">,
    I32EnumAttrCase<"NoCommonSpace", 15, "no-common-space">,
    I32EnumAttrCase<"ResourceBound", 16, "resource-bound">]> {
  let cppNamespace = "::mlir::coda";
  let genSpecializedAttr = 0;
}

def Coda_DimAttr : Coda_Attr<"Dim", "dim"> {
  let summary = "An iteration dim by kind and number, e.g. `n1`";
  let parameters = (ins "::mlir::coda::DimKind":$kind, "unsigned":$index);
  let hasCustomAssemblyFormat = 1;
}
def Coda_DimArrayAttr : TypedArrayAttrBase<Coda_DimAttr, "array of dims">;

def Coda_GluKind : I32EnumAttr<"GluKind", "activation of the gate", [
    I32EnumAttrCase<"silu", 0>, I32EnumAttrCase<"gelu_tanh", 1>,
    I32EnumAttrCase<"gelu_erf", 2>, I32EnumAttrCase<"relu", 3>,
    I32EnumAttrCase<"sigmoid", 4>]> {
  let cppNamespace = "::mlir::coda";
  let genSpecializedAttr = 0;
}
def Coda_GluKindAttr : EnumAttr<Coda_Dialect, Coda_GluKind, "glu_kind">;

def Coda_RopeLayout : I32EnumAttr<"RopeLayout", "which elements form a pair", [
    I32EnumAttrCase<"half", 0>, I32EnumAttrCase<"interleaved", 1>]> {
  let cppNamespace = "::mlir::coda";
  let genSpecializedAttr = 0;
}
def Coda_RopeLayoutAttr : EnumAttr<Coda_Dialect, Coda_RopeLayout, "rope_layout">;

#endif // CODA_DIALECT_CODA_IR_CODAATTRS_TD
