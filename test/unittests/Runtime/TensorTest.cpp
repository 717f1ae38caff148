//===- TensorTest.cpp - Host arrays and their element types ---------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Tensor.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::coda::runtime;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Tensor, F16RoundTripsEveryValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = f16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(f16ToFloat(doubleToF16(value))));
    else
      EXPECT_EQ(doubleToF16(value), bits) << value;
  }
}

TEST(Tensor, F16RoundsToNearestEven) {
  EXPECT_EQ(doubleToF16(1.0 + 0x1p-11), 0x3C00);           // tie, down to even
  EXPECT_EQ(doubleToF16(1.0 + 3 * 0x1p-11), 0x3C02);       // tie, up to even
  EXPECT_EQ(doubleToF16(1.0 + 0x1p-11 + 0x1p-40), 0x3C01); // above the tie
  EXPECT_EQ(doubleToF16(0x1p-25), 0x0000);                 // half the smallest
  EXPECT_EQ(doubleToF16(0x1.8p-25), 0x0001);
  EXPECT_EQ(doubleToF16(0x1p-14 - 0x1p-26), 0x0400); // subnormal to normal
  EXPECT_EQ(doubleToF16(65519.9), 0x7BFF);
  EXPECT_EQ(doubleToF16(65520.0), 0x7C00);
  EXPECT_EQ(doubleToF16(-kInfinity), 0xFC00);
  EXPECT_EQ(doubleToF16(-0.0), 0x8000);
}

TEST(Tensor, BF16RoundsToNearestEven) {
  EXPECT_EQ(floatToBF16(1.0f), 0x3F80);
  EXPECT_EQ(floatToBF16(1.0f + 0x1p-8f), 0x3F80);
  EXPECT_EQ(floatToBF16(1.0f + 3 * 0x1p-8f), 0x3F82);
  EXPECT_EQ(floatToBF16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(floatToBF16(-std::numeric_limits<float>::infinity()), 0xFF80);
  // A NaN whose payload lies in the low half must not become an infinity.
  uint32_t bits = 0x7F800001;
  float nan;
  std::memcpy(&nan, &bits, sizeof(nan));
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBF16(nan))));
}

TEST(Tensor, EveryFloat8RoundTrips) {
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2})
    for (int bits = 0; bits < 256; ++bits) {
      float value = f8ToFloat(static_cast<uint8_t>(bits), type);
      EXPECT_EQ(doubleToF8(value, type), std::isnan(value) ? 0x7F : bits);
    }
  EXPECT_EQ(f8ToFloat(0x7E, DType::F8E4M3FN), 448.0f);
  EXPECT_EQ(f8ToFloat(0x81, DType::F8E4M3FN), -0x1p-9f);
  EXPECT_EQ(f8ToFloat(0x7B, DType::F8E5M2), 57344.0f);
  EXPECT_EQ(f8ToFloat(0xFC, DType::F8E5M2), -kInfinity);
}

TEST(Tensor, Float8RoundsToNearestEven) {
  // Half way: to 448, which is even, and from there on to no number.
  EXPECT_EQ(doubleToF8(464.0, DType::F8E4M3FN), 0x7E);
  EXPECT_EQ(doubleToF8(-464.001, DType::F8E4M3FN), 0x7F);
  EXPECT_EQ(doubleToF8(kInfinity, DType::F8E4M3FN), 0x7F);
  EXPECT_EQ(doubleToF8(1.0625, DType::F8E4M3FN), 0x38);
  EXPECT_EQ(doubleToF8(1.1875, DType::F8E4M3FN), 0x3A);
  EXPECT_EQ(doubleToF8(0x1p-10, DType::F8E4M3FN), 0x00);
  EXPECT_EQ(doubleToF8(-0x1.8p-9, DType::F8E4M3FN), 0x82);
  EXPECT_EQ(doubleToF8(61439.0, DType::F8E5M2), 0x7B);
  EXPECT_EQ(doubleToF8(-61440.0, DType::F8E5M2), 0xFC);
  EXPECT_EQ(doubleToF8(-0.0, DType::F8E5M2), 0x80);
}

TEST(Tensor, BytesAreBitsWhereFloat8IsWanted) {
  Tensor bytes(DType::Bool, {2});
  bytes.as<uint8_t>()[0] = 0x38;
  asBits(bytes, DType::I8);
  EXPECT_EQ(bytes.type, DType::Bool);
  asBits(bytes, DType::F8E4M3FN);
  EXPECT_EQ(bytes.type, DType::F8E4M3FN);
  EXPECT_EQ(bytes.get(0), 1.0);
}

TEST(Tensor, DLPackTypesRoundTrip) {
  for (DType type :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN,
        DType::F8E5M2, DType::I64, DType::I32,
        DType::I16, DType::I8, DType::Bool}) {
    Result<DType> back = fromDLPack(toDLPack(type));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, type);
    Result<DType> named = parseDType(nameOf(type));
    ASSERT_TRUE(named.ok());
    EXPECT_EQ(*named, type);
  }
  EXPECT_FALSE(fromDLPack({kDLFloat, 8, 1}).ok());
  EXPECT_FALSE(fromDLPack({kDLFloat, 32, 4}).ok());
}

TEST(Tensor, ConvertKeepsValues) {
  Tensor from(DType::BF16, {3});
  from.set(0, 1.5);
  from.set(1, -kInfinity);
  from.set(2, std::nan(""));
  Tensor to = convert(from, DType::F64);
  EXPECT_EQ(to.get(0), 1.5);
  EXPECT_EQ(to.get(1), -kInfinity);
  EXPECT_TRUE(std::isnan(to.get(2)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(to.bytes.data()) % 64, 0u);
}

TEST(Tensor, Shapes) {
  EXPECT_EQ(describe({2, -1, 3}, DType::BF16), "2x?x3:bf16");
  EXPECT_EQ(describe({}, DType::F32), "scalar:f32");
  EXPECT_EQ(*countElements({}, DType::F32), 1u);
  EXPECT_EQ(*countElements({4, 0, 1000000000000}, DType::F32), 0u);
  EXPECT_FALSE(countElements({int64_t(1) << 62, 8}, DType::F32).ok());
  EXPECT_FALSE(countElements({-1}, DType::F32).ok());
}

} // namespace
