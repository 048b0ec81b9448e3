// RUN: resid-run %s --entry=pack '--arg=f32[5x7]=random:1' --check | FileCheck %s
// RUN: resid-run %s --entry=whole '--arg=i8[4x6]=random:1' --check | FileCheck %s
// RUN: resid-run %s --entry=unpack '--arg=f64[3x2x2x4]=random:1' --check | FileCheck %s
// RUN: resid-run %s --entry=read_twice '--arg=f32[3x8]=random:1' '--arg=f32[2x8x16]=random:2' --check | FileCheck %s --check-prefixes=CHECK,TWICE
// linalg.pack and linalg.unpack are compiled wherever they stand, also where a kernel reads the panels and something else the matrix.
// CHECK: out0: ok
// TWICE: out1: ok

func.func @pack(%x: tensor<5x7xf32>) -> tensor<4x2x3x2xf32> {
  %zero = arith.constant -1.0 : f32
  %e = tensor.empty() : tensor<4x2x3x2xf32>
  %p = linalg.pack %x padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %e : tensor<5x7xf32> -> tensor<4x2x3x2xf32>
  return %p : tensor<4x2x3x2xf32>
}

func.func @whole(%x: tensor<4x6xi8>) -> tensor<2x6x2xi8> {
  %e = tensor.empty() : tensor<2x6x2xi8>
  %p = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<4x6xi8> -> tensor<2x6x2xi8>
  return %p : tensor<2x6x2xi8>
}

func.func @unpack(%p: tensor<3x2x2x4xf64>) -> tensor<5x6xf64> {
  %e = tensor.empty() : tensor<5x6xf64>
  %x = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<3x2x2x4xf64> -> tensor<5x6xf64>
  return %x : tensor<5x6xf64>
}

func.func @read_twice(%x: tensor<3x8xf32>, %p: tensor<2x8x16xf32>) -> (tensor<3x20xf32>, tensor<8x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x20xf32>
  %w = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<2x8x16xf32> -> tensor<8x20xf32>
  %o = tensor.empty() : tensor<3x20xf32>
  %i = linalg.fill ins(%zero : f32) outs(%o : tensor<3x20xf32>) -> tensor<3x20xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x8xf32>, tensor<8x20xf32>) outs(%i : tensor<3x20xf32>) -> tensor<3x20xf32>
  return %y, %w : tensor<3x20xf32>, tensor<8x20xf32>
}
