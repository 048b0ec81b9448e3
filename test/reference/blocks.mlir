// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each norm placement by numbers worked by hand: x = [1, 7, 5, 5] has the root mean square 5, so N(x) = [0.2, 1.4, 1, 1], times
// gamma [1, 2, 3, 4] [0.2, 2.8, 3, 4]; the branch doubles.
//
// RUN: resid-run %s --backend=reference --entry=placements --arg=f32[1x4]=1,7,5,5 --arg=f32[4]=1,2,3,4 | FileCheck %s
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=clauses --arg=f32[1x4]=1 --arg=f32[4]=1 --arg=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STEP
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=clauses --arg=f32[1x4]=1 --arg=f32[3]=1 --arg=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GATE

// post: N(x + 2x) = N(3x) = N(x)
// CHECK: out0: {{.*}} first 0.2 2.8 3 4
// pre: x + 2N(x)
// CHECK-NEXT: out1: {{.*}} first 1.4 12.6 11 13
// branch_post: x + N(2x)
// CHECK-NEXT: out2: {{.*}} first 1.2 9.8 8 9
// peri: 2x + N(2N(x)), the first norm without gamma
// CHECK-NEXT: out3: {{.*}} first 2.2 16.8 13 14
// post_shifted: N(x) + 2N(x)
// CHECK-NEXT: out4: {{.*}} first 0.6 8.4 9 12
// none: x + 0.5·2x
// CHECK-NEXT: out5: {{.*}} first 2 14 10 10
func.func @placements(%x: tensor<1x4xf32>, %g: tensor<4xf32>)
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %post = resid.block post %x norm(rms gamma %g : tensor<4xf32> epsilon = 0.0) : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    %f = arith.addf %h, %h : tensor<1x4xf32>
    resid.yield %f : tensor<1x4xf32>
  }
  %pre = resid.block pre %x norm(rms gamma %g : tensor<4xf32> epsilon = 0.0) : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    %f = arith.addf %h, %h : tensor<1x4xf32>
    resid.yield %f : tensor<1x4xf32>
  }
  %branch_post = resid.block branch_post %x norm(rms gamma %g : tensor<4xf32> epsilon = 0.0) : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    %f = arith.addf %h, %h : tensor<1x4xf32>
    resid.yield %f : tensor<1x4xf32>
  }
  %peri = resid.block peri %x norm(rms epsilon = 0.0) norm(rms gamma %g : tensor<4xf32> epsilon = 0.0)
            {skip_scale = 2.0} : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    %f = arith.addf %h, %h : tensor<1x4xf32>
    resid.yield %f : tensor<1x4xf32>
  }
  %post_shifted = resid.block post_shifted %x norm(rms gamma %g : tensor<4xf32> epsilon = 0.0) : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    %f = arith.addf %h, %h : tensor<1x4xf32>
    resid.yield %f : tensor<1x4xf32>
  }
  %none = resid.block none %x {branch_scale = 0.5} : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    %f = arith.addf %h, %h : tensor<1x4xf32>
    resid.yield %f : tensor<1x4xf32>
  }
  return %post, %pre, %branch_post, %peri, %post_shifted, %none : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
      tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// What only a run can tell is diagnosed at the block.
// STEP: blocks.mlir:[[@LINE+4]]:8: error: 'resid.block' op expected a step from 0 to 4294967295 but got -1
// GATE: blocks.mlir:[[@LINE+3]]:8: error: 'resid.block' op expected gate to have size 4 in dimension 0 but got 3
func.func @clauses(%x: tensor<1x4xf32>, %gate: tensor<?xf32>, %step: i64) -> tensor<1x4xf32> {
  %y =
       resid.block none %x dropout(0.5, site 0, seed %step, step %step) gate(%gate : tensor<?xf32>) : tensor<1x4xf32> {
  ^bb0(%h: tensor<1x4xf32>):
    resid.yield %h : tensor<1x4xf32>
  }
  return %y : tensor<1x4xf32>
}

// A norm over two dimensions, of every kind: the row is all four elements.
// RUN: resid-run %s --backend=reference --entry=two_dimensions --arg=f32[1x2x2]=1,7,5,5 --arg=f32[2x2]=1,2,3,4 --arg=f32[]=100 | FileCheck %s --check-prefix=TWO
// TWO: out0: {{.*}} first 1.2 9.8 8 9
// TWO-NEXT: out1: {{.*}} first 2 9 8 9
// TWO-NEXT: out2: {{.*}} first 1 2 3 4
func.func @two_dimensions(%x: tensor<1x2x2xf32>, %g: tensor<2x2xf32>, %a: tensor<f32>)
    -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %rms = resid.block branch_post %x norm(rms gamma %g : tensor<2x2xf32> epsilon = 0.0) : tensor<1x2x2xf32> {
  ^bb0(%h: tensor<1x2x2xf32>):
    resid.yield %h : tensor<1x2x2xf32>
  }
  %dyt = resid.block branch_post %x norm(dyt alpha %a : tensor<f32> gamma %g : tensor<2x2xf32>) : tensor<1x2x2xf32> {
  ^bb0(%h: tensor<1x2x2xf32>):
    resid.yield %h : tensor<1x2x2xf32>
  }
  %flat = resid.dyt %x alpha(%a) gamma(%g) : tensor<1x2x2xf32>, tensor<f32>, tensor<2x2xf32>
  return %rms, %dyt, %flat : tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
