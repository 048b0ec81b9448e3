// A row that is read at other columns, by expressions of the column that subtract: by the evaluator and as machine code.

// RUN: for function in shifted turned wrapped; do for backend in cpu reference; do \
// RUN:   resid-run %s --entry=$function --arg=f32[2x8]=1,2,3,4,5,6,7,8,11,12,13,14,15,16,17,18 --backend=$backend || exit 1; done; \
// RUN:   resid-run %s --entry=$function --arg=f32[2x8]=random:1 --check 2>/dev/null || exit 1; done | FileCheck %s
// CHECK-COUNT-2: first 2 2 4 4 6 6 8 8
// CHECK:         out0: ok, bit-equal
// CHECK-COUNT-2: first 16 14 12 10 8 6 4 2
// CHECK:         out0: ok, bit-equal
// CHECK-COUNT-2: first 8 6 4 2 16 14 12 10
// CHECK:         out0: ok, bit-equal

#row = affine_map<(r, c) -> (r, c)>

func.func @shifted(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, (c - 4) floordiv 2 + 2)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @turned(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, 7 - c)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @wrapped(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, (3 - c) mod 8)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
