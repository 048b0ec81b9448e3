// RUN: resid-opt %s -resid-expand-add-norm | FileCheck %s
// RUN: resid-opt %s -resid-expand-add-norm="report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// The clauses of resid.add_norm as ops; every combination is tested in fuse-expand-inverse.test.

// REMARK: remark: expanded (bit-exact)

// CHECK-LABEL: func.func @all_clauses(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xbf16>, %[[F:[^:]*]]: tensor<2x8xbf16>, %[[B:[^:]*]]: tensor<8xf32>, %[[W:[^:]*]]: tensor<8xbf16>, %[[G:[^:]*]]: tensor<8xf32>, %[[BE:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64, %[[T:[^:]*]]: i64, %[[R:[^:]*]]: i64, %[[I:[^:]*]]: i64
func.func @all_clauses(%x: tensor<2x8xbf16>, %f: tensor<2x8xbf16>, %b: tensor<8xf32>, %w: tensor<8xbf16>, %g: tensor<8xf32>,
                       %be: tensor<8xf32>, %seed: i64, %step: i64, %r: i64, %i: i64)
    -> (tensor<2x8xbf16>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[BIASED:.*]] = resid.add_bias %[[F]], %[[B]] : tensor<2x8xbf16>, tensor<8xf32>
  // CHECK-NEXT: %[[D:.*]] = resid.dropout %[[BIASED]] seed(%[[S]], %[[T]]) origin(%[[R]], %[[I]]) {p = {{.*}}, site = 3{{.*}}} : tensor<2x8xbf16>
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[X]], %[[D]] gate(%[[W]]) {branch_scale = {{5[.]0*e-01.*}}, skip_scale = {{1[.]2.*}}} : tensor<2x8xbf16>, tensor<8xbf16> -> tensor<2x8xf32>
  // CHECK-NEXT: %[[N:.*]], %[[MEAN:.*]], %[[CORRECTION:.*]], %[[RSTD:.*]] = resid.layer_norm %[[SUM]] gamma(%[[G]]) beta(%[[BE]]) {{.*}} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: return %[[N]], %[[SUM]], %[[MEAN]], %[[CORRECTION]], %[[RSTD]]
  %n, %s, %mean, %correction, %rstd = resid.add_norm layer %x, %f bias(%b) dropout(%seed, %step) origin(%r, %i) gate(%w) gamma(%g) beta(%be)
      {epsilon = 1.0e-5, p = 0.1, site = 3, skip_scale = 1.2, branch_scale = 0.5}
      : tensor<2x8xbf16>, tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>
      -> tensor<2x8xbf16>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  return %n, %s, %mean, %correction, %rstd : tensor<2x8xbf16>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @no_clauses(
func.func @no_clauses(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %{{.*}}, %{{.*}} : tensor<2x8xf32>
  // CHECK-NEXT: %[[N:.*]] = resid.rms_norm %[[SUM]]
  // CHECK-NEXT: return %[[N]]
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @dyt(
func.func @dyt(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %a: tensor<f32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: resid.dyt %{{.*}} alpha(%{{.*}}) gamma(%{{.*}}) {zero_centered_gamma}
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) gamma(%g) {zero_centered_gamma} : tensor<2x8xf32>, tensor<f32>, tensor<8xf32>
  return %n : tensor<2x8xf32>
}

// Ops that stand for themselves stay as they are.
// CHECK-LABEL: func.func @nothing_to_expand(
func.func @nothing_to_expand(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.add
  // CHECK-NEXT: return
  %s = resid.add %x, %f : tensor<2x8xf32>
  return %s : tensor<2x8xf32>
}
