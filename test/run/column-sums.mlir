// Sums down the rows against the evaluator, which adds in twice the precision of f64. What is no such sum runs as it is written.
// RUN: resid-run %s --entry=squares --arg=f32[3000x17]=random:1 --arg=f32[17]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=squares --arg=f32[0x17]=random:1 --arg=f32[17]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=large --arg=f32[2000x40]=random:1 --check | FileCheck %s
// RUN: resid-run %s --entry=others --arg=f32[50x60]=random:1 --arg=f32[50]=random:2 --check | FileCheck %s
// CHECK-NOT: failed
// CHECK: ok

#all = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>

func.func @squares(%x: tensor<?x17xf32>, %old: tensor<17xf32>) -> tensor<17xf32> {
  %s = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x17xf32>) outs(%old : tensor<17xf32>) {
  ^bb0(%a: f32, %b: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %b, %square : f32
    linalg.yield %sum : f32
  } -> tensor<17xf32>
  return %s : tensor<17xf32>
}

// A running sum of these terms is off by hundreds of units in the last place, which the bound does not allow.
func.func @large(%x: tensor<?x40xf32>) -> tensor<40xf32> {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant 1.0e6 : f32
  %empty = tensor.empty() : tensor<40xf32>
  %old = linalg.fill ins(%zero : f32) outs(%empty : tensor<40xf32>) -> tensor<40xf32>
  %s = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x40xf32>) outs(%old : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %term = arith.addf %a, %large : f32
    %sum = arith.addf %b, %term : f32
    linalg.yield %sum : f32
  } -> tensor<40xf32>
  return %s : tensor<40xf32>
}

// Along the rows; the product of a vector and a matrix; the largest of a column; in f16. A sum that is read in the same function.
func.func @others(%x: tensor<50x60xf32>, %v: tensor<50xf32>)
    -> (tensor<50xf32>, tensor<60xf32>, tensor<60xf32>, tensor<60xf16>, tensor<50x60xf32>) {
  %zero = arith.constant 0.0 : f32
  %narrowZero = arith.constant 0.0 : f16
  %e50 = tensor.empty() : tensor<50xf32>
  %e60 = tensor.empty() : tensor<60xf32>
  %n60 = tensor.empty() : tensor<60xf16>
  %z50 = linalg.fill ins(%zero : f32) outs(%e50 : tensor<50xf32>) -> tensor<50xf32>
  %z60 = linalg.fill ins(%zero : f32) outs(%e60 : tensor<60xf32>) -> tensor<60xf32>
  %h60 = linalg.fill ins(%narrowZero : f16) outs(%n60 : tensor<60xf16>) -> tensor<60xf16>
  %along = linalg.reduce {arith.addf} ins(%x : tensor<50x60xf32>) outs(%z50 : tensor<50xf32>) dimensions = [1]
  %product = linalg.generic {indexing_maps = [#all, affine_map<(r, c) -> (r)>, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x, %v : tensor<50x60xf32>, tensor<50xf32>) outs(%z60 : tensor<60xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %p : f32
    linalg.yield %sum : f32
  } -> tensor<60xf32>
  %most = linalg.reduce {arith.maximumf} ins(%x : tensor<50x60xf32>) outs(%z60 : tensor<60xf32>) dimensions = [0]
  %narrow = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<50x60xf32>) outs(%h60 : tensor<60xf16>) {
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a : f32 to f16
    %sum = arith.addf %b, %t : f16
    linalg.yield %sum : f16
  } -> tensor<60xf16>
  %down = linalg.reduce {arith.addf} ins(%x : tensor<50x60xf32>) outs(%z60 : tensor<60xf32>) dimensions = [0]
  %empty = tensor.empty() : tensor<50x60xf32>
  %shifted = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %down : tensor<50x60xf32>, tensor<60xf32>) outs(%empty : tensor<50x60xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<50x60xf32>
  return %along, %product, %most, %narrow, %shifted : tensor<50xf32>, tensor<60xf32>, tensor<60xf32>, tensor<60xf16>, tensor<50x60xf32>
}
