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
constexpr double kSteps[] = {1.0 / 32, 1.0 / 256, 1.0 / 2048, 1.0 / 16384};
/// Roundings of the elements of a gradient, and of what it is computed of, are as
/// good as independent: along a direction they add up as a random walk. So many
/// units of roundoff are allowed of its length, and one unit of the gradient along
/// the direction, for a rounding that all elements share.
constexpr double kIndependent = 4, kShared = 1;
/// What f64 leaves of differences, as a part of what they are taken of.
constexpr double kEvaluation = 1e-13;
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

/// The unit of roundoff of a program whose coarsest floats are of `type`. In f32,
/// sums of thousands of terms and approximate functions are off by many units of
/// the type itself; in f64, it is the differences that are no better.
double roundoffOf(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x1p-8;
  case DType::F16:
    return 0x1p-11;
  case DType::F64:
    return 1e-7;
  default:
    return 1e-5;
  }
}

/// Below this, floats of `type` are rounded to multiples of it.
double smallestOf(DType type) {
  return type == DType::F16 ? 0x1p-24 : 0x1p-126;
}

/// That type of `entry`, or `within`, of which the floats are coarsest.
DType coarsestFloat(const EntryInfo &entry, std::optional<DType> within) {
  DType coarsest = within.value_or(DType::F64);
  for (const auto *list : {&entry.inputs, &entry.outputs})
    for (const ArgumentInfo &info : *list)
      if (isFloat(info.type) && roundoffOf(info.type) > roundoffOf(coarsest))
        coarsest = info.type;
  return coarsest;
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
  /// The sum of |cotangent| |result| at the last evaluation.
  double getMagnitude() const { return magnitude; }
  /// With `values` in place of input i.
  Result<double> evaluate(size_t i, Tensor values) {
    std::swap(inputs[i], values);
    Result<double> result = evaluate();
    std::swap(inputs[i], values);
    return result;
  }

private:
  Result<double> evaluate() {
    magnitude = 0;
    Result<std::unique_ptr<Execution>> execution = Execution::create(
        function.artifact, *function.entry, *function.device, inputs);
    if (!execution.ok())
      return execution.error();
    if (Status status = (*execution)->runFirst(); !status.ok())
      return status.error();
    double sum = 0;
    for (size_t r = 0; r < cotangents.size(); ++r) {
      if (!cotangents[r])
        continue;
      const Tensor &output = (*execution)->outputs()[r];
      for (size_t i = 0; i < output.size(); ++i) {
        double term = cotangents[r]->get(i) * output.get(i);
        sum += term;
        magnitude += std::fabs(term);
      }
    }
    return sum;
  }

  Program &function;
  std::vector<Tensor> inputs;
  std::vector<const Tensor *> cotangents;
  double magnitude = 0;
};

/// Slopes of the function along a direction, by differences of one step.
struct Slopes {
  double above = 0, below = 0; ///< of one side, by h/2
  double central = 0;          ///< extrapolated
  double given = 0;            ///< what the gradient says
  double limit = 0;            ///< how far apart the last two may be
};

/// Compares the gradient of one argument.
class ArgumentCheck {
public:
  ArgumentCheck(Objective &objective, size_t argument, const Tensor &gradient,
                DType coarsest, GradientReport &report)
      : objective(objective), argument(argument), gradient(gradient),
        coarsest(coarsest), at(objective.input(argument)), report(report),
        direction(at.size()), singular(at.size(), false) {
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
    magnitude = objective.getMagnitude();
    // Along a random direction, which an error of any form has a part of; then
    // along the gradient's own signs, where roundings add up to next to nothing
    // beside it, so that a factor that is off by little is seen.
    for (bool ownSigns : {false, true}) {
      for (size_t n = 0; n < at.size(); ++n)
        direction[n] = !ownSigns || gradient.get(n) == 0 ? sign(argument, n)
                       : gradient.get(n) > 0             ? 1
                                                         : -1;
      if (Status status = check(); !status.ok())
        return status;
      if (!report.good || report.skipped == report.size)
        break;
    }
    return {};
  }

private:
  /// Compares along the direction.
  Status check() {
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

  Result<double> take(const Tensor &values) {
    ++numPoints;
    return objective.evaluate(argument, values);
  }

  /// The slopes along the elements [begin, end) that are not singular.
  Result<Slopes> getSlopes(size_t begin, size_t end, double part) {
    double estimates[2], alongs[2], square = 0, length = 0, step = 0;
    Slopes slopes;
    for (int k = 0; k < 2; ++k) {
      step = largest * part / (k + 1);
      Tensor plus = at, minus = at;
      double along = 0;
      square = length = 0;
      for (size_t n = begin; n < end; ++n) {
        if (singular[n])
          continue;
        plus.set(n, at.get(n) + step * direction[n]);
        minus.set(n, at.get(n) - step * direction[n]);
        // What is rounded on the way is the step that is taken.
        double taken = (plus.get(n) - minus.get(n)) / (2 * step);
        double term = taken * gradient.get(n);
        along += term;
        length += taken * taken;
        if (std::isfinite(term))
          square += term * term;
      }
      Result<double> above = take(plus);
      if (!above.ok())
        return above.error();
      Result<double> below = take(minus);
      if (!below.ok())
        return below.error();
      estimates[k] = (*above - *below) / (2 * step);
      alongs[k] = along;
      slopes.above = (*above - center) / step;
      slopes.below = (center - *below) / step;
    }
    slopes.central = (4 * estimates[1] - estimates[0]) / 3;
    slopes.given = (4 * alongs[1] - alongs[0]) / 3;
    double unit = roundoffOf(coarsest);
    slopes.limit = kIndependent * (unit * std::sqrt(square) +
                                   smallestOf(coarsest) * std::sqrt(length)) +
                   kEvaluation * magnitude / step;
    if (std::isfinite(slopes.central))
      slopes.limit += kShared * unit * std::fabs(slopes.central);
    return slopes;
  }

  /// Whether the gradient agrees along the elements [begin, end) that are not
  /// singular; what is found goes to `found`, if there is one.
  Result<bool> compare(size_t begin, size_t end, GradientReport *found) {
    slopes.clear();
    bool good = false;
    double best = 0;
    for (double part : kSteps) {
      Result<Slopes> taken = getSlopes(begin, end, part);
      if (!taken.ok())
        return taken.error();
      slopes.push_back(*taken);
      double error = std::fabs(taken->central - taken->given);
      limit = taken->limit;
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
  DType coarsest;
  const Tensor at;
  GradientReport &report;
  std::vector<double> direction; ///< +1 or -1
  std::vector<bool> singular;
  double largest = 0, center = 0, magnitude = 0, limit = 0;
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
  DType coarsest = coarsestFloat(*session.fused->entry, session.narrowest());
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
    ArgumentCheck check(objective, i, g, coarsest, found);
    if (Status status = check.run(); !status.ok())
      return status;
    any |= found.isCompared();
    report.good = report.good && found.good;
    report.gradients.push_back(std::move(found));
  }
  report.checked |= any;
  report.good = report.good && any;
  return {};
}

} // namespace mlir::coda::runtime
