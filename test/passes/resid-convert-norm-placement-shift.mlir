// RUN: resid-opt %s -resid-convert-norm-placement="to=post_shifted" -o %t.shifted
// RUN: FileCheck %s --input-file %t.shifted
// Back again, the text is the one before; only the manifest tells.
// RUN: resid-opt %s -o %t.before
// RUN: resid-opt %t.shifted -resid-convert-norm-placement="to=post params=shift" | sed 's/^module attributes.*/module {/' | diff %t.before -
// RUN: resid-opt %s -resid-convert-norm-placement="to=post_shifted report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// From post to post_shifted and back by shifting the norms. Their parameters are distinct, so that a wrong one shows.

// REMARK: resid-convert-norm-placement-shift.mlir:[[@LINE+10]]:{{.*}} remark: converted post to post_shifted (bit-exact): norms moved to the next sub-layer; the first one has none, the last one is the final norm
// CHECK-LABEL: func.func @three_sublayers(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[B0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>, %[[A2:[^:]*]]: tensor<f32>
// CHECK-NEXT: %[[S0:.*]] = resid.block none %[[X]] {skip_scale = {{1[.]5.*}}} :
// CHECK: %[[S1:.*]] = resid.block post_shifted %[[S0]] norm(layer gamma %[[G0]] : tensor<8xf32> beta %[[B0]] : tensor<8xf32> epsilon = 1.0{{.*}}e-05) dropout(
// CHECK: %[[S2:.*]] = resid.block post_shifted %[[S1]] norm(rms gamma %[[G1]] : tensor<8xf32> epsilon = {{9[.]9.*}}E-7 zero_centered_gamma) gate(
// CHECK: %[[Y:.*]] = resid.dyt %[[S2]] alpha(%[[A2]]) gamma(%[[G2]])
// CHECK-NEXT: return %[[Y]]
func.func @three_sublayers(%x: tensor<?x8xf32>, %g0: tensor<8xf32>, %b0: tensor<8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>,
                           %a2: tensor<f32>, %w: tensor<8xf32>, %s: i64) -> tensor<?x8xf32> {
  %y0 = resid.block post %x norm(layer gamma %g0 : tensor<8xf32> beta %b0 : tensor<8xf32> epsilon = 1.0e-5) {skip_scale = 1.5} : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.absf %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  %y1 = resid.block post %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-6 zero_centered_gamma) dropout(0.1, site 1, seed %s, step %s) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.tanh %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  %y2 = resid.block post %y1 norm(dyt alpha %a2 : tensor<f32> gamma %g2 : tensor<8xf32>) gate(%w : tensor<8xf32>) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.absf %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y2 : tensor<?x8xf32>
}

