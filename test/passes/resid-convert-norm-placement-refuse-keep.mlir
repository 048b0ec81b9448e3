// RUN: resid-opt %s -split-input-file -verify-diagnostics -resid-convert-norm-placement="to=pre params=keep"
// What params=keep refuses, with the place and the reason.

func.func @mixed_placements(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-note @+1 {{a sub-layer of the same stack is here}}
  %y0 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected placement post as elsewhere in its stack, but got branch_post}}
  %y1 = resid.block branch_post %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

// -----

// Only shifting leaves sub-layers without a norm.
func.func @first_has_none(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{not converted: expected placement post_shifted as elsewhere in its stack, but got none}}
  %y0 = resid.block none %x : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-note @+1 {{a sub-layer of the same stack is here}}
  %y1 = resid.block post_shifted %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
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
  return %y0 : tensor<2x8xf32>
}

// -----

func.func @auxiliary_head(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, which has another meaning in placement pre than in post, but got math.exp}}
  %head = math.exp %y0 : tensor<2x8xf32>
  %y1 = resid.block post %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %head, %y1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

func.func @branch_captures_stream(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block post %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, which has another meaning in placement pre than in post, but got arith.addf}}
    %f = arith.addf %y0, %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

// -----

func.func @fork(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, which has another meaning in placement pre than in post, but got resid.block}}
  %a = resid.block post %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %b = resid.block post %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

func.func @end_read_twice(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %y0 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected the final norm to be all that reads the end of the stream, but got 2 readers}}
  %y = resid.rms_norm %y0 {epsilon = 1.0e-6} : tensor<2x8xf32>
  // expected-note @+1 {{another reader is here}}
  return %y, %y0 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// expected-error @+1 {{not converted: expected no caller of 'layer', which gets new arguments, but got one; inline the calls first}}
func.func private @layer(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block post %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y0 : tensor<2x8xf32>
}
func.func @caller(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  // expected-note @+1 {{it is called here}}
  %y = func.call @layer(%x, %g) : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// Shapes may be asked for anywhere.
func.func @size_of_stream(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, index) {
  %c1 = arith.constant 1 : index
  %y0 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %d = tensor.dim %y0, %c1 : tensor<2x8xf32>
  %y1 = resid.block post %y0 norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1, %d : tensor<2x8xf32>, index
}

// -----

// On one path the stream goes on through a sub-layer, on the other it does not: where would the final norm stand?
func.func @goes_on_inside_of_a_condition(%x: tensor<2x8xf32>, %more: i1) -> tensor<2x8xf32> {
  %a = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.tanh %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  %y = scf.if %more -> (tensor<2x8xf32>) {
    // expected-error @+1 {{not converted: expected sub-layers in the region of their stream, but got them inside of scf.if, while their stream comes from outside}}
    %b = resid.block post %a norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      %f = math.tanh %h : tensor<2x8xf32>
      resid.yield %f : tensor<2x8xf32>
    }
    scf.yield %b : tensor<2x8xf32>
  } else {
    scf.yield %a : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}
