// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AdamW (Loshchilov and Hutter, 2019) on parameters in rows of 128, which threads share: one kernel, in place. `mean_scale` and `square_scale`
// correct the bias of the averages in early steps: 1/(1 - beta^t).

!values = tensor<?x128xf32>
#each = affine_map<(i, j) -> (i, j)>

func.func @adamw(%parameter: !values, %mean: !values, %square: !values, %gradient: !values, %rate: f32, %decay: f32,
    %beta_mean: f32, %beta_square: f32, %mean_scale: f32, %square_scale: f32, %epsilon: f32) -> (!values, !values, !values) {
  %one = arith.constant 1.0 : f32
  %rest_mean = arith.subf %one, %beta_mean : f32
  %rest_square = arith.subf %one, %beta_square : f32
  %rate_of_decay = arith.mulf %rate, %decay : f32
  %shrink = arith.subf %one, %rate_of_decay : f32
  %new:3 = linalg.generic {indexing_maps = [#each, #each, #each, #each, #each, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%parameter, %mean, %square, %gradient : !values, !values, !values, !values)
      outs(%parameter, %mean, %square : !values, !values, !values) {
  ^bb0(%p: f32, %m: f32, %v: f32, %g: f32, %p_old: f32, %m_old: f32, %v_old: f32):
    %m_kept = arith.mulf %beta_mean, %m : f32
    %m_added = arith.mulf %rest_mean, %g : f32
    %m_new = arith.addf %m_kept, %m_added : f32
    %v_kept = arith.mulf %beta_square, %v : f32
    %g_square = arith.mulf %g, %g : f32
    %v_added = arith.mulf %rest_square, %g_square : f32
    %v_new = arith.addf %v_kept, %v_added : f32
    %m_fair = arith.mulf %mean_scale, %m_new : f32
    %v_fair = arith.mulf %square_scale, %v_new : f32
    %root = math.sqrt %v_fair : f32
    %below = arith.addf %root, %epsilon : f32
    %direction = arith.divf %m_fair, %below : f32
    %step = arith.mulf %rate, %direction : f32
    %p_kept = arith.mulf %shrink, %p : f32
    %p_new = arith.subf %p_kept, %step : f32
    linalg.yield %p_new, %m_new, %v_new : f32, f32, f32
  } -> (!values, !values, !values)
  return %new#0, %new#1, %new#2 : !values, !values, !values
}
