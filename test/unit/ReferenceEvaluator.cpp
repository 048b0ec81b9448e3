// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference evaluator: known answers, worked numbers, programs around resid ops, refusals, and what results are
// judged by.

#include "test/unit/ReferenceTest.h"

#include "reference/Philox.h"
#include <cmath>
#include <cstdio>

namespace mlir::resid::reference {
namespace {

TEST_F(ReferenceTest, RefusesOtherArgumentsThanTheFunctionTakes) {
  StringRef text = "func.func @f(%x: tensor<?x3xf32>) { return }";
  run(text, {});
  EXPECT_EQ(std::exchange(message, ""), "'func.func' op expected 1 arguments but got 0");
  run(text, {tensor("f32", {2, 4}, {1})});
  EXPECT_EQ(std::exchange(message, ""), "'func.func' op expected argument 0 of type 'tensor<?x3xf32>' but got 2x4xf32");
  run(text, {integer(3)});
  EXPECT_EQ(std::exchange(message, ""), "'func.func' op expected argument 0 of type 'tensor<?x3xf32>' but got i64");
}

//===------------------------------------------- numbers and philox -----------------------------------------------===//

TEST(Philox, GivesThePublishedAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Numbers, KeepsEvery16BitPattern) {
  for (FloatKind kind : {FloatKind::F16, FloatKind::BF16})
    for (uint64_t bits = 0; bits != 65536; ++bits) {
      double value = decodeFloat(kind, bits);
      if (std::isnan(value))
        continue;
      EXPECT_EQ(encodeFloat(kind, value), bits);
      EXPECT_EQ(roundTo(kind, value), value);
    }
}

/// Rounding is to the nearest neighbour, and to the even one in the middle, subnormals included.
TEST(Numbers, RoundsHalfwayCasesToEven) {
  for (FloatKind kind : {FloatKind::F16, FloatKind::BF16})
    for (uint64_t bits = 0; std::isfinite(decodeFloat(kind, bits + 1)); ++bits) {
      double low = decodeFloat(kind, bits), high = decodeFloat(kind, bits + 1), middle = (low + high) / 2;
      EXPECT_EQ(encodeFloat(kind, middle), bits + (bits & 1));
      EXPECT_EQ(encodeFloat(kind, -middle), (bits + (bits & 1)) | 0x8000);
      EXPECT_EQ(encodeFloat(kind, std::nextafter(middle, 0.0)), bits);
      EXPECT_EQ(encodeFloat(kind, std::nextafter(middle, infinity)), bits + 1);
    }
}

TEST(Numbers, OverflowsToInfinityAndKeepsSigns) {
  EXPECT_EQ(roundTo(FloatKind::F16, 65519.9), 65504.0);
  EXPECT_EQ(roundTo(FloatKind::F16, 65520.0), infinity);
  EXPECT_EQ(roundTo(FloatKind::BF16, 1e300), infinity);
  EXPECT_EQ(roundTo(FloatKind::BF16, -infinity), -infinity);
  EXPECT_TRUE(std::signbit(roundTo(FloatKind::F16, -1e-300)));
  EXPECT_EQ(encodeFloat(FloatKind::F16, nan), 0x7e00u);
  EXPECT_EQ(encodeFloat(FloatKind::BF16, nan), 0x7fc0u);
  EXPECT_EQ(encodeFloat(FloatKind::F32, 1.0), 0x3f800000u);
}

//===------------------------------------------- worked numbers ---------------------------------------------------===//

TEST_F(ReferenceTest, GateThenLayerNorm) {
  const char *text = R"(func.func @f(%x: tensor<1x4xf32>, %f: tensor<1x4xf32>, %g: tensor<1x4xf32>)
      -> (tensor<1x4xf32>, tensor<1x4xf32>) {
    %s = resid.add %x, %f gate(%g) : tensor<1x4xf32>, tensor<1x4xf32>
    %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<1x4xf32>
    return %s, %y : tensor<1x4xf32>, tensor<1x4xf32>
  })";
  float kept = 1.0f / 0.9f;
  auto f32 = [](float value) { return static_cast<double>(value); };
  SmallVector<Array> results =
      run(text, {tensor("tensor<1x4xf32>", {1, 4}, {1, 2, 3, 4}),
                 tensor("tensor<1x4xf32>", {1, 4}, {f32(0.5f), f32(-0.3f), f32(0.8f), f32(0.2f)}),
                 tensor("tensor<1x4xf32>", {1, 4}, {kept, 0, kept, kept})});
  ASSERT_EQ(results.size(), 2u) << message;
  expectNear(results[0].floats(), {1.5556, 2, 3.8889, 4.2222}, 1e-4);
  expectNear(results[1].floats(), {-1.178, -0.793, 0.841, 1.130}, 1e-3);
}

const char *dropoutText = R"(func.func @f(%x: tensor<?x8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
    %y = resid.dropout %x seed(%seed, %step) {p = 0.5, site = 3} : tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  })";

