#all = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>
#rows = affine_map<(r, c) -> (r)>

func.func @plain(%x: tensor<?x?xf32>, %old: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%old : tensor<?xf32>) dimensions = [0]
  return %s : tensor<?xf32>
}
func.func @known(%x: tensor<?x100xf32>) -> tensor<100xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<100xf32>
  %old = linalg.fill ins(%zero : f32) outs(%empty : tensor<100xf32>) -> tensor<100xf32>
  %s = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x100xf32>) outs(%old : tensor<100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %b, %a : f32
    linalg.yield %sum : f32
  } -> tensor<100xf32>
  return %s : tensor<100xf32>
}
func.func @doubles(%x: tensor<?x37xf64>, %old: tensor<37xf64>) -> tensor<37xf64> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x37xf64>) outs(%old : tensor<37xf64>) dimensions = [0]
  return %s : tensor<37xf64>
}
// The product is rounded to f32 before it is added. The loops are not in the order of the rows.
func.func @products(%x: tensor<?x?xbf16>, %y: tensor<?x?xf16>, %old: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(c, r) -> (r, c)>, affine_map<(c, r) -> (r, c)>, affine_map<(c, r) -> (c)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xbf16>, tensor<?x?xf16>) outs(%old : tensor<?xf32>) {
  ^bb0(%a: bf16, %b: f16, %c: f32):
    %wideA = arith.extf %a : bf16 to f32
    %wideB = arith.extf %b : f16 to f32
    %product = arith.mulf %wideA, %wideB : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}
// Two reduced dimensions, two dimensions of columns, two sums of different types, and a result with rows, in one kernel.
func.func @several(%x: tensor<?x3x5x14xbf16>, %w: tensor<?x3xf32>, %old: tensor<5x14xf64>)
    -> (tensor<5x14xf32>, tensor<5x14xf64>, tensor<?x3x5x14xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x3x5x14xbf16>
  %emptySum = tensor.empty() : tensor<5x14xf32>
  %start = linalg.fill ins(%zero : f32) outs(%emptySum : tensor<5x14xf32>) -> tensor<5x14xf32>
  %empty = tensor.empty(%rows) : tensor<?x3x5x14xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b)>,
                                        affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %w : tensor<?x3x5x14xbf16>, tensor<?x3xf32>) outs(%empty : tensor<?x3x5x14xf32>) {
  ^bb0(%a: bf16, %b: f32, %unused: f32):
    %wide = arith.extf %a : bf16 to f32
    %product = arith.mulf %wide, %b : f32
    linalg.yield %product : f32
  } -> tensor<?x3x5x14xf32>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (c, d)>,
                                          affine_map<(a, b, c, d) -> (c, d)>],
                         iterator_types = ["reduction", "reduction", "parallel", "parallel"]}
      ins(%y : tensor<?x3x5x14xf32>) outs(%start, %old : tensor<5x14xf32>, tensor<5x14xf64>) {
  ^bb0(%a: f32, %b: f32, %c: f64):
    %sum = arith.addf %a, %b : f32
    %wide = arith.extf %a : f32 to f64
    %square = arith.mulf %wide, %wide : f64
    %squares = arith.addf %c, %square : f64
    linalg.yield %sum, %squares : f32, f64
  } -> (tensor<5x14xf32>, tensor<5x14xf64>)
  return %s#0, %s#1, %y : tensor<5x14xf32>, tensor<5x14xf64>, tensor<?x3x5x14xf32>
}
// Sums of what a norm gives, in its kernel: the rows have phases before the one that adds.
func.func @of_norm(%x: tensor<?x200xf32>, %gamma: tensor<200xf32>) -> (tensor<?x200xf32>, tensor<200xf32>) {
  %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x200xf32>, tensor<200xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<200xf32>
  %old = linalg.fill ins(%zero : f32) outs(%empty : tensor<200xf32>) -> tensor<200xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<?x200xf32>) outs(%old : tensor<200xf32>) dimensions = [0]
  return %y, %s : tensor<?x200xf32>, tensor<200xf32>
}
// Narrow results are rounded once, from f64. No op asks for such sums yet but the kernel itself.
func.func @to_bf16(%x: tensor<?x65xf32>, %old: tensor<65xbf16>) -> tensor<65xbf16> {
  %c0 = arith.constant 0 : index
  %c65 = arith.constant 65 : index
  %rows = tensor.dim %x, %c0 : tensor<?x65xf32>
  %s = rows.kernel rows(%rows) columns(%c65) ins(%x : tensor<?x65xf32>) outs(%old : tensor<65xbf16>)
      attributes {indexing_maps = [#all, #columns]} -> tensor<65xbf16> {
  ^bb0(%row: index, %from: !rows.row<f32>, %to: !rows.row<bf16>):
    rows.phase [] {
    ^bb0(%c: index):
      %a = rows.load %from[%c] : !rows.row<f32> -> f32
      rows.accumulate %a, %to[%c] : f32, !rows.row<bf16>
    }
  }
  return %s : tensor<65xbf16>
}
func.func @to_f16(%x: tensor<?x65xbf16>, %old: tensor<65xf16>) -> tensor<65xf16> {
  %c0 = arith.constant 0 : index
  %c65 = arith.constant 65 : index
  %rows = tensor.dim %x, %c0 : tensor<?x65xbf16>
  %s = rows.kernel rows(%rows) columns(%c65) ins(%x : tensor<?x65xbf16>) outs(%old : tensor<65xf16>)
      attributes {indexing_maps = [#all, #columns]} -> tensor<65xf16> {
  ^bb0(%row: index, %from: !rows.row<bf16>, %to: !rows.row<f16>):
    rows.phase [] {
    ^bb0(%c: index):
      %narrow = rows.load %from[%c] : !rows.row<bf16> -> bf16
      %a = arith.extf %narrow : bf16 to f32
      rows.accumulate %a, %to[%c] : f32, !rows.row<f16>
    }
  }
  return %s : tensor<65xf16>
}
