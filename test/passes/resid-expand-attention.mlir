// RUN: resid-opt %s -resid-expand-attention -canonicalize -cse | FileCheck %s
// RUN: resid-opt %s -resid-expand-attention="report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: resid-opt %s -resid-passes | FileCheck %s --check-prefix=KEPT
// The values stand in test/run/expand-attention.test.

// REMARK-COUNT-4: remark: expanded (exact in real arithmetic): attention
// REMARK: remark: expanded (exact in real arithmetic): append
// REMARK: remark: expanded (exact in real arithmetic): attention
// KEPT: resid.attention
// KEPT: resid.append

// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[VALUES:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[MASK:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, 0, d3)>

// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x2x3x4xbf16>, %[[K:[^:]*]]: tensor<1x2x5x4xbf16>, %[[V:[^:]*]]: tensor<1x2x5x4xf32>
func.func @plain(%q: tensor<1x2x3x4xbf16>, %k: tensor<1x2x5x4xbf16>, %v: tensor<1x2x5x4xf32>)
    -> (tensor<1x2x3x4xbf16>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) {
  // CHECK-DAG: %[[SCALE:.*]] = arith.constant 5.0{{0*}}e-01 : f32
  // CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[LEFT]], #[[KEYS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[Q]], %[[K]] : {{.*}}) outs({{.*}} : tensor<1x2x3x5xf32>)
  // CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<1x2x3x5xf32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[A]], %[[SCALE]]
  // CHECK-NEXT: linalg.yield %[[SCALED]]
  // CHECK: %[[MAX:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], {{.*}}} ins(%[[S]] :
  // CHECK: arith.maximumf
  // CHECK: %[[W:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]], #[[ALL]]], {{.*}}} ins(%[[S]], %[[MAX]] :
  // CHECK: math.exp
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], {{.*}}} ins(%[[W]] :
  // CHECK: %[[O:.*]] = linalg.generic {indexing_maps = [#[[LEFT]], #[[VALUES]], #[[OUT]]], {{.*}}} ins(%[[W]], %[[V]] :
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[O]], %[[SUM]] : {{.*}}) outs({{.*}} : tensor<1x2x3x4xbf16>)
  // CHECK: arith.divf
  // CHECK: return %[[Y]], %[[MAX]], %[[SUM]]
  %y, %max, %sum = resid.attention %q, %k, %v
      : tensor<1x2x3x4xbf16>, tensor<1x2x5x4xbf16>, tensor<1x2x5x4xf32>
        -> tensor<1x2x3x4xbf16>, tensor<1x2x3xf32>, tensor<1x2x3xf32>
  return %y, %max, %sum : tensor<1x2x3x4xbf16>, tensor<1x2x3xf32>, tensor<1x2x3xf32>
}

// Heads of q are split for the products and joined again; no size is asserted.
// CHECK-LABEL: func.func @grouped_and_masked(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x6x?x4xf64>, %[[K:[^:]*]]: tensor<1x2x?x4xf64>, %[[M:[^:]*]]: tensor<6x1x?xf32>
// CHECK-NOT: cf.assert
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0], [1, 2], [3], [4]] {{.*}} into tensor<1x2x3x?x4xf64>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[SPLIT]], %[[K]] :
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %[[P]] {{.*}} into tensor<1x6x?x?xf64>
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[MASK]], #[[ALL]]], {{.*}}} ins(%[[JOINED]], %[[M]] :
// CHECK: arith.addf
// CHECK: %[[J:.*]] = linalg.index 3
// CHECK: arith.cmpi sge, %[[J]],
// CHECK: tensor.expand_shape {{.*}} into tensor<1x2x3x?x?xf64>
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x6x?x4xf64>
func.func @grouped_and_masked(%q: tensor<1x6x?x4xf64>, %k: tensor<1x2x?x4xf64>, %m: tensor<6x1x?xf32>) -> tensor<1x6x?x4xf64> {
  %y = resid.attention %q, %k, %k mask(%m) {causal} : tensor<1x6x?x4xf64>, tensor<1x2x?x4xf64>, tensor<1x2x?x4xf64>, tensor<6x1x?xf32>
  return %y : tensor<1x6x?x4xf64>
}

// CHECK-LABEL: func.func @open_heads(
// CHECK: cf.assert %{{.*}}, "expected a number of heads in k that divides that of q"
func.func @open_heads(%q: tensor<1x?x3x4xf32>, %k: tensor<1x?x3x4xf32>) -> tensor<1x?x3x4xf32> {
  %y = resid.attention %q, %k, %k : tensor<1x?x3x4xf32>, tensor<1x?x3x4xf32>, tensor<1x?x3x4xf32>
  return %y : tensor<1x?x3x4xf32>
}

// The weights are dropped after their sum, and before the product with the values.
// CHECK-LABEL: func.func @dropped(
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[W:.*]] : tensor<1x2x3x3xf32>) outs({{.*}} : tensor<1x2x3xf32>)
// CHECK: %[[D:.*]] = resid.dropout %[[W]] seed(%{{.*}}, %{{.*}}) origin(%[[T:.*]], %[[T]], %[[T]]) extent(%[[T]], %[[U:.*]]) {p = 1.000000e-01 : f64, site = 3 : i64} : tensor<1x2x3x3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[D]], %{{.*}} : tensor<1x2x3x3xf32>, tensor<1x2x3x4xbf16>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[SUM]] :
func.func @dropped(%q: tensor<1x2x3x4xbf16>, %seed: i64, %step: i64) -> tensor<1x2x3x4xbf16> {
  %y = resid.attention %q, %q, %q dropout(%seed, %step) origin(%step, %step, %step) extent(%step, %seed) {p = 0.1, site = 3}
       : tensor<1x2x3x4xbf16>, tensor<1x2x3x4xbf16>, tensor<1x2x3x4xbf16>
  return %y : tensor<1x2x3x4xbf16>
}

// CHECK-LABEL: func.func @cache(
// CHECK-SAME: %[[CACHE:[^:]*]]: tensor<1x2x9x4xf16>, %[[X:[^:]*]]: tensor<1x2x1x4xf16>, %[[Q:[^:]*]]: tensor<1x2x1x4xf16>, %[[PAST:[^:]*]]: i64
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[PAST]]
// CHECK: cf.assert %{{.*}}, "expected a cache with places for the keys of this call"
// CHECK: %[[FULL:.*]] = tensor.insert_slice %[[X]] into %[[CACHE]][0, 0, %[[BEGIN]], 0] [1, 2, 1, 4] [1, 1, 1, 1]
// CHECK: arith.cmpi slt
// CHECK-NOT: resid.
func.func @cache(%cache: tensor<1x2x9x4xf16>, %x: tensor<1x2x1x4xf16>, %q: tensor<1x2x1x4xf16>, %past: i64)
    -> (tensor<1x2x1x4xf16>, tensor<1x2x9x4xf16>) {
  %k = resid.append %cache, %x past(%past) : tensor<1x2x9x4xf16>, tensor<1x2x1x4xf16>
  %y = resid.attention %q, %k, %k past(%past) : tensor<1x2x1x4xf16>, tensor<1x2x9x4xf16>, tensor<1x2x9x4xf16>
  return %y, %k : tensor<1x2x1x4xf16>, tensor<1x2x9x4xf16>
}
