//===- Report.cpp - What was fused, and why the rest was not --------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "coda/Conversion/CodaToHost/Entry.h"
#include "coda/Conversion/CodaToNVGPU/Passes.h"
#include "coda/Dialect/Coda/IR/CodaOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coda;

/// The innermost place in a file that `loc` names; null if there is none.
static FileLineColRange findFileLoc(Location loc) {
  FileLineColRange found;
  loc->walk([&](Location inner) {
    found = dyn_cast<FileLineColRange>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

std::string coda::describeLocation(Location loc) {
  std::string text;
  if (FileLineColRange file = findFileLoc(loc)) {
    llvm::raw_string_ostream stream(text);
    stream << file.getFilename().getValue();
    // What an empty file holds is on no line.
    if (file.getStartLine() != 0)
      stream << ':' << file.getStartLine() << ':' << file.getStartColumn();
  }
  return text;
}

std::string CompilationReport::getLine(Location loc) const {
  constexpr size_t kMaxLength = 160;
  FileLineColRange file = findFileLoc(loc);
  if (!file || sources.getNumBuffers() == 0)
    return "";
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  if (buffer->getBufferIdentifier() != file.getFilename().getValue())
    return "";
  StringRef rest = buffer->getBuffer();
  for (unsigned line = 1; line < file.getStartLine() && !rest.empty(); ++line)
    rest = rest.split('\n').second;
  StringRef line = rest.split('\n').first.trim();
  return line.size() <= kMaxLength
             ? line.str()
             : (line.take_front(kMaxLength) + "...").str();
}

RemarkParts coda::parseRemark(StringRef message) {
  RemarkParts parts;
  if (message.consume_front("["))
    std::tie(parts.pass, message) = message.split("] ");
  std::tie(parts.what, message) = message.split(": ");
  std::tie(parts.reason, parts.detail) = message.split(": ");
  return parts;
}

void CompilationReport::addRemark(const Diagnostic &remark) {
  llvm::json::Array notes;
  for (const Diagnostic &note :
       const_cast<Diagnostic &>(remark).getNotes()) {
    // The op itself is in the report already, at the source's line.
    if (StringRef(note.str()).starts_with("see current operation"))
      continue;
    notes.push_back(
        llvm::json::Object{{"location", describeLocation(note.getLocation())},
                           {"message", note.str()},
                           {"source", getLine(note.getLocation())}});
  }
  remarks.push_back(
      llvm::json::Object{{"location", describeLocation(remark.getLocation())},
                         {"message", remark.str()},
                         {"source", getLine(remark.getLocation())},
                         {"notes", std::move(notes)}});
}

llvm::json::Array CompilationReport::getSources(Operation *root) const {
  llvm::json::Array places;
  llvm::StringSet<> seen;
  auto add = [&](Location loc) {
    std::string where = describeLocation(loc);
    if (where.empty() || !seen.insert(where).second)
      return;
    places.push_back(
        llvm::json::Object{{"location", where}, {"source", getLine(loc)}});
  };
  root->walk([&](Operation *op) {
    if (op == root || op->hasTrait<OpTrait::IsTerminator>())
      return;
    // A fused location has one part for each op that was merged.
    if (auto fused = dyn_cast<FusedLoc>(op->getLoc())) {
      for (Location part : fused.getLocations())
        add(part);
      return;
    }
    add(op->getLoc());
  });
  return places;
}

/// An operand as the tile op's text has it: tensor<8x16xbf16>[m, k].
static std::string describeOperand(TileOpInterface op, Value operand,
                                   AffineMap map) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << operand.getType() << '[';
  llvm::interleaveComma(map.getResults(), stream, [&](AffineExpr index) {
    stream << getIndexName(op.getDims(), index);
  });
  stream << ']';
  return text;
}

static llvm::json::Object describeMember(TileOpInterface op) {
  llvm::json::Array accumulators, loads, stores, reductions;
  unsigned product = 0;
  for (int32_t size : op.getAccSizes()) {
    std::string text;
    for (int32_t i = 0; i < size; ++i, ++product)
      text += (i ? " + " : "") +
              describeOperand(op, op.getLhs()[product], op.getLhsMap(product)) +
              " * " +
              describeOperand(op, op.getRhs()[product], op.getRhsMap(product));
    accumulators.push_back(std::move(text));
  }
  auto withCombiner = [](CombinerAttrInterface combiner, std::string text) {
    return combiner ? (combiner.getKeyword() + " " + text).str() : text;
  };
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    loads.push_back(withCombiner(
        op.getLoadCombiner(i),
        describeOperand(op, op.getInputs()[i], op.getInputMap(i))));
  for (unsigned o = 0; o < op.getOutputs().size(); ++o)
    (op.getCombiner(o) ? reductions : stores)
        .push_back(withCombiner(
            op.getCombiner(o),
            describeOperand(op, op.getOutputs()[o], op.getOutputMap(o))));
  llvm::MapVector<StringRef, int64_t> counts;
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!inner.hasTrait<OpTrait::ConstantLike>())
      ++counts[inner.getName().getStringRef()];
  llvm::json::Array body;
  for (auto [name, count] : counts)
    body.push_back(llvm::json::Object{{"op", name}, {"count", count}});
  return llvm::json::Object{{"op", op->getName().getStringRef()},
                            {"accumulators", std::move(accumulators)},
                            {"loads", std::move(loads)},
                            {"stores", std::move(stores)},
                            {"reductions", std::move(reductions)},
                            {"body", std::move(body)}};
}

llvm::json::Object CompilationReport::describeKernel(Operation *op) const {
  auto function = cast<func::FuncOp>(op);
  llvm::json::Array ops, members;
  function.walk([&](Operation *inner) {
    if (inner->getName().getDialectNamespace() == "coda" &&
        inner->getParentOp() == function)
      ops.push_back(inner->getName().getStringRef());
    if (auto tile = dyn_cast<TileOpInterface>(inner))
      members.push_back(describeMember(tile));
  });
  return llvm::json::Object{{"name", function.getName()},
                            {"ops", std::move(ops)},
                            {"members", std::move(members)},
                            {"sources", getSources(function)},
                            {"schedule", nullptr},
                            {"unscheduled", nullptr}};
}

void CompilationReport::addFused(ModuleOp module) {
  llvm::StringSet<> described;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(coda_gpu::kKernelAttrName) || function.isExternal())
      continue;
    llvm::json::Array launches, unfused;
    function.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        launches.push_back(call.getCallee());
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (callee && callee->hasAttr(coda_gpu::kKernelAttrName) &&
            described.insert(callee.getName()).second)
          kernels.push_back(describeKernel(callee));
      } else if (op->getName().getDialectNamespace() == "linalg" &&
                 op->getBlock() == &function.getBody().front()) {
        unfused.push_back(op->getName().getStringRef());
      }
    });
    functions.push_back(llvm::json::Object{{"name", function.getName()},
                                           {"launches", std::move(launches)},
                                           {"unfused", std::move(unfused)},
                                           {"loops", llvm::json::Array()},
                                           {"unscheduled", llvm::json::Array()},
                                           {"workspace", nullptr}});
  }
}

