// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The residual add and the layer norm after it, of any size; the harness makes the fixed widths and bf16 of it.
func.func @add_layer_norm(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
