// Sizes that follow from others: reshapes between resid ops, results whose sizes are expressions of arguments' sizes, and
// dynamic sizes beside static ones. What programs require of sizes is checked before they run.
// REQUIRES: resid-run
// RUN: resid-run %s --check --entry=layer --arg=f32[3x5x64]=random:1 --arg=f32[64x64]=random:2 --arg=f32[64]=random:3 --rtol=1e-4 --atol=1e-4
// RUN: resid-run %s --check --entry=layer --arg=f32[3x0x64]=random:1 --arg=f32[64x64]=random:2 --arg=f32[64]=random:3
// RUN: resid-run %s --check --row-padding=3 --entry=strided --arg=f32[2x3x64]=random:1 --arg=f32[64x32]=random:2
// RUN: resid-run %s --check --entry=static --arg=f32[0x4x8]=random:1 --arg=f32[8x4]=random:2
// RUN: resid-run %s --check --entry=derived --arg=f32[5x3x8]=random:1 --arg=f32[12x8]=random:2 | FileCheck %s --check-prefix=DERIVED
// RUN: resid-run %s --check --entry=derived --arg=f32[0x3x8]=random:1 --arg=f32[0x8]=random:2
// RUN: resid-run %s --check --entry=equal --arg=f32[5x3x8]=random:1 --arg=f32[15x8]=random:2 --arg=f32[5x24]=random:3
// RUN: resid-run %s --check --entry=mixed --arg=f32[5x128]=random:1 --arg=f32[5x128]=random:2 --arg=f32[128]=random:3 --arg=3 --arg=4
// RUN: resid-run %s --check --entry=norms --arg=f32[4x128]=random:1 --arg=f32[4x128]=random:2 --arg=f32[128]=random:3 --arg=f32[4x1]=random:4 --rtol=1e-4 --atol=1e-4
// RUN: resid-run %s --check --entry=splats --arg=f32[4x2048]=random:1 --rtol=1e-4 --atol=1e-4
//
// DERIVED: {{^}}out0: 15x8xf32
// DERIVED: {{^}}out1: 3x4x8xf32
// DERIVED: {{^}}out2: 12x11xf32
// DERIVED: {{^}}out3: 17x8xf32
// DERIVED: {{^}}out4: 27x8xf32
//
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --entry=derived --arg=f32[5x3x8]=1 --arg=f32[13x8]=1 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// MULTIPLE: error: expected y_dim0 to be a multiple of 4 but got 13
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --entry=equal --arg=f32[5x3x8]=1 --arg=f32[14x8]=1 --arg=f32[5x24]=1 2>&1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: error: expected y_dim0 to be equal to x_dim0 * 3 but got 14
//
// The header says the sizes, and what is required of them. Nothing of this takes scratch memory or stores a constant.
// RUN: residc %s -o %t.o --header=%t.h --report=%t.json && FileCheck %s --check-prefix=HEADER --input-file=%t.h
// HEADER-LABEL: /* flat:
// HEADER:       *   out0: f32 [x_dim0, x_dim1, 64], written; may be exactly the buffer of x{{$}}
// HEADER-LABEL: /* derived:
// HEADER:       *   out0: f32 [x_dim0 * 3, 8], written; must not overlap an input
// HEADER-NEXT:  *   out1: f32 [y_dim0 / 4, 4, 8], written; must not overlap an input
// HEADER-NEXT:  *   out2: f32 [y_dim0, 11], written; must not overlap an input
// HEADER-NEXT:  *   out3: f32 [x_dim0 + y_dim0, 8], written; must not overlap an input
// HEADER-NEXT:  *   out4: f32 [x_dim0 * 3 + y_dim0, 8], written; must not overlap an input
// HEADER-NEXT:  *   y_dim0 must be a multiple of 4
// HEADER-LABEL: /* equal:
// HEADER:       *   y_dim0 must be equal to x_dim0 * 3
// HEADER-LABEL: /* mixed:
// HEADER:       *   x_dim1 must be 128
// RUN: %python -c "import json; print(*(k['name'] for k in json.load(open(r'%t.json'))['kernels']))" | FileCheck %s --check-prefix=KERNELS
// KERNELS: layer.0 layer.1 layer.2 strided.0 flat.0 static_.0 equal.0 equal.1 mixed.0 norms.0 splats.0{{$}}
// RUN: %python -c "import os; print(os.path.getsize(r'%t.o') < 200000)" | FileCheck %s --check-prefix=SMALL
// SMALL: True

// A linear layer on a batch, in a pre-norm sub-layer.
func.func @layer(%x: tensor<?x?x64xf32>, %w: tensor<64x64xf32>, %g: tensor<64xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x?x64xf32>, tensor<64xf32>
  %flat = tensor.collapse_shape %h [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %n = arith.muli %s, %b : index
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%flat, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %o = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %s, 64] : tensor<?x64xf32> into tensor<?x?x64xf32>
  %r = resid.add %x, %o : tensor<?x?x64xf32>
  return %r : tensor<?x?x64xf32>
}

