//===- CodaDialect.cpp - The coda dialect and its attributes ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/CodaDialect.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::coda;

#include "coda/Dialect/Coda/IR/CodaOpsDialect.cpp.inc"

#include "coda/Dialect/Coda/IR/CodaOpsEnums.cpp.inc"

#include "coda/Dialect/Coda/IR/CodaAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "coda/Dialect/Coda/IR/CodaOpsAttributes.cpp.inc"

namespace {
/// Every op may be inlined, also into the region of another op. Without this
/// interface the inliner silently keeps the calls of functions that hold coda
/// ops.
struct CodaInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void CodaDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "coda/Dialect/Coda/IR/CodaOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "coda/Dialect/Coda/IR/CodaOpsAttributes.cpp.inc"
      >();
  addInterfaces<CodaInlinerInterface>();
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

static TypedAttr getInfinity(FloatType type, bool negative) {
  return FloatAttr::get(type,
                        APFloat::getInf(type.getFloatSemantics(), negative));
}

StringRef AddAttr::getKeyword() const { return getMnemonic(); }
TypedAttr AddAttr::getIdentity(FloatType type) const {
  return FloatAttr::get(type, APFloat::getZero(type.getFloatSemantics()));
}
Value AddAttr::combine(OpBuilder &b, Location loc, Value lhs, Value rhs) const {
  return arith::AddFOp::create(b, loc, lhs, rhs);
}

StringRef MaxAttr::getKeyword() const { return getMnemonic(); }
TypedAttr MaxAttr::getIdentity(FloatType type) const {
  return getInfinity(type, /*negative=*/true);
}
Value MaxAttr::combine(OpBuilder &b, Location loc, Value lhs, Value rhs) const {
  return arith::MaximumFOp::create(b, loc, lhs, rhs);
}

StringRef LogAddExpAttr::getKeyword() const { return getMnemonic(); }
TypedAttr LogAddExpAttr::getIdentity(FloatType type) const {
  return getInfinity(type, /*negative=*/true);
}
/// max + log1p(exp(min - max)); where both are -inf or either is +inf the
/// difference would be NaN, so the maximum is the result there.
Value LogAddExpAttr::combine(OpBuilder &b, Location loc, Value lhs,
                             Value rhs) const {
  auto type = cast<FloatType>(lhs.getType());
  Value hi = arith::MaximumFOp::create(b, loc, lhs, rhs);
  Value lo = arith::MinimumFOp::create(b, loc, lhs, rhs);
  Value inf =
      arith::ConstantOp::create(b, loc, getInfinity(type, /*negative=*/false));
  Value infinite = arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::OEQ,
      math::AbsFOp::create(b, loc, hi).getResult(), inf);
  Value diff = arith::SubFOp::create(b, loc, lo, hi);
  Value sum = arith::AddFOp::create(
      b, loc, hi,
      math::Log1pOp::create(b, loc,
                            math::ExpOp::create(b, loc, diff).getResult())
          .getResult());
  return arith::SelectOp::create(b, loc, infinite, hi, sum);
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

/// Parses `n`, `n1`: a kind letter and an optional number.
static Attribute parseDimName(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return {};
  std::optional<DimKind> kind = symbolizeDimKind(name.take_front());
  unsigned index = 0;
  if (!kind || (name.size() > 1 && name.drop_front().getAsInteger(10, index))) {
    parser.emitError(loc, "expected a dim such as 'm' or 'n1', got '")
        << name << "'";
    return {};
  }
  return DimAttr::get(parser.getContext(), *kind, index);
}

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute attr = parseDimName(parser);
  if (!attr || parser.parseGreater())
    return {};
  return attr;
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyDimKind(getKind()) << getIndex() << '>';
}

/// Prints `dim` as the enclosing tile op names it.
static void printDimName(OpAsmPrinter &p, Operation *op, DimAttr dim) {
  p << stringifyDimKind(dim.getKind());
  auto tile = dyn_cast_or_null<TileOpInterface>(op->getParentOp());
  // The tile op may not have been verified yet: its 'dims' may have any size.
  unsigned kind = static_cast<unsigned>(dim.getKind());
  if (dim.getIndex() != 0 || !tile || tile.getDims().size() <= kind ||
      tile.getDims()[kind] != 1)
    p << dim.getIndex();
}

