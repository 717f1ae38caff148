//===- CodaTileOpsAssembly.cpp - gemm and map as text ----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/IR/TileOpRegion.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
/// Parses the operand lists of a tile op. Dim names become positions once all
/// have been seen, since only then the number of dims of each kind is known.
class TileOpParser {
public:
  TileOpParser(OpAsmParser &parser, OperationState &state)
      : parser(parser), state(state) {}

  ParseResult parse(bool hasAccumulators);

private:
  /// An index: kind and number of the dim, points of a group of it.
  struct DimRef {
    unsigned kind, number;
    int64_t granule;
  };
  using DimRefs = SmallVector<DimRef>;
  enum Group { Lhs, Rhs, Ins, Outs };

  /// `%operand[dim, dim floordiv granule, ...]`
  ParseResult parseOperand(Group group);
  ParseResult parseTypes(Group group);
  ParseResult parseAccumulators();
  ParseResult parseInputs();
  ParseResult parseOutputs();

  OpAsmParser &parser;
  OperationState &state;
  SmallVector<OpAsmParser::UnresolvedOperand> operands[4];
  SmallVector<DimRefs> refs[4];
  SmallVector<Type> types[4];
  SmallVector<int32_t> accSizes;
  SmallVector<Attribute> combiners, loadCombiners;
  SmallVector<bool> fresh;
};
} // namespace

ParseResult TileOpParser::parseOperand(Group group) {
  if (parser.parseOperand(operands[group].emplace_back()))
    return failure();
  DimRefs &dims = refs[group].emplace_back();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name))
          return failure();
        std::optional<DimKind> kind = symbolizeDimKind(name.take_front());
        unsigned index = 0;
        if (!kind ||
            (name.size() > 1 && name.drop_front().getAsInteger(10, index)) ||
            index >= kMaxDimsPerKind)
          return parser.emitError(loc, "unknown dim '")
                 << name
                 << "': expected b, m, n, u, k or p and a number below "
                 << kMaxDimsPerKind;
        int64_t granule = 1;
        if (succeeded(parser.parseOptionalKeyword("floordiv"))) {
          loc = parser.getCurrentLocation();
          if (parser.parseInteger(granule))
            return failure();
          if (granule < 2)
            return parser.emitError(loc, "a group has at least 2 points");
        }
        dims.push_back({static_cast<unsigned>(*kind), index, granule});
        return success();
      });
}

ParseResult TileOpParser::parseTypes(Group group) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types[group]))
    return failure();
  if (types[group].size() != operands[group].size())
    return parser.emitError(loc, "expected ")
           << operands[group].size() << " types, one per operand";
  return success();
}

ParseResult TileOpParser::parseAccumulators() {
  if (parser.parseKeyword("acc") || parser.parseLParen())
    return failure();
  do {
    int32_t size = 0;
    do {
      if (parseOperand(Lhs) || parser.parseStar() || parseOperand(Rhs))
        return failure();
      ++size;
    } while (succeeded(parser.parseOptionalPlus()));
    accSizes.push_back(size);
  } while (succeeded(parser.parseOptionalComma()));
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> both;
  if (parser.parseColonTypeList(both) || parser.parseRParen())
    return failure();
  if (both.size() != 2 * operands[Lhs].size())
    return parser.emitError(loc, "expected ")
           << 2 * operands[Lhs].size() << " types, two per product";
  for (auto [i, type] : llvm::enumerate(both))
    types[i % 2 == 0 ? Lhs : Rhs].push_back(type);
  return success();
}

/// The combiner of an operand, if a keyword stands before it; unit if not.
static ParseResult parseOptionalCombiner(OpAsmParser &parser,
                                         Attribute &combiner) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  combiner = parser.getBuilder().getUnitAttr();
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return success();
  CombinerAttrInterface parsed =
      getCombinerByKeyword(parser.getContext(), keyword);
  if (!parsed)
    return parser.emitError(loc, "unknown combiner '")
           << keyword << "': expected add, max or logaddexp";
  combiner = parsed;
  return success();
}

ParseResult TileOpParser::parseInputs() {
  if (failed(parser.parseOptionalKeyword("ins")))
    return success();
  auto element = [&]() -> ParseResult {
    if (parseOptionalCombiner(parser, loadCombiners.emplace_back()))
      return failure();
    return parseOperand(Ins);
  };
  return failure(parser.parseLParen() ||
                 parser.parseCommaSeparatedList(element) || parseTypes(Ins) ||
                 parser.parseRParen());
}

ParseResult TileOpParser::parseOutputs() {
  auto element = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    fresh.push_back(succeeded(parser.parseOptionalKeyword("fresh")));
    if (parseOptionalCombiner(parser, combiners.emplace_back()))
      return failure();
    if (fresh.back() && isa<UnitAttr>(combiners.back()))
      return parser.emitError(loc, "'fresh' marks a reduction: expected a "
                                   "combiner after it");
    return parseOperand(Outs);
  };
  return failure(parser.parseKeyword("outs") || parser.parseLParen() ||
                 parser.parseCommaSeparatedList(element) || parseTypes(Outs) ||
                 parser.parseRParen());
}

