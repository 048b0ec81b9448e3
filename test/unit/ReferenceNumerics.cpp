// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference evaluator on adversarial rows, and where it rounds.

#include "test/unit/ReferenceTest.h"

#include <cmath>

namespace mlir::resid::reference {
namespace {

//===------------------------------------------- adversarial rows -------------------------------------------------===//

const char *normText =
    R"(func.func @f(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    %y, %m, %c, %r = resid.layer_norm %x {epsilon = 1.0e-5}
        : tensor<?x?xf32> -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    return %y, %m, %c, %r : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  })";

/// x = mean ± 1 has deviation 1 exactly, whatever the mean.
TEST_F(ReferenceTest, LayerNormAtLargeMeans) {
  for (double mean : {2e3, 1e6, 16777214.0}) {
    SmallVector<Array> results = run(normText, {tensor("tensor<?x?xf32>", {1, 768}, {mean - 1, mean + 1})});
    ASSERT_EQ(results.size(), 4u) << message;
    double expected = 1.0 / std::sqrt(1.0 + static_cast<float>(1e-5));
    for (int64_t i = 0; i != 768; ++i)
      EXPECT_EQ(results[0].floats()[i], static_cast<float>(i % 2 ? expected : -expected));
    EXPECT_EQ(results[1].floats()[0], mean);
    EXPECT_EQ(results[2].floats()[0], 0.0);
  }
}

/// The mean of 1e6 and 1e6+0.0625 is not an f32: its rest stands in mean_correction.
TEST_F(ReferenceTest, MeanCorrectionHoldsTheRest) {
  SmallVector<Array> results = run(normText, {tensor("tensor<?x?xf32>", {1, 2}, {1e6, 1e6 + 0.0625})});
  ASSERT_EQ(results.size(), 4u) << message;
  EXPECT_EQ(results[1].floats()[0] + results[2].floats()[0], 1e6 + 0.03125);
  EXPECT_NE(results[2].floats()[0], 0.0);
}

TEST_F(ReferenceTest, LayerNormOfConstantRowsIsZero) {
  for (double value : {0.1f, 1e30f, 1e-42f, -3.0f})
    for (double y : floats(normText, {tensor("tensor<?x?xf32>", {1, 65536}, {static_cast<float>(value)})}))
      EXPECT_EQ(y, 0.0);
}

TEST_F(ReferenceTest, NaNAndInfinitySpoilTheirOwnRowOnly) {
  for (double bad : {nan, infinity, -infinity}) {
    std::vector<double> y = floats(normText, {tensor("tensor<?x?xf32>", {3, 3}, {1, 2, 3, 4, bad, 6, 1, 2, 3})});
    ASSERT_EQ(y.size(), 9u);
    for (int i = 0; i != 9; ++i)
      EXPECT_EQ(std::isnan(y[i]), i / 3 == 1);
  }
}

TEST_F(ReferenceTest, RMSNormOfAnInfinity) {
  std::vector<double> y = floats(R"(func.func @f(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
    %y = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<1x3xf32>
    return %y : tensor<1x3xf32>
  })",
                                 {tensor("tensor<1x3xf32>", {1, 3}, {-1, infinity, 2})});
  ASSERT_EQ(y.size(), 3u) << message;
  EXPECT_TRUE(y[0] == 0.0 && std::signbit(y[0]) && std::isnan(y[1]) && y[2] == 0.0);
}

TEST_F(ReferenceTest, EmptyShapes) {
  SmallVector<Array> results = run(normText, {tensor("tensor<?x?xf32>", {2, 0}, {1})});
  ASSERT_EQ(results.size(), 4u) << message;
  EXPECT_EQ(results[0].size(), 0);
  EXPECT_TRUE(std::isnan(results[1].floats()[0]) && std::isnan(results[3].floats()[1])) << "width 0 has no statistics";
  EXPECT_EQ(run(normText, {tensor("tensor<?x?xf32>", {0, 4}, {1})}).size(), 4u);
}

