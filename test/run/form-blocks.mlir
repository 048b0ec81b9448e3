// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flat programs whose ops move when blocks are formed, or change their operands: the same bits before, as blocks, and expanded
// again, by the evaluator and by machine code. Every norm has its own parameters.
//
// REQUIRES: resid-run, residc
// RUN: rm -rf %t && mkdir %t && resid-opt %s -resid-form-blocks -o %t/formed.mlir
// RUN: resid-opt %t/formed.mlir -resid-expand-blocks -o %t/expanded.mlir
// RUN: FileCheck %s --input-file %t/formed.mlir --implicit-check-not="resid.add "
// RUN: cp %s %t/flat.mlir && cd %t && for f in chain mixed sizes loop; do \
// RUN:   for p in flat formed expanded; do for b in reference cpu; do mkdir -p $f/$p/$b && \
// RUN:     resid-run $p.mlir --backend=$b --entry=$f --arg=f32[5x8]=random:1 --arg=f32[8]=random:2 --arg=f32[8]=random:3 \
// RUN:       --arg=f32[8]=random:4 --arg=f32[8x8]=random:5 --arg=5489 --arg=3 --out=$f/$p/$b/0 --out=$f/$p/$b/1 || exit 1; \
// RUN:   done; done && \
// RUN:   diff -r $f/flat $f/formed && diff -r $f/flat $f/expanded || exit 1; done

// Post-norm with the branch first, an add_norm, a bias, dropout, a scaled skip, a norm before all.
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-3: resid.block post
// CHECK: resid.block pre
func.func @chain(%x: tensor<?x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>, %g3: tensor<8xf32>, %w: tensor<8x8xf32>,
                 %seed: i64, %step: i64) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %e = resid.rms_norm %x gamma(%g1) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %f1 = math.tanh %e : tensor<?x8xf32>
  %d1 = resid.dropout %f1 seed(%seed, %step) {p = 0.4, site = 1} : tensor<?x8xf32>
  %s1 = resid.add %d1, %e : tensor<?x8xf32>
  %h1 = resid.layer_norm %s1 gamma(%g2) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %f2 = math.exp %h1 : tensor<?x8xf32>
  %h2, %s2 = resid.add_norm layer %h1, %f2 bias(%g1) dropout(%seed, %step) gate(%g3) gamma(%g3) beta(%g2)
      {epsilon = 1.0e-5, p = 0.3, site = 2, skip_scale = 1.5, branch_scale = 0.7}
      : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  %f3 = math.sin %h2 : tensor<?x8xf32>
  %s3 = resid.add %h2, %f3 : tensor<?x8xf32>
  %h3 = resid.rms_norm %s3 gamma(%g1) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %n4 = resid.rms_norm %h3 gamma(%g2) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %f4 = math.cos %n4 : tensor<?x8xf32>
  %s4 = resid.add %f4, %h3 : tensor<?x8xf32>
  return %h2, %s4 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Two readings of one norm, a sub-layer around others, an op of the second branch before the first sub-layer ends.
// CHECK-LABEL: func.func @mixed(
// CHECK: resid.block none
// CHECK: resid.block post_shifted
// CHECK: resid.block post_shifted
// CHECK: resid.block peri
// CHECK: resid.block branch_post
// CHECK: resid.block none
func.func @mixed(%x: tensor<?x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>, %g3: tensor<8xf32>, %w: tensor<8x8xf32>,
                 %seed: i64, %step: i64) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %f1 = math.tanh %x : tensor<?x8xf32>
  %u = math.sin %x : tensor<?x8xf32>
  %s1 = resid.add %x, %f1 gate(%g3) : tensor<?x8xf32>, tensor<8xf32>
  %h1 = resid.layer_norm %s1 gamma(%g1) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %f2 = arith.mulf %h1, %u : tensor<?x8xf32>
  %s2 = resid.add %f2, %h1 : tensor<?x8xf32>
  %h2 = resid.layer_norm %s2 gamma(%g2) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %f3 = arith.mulf %h2, %s1 : tensor<?x8xf32>
  %s3 = resid.add %h2, %f3 {branch_scale = 0.3} : tensor<?x8xf32>
  %n4 = resid.rms_norm %s3 gamma(%g1) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %f5 = math.exp %n4 : tensor<?x8xf32>
  %n5 = resid.rms_norm %f5 gamma(%g2) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %s5 = resid.add %n5, %n4 : tensor<?x8xf32>
  %f6 = math.sin %s5 : tensor<?x8xf32>
  %s6 = resid.add %s5, %f6 : tensor<?x8xf32>
  %n6 = resid.rms_norm %s6 gamma(%g3) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %s4 = resid.add %s3, %n6 : tensor<?x8xf32>
  return %s1, %s4 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Sizes of values inside, asked from outside; zeros that two branches share; an init that is overwritten.
