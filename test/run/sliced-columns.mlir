// A column of an array, as a slice whose axis of one element is joined to others, or beside which the slice is a result, too.
// REQUIRES: resid-run
// RUN: for entry in joined joined_twice several; do resid-run %s --entry=$entry --arg=f32[9x4x5]=random:1 --check || exit 1; done | FileCheck %s
// CHECK-COUNT-4: out{{[01]}}: ok
// RUN: resid-run %s --entry=sliced_again --arg=f32[9x20]=random:1 --check | FileCheck %s --check-prefix=AGAIN
// AGAIN-COUNT-2: bit-equal

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

// Slices of a slice with a step, and one that a loop hands on.
func.func @sliced_again(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<9x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %half = arith.ceildivsi %columns, %c3 : index
  %s = tensor.extract_slice %x[0, 0] [%rows, %half] [1, 3] : tensor<?x?xf32> to tensor<?x?xf32>
  %less = arith.subi %half, %c1 : index
  %a = tensor.extract_slice %s[0, 1] [%rows, %less] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %b = tensor.extract_slice %s[0, 0] [%rows, %less] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %y = arith.subf %a, %b : tensor<?x?xf32>
  %t = tensor.extract_slice %x[0, 1] [9, 8] [1, 2] : tensor<?x?xf32> to tensor<9x8xf32>
  %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %t) -> (tensor<9x8xf32>) {
    %v = arith.addf %u, %t : tensor<9x8xf32>
    scf.yield %v : tensor<9x8xf32>
  }
  return %y, %z : tensor<?x?xf32>, tensor<9x8xf32>
}
