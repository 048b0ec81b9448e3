// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

namespace {

/// A function of tensors x and y of four rows with this body on their elements a and b, which yields r.
std::string makeElementwise(StringRef body) {
  return (R"(
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<4x3xf64>, %y: tensor<4x3xf64>) -> tensor<4x3xf64> {
      %e = tensor.empty() : tensor<4x3xf64>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%x, %y : tensor<4x3xf64>, tensor<4x3xf64>) outs(%e : tensor<4x3xf64>) {
        ^bb0(%a: f64, %b: f64, %o: f64):
          %one = arith.constant 1.0 : f64
          %half = arith.constant 0.5 : f64
          %two = arith.constant 2.0 : f64
          %aa = arith.mulf %a, %a : f64
          %bb = arith.mulf %b, %b : f64
          // Positive numbers, and numbers between -0.9 and 0.9.
          %p = arith.addf %aa, %half : f64
          %q = arith.addf %bb, %half : f64
          %factor = arith.constant 0.6 : f64
          %u = arith.mulf %a, %factor : f64
)" + body +
          R"(
          linalg.yield %r : f64
      } -> tensor<4x3xf64>
      return %z : tensor<4x3xf64>
    })")
      .str();
}

} // namespace

TEST_F(GradientTest, FunctionsOfOneNumber) {
  for (const char *form : {"arith.negf %a", "math.exp %a",  "math.exp2 %a",  "math.expm1 %a", "math.log %p",
                           "math.log1p %p", "math.log2 %p", "math.log10 %p", "math.sqrt %p",  "math.rsqrt %p",
                           "math.cbrt %p",  "math.tanh %a", "math.erf %a",   "math.erfc %a",  "math.sin %a",
                           "math.cos %a",   "math.tan %u",  "math.asin %u",  "math.acos %u",  "math.atan %a",
                           "math.sinh %a",  "math.cosh %a", "math.asinh %a", "math.atanh %u", "math.absf %a"}) {
    SCOPED_TRACE(form);
    check(makeElementwise("%r = " + std::string(form) + " : f64"));
  }
  check(makeElementwise("%m = arith.addf %p, %one : f64\n %r = math.acosh %m : f64"));
}

TEST_F(GradientTest, FunctionsOfSeveralNumbers) {
  for (const char *form : {"arith.addf %a, %b", "arith.subf %a, %b", "arith.mulf %a, %b", "arith.mulf %a, %a",
                           "arith.divf %a, %q", "arith.remf %a, %q", "arith.maximumf %a, %b", "arith.minimumf %a, %b",
                           "arith.maxnumf %a, %b", "arith.minnumf %a, %b", "math.copysign %a, %b", "math.powf %p, %b",
                           "math.powf %a, %two", "math.powf %p, %half", "math.atan2 %a, %b", "math.fma %a, %b, %p"}) {
    SCOPED_TRACE(form);
    check(makeElementwise("%r = " + std::string(form) + " : f64"));
  }
}

TEST_F(GradientTest, IntegerPowers) {
  for (const char *power : {"0", "1", "2", "3", "5", "-2"}) {
    SCOPED_TRACE(power);
    check(makeElementwise("%n = arith.constant " + std::string(power) + " : i64\n %r = math.fpowi %p, %n : f64, i64"));
  }
}

// Predicates, integers and steps have no gradient, and values that are read twice have two.
TEST_F(GradientTest, Choices) {
  check(makeElementwise(R"(
          %index = linalg.index 1 : index
          %c1 = arith.constant 1 : index
          %more = arith.addi %index, %c1 : index
          %number = arith.index_cast %more : index to i64
          %float = arith.sitofp %number : i64 to f64
          %steps = math.floor %a : f64
          %c = arith.cmpf ogt, %a, %b : f64
          %s = arith.select %c, %p, %q : f64
          %t = arith.mulf %s, %float : f64
          %w = arith.addf %t, %steps : f64
          %r = arith.mulf %w, %a : f64)"));
}

// Operands of fewer dimensions, of size 1 and in another order; a number for all; an init that is read.
TEST_F(GradientTest, Broadcasts) {
  check(R"(
    #id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
    func.func @f(%x: tensor<2x3x4xf64>, %turned: tensor<4x2x3xf64>, %row: tensor<4xf64>, %column: tensor<2x3x1xf64>,
                 %middle: tensor<3xf64>, %pair: tensor<4x2xf64>, %all: tensor<f64>, %one: tensor<1x1xf64>,
                 %old: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
      %z = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2) -> (d2, d0, d1)>,
            affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>,
            affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> ()>,
            affine_map<(d0, d1, d2) -> (0, 0)>, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%x, %turned, %row, %column, %middle, %pair, %all, %one : tensor<2x3x4xf64>, tensor<4x2x3xf64>, tensor<4xf64>,
              tensor<2x3x1xf64>, tensor<3xf64>, tensor<4x2xf64>, tensor<f64>, tensor<1x1xf64>)
          outs(%old : tensor<2x3x4xf64>) {
        ^bb0(%a: f64, %b: f64, %c: f64, %d: f64, %e: f64, %f: f64, %g: f64, %h: f64, %o: f64):
          %0 = arith.mulf %a, %b : f64
          %1 = math.sin %c : f64
          %2 = arith.mulf %d, %0 : f64
          %3 = arith.addf %1, %2 : f64
          %4 = math.fma %e, %f, %3 : f64
          %5 = arith.mulf %4, %g : f64
          %6 = arith.mulf %o, %h : f64
          %7 = arith.addf %5, %6 : f64
          linalg.yield %7 : f64
      } -> tensor<2x3x4xf64>
      return %z : tensor<2x3x4xf64>
    })");
}

