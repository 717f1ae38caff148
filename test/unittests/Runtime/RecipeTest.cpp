//===- RecipeTest.cpp - Values made from recipes --------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/every_kind.npz holds what the Python code that made the goldens of
// the graphs gives for Inputs/every_kind.json: goldens are only worth something
// if the inputs have the same bits.
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Recipe.h"
#include "coda/Runtime/Npz.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

using namespace mlir::coda::runtime;

namespace {

const std::string kInputs = CODA_TEST_INPUTS;

/// Writes `text` to a file of its own and gives its path.
std::string writeFile(const std::string &name, const std::string &text) {
  std::string path = testing::TempDir() + "coda_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// The message with which reading a recipe of this text fails.
std::string readError(const std::string &text) {
  Result<Recipe> recipe = readRecipe(writeFile("recipe.json", text));
  return recipe.ok() ? "no error" : recipe.error().message;
}

std::string withArgument(const std::string &argument) {
  return readError("{\"seed\": 1, \"args\": [{" + argument + "}]}");
}

TEST(Recipe, EveryKindHasTheBitsOfNumPy) {
  Result<Recipe> recipe = readRecipe(kInputs + "/every_kind.json");
  ASSERT_TRUE(recipe.ok()) << recipe.error().message;
  Result<NamedTensors> expected = readNpz(kInputs + "/every_kind.npz");
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  ASSERT_EQ(recipe->arguments.size(), expected->size());
  for (size_t i = 0; i < recipe->arguments.size(); ++i) {
    const ArgumentSpec &spec = recipe->arguments[i];
    Result<Tensor> tensor = materialise(spec, recipe->seed, i);
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    const Tensor &golden = expected->at("arg" + std::to_string(i));
    EXPECT_EQ(tensor->type, spec.type);
    EXPECT_EQ(tensor->shape, golden.shape);
    ASSERT_EQ(tensor->bytes.size(), golden.bytes.size());
    size_t element = sizeOf(spec.type), wrong = 0;
    for (size_t n = 0; n < tensor->size(); ++n)
      wrong += std::memcmp(tensor->bytes.data() + n * element,
                           golden.bytes.data() + n * element, element) != 0;
    EXPECT_EQ(wrong, 0u) << "argument " << i << " of " << tensor->size();
  }
}

TEST(Recipe, Splitmix64) {
  // The first outputs of the reference generator started at 1234567.
  EXPECT_EQ(splitmix64(1234567), 6457827717110365317u);
  EXPECT_EQ(splitmix64(1234567 + 0x9E3779B97F4A7C15u), 3203168211198807973u);
}

TEST(Recipe, Fields) {
  Result<Recipe> recipe = readRecipe(writeFile(
      "fields.json",
      R"({"seed": 7, "dtype": "bf16", "tolerance": 0.1, "outputs": ["loss"],
          "args": [{"name": "t", "kind": "result_of", "graph": "g",
                    "result": 2, "shape": [4], "dtype": "f32"}]})"));
  ASSERT_TRUE(recipe.ok()) << recipe.error().message;
  EXPECT_EQ(recipe->seed, 7u);
  EXPECT_EQ(recipe->dtype, "bf16");
  EXPECT_EQ(recipe->tolerance, 0.1);
  EXPECT_EQ(recipe->outputs, std::vector<std::string>{"loss"});
  EXPECT_EQ(recipe->arguments[0].graph, "g");
  EXPECT_EQ(recipe->arguments[0].result, 2);
  EXPECT_FALSE(materialise(recipe->arguments[0], 7, 0).ok());
}

TEST(Recipe, Malformed) {
  EXPECT_NE(readRecipe("/nonexistent.json")
                .error()
                .message.find("cannot read '/nonexistent.json'"),
            std::string::npos);
  EXPECT_NE(readError("{\n\"seed\": 1,\n}").find(":3: not valid JSON"),
            std::string::npos);
  EXPECT_NE(readError("[]").find("a recipe is a JSON object"),
            std::string::npos);
  EXPECT_NE(readError("{\"args\": []}").find("'seed' is missing"),
            std::string::npos);
  EXPECT_NE(readError("{\"seed\": \"1\", \"args\": []}")
                .find("'seed' is not an integer"),
            std::string::npos);
  EXPECT_NE(readError("{\"seed\": 1}").find("'args' is missing"),
            std::string::npos);
  EXPECT_NE(readError("{\"seed\": 1, \"args\": [3]}")
                .find("args[0] is not an object"),
            std::string::npos);
  EXPECT_NE(withArgument(R"("kind": "gauss", "shape": [2], "dtype": "f32")")
                .find("args[0]: unknown kind 'gauss'"),
            std::string::npos);
  EXPECT_NE(withArgument(R"("kind": "iota", "shape": [2], "dtype": "f8")")
                .find("unknown element type 'f8'"),
            std::string::npos);
  EXPECT_NE(withArgument(R"("kind": "uniform", "shape": [2], "dtype": "f32")")
                .find("'scale' is missing"),
            std::string::npos);
  EXPECT_NE(withArgument(R"("kind": "iota", "shape": [-2], "dtype": "i64")")
                .find("'shape' is not an array of integers that are not"),
            std::string::npos);
  EXPECT_NE(
      withArgument(
          R"("kind": "iota", "shape": [4000000000, 4000000000], "dtype": "i64")")
          .find("does not fit into the memory"),
      std::string::npos);
  EXPECT_NE(
      withArgument(
          R"("kind": "randint", "lo": 3, "hi": 3, "shape": [2], "dtype": "i64")")
          .find("'hi' is not greater than 'lo'"),
      std::string::npos);
  EXPECT_NE(
      withArgument(
          R"("kind": "causal_mask", "value": -1, "shape": [2, 3], "dtype": "f32")")
          .find("'shape' is not square"),
      std::string::npos);
  EXPECT_NE(
      withArgument(
          R"("kind": "rope_cos", "theta": 1e4, "layout": "x", "shape": [2, 4], "dtype": "f32")")
          .find("'layout' is not 'half', 'interleaved' or 'single'"),
      std::string::npos);
}

TEST(Recipe, SeededValuesHaveSensibleScales) {
  Tensor weight = seededValues({64, 256}, DType::F32, 5, 1);
  double squares = 0;
  for (size_t i = 0; i < weight.size(); ++i)
    squares += weight.get(i) * weight.get(i);
  EXPECT_NEAR(squares / weight.size() * 256, 1.0, 0.05);
  Tensor norm = seededValues({256}, DType::BF16, 5, 2);
  for (size_t i = 0; i < norm.size(); ++i)
    EXPECT_NEAR(norm.get(i), 1.0, 0.2501);
  Tensor labels = seededValues({8, 8}, DType::I64, 5, 3);
  for (size_t i = 0; i < labels.size(); ++i)
    EXPECT_TRUE(labels.get(i) == 0 || labels.get(i) == 1);
  // In the range that is asked for, as far as the type goes, and all over it.
  for (auto [type, last] : {std::pair(DType::I64, 999.0), std::pair(DType::I32, 999.0),
        std::pair(DType::I8, 127.0), std::pair(DType::Bool, 1.0)}) {
    Tensor tokens = seededValues({64, 64}, type, 5, 3, 1000);
    double least = last, most = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      least = std::min(least, tokens.get(i));
      most = std::max(most, tokens.get(i));
      EXPECT_EQ(tokens.get(i), std::floor(tokens.get(i)));
    }
    EXPECT_GE(least, 0);
    EXPECT_LE(least, 0.01 * last);
    EXPECT_LE(most, last);
    EXPECT_GE(most, 0.99 * last);
  }
}

} // namespace
