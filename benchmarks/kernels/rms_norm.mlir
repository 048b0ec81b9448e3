// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMS norm alone, of any size; the harness makes the fixed widths and bf16 of it.
func.func @rms_norm(%x: tensor<?x?xf32>, %gamma: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
