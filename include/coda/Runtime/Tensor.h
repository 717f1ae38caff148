//===- Tensor.h - dense host arrays of the runner --------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row-major host arrays of the element types that artifacts take, and their
// conversions, rounded to nearest even as the compiled programs do it.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_TENSOR_H
#define CODA_RUNTIME_TENSOR_H

#include "coda/Runtime/Result.h"
#include "coda/Runtime/coda_runtime.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::coda::runtime {

/// Element types. Bool is one byte, 0 or 1.
enum class DType {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  I64,
  I32,
  I16,
  I8,
  Bool
};

/// Bytes of one element.
size_t sizeOf(DType type);
bool isFloat(DType type);
bool isFloat8(DType type);
/// Spelling of MLIR: "f32", "bf16", "i1" ...
const char *nameOf(DType type);
/// The type that nameOf() spells so; fails on any other text.
Result<DType> parseDType(const std::string &name);
/// The type of a DLPack tensor; fails on what artifacts never take.
Result<DType> fromDLPack(DLDataType type);
DLDataType toDLPack(DType type);

/// "2x64x256:bf16", the form of shapes in every message; -1 prints as "?".
std::string describe(const std::vector<int64_t> &shape, DType type);

uint16_t floatToBF16(float value);
float bf16ToFloat(uint16_t bits);
/// Double to f16, rounded once.
uint16_t doubleToF16(double value);
float f16ToFloat(uint16_t bits);
/// Double to an 8-bit float, rounded once. What is beyond the largest number
/// becomes NaN (f8E4M3FN, which has no infinity) or an infinity (f8E5M2). NaN is
/// 0x7F, as in compiled programs.
uint8_t doubleToF8(double value, DType type);
float f8ToFloat(uint8_t bits, DType type);

/// Bytes at an address that is a multiple of 64, as the ABI wants them.
class AlignedBytes {
public:
  AlignedBytes() = default;
  /// `size` zero bytes.
  explicit AlignedBytes(size_t size);
  AlignedBytes(AlignedBytes &&other) noexcept { swap(other); }
  AlignedBytes &operator=(AlignedBytes &&other) noexcept {
    swap(other);
    return *this;
  }
  AlignedBytes(const AlignedBytes &other);
  AlignedBytes &operator=(const AlignedBytes &other) {
    AlignedBytes copy(other);
    swap(copy);
    return *this;
  }
  ~AlignedBytes();
  unsigned char *data() { return bytes; }
  const unsigned char *data() const { return bytes; }
  size_t size() const { return length; }

private:
  void swap(AlignedBytes &other) noexcept {
    std::swap(bytes, other.bytes);
    std::swap(length, other.length);
  }
  unsigned char *bytes = nullptr;
  size_t length = 0;
};

/// A dense row-major array in host memory.
struct Tensor {
  DType type = DType::F32;
  std::vector<int64_t> shape;
  AlignedBytes bytes;

  Tensor() = default;
  /// Zeros. Every extent is >= 0 and the product of all fits (see
  /// countElements).
  Tensor(DType type, std::vector<int64_t> shape);

  size_t size() const { return bytes.size() / sizeOf(type); }
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *as() const {
    return reinterpret_cast<const T *>(bytes.data());
  }
  /// Element `index` (row-major) as a double; i64 beyond 2^53 is rounded.
  double get(size_t index) const;
  /// Stores `value` rounded (floats, to nearest even) or truncated (integers).
  void set(size_t index, double value);
};

/// Bytes of memory of this machine: what a single array may take at most.
size_t memoryLimit();

/// Product of the extents (1 for rank 0); fails on a negative extent and when
/// the array exceeds memoryLimit().
Result<size_t> countElements(const std::vector<int64_t> &shape, DType type);

/// The same values in another element type. Integers to integers keep all
/// their bits where they fit.
Tensor convert(const Tensor &from, DType type);

/// uint8 (which is read as Bool) holds the bits of an 8-bit float where one is
/// wanted; any other tensor stays as it is.
void asBits(Tensor &tensor, DType wanted);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_TENSOR_H
