// REQUIRES: resid-run
// Without --arg, --check and --repeat make arguments up, and say which --arg they are.
// DEFINE: %{fails} = %python %S/Inputs/expect_exit.py
//
// RUN: resid-run %s --entry=static --check 2>&1 | FileCheck %s --check-prefix=STATIC
// STATIC: resid-run: note: no --arg is given, so these are taken: '--arg=f32[4x8]=random:1' '--arg=bf16[8]=random:2' '--arg=0' '--arg=0' '--arg=0.5' '--arg=true'{{$}}
// STATIC: out0: ok
// What is said gives the same.
// RUN: resid-run %s --entry=static --repeat=1 --out=%t.made.npy
// RUN: resid-run %s --entry=static '--arg=f32[4x8]=random:1' '--arg=bf16[8]=random:2' --arg=0 --arg=0 --arg=0.5 --arg=true --out=%t.given.npy
// RUN: cmp %t.made.npy %t.given.npy
//
// Open sizes by their names in the header, or all; what must be equal need not be said twice.
// RUN: resid-run %s --entry=rows --check --size=x_dim0=3 --size 5 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: resid-run %s --entry=rows --backend=reference --check=wide --size=5 --size=f_dim0=3 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: these are taken: '--arg=f32[3x5]=random:1' '--arg=f32[3x5]=random:2' '--arg=f32[5]=random:3'
// OPEN: out0: ok
// RUN: %{fails} 1 resid-run %s --entry=rows --check --size=x_dim0=3 --size=f_dim0=4 --size=5 2>&1 | FileCheck %s --check-prefix=DIFFER
// DIFFER: resid-run: error: expected dimension 0 of argument 1 ('f') to be that of dimension 0 of argument 0 ('x'), 3, but got 4
// RUN: %{fails} 2 resid-run %s --entry=rows --check --size=x_dim0=3 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: resid-run: error: expected --size=N or --size=x_dim1=N, or an --arg for each argument, since size 1 of argument 0 is open, but got none
// RUN: %{fails} 2 resid-run %s --entry=rows --check --size=x_dim=3 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: resid-run: error: --size: expected an open size of 'rows', 'x_dim0', 'x_dim1', 'f_dim0', 'f_dim1' or 'g_dim0', but got 'x_dim'; did you mean 'x_dim0'?
//
// Rows of a table and classes are named in their range, also those that are widened on the way; other integers are 0,
// and what is divided by is 1.
// RUN: resid-run %s --entry=tokens --check --size=rows_dim0=3 --size=4 2>&1 | FileCheck %s --check-prefix=TOKENS
// TOKENS: these are taken: '--arg=i32[4]=random:1%10' '--arg=f32[10x4]=random:2' '--arg=i64[4]=random:3%4' '--arg=i64[3]=0' '--arg=1' '--arg=i1[4]=random:6'
// TOKENS: out0: ok
// RUN: resid-run %s --backend=reference --entry=count '--arg=i32[64]=random:1%3' | FileCheck %s --check-prefix=LIMIT
// LIMIT: out0: 64xi32, min 0, max 2,
//
// Exit 2, flags that make no sense together:
// RUN: %{fails} 2 resid-run %s --entry=rows 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: %{fails} 2 resid-run %s --entry=rows --size=3 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: %{fails} 2 resid-run %s --entry=rows --check --size=3 '--arg=f32[1x1]=1' 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: %{fails} 2 resid-run %s --entry=static --check --size=3 2>&1 | FileCheck %s --check-prefix=CLOSED
// RUN: %{fails} 2 resid-run %s --entry=rows --check --size=x_dim0 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: %{fails} 2 resid-run %s --entry=rows --check --size=3 --size=4 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: %{fails} 2 resid-run %s --entry=count '--arg=i32[64]=random:1%0' 2>&1 | FileCheck %s --check-prefix=ZERO
// PLAIN: expected one --arg per argument of 'rows', 3, but got 0; --check makes some up
// ALONE: expected --size beside --check or --repeat without --arg, but got '3' beside neither
// BESIDE: expected --size beside --check or --repeat without --arg, but got '3' beside an --arg, which has sizes of its own
// CLOSED: expected a function with open sizes beside --size, but 'static' has none
// FORM: --size: expected N or NAME=N, such as x_dim0=4, but got 'x_dim0'
// TWICE: --size: expected each size once, but got '4' beside another
// ZERO: expected a number of integers, 1 or more, after 'random:SEED%' but got 'i32[64]=random:1%0'

func.func @static(%x: tensor<4x8xf32>, %g: tensor<8xbf16>, %seed: i64, %step: i64, %a: f32, %b: i1) -> tensor<4x8xf32> {
  %d = resid.dropout %x seed(%seed, %step) {p = 0.5, site = 0} : tensor<4x8xf32>
  %y = resid.rms_norm %d gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xbf16>
  return %y : tensor<4x8xf32>
}
func.func @rows(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %g: tensor<?xf32>) -> tensor<?x?xf32> {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
func.func @tokens(%ids: tensor<?xi32>, %table: tensor<10x?xf32>, %labels: tensor<?xi64>, %rows: tensor<?xi64>, %n: i64, %on: tensor<?xi1>)
    -> (tensor<?xf32>, tensor<?xi64>, tensor<i64>, tensor<?xi1>) {
  %wide = arith.extsi %ids : tensor<?xi32> to tensor<?xi64>
  %x = resid.embedding %wide, %table : tensor<?xi64>, tensor<10x?xf32>
  %cast = tensor.cast %x : tensor<?x?xf32> to tensor<?x4xf32>
  %loss = resid.cross_entropy %cast labels(%labels) : tensor<?x4xf32>, tensor<?xi64>
  %six = arith.constant 6 : i64
  %q = arith.divsi %six, %n : i64
  %t = tensor.from_elements %q : tensor<i64>
  return %loss, %rows, %t, %on : tensor<?xf32>, tensor<?xi64>, tensor<i64>, tensor<?xi1>
}
func.func @count(%x: tensor<64xi32>) -> tensor<64xi32> {
  return %x : tensor<64xi32>
}
