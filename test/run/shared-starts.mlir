// Results that start from one tensor are computed each in a buffer of its own, though the first is computed where it is
// handed out.
// REQUIRES: resid-run
// RUN: resid-run %s --check --entry=loops --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2 --arg=2
// RUN: resid-run %s --check --entry=computed --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2
// RUN: resid-run %s --check --entry=one_start --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2
// RUN: resid-run %s --check --entry=returned_too --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2
// RUN: resid-run %s --check --entry=both_branches --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2 --arg=true
// RUN: resid-run %s --check --entry=both_branches --arg=f64[4x4]=random:1 --arg=f64[4x4]=random:2 --arg=false
// RUN: resid-run %s --check --entry=steps --arg=f32[5x8]=random:1 --arg=f32[2x8]=random:2 | FileCheck %s --check-prefix=STEPS
// STEPS-COUNT-4: ok
// RUN: for c in true false; do for d in true false; do resid-run %s --check --entry=handed_on --arg=f32[3x8]=random:1 --arg=$c --arg=$d || exit 1; done; done
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

// Steps of a loop start each from a tensor that comes from outside of it: with a slice that is computed, with one that is
// computed in the tensor's own slice, and in a branch. What the loop carries is written in place.
// CHECK-LABEL: func.func private @steps.impl(
// CHECK: scf.for
// CHECK-COUNT-3: memref.copy %{{.*}} : memref<5x8xf32> to memref<5x8xf32>
// CHECK-NOT: memref.copy
// CHECK: memref.copy %{{.*}}, %arg3
func.func @steps(%x: tensor<5x8xf32>, %y: tensor<2x8xf32>)
    -> (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = math.absf %x : tensor<5x8xf32>
  %own = arith.negf %x : tensor<5x8xf32>
  %chosen = arith.addf %x, %x : tensor<5x8xf32>
  %r:4 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %x, %c = %x, %d = %x)
      -> (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) {
    %n = resid.rms_norm %y {epsilon = 1.0e-5} : tensor<2x8xf32>
    %sa = tensor.insert_slice %n into %start[%k, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<5x8xf32>
    %na = arith.addf %sa, %a : tensor<5x8xf32>
    %slice = tensor.extract_slice %own[%k, 0] [2, 8] [1, 1] : tensor<5x8xf32> to tensor<2x8xf32>
    %e = linalg.exp ins(%y : tensor<2x8xf32>) outs(%slice : tensor<2x8xf32>) -> tensor<2x8xf32>
    %sb = tensor.insert_slice %e into %own[%k, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<5x8xf32>
    %nb = arith.addf %sb, %b : tensor<5x8xf32>
    %even = arith.cmpi ne, %k, %c1 : index
    %sc = scf.if %even -> tensor<5x8xf32> {
      %m = arith.mulf %y, %y : tensor<2x8xf32>
      %i = tensor.insert_slice %m into %chosen[%k, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<5x8xf32>
      scf.yield %i : tensor<5x8xf32>
    } else {
      %t = arith.mulf %x, %x : tensor<5x8xf32>
      scf.yield %t : tensor<5x8xf32>
    }
    %nc = arith.addf %sc, %c : tensor<5x8xf32>
    %h = arith.negf %y : tensor<2x8xf32>
    %nd = tensor.insert_slice %h into %d[%k, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<5x8xf32>
    scf.yield %na, %nb, %nc, %nd : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
}

// Branches hand on what is a result, too.
func.func @handed_on(%x: tensor<?x8xf32>, %c: i1, %d: i1) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = math.tanh %x : tensor<?x8xf32>
  %y, %w = scf.if %c -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %b = math.exp %a : tensor<?x8xf32>
    %z = scf.if %d -> (tensor<?x8xf32>) {
      scf.yield %b : tensor<?x8xf32>
    } else {
      scf.yield %a : tensor<?x8xf32>
    }
    scf.yield %b, %z : tensor<?x8xf32>, tensor<?x8xf32>
  } else {
    scf.yield %a, %x : tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %a, %y, %w : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
