//===- Differences.cpp - gradients against finite differences -------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mlir::coda::runtime {

namespace {

/// The step along a direction of entries +-1, as a part of the largest value.
/// Two steps, h and h/2, are extrapolated, which leaves an error of h^4.
constexpr double kStep = 1.0 / 32;
/// What may differ, as a part of |gradient| |direction|: the reference's results
/// are rounded to f32, a 16-bit gradient to 16 bit.
constexpr double kTolerance32 = 2e-3, kTolerance16 = 2e-2;

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

} // namespace

Status checkDifferences(Session &session) {
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

  // sum of <cotangent, result> at the inputs as they are now.
  auto evaluate = [&]() -> Result<double> {
    Result<std::unique_ptr<Execution>> execution = Execution::create(
        function.artifact, entry, *function.device, inputs);
    if (!execution.ok())
      return execution.error();
    if (Status status = (*execution)->runFirst(); !status.ok())
      return status.error();
    double sum = 0;
    for (size_t r = 0; r < numResults; ++r)
      if (cotangents[r])
        sum += dot(*cotangents[r], (*execution)->outputs()[r]);
    return sum;
  };

  const std::vector<int64_t> &constants = session.options().gradConstants;
  size_t gradient = numResults;
  std::string worst;
  std::printf("%-28s %14s %14s %10s\n", "gradient against differences",
              "gradient", "differences", "error");
  for (size_t i = 0; i < numInputs; ++i) {
    if (!isFloat(session.inputs()[i].type) ||
        std::count(constants.begin(), constants.end(), int64_t(i)))
      continue;
    if (gradient >= gradients.size())
      return Failure{"the program has fewer gradients than the function has "
                     "differentiated arguments; give --grad-constants as it "
                     "was compiled with"};
    const Tensor &g = gradients[gradient++];
    Tensor at = inputs[i];
    double largest = 0, norm = 0;
    for (size_t n = 0; n < at.size(); ++n)
      largest = std::max(largest, std::fabs(at.get(n)));
    for (size_t n = 0; n < g.size(); ++n)
      norm += g.get(n) * g.get(n);
    norm = std::sqrt(norm);
    double estimates[2], alongs[2], length = 0;
    for (int k = 0; k < 2; ++k) {
      double step = (largest > 0 ? largest : 1) * kStep / (k + 1);
      Tensor plus = at, minus = at;
      double along = 0, square = 0;
      for (size_t n = 0; n < at.size(); ++n) {
        plus.set(n, at.get(n) + step * sign(i, n));
        minus.set(n, at.get(n) - step * sign(i, n));
        // What is rounded on the way is the step that is taken.
        double taken = plus.get(n) - minus.get(n);
        along += taken * g.get(n);
        square += taken * taken;
      }
      inputs[i] = plus;
      Result<double> above = evaluate();
      if (!above.ok())
        return above.error();
      inputs[i] = minus;
      Result<double> below = evaluate();
      if (!below.ok())
        return below.error();
      inputs[i] = at;
      double scale = 2 * step;
      estimates[k] = (*above - *below) / scale;
      alongs[k] = along / scale;
      length = std::sqrt(square) / scale;
    }
    double difference = (4 * estimates[1] - estimates[0]) / 3;
    double given = (4 * alongs[1] - alongs[0]) / 3;
    double error = std::fabs(difference - given);
    double limit =
        (sizeOf(g.type) == 2 ? kTolerance16 : kTolerance32) * norm * length /
            std::sqrt(double(std::max<size_t>(1, g.size()))) +
        1e-6;
    // A direction may be nearly orthogonal to the gradient: what counts is the
    // size that a product with a random direction has.
    limit = std::max(limit, kTolerance32 * std::fabs(difference));
    std::printf("%-28s %14.6g %14.6g %10.2e\n", entry.inputs[i].name.c_str(),
                given, difference, error);
    if (worst.empty() && !(error <= limit))
      worst = "the gradient of argument " + std::to_string(i) + " ('" +
              entry.inputs[i].name + "') of '" + session.options().input +
              "' is not that of the function: " + std::to_string(given) +
              " along a direction, differences give " +
              std::to_string(difference) + " (limit of the error " +
              std::to_string(limit) + ")";
  }
  if (!worst.empty())
    return Failure{worst, ExitCheckFailed};
  return {};
}

} // namespace mlir::coda::runtime
