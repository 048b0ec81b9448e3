// RUN: resid-opt %s -resid-passes | FileCheck %s --check-prefixes=CHECK,TRAINING
// RUN: resid-opt %s -resid-passes="mode=inference" | FileCheck %s --check-prefixes=CHECK,INFERENCE
// RUN: resid-opt %s -resid-passes="mode=inference report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: not resid-opt %s -resid-passes="mode=testing" 2>&1 | FileCheck %s --check-prefix=MODE
// The pipeline that every program goes through.

// REMARK: remark: removed dropout (changes the function)
// REMARK: remark: fused into resid.add_norm (bit-exact): resid.add, resid.layer_norm
// MODE: 'testing'

// CHECK-LABEL: func.func @post_norm(
// CHECK-SAME: i64, %{{.*}}: i64)
// TRAINING-NEXT: resid.add_norm layer {{.*}} dropout(
// INFERENCE-NEXT: resid.add_norm layer %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {epsilon
// CHECK-NEXT: return
func.func @post_norm(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %seed: i64, %step: i64) -> tensor<?x768xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
  %s = resid.add %x, %d : tensor<?x768xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// One sum written twice is one sum, and its two readers are one chain.
// CHECK-LABEL: func.func @common_subexpression(
// CHECK-NEXT: %[[N:.*]], %[[S:.*]] = resid.add_norm rms
// CHECK-NEXT: return %[[N]], %[[S]]
func.func @common_subexpression(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %s = resid.add %x, %f : tensor<2x8xf32>
  %t = resid.add %x, %f : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n, %t : tensor<2x8xf32>, tensor<2x8xf32>
}
