// Each mistake with its place and mend, and neighbours that are none: those carry no expected-warning.
// RUN: resid-opt %s --resid-check-stream --split-input-file --verify-diagnostics -o /dev/null

//===----------------------------------------------------------------------===//
// Dropout after the residual add
//===----------------------------------------------------------------------===//

func.func @dropout_after_add(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  // expected-note @+1 {{the residual add is here}}
  %s = resid.add %x, %f : tensor<4x8xf32>
  // expected-warning @+2 {{dropout is applied after the residual add: it drops elements of the stream itself}}
  // expected-note @+1 {{mend: apply dropout to the branch, before the add}}
  %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %y = resid.layer_norm %d {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

func.func @dropout_before_add(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %s = resid.add %x, %d : tensor<4x8xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @dropout_after_add_behind_a_cast_in_a_loop(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %row = arith.constant 0 : i64
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x) -> tensor<4x8xf32> {
    %site = arith.index_cast %i : index to i64
    %f = math.tanh %h : tensor<4x8xf32>
    // expected-note @+1 {{the residual add is here}}
    %s = resid.add %h, %f : tensor<4x8xf32>
    %t = arith.truncf %s : tensor<4x8xf32> to tensor<4x8xbf16>
    // expected-warning @+2 {{dropout is applied after the residual add}}
    // expected-note @+1 {{mend: apply dropout to the branch, before the add}}
    %d = resid.dropout %t seed(%seed, %step) origin(%row, %site) {p = 0.1, site = 0} : tensor<4x8xbf16>
    %e = arith.extf %d : tensor<4x8xbf16> to tensor<4x8xf32>
    scf.yield %e : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @dropout_after_fused_add(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-note @+1 {{the residual add is here}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32>
  // expected-warning @+2 {{dropout is applied after the residual add}}
  // expected-note @+1 {{mend: apply dropout to the branch, before the add}}
  %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  return %n, %d : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @dropout_between_blocks(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  // expected-note @+1 {{the residual add is here}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-warning @+2 {{dropout is applied after the residual add}}
  // expected-note @+1 {{mend: apply dropout to the branch, before the add}}
  %d = resid.dropout %y seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %z = resid.block post %d norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}

// A head may drop from the normalised end of the stack.
func.func @dropout_of_a_head(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %seed: i64, %step: i64) -> tensor<4x2xf32> {
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %d = resid.dropout %y seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %empty = arith.constant dense<0.0> : tensor<4x2xf32>
  %z = linalg.matmul ins(%d, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%empty : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}

// The branch has dropout on its input; the stream goes on without.
func.func @dropout_into_a_branch(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %s = resid.add %x, %f : tensor<4x8xf32>
  %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %g = math.tanh %d : tensor<4x8xf32>
  %y = resid.add %s, %g : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

func.func @dropout_of_embeddings(%token: tensor<4x8xf32>, %position: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %e = resid.add %token, %position : tensor<4x8xf32>
  %d = resid.dropout %e seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %z = resid.block post %d norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}

// -----

// The same with a branch of the stream is no embedding, nor is a second sum.
func.func @dropout_after_first_of_two(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %f = math.tanh %x : tensor<4x8xf32>
  // expected-note @+1 {{the residual add is here}}
  %s = resid.add %x, %f : tensor<4x8xf32>
  // expected-warning @+2 {{dropout is applied after the residual add}}
  // expected-note @+1 {{mend: apply dropout to the branch, before the add}}
  %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  // expected-note @+1 {{the residual add is here}}
  %t = resid.add %d, %g : tensor<4x8xf32>
  // expected-warning @+2 {{dropout is applied after the residual add}}
  // expected-note @+1 {{mend: apply dropout to the branch, before the add}}
  %e = resid.dropout %t seed(%seed, %step) {p = 0.1, site = 1} : tensor<4x8xf32>
  %h = math.tanh %e : tensor<4x8xf32>
  %y = resid.add %e, %h : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// A norm on the skip path
//===----------------------------------------------------------------------===//

func.func @norm_on_skip_path(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @+2 {{mend: add the branch to what the norm reads, or let the branch read what the norm makes}}
  // expected-warning @+1 {{a norm stands on the skip path: the residual add takes the normalised stream, but its branch reads the stream before the norm}}
  %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %f = math.tanh %x : tensor<4x8xf32>
  // expected-note @+1 {{the residual add is here}}
  %s = resid.add %n, %f : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// The other way round it is pre-norm, and where the branch reads the norm too it is post-shifted.
func.func @pre_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %f = math.tanh %n : tensor<4x8xf32>
  %s = resid.add %x, %f : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
func.func @pre_norm_without_a_branch(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %s = resid.add %n, %x : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
func.func @post_shifted(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %m = resid.layer_norm %n {epsilon = 1.0e-5} : tensor<4x8xf32>
  %f = math.tanh %m : tensor<4x8xf32>
  %s = resid.add %n, %f : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
func.func @post_norm_stack(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f = math.tanh %x : tensor<4x8xf32>
  %s = resid.add %x, %f : tensor<4x8xf32>
  %n = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  %g = math.tanh %n : tensor<4x8xf32>
  %t = resid.add %n, %g : tensor<4x8xf32>
  %y = resid.layer_norm %t {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// The branch comes from the caller: nobody knows what it has read.
func.func @norm_and_a_foreign_branch(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %s = resid.add %n, %f : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

func.func @norm_on_skip_path_of_a_block(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @+2 {{mend: add the branch to what the norm reads, or let the branch read what the norm makes}}
  // expected-warning @+1 {{a norm stands on the skip path}}
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  // expected-note @+1 {{the residual add is here}}
  %y = resid.block none %n : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %x : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

func.func @norm_before_a_stack(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %y = resid.block none %n : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = arith.mulf %h, %x : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @norm_on_skip_path_in_a_loop_and_fused(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<4x8xf32> {
    // expected-note @+2 {{mend: add the branch to what the norm reads, or let the branch read what the norm makes}}
    // expected-warning @+1 {{a norm stands on the skip path}}
    %m = resid.rms_norm %h {epsilon = 1.0e-5} : tensor<4x8xf32>
    %f = math.tanh %h : tensor<4x8xf32>
    // expected-note @+1 {{the residual add is here}}
    %z, %s = resid.add_norm layer %m, %f {epsilon = 1.0e-5} : tensor<4x8xf32>
    scf.yield %z : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// A branch that does not depend on the stream
//===----------------------------------------------------------------------===//

func.func @block_without_its_stream(%x: tensor<4x8xf32>, %memory: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-warning @+2 {{the branch of this residual add does not depend on the stream}}
  // expected-note @+1 {{mend: compute the branch from the stream that it is added to, or from its norm}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %memory : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// The sizes of the stream are not the stream.
func.func @block_with_its_streams_size(%x: tensor<?x8xf32>, %memory: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // expected-warning @+2 {{the branch of this residual add does not depend on the stream}}
  // expected-note @+1 {{mend: compute the branch}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %h, %c0 : tensor<?x8xf32>
    %empty = tensor.empty(%n) : tensor<?x8xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
    %f = linalg.matmul ins(%memory, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%start : tensor<?x8xf32>) -> tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

func.func @block_with_memory(%x: tensor<4x8xf32>, %memory: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = arith.mulf %h, %memory : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}
func.func @block_with_a_foreign_branch(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}
func.func @block_that_captures_its_stream(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %x : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}
// Two branches side by side, both of the first norm.
func.func @parallel_branches(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %y = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = arith.mulf %n, %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block none %y : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %n : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}

// -----

func.func private @attend(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

func.func @flat_cross_attention_without_queries(%x: tensor<4x8xf32>, %memory: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f = call @attend(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = resid.add %x, %f : tensor<4x8xf32>
  %g = call @attend(%memory, %memory) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-warning @+2 {{the branch of this residual add does not depend on the stream}}
  // expected-note @+1 {{mend: compute the branch from the stream that it is added to, or from its norm}}
  %t = resid.add %s, %g : tensor<4x8xf32>
  %n = resid.rms_norm %t {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// The same with the ops of resid.
func.func @flat_linear_without_stream(%x: tensor<4x8xf32>, %memory: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = resid.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %0 = resid.add %x, %a : tensor<4x8xf32>
  %f = resid.linear %memory, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // expected-warning @+2 {{the branch of this residual add does not depend on the stream}}
  // expected-note @+1 {{mend: compute the branch from the stream that it is added to, or from its norm}}
  %1 = resid.add %0, %f : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

func.func @flat_cross_attention(%x: tensor<4x8xf32>, %memory: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f = call @attend(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = resid.add %x, %f : tensor<4x8xf32>
  %g = call @attend(%s, %memory) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = resid.add %g, %s : tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}
// A projection and its add, compiled for themselves; positions added to every layer; two streams that meet.
func.func @fragment(%x: tensor<4x8xf32>, %heads: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f = call @attend(%heads, %heads) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = resid.add %x, %f : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
func.func @foreign_branches(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = resid.add %x, %f : tensor<4x8xf32>
  %t = resid.add %s, %g : tensor<4x8xf32>
  %positions = arith.constant dense<2.0> : tensor<4x8xf32>
  %u = resid.add %t, %positions : tensor<4x8xf32>
  return %u : tensor<4x8xf32>
}
func.func @two_streams_meet(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f = call @attend(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = resid.add %x, %f : tensor<4x8xf32>
  %g = call @attend(%y, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = resid.add %y, %g : tensor<4x8xf32>
  %u = resid.add %s, %t : tensor<4x8xf32>
  return %u : tensor<4x8xf32>
}

// -----

func.func private @attend(tensor<4x8xf32>) -> tensor<4x8xf32>

func.func @loop_without_its_stream(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<4x8xf32> {
    %f = func.call @attend(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // expected-warning @+2 {{the branch of this residual add does not depend on the stream}}
    // expected-note @+1 {{mend: compute the branch}}
    %s = resid.add %h, %f : tensor<4x8xf32>
    scf.yield %s : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// The branch comes out of the iteration before.
func.func @loop_that_carries_the_branch(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = call @attend(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y, %b = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x, %f = %f0) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %e = math.tanh %f : tensor<4x8xf32>
    %g = func.call @attend(%e) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %s = resid.add %h, %g : tensor<4x8xf32>
    %k = func.call @attend(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %s, %k : tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// A stream that is not handed on
//===----------------------------------------------------------------------===//

func.func @dropped_stream(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  // expected-warning @+2 {{this residual add drops its stream: the factor of the stream is 0}}
  // expected-note @+1 {{mend: scale the stream by a factor that is not 0}}
  %y = resid.add %x, %f skip(%zero) : tensor<4x8xf32>, tensor<8xf32>
  // expected-warning @+2 {{this residual add drops its stream}}
  // expected-note @+1 {{mend: scale the stream}}
  %z = resid.add %x, %f {skip_scale = 0.0} : tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// Each layer adds the input of the model again, which no branch depends on.
func.func @input_of_the_model(%x: tensor<4x8xf32>, %s: tensor<f32>, %l: tensor<f32>) -> tensor<4x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-6) skip(%s : tensor<f32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.rms_norm %y {epsilon = 1.0e-6} : tensor<4x8xf32>
  %f = math.tanh %n : tensor<4x8xf32>
  %z = resid.add %y, %f skip(%s) also(%x scale %l) : tensor<4x8xf32>, tensor<f32>, tensor<f32>
  %o = resid.rms_norm %z {epsilon = 1.0e-6} : tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
