// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-layers on several streams: @block_V as resid.block, @flat_V by the formula of their placement. ELEMENT is the element type.

func.func @block_pre(%x: tensor<5x4x40xELEMENT>, %gamma: tensor<40xf32>, %a: tensor<5x4x1xf32>, %b: tensor<5x4x1xf32>, %mix: tensor<5x4x4xf32>, %seed: i64, %step: i64) -> tensor<5x4x40xELEMENT> {
  %y = resid.block pre %x norm(rms gamma %gamma : tensor<40xf32> epsilon = 1.0e-6)
    streams(read %a : tensor<5x4x1xf32>, write %b : tensor<5x4x1xf32>, mix %mix : tensor<5x4x4xf32>) : tensor<5x4x40xELEMENT> {
  ^bb0(%h: tensor<5x40xELEMENT>):
    %f = math.absf %h : tensor<5x40xELEMENT>
    resid.yield %f : tensor<5x40xELEMENT>
  }
  return %y : tensor<5x4x40xELEMENT>
}
func.func @flat_pre(%x: tensor<5x4x40xELEMENT>, %gamma: tensor<40xf32>, %a: tensor<5x4x1xf32>, %b: tensor<5x4x1xf32>, %mix: tensor<5x4x4xf32>, %seed: i64, %step: i64) -> tensor<5x4x40xELEMENT> {
  %u = resid.read %x weights(%a) : tensor<5x4x40xELEMENT>, tensor<5x4x1xf32>
  %n = resid.rms_norm %u gamma(%gamma) {epsilon = 1.0e-6} : tensor<5x40xELEMENT>, tensor<40xf32>
  %f = math.absf %n : tensor<5x40xELEMENT>
  %y = resid.write %x, %f weights(%b) mix(%mix) : tensor<5x4x40xELEMENT>, tensor<5x4x1xf32>, tensor<5x4x4xf32>
  return %y : tensor<5x4x40xELEMENT>
}

