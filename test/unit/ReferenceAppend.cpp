// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of keys and values in the reference evaluator.

#include "test/unit/ReferenceTest.h"

namespace mlir::resid::reference {
namespace {

class Append : public ReferenceTest {
protected:
  SmallVector<Array> append(ArrayRef<int64_t> cache, ArrayRef<int64_t> keys, int64_t past,
                            EvaluationOptions options = {}) {
    const char *text = R"(func.func @f(%cache: tensor<?x?x?x?xf16>, %x: tensor<?x?x?x?xf16>, %past: i64)
        -> tensor<?x?x?x?xf16> {
      %y = resid.append %cache, %x past(%past) : tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16>
      return %y : tensor<?x?x?x?xf16>
    })";
    return run(text, {tensor("tensor<f16>", cache, {0}), tensor("tensor<f16>", keys, {1, 2, nan, -0.0}), integer(past)},
               options);
  }
};

TEST_F(Append, WritesTheNewKeysOfEachHead) {
  SmallVector<Array> results = append({1, 2, 3, 2}, {1, 2, 1, 2}, 1);
  ASSERT_EQ(results.size(), 1u) << message;
  ArrayRef<double> y = results[0].floats();
  for (int64_t i : {0, 1, 4, 5, 6, 7, 10, 11})
    EXPECT_TRUE(y[i] == 0.0 && !std::signbit(y[i]));
  EXPECT_TRUE(y[2] == 1 && y[3] == 2 && std::isnan(y[8]) && std::signbit(y[9]));
  EXPECT_FALSE(results[0].getAccuracy());
}

TEST_F(Append, StaysExactInWideMode) {
  EvaluationOptions wide;
  wide.mode = Mode::Wide, wide.trackAccuracy = true;
  SmallVector<Array> results = append({1, 1, 2, 2}, {1, 1, 2, 2}, 0, wide);
  ASSERT_EQ(results.size(), 1u) << message;
  EXPECT_FALSE(results[0].getAccuracy());
}

TEST_F(Append, TakesNothingAndAllThereIs) {
  EXPECT_EQ(append({1, 1, 2, 1}, {1, 1, 0, 1}, 2).size(), 1u) << message;
  EXPECT_EQ(append({1, 1, 2, 1}, {1, 1, 2, 1}, 0).size(), 1u) << message;
  EXPECT_EQ(append({0, 1, 2, 1}, {0, 1, 1, 1}, 0).size(), 1u) << message;
}

TEST_F(Append, RefusesWhatDoesNotFit) {
  auto expectRefusal = [&](ArrayRef<int64_t> keys, int64_t past, StringRef expected) {
    append({1, 1, 4, 2}, keys, past);
    EXPECT_EQ(std::exchange(message, ""), ("'resid.append' op expected " + expected).str());
  };
  expectRefusal({1, 1, 1, 2}, -1, "a past of 0 or more keys but got -1");
  expectRefusal({1, 1, 2, 2}, 3, "a cache of at least past + new keys, 3 + 2, but got 4");
  expectRefusal({1, 1, 0, 2}, 5, "a cache of at least past + new keys, 5 + 0, but got 4");
  expectRefusal({1, 2, 1, 2}, 0, "new keys of the cache's batch, heads and size, 1x1x4x2xf16, but got 1x2x1x2xf16");
}

} // namespace
} // namespace mlir::resid::reference
