//===- Tensor.cpp - dense host arrays of the runner -----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Tensor.h"

#include <cmath>
#include <cstring>
#include <new>
#include <unistd.h>

namespace mlir::coda::runtime {

namespace {

struct TypeFacts {
  DType type;
  const char *name;
  DLDataType dlpack;
};

constexpr TypeFacts kTypes[] = {
    {DType::F64, "f64", {kDLFloat, 64, 1}},
    {DType::F32, "f32", {kDLFloat, 32, 1}},
    {DType::F16, "f16", {kDLFloat, 16, 1}},
    {DType::BF16, "bf16", {kDLBfloat, 16, 1}},
    {DType::F8E4M3FN, "f8E4M3FN", {kDLFloat8_e4m3fn, 8, 1}},
    {DType::F8E5M2, "f8E5M2", {kDLFloat8_e5m2, 8, 1}},
    {DType::I64, "i64", {kDLInt, 64, 1}},
    {DType::I32, "i32", {kDLInt, 32, 1}},
    {DType::I16, "i16", {kDLInt, 16, 1}},
    {DType::I8, "i8", {kDLInt, 8, 1}},
    {DType::Bool, "i1", {kDLBool, 8, 1}},
};

const TypeFacts &factsOf(DType type) {
  return kTypes[static_cast<size_t>(type)];
}

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

} // namespace

size_t sizeOf(DType type) { return factsOf(type).dlpack.bits / 8; }

bool isFloat(DType type) {
  uint8_t code = factsOf(type).dlpack.code;
  return code == kDLFloat || code == kDLBfloat || isFloat8(type);
}

bool isFloat8(DType type) {
  return type == DType::F8E4M3FN || type == DType::F8E5M2;
}

const char *nameOf(DType type) { return factsOf(type).name; }

Result<DType> parseDType(const std::string &name) {
  for (const TypeFacts &facts : kTypes)
    if (name == facts.name)
      return facts.type;
  return Failure{"unknown element type '" + name +
                 "'; use f64, f32, f16, bf16, f8E4M3FN, "
                 "f8E5M2, i64, i32, i16, i8 or i1"};
}

Result<DType> fromDLPack(DLDataType type) {
  if (type.lanes == 1)
    for (const TypeFacts &facts : kTypes)
      if (facts.dlpack.code == type.code && facts.dlpack.bits == type.bits)
        return facts.type;
  return Failure{"element type with DLPack code " + std::to_string(type.code) +
                 ", " + std::to_string(type.bits) + " bits and " +
                 std::to_string(type.lanes) + " lanes is not supported"};
}

DLDataType toDLPack(DType type) { return factsOf(type).dlpack; }

std::string describe(const std::vector<int64_t> &shape, DType type) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i ? "x" : "";
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return (shape.empty() ? "scalar" : text) + ":" + nameOf(type);
}