// Sums and extrema over rows, columns and everything, with an init; two results of one op.
TEST_F(GradientTest, Reductions) {
  check(R"(
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<3x4xf64>, %y: tensor<4xf64>, %sum: tensor<3xf64>, %most: tensor<3xf64>, %all: tensor<f64>)
        -> (tensor<3xf64>, tensor<3xf64>, tensor<4xf64>, tensor<f64>) {
      %s, %m = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>,
            affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
          ins(%x, %y : tensor<3x4xf64>, tensor<4xf64>) outs(%sum, %most : tensor<3xf64>, tensor<3xf64>) {
        ^bb0(%a: f64, %b: f64, %o: f64, %p: f64):
          %0 = math.exp %a : f64
          %1 = arith.subf %0, %b : f64
          %2 = arith.addf %o, %1 : f64
          %3 = arith.mulf %a, %b : f64
          %4 = arith.maximumf %3, %p : f64
          linalg.yield %2, %4 : f64, f64
      } -> (tensor<3xf64>, tensor<3xf64>)
      %low = arith.constant 9.0 : f64
      %e = tensor.empty() : tensor<4xf64>
      %start = linalg.fill ins(%low : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
      %least = linalg.reduce {arith.minimumf} ins(%x : tensor<3x4xf64>) outs(%start : tensor<4xf64>) dimensions = [0]
      %total = linalg.reduce {arith.addf} ins(%x : tensor<3x4xf64>) outs(%all : tensor<f64>) dimensions = [0, 1]
      return %s, %m, %least, %total : tensor<3xf64>, tensor<3xf64>, tensor<4xf64>, tensor<f64>
    })");
}

TEST_F(GradientTest, NamedOps) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>, %y: tensor<2x3xf64>, %z: tensor<3xf64>) -> (tensor<2x3xf64>, tensor<3x2xf64>) {
      %e = tensor.empty() : tensor<2x3xf64>
      %0 = linalg.add ins(%x, %y : tensor<2x3xf64>, tensor<2x3xf64>) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
      %1 = linalg.exp ins(%0 : tensor<2x3xf64>) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
      %2 = linalg.broadcast ins(%z : tensor<3xf64>) outs(%e : tensor<2x3xf64>) dimensions = [0]
      %3 = linalg.map {arith.mulf} ins(%1, %2 : tensor<2x3xf64>, tensor<2x3xf64>) outs(%e : tensor<2x3xf64>)
      %4 = linalg.softmax dimension(1) ins(%3 : tensor<2x3xf64>) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
      %5 = arith.mulf %4, %4 : tensor<2x3xf64>
      %6 = arith.subf %5, %x : tensor<2x3xf64>
      %t = tensor.empty() : tensor<3x2xf64>
      %7 = linalg.transpose ins(%5 : tensor<2x3xf64>) outs(%t : tensor<3x2xf64>) permutation = [1, 0]
      %8 = linalg.softmax dimension(0) ins(%7 : tensor<3x2xf64>) outs(%t : tensor<3x2xf64>) -> tensor<3x2xf64>
      return %6, %8 : tensor<2x3xf64>, tensor<3x2xf64>
    })");
}

// Two elements that are largest share the gradient.
TEST_F(GradientTest, EqualMaxima) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<1x3xf64>) -> tensor<1xf64> {
      %low = arith.constant -9.0 : f64
      %e = tensor.empty() : tensor<1xf64>
      %start = linalg.fill ins(%low : f64) outs(%e : tensor<1xf64>) -> tensor<1xf64>
      %y = linalg.reduce {arith.maximumf} ins(%x : tensor<1x3xf64>) outs(%start : tensor<1xf64>) dimensions = [1]
      return %y : tensor<1xf64>
    })",
                                       &context);
  differentiate();
  Array x = tensor("tensor<1x3xf64>", {1, 3}, {2.0, 1.0, 2.0}), y = tensor("tensor<1xf64>", {1}, {2.0});
  Array dy = tensor("tensor<1xf64>", {1}, {6.0});
  expectNear(evaluateNamed("f_backward", {x, y, dy}).front().floats(), {3.0, 0.0, 3.0}, 0.0);
}

} // namespace mlir::resid::reference
