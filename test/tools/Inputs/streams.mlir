// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams in several shapes: two in one function with a loop and a memory, flat ops, a fused op, names that need care.

!T = tensor<?x?x512xf32>
!V = tensor<512xf32>
!W = tensor<512x512xf32>
!L = tensor<6x512xf32>
func.func private @attend(%h: !T, %m: !T, %w: !W) -> !T {
  return %h : !T
}
func.func @decoder(%source: !T, %target: !T, %wq: !W, %wv: !W, %gammas: !L, %g2: !V, %g3: !V, %fg: !V, %fe: !V, %seed: i64, %step: i64) -> (!T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %e = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %source) -> !T {
    %g = tensor.extract_slice %gammas[%i, 0] [1, 512] [1, 1] : !L to !V
    %site = arith.index_cast %i : index to i64
    %row = arith.constant 0 : i64
    %y = resid.block pre %x norm(rms gamma %g : !V epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step, origin %row %site) : !T {
    ^bb0(%h: !T):
      %f = func.call @attend(%h, %h, %wq) : (!T, !T, !W) -> !T
      resid.yield %f : !T
    }
    scf.yield %y : !T
  }
  %memory = resid.rms_norm %e gamma(%fe) {epsilon = 1.0e-5} : !T, !V
  %a = resid.block pre %target norm(rms gamma %g2 : !V epsilon = 1.0e-5) : !T {
  ^bb0(%h: !T):
    %f = func.call @attend(%h, %memory, %wq) : (!T, !T, !W) -> !T
    %k = math.tanh %f : !T
    %k2 = math.tanh %k : !T
    %k3 = arith.mulf %k, %k2 : !T
    resid.yield %k3 : !T
  }
  %b = resid.block post %a norm(layer gamma %g3 : !V epsilon = 1.0e-5) {skip_scale = 1.8} : !T {
  ^bb0(%h: !T):
    %k = math.tanh %h : !T
    resid.yield %k : !T
  }
  %r = resid.rms_norm %b gamma(%fg) {epsilon = 1.0e-5} : !T, !V
  return %a, %r : !T, !T
}
func.func @flat(%x: !T, %wq: !W, %g2: !V, %g3: !V, %b: !V, %seed: i64, %step: i64) -> !T {
  %n = resid.rms_norm %x gamma(%g2) {epsilon = 1.0e-5} : !T, !V
  %f = func.call @attend(%n, %n, %wq) : (!T, !T, !W) -> !T
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : !T
  %s = resid.add %x, %d : !T
  %n2 = resid.rms_norm %s gamma(%g3) {epsilon = 1.0e-5} : !T, !V
  %f2 = func.call @attend(%n2, %n2, %wq) : (!T, !T, !W) -> !T
  %b2 = resid.add_bias %f2, %b : !T, !V
  %s2 = resid.add %s, %b2 : !T
  %r = resid.rms_norm %s2 gamma(%g2) {epsilon = 1.0e-5} : !T, !V
  return %r : !T
}
func.func @no_stream(%x: !T) -> !T {
  return %x : !T
}
func.func @fused(%x: !T, %f: !T, %b: !V, %w: tensor<?x1x1xf32>, %g: !V, %seed: i64, %step: i64) -> (!T, !T) {
  %kept = resid.dropout %w seed(%seed, %step) {p = 0.2, site = 9} : tensor<?x1x1xf32>
  %n, %s = resid.add_norm layer %x, %f bias(%b) dropout(%seed, %step) gate(%kept) gamma(%g)
      {epsilon = 1.0e-5, p = 0.1, site = 3, skip_scale = 2.0, branch_scale = 0.5} : !T, !V, tensor<?x1x1xf32>, !V
  return %n, %s : !T, !T
}
func.func @"names <&> \22care\22 \01"(%x: !T {resid.name = "x<&>'\FF"}, %f: !T {resid.name = "a_name_that_is_far_longer_than_what_fits_into_its_box_so_that_it_is_cut_somewhere"}) -> !T {
  %s = resid.add %x, %f : !T
  return %s : !T
}
// The branch reads the stream as it was one sub-layer earlier, and the loop does not say how often it runs.
func.func @nested(%x: !T, %count: index, %g: !V) -> !T {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %count step %c1 iter_args(%outer = %x) -> !T {
    %z = scf.for %j = %c0 to %c3 step %c1 iter_args(%inner = %outer) -> !T {
      %b = resid.block none %inner : !T {
      ^bb0(%h: !T):
        %f = arith.mulf %h, %x : !T
        resid.yield %f : !T
      }
      scf.yield %b : !T
    }
    %n = resid.rms_norm %z gamma(%g) {epsilon = 1.0e-5} : !T, !V
    scf.yield %n : !T
  }
  return %y : !T
}
// A head reads the stream in the middle, after the last sub-layer in the text; a block whose branch ignores the stream.
func.func @head_in_the_middle(%x: !T, %g: !V) -> (!T, !T) {
  %a = resid.block none %x : !T {
  ^bb0(%h: !T):
    %f = math.sin %h : !T
    resid.yield %f : !T
  }
  %b = resid.block none %a : !T {
  ^bb0(%h: !T):
    %f = math.cos %x : !T
    resid.yield %f : !T
  }
  %head = resid.rms_norm %a gamma(%g) {epsilon = 1.0e-5} : !T, !V
  return %b, %head : !T, !T
}
