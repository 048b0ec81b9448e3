// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that exchanges what it carries.

func.func @trade(%x: tensor<?x70xf32>, %f: tensor<?x70xf32>, %n: index) -> (tensor<?x70xf32>, tensor<?x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y, %z = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %f) -> (tensor<?x70xf32>, tensor<?x70xf32>) {
    scf.yield %b, %a : tensor<?x70xf32>, tensor<?x70xf32>
  }
  return %y, %z : tensor<?x70xf32>, tensor<?x70xf32>
}
