// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of stores_types.cpp: results of five types of element from the same rows, of which the later passes read
// one back. Of any width; of 769 columns; and of 4096, where scratch rows have no room for all of them.

func.func @any(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi1>, tensor<?x?xf64>, tensor<?x?xbf16>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>
  %above = arith.cmpf ogt, %y, %x : tensor<?x?xf32>
  %wide = arith.extf %y : tensor<?x?xf32> to tensor<?x?xf64>
  %narrow = arith.truncf %y : tensor<?x?xf32> to tensor<?x?xbf16>
  return %y, %s, %above, %wide, %narrow : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi1>, tensor<?x?xf64>, tensor<?x?xbf16>
}
func.func @odd(%x: tensor<?x769xf32>, %f: tensor<?x769xf32>, %gamma: tensor<769xf32>)
    -> (tensor<?x769xf32>, tensor<?x769xf32>, tensor<?x769xi1>, tensor<?x769xf64>, tensor<?x769xbf16>) {
  %s = resid.add %x, %f : tensor<?x769xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x769xf32>, tensor<769xf32>
  %above = arith.cmpf ogt, %y, %x : tensor<?x769xf32>
  %wide = arith.extf %y : tensor<?x769xf32> to tensor<?x769xf64>
  %narrow = arith.truncf %y : tensor<?x769xf32> to tensor<?x769xbf16>
  return %y, %s, %above, %wide, %narrow
      : tensor<?x769xf32>, tensor<?x769xf32>, tensor<?x769xi1>, tensor<?x769xf64>, tensor<?x769xbf16>
}
func.func @long(%x: tensor<?x4096xf32>, %f: tensor<?x4096xf32>, %gamma: tensor<4096xf32>)
    -> (tensor<?x4096xf32>, tensor<?x4096xf32>, tensor<?x4096xi1>, tensor<?x4096xf64>, tensor<?x4096xbf16>) {
  %s = resid.add %x, %f : tensor<?x4096xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x4096xf32>, tensor<4096xf32>
  %above = arith.cmpf ogt, %y, %x : tensor<?x4096xf32>
  %wide = arith.extf %y : tensor<?x4096xf32> to tensor<?x4096xf64>
  %narrow = arith.truncf %y : tensor<?x4096xf32> to tensor<?x4096xbf16>
  return %y, %s, %above, %wide, %narrow
      : tensor<?x4096xf32>, tensor<?x4096xf32>, tensor<?x4096xi1>, tensor<?x4096xf64>, tensor<?x4096xbf16>
}