/// The mask follows from the definition alone: counter (col div 8, row, site, step), low halves first.
TEST_F(ReferenceTest, DropoutFollowsTheCounter) {
  uint64_t seed = 0x0123456789abcdef;
  std::vector<double> y = floats(dropoutText, {tensor("tensor<?x8xf32>", {3, 8}, {nan}), integer(seed), integer(7)});
  ASSERT_EQ(y.size(), 24u) << message;
  for (uint32_t row = 0; row != 3; ++row) {
    auto words = philox4x32({0, row, 3, 7}, {0x89abcdef, 0x01234567});
    for (int col = 0; col != 8; ++col) {
      bool kept = ((words[col / 2] >> (col % 2 ? 16 : 0)) & 0xffff) >= 32768;
      double value = y[row * 8 + col];
      EXPECT_EQ(std::isnan(value), kept);
      EXPECT_TRUE(kept || (value == 0.0 && !std::signbit(value))) << "a dropped NaN must be +0";
    }
  }
}

/// So does that of a shard: of rows 0 to 4, rows 2 and 3 are the second group of three, from row 1 + 10 on, and row 4
/// begins the third; columns are counted from 40 on.
TEST_F(ReferenceTest, DropoutOfAShardFollowsTheCounter) {
  const char *text =
      R"(func.func @f(%x: tensor<?x11xf32>, %one: i64, %col: i64, %local: i64, %global: i64) -> tensor<?x11xf32> {
    %y = resid.dropout %x seed(%one, %one) origin(%one, %one, %col) extent(%local, %global) {p = 0.5, site = 3}
       : tensor<?x11xf32>
    return %y : tensor<?x11xf32>
  })";
  std::vector<double> y =
      floats(text, {tensor("tensor<?x11xf32>", {5, 11}, {1}), integer(1), integer(40), integer(2), integer(10)});
  ASSERT_EQ(y.size(), 55u) << message;
  std::array<uint32_t, 5> rows = {1, 2, 11, 12, 21};
  for (int row = 0; row != 5; ++row)
    for (int col = 0; col != 11; ++col) {
      auto words = philox4x32({static_cast<uint32_t>(5 + col / 8), rows[row], 4, 1}, {1, 0});
      bool kept = ((words[col % 8 / 2] >> (col % 2 ? 16 : 0)) & 0xffff) >= 32768;
      EXPECT_EQ(y[row * 11 + col], kept ? 2.0 : 0.0) << row << ", " << col;
    }
}

/// A half that is exactly the threshold is kept, and one below it is dropped.
TEST_F(ReferenceTest, DropoutKeepsTheThresholdItself) {
  uint32_t half = philox4x32({0, 0, 0, 1}, {1, 0})[0] & 0xffff;
  for (uint32_t threshold : {half, half + 1}) {
    char exact[32];
    std::snprintf(exact, sizeof(exact), "%.17e", threshold / 65536.0);
    std::string text = std::string("func.func @f(%x: tensor<1x1xf64>, %s: i64) -> tensor<1x1xf64> {\n"
                                   "  %y = resid.dropout %x seed(%s, %s) {p = ") +
                       exact + ", site = 0} : tensor<1x1xf64>\n  return %y : tensor<1x1xf64>\n}";
    std::vector<double> y = floats(text, {tensor("tensor<1x1xf64>", {1, 1}, {1}), integer(1)});
    ASSERT_EQ(y.size(), 1u) << message;
    EXPECT_EQ(y[0], threshold == half ? 65536.0 / (65536.0 - threshold) : 0.0);
  }
}

