// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dropout as a kernel of its own.
func.func @dropout(%x: tensor<?x?xf32>, %seed: i64, %step: i64) -> tensor<?x?xf32> {
  %y = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