/// Rows whose squares leave the range of double, and float64 accuracy at a mean of 1e6 deviations.
TEST_F(ReferenceTest, DoubleRowsOfAllSizes) {
  const char *text = R"(func.func @f(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
    %y = resid.layer_norm %x {epsilon = 0.0} : tensor<?x?xf64>
    return %y : tensor<?x?xf64>
  })";
  for (double size : {1e300, 1.0, 1e-200, 1e-310}) {
    std::vector<double> y = floats(text, {tensor("tensor<?x?xf64>", {1, 4}, {-size, size, size, -size})});
    ASSERT_EQ(y.size(), 4u) << message;
    expectNear(y, {-1, 1, 1, -1}, 1e-12);
  }
  std::vector<double> row(65536);
  for (size_t i = 0; i != row.size(); ++i)
    row[i] = 1e6 + (i % 2 ? 1.0 : -1.0);
  for (double y : floats(text, {tensor("tensor<?x?xf64>", {1, 65536}, row)}))
    ASSERT_NEAR(std::fabs(y), 1.0, 1e-14);
}

/// The mean 1e6 + 1/3 is not a double; what its rounding loses is not lost to the result.
TEST_F(ReferenceTest, DoubleMeansBetweenDoubles) {
  std::vector<double> y = floats(R"(func.func @f(%x: tensor<1x3xf64>) -> tensor<1x3xf64> {
    %y = resid.layer_norm %x {epsilon = 0.0} : tensor<1x3xf64>
    return %y : tensor<1x3xf64>
  })",
                                 {tensor("tensor<1x3xf64>", {1, 3}, {1e6, 1e6, 1e6 + 1})});
  expectNear(y, {-std::sqrt(0.5), -std::sqrt(0.5), std::sqrt(2.0)}, 1e-14);
}

/// NumPy broadcasting, where a size of 1 that is only known at run time does not broadcast.
TEST_F(ReferenceTest, GatesBroadcastStaticOnesOnly) {
  auto text = [](const std::string &gate) {
    return "func.func @f(%x: tensor<2x3xf32>, %g: " + gate +
           ") -> tensor<2x3xf32> {\n  %y = resid.add %x, %x gate(%g) : tensor<2x3xf32>, " + gate +
           "\n  return %y : tensor<2x3xf32>\n}";
  };
  Array x = tensor("tensor<2x3xf32>", {2, 3}, {1});
  EXPECT_EQ(floats(text("tensor<f32>"), {x, tensor("tensor<f32>", {}, {2})}), std::vector<double>(6, 3.0)) << message;
  EXPECT_EQ(floats(text("tensor<3xf32>"), {x, tensor("tensor<3xf32>", {3}, {0, 1, 2})}),
            (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(floats(text("tensor<2x1xf32>"), {x, tensor("tensor<2x1xf32>", {2, 1}, {0, 1})}),
            (std::vector<double>{1, 1, 1, 2, 2, 2}));
  EXPECT_TRUE(run(text("tensor<?xf32>"), {x, tensor("tensor<?xf32>", {1}, {1})}).empty());
  EXPECT_NE(message.find("expected gate to have size 3 in dimension 0 but got 1"), std::string::npos) << message;
}

//===------------------------------------------- rounding points --------------------------------------------------===//

/// bf16: 1 + 2^-8 lies halfway and rounds to 1; a wide result or the wide mode keeps it.
TEST_F(ReferenceTest, SumsRoundOnceToTheirType) {
  auto text = [](StringRef result) {
    return ("func.func @f(%x: tensor<1xbf16>) -> tensor<1x" + result +
            "> {\n %y = resid.add %x, %x {branch_scale = 0.00390625} : tensor<1xbf16> -> tensor<1x" + result +
            ">\n return %y : tensor<1x" + result + ">\n}")
        .str();
  };
  Array one = tensor("tensor<1xbf16>", {1}, {1});
  EXPECT_EQ(floats(text("bf16"), {one}), std::vector<double>{1.0}) << message;
  EXPECT_EQ(floats(text("f32"), {one}), std::vector<double>{1.00390625}) << message;
  EvaluationOptions wide;
  wide.mode = Mode::Wide;
  EXPECT_EQ(floats("func.func @f(%x: tensor<1xbf16>) -> tensor<1xf32> {\n"
                   " %y = resid.add %x, %x {branch_scale = 0.00390625} : tensor<1xbf16>\n"
                   " %w = arith.extf %y : tensor<1xbf16> to tensor<1xf32>\n return %w : tensor<1xf32>\n}",
                   {one}, wide),
            std::vector<double>{1.00390625});
}

/// f32: skip·x + u is one fma; a product rounded first would cancel to 0.
TEST_F(ReferenceTest, SkipScaleIsFused) {
  float third = 1.0f / 3.0f;
  std::vector<double> y = floats(R"(func.func @f(%x: tensor<1xf32>, %f: tensor<1xf32>) -> tensor<1xf32> {
    %y = resid.add %x, %f {skip_scale = 3.0} : tensor<1xf32>
    return %y : tensor<1xf32>
  })",
                                 {tensor("tensor<1xf32>", {1}, {third}), tensor("tensor<1xf32>", {1}, {-1})});
  ASSERT_EQ(y.size(), 1u) << message;
  EXPECT_EQ(y[0], std::fma(3.0f, third, -1.0f));
  EXPECT_NE(y[0], 0.0);
}

