// Family Fused: an add_norm lowers to what its expansion lowers to.
// RUN: resid-opt --resid-to-linalg --canonicalize --cse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @layer
// CHECK: %[[BIASED:.+]] = linalg.generic {{.+}} ins(%arg1, %arg2 :
// CHECK: arith.addf
// CHECK: rows.random_halves
// CHECK: %[[DROPPED:.+]] = linalg.generic {{.+}} ins(%[[BIASED]],
// CHECK: arith.select
// CHECK: %[[SUM:.+]] = linalg.generic {{.+}} ins(%arg0, %[[DROPPED]], %arg3 :
// CHECK: math.fma
// CHECK: rows.layer_statistics %[[SUM]] {epsilon = 1.000000e-05 : f64, norm_rank = 1 : i64}
// CHECK: %[[NORMALIZED:.+]] = linalg.generic {{.+}} ins(%[[SUM]],
// CHECK: return %[[NORMALIZED]], %[[SUM]]
func.func @layer(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>, %b: tensor<8xbf16>, %w: tensor<8xf32>, %g: tensor<8xf32>,
                 %be: tensor<8xf32>, %seed: i64, %step: i64, %r: i64, %i: i64) -> (tensor<?x8xbf16>, tensor<?x8xbf16>) {
  %n, %s = resid.add_norm layer %x, %f bias(%b) dropout(%seed, %step) origin(%r, %i) gate(%w) gamma(%g) beta(%be)
      {epsilon = 1.0e-5, p = 0.1, site = 3, skip_scale = 1.5} : tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %n, %s : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// -----

// CHECK-LABEL: @rms_with_statistics
// CHECK: %[[SUM:.+]] = linalg.generic
// CHECK: rows.rms_statistics %[[SUM]]
// CHECK: %[[NORMALIZED:.+]] = linalg.generic
// CHECK: %[[RSTD:.+]] = linalg.generic
// CHECK: return %[[NORMALIZED]], %[[SUM]], %[[RSTD]]
func.func @rms_with_statistics(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>) {
  %n, %s, %r = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>
  return %n, %s, %r : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: @dyt
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: math.tanh
// CHECK-NOT: statistics
func.func @dyt(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %a: tensor<f32>) -> tensor<?x8xf32> {
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) : tensor<?x8xf32>, tensor<f32>
  return %n : tensor<?x8xf32>
}
