//===- Recipe.cpp - how the arguments of a graph are made -----------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with -ffp-contract=off: u * scale + offset rounds twice, as NumPy
// does it.
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Recipe.h"

#include "coda/Runtime/Files.h"

// Errors are checked before each access; nothing here throws.
#define JSON_NOEXCEPTION 1
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace mlir::coda::runtime {

namespace {

using Json = nlohmann::json;

/// Finds where a JSON text is wrong; builds nothing.
struct ParseErrorFinder : nlohmann::json_sax<Json> {
  size_t position = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string &,
                   const nlohmann::detail::exception &) override {
    position = at;
    return false;
  }
};

struct KindFacts {
  const char *name;
  ArgumentKind kind;
  size_t minRank;
};
constexpr KindFacts kKinds[] = {
    {"uniform", ArgumentKind::Uniform, 0},
    {"randint", ArgumentKind::RandInt, 0},
    {"iota", ArgumentKind::Iota, 1},
    {"rope_cos", ArgumentKind::RopeCos, 2},
    {"rope_sin", ArgumentKind::RopeSin, 2},
    {"inv_freq", ArgumentKind::InvFreq, 1},
    {"causal_mask", ArgumentKind::CausalMask, 2},
    {"result_of", ArgumentKind::ResultOf, 0},
};

/// Reads the fields of one JSON object and remembers the first that is missing
/// or of the wrong type.
class Fields {
public:
  Fields(const Json &object, std::string where)
      : object(object), where(std::move(where)) {}

  void text(const char *key, std::string &value, bool required = true) {
    if (const Json *field = find(key, required)) {
      if (!field->is_string())
        return complain(key, "a string");
      value = field->get<std::string>();
    }
  }
  void integer(const char *key, int64_t &value, bool required = true) {
    if (const Json *field = find(key, required)) {
      if (!field->is_number_integer())
        return complain(key, "an integer");
      value = field->get<int64_t>();
    }
  }
  void number(const char *key, double &value, bool required = true) {
    if (const Json *field = find(key, required)) {
      if (!field->is_number())
        return complain(key, "a number");
      value = field->get<double>();
    }
  }
  void shape(const char *key, std::vector<int64_t> &value) {
    const Json *field = find(key, true);
    if (!field)
      return;
    if (!field->is_array())
      return complain(key, "an array of integers");
    for (const Json &extent : *field) {
      if (!extent.is_number_integer() || extent.get<int64_t>() < 0)
        return complain(key, "an array of integers that are not negative");
      value.push_back(extent.get<int64_t>());
    }
  }
  const Json *find(const char *key, bool required) {
    auto field = object.find(key);
    if (field != object.end() && !field->is_null())
      return &*field;
    if (required && problem.empty())
      problem = where + ": '" + key + "' is missing";
    return nullptr;
  }
  void complain(const std::string &key, const std::string &expected) {
    if (problem.empty())
      problem = where + ": '" + key + "' is not " + expected;
  }
  Status status() const {
    return problem.empty() ? Status() : Status(Failure{problem});
  }

private:
  const Json &object;
  std::string where;
  std::string problem;
};

Result<ArgumentSpec> readArgument(const Json &object,
                                  const std::string &where) {
  if (!object.is_object())
    return Failure{where + " is not an object"};
  ArgumentSpec spec;
  Fields fields(object, where);
  std::string kind, dtype;
  fields.text("name", spec.name, /*required=*/false);
  fields.text("kind", kind);
  fields.text("dtype", dtype);
  fields.shape("shape", spec.shape);
  if (!fields.status().ok())
    return fields.status().error();

  const KindFacts *facts = nullptr;
  for (const KindFacts &candidate : kKinds)
    if (kind == candidate.name)
      facts = &candidate;
  if (!facts)
    return Failure{where + ": unknown kind '" + kind +
                   "'; use uniform, randint, iota, rope_cos, rope_sin, "
                   "inv_freq, causal_mask or result_of"};
  spec.kind = facts->kind;
  Result<DType> type = parseDType(dtype);
  if (!type.ok())
    return Failure{where + ": " + type.error().message};
  spec.type = *type;
  if (spec.shape.size() < facts->minRank)
    return Failure{where + ": kind '" + kind + "' needs a shape of rank " +
                   std::to_string(facts->minRank) + " or more"};
  Result<size_t> count = countElements(spec.shape, spec.type);
  if (!count.ok())
    return Failure{where + ": " + count.error().message};

  double scale = 1, offset = 0;
  int64_t hashIndex = -1;
  fields.integer("hash_index", hashIndex, /*required=*/false);
  if (hashIndex >= 0)
    spec.hashIndex = static_cast<uint64_t>(hashIndex);
  switch (spec.kind) {
  case ArgumentKind::Uniform:
    fields.number("scale", scale);
    fields.number("offset", offset);
    spec.scale = static_cast<float>(scale);
    spec.offset = static_cast<float>(offset);
    break;
  case ArgumentKind::RandInt:
    fields.integer("lo", spec.lo);
    fields.integer("hi", spec.hi);
    fields.integer("ignore_every", spec.ignoreEvery, /*required=*/false);
    if (spec.ignoreEvery)
      fields.integer("ignore_value", spec.ignoreValue);
    if (spec.hi <= spec.lo)
      fields.complain("hi", "greater than 'lo'");
    if (spec.ignoreEvery < 0)
      fields.complain("ignore_every", "a positive integer");
    break;
  case ArgumentKind::RopeCos:
  case ArgumentKind::RopeSin:
    fields.number("theta", spec.theta);
    fields.text("layout", spec.layout);
    if (spec.layout != "half" && spec.layout != "interleaved" &&
        spec.layout != "single")
      fields.complain("layout", "'half', 'interleaved' or 'single'");
    if (spec.layout != "single" && spec.shape.back() % 2)
      fields.complain("shape", "of an even last extent");
    break;
  case ArgumentKind::InvFreq:
    fields.number("theta", spec.theta);
    break;
  case ArgumentKind::CausalMask:
    fields.number("value", spec.value);
    if (spec.shape[spec.shape.size() - 2] != spec.shape.back())
      fields.complain("shape", "square in its last two extents");
    break;
  case ArgumentKind::ResultOf:
    fields.text("graph", spec.graph);
    fields.integer("result", spec.result);
    if (spec.result < 0)
      fields.complain("result", "the index of an output");
    break;
  case ArgumentKind::Iota:
    break;
  }
  if (!fields.status().ok())
    return fields.status().error();
  return spec;
}

/// The hash of element 0; element n adds n.
uint64_t hashBase(uint64_t seed, uint64_t index) {
  return (seed << 48) + (index << 40);
}

/// u * scale + offset, u in [-1, 1), for each element.
void fillUniform(Tensor &tensor, uint64_t seed, uint64_t index, float scale,
                 float offset) {
  uint64_t base = hashBase(seed, index);
  for (size_t n = 0, size = tensor.size(); n < size; ++n) {
    float fraction = static_cast<float>(splitmix64(base + n) >> 40) * 0x1p-24f;
    float u = fraction * 2.0f - 1.0f;
    tensor.set(n, static_cast<double>(u * scale + offset));
  }
}

/// Fills every [rows, cols] slice of the last two dimensions with the same
/// values f(row, col).
template <typename F> void fillSlices(Tensor &tensor, F &&valueOf) {
  size_t rank = tensor.shape.size(), size = tensor.size();
  int64_t rows = tensor.shape[rank - 2], cols = tensor.shape[rank - 1];
  size_t slice = static_cast<size_t>(rows * cols);
  size_t element = sizeOf(tensor.type);
  if (!size)
    return;
  size_t n = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col)
      tensor.set(n++, static_cast<double>(valueOf(row, col)));
  for (; n < size; n += slice)
    std::copy_n(tensor.bytes.data(), slice * element,
                tensor.bytes.data() + n * element);
}

} // namespace

