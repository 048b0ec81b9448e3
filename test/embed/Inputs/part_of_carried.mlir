// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that hands on a part of what it carries beside a new value of the whole.

func.func @trade(%x: tensor<9x70xf32>, %f: tensor<8x70xf32>, %n: index) -> (tensor<9x70xf32>, tensor<8x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y, %z = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %f) -> (tensor<9x70xf32>, tensor<8x70xf32>) {
    %new = resid.rms_norm %a {epsilon = 1.0e-5} : tensor<9x70xf32>
    %part = tensor.extract_slice %a[1, 0] [8, 70] [1, 1] : tensor<9x70xf32> to tensor<8x70xf32>
    scf.yield %new, %part : tensor<9x70xf32>, tensor<8x70xf32>
  }
  return %y, %z : tensor<9x70xf32>, tensor<8x70xf32>
}
