// Dropout sites that draw one mask twice, and neighbours that draw different ones: those carry no expected-warning.
// RUN: resid-opt %s --resid-check-stream --split-input-file --verify-diagnostics -o /dev/null

func.func @twice(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  // expected-note @+1 {{the first use is here}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  %s = resid.add %x, %d : tensor<4x8xf32>
  // expected-warning @+2 {{dropout site 3 is used a second time in one forward pass: both masks are the same}}
  // expected-note @+1 {{mend: give each dropout a site of its own, or another origin}}
  %e = resid.dropout %g seed(%seed, %step) {p = 0.2, site = 3} : tensor<4x8xf32>
  %t = resid.add %s, %e : tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}

func.func @different_masks(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %other: i64, %step: i64) -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : i64
  %next = arith.addi %step, %c1 : i64
  %a = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  %b = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 4} : tensor<4x8xf32>
  %c = resid.dropout %x seed(%other, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  %d = resid.dropout %x seed(%seed, %next) {p = 0.1, site = 3} : tensor<4x8xf32>
  %e = resid.dropout %x seed(%seed, %step) origin(%other, %c1) {p = 0.1, site = 2} : tensor<4x8xf32>
  %h = resid.dropout %x seed(%seed, %step) origin(%c1, %other) {p = 0.1, site = 3} : tensor<4x8xf32>
  %i = resid.dropout %x seed(%seed, %step) origin(%c1, %other, %seed) {p = 0.1, site = 3} : tensor<4x8xf32>
  %j = resid.dropout %x seed(%seed, %step) origin(%c1, %other) extent(%seed, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  %k = resid.dropout %x seed(%seed, %step) origin(%c1, %other) extent(%seed, %next) {p = 0.1, site = 3} : tensor<4x8xf32>
  %s = arith.addf %a, %b : tensor<4x8xf32>
  %t = arith.addf %c, %d : tensor<4x8xf32>
  %u = arith.addf %e, %h : tensor<4x8xf32>
  %v = arith.addf %s, %t : tensor<4x8xf32>
  %w = arith.addf %u, %v : tensor<4x8xf32>
  %y = arith.addf %i, %j : tensor<4x8xf32>
  %z = arith.addf %k, %w : tensor<4x8xf32>
  %sum = arith.addf %y, %z : tensor<4x8xf32>
  return %sum : tensor<4x8xf32>
}

// The same computation written twice is one; p = 0 and p = 1 draw nothing; of two branches one runs.
func.func @no_second_mask(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %which: i1, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %a = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  %b = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  %c = resid.dropout %x seed(%seed, %step) {p = 0.0, site = 3} : tensor<4x8xf32>
  %d = resid.dropout %x seed(%seed, %step) {p = 1.0, site = 3} : tensor<4x8xf32>
  %e = scf.if %which -> tensor<4x8xf32> {
    %g = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 5} : tensor<4x8xf32>
    scf.yield %g : tensor<4x8xf32>
  } else {
    %g = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 5} : tensor<4x8xf32>
    scf.yield %g : tensor<4x8xf32>
  }
  %s = arith.addf %a, %b : tensor<4x8xf32>
  %t = arith.addf %c, %d : tensor<4x8xf32>
  %v = arith.addf %s, %t : tensor<4x8xf32>
  %w = arith.addf %e, %v : tensor<4x8xf32>
  return %w : tensor<4x8xf32>
}

// -----

// Two dropouts of one shard; a column of 0 is none.
func.func @one_shard(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64, %row: i64, %all: i64)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  // expected-note @+1 {{the first use is here}}
  %a = resid.dropout %f seed(%seed, %step) origin(%row, %c0, %c0) extent(%c2, %all) {p = 0.1, site = 3} : tensor<4x8xf32>
  // expected-warning @+2 {{dropout site 3 is used a second time in one forward pass: both masks are the same}}
  // expected-note @+1 {{mend: give each dropout a site of its own, or another origin}}
  %b = resid.dropout %x seed(%seed, %step) origin(%row, %c0) extent(%c2, %all) {p = 0.1, site = 3} : tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Attention draws masks too, where p does not round to 0 or 1.
