// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that several phases need and that no output's row can hold: their type is another than that of the results.

// Random numbers, less than a chunk of columns.
func.func @narrow(%x: tensor<?x40xf32>, %f: tensor<?x40xf32>, %g: tensor<40xf32>, %seed: i64, %step: i64) -> tensor<?x40xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x40xf32>
  %s = resid.add %x, %d : tensor<?x40xf32>
  %y = resid.layer_norm %s gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x40xf32>, tensor<40xf32>, tensor<40xf32>
  %r = arith.truncf %y : tensor<?x40xf32> to tensor<?x40xbf16>
  return %r : tensor<?x40xbf16>
}

// Cheap to compute again, one sum.
func.func @chunks(%x: tensor<?x192xf32>, %f: tensor<?x192xbf16>, %g: tensor<192xf32>) -> tensor<?x192xbf16> {
  %w = arith.extf %f : tensor<?x192xbf16> to tensor<?x192xf32>
  %s = resid.add %x, %w : tensor<?x192xf32>
  %y = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x192xf32>, tensor<192xf32>
  %r = arith.truncf %y : tensor<?x192xf32> to tensor<?x192xbf16>
  return %r : tensor<?x192xbf16>
}

// Two local rows of more than a block of columns, which are no whole chunks.
func.func @two(%x: tensor<?x1100xf32>, %f: tensor<?x1100xf32>, %g: tensor<1100xf32>, %seed: i64, %step: i64) -> tensor<?x1100xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x1100xf32>
  %s = resid.add %x, %d : tensor<?x1100xf32>
  %n = resid.layer_norm %s gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x1100xf32>, tensor<1100xf32>, tensor<1100xf32>
  %t = resid.add %n, %f : tensor<?x1100xf32>
  %y = resid.rms_norm %t gamma(%g) {epsilon = 1.0e-5} : tensor<?x1100xf32>, tensor<1100xf32>
  %r = arith.truncf %y : tensor<?x1100xf32> to tensor<?x1100xbf16>
  return %r : tensor<?x1100xbf16>
}

// f64, all the room there is.
func.func @wide(%x: tensor<?x2048xf64>, %f: tensor<?x2048xf64>, %g: tensor<2048xf64>) -> tensor<?x2048xf32> {
  %s = resid.add %x, %f : tensor<?x2048xf64>
  %y = resid.layer_norm %s gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x2048xf64>, tensor<2048xf64>, tensor<2048xf64>
  %r = arith.truncf %y : tensor<?x2048xf64> to tensor<?x2048xf32>
  return %r : tensor<?x2048xf32>
}
