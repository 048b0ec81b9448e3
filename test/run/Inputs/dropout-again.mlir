// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms of sums that are no results, so that each phase needs what dropout keeps.

func.func @narrow(%x: tensor<?x1024xf32>, %f: tensor<?x1024xf32>, %gamma: tensor<1024xf32>, %beta: tensor<1024xf32>, %seed: i64, %step: i64) -> tensor<?x1024xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x1024xf32>
  %s = resid.add %x, %d : tensor<?x1024xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x1024xf32>, tensor<1024xf32>, tensor<1024xf32> -> tensor<?x1024xbf16>
  return %y : tensor<?x1024xbf16>
}

func.func @partial(%x: tensor<?x250xf32>, %f: tensor<?x250xf32>, %gamma: tensor<250xf32>, %beta: tensor<250xf32>, %seed: i64, %step: i64) -> tensor<?x250xf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x250xf32>
  %s = resid.add %x, %d : tensor<?x250xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x250xf32>, tensor<250xf32>, tensor<250xf32> -> tensor<?x250xf16>
  return %y : tensor<?x250xf16>
}

func.func @spans(%x: tensor<?x2048xbf16>, %f: tensor<?x2048xbf16>, %gamma: tensor<2048xbf16>, %beta: tensor<2048xbf16>, %seed: i64, %step: i64) -> tensor<?x2048xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x2048xbf16>
  %s = resid.add %x, %d : tensor<?x2048xbf16>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x2048xbf16>, tensor<2048xbf16>, tensor<2048xbf16> -> tensor<?x2048xbf16>
  return %y : tensor<?x2048xbf16>
}

func.func @wide(%x: tensor<?x8192xf32>, %f: tensor<?x8192xf32>, %gamma: tensor<8192xf32>, %beta: tensor<8192xf32>, %seed: i64, %step: i64) -> tensor<?x8192xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x8192xf32>
  %s = resid.add %x, %d : tensor<?x8192xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x8192xf32>, tensor<8192xf32>, tensor<8192xf32> -> tensor<?x8192xbf16>
  return %y : tensor<?x8192xbf16>
}

func.func @open(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>, %seed: i64, %step: i64) -> tensor<?x?xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  %s = resid.add %x, %d : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32> -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}

// Three parameters in one pass, which are wider than the row.
func.func @gated(%x: tensor<?x1024xbf16>, %f: tensor<?x1024xbf16>, %gamma: tensor<1024xf32>, %beta: tensor<1024xf32>, %gate: tensor<1024xf32>,
                 %after: tensor<1024xf32>, %seed: i64, %step: i64) -> tensor<?x1024xbf16> {
  %n = resid.layer_norm %f gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x1024xbf16>, tensor<1024xf32>, tensor<1024xf32>
  %d = resid.dropout %n seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x1024xbf16>
  %s = resid.add %x, %d gate(%gate) : tensor<?x1024xbf16>, tensor<1024xf32>
  %y = resid.rms_norm %s gamma(%after) {epsilon = 1.0e-5} : tensor<?x1024xbf16>, tensor<1024xf32>
  return %y : tensor<?x1024xbf16>
}
