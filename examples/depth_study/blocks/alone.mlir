// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f(x): the branch alone, without add and norm. Nothing reads gamma.

!stream = tensor<?x128xf32>
!vector = tensor<128xf32>
!square = tensor<128x128xf32>

func.func @block(%x: !stream, %gamma: !vector, %wide: !square, %wide_bias: !vector,
    %narrow: !square, %narrow_bias: !vector) -> !stream {
  %u = resid.linear %x, %wide bias(%wide_bias) : !stream, !square, !vector
  %active = resid.activation gelu %u : !stream
  %f = resid.linear %active, %narrow bias(%narrow_bias) : !stream, !square, !vector
  return %f : !stream
}
