//===- AutodiffRegion.cpp - The adjoint of one region -------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AutodiffRegion.h"

#include "coda/Dialect/Coda/Analysis/DegreeAnalysis.h"
#include "coda/Dialect/Coda/Transforms/DifferentiableOpInterface.h"
#include "coda/Dialect/Coda/Transforms/TileOpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <deque>

using namespace mlir;
using namespace mlir::coda;

RegionAdjoint::RegionAdjoint(TileOpInterface op, const RegionAdjointSpec &spec)
    : op(op), spec(spec), builder(op->getContext()) {}

RegionAdjoint::~RegionAdjoint() {
  block.dropAllReferences();
  block.clear();
}

Value RegionAdjoint::wide(Value copy) {
  FloatType type = getCotangentType(copy.getType());
  if (!type || type == copy.getType())
    return copy;
  Value &known = wideCopies[copy];
  if (!known)
    known = arith::ExtFOp::create(builder, copy.getLoc(), type, copy);
  return known;
}

void RegionAdjoint::add(Value original, Value cotangent, Operation *user) {
  // What reads a factor with a cut is within its zone: the cut accounts for it.
  if (!cotangent || !active.contains(original) ||
      (user && cuts.contains(original)))
    return;
  Value &sum = cotangents[original];
  sum = sum ? arith::AddFOp::create(builder, op->getLoc(), sum, cotangent)
            : cotangent;
}

LogicalResult RegionAdjoint::build() {
  Block &body = op.getBody().front();
  Location loc = op->getLoc();
  for (BlockArgument argument : body.getArguments())
    copies.map(argument, block.addArgument(argument.getType(), loc));
  builder.setInsertionPointToEnd(&block);
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, copies);
  for (auto [original, copy] : copies.getValueMap())
    originals[copy] = original;

  // What depends on a wanted operand by floats.
  for (auto [a, wanted] : llvm::enumerate(spec.wantAcc))
    if (wanted)
      for (BlockArgument argument : op.getAccArguments(a))
        active.insert(argument);
  for (auto [i, wanted] : llvm::enumerate(spec.wantInput))
    if (wanted)
      for (BlockArgument argument : op.getInputArguments(i))
        active.insert(argument);
  DenseSet<Value> ofAcc;
  for (unsigned a = 0; a < op.getAccSizes().size(); ++a)
    for (BlockArgument argument : op.getAccArguments(a))
      ofAcc.insert(argument);
  auto isIn = [](const DenseSet<Value> &set) {
    return [&set](Value v) { return set.contains(v); };
  };
  for (Operation &inner : body.without_terminator()) {
    if (llvm::any_of(inner.getOperands(), isIn(ofAcc)))
      ofAcc.insert(inner.result_begin(), inner.result_end());
    if (llvm::none_of(inner.getOperands(), isIn(active)))
      continue;
    // An op that takes the bits of a float apart would cut the flow silently.
    if (!isa<DifferentiableOpInterface>(inner))
      return inner.emitError()
             << "'" << inner.getName().getStringRef()
             << "' computes with a value to be differentiated and has no "
                "adjoint; write it with other ops of arith and math, or keep "
                "the function's gradient from passing here";
    for (Value result : inner.getResults())
      if (getCotangentType(result.getType()))
        active.insert(result);
  }
  // Factors of rows: a reciprocal root of what no accumulator takes part in.
  if (spec.euler)
    for (Operation &inner : body.without_terminator()) {
      if (!isa<math::RsqrtOp>(inner) ||
          !active.contains(inner.getResult(0)) ||
          ofAcc.contains(inner.getResult(0)))
        continue;
      SmallVector<Value> cut =
          getHomogeneousCut(inner.getResult(0), !spec.strict);
      if (cut.empty())
        continue;
      usedEuler = true;
      cuts[inner.getResult(0)] = cut;
      for (Value value : cut)
        factorsOfCutValue[value].push_back(inner.getResult(0));
    }

  if (failed(seed()))
    return failure();
  for (Operation &inner : llvm::reverse(body.without_terminator()))
    if (failed(sweep(inner)))
      return failure();
  return success();
}