/// Over 10⁶ elements the kept share and the mean are within four standard errors of 1-p and of the input's mean.
TEST_F(ReferenceTest, DropoutKeepsTheShareAndTheMean) {
  std::vector<double> y = floats(R"(func.func @f(%x: tensor<1000x1000xf32>, %seed: i64) -> tensor<1000x1000xf32> {
    %y = resid.dropout %x seed(%seed, %seed) {p = 0.1, site = 0} : tensor<1000x1000xf32>
    return %y : tensor<1000x1000xf32>
  })",
                                 {tensor("tensor<1000x1000xf32>", {1000, 1000}, {1}), integer(42)});
  ASSERT_EQ(y.size(), 1000000u) << message;
  double kept = 0, sum = 0, p = 6554.0 / 65536.0;
  for (double value : y) {
    kept += value != 0.0;
    sum += value;
  }
  EXPECT_NEAR(kept / 1e6, 1 - p, 4 * std::sqrt(p * (1 - p) / 1e6));
  EXPECT_NEAR(sum / 1e6, 1.0, 4 * std::sqrt(p / (1 - p) / 1e6));
}

TEST_F(ReferenceTest, DropoutRefusesWordsOutsideOf32Bits) {
  Array x = tensor("tensor<?x8xf32>", {1, 8}, {1});
  EXPECT_TRUE(run(dropoutText, {x, integer(1), integer(-1)}).empty());
  EXPECT_NE(message.find("expected a step from 0 to 4294967295 but got -1"), std::string::npos) << message;
  EXPECT_TRUE(run(dropoutText, {x, integer(1), integer(int64_t(1) << 32)}).empty());
  EXPECT_FALSE(run(dropoutText, {x, integer(1), integer((int64_t(1) << 32) - 1)}).empty());
}

TEST_F(ReferenceTest, DropoutOriginShiftsRowsAndSites) {
  const char *text = R"(func.func @f(%x: tensor<?x8xf32>, %seed: i64, %r: i64, %s: i64) -> tensor<?x8xf32> {
    %y = resid.dropout %x seed(%seed, %seed) origin(%r, %s) {p = 0.25, site = 1} : tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  })";
  Array whole = tensor("tensor<?x8xf32>", {5, 8}, {1}), part = tensor("tensor<?x8xf32>", {2, 8}, {1});
  std::vector<double> all = floats(text, {whole, integer(9), integer(0), integer(4)});
  std::vector<double> shard = floats(text, {part, integer(9), integer(3), integer(4)});
  ASSERT_EQ(shard.size(), 16u) << message;
  EXPECT_EQ(std::vector<double>(all.begin() + 24, all.end()), shard);
  EXPECT_TRUE(run(text, {part, integer(9), integer(0xffffffff), integer(4)}).empty()) << "the second row is 2^32";
  EXPECT_TRUE(run(text, {part, integer(9), integer(0), integer(-2)}).empty());
}

//===------------------------------------------- programs around resid ops ----------------------------------------===//

TEST_F(ReferenceTest, LoopsCallsAndMatmul) {
  std::vector<double> y =
      floats(R"(
    func.func private @branch(%h: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<2x2xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
      %f = linalg.matmul ins(%h, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
      return %f : tensor<2x2xf32>
    }
    func.func @f(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<2x2xf32> {
        %f = func.call @branch(%h, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        %s = resid.add %h, %f : tensor<2x2xf32>
        scf.yield %s : tensor<2x2xf32>
      }
      return %r : tensor<2x2xf32>
    })",
             {tensor("tensor<2x2xf32>", {2, 2}, {1, 2, 3, 4}), tensor("tensor<2x2xf32>", {2, 2}, {0, 1, 1, 0})});
  // x·(I + P)³ = 4·x·(I + P) with the exchange P.
  EXPECT_EQ(y, (std::vector<double>{12, 12, 28, 28})) << message;
}

TEST_F(ReferenceTest, GenericWithIndexAndTransposedMap) {
  std::vector<double> y = floats(R"(func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %e = tensor.empty() : tensor<3x2xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) {
      ^bb0(%a: f32, %o: f32):
        %i = linalg.index 0 : index
        %k = arith.index_cast %i : index to i64
        %v = arith.sitofp %k : i64 to f32
        %s = arith.addf %a, %v : f32
        linalg.yield %s : f32
    } -> tensor<3x2xf32>
    return %r : tensor<3x2xf32>
  })",
                                 {tensor("tensor<2x3xf32>", {2, 3}, {0, 10, 20, 30, 40, 50})});
  EXPECT_EQ(y, (std::vector<double>{0, 30, 11, 41, 22, 52})) << message;
}

