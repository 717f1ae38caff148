//===- Differences.cpp - gradients against finite differences -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include <algorithm>
#include <cmath>

namespace mlir::coda::runtime {

namespace {

/// Steps along a direction of entries +-1, as parts of the largest value, the
/// largest first. At each, h and h/2 are extrapolated, which leaves an error of
/// h^4: a smaller one is for functions that vary faster.
constexpr double kSteps[] = {1.0 / 32, 1.0 / 256, 1.0 / 2048};
/// What may differ, as a part of |gradient| |direction|: the reference's results
/// are f64 or rounded to f32, a 16-bit gradient to 16 bit.
constexpr double kTolerance32 = 2e-3, kTolerance16 = 2e-2;
/// Of one argument: points at which the function is taken, at most, and elements
/// that are told apart as singular.
constexpr int kMaxPoints = 1500;
constexpr size_t kMaxSingular = 16;

/// +1 or -1, the same everywhere.
double sign(size_t argument, size_t element) {
  uint64_t z = (uint64_t(argument) << 40) + element + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) & 1 ? 1.0 : -1.0;
}

double dot(const Tensor &a, const Tensor &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a.get(i) * b.get(i);
  return sum;
}

/// The function that is differentiated, as a number: the sum of
/// <cotangent, result>.
class Objective {
public:
  Objective(Program &function, std::vector<Tensor> inputs,
            std::vector<const Tensor *> cotangents)
      : function(function), inputs(std::move(inputs)),
        cotangents(std::move(cotangents)) {}

  const Tensor &input(size_t i) const { return inputs[i]; }
  /// With `values` in place of input i.
  Result<double> evaluate(size_t i, Tensor values) {
    std::swap(inputs[i], values);
    Result<double> result = evaluate();
    std::swap(inputs[i], values);
    return result;
  }

private:
  Result<double> evaluate() {
    Result<std::unique_ptr<Execution>> execution = Execution::create(
        function.artifact, *function.entry, *function.device, inputs);
    if (!execution.ok())
      return execution.error();
    if (Status status = (*execution)->runFirst(); !status.ok())
      return status.error();
    double sum = 0;
    for (size_t r = 0; r < cotangents.size(); ++r)
      if (cotangents[r])
        sum += dot(*cotangents[r], (*execution)->outputs()[r]);
    return sum;
  }

  Program &function;
  std::vector<Tensor> inputs;
  std::vector<const Tensor *> cotangents;
};

/// Slopes of the function along a direction, by differences of one step.
struct Slopes {
  double above = 0, below = 0; ///< of one side, by h/2
  double central = 0;          ///< extrapolated
  double given = 0;            ///< what the gradient says
};

/// Compares the gradient of one argument.
class ArgumentCheck {
public:
  ArgumentCheck(Objective &objective, size_t argument, const Tensor &gradient,
                GradientReport &report)
      : objective(objective), argument(argument), gradient(gradient),
        at(objective.input(argument)), report(report),
        singular(at.size(), false) {
    for (size_t n = 0; n < at.size(); ++n)
      if (std::isfinite(at.get(n)))
        largest = std::max(largest, std::fabs(at.get(n)));
    if (largest == 0)
      largest = 1;
  }

  Status run() {
    report.size = at.size();
    if (at.size() == 0)
      return {};
    Result<double> value = take(at);
    if (!value.ok())
      return value.error();
    center = *value;
    Result<bool> good = compare(0, at.size(), &report);
    if (!good.ok())
      return good.error();
    if (*good)
      return {};
    if (Status status = find(0, at.size()); !status.ok())
      return status;
    report.skipped = std::count(singular.begin(), singular.end(), true);
    report.good = false;
    if (report.skipped == 0)
      return {};
    report.why =
        "the function is not differentiable there: differences of smaller steps "
        "do not come together, or those of the two sides do not";
    if (isExhausted) {
      // What was not looked at cannot be told apart.
      report.why += " (so it is at " + std::to_string(report.skipped) +
                    ", and the others were not looked at one by one)";
      report.skipped = report.size;
      report.good = true;
      return {};
    }
    if (report.skipped == report.size) {
      report.good = true;
      return {};
    }
    good = compare(0, at.size(), &report);
    if (!good.ok())
      return good.error();
    report.good = *good;
    return {};
  }

private:
  Result<double> take(const Tensor &values) {
    ++numPoints;
    return objective.evaluate(argument, values);
  }

