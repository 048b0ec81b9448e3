// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pre-norm on four streams, with parameters as weights of read and write: the first four coefficients, and the next four. Nothing reads the
// others and `project`, which the blocks on four streams all have.

!row = tensor<?x128xf32>
!streams = tensor<?x4x128xf32>
!vector = tensor<128xf32>
!square = tensor<128x128xf32>
!weights = tensor<4x1xf32>

func.func @block(%x: !streams, %gamma: !vector, %wide: !square, %wide_bias: !vector, %narrow: !square, %narrow_bias: !vector,
    %project: tensor<8x512xf32>, %coefficients: !vector) -> !streams {
  %first = tensor.extract_slice %coefficients[0] [4] [1] : !vector to tensor<4xf32>
  %second = tensor.extract_slice %coefficients[4] [4] [1] : !vector to tensor<4xf32>
  %read = tensor.expand_shape %first [[0, 1]] output_shape [4, 1] : tensor<4xf32> into !weights
  %write = tensor.expand_shape %second [[0, 1]] output_shape [4, 1] : tensor<4xf32> into !weights
  %y = resid.block pre %x norm(layer gamma %gamma : !vector epsilon = 1.0e-5)
      streams(read %read : !weights, write %write : !weights) : !streams {
  ^bb0(%h: !row):
    %u = resid.linear %h, %wide bias(%wide_bias) : !row, !square, !vector
    %active = resid.activation gelu %u : !row
    %f = resid.linear %active, %narrow bias(%narrow_bias) : !row, !square, !vector
    resid.yield %f : !row
  }
  return %y : !streams
}
