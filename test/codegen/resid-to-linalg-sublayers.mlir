// Family SubLayers: maps, the order of operations, roundings.
// RUN: resid-opt --resid-to-linalg --canonicalize %s | FileCheck %s

// CHECK-DAG: #[[ROWS:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[OUT_IN:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[IN_OUT:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[RESULT:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FEATURE:.+]] = affine_map<(d0, d1) -> (d1)>

// The chain stays in f32 until the bias is added; then there is one rounding.
// CHECK-LABEL: @linear_bias
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ZEROS:.+]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[CHAINS:.+]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[OUT_IN]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs(%[[ZEROS]] : tensor<?x6xf32>)
// CHECK: ^bb0(%[[X:.+]]: bf16, %[[W:.+]]: f16, %[[ACC:.+]]: f32):
// CHECK-DAG: %[[XW:.+]] = arith.extf %[[X]] : bf16 to f32
// CHECK-DAG: %[[WW:.+]] = arith.extf %[[W]] : f16 to f32
// CHECK: %[[SUM:.+]] = math.fma %[[XW]], %[[WW]], %[[ACC]] : f32
// CHECK-NEXT: linalg.yield %[[SUM]] : f32
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FEATURE]], #[[FULL]]]
// CHECK-SAME: ins(%[[CHAINS]], %{{.+}} : tensor<?x6xf32>, tensor<6xf32>)
// CHECK: ^bb0(%[[P:.+]]: f32, %[[B:.+]]: f32, %{{.+}}: bf16):
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[P]], %[[B]] : f32
// CHECK-NEXT: %[[R:.+]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[R]] : bf16
func.func @linear_bias(%x: tensor<?x8xbf16>, %w: tensor<6x8xf16>, %b: tensor<6xf32>) -> tensor<?x6xbf16> {
  %y = resid.linear %x, %w bias(%b) : tensor<?x8xbf16>, tensor<6x8xf16>, tensor<6xf32>
  return %y : tensor<?x6xbf16>
}

// Without a bias nothing stands after the chain.
// CHECK-LABEL: @linear_transposed
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #[[IN_OUT]], #[[RESULT]]]
// CHECK: ^bb0(%{{.+}}: bf16, %{{.+}}: bf16, %{{.+}}: bf16):
// CHECK: math.fma {{.+}} : f32
// CHECK-NEXT: arith.truncf
// CHECK-NOT: linalg.generic
func.func @linear_transposed(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %y = resid.linear %x, %w {transposed} : tensor<4x8xbf16>, tensor<8x6xbf16>
  return %y : tensor<4x6xbf16>
}

