// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch norm and its gradients, in mixtures of types and shapes.
func.func @single(%x: tensor<?x?xf32>, %g: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %y, %m, %v = resid.batch_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32> -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %m, %v : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func @single_grad(%dy: tensor<?x?xf32>, %x: tensor<?x?xf32>, %m: tensor<?xf32>, %v: tensor<?xf32>, %g: tensor<?xf32>, %dsum: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %dx, %dg, %db = resid.batch_norm_grad %dy, %x statistics(%m, %v) gamma(%g) sum(%dsum) {epsilon = 1.0e-5}
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %dx, %dg, %db : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func @half(%x: tensor<7x5x33xbf16>, %g: tensor<33xf32>, %b: tensor<33xf32>) -> (tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32>) {
  %y, %m, %v = resid.batch_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32> -> tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32>
  return %y, %m, %v : tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32>
}
func.func @half_grad(%dy: tensor<7x5x33xbf16>, %x: tensor<7x5x33xbf16>, %m: tensor<33xf32>, %v: tensor<33xf32>, %g: tensor<33xf32>, %dsum: tensor<7x5x33xbf16>) -> (tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32>) {
  %dx, %dg, %db = resid.batch_norm_grad %dy, %x statistics(%m, %v) gamma(%g) sum(%dsum) {epsilon = 1.0e-5}
      : tensor<7x5x33xbf16>, tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32>
  return %dx, %dg, %db : tensor<7x5x33xbf16>, tensor<33xf32>, tensor<33xf32>
}
func.func @narrow(%x: tensor<40x16xf32>, %g: tensor<16xf32>) -> (tensor<40x16xf16>, tensor<16xf32>, tensor<16xf32>) {
  %y, %m, %v = resid.batch_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<40x16xf32>, tensor<16xf32> -> tensor<40x16xf16>, tensor<16xf32>, tensor<16xf32>
  return %y, %m, %v : tensor<40x16xf16>, tensor<16xf32>, tensor<16xf32>
}
func.func @narrow_grad(%dy: tensor<40x16xf16>, %x: tensor<40x16xf32>, %m: tensor<16xf32>, %v: tensor<16xf32>, %g: tensor<16xf32>) -> (tensor<40x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %dx, %dg, %db = resid.batch_norm_grad %dy, %x statistics(%m, %v) gamma(%g) {epsilon = 1.0e-5}
      : tensor<40x16xf16>, tensor<40x16xf32>, tensor<16xf32>, tensor<16xf32>
  return %dx, %dg, %db : tensor<40x16xf32>, tensor<16xf32>, tensor<16xf32>
}
func.func @double(%x: tensor<6x1xf64>, %g: tensor<1xf64>, %b: tensor<1xf64>) -> (tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64>) {
  %y, %m, %v = resid.batch_norm %x gamma(%g) beta(%b) {epsilon = 0.0} : tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64> -> tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64>
  return %y, %m, %v : tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64>
}
func.func @double_grad(%dy: tensor<6x1xf64>, %x: tensor<6x1xf64>, %m: tensor<1xf64>, %v: tensor<1xf64>, %g: tensor<1xf64>, %dsum: tensor<6x1xf64>) -> (tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64>) {
  %dx, %dg, %db = resid.batch_norm_grad %dy, %x statistics(%m, %v) gamma(%g) sum(%dsum) {epsilon = 0.0}
      : tensor<6x1xf64>, tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64>
  return %dx, %dg, %db : tensor<6x1xf64>, tensor<1xf64>, tensor<1xf64>
}
func.func @bare(%x: tensor<40x16xf32>) -> (tensor<40x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %y, %m, %v = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<40x16xf32> -> tensor<40x16xf32>, tensor<16xf32>, tensor<16xf32>
  return %y, %m, %v : tensor<40x16xf32>, tensor<16xf32>, tensor<16xf32>
}
func.func @bare_grad(%dy: tensor<40x16xf32>, %x: tensor<40x16xf32>, %m: tensor<16xf32>, %v: tensor<16xf32>, %dsum: tensor<40x16xf32>) -> (tensor<40x16xf32>) {
  %dx = resid.batch_norm_grad %dy, %x statistics(%m, %v) sum(%dsum) {epsilon = 1.0e-5}
      : tensor<40x16xf32>, tensor<40x16xf32>, tensor<16xf32>
  return %dx : tensor<40x16xf32>
}
func.func @fixed(%x: tensor<?x20xf32>, %m: tensor<20xf32>, %v: tensor<20xf32>, %g: tensor<20xf32>, %b: tensor<20xf32>) -> (tensor<?x20xf32>) {
  %y = resid.batch_norm %x statistics(%m, %v) gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<?x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}
func.func @fixed_grad(%dy: tensor<?x20xf32>, %x: tensor<?x20xf32>, %m: tensor<20xf32>, %v: tensor<20xf32>, %g: tensor<20xf32>, %dsum: tensor<?x20xf32>) -> (tensor<?x20xf32>, tensor<20xf32>, tensor<20xf32>) {
  %dx, %dg, %db = resid.batch_norm_grad %dy, %x statistics(%m, %v) gamma(%g) sum(%dsum) {epsilon = 1.0e-5, fixed_statistics}
      : tensor<?x20xf32>, tensor<?x20xf32>, tensor<20xf32>, tensor<20xf32>
  return %dx, %dg, %db : tensor<?x20xf32>, tensor<20xf32>, tensor<20xf32>
}
// Row 0 of two batches that differ in the other rows alone: batch norm, batch norm with statistics, layer norm.
func.func @rows(%x: tensor<5x8xf32>, %others: tensor<4x8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %z = tensor.insert_slice %others into %x[1, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<5x8xf32>
  %b0 = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<5x8xf32>
  %b1 = resid.batch_norm %z {epsilon = 1.0e-5} : tensor<5x8xf32>
  %f0 = resid.batch_norm %x statistics(%m, %v) {epsilon = 1.0e-5} : tensor<5x8xf32>, tensor<8xf32>
  %f1 = resid.batch_norm %z statistics(%m, %v) {epsilon = 1.0e-5} : tensor<5x8xf32>, tensor<8xf32>
  %l0 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<5x8xf32>
  %l1 = resid.layer_norm %z {epsilon = 1.0e-5} : tensor<5x8xf32>
  %0 = tensor.extract_slice %b0[0, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
  %1 = tensor.extract_slice %b1[0, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
  %2 = tensor.extract_slice %f0[0, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
  %3 = tensor.extract_slice %f1[0, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
  %4 = tensor.extract_slice %l0[0, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
  %5 = tensor.extract_slice %l1[0, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