func.func @weights(%q: tensor<1x2x3x4xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64) -> (tensor<1x2x3x4xf32>, tensor<4x8xf32>) {
  // expected-note @+1 {{the first use is here}}
  %a = resid.attention %q, %q, %q dropout(%seed, %step) {p = 0.1, site = 3} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  %b = resid.attention %a, %q, %q dropout(%seed, %step) {p = 1.0, site = 3} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  %c = resid.attention %b, %q, %q : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  %d = resid.attention %c, %q, %q dropout(%seed, %step) {p = 0.1, site = 4} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  // expected-warning @+2 {{dropout site 3 is used a second time in one forward pass: both masks are the same}}
  // expected-note @+1 {{mend: give each dropout a site of its own, or another origin}}
  %e = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 3} : tensor<4x8xf32>
  return %d, %e : tensor<1x2x3x4xf32>, tensor<4x8xf32>
}

// -----

// The site and the origin's site are one number, seeds that are computed alike are one.
func.func @same_sum(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %s1 = arith.shli %seed, %c2 : i64
  %s2 = arith.shli %seed, %c2 : i64
  // expected-note @+1 {{the first use is here}}
  %a = resid.dropout %f seed(%s1, %step) {p = 0.1, site = 5} : tensor<4x8xf32>
  // expected-warning @+2 {{dropout site 3 is used a second time in one forward pass}}
  // expected-note @+1 {{mend}}
  %b = resid.dropout %x seed(%s2, %step) origin(%c0, %c2) {p = 0.1, site = 3} : tensor<4x8xf32>
  %s = arith.addf %a, %b : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

func.func @blocks_and_fused(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  // expected-note @+1 {{the first use is here}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %f = math.tanh %y : tensor<4x8xf32>
  // expected-warning @+2 {{dropout site 0 is used a second time in one forward pass}}
  // expected-note @+1 {{mend}}
  %n, %s = resid.add_norm rms %y, %f dropout(%seed, %step) {epsilon = 1.0e-5, p = 0.1, site = 0} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @loop(%x: tensor<4x8xf32>, %n: index, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the loop is here}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x8xf32> {
    %f = math.tanh %s : tensor<4x8xf32>
    // expected-warning @+2 {{dropout site 1 is used in every iteration of a loop: all masks are the same}}
    // expected-note @+1 {{mend: give the dropout an origin whose site follows the loop's counter}}
    %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 1} : tensor<4x8xf32>
    %t = resid.add %s, %d : tensor<4x8xf32>
    scf.yield %t : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// With an origin, with a step of its own, with a value that it carries, and once.
func.func @loops_with_different_masks(%x: tensor<4x8xf32>, %n: index, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %row = arith.constant 0 : i64
  %three = arith.constant 3 : i64
  %y, %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %key = %seed) -> (tensor<4x8xf32>, i64) {
    %f = math.tanh %s : tensor<4x8xf32>
    %i64 = arith.index_cast %i : index to i64
    %layer = arith.muli %i64, %three : i64
    %own = arith.xori %step, %i64 : i64
    %a = resid.dropout %f seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 0} : tensor<4x8xf32>
    %b = resid.dropout %a seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 1} : tensor<4x8xf32>
    %c = resid.dropout %b seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 2} : tensor<4x8xf32>
    %d = resid.dropout %c seed(%seed, %own) {p = 0.1, site = 4} : tensor<4x8xf32>
    %e = resid.dropout %d seed(%key, %step) {p = 0.1, site = 5} : tensor<4x8xf32>
    %t = resid.add %s, %e : tensor<4x8xf32>
    %next = arith.xori %key, %three : i64
    scf.yield %t, %next : tensor<4x8xf32>, i64
  }
  %z = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %y) -> tensor<4x8xf32> {
    %f = math.tanh %s : tensor<4x8xf32>
    %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 9} : tensor<4x8xf32>
    %t = resid.add %s, %d : tensor<4x8xf32>
    scf.yield %t : tensor<4x8xf32>
  }
  return %z : tensor<4x8xf32>
}

// -----

