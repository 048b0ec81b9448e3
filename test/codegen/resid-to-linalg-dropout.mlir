// Family Dropout: the mask and the scale, the run-time conditions, the two ends of p.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s

// CHECK-LABEL: @dropout_with_origin
// CHECK-SAME: %[[X:.+]]: tensor<?x8xbf16>, %[[SEED:.+]]: i64, %[[STEP:.+]]: i64, %[[ROW:.+]]: i64, %[[ORIGIN:.+]]: i64
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[SCALE:.+]] = arith.constant 1.33333337 : f32
// CHECK-DAG: %[[T:.+]] = arith.constant 16384 : i32
// CHECK-DAG: %[[PAST:.+]] = arith.constant 4294967297 : i64
// CHECK-DAG: %[[LIMIT:.+]] = arith.constant 4294967296 : i64
// CHECK: %[[SITE:.+]] = arith.addi %[[ORIGIN]], %c7_i64 : i64
// CHECK: %[[OK:.+]] = arith.cmpi ult, %[[STEP]], %[[LIMIT]] : i64
// CHECK-NEXT: rows.require %[[OK]] status -4
// CHECK: %[[OK:.+]] = arith.cmpi ult, %[[SITE]], %[[LIMIT]] : i64
// CHECK-NEXT: rows.require %[[OK]] status -4
// CHECK: %[[OK:.+]] = arith.cmpi ult, %[[ROW]], %[[LIMIT]] : i64
// CHECK-NEXT: rows.require %[[OK]] status -4
// CHECK: %[[END:.+]] = arith.addi %[[ROW]], %{{.+}} : i64
// CHECK-NEXT: %[[OK:.+]] = arith.cmpi ult, %[[END]], %[[PAST]] : i64
// CHECK-NEXT: rows.require %[[OK]] status -4
// CHECK: %[[HALVES:.+]] = rows.random_halves seed %[[SEED]] step %[[STEP]] origin_row %[[ROW]] site %[[SITE]] dims(%{{.+}}) : tensor<?x8xi32>
// CHECK: linalg.generic {{.+}} ins(%[[X]], %[[HALVES]] :
// CHECK: ^bb0(%[[V:.+]]: bf16, %[[H:.+]]: i32, %{{.+}}: bf16):
// CHECK-DAG: %[[W:.+]] = arith.extf %[[V]] : bf16 to f32
// CHECK-DAG: %[[KEEP:.+]] = arith.cmpi uge, %[[H]], %[[T]] : i32
// CHECK-DAG: %[[KEPT:.+]] = arith.mulf %[[W]], %[[SCALE]] : f32
// CHECK: %[[Y:.+]] = arith.select %[[KEEP]], %[[KEPT]], %[[ZERO]] : f32
// CHECK-NEXT: arith.truncf %[[Y]] : f32 to bf16
func.func @dropout_with_origin(%x: tensor<?x8xbf16>, %seed: i64, %step: i64, %row: i64, %i: i64) -> tensor<?x8xbf16> {
  %y = resid.dropout %x seed(%seed, %step) origin(%row, %i) {p = 0.25, site = 7} : tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// With every size known and no origin, only the step is left to check.
// CHECK-LABEL: @static_rows_without_origin
// CHECK-COUNT-1: rows.require
// CHECK-NOT: rows.require
// CHECK: return
func.func @static_rows_without_origin(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %y = resid.dropout %x seed(%seed, %step) {p = 0.25, site = 7} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// The scale of f64 is a double.
// CHECK-LABEL: @scale_in_f64
// CHECK: arith.constant 1.1111186463666882 : f64
func.func @scale_in_f64(%x: tensor<4x8xf64>, %seed: i64, %step: i64) -> tensor<4x8xf64> {
  %y = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 7} : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// CHECK-LABEL: @everything_dropped
// CHECK-NOT: rows.random_halves
// CHECK: linalg.generic
// CHECK: linalg.yield %cst
func.func @everything_dropped(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %y = resid.dropout %x seed(%seed, %step) {p = 1.0, site = 7} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @threshold_zero_is_the_identity
// CHECK-NEXT: return %arg0
func.func @threshold_zero_is_the_identity(%x: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<4x8xf32> {
  %y = resid.dropout %x seed(%seed, %step) {p = 1.0e-6, site = 7} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
