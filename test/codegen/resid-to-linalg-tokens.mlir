// Family Tokens: the loss is made of the statistics of a softmax, and of a sum that picks the logit at the label; one kernel.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s
// RUN: resid-opt --resid-row-kernels %s | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: @cross_entropy
// CHECK: rows.require %{{.+}} status -4 says "a label of cross_entropy lies outside of its row"
// CHECK: %[[NUMBERS:.+]] = rows.column_numbers : tensor<256xi32>
// CHECK: %[[TERMS:.+]] = linalg.generic {{.+}} ins(%arg0, %arg1, %[[NUMBERS]] :
// CHECK: %[[IS:.+]] = arith.cmpi eq
// CHECK-NEXT: arith.select %[[IS]], %{{.+}}, %{{.+}} : f32
// CHECK: %[[MAX:.+]], %[[SUM:.+]], %[[PICKED:.+]] = rows.softmax_statistics %{{.+}}, %[[TERMS]] {norm_rank = 1 : i64} : (tensor<?x256xf32>, tensor<?x256xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK: linalg.generic {{.+}} ins(%[[MAX]], %[[SUM]], %[[PICKED]], %arg1 :
// CHECK: %[[FAR:.+]] = arith.subf
// CHECK-NEXT: %[[LOG:.+]] = math.log
// CHECK-NEXT: arith.addf %[[FAR]], %[[LOG]]
// CHECK: arith.select
// KERNEL-LABEL: @cross_entropy
// KERNEL: rows.kernel
// KERNEL: rows.phase [signed_max, sum]
// KERNEL: arith.index_cast %{{.+}} : index to i32
// KERNEL: rows.phase [sum]
// KERNEL: math.exp
// KERNEL: math.log
// KERNEL-NOT: {{rows.kernel|rows.phase}}
// KERNEL: return
func.func @cross_entropy(%x: tensor<?x256xbf16>, %labels: tensor<?xi64>) -> (tensor<?xf32>, tensor<?xf32>) {
  %loss, %logsumexp = resid.cross_entropy %x labels(%labels) {ignore_index = -1} : tensor<?x256xbf16>, tensor<?xi64> -> tensor<?xf32>, tensor<?xf32>
  return %loss, %logsumexp : tensor<?xf32>, tensor<?xf32>
}

// Without labels that are ignored nothing asks for them, and the width is asked for where it is open.
// CHECK-LABEL: @cross_entropy_grad
// CHECK: rows.require %{{.+}} status -4 says "a row of cross_entropy has {0} logits, expected 2147483648 or less" of
// CHECK: rows.column_numbers size(%{{.+}}) : tensor<?xi32>
// CHECK: arith.subf
// CHECK-NEXT: %[[P:.+]] = math.exp
// CHECK-NEXT: arith.subf %[[P]]
// CHECK: arith.select
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: linalg.yield
// KERNEL-LABEL: @cross_entropy_grad
// KERNEL: rows.kernel
// KERNEL: rows.phase []
// KERNEL-NOT: {{rows.kernel|rows.phase}}
// KERNEL: return
func.func @cross_entropy_grad(%dloss: tensor<?xf32>, %x: tensor<?x?xf32>, %labels: tensor<?xi32>, %lse: tensor<?xf32>) -> tensor<?x?xf32> {
  %dx = resid.cross_entropy_grad %dloss, %x labels(%labels) logsumexp(%lse) : tensor<?x?xf32>, tensor<?xi32>
  return %dx : tensor<?x?xf32>
}

// A table is summed up in the arithmetic type, row by row, and rounded once.
// CHECK-LABEL: @embedding_grad
// CHECK: %[[ZEROS:.+]] = linalg.fill {{.+}} -> tensor<9x8xf32>
// CHECK: %[[SUM:.+]] = scf.for {{.+}} iter_args(%{{.+}} = %[[ZEROS]])
// CHECK: scf.for
// CHECK: arith.extf
// CHECK: arith.addf
// CHECK: linalg.generic {{.+}} ins(%[[SUM]] : tensor<9x8xf32>)
// CHECK: arith.truncf
func.func @embedding_grad(%dy: tensor<?x8xbf16>, %ids: tensor<?xi64>, %table: tensor<9x8xbf16>) -> tensor<9x8xbf16> {
  %dtable = resid.embedding_grad %dy, %ids like(%table) : tensor<?xi64>, tensor<9x8xbf16>
  return %dtable : tensor<9x8xbf16>
}
