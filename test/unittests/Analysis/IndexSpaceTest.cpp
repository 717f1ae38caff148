//===- IndexSpaceTest.cpp - Tests of indices with known ranges ----------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Dialect/Coda/Analysis/IndexSpace.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::coda;

namespace {
class IndexSpaceTest : public ::testing::Test {
protected:
  MLIRContext context;
  IndexSpace space{&context};
};

TEST_F(IndexSpaceTest, DimsOfExtentOneAreZero) {
  EXPECT_EQ(space.getDim(0, 1), space.getConstant(0));
  EXPECT_EQ(space.getDim(2, 8), space.getDim(2, 8));
  EXPECT_NE(space.getDim(2, 8), space.getDim(2, 4));
}

TEST_F(IndexSpaceTest, SplitsWhatIsInRange) {
  AffineExpr h = space.getDim(0, 4), j = space.getDim(1, 32);
  AffineExpr column = space.add(space.mul(h, 32), j);
  EXPECT_EQ(space.floorDiv(column, 32), h);
  EXPECT_EQ(space.mod(column, 32), j);
  // Past the range nothing may be assumed.
  AffineExpr wide = space.add(column, space.getConstant(1));
  EXPECT_NE(space.floorDiv(wide, 32), h);
  EXPECT_EQ(space.getUpperBound(wide), 128);
}

TEST_F(IndexSpaceTest, SplitsAtTheCommonFactor) {
  AffineExpr a = space.getDim(0, 4), b = space.getDim(1, 2);
  // (16 a + 8 b + 3) floordiv 16 = a, since 8 b + 3 < 16.
  AffineExpr index = space.add(space.add(space.mul(a, 16), space.mul(b, 8)),
                               space.getConstant(3));
  EXPECT_EQ(space.floorDiv(index, 16), a);
  EXPECT_EQ(space.floorDiv(index, 8), space.add(space.mul(a, 2), b));
}

TEST_F(IndexSpaceTest, JoinsQuotientAndRest) {
  AffineExpr n = space.getDim(0, ShapedType::kDynamic);
  AffineExpr quotient = space.floorDiv(n, 64), rest = space.mod(n, 64);
  EXPECT_EQ(space.add(space.mul(quotient, 64), rest), n);
  EXPECT_EQ(space.add(space.mul(quotient, 128), space.mul(rest, 2)),
            space.mul(n, 2));
  EXPECT_EQ(space.mod(space.mod(n, 64), 16), space.mod(n, 16));
  EXPECT_EQ(space.floorDiv(quotient, 2), space.floorDiv(n, 128));
  EXPECT_EQ(space.floorDiv(rest, 16), space.mod(space.floorDiv(n, 16), 4));
}

TEST_F(IndexSpaceTest, BoundsAreThoseOfTheDims) {
  AffineExpr i = space.getDim(0, 8), n = space.getDim(1, ShapedType::kDynamic);
  AffineExpr reversed = space.add(space.getConstant(7), space.mul(i, -1));
  EXPECT_EQ(space.getLowerBound(reversed), 0);
  EXPECT_EQ(space.getUpperBound(reversed), 7);
  EXPECT_EQ(space.getLowerBound(n), 0);
  EXPECT_EQ(space.getUpperBound(n), std::nullopt);
  EXPECT_EQ(space.getLowerBound(space.getSymbol()), std::nullopt);
  EXPECT_EQ(space.getConstantValue(space.floorDiv(i, 8)), 0);
}

TEST_F(IndexSpaceTest, SubstitutesAndRefusesWhatIsNotAffine) {
  AffineExpr j = space.getDim(0, 4), d = space.getDim(0, 8);
  AffineExpr index = space.add(space.mul(j, 2), space.getConstant(1));
  EXPECT_EQ(space.substitute(index, j, space.floorDiv(d, 2)),
            space.add(space.mul(space.floorDiv(d, 2), 2),
                      space.getConstant(1)));
  EXPECT_FALSE(space.simplify(j * d));
  EXPECT_FALSE(space.simplify(j.ceilDiv(3)));
}
} // namespace
