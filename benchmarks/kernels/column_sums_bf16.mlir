// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of bf16 in f32 down the rows, from +0, of any size; the harness makes the fixed widths of it.
func.func @column_sums(%x: tensor<?x?xbf16>) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %columns = tensor.dim %x, %one : tensor<?x?xbf16>
  %empty = tensor.empty(%columns) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xbf16>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: bf16, %sum: f32):
    %wide = arith.extf %a : bf16 to f32
    %next = arith.addf %sum, %wide : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  return %sums : tensor<?xf32>
}
