// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

/// The text with words in it replaced.
static std::string replaceWords(std::string text, ArrayRef<std::pair<StringRef, StringRef>> words) {
  for (auto [word, value] : words)
    for (size_t place; (place = text.find(word.str())) != std::string::npos;)
      text.replace(place, word.size(), value.str());
  return text;
}

// Weights of each kind, of which some are broadcast.
TEST_F(GradientTest, Reads) {
  for (auto [type, scale] : {std::pair("4x1", "1.0"), {"4x3", "0.5"}, {"2x4x1", "0.25"}, {"2x4x3", "1.0"}})
    check(replaceWords(R"(
    func.func @f(%x: tensor<2x4x3xf64>, %a: tensor<TYPExf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
      %0 = resid.read %x weights(%a) {scale = SCALE} : tensor<2x4x3xf64>, tensor<TYPExf64>
      %1 = resid.read %x : tensor<2x4x3xf64>
      %2 = math.sin %0 : tensor<2x3xf64>
      return %2, %1 : tensor<2x3xf64>, tensor<2x3xf64>
    })",
                       {{"TYPE", type}, {"SCALE", scale}}));
}

// A mix for all rows and one for each; a diagonal; the transpose of one.
TEST_F(GradientTest, Writes) {
  for (auto [mix, transposed] : {std::pair("3x3", ""),
                                 {"2x3x3", "{transposed}"},
                                 {"3x3", "{transposed}"},
                                 {"2x3x3", ""},
                                 {"3x1", ""},
                                 {"2x3x1", ""}})
    check(replaceWords(R"(
    func.func @f(%x: tensor<2x3x2xf64>, %y: tensor<2x2xf64>, %b: tensor<2x3x1xf64>, %c: tensor<TYPExf64>)
        -> (tensor<2x3x2xf64>, tensor<2x3x2xf64>) {
      %0 = resid.write %x, %y weights(%b) mix(%c) FLAG : tensor<2x3x2xf64>, tensor<2x3x1xf64>, tensor<TYPExf64>
      %1 = resid.write %0 mix(%c) FLAG : tensor<2x3x2xf64>, tensor<TYPExf64>
      %2 = resid.write %1, %y : tensor<2x3x2xf64>
      %3 = math.sin %0 : tensor<2x3x2xf64>
      return %2, %3 : tensor<2x3x2xf64>, tensor<2x3x2xf64>
    })",
                       {{"TYPE", mix}, {"FLAG", transposed}}));
}

// The norm after the product, and its rstd as a result of its own.
TEST_F(GradientTest, Projections) {
  check(R"(
    func.func @f(%x: tensor<3x2x4xf64>, %w: tensor<5x8xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x2x4xf64>) {
      %z, %rstd = resid.project %x, %w {epsilon = 1.0e-2} : tensor<3x2x4xf64>, tensor<5x8xf64> -> tensor<3x5xf64>, tensor<3xf64>
      %0 = math.sin %z : tensor<3x5xf64>
      %1 = math.exp %x : tensor<3x2x4xf64>
      return %0, %rstd, %1 : tensor<3x5xf64>, tensor<3xf64>, tensor<3x2x4xf64>
    })");
}

TEST_F(GradientTest, Sinkhorn) {
  for (const char *iterations : {"1", "2", "20"})
    check(replaceWords(R"(
    func.func @f(%l: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
      %0 = resid.sinkhorn %l {iterations = COUNT, epsilon = 1.0e-3} : tensor<2x3x3xf64>
      return %0 : tensor<2x3x3xf64>
    })",
                       {{"COUNT", iterations}}));
}

// Each stream is normalised by itself, and has a gamma of its own.
TEST_F(GradientTest, NormOfStreams) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %g: tensor<3x4xf64>, %b: tensor<3x4xf64>) -> tensor<2x3x4xf64> {
      %0 = resid.rms_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-2, norm_rank = 1, zero_centered_gamma}
           : tensor<2x3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
      return %0 : tensor<2x3x4xf64>
    })");
}

// A whole sub-layer with manifold-constrained hyper-connections.
TEST_F(GradientTest, HyperConnection) {
  check(R"(
    func.func @f(%x: tensor<2x2x3xf64>, %w: tensor<8x6xf64>, %base: tensor<2x8xf64>) -> tensor<2x2x3xf64> {
      %z = resid.project %x, %w {epsilon = 1.0e-2} : tensor<2x2x3xf64>, tensor<8x6xf64>
      %c = arith.addf %z, %base : tensor<2x8xf64>
      %pre = tensor.extract_slice %c[0, 0] [2, 2] [1, 1] : tensor<2x8xf64> to tensor<2x2xf64>
      %post = tensor.extract_slice %c[0, 2] [2, 2] [1, 1] : tensor<2x8xf64> to tensor<2x2xf64>
      %comb = tensor.extract_slice %c[0, 4] [2, 4] [1, 1] : tensor<2x8xf64> to tensor<2x4xf64>
      %s = resid.activation sigmoid %pre : tensor<2x2xf64>
      %t = resid.activation sigmoid %post : tensor<2x2xf64>
      %a = tensor.expand_shape %s [[0], [1, 2]] output_shape [2, 2, 1] : tensor<2x2xf64> into tensor<2x2x1xf64>
      %b = tensor.expand_shape %t [[0], [1, 2]] output_shape [2, 2, 1] : tensor<2x2xf64> into tensor<2x2x1xf64>
      %l = tensor.expand_shape %comb [[0], [1, 2]] output_shape [2, 2, 2] : tensor<2x4xf64> into tensor<2x2x2xf64>
      %m = resid.sinkhorn %l {iterations = 3, epsilon = 1.0e-3} : tensor<2x2x2xf64>
      %u = resid.read %x weights(%a) : tensor<2x2x3xf64>, tensor<2x2x1xf64>
      %y = math.tanh %u : tensor<2x3xf64>
      %n = resid.write %x, %y weights(%b) mix(%m) : tensor<2x2x3xf64>, tensor<2x2x1xf64>, tensor<2x2x2xf64>
      return %n : tensor<2x2x3xf64>
    })");
}

} // namespace mlir::resid::reference
