// RUN: resid-opt %s -resid-form-blocks | FileCheck %s --implicit-check-not="resid.add "
// RUN: resid-opt %s -resid-form-blocks="report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Forming again changes nothing, and expanding gives the flat program back.
// RUN: resid-opt %s -resid-form-blocks -o %t.formed
// RUN: resid-opt %t.formed -resid-form-blocks | diff %t.formed -
// RUN: resid-opt %t.formed -resid-expand-blocks | resid-opt -resid-form-blocks | diff %t.formed -
// Norms, gates and scales are distinct, so that one in another's place shows.

// REMARK: :[[@LINE+25]]:9: remark: formed (bit-exact): post
// REMARK-NOT: not formed

// A post-norm stack: a norm before it is the embedding's, and the norm of the last sum belongs to the last block. The branch
// stands on either side of a plain add.
// CHECK-LABEL: func.func @post(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[B1:[^:]*]]: tensor<8xf32>, %[[A:[^:]*]]: tensor<f32>, %[[W:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64, %[[T:[^:]*]]: i64, %[[R:[^:]*]]: i64, %[[I:[^:]*]]: i64, %[[C:[^:]*]]: i64, %[[L:[^:]*]]: i64, %[[G:[^:]*]]: i64
// CHECK-NEXT: %[[E:.*]] = resid.rms_norm %[[X]] gamma(%[[G0]])
// CHECK-NEXT: %[[Y1:.*]] = resid.block post %[[E]] norm(layer gamma %[[G1]] : tensor<8xf32> beta %[[B1]] : tensor<8xf32> epsilon = 1.000000e-05)
// CHECK-SAME: dropout(1.000000e-01, site 3, seed %[[S]], step %[[T]], origin %[[R]] %[[I]] %[[C]], extent %[[L]] %[[G]]) gate(%[[W]] : tensor<8xf32>) {branch_scale = 5.000000e-01 : f64, skip_scale = 1.200000e+00 : f64} : tensor<?x8xf32> {
// CHECK-NEXT: ^bb0(%[[H1:.*]]: tensor<?x8xf32>):
// CHECK-NEXT: %[[F1:.*]] = math.absf %[[H1]]
// CHECK-NEXT: resid.yield %[[F1]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[Y2:.*]] = resid.block post %[[Y1]] norm(dyt alpha %[[A]] : tensor<f32>) : tensor<?x8xf32> {
// CHECK-NEXT: ^bb0(%[[H2:.*]]: tensor<?x8xf32>):
// CHECK-NEXT: %[[F2:.*]] = math.tanh %[[H2]]
// CHECK-NEXT: resid.yield %[[F2]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y2]]
func.func @post(%x: tensor<?x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>, %b1: tensor<8xf32>, %a: tensor<f32>,
                %w: tensor<8xf32>, %s: i64, %t: i64, %r: i64, %i: i64, %c: i64, %l: i64, %g: i64) -> tensor<?x8xf32> {
  %e = resid.rms_norm %x gamma(%g0) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %f1 = math.absf %e : tensor<?x8xf32>
  %d1 = resid.dropout %f1 seed(%s, %t) origin(%r, %i, %c) extent(%l, %g) {p = 0.1, site = 3} : tensor<?x8xf32>
  %s1 = resid.add %e, %d1 gate(%w) {skip_scale = 1.2, branch_scale = 0.5} : tensor<?x8xf32>, tensor<8xf32>
  %h1 = resid.layer_norm %s1 gamma(%g1) beta(%b1) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  %f2 = math.tanh %h1 : tensor<?x8xf32>
  %s2 = resid.add %f2, %h1 : tensor<?x8xf32>
  %h2 = resid.dyt %s2 alpha(%a) : tensor<?x8xf32>, tensor<f32>
  return %h2 : tensor<?x8xf32>
}

