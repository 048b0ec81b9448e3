// RUN: resid-opt %s -resid-raise="level=all report=true" -split-input-file -verify-diagnostics -o /dev/null
// RUN: sed '/expected-remark @below {{raised (exact/d; /is nearly that/d; s/only-exact/expected-remark @below/' %s > %t.mlir
// RUN: resid-opt %t.mlir -resid-raise=report=true -split-input-file -verify-diagnostics -o /dev/null
// What the pass says: where it changes bits always, else with report.

func.func @activations(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %n = arith.negf %x : tensor<4x8xf32>
  %e = math.exp %n : tensor<4x8xf32>
  %d = arith.addf %e, %one : tensor<4x8xf32>
  %g = arith.divf %one, %d : tensor<4x8xf32>
  // only-exact {{not raised: 'silu' is equal in real arithmetic, but not in its bits; level=all raises it}}
  // expected-remark @below {{raised (exact in real arithmetic): resid.activation silu}}
  %s = arith.mulf %x, %g : tensor<4x8xf32>
  // expected-remark @below {{raised (bit-exact): resid.activation relu}}
  %r = arith.maximumf %x, %zero : tensor<4x8xf32>
  return %s, %r : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A constant of bf16 in f32 arithmetic is another.
func.func @near(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.constant dense<0.70703125> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %u = arith.mulf %x, %c : tensor<4x8xf32>
  %f = math.erf %u : tensor<4x8xf32>
  %p = arith.addf %f, %one : tensor<4x8xf32>
  %h = arith.mulf %x, %half : tensor<4x8xf32>
  // expected-remark @below {{not raised: 'gelu' is nearly that, but with another constant}}
  %y = arith.mulf %h, %p : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eight = arith.constant dense<8.0> : tensor<4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %q = arith.mulf %x, %x : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.reduce ins(%q : tensor<4x8xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1] (%in: f32, %out: f32) {
      %v = arith.addf %out, %in : f32
      linalg.yield %v : f32
    }
  %m = arith.divf %s, %eight : tensor<4xf32>
  %r = math.rsqrt %m : tensor<4xf32>
  %b = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  // only-exact {{not raised: 'rms_norm' is equal in real arithmetic, but not in its bits; level=all raises it}}
  // expected-remark @below {{raised (exact in real arithmetic): resid.rms_norm}}
  %y = arith.mulf %x, %b : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
