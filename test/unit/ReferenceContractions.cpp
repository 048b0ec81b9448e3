// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions in the reference evaluator: the chain, and by what their results are judged.

#include "test/unit/ReferenceTest.h"

#include <cmath>

namespace mlir::resid::reference {
namespace {

const char *matmul = R"(func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";

class Contractions : public ReferenceTest {
protected:
  Array matrix(int64_t rows, int64_t columns, ArrayRef<double> values) {
    return tensor("tensor<?x?xf32>", {rows, columns}, values);
  }
  /// What judges the result of `text`, on the same arguments as `floats`.
  std::shared_ptr<const Accuracy> judge(StringRef text, ArrayRef<Array> arguments, EvaluationOptions options) {
    options.trackAccuracy = true;
    SmallVector<Array> results = run(text, arguments, options);
    return results.empty() ? nullptr : results.front().getAccuracy();
  }
};

/// Products are never rounded: 1 + 2^-12 squared, less what its square rounds to, is 2^-24.
TEST_F(Contractions, FuseProducts) {
  double a = 1 + 0x1p-12, rounded = 1 + 0x1p-11;
  EXPECT_EQ(floats(matmul, {matrix(1, 1, {a}), matrix(1, 1, {a}), matrix(1, 1, {-rounded})}),
            std::vector<double>{0x1p-24})
      << message;
}

/// From the initial value on, one term after the other: in f32 each of these is lost beside 2^24, and none beside 0.
TEST_F(Contractions, AddInTheOrderOfTheLoop) {
  std::vector<double> ones(64, 1.0);
  Array row = matrix(1, 64, ones), column = matrix(64, 1, ones);
  EXPECT_EQ(floats(matmul, {row, column, matrix(1, 1, {0x1p24})}), std::vector<double>{0x1p24}) << message;
  ones.back() = 0x1p24;
  EXPECT_EQ(floats(matmul, {matrix(1, 64, ones), column, matrix(1, 1, {0})}), std::vector<double>{0x1p24 + 64});
  std::swap(ones.front(), ones.back());
  EXPECT_EQ(floats(matmul, {matrix(1, 64, ones), column, matrix(1, 1, {0})}), std::vector<double>{0x1p24});
}

/// In an op of two contracted loops the inner one comes first, whatever the order of the operands' axes.
TEST_F(Contractions, FollowTheLoopsOfTheOp) {
  auto text = [](StringRef loops) {
    return (R"(func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2x1xf32>, %c: tensor<1xf32>) -> tensor<1xf32> {
      %y = linalg.contract indexing_maps = [affine_map<()" +
            loops + ") -> (i, j)>, affine_map<(" + loops + ") -> (i, j, n)>, affine_map<(" + loops + R"() -> (n)>]
        ins(%a, %b : tensor<2x2xf32>, tensor<2x2x1xf32>) outs(%c : tensor<1xf32>) -> tensor<1xf32>
      return %y : tensor<1xf32>
    })")
        .str();
  };
  std::vector<Array> arguments = {tensor("tensor<2x2xf32>", {2, 2}, {1, 0x1p24, 1, -0x1p24}),
                                  tensor("tensor<2x2x1xf32>", {2, 2, 1}, {1}), tensor("tensor<1xf32>", {1}, {0})};
  // ((1 + 2^24) + 1) - 2^24, where the first two 1 are lost; and ((1 + 1) + 2^24) - 2^24.
  EXPECT_EQ(floats(text("n, i, j"), arguments), std::vector<double>{0}) << message;
  EXPECT_EQ(floats(text("n, j, i"), arguments), std::vector<double>{2}) << message;
}

/// bf16 keeps 8 bits of the sum of 299 ones, once: a sum that was rounded at each step would stop at 256.
TEST_F(Contractions, RoundToStorageOnce) {
  std::vector<double> ones(299, 1.0);
  const char *text =
      R"(func.func @f(%a: tensor<299xbf16>, %b: tensor<299x1xbf16>, %c: tensor<1xbf16>) -> tensor<1xbf16> {
    %y = linalg.vecmat ins(%a, %b : tensor<299xbf16>, tensor<299x1xbf16>) outs(%c : tensor<1xbf16>) -> tensor<1xbf16>
    return %y : tensor<1xbf16>
  })";
  EXPECT_EQ(floats(text, {tensor("tensor<299xbf16>", {299}, ones), tensor("tensor<299x1xbf16>", {299, 1}, ones),
                          tensor("tensor<1xbf16>", {1}, {0})}),
            std::vector<double>{300})
      << message;
}