static ParseResult parseDim(OpAsmParser &parser, DimAttr &dim) {
  Attribute attr = parseDimName(parser);
  if (!attr)
    return failure();
  dim = cast<DimAttr>(attr);
  return success();
}
static void printDim(OpAsmPrinter &p, Operation *op, DimAttr dim) {
  printDimName(p, op, dim);
}

static ParseResult parseDimList(OpAsmParser &parser, ArrayAttr &dims) {
  SmallVector<Attribute> list;
  auto element = [&]() -> ParseResult {
    list.push_back(parseDimName(parser));
    return success(static_cast<bool>(list.back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  dims = parser.getBuilder().getArrayAttr(list);
  return success();
}
static void printDimList(OpAsmPrinter &p, Operation *op, ArrayAttr dims) {
  p << '[';
  llvm::interleaveComma(dims.getAsRange<DimAttr>(), p,
                        [&](DimAttr dim) { printDimName(p, op, dim); });
  p << ']';
}

CombinerAttrInterface coda::getCombinerByKeyword(MLIRContext *context,
                                                 StringRef keyword) {
  for (Attribute attr :
       {Attribute(AddAttr::get(context)), Attribute(MaxAttr::get(context)),
        Attribute(LogAddExpAttr::get(context))}) {
    auto combiner = cast<CombinerAttrInterface>(attr);
    if (combiner.getKeyword() == keyword)
      return combiner;
  }
  return {};
}

static ParseResult parseCombiner(OpAsmParser &parser,
                                 CombinerAttrInterface &combiner) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  combiner = getCombinerByKeyword(parser.getContext(), keyword);
  if (!combiner)
    return parser.emitError(loc, "unknown combiner '")
           << keyword << "': expected add, max or logaddexp";
  return success();
}
static void printCombiner(OpAsmPrinter &p, Operation *,
                          CombinerAttrInterface combiner) {
  p << combiner.getKeyword();
}

//===----------------------------------------------------------------------===//
// Keywords and numbers in assembly, without their type
//===----------------------------------------------------------------------===//

/// Parses one of the enum's keywords into `attr`. (The generated parser gives
/// two errors, which speak of C++ classes.)
template <typename EnumT, typename AttrT>
static ParseResult parseEnum(OpAsmParser &parser, AttrT &attr, StringRef what,
                             uint32_t last) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<EnumT> value = symbolizeEnum<EnumT>(keyword)) {
    attr = AttrT::get(parser.getContext(), *value);
    return success();
  }
  InFlightDiagnostic diag = parser.emitError(loc, "unknown ");
  diag << what << " '" << keyword << "': expected one of ";
  llvm::interleaveComma(llvm::seq<uint32_t>(0, last + 1), diag, [&](uint32_t i) {
    diag << stringifyEnum(static_cast<EnumT>(i));
  });
  return diag;
}

static ParseResult parseGluKind(OpAsmParser &parser, GluKindAttr &kind) {
  return parseEnum<GluKind>(parser, kind, "activation",
                            getMaxEnumValForGluKind());
}
static void printGluKind(OpAsmPrinter &p, Operation *, GluKindAttr kind) {
  p << stringifyGluKind(kind.getValue());
}
static ParseResult parseRopeLayout(OpAsmParser &parser,
                                   RopeLayoutAttr &layout) {
  return parseEnum<RopeLayout>(parser, layout, "layout",
                               getMaxEnumValForRopeLayout());
}
static void printRopeLayout(OpAsmPrinter &p, Operation *,
                            RopeLayoutAttr layout) {
  p << stringifyRopeLayout(layout.getValue());
}

static ParseResult parseF64(OpAsmParser &parser, FloatAttr &attr) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  attr = parser.getBuilder().getF64FloatAttr(value);
  return success();
}
static void printF64(OpAsmPrinter &p, Operation *, FloatAttr attr) {
  p.printFloat(attr.getValue());
}
static ParseResult parseI64(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}
static void printI64(OpAsmPrinter &p, Operation *, IntegerAttr attr) {
  p << attr.getInt();
}
static ParseResult parseSameType(OpAsmParser &parser, Type &first,
                                 Type &second) {
  if (parser.parseType(first))
    return failure();
  second = first;
  return success();
}
static void printSameType(OpAsmPrinter &p, Operation *, Type first, Type) {
  p << first;
}

#define GET_OP_CLASSES
#include "coda/Dialect/Coda/IR/CodaOps.cpp.inc"

#include "coda/Dialect/Coda/IR/CodaOpInterfaces.cpp.inc"
