// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By what results of attention are judged.

#include "test/unit/AttentionTest.h"

namespace mlir::resid::reference {
namespace {

using Program = AttentionProgram;

/// What wide mode gives is as near to the definition's own arithmetic as the bound says, which says something.
TEST_F(Attention, IsBoundedInWideMode) {
  EvaluationOptions wide;
  wide.mode = Mode::Wide, wide.trackAccuracy = true;
  for (int i = 0; i != 60; ++i) {
    Program program = draw();
    double scale = std::array<double, 3>{1, 6, 0.1}[i % 3];
    SmallVector<Array> arguments = makeArguments(program, scale);
    SmallVector<Array> exact = run(program.text(), arguments), found = run(program.text(), arguments, wide);
    ASSERT_TRUE(exact.size() == 3 && found.size() == 3) << message;
    for (size_t result = 0; result != 3; ++result) {
      auto accuracy = found[result].getAccuracy();
      ASSERT_TRUE(accuracy && accuracy->kind == Accuracy::Bounded);
      for (int64_t element = 0; element != found[result].size(); ++element) {
        double value = found[result].floats()[element], bound = accuracy->bounds[element];
        if (std::isinf(value))
          continue;
        ASSERT_LE(std::fabs(value - exact[result].floats()[element]), bound) << program.text();
        if (program.result == "f64")
          EXPECT_LE(bound, (program.isWide() ? 1e-11 : 5e-3) * (1 + std::fabs(value)) * std::max(scale * scale, 1.0));
      }
    }
  }
}

/// Small numbers that were worked out: one key of the score 2·3 with the value 4.
TEST_F(Attention, BoundsCountRoundings) {
  Program program;
  SmallVector<Array> arguments = {tensor("tensor<f32>", program.queryShape(), {2}),
                                  tensor("tensor<f32>", program.keyShape(), {3}),
                                  tensor("tensor<f32>", program.keyShape(), {4})};
  EvaluationOptions options;
  options.trackAccuracy = true;
  EXPECT_FALSE(run(program.text(), arguments, options)[0].getAccuracy()) << "bit-equal with fma";
  options.mode = Mode::Wide;
  SmallVector<Array> results = run(program.text(), arguments, options);
  ASSERT_EQ(results.size(), 3u) << message;
  // The score has four roundings of 6, and is stored; the weight has E's two units twice.
  double u = 1.001 * 0x1p-24, score = 4 * 6 * u, weight = score + 8 * u;
  EXPECT_NEAR(results[1].getAccuracy()->bounds[0], score + 0x1p-21, 1e-15);
  EXPECT_NEAR(results[2].getAccuracy()->bounds[0], weight + score + 14 * u + 0x1p-23, 1e-10);
  EXPECT_NEAR(results[0].getAccuracy()->bounds[0], 8 * weight + (4 + 14) * 4 * u + 0x1p-21, 1e-10);
  options.mode = Mode::ExactType;
  options.hasFMA = false;
  results = run(program.text(), arguments, options);
  ASSERT_EQ(results.size(), 3u) << message;
  EXPECT_NEAR(results[1].getAccuracy()->bounds[0], 3 * score + 0x1p-21, 1e-15);
}

/// Where f32 may overflow, nothing is known: a key of -Inf would be absent, and +Inf is a NaN even beside a mask of
/// -Inf.
TEST_F(Attention, HasNoBoundWhereScoresOverflow) {
  Program program;
  program.keys = 2, program.mask = "f32", program.maskShape = {2};
  EvaluationOptions options;
  options.mode = Mode::Wide, options.trackAccuracy = true;
  auto getBounds = [&](double query, double key, double addend) {
    std::vector<double> all;
    for (const Array &result :
         run(program.text(),
             {tensor("tensor<f32>", program.queryShape(), {query}), tensor("tensor<f32>", program.keyShape(), {key, 1}),
              tensor("tensor<f32>", program.keyShape(), {1, 2}), tensor("tensor<f32>", {2}, {addend, 0})},
             options))
      all.push_back(result.getAccuracy()->bounds[0]);
    return all;
  };
  std::vector<double> none(3, infinity);
  EXPECT_EQ(getBounds(1e30, 1e30, 0), none) << message;
  EXPECT_EQ(getBounds(1e30, 1e30, -infinity), none);
  EXPECT_EQ(getBounds(1e19, 1e19, 3e38), none);
  EXPECT_LT(getBounds(1, 1, -infinity)[0], 1e-5);
  // The least number of f32 is a usual mask.
  EXPECT_LT(getBounds(1, 1, -0x1.FFFFFEp127)[0], 1e-5);
}

/// The sum of two such values is no f32, though their mean is.
TEST_F(Attention, HasNoBoundWhereValuesOverflow) {
  Program program;
  program.keys = 2;
  EvaluationOptions options;
  options.mode = Mode::Wide, options.trackAccuracy = true;
  for (double value : {0x1p126, 0x1p127}) {
    SmallVector<Array> results =
        run(program.text(),
            {tensor("tensor<f32>", program.queryShape(), {1}), tensor("tensor<f32>", program.keyShape(), {1}),
             tensor("tensor<f32>", program.keyShape(), {value})},
            options);
    ASSERT_EQ(results.size(), 3u) << message;
    EXPECT_EQ(results[0].floats()[0], value);
    EXPECT_EQ(std::isinf(results[0].getAccuracy()->bounds[0]), value == 0x1p127);
  }
}

/// The second score is 0 and may be off by 1,800, which is more than it lies below the first.
TEST_F(Attention, BoundsKeysThatMayWeighMore) {
  Program program;
  program.keys = 2, program.size = 2;
  EvaluationOptions options;
  options.mode = Mode::Wide, options.trackAccuracy = true;
  SmallVector<Array> results = run(program.text(),
                                   {tensor("tensor<f32>", program.queryShape(), {1}),
                                    tensor("tensor<f32>", program.keyShape(), {900, 900, 0x1p32, -0x1p32}),
                                    tensor("tensor<f32>", program.keyShape(), {0, 0, 1, 1})},
                                   options);
  ASSERT_EQ(results.size(), 3u) << message;
  EXPECT_EQ(results[0].floats()[0], 0.0);
  EXPECT_GE(results[0].getAccuracy()->bounds[0], 1.0);
}

TEST_F(Attention, IsJudgedByTolerancesBehindInexactOps) {
  const char *text = R"(func.func @f(%q: tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32> {
    %n = resid.rms_norm %q {epsilon = 1.0e-5} : tensor<1x1x1x4xf32>
    %y = resid.attention %n, %q, %q : tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>
    return %y : tensor<1x1x1x4xf32>
  })";
  EvaluationOptions options;
  options.trackAccuracy = true;
  SmallVector<Array> results = run(text, {tensor("tensor<f32>", {1, 1, 1, 4}, {1, 2, 3, 4})}, options);
  ASSERT_EQ(results.size(), 1u) << message;
  ASSERT_TRUE(results[0].getAccuracy());
  EXPECT_EQ(results[0].getAccuracy()->kind, Accuracy::Tolerance);
}

} // namespace
} // namespace mlir::resid::reference
