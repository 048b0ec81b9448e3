// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block whose names need care in C.

func.func @block(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %gamma: tensor<768xf32>, %seed: i64, %int: i64)
    -> tensor<?x768xf32> {
  %d = resid.dropout %f seed(%seed, %int) {p = 0.1, site = 0} : tensor<?x768xf32>
  %s = resid.add %x, %d : tensor<?x768xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}