// A wide bias makes the arithmetic wide.
// CHECK-LABEL: @linear_wide_bias
// CHECK: math.fma {{.+}} : f64
// CHECK: arith.addf {{.+}} : f64
// CHECK-NEXT: arith.truncf {{.+}} : f64 to f32
func.func @linear_wide_bias(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf64>) -> tensor<4x6xf32> {
  %y = resid.linear %x, %w bias(%b) : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6xf64>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: @relu
// CHECK: ^bb0(%[[X:.+]]: f16, %{{.+}}: f16):
// CHECK-NEXT: %[[W:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[K:.+]] = arith.cmpf ugt, %[[W]], %{{.+}} : f32
// CHECK-NEXT: %[[S:.+]] = arith.select %[[K]], %[[W]], %{{.+}} : f32
// CHECK-NEXT: arith.truncf %[[S]]
func.func @relu(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = resid.activation relu %x : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// CHECK-LABEL: @gelu
// CHECK-DAG: %[[C:.+]] = arith.constant 0.707106769 : f32
// CHECK-DAG: %[[H:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: ^bb0(%[[X:.+]]: f32, %{{.+}}: f32):
// CHECK-DAG: %[[U:.+]] = arith.mulf %[[X]], %[[C]] : f32
// CHECK-DAG: %[[E:.+]] = math.erf %[[U]] : f32
// CHECK-DAG: %[[HX:.+]] = arith.mulf %[[X]], %[[H]] : f32
// CHECK-DAG: %[[P:.+]] = arith.addf %[[E]], %[[ONE]] : f32
// CHECK: %[[Y:.+]] = arith.mulf %[[HX]], %[[P]] : f32
// CHECK-NEXT: linalg.yield %[[Y]]
func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.activation gelu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @geglu_tanh
// CHECK-DAG: %[[SCALE:.+]] = arith.constant 0.79788456080286541 : f64
// CHECK-DAG: %[[CUBIC:.+]] = arith.constant 4.471500e-02 : f64
// CHECK: ^bb0(%[[X:.+]]: f64, %[[UP:.+]]: f64, %{{.+}}: f64):
// CHECK-DAG: %[[X2:.+]] = arith.mulf %[[X]], %[[X]] : f64
// CHECK-DAG: %[[X3:.+]] = arith.mulf %[[X2]], %[[X]] : f64
// CHECK-DAG: %[[CX:.+]] = arith.mulf %[[X3]], %[[CUBIC]] : f64
// CHECK-DAG: %[[S:.+]] = arith.addf %[[X]], %[[CX]] : f64
// CHECK-DAG: %[[U:.+]] = arith.mulf %[[S]], %[[SCALE]] : f64
// CHECK-DAG: %[[T:.+]] = math.tanh %[[U]] : f64
// CHECK-DAG: %[[H:.+]] = arith.mulf %[[X]], %{{.+}} : f64
// CHECK-DAG: %[[P:.+]] = arith.addf %[[T]], %{{.+}} : f64
// CHECK: %[[F:.+]] = arith.mulf %[[H]], %[[P]] : f64
// CHECK-NEXT: %[[Y:.+]] = arith.mulf %[[F]], %[[UP]] : f64
// CHECK-NEXT: linalg.yield %[[Y]]
func.func @geglu_tanh(%x: tensor<4x8xf64>, %up: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %y = resid.activation geglu_tanh %x, %up : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// CHECK-LABEL: @swiglu
// CHECK: ^bb0(%[[X:.+]]: bf16, %[[UP:.+]]: bf16, %{{.+}}: bf16):
// CHECK-DAG: %[[W:.+]] = arith.extf %[[X]]
// CHECK-DAG: %[[UW:.+]] = arith.extf %[[UP]]
// CHECK: %[[N:.+]] = arith.negf %[[W]] : f32
// CHECK-NEXT: %[[E:.+]] = math.exp %[[N]] : f32
// CHECK-NEXT: %[[D:.+]] = arith.addf %[[E]], %{{.+}} : f32
// CHECK-NEXT: %[[F:.+]] = arith.divf %[[W]], %[[D]] : f32
// CHECK-NEXT: %[[Y:.+]] = arith.mulf %[[F]], %[[UW]] : f32
// CHECK-NEXT: arith.truncf %[[Y]]
func.func @swiglu(%x: tensor<4x8xbf16>, %up: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %y = resid.activation swiglu %x, %up : tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// Each element with its partner, at another column of the same row, and the column of the tables. An element without a pair keeps its
// bits: it is chosen after the rounding.
// CHECK-LABEL: @rotary_halves
// CHECK: %[[NUMBERS:.+]] = rows.column_numbers : tensor<8xi32>
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[HALF:.+]], #[[ANGLE:.+]], #[[ANGLE]], #{{.+}}, #{{.+}}], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME: ins(%[[ARG:.+]], %[[ARG]], %{{.+}}, %{{.+}}, %[[NUMBERS]] :
// CHECK: ^bb0(%[[OWN:.+]]: bf16, %[[OTHER:.+]]: bf16, %[[C:.+]]: f32, %[[S:.+]]: f16, %[[NUMBER:.+]]: i32, %{{.+}}: bf16):
// CHECK-DAG: %[[X:.+]] = arith.extf %[[OWN]] : bf16 to f32
// CHECK-DAG: %[[Y:.+]] = arith.extf %[[OTHER]] : bf16 to f32
// CHECK-DAG: %[[SIN:.+]] = arith.extf %[[S]] : f16 to f32
// CHECK-DAG: %[[FIRST:.+]] = arith.cmpi ult, %[[NUMBER]], %{{.+}} : i32
// CHECK-DAG: %[[NEGATIVE:.+]] = arith.negf %[[Y]] : f32
// CHECK: %[[SIGNED:.+]] = arith.select %[[FIRST]], %[[NEGATIVE]], %[[Y]] : f32
// CHECK-DAG: %[[A:.+]] = arith.mulf %[[X]], %[[C]] : f32
// CHECK-DAG: %[[B:.+]] = arith.mulf %[[SIGNED]], %[[SIN]] : f32
// CHECK: %[[SUM:.+]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[ROUNDED:.+]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[ROUNDED]] : bf16
func.func @rotary_halves(%x: tensor<?x?x8xbf16>, %c: tensor<?x4xf32>, %s: tensor<?x4xf16>) -> tensor<?x?x8xbf16> {
  %y = resid.rotary %x cos(%c) sin(%s) : tensor<?x?x8xbf16>, tensor<?x4xf32>, tensor<?x4xf16>
  return %y : tensor<?x?x8xbf16>
}

// CHECK-LABEL: @rotary_some_pairs
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[PAIR:.+]], #[[PLACE:.+]], #[[PLACE]], #{{.+}}, #[[FULL]]]
// CHECK: ^bb0(%[[OWN:.+]]: bf16, %{{.+}}: bf16, %{{.+}}: f32, %{{.+}}: f32, %[[NUMBER:.+]]: i32, %{{.+}}: bf16):
// CHECK: %[[SUM:.+]] = arith.addf
// CHECK: %[[HAS:.+]] = arith.cmpi ult, %[[NUMBER]], %{{.+}} : i32
// CHECK: %[[ROUNDED:.+]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK: %[[Y:.+]] = arith.select %[[HAS]], %[[ROUNDED]], %[[OWN]] : bf16
// CHECK: linalg.yield %[[Y]] : bf16
func.func @rotary_some_pairs(%x: tensor<3x9xbf16>, %c: tensor<3x3xf32>, %s: tensor<3x3xf32>) -> tensor<3x9xbf16> {
  %y = resid.rotary %x cos(%c) sin(%s) {interleaved} : tensor<3x9xbf16>, tensor<3x3xf32>, tensor<3x3xf32>
  return %y : tensor<3x9xbf16>
}
