// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel for race.cpp.

func.func @race(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
