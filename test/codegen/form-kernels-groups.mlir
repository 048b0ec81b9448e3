// Which ops share a kernel, and which do not.
// RUN: resid-opt --resid-row-kernels --split-input-file %s | FileCheck %s

// Two norms of one tensor, with different parameters: one kernel, x read by both.
// CHECK-LABEL: func.func @norms_of_one_tensor
// CHECK-COUNT-1: rows.kernel
// CHECK-NOT: rows.kernel
func.func @norms_of_one_tensor(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %h: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = resid.layer_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %z = resid.rms_norm %x gamma(%h) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Nothing in common but gamma.
// CHECK-LABEL: func.func @norms_of_two_tensors
// CHECK-COUNT-2: rows.kernel
func.func @norms_of_two_tensors(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = resid.layer_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  %z = resid.layer_norm %f gamma(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// The residual add reads x as the norm does, but it needs the matmul, which needs the norm.
// CHECK-LABEL: func.func @matmul_in_between
// CHECK: %[[N:.+]] = rows.kernel
// CHECK: %[[M:.+]] = contraction.kernel a(%[[N]] : {{.+}}) b(%arg1 :
// CHECK: rows.kernel {{.+}} ins(%arg0, %[[M]] :
// CHECK: math.tanh
func.func @matmul_in_between(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x64xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %n, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%d) : tensor<?x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %m = linalg.matmul ins(%n, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = math.tanh %m : tensor<?x64xf32>
  %y = resid.add %x, %a : tensor<?x64xf32>
  return %y, %m : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// An op that stands between the members is moved after them where it needs one.
// CHECK-LABEL: func.func @user_in_between
// CHECK: %[[K:.+]]:2 = rows.kernel
// CHECK: linalg.generic {{.+}} ins(%[[K]]#0 :
func.func @user_in_between(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %s = resid.add %x, %f : tensor<4x8xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%s : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %t, %y : tensor<8x4xf32>, tensor<4x8xf32>
}

// -----

// Columns are the last two dimensions for the norm; a bias along the last one starts its own kernel.
// CHECK-LABEL: func.func @bias_does_not_fit_two_columns
// CHECK: %[[S:.+]] = rows.kernel rows(%{{.+}}, %c4) columns(%c8)
// CHECK: rows.kernel rows(%{{.+}}) columns(%c4, %c8) ins(%[[S]], %arg3 :
func.func @bias_does_not_fit_two_columns(%x: tensor<?x4x8xf32>, %f: tensor<?x4x8xf32>, %b: tensor<8xf32>, %g: tensor<4x8xf32>) -> tensor<?x4x8xf32> {
  %f1 = resid.add_bias %f, %b : tensor<?x4x8xf32>, tensor<8xf32>
  %s = resid.add %x, %f1 : tensor<?x4x8xf32>
  %y = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x4x8xf32>, tensor<4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @add_fits_two_columns
// CHECK: rows.kernel rows(%{{.+}}) columns(%c4, %c8) ins(%arg0, %arg1, %arg2 :
// CHECK-NOT: rows.kernel
func.func @add_fits_two_columns(%x: tensor<?x4x8xf32>, %f: tensor<?x4x8xf32>, %g: tensor<4x8xf32>) -> tensor<?x4x8xf32> {
  %s = resid.add %x, %f : tensor<?x4x8xf32>
  %y = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x4x8xf32>, tensor<4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// -----

// Dropout counts rows over all but the last dimension, so it does not share a kernel with that norm.
// CHECK-LABEL: func.func @dropout_does_not_fit_two_columns
// CHECK: rows.kernel rows(%c2, %c4) columns(%c8)
// CHECK: rows.random_half
// CHECK: rows.kernel rows(%c2) columns(%c4, %c8)
func.func @dropout_does_not_fit_two_columns(%f: tensor<2x4x8xf32>, %g: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<2x4x8xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x4x8xf32>
  %y = resid.layer_norm %d gamma(%g) {epsilon = 1.0e-5} : tensor<2x4x8xf32>, tensor<4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// One row, no row dimension; elementwise ops and per-row results belong to the same kernel.
// CHECK-LABEL: func.func @one_row
// CHECK: rows.kernel rows() columns(%{{.+}}) ins(%arg0, %arg1 : tensor<?xf64>, tensor<f64>)
// CHECK-SAME: -> tensor<?xf64>, tensor<f64>, tensor<?xf64>
// CHECK-NOT: linalg.generic
func.func @one_row(%x: tensor<?xf64>, %a: tensor<f64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<f64>) {
  %y, %r = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?xf64> -> tensor<?xf64>, tensor<f64>
  %z = resid.dyt %y alpha(%a) : tensor<?xf64>, tensor<f64>
  return %y, %z, %r : tensor<?xf64>, tensor<?xf64>, tensor<f64>
}

// -----

// The row statistics that the user asks for are stored once per row, after the phases.
// CHECK-LABEL: func.func @statistics_per_row
// CHECK: rows.kernel
// CHECK-SAME: -> tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
// CHECK: ^bb0(%{{.+}}: index, %{{.+}}: !rows.row<f32>, %[[Y:.+]]: !rows.row<f32>, %[[M:.+]]: !rows.row<f32>, %[[C:.+]]: !rows.row<f32>, %[[R:.+]]: !rows.row<f32>):
// CHECK: rows.store %{{.+}}, %[[Y]][%{{.+}}]
// CHECK: rows.store %{{.+}}, %[[M]] : f32
// CHECK-NEXT: rows.store %{{.+}}, %[[C]] : f32
// CHECK-NEXT: rows.store %{{.+}}, %[[R]] : f32
func.func @statistics_per_row(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %y:4 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y#0, %y#1, %y#2, %y#3 : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// What users write on parameters and on the stream is computed in place: no kernel of its own, no splat in memory.
// CHECK-LABEL: func.func @casts_and_splats_in_place
// CHECK: rows.kernel {{.+}} ins(%arg0, %arg1, %arg2 : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<8xbf16>)
// CHECK-NOT: rows.kernel
// CHECK-NOT: dense<
// CHECK: return
func.func @casts_and_splats_in_place(%x: tensor<?x8xbf16>, %f: tensor<?x8xf32>, %g: tensor<8xbf16>) -> tensor<?x8xf32> {
  %wide = arith.extf %x : tensor<?x8xbf16> to tensor<?x8xf32>
  %gamma = arith.extf %g : tensor<8xbf16> to tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %double = arith.mulf %gamma, %two : tensor<8xf32>
  %s = resid.add %wide, %f : tensor<?x8xf32>
  %y = resid.layer_norm %s gamma(%double) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A per-row gate is read before the phases, a gate of one element too.
// CHECK-LABEL: func.func @gates_per_row
// CHECK: ^bb0(%{{.+}}: index, %{{.+}}: !rows.row<f32>, %{{.+}}: !rows.row<f32>, %[[G:.+]]: !rows.row<f32>, %[[B:.+]]: !rows.row<f32>, %{{.+}}: !rows.row<f32>):
// CHECK-DAG: rows.load %[[G]] : <f32> -> f32
// CHECK-DAG: rows.load %[[B]] : <f32> -> f32
// CHECK: rows.phase []
func.func @gates_per_row(%x: tensor<2x?x8xf32>, %f: tensor<2x?x8xf32>, %row: tensor<2x?x1xf32>, %batch: tensor<2x1x1xf32>) -> tensor<2x?x8xf32> {
  %1 = resid.add %x, %f gate(%row) : tensor<2x?x8xf32>, tensor<2x?x1xf32>
  %2 = resid.add %1, %f gate(%batch) : tensor<2x?x8xf32>, tensor<2x1x1xf32>
  return %2 : tensor<2x?x8xf32>
}

// -----

// Kernels form inside loops.
// CHECK-LABEL: func.func @inside_a_loop
// CHECK: scf.for
// CHECK: rows.require
// CHECK: rows.kernel
// CHECK: rows.random_half
// CHECK: scf.yield
func.func @inside_a_loop(%x: tensor<?x8xf32>, %seed: i64, %step: i64, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<?x8xf32> {
    %i64 = arith.index_cast %i : index to i64
    %d = resid.dropout %h seed(%seed, %step) origin(%zero, %i64) {p = 0.1, site = 0} : tensor<?x8xf32>
    %s = resid.add %h, %d : tensor<?x8xf32>
    %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

// A transposed read is not row-wise.
// CHECK-LABEL: func.func @transposed_read
// CHECK: linalg.generic
// CHECK-NOT: rows.kernel
func.func @transposed_read(%x: tensor<4x4xf32>, %f: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x, %f : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A result without uses is not stored.
// CHECK-LABEL: func.func @unused_results
// CHECK: rows.kernel
// CHECK-SAME: -> tensor<?x8xf32> {
func.func @unused_results(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// -----

// The residual add reads nothing of the norm's kernel but x, and that through the matmul too late.
// CHECK-LABEL: func.func @branch_of_the_norm
// CHECK: %[[N:.+]] = rows.kernel
// CHECK: %[[M:.+]] = contraction.kernel a(%[[N]] : {{.+}}) b(%arg1 :
// CHECK: rows.kernel {{.+}} ins(%arg0, %[[M]] :
func.func @branch_of_the_norm(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %z: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<8x8xf32>
  %m = linalg.matmul ins(%n, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = resid.add %x, %m : tensor<8x8xf32>
  return %y, %m : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// One value per row and head does not fit a norm over heads and features.
// CHECK-LABEL: func.func @factor_per_head
// CHECK: rows.kernel rows(%c2, %c4) columns(%c8)
// CHECK: rows.kernel rows(%c2) columns(%c4, %c8)
func.func @factor_per_head(%x: tensor<2x4x8xf32>, %r: tensor<2x4xf32>) -> tensor<2x4x8xf32> {
  %e = tensor.empty() : tensor<2x4x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, h, j) -> (i, h, j)>, affine_map<(i, h, j) -> (i, h)>, affine_map<(i, h, j) -> (i, h, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %r : tensor<2x4x8xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<2x4x8xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5, norm_rank = 2 : i64} : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// Five norms after each other: four in one kernel, which hands their value to another one.
// CHECK-LABEL: func.func @many_norms
// CHECK-COUNT-2: rows.kernel
// CHECK-NOT: rows.kernel
func.func @many_norms(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x8xf32>
  %b = resid.rms_norm %a {epsilon = 1.0e-5} : tensor<?x8xf32>
  %c = resid.rms_norm %b {epsilon = 1.0e-5} : tensor<?x8xf32>
  %d = resid.rms_norm %c {epsilon = 1.0e-5} : tensor<?x8xf32>
  %e = resid.rms_norm %d {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %e : tensor<?x8xf32>
}

// -----

// A rotary embedding reads its norm at two columns, of which it computes both. So does what comes after it.
// CHECK-DAG: #[[HALVES:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, (d2 + 4) mod 8)>
// CHECK-DAG: #[[GAMMA:.+]] = affine_map<(d0, d1, d2) -> ((d2 + 4) mod 8)>
// CHECK-DAG: #[[ANGLES:.+]] = affine_map<(d0, d1, d2) -> (d1, d2 mod 4)>
// CHECK-LABEL: func.func @norm_and_rotary
// CHECK: rows.kernel {{.+}} ins(%arg0, %arg1, %arg0, %arg1, %arg2, %arg3 : {{.+}} attributes {indexing_maps = [#{{.+}}, #{{.+}}, #[[HALVES]], #[[GAMMA]], #[[ANGLES]], #[[ANGLES]], #{{.+}}]}
// CHECK-NOT: rows.kernel
func.func @norm_and_rotary(%x: tensor<?x?x8xf32>, %g: tensor<8xf32>, %c: tensor<?x4xf32>, %s: tensor<?x4xf32>) -> tensor<?x?x8xf32> {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x?x8xf32>, tensor<8xf32>
  %y = resid.rotary %n cos(%c) sin(%s) : tensor<?x?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// What is expensive is not computed twice, and random numbers are drawn at the column at hand.
// CHECK-LABEL: func.func @expensive
// CHECK: rows.kernel
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: rows.kernel
// CHECK-NOT: rows.kernel
func.func @expensive(%x: tensor<?x8xf32>, %c: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %n = math.exp %x : tensor<?x8xf32>
  %y = resid.rotary %n cos(%c) sin(%c) {interleaved} : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @dropped
// CHECK-COUNT-2: rows.kernel
// CHECK-NOT: rows.kernel
func.func @dropped(%x: tensor<?x8xf32>, %c: tensor<?x4xf32>, %a: i64, %b: i64) -> tensor<?x8xf32> {
  %d = resid.dropout %x seed(%a, %b) {p = 0.1, site = 0} : tensor<?x8xf32>
  %y = resid.rotary %d cos(%c) sin(%c) : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Nor is a row that is kept for later phases: it has all columns then, but the sum is computed anew from what it was computed from.
// CHECK-LABEL: func.func @sum_and_rotary
// CHECK-COUNT-1: rows.kernel
// CHECK-NOT: rows.kernel
func.func @sum_and_rotary(%x: tensor<?x8xf32>, %f: tensor<?x8xbf16>, %c: tensor<?x4xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %e = arith.extf %f : tensor<?x8xbf16> to tensor<?x8xf32>
  %h = resid.add %x, %e : tensor<?x8xf32>
  %n = resid.rms_norm %h {epsilon = 1.0e-5} : tensor<?x8xf32>
  %y = resid.rotary %n cos(%c) sin(%c) : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  return %h, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
