// Results that start from one tensor are computed each in a buffer of its own, though the first is computed where it is
// handed out.
// REQUIRES: resid-run
// RUN: resid-run %s --check --entry=loops --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2 --arg=2
// RUN: resid-run %s --check --entry=computed --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2
// RUN: resid-run %s --check --entry=one_start --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2
// RUN: resid-run %s --check --entry=returned_too --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2
// RUN: resid-run %s --check --entry=both_branches --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2 --arg=true
// RUN: resid-run %s --check --entry=both_branches --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2 --arg=false
// RUN: resid-opt %s --resid-inline-calls --resid-prepare-entries --resid-row-kernels --resid-bufferize | FileCheck %s

// The start of two loops.
func.func @loops(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>, %n: index) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %start = linalg.fill ins(%z : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> tensor<4x4xf64> {
    %m = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%s : tensor<4x4xf64>) -> tensor<4x4xf64>
    scf.yield %m : tensor<4x4xf64>
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> tensor<4x4xf64> {
    %m = linalg.matmul ins(%y, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%s : tensor<4x4xf64>) -> tensor<4x4xf64>
    scf.yield %m : tensor<4x4xf64>
  }
  return %a, %b : tensor<4x4xf64>, tensor<4x4xf64>
}

// The start is computed, and no fill.
func.func @computed(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %zeros = linalg.fill ins(%z : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %start = linalg.matmul ins(%x, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%start : tensor<4x4xf64>) -> tensor<4x4xf64>
  %b = linalg.matmul ins(%y, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%start : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %a, %b : tensor<4x4xf64>, tensor<4x4xf64>
}

// Zeros are filled in twice and nothing is copied.
// CHECK-LABEL: func.func private @two_layers.impl(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: linalg.fill
// CHECK: linalg.fill
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @two_layers(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %zeros = linalg.fill ins(%z : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  %b = linalg.matmul ins(%y, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %a, %b : tensor<4x4xf64>, tensor<4x4xf64>
}

// The start is a result itself.
func.func @one_start(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %zeros = linalg.fill ins(%z : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  %b = linalg.matmul ins(%y, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %a, %b, %zeros : tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>
}

// One result is where the other starts.
func.func @returned_too(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %zeros = linalg.fill ins(%z : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  %b = linalg.matmul ins(%y, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%a : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %a, %b : tensor<4x4xf64>, tensor<4x4xf64>
}

// The start is what one branch of a condition hands out.
func.func @both_branches(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>, %c: i1) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %zeros = linalg.fill ins(%z : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
  %b = scf.if %c -> tensor<4x4xf64> {
    %m = linalg.matmul ins(%y, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<4x4xf64>) -> tensor<4x4xf64>
    scf.yield %m : tensor<4x4xf64>
  } else {
    scf.yield %zeros : tensor<4x4xf64>
  }
  return %a, %b : tensor<4x4xf64>, tensor<4x4xf64>
}
