// RUN: resid-opt %s -resid-convert-norm-placement="to=pre params=keep report=true" -o %t.pre 2>%t.remarks
// RUN: FileCheck %s --input-file %t.pre --check-prefix=PRE
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: resid-opt %s -resid-convert-norm-placement="to=pre" | diff - %t.pre
// RUN: resid-opt %s -resid-convert-norm-placement="to=pre final-norm=identity" | FileCheck %s --check-prefix=IDENTITY
// RUN: resid-opt %s -resid-convert-norm-placement="to=peri" -o %t.peri
// RUN: FileCheck %s --input-file %t.peri --check-prefix=PERI
// RUN: resid-opt %s -resid-convert-norm-placement="to=branch_post" | FileCheck %s --check-prefix=BRANCH
// RUN: resid-opt %s -resid-convert-norm-placement="to=post_shifted params=keep" | FileCheck %s --check-prefix=SHIFTED
// RUN: resid-opt %s -resid-convert-norm-placement="to=none" | FileCheck %s --check-prefix=NONE
// Back from pre and from peri the final norm goes, which is said, and the blocks are those of before.
// RUN: resid-opt %t.pre -resid-convert-norm-placement="to=post" 2>%t.remarks | FileCheck %s --check-prefix=POST
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=DROPPED
// RUN: resid-opt %t.peri -resid-convert-norm-placement="to=post" 2>%t.remarks | FileCheck %s --check-prefix=POST
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=DROPPED
// Each sub-layer keeps its norm. Parameters are distinct, so that a wrong one shows.

// DROPPED: remark: dropped the final norm (changes the function): placement post has no final norm

// PRE-LABEL: func.func @post(
// PRE-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[B0:[^:]*]]: tensor<8xf32>, %[[A1:[^:]*]]: tensor<f32>, %[[G1:[^:]*]]: tensor<8xbf16>, %[[W:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64,
// PRE-SAME: %[[AF:[^:]*]]: tensor<f32> {resid.name = "final_norm_alpha"}, %[[GF:[^:]*]]: tensor<8xbf16> {resid.name = "final_norm_gamma"})
// REMARK: remark: converted post to pre (changes the function): the final norm is new
// PRE-NEXT: %[[Y0:.*]] = resid.block pre %[[X]] norm(layer gamma %[[G0]] : tensor<8xf32> beta %[[B0]] : tensor<8xf32> epsilon = 1.0{{.*}}e-05) dropout(1.0{{.*}}e-01, site 1, seed %[[S]], step %[[S]]) {skip_scale = 1.5
// PRE: %[[Y1:.*]] = resid.block pre %[[Y0]] norm(dyt alpha %[[A1]] : tensor<f32> gamma %[[G1]] : tensor<8xbf16> zero_centered_gamma) gate(%[[W]] : tensor<8xf32>)
// PRE: %[[Y:.*]] = resid.dyt %[[Y1]] alpha(%[[AF]]) gamma(%[[GF]]) {zero_centered_gamma}
// PRE-NEXT: return %[[Y]]

// IDENTITY-LABEL: func.func @post(
// IDENTITY-SAME: i64) ->
// IDENTITY: resid.block pre
// IDENTITY: %[[Y1:.*]] = resid.block pre
// IDENTITY: return %[[Y1]]

// PERI-LABEL: func.func @post(
// PERI-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[B0:[^:]*]]: tensor<8xf32>, %[[A1:[^:]*]]: tensor<f32>, %[[G1:[^:]*]]: tensor<8xbf16>, %[[W:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64,
// PERI-SAME: %[[NG0:[^:]*]]: tensor<8xf32> {resid.name = "norm_1_gamma"}, %[[NB0:[^:]*]]: tensor<8xf32> {resid.name = "norm_1_beta"},
// PERI-SAME: %[[NA1:[^:]*]]: tensor<f32> {resid.name = "norm_3_alpha"}, %[[NG1:[^:]*]]: tensor<8xbf16> {resid.name = "norm_3_gamma"},
// PERI-SAME: %[[AF:[^:]*]]: tensor<f32> {resid.name = "final_norm_alpha"}, %[[GF:[^:]*]]: tensor<8xbf16> {resid.name = "final_norm_gamma"})
// PERI: resid.block peri %[[X]] norm(layer gamma %[[G0]] : tensor<8xf32> beta %[[B0]] : tensor<8xf32> epsilon = 1.0{{.*}}e-05) norm(layer gamma %[[NG0]] : tensor<8xf32> beta %[[NB0]] : tensor<8xf32> epsilon = 1.0{{.*}}e-05) dropout
// PERI: resid.block peri %{{.*}} norm(dyt alpha %[[A1]] : tensor<f32> gamma %[[G1]] : tensor<8xbf16> zero_centered_gamma) norm(dyt alpha %[[NA1]] : tensor<f32> gamma %[[NG1]] : tensor<8xbf16> zero_centered_gamma) gate
// PERI: resid.dyt %{{.*}} alpha(%[[AF]]) gamma(%[[GF]])

