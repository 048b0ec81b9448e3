// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of attention: masks, causality, shared heads and dropout.

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

TEST_F(GradientTest, Attention) {
  check(R"(
    func.func @f(%q: tensor<2x2x3x4xf64>, %k: tensor<2x2x5x4xf64>, %v: tensor<2x2x5x4xf64>) -> tensor<2x2x3x4xf64> {
      %y = resid.attention %q, %k, %v {scale = 0.7} : tensor<2x2x3x4xf64>, tensor<2x2x5x4xf64>, tensor<2x2x5x4xf64>
      return %y : tensor<2x2x3x4xf64>
    })");
}

// The same tensor is read three times, and no later key.
TEST_F(GradientTest, CausalAttentionOfItself) {
  check(R"(
    func.func @f(%x: tensor<1x2x4x3xf64>) -> tensor<1x2x4x3xf64> {
      %y = resid.attention %x, %x, %x {causal} : tensor<1x2x4x3xf64>, tensor<1x2x4x3xf64>, tensor<1x2x4x3xf64>
      return %y : tensor<1x2x4x3xf64>
    })");
}

// Query 1 has no key, and nothing reads key 2.
TEST_F(GradientTest, AttentionWithBooleanMask) {
  check(R"(
    func.func @f(%q: tensor<1x2x3x4xf64>, %k: tensor<1x2x3x4xf64>, %v: tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf64> {
      %mask = arith.constant dense<[[true, true, false], [false, false, false], [true, false, false]]> : tensor<3x3xi1>
      %y = resid.attention %q, %k, %v mask(%mask)
          : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<3x3xi1>
      return %y : tensor<1x2x3x4xf64>
    })");
}

TEST_F(GradientTest, AttentionWithSharedHeads) {
  check(R"(
    func.func @f(%q: tensor<2x4x2x3xf64>, %k: tensor<2x2x4x3xf64>, %v: tensor<2x2x4x3xf64>, %mask: tensor<4x1x4xf64>)
        -> tensor<2x4x2x3xf64> {
      %y = resid.attention %q, %k, %v mask(%mask)
          : tensor<2x4x2x3xf64>, tensor<2x2x4x3xf64>, tensor<2x2x4x3xf64>, tensor<4x1x4xf64>
      return %y : tensor<2x4x2x3xf64>
    })",
        {0, 1, 2});
}

// The number of heads that share keys is known at run time only.
TEST_F(GradientTest, AttentionWithOpenHeadsAndDropout) {
  check(R"(
    func.func @f(%q: tensor<1x?x3x2xf64>, %k: tensor<1x2x5x2xf64>, %v: tensor<1x2x5x2xf64>, %seed: i64, %step: i64,
                 %row: i64, %site: i64) -> tensor<1x?x3x2xf64> {
      %y = resid.attention %q, %k, %v dropout(%seed, %step) origin(%row, %site) {p = 0.4, site = 3}
          : tensor<1x?x3x2xf64>, tensor<1x2x5x2xf64>, tensor<1x2x5x2xf64>
      return %y : tensor<1x?x3x2xf64>
    })");
}

TEST_F(GradientTest, AttentionWithWindows) {
  check(R"(
    func.func @f(%q: tensor<1x2x5x3xf64>, %k: tensor<1x1x5x3xf64>, %v: tensor<1x1x5x3xf64>) -> tensor<1x2x5x3xf64> {
      %a = resid.attention %q, %k, %v {causal, window = 2}
          : tensor<1x2x5x3xf64>, tensor<1x1x5x3xf64>, tensor<1x1x5x3xf64>
      %y = resid.attention %a, %k, %v {window = 3} : tensor<1x2x5x3xf64>, tensor<1x1x5x3xf64>, tensor<1x1x5x3xf64>
      return %y : tensor<1x2x5x3xf64>
    })");
}

// Padding, a key that no query sees, and a sequence whose keys stand before those of another.
TEST_F(GradientTest, AttentionOfPack) {
  check(R"(
    func.func @f(%q: tensor<1x2x6x3xf64>, %k: tensor<1x1x6x3xf64>, %v: tensor<1x1x6x3xf64>, %sink: tensor<2xf64>)
        -> tensor<1x2x6x3xf64> {
      %a = arith.constant dense<[[5, 5, -1, 2, 2, 2]]> : tensor<1x6xi32>
      %b = arith.constant dense<[[2, 2, 5, 5, 5, -1]]> : tensor<1x6xi32>
      %s = resid.attention %q, %k, %v sink(%sink) segments(%a, %b) {causal}
          : tensor<1x2x6x3xf64>, tensor<1x1x6x3xf64>, tensor<1x1x6x3xf64>, tensor<2xf64>, tensor<1x6xi32>, tensor<1x6xi32>
      %y = resid.attention %s, %k, %v segments(%a, %a) {cap = 2.0, window = 2}
          : tensor<1x2x6x3xf64>, tensor<1x1x6x3xf64>, tensor<1x1x6x3xf64>, tensor<1x6xi32>, tensor<1x6xi32>
      return %y : tensor<1x2x6x3xf64>
    })");
}

// Head 1 has a sink that is -Inf, and query 1 no key.
TEST_F(GradientTest, AttentionWithCapAndSink) {
  check(R"(
    func.func @f(%q: tensor<2x2x3x4xf64>, %k: tensor<2x1x5x4xf64>, %v: tensor<2x1x5x4xf64>, %sink: tensor<2xf64>)
        -> tensor<2x2x3x4xf64> {
      %none = arith.constant dense<[0.0, 0xFFF0000000000000]> : tensor<2xf64>
      %some = arith.addf %sink, %none : tensor<2xf64>
      %a = resid.attention %q, %k, %v sink(%some) {cap = 0.8}
          : tensor<2x2x3x4xf64>, tensor<2x1x5x4xf64>, tensor<2x1x5x4xf64>, tensor<2xf64>
      %mask = arith.constant dense<[[true, true, false, true, true], [false, false, false, false, false],
                                    [true, false, true, true, true]]> : tensor<3x5xi1>
      %y = resid.attention %a, %k, %v mask(%mask) sink(%sink) {cap = 2.0, window = 4}
          : tensor<2x2x3x4xf64>, tensor<2x1x5x4xf64>, tensor<2x1x5x4xf64>, tensor<3x5xi1>, tensor<2xf64>
      return %y : tensor<2x2x3x4xf64>
    })");
}

TEST_F(GradientTest, AttentionWithSinkAndDropout) {
  check(R"(
    func.func @f(%q: tensor<1x2x3x2xf64>, %k: tensor<1x2x5x2xf64>, %v: tensor<1x2x5x2xf64>, %sink: tensor<2xf64>,
                 %seed: i64, %step: i64) -> tensor<1x2x3x2xf64> {
      %y = resid.attention %q, %k, %v sink(%sink) dropout(%seed, %step) {cap = 1.0, causal, p = 0.4, site = 3}
          : tensor<1x2x3x2xf64>, tensor<1x2x5x2xf64>, tensor<1x2x5x2xf64>, tensor<2xf64>
      return %y : tensor<1x2x3x2xf64>
    })");
}

} // namespace mlir::resid::reference
