// What bufferization refuses of row kernels.
// RUN: resid-opt %s --resid-bufferize --verify-diagnostics

#full = affine_map<(r, c) -> (r, c)>
func.func @tensors_and_buffers(%x: tensor<?x?xf32>, %rows: index, %cols: index, %y: memref<?x?xf32>) {
  // expected-error @+2 {{'rows.kernel' op expected tensors only or buffers only}}
  // expected-error @+1 {{failed to bufferize op}}
  rows.kernel rows(%rows) columns(%cols) ins(%x : tensor<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      rows.store %v, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}
