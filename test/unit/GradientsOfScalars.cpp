// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of gates of all shapes, and of dynamic tanh.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

/// Names a test after the type of its gate or gamma.
static std::string nameByType(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '<' || letter == '>' ? '_' : letter;
  return name;
}

class GateGradientTest : public GradientTest, public testing::WithParamInterface<const char *> {};

TEST_P(GateGradientTest, OfAnAdd) {
  check(replaceNames(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %f: tensor<2x3x4xf64>, %g: GATE) -> tensor<2x3x4xf64> {
      %y = resid.add %x, %f gate(%g) {skip_scale = 0.75, branch_scale = -1.5} : tensor<2x3x4xf64>, GATE
      %z = resid.add %y, %f gate(%g) : tensor<2x3x4xf64>, GATE
      return %z : tensor<2x3x4xf64>
    })",
                     {{"GATE", GetParam()}}));
}

INSTANTIATE_TEST_SUITE_P(Shapes, GateGradientTest,
                         testing::Values("tensor<f64>", "tensor<1xf64>", "tensor<4xf64>", "tensor<3x1xf64>",
                                         "tensor<3x4xf64>", "tensor<1x4xf64>", "tensor<2x1x1xf64>", "tensor<2x3x1xf64>",
                                         "tensor<2x1x4xf64>", "tensor<1x3x1xf64>", "tensor<1x1x1xf64>",
                                         "tensor<2x3x4xf64>"),
                         nameByType);

TEST_P(GateGradientTest, OfFactorsOfBothStreams) {
  check(replaceNames(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %f: tensor<2x3x4xf64>, %o: tensor<2x3x4xf64>, %s: GATE, %l: GATE)
        -> tensor<2x3x4xf64> {
      %y = resid.add %x, %f gate(%l) skip(%s) also(%o scale %l) {branch_scale = -1.5} : tensor<2x3x4xf64>, GATE, GATE, GATE
      %z = resid.add %y, %f skip(%s) also(%x) : tensor<2x3x4xf64>, GATE
      return %z : tensor<2x3x4xf64>
    })",
                     {{"GATE", GetParam()}}));
}

TEST_F(GradientTest, GateOfOneRow) {
  check(R"(
    func.func @f(%x: tensor<5xf64>, %g: tensor<f64>, %w: tensor<5xf64>) -> tensor<5xf64> {
      %y = resid.add %x, %x gate(%g) : tensor<5xf64>, tensor<f64>
      %z = resid.add %y, %x gate(%w) : tensor<5xf64>, tensor<5xf64>
      return %z : tensor<5xf64>
    })");
}

TEST_F(GradientTest, GatedSubLayer) {
  check(R"(
    func.func @f(%x: tensor<3x6xf64>, %f: tensor<3x6xf64>, %w: tensor<6xf64>, %g: tensor<6xf64>, %seed: i64, %step: i64)
        -> (tensor<3x6xf64>, tensor<3x6xf64>) {
      %d = resid.dropout %f seed(%seed, %step) {p = 0.25, site = 1} : tensor<3x6xf64>
      %n, %s = resid.add_norm layer %x, %d gate(%w) gamma(%g) {epsilon = 1.0e-5}
          : tensor<3x6xf64>, tensor<6xf64>, tensor<6xf64>
      return %n, %s : tensor<3x6xf64>, tensor<3x6xf64>
    })");
}

TEST_F(GradientTest, SecondStreamInAnAddNorm) {
  check(R"(
    func.func @f(%x: tensor<3x6xf64>, %f: tensor<3x6xf64>, %o: tensor<3x6xf64>, %s: tensor<f64>, %l: tensor<6xf64>)
        -> (tensor<3x6xf64>, tensor<3x6xf64>) {
      %n, %t = resid.add_norm rms %x, %f skip(%s) also(%o scale %l) {epsilon = 1.0e-5}
          : tensor<3x6xf64>, tensor<f64>, tensor<6xf64>
      return %n, %t : tensor<3x6xf64>, tensor<3x6xf64>
    })");
}

TEST_F(GradientTest, DynamicTanh) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %a: tensor<f64>, %g: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<2x3x4xf64> {
      %y = resid.dyt %x alpha(%a) gamma(%g) beta(%b) : tensor<2x3x4xf64>, tensor<f64>, tensor<4xf64>, tensor<4xf64>
      return %y : tensor<2x3x4xf64>
    })");
}

TEST_F(GradientTest, DynamicTanhInAStream) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %a: tensor<f64>, %g: tensor<3x4xf64>)
        -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>) {
      %y = resid.dyt %x alpha(%a) gamma(%g) {zero_centered_gamma} : tensor<2x3x4xf64>, tensor<f64>, tensor<3x4xf64>
      %z = resid.dyt %y alpha(%a) : tensor<2x3x4xf64>, tensor<f64>
      %s = resid.add %x, %z : tensor<2x3x4xf64>
      return %s, %y : tensor<2x3x4xf64>, tensor<2x3x4xf64>
    })");
}

TEST_F(GradientTest, DynamicTanhOfOneRow) {
  check(R"(
    func.func @f(%x: tensor<5xf64>, %a: tensor<f64>, %g: tensor<5xf64>) -> tensor<5xf64> {
      %y = resid.dyt %x alpha(%a) gamma(%g) : tensor<5xf64>, tensor<f64>, tensor<5xf64>
      return %y : tensor<5xf64>
    })");
}

} // namespace mlir::resid::reference
