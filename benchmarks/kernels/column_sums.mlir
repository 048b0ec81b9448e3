// Sums down the rows, from +0, for native/ColumnSums.cpp.

#all = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>

func.func @column_sums_f32_768(%x: tensor<?x768xf32>) -> tensor<768xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<768xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<768xf32>) -> tensor<768xf32>
  %sums = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x768xf32>) outs(%start : tensor<768xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %sum, %a : f32
    linalg.yield %next : f32
  } -> tensor<768xf32>
  return %sums : tensor<768xf32>
}

func.func @column_sums_f32_1024(%x: tensor<?x1024xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024xf32>) -> tensor<1024xf32>
  %sums = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x1024xf32>) outs(%start : tensor<1024xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %sum, %a : f32
    linalg.yield %next : f32
  } -> tensor<1024xf32>
  return %sums : tensor<1024xf32>
}

func.func @column_sums_bf16_768(%x: tensor<?x768xbf16>) -> tensor<768xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<768xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<768xf32>) -> tensor<768xf32>
  %sums = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x768xbf16>) outs(%start : tensor<768xf32>) {
  ^bb0(%a: bf16, %sum: f32):
    %wide = arith.extf %a : bf16 to f32
    %next = arith.addf %sum, %wide : f32
    linalg.yield %next : f32
  } -> tensor<768xf32>
  return %sums : tensor<768xf32>
}

func.func @column_sums_bf16_1024(%x: tensor<?x1024xbf16>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024xf32>) -> tensor<1024xf32>
  %sums = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x1024xbf16>) outs(%start : tensor<1024xf32>) {
  ^bb0(%a: bf16, %sum: f32):
    %wide = arith.extf %a : bf16 to f32
    %next = arith.addf %sum, %wide : f32
    linalg.yield %next : f32
  } -> tensor<1024xf32>
  return %sums : tensor<1024xf32>
}
