// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the evaluator says of values that a valid program must not get.
//
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=index --arg=f32[4]=1 --arg=9 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: messages.mlir:[[#]]:[[#]]: error: 'tensor.extract' op expected an index below 4 in dimension 0 but got 9
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=slice --arg=f32[4]=1 --arg=3 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: messages.mlir:[[#]]:[[#]]: error: 'tensor.extract_slice' op expected dimension 0 of the slice inside of size 4 but got offset 3, size 2, stride 1
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=step --arg=f32[4]=1 --arg=0 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: messages.mlir:[[#]]:[[#]]: error: 'scf.for' op expected a step of 1 or more but got 0
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=size --arg=-3 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: messages.mlir:[[#]]:[[#]]: error: 'tensor.empty' op expected sizes of 0 or more but got -3
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=bias --arg=f32[2x4]=1 --arg=f32[3]=1 2>&1 | FileCheck %s --check-prefix=BIAS
// BIAS: messages.mlir:[[#]]:[[#]]: error: 'resid.add_bias' op expected bias to have size 4 but got 3
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=cast --arg=f32[3]=1 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: messages.mlir:[[#]]:[[#]]: error: 'tensor.cast' op expected a result of type 'tensor<4xf32>' but got 3xf32
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=shapes --arg=f32[3]=1 --arg=f32[4]=1 2>&1 | FileCheck %s --check-prefix=SHAPES
// SHAPES: messages.mlir:[[#]]:[[#]]: error: 'arith.addf' op expected operands of one shape but got 3xf32 and 4xf32
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=depth --arg=f32[4]=1 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: messages.mlir:[[#]]:[[#]]: error: 'func.call' op expected calls to nest at most 256 deep, but they nest deeper
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=pack --arg=f32[3x4]=1 --arg=f32[2x4x2]=0 2>&1 | FileCheck %s --check-prefix=GAP
// GAP: messages.mlir:[[#]]:[[#]]: error: 'linalg.pack' op expected a padding value, or tiles that fill up, but got neither
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=pack --arg=f32[4x4]=1 --arg=f32[3x4x2]=0 2>&1 | FileCheck %s --check-prefix=PACKED
// PACKED: messages.mlir:[[#]]:[[#]]: error: 'linalg.pack' op expected 2 in dimension 0 of the packed array but got 3
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=blocks --arg=f32[4]=1 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: messages.mlir:[[#]]:[[#]]: error: 'func.func' op expected one block, because the evaluator follows no branches, but got 2
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=loop --arg=f32[3]=1 --arg=f32[4]=1 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: messages.mlir:[[#]]:[[#]]: error: 'linalg.generic' op expected operands to agree on the size of loop 0 but got 3 and 4
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=inside --arg=f32[3]=1 --arg=f32[2]=1 --arg=f32[4]=1 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: messages.mlir:[[#]]:[[#]]: error: 'linalg.conv_1d' op expected indices of an operand below 3 but got 4
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=rows --arg=f32[2x4]=1 --arg=9223372036854775807 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: messages.mlir:[[#]]:[[#]]: error: 'resid.dropout' op expected row and site from 0 to 4294967295, but with the origin they overflow
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=insert --arg=f32[3]=1 --arg=f32[4]=1 --arg=2 2>&1 | FileCheck %s --check-prefix=INSERT
// INSERT: messages.mlir:[[#]]:[[#]]: error: 'tensor.insert_slice' op expected a source of the slice's sizes but got 3xf32
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=expand --arg=f32[7]=1 --arg=2 2>&1 | FileCheck %s --check-prefix=EXPAND
// EXPAND: messages.mlir:[[#]]:[[#]]: error: 'tensor.expand_shape' op expected sizes whose product is 7 but got 8
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=pad --arg=f32[4]=1 --arg=-1 2>&1 | FileCheck %s --check-prefix=PAD
// PAD: messages.mlir:[[#]]:[[#]]: error: 'tensor.pad' op expected padding of 0 or more but got -1
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=dim --arg=f32[4]=1 --arg=1 2>&1 | FileCheck %s --check-prefix=DIM
// DIM: messages.mlir:[[#]]:[[#]]: error: 'tensor.dim' op expected a dimension below 1 but got 1
// RUN: %python %S/../tools/Inputs/expect_exit.py 4 resid-run %s --backend=reference --entry=odd_integers --arg=1 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: resid-run: error: argument 0 ('x') of type tensor<2xi3>: expected a number or an array of f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64, or an array of i4
// REQUIRES: resid-run

func.func @index(%x: tensor<4xf32>, %i: index) -> tensor<f32> {
  %e = tensor.extract %x[%i] : tensor<4xf32>
  %y = tensor.from_elements %e : tensor<f32>
  return %y : tensor<f32>
}

func.func @slice(%x: tensor<?xf32>, %i: index) -> tensor<2xf32> {
  %y = tensor.extract_slice %x[%i] [2] [1] : tensor<?xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @step(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %y = scf.for %k = %c0 to %c4 step %i iter_args(%a = %x) -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @size(%x: index) -> tensor<?xf32> {
  %y = tensor.empty(%x) : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @bias(%x: tensor<2x4xf32>, %b: tensor<?xf32>) -> tensor<2x4xf32> {
  %y = resid.add_bias %x, %b : tensor<2x4xf32>, tensor<?xf32>
  return %y : tensor<2x4xf32>
}

func.func @cast(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @shapes(%x: tensor<?xf32>, %f: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.addf %x, %f : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @depth(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @depth(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

func.func @loop(%x: tensor<?xf32>, %f: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @inside(%x: tensor<?xf32>, %w: tensor<?xf32>, %f: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.conv_1d ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @rows(%x: tensor<2x4xf32>, %row: i64) -> tensor<2x4xf32> {
  %y = resid.dropout %x seed(%row, %row) origin(%row, %row) {p = 0.5, site = 0} : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

func.func @insert(%x: tensor<?xf32>, %f: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %y = tensor.insert_slice %x into %f[0] [%n] [1] : tensor<?xf32> into tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @expand(%x: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

func.func @pad(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[0] high[%n] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @dim(%x: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %n = tensor.dim %x, %i : tensor<?xf32>
  %y = tensor.empty(%n) : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @odd_integers(%x: tensor<2xi3>) -> tensor<2xi3> {
  return %x : tensor<2xi3>
}

func.func @pack(%x: tensor<?x4xf32>, %e: tensor<?x4x2xf32>) -> tensor<?x4x2xf32> {
  %p = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<?x4xf32> -> tensor<?x4x2xf32>
  return %p : tensor<?x4x2xf32>
}
