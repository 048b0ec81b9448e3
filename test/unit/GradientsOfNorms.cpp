// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of L2 norm, group norm and batch norm.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

TEST_F(GradientTest, L2Norm) {
  check(R"(
    func.func @f(%x: tensor<2x3x5xf64>, %g: tensor<3x5xf64>, %b: tensor<3x5xf64>) -> (tensor<2x3x5xf64>, tensor<2xf64>) {
      %y = resid.l2_norm %x {epsilon = 1.0e-12} : tensor<2x3x5xf64>
      %z, %r = resid.l2_norm %y gamma(%g) beta(%b) {epsilon = 1.0e-12, zero_centered_gamma}
          : tensor<2x3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64> -> tensor<2x3x5xf64>, tensor<2xf64>
      return %z, %r : tensor<2x3x5xf64>, tensor<2xf64>
    })");
}

// All rows are shorter than the first epsilon, and longer than the second.
TEST_F(GradientTest, L2NormOfShortRows) {
  check(R"(
    func.func @f(%x: tensor<4x5xf64>, %f: tensor<4x5xf64>) -> (tensor<4x5xf64>, tensor<4xf64>, tensor<4x5xf64>) {
      %y, %r = resid.l2_norm %x {epsilon = 100.0} : tensor<4x5xf64> -> tensor<4x5xf64>, tensor<4xf64>
      %n, %s = resid.add_norm l2 %y, %f {epsilon = 1.0e-3} : tensor<4x5xf64>
      return %n, %r, %s : tensor<4x5xf64>, tensor<4xf64>, tensor<4x5xf64>
    })");
}

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

TEST_F(GradientTest, BatchNorm) {
  check(R"(
    func.func @f(%x: tensor<7x3xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<7x3xf64> {
      %y = resid.batch_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<7x3xf64>, tensor<3xf64>, tensor<3xf64>
      return %y : tensor<7x3xf64>
    })");
}

TEST_F(GradientTest, BatchNormInAStream) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %g: tensor<4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>) {
      %y = resid.batch_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<2x3x4xf64>, tensor<4xf64>
      %s = resid.add %x, %y : tensor<2x3x4xf64>
      %z = resid.batch_norm %s {epsilon = 1.0e-3} : tensor<2x3x4xf64>
      return %z, %s : tensor<2x3x4xf64>, tensor<2x3x4xf64>
    })");
}

// The program has the statistics too, or some of them.
TEST_F(GradientTest, BatchNormThatGivesStatistics) {
  for (StringRef more : {"", ", tensor<3xf64>, tensor<3xf64>"})
    check(replaceNames(R"(
      func.func @f(%x: tensor<?x3xf64>, %g: tensor<3xf64>) -> tensor<?x3xf64> {
        %y, %s:COUNT = resid.batch_norm %x gamma(%g) {epsilon = 1.0e-5}
            : tensor<?x3xf64>, tensor<3xf64> -> tensor<?x3xf64>, tensor<3xf64>, tensor<3xf64>MORE
        return %y : tensor<?x3xf64>
      })",
                       {{"COUNT", more.empty() ? "2" : "4"}, {"MORE", more}}));
}

TEST_F(GradientTest, BatchNormWithFixedStatistics) {
  check(R"(
    func.func @f(%x: tensor<4x3xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>) {
      %m = arith.constant dense<[0.5, -1.0, 2.0]> : tensor<3xf64>
      %v = arith.constant dense<[1.5, 0.25, 3.0]> : tensor<3xf64>
      %y = resid.batch_norm %x statistics(%m, %v) gamma(%g) beta(%b) {epsilon = 1.0e-5}
          : tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
      return %y, %x : tensor<4x3xf64>, tensor<4x3xf64>
    })");
}

// With the result and alone, beside another gradient of x.
TEST_F(GradientTest, StatisticsOfNorms) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3xf64>, tensor<2xf64>, tensor<2x3x2xf64>) {
      %y, %m, %c, %r = resid.layer_norm %x {epsilon = 1.0e-5}
          : tensor<2x3x4xf64> -> tensor<2x3x4xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
      %s = arith.mulf %m, %r : tensor<2x3xf64>
      %t = resid.add %x, %y : tensor<2x3x4xf64>
      %n, %q = resid.rms_norm %t {epsilon = 1.0e-5, norm_rank = 2} : tensor<2x3x4xf64> -> tensor<2x3x4xf64>, tensor<2xf64>
      %u, %gm, %gc, %gr = resid.group_norm %t {epsilon = 1.0e-5, groups = 2}
          : tensor<2x3x4xf64> -> tensor<2x3x4xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>
      %v = arith.addf %gr, %gm : tensor<2x3x2xf64>
      return %u, %s, %q, %v : tensor<2x3x4xf64>, tensor<2x3xf64>, tensor<2xf64>, tensor<2x3x2xf64>
    })");
  check(R"(
    func.func @f(%x: tensor<?xf64>) -> (tensor<f64>, tensor<f64>) {
      %y, %m, %c, %r = resid.layer_norm %x {epsilon = 1.0e-5}
          : tensor<?xf64> -> tensor<?xf64>, tensor<f64>, tensor<f64>, tensor<f64>
      return %m, %r : tensor<f64>, tensor<f64>
    })");
}

} // namespace mlir::resid::reference
