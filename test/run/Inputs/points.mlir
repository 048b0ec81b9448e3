// What becomes kernels with a thread for each point (test/run/cuda-points.test).

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#turned = affine_map<(i, j) -> (j, i)>
#none = affine_map<() -> ()>

func.func @transpose(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) permutation = [1, 0]
  return %y : tensor<?x?xf32>
}

// Rank 4, of which two loops trade places, on f16, and what the loops are is in the numbers.
func.func @heads(%x: tensor<2x?x3x5xf16>) -> tensor<2x3x?x5xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x3x5xf16>
  %empty = tensor.empty(%n) : tensor<2x3x?x5xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, c, b, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x?x3x5xf16>) outs(%empty : tensor<2x3x?x5xf16>) {
  ^bb0(%element: f16, %old: f16):
    %place = linalg.index 1 : index
    %integer = arith.index_cast %place : index to i32
    %number = arith.sitofp %integer : i32 to f16
    %sum = arith.addf %element, %number : f16
    linalg.yield %sum : f16
  } -> tensor<2x3x?x5xf16>
  return %y : tensor<2x3x?x5xf16>
}

// The largest element of each row and where it is.
func.func @argmax(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %least = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %e0 = tensor.empty(%m) : tensor<?xf32>
  %e1 = tensor.empty(%m) : tensor<?xi64>
  %s0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %s1 = linalg.fill ins(%first : i64) outs(%e1 : tensor<?xi64>) -> tensor<?xi64>
  %y:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%s0, %s1 : tensor<?xf32>, tensor<?xi64>) {
  ^bb0(%element: f32, %best: f32, %where: i64):
    %place = linalg.index 1 : index
    %number = arith.index_cast %place : index to i64
    %larger = arith.cmpf ogt, %element, %best : f32
    %value = arith.select %larger, %element, %best : f32
    %index = arith.select %larger, %number, %where : i64
    linalg.yield %value, %index : f32, i64
  } -> (tensor<?xf32>, tensor<?xi64>)
  return %y#0, %y#1 : tensor<?xf32>, tensor<?xi64>
}

// A sum of everything, whose order shows in its bits, and one down the rows, in f64.
func.func @sums(%x: tensor<?x?xf32>, %z: tensor<?x?xf64>) -> (tensor<f32>, tensor<?xf64>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %z, %c1 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f32
  %long = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<f32>
  %e1 = tensor.empty(%n) : tensor<?xf64>
  %s0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %s1 = linalg.fill ins(%long : f64) outs(%e1 : tensor<?xf64>) -> tensor<?xf64>
  %all = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%s0 : tensor<f32>) dimensions = [0, 1]
  %down = linalg.reduce { arith.addf } ins(%z : tensor<?x?xf64>) outs(%s1 : tensor<?xf64>) dimensions = [0]
  return %all, %down : tensor<f32>, tensor<?xf64>
}

// Constants in the code of a nest, and copied for a row kernel.
func.func @constants(%x: tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>) {
  %c = arith.constant dense<[[1.0, -2.0, 3.5, 4.0], [5.0, 6.25, -0.0, 8.0], [9.0, 1.0e-3, 11.0, 12.0]]> : tensor<3x4xf32>
  %empty = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [#turned, #turned, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c : tensor<3x4xf32>, tensor<3x4xf32>) outs(%empty : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %product = arith.mulf %a, %b : f32
    linalg.yield %product : f32
  } -> tensor<4x3xf32>
  %s = arith.addf %x, %c : tensor<3x4xf32>
  return %y, %s : tensor<4x3xf32>, tensor<3x4xf32>
}

// A slice with steps, padded, and beside itself.
func.func @moves(%x: tensor<7x9xbf16>) -> (tensor<5x6xbf16>, tensor<14x9xbf16>) {
  %p = arith.constant 1.5 : bf16
  %s = tensor.extract_slice %x[1, 2] [3, 4] [2, 1] : tensor<7x9xbf16> to tensor<3x4xbf16>
  %y = tensor.pad %s low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %p : bf16
  } : tensor<3x4xbf16> to tensor<5x6xbf16>
  %twice = tensor.concat dim(0) %x, %x : (tensor<7x9xbf16>, tensor<7x9xbf16>) -> tensor<14x9xbf16>
  return %y, %twice : tensor<5x6xbf16>, tensor<14x9xbf16>
}