  /// The slopes along the elements [begin, end) that are not singular.
  Result<Slopes> getSlopes(size_t begin, size_t end, double part,
                           double &length) {
    double estimates[2], alongs[2];
    Slopes slopes;
    for (int k = 0; k < 2; ++k) {
      double step = largest * part / (k + 1);
      Tensor plus = at, minus = at;
      double along = 0, square = 0;
      for (size_t n = begin; n < end; ++n) {
        if (singular[n])
          continue;
        plus.set(n, at.get(n) + step * sign(argument, n));
        minus.set(n, at.get(n) - step * sign(argument, n));
        // What is rounded on the way is the step that is taken.
        double taken = plus.get(n) - minus.get(n);
        along += taken * gradient.get(n);
        square += taken * taken;
      }
      Result<double> above = take(plus);
      if (!above.ok())
        return above.error();
      Result<double> below = take(minus);
      if (!below.ok())
        return below.error();
      estimates[k] = (*above - *below) / (2 * step);
      alongs[k] = along / (2 * step);
      length = std::sqrt(square) / (2 * step);
      slopes.above = (*above - center) / step;
      slopes.below = (center - *below) / step;
    }
    slopes.central = (4 * estimates[1] - estimates[0]) / 3;
    slopes.given = (4 * alongs[1] - alongs[0]) / 3;
    return slopes;
  }

  /// Whether the gradient agrees along the elements [begin, end) that are not
  /// singular; what is found goes to `found`, if there is one.
  Result<bool> compare(size_t begin, size_t end, GradientReport *found) {
    double norm = 0;
    size_t size = 0;
    for (size_t n = begin; n < end; ++n)
      if (!singular[n]) {
        ++size;
        if (std::isfinite(gradient.get(n)))
          norm += gradient.get(n) * gradient.get(n);
      }
    norm = std::sqrt(norm);
    limit = 0;
    slopes.clear();
    bool good = false;
    double best = 0;
    for (double part : kSteps) {
      double length = 0;
      Result<Slopes> taken = getSlopes(begin, end, part, length);
      if (!taken.ok())
        return taken.error();
      slopes.push_back(*taken);
      double error = std::fabs(taken->central - taken->given);
      limit = (sizeOf(gradient.type) == 2 ? kTolerance16 : kTolerance32) *
                  norm * length / std::sqrt(double(std::max<size_t>(1, size))) +
              1e-6;
      // A direction may be nearly orthogonal to the gradient: what counts is the
      // size that a product with a random direction has.
      if (std::isfinite(taken->central))
        limit = std::max(limit, kTolerance32 * std::fabs(taken->central));
      good = error <= limit;
      if (found && (slopes.size() == 1 || good || error < best ||
                    !std::isfinite(best))) {
        best = error;
        found->gradient = taken->given;
        found->difference = taken->central;
        found->error = error;
        found->limit = limit;
      }
      if (good)
        break;
    }
    return good;
  }

