// Arrays of i4, of which a byte holds two.

func.func @widened(%q: tensor<3x6xi4> {resid.weight}) -> tensor<3x6xi32> {
  %y = arith.extsi %q : tensor<3x6xi4> to tensor<3x6xi32>
  return %y : tensor<3x6xi32>
}

func.func @unsigned(%q: tensor<?x?xi4>) -> tensor<?x?xi16> {
  %y = arith.extui %q : tensor<?x?xi4> to tensor<?x?xi16>
  return %y : tensor<?x?xi16>
}

// A row of weights, scaled, and a sum of such rows.
func.func @scaled(%q: tensor<?x?xi4>, %s: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %q, %c0 : tensor<?x?xi4>
  %columns = tensor.dim %q, %c1 : tensor<?x?xi4>
  %e = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<?x?xi4>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: i4, %b: f32, %o: f32):
    %f = arith.sitofp %a : i4 to f32
    %p = arith.mulf %f, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @product(%x: tensor<?x?xf32>, %q: tensor<?x?xi4>) -> tensor<?x?xf32> {
  %w = arith.sitofp %q : tensor<?x?xi4> to tensor<?x?xf32>
  %y = resid.linear %x, %w : tensor<?x?xf32>, tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @constants() -> tensor<2x4xi8> {
  %q = arith.constant dense<[[-8, 7, 0, 1], [2, -3, 4, -1]]> : tensor<2x4xi4>
  %y = arith.extsi %q : tensor<2x4xi4> to tensor<2x4xi8>
  return %y : tensor<2x4xi8>
}
