// RUN: resid-opt %s -resid-convert-norm-placement="to=post params=shift report=true" -o %t.post 2>%t.remarks
// RUN: FileCheck %s --input-file %t.post
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// What post_shifted and pre stacks become that no shift from post has made; that way back is in
// resid-convert-norm-placement-shift.mlir.

// REMARK: remark: converted post_shifted to post (bit-exact): the first norm stands before the stack; norms moved to the sub-layer before; the last one has the final norm
// CHECK-LABEL: func.func @all_norms(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[GF:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[E:.*]] = resid.layer_norm %[[X]] gamma(%[[G0]])
// CHECK-NEXT: %[[Y0:.*]] = resid.block post %[[E]] norm(rms gamma %[[G1]] :
// CHECK: %[[Y1:.*]] = resid.block post %[[Y0]] norm(layer gamma %[[GF]] :
// CHECK: return %[[X]], %[[Y1]]
func.func @all_norms(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>, %gf: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %y0 = resid.block post_shifted %x norm(layer gamma %g0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block post_shifted %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.layer_norm %y1 gamma(%gf) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %x, %y : tensor<2x8xf32>, tensor<2x8xf32>
}

// Without a final norm the last sub-layer has none.
// REMARK: remark: converted post_shifted to post (bit-exact): {{.*}} the last one has none
// CHECK-LABEL: func.func @no_final_norm(
// CHECK: %[[Y0:.*]] = resid.block post %{{.*}} norm(rms gamma
// CHECK: %[[Y1:.*]] = resid.block none %[[Y0]]
// CHECK: return %[[Y1]]
func.func @no_final_norm(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block post_shifted %x norm(layer gamma %g0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block post_shifted %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

// A final norm that narrows cannot be a sub-layer's, nor can one whose statistics are read.
// CHECK-LABEL: func.func @final_norm_narrows(
// CHECK: %[[Y0:.*]] = resid.block none
// CHECK: resid.layer_norm %[[Y0]] {{.*}} -> tensor<2x8xbf16>
func.func @final_norm_narrows(%x: tensor<2x8xf32>, %g0: tensor<8xf32>) -> tensor<2x8xbf16> {
  %y0 = resid.block post_shifted %x norm(layer gamma %g0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.layer_norm %y0 {epsilon = 1.0e-5} : tensor<2x8xf32> -> tensor<2x8xbf16>
  return %y : tensor<2x8xbf16>
}

// CHECK-LABEL: func.func @final_norm_with_statistic(
// CHECK: %[[Y0:.*]] = resid.block none
// CHECK: resid.rms_norm %[[Y0]]
func.func @final_norm_with_statistic(%x: tensor<2x8xf32>, %g0: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>) {
  %y0 = resid.block post_shifted %x norm(layer gamma %g0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y, %rstd = resid.rms_norm %y0 {epsilon = 1.0e-5} : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  return %y, %rstd : tensor<2x8xf32>, tensor<2xf32>
}

// Parameters that are made between the sub-layers move up with what they are made of.
// CHECK-LABEL: func.func @late_parameters(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G:[^:]*]]: tensor<2x8xf32>, %[[GF:[^:]*]]: tensor<8xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[G]][1, 0]
// CHECK: %[[A:.*]] = math.absf %[[S]]
// CHECK: resid.block post %{{.*}} norm(rms gamma %[[A]] :
// CHECK: %[[F:.*]] = math.absf %[[GF]]
// CHECK: resid.block post %{{.*}} norm(layer gamma %[[F]] :
func.func @late_parameters(%x: tensor<2x8xf32>, %g: tensor<2x8xf32>, %gf: tensor<8xf32>) -> tensor<2x8xf32> {
  %g0 = tensor.extract_slice %g[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %y0 = resid.block post_shifted %x norm(layer gamma %g0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %s1 = tensor.extract_slice %g[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %g1 = math.absf %s1 : tensor<8xf32>
  %y1 = resid.block post_shifted %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %f = math.absf %gf : tensor<8xf32>
  %y = resid.layer_norm %y1 gamma(%f) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}

// From pre the function changes. A branch in bf16 narrows the stream itself where no norm does it any more.
// REMARK: remark: converted pre to post (changes the function): the first norm stands before the stack; norms moved to the sub-layer before; the last one has the final norm
// CHECK-LABEL: func.func @pre(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G0:[^:]*]]: tensor<8xf32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[GF:[^:]*]]: tensor<8xf32>
// CHECK-NEXT: %[[E:.*]] = resid.layer_norm %[[X]] gamma(%[[G0]])
// CHECK-NEXT: %[[Y0:.*]] = resid.block post %[[E]] norm(rms gamma %[[G1]] :
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[H]] : tensor<2x8xf32> to tensor<2x8xbf16>
// CHECK-NEXT: arith.extf %[[T]]
// CHECK: %[[Y1:.*]] = resid.block post %[[Y0]] norm(layer gamma %[[GF]] :
// CHECK: return %[[Y1]]
func.func @pre(%x: tensor<2x8xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>, %gf: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block pre %x norm(layer gamma %g0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xbf16>):
    %f = arith.extf %h : tensor<2x8xbf16> to tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  %y1 = resid.block pre %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.layer_norm %y1 gamma(%gf) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}

// Nothing to do.
// REMARK: remark: not converted: the placement is post already
// CHECK-LABEL: func.func @post(
// CHECK: resid.block post %{{.*}} norm(layer epsilon
// CHECK: resid.block none
func.func @post(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block post %x norm(layer epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block none %y0 : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}
