// Family Grad, gates and dynamic tanh: elementwise work, sums of rows, and sums down the rows.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s
// RUN: resid-opt --resid-row-kernels %s | FileCheck %s --check-prefix=KERNEL

// A gate with an element for each column is a sum down the rows.
// CHECK-LABEL: @layer_scale
// CHECK-NOT: rows.
// CHECK: linalg.generic {{.+}}iterator_types = ["reduction", "parallel"]} ins(%arg0, %arg1 :
// CHECK-NEXT: ^bb0(%[[DY:.+]]: f32, %[[F:.+]]: bf16, %[[OLD:.+]]: f32):
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[F]] : bf16 to f32
// CHECK-NEXT: %[[PRODUCT:.+]] = arith.mulf %[[WIDE]], %[[DY]] : f32
// CHECK-NEXT: %[[TERM:.+]] = arith.mulf %[[PRODUCT]], %cst{{.*}} : f32
// CHECK-NEXT: arith.addf %[[OLD]], %[[TERM]] : f32
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @layer_scale(%dy: tensor<?x768xf32>, %f: tensor<?x768xbf16>) -> tensor<768xf32> {
  %g = resid.gate_grad %dy, %f {branch_scale = 0.5} : tensor<?x768xf32>, tensor<?x768xbf16> -> tensor<768xf32>
  return %g : tensor<768xf32>
}

// A number for all takes S of each row, and then the sum down the rows. A factor of 1 is no multiplication.
// CHECK-LABEL: @re_zero
// CHECK: %[[TERMS:.+]] = linalg.generic
// CHECK: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: %[[SUMS:.+]] = rows.row_sums %[[TERMS]] {norm_rank = 1 : i64} : (tensor<?x768xf32>) -> tensor<?xf32>
// CHECK: linalg.generic {{.+}}iterator_types = ["reduction", "parallel"]} ins(%[[SUMS]] : tensor<?xf32>) outs(%{{.+}} : tensor<1xf32>)
// CHECK: return %{{.+}} : tensor<f32>
func.func @re_zero(%dy: tensor<?x768xf32>, %f: tensor<?x768xf32>) -> tensor<f32> {
  %g = resid.gate_grad %dy, %f : tensor<?x768xf32>, tensor<?x768xf32> -> tensor<f32>
  return %g : tensor<f32>
}

// What is summed over comes before what is kept.
// CHECK-LABEL: @drop_path
// CHECK: %[[SUMS:.+]] = rows.row_sums %{{.+}} {norm_rank = 1 : i64} : (tensor<6x5x8xf32>) -> tensor<6x5xf32>
// CHECK: %[[MOVED:.+]] = linalg.generic {{.+}}iterator_types = ["parallel", "parallel"]} ins(%[[SUMS]] : tensor<6x5xf32>) outs(%{{.+}} : tensor<5x6xf32>)
// CHECK: %[[SUM:.+]] = linalg.generic {{.+}}iterator_types = ["reduction", "parallel"]} ins(%[[MOVED]] : tensor<5x6xf32>) outs(%{{.+}} : tensor<6xf32>)
// CHECK: tensor.expand_shape %[[SUM]] {{\[\[}}0, 1, 2]] output_shape [6, 1, 1]
func.func @drop_path(%dy: tensor<6x5x8xf32>, %f: tensor<6x5x8xf32>) -> tensor<6x1x1xf32> {
  %g = resid.gate_grad %dy, %f : tensor<6x5x8xf32>, tensor<6x5x8xf32> -> tensor<6x1x1xf32>
  return %g : tensor<6x1x1xf32>
}

// CHECK-LABEL: @dyt_grad
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: ^bb0(%[[DY:.+]]: f32, %{{.+}}: f32, %[[T:.+]]: f32, %[[ALPHA:.+]]: f32, %[[G:.+]]: f32, %[[DSUM:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT: %[[SCALED:.+]] = arith.mulf %[[DY]], %[[G]] : f32
// CHECK-NEXT: %[[NEGATED:.+]] = arith.negf %[[T]] : f32
// CHECK-NEXT: %[[SLOPE:.+]] = math.fma %[[NEGATED]], %[[T]], %cst{{.*}} : f32
// CHECK-NEXT: %[[H:.+]] = arith.mulf %[[SLOPE]], %[[SCALED]] : f32
// CHECK-NEXT: %[[DX:.+]] = math.fma %[[ALPHA]], %[[H]], %[[DSUM]] : f32
// CHECK-NEXT: linalg.yield %[[DX]] : f32
// CHECK: rows.row_sums
// CHECK-COUNT-3: iterator_types = ["reduction", "parallel"]
// One kernel goes through x once, and a small one adds the sums of the rows.
// KERNEL-LABEL: @dyt_grad
// KERNEL: rows.kernel
// KERNEL: rows.phase [sum]
// KERNEL: math.tanh
// KERNEL: rows.store
// KERNEL-DAG: rows.accumulate
// KERNEL-NOT: math.tanh
// KERNEL: rows.kernel
// KERNEL-NOT: rows.kernel
// KERNEL: return
func.func @dyt_grad(%dy: tensor<?x768xf32>, %x: tensor<?x768xf32>, %alpha: tensor<f32>, %gamma: tensor<768xf32>,
                    %dsum: tensor<?x768xf32>) -> (tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>) {
  %dx, %dalpha, %dgamma, %dbeta = resid.dyt_grad %dy, %x alpha(%alpha) gamma(%gamma) sum(%dsum)
      : tensor<?x768xf32>, tensor<?x768xf32>, tensor<f32>, tensor<768xf32>
  return %dx, %dalpha, %dgamma, %dbeta : tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>
}
