// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of contractions, linear layers and rotary embeddings.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

// Along a row of a factor, along a column, and onto an initial value.
TEST_F(GradientTest, Matmul) {
  check(R"(
    func.func @f(%a: tensor<3x4xf64>, %b: tensor<4x2xf64>, %init: tensor<3x2xf64>, %v: tensor<2xf64>) -> tensor<3xf64> {
      %p = linalg.matmul ins(%a, %b : tensor<3x4xf64>, tensor<4x2xf64>) outs(%init : tensor<3x2xf64>) -> tensor<3x2xf64>
      %zero = arith.constant dense<0.0> : tensor<3xf64>
      %y = linalg.matvec ins(%p, %v : tensor<3x2xf64>, tensor<2xf64>) outs(%zero : tensor<3xf64>) -> tensor<3xf64>
      return %y : tensor<3xf64>
    })");
}

TEST_F(GradientTest, OtherNamedProducts) {
  check(R"(
    func.func @f(%a: tensor<2x3x4xf64>, %b: tensor<2x4x3xf64>, %v: tensor<3xf64>, %w: tensor<2x3xf64>)
        -> (tensor<f64>, tensor<3x3xf64>, tensor<3xf64>, tensor<2x3xf64>) {
      %c0 = arith.constant dense<0.0> : tensor<f64>
      %c3 = arith.constant dense<0.0> : tensor<3xf64>
      %c23 = arith.constant dense<0.0> : tensor<2x3xf64>
      %c33 = arith.constant dense<0.0> : tensor<3x3xf64>
      %c233 = arith.constant dense<0.0> : tensor<2x3x3xf64>
      %p = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf64>, tensor<2x4x3xf64>) outs(%c233 : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
      %r = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x3x4xf64>, tensor<2x4x3xf64>) outs(%c33 : tensor<3x3xf64>) -> tensor<3x3xf64>
      %m = linalg.batch_matvec ins(%p, %w : tensor<2x3x3xf64>, tensor<2x3xf64>) outs(%c23 : tensor<2x3xf64>) -> tensor<2x3xf64>
      %n = linalg.batch_vecmat ins(%w, %p : tensor<2x3xf64>, tensor<2x3x3xf64>) outs(%m : tensor<2x3xf64>) -> tensor<2x3xf64>
      %u = linalg.vecmat ins(%v, %r : tensor<3xf64>, tensor<3x3xf64>) outs(%c3 : tensor<3xf64>) -> tensor<3xf64>
      %d = linalg.dot ins(%u, %v : tensor<3xf64>, tensor<3xf64>) outs(%c0 : tensor<f64>) -> tensor<f64>
      return %d, %r, %u, %n : tensor<f64>, tensor<3x3xf64>, tensor<3xf64>, tensor<2x3xf64>
    })");
}

// Maps in any order, the same tensor twice, and a loop that one factor alone knows.
TEST_F(GradientTest, ProductsWithMaps) {
  check(R"(
    #a = affine_map<(i, j, k) -> (k, i)>
    #b = affine_map<(i, j, k) -> (k, j)>
    #c = affine_map<(i, j, k) -> (j, i)>
    #all = affine_map<(i, j, k) -> (i, j, k)>
    #last = affine_map<(i, j, k) -> (j)>
    #first = affine_map<(i, j, k) -> (i)>
    func.func @f(%a: tensor<4x3xf64>, %x: tensor<3x2x4xf64>, %v: tensor<2xf64>) -> (tensor<3x3xf64>, tensor<3xf64>) {
      %c33 = arith.constant dense<0.0> : tensor<3x3xf64>
      %c3 = arith.constant dense<0.0> : tensor<3xf64>
      %g = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %a : tensor<4x3xf64>, tensor<4x3xf64>) outs(%c33 : tensor<3x3xf64>) -> tensor<3x3xf64>
      %s = linalg.generic {indexing_maps = [#all, #last, #first], iterator_types = ["parallel", "reduction", "reduction"]}
          ins(%x, %v : tensor<3x2x4xf64>, tensor<2xf64>) outs(%c3 : tensor<3xf64>) {
      ^bb0(%e: f64, %w: f64, %old: f64):
        %p = arith.mulf %w, %e : f64
        %n = arith.addf %p, %old : f64
        linalg.yield %n : f64
      } -> tensor<3xf64>
      return %g, %s : tensor<3x3xf64>, tensor<3xf64>
    })");
}

TEST_F(GradientTest, LinearLayers) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %w: tensor<5x4xf64>, %b: tensor<5xf64>, %v: tensor<5x2xf64>, %c: tensor<2xf64>)
        -> tensor<2x3x2xf64> {
      %h = resid.linear %x, %w bias(%b) : tensor<2x3x4xf64>, tensor<5x4xf64>, tensor<5xf64>
      %y = resid.linear %h, %v bias(%c) {transposed} : tensor<2x3x5xf64>, tensor<5x2xf64>, tensor<2xf64>
      return %y : tensor<2x3x2xf64>
    })");
}

// One row, and a weight with several readers, in both orders.
TEST_F(GradientTest, LinearLayersOfOneRow) {
  check(R"(
    func.func @f(%x: tensor<4xf64>, %w: tensor<3x4xf64>, %b: tensor<3xf64>, %z: tensor<2x3xf64>) -> (tensor<3xf64>, tensor<2x3xf64>) {
      %y = resid.linear %x, %w bias(%b) : tensor<4xf64>, tensor<3x4xf64>, tensor<3xf64>
      %u = resid.linear %z, %w {transposed} : tensor<2x3xf64>, tensor<3x4xf64>
      %t = resid.linear %u, %w : tensor<2x4xf64>, tensor<3x4xf64>
      return %y, %t : tensor<3xf64>, tensor<2x3xf64>
    })");
}

TEST_F(GradientTest, Rotary) {
  check(R"(
    func.func @f(%x: tensor<2x3x5xf64>, %cos: tensor<4x2xf64>, %sin: tensor<4x2xf64>, %a: tensor<3x2xf64>, %b: tensor<3x2xf64>)
        -> tensor<2x3x5xf64> {
      %one = arith.constant 1 : i64
      %each = arith.constant dense<[1, 0]> : tensor<2xi64>
      %g = resid.rotary %x cos(%cos) sin(%sin) offset(%each)
          : tensor<2x3x5xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<2xi64>
      %h = resid.rotary %g cos(%cos) sin(%sin) offset(%one) : tensor<2x3x5xf64>, tensor<4x2xf64>, tensor<4x2xf64>
      %y = resid.rotary %h cos(%a) sin(%b) {interleaved} : tensor<2x3x5xf64>, tensor<3x2xf64>, tensor<3x2xf64>
      return %y : tensor<2x3x5xf64>
    })",
        {0});
}

} // namespace mlir::resid::reference
