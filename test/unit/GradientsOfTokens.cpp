// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of cross-entropy and embeddings.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

// From ids, which repeat, to a loss; the table is read twice.
TEST_F(GradientTest, FromIdsToTheLoss) {
  check(R"(
    func.func @f(%table: tensor<5x4xf64>, %x: tensor<2x3x4xf64>) -> tensor<2x3xf64> {
      %ids = arith.constant dense<[[4, 0, 4], [2, 4, 0]]> : tensor<2x3xi64>
      %labels = arith.constant dense<[[1, 0, 4], [4, 2, 2]]> : tensor<2x3xi32>
      %y = resid.embedding %ids, %table : tensor<2x3xi64>, tensor<5x4xf64>
      %s = resid.add %x, %y : tensor<2x3x4xf64>
      %logits = resid.linear %s, %table : tensor<2x3x4xf64>, tensor<5x4xf64>
      %loss = resid.cross_entropy %logits labels(%labels) {ignore_index = 2} : tensor<2x3x5xf64>, tensor<2x3xi32>
      return %loss : tensor<2x3xf64>
    })");
}

/// A lookup that is written by hand, in the middle of other arithmetic, with its columns in front of the tokens.
TEST_F(GradientTest, LookupInABody) {
  check(R"(
    func.func @f(%table: tensor<5x4xf64>, %places: tensor<3x4xf64>) -> tensor<4x2x3xf64> {
      %ids = arith.constant dense<[[4, 0, 4], [2, 4, 0]]> : tensor<2x3xi32>
      %e = tensor.empty() : tensor<4x2x3xf64>
      %y = linalg.generic {indexing_maps = [affine_map<(c, b, t) -> (b, t)>, affine_map<(c, b, t) -> (t, c)>,
                                            affine_map<(c, b, t) -> (c, b, t)>],
                           iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%ids, %places : tensor<2x3xi32>, tensor<3x4xf64>) outs(%e : tensor<4x2x3xf64>) {
      ^bb0(%id: i32, %place: f64, %old: f64):
        %row = arith.index_cast %id : i32 to index
        %column = linalg.index 0 : index
        %word = tensor.extract %table[%row, %column] : tensor<5x4xf64>
        %again = tensor.extract %table[%row, %column] : tensor<5x4xf64>
        %product = arith.mulf %word, %place : f64
        %z = arith.addf %product, %again : f64
        linalg.yield %z : f64
      } -> tensor<4x2x3xf64>
      return %y : tensor<4x2x3xf64>
    })");
}

TEST_F(GradientTest, LossOfOneRow) {
  check(R"(
    func.func @f(%x: tensor<7xf64>) -> tensor<f64> {
      %label = arith.constant dense<6> : tensor<i64>
      %loss = resid.cross_entropy %x labels(%label) : tensor<7xf64>, tensor<i64>
      return %loss : tensor<f64>
    })");
}

} // namespace mlir::resid::reference