// BRANCH-LABEL: func.func @post(
// BRANCH: resid.block branch_post %{{.*}} norm(layer gamma %arg1
// BRANCH: resid.block branch_post %{{.*}} norm(dyt alpha %arg3 : tensor<f32> gamma %arg4
// BRANCH: resid.dyt %{{.*}} alpha(%arg7) gamma(%arg8)

// SHIFTED-LABEL: func.func @post(
// SHIFTED: resid.block post_shifted %{{.*}} norm(layer gamma %arg1
// SHIFTED: resid.block post_shifted %{{.*}} norm(dyt alpha %arg3 : tensor<f32> gamma %arg4
// SHIFTED: resid.dyt %{{.*}} alpha(%arg7) gamma(%arg8)

// NONE-LABEL: func.func @post(
// NONE-SAME: i64) ->
// NONE: resid.block none %arg0 dropout
// NONE: %[[Y1:.*]] = resid.block none %{{.*}} gate
// NONE: return %[[Y1]]

// POST-LABEL: func.func @post(
// POST-NEXT: resid.block post %arg0 norm(layer gamma %arg1 : tensor<8xf32> beta %arg2 : tensor<8xf32> epsilon = 1.0{{.*}}e-05) dropout
// POST: %[[Y1:.*]] = resid.block post %{{.*}} norm(dyt alpha %arg3 : tensor<f32> gamma %arg4 : tensor<8xbf16> zero_centered_gamma) gate
// POST: return %[[Y1]]
func.func @post(%x: tensor<?x8xf32>, %g0: tensor<8xf32>, %b0: tensor<8xf32>, %a1: tensor<f32>, %g1: tensor<8xbf16>,
                %w: tensor<8xf32>, %s: i64) -> tensor<?x8xf32> {
  %y0 = resid.block post %x norm(layer gamma %g0 : tensor<8xf32> beta %b0 : tensor<8xf32> epsilon = 1.0e-5) dropout(0.1, site 1, seed %s, step %s) {skip_scale = 1.5} : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.absf %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  %y1 = resid.block post %y0 norm(dyt alpha %a1 : tensor<f32> gamma %g1 : tensor<8xbf16> zero_centered_gamma) gate(%w : tensor<8xf32>) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.tanh %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y1 : tensor<?x8xf32>
}

// The final norm that torch.nn.Transformer adds even after post is taken.
// REMARK: remark: converted post to pre (changes the function): the final norm stays
// PRE-LABEL: func.func @final_norm_behind_post(
// PRE-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[GF:[^:]*]]: tensor<8xf32>) ->
// PRE: %[[Y0:.*]] = resid.block pre %[[X]] norm(rms gamma %[[G0]]
// PRE: %[[Y:.*]] = resid.layer_norm %[[Y0]] gamma(%[[GF]])
// PRE-NEXT: return %[[Y]]
// NONE-LABEL: func.func @final_norm_behind_post(
// NONE: %[[Y0:.*]] = resid.block none
// NONE: return %[[Y0]]
func.func @final_norm_behind_post(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %gf: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block post %x norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %z = resid.layer_norm %y0 gamma(%gf) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %z : tensor<2x8xf32>
}

