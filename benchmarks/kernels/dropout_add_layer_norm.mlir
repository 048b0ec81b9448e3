// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dropout of the branch, the residual add and the layer norm after it, of any size; the harness makes the fixed widths
// and bf16 of it.
func.func @dropout_add_layer_norm(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>,
                                  %seed: i64, %step: i64) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  %s = resid.add %x, %d : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
