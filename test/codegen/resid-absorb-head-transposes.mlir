// RUN: resid-opt %s --resid-row-kernels --split-input-file | FileCheck %s
// RUN: residc %s -o %t.o --report 2>&1 | FileCheck %s --check-prefix=REPORT

// Heads that are split off [tokens, features] and get a batch of 1 are read where they lie, and the result is written where it goes.
// CHECK-DAG:  #[[HEADS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d1, d4)>
// CHECK-DAG:  #[[KEYS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d4)>
// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     linalg.{{generic|transpose}}
// CHECK:         %[[Y:.+]] = attention.kernel q(%{{[^ ]+}} : tensor<?x3x16xf32>) k(%{{[^ ]+}} : tensor<?x3x16xf32>) v(%{{[^ ]+}} : tensor<?x3x16xf32>)
// CHECK-SAME:      outs(%{{[^ ]+}} : tensor<?x3x16xf32>)
// CHECK-SAME:      indexing_maps = [#[[HEADS]], #[[KEYS]], #[[KEYS]], #[[HEADS]]], scale = 2.500000e-01 : f64
// CHECK-NOT:     linalg.{{generic|transpose}}
// CHECK:         tensor.collapse_shape %[[Y]] {{\[\[}}0], [1, 2]]
// REPORT:      function heads: 1 kernel{{$}}
// REPORT:        resid.attention at [[#]]:
// REPORT:        reads q : tensor<?x3x16xf32>
// REPORT:        micro-kernels of {{.+}}, chunks of 256 keys, scores in the cache
func.func @heads(%q: tensor<?x48xf32>, %k: tensor<?x48xf32>, %v: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x48xf32>
  %m = tensor.dim %k, %c0 : tensor<?x48xf32>
  %q3 = tensor.expand_shape %q [[0], [1, 2]] output_shape [%n, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [%m, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [%m, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
  %eq = tensor.empty(%n) : tensor<3x?x16xf32>
  %ek = tensor.empty(%m) : tensor<3x?x16xf32>
  %qt = linalg.transpose ins(%q3 : tensor<?x3x16xf32>) outs(%eq : tensor<3x?x16xf32>) permutation = [1, 0, 2]
  %kt = linalg.transpose ins(%k3 : tensor<?x3x16xf32>) outs(%ek : tensor<3x?x16xf32>) permutation = [1, 0, 2]
  %vt = linalg.transpose ins(%v3 : tensor<?x3x16xf32>) outs(%ek : tensor<3x?x16xf32>) permutation = [1, 0, 2]
  %q4 = tensor.expand_shape %qt [[0, 1], [2], [3]] output_shape [1, 3, %n, 16] : tensor<3x?x16xf32> into tensor<1x3x?x16xf32>
  %k4 = tensor.expand_shape %kt [[0, 1], [2], [3]] output_shape [1, 3, %m, 16] : tensor<3x?x16xf32> into tensor<1x3x?x16xf32>
  %v4 = tensor.expand_shape %vt [[0, 1], [2], [3]] output_shape [1, 3, %m, 16] : tensor<3x?x16xf32> into tensor<1x3x?x16xf32>
  %y4 = resid.attention %q4, %k4, %v4 : tensor<1x3x?x16xf32>, tensor<1x3x?x16xf32>, tensor<1x3x?x16xf32>
  %y3 = tensor.collapse_shape %y4 [[0, 1], [2], [3]] : tensor<1x3x?x16xf32> into tensor<3x?x16xf32>
  %ey = tensor.empty(%n) : tensor<?x3x16xf32>
  %yt = linalg.transpose ins(%y3 : tensor<3x?x16xf32>) outs(%ey : tensor<?x3x16xf32>) permutation = [1, 0, 2]
  %y = tensor.collapse_shape %yt [[0], [1, 2]] : tensor<?x3x16xf32> into tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// A widening is read through; a broadcast, which would hide how many heads there are, is not, nor is a mask's transpose. A transpose of what has
// other readers stays.
// CHECK-LABEL: func.func @others(
// CHECK-SAME:    %[[K:[^ ]+]]: tensor<1x2x5x16xbf16>, %{{[^ ]+}}: tensor<5x16xf32>
// CHECK:         %[[V:.+]] = rows.kernel
// CHECK:         %[[MASK:.+]] = linalg.generic {{.+}} ins(%{{[^ ]+}} : tensor<5x7xf32>)
// CHECK:         %[[Y:.+]] = attention.kernel q(%{{[^ ]+}} : tensor<1x2x7x16xf32>) k(%[[K]] : tensor<1x2x5x16xbf16>) v(%[[V]] : tensor<1x2x5x16xf32>)
// CHECK-SAME:      mask(%[[MASK]] : tensor<7x5xf32>) outs(%{{[^ ]+}} : tensor<1x2x7x16xf32>)
// CHECK:         rows.kernel {{.+}} ins(%[[Y]]
func.func @others(%q: tensor<1x2x7x16xf32>, %k: tensor<1x2x5x16xbf16>, %row: tensor<5x16xf32>, %m: tensor<5x7xf32>)
    -> (tensor<1x2x7x16xf32>, tensor<1x7x2x16xf32>) {
  %wide = arith.extf %k : tensor<1x2x5x16xbf16> to tensor<1x2x5x16xf32>
  %ev = tensor.empty() : tensor<1x2x5x16xf32>
  %v = linalg.broadcast ins(%row : tensor<5x16xf32>) outs(%ev : tensor<1x2x5x16xf32>) dimensions = [0, 1]
  %em = tensor.empty() : tensor<7x5xf32>
  %mask = linalg.transpose ins(%m : tensor<5x7xf32>) outs(%em : tensor<7x5xf32>) permutation = [1, 0]
  %y = resid.attention %q, %wide, %v mask(%mask) : tensor<1x2x7x16xf32>, tensor<1x2x5x16xf32>, tensor<1x2x5x16xf32>, tensor<7x5xf32>
  %et = tensor.empty() : tensor<1x7x2x16xf32>
  %t = linalg.transpose ins(%y : tensor<1x2x7x16xf32>) outs(%et : tensor<1x7x2x16xf32>) permutation = [0, 2, 1, 3]
  return %y, %t : tensor<1x2x7x16xf32>, tensor<1x7x2x16xf32>
}

// -----

// The backward reads heads and writes their gradients where they lie, too.
// CHECK-DAG:  #[[HEADS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG:  #[[KEYS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-LABEL: func.func @backward(
// CHECK-NOT:     linalg.{{generic|transpose}}
// CHECK:         attention.backward {{.+}} outs(%{{.+}} : tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>)
// CHECK-SAME:      indexing_maps = [#[[HEADS]], #[[KEYS]], #[[KEYS]], #[[HEADS]], #{{.+}}, #{{.+}}, #[[HEADS]], #[[KEYS]], #[[KEYS]]]
// CHECK-NOT:     linalg.{{generic|transpose}}
// REPORT:      resid.attention_grad at [[#]]:
// REPORT:        micro-kernels of {{.+}}, scores of 64 queries at a time, a task for each head of keys
func.func @backward(%q: tensor<2x7x3x16xf32>, %k: tensor<2x7x3x16xf32>, %max: tensor<2x3x7xf32>, %sum: tensor<2x3x7xf32>)
    -> (tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>) {
  %heads_empty = tensor.empty() : tensor<2x3x7x16xf32>
  %empty = tensor.empty() : tensor<2x7x3x16xf32>
  %qt = linalg.transpose ins(%q : tensor<2x7x3x16xf32>) outs(%heads_empty : tensor<2x3x7x16xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x7x3x16xf32>) outs(%heads_empty : tensor<2x3x7x16xf32>) permutation = [0, 2, 1, 3]
  %dqt, %dkt, %dvt = resid.attention_grad %qt, %qt, %kt, %kt statistics(%max, %sum)
      : tensor<2x3x7x16xf32>, tensor<2x3x7x16xf32>, tensor<2x3x7x16xf32>, tensor<2x3x7x16xf32>
  %dq = linalg.transpose ins(%dqt : tensor<2x3x7x16xf32>) outs(%empty : tensor<2x7x3x16xf32>) permutation = [0, 2, 1, 3]
  %dk = linalg.transpose ins(%dkt : tensor<2x3x7x16xf32>) outs(%empty : tensor<2x7x3x16xf32>) permutation = [0, 2, 1, 3]
  %dv = linalg.transpose ins(%dvt : tensor<2x3x7x16xf32>) outs(%empty : tensor<2x7x3x16xf32>) permutation = [0, 2, 1, 3]
  return %dq, %dk, %dv : tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>
}