LogicalResult RegionAdjoint::seed() {
  Location loc = op->getLoc();
  resultArguments.resize(op.getOutputs().size());
  for (const CotangentLoad &load : spec.cotangents) {
    Type type = cast<RankedTensorType>(load.tensor.getType()).getElementType();
    SmallVector<UnrollPoint> points = getUnrollPoints(op, load.map);
    SmallVector<Value> &arguments = cotangentArguments.emplace_back();
    for (size_t i = 0; i < points.size(); ++i)
      arguments.push_back(block.addArgument(type, loc));
    CombinerAttrInterface combiner = op.getCombiner(load.output);
    bool isLogAddExp = isa_and_nonnull<LogAddExpAttr>(combiner);
    if (combiner && !isLogAddExp && !isa<AddAttr>(combiner))
      return op->emitError()
             << "a reduction with '" << combiner.getKeyword()
             << "' has no adjoint; only add and logaddexp have";
    SmallVector<UnrollPoint> resultPoints =
        getUnrollPoints(op, op.getOutputMap(load.output));
    SmallVector<Value> &results = resultArguments[load.output];
    if (isLogAddExp && results.empty())
      for (size_t i = 0; i < resultPoints.size(); ++i)
        results.push_back(block.addArgument(
            cast<RankedTensorType>(op.getOutputs()[load.output].getType())
                .getElementType(),
            loc));
    for (auto [i, point] : llvm::enumerate(resultPoints)) {
      Value yielded = op.getYieldedValues(load.output)[i];
      if (!active.contains(yielded))
        continue;
      FloatType wanted = getCotangentType(yielded.getType());
      Value g = lookupPoint(points, arguments, point);
      auto from = cast<FloatType>(g.getType());
      if (from.getWidth() < wanted.getWidth())
        g = arith::ExtFOp::create(builder, loc, wanted, g);
      else if (from.getWidth() > wanted.getWidth())
        g = arith::TruncFOp::create(builder, loc, wanted, g);
      if (isLogAddExp) {
        // d log(sum of exp x) = exp(x - R) dR: the part of the sum.
        Value rest = arith::SubFOp::create(
            builder, loc, wide(getCopy(yielded)), results[i]);
        Value part = math::ExpOp::create(builder, loc, rest);
        g = arith::MulFOp::create(builder, loc, part, g);
      }
      add(yielded, g, nullptr);
    }
  }
  return success();
}

LogicalResult RegionAdjoint::sweep(Operation &inner) {
  if (inner.getNumResults() != 1)
    return success();
  Value result = inner.getResult(0);
  Location loc = inner.getLoc();
  Value r = getCopy(result);
  SmallVector<Value> operandCotangents;
  if (cuts.contains(result)) {
    // r dr = sum of v dv over the cut; d(1/sqrt a) = -r^3/2 da = -r^2/2 (r dr).
    Value sum = eulerSums.lookup(result);
    if (!sum)
      return success();
    Value half = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(sum.getType(), -0.5));
    Value square = arith::MulFOp::create(builder, loc, wide(r), wide(r));
    Value factor = arith::MulFOp::create(builder, loc, square, half);
    operandCotangents.push_back(
        arith::MulFOp::create(builder, loc, factor, sum));
  } else {
    Value g = cotangents.lookup(result);
    if (!g)
      return success();
    for (Value base : factorsOfCutValue.lookup(result)) {
      Value term = arith::MulFOp::create(builder, loc, wide(r), g);
      Value &sum = eulerSums[base];
      sum = sum ? arith::AddFOp::create(builder, loc, sum, term) : term;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(wide(getCopy(operand)));
    if (failed(cast<DifferentiableOpInterface>(inner).buildAdjoint(
            builder, operands, wide(r), g, operandCotangents)))
      return inner.emitError()
             << "'" << inner.getName().getStringRef()
             << "' has no adjoint in this form; only add and logaddexp have "
                "one over a group";
  }
  for (auto [operand, cotangent] :
       llvm::zip_equal(inner.getOperands(), operandCotangents))
    add(operand, cotangent, &inner);
  return success();
}

SmallVector<Value> RegionAdjoint::accCotangents(unsigned acc) const {
  SmallVector<Value> values;
  for (BlockArgument argument : op.getAccArguments(acc))
    values.push_back(cotangents.lookup(argument));
  return values;
}

SmallVector<Value> RegionAdjoint::inputCotangents(unsigned input) const {
  SmallVector<Value> values;
  for (BlockArgument argument : op.getInputArguments(input))
    values.push_back(cotangents.lookup(argument));
  return values;
}

//===----------------------------------------------------------------------===//
// Slices and cuts
//===----------------------------------------------------------------------===//

/// The ops of the block that `outputs` need, down to values for which `stop`
/// holds (collected in `stopped`), and the arguments met.
SetVector<Operation *>
RegionAdjoint::slice(ArrayRef<Value> outputs, function_ref<bool(Value)> stop,
                     SetVector<Value> *arguments,
                     SetVector<Value> *stopped) const {
  SetVector<Operation *> ops;
  SmallVector<Value> worklist(outputs);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!value)
      continue;
    if (stop(value)) {
      if (stopped)
        stopped->insert(value);
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (!def) {
      if (arguments)
        arguments->insert(value);
      continue;
    }
    if (ops.insert(def))
      llvm::append_range(worklist, def->getOperands());
  }
  return ops;
}

SmallVector<Value> RegionAdjoint::getNeeded(ArrayRef<Value> outputs) const {
  SetVector<Value> stopped;
  slice(outputs, [&](Value v) { return originals.contains(v); }, nullptr,
        &stopped);
  SmallVector<Value> needed;
  for (Value copy : stopped)
    needed.push_back(originals.lookup(copy));
  return needed;
}

