// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pre-norm on four streams, with weights of each row, as in DeepSeek-V4: the read, the write, and a mix by Sinkhorn's iterations.
// They are `residc --connection=mhc`'s. The first 24 coefficients are bases, and 3 after the 24th are scales. Nothing reads the others.

!row = tensor<?x128xf32>
!streams = tensor<?x4x128xf32>
!vector = tensor<128xf32>
!square = tensor<128x128xf32>
!logits = tensor<?x4xf32>
!weights = tensor<?x4x1xf32>
#scalar = affine_map<(r, i) -> ()>
#vector = affine_map<(r, i) -> (i)>
#each = affine_map<(r, i) -> (r, i)>

func.func @block(%x: !streams, %gamma: !vector, %wide: !square, %wide_bias: !vector, %narrow: !square, %narrow_bias: !vector,
    %project: tensor<24x512xf32>, %coefficients: !vector) -> !streams {
  %zero = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %least = arith.constant 1.0e-6 : f32
  %rows = tensor.dim %x, %zero : !streams
  %z = resid.project %x, %project {epsilon = 1.0e-6} : !streams, tensor<24x512xf32>

  %read_part = tensor.extract_slice %z[0, 0] [%rows, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %read_base = tensor.extract_slice %coefficients[0] [4] [1] : !vector to tensor<4xf32>
  %read_scale = tensor.extract_slice %coefficients[24] [1] [1] : !vector to tensor<f32>
  %read_empty = tensor.empty(%rows) : tensor<?x4xf32>
  %read_logits = linalg.generic {indexing_maps = [#each, #scalar, #vector, #each], iterator_types = ["parallel", "parallel"]}
      ins(%read_part, %read_scale, %read_base : tensor<?x4xf32>, tensor<f32>, tensor<4xf32>) outs(%read_empty : tensor<?x4xf32>) {
  ^bb0(%from: f32, %scale: f32, %base: f32, %out: f32):
    %scaled = arith.mulf %from, %scale : f32
    %logit = arith.addf %scaled, %base : f32
    linalg.yield %logit : f32
  } -> tensor<?x4xf32>
  %read_open = resid.activation sigmoid %read_logits : !logits
  %read_weights = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%read_open : !logits) outs(%read_empty : !logits) {
  ^bb0(%open: f32, %out: f32):
    %weight = arith.addf %open, %least : f32
    linalg.yield %weight : f32
  } -> !logits
  %read = tensor.expand_shape %read_weights [[0], [1, 2]] output_shape [%rows, 4, 1] : !logits into !weights

  %write_part = tensor.extract_slice %z[0, 4] [%rows, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %write_base = tensor.extract_slice %coefficients[4] [4] [1] : !vector to tensor<4xf32>
  %write_scale = tensor.extract_slice %coefficients[25] [1] [1] : !vector to tensor<f32>
  %write_empty = tensor.empty(%rows) : tensor<?x4xf32>
  %write_logits = linalg.generic {indexing_maps = [#each, #scalar, #vector, #each], iterator_types = ["parallel", "parallel"]}
      ins(%write_part, %write_scale, %write_base : tensor<?x4xf32>, tensor<f32>, tensor<4xf32>) outs(%write_empty : tensor<?x4xf32>) {
  ^bb0(%from: f32, %scale: f32, %base: f32, %out: f32):
    %scaled = arith.mulf %from, %scale : f32
    %logit = arith.addf %scaled, %base : f32
    linalg.yield %logit : f32
  } -> tensor<?x4xf32>
  %write_open = resid.activation sigmoid %write_logits : !logits
  %write_weights = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%write_open : !logits) outs(%write_empty : !logits) {
  ^bb0(%open: f32, %out: f32):
    %weight = arith.mulf %open, %two : f32
    linalg.yield %weight : f32
  } -> !logits
  %write = tensor.expand_shape %write_weights [[0], [1, 2]] output_shape [%rows, 4, 1] : !logits into !weights

  %mix_part = tensor.extract_slice %z[0, 8] [%rows, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %mix_base = tensor.extract_slice %coefficients[8] [16] [1] : !vector to tensor<16xf32>
  %mix_scale = tensor.extract_slice %coefficients[26] [1] [1] : !vector to tensor<f32>
  %mix_empty = tensor.empty(%rows) : tensor<?x16xf32>
  %mix_logits = linalg.generic {indexing_maps = [#each, #scalar, #vector, #each], iterator_types = ["parallel", "parallel"]}
      ins(%mix_part, %mix_scale, %mix_base : tensor<?x16xf32>, tensor<f32>, tensor<16xf32>) outs(%mix_empty : tensor<?x16xf32>) {
  ^bb0(%from: f32, %scale: f32, %base: f32, %out: f32):
    %scaled = arith.mulf %from, %scale : f32
    %logit = arith.addf %scaled, %base : f32
    linalg.yield %logit : f32
  } -> tensor<?x16xf32>
  %mix_rows = tensor.expand_shape %mix_logits [[0], [1, 2]] output_shape [%rows, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = resid.sinkhorn %mix_rows {iterations = 20, epsilon = 1.0e-6} : tensor<?x4x4xf32>

  %y = resid.block pre %x norm(layer gamma %gamma : !vector epsilon = 1.0e-5)
      streams(read %read : !weights, write %write : !weights, mix %mix : tensor<?x4x4xf32>) : !streams {
  ^bb0(%h: !row):
    %u = resid.linear %h, %wide bias(%wide_bias) : !row, !square, !vector
    %active = resid.activation gelu %u : !row
    %f = resid.linear %active, %narrow bias(%narrow_bias) : !row, !square, !vector
    resid.yield %f : !row
  }
  return %y : !streams
}
