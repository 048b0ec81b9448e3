// Moves of elements in kernels with a thread for each: neighbouring threads read neighbours and write neighbours
// (test/run/cuda-points.test).

func.func @transpose(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  return %y : tensor<?x?xf32>
}

func.func @turn(%x: tensor<3x80x96xbf16>) -> tensor<96x3x80xbf16> {
  %e = tensor.empty() : tensor<96x3x80xbf16>
  %y = linalg.transpose ins(%x : tensor<3x80x96xbf16>) outs(%e : tensor<96x3x80xbf16>) permutation = [2, 0, 1]
  return %y : tensor<96x3x80xbf16>
}

func.func @heads(%x: tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32> {
  %e = tensor.empty() : tensor<2x4x40x64xf32>
  %y = linalg.transpose ins(%x : tensor<2x40x4x64xf32>) outs(%e : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3]
  return %y : tensor<2x4x40x64xf32>
}

// What is computed from a transpose and an array beside it, in one nest; numbers of one bit.
func.func @beside(%x: tensor<45x70xi1>, %z: tensor<70x45xf64>, %w: tensor<45x70xf64>) -> tensor<70x45xf64> {
  %e = tensor.empty() : tensor<70x45xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z, %w : tensor<45x70xi1>, tensor<70x45xf64>, tensor<45x70xf64>) outs(%e : tensor<70x45xf64>) {
  ^bb0(%a: i1, %b: f64, %c: f64, %o: f64):
    %s = arith.select %a, %b, %c : f64
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f64
    %t = arith.addf %s, %f : f64
    linalg.yield %t : f64
  } -> tensor<70x45xf64>
  return %y : tensor<70x45xf64>
}

func.func @slice(%x: tensor<40x256xf32>) -> tensor<20x96xf32> {
  %y = tensor.extract_slice %x[1, 32] [20, 96] [2, 1] : tensor<40x256xf32> to tensor<20x96xf32>
  return %y : tensor<20x96xf32>
}

func.func @concat(%x: tensor<20x64xf32>, %y: tensor<20x96xf32>) -> tensor<20x160xf32> {
  %z = tensor.concat dim(1) %x, %y : (tensor<20x64xf32>, tensor<20x96xf32>) -> tensor<20x160xf32>
  return %z : tensor<20x160xf32>
}

func.func @pad(%x: tensor<20x64xf32>) -> tensor<24x96xf32> {
  %zero = arith.constant 0.0 : f32
  %z = tensor.pad %x low[2, 16] high[2, 16] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<20x64xf32> to tensor<24x96xf32>
  return %z : tensor<24x96xf32>
}

func.func @gather(%t: tensor<50x64xf32>, %i: tensor<20xi32>) -> tensor<20x64xf32> {
  %y = resid.embedding %i, %t : tensor<20xi32>, tensor<50x64xf32>
  return %y : tensor<20x64xf32>
}

func.func @broadcast(%x: tensor<20x4x64xf32>, %b: tensor<20xf32>) -> tensor<20x4x64xf32> {
  %e = tensor.empty() : tensor<20x4x64xf32>
  %y = linalg.broadcast ins(%b : tensor<20xf32>) outs(%e : tensor<20x4x64xf32>) dimensions = [1, 2]
  %z = arith.addf %x, %y : tensor<20x4x64xf32>
  return %z : tensor<20x4x64xf32>
}

func.func @spread(%b: tensor<20x64xf32>) -> tensor<20x4x64xf32> {
  %e = tensor.empty() : tensor<20x4x64xf32>
  %y = linalg.broadcast ins(%b : tensor<20x64xf32>) outs(%e : tensor<20x4x64xf32>) dimensions = [1]
  return %y : tensor<20x4x64xf32>
}

func.func @append(%c: tensor<2x3x16x64xf32>, %n: tensor<2x3x5x64xf32>, %p: i64) -> tensor<2x3x16x64xf32> {
  %y = resid.append %c, %n past(%p) : tensor<2x3x16x64xf32>, tensor<2x3x5x64xf32>
  return %y : tensor<2x3x16x64xf32>
}

// Sums of rows in order, beside where something was last seen; a softmax that is written out.
func.func @sums(%x: tensor<?x?x?xf32>, %w: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %z = arith.constant 0 : i32
  %a = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %e = tensor.empty(%b, %a) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e1 = tensor.empty(%b, %a) : tensor<?x?xi32>
  %f1 = linalg.fill ins(%z : i32) outs(%e1 : tensor<?x?xi32>) -> tensor<?x?xi32>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (j, i)>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x?xf32>, tensor<?xf32>) outs(%f, %f1 : tensor<?x?xf32>, tensor<?x?xi32>) {
  ^bb0(%p: f32, %q: f32, %s: f32, %n: i32):
    %m = arith.maximumf %p, %q : f32
    %t = arith.addf %s, %m : f32
    %l = arith.cmpf ogt, %p, %q : f32
    %i = linalg.index 2 : index
    %ii = arith.index_cast %i : index to i32
    %c = arith.select %l, %ii, %n : i32
    linalg.yield %t, %c : f32, i32
  } -> (tensor<?x?xf32>, tensor<?x?xi32>)
  return %y#0, %y#1 : tensor<?x?xf32>, tensor<?x?xi32>
}

func.func @written(%x: tensor<200x72xf32>) -> tensor<200x72xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200xf32>
  %e2 = tensor.empty() : tensor<200x72xf32>
  %m0 = linalg.fill ins(%least : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<200x72xf32>) outs(%m0 : tensor<200xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<200xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<200x72xf32>, tensor<200xf32>) outs(%e2 : tensor<200x72xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    linalg.yield %d : f32
  } -> tensor<200x72xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<200x72xf32>) outs(%s0 : tensor<200xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<200xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<200x72xf32>, tensor<200xf32>) outs(%e2 : tensor<200x72xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<200x72xf32>
  return %y : tensor<200x72xf32>
}
