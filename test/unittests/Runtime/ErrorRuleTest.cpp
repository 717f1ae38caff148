//===- ErrorRuleTest.cpp - When an output is right ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/ErrorRule.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::coda::runtime;

namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

ErrorVerdict ask(const Values &out, const Values &ref, ErrorClass errorClass,
                 const Values *eager = nullptr,
                 std::optional<double> tolerance = std::nullopt,
                 size_t wholeSize = 0) {
  return judge({out, ref, eager, errorClass, wholeSize, tolerance});
}

TEST(ErrorRule, F32IsRelativeToTheLargestReference) {
  // 5e-5 of 4 is 2e-4, also for the small element.
  EXPECT_TRUE(ask({4, 0.00019}, {4, 0}, ErrorClass::F32).good);
  ErrorVerdict bad = ask({4, 0.00021}, {4, 0}, ErrorClass::F32);
  EXPECT_FALSE(bad.good);
  EXPECT_DOUBLE_EQ(bad.error, 0.00021);
  EXPECT_DOUBLE_EQ(bad.maxRef, 4);
  EXPECT_DOUBLE_EQ(bad.limit, 2e-4);
  EXPECT_FALSE(bad.why.empty());
}

TEST(ErrorRule, F64IsTighter) {
  EXPECT_TRUE(ask({1 + 9e-11}, {1}, ErrorClass::F64).good);
  EXPECT_FALSE(ask({1 + 2e-10}, {1}, ErrorClass::F64).good);
}

TEST(ErrorRule, ExactAllowsNothing) {
  EXPECT_TRUE(ask({3, -100}, {3, -100}, ErrorClass::Exact).good);
  EXPECT_FALSE(ask({3, -99}, {3, -100}, ErrorClass::Exact).good);
}

TEST(ErrorRule, HalfAllowsTwiceTheErrorOfTheFramework) {
  Values ref(2000, 1.0), eager(2000, 1.0), out(2000, 1.0);
  eager[7] = 1.01;
  out[1234] = 1.0199;
  EXPECT_TRUE(ask(out, ref, ErrorClass::Half, &eager).good);
  out[1234] = 1.0201;
  ErrorVerdict bad = ask(out, ref, ErrorClass::Half, &eager);
  EXPECT_FALSE(bad.good);
  EXPECT_NEAR(bad.eagerError, 0.01, 1e-12);
  EXPECT_NEAR(bad.limit, 0.02 + 1e-6, 1e-12);
}

TEST(ErrorRule, AnotherResultFarFromTheReferenceIsNoLicence) {
  Values ref(2000, 8.0), eager(2000, 0.0), out(2000, 0.0);
  ErrorQuestion question{out, ref, &eager, ErrorClass::Half, 0, std::nullopt};
  EXPECT_TRUE(judge(question).good);
  question.explained = 1.0 / 16;
  ErrorVerdict bad = judge(question);
  EXPECT_FALSE(bad.good);
  EXPECT_DOUBLE_EQ(bad.limit, 0.5 + 1e-6);
  // It is a limit of the limit: where the other result is closer, that counts,
  // and an output that is close is good however far the other one is.
  eager.assign(2000, 7.9);
  EXPECT_NEAR(judge(question).limit, 0.2 + 1e-6, 1e-12);
  eager.assign(2000, 0.0);
  out.assign(2000, 7.6);
  EXPECT_TRUE(judge(question).good);
  // A tolerance replaces it like every other limit.
  out.assign(2000, 0.0);
  question.tolerance = 1;
  EXPECT_TRUE(judge(question).good);
}

TEST(ErrorRule, SmallOutputsHaveAFloor) {
  // A framework that happens to be exact on a scalar sets no standard.
  Values ref = {8}, eager = {8};
  EXPECT_TRUE(ask({8.0079}, ref, ErrorClass::Half, &eager).good);
  EXPECT_FALSE(ask({8.0081}, ref, ErrorClass::Half, &eager).good);
  // A sample of a large output is not a small output.
  EXPECT_FALSE(
      ask({8.0079}, ref, ErrorClass::Half, &eager, std::nullopt, 1000).good);
  EXPECT_TRUE(
      ask({8.0079}, ref, ErrorClass::Half, &eager, std::nullopt, 999).good);
}

TEST(ErrorRule, OneRoundingToEightBitsIsAllowed) {
  Values ref(2000, 1.0625), eager(2000, 1.0625), out(2000, 1.0625);
  // 1.0625 is half way between two f8E4M3FN.
  out[3] = 1.125;
  ErrorQuestion question{out, ref, &eager, ErrorClass::Half, 0, std::nullopt};
  EXPECT_FALSE(judge(question).good);
  question.rounding = 0x1p-4;
  EXPECT_TRUE(judge(question).good);
  out[3] = 1.25;
  EXPECT_FALSE(judge(question).good);
}

TEST(ErrorRule, ToleranceReplacesEveryLimit) {
  Values eager = {1.0};
  EXPECT_TRUE(ask({1.09}, {1}, ErrorClass::Half, &eager, 0.1).good);
  EXPECT_FALSE(ask({1.11}, {1}, ErrorClass::Half, &eager, 0.1).good);
  // It may also be the stricter one.
  EXPECT_FALSE(ask({1.00001}, {1}, ErrorClass::F32, nullptr, 1e-6).good);
}

TEST(ErrorRule, NaNAndInfinityMustSitWhereTheReferenceHasThem) {
  EXPECT_TRUE(
      ask({kNaN, kInfinity, 1}, {kNaN, kInfinity, 1}, ErrorClass::F32).good);
  EXPECT_FALSE(ask({1, 1}, {kNaN, 1}, ErrorClass::F32).good);
  EXPECT_FALSE(ask({kNaN, 1}, {1, 1}, ErrorClass::F32).good);
  EXPECT_FALSE(ask({-kInfinity, 1}, {kInfinity, 1}, ErrorClass::F32).good);
  EXPECT_FALSE(ask({1e300, 1}, {kInfinity, 1}, ErrorClass::F32).good);
  // No tolerance excuses a NaN.
  ErrorVerdict bad = ask({1, kNaN}, {1, 1}, ErrorClass::F32, nullptr, 10.0);
  EXPECT_FALSE(bad.good);
  EXPECT_EQ(bad.error, kInfinity);
  EXPECT_NE(bad.why.find("element 1"), std::string::npos);
}

TEST(ErrorRule, AnOverflowOfTheFrameworkIsNoLicence) {
  Values ref(2000, 1.0), eager(2000, 1.0), out(2000, 1.0);
  eager[0] = kInfinity;
  eager[1] = kNaN;
  EXPECT_TRUE(ask(out, ref, ErrorClass::Half, &eager).good);
  out[5] = 1.1;
  EXPECT_FALSE(ask(out, ref, ErrorClass::Half, &eager).good);
  out[5] = kInfinity;
  EXPECT_FALSE(ask(out, ref, ErrorClass::Half, &eager).good);
}

TEST(ErrorRule, Empty) {
  EXPECT_TRUE(ask({}, {}, ErrorClass::F32).good);
  EXPECT_TRUE(ask({0, 0}, {0, 0}, ErrorClass::F32).good);
  EXPECT_FALSE(ask({0, 1e-30}, {0, 0}, ErrorClass::F32).good);
  EXPECT_FALSE(ask({1}, {1, 2}, ErrorClass::F32).good);
}

} // namespace
