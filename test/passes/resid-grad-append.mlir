// RUN: resid-opt %s --resid-grad=function=f | FileCheck %s

// The number of keys that the cache holds comes with the call: it says where the slice begins, and where zeros are
// written.
// CHECK-LABEL: func.func @f_backward
// CHECK-SAME: (%[[C:[a-z0-9]+]]: tensor<1x2x6x4xf64>, %[[X:[a-z0-9]+]]: tensor<1x2x?x4xf64>, %[[PAST:[a-z0-9]+]]: i64, %[[DY:[a-z0-9]+]]: tensor<1x2x6x4xf64> {{.*}})
// CHECK-DAG: %[[OFFSET:.*]] = arith.index_cast %[[PAST]] : i64 to index
// CHECK-DAG: %[[KEYS:.*]] = tensor.dim %[[X]], %c2
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[DY]][0, 0, %[[OFFSET]], 0] [1, 2, %[[KEYS]], 4] [1, 1, 1, 1]
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DCACHE:.*]] = resid.append %[[DY]], %[[ZEROS]] past(%[[PAST]])
// CHECK: return %[[DCACHE]], %[[DX]]
func.func @f(%c: tensor<1x2x6x4xf64>, %x: tensor<1x2x?x4xf64>, %p: i64) -> tensor<1x2x6x4xf64> {
  %y = resid.append %c, %x past(%p) : tensor<1x2x6x4xf64>, tensor<1x2x?x4xf64>
  return %y : tensor<1x2x6x4xf64>
}
