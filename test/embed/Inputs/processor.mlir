// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that uses every vector register it may.

func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x {branch_scale = 0.5} : tensor<?xf32>
  return %y : tensor<?xf32>
}
