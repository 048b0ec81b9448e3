// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

/// Weights come from stacks; what an iteration saves is a stack, too. The number of layers is a size of an argument.
TEST_F(GradientTest, LayersOfStackedWeights) {
  check(R"(
    func.func @f(%x: tensor<?x3xf64>, %w: tensor<?x3x3xf64>, %g: tensor<?x3xf64>, %seed: i64, %step: i64)
        -> tensor<?x3xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %g, %c0 : tensor<?x3xf64>
      %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?x3xf64>) {
        %gi = tensor.extract_slice %g[%i, 0] [1, 3] [1, 1] : tensor<?x3xf64> to tensor<3xf64>
        %wi = tensor.extract_slice %w[%i, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<?x3x3xf64> to tensor<3x3xf64>
        %z = resid.layer_norm %a gamma(%gi) {epsilon = 1.0e-5} : tensor<?x3xf64>, tensor<3xf64>
        %h = resid.linear %z, %wi : tensor<?x3xf64>, tensor<3x3xf64>
        %u = resid.activation gelu %h : tensor<?x3xf64>
        %number = arith.index_cast %i : index to i64
        %later = arith.addi %step, %number : i64
        %d = resid.dropout %u seed(%seed, %later) {p = 0.3, site = 0} : tensor<?x3xf64>
        %b = resid.add %a, %d : tensor<?x3xf64>
        scf.yield %b : tensor<?x3xf64>
      }
      return %y : tensor<?x3xf64>
    })");
}

/// A vector that all layers share, and a carry that starts as a constant and meets the stream in the loop alone.
TEST_F(GradientTest, SharedWeightsAndASecondCarry) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>, %b: tensor<3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
      %c0 = arith.constant 3 : index
      %c1 = arith.constant 2 : index
      %n = arith.constant 8 : index
      %start = arith.constant dense<0.5> : tensor<2x3xf64>
      %y:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %m = %start) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
        %k = arith.index_cast %i : index to i64
        %r = arith.sitofp %k : i64 to f64
        %c = resid.add_bias %a, %b : tensor<2x3xf64>, tensor<3xf64>
        %t = math.tanh %c : tensor<2x3xf64>
        %s = tensor.splat %r : tensor<2x3xf64>
        %u = arith.divf %t, %s : tensor<2x3xf64>
        %p = arith.mulf %m, %u : tensor<2x3xf64>
        %q = arith.addf %a, %p : tensor<2x3xf64>
        scf.yield %q, %u : tensor<2x3xf64>, tensor<2x3xf64>
      }
      return %y#0, %y#1 : tensor<2x3xf64>, tensor<2x3xf64>
    })");
}

/// Stacks of stacks; the inner loop's start is the outer loop's carry, and the outer loop reads what the inner one
/// gives.
TEST_F(GradientTest, LoopsInLoops) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>, %g: tensor<4x3xf64>) -> tensor<2x3xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %two = arith.constant 2 : index
      %y = scf.for %i = %c0 to %two step %c1 iter_args(%a = %x) -> (tensor<2x3xf64>) {
        %z = scf.for %j = %c0 to %two step %c1 iter_args(%b = %a) -> (tensor<2x3xf64>) {
          %k = arith.muli %i, %two : index
          %l = arith.addi %k, %j : index
          %gi = tensor.extract_slice %g[%l, 0] [1, 3] [1, 1] : tensor<4x3xf64> to tensor<3xf64>
          %n = resid.rms_norm %b gamma(%gi) {epsilon = 1.0e-5} : tensor<2x3xf64>, tensor<3xf64>
          %s = resid.add %b, %n : tensor<2x3xf64>
          scf.yield %s : tensor<2x3xf64>
        }
        %t = math.exp %z : tensor<2x3xf64>
        %m = resid.layer_norm %t {epsilon = 1.0e-5} : tensor<2x3xf64>
        %u = arith.mulf %m, %z : tensor<2x3xf64>
        scf.yield %u : tensor<2x3xf64>
      }
      return %y : tensor<2x3xf64>
    })");
}

