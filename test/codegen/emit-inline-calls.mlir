// RUN: resid-opt %s --resid-inline-calls --split-input-file --verify-diagnostics | FileCheck %s

// Through two levels, twice, in a loop; private functions are gone.
// CHECK-NOT:     func.func private
// CHECK-LABEL: func.func @caller(
// CHECK:         %[[A:.*]] = arith.addf %arg0, %arg0
// CHECK:         %[[B:.*]] = arith.mulf %[[A]], %arg0
// CHECK:         scf.for {{.*}} iter_args(%[[H:.*]] = %[[B]])
// CHECK:           %[[C:.*]] = arith.addf %[[H]], %[[H]]
// CHECK:           scf.yield %[[C]]
// CHECK-NOT:     call
func.func private @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @middle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = arith.mulf %y, %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = call @middle(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%h = %y) -> tensor<4xf32> {
    %s = func.call @leaf(%h) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

// -----

// A public callee is inlined and stays. Recursion that no public function leads to does not matter.
// CHECK-LABEL: func.func @callee(
// CHECK-LABEL: func.func @public_caller(
// CHECK-NEXT:    return %arg0
// CHECK-NOT:   @endless
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @public_caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @endless() {
  call @endless() : () -> ()
  return
}

// -----

func.func @first() {
  call @second() : () -> ()
  return
}
func.func private @second() {
  // expected-error @+1 {{expected calls without recursion, but 'first' leads to itself}}
  call @first() : () -> ()
  return
}

// -----

func.func private @elsewhere()
func.func @calls_elsewhere() {
  // expected-error @+1 {{expected a function with a body, but 'elsewhere' has none}}
  call @elsewhere() : () -> ()
  return
}

// -----

func.func private @blocks() {
  cf.br ^next
^next:
  return
}
func.func @calls_blocks() {
  // expected-error @+1 {{expected a function of one block, but 'blocks' has 2}}
  call @blocks() : () -> ()
  return
}

// -----

func.func private @one() {
  return
}
func.func @calls_a_value() {
  %f = constant @one : () -> ()
  // expected-error @+1 {{a call of a function value is not available: expected a call of a function by name}}
  call_indirect %f() : () -> ()
  return
}