/// A named op that would narrow a factor does not: 2^24 + 1 is a number of f64 only. One rounding to f32 comes at the
/// end.
TEST_F(Contractions, ComputeInTheWidestType) {
  const char *text = R"(func.func @f(%a: tensor<1x1xf64>, %b: tensor<1x1xf32>, %c: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %y = linalg.matmul ins(%a, %b : tensor<1x1xf64>, tensor<1x1xf32>) outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
    return %y : tensor<1x1xf32>
  })";
  EXPECT_EQ(floats(text, {tensor("tensor<1x1xf64>", {1, 1}, {0x1p24 + 1}), tensor("tensor<1x1xf32>", {1, 1}, {1}),
                          tensor("tensor<1x1xf32>", {1, 1}, {-0x1p24})}),
            std::vector<double>{1})
      << message;
}

TEST_F(Contractions, KeepTheInitialValueOfAnEmptySum) {
  std::vector<double> y = floats(matmul, {matrix(2, 0, {}), matrix(0, 2, {}), matrix(2, 2, {-0.0, nan, 3, infinity})});
  ASSERT_EQ(y.size(), 4u) << message;
  EXPECT_TRUE(std::signbit(y[0]) && y[0] == 0.0 && std::isnan(y[1]) && y[2] == 3.0 && y[3] == infinity);
  EXPECT_TRUE(floats(matmul, {matrix(0, 3, {}), matrix(3, 0, {}), matrix(0, 0, {})}).empty());
  EXPECT_EQ(message, "");
}

TEST_F(Contractions, SizesThatDisagreeAreNamed) {
  EXPECT_TRUE(floats(matmul, {matrix(2, 3, {1}), matrix(4, 2, {1}), matrix(2, 2, {1})}).empty());
  EXPECT_NE(message.find("expected operands to agree on the size of loop 2 but got 3 and 4"), std::string::npos)
      << message;
}

//===------------------------------------------- accuracy ---------------------------------------------------------===//

TEST_F(Contractions, AreBitEqualInExactTypeMode) {
  std::vector<Array> arguments = {matrix(2, 3, {1, 2, 3}), matrix(3, 2, {1}), matrix(2, 2, {1})};
  EXPECT_FALSE(judge(matmul, arguments, {})) << message;
  // 2·3 roundings and one more, of a sum of magnitudes of 7.
  EvaluationOptions split;
  split.hasFMA = false;
  auto accuracy = judge(matmul, arguments, split);
  ASSERT_TRUE(accuracy && accuracy->kind == Accuracy::Bounded);
  expectNear(accuracy->bounds, std::vector<double>(4, 7 * 7 * 0x1p-24), 1e-12);
}

/// (K+1)·2^-24·Σ in wide mode; a narrower result adds one unit in its last place.
TEST_F(Contractions, AreBoundedInWideMode) {
  EvaluationOptions wide;
  wide.mode = Mode::Wide;
  auto accuracy = judge(matmul, {matrix(1, 3, {1, -2, 3}), matrix(3, 1, {1}), matrix(1, 1, {-1})}, wide);
  ASSERT_TRUE(accuracy && accuracy->kind == Accuracy::Bounded) << message;
  expectNear(accuracy->bounds, {4 * 7 * 0x1p-24}, 1e-12);
  const char *text = R"(func.func @f(%a: tensor<3xbf16>, %b: tensor<3x1xbf16>) -> tensor<1xbf16> {
    %zero = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<1xbf16>
    %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<1xbf16>) -> tensor<1xbf16>
    %y = linalg.vecmat ins(%a, %b : tensor<3xbf16>, tensor<3x1xbf16>) outs(%c : tensor<1xbf16>) -> tensor<1xbf16>
    return %y : tensor<1xbf16>
  })";
  accuracy = judge(text, {tensor("tensor<3xbf16>", {3}, {1}), tensor("tensor<3x1xbf16>", {3, 1}, {1})}, wide);
  ASSERT_TRUE(accuracy && accuracy->kind == Accuracy::Bounded) << message;
  expectNear(accuracy->bounds, {4 * 3 * 0x1p-24 + 0x1p-6}, 1e-12);
}

/// What compiled code rounded on the way is not what wide mode computes with.
TEST_F(Contractions, HaveNoBoundInWideModeBehindOtherOps) {
  const char *text = R"(func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %s = resid.add %a, %a : tensor<?x?xf32>
    %y = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";
  std::vector<Array> arguments = {matrix(1, 3, {1}), matrix(3, 1, {1}), matrix(1, 1, {1})};
  EvaluationOptions wide;
  wide.mode = Mode::Wide;
  auto accuracy = judge(text, arguments, wide);
  ASSERT_TRUE(accuracy && accuracy->kind == Accuracy::Tolerance) << message;
  EXPECT_FALSE(judge(text, arguments, {})) << "sums are bit-equal, and so is what is made of them";
}

} // namespace
} // namespace mlir::resid::reference
