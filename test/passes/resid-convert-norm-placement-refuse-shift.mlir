// RUN: resid-opt %s -split-input-file -verify-diagnostics -resid-convert-norm-placement="to=post params=shift"
// What params=shift refuses, with the place and the reason.

func.func @to_peri_only_by_keep(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{not converted: expected params=keep from branch_post to post but got shift; norms shift between post and pre or post_shifted only}}
  %y0 = resid.block branch_post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y0 : tensor<2x8xf32>
}

// -----

func.func @loop(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{not converted: expected sub-layers in a straight line for params=shift, but got a loop, whose norms would shift from one iteration to the next; params=keep converts loops}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
    %t = resid.block post_shifted %s norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @pre_without_final_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{not converted: expected a final norm after the last sub-layer, whose norm it would become, but got none}}
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y0 : tensor<2x8xf32>
}

// -----

func.func @pre_with_narrow_final_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf16> {
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected a final norm that keeps the type and whose statistics nobody reads, which would become the last sub-layer's, but got resid.rms_norm}}
  %y = resid.rms_norm %y0 {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xf16>
  return %y : tensor<2x8xf16>
}

// -----

func.func @pre_with_auxiliary_head(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, which has another meaning in placement post than in pre, but got math.exp}}
  %head = math.exp %y0 : tensor<2x8xf32>
  %y1 = resid.block pre %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.rms_norm %y1 {epsilon = 1.0e-6} : tensor<2x8xf32>
  return %head, %y : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

func.func @raw_stream_read(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block post_shifted %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected readers of the stream between sub-layers to read it through the norm of the next one, since it is normalised in placement post, but got math.exp}}
  %head = math.exp %y0 : tensor<2x8xf32>
  %y1 = resid.block post_shifted %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %head, %y1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// Not through that norm, but through another one.
func.func @read_through_another_norm(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block post_shifted %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected readers of the stream between sub-layers to read it through the norm of the next one, since it is normalised in placement post, but got resid.rms_norm}}
  %head = resid.rms_norm %y0 {epsilon = 1.0e-5} : tensor<2x8xf32>
  %y1 = resid.block post_shifted %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %head, %y1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

func.func @end_read_twice(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %y0 = resid.block post_shifted %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-note @+1 {{another reader is here}}
  %z = math.exp %y0 : tensor<2x8xf32>
  // expected-error @+1 {{not converted: expected the final norm to be all that reads the end of the stream, but got 2 readers}}
  %y = resid.rms_norm %y0 {epsilon = 1.0e-6} : tensor<2x8xf32>
  return %y, %z : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// The second norm's gamma depends on the first sub-layer, whose norm it would become.
func.func @parameter_from_stream(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-note @+1 {{the norm would move here}}
  %y0 = resid.block post_shifted %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %c0 = arith.constant 0 : index
  %d = tensor.dim %y0, %c0 : tensor<2x8xf32>
  %i = arith.index_cast %d : index to i32
  %v = arith.sitofp %i : i32 to f32
  %g = tensor.splat %v : tensor<8xf32>
  // expected-error @+1 {{not converted: expected parameters of the norm that can be defined before the sub-layer that it moves to, but got tensor.splat}}
  %y1 = resid.block post_shifted %y0 norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

// -----

func.func @no_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{not converted: expected sub-layers with a norm, whose kind the new ones take, but got placement none}}
  %y0 = resid.block none %x : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block none %y0 : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.rms_norm %y1 {epsilon = 1.0e-6} : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @none_in_the_middle(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-note @+1 {{a sub-layer of the same stack is here}}
  %y0 = resid.block post_shifted %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected placement post_shifted as elsewhere in its stack, but got none}}
  %y1 = resid.block none %y0 : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

// -----

// expected-error @below {{not converted: expected a residual sub-layer (resid.block) but got none}}
module {
  func.func @no_block(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
    return %x : tensor<2x8xf32>
  }
}
