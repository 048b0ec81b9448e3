// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer norm alone, of any size; the harness makes the fixed widths and bf16 of it.
func.func @layer_norm(%x: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
