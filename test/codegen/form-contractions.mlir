// Contractions on tensors become kernels, together with elementwise work on their elements.
// RUN: resid-opt --split-input-file --resid-to-linalg --resolve-ranked-shaped-type-result-dims --canonicalize --resid-form-contractions --canonicalize %s | FileCheck %s

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[N:.+]] = affine_map<(d0, d1, d2) -> (d1)>

// A bias, an activation and a residual add join the product, and nothing is filled with zeros.
// CHECK-LABEL: func.func @linear
// CHECK-SAME:    %[[X:.+]]: tensor<?x8xf32>, %[[W:.+]]: tensor<8x6xf32>, %[[B:.+]]: tensor<6xf32>, %[[R:.+]]: tensor<?x6xf32>
// CHECK-NOT:     linalg
// CHECK:         contraction.kernel a(%[[X]] : {{.+}}) b(%[[W]] : {{.+}}) start(%{{.+}} : f32) ins(%[[B]], %[[R]] : {{.+}})
// CHECK-SAME:      indexing_maps = [#[[MK]], #[[KN]], #[[N]], #[[MN]], #[[MN]]], parallel_loops = 2
// CHECK-NEXT:    ^bb0(%[[P:.+]]: f32, %[[BIAS:.+]]: f32, %[[OLD:.+]]: f32):
// CHECK-NEXT:      %[[Y:.+]] = arith.addf %[[P]], %[[BIAS]]
// CHECK-NEXT:      %[[T:.+]] = math.tanh %[[Y]]
// CHECK-NEXT:      %[[S:.+]] = arith.addf %[[OLD]], %[[T]]
// CHECK-NEXT:      contraction.yield %[[S]] : f32
// CHECK-NOT:     linalg
func.func @linear(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %r: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x6xf32>) outs(%f : tensor<?x6xf32>) -> tensor<?x6xf32>
  %y = resid.add_bias %p, %b : tensor<?x6xf32>, tensor<6xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%v: f32, %o: f32):
    %a = math.tanh %v : f32
    linalg.yield %a : f32
  } -> tensor<?x6xf32>
  %s = resid.add %r, %t : tensor<?x6xf32>
  return %s : tensor<?x6xf32>
}

// -----

