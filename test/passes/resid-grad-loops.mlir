// RUN: resid-opt %s -split-input-file --resid-grad=function=f | FileCheck %s

// One op over the loops of the forward, which computes the body again. The gradient of x is what the bias sums too. Only
// what is broadcast has a sum. Nothing is saved: what the backward reads are arguments. Sizes come from the gradient.
// CHECK-LABEL: func.func @f_forward(
// CHECK: return %{{[^,]+}} : tensor<?x8xf32>
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>, %[[B:[^:]+]]: tensor<8xf32>, %[[R:[^:]+]]: tensor<?x1xf32>, %[[DY:[^:]+]]: tensor<?x8xf32> {resid.name = "d_out0"})
// CHECK: tensor.dim %[[DY]],
// CHECK: %[[DX:.+]]:2 = linalg.generic {{.+}}iterator_types = ["parallel", "parallel"]} ins(%[[DY]], %[[R]], %[[X]], %[[B]] :
// CHECK: %[[T:.+]] = math.tanh
// CHECK: linalg.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK: %[[DB:.+]] = linalg.generic {{.+}}iterator_types = ["reduction", "parallel"]} ins(%[[DX]]#0 :
// CHECK: %[[SUM:.+]] = linalg.generic {{.+}}iterator_types = ["parallel", "reduction"]} ins(%[[DX]]#1 :
// CHECK: %[[DR:.+]] = tensor.expand_shape %[[SUM]] {{\[\[}}0, 1]]
// CHECK: return %[[DX]]#0, %[[DB]], %[[DR]]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %r: tensor<?x1xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, 0)>, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %b, %r : tensor<?x8xf32>, tensor<8xf32>, tensor<?x1xf32>) outs(%e : tensor<?x8xf32>) {
    ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      %t = math.tanh %s : f32
      %u = arith.mulf %t, %d : f32
      linalg.yield %u : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A sum hands its gradient on: no op, and no copy. A product by a constant saves nothing.
// CHECK-LABEL: func.func @f_forward(
// CHECK: return %{{[^,]+}} : tensor<4x8xf32>
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out0"})
// CHECK: %[[DB:.+]] = linalg.generic {{.+}} ins(%[[DY]], %cst :
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return %[[DY]], %[[DB]]
func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %p = arith.mulf %b, %two : tensor<4x8xf32>
  %s = arith.addf %a, %p : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// In bf16 the body is computed again as it was, with its roundings, and the gradient in f32. It is rounded once; terms of
// a sum are not.
// CHECK-LABEL: func.func @f_backward(
// CHECK: %[[DX:.+]]:2 = linalg.generic
// CHECK-DAG: %[[DY:.+]] = arith.extf %in{{.*}} : bf16 to f32
// CHECK-DAG: %[[SUM:.+]] = arith.addf %{{.+}} : bf16
// CHECK: math.exp %[[SUM]] : bf16
// CHECK: %[[PRODUCT:.+]] = arith.mulf %[[DY]], %{{.+}} : f32
// CHECK: %[[ROUNDED:.+]] = arith.truncf %[[PRODUCT]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[ROUNDED]], %[[PRODUCT]] : bf16, f32
// CHECK: linalg.generic {{.+}}iterator_types = ["reduction", "parallel"]} ins(%[[DX]]#1 : tensor<4x8xf32>)
// CHECK: arith.truncf %{{.+}} : tensor<8xf32> to tensor<8xbf16>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<4x8xbf16>, %b: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %e = tensor.empty() : tensor<4x8xbf16>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<4x8xbf16>, tensor<8xbf16>) outs(%e : tensor<4x8xbf16>) {
    ^bb0(%a: bf16, %c: bf16, %o: bf16):
      %s = arith.addf %a, %c : bf16
      %t = math.exp %s : bf16
      linalg.yield %t : bf16
  } -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// -----

// A softmax saves its result alone. A size that follows from an argument saves nothing.
// CHECK-LABEL: func.func @f_forward(
// CHECK: %[[Y:.+]] = linalg.softmax
// CHECK: return %{{.+}}, %[[Y]] : tensor<?xf32>, tensor<?x?xf32>
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?xf32>, %[[Y:[^:]+]]: tensor<?x?xf32> {resid.name = "saved0"}, %[[DY:[^:]+]]: tensor<?xf32> {resid.name = "d_out0"})
// CHECK: tensor.dim %[[X]],
// CHECK: linalg.generic {{.+}} ins(%[[DY]] : tensor<?xf32>)
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
func.func @f(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.reduce {arith.addf} ins(%s : tensor<?x?xf32>) outs(%start : tensor<?xf32>) dimensions = [1]
  return %y : tensor<?xf32>
}

// -----

// Slices of one tensor share its zeros. One that another may overlap is added to.
// CHECK-LABEL: func.func @f_backward(
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: %[[FIRST:.+]] = tensor.insert_slice %{{.+}} into %{{.+}}[0, 4]
// CHECK-NEXT: %[[SECOND:.+]] = tensor.insert_slice %{{.+}} into %[[FIRST]][0, 0]
// CHECK-NEXT: %[[OLD:.+]] = tensor.extract_slice %[[SECOND]][0, 3]
// CHECK-NEXT: %[[NEW:.+]] = resid.add %[[OLD]], %{{.+}}
// CHECK-NEXT: %[[ALL:.+]] = tensor.insert_slice %[[NEW]] into %[[SECOND]][0, 3]
// CHECK-NEXT: return %[[ALL]]
func.func @f(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %c = tensor.extract_slice %x[0, 3] [3, 2] [1, 1] : tensor<3x8xf32> to tensor<3x2xf32>
  %a = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %b = tensor.extract_slice %x[0, 4] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  return %c, %a, %b : tensor<3x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// What only has the elements of arguments in other places is not saved.
// CHECK-LABEL: func.func @f_forward(
// CHECK: return %{{[^,]+}} : tensor<?x4xf32>
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>, %[[B:[^:]+]]: tensor<2x2xbf16>, %[[DY:[^:]+]]: tensor<?x4xf32> {resid.name = "d_out0"})
// CHECK-DAG: tensor.extract_slice %[[X]][0, 2] [%{{.+}}, 4] [1, 1]
// CHECK-DAG: %[[WIDE:.+]] = arith.extf %[[B]]
// CHECK-DAG: %[[FLAT:.+]] = tensor.collapse_shape %[[WIDE]]
// CHECK-DAG: linalg.generic {{.+}} ins(%[[FLAT]] : tensor<4xf32>) outs(%{{.+}} : tensor<?x4xf32>)
func.func @f(%x: tensor<?x8xf32>, %narrow: tensor<2x2xbf16>) -> tensor<?x4xf32> {
  %b = arith.extf %narrow : tensor<2x2xbf16> to tensor<2x2xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %s = tensor.extract_slice %x[0, 2] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %flat = tensor.collapse_shape %b [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %wide = linalg.broadcast ins(%flat : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %y = arith.mulf %s, %wide : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