// Dropout, gate and scale act on what the branch gives. It is rounded once before it is written.
func.func @block_scaled(%x: tensor<5x3x40xELEMENT>, %gamma: tensor<40xf32>, %g: tensor<40xf32>, %a: tensor<3x40xf32>, %mix: tensor<3x1xf32>, %seed: i64, %step: i64) -> tensor<5x3x40xELEMENT> {
  %y = resid.block pre %x norm(rms gamma %gamma : tensor<40xf32> epsilon = 1.0e-6) dropout(0.3, site 5, seed %seed, step %step) gate(%g : tensor<40xf32>)
    streams(read %a : tensor<3x40xf32>, mix %mix : tensor<3x1xf32>) {branch_scale = 0.7, read_scale = 0.5} : tensor<5x3x40xELEMENT> {
  ^bb0(%h: tensor<5x40xELEMENT>):
    %f = math.absf %h : tensor<5x40xELEMENT>
    resid.yield %f : tensor<5x40xELEMENT>
  }
  return %y : tensor<5x3x40xELEMENT>
}
func.func @flat_scaled(%x: tensor<5x3x40xELEMENT>, %gamma: tensor<40xf32>, %g: tensor<40xf32>, %a: tensor<3x40xf32>, %mix: tensor<3x1xf32>, %seed: i64, %step: i64) -> tensor<5x3x40xELEMENT> {
  %u = resid.read %x weights(%a) {scale = 0.5} : tensor<5x3x40xELEMENT>, tensor<3x40xf32>
  %n = resid.rms_norm %u gamma(%gamma) {epsilon = 1.0e-6} : tensor<5x40xELEMENT>, tensor<40xf32>
  %f = math.absf %n : tensor<5x40xELEMENT>
  %d = resid.dropout %f seed(%seed, %step) {p = 0.3, site = 5} : tensor<5x40xELEMENT>
  %scale = arith.constant 0.7 : f32
  %empty = tensor.empty() : tensor<5x40xELEMENT>
  %s = linalg.generic {indexing_maps = [affine_map<(r, d) -> (r, d)>, affine_map<(r, d) -> (d)>, affine_map<(r, d) -> (r, d)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%d, %g : tensor<5x40xELEMENT>, tensor<40xf32>) outs(%empty : tensor<5x40xELEMENT>) {
  ^bb0(%e: ELEMENT, %w: f32, %o: ELEMENT):
    WIDEN
    %gated = arith.mulf %w, %wide : f32
    %scaled = arith.mulf %scale, %gated : f32
    NARROW
    linalg.yield %r : ELEMENT
  } -> tensor<5x40xELEMENT>
  %y = resid.write %x, %s mix(%mix) : tensor<5x3x40xELEMENT>, tensor<3x1xf32>
  return %y : tensor<5x3x40xELEMENT>
}

func.func @block_peri(%x: tensor<5x2x40xELEMENT>, %gamma: tensor<40xf32>, %b: tensor<2x1xf32>, %seed: i64, %step: i64) -> tensor<5x2x40xELEMENT> {
  %y = resid.block peri %x norm(rms gamma %gamma : tensor<40xf32> epsilon = 1.0e-6) norm(layer epsilon = 1.0e-5)
    streams(write %b : tensor<2x1xf32>) : tensor<5x2x40xELEMENT> {
  ^bb0(%h: tensor<5x40xELEMENT>):
    %f = math.absf %h : tensor<5x40xELEMENT>
    resid.yield %f : tensor<5x40xELEMENT>
  }
  return %y : tensor<5x2x40xELEMENT>
}
func.func @flat_peri(%x: tensor<5x2x40xELEMENT>, %gamma: tensor<40xf32>, %b: tensor<2x1xf32>, %seed: i64, %step: i64) -> tensor<5x2x40xELEMENT> {
  %u = resid.read %x : tensor<5x2x40xELEMENT>
  %n = resid.rms_norm %u gamma(%gamma) {epsilon = 1.0e-6} : tensor<5x40xELEMENT>, tensor<40xf32>
  %f = math.absf %n : tensor<5x40xELEMENT>
  %m = resid.layer_norm %f {epsilon = 1.0e-5} : tensor<5x40xELEMENT>
  %y = resid.write %x, %m weights(%b) : tensor<5x2x40xELEMENT>, tensor<2x1xf32>
  return %y : tensor<5x2x40xELEMENT>
}

func.func @block_gated(%x: tensor<5x3x40xELEMENT>, %gamma: tensor<40xf32>, %alpha: tensor<f32>, %g: tensor<f32>, %seed: i64, %step: i64) -> tensor<5x3x40xELEMENT> {
  %y = resid.block branch_post %x norm(dyt alpha %alpha : tensor<f32> gamma %gamma : tensor<40xf32>) gate(%g : tensor<f32>)
    streams() : tensor<5x3x40xELEMENT> {
  ^bb0(%h: tensor<5x40xELEMENT>):
    %f = math.absf %h : tensor<5x40xELEMENT>
    resid.yield %f : tensor<5x40xELEMENT>
  }
  return %y : tensor<5x3x40xELEMENT>
}
func.func @flat_gated(%x: tensor<5x3x40xELEMENT>, %gamma: tensor<40xf32>, %alpha: tensor<f32>, %g: tensor<f32>, %seed: i64, %step: i64) -> tensor<5x3x40xELEMENT> {
  %u = resid.read %x : tensor<5x3x40xELEMENT>
  %f = math.absf %u : tensor<5x40xELEMENT>
  %m = resid.dyt %f alpha(%alpha) gamma(%gamma) : tensor<5x40xELEMENT>, tensor<f32>, tensor<40xf32>
  %empty = tensor.empty() : tensor<5x40xELEMENT>
  %s = linalg.generic {indexing_maps = [affine_map<(r, d) -> (r, d)>, affine_map<(r, d) -> ()>, affine_map<(r, d) -> (r, d)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%m, %g : tensor<5x40xELEMENT>, tensor<f32>) outs(%empty : tensor<5x40xELEMENT>) {
  ^bb0(%e: ELEMENT, %w: f32, %o: ELEMENT):
    WIDEN
    %scaled = arith.mulf %w, %wide : f32
    NARROW
    linalg.yield %r : ELEMENT
  } -> tensor<5x40xELEMENT>
  %y = resid.write %x, %s : tensor<5x3x40xELEMENT>
  return %y : tensor<5x3x40xELEMENT>
}

// One stream may be normalised itself.
func.func @block_post(%x: tensor<5x1x40xELEMENT>, %gamma: tensor<40xf32>, %w: tensor<1x1xf32>, %seed: i64, %step: i64) -> tensor<5x1x40xELEMENT> {
  %y = resid.block post %x norm(rms gamma %gamma : tensor<40xf32> epsilon = 1.0e-6)
    streams(write %w : tensor<1x1xf32>) : tensor<5x1x40xELEMENT> {
  ^bb0(%h: tensor<5x40xELEMENT>):
    %f = math.absf %h : tensor<5x40xELEMENT>
    resid.yield %f : tensor<5x40xELEMENT>
  }
  return %y : tensor<5x1x40xELEMENT>
}
func.func @flat_post(%x: tensor<5x1x40xELEMENT>, %gamma: tensor<40xf32>, %w: tensor<1x1xf32>, %seed: i64, %step: i64) -> tensor<5x1x40xELEMENT> {
  %b = tensor.collapse_shape %w [[0, 1]] : tensor<1x1xf32> into tensor<1xf32>
  %u = tensor.collapse_shape %x [[0], [1, 2]] : tensor<5x1x40xELEMENT> into tensor<5x40xELEMENT>
  %f = math.absf %u : tensor<5x40xELEMENT>
  %s = resid.add %u, %f gate(%b) : tensor<5x40xELEMENT>, tensor<1xf32>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<5x40xELEMENT>, tensor<40xf32>
  %y = tensor.expand_shape %n [[0], [1, 2]] output_shape [5, 1, 40] : tensor<5x40xELEMENT> into tensor<5x1x40xELEMENT>
  return %y : tensor<5x1x40xELEMENT>
}
func.func @block_shifted(%x: tensor<5x1x40xELEMENT>, %gamma: tensor<40xf32>, %w: tensor<1x1xf32>, %seed: i64, %step: i64) -> tensor<5x1x40xELEMENT> {
  %y = resid.block post_shifted %x norm(rms gamma %gamma : tensor<40xf32> epsilon = 1.0e-6)
    streams(write %w : tensor<1x1xf32>) : tensor<5x1x40xELEMENT> {
  ^bb0(%h: tensor<5x40xELEMENT>):
    %f = math.absf %h : tensor<5x40xELEMENT>
    resid.yield %f : tensor<5x40xELEMENT>
  }
  return %y : tensor<5x1x40xELEMENT>
}
func.func @flat_shifted(%x: tensor<5x1x40xELEMENT>, %gamma: tensor<40xf32>, %w: tensor<1x1xf32>, %seed: i64, %step: i64) -> tensor<5x1x40xELEMENT> {
  %b = tensor.collapse_shape %w [[0, 1]] : tensor<1x1xf32> into tensor<1xf32>
  %u = tensor.collapse_shape %x [[0], [1, 2]] : tensor<5x1x40xELEMENT> into tensor<5x40xELEMENT>
  %n = resid.rms_norm %u gamma(%gamma) {epsilon = 1.0e-6} : tensor<5x40xELEMENT>, tensor<40xf32>
  %f = math.absf %n : tensor<5x40xELEMENT>
  %s = resid.add %n, %f gate(%b) : tensor<5x40xELEMENT>, tensor<1xf32>
  %y = tensor.expand_shape %s [[0], [1, 2]] output_shape [5, 1, 40] : tensor<5x40xELEMENT> into tensor<5x1x40xELEMENT>
  return %y : tensor<5x1x40xELEMENT>
}
