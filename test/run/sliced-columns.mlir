// A column of an array, as a slice whose axis of one element is joined to others, or beside which the slice is a result, too.
// REQUIRES: resid-run
// RUN: for entry in joined joined_twice several; do resid-run %s --entry=$entry --arg=f32[9x4x5]=random:1 --check || exit 1; done | FileCheck %s
// CHECK-COUNT-4: out{{[01]}}: ok

func.func @joined(%x: tensor<9x4x5xf32>) -> tensor<9x4xf32> {
  %s = tensor.extract_slice %x[0, 0, 4] [9, 4, 1] [1, 1, 1] : tensor<9x4x5xf32> to tensor<9x4x1xf32>
  %c = tensor.collapse_shape %s [[0], [1, 2]] : tensor<9x4x1xf32> into tensor<9x4xf32>
  %y = resid.rms_norm %c {epsilon = 1.0e-5} : tensor<9x4xf32>
  return %y : tensor<9x4xf32>
}

func.func @joined_twice(%x: tensor<9x4x5xf32>) -> tensor<2x4xf32> {
  %s = tensor.extract_slice %x[0, 0, 1] [2, 4, 1] [4, 1, 2] : tensor<9x4x5xf32> to tensor<2x4x1xf32>
  %c = tensor.collapse_shape %s [[0], [1, 2]] : tensor<2x4x1xf32> into tensor<2x4xf32>
  %y = math.absf %c : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

func.func @several(%x: tensor<9x4x5xf32>) -> (tensor<2x2x1xf32>, tensor<2x2x1xf32>) {
  %s = tensor.extract_slice %x[1, 1, 3] [2, 2, 1] [1, 1, 1] : tensor<9x4x5xf32> to tensor<2x2x1xf32>
  %e = tensor.empty() : tensor<2x2x1xf32>
  %y = linalg.softmax dimension(0) ins(%s : tensor<2x2x1xf32>) outs(%e : tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  return %s, %y : tensor<2x2x1xf32>, tensor<2x2x1xf32>
}