// A norm that stands where the target has one stays: that of branch_post is N2.
// PRE-LABEL: func.func @branch_post(
// PRE-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[GF:[^:]*]]: tensor<8xf32> {resid.name = "final_norm_gamma"}) ->
// PRE: %[[Y0:.*]] = resid.block pre %[[X]] norm(rms gamma %[[G0]]
// PRE: %[[Y1:.*]] = resid.block pre %[[Y0]] norm(rms gamma %[[G1]]
// PRE: resid.rms_norm %[[Y1]] gamma(%[[GF]])
// PERI-LABEL: func.func @branch_post(
// PERI-SAME: %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[N0:[^:]*]]: tensor<8xf32> {resid.name = "norm_0_gamma"}, %[[N1:[^:]*]]: tensor<8xf32> {resid.name = "norm_2_gamma"},
// PERI: resid.block peri %{{.*}} norm(rms gamma %[[N0]] : tensor<8xf32> epsilon = {{.*}}) norm(rms gamma %[[G0]]
// PERI: resid.block peri %{{.*}} norm(rms gamma %[[N1]] : tensor<8xf32> epsilon = {{.*}}) norm(rms gamma %[[G1]]
func.func @branch_post(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block branch_post %x norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block branch_post %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

// Of peri's two norms the one stays that stands where the target has one, N1 if none does; the other is dropped.
// PRE-LABEL: func.func @peri(
// PRE: resid.block pre %{{.*}} norm(layer gamma %arg1
// PRE-NEXT: ^bb0(%{{.*}}: tensor<2x8xbf16>):
// BRANCH-LABEL: func.func @peri(
// BRANCH: resid.block branch_post %{{.*}} norm(rms gamma %arg2
// BRANCH-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// BRANCH-NEXT: %[[T:.*]] = arith.truncf %[[H]] : tensor<2x8xf32> to tensor<2x8xbf16>
// BRANCH-NEXT: arith.extf %[[T]]
// SHIFTED-LABEL: func.func @peri(
// SHIFTED: resid.block post_shifted %{{.*}} norm(layer gamma %arg1
// SHIFTED: arith.truncf
// SHIFTED: resid.layer_norm %{{.*}} gamma(%arg3)
func.func @peri(%x: tensor<2x8xf32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block peri %x norm(layer gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) norm(rms gamma %g2 : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xbf16>):
    %f = arith.extf %h : tensor<2x8xbf16> to tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %y0 : tensor<2x8xf32>
}

// A loop over stacked parameters: new ones are stacked likewise, the final norm's are those of one iteration.
// PRE-LABEL: func.func @loop(
// PRE-SAME: %[[G:[^:]*]]: tensor<?x8xf32>, %[[B:[^:]*]]: tensor<4x1x8xbf16>, %[[N:[^:]*]]: index, %[[GF:[^:]*]]: tensor<8xf32> {resid.name = "final_norm_gamma"}, %[[BF:[^:]*]]: tensor<8xf32> {resid.name = "final_norm_beta"})
// PRE: %[[Y:.*]] = scf.for
// PRE: resid.block pre %{{.*}} norm(layer gamma
// PRE: resid.layer_norm %[[Y]] gamma(%[[GF]]) beta(%[[BF]])
// PERI-LABEL: func.func @loop(
// PERI-SAME: %[[G:[^:]*]]: tensor<?x8xf32>, %[[B:[^:]*]]: tensor<4x1x8xbf16>, %[[N:[^:]*]]: index,
// PERI-SAME: %[[NG:[^:]*]]: tensor<?x8xf32> {resid.name = "norm_1_gamma"}, %[[NB:[^:]*]]: tensor<4x1x8xbf16> {resid.name = "norm_1_beta"}, %{{[^:]*}}: tensor<8xf32> {resid.name = "final_norm_gamma"}
// PERI: scf.for %[[I:.*]] = {{.*}} iter_args(%[[S:.*]] = %
// PERI: %[[G0:.*]] = tensor.extract_slice %[[G]][%[[I]], 0] [1, 8] [1, 1]
// PERI: %[[B0:.*]] = arith.extf
// PERI-NEXT: %[[NG0:.*]] = tensor.extract_slice %[[NG]][%[[I]], 0] [1, 8] [1, 1]
// PERI-NEXT: %[[NS:.*]] = tensor.extract_slice %[[NB]][%[[I]], 0, 0] [1, 1, 8] [1, 1, 1] : tensor<4x1x8xbf16> to tensor<1x1x8xbf16>
// PERI-NEXT: %[[NC:.*]] = tensor.collapse_shape %[[NS]]
// PERI-NEXT: %[[NB0:.*]] = arith.extf %[[NC]]
// PERI-NEXT: resid.block peri %[[S]] norm(layer gamma %[[G0]] : tensor<8xf32> beta %[[B0]] : tensor<8xf32> epsilon = 1.0{{.*}}e-05) norm(layer gamma %[[NG0]] : tensor<8xf32> beta %[[NB0]]
func.func @loop(%x: tensor<2x8xf32>, %g: tensor<?x8xf32>, %b: tensor<4x1x8xbf16>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
    %gi = tensor.extract_slice %g[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %bs = tensor.extract_slice %b[%i, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<4x1x8xbf16> to tensor<1x1x8xbf16>
    %bc = tensor.collapse_shape %bs [[0, 1, 2]] : tensor<1x1x8xbf16> into tensor<8xbf16>
    %bi = arith.extf %bc : tensor<8xbf16> to tensor<8xf32>
    %t = resid.block post %s norm(layer gamma %gi : tensor<8xf32> beta %bi : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Of a stack of which each iteration reads one part, a new one has that part.
// PERI-LABEL: func.func @part_in_loop(
// PERI-SAME: %{{[^:]*}}: tensor<?x4x8xf32>, %{{[^:]*}}: index, %[[NG0:[^:]*]]: tensor<?x1x8xf32> {resid.name = "norm_1_gamma"}, %[[NG1:[^:]*]]: tensor<1x2x8xf32> {resid.name = "norm_3_gamma"}
// PERI: scf.for %[[I:.*]] = {{.*}} iter_args(
// PERI: tensor.extract_slice %[[NG0]][%[[I]], 0, 0] [1, 1, 8] [1, 1, 1] : tensor<?x1x8xf32> to tensor<8xf32>
// PERI: tensor.extract_slice %[[NG1]][0, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<1x2x8xf32> to tensor<2x8xf32>
func.func @part_in_loop(%x: tensor<2x8xf32>, %g: tensor<?x4x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
    %gi = tensor.extract_slice %g[%i, 3, 0] [1, 1, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<8xf32>
    %t = resid.block post %s norm(rms gamma %gi : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    %gj = tensor.extract_slice %g[0, 1, 0] [1, 2, 8] [1, 2, 1] : tensor<?x4x8xf32> to tensor<2x8xf32>
    %u = resid.block post %t norm(rms gamma %gj : tensor<2x8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %u : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// A norm that all iterations share gets one that they share.
// PERI-LABEL: func.func @shared_in_loop(
// PERI-SAME: %[[NG:[^:]*]]: tensor<8xf32> {resid.name = "norm_1_gamma"}
// PERI: resid.block peri %{{.*}} norm(rms gamma %arg1 : tensor<8xf32> epsilon = {{.*}}) norm(rms gamma %[[NG]] :
func.func @shared_in_loop(%x: tensor<2x8xf32>, %g: tensor<8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
    %t = resid.block post %s norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Two stacks in one function: names do not meet, and the decoder reads the encoder's final norm.
// PRE-LABEL: func.func @encoder_decoder(
// PRE-SAME: %[[GE:[^:]*]]: tensor<8xf32>, %[[GD:[^:]*]]: tensor<8xf32>, %[[FE:[^:]*]]: tensor<8xf32> {resid.name = "final_norm_gamma"}, %[[FD:[^:]*]]: tensor<8xf32> {resid.name = "final_norm_2_gamma"})
// PRE: %[[SE:.*]] = resid.block pre %{{.*}} norm(rms gamma %[[GE]]
// PRE: %[[M:.*]] = resid.rms_norm %[[SE]] gamma(%[[FE]])
// PRE: %[[SD:.*]] = resid.block pre %{{.*}} norm(layer gamma %[[GD]]
// PRE: arith.addf %{{.*}}, %[[M]]
// PRE: %[[Y:.*]] = resid.layer_norm %[[SD]] gamma(%[[FD]])
// PRE-NEXT: return %[[Y]]
func.func @encoder_decoder(%x: tensor<2x8xf32>, %z: tensor<2x8xf32>, %ge: tensor<8xf32>, %gd: tensor<8xf32>) -> tensor<2x8xf32> {
  %memory = resid.block post %x norm(rms gamma %ge : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.block post %z norm(layer gamma %gd : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %a = arith.addf %h, %memory : tensor<2x8xf32>
    resid.yield %a : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// One norm's parameters in two sub-layers stay shared, and without parameters no argument is added, callers or not.
// PRE-LABEL: func.func private @shared(
// PRE-SAME: %[[X:[^:]*]]: tensor<2x8xf32>) ->
// PRE: %[[G:.*]] = arith.constant
// PRE: resid.block pre %{{.*}} norm(rms gamma %[[G]]
// PRE: %[[Y:.*]] = resid.block pre %{{.*}} norm(rms gamma %[[G]]
// PRE: resid.rms_norm %[[Y]] {epsilon
func.func private @shared(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %g = arith.constant dense<2.0> : tensor<8xf32>
  %y0 = resid.block branch_post %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block branch_post %y0 norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.rms_norm %y1 {epsilon = 1.0e-6} : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