  /// Whether the slopes of the last comparison, of smaller and smaller steps, are
  /// those of a function without a derivative: its central differences do not
  /// come together, or those of its two sides do not. Among other elements by more
  /// than the limit, of one alone by a good part of what they are.
  bool isSingular(bool isAlone) const {
    for (const Slopes &taken : slopes)
      if (!std::isfinite(taken.above) || !std::isfinite(taken.below))
        return true;
    const Slopes &first = slopes[slopes.size() - 2], &last = slopes.back();
    auto staysApart = [&](double before, double after, double of) {
      return std::fabs(after) > 0.5 * std::fabs(before) &&
             std::fabs(after) >
                 std::max(limit, isAlone ? 0.05 * std::fabs(of) : 0.0);
    };
    return staysApart(first.above - first.below, last.above - last.below,
                      std::max(std::fabs(last.above), std::fabs(last.below))) ||
           staysApart(first.central - slopes.front().central,
                      last.central - first.central, last.central);
  }

  /// Marks the singular elements of [begin, end), along which the gradient does
  /// not agree: the slopes of the last comparison are theirs.
  Status find(size_t begin, size_t end) {
    bool isAlone = end - begin == 1;
    // A gradient of a smooth function is wrong, whichever elements it is of.
    if (!isSingular(isAlone))
      return {};
    if (isAlone) {
      singular[begin] = true;
      ++numSingular;
      return {};
    }
    size_t middle = begin + (end - begin) / 2;
    for (auto [from, to] : {std::pair(begin, middle), std::pair(middle, end)}) {
      if (numPoints > kMaxPoints || numSingular >= kMaxSingular) {
        isExhausted = numSingular > 0;
        return {};
      }
      Result<bool> good = compare(from, to, nullptr);
      if (!good.ok())
        return good.error();
      if (!*good)
        if (Status status = find(from, to); !status.ok())
          return status;
    }
    return {};
  }

  Objective &objective;
  size_t argument;
  const Tensor &gradient;
  const Tensor at;
  GradientReport &report;
  std::vector<bool> singular;
  double largest = 0, center = 0, limit = 0;
  std::vector<Slopes> slopes;
  int numPoints = 0;
  size_t numSingular = 0;
  bool isExhausted = false;
};

} // namespace

Status checkDifferences(Session &session, Report &report) {
  Result<std::unique_ptr<Program>> opened = session.openFunctionInF64();
  if (!opened.ok())
    return opened.error();
  Program &function = **opened;
  const EntryInfo &entry = *function.entry;
  size_t numInputs = entry.inputs.size(), numResults = entry.outputs.size();
  const std::vector<Tensor> &gradients = session.fused->execution->outputs();
  // The fused program's arguments: the function's, then cotangents; its
  // results: the function's, then gradients.
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < numInputs; ++i)
    inputs.push_back(convert(session.inputs()[i], entry.inputs[i].type));
  std::vector<const Tensor *> cotangents;
  size_t next = numInputs;
  for (size_t r = 0; r < numResults; ++r)
    cotangents.push_back(isFloat(entry.outputs[r].type)
                             ? &session.inputs()[next++]
                             : nullptr);
  if (next != session.inputs().size())
    return Failure{"--differences takes a function whose gradient has one "
                   "cotangent per float result and nothing else"};
  Objective objective(function, std::move(inputs), std::move(cotangents));

  const std::vector<int64_t> &constants = session.options().gradConstants;
  size_t gradient = numResults;
  bool any = false;
  for (size_t i = 0; i < numInputs; ++i) {
    if (!isFloat(session.inputs()[i].type) ||
        std::count(constants.begin(), constants.end(), int64_t(i)))
      continue;
    if (gradient >= gradients.size())
      return Failure{"the program has fewer gradients than the function has "
                     "differentiated arguments; give --grad-constants as it "
                     "was compiled with"};
    const Tensor &g = gradients[gradient++];
    GradientReport found;
    found.name = entry.inputs[i].name;
    found.type = describe(g.shape, g.type);
    ArgumentCheck check(objective, i, g, found);
    if (Status status = check.run(); !status.ok())
      return status;
    any |= found.skipped < found.size;
    report.good = report.good && found.good;
    report.gradients.push_back(std::move(found));
  }
  report.checked |= any;
  report.good = report.good && any;
  return {};
}

} // namespace mlir::coda::runtime