void CompilationReport::addPlanned(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (Attribute schedule = function->getAttr(coda_gpu::kScheduleAttrName)) {
      std::string text;
      llvm::raw_string_ostream(text) << schedule;
      schedules[function.getName()] = text;
    }
    auto entry = function->getAttrOfType<DictionaryAttr>(kEntryAttr);
    auto symbol = entry ? entry.getAs<FlatSymbolRefAttr>("workspace") : nullptr;
    auto size = symbol ? module.lookupSymbol<func::FuncOp>(symbol.getAttr())
                       : nullptr;
    if (!size)
      continue;
    APInt bytes;
    Value result = size.getBody().front().getTerminator()->getOperand(0);
    workspaces[entry.getAs<StringAttr>("name").getValue()] =
        matchPattern(result, m_ConstantInt(&bytes))
            ? std::to_string(bytes.getZExtValue()) + " bytes"
            : "depends on the extents of the arguments";
  }
}

void CompilationReport::addLaunched(ModuleOp module) {
  auto reasons = module->getAttrOfType<DictionaryAttr>(
      coda_gpu::kUnscheduledAttrName);
  auto getReason = [&](StringRef kernel) {
    return reasons ? reasons.getAs<StringAttr>(kernel) : StringAttr();
  };
  llvm::StringSet<> described;
  for (llvm::json::Value &value : kernels) {
    llvm::json::Object &kernel = *value.getAsObject();
    StringRef name = *kernel.getString("name");
    described.insert(name);
    if (StringAttr reason = getReason(name))
      kernel["unscheduled"] = reason.getValue();
  }
  for (llvm::json::Value &value : functions) {
    llvm::json::Object &object = *value.getAsObject();
    auto function =
        module.lookupSymbol<func::FuncOp>(*object.getString("name"));
    // A private function is part of its callers by now.
    if (!function)
      continue;
    llvm::json::Array launches, loops, unscheduled;
    // One line of source may be several loops.
    llvm::MapVector<StringRef, std::pair<llvm::json::Object, int64_t>> places;
    llvm::StringSet<> names;
    for (const llvm::json::Value &kernel : *object.getArray("launches"))
      if (getReason(*kernel.getAsString()))
        unscheduled.push_back(kernel);
    function.walk([&](Operation *op) {
      if (coda_gpu::isLaunchedAsLoops(op)) {
        std::string where = describeLocation(op->getLoc());
        auto &[place, count] = places[names.insert(where).first->getKey()];
        if (++count == 1)
          place = llvm::json::Object{{"location", where},
                                     {"source", getLine(op->getLoc())}};
      }
      auto call = dyn_cast<func::CallOp>(op);
      if (!call)
        return;
      launches.push_back(call.getCallee());
      if (described.insert(call.getCallee()).second)
        kernels.push_back(describeKernel(
            module.lookupSymbol<func::FuncOp>(call.getCallee())));
    });
    for (auto &[where, found] : places) {
      found.first["count"] = found.second;
      loops.push_back(std::move(found.first));
    }
    object["launches"] = std::move(launches);
    object["loops"] = std::move(loops);
    object["unscheduled"] = std::move(unscheduled);
  }
}

