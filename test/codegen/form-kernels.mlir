// How ops become one row kernel: operands and maps, phases at the sums, what is kept where.
// RUN: resid-opt --resid-row-kernels --split-input-file %s | FileCheck %s

// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @add_layer_norm_dynamic_rows
// CHECK-SAME: %[[X:.+]]: tensor<?x768xf32>, %[[F:.+]]: tensor<?x768xf32>, %[[GAMMA:.+]]: tensor<768xf32>, %[[BETA:.+]]: tensor<768xf32>
// CHECK-DAG: %[[N:.+]] = arith.constant 7.680000e+02 : f32
// CHECK-DAG: %[[COLUMNS:.+]] = arith.constant 768 : index
// CHECK: %[[ROWS:.+]] = tensor.dim %[[X]]
// CHECK: %[[EMPTY:.+]] = tensor.empty(%[[ROWS]]) : tensor<?x768xf32>
// CHECK: %[[RESULT:.+]] = rows.kernel rows(%[[ROWS]]) columns(%[[COLUMNS]]) ins(%[[X]], %[[F]], %[[GAMMA]], %[[BETA]] :
// CHECK-SAME: outs(%[[EMPTY]] : tensor<?x768xf32>) attributes {indexing_maps = [#[[FULL]], #[[FULL]], #[[COLUMN]], #[[COLUMN]], #[[FULL]]]}
// CHECK: ^bb0(%{{.+}}: index, %[[XROW:.+]]: !rows.row<f32>, %[[FROW:.+]]: !rows.row<f32>, %[[GROW:.+]]: !rows.row<f32>, %[[BROW:.+]]: !rows.row<f32>, %[[OUT:.+]]: !rows.row<f32>):
// The sum is kept in the result's row until the normalised value is due.
// CHECK: %[[SUM:.+]] = rows.phase [sum] : f32 {
// CHECK-NEXT: ^bb0(%[[J:.+]]: index):
// CHECK-NEXT: %[[XV:.+]] = rows.load %[[XROW]][%[[J]]]
// CHECK-NEXT: %[[FV:.+]] = rows.load %[[FROW]][%[[J]]]
// CHECK-NEXT: %[[S:.+]] = arith.addf %[[XV]], %[[FV]]
// CHECK-NEXT: rows.store %[[S]], %[[OUT]][%[[J]]]
// CHECK-NEXT: rows.yield %[[S]]
// CHECK: %[[K:.+]] = arith.divf %[[SUM]], %[[N]]
// CHECK: %[[SUMS:.+]]:2 = rows.phase [sum, sum_of_squares] : f32, f32 {
// CHECK-NEXT: ^bb0(%[[J:.+]]: index):
// CHECK-NEXT: %[[S:.+]] = rows.load %[[OUT]][%[[J]]]
// CHECK-NEXT: %[[D:.+]] = arith.subf %[[S]], %[[K]]
// CHECK-NEXT: rows.yield %[[D]], %[[D]]
// CHECK: %[[E:.+]] = arith.divf %[[SUMS]]#0, %[[N]]
// CHECK: %[[Q:.+]] = arith.divf %[[SUMS]]#1, %[[N]]
// CHECK: %[[USABLE:.+]]:4 = scf.if
// CHECK: rows.phase [max]
// CHECK: scf.if
// CHECK: rows.phase [sum] : f32
// CHECK: rows.phase [sum, sum_of_squares] : f32, f32
// CHECK: %[[VARIANCE:.+]] = scf.if
// CHECK: math.fma
// CHECK: else
// CHECK: rows.phase [sum_of_squares] : f32
// CHECK: %[[ROOT:.+]] = math.sqrt
// CHECK: %[[RSTD:.+]] = arith.divf %{{.+}}, %[[ROOT]]
// CHECK: %[[MINUSK:.+]] = arith.negf %[[USABLE]]#1
// CHECK: rows.phase [] {
// CHECK-NEXT: ^bb0(%[[J:.+]]: index):
// CHECK-NEXT: %[[S:.+]] = rows.load %[[OUT]][%[[J]]]
// CHECK-NEXT: %[[D:.+]] = math.fma %[[S]], %[[USABLE]]#0, %[[MINUSK]]
// CHECK-NEXT: %[[C:.+]] = arith.subf %[[D]], %[[USABLE]]#2
// CHECK-NEXT: %[[XHAT:.+]] = arith.mulf %[[C]], %[[RSTD]]
// CHECK-NEXT: %[[G:.+]] = rows.load %[[GROW]][%[[J]]]
// CHECK-NEXT: %[[B:.+]] = rows.load %[[BROW]][%[[J]]]
// CHECK-NEXT: %[[Y:.+]] = math.fma %[[XHAT]], %[[G]], %[[B]]
// CHECK-NEXT: rows.store %[[Y]], %[[OUT]][%[[J]]]
// CHECK: return %[[RESULT]]
func.func @add_layer_norm_dynamic_rows(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %gamma: tensor<768xf32>,
                                       %beta: tensor<768xf32>) -> tensor<?x768xf32> {
  %s = resid.add %x, %f : tensor<?x768xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}

// -----

// CHECK-LABEL: func.func @add_layer_norm_static
// CHECK: rows.kernel rows(%c2, %c3) columns(%c5)
// CHECK-NOT: linalg.generic
// CHECK-NOT: rows.layer_statistics
func.func @add_layer_norm_static(%x: tensor<2x3x5xf32>, %f: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %s = resid.add %x, %f : tensor<2x3x5xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// An unknown width is counted as a float where the kernel starts.
// CHECK-LABEL: func.func @width_unknown
// CHECK: %[[COLUMNS:.+]] = tensor.dim %arg0, %c1
// CHECK: %[[COUNT:.+]] = arith.index_cast %[[COLUMNS]] : index to i64
// CHECK: %[[N:.+]] = arith.sitofp %[[COUNT]] : i64 to f32
// CHECK: rows.kernel rows(%{{.+}}) columns(%[[COLUMNS]])
// CHECK: arith.divf %{{.+}}, %[[N]]
func.func @width_unknown(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
