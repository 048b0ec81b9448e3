// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The residual add as a kernel of its own: the first half of an unfused add and norm.
func.func @add(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = resid.add %x, %f : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
