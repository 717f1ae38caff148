//===- Recipe.h - how the arguments of a graph are made --------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recipe is a JSON file that says for each argument of a graph its name,
// shape, element type and how its values are made, so that a graph needs no
// stored inputs. The values are the same, bit by bit, on every machine: floats
// come from a counter hash, element n (row-major) of argument i of a graph with
// seed s from splitmix64((s << 48) + (i << 40) + n).
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_RECIPE_H
#define CODA_RUNTIME_RECIPE_H

#include "coda/Runtime/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// The next value of the splitmix64 generator whose state is `state`.
uint64_t splitmix64(uint64_t state);

/// How the values of an argument are made.
enum class ArgumentKind {
  Uniform,    ///< f32(u * scale + offset), u in [-1, 1) with 24 bits
  RandInt,    ///< lo + hash % (hi - lo); every ignoreEvery-th is ignoreValue
  Iota,       ///< the index along the last dimension
  RopeCos,    ///< cos(t * theta^(-2i/D)), shape [..., T, D]
  RopeSin,    ///< sin of the same
  InvFreq,    ///< theta^(-i/n), n the last extent
  CausalMask, ///< [..., T, T]: 0 on and below the diagonal, value above
  ResultOf    ///< result `result` of the graph `graph` beside the recipe
};

/// One argument. Only the fields of its kind have a meaning.
struct ArgumentSpec {
  std::string name;
  ArgumentKind kind = ArgumentKind::Uniform;
  std::vector<int64_t> shape;
  DType type = DType::F32;
  float scale = 1, offset = 0;
  int64_t lo = 0, hi = 1, ignoreEvery = 0, ignoreValue = 0;
  double theta = 10000;
  std::string layout; ///< "half", "interleaved" or "single"
  double value = 0;
  std::string graph;
  int64_t result = 0;
  /// Replaces the argument's index in the hash.
  std::optional<uint64_t> hashIndex;
};

struct Recipe {
  std::string path;
  uint64_t seed = 0;
  /// "f32", "bf16", "f16": the type in which the graph computes.
  std::string dtype;
  std::vector<ArgumentSpec> arguments;
  /// What each output is, in words.
  std::vector<std::string> outputs;
  /// Replaces the limits of the error rule (see ErrorRule.h).
  std::optional<double> tolerance;
};

/// Reads and checks a recipe. The text of a failure names file and argument.
Result<Recipe> readRecipe(const std::string &path);

/// The values of an argument of any kind but ResultOf, in its element type.
/// `index` is its position in the recipe.
Result<Tensor> materialise(const ArgumentSpec &spec, uint64_t seed,
                           uint64_t index);

/// Values for an argument of which only shape and type are known. Floats are
/// uniform and O(1) after a layer: variance 1 for rank 3 and more (activations)
/// and rank 0, 1 +- 0.25 for rank 1 (norm weights), variance 1/K for rank 2
/// (weights, K the last extent); variance 1 for all 8-bit floats, which have their
/// scales beside them. Integers are in [0, integers), as far as their type goes;
/// booleans are 0 or 1.
Tensor seededValues(const std::vector<int64_t> &shape, DType type,
                    uint64_t seed, uint64_t index, int64_t integers = 2);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_RECIPE_H
