// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sub-layer on four streams, whose coefficients are projected by a weight of 24 rows; then a projection by one of 8 rows in
// bf16. Chains are of 1,024 terms, of which streams have 5,200. ELEMENT is the streams' type.

func.func @model(%x: tensor<?x4x1300xELEMENT>, %gamma: tensor<1300xELEMENT>, %fn: tensor<24x5200xf32> {resid.weight = "fn"},
                 %head: tensor<8x5200xbf16> {resid.weight}) -> (tensor<?x4x1300xELEMENT>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x1300xELEMENT>
  %z = resid.project %x, %fn {epsilon = 1.0e-6} : tensor<?x4x1300xELEMENT>, tensor<24x5200xf32>
  %za = tensor.extract_slice %z[0, 0] [%rows, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %zb = tensor.extract_slice %z[0, 4] [%rows, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %zc = tensor.extract_slice %z[0, 8] [%rows, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %read = tensor.expand_shape %za [[0], [1, 2]] output_shape [%rows, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %write = tensor.expand_shape %zb [[0], [1, 2]] output_shape [%rows, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %logits = tensor.expand_shape %zc [[0], [1, 2]] output_shape [%rows, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = resid.sinkhorn %logits {iterations = 3, epsilon = 1.0e-6} : tensor<?x4x4xf32>
  %y = resid.block pre %x norm(rms gamma %gamma : tensor<1300xELEMENT> epsilon = 1.0e-6)
         streams(read %read : tensor<?x4x1xf32>, write %write : tensor<?x4x1xf32>, mix %mix : tensor<?x4x4xf32>)
         : tensor<?x4x1300xELEMENT> {
  ^bb0(%h: tensor<?x1300xELEMENT>):
    %f = math.tanh %h : tensor<?x1300xELEMENT>
    resid.yield %f : tensor<?x1300xELEMENT>
  }
  %u = resid.project %y, %head {epsilon = 1.0e-6} : tensor<?x4x1300xELEMENT>, tensor<8x5200xbf16>
  return %y, %u : tensor<?x4x1300xELEMENT>, tensor<?x8xf32>
}
