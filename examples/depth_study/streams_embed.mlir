// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four equal streams before the first block: embeddings of the 16 bytes before a place of the text, projected.

!window = tensor<?x16xi32>
!stream = tensor<?x128xf32>
!streams = tensor<?x4x128xf32>
!table = tensor<256x16xf32>
!project = tensor<16x16x128xf32>
!vector = tensor<128xf32>

func.func @embed(%window: !window, %table: !table, %project: !project, %project_bias: !vector) -> !streams {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %window, %zero : !window
  %embedded = resid.embedding %window, %table : !window, !table
  %nothing = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : !stream
  %start = linalg.fill ins(%nothing : f32) outs(%empty : !stream) -> !stream
  %projected = linalg.contract
      indexing_maps = [affine_map<(r, o, p, e) -> (r, p, e)>, affine_map<(r, o, p, e) -> (p, e, o)>, affine_map<(r, o, p, e) -> (r, o)>]
      ins(%embedded, %project : tensor<?x16x16xf32>, !project) outs(%start : !stream) -> !stream
  %x = resid.add_bias %projected, %project_bias : !stream, !vector
  %room = tensor.empty(%rows) : !streams
  %streams = linalg.broadcast ins(%x : !stream) outs(%room : !streams) dimensions = [1]
  return %streams : !streams
}
