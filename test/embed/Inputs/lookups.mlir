#t = affine_map<(t, d) -> (t)>
#td = affine_map<(t, d) -> (t, d)>

// Rows of a table, by numbers of two widths; the table's size is known or not.
func.func @embed(%ids: tensor<?xi64>, %table: tensor<50x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#t, #td], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %d = linalg.index 1 : index
    %v = tensor.extract %table[%i, %d] : tensor<50x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @embed_any(%ids: tensor<2x?xi32>, %table: tensor<?x8xf32>) -> tensor<2x?x8xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %ids, %c1 : tensor<2x?xi32>
  %e = tensor.empty(%n) : tensor<2x?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, t, d) -> (b, t)>, affine_map<(b, t, d) -> (b, t, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%ids : tensor<2x?xi32>) outs(%e : tensor<2x?x8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %wide = arith.extsi %id : i32 to i64
    %i = arith.index_cast %wide : i64 to index
    %d = linalg.index 2 : index
    %v = tensor.extract %table[%i, %d] : tensor<?x8xf32>
    linalg.yield %v : f32
  } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// Rows put into a table, at a place that data or a scalar argument gives.
func.func @put(%into: tensor<50x8xf32>, %rows: tensor<?x8xf32>, %at: tensor<1xi64>) -> tensor<50x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %rows, %c0 : tensor<?x8xf32>
  %where = tensor.extract %at[%c0] : tensor<1xi64>
  %i = arith.index_cast %where : i64 to index
  %y = tensor.insert_slice %rows into %into[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<50x8xf32>
  return %y : tensor<50x8xf32>
}

func.func @take(%table: tensor<50x8xf32>, %at: index) -> tensor<3x8xf32> {
  %y = tensor.extract_slice %table[%at, 0] [3, 8] [1, 1] : tensor<50x8xf32> to tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
