// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x · f(N(x)): pre-norm with a product in place of the add.

!stream = tensor<?x128xf32>
!vector = tensor<128xf32>
!square = tensor<128x128xf32>

func.func @block(%x: !stream, %gamma: !vector, %wide: !square, %wide_bias: !vector,
    %narrow: !square, %narrow_bias: !vector) -> !stream {
  %h = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5} : !stream, !vector
  %u = resid.linear %h, %wide bias(%wide_bias) : !stream, !square, !vector
  %active = resid.activation gelu %u : !stream
  %f = resid.linear %active, %narrow bias(%narrow_bias) : !stream, !square, !vector
  %y = arith.mulf %x, %f : !stream
  return %y : !stream
}
