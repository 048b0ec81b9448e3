// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a network on four streams: their mean, a last norm, logits, losses.

!bytes = tensor<?xi32>
!losses = tensor<?xf32>
!stream = tensor<?x128xf32>
!streams = tensor<?x4x128xf32>
!logits = tensor<?x256xf32>
!vector = tensor<128xf32>
!weight = tensor<256x128xf32>

func.func @head(%x: !streams, %gamma: !vector, %weight: !weight, %next: !bytes) -> !losses {
  %mean = resid.read %x {scale = 0.25} : !streams
  %normed = resid.layer_norm %mean gamma(%gamma) {epsilon = 1.0e-5} : !stream, !vector
  %logits = resid.linear %normed, %weight : !stream, !weight
  %loss = resid.cross_entropy %logits labels(%next) : !logits, !bytes
  return %loss : !losses
}