void CompilationReport::addInput(ModuleOp module) {
  auto add = [&](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (element && element.getWidth() < 32 &&
        (!narrowest ||
         element.getFPMantissaWidth() < narrowest.getFPMantissaWidth()))
      narrowest = element;
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
  });
}

llvm::json::Value CompilationReport::toJSON(StringRef input, StringRef target,
                                            StringRef numerics) const {
  auto withField = [](const llvm::json::Array &objects,
                      const llvm::StringMap<std::string> &values,
                      StringRef field) {
    llvm::json::Array result;
    for (const llvm::json::Value &value : objects) {
      llvm::json::Object object = *value.getAsObject();
      auto it = values.find(*object.getString("name"));
      if (it != values.end())
        object[field] = it->second;
      result.push_back(std::move(object));
    }
    return result;
  };
  return llvm::json::Object{
      {"input", input},
      {"target", target},
      {"numerics", numerics},
      {"narrowest", narrowest ? llvm::json::Value(debugString(narrowest))
                              : llvm::json::Value(nullptr)},
      {"functions", withField(functions, workspaces, "workspace")},
      {"kernels", withField(kernels, schedules, "schedule")},
      {"remarks", llvm::json::Array(remarks)}};
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

namespace {
/// Writes a report as HTML; whatever comes from the input is escaped.
class HTMLPrinter {
public:
  explicit HTMLPrinter(raw_ostream &os) : os(os) {}
  void print(const llvm::json::Object &report);

private:
  static constexpr StringLiteral kStyle =
      "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;"
      "padding:0 1em;color:#222;background:#fff}h1{font-size:1.5em}h2{font-size:"
      "1.2em;margin-top:2em;border-bottom:1px solid #ccc}h3{font-size:1em;"
      "margin-bottom:.3em}code{font-family:ui-monospace,monospace;font-size:.9em;"
      "overflow-wrap:anywhere}table{border-collapse:collapse;width:100%}td,th{"
      "text-align:left;vertical-align:top;padding:.2em .8em .2em 0;"
      "border-bottom:1px solid #eee}th{font-weight:600;white-space:nowrap}"
      ".where{color:#666}"
      "@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}"
      "td,th{border-color:#333}h2{border-color:#444}.where{color:#999}}";

  void text(StringRef value) {
    for (char c : value)
      switch (c) {
      case '<':
        os << "&lt;";
        break;
      case '>':
        os << "&gt;";
        break;
      case '&':
        os << "&amp;";
        break;
      case '"':
        os << "&quot;";
        break;
      case '\'':
        os << "&#39;";
        break;
      default:
        os << c;
      }
  }
  void element(StringRef tag, StringRef value) {
    os << '<' << tag << '>';
    text(value);
    os << "</" << tag << '>';
  }
  void code(StringRef value) { element("code", value); }
  void where(StringRef value) {
    os << "<span class=\"where\">";
    text(value);
    os << "</span>";
  }
  /// Where something is, and the line of source there.
  void place(const llvm::json::Object &object, StringRef between) {
    where(get(object, "location"));
    os << between;
    code(get(object, "source"));
  }
  /// A row whose second cell holds one line for each of `values`, if any.
  void row(StringRef name, const llvm::json::Array *values) {
    if (!values || values->empty())
      return;
    os << "<tr><th>" << name << "</th><td>";
    for (auto [i, value] : llvm::enumerate(*values)) {
      os << (i ? "<br>" : "");
      code(value.getAsString().value_or(""));
    }
    os << "</td></tr>\n";
  }
  void functions(const llvm::json::Array &functions);
  void kernel(const llvm::json::Object &kernel);
  void remarks(const llvm::json::Array &remarks);

  static StringRef get(const llvm::json::Object &object, StringRef key) {
    return object.getString(key).value_or("");
  }

  raw_ostream &os;
};
} // namespace

void HTMLPrinter::functions(const llvm::json::Array &functions) {
  os << "<h2>Functions</h2>\n<table><tr><th>function</th><th>launches</th>"
        "<th>left unfused</th><th>loops on the device</th><th>workspace</th>"
        "</tr>\n";
  for (const llvm::json::Value &value : functions) {
    const llvm::json::Object &function = *value.getAsObject();
    os << "<tr><td>";
    code(("@" + get(function, "name")).str());
    os << "</td><td>";
    for (auto [i, launch] : llvm::enumerate(*function.getArray("launches"))) {
      os << (i ? "<br>" : "");
      code(launch.getAsString().value_or(""));
    }
    os << "</td><td>";
    llvm::MapVector<StringRef, unsigned> counts;
    for (const llvm::json::Value &op : *function.getArray("unfused"))
      ++counts[op.getAsString().value_or("")];
    bool isFirst = true;
    auto line = [&] { os << (std::exchange(isFirst, false) ? "" : "<br>"); };
    for (auto [name, count] : counts) {
      line();
      os << count << ' ';
      code(name);
    }
    for (const llvm::json::Value &kernel : *function.getArray("unscheduled")) {
      line();
      code(kernel.getAsString().value_or(""));
      os << ", no schedule";
    }
    os << (isFirst ? "nothing" : "") << "</td><td>";
    const llvm::json::Array &loops = *function.getArray("loops");
    int64_t count = 0;
    for (const llvm::json::Value &loop : loops)
      count += loop.getAsObject()->getInteger("count").value_or(0);
    if (loops.empty())
      os << "none";
    else
      os << count << ", of";
    for (const llvm::json::Value &loop : loops) {
      os << "<br>";
      where(get(*loop.getAsObject(), "location"));
    }
    os << "</td><td>";
    StringRef workspace = get(function, "workspace");
    text(workspace.empty() ? "not planned at this stage" : workspace);
    os << "</td></tr>\n";
  }
  os << "</table>\n";
}

void HTMLPrinter::kernel(const llvm::json::Object &kernel) {
  element("h3", get(kernel, "name"));
  os << "\n<table>\n";
  if (StringRef schedule = get(kernel, "schedule"); !schedule.empty()) {
    os << "<tr><th>schedule</th><td>";
    code(schedule);
    os << "</td></tr>\n";
  }
  if (StringRef reason = get(kernel, "unscheduled"); !reason.empty()) {
    os << "<tr><th>schedule</th><td>none: ";
    text(reason);
    os << "</td></tr>\n";
  }
  for (const llvm::json::Value &value : *kernel.getArray("members")) {
    const llvm::json::Object &member = *value.getAsObject();
    os << "<tr><th>op</th><td>";
    code(get(member, "op"));
    os << "</td></tr>\n";
    row("accumulators", member.getArray("accumulators"));
    row("loads", member.getArray("loads"));
    row("stores", member.getArray("stores"));
    row("reductions", member.getArray("reductions"));
    os << "<tr><th>at each point</th><td>";
    const llvm::json::Array &body = *member.getArray("body");
    for (auto [i, value] : llvm::enumerate(body)) {
      const llvm::json::Object &op = *value.getAsObject();
      os << (i ? ", " : "") << op.getInteger("count").value_or(0) << ' ';
      code(get(op, "op"));
    }
    os << (body.empty() ? "the accumulator as it is" : "") << "</td></tr>\n";
  }
  os << "<tr><th>made of</th><td>";
  for (auto [i, value] : llvm::enumerate(*kernel.getArray("sources"))) {
    const llvm::json::Object &source = *value.getAsObject();
    os << (i ? "<br>" : "");
    place(source, " ");
  }
  os << "</td></tr>\n</table>\n";
}

void HTMLPrinter::remarks(const llvm::json::Array &remarks) {
  os << "<h2>What was left alone, and why</h2>\n";
  if (remarks.empty()) {
    os << "<p>Nothing was refused.</p>\n";
    return;
  }
  os << "<table><tr><th>pass</th><th>what</th><th>reason</th><th>detail</th>"
        "<th>where</th></tr>\n";
  for (const llvm::json::Value &value : remarks) {
    const llvm::json::Object &remark = *value.getAsObject();
    auto [pass, what, reason, detail] = parseRemark(get(remark, "message"));
    os << "<tr><td>";
    code(pass);
    os << "</td><td>";
    text(what);
    os << "</td><td>";
    code(reason);
    os << "</td><td>";
    text(detail);
    os << "</td><td>";
    place(remark, "<br>");
    for (const llvm::json::Value &value : *remark.getArray("notes")) {
      const llvm::json::Object &note = *value.getAsObject();
      os << "<br>";
      text(get(note, "message"));
      os << ": ";
      place(note, " ");
    }
    os << "</td></tr>\n";
  }
  os << "</table>\n";
}

void HTMLPrinter::print(const llvm::json::Object &report) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>coda: ";
  text(get(report, "input"));
  os << "</title>\n<style>" << kStyle << "</style>\n</head>\n<body>\n<h1>coda: ";
  text(get(report, "input"));
  os << "</h1>\n<p>target ";
  code(get(report, "target"));
  os << ", numerics ";
  code(get(report, "numerics"));
  os << "</p>\n";
  functions(*report.getArray("functions"));
  os << "<h2>Kernels</h2>\n";
  const llvm::json::Array &kernels = *report.getArray("kernels");
  if (kernels.empty())
    os << "<p>There are none.</p>\n";
  for (const llvm::json::Value &value : kernels)
    kernel(*value.getAsObject());
  remarks(*report.getArray("remarks"));
  os << "</body>\n</html>\n";
}

void coda::printReportAsHTML(const llvm::json::Value &report,
                             raw_ostream &stream) {
  HTMLPrinter(stream).print(*report.getAsObject());
}
