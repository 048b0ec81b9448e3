// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-run on compiled code: what is passed in and out, checks, threads and statuses.
//
// The statistics of a norm, its parameters, and a mask; the check judges each result by what made it:
// RUN: resid-run %s --entry=chain --arg=f32[65x300]=random:1 --arg=f32[65x300]=random:2 --arg=f32[300]=random:3 \
// RUN:   --arg=81985529216486895 --arg=5 --check --repeat=2 | FileCheck %s --check-prefix=CHAIN
// CHAIN: out0: ok, largest error {{.*}} at [{{[0-9]+, [0-9]+}}], bound there
// CHAIN-NEXT: out1: ok, bit-equal
// CHAIN-NEXT: out2: ok, largest error
// CHAIN-NEXT: out3: ok, largest error
// CHAIN-NEXT: out4: ok, largest error
// CHAIN-NEXT: median of 2: {{.*}} of 313980 compulsory bytes
//
// The same bits on one thread, on three and on all, and in every output file:
// RUN: resid-run %s --entry=chain --arg=f32[999x77]=random:1 --arg=f32[999x77]=random:2 --arg=f32[77]=1 --arg=1 --arg=2 --out=%t.1.npy
// RUN: resid-run %s --entry=chain --arg=f32[999x77]=random:1 --arg=f32[999x77]=random:2 --arg=f32[77]=1 --arg=1 --arg=2 --out=%t.3.npy --threads=3
// RUN: resid-run %s --entry=chain --arg=f32[999x77]=random:1 --arg=f32[999x77]=random:2 --arg=f32[77]=1 --arg=1 --arg=2 --out=%t.0.npy --threads=0
// RUN: cmp %t.1.npy %t.3.npy
// RUN: cmp %t.1.npy %t.0.npy
//
// Scalars of every kind reach the code, and sizes become results' sizes:
// RUN: resid-run %s --entry=scalars --arg=true --arg=-7 --arg=0.5 --arg=bf16[3]=1,2,3 | FileCheck %s --check-prefix=TRUE
// RUN: resid-run %s --entry=scalars --arg=false --arg=-7 --arg=0.5 --arg=bf16[2]=1,2 --check | FileCheck %s --check-prefix=FALSE
// TRUE: out0: 3xbf16, min -21, max -7, first -7 -14 -21
// FALSE: out0: ok, bit-equal
// FALSE: out0: 2xbf16, min 0.5, max 1, first 0.5 1
//
// Where a norm feeds a norm tolerances judge, and they can be too tight:
// RUN: resid-run %s --entry=twice --arg=f32[9x100]=random:1 --check | FileCheck %s --check-prefix=TWICE
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --entry=twice --arg=f32[9x100]=random:1 --check --rtol=1e-12 --atol=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TIGHT
// TWICE: out0: ok, largest error
// TIGHT: out0: failed, largest error {{.*}}, {{[0-9]+}} of 900 elements beyond
// TIGHT: resid-run: error: the check failed
//
// Statuses and sizes:
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --entry=chain --arg=f32[1x2]=1 --arg=f32[1x2]=1 --arg=f32[2]=1 --arg=1 --arg=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=VALUE
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --entry=chain --arg=f32[1x2]=1 --arg=f32[1x3]=1 --arg=f32[2]=1 --arg=1 --arg=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SIZES
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=twice --arg=f32[1x1]=1 --mcpu=nothing 2>&1 | FileCheck %s --check-prefix=MCPU
// VALUE: resid-run: error: the compiled function answered RESID_BAD_VALUE: {{.*}}; chain: argument 'step': step of dropout is -1, expected 0 to 4294967295
// SIZES: resid-run: error: expected dimension 1 of argument 1 ('f') to be that of dimension 1 of argument 0 ('x'), 2, but got 3
// MCPU: resid-run: error: --mcpu: expected a CPU {{.*}} but got 'nothing'

func.func @chain(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %seed: i64, %step: i64)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 2} : tensor<?x?xf32>
  %s = resid.add %x, %d {skip_scale = 1.1} : tensor<?x?xf32>
  %y, %mean, %correction, %rstd = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5}
      : tensor<?x?xf32>, tensor<?xf32> -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %s, %mean, %correction, %rstd
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

func.func @scalars(%condition: i1, %a: i32, %b: f32, %x: tensor<?xbf16>) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xbf16>
  %i = arith.sitofp %a : i32 to f32
  %s = arith.select %condition, %i, %b : f32
  %h = arith.truncf %s : f32 to bf16
  %t = tensor.splat %h[%n] : tensor<?xbf16>
  %r = arith.mulf %x, %t : tensor<?xbf16>
  return %r : tensor<?xbf16>
}

func.func @twice(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<?x?xf32>
  %z = resid.layer_norm %y {epsilon = 1.0e-6} : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// A function that cannot be compiled does not get in the way of the others.
func.func @other(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %y = tensor.extract %x[%c0] : tensor<4xf32>
  return %y : f32
}

// A mistake that only a run shows.
// RUN: rm -rf %t.fault && mkdir %t.fault && cd %t.fault
// RUN: cd %t.fault && %python %S/Inputs/expect_exit.py 70 resid-run %s --entry=divide --arg=i32[4]=1 --arg=i32[4]=0 2>&1 | FileCheck %s --check-prefix=FAULT
// FAULT: resid-run: internal error: arithmetic exception
// FAULT-NEXT: resid-run: note: the compiled program was running; a division by 0 or an offset beyond a tensor, in the program itself, ends it too, and resid-run --backend=reference says where
func.func @divide(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %z = arith.divsi %x, %y : tensor<?xi32>
  return %z : tensor<?xi32>
}
