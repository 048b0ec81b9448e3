// Family Residual: the order of factors, roundings, gate maps.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s

// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FEATURE2:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[SCALAR:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG: #[[FULL3:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[FEATURE:.+]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[PERROW:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
// CHECK-DAG: #[[BATCH:.+]] = affine_map<(d0, d1, d2) -> (d0, 0, 0)>
// CHECK-DAG: #[[TRAILING:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>

// CHECK-LABEL: @every_factor
// CHECK-DAG: %[[SKIP:.+]] = arith.constant 1.200000e+00 : f32
// CHECK-DAG: %[[SCALE:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FULL]], #[[SCALAR]], #[[FULL]]]
// CHECK: ^bb0(%[[X:.+]]: bf16, %[[F:.+]]: bf16, %[[G:.+]]: f32, %{{.+}}: bf16):
// CHECK-DAG: %[[XW:.+]] = arith.extf %[[X]] : bf16 to f32
// CHECK-DAG: %[[FW:.+]] = arith.extf %[[F]] : bf16 to f32
// CHECK: %[[U:.+]] = arith.mulf %[[G]], %[[FW]] : f32
// CHECK-NEXT: %[[B:.+]] = arith.mulf %[[U]], %[[SCALE]] : f32
// CHECK-NEXT: %[[Y:.+]] = math.fma %[[SKIP]], %[[XW]], %[[B]] : f32
// CHECK-NEXT: %[[R:.+]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[R]]
func.func @every_factor(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>, %g: tensor<f32>) -> tensor<?x8xbf16> {
  %y = resid.add %x, %f gate(%g) {skip_scale = 1.2, branch_scale = 0.5} : tensor<?x8xbf16>, tensor<f32>
  return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: @factors_of_one_are_left_out
// CHECK: ^bb0(%[[X:.+]]: f64, %[[F:.+]]: f64, %{{.+}}: f64):
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[X]], %[[F]] : f64
// CHECK-NEXT: linalg.yield %[[Y]]
func.func @factors_of_one_are_left_out(%x: tensor<4x8xf64>, %f: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %y = resid.add %x, %f : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// CHECK-LABEL: @wide_result_is_not_rounded
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @wide_result_is_not_rounded(%x: tensor<4x8xf16>, %f: tensor<4x8xf16>) -> tensor<4x8xf32> {
  %y = resid.add %x, %f : tensor<4x8xf16> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @gate_of_every_shape
// CHECK: linalg.generic {indexing_maps = [#[[FULL3]], #[[FULL3]], #[[FEATURE]], #[[FULL3]]]
// CHECK: linalg.generic {indexing_maps = [#[[FULL3]], #[[FULL3]], #[[PERROW]], #[[FULL3]]]
// CHECK: linalg.generic {indexing_maps = [#[[FULL3]], #[[FULL3]], #[[BATCH]], #[[FULL3]]]
// CHECK: linalg.generic {indexing_maps = [#[[FULL3]], #[[FULL3]], #[[TRAILING]], #[[FULL3]]]
// CHECK: linalg.generic {indexing_maps = [#[[FULL3]], #[[FULL3]], #[[FULL3]], #[[FULL3]]]
func.func @gate_of_every_shape(%x: tensor<2x?x8xf32>, %f: tensor<2x?x8xf32>, %feature: tensor<8xf32>, %row: tensor<2x?x1xf32>,
                               %batch: tensor<2x1x1xf32>, %trailing: tensor<?x8xf32>, %full: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %1 = resid.add %x, %f gate(%feature) : tensor<2x?x8xf32>, tensor<8xf32>
  %2 = resid.add %1, %f gate(%row) : tensor<2x?x8xf32>, tensor<2x?x1xf32>
  %3 = resid.add %2, %f gate(%batch) : tensor<2x?x8xf32>, tensor<2x1x1xf32>
  %4 = resid.add %3, %f gate(%trailing) : tensor<2x?x8xf32>, tensor<?x8xf32>
  %5 = resid.add %4, %f gate(%full) : tensor<2x?x8xf32>, tensor<2x?x8xf32>
  return %5 : tensor<2x?x8xf32>
}

// CHECK-LABEL: @bias_along_features
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FEATURE2]], #[[FULL]]]
// CHECK: ^bb0(%[[F:.+]]: bf16, %[[B:.+]]: f32, %{{.+}}: bf16):
// CHECK-NEXT: %[[FW:.+]] = arith.extf %[[F]] : bf16 to f32
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[FW]], %[[B]] : f32
// CHECK-NEXT: %[[R:.+]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[R]]
func.func @bias_along_features(%f: tensor<4x8xbf16>, %b: tensor<8xf32>) -> tensor<4x8xbf16> {
  %y = resid.add_bias %f, %b : tensor<4x8xbf16>, tensor<8xf32>
  return %y : tensor<4x8xbf16>
}
