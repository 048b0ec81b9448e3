// Mistakes around several residual streams, and neighbours that are none of these: those carry no expected-warning.
// RUN: resid-opt %s --resid-check-stream --split-input-file --verify-diagnostics -o /dev/null

func.func @no_head(%x: tensor<4x2x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2x8xf32> {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %b = resid.block pre %a norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %c = resid.block pre %b norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+2 {{mend: make one row of the streams by resid.read, before the final norm}}
  // expected-warning @+1 {{a stack of sub-layers on 2 streams ends here without a head}}
  %d = resid.block pre %c norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+1 {{the streams leave the stack as they are here}}
  return %d : tensor<4x2x8xf32>
}

// One layer, whose caller has the head.
func.func @layer(%x: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %a : tensor<4x2x8xf32>
}

// -----

// A head, and a final norm after it.
func.func @head(%x: tensor<4x2x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> tensor<4x2x8xf32> {
    %a = resid.block pre %y norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
    ^bb0(%h: tensor<4x8xf32>):
      %f = math.tanh %h : tensor<4x8xf32>
      resid.yield %f : tensor<4x8xf32>
    }
    scf.yield %a : tensor<4x2x8xf32>
  }
  %u = resid.read %s {scale = 0.5} : tensor<4x2x8xf32>
  %n = resid.rms_norm %u {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// A head without a final norm is the mistake of one stream too.
func.func @head_without_final_norm(%x: tensor<4x2x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+2 {{mend: put a norm between the last sub-layer and what reads the stream}}
  // expected-warning @+1 {{a stack of 'pre' sub-layers ends here without a final norm}}
  %b = resid.block pre %a norm(rms epsilon = 1.0e-5) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %u = resid.read %b {scale = 0.5} : tensor<4x2x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The norm of each stream where the norm of the row was meant.
func.func @norm_of_streams(%x: tensor<4x2x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @+1 {{the streams are written here}}
  %s = resid.write %x, %y : tensor<4x2x8xf32>
  // expected-note @+2 {{mend: read a row first, and normalise that}}
  // expected-warning @+1 {{this norm normalises each of 2 residual streams by itself, which does not commute with reading one row of them}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x2x8xf32>
  %u = resid.read %n {scale = 0.5} : tensor<4x2x8xf32>
  return %u : tensor<4x8xf32>
}

// A gated read has a gamma for each stream.
func.func @gated_read(%x: tensor<4x2x8xf32>, %y: tensor<4x8xf32>, %g: tensor<2x8xf32>, %a: tensor<4x2x8xf32>) -> tensor<4x8xf32> {
  %s = resid.write %x, %y : tensor<4x2x8xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5, norm_rank = 1} : tensor<4x2x8xf32>, tensor<2x8xf32>
  %u = resid.read %n weights(%a) {scale = 0.5} : tensor<4x2x8xf32>, tensor<4x2x8xf32>
  return %u : tensor<4x8xf32>
}

// Coefficients are computed of normalised streams.
func.func @coefficients(%x: tensor<4x2x8xf32>, %y: tensor<4x8xf32>, %w: tensor<2x16xf32>) -> tensor<4x2xf32> {
  %s = resid.write %x, %y : tensor<4x2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x2x8xf32>
  %z = resid.project %n, %w {epsilon = 1.0e-6} : tensor<4x2x8xf32>, tensor<2x16xf32>
  return %z : tensor<4x2xf32>
}

// -----

func.func @singular_mix(%x: tensor<4x2x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x2x8xf32> {
  %mean = arith.constant dense<0.5> : tensor<2x2xf32>
  // expected-note @+2 {{mend: begin with a mix that can be undone, the identity for example, or leave it out}}
  // expected-warning @+1 {{the constant mix of 2 streams is singular: after it, only 1 of them differ from sums of the others}}
  %s = resid.write %x, %y mix(%mean) : tensor<4x2x8xf32>, tensor<2x2xf32>
  %diagonal = arith.constant dense<[[1.0], [0.0]]> : tensor<2x1xf32>
  // expected-note @+2 {{mend: begin with a mix}}
  // expected-warning @+1 {{is singular: after it, only 1 of them}}
  %t = resid.write %s, %y mix(%diagonal) : tensor<4x2x8xf32>, tensor<2x1xf32>
  %whole = arith.constant dense<[[0.0, 1.0], [1.0, 0.5]]> : tensor<2x2xf32>
  %u = resid.write %t, %y mix(%whole) : tensor<4x2x8xf32>, tensor<2x2xf32>
  return %u : tensor<4x2x8xf32>
}

// -----

func.func @never_learns(%x: tensor<4x2x8xf32>, %s: tensor<f32>) -> (tensor<4x4xf32>, tensor<4x2xf32>) {
  %w = arith.constant dense<0.0> : tensor<4x16xf32>
  // expected-note @+2 {{mend: begin with a random weight and scale 0, or with weight 0 and scale 1}}
  // expected-warning @+1 {{these coefficients never learn: the weight is 0 and so is the scale of its projection, so neither gets a gradient}}
  %z = resid.project %x, %w {epsilon = 1.0e-6} : tensor<4x2x8xf32>, tensor<4x16xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x2xf32>
  %half = tensor.extract_slice %z[0, 0] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(r, m) -> (r, m)>, affine_map<(r, m) -> (r, m)>],
                            iterator_types = ["parallel", "parallel"]} ins(%half : tensor<4x2xf32>) outs(%empty : tensor<4x2xf32>) {
  ^bb0(%e: f32, %o: f32):
    %m = arith.mulf %e, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x2xf32>
  // A scale that is a parameter may learn.
  %other = resid.project %x, %w {epsilon = 1.0e-5} : tensor<4x2x8xf32>, tensor<4x16xf32>
  %empty4 = tensor.empty() : tensor<4x4xf32>
  %learns = linalg.generic {indexing_maps = [affine_map<(r, m) -> (r, m)>, affine_map<(r, m) -> ()>, affine_map<(r, m) -> (r, m)>],
                            iterator_types = ["parallel", "parallel"]} ins(%other, %s : tensor<4x4xf32>, tensor<f32>) outs(%empty4 : tensor<4x4xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %m = arith.mulf %e, %f : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  return %learns, %scaled : tensor<4x4xf32>, tensor<4x2xf32>
}