uint64_t splitmix64(uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

Result<Recipe> readRecipe(const std::string &path) {
  if (Status status = checkReadable(path); !status.ok())
    return status.error();
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    ParseErrorFinder finder;
    Json::sax_parse(text, &finder);
    size_t at = std::min(finder.position, text.size());
    auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
    return Failure{path + ":" + std::to_string(line) +
                   ": not valid JSON; a recipe is a JSON object (see "
                   "docs/Runner.md)"};
  }
  if (!json.is_object())
    return Failure{path + ": a recipe is a JSON object"};

  Recipe recipe;
  recipe.path = path;
  Fields fields(json, path);
  int64_t seed = 0;
  double tolerance = 0;
  fields.integer("seed", seed);
  fields.text("dtype", recipe.dtype, /*required=*/false);
  if (fields.find("tolerance", false)) {
    fields.number("tolerance", tolerance);
    recipe.tolerance = tolerance;
  }
  const Json *arguments = fields.find("args", true);
  if (arguments && !arguments->is_array())
    fields.complain("args", "an array");
  const Json *outputs = fields.find("outputs", false);
  if (outputs && !outputs->is_array())
    fields.complain("outputs", "an array");
  if (!fields.status().ok())
    return fields.status().error();
  recipe.seed = static_cast<uint64_t>(seed);
  if (outputs)
    for (const Json &output : *outputs)
      recipe.outputs.push_back(output.is_string() ? output.get<std::string>()
                                                  : output.dump());
  for (const Json &argument : *arguments) {
    std::string where =
        path + ": args[" + std::to_string(recipe.arguments.size()) + "]";
    Result<ArgumentSpec> spec = readArgument(argument, where);
    if (!spec.ok())
      return spec.error();
    recipe.arguments.push_back(std::move(*spec));
  }
  return recipe;
}