func.func @strided(%x: tensor<?x?x64xf32> {resid.strided}, %w: tensor<64x32xf32>) -> (tensor<?x?x32xf32> {resid.strided}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %n = tensor.dim %flat, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul ins(%flat, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
  %o = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %s, 32] : tensor<?x32xf32> into tensor<?x?x32xf32>
  return %o : tensor<?x?x32xf32>
}

// A norm on the flattened stream is one kernel, which may work in place.
func.func @flat(%x: tensor<?x?x64xf32> {resid.name = "x"}) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %y = resid.rms_norm %flat {epsilon = 1.0e-5} : tensor<?x64xf32>
  %o = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %s, 64] : tensor<?x64xf32> into tensor<?x?x64xf32>
  return %o : tensor<?x?x64xf32>
}

// An open size beside static ones, one of them 0 at run time.
func.func @static(%x: tensor<?x4x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %n = tensor.dim %flat, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.matmul ins(%flat, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %o = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, 4, 4] : tensor<?x4xf32> into tensor<?x4x4xf32>
  return %o : tensor<?x4x4xf32>
}

func.func @derived(%x: tensor<?x3x8xf32> {resid.name = "x"}, %y: tensor<?x8xf32> {resid.name = "y"})
    -> (tensor<?x8xf32>, tensor<?x4x8xf32>, tensor<?x11xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.5 : f32
  %b = tensor.dim %x, %c0 : tensor<?x3x8xf32>
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x3x8xf32> into tensor<?x8xf32>
  %q = arith.divui %n, %c4 : index
  %expanded = tensor.expand_shape %y [[0, 1], [2]] output_shape [%q, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  %padded = tensor.pad %y low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x11xf32>
  %first = tensor.extract_slice %x[0, 0, 0] [%b, 1, 8] [1, 1, 1] : tensor<?x3x8xf32> to tensor<?x8xf32>
  %sum = arith.addi %b, %n : index
  %e = tensor.empty(%sum) : tensor<?x8xf32>
  %0 = tensor.insert_slice %first into %e[0, 0] [%b, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  %1 = tensor.insert_slice %y into %0[%b, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  %rows = tensor.concat dim(0) %flat, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %flat, %expanded, %padded, %1, %rows
      : tensor<?x8xf32>, tensor<?x4x8xf32>, tensor<?x11xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// A parameter's size may be the expression.
func.func @equal(%x: tensor<?x3x8xf32> {resid.name = "x"}, %y: tensor<?x8xf32> {resid.name = "y"}, %z: tensor<?x24xf32> {resid.name = "z"})
    -> (tensor<?x8xf32>, tensor<?x24xf32>) {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x3x8xf32> into tensor<?x8xf32>
  %wide = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x3x8xf32> into tensor<?x24xf32>
  %s = resid.add %flat, %y : tensor<?x8xf32>
  %t = resid.add %wide, %z : tensor<?x24xf32>
  return %s, %t : tensor<?x8xf32>, tensor<?x24xf32>
}

// A dynamic width beside a parameter of 128 is one kernel, with dropout or without; so is what linalg does beside it.
func.func @mixed(%x: tensor<?x?xf32> {resid.name = "x"}, %f: tensor<?x?xf32>, %b: tensor<128xf32>, %seed: i64, %step: i64) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  %1 = resid.add_bias %0, %b : tensor<?x?xf32>, tensor<128xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sq = arith.mulf %in, %in : f32
    linalg.yield %sq : f32
  } -> tensor<?x?xf32>
  %3 = resid.add %2, %f : tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

func.func @norms(%x: tensor<4x?xf32>, %f: tensor<?x?xf32>, %g: tensor<128xf32>, %gate: tensor<?x1xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x?xf32>) {
  %wide = tensor.cast %x : tensor<4x?xf32> to tensor<?x?xf32>
  %n, %s = resid.add_norm rms %wide, %f gate(%gate) gamma(%g) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?x1xf32>, tensor<128xf32>
  %one = tensor.cast %s : tensor<?x?xf32> to tensor<4x?xf32>
  %l = resid.layer_norm %one {epsilon = 1.0e-5} : tensor<4x?xf32>
  return %n, %s, %l : tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x?xf32>
}

// Large constants of one value: returned, concatenated, multiplied.
func.func @splats(%x: tensor<4x2048xf32>) -> (tensor<300x400xf32>, tensor<5x2048xf32>, tensor<4x64xf32>) {
  %c = arith.constant dense<1.5> : tensor<300x400xf32>
  %row = arith.constant dense<2.0> : tensor<1x2048xf32>
  %w = arith.constant dense<0.25> : tensor<2048x64xf32>
  %z = arith.constant dense<1.0> : tensor<4x64xf32>
  %k = tensor.concat dim(0) %row, %x : (tensor<1x2048xf32>, tensor<4x2048xf32>) -> tensor<5x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x2048xf32>, tensor<2048x64xf32>) outs(%z : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %c, %k, %y : tensor<300x400xf32>, tensor<5x2048xf32>, tensor<4x64xf32>
}