// CHECK-LABEL: func.func @sizes(
// CHECK: resid.block post
// CHECK: resid.block pre
func.func @sizes(%x: tensor<?x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>, %g3: tensor<8xf32>, %w: tensor<8x8xf32>,
                 %seed: i64, %step: i64) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s1 = resid.add %f1, %x : tensor<?x8xf32>
  %y1 = resid.layer_norm %s1 gamma(%g1) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %rows1 = tensor.dim %s1, %c0 : tensor<?x8xf32>
  %n2 = resid.rms_norm %y1 gamma(%g2) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xbf16>
  %rows2 = tensor.dim %n2, %c0 : tensor<?x8xbf16>
  %rows3 = tensor.dim %y1, %c0 : tensor<?x8xf32>
  %empty3 = tensor.empty(%rows3) : tensor<?x8xf32>
  %e2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%n2 : tensor<?x8xbf16>) outs(%empty3 : tensor<?x8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %wide = arith.extf %in : bf16 to f32
    linalg.yield %wide : f32
  } -> tensor<?x8xf32>
  %f2 = linalg.matmul ins(%e2, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%f2 : tensor<?x8xf32>) outs(%y1 : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.tanh %in : f32
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %y2 = resid.add %y1, %f3 : tensor<?x8xf32>
  %sum = arith.addi %rows1, %rows2 : index
  %i = arith.index_cast %sum : index to i64
  %number = arith.sitofp %i : i64 to f32
  %empty4 = tensor.empty(%rows1) : tensor<?x8xf32>
  %numbers = linalg.fill ins(%number : f32) outs(%empty4 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y2, %numbers : tensor<?x8xf32>, tensor<?x8xf32>
}

// A loop: a layer of two sub-layers, with the norm of the second at the end of the body, and one with the norms first.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: resid.block post
// CHECK: resid.block post
// CHECK: scf.for
// CHECK: resid.block post_shifted
func.func @loop(%x: tensor<?x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>, %g3: tensor<8xf32>, %w: tensor<8x8xf32>,
                %seed: i64, %step: i64) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %k = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<?x8xf32> {
    %layer = arith.index_cast %k : index to i64
    %f = math.sin %h : tensor<?x8xf32>
    %d = resid.dropout %f seed(%seed, %step) origin(%step, %layer) {p = 0.2, site = 0} : tensor<?x8xf32>
    %s = resid.add %d, %h : tensor<?x8xf32>
    %n = resid.layer_norm %s gamma(%g1) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
    %g = math.cos %n : tensor<?x8xf32>
    %t = resid.add %n, %g gate(%g3) : tensor<?x8xf32>, tensor<8xf32>
    %m = resid.rms_norm %t gamma(%g2) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
    scf.yield %m : tensor<?x8xf32>
  }
  %z = scf.for %k = %c0 to %c3 step %c1 iter_args(%h = %y) -> tensor<?x8xf32> {
    %n = resid.rms_norm %h gamma(%g3) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
    %f = math.sin %n : tensor<?x8xf32>
    %s = resid.add %f, %n : tensor<?x8xf32>
    scf.yield %s : tensor<?x8xf32>
  }
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