SetVector<Value>
RegionAdjoint::getSources(ArrayRef<Value> outputs,
                          const DenseSet<Value> &available) const {
  SetVector<Value> sources;
  slice(outputs, [&](Value v) { return available.contains(v); }, &sources,
        &sources);
  return sources;
}

void RegionAdjoint::emit(OpBuilder &b, ArrayRef<Value> outputs,
                         IRMapping &mapping) const {
  SetVector<Operation *> ops = slice(
      outputs, [&](Value v) { return mapping.contains(v); }, nullptr, nullptr);
  for (Operation &inner : block)
    if (ops.contains(&inner))
      b.clone(inner, mapping);
}

namespace {
/// Maximum flow on a small graph, by shortest augmenting paths.
class FlowGraph {
public:
  unsigned addNode() {
    edgesOf.emplace_back();
    return edgesOf.size() - 1;
  }
  void addEdge(unsigned from, unsigned to, int64_t capacity) {
    edgesOf[from].push_back(edges.size());
    edges.push_back({to, capacity});
    edgesOf[to].push_back(edges.size());
    edges.push_back({from, 0});
  }
  int64_t maximize(unsigned source, unsigned sink) {
    int64_t total = 0;
    while (true) {
      SmallVector<int> into(edgesOf.size(), -1);
      std::deque<unsigned> queue{source};
      while (!queue.empty() && into[sink] < 0) {
        unsigned node = queue.front();
        queue.pop_front();
        for (unsigned e : edgesOf[node])
          if (edges[e].rest > 0 && edges[e].to != source &&
              into[edges[e].to] < 0) {
            into[edges[e].to] = e;
            queue.push_back(edges[e].to);
          }
      }
      if (into[sink] < 0)
        return total;
      int64_t amount = RegionAdjoint::kNever;
      for (unsigned node = sink; node != source; node = edges[into[node] ^ 1].to)
        amount = std::min(amount, edges[into[node]].rest);
      for (unsigned node = sink; node != source;
           node = edges[into[node] ^ 1].to) {
        edges[into[node]].rest -= amount;
        edges[into[node] ^ 1].rest += amount;
      }
      total += amount;
      if (total >= RegionAdjoint::kNever)
        return total;
    }
  }
  /// The nodes from which the sink can still be reached.
  SmallVector<bool> reaching(unsigned sink) const {
    SmallVector<bool> seen(edgesOf.size(), false);
    std::deque<unsigned> queue{sink};
    seen[sink] = true;
    while (!queue.empty()) {
      unsigned node = queue.front();
      queue.pop_front();
      for (unsigned e : edgesOf[node]) {
        unsigned from = edges[e].to;
        if (edges[e ^ 1].rest > 0 && !seen[from]) {
          seen[from] = true;
          queue.push_back(from);
        }
      }
    }
    return seen;
  }

private:
  struct Edge {
    unsigned to;
    int64_t rest;
  };
  SmallVector<Edge> edges;
  SmallVector<SmallVector<unsigned>> edgesOf;
};
} // namespace

SmallVector<Value>
RegionAdjoint::chooseCut(ArrayRef<Value> needed,
                         function_ref<bool(BlockArgument)> isLeaf,
                         function_ref<int64_t(Value)> cost,
                         int64_t &total) const {
  FlowGraph graph;
  unsigned source = graph.addNode(), sink = graph.addNode();
  llvm::MapVector<Value, unsigned> nodes; // value -> its first node of two
  DenseSet<Value> dependent;
  auto visit = [&](Value value) {
    unsigned in = graph.addNode();
    unsigned out = graph.addNode();
    nodes.insert({value, in});
    graph.addEdge(in, out, std::min(cost(value), kNever));
  };
  for (BlockArgument argument : op.getBody().getArguments())
    if (isLeaf(argument)) {
      dependent.insert(argument);
      visit(argument);
      graph.addEdge(source, nodes.lookup(argument), kNever);
    }
  for (Operation &inner : op.getBody().front().without_terminator()) {
    bool depends = llvm::any_of(inner.getOperands(), [&](Value v) {
      return dependent.contains(v);
    });
    if (!depends)
      continue;
    for (Value result : inner.getResults()) {
      dependent.insert(result);
      visit(result);
      for (Value operand : inner.getOperands())
        if (dependent.contains(operand))
          graph.addEdge(nodes.lookup(operand) + 1, nodes.lookup(result),
                        kNever);
    }
  }
  for (Value value : needed)
    if (dependent.contains(value))
      graph.addEdge(nodes.lookup(value) + 1, sink, kNever);
  total = graph.maximize(source, sink);
  SmallVector<bool> reaching = graph.reaching(sink);
  SmallVector<Value> cut;
  for (auto [value, node] : nodes)
    if (!reaching[node] && reaching[node + 1])
      cut.push_back(value);
  return cut;
}