ParseResult TileOpParser::parse(bool hasAccumulators) {
  if ((hasAccumulators && parseAccumulators()) || parseInputs() ||
      parseOutputs())
    return failure();
  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  for (StringRef name :
       {"operandSegmentSizes", "indexing_maps", "dims", "acc_sizes",
        "combiners", "fresh", "load_combiners"})
    if (state.attributes.get(name))
      return parser.emitError(attributesLoc, "'")
             << name << "' follows from the operand lists: remove it";

  SmallVector<int32_t> counts(kNumKinds, 0);
  for (ArrayRef<DimRefs> group : refs)
    for (const DimRefs &dims : group)
      for (const DimRef &ref : dims)
        counts[ref.kind] = std::max<int32_t>(counts[ref.kind], ref.number + 1);
  SmallVector<unsigned> offsets(kNumKinds, 0);
  for (unsigned i = 1; i < kNumKinds; ++i)
    offsets[i] = offsets[i - 1] + counts[i - 1];
  unsigned numDims = offsets.back() + counts.back();

  Builder &b = parser.getBuilder();
  SmallVector<AffineMap> maps;
  SmallVector<int32_t> segments;
  for (unsigned g = 0; g < 4; ++g) {
    segments.push_back(operands[g].size());
    for (const DimRefs &dims : refs[g]) {
      SmallVector<AffineExpr> results;
      for (const DimRef &ref : dims)
        results.push_back(
            b.getAffineDimExpr(offsets[ref.kind] + ref.number)
                .floorDiv(ref.granule));
      maps.push_back(AffineMap::get(numDims, 0, results, b.getContext()));
    }
    if (parser.resolveOperands(operands[g], types[g],
                               parser.getCurrentLocation(), state.operands))
      return failure();
  }
  for (Type type : types[Outs])
    if (isa<RankedTensorType>(type))
      state.addTypes(type);
  state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  state.addAttribute("indexing_maps", b.getAffineMapArrayAttr(maps));
  state.addAttribute("dims", b.getDenseI32ArrayAttr(counts));
  state.addAttribute("acc_sizes", b.getDenseI32ArrayAttr(accSizes));
  state.addAttribute("combiners", b.getArrayAttr(combiners));
  state.addAttribute("fresh", b.getDenseBoolArrayAttr(fresh));
  state.addAttribute("load_combiners", b.getArrayAttr(loadCombiners));
  return parser.parseRegion(*state.addRegion());
}

static void printTileOp(OpAsmPrinter &p, TileOpInterface op) {
  auto printOperand = [&](Value value, AffineMap map) {
    p << value << '[';
    llvm::interleaveComma(map.getResults(), p, [&](AffineExpr index) {
      p << getIndexName(op.getDims(), index);
    });
    p << ']';
  };
  auto newline = [&] {
    p.printNewline();
    p << "    ";
  };
  if (unsigned numProducts = op.getNumProducts()) {
    newline();
    p << "acc(";
    unsigned product = 0;
    llvm::interleaveComma(op.getAccSizes(), p, [&](int32_t size) {
      for (int32_t j = 0; j < size; ++j, ++product) {
        if (j)
          p << " + ";
        printOperand(op.getLhs()[product], op.getLhsMap(product));
        p << " * ";
        printOperand(op.getRhs()[product], op.getRhsMap(product));
      }
    });
    p << " : ";
    llvm::interleaveComma(llvm::seq<unsigned>(numProducts), p, [&](unsigned i) {
      p << op.getLhs()[i].getType() << ", " << op.getRhs()[i].getType();
    });
    p << ')';
  }
  if (!op.getInputs().empty()) {
    newline();
    p << "ins(";
    llvm::interleaveComma(
        llvm::seq<unsigned>(op.getInputs().size()), p, [&](unsigned i) {
          if (CombinerAttrInterface combiner = op.getLoadCombiner(i))
            p << combiner.getKeyword() << ' ';
          printOperand(op.getInputs()[i], op.getInputMap(i));
        });
    p << " : " << op.getInputs().getTypes() << ')';
  }
  newline();
  p << "outs(";
  llvm::interleaveComma(
      llvm::seq<unsigned>(op.getOutputs().size()), p, [&](unsigned i) {
        if (op.getFresh()[i])
          p << "fresh ";
        if (CombinerAttrInterface combiner = op.getCombiner(i))
          p << combiner.getKeyword() << ' ';
        printOperand(op.getOutputs()[i], op.getOutputMap(i));
      });
  p << " : " << op.getOutputs().getTypes() << ")";
  p.printOptionalAttrDictWithKeyword(
      op->getDiscardableAttrDictionary().getValue());
  p << ' ';
  p.printRegion(op.getBody(), /*printEntryBlockArgs=*/true);
}

ParseResult GemmOp::parse(OpAsmParser &parser, OperationState &state) {
  return TileOpParser(parser, state).parse(/*hasAccumulators=*/true);
}
void GemmOp::print(OpAsmPrinter &p) { printTileOp(p, *this); }
ParseResult MapOp::parse(OpAsmParser &parser, OperationState &state) {
  return TileOpParser(parser, state).parse(/*hasAccumulators=*/false);
}
void MapOp::print(OpAsmPrinter &p) { printTileOp(p, *this); }
