// Stacks that end without a final norm, and neighbours that are none of these: those carry no expected-warning.
// RUN: resid-opt %s --resid-check-stream --split-input-file --verify-diagnostics -o /dev/null

func.func @pre_norm_stack(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %b = resid.block pre %a norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %c = resid.block pre %b norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+2 {{mend: put a norm between the last sub-layer and what reads the stream}}
  // expected-warning @+1 {{a stack of 'pre' sub-layers ends here without a final norm}}
  %d = resid.block pre %c norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  return %d : tensor<4x8xf32>
}

// One layer, whose caller has the final norm: of an encoder, and of a decoder.
func.func @layer_of_two(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %b = resid.block pre %a norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %b : tensor<4x8xf32>
}

func.func @layer_of_three(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %b = resid.block branch_post %a norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %c = resid.block peri %b norm(rms epsilon = 1.0e-5) norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %c, %a : tensor<4x8xf32>, tensor<4x8xf32>
}

// The stream begins in the function, so that this is all of a model.
func.func @from_an_embedding(%x: tensor<4x8xf32>, %p: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = math.absf %x : tensor<4x8xf32>
  %a = resid.block pre %e norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+2 {{mend: put a norm between the last sub-layer and what reads the stream}}
  // expected-warning @+1 {{a stack of 'pre' sub-layers ends here without a final norm}}
  %b = resid.block pre %a norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  return %b : tensor<4x8xf32>
}

// A head reads the stream too.
func.func @layer_with_head(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> (tensor<4x8xf32>, tensor<4x2xf32>) {
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @+2 {{mend: put a norm between the last sub-layer and what reads the stream}}
  // expected-warning @+1 {{a stack of 'pre' sub-layers ends here without a final norm}}
  %b = resid.block pre %a norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %empty = arith.constant dense<0.0> : tensor<4x2xf32>
  %r = linalg.matmul ins(%b, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%empty : tensor<4x2xf32>) -> tensor<4x2xf32>
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  return %b, %r : tensor<4x8xf32>, tensor<4x2xf32>
}

func.func @layer_in_a_loop(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x8xf32> {
    // expected-note @+2 {{mend: put a norm between the last sub-layer and what reads the stream}}
    // expected-warning @+1 {{a stack of 'pre' sub-layers ends here without a final norm}}
    %z = resid.block pre %s norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
    ^bb0(%h: tensor<4x8xf32>):
      %f = math.tanh %h : tensor<4x8xf32>
      resid.yield %f : tensor<4x8xf32>
    }
    scf.yield %z : tensor<4x8xf32>
  }
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  return %y : tensor<4x8xf32>
}

func.func @pre_norm_stack_with_final_norm(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block pre %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.rms_norm %z {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

func.func @one_sub_layer(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

func.func @post_norm_stack(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block post %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}

// ReZero wants none.
func.func @stack_without_norms(%x: tensor<4x8xf32>, %w: tensor<f32>) -> tensor<4x8xf32> {
  %y = resid.block none %x gate(%w : tensor<f32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block none %y gate(%w : tensor<f32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}

// -----

func.func @loop_into_a_linear_layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %n: index) -> tensor<4x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x8xf32> {
    // expected-warning @+2 {{a stack of 'peri' sub-layers ends here without a final norm}}
    // expected-note @+1 {{mend: put a norm between the last sub-layer and what reads the stream}}
    %z = resid.block peri %s norm(rms epsilon = 1.0e-5) norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
    ^bb0(%h: tensor<4x8xf32>):
      %f = math.tanh %h : tensor<4x8xf32>
      resid.yield %f : tensor<4x8xf32>
    }
    scf.yield %z : tensor<4x8xf32>
  }
  %empty = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  %r = linalg.matmul ins(%y, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%empty : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// The encoder's raw stream is what the decoder attends to.
func.func @raw_memory(%x: tensor<4x8xf32>, %t: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block branch_post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-warning @+2 {{a stack of 'branch_post' sub-layers ends here without a final norm}}
  // expected-note @+1 {{mend: put a norm}}
  %z = resid.block branch_post %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %d = resid.block post %t norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = func.call @attend(%h, %z) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %d : tensor<4x8xf32>
}

func.func private @attend(%q: tensor<4x8xf32>, %memory: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %empty = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-note @+1 {{the stream leaves the stack as it is here}}
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                                      affine_map<(i, j, k) -> (i, j)>]
      ins(%q, %memory : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = arith.constant dense<0.0> : tensor<4x8xf32>
  %f = linalg.matmul ins(%s, %q : tensor<4x4xf32>, tensor<4x8xf32>) outs(%r : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %f : tensor<4x8xf32>
}

// -----

// One layer of a stack, and the program that calls it and normalises the end; the head normalises in a function.
func.func private @layer(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block pre %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}
func.func @called(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block post_shifted %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}
func.func private @head(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}
func.func private @elsewhere(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @program(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = call @layer(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = call @called(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = resid.rms_norm %b {epsilon = 1.0e-5} : tensor<4x8xf32>
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block pre %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %r = call @head(%z) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = resid.block pre %y norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %w = resid.block pre %v norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.sin %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %e = call @elsewhere(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %n, %r, %e : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