TEST_F(ReferenceTest, NarrowAffineRoundsTheNormalisedValueFirst) {
  auto run16 = [&](StringRef attribute) {
    return floats(("func.func @f(%x: tensor<1x2xbf16>, %g: tensor<2xbf16>) -> tensor<1x2xbf16> {\n"
                   " %y = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6" +
                   attribute + "} : tensor<1x2xbf16>, tensor<2xbf16>\n return %y : tensor<1x2xbf16>\n}")
                      .str(),
                  {tensor("tensor<1x2xbf16>", {1, 2}, {1, 2}), tensor("tensor<2xbf16>", {2}, {1.1015625})});
  };
  double rms = 1.0 / std::sqrt(2.5 + static_cast<float>(1e-6));
  auto bf16 = [](double value) { return roundTo(FloatKind::BF16, value); };
  EXPECT_EQ(run16(""), (std::vector<double>{bf16(rms * 1.1015625), bf16(2 * rms * 1.1015625)})) << message;
  EXPECT_EQ(run16(", narrow_affine"),
            (std::vector<double>{bf16(bf16(rms) * 1.1015625), bf16(bf16(2 * rms) * 1.1015625)}));
}

TEST_F(ReferenceTest, AddNormIsItsExpansion) {
  const char *fused =
      R"(func.func @f(%x: tensor<2x5xbf16>, %f: tensor<2x5xbf16>, %b: tensor<5xf32>, %w: tensor<2x1xf32>,
      %g: tensor<5xf32>, %s: i64) -> (tensor<2x5xbf16>, tensor<2x5xbf16>) {
    %n, %sum = resid.add_norm layer %x, %f bias(%b) dropout(%s, %s) gate(%w) gamma(%g)
      {epsilon = 1.0e-5, p = 0.3, site = 2, skip_scale = 1.5, branch_scale = 0.7, zero_centered_gamma}
      : tensor<2x5xbf16>, tensor<5xf32>, tensor<2x1xf32>, tensor<5xf32>
    return %n, %sum : tensor<2x5xbf16>, tensor<2x5xbf16>
  })";
  const char *flat = R"(func.func @f(%x: tensor<2x5xbf16>, %f: tensor<2x5xbf16>, %b: tensor<5xf32>, %w: tensor<2x1xf32>,
      %g: tensor<5xf32>, %s: i64) -> (tensor<2x5xbf16>, tensor<2x5xbf16>) {
    %0 = resid.add_bias %f, %b : tensor<2x5xbf16>, tensor<5xf32>
    %1 = resid.dropout %0 seed(%s, %s) {p = 0.3, site = 2} : tensor<2x5xbf16>
    %2 = resid.add %x, %1 gate(%w) {skip_scale = 1.5, branch_scale = 0.7} : tensor<2x5xbf16>, tensor<2x1xf32>
    %3 = resid.layer_norm %2 gamma(%g) {epsilon = 1.0e-5, zero_centered_gamma} : tensor<2x5xbf16>, tensor<5xf32>
    return %3, %2 : tensor<2x5xbf16>, tensor<2x5xbf16>
  })";
  std::vector<Array> arguments = {tensor("tensor<2x5xbf16>", {2, 5}, {1, -2, 0.5, 3, 0.25, 7, -1}),
                                  tensor("tensor<2x5xbf16>", {2, 5}, {0.75, 1.5, -0.125}),
                                  tensor("tensor<5xf32>", {5}, {0.5, 0.25, -1}),
                                  tensor("tensor<2x1xf32>", {2, 1}, {0.5, 2}),
                                  tensor("tensor<5xf32>", {5}, {0.25, -0.5}),
                                  integer(11)};
  SmallVector<Array> a = run(fused, arguments), b = run(flat, arguments);
  ASSERT_TRUE(a.size() == 2 && b.size() == 2) << message;
  EXPECT_EQ(a[0].floats(), b[0].floats());
  EXPECT_EQ(a[1].floats(), b[1].floats());
}

} // namespace
} // namespace mlir::resid::reference
