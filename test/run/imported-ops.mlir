// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What exporters of models write around layers: lookups, assertions in bodies, globals, columns. Compiled and evaluated:
// the same bits, and the same calls refused.
// REQUIRES: resid-run
//
// DEFINE: %{ids} = --arg=i64[2x3]=0,7,2,7,5,1
// DEFINE: %{refuse} = %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s
// RUN: resid-run %s --entry=gather --arg=f32[8x5]=random:1 %{ids} --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=gather_tuples --arg=f32[8x5x2]=random:1 --arg=i32[2x2]=7,1,3,0 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=gather_one --arg=f32[8x5]=random:1 --arg=i64[1]=7 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=scatter --arg=f32[2x5]=random:1 --arg=f32[8x5x2]=random:2 --arg=i32[2x2]=7,0,3,1 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=embedding --arg=f32[8x5]=random:1 %{ids} --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=wrapped --arg=f32[8x5]=random:1 --arg=i64[3]=-8,7,-1 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=generated --arg=f32[8x5]=random:1 --arg=f32[9]=random:2 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=branches --arg=f32[4x3]=random:1 --arg=f32[4x8]=random:2 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=columns --arg=f32[4x8]=random:1 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=globals --arg=f32[4]=random:1 --check | FileCheck %s --check-prefix=EQUAL
// RUN: resid-run %s --entry=shapes --arg=i32[4x4]=1065353216 --check | FileCheck %s --check-prefix=EQUAL
// EQUAL: out0: ok, bit-equal
//
// Calls that look beyond their tables. The evaluator says where, a compiled function what.
// RUN: %{refuse} --entry=gather --arg=f32[7x5]=1 %{ids} 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: %{refuse} --entry=gather --arg=f32[7x5]=1 %{ids} --backend=reference 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: %{refuse} --entry=wrapped --arg=f32[8x5]=1 --arg=i64[3]=-9,0,0 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: %{refuse} --entry=generated --arg=f32[8x5]=1 --arg=f32[8]=1 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: answered RESID_BAD_VALUE: {{.*}}: an index of tensor.extract lies outside of its tensor
// GATHER: imported-ops.mlir:[[#@LINE+11]]:8: error: 'tensor.gather' op expected an index below 7 in dimension 0 but got 7
// RUN: %{refuse} --entry=scatter --arg=f32[2x5]=1 --arg=f32[8x5x2]=1 --arg=i32[2x2]=8,0,3,1 2>&1 | FileCheck %s --check-prefix=SCATTER
// SCATTER: answered RESID_BAD_VALUE: {{.*}}: tensor.insert_slice reaches outside of its tensor
// RUN: %{refuse} --entry=embedding --arg=f32[8x5]=1 --arg=i64[2x3]=0,0,0,0,0,-1 2>&1 | FileCheck %s --check-prefix=ASSERTED
// RUN: %{refuse} --entry=embedding --arg=f32[8x5]=1 --arg=i64[2x3]=0,0,0,0,0,-1 --backend=reference 2>&1 | FileCheck %s --check-prefix=EVALUATED
// ASSERTED: answered RESID_BAD_VALUE: {{.*}}: assertion failed: index must be larger or equal to 0
// EVALUATED: 'linalg.generic' op meets an assertion that fails: index must be larger or equal to 0
func.func @gather(%table: tensor<?x5xf32>, %ids: tensor<?x3xi64>) -> tensor<?x3x5xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?x3xi64>
  %i = tensor.expand_shape %ids [[0], [1, 2]] output_shape [%n, 3, 1] : tensor<?x3xi64> into tensor<?x3x1xi64>
  %y = tensor.gather %table[%i] gather_dims([0]) : (tensor<?x5xf32>, tensor<?x3x1xi64>) -> tensor<?x3x5xf32>
  return %y : tensor<?x3x5xf32>
}

// Tuples of two indices, with dimensions of size 1 where the table is indexed.
func.func @gather_tuples(%table: tensor<?x5x2xf32>, %ids: tensor<2x2xi32>) -> tensor<2x1x5x1xf32> {
  %y = tensor.gather %table[%ids] gather_dims([0, 2]) : (tensor<?x5x2xf32>, tensor<2x2xi32>) -> tensor<2x1x5x1xf32>
  return %y : tensor<2x1x5x1xf32>
}

