// Programs on arrays whose rows lie apart (`resid.strided`), against the evaluator; what lies between rows is checked to be
// left alone. Row kernels, and what has no form on strides of its own.
//
// RUN: resid-run %s --check --row-padding=3 --entry=both --arg=f32[7x33]=random:1 --arg=f32[7x33]=random:2 --arg=f32[33]=random:3
// RUN: resid-run %s --check --row-padding=0 --entry=both --arg=f32[7x33]=random:1 --arg=f32[7x33]=random:2 --arg=f32[33]=random:3
// RUN: resid-run %s --check --row-padding=3 --entry=rank3 --arg=f32[2x3x5]=random:1 --arg=f32[2x3x5]=random:2
// RUN: resid-run %s --check --row-padding=3 --entry=matmul --arg=f32[3x8]=random:1 --arg=f32[8x8]=random:2
// RUN: resid-run %s --check --row-padding=3 --entry=same --arg=f32[3x8]=random:1
// RUN: resid-run %s --check --row-padding=3 --entry=loop --arg=f32[3x8]=random:1 --arg=4
// RUN: resid-run %s --check --row-padding=3 --entry=rank2norm --arg=f32[3x4x8]=random:1 --arg=f32[4x8]=random:4
// RUN: resid-run %s --check --row-padding=3 --entry=reshape --arg=f32[3x4x8]=random:1
// RUN: resid-run %s --check --row-padding=3 --entry=cond --arg=f32[4x8]=random:1 --arg=f32[4x8]=random:2 --arg=1
// RUN: resid-run %s --check --row-padding=3 --entry=cond --arg=f32[4x8]=random:1 --arg=f32[4x8]=random:2 --arg=0
// RUN: resid-run %s --check --row-padding=3 --entry=rank3 --arg=f32[2x0x5]=1 --arg=f32[2x0x5]=1
//
// A row stride belongs to rows; the mistake is the program's.
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 residc %S/Inputs/strided-vector.mlir -o %t.o 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: strided-vector.mlir:[[#]]:[[#]]: error: expected 'resid.strided' on a tensor of two or more dimensions only, but argument 0 has type 'tensor<?xf32>'

func.func @both(%x: tensor<?x?xf32> {resid.strided}, %f: tensor<?x?xf32>, %g: tensor<?xf32>) -> (tensor<?x?xf32> {resid.strided}, tensor<?x?xf32>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-6} : tensor<?x?xf32>, tensor<?xf32>
  return %n, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @rank3(%x: tensor<2x?x5xf32> {resid.strided}, %f: tensor<2x?x5xf32> {resid.strided}) -> (tensor<2x?x5xf32> {resid.strided}) {
  %s = resid.add %x, %f : tensor<2x?x5xf32>
  return %s : tensor<2x?x5xf32>
}
func.func @matmul(%x: tensor<?x8xf32> {resid.strided}, %w: tensor<8x8xf32> {resid.strided}) -> (tensor<?x8xf32> {resid.strided}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %f : tensor<?x8xf32>
}
func.func @same(%x: tensor<?x8xf32> {resid.strided}) -> (tensor<?x8xf32> {resid.strided}, tensor<?x8xf32>) {
  return %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @loop(%x: tensor<?x8xf32> {resid.strided}, %n: index) -> (tensor<?x8xf32> {resid.strided}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x8xf32> {
    %m = resid.rms_norm %a {epsilon = 1.0e-6} : tensor<?x8xf32>
    %s = resid.add %a, %m : tensor<?x8xf32>
    scf.yield %s : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
func.func @rank2norm(%x: tensor<?x4x8xf32> {resid.strided}, %g: tensor<4x8xf32> {resid.strided}) -> (tensor<?x4x8xf32> {resid.strided}) {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<4x8xf32>
  return %n : tensor<?x4x8xf32>
}
func.func @reshape(%x: tensor<3x4x8xf32> {resid.strided}) -> (tensor<12x8xf32> {resid.strided}) {
  %n = tensor.collapse_shape %x [[0, 1], [2]] : tensor<3x4x8xf32> into tensor<12x8xf32>
  %m = resid.rms_norm %n {epsilon = 1.0e-6} : tensor<12x8xf32>
  return %m : tensor<12x8xf32>
}
func.func @cond(%x: tensor<4x8xf32> {resid.strided}, %f: tensor<4x8xf32>, %c: i1) -> (tensor<4x8xf32> {resid.strided}) {
  %n = scf.if %c -> tensor<4x8xf32> {
    scf.yield %x : tensor<4x8xf32>
  } else {
    scf.yield %f : tensor<4x8xf32>
  }
  %m = resid.rms_norm %n {epsilon = 1.0e-6} : tensor<4x8xf32>
  return %m : tensor<4x8xf32>
}