// The same chain, but its raw sum goes on: each sub-layer begins with its norm.
// CHECK-LABEL: func.func @post_shifted(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[Y1:.*]] = resid.block post_shifted %[[X]] norm(rms gamma %[[G0]] : tensor<8xf32> epsilon = 9.9999999999999995E-7) : tensor<?x8xf32> {
// CHECK: math.absf
// CHECK: %[[Y2:.*]] = resid.block post_shifted %[[Y1]] norm(layer gamma %[[G1]] : tensor<8xf32> epsilon = 1.000000e-05) : tensor<?x8xf32> {
// CHECK: math.tanh
// CHECK: return %[[Y2]]
func.func @post_shifted(%x: tensor<?x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>) -> tensor<?x8xf32> {
  %e = resid.rms_norm %x gamma(%g0) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %f1 = math.absf %e : tensor<?x8xf32>
  %s1 = resid.add %e, %f1 : tensor<?x8xf32>
  %h1 = resid.layer_norm %s1 gamma(%g1) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %f2 = math.tanh %h1 : tensor<?x8xf32>
  %s2 = resid.add %h1, %f2 : tensor<?x8xf32>
  return %s2 : tensor<?x8xf32>
}

// Without a norm before the first sub-layer that one is none. The sums between may be read elsewhere.
// CHECK-LABEL: func.func @shifted_after_none(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[Y1:.*]] = resid.block none %[[X]] :
// CHECK: %[[Y2:.*]] = resid.block post_shifted %[[Y1]] norm(rms gamma %[[G1]]
// CHECK: %[[Y3:.*]] = resid.block post_shifted %[[Y2]] norm(rms gamma %[[G2]]
// CHECK: return %[[Y3]], %[[Y1]]
func.func @shifted_after_none(%x: tensor<2x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %f1 = math.absf %x : tensor<2x8xf32>
  %s1 = resid.add %x, %f1 : tensor<2x8xf32>
  %h1 = resid.rms_norm %s1 gamma(%g1) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f2 = math.tanh %h1 : tensor<2x8xf32>
  %s2 = resid.add %h1, %f2 : tensor<2x8xf32>
  %h2 = resid.rms_norm %s2 gamma(%g2) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f3 = math.exp %h2 : tensor<2x8xf32>
  %s3 = resid.add %h2, %f3 : tensor<2x8xf32>
  return %s3, %s1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// A norm before and a norm after would read as post, but a raw sum between is read elsewhere: the last norm is a final one.
// CHECK-LABEL: func.func @shifted_with_tap(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[Y1:.*]] = resid.block post_shifted %[[X]] norm(rms gamma %[[G0]]
// CHECK: %[[Y2:.*]] = resid.block post_shifted %[[Y1]] norm(rms gamma %[[G1]]
// CHECK: %[[N:.*]] = resid.rms_norm %[[Y2]] gamma(%[[G2]])
// CHECK: return %[[N]], %[[Y1]]
func.func @shifted_with_tap(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>)
    -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %h0 = resid.rms_norm %x gamma(%g0) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f1 = math.absf %h0 : tensor<2x8xf32>
  %s1 = resid.add %h0, %f1 : tensor<2x8xf32>
  %h1 = resid.rms_norm %s1 gamma(%g1) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f2 = math.tanh %h1 : tensor<2x8xf32>
  %s2 = resid.add %h1, %f2 : tensor<2x8xf32>
  %n = resid.rms_norm %s2 gamma(%g2) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  return %n, %s1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// Between post-norm sub-layers one without: the last norm ends the last sub-layer. So it does at the end of a loop's body,
// where a final norm would come after every iteration.
// CHECK-LABEL: func.func @none_between(
// CHECK: resid.block post
// CHECK: resid.block none
// CHECK: resid.block post
// CHECK: scf.for
// CHECK: resid.block none
// CHECK: %[[Y:.*]] = resid.block post
// CHECK: scf.yield %[[Y]]
func.func @none_between(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f1 = math.absf %x : tensor<2x8xf32>
  %s1 = resid.add %x, %f1 : tensor<2x8xf32>
  %h1 = resid.rms_norm %s1 {epsilon = 1.0e-6} : tensor<2x8xf32>
  %f2 = math.tanh %h1 : tensor<2x8xf32>
  %s2 = resid.add %h1, %f2 : tensor<2x8xf32>
  %f3 = math.exp %s2 : tensor<2x8xf32>
  %s3 = resid.add %s2, %f3 : tensor<2x8xf32>
  %h3 = resid.rms_norm %s3 {epsilon = 1.0e-6} : tensor<2x8xf32>
  %y = scf.for %k = %c0 to %n step %c1 iter_args(%h = %h3) -> tensor<2x8xf32> {
    %f = math.tanh %h : tensor<2x8xf32>
    %s = resid.add %h, %f : tensor<2x8xf32>
    %g = math.exp %s : tensor<2x8xf32>
    %t = resid.add %s, %g : tensor<2x8xf32>
    %m = resid.rms_norm %t {epsilon = 1.0e-6} : tensor<2x8xf32>
    scf.yield %m : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// A raw sum leaves the chain, but one of its norms is read elsewhere too: that is the end of the sub-layer before it.
// CHECK-LABEL: func.func @post_then_none(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G1:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[Y1:.*]] = resid.block post %[[X]] norm(rms gamma %[[G1]]
// CHECK: %[[Y2:.*]] = resid.block none %[[Y1]] :
// CHECK: return %[[Y2]], %[[Y1]]
func.func @post_then_none(%x: tensor<2x8xf32>, %g1: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %f1 = math.absf %x : tensor<2x8xf32>
  %s1 = resid.add %x, %f1 : tensor<2x8xf32>
  %h1 = resid.rms_norm %s1 gamma(%g1) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f2 = math.tanh %h1 : tensor<2x8xf32>
  %s2 = resid.add %h1, %f2 : tensor<2x8xf32>
  return %s2, %h1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// The final norm after pre-norm, branch-post and peri sub-layers, and after sub-layers without norms, is no block's.
// CHECK-LABEL: func.func @final_norm(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>, %[[G3:[^:]*]]: tensor<8xf32>, %[[G4:[^:]*]]: tensor<8xf32>, %[[GF:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[Y1:.*]] = resid.block pre %[[X]] norm(rms gamma %[[G1]]
// CHECK: %[[Y2:.*]] = resid.block branch_post %[[Y1]] norm(rms gamma %[[G2]]
// CHECK: %[[Y3:.*]] = resid.block peri %[[Y2]] norm(rms gamma %[[G3]] : tensor<8xf32> epsilon = {{[^ ]*}}) norm(rms gamma %[[G4]]
// CHECK: %[[N:.*]] = resid.layer_norm %[[Y3]] gamma(%[[GF]])
// CHECK-NEXT: %[[Y4:.*]] = resid.block none %[[X]] :
// CHECK: %[[Y5:.*]] = resid.block none %[[Y4]] :
// CHECK: %[[M:.*]] = resid.layer_norm %[[Y5]] gamma(%[[GF]])
// CHECK-NEXT: return %[[N]], %[[M]]
func.func @final_norm(%x: tensor<2x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>, %g3: tensor<8xf32>, %g4: tensor<8xf32>,
                      %gf: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %n1 = resid.rms_norm %x gamma(%g1) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f1 = math.absf %n1 : tensor<2x8xf32>
  %s1 = resid.add %x, %f1 : tensor<2x8xf32>
  %f2 = math.absf %s1 : tensor<2x8xf32>
  %n2 = resid.rms_norm %f2 gamma(%g2) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %s2 = resid.add %s1, %n2 : tensor<2x8xf32>
  %n3 = resid.rms_norm %s2 gamma(%g3) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %f3 = math.absf %n3 : tensor<2x8xf32>
  %n4 = resid.rms_norm %f3 gamma(%g4) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %s3 = resid.add %s2, %n4 : tensor<2x8xf32>
  %n = resid.layer_norm %s3 gamma(%gf) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  %f4 = math.absf %x : tensor<2x8xf32>
  %s4 = resid.add %x, %f4 : tensor<2x8xf32>
  %f5 = math.tanh %s4 : tensor<2x8xf32>
  %s5 = resid.add %s4, %f5 : tensor<2x8xf32>
  %m = resid.layer_norm %s5 gamma(%gf) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %n, %m : tensor<2x8xf32>, tensor<2x8xf32>
}

// A norm of the stream alone is a norm before a branch that is the identity; a final norm may be narrower.
// CHECK-LABEL: func.func @identity_branch(
// CHECK-NEXT: %[[Y:.*]] = resid.block pre %{{.*}} norm(rms epsilon = 9.9999999999999995E-7) : tensor<2x8xf32> {
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: resid.yield %[[H]]
// CHECK: %[[Z:.*]] = resid.block none %{{.*}} : tensor<2x8xf32> {
// CHECK: resid.rms_norm %[[Z]] {{.*}} : tensor<2x8xf32> -> tensor<2x8xbf16>
func.func @identity_branch(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xbf16>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x8xf32>
  %s = resid.add %x, %n : tensor<2x8xf32>
  %t = resid.add %x, %x : tensor<2x8xf32>
  %m = resid.rms_norm %t {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xbf16>
  return %s, %m : tensor<2x8xf32>, tensor<2x8xbf16>
}

// A decoder layer. The cross-attention's stream is the decoder's; the encoder's memory, from a norm that ends another chain,
// is captured.
// CHECK-LABEL: func.func @decoder(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[SOURCE:[^:]*]]: tensor<4x8xf32>
// CHECK-NEXT: %[[MEMORY:.*]] = resid.block post %[[SOURCE]]
// CHECK: %[[Y1:.*]] = resid.block post %[[X]]
// CHECK: func.call @self_attention(
// CHECK: %[[Y2:.*]] = resid.block post %[[Y1]]
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[F:.*]] = func.call @cross_attention(%[[H]], %[[MEMORY]])
// CHECK-NEXT: resid.yield %[[F]]
// CHECK: return %[[Y2]]
func.func private @self_attention(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func private @cross_attention(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @decoder(%x: tensor<4x8xf32>, %source: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f0 = math.absf %source : tensor<4x8xf32>
  %s0 = resid.add %source, %f0 : tensor<4x8xf32>
  %memory = resid.rms_norm %s0 {epsilon = 1.0e-6} : tensor<4x8xf32>
  %f1 = func.call @self_attention(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s1 = resid.add %x, %f1 : tensor<4x8xf32>
  %h1 = resid.rms_norm %s1 {epsilon = 1.0e-6} : tensor<4x8xf32>
  %f2 = func.call @cross_attention(%h1, %memory) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s2 = resid.add %h1, %f2 : tensor<4x8xf32>
  %h2 = resid.rms_norm %s2 {epsilon = 1.0e-6} : tensor<4x8xf32>
  return %h2 : tensor<4x8xf32>
}

// A branch in bf16 on an f32 stream, with weights from above; one attribute of the block speaks for both norms.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: resid.block peri %{{.*}} norm(rms gamma %{{.*}} : tensor<8xf32> epsilon = 9.9999999999999995E-7 zero_centered_gamma) norm(layer epsilon = 1.000000e-05) {narrow_affine} : tensor<2x8xf32> {
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xbf16>):
// CHECK-NEXT: %[[F:.*]] = arith.mulf %[[H]], %{{.*}} : tensor<2x8xbf16>
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[F]]
// CHECK-NEXT: resid.yield %[[E]]
func.func @narrow(%x: tensor<2x8xf32>, %g: tensor<8xf32>, %m: tensor<2x8xbf16>) -> tensor<2x8xf32> {
  %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6, narrow_affine, zero_centered_gamma} : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xbf16>
  %f = arith.mulf %h, %m : tensor<2x8xbf16>
  %e = arith.extf %f : tensor<2x8xbf16> to tensor<2x8xf32>
  %n = resid.layer_norm %e {epsilon = 1.0e-5} : tensor<2x8xf32>
  %y = resid.add %x, %n : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// A norm over two dimensions beside dropout, whose rows are of one: a block states both.
// CHECK-LABEL: func.func @two_dimensions(
// CHECK-NEXT: resid.block branch_post %{{.*}} norm(layer epsilon = 1.000000e-05 norm_rank = 2) dropout(5.000000e-01, site 0, seed
func.func @two_dimensions(%x: tensor<2x4x8xf32>, %s: i64) -> tensor<2x4x8xf32> {
  %f = math.absf %x : tensor<2x4x8xf32>
  %n = resid.layer_norm %f {epsilon = 1.0e-5, norm_rank = 2} : tensor<2x4x8xf32>
  %d = resid.dropout %n seed(%s, %s) {p = 0.5, site = 0} : tensor<2x4x8xf32>
  %y = resid.add %x, %d : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// Drop path: the gate is drawn outside, and another one computed from the stream stays outside too.
// CHECK-LABEL: func.func @drop_path(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x4x8xf32>, %[[ONES:[^:]*]]: tensor<2x1x1xf32>
// CHECK-NEXT: %[[PATH:.*]] = resid.dropout %[[ONES]] {{.*}} : tensor<2x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = resid.block pre %[[X]] norm(rms epsilon = {{[^ ]*}}) dropout(1.000000e-01, site 2, {{.*}}) gate(%[[PATH]] : tensor<2x1x1xf32>)
// CHECK: %[[GATE:.*]] = math.exp %[[Y]]
// CHECK-NEXT: resid.block none %[[Y]] gate(%[[GATE]] : tensor<2x4x8xf32>)
func.func @drop_path(%x: tensor<2x4x8xf32>, %ones: tensor<2x1x1xf32>, %s: i64) -> tensor<2x4x8xf32> {
  %path = resid.dropout %ones seed(%s, %s) {p = 0.25, site = 9} : tensor<2x1x1xf32>
  %n = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x4x8xf32>
  %f = math.absf %n : tensor<2x4x8xf32>
  %d = resid.dropout %f seed(%s, %s) {p = 0.1, site = 2} : tensor<2x4x8xf32>
  %y = resid.add %x, %d gate(%path) : tensor<2x4x8xf32>, tensor<2x1x1xf32>
  %g = math.tanh %y : tensor<2x4x8xf32>
  %gate = math.exp %y : tensor<2x4x8xf32>
  %z = resid.add %y, %g gate(%gate) : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %z : tensor<2x4x8xf32>
}

// A fused chain is expanded first.
// CHECK-LABEL: func.func @add_norm(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[BIAS:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: resid.block post %[[X]] norm(rms gamma %[[G]] : {{.*}} {branch_scale = 5.000000e-01 : f64}
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[F:.*]] = math.absf %[[H]]
// CHECK-NEXT: %[[U:.*]] = resid.add_bias %[[F]], %[[BIAS]]
// CHECK-NEXT: resid.yield %[[U]]
func.func @add_norm(%x: tensor<2x8xf32>, %bias: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  %f = math.absf %x : tensor<2x8xf32>
  %n, %s = resid.add_norm rms %x, %f bias(%bias) gamma(%g) {branch_scale = 0.5, epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %n : tensor<2x8xf32>
}

// Loops over stacked parameters: parameters and the origin of dropout are captured.
// CHECK-LABEL: func.func @loops(
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[H:.*]] = %{{.*}})
// CHECK-NEXT: %[[G:.*]] = tensor.extract_slice
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[K]]
// CHECK-NEXT: %[[Y:.*]] = resid.block post %[[H]] norm(rms gamma %[[G]] : {{.*}} origin %[[I]] %[[I]])
// CHECK: scf.yield %[[Y]]
// CHECK: scf.for {{.*}} iter_args(%[[H2:.*]] = %{{.*}})
// CHECK-NEXT: %[[Y2:.*]] = resid.block post_shifted %[[H2]] norm(rms
// CHECK-NEXT: ^bb0(%[[B2:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: scf.if
// CHECK-NEXT: math.absf %[[B2]]
// CHECK: scf.yield %[[Y2]]
func.func @loops(%x: tensor<2x8xf32>, %gs: tensor<6x8xf32>, %s: i64, %big: i1) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %k = %c0 to %c6 step %c1 iter_args(%h = %x) -> tensor<2x8xf32> {
    %g = tensor.extract_slice %gs[%k, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<8xf32>
    %i = arith.index_cast %k : index to i64
    %f = math.absf %h : tensor<2x8xf32>
    %d = resid.dropout %f seed(%s, %s) origin(%i, %i) {p = 0.1, site = 0} : tensor<2x8xf32>
    %t = resid.add %h, %d : tensor<2x8xf32>
    %n = resid.rms_norm %t gamma(%g) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
    scf.yield %n : tensor<2x8xf32>
  }
  %z = scf.for %k = %c0 to %c6 step %c1 iter_args(%h = %y) -> tensor<2x8xf32> {
    %n = resid.rms_norm %h {epsilon = 1.0e-6} : tensor<2x8xf32>
    %f = scf.if %big -> tensor<2x8xf32> {
      %a = math.absf %n : tensor<2x8xf32>
      scf.yield %a : tensor<2x8xf32>
    } else {
      scf.yield %n : tensor<2x8xf32>
    }
    %t = resid.add %n, %f : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %z : tensor<2x8xf32>
}

// A sub-layer around others: those in its branch are blocks in its region, up to the norm that is the outer one's.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = resid.block peri %[[X]] norm(rms gamma %[[G0]] : {{.*}}) norm(rms gamma %[[G1]] :
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[A:.*]] = resid.block pre %[[H]] norm(layer epsilon
// CHECK: math.tanh
// CHECK: %[[B:.*]] = resid.block none %[[A]] :
// CHECK: math.exp
// CHECK: resid.yield %[[B]]
// CHECK: return %[[Y]]
func.func @nested(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>) -> tensor<2x8xf32> {
  %h = resid.rms_norm %x gamma(%g0) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %n = resid.layer_norm %h {epsilon = 1.0e-5} : tensor<2x8xf32>
  %f1 = math.tanh %n : tensor<2x8xf32>
  %s1 = resid.add %h, %f1 : tensor<2x8xf32>
  %f2 = math.exp %s1 : tensor<2x8xf32>
  %s2 = resid.add %s1, %f2 : tensor<2x8xf32>
  %f = resid.rms_norm %s2 gamma(%g1) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  %y = resid.add %x, %f : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The branch ends in a sub-layer with a norm of its own, the first of which is no other's.
// CHECK-LABEL: func.func @nested_post(
// CHECK: resid.block none
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[A:.*]] = resid.block post %[[H]] norm(rms
// CHECK: resid.yield %[[A]] : tensor<2x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @nested_post(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %f = math.tanh %x : tensor<2x8xf32>
  %s = resid.add %x, %f : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<2x8xf32>
  %y = resid.add %x, %n : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// What depends on sizes alone: zeros that two sub-layers share stay outside, those of one branch move into it. Ops outside
// that ask for the size of a sum or a norm inside ask the stream.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty(%[[ROWS]])
// CHECK-NEXT: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
// CHECK-NEXT: %[[Y1:.*]] = resid.block post %[[X]] norm(rms
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<?x8xf32>):
// CHECK-NEXT: %[[F:.*]] = linalg.matmul ins(%[[H]], %[[W]] : {{.*}}) outs(%[[ZEROS]]
// CHECK-NEXT: resid.yield %[[F]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[R1:.*]] = tensor.dim %[[X]]
// CHECK-NEXT: %[[R2:.*]] = tensor.dim %[[Y1]]
// CHECK-NEXT: %[[Y2:.*]] = resid.block pre %[[Y1]] norm(rms
// CHECK-NEXT: ^bb0(%[[H2:.*]]: tensor<?x8xf32>):
// CHECK-NEXT: %[[ROWS2:.*]] = tensor.dim %[[H2]]
// CHECK-NEXT: %[[E2:.*]] = tensor.empty(%[[ROWS2]])
// CHECK-NEXT: %[[Z2:.*]] = linalg.fill {{.*}} outs(%[[E2]]
// CHECK-NEXT: %[[F2:.*]] = linalg.matmul ins(%[[H2]], %[[W]] : {{.*}}) outs(%[[Z2]]
// CHECK-NEXT: %[[F3:.*]] = linalg.matmul ins(%[[F2]], %[[W]] : {{.*}}) outs(%[[ZEROS]]
// CHECK-NEXT: %[[F4:.*]] = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%[[F3]] : {{.*}}) outs(%[[H2]]
// CHECK-NEXT: resid.yield %[[F4]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y2]], %[[R1]], %[[R2]]
func.func @sizes(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, index, index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s1 = resid.add %x, %f1 : tensor<?x8xf32>
  %y1 = resid.rms_norm %s1 {epsilon = 1.0e-6} : tensor<?x8xf32>
  %rows1 = tensor.dim %s1, %c0 : tensor<?x8xf32>
  %n = resid.rms_norm %y1 {epsilon = 1.0e-6} : tensor<?x8xf32>
  %rows2 = tensor.dim %n, %c0 : tensor<?x8xf32>
  %rows3 = tensor.dim %n, %c0 : tensor<?x8xf32>
  %empty2 = tensor.empty(%rows3) : tensor<?x8xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f2 = linalg.matmul ins(%n, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%zeros2 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f3 = linalg.matmul ins(%f2, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<?x8xf32>) -> tensor<?x8xf32>
  // The init is overwritten: no read of the stream's elements.
  %f4 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%f3 : tensor<?x8xf32>) outs(%y1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y2 = resid.add %y1, %f4 : tensor<?x8xf32>
  return %y2, %rows1, %rows2 : tensor<?x8xf32>, index, index
}

// Sizes of the stream that only the branch needs move along after the norm of it, also where that is narrower.
// CHECK-LABEL: func.func @sizes_behind_a_norm(
// CHECK-NEXT: %{{.*}} = arith.constant 0 : index
// CHECK-NEXT: resid.block pre
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<?x8xbf16>):
// CHECK-NEXT: %[[ROWS:.*]] = tensor.dim %[[H]]
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x8xf32>
// CHECK-NEXT: %[[F:.*]] = linalg.copy ins(%[[H]] : {{.*}}) outs(%[[EMPTY]]
// CHECK-NEXT: resid.yield %[[F]]
func.func @sizes_behind_a_norm(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %n = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<?x8xf32> -> tensor<?x8xbf16>
  %f = linalg.copy ins(%n : tensor<?x8xbf16>) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = resid.add %x, %f : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Beside blocks that are there already, and inside of one.
// CHECK-LABEL: func.func @beside_blocks(
// CHECK: %[[Y:.*]] = resid.block pre
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[A:.*]] = resid.block none %[[H]]
// CHECK: resid.yield %[[A]]
// CHECK: resid.block none %[[Y]]
func.func @beside_blocks(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %g = math.absf %h : tensor<2x8xf32>
    %s = resid.add %h, %g : tensor<2x8xf32>
    resid.yield %s : tensor<2x8xf32>
  }
  %f = math.absf %y : tensor<2x8xf32>
  %z = resid.add %y, %f : tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}