// The norm of the embedding becomes the first sub-layer's.
// REMARK: remark: converted post to post_shifted (bit-exact): norms moved to the next sub-layer; the first one has the entry norm, the last one is the final norm
// CHECK-LABEL: func.func @embedding_norm(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[GE:[^:]*]]: tensor<8xf32>, %[[G0:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[S0:.*]] = resid.block post_shifted %[[X]] norm(layer gamma %[[GE]] :
// CHECK: %[[Y:.*]] = resid.rms_norm %[[S0]] gamma(%[[G0]])
// CHECK-NEXT: return %[[Y]]
func.func @embedding_norm(%x: tensor<2x8xf32>, %ge: tensor<8xf32>, %g0: tensor<8xf32>) -> tensor<2x8xf32> {
  %e = resid.layer_norm %x gamma(%ge) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  %y = resid.block post %e norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Not if something else reads it too.
// CHECK-LABEL: func.func @embedding_norm_read_elsewhere(
// CHECK-NEXT: %[[E:.*]] = resid.layer_norm
// CHECK-NEXT: resid.block none %[[E]] :
// CHECK: return %[[E]], %{{.*}}
func.func @embedding_norm_read_elsewhere(%x: tensor<2x8xf32>, %g0: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %e = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<2x8xf32>
  %y = resid.block post %e norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %e, %y : tensor<2x8xf32>, tensor<2x8xf32>
}

// Nor if it narrows: inside of the block it would be wide.
// CHECK-LABEL: func.func @embedding_norm_narrows(
// CHECK: %[[E:.*]] = resid.layer_norm %{{.*}} -> tensor<2x8xbf16>
// CHECK-NEXT: resid.block none %[[E]] :
func.func @embedding_norm_narrows(%x: tensor<2x8xf32>, %g0: tensor<8xf32>) -> tensor<2x8xbf16> {
  %e = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<2x8xf32> -> tensor<2x8xbf16>
  %y = resid.block post %e norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xbf16> {
  ^bb0(%h: tensor<2x8xbf16>):
    %f = math.absf %h : tensor<2x8xbf16>
    resid.yield %f : tensor<2x8xbf16>
  }
  return %y : tensor<2x8xbf16>
}

// torch.nn.Transformer adds a final norm even to post-norm stacks: it stays after the new one.
// CHECK-LABEL: func.func @final_norm_behind_post(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[GF:[^:]*]]: tensor<8xf32>
// CHECK: %[[S0:.*]] = resid.block none %[[X]] :
// CHECK: %[[Y:.*]] = resid.rms_norm %[[S0]] gamma(%[[G0]])
// CHECK-NEXT: %[[Z:.*]] = resid.layer_norm %[[Y]] gamma(%[[GF]])
// CHECK-NEXT: return %[[Z]]
func.func @final_norm_behind_post(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %gf: tensor<8xf32>) -> tensor<2x8xf32> {
  %y = resid.block post %x norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  %z = resid.layer_norm %y gamma(%gf) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %z : tensor<2x8xf32>
}

// Who reads the stream in the middle reads one norm of it, and the end of the stream is the final norm's for everybody.
// CHECK-LABEL: func.func @auxiliary_heads(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>
// CHECK: %[[S0:.*]] = resid.block none %[[X]] :
// CHECK: %[[M0:.*]] = resid.rms_norm %[[S0]] gamma(%[[G0]])
// CHECK-NEXT: %[[H0:.*]] = math.exp %[[M0]]
// CHECK-NEXT: %[[S1:.*]] = resid.block post_shifted %[[S0]] norm(rms gamma %[[G0]]
// CHECK: math.absf %[[M0]]
// CHECK: %[[M1:.*]] = resid.rms_norm %[[S1]] gamma(%[[G1]])
// CHECK: %[[S2:.*]] = resid.block post_shifted %[[S1]] norm(rms gamma %[[G1]]
// CHECK: %[[Y:.*]] = resid.rms_norm %[[S2]] gamma(%[[G2]])
// CHECK-NEXT: %[[H2:.*]] = math.exp %[[Y]]
// CHECK-NEXT: return %[[H0]], %[[M1]], %[[H2]], %[[Y]]
func.func @auxiliary_heads(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>)
    -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %y0 = resid.block post %x norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  %h0 = math.exp %y0 : tensor<2x8xf32>
  %y1 = resid.block post %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %y0 : tensor<2x8xf32>
    %m = arith.mulf %f, %h : tensor<2x8xf32>
    resid.yield %m : tensor<2x8xf32>
  }
  %y2 = resid.block post %y1 norm(rms gamma %g2 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %h2 = math.exp %y2 : tensor<2x8xf32>
  return %h0, %y1, %h2, %y2 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// One norm's parameters in two sub-layers, and narrow_affine, which holds for the norms of one block: it goes with its norm.
// CHECK-LABEL: func.func @shared_and_narrow(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xbf16>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>
// CHECK: resid.block none %[[X]] : tensor<2x8xbf16>
// CHECK: resid.block post_shifted %{{.*}} norm(rms gamma %[[G0]] : tensor<8xf32> epsilon = {{9[.]9.*}}E-7) {narrow_affine} : tensor<2x8xbf16>
// CHECK: %[[S2:.*]] = resid.block post_shifted %{{.*}} norm(rms gamma %[[G0]] : tensor<8xf32> epsilon = {{9[.]9.*}}E-7) : tensor<2x8xbf16>
// CHECK: resid.rms_norm %[[S2]] gamma(%[[G2]]) {epsilon = {{.*}}, narrow_affine}
func.func @shared_and_narrow(%x: tensor<2x8xbf16>, %g0: tensor<8xf32>, %g2: tensor<8xf32>) -> tensor<2x8xbf16> {
  %y0 = resid.block post %x norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) {narrow_affine} : tensor<2x8xbf16> {
  ^bb0(%h: tensor<2x8xbf16>):
    resid.yield %h : tensor<2x8xbf16>
  }
  %y1 = resid.block post %y0 norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xbf16> {
  ^bb0(%h: tensor<2x8xbf16>):
    resid.yield %h : tensor<2x8xbf16>
  }
  %y2 = resid.block post %y1 norm(rms gamma %g2 : tensor<8xf32> epsilon = 1.0e-6) {narrow_affine} : tensor<2x8xbf16> {
  ^bb0(%h: tensor<2x8xbf16>):
    resid.yield %h : tensor<2x8xbf16>
  }
  return %y2 : tensor<2x8xbf16>
}

