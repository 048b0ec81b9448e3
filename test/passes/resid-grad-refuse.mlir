// RUN: resid-opt %s -split-input-file -verify-diagnostics --resid-grad=function=f
// RUN: not resid-opt %s -split-input-file --resid-grad=function=f 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=nothing" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=f wrt=3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=f wrt=0,2" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=f wrt=1,0,1" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=taken" 2>&1 | FileCheck %s --check-prefix=TAKEN
// A rule that fails leaves no half of a function after.
// WHOLE-NOT: internal error
// NOTHING: error: expected a function to differentiate, but 'nothing' is none
// COUNT: grad.mlir:2:1: error: expected an argument from 0 to 2 in wrt, but got 3
// TYPE: grad.mlir:2:{{[0-9]+}}: error: expected a tensor of floats as argument 2, whose gradient is asked for, but got 'i64'
// ONCE: grad.mlir:2:1: error: expected each argument once in wrt, but got 1 twice
// TAKEN: grad.mlir:{{[0-9:]+}}: error: expected no function 'taken_forward', which differentiation makes

func.func @f(%x: tensor<4x8xf32>) -> tensor<2x8x2xf32> {
  %e = tensor.empty() : tensor<2x8x2xf32>
  // expected-error @+1 {{'linalg.pack' has no rule for its gradient, and a result depends on it}}
  %y = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<4x8xf32> -> tensor<2x8x2xf32>
  return %y : tensor<2x8x2xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.batch_norm' op has no gradient of the statistics that it is handed: expected them to depend on no argument whose gradient is taken}}
  %y = resid.batch_norm %x statistics(%m, %v) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  // expected-error @+1 {{'resid.batch_norm' op has no gradient through its statistics: expected them to reach no result whose gradient is taken}}
  %y, %mean, %variance = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y, %mean : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// expected-error @+1 {{expected an argument that is a tensor of floats, but 'f' has none}}
func.func @f(%n: i64) -> i64 {
  return %n : i64
}

// -----

// expected-error @+1 {{expected a function with one block to differentiate, but 'f' has 0}}
func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<6x8xi8>, %s: tensor<6x2xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{'resid.linear' op has no gradient with a weight of 'i8'}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 4} : tensor<4x8xf32>, tensor<6x8xi8>, tensor<6x2xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %cos: tensor<4x4xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.rotary' op has no gradient of its tables yet: expected cos and sin that depend on no argument whose gradient is taken}}
  %y = resid.rotary %x cos(%cos) sin(%cos) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x9x4xf32>, %past: i64) -> tensor<1x2x3x4xf32> {
  // expected-error @+1 {{'resid.attention' op has no gradient with a cache yet: expected an attention without past}}
  %y = resid.attention %q, %k, %k past(%past) : tensor<1x2x3x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

func.func @f(%q: tensor<1x2x3x4xf32>, %mask: tensor<3x3xf32>) -> tensor<1x2x3x4xf32> {
  // expected-error @+1 {{'resid.attention' op has no gradient of its mask yet: expected one that depends on no argument whose gradient is taken}}
  %y = resid.attention %q, %q, %q mask(%mask) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

func.func @f(%q: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>) {
  // expected-error @+1 {{'resid.attention' op has no gradient through its statistics: expected them to reach no result whose gradient is taken}}
  %y, %max, %sum = resid.attention %q, %q, %q : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
      -> tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>
  return %y, %max : tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
}

// -----

// Of a body: an op without a rule, and bits.
func.func @f(%x: tensor<4xf32>, %n: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) (%a: f32, %o: f32) {
    // expected-error @+1 {{'math.clampf' op has no rule for its gradient in a body, and a result depends on it}}
    %p = math.clampf %a to [%n, %n] : f32
    linalg.yield %p : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) (%a: f32, %o: f32) {
    // expected-error @+1 {{'arith.bitcast' op has no gradient: expected arithmetic on floats, but got their bits}}
    %i = arith.bitcast %a : f32 to i32
    %f = arith.bitcast %i : i32 to f32
    linalg.yield %f : f32
  }
  return %y : tensor<4xf32>
}

// -----

// What a body reads from outside.
func.func @f(%table: tensor<9xf32>, %ids: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{'linalg.generic' op has no gradient of what its body reads from outside: expected an operand but got a value of 'tensor<9xf32>'}}
  %y = linalg.map ins(%ids : tensor<4xindex>) outs(%e : tensor<4xf32>) (%i: index, %o: f32) {
    %v = tensor.extract %table[%i] : tensor<9xf32>
    linalg.yield %v : f32
  }
  return %y : tensor<4xf32>
}

// -----

// Windows.
func.func @f(%x: tensor<6xf32>, %old: tensor<4xf32>) -> tensor<4xf32> {
  %w = tensor.empty() : tensor<3xf32>
  // expected-error @+1 {{'linalg.generic' op has no gradient with this map: expected loops, each once, as the dimensions of operand 0 but got affine_map<(d0, d1) -> (d0 + d1)>}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<6xf32>, tensor<3xf32>) outs(%old : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<7xf32> {
  %e = tensor.empty() : tensor<7xf32>
  // expected-error @+1 {{'linalg.generic' op has no gradient with this map: expected loops, each once, as the dimensions of a result but got affine_map<(d0, d1) -> (d0 + d1)>}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 + d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%e : tensor<7xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %old: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.generic' op has no gradient as a reduction: expected arith.addf, or a maximum or minimum, of the result so far and another value, but result 0 is reduced in another way}}
  %y = linalg.reduce {arith.mulf} ins(%x : tensor<4x8xf32>) outs(%old : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %u = tensor.cast %x : tensor<4x8xf32> to tensor<*xf32>
  // expected-error @+1 {{'tensor.cast' op has no gradient without a rank: expected a ranked tensor but got 'tensor<*xf32>'}}
  %y = tensor.cast %u : tensor<*xf32> to tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has no gradient with these bounds: expected constants, or a loop from 0 in steps of 1 to a size of a tensor}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = math.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Of the body of a loop.
func.func @f(%x: tensor<4xf32>, %ids: tensor<4x1xindex>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    // expected-error @+1 {{'tensor.gather' has no rule for its gradient, and a result depends on it}}
    %b = tensor.gather %a[%ids] gather_dims([0]) : (tensor<4xf32>, tensor<4x1xindex>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Rounding to integers has none.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.quantize' has no rule for its gradient, and a result depends on it}}
  %q, %r = resid.quantize %x {granularity = row} : tensor<4x8xf32>
  // expected-error @+1 {{'resid.dequantize' has no rule for its gradient, and a result depends on it}}
  %y = resid.dequantize %q scale(%r) {granularity = row} : tensor<4x8xi8>, tensor<4xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4xf32>) {
  // expected-error @+1 {{'resid.quantize' has no rule for its gradient, and a result depends on it}}
  %q, %r = resid.quantize %x {granularity = row} : tensor<4x8xf32>
  return %q, %r : tensor<4x8xi8>, tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4xf32>) {
  // expected-error @+1 {{'resid.quantize' has no rule for its gradient, and a result depends on it}}
  %q, %r = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4xf32>
  return %q, %r : tensor<4x8xi8>, tensor<4xf32>
}

// -----

// What is computed from the integers alone has no gradient of zero.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.quantize' has no rule for its gradient, and a result depends on it}}
  %q = resid.quantize %x scale(%s) {granularity = tensor} : tensor<4x8xf32>, tensor<f32>
  %y = arith.sitofp %q : tensor<4x8xi8> to tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
