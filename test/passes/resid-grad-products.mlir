// RUN: resid-opt %s -split-input-file --resid-grad=function=f | FileCheck %s

// The gradient of a factor is a product of the same loops, with nothing transposed: only the kinds of the loops and the maps
// change. Narrow gradients are summed in f32. The initial value has the gradient of the result.
// CHECK-DAG: #[[A:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xbf16>, %[[W:[^:]+]]: tensor<8x5xbf16>, %{{[^:]+}}: tensor<?x5xf32>, %[[DY:[^:]+]]: tensor<?x5xf32>
// CHECK: %[[SIZE:.+]] = tensor.dim %[[DY]],
// CHECK: tensor.empty(%[[SIZE]]) : tensor<?x8xf32>
// CHECK: %[[DX:.+]] = linalg.generic {indexing_maps = [#[[C]], #[[B]], #[[A]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[DY]], %[[W]] :
// CHECK-NEXT: ^bb0(%[[DE:.+]]: f32, %[[WE:.+]]: bf16, %[[ACC:.+]]: f32):
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[WE]] : bf16 to f32
// CHECK-NEXT: %[[TERM:.+]] = arith.mulf %[[DE]], %[[WIDE]] : f32
// CHECK-NEXT: arith.addf %[[ACC]], %[[TERM]] : f32
// CHECK: %[[NARROW:.+]] = arith.truncf %[[DX]] : tensor<?x8xf32> to tensor<?x8xbf16>
// CHECK: %[[DW:.+]] = linalg.generic {indexing_maps = [#[[C]], #[[A]], #[[B]]], iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[DY]], %[[X]] :
// CHECK: %[[DWN:.+]] = arith.truncf %[[DW]]
// CHECK-NOT: linalg.transpose
// CHECK: return %[[NARROW]], %[[DWN]], %[[DY]]
func.func @f(%x: tensor<?x8xbf16>, %w: tensor<8x5xbf16>, %init: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<?x8xbf16>, tensor<8x5xbf16>) outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

// dx is a linear layer, that of the weight in the other order. dweight has the weight's layout and sums all rows. Types
// that know less than the argument's are cast.
// CHECK-DAG: #[[DYMAP:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[XMAP:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[WMAP:.+]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x?x8xbf16>, %[[W:[^:]+]]: tensor<?x5xf32>, %{{[^:]+}}: tensor<5xf32>, %[[DY:[^:]+]]: tensor<2x?x5xbf16>
// CHECK: %[[DX:.+]] = resid.linear %[[DY]], %[[W]] : tensor<2x?x5xbf16>, tensor<?x5xf32>
// CHECK: %[[CAST:.+]] = tensor.cast %[[DX]] : tensor<2x?x?xbf16> to tensor<2x?x8xbf16>
// CHECK: %[[DW:.+]] = linalg.generic {indexing_maps = [#[[DYMAP]], #[[XMAP]], #[[WMAP]]], iterator_types = ["reduction", "reduction", "parallel", "parallel"]} ins(%[[DY]], %[[X]] : {{.*}}) outs(%{{.+}} : tensor<?x5xf32>)
// CHECK: %[[DB:.+]] = linalg.generic {{.+}}iterator_types = ["reduction", "reduction", "parallel"]} ins(%[[DY]] :
// CHECK: return %[[CAST]], %[[DW]], %[[DB]]
func.func @f(%x: tensor<2x?x8xbf16>, %w: tensor<?x5xf32>, %b: tensor<5xf32>) -> tensor<2x?x5xbf16> {
  %y = resid.linear %x, %w bias(%b) {transposed} : tensor<2x?x8xbf16>, tensor<?x5xf32>, tensor<5xf32>
  return %y : tensor<2x?x5xbf16>
}

// -----

// The rotation turns back. Its offset is made again, not saved.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^:]+]]: tensor<?x8xbf16> {resid.name = "d_out0"})
// CHECK: %[[COS:.+]] = arith.constant dense<5.000000e-01>
// CHECK: %[[SIN:.+]] = arith.constant dense<2.500000e-01>
// CHECK: %[[BACK:.+]] = arith.negf %[[SIN]] : tensor<9x3xf32>
// CHECK: %[[ONE:.+]] = arith.constant 1 : i64
// CHECK: %[[DX:.+]] = resid.rotary %[[DY]] cos(%[[COS]]) sin(%[[BACK]]) offset(%[[ONE]]) {interleaved}
// CHECK-NEXT: return %[[DX]]
func.func @f(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %cos = arith.constant dense<0.5> : tensor<9x3xf32>
  %sin = arith.constant dense<0.25> : tensor<9x3xf32>
  %one = arith.constant 1 : i64
  %y = resid.rotary %x cos(%cos) sin(%sin) offset(%one) {interleaved} : tensor<?x8xbf16>, tensor<9x3xf32>, tensor<9x3xf32>
  return %y : tensor<?x8xbf16>
}
