// Family Grad: the backward of a norm is elementwise work around means of rows, and sums down the rows; all of it is one kernel.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s
// RUN: resid-opt --resid-row-kernels %s | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: @layer_norm_grad
// CHECK: %[[TERMS:.+]]:2 = linalg.generic {{.+}} ins(%arg0, %arg1, %arg5, %arg2, %arg3, %arg4 :
// CHECK: ^bb0(%[[DY:.+]]: f32, %[[X:.+]]: f32, %[[G:.+]]: f32, %[[M:.+]]: f32, %[[C:.+]]: f32, %[[R:.+]]: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK-NEXT: %[[SCALED:.+]] = arith.mulf %[[DY]], %[[G]] : f32
// CHECK-NEXT: %[[D:.+]] = arith.subf %[[X]], %[[M]] : f32
// CHECK-NEXT: %[[CENTRED:.+]] = arith.subf %[[D]], %[[C]] : f32
// CHECK-NEXT: %[[XHAT:.+]] = arith.mulf %[[CENTRED]], %[[R]] : f32
// CHECK-NEXT: %[[PRODUCT:.+]] = arith.mulf %[[SCALED]], %[[XHAT]] : f32
// CHECK-NEXT: linalg.yield %[[PRODUCT]], %[[SCALED]] : f32, f32
// CHECK: %[[MEANS:.+]]:2 = rows.row_means %[[TERMS]]#0, %[[TERMS]]#1 {norm_rank = 1 : i64} : (tensor<?x768xf32>, tensor<?x768xf32>) -> (tensor<?xf32>, tensor<?xf32>)
// CHECK: linalg.generic {{.+}} ins(%arg0, %arg1, %arg5, %arg2, %arg3, %arg4, %[[MEANS]]#0, %[[MEANS]]#1, %arg6 :
// CHECK: ^bb0(%{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %[[R:.+]]: f32, %[[C1:.+]]: f32, %[[C2:.+]]: f32, %[[DSUM:.+]]: f32, %{{.+}}: f32):
// CHECK: %[[LESS:.+]] = arith.subf %{{.+}}, %[[C2]] : f32
// CHECK: %[[NEGATED:.+]] = arith.negf %{{.+}} : f32
// CHECK-NEXT: %[[U:.+]] = math.fma %[[NEGATED]], %[[C1]], %[[LESS]] : f32
// CHECK-NEXT: %[[DX:.+]] = math.fma %[[R]], %[[U]], %[[DSUM]] : f32
// CHECK-NEXT: linalg.yield %[[DX]]
// CHECK-COUNT-2: iterator_types = ["reduction", "parallel"]
// One pass takes the means, and one writes dx and adds to both sums.
// KERNEL-LABEL: @layer_norm_grad
// KERNEL: rows.kernel
// KERNEL: rows.phase [sum, sum]
// KERNEL: rows.phase []
// KERNEL: rows.store
// KERNEL: rows.accumulate
// KERNEL: rows.accumulate
// KERNEL-NOT: {{rows.kernel|rows.phase}}
// KERNEL: return
func.func @layer_norm_grad(%dy: tensor<?x768xf32>, %x: tensor<?x768xf32>, %mean: tensor<?xf32>, %corr: tensor<?xf32>,
                           %rstd: tensor<?xf32>, %gamma: tensor<768xf32>, %dsum: tensor<?x768xf32>)
    -> (tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %corr, %rstd) gamma(%gamma) sum(%dsum)
      : tensor<?x768xf32>, tensor<?x768xf32>, tensor<?xf32>, tensor<768xf32>
  return %dx, %dgamma, %dbeta : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
}

// Without the residual gradient there is a product and no addition of zeros; results that nobody reads are not computed.
// CHECK-LABEL: @rms_norm_grad
// CHECK: rows.row_means %{{[^,]+}} {norm_rank = 1 : i64} : (tensor<4x5x48xf32>) -> tensor<4x5xf32>
// CHECK: %[[U:.+]] = math.fma
// CHECK-NEXT: %[[DX:.+]] = arith.mulf %{{.+}}, %[[U]] : f32
// CHECK-NEXT: linalg.yield %[[DX]] : f32
// CHECK: iterator_types = ["reduction", "reduction", "parallel"]
// CHECK: arith.truncf %{{.+}} : f32 to bf16
// CHECK-NOT: reduction
// CHECK: return
func.func @rms_norm_grad(%dy: tensor<4x5x48xbf16>, %x: tensor<4x5x48xf32>, %rstd: tensor<4x5xf32>, %gamma: tensor<48xbf16>)
    -> (tensor<4x5x48xf32>, tensor<48xbf16>) {
  %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma) {zero_centered_gamma}
      : tensor<4x5x48xbf16>, tensor<4x5x48xf32>, tensor<4x5xf32>, tensor<48xbf16>
  return %dx, %dgamma : tensor<4x5x48xf32>, tensor<48xbf16>
}
