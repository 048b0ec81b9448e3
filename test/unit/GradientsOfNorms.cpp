// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of group norm.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

TEST_F(GradientTest, GroupNorm) {
  check(R"(
    func.func @f(%x: tensor<2x2x12xf64>, %g: tensor<12xf64>, %b: tensor<12xf64>) -> tensor<2x2x12xf64> {
      %y = resid.group_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5, groups = 3}
          : tensor<2x2x12xf64>, tensor<12xf64>, tensor<12xf64>
      return %y : tensor<2x2x12xf64>
    })");
}

TEST_F(GradientTest, GroupNormInAStream) {
  check(R"(
    func.func @f(%x: tensor<3x8xf64>, %f: tensor<3x8xf64>, %g: tensor<8xf64>) -> (tensor<3x8xf64>, tensor<3x8xf64>) {
      %s = resid.add %x, %f : tensor<3x8xf64>
      %y = resid.group_norm %s gamma(%g) {epsilon = 1.0e-5, groups = 2, zero_centered_gamma}
          : tensor<3x8xf64>, tensor<8xf64>
      %z = resid.group_norm %y {epsilon = 1.0e-5, groups = 1} : tensor<3x8xf64>
      return %z, %s : tensor<3x8xf64>, tensor<3x8xf64>
    })");
}

} // namespace mlir::resid::reference
