// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of refusals.c: one per kind of thing that may be wrong with a call.

func.func @norm(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>) -> tensor<?x?xf32> {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}

// The rows must be a multiple of 4, and the result has a size that follows from theirs.
func.func @expand(%x: tensor<?x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %q = arith.divui %n, %c4 : index
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [%q, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  return %e : tensor<?x4x8xf32>
}

// A size that may be negative, one that divides, and a product beyond the limit.
func.func @sized(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %less = arith.subi %n, %c3 : index
  %rest = arith.remsi %less, %m : index
  %square = arith.muli %n, %n : index
  %whole = arith.minsi %square, %m : index
  %a = tensor.generate %rest {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<?xf32>
  %b = tensor.generate %whole {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

func.func @groups(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.group_norm %x {epsilon = 1.0e-5, groups = 4} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @drop(%x: tensor<?x8xf32>, %seed: i64, %step: i64, %row: i64, %site: i64) -> tensor<?x8xf32> {
  %y = resid.dropout %x seed(%seed, %step) origin(%row, %site) {p = 0.5, site = 3} : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @strided(%x: tensor<?x8xf32> {resid.strided}) -> (tensor<?x8xf32> {resid.strided}) {
  %y = resid.add %x, %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @scratch(%x: tensor<?x8xf32>, %weight: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %n = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f = linalg.matmul ins(%n, %weight : tensor<?x8xf32>, tensor<8x8xf32>) outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = resid.add %x, %f : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// The text has what would end a comment, and a backslash.
func.func @checked(%x: tensor<8xf32>, %n: index, %limit: f32) -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %c0 = arith.constant 0 : index
  %is_good = arith.cmpi sgt, %more, %c0 : index
  cf.assert %is_good, "n + 1 */ must be \\ positive"
  %zero = arith.constant 0.0 : f32
  %is_limit = arith.cmpf oge, %limit, %zero : f32
  cf.assert %is_limit, "limit must not be negative"
  %y = resid.add %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @inside(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = tensor.extract %x[%c0] : tensor<8xf32>
  %is_good = arith.cmpf oge, %first, %zero : f32
  cf.assert %is_good, "the first element must not be negative"
  %y = resid.add %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// The inner step is 0 in the first turn of the outer loop, if there is one; that of the outer loop is an argument.
func.func @turns(%x: tensor<8xf32>, %from: index, %step: index) -> tensor<8xf32> {
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %from to %c2 step %step iter_args(%s = %x) -> tensor<8xf32> {
    %q = scf.for %j = %i to %c2 step %i iter_args(%p = %s) -> tensor<8xf32> {
      %t = resid.add %p, %x : tensor<8xf32>
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Dropout in a loop is refused where the loop has a turn, and the entry knows both.
func.func @loop(%x: tensor<8xf32>, %turns: index, %step: i64) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = arith.constant 7 : i64
  %r = scf.for %i = %c0 to %turns step %c1 iter_args(%s = %x) -> tensor<8xf32> {
    %t = resid.dropout %s seed(%seed, %step) {p = 0.5, site = 3} : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
