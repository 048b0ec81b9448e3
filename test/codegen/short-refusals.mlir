// REQUIRES: residc
// LLVM optimises a module with loops over elements as a whole, and then inlines nothing into functions that refuse a call.
// RUN: residc %s --emit=llvm -o - | FileCheck %s

// CHECK: define internal {{.*}}@sum.refuse_arrays(
// CHECK: call {{.*}}@resid.arrays_find_null(
// CHECK: call {{.*}}@resid.arrays_find_clash(
// CHECK: {{^}}}
func.func @sum(%x: tensor<?x?x?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> ()>],
                         iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<?x?x?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%element: f32, %total: f32):
    %next = arith.addf %total, %element : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}
