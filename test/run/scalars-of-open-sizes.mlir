// Reshapes between open sizes and scalars: one element is what they take, and other sizes are refused.
// REQUIRES: resid-run
// RUN: resid-run %s --check --entry=main --arg=f32[1x1x1]=3 --arg=f32[1]=0.5 --arg=f32[]=7 --arg=1 | FileCheck %s
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --entry=main --arg=f32[1x1x2]=3 --arg=f32[1]=0.5 --arg=f32[]=7 --arg=1 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: residc %s -o %t.o --header=%t.h && FileCheck %s --check-prefix=HEADER --input-file=%t.h
// CHECK-COUNT-5: ok, bit-equal
// CHECK: out0: f32, min 3, max 3, first 3
// CHECK: out1: 1x1xf32, min 7, max 7, first 7
// CHECK: out2: 1xf32, min 6, max 6, first 6
// CHECK: out3: f32, min 1.5, max 1.5, first 1.5
// CHECK: out4: f32, min 0.5, max 0.5, first 0.5
// WIDE: error: expected dimension 2 of argument 0 ('x') to be 1 but got 2
// HEADER-LABEL: /* main_:
// HEADER:      *   x_dim0 must be 1
// HEADER-NEXT: *   x_dim2 must be 1
// HEADER-NEXT: *   n_dim0 must be 1
// HEADER-LABEL: /* squares:
// HEADER:      *   x_dim0 * x_dim1 must be equal to 4
func.func @main(%x: tensor<?x1x?xf32>, %n: tensor<?xf32>, %s: tensor<f32>, %c: i1)
    -> (tensor<f32>, tensor<?x?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>) {
  %c1 = arith.constant 1 : index
  %0 = tensor.collapse_shape %x [] : tensor<?x1x?xf32> into tensor<f32>
  %1 = tensor.expand_shape %s [] output_shape [%c1, %c1] : tensor<f32> into tensor<?x?xf32>
  %double = arith.addf %x, %x : tensor<?x1x?xf32>
  %scalar = tensor.collapse_shape %double [] : tensor<?x1x?xf32> into tensor<f32>
  %ones = tensor.expand_shape %scalar [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %open = tensor.cast %ones : tensor<1x1xf32> to tensor<?x?xf32>
  %2 = tensor.collapse_shape %open [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x1x?xf32> into tensor<?xf32>
  %one = tensor.collapse_shape %flat [] : tensor<?xf32> into tensor<f32>
  %factor = tensor.collapse_shape %n [] : tensor<?xf32> into tensor<f32>
  %3 = arith.mulf %one, %factor : tensor<f32>
  %4 = scf.if %c -> tensor<f32> {
    %inside = tensor.collapse_shape %n [] : tensor<?xf32> into tensor<f32>
    scf.yield %inside : tensor<f32>
  } else {
    scf.yield %s : tensor<f32>
  }
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<?x?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>
}

func.func @squares(%x: tensor<?x?xf32> {resid.name = "x"}) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %four = tensor.cast %flat : tensor<?xf32> to tensor<4xf32>
  %square = tensor.expand_shape %four [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %four, %square : tensor<4xf32>, tensor<2x2xf32>
}
