// Family SubLayers: maps, the order of operations, roundings.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s

// CHECK-DAG: #[[ROWS:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[OUT_IN:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[IN_OUT:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[RESULT:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FEATURE:.+]] = affine_map<(d0, d1) -> (d1)>

// The chain stays in f32 until the bias is added; then there is one rounding.
// CHECK-LABEL: @linear_bias
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ZEROS:.+]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[CHAINS:.+]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[OUT_IN]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs(%[[ZEROS]] : tensor<?x6xf32>)
// CHECK: ^bb0(%[[X:.+]]: bf16, %[[W:.+]]: f16, %[[ACC:.+]]: f32):
// CHECK-DAG: %[[XW:.+]] = arith.extf %[[X]] : bf16 to f32
// CHECK-DAG: %[[WW:.+]] = arith.extf %[[W]] : f16 to f32
// CHECK: %[[SUM:.+]] = math.fma %[[XW]], %[[WW]], %[[ACC]] : f32
// CHECK-NEXT: linalg.yield %[[SUM]] : f32
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FEATURE]], #[[FULL]]]
// CHECK-SAME: ins(%[[CHAINS]], %{{.+}} : tensor<?x6xf32>, tensor<6xf32>)
// CHECK: ^bb0(%[[P:.+]]: f32, %[[B:.+]]: f32, %{{.+}}: bf16):
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[P]], %[[B]] : f32
// CHECK-NEXT: %[[R:.+]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[R]] : bf16
func.func @linear_bias(%x: tensor<?x8xbf16>, %w: tensor<6x8xf16>, %b: tensor<6xf32>) -> tensor<?x6xbf16> {
  %y = resid.linear %x, %w bias(%b) : tensor<?x8xbf16>, tensor<6x8xf16>, tensor<6xf32>
  return %y : tensor<?x6xbf16>
}

// Without a bias nothing stands behind the chain.
// CHECK-LABEL: @linear_transposed
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #[[IN_OUT]], #[[RESULT]]]
// CHECK: ^bb0(%{{.+}}: bf16, %{{.+}}: bf16, %{{.+}}: bf16):
// CHECK: math.fma {{.+}} : f32
// CHECK-NEXT: arith.truncf
// CHECK-NOT: linalg.generic
func.func @linear_transposed(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %y = resid.linear %x, %w {transposed} : tensor<4x8xbf16>, tensor<8x6xbf16>
  return %y : tensor<4x6xbf16>
}

// A wide bias makes the arithmetic wide.
// CHECK-LABEL: @linear_wide_bias
// CHECK: math.fma {{.+}} : f64
// CHECK: arith.addf {{.+}} : f64
// CHECK-NEXT: arith.truncf {{.+}} : f64 to f32
func.func @linear_wide_bias(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf64>) -> tensor<4x6xf32> {
  %y = resid.linear %x, %w bias(%b) : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6xf64>
  return %y : tensor<4x6xf32>
}
