// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A language model over bytes: from the 16 bytes before each place of a text to the loss at the byte that follows. The
// embeddings of the 16 are projected into the stream; four pre-norm blocks of an MLP work on it; a last norm and a
// product give the logits. Without attention, each place is a row of its own. Nothing is dropped, so seed and step are
// not read.

!window = tensor<?x16xi32>
!bytes = tensor<?xi32>
!losses = tensor<?xf32>
!stream = tensor<?x128xf32>
!wide = tensor<?x512xf32>
!logits = tensor<?x256xf32>
!table = tensor<256x16xf32>
!project = tensor<16x16x128xf32>
!up = tensor<512x128xf32>
!down = tensor<128x512xf32>
!head = tensor<256x128xf32>
!vector = tensor<128xf32>
!inner = tensor<512xf32>

func.func @model(%window: !window, %next: !bytes, %seed: i64, %step: i64,
    %table: !table {resid.weight}, %project: !project {resid.weight}, %project_bias: !vector {resid.weight},
    %norm0: !vector {resid.weight}, %up0: !up {resid.weight}, %up_bias0: !inner {resid.weight}, %down0: !down {resid.weight}, %down_bias0: !vector {resid.weight},
    %norm1: !vector {resid.weight}, %up1: !up {resid.weight}, %up_bias1: !inner {resid.weight}, %down1: !down {resid.weight}, %down_bias1: !vector {resid.weight},
    %norm2: !vector {resid.weight}, %up2: !up {resid.weight}, %up_bias2: !inner {resid.weight}, %down2: !down {resid.weight}, %down_bias2: !vector {resid.weight},
    %norm3: !vector {resid.weight}, %up3: !up {resid.weight}, %up_bias3: !inner {resid.weight}, %down3: !down {resid.weight}, %down_bias3: !vector {resid.weight},
    %last_norm: !vector {resid.weight}, %head: !head {resid.weight}) -> !losses {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %window, %zero : !window
  %embedded = resid.embedding %window, %table : !window, !table
  %nothing = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : !stream
  %start = linalg.fill ins(%nothing : f32) outs(%empty : !stream) -> !stream
  %projected = linalg.contract
      indexing_maps = [affine_map<(r, o, p, e) -> (r, p, e)>, affine_map<(r, o, p, e) -> (p, e, o)>, affine_map<(r, o, p, e) -> (r, o)>]
      ins(%embedded, %project : tensor<?x16x16xf32>, !project) outs(%start : !stream) -> !stream
  %x0 = resid.add_bias %projected, %project_bias : !stream, !vector

  %x1 = resid.block pre %x0 norm(rms gamma %norm0 : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %wide = resid.linear %h, %up0 bias(%up_bias0) : !stream, !up, !inner
    %active = resid.activation gelu %wide : !wide
    %f = resid.linear %active, %down0 bias(%down_bias0) : !wide, !down, !vector
    resid.yield %f : !stream
  }

  %x2 = resid.block pre %x1 norm(rms gamma %norm1 : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %wide = resid.linear %h, %up1 bias(%up_bias1) : !stream, !up, !inner
    %active = resid.activation gelu %wide : !wide
    %f = resid.linear %active, %down1 bias(%down_bias1) : !wide, !down, !vector
    resid.yield %f : !stream
  }

  %x3 = resid.block pre %x2 norm(rms gamma %norm2 : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %wide = resid.linear %h, %up2 bias(%up_bias2) : !stream, !up, !inner
    %active = resid.activation gelu %wide : !wide
    %f = resid.linear %active, %down2 bias(%down_bias2) : !wide, !down, !vector
    resid.yield %f : !stream
  }

  %x4 = resid.block pre %x3 norm(rms gamma %norm3 : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %wide = resid.linear %h, %up3 bias(%up_bias3) : !stream, !up, !inner
    %active = resid.activation gelu %wide : !wide
    %f = resid.linear %active, %down3 bias(%down_bias3) : !wide, !down, !vector
    resid.yield %f : !stream
  }

  %normed = resid.rms_norm %x4 gamma(%last_norm) {epsilon = 1.0e-5} : !stream, !vector
  %logits = resid.linear %normed, %head : !stream, !head
  %loss = resid.cross_entropy %logits labels(%next) : !logits, !bytes
  return %loss : !losses
}
