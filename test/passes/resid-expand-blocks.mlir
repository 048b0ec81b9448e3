// RUN: resid-opt %s -resid-expand-blocks | FileCheck %s
// RUN: resid-opt %s -resid-passes | FileCheck %s --check-prefix=FUSED
// RUN: resid-opt %s -resid-inference -resid-expand-blocks | FileCheck %s --check-prefix=INFERENCE
// RUN: resid-opt %s -resid-expand-blocks="report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Each placement by its formula. Norms, gates and scales are distinct, so that one in another's place shows.

// REMARK: remark: expanded (bit-exact): post
// REMARK: remark: expanded (bit-exact): pre
// INFERENCE-NOT: resid.dropout

// CHECK-LABEL: func.func @post(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<8xf32>, %[[W:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64, %[[T:[^:]*]]: i64, %[[R:[^:]*]]: i64, %[[I:[^:]*]]: i64, %[[C:[^:]*]]: i64, %[[L:[^:]*]]: i64, %[[GL:[^:]*]]: i64
// FUSED-LABEL: func.func @post(
func.func @post(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %w: tensor<8xf32>,
                %s: i64, %t: i64, %r: i64, %i: i64, %c: i64, %l: i64, %gl: i64) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[X]]
  // CHECK-NEXT: %[[D:.*]] = resid.dropout %[[F]] seed(%[[S]], %[[T]]) origin(%[[R]], %[[I]], %[[C]]) extent(%[[L]], %[[GL]]) {p = {{1[.]0*e-01.*}}, site = 3{{.*}}}
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[X]], %[[D]] gate(%[[W]]) {branch_scale = {{5[.]0*e-01.*}}, skip_scale = {{1[.]2.*}}}
  // CHECK-NEXT: %[[N:.*]] = resid.layer_norm %[[SUM]] gamma(%[[G]]) beta(%[[B]]) {epsilon = {{1[.]0*e-05.*}}} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  // CHECK-NEXT: return %[[N]]
  // FUSED: resid.add_norm layer {{.*}} dropout({{.*}} origin({{.*}} extent({{.*}} gate(
  %y = resid.block post %x norm(layer gamma %g : tensor<8xf32> beta %b : tensor<8xf32> epsilon = 1.0e-5)
         dropout(0.1, site 3, seed %s, step %t, origin %r %i %c, extent %l %gl) gate(%w : tensor<8xf32>) {skip_scale = 1.2, branch_scale = 0.5} : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.absf %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// A branch in bf16 on an f32 stream, with weights from above.
// CHECK-LABEL: func.func @pre(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G:[^:]*]]: tensor<8xf32>, %[[M:[^:]*]]: tensor<2x8xbf16>
func.func @pre(%x: tensor<2x8xf32>, %g: tensor<8xf32>, %m: tensor<2x8xbf16>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[N:.*]] = resid.rms_norm %[[X]] gamma(%[[G]]) {epsilon = {{.*}}, narrow_affine, zero_centered_gamma} : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xbf16>
  // CHECK-NEXT: %[[F:.*]] = arith.mulf %[[N]], %[[M]]
  // CHECK-NEXT: %[[E:.*]] = arith.extf %[[F]]
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[X]], %[[E]] : tensor<2x8xf32>
  // CHECK-NEXT: return %[[SUM]]
  %y = resid.block pre %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-6 zero_centered_gamma) {narrow_affine} : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xbf16>):
    %f = arith.mulf %h, %m : tensor<2x8xbf16>
    %e = arith.extf %f : tensor<2x8xbf16> to tensor<2x8xf32>
    resid.yield %e : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @branch_post(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x4x8xf32>, %[[S:[^:]*]]: i64
func.func @branch_post(%x: tensor<2x4x8xf32>, %s: i64) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[X]]
  // CHECK-NEXT: %[[N:.*]] = resid.layer_norm %[[F]] {epsilon = {{.*}}, norm_rank = 2{{.*}}} : tensor<2x4x8xf32>
  // CHECK-NEXT: %[[D:.*]] = resid.dropout %[[N]] seed(%[[S]], %[[S]])
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[X]], %[[D]] : tensor<2x4x8xf32>
  // CHECK-NEXT: return %[[SUM]]
  %y = resid.block branch_post %x norm(layer epsilon = 1.0e-5 norm_rank = 2) dropout(0.5, site 0, seed %s, step %s) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    %f = math.absf %h : tensor<2x4x8xf32>
    resid.yield %f : tensor<2x4x8xf32>
  }
  return %y : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @peri(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[A:[^:]*]]: tensor<f32>, %[[G1:[^:]*]]: tensor<8xf32>, %[[G2:[^:]*]]: tensor<8xf32>, %[[B2:[^:]*]]: tensor<8xf32>
func.func @peri(%x: tensor<2x8xf32>, %a: tensor<f32>, %g1: tensor<8xf32>, %g2: tensor<8xf32>, %b2: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[N1:.*]] = resid.dyt %[[X]] alpha(%[[A]]) gamma(%[[G1]])
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[N1]]
  // CHECK-NEXT: %[[N2:.*]] = resid.rms_norm %[[F]] gamma(%[[G2]]) beta(%[[B2]])
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[X]], %[[N2]] {skip_scale = {{2[.].*}}}
  // CHECK-NEXT: return %[[SUM]]
  %y = resid.block peri %x norm(dyt alpha %a : tensor<f32> gamma %g1 : tensor<8xf32>)
         norm(rms gamma %g2 : tensor<8xf32> beta %b2 : tensor<8xf32> epsilon = 1.0e-6) {skip_scale = 2.0} : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @post_shifted(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[G:[^:]*]]: tensor<8xf32>
