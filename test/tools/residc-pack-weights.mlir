// --pack-weights is resid-pack-weights after the other passes: F takes panels, which F_prepare makes of the weight.
//
// RUN: residc %s --pack-weights --emit=mlir -o - | FileCheck %s
// RUN: residc %s --emit=mlir -o - | FileCheck %s --check-prefix=WITHOUT
// RUN: residc %s --pack-weights --header=%t.h --report -o %t.o 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: FileCheck %s --check-prefix=HEADER --input-file=%t.h

// CHECK: func.func @project(%{{.*}}: tensor<?x40xf32> {{.*}}, %{{.*}}: tensor<2x40x16xf32> {resid.name = "w", resid.prepared = 0 : i64})
// CHECK: func.func @project_prepare(%{{.*}}: tensor<32x40xf32> {resid.name = "w", resid.weight = "layer.w"}) -> tensor<2x40x16xf32>
// WITHOUT-NOT: prepare
// WITHOUT: func.func @project(%{{.*}}: tensor<?x40xf32>{{.*}}, %{{.*}}: tensor<32x40xf32>
// WITHOUT-NOT: prepare
// REPORT: packed ahead
// HEADER-DAG: project_prepare(
// HEADER-DAG: project(
func.func @project(%x: tensor<?x40xf32>, %w: tensor<32x40xf32> {resid.weight = "layer.w"}) -> tensor<?x32xf32> {
  %y = resid.linear %x, %w : tensor<?x40xf32>, tensor<32x40xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