Result<Tensor> materialise(const ArgumentSpec &spec, uint64_t seed,
                           uint64_t index) {
  index = spec.hashIndex.value_or(index);
  Tensor tensor(spec.type, spec.shape);
  size_t size = tensor.size();
  switch (spec.kind) {
  case ArgumentKind::Uniform:
    fillUniform(tensor, seed, index, spec.scale, spec.offset);
    return tensor;
  case ArgumentKind::RandInt: {
    uint64_t base = hashBase(seed, index);
    uint64_t range =
        static_cast<uint64_t>(spec.hi) - static_cast<uint64_t>(spec.lo);
    for (size_t n = 0; n < size; ++n) {
      int64_t value =
          static_cast<int64_t>(splitmix64(base + n) % range) + spec.lo;
      if (spec.ignoreEvery && n % static_cast<size_t>(spec.ignoreEvery) == 0)
        value = spec.ignoreValue;
      tensor.set(n, static_cast<double>(value));
    }
    return tensor;
  }
  case ArgumentKind::Iota:
    for (size_t n = 0; n < size; ++n)
      tensor.set(
          n, static_cast<double>(n % static_cast<size_t>(spec.shape.back())));
    return tensor;
  case ArgumentKind::RopeCos:
  case ArgumentKind::RopeSin: {
    // The frequencies and angles are f64; the value is rounded to f32 first
    // and then to the element type.
    int64_t width = spec.shape.back();
    int64_t count = spec.layout == "single" ? width : width / 2;
    std::vector<double> frequency(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      frequency[i] = std::pow(spec.theta, -static_cast<double>(i) /
                                              static_cast<double>(count));
    bool interleaved = spec.layout == "interleaved";
    bool cosine = spec.kind == ArgumentKind::RopeCos;
    fillSlices(tensor, [&](int64_t row, int64_t col) {
      double angle = static_cast<double>(row) *
                     frequency[interleaved ? col / 2 : col % count];
      return static_cast<float>(cosine ? std::cos(angle) : std::sin(angle));
    });
    return tensor;
  }
  case ArgumentKind::InvFreq: {
    int64_t count = spec.shape.back();
    for (size_t n = 0; n < size; ++n) {
      double i = static_cast<double>(n % static_cast<size_t>(count));
      tensor.set(n, static_cast<float>(
                        std::pow(spec.theta, -i / static_cast<double>(count))));
    }
    return tensor;
  }
  case ArgumentKind::CausalMask:
    fillSlices(tensor, [&](int64_t row, int64_t col) {
      return row >= col ? 0.0f : static_cast<float>(spec.value);
    });
    return tensor;
  case ArgumentKind::ResultOf:
    break;
  }
  return Failure{"argument '" + spec.name + "' is a result of the graph '" +
                 spec.graph + "', which has to be run"};
}

Tensor seededValues(const std::vector<int64_t> &shape, DType type,
                    uint64_t seed, uint64_t index, int64_t integers) {
  Tensor tensor(type, shape);
  if (!isFloat(type)) {
    int64_t limit = type == DType::Bool  ? 2
                    : type == DType::I8  ? int64_t(1) << 7
                    : type == DType::I16 ? int64_t(1) << 15
                                         : int64_t(1) << 31;
    double count = static_cast<double>(
        type == DType::Bool ? limit : std::clamp<int64_t>(integers, 1, limit));
    uint64_t base = hashBase(seed, index);
    // The upper bits are the better ones.
    for (size_t n = 0, size = tensor.size(); n < size; ++n)
      tensor.set(n, std::floor(static_cast<double>(splitmix64(base + n) >> 11) *
                               0x1p-53 * count));
    return tensor;
  }
  const float unit = std::sqrt(3.0f);
  if (shape.size() == 1 && !isFloat8(type))
    fillUniform(tensor, seed, index, 0.25f, 1.0f);
  else if (shape.size() == 2 && shape[1] > 0 && !isFloat8(type))
    fillUniform(tensor, seed, index,
                unit / std::sqrt(static_cast<float>(shape[1])), 0.0f);
  else
    fillUniform(tensor, seed, index, unit, 0.0f);
  return tensor;
}

} // namespace mlir::coda::runtime
