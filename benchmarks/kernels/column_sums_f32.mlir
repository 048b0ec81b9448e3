// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of f32 in f32 down the rows, from +0, of any size; the harness makes the fixed widths of it.
func.func @column_sums(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %columns = tensor.dim %x, %one : tensor<?x?xf32>
  %empty = tensor.empty(%columns) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %sum, %a : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  return %sums : tensor<?xf32>
}