TEST_F(ReferenceTest, SlicesPadsAndConcatenations) {
  std::vector<double> y = floats(R"(func.func @f(%x: tensor<4xf32>) -> tensor<7xf32> {
    %zero = arith.constant -1.0 : f32
    %s = tensor.extract_slice %x[1] [2] [2] : tensor<4xf32> to tensor<2xf32>
    %p = tensor.pad %s low[1] high[0] { ^bb0(%i: index): tensor.yield %zero : f32 } : tensor<2xf32> to tensor<3xf32>
    %t = tensor.insert_slice %s into %x[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    %c = tensor.concat dim(0) %p, %t : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
    return %c : tensor<7xf32>
  })",
                                 {tensor("tensor<4xf32>", {4}, {0, 1, 2, 3})});
  EXPECT_EQ(y, (std::vector<double>{-1, 1, 3, 0, 1, 1, 3})) << message;
}

TEST_F(ReferenceTest, UnknownOpsAreNamed) {
  bool unsupported = false;
  EvaluationOptions options;
  options.unsupported = &unsupported;
  EXPECT_TRUE(run(R"(func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %i = arith.fptosi %x : tensor<2xf32> to tensor<2xi32>
    %y = math.ipowi %i, %i : tensor<2xi32>
    return %x : tensor<2xf32>
  })",
                  {tensor("tensor<2xf32>", {2}, {1})}, options)
                  .empty());
  EXPECT_TRUE(unsupported);
  EXPECT_NE(message.find("'math.ipowi' op is not supported by the reference evaluator"), std::string::npos);
}

TEST_F(ReferenceTest, DynamicSizesThatDisagree) {
  EXPECT_TRUE(run(R"(func.func @f(%x: tensor<?xf32>, %f: tensor<?xf32>) -> tensor<?xf32> {
    %y = resid.add %x, %f : tensor<?xf32>
    return %y : tensor<?xf32>
  })",
                  {tensor("tensor<?xf32>", {2}, {1}), tensor("tensor<?xf32>", {1}, {1})})
                  .empty());
  EXPECT_NE(message.find("expected x and f of one shape but got 2xf32 and 1xf32"), std::string::npos) << message;
}

//===------------------------------------------- accuracy ---------------------------------------------------------===//

TEST_F(ReferenceTest, AccuracyFollowsTheDefiningOp) {
  EvaluationOptions options;
  options.trackAccuracy = true;
  SmallVector<Array> results =
      run(R"(func.func @f(%x: tensor<1x2xf32>, %g: tensor<2xf32>)
      -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
    %s = resid.add %x, %x : tensor<1x2xf32>
    %y = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<1x2xf32>, tensor<2xf32>
    %z = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<1x2xf32>
    return %s, %y, %z : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
  })",
          {tensor("tensor<1x2xf32>", {1, 2}, {-1, 1}), tensor("tensor<2xf32>", {2}, {8, 0.5})}, options);
  ASSERT_EQ(results.size(), 3u) << message;
  EXPECT_FALSE(results[0].getAccuracy()) << "sums are bit-equal";
  ASSERT_TRUE(results[1].getAccuracy() && results[1].getAccuracy()->kind == Accuracy::Bounded);
  expectNear(results[1].getAccuracy()->bounds, {4e-6, 5e-7}, 1e-12);
  EXPECT_EQ(results[2].getAccuracy()->kind, Accuracy::Tolerance) << "a norm after a norm";
}

} // namespace
} // namespace mlir::resid::reference
