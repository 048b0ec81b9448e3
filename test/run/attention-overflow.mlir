// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores that overflow f32 make a NaN, which the evaluator does not in wide mode: its bound is infinite there, and says
// nothing of that row. The other rows are judged.
// REQUIRES: resid-run
// RUN: resid-run %s --entry=attention --arg=f32[1x1x2x1]=1e20,1 --arg=f32[1x1x2x1]=1e20,1e20 --arg=f32[1x1x2x1]=1,3 --check=wide | FileCheck %s
// RUN: resid-run %s --entry=attention --arg=f32[1x1x2x1]=1e20,1 --arg=f32[1x1x2x1]=1e20,1e20 --arg=f32[1x1x2x1]=1,3 --check | FileCheck %s --check-prefix=EQUAL
// CHECK: out0: ok,
// CHECK: out0: 1x1x2x1xf32, {{.*}}1 NaN, first {{-?}}nan 2
// EQUAL: out0: ok, bit-equal
// EQUAL: out0: 1x1x2x1xf32, {{.*}}1 NaN, first {{-?}}nan 2
func.func @attention(%q: tensor<1x1x2x1xf32>, %k: tensor<1x1x2x1xf32>, %v: tensor<1x1x2x1xf32>) -> tensor<1x1x2x1xf32> {
  %y = resid.attention %q, %k, %v : tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
  return %y : tensor<1x1x2x1xf32>
}