uint16_t floatToBF16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>(
      (static_cast<uint64_t>(bits) + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float bf16ToFloat(uint16_t bits) {
  return bitCast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t doubleToF16(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7E00;
  // Half way between the largest f16 and the next power of two rounds up.
  if (magnitude >= 65520.0)
    return sign | 0x7C00;
  if (magnitude == 0)
    return sign;
  // The spacing of f16 at this magnitude; nearbyint rounds to nearest even in
  // the default mode, and every step here is exact.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  if (exponent < -13)
    exponent = -13;
  double steps = std::nearbyint(std::ldexp(magnitude, 11 - exponent));
  // steps < 2048 is the subnormal range when exponent == -13; otherwise steps
  // is in [1024, 2048], and 2048 carries into the exponent by plain addition.
  uint32_t bits = static_cast<uint32_t>(steps) +
                  (static_cast<uint32_t>(exponent + 13) << 10);
  return static_cast<uint16_t>(sign | bits);
}

float f16ToFloat(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int mantissa = bits & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint8_t doubleToF8(double value, DType type) {
  // The mantissa's bits, the smallest normal exponent (of 1.0 in [0.5, 1), as
  // frexp has it) and the first code that is no finite number.
  bool e4m3 = type == DType::F8E4M3FN;
  int mantissa = e4m3 ? 3 : 2, smallest = e4m3 ? -5 : -13;
  uint32_t beyond = e4m3 ? 0x7F : 0x7C;
  if (std::isnan(value))
    return 0x7F;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  uint32_t bits = beyond;
  if (magnitude < 0x1p17) {
    // As for f16: nearbyint rounds to nearest even, the rest is exact, and a
    // carry goes into the exponent by plain addition.
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = exponent < smallest ? smallest : exponent;
    double steps =
        std::nearbyint(std::ldexp(magnitude, mantissa + 1 - exponent));
    bits = static_cast<uint32_t>(steps) +
           (static_cast<uint32_t>(exponent - smallest) << mantissa);
  }
  if (bits < beyond)
    return static_cast<uint8_t>(sign | bits);
  return e4m3 ? 0x7F : sign | 0x7C;
}

float f8ToFloat(uint8_t bits, DType type) {
  // An e5m2 is the upper half of an f16; an e4m3 has a bias of 7, not 15, and
  // one more bit of mantissa.
  if (type == DType::F8E5M2)
    return f16ToFloat(static_cast<uint16_t>(bits << 8));
  if ((bits & 0x7F) == 0x7F)
    return NAN;
  uint16_t half = static_cast<uint16_t>((bits & 0x80) << 8 | (bits & 0x7F) << 7);
  return 256 * f16ToFloat(half);
}

AlignedBytes::AlignedBytes(size_t size) : length(size) {
  bytes = static_cast<unsigned char *>(
      ::operator new(size + 1, std::align_val_t(64)));
  std::memset(bytes, 0, size + 1);
}

AlignedBytes::AlignedBytes(const AlignedBytes &other)
    : AlignedBytes(other.length) {
  if (length)
    std::memcpy(bytes, other.bytes, length);
}

AlignedBytes::~AlignedBytes() {
  if (bytes)
    ::operator delete(bytes, std::align_val_t(64));
}

Tensor::Tensor(DType type, std::vector<int64_t> extents)
    : type(type), shape(std::move(extents)) {
  size_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<size_t>(extent);
  bytes = AlignedBytes(count * sizeOf(type));
}

double Tensor::get(size_t index) const {
  switch (type) {
  case DType::F64:
    return as<double>()[index];
  case DType::F32:
    return as<float>()[index];
  case DType::F16:
    return f16ToFloat(as<uint16_t>()[index]);
  case DType::BF16:
    return bf16ToFloat(as<uint16_t>()[index]);
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return f8ToFloat(as<uint8_t>()[index], type);
  case DType::I64:
    return static_cast<double>(as<int64_t>()[index]);
  case DType::I32:
    return as<int32_t>()[index];
  case DType::I16:
    return as<int16_t>()[index];
  case DType::I8:
    return as<int8_t>()[index];
  case DType::Bool:
    return as<uint8_t>()[index];
  }
  return 0;
}

void Tensor::set(size_t index, double value) {
  switch (type) {
  case DType::F64:
    as<double>()[index] = value;
    return;
  case DType::F32:
    as<float>()[index] = static_cast<float>(value);
    return;
  case DType::F16:
    as<uint16_t>()[index] = doubleToF16(value);
    return;
  case DType::BF16:
    as<uint16_t>()[index] = floatToBF16(static_cast<float>(value));
    return;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    as<uint8_t>()[index] = doubleToF8(value, type);
    return;
  case DType::I64:
    as<int64_t>()[index] = static_cast<int64_t>(value);
    return;
  case DType::I32:
    as<int32_t>()[index] = static_cast<int32_t>(value);
    return;
  case DType::I16:
    as<int16_t>()[index] = static_cast<int16_t>(value);
    return;
  case DType::I8:
    as<int8_t>()[index] = static_cast<int8_t>(value);
    return;
  case DType::Bool:
    as<uint8_t>()[index] = value != 0;
    return;
  }
}

size_t memoryLimit() {
  // An allocation beyond this would end the process: there are no exceptions.
  long pages = sysconf(_SC_PHYS_PAGES);
  long bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || bytes <= 0)
    return size_t(1) << 34;
  return static_cast<size_t>(pages) * static_cast<size_t>(bytes);
}

Result<size_t> countElements(const std::vector<int64_t> &shape, DType type) {
  const size_t limit = memoryLimit();
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Failure{"shape " + describe(shape, type) +
                     " has a negative extent"};
    empty = empty || extent == 0;
  }
  if (empty)
    return size_t(0);
  size_t count = 1;
  for (int64_t extent : shape) {
    if (static_cast<uint64_t>(extent) > limit / sizeOf(type) / count)
      return Failure{"shape " + describe(shape, type) +
                     " does not fit into the memory of this machine"};
    count *= static_cast<size_t>(extent);
  }
  return count;
}

Tensor convert(const Tensor &from, DType type) {
  if (from.type == type)
    return from;
  Tensor to(type, from.shape);
  // i64 holds what a double does not; only this pair needs its own loop.
  if (from.type == DType::I64 && type == DType::I32) {
    for (size_t i = 0, n = from.size(); i < n; ++i)
      to.as<int32_t>()[i] = static_cast<int32_t>(from.as<int64_t>()[i]);
    return to;
  }
  for (size_t i = 0, n = from.size(); i < n; ++i)
    to.set(i, from.get(i));
  return to;
}

void asBits(Tensor &tensor, DType wanted) {
  if (isFloat8(wanted) && tensor.type == DType::Bool)
    tensor.type = wanted;
}

} // namespace mlir::coda::runtime
