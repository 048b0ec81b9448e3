// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks with a residual add. As written this is x + f(N(x)), pre-norm. `--placement=post` makes it N(x + f(x)), and
// `--placement=none` x + f(x), with a gamma that nothing reads. All blocks of the study have these arguments.

!stream = tensor<?x128xf32>
!vector = tensor<128xf32>
!square = tensor<128x128xf32>

func.func @block(%x: !stream, %gamma: !vector, %wide: !square, %wide_bias: !vector,
    %narrow: !square, %narrow_bias: !vector) -> !stream {
  %y = resid.block pre %x norm(layer gamma %gamma : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %u = resid.linear %h, %wide bias(%wide_bias) : !stream, !square, !vector
    %active = resid.activation gelu %u : !stream
    %f = resid.linear %active, %narrow bias(%narrow_bias) : !stream, !square, !vector
    resid.yield %f : !stream
  }
  return %y : !stream
}
