// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assertions and steps of loops, compiled and evaluated: the same answers. What functions say in C: test/embed/refusals.test.
//
// DEFINE: %{run} = resid-run %s --arg=f32[4]=1
// RUN: %{run} --entry=asserted --arg=1 --check | FileCheck %s --check-prefix=GOOD
// RUN: %{run} --entry=turns --arg=2 --check | FileCheck %s --check-prefix=GOOD
// GOOD: out0: ok, bit-equal
// RUN: not %{run} --entry=asserted --arg=0 2>&1 | FileCheck %s --check-prefix=ASSERTED
// RUN: not %{run} --entry=asserted --arg=0 --check 2>&1 | FileCheck %s --check-prefix=ASSERTED
// ASSERTED: error: the compiled function answered RESID_BAD_VALUE: {{.*}}; asserted: assertion failed: n must be positive
// RUN: not %{run} --entry=asserted --arg=0 --backend=reference 2>&1 | FileCheck %s --check-prefix=EVALUATED
// EVALUATED: conditions.mlir:[[#@LINE+23]]:3: error: 'cf.assert' op expected the assertion to hold, but it failed: n must be positive
// RUN: not %{run} --entry=turns --arg=0 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not %{run} --entry=turns --arg=-2 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: the compiled function answered RESID_BAD_VALUE: {{.*}}; turns: argument 'step': step of scf.for is {{0|-2}}, expected 1 or more
// RUN: not %{run} --entry=turns --arg=0 --backend=reference 2>&1 | FileCheck %s --check-prefix=EVALUATEDSTEP
// EVALUATEDSTEP: error: 'scf.for' op expected a step of 1 or more but got 0
//
// What follows from sizes alone is a wrong shape, also where they are computed; beside a scalar argument it is a wrong value.
// RUN: resid-run %s --entry=sized --arg=f32[6]=1 --arg=0 --check | FileCheck %s --check-prefix=GOOD
// RUN: not resid-run %s --entry=sized --arg=f32[5]=1 --arg=0 2>&1 | FileCheck %s --check-prefix=SIZED
// SIZED: error: the compiled function answered RESID_BAD_SHAPE: {{.*}}; sized: assertion failed: a number of pairs
// RUN: not resid-run %s --entry=sized --arg=f32[6]=1 --arg=7 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: error: the compiled function answered RESID_BAD_VALUE: {{.*}}; sized: assertion failed: n inside of x
//
// A step that is known to be wrong, and an assertion for each element:
// RUN: not %{run} --entry=known 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: error: 'scf.for' op expected a step of 1 or more, but got 0
// RUN: not %{run} --entry=elements 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: error: the compiled function answered RESID_BAD_VALUE: {{.*}}; elements: assertion failed: three elements

func.func @asserted(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %ok = arith.cmpi sgt, %n, %c0 : index
  cf.assert %ok, "n must be positive"
  %y = resid.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @sized(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %rest = arith.remsi %size, %c2 : index
  %is_even = arith.cmpi eq, %rest, %c0 : index
  cf.assert %is_even, "a number of pairs"
  %is_inside = arith.cmpi slt, %n, %size : index
  cf.assert %is_inside, "n inside of x"
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @turns(%x: tensor<4xf32>, %step: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %step iter_args(%s = %x) -> tensor<4xf32> {
    %t = resid.add %s, %x : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = call @turns(%x, %c0) : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @elements(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = tensor.generate {
  ^bb0(%i: index):
    %c3 = arith.constant 3 : index
    %ok = arith.cmpi slt, %i, %c3 : index
    cf.assert %ok, "three elements"
    %v = tensor.extract %x[%i] : tensor<4xf32>
    tensor.yield %v : f32
  } : tensor<4xf32>
  return %g : tensor<4xf32>
}
