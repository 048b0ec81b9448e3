// Family Norm: what follows from the row statistics, and the statistics that the user asks for.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s

// CHECK-LABEL: @layer_norm_with_everything
// CHECK: %[[SCALE:.+]], %[[K:.+]], %[[E:.+]], %[[RSTD:.+]] = rows.layer_statistics %arg0 {epsilon = 1.000000e-05 : f64, norm_rank = 1 : i64} : tensor<?x8xf16> -> tensor<?xf32>
// CHECK: linalg.generic {{.+}} ins(%arg0, %[[SCALE]], %[[K]], %[[E]], %[[RSTD]], %arg1, %arg2 :
// CHECK: ^bb0(%[[X:.+]]: f16, %[[S:.+]]: f32, %[[KE:.+]]: f32, %[[EE:.+]]: f32, %[[R:.+]]: f32, %[[G:.+]]: f32, %[[B:.+]]: f16, %{{.+}}: f16):
// CHECK-DAG: %[[XW:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG: %[[BW:.+]] = arith.extf %[[B]] : f16 to f32
// CHECK-DAG: %[[MINUSK:.+]] = arith.negf %[[KE]] : f32
// CHECK: %[[D:.+]] = math.fma %[[XW]], %[[S]], %[[MINUSK]] : f32
// CHECK-NEXT: %[[C:.+]] = arith.subf %[[D]], %[[EE]] : f32
// CHECK-NEXT: %[[XHAT:.+]] = arith.mulf %[[C]], %[[R]] : f32
// The narrow affine part starts from the rounded value; gamma is 1 + gamma, rounded.
// CHECK-NEXT: %[[NARROW:.+]] = arith.truncf %[[XHAT]] : f32 to f16
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[NARROW]] : f16 to f32
// CHECK-NEXT: %[[G1:.+]] = arith.addf %[[G]], %cst : f32
// CHECK-NEXT: %[[Y:.+]] = math.fma %[[WIDE]], %[[G1]], %[[BW]] : f32
// CHECK-NEXT: arith.truncf %[[Y]] : f32 to f16
// The statistics of the row itself: those of x·scale, scaled back.
// CHECK: linalg.generic {{.+}} ins(%[[SCALE]], %[[K]], %[[E]], %[[RSTD]] :
// CHECK: ^bb0(%[[S:.+]]: f32, %[[KE:.+]]: f32, %[[EE:.+]]: f32, %[[R:.+]]: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK-NEXT: %[[MEAN:.+]] = arith.addf %[[KE]], %[[EE]] : f32
// CHECK-NEXT: %[[REST:.+]] = arith.subf %[[KE]], %[[MEAN]] : f32
// CHECK-NEXT: %[[CORRECTION:.+]] = arith.addf %[[REST]], %[[EE]] : f32
// CHECK-NEXT: %[[M:.+]] = arith.divf %[[MEAN]], %[[S]] : f32
// CHECK-NEXT: %[[MC:.+]] = arith.divf %[[CORRECTION]], %[[S]] : f32
// CHECK-NEXT: %[[RS:.+]] = arith.mulf %[[R]], %[[S]] : f32
// CHECK-NEXT: linalg.yield %[[M]], %[[MC]], %[[RS]]
func.func @layer_norm_with_everything(%x: tensor<?x8xf16>, %g: tensor<8xf32>, %b: tensor<8xf16>)
    -> (tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %y:4 = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5, zero_centered_gamma, narrow_affine}
      : tensor<?x8xf16>, tensor<8xf32>, tensor<8xf16> -> tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y#0, %y#1, %y#2, %y#3 : tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @layer_norm_wide_affine
// CHECK: %[[XHAT:.+]] = arith.mulf
// CHECK-NEXT: %[[Y:.+]] = arith.mulf %[[XHAT]], %{{.+}} : f32
// CHECK-NEXT: arith.truncf %[[Y]] : f32 to f16
func.func @layer_norm_wide_affine(%x: tensor<?x8xf16>, %g: tensor<8xf32>) -> tensor<?x8xf16> {
  %y = resid.layer_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x8xf16>, tensor<8xf32>
  return %y : tensor<?x8xf16>
}

// CHECK-LABEL: @layer_norm_without_affine
// CHECK: %[[XHAT:.+]] = arith.mulf
// CHECK-NEXT: linalg.yield %[[XHAT]]
func.func @layer_norm_without_affine(%x: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// CHECK-LABEL: @rms_norm_over_two_dimensions
// CHECK: %[[SCALE:.+]], %[[RSTD:.+]] = rows.rms_statistics %arg0 {epsilon = 0.000000e+00 : f64, norm_rank = 2 : i64} : tensor<2x4x8xf32> -> tensor<2xf32>
// CHECK: linalg.generic
// CHECK: ^bb0(%[[X:.+]]: f32, %[[S:.+]]: f32, %[[R:.+]]: f32, %[[G:.+]]: f32, %{{.+}}: bf16):
// CHECK-NEXT: %[[XS:.+]] = arith.mulf %[[X]], %[[S]] : f32
// CHECK-NEXT: %[[XHAT:.+]] = arith.mulf %[[XS]], %[[R]] : f32
// CHECK-NEXT: %[[Y:.+]] = arith.mulf %[[XHAT]], %[[G]] : f32
// CHECK-NEXT: arith.truncf %[[Y]] : f32 to bf16
// CHECK: linalg.generic
// CHECK: ^bb0(%[[S:.+]]: f32, %[[R:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT: arith.mulf %[[R]], %[[S]] : f32
func.func @rms_norm_over_two_dimensions(%x: tensor<2x4x8xf32>, %g: tensor<4x8xf32>) -> (tensor<2x4x8xbf16>, tensor<2xf32>) {
  %y:2 = resid.rms_norm %x gamma(%g) {epsilon = 0.0} : tensor<2x4x8xf32>, tensor<4x8xf32> -> tensor<2x4x8xbf16>, tensor<2xf32>
  return %y#0, %y#1 : tensor<2x4x8xbf16>, tensor<2xf32>
}

// CHECK-LABEL: @dyt
// CHECK-NOT: statistics
// CHECK: ^bb0(%[[X:.+]]: bf16, %[[A:.+]]: f32, %[[G:.+]]: bf16, %[[B:.+]]: bf16, %{{.+}}: bf16):
// CHECK: %[[AX:.+]] = arith.mulf %[[A]], %{{.+}} : f32
// CHECK-NEXT: %[[T:.+]] = math.tanh %[[AX]] : f32
// CHECK-NEXT: %[[Y:.+]] = math.fma %[[T]]
// CHECK-NEXT: arith.truncf %[[Y]] : f32 to bf16
func.func @dyt(%x: tensor<?x8xbf16>, %a: tensor<f32>, %g: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16> {
  %y = resid.dyt %x alpha(%a) gamma(%g) beta(%b) : tensor<?x8xbf16>, tensor<f32>, tensor<8xbf16>, tensor<8xbf16>
  return %y : tensor<?x8xbf16>
}
