// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of norms, residual adds, bias and dropout.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

TEST_F(GradientTest, PostNorm) {
  check(R"(
    func.func @f(%x: tensor<3x9xf64>, %f: tensor<3x9xf64>, %b: tensor<9xf64>, %g: tensor<9xf64>, %be: tensor<9xf64>,
                 %seed: i64, %step: i64) -> tensor<3x9xf64> {
      %c = resid.add_bias %f, %b : tensor<3x9xf64>, tensor<9xf64>
      %d = resid.dropout %c seed(%seed, %step) {p = 0.3, site = 2} : tensor<3x9xf64>
      %s = resid.add %x, %d {skip_scale = 1.25, branch_scale = -0.5} : tensor<3x9xf64>
      %y = resid.layer_norm %s gamma(%g) beta(%be) {epsilon = 1.0e-5} : tensor<3x9xf64>, tensor<9xf64>, tensor<9xf64>
      return %y : tensor<3x9xf64>
    })");
}

TEST_F(GradientTest, PreNormWithTwoResults) {
  check(R"(
    func.func @f(%x: tensor<2x2x5xf64>, %f: tensor<2x2x5xf64>, %g: tensor<5xf64>)
        -> (tensor<2x2x5xf64>, tensor<2x2x5xf64>) {
      %n, %s = resid.add_norm rms %x, %f gamma(%g) {epsilon = 1.0e-6, zero_centered_gamma}
          : tensor<2x2x5xf64>, tensor<5xf64>
      return %n, %s : tensor<2x2x5xf64>, tensor<2x2x5xf64>
    })");
}

TEST_F(GradientTest, NormsOfSeveralDimensions) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %g: tensor<3x4xf64>, %b: tensor<3x4xf64>) -> tensor<2x3x4xf64> {
      %y = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<2x3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
      %z = resid.rms_norm %y gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<2x3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
      return %z : tensor<2x3x4xf64>
    })");
}

TEST_F(GradientTest, WithoutParameters) {
  check(R"(
    func.func @f(%x: tensor<3x7xf64>) -> tensor<3x7xf64> {
      %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<3x7xf64>
      %z = resid.add %x, %y : tensor<3x7xf64>
      %w = resid.rms_norm %z {epsilon = 1.0e-5, norm_rank = 2} : tensor<3x7xf64>
      return %w : tensor<3x7xf64>
    })");
}

TEST_F(GradientTest, OneRow) {
  check(R"(
    func.func @f(%x: tensor<6xf64>, %b: tensor<6xf64>, %g: tensor<6xf64>) -> tensor<6xf64> {
      %c = resid.add_bias %x, %b : tensor<6xf64>, tensor<6xf64>
      %y = resid.layer_norm %c gamma(%g) {epsilon = 1.0e-5} : tensor<6xf64>, tensor<6xf64>
      return %y : tensor<6xf64>
    })");
}

} // namespace mlir::resid::reference