// The norms in front of and in the loop are replaced by ones with statistics before the loop is. Those of a group norm
// have another width than its rows.
TEST_F(GradientTest, ANormInFrontOfALoop) {
  check(R"(
    func.func @f(%x: tensor<?x3xf64>, %g: tensor<3xf64>) -> tensor<?x3xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x3xf64>, tensor<3xf64>
      %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %n) -> (tensor<?x3xf64>) {
        %m = resid.layer_norm %a gamma(%g) {epsilon = 1.0e-5} : tensor<?x3xf64>, tensor<3xf64>
        %o = resid.group_norm %m {epsilon = 1.0e-1, groups = 1} : tensor<?x3xf64>
        %t = math.tanh %o : tensor<?x3xf64>
        %s = resid.add %a, %t : tensor<?x3xf64>
        scf.yield %s : tensor<?x3xf64>
      }
      return %y : tensor<?x3xf64>
    })");
}

/// Sizes of what is saved come from a carry, through ops of linalg; a scalar is carried, and read.
TEST_F(GradientTest, OpenSizesAndANumber) {
  check(R"(
    func.func @f(%x: tensor<?x3xf64>, %g: tensor<2x3xf64>) -> tensor<?x3xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %two = arith.constant 2 : index
      %one = arith.constant 1.5 : f64
      %y:2 = scf.for %i = %c0 to %two step %c1 iter_args(%a = %x, %s = %one) -> (tensor<?x3xf64>, f64) {
        %r = tensor.dim %a, %c0 : tensor<?x3xf64>
        %gi = tensor.extract_slice %g[%i, 0] [1, 3] [1, 1] : tensor<2x3xf64> to tensor<3xf64>
        %e = tensor.empty(%r) : tensor<?x3xf64>
        %b = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                             iterator_types = ["parallel", "parallel"]} ins(%a, %gi : tensor<?x3xf64>, tensor<3xf64>) outs(%e : tensor<?x3xf64>) {
        ^bb0(%p: f64, %q: f64, %o: f64):
          %m = arith.mulf %p, %q : f64
          %t = math.tanh %m : f64
          %n = arith.mulf %t, %s : f64
          linalg.yield %n : f64
        } -> tensor<?x3xf64>
        %u = linalg.exp ins(%b : tensor<?x3xf64>) outs(%e : tensor<?x3xf64>) -> tensor<?x3xf64>
        %v = arith.mulf %u, %b : tensor<?x3xf64>
        %next = arith.mulf %s, %s : f64
        scf.yield %v, %next : tensor<?x3xf64>, f64
      }
      return %y#0 : tensor<?x3xf64>
    })");
}

/// No iteration, and a result that is the argument.
TEST_F(GradientTest, LoopThatNeverRuns) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
      %c0 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %y = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (tensor<2x3xf64>) {
        %c = resid.add_bias %a, %b : tensor<2x3xf64>, tensor<3xf64>
        %t = math.tanh %c : tensor<2x3xf64>
        scf.yield %t : tensor<2x3xf64>
      }
      return %y : tensor<2x3xf64>
    })");
}

TEST_F(GradientTest, Calls) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>, %g: tensor<3xf64>) -> tensor<2x3xf64> {
      %a = call @sub(%x, %g) : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
      %b = call @sub(%a, %g) : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
      return %b : tensor<2x3xf64>
    }
    func.func private @sub(%x: tensor<2x3xf64>, %g: tensor<3xf64>) -> tensor<2x3xf64> {
      %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<2x3xf64>, tensor<3xf64>
      %t = math.tanh %n : tensor<2x3xf64>
      %s = resid.add %x, %t : tensor<2x3xf64>
      return %s : tensor<2x3xf64>
    })");
}

} // namespace mlir::resid::reference
