// Stacks that do not get several streams, each with its reason.
// RUN: resid-opt %s -resid-widen-stream="streams=4 connection=mhc" --split-input-file --verify-diagnostics -o /dev/null

func.func @post(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{not converted: expected placement pre, branch_post, peri or none, but got post, whose norm of the stream does not commute with reading one of several}}
  %a = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @skip_scale(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{not converted: expected no skip_scale, but got one}}
  %a = resid.block none %x {skip_scale = 0.5} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @dynamic_width(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // expected-error @+1 {{not converted: expected a static number of features for connection mhc, but got 'tensor<4x?xf32>'}}
  %a = resid.block none %x : tensor<4x?xf32> {
  ^bb0(%h: tensor<4x?xf32>):
    resid.yield %h : tensor<4x?xf32>
  }
  return %a : tensor<4x?xf32>
}

// -----

func.func @reader_between(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %a = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %b = resid.block none %a : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, but got math.tanh}}
  %t = math.tanh %a : tensor<4x8xf32>
  return %b, %t : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @loop(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{not converted: expected sub-layers in a straight line, but got a loop that carries the stream}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4x8xf32> {
    %a = resid.block none %y : tensor<4x8xf32> {
    ^bb0(%h: tensor<4x8xf32>):
      resid.yield %h : tensor<4x8xf32>
    }
    scf.yield %a : tensor<4x8xf32>
  }
  return %s : tensor<4x8xf32>
}

// -----

func.func @several_already(%x: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  // expected-error @+1 {{not converted: expected sub-layers on one stream, but got one on several}}
  %a = resid.block none %x streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x2x8xf32>
}

// -----

// expected-error @+1 {{not converted: expected no caller of 'called', which gets new arguments, but got one; inline the calls first}}
func.func private @called(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}
func.func @caller(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @+1 {{it is called here}}
  %a = call @called(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{not converted: expected a residual sub-layer (resid.block) but got none}}
module {
  func.func @none(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %x : tensor<4x8xf32>
  }
}
