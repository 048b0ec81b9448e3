// RUN: resid-opt %s -resid-rotate-pre-norm="report=true" -verify-diagnostics -o %t.after
// RUN: resid-opt %s -o %t.before
// RUN: diff %t.before %t.after
// Loops that look like one over layers and stay as they are, and why.

// Nobody says how often it runs: at 0, the first norm would be computed, and the last add.
func.func @unknown_bound(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{not rotated: expected a loop that runs at least once, but got bounds that do not show it}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %f = math.absf %h : tensor<2x8xf32>
    %t = resid.add %s, %f : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

func.func @zero_trips(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c6 = arith.constant 6 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{not rotated: expected a loop that runs at least once, but got bounds that do not show it}}
  %y = scf.for %i = %c6 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// As signed numbers -1 is below 4, as unsigned ones it is below nothing.
func.func @unsigned_bounds(%x: tensor<2x8xf32>, %n: i32) -> tensor<2x8xf32> {
  %below = arith.constant -1 : i32
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %end = arith.maxui %n, %c4 : i32
  // expected-remark @+1 {{not rotated: expected a loop that runs at least once, but got bounds that do not show it}}
  %y = scf.for unsigned %i = %below to %end step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) : i32 {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// A branch that reads the stream before the norm does.
func.func @norm_is_not_first(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected a norm to be the first to read the carried stream, but got math.absf}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    // expected-note @+1 {{found here}}
    %f = math.absf %s : tensor<2x8xf32>
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %g = arith.addf %f, %h : tensor<2x8xf32>
    %t = resid.add %s, %g : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// The norm stands in one arm of a condition only.
func.func @norm_in_a_region(%x: tensor<2x8xf32>, %c: i1) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected a norm to be the first to read the carried stream, but got scf.if}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    // expected-note @+1 {{found here}}
    %f = scf.if %c -> tensor<2x8xf32> {
      %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
      scf.yield %h : tensor<2x8xf32>
    } else {
      scf.yield %x : tensor<2x8xf32>
    }
    %t = resid.add %s, %f : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// The stream is the norm's gamma, not what it normalises.
func.func @stream_as_gamma(%x: tensor<8xf32>, %m: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected a norm to be the first to read the carried stream, but got resid.rms_norm}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<8xf32>) {
    // expected-note @+1 {{found here}}
    %h = resid.rms_norm %m gamma(%s) {epsilon = 1.0e-5} : tensor<8xf32>, tensor<8xf32>
    %t = resid.add %s, %h : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

func.func @stream_is_not_read(%x: tensor<2x8xf32>, %m: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected a norm to be the first to read the carried stream, but got no reader}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %t = resid.add %m, %m : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Something after the add.
func.func @add_is_not_last(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected resid.add to make what the loop hands on, but got math.absf}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    // expected-note @+1 {{found here}}
    %u = math.absf %t : tensor<2x8xf32>
    scf.yield %u : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Two streams that change places: what is handed on is no sum.
func.func @streams_change_places(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+2 {{not rotated: expected resid.add to make what the loop hands on, but got another carried value}}
  // expected-remark @+1 {{not rotated: expected a norm to be the first to read the carried stream, but got scf.yield}}
  %y, %z = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x, %r = %x) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    // expected-note @+1 {{found here}}
    scf.yield %r, %t : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// The last sum goes into another carried value too, in its own iteration.
func.func @sum_in_another_carried_value(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected the last sum to be read by the next iteration alone, but got another reader}}
  %y, %z = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x, %all = %x) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    // expected-note @+1 {{found here}}
    %next = arith.addf %all, %t : tensor<2x8xf32>
    scf.yield %t, %next : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y, %z : tensor<2x8xf32>, tensor<2x8xf32>
}

// A call that sees each layer's sum.
func.func @tapped(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected the last sum to be read by the next iteration alone, but got another reader}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    // expected-note @+1 {{found here}}
    func.call @probe(%t) : (tensor<2x8xf32>) -> ()
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}
func.func private @probe(tensor<2x8xf32>)

func.func @two_streams(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected a loop that carries one stream, but got 2 streams}}
  %y, %z = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x, %r = %x) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %t = resid.add %s, %h : tensor<2x8xf32>
    %k = resid.layer_norm %r {epsilon = 1.0e-5} : tensor<2x8xf32>
    %u = resid.add %r, %k : tensor<2x8xf32>
    scf.yield %t, %u : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y, %z : tensor<2x8xf32>, tensor<2x8xf32>
}

// Add and norm would meet and not be fused.
func.func @norm_over_two_dimensions(%x: tensor<2x4x8xf32>, %s: i64) -> tensor<2x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected a norm over 1 dimension beside dropout, but got one over 2, which is not fused with the add before it}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%r = %x) -> (tensor<2x4x8xf32>) {
    // expected-note @+1 {{found here}}
    %h = resid.rms_norm %r {epsilon = 1.0e-5, norm_rank = 2} : tensor<2x4x8xf32>
    %d = resid.dropout %h seed(%s, %s) {p = 0.5, site = 0} : tensor<2x4x8xf32>
    %t = resid.add %r, %d : tensor<2x4x8xf32>
    scf.yield %t : tensor<2x4x8xf32>
  }
  return %y : tensor<2x4x8xf32>
}

func.func @block(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-remark @+1 {{not rotated: expected flat ops, but got resid.block; resid-expand-blocks makes flat ops of it}}
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    // expected-note @+1 {{found here}}
    %t = resid.block pre %s norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// In a post-norm loop add and norm stand together already: no remark.
func.func @post(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %f = math.absf %s : tensor<2x8xf32>
    %t = resid.add %s, %f : tensor<2x8xf32>
    %h = resid.rms_norm %t {epsilon = 1.0e-5} : tensor<2x8xf32>
    scf.yield %h : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}