// Norms over two dimensions, by their gamma and by norm_rank.
// CHECK-LABEL: func.func @rank_two(
// CHECK: resid.block none
// CHECK: %[[S1:.*]] = resid.block post_shifted %{{.*}} norm(layer epsilon = {{.*}} norm_rank = 2)
// CHECK: resid.layer_norm %[[S1]] gamma(%{{.*}}) {epsilon = {{[^,]*}}} : tensor<2x4x8xf32>, tensor<4x8xf32>
func.func @rank_two(%x: tensor<2x4x8xf32>, %g: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %y0 = resid.block post %x norm(layer epsilon = 1.0e-5 norm_rank = 2) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  %y1 = resid.block post %y0 norm(layer gamma %g : tensor<4x8xf32> epsilon = 1.0e-5) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  return %y1 : tensor<2x4x8xf32>
}

// The decoder's cross-attention captures the end of the encoder: it reads the encoder's final norm.
// CHECK-LABEL: func.func @encoder_decoder(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[Z:[^:]*]]: tensor<2x8xf32>, %[[GE:[^:]*]]: tensor<8xf32>, %[[GD:[^:]*]]: tensor<8xf32>, %[[W:[^:]*]]: tensor<2x4xf32>
// CHECK: %[[SE:.*]] = resid.block none %[[X]] :
// CHECK: %[[M:.*]] = resid.rms_norm %[[SE]] gamma(%[[GE]])
// CHECK-NEXT: %[[SD:.*]] = resid.block none %[[Z]] :
// CHECK: linalg.matmul ins(%[[W]], %[[M]] :
// CHECK: %[[Y:.*]] = resid.rms_norm %[[SD]] gamma(%[[GD]])
// CHECK-NEXT: return %[[Y]]
func.func @encoder_decoder(%x: tensor<4x8xf32>, %z: tensor<2x8xf32>, %ge: tensor<8xf32>, %gd: tensor<8xf32>, %w: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %memory = resid.block post %x norm(rms gamma %ge : tensor<8xf32> epsilon = 1.0e-6) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %y = resid.block post %z norm(rms gamma %gd : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %a = linalg.matmul ins(%w, %memory : tensor<2x4xf32>, tensor<4x8xf32>) outs(%h : tensor<2x8xf32>) -> tensor<2x8xf32>
    resid.yield %a : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// The stream forks: a stack ends there, and its final norm is what both others begin with.
// CHECK-LABEL: func.func @fork(
// CHECK: %[[S:.*]] = resid.block none
// CHECK: %[[Y:.*]] = resid.layer_norm %[[S]]
// CHECK: resid.block none %[[Y]]
// CHECK: resid.block none %[[Y]]
func.func @fork(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %y = resid.block post %x norm(layer epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %a = resid.block post %y norm(layer epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %b = resid.block post %y norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>
}

// A stack inside of another's branch, and one in a loop that does not carry it.
// CHECK-LABEL: func.func @nested(
// CHECK: resid.block none
// CHECK: resid.block none
// CHECK: resid.rms_norm
// CHECK: resid.yield
// CHECK: resid.layer_norm
// CHECK: scf.for
// CHECK: resid.block none
// CHECK: resid.layer_norm
func.func @nested(%x: tensor<2x8xf32>, %n: index) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = resid.block post %x norm(layer epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %i = resid.block post %h norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
    ^bb0(%g: tensor<2x8xf32>):
      resid.yield %g : tensor<2x8xf32>
    }
    resid.yield %i : tensor<2x8xf32>
  }
  %z = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %y) -> tensor<2x8xf32> {
    %s = resid.block post %x norm(layer epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    %t = arith.addf %sum, %s : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y, %z : tensor<2x8xf32>, tensor<2x8xf32>
}