func.func @convolution(%x: tensor<2x7x6x3xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<2x3x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x7x6x3xf32>, tensor<3x2x3x4xf32>) outs(%start : tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}

// A linear layer with a bias and an activation, on bf16, and one on f64.
func.func @linear(%x: tensor<?x37xbf16>, %w: tensor<19x37xbf16>, %b: tensor<19xbf16>) -> tensor<?x19xbf16> {
  %y = resid.linear %x, %w bias(%b) : tensor<?x37xbf16>, tensor<19x37xbf16>, tensor<19xbf16> -> tensor<?x19xbf16>
  %a = resid.activation gelu %y : tensor<?x19xbf16>
  return %a : tensor<?x19xbf16>
}
func.func @long(%x: tensor<?x5xf64>, %w: tensor<5x7xf64>) -> tensor<?x7xf64> {
  %y = resid.linear %x, %w {transposed} : tensor<?x5xf64>, tensor<5x7xf64> -> tensor<?x7xf64>
  return %y : tensor<?x7xf64>
}

// Batches, and a product that goes on from what is there.
func.func @batches(%a: tensor<3x?x8xf32>, %b: tensor<3x8x?xf32>, %c: tensor<3x?x?xf32>) -> tensor<3x?x?xf32> {
  %y = linalg.batch_matmul ins(%a, %b : tensor<3x?x8xf32>, tensor<3x8x?xf32>) outs(%c : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
  return %y : tensor<3x?x?xf32>
}

func.func @scatter(%rows: tensor<2x5xf32>, %into: tensor<?x5x2xf32>, %ids: tensor<2x2xi32>) -> tensor<?x5x2xf32> {
  %y = tensor.scatter %rows into %into[%ids] scatter_dims([0, 2]) unique
      : (tensor<2x5xf32>, tensor<?x5x2xf32>, tensor<2x2xi32>) -> tensor<?x5x2xf32>
  return %y : tensor<?x5x2xf32>
}

func.func @look_up(%ids: tensor<4xindex>, %table: tensor<3xi32>) -> tensor<4xi32> {
  %empty = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xindex>) outs(%empty : tensor<4xi32>) {
  ^bb0(%id: index, %old: i32):
    %element = tensor.extract %table[%id] : tensor<3xi32>
    linalg.yield %element : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// The same in the body of linalg.map.
func.func @map_lookup(%ids: tensor<4xindex>, %table: tensor<3xi32>) -> tensor<4xi32> {
  %empty = tensor.empty() : tensor<4xi32>
  %y = linalg.map ins(%ids : tensor<4xindex>) outs(%empty : tensor<4xi32>)
    (%id: index, %old: i32) {
      %element = tensor.extract %table[%id] : tensor<3xi32>
      linalg.yield %element : i32
    }
  return %y : tensor<4xi32>
}

// The program itself takes element 0 for others, which is no mistake.
func.func @clamped(%ids: tensor<4xindex>, %table: tensor<3xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<4xi32>
  %y = linalg.map ins(%ids : tensor<4xindex>) outs(%empty : tensor<4xi32>)
    (%id: index, %old: i32) {
      %below = arith.cmpi ult, %id, %c3 : index
      %kept = arith.select %below, %id, %c0 : index
      %element = tensor.extract %table[%kept] : tensor<3xi32>
      linalg.yield %element : i32
    }
  return %y : tensor<4xi32>
}

// A row alone, which a result may lie in.
func.func @vector(%x: tensor<256xf32>, %y: tensor<256xf32>) -> tensor<256xf32> {
  %z = arith.addf %x, %y : tensor<256xf32>
  return %z : tensor<256xf32>
}

// Rows, though it stands here: sums in the order of rows.
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