func.func @post_shifted(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[H:.*]] = resid.rms_norm %[[X]] gamma(%[[G]])
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[H]]
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[H]], %[[F]] : tensor<2x8xf32>
  // CHECK-NEXT: return %[[SUM]]
  %y = resid.block post_shifted %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @none(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[W:[^:]*]]: tensor<f32>
func.func @none(%x: tensor<2x8xf32>, %w: tensor<f32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[X]]
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[X]], %[[F]] gate(%[[W]]) : tensor<2x8xf32>, tensor<f32>
  // CHECK-NEXT: return %[[SUM]]
  %y = resid.block none %x gate(%w : tensor<f32>) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = math.absf %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Drop path: a [B,1,1] gate drawn by dropout.
// CHECK-LABEL: func.func @drop_path(
func.func @drop_path(%x: tensor<2x4x8xf32>, %ones: tensor<2x1x1xf32>, %s: i64) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: %[[P:.*]] = resid.dropout %{{.*}} : tensor<2x1x1xf32>
  // CHECK-NEXT: resid.add %{{.*}}, %{{.*}} gate(%[[P]]) : tensor<2x4x8xf32>, tensor<2x1x1xf32>
  %path = resid.dropout %ones seed(%s, %s) {p = 0.25, site = 9} : tensor<2x1x1xf32>
  %y = resid.block none %x gate(%path : tensor<2x1x1xf32>) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  return %y : tensor<2x4x8xf32>
}

// A block inside the branch of another, and one inside a loop.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>
func.func @nested(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  // CHECK: scf.for {{.*}} iter_args(%[[H:.*]] = %[[X]])
  // CHECK-NEXT: %[[N:.*]] = resid.rms_norm %[[H]]
  // CHECK-NEXT: %[[I:.*]] = resid.add %[[N]], %[[N]]
  // CHECK-NEXT: %[[O:.*]] = resid.add %[[H]], %[[I]]
  // CHECK-NEXT: scf.yield %[[O]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %k = %c0 to %n step %c1 iter_args(%stream = %x) -> tensor<2x8xf32> {
    %z = resid.block pre %stream norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      %f = resid.block none %h : tensor<2x8xf32> {
      ^bb0(%i: tensor<2x8xf32>):
        resid.yield %i : tensor<2x8xf32>
      }
      resid.yield %f : tensor<2x8xf32>
    }
    scf.yield %z : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Nothing but blocks is touched.
// CHECK-LABEL: func.func @flat(
func.func @flat(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.add
  // CHECK-NEXT: resid.rms_norm
  // CHECK-NEXT: return
  %s = resid.add %x, %x : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// Several streams: read first, written last, and gate and scale in between.
// CHECK-LABEL: func.func @streams(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4x8xf32>, %[[G:[^:]*]]: tensor<8xf32>, %[[W:[^:]*]]: tensor<8xf32>, %[[A:[^:]*]]: tensor<?x4x1xf32>, %[[B:[^:]*]]: tensor<4x1xf32>, %[[C:[^:]*]]: tensor<4x4xf32>
func.func @streams(%x: tensor<?x4x8xf32>, %g: tensor<8xf32>, %w: tensor<8xf32>, %a: tensor<?x4x1xf32>, %b: tensor<4x1xf32>,
                   %c: tensor<4x4xf32>) -> tensor<?x4x8xf32> {
  // CHECK-NEXT: %[[U:.*]] = resid.read %[[X]] weights(%[[A]]) {scale = {{2[.]0.*}}} : tensor<?x4x8xf32>, tensor<?x4x1xf32>
  // CHECK-NEXT: %[[N:.*]] = resid.rms_norm %[[U]] gamma(%[[G]]) {epsilon = {{1[.]0*e-05.*}}} : tensor<?x8xf32>, tensor<8xf32>
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[N]]
  // CHECK: %[[ROW:.*]] = tensor.expand_shape %[[F]] {{.*}} : tensor<?x8xf32> into tensor<?x1x8xf32>
  // CHECK: %[[GATE:.*]] = tensor.expand_shape %[[W]] {{.*}} : tensor<8xf32> into tensor<1x8xf32>
  // CHECK-NEXT: %[[S:.*]] = resid.read %[[ROW]] weights(%[[GATE]]) {scale = {{5[.]0*e-01.*}}} : tensor<?x1x8xf32>, tensor<1x8xf32>
  // CHECK-NEXT: %[[Y:.*]] = resid.write %[[X]], %[[S]] weights(%[[B]]) mix(%[[C]]) : tensor<?x4x8xf32>, tensor<4x1xf32>, tensor<4x4xf32>
  // CHECK-NEXT: return %[[Y]]
  %y = resid.block pre %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) gate(%w : tensor<8xf32>)
         streams(read %a : tensor<?x4x1xf32>, write %b : tensor<4x1xf32>, mix %c : tensor<4x4xf32>)
         {branch_scale = 0.5, read_scale = 2.0} : tensor<?x4x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.absf %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x4x8xf32>
}