// A value with two readers leaves the kernel; so does one that would be wider in memory than the product.
// CHECK-LABEL: func.func @two_readers
// CHECK:         %[[P:.+]] = contraction.kernel
// CHECK-NEXT:    ^bb0(%[[E:.+]]: f32):
// CHECK-NEXT:      contraction.yield %[[E]]
// CHECK:         linalg.generic {{.+}} ins(%[[P]]
func.func @two_readers(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = resid.add_bias %p, %b : tensor<4x6xf32>, tensor<6xf32>
  return %p, %y : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @widened
// CHECK:         %[[P:.+]] = contraction.kernel {{.+}} -> tensor<4x6xbf16>
// CHECK:         linalg.generic {{.+}} ins(%[[P]]
func.func @widened(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xbf16>
  %e = tensor.empty() : tensor<4x6xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%z : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xbf16>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %a = arith.extf %v : bf16 to f32
    linalg.yield %a : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Transposes and broadcasts of factors are read through, and a broadcast bias is what sums start with.
// CHECK-DAG: #[[BMK:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[NK:.+]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-DAG: #[[BIAS:.+]] = affine_map<(d0, d1, d2, d3) -> (d2)>
// CHECK-LABEL: func.func @batches
// CHECK-SAME:    %[[X:.+]]: tensor<2x4x8xf32>, %[[W:.+]]: tensor<6x8xf32>, %[[B:.+]]: tensor<6xf32>
// CHECK-NOT:     linalg
// CHECK:         contraction.kernel a(%[[X]] : {{.+}}) b(%[[W]] : {{.+}}) initial(%[[B]] : {{.+}}) outs
// CHECK-SAME:      indexing_maps = [#[[BMK]], #[[NK]], #[[BIAS]],
func.func @batches(%x: tensor<2x4x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) -> tensor<2x4x6xf32> {
  %t0 = tensor.empty() : tensor<8x6xf32>
  %t = linalg.transpose ins(%w : tensor<6x8xf32>) outs(%t0 : tensor<8x6xf32>) permutation = [1, 0]
  %r0 = tensor.empty() : tensor<2x8x6xf32>
  %r = linalg.broadcast ins(%t : tensor<8x6xf32>) outs(%r0 : tensor<2x8x6xf32>) dimensions = [0]
  %i0 = tensor.empty() : tensor<2x4x6xf32>
  %i = linalg.broadcast ins(%b : tensor<6xf32>) outs(%i0 : tensor<2x4x6xf32>) dimensions = [0, 1]
  %p = linalg.batch_matmul ins(%x, %r : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%i : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %p : tensor<2x4x6xf32>
}

// -----

// Panels are read where they lie.
// CHECK-LABEL: func.func @panels
// CHECK-SAME:    %[[X:.+]]: tensor<4x8xf32>, %[[W:.+]]: tensor<2x8x16xf32>, %[[V:.+]]: tensor<1x4x16x2xbf16>, %[[Y:.+]]: tensor<4x8xbf16>
// CHECK-NOT:     linalg.unpack
// CHECK:         contraction.kernel a(%[[X]] : {{.+}}) b(%[[W]] : tensor<2x8x16xf32>) {{.+}} packed_columns = 16
// CHECK:         contraction.kernel a(%[[Y]] : {{.+}}) b(%[[V]] : tensor<1x4x16x2xbf16>) {{.+}} packed_columns = 16
func.func @panels(%x: tensor<4x8xf32>, %w: tensor<2x8x16xf32>, %v: tensor<1x4x16x2xbf16>, %y: tensor<4x8xbf16>) -> (tensor<4x30xf32>, tensor<4x6xbf16>) {
  %e = tensor.empty() : tensor<8x30xf32>
  %z = arith.constant dense<0.0> : tensor<4x30xf32>
  %m = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<2x8x16xf32> -> tensor<8x30xf32>
  %p = linalg.matmul ins(%x, %m : tensor<4x8xf32>, tensor<8x30xf32>) outs(%z : tensor<4x30xf32>) -> tensor<4x30xf32>
  %f = tensor.empty() : tensor<6x8xbf16>
  %zn = arith.constant dense<0.0> : tensor<4x6xbf16>
  %n = linalg.unpack %v inner_dims_pos = [0, 1] inner_tiles = [16, 2] into %f : tensor<1x4x16x2xbf16> -> tensor<6x8xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %n : tensor<4x8xbf16>, tensor<6x8xbf16>) outs(%zn : tensor<4x6xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %t = arith.mulf %a, %b : bf16
    %s = arith.addf %c, %t : bf16
    linalg.yield %s : bf16
  } -> tensor<4x6xbf16>
  return %p, %q : tensor<4x30xf32>, tensor<4x6xbf16>
}

// So is the one panel of few columns.
// CHECK-LABEL: func.func @narrow_panels
// CHECK-SAME:    %[[X:.+]]: tensor<4x8xf32>, %[[W:.+]]: tensor<1x8x24xf32>
// CHECK-NOT:     linalg.unpack
// CHECK:         contraction.kernel a(%[[X]] : {{.+}}) b(%[[W]] : tensor<1x8x24xf32>) {{.+}} packed_columns = 24
func.func @narrow_panels(%x: tensor<4x8xf32>, %w: tensor<1x8x24xf32>, %y: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %e = tensor.empty() : tensor<8x20xf32>
  %m = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [24] into %e : tensor<1x8x24xf32> -> tensor<8x20xf32>
  %p = linalg.matmul ins(%x, %m : tensor<4x8xf32>, tensor<8x20xf32>) outs(%y : tensor<4x20xf32>) -> tensor<4x20xf32>
  return %p : tensor<4x20xf32>
}

// -----

// What adds products over rows that both factors have is a sum down the rows, and no contraction.
// CHECK-LABEL: func.func @column_sum
// CHECK-NOT:     contraction.kernel
func.func @column_sum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}

// -----

// A linear layer and the residual add after it are one kernel. Its sums stay in f32 until the bias is added, and are in
// memory nowhere.
// CHECK-LABEL: func.func @linear_op
// CHECK-SAME:    %[[X:.+]]: tensor<?x8xbf16>, %[[W:.+]]: tensor<6x8xbf16>, %[[B:.+]]: tensor<6xf32>, %[[R:.+]]: tensor<?x6xbf16>
// CHECK-NOT:     linalg
// CHECK-NOT:     tensor.empty({{.+}}) : tensor<?x6xf32>
// CHECK:         contraction.kernel a(%[[X]] : {{.+}}) b(%[[W]] : {{.+}}) start(%{{.+}} : f32) ins(%[[B]], %[[R]] : {{.+}}) {{.+}} -> tensor<?x6xbf16>
// CHECK-NEXT:    ^bb0(%[[P:.+]]: f32, %[[BIAS:.+]]: f32, %[[OLD:.+]]: bf16):
// CHECK-NEXT:      %[[Y:.+]] = arith.addf %[[P]], %[[BIAS]] : f32
// CHECK-NEXT:      arith.truncf %[[Y]] : f32 to bf16
// CHECK:           contraction.yield %{{.+}} : bf16
// CHECK-NOT:     linalg
func.func @linear_op(%x: tensor<?x8xbf16>, %w: tensor<6x8xbf16>, %b: tensor<6xf32>, %r: tensor<?x6xbf16>) -> tensor<?x6xbf16> {
  %y = resid.linear %x, %w bias(%b) : tensor<?x8xbf16>, tensor<6x8xbf16>, tensor<6xf32>
  %s = resid.add %r, %y : tensor<?x6xbf16>
  return %s : tensor<?x6xbf16>
}