// Two sites, but the origin advances by one: site 1 of one iteration is site 0 of the next.
func.func @meeting_sites(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %row = arith.constant 0 : i64
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> tensor<4x8xf32> {
    %layer = arith.index_cast %i : index to i64
    %f = math.tanh %s : tensor<4x8xf32>
    // expected-note @+1 {{the other use is here}}
    %d = resid.dropout %f seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 0} : tensor<4x8xf32>
    %t = resid.add %s, %d : tensor<4x8xf32>
    %g = math.tanh %t : tensor<4x8xf32>
    // expected-warning @+2 {{dropout site 1 meets site 0 in another iteration of the loop: their masks are the same there}}
    // expected-note @+1 {{mend: let the origin's site advance by more than the sites of one iteration take}}
    %e = resid.dropout %g seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 1} : tensor<4x8xf32>
    // Six iterations do not reach so far.
    %k = resid.dropout %e seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 7} : tensor<4x8xf32>
    %u = resid.add %t, %k : tensor<4x8xf32>
    scf.yield %u : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func private @layer(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %f = math.tanh %x : tensor<4x8xf32>
  // expected-note @+1 {{the dropout is here}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %s = resid.add %x, %d : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
func.func private @two_layers(%x: tensor<4x8xf32>, %key: i64, %step: i64) -> tensor<4x8xf32> {
  // expected-note @+1 {{the first use is here}}
  %a = call @layer(%x, %key, %step) : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xf32>
  // expected-warning @+2 {{dropout site 0 of 'layer' is used a second time in one forward pass: both masks are the same}}
  // expected-note @+1 {{mend: give the dropout an origin that the callers pass, another one in each call}}
  %b = call @layer(%a, %key, %step) : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}
func.func @calls_and_a_loop(%x: tensor<4x8xf32>, %n: index, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the first use is here}}
  %a = call @two_layers(%x, %seed, %step) : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xf32>
  // expected-note @+1 {{the loop is here}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<4x8xf32> {
    // expected-warning @+4 {{dropout site 0 of 'layer' is used in every iteration of a loop}}
    // expected-note @+3 {{mend: give the dropout an origin whose site follows the loop's counter}}
    // expected-warning @+2 {{dropout site 0 of 'layer' is used a second time in one forward pass}}
    // expected-note @+1 {{mend: give the dropout an origin that the callers pass}}
    %b = func.call @layer(%s, %seed, %step) : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func private @layer(%x: tensor<4x8xf32>, %row: i64, %i: i64, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %f = math.tanh %x : tensor<4x8xf32>
  %c2 = arith.constant 2 : i64
  %two = arith.muli %i, %c2 : i64
  %d = resid.dropout %f seed(%seed, %step) origin(%row, %two) {p = 0.1, site = 0} : tensor<4x8xf32>
  %s = resid.add %x, %d : tensor<4x8xf32>
  %g = math.tanh %s : tensor<4x8xf32>
  %e = resid.dropout %g seed(%seed, %step) origin(%row, %two) {p = 0.1, site = 1} : tensor<4x8xf32>
  %t = resid.add %s, %e : tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}
func.func @calls_with_origins(%x: tensor<4x8xf32>, %n: index, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %row = arith.constant 0 : i64
  %i0 = arith.constant 100 : i64
  %i1 = arith.constant 101 : i64
  %a = call @layer(%x, %row, %i0, %seed, %step) : (tensor<4x8xf32>, i64, i64, i64, i64) -> tensor<4x8xf32>
  %b = call @layer(%a, %row, %i1, %seed, %step) : (tensor<4x8xf32>, i64, i64, i64, i64) -> tensor<4x8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %b) -> tensor<4x8xf32> {
    %layer = arith.index_cast %i : index to i64
    %c = func.call @layer(%s, %row, %layer, %seed, %step) : (tensor<4x8xf32>, i64, i64, i64, i64) -> tensor<4x8xf32>
    scf.yield %c : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// The callee takes two seeds; that they are one shows in the call only.
func.func private @two_seeds(%x: tensor<4x8xf32>, %a: i64, %b: i64, %step: i64) -> tensor<4x8xf32> {
  %d = resid.dropout %x seed(%a, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  %f = math.tanh %d : tensor<4x8xf32>
  // expected-note @+1 {{the dropout is here}}
  %e = resid.dropout %f seed(%b, %step) {p = 0.1, site = 0} : tensor<4x8xf32>
  return %e : tensor<4x8xf32>
}
func.func @one_seed(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  // expected-warning @+3 {{dropout site 0 of 'two_seeds' is used a second time in one forward pass}}
  // expected-note @+2 {{the first use is here}}
  // expected-note @+1 {{mend}}
  %y = call @two_seeds(%x, %seed, %seed, %step) : (tensor<4x8xf32>, i64, i64, i64) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