func.func @gather_one(%table: tensor<8x5xf32>, %id: tensor<1xi64>) -> tensor<5xf32> {
  %y = tensor.gather %table[%id] gather_dims([0]) : (tensor<8x5xf32>, tensor<1xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @scatter(%rows: tensor<2x5xf32>, %into: tensor<?x5x2xf32>, %ids: tensor<2x2xi32>) -> tensor<?x5x2xf32> {
  %y = tensor.scatter %rows into %into[%ids] scatter_dims([0, 2]) unique
      : (tensor<2x5xf32>, tensor<?x5x2xf32>, tensor<2x2xi32>) -> tensor<?x5x2xf32>
  return %y : tensor<?x5x2xf32>
}

// As torch-mlir writes an embedding.
func.func @embedding(%table: tensor<8x5xf32>, %ids: tensor<2x3xi64>) -> tensor<2x3x5xf32> {
  %e = tensor.empty() : tensor<2x3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%ids : tensor<2x3xi64>) outs(%e : tensor<2x3x5xf32>) {
  ^bb0(%id: i64, %o: f32):
    %c0 = arith.constant 0 : i64
    %c8 = arith.constant 8 : i64
    %i = arith.index_cast %id : i64 to index
    %d = linalg.index 2 : index
    %below = arith.cmpi slt, %id, %c8 : i64
    cf.assert %below, "index must be smaller than dim size"
    %above = arith.cmpi sge, %id, %c0 : i64
    cf.assert %above, "index must be larger or equal to 0"
    %v = tensor.extract %table[%i, %d] : tensor<8x5xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// Negative indices count from the end: the index is computed, and compared after that.
func.func @wrapped(%table: tensor<8x5xf32>, %ids: tensor<3xi64>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<3xi64>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%id: i64, %o: f32):
    %c0 = arith.constant 0 : i64
    %c8 = arith.constant 8 : i64
    %isNegative = arith.cmpi slt, %id, %c0 : i64
    %fromEnd = arith.addi %id, %c8 : i64
    %k = arith.select %isNegative, %fromEnd, %id : i64
    %i = arith.index_cast %k : i64 to index
    %d = linalg.index 1 : index
    %v = tensor.extract %table[%i, %d] : tensor<8x5xf32>
    linalg.yield %v : f32
  } -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// Positions in a table of another size than the array that asks.
func.func @generated(%x: tensor<?x5xf32>, %table: tensor<?xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x5xf32>
  %y = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %c1 = arith.constant 1 : index
    %next = arith.addi %i, %c1 : index
    %a = tensor.extract %table[%next] : tensor<?xf32>
    %b = tensor.extract %x[%i, %j] : tensor<?x5xf32>
    %s = arith.addf %a, %b : f32
    tensor.yield %s : f32
  } : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// Each table is asked in its own branch alone.
func.func @branches(%a: tensor<4x3xf32>, %b: tensor<4x8xf32>) -> tensor<4x11xf32> {
  %e = tensor.empty() : tensor<4x11xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<4x11xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c3 = arith.constant 3 : index
    %isFirst = arith.cmpi ult, %j, %c3 : index
    %v = scf.if %isFirst -> f32 {
      %p = tensor.extract %a[%i, %j] : tensor<4x3xf32>
      scf.yield %p : f32
    } else {
      %k = arith.subi %j, %c3 : index
      %p = tensor.extract %b[%i, %k] : tensor<4x8xf32>
      scf.yield %p : f32
    }
    linalg.yield %v : f32
  } -> tensor<4x11xf32>
  return %y : tensor<4x11xf32>
}

// Cumulative sums along the rows, a column at a time.
func.func @columns(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero, %o = %e) -> (tensor<4xf32>, tensor<4x8xf32>) {
    %v = tensor.extract_slice %x[0, %i] [4, 1] [1, 1] : tensor<4x8xf32> to tensor<4xf32>
    %t = arith.addf %s, %v : tensor<4xf32>
    %p = tensor.insert_slice %t into %o[0, %i] [4, 1] [1, 1] : tensor<4xf32> into tensor<4x8xf32>
    scf.yield %t, %p : tensor<4xf32>, tensor<4x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
}

// A global that is only read is a constant; the first one of each export of torch-mlir is not even read.
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
ml_program.global private @offset(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>
func.func @globals(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = ml_program.global_load_const @offset : tensor<4xf32>
  %y = arith.addf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @shapes(%x: tensor<4x4xi32>) -> tensor<2x2x4xf32> {
  %shape = arith.constant dense<[2, 2, 4]> : tensor<3xi64>
  %f = tensor.bitcast %x : tensor<4x4xi32> to tensor<4x4xf32>
  %y = tensor.reshape %f(%shape) : (tensor<4x4xf32>, tensor<3xi64>) -> tensor<2x2x4xf32>
  return %y : tensor<2x2x4xf32>
}
