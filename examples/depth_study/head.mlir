// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a network without a last norm: of post-norm, and of blocks without any norm. Nothing reads gamma.

!bytes = tensor<?xi32>
!losses = tensor<?xf32>
!stream = tensor<?x128xf32>
!logits = tensor<?x256xf32>
!vector = tensor<128xf32>
!weight = tensor<256x128xf32>

func.func @head(%x: !stream, %gamma: !vector, %weight: !weight, %next: !bytes) -> !losses {
  %logits = resid.linear %x, %weight : !stream, !weight
  %loss = resid.cross_entropy %logits labels(%next) : !logits, !bytes
  return %loss : !losses
}
