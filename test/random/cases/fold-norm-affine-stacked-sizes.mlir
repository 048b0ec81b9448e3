// resid-fold-norm-affine took a size that is known at run time only for one that the type states, in stacks that a loop goes through.
// passes: fold-norm-affine
// entry: main --arg=f64[4x16]=random:708745 --arg=f64[16]=random:399266 --arg=f64[16]=random:196535 --arg=f64[16]=random:860955 --arg=f64[16x16]=random:486612*0.2 --arg=f64[16]=random:560081 --arg=f64[16x16]=random:814759*0.2 --arg=f64[16]=random:328592 --arg=f64[16]=random:893098 --arg=f64[4x16]=random:42652 --arg=f64[16x16]=random:597770*0.2 --arg=f64[16]=random:65303 --arg=f64[16x16]=random:610477*0.2 --arg=f64[2x16]=random:567583 --arg=f64[8x16]=random:863702*0.2 --arg=f64[2x8]=random:846837 --arg=f64[2x8x16]=random:556564*0.283 --arg=f64[2x16x16]=random:862633*0.2 --arg=f64[2x16]=random:545964 --arg=f64[2x16x16]=random:77192*0.2 --arg=f64[2x16]=random:695402 --arg=f64[16]=random:861349 --arg=f64[16]=random:961233 --arg=f64[16]=random:486220 --arg=f64[16x8]=random:671659*0.2 --arg=f64[8]=random:391599 --arg=f64[16x8]=random:161394*0.283 --arg=f64[16x2]=random:981800*0.2 --arg=f64[4x16]=random:397796
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1, d2) -> (d2, d1)>
module {
  func.func @main(%arg0: tensor<4x16xf64> {resid.name = "a0"}, %arg1: tensor<16xf64> {resid.name = "a1"}, %arg2: tensor<16xf64> {resid.name = "a2"}, %arg3: tensor<16xf64> {resid.name = "a3"}, %arg4: tensor<16x16xf64> {resid.name = "a4"}, %arg5: tensor<16xf64> {resid.name = "a5"}, %arg6: tensor<16x16xf64> {resid.name = "a6"}, %arg7: tensor<16xf64> {resid.name = "a7"}, %arg8: tensor<16xf64> {resid.name = "a8"}, %arg9: tensor<4x16xf64> {resid.name = "a9"}, %arg10: tensor<16x16xf64> {resid.name = "a10"}, %arg11: tensor<16xf64> {resid.name = "a11"}, %arg12: tensor<16x16xf64> {resid.name = "a12"}, %arg13: tensor<2x16xf64> {resid.name = "a13"}, %arg14: tensor<?x16xf64> {resid.name = "a14"}, %arg15: tensor<2x?xf64> {resid.name = "a15"}, %arg16: tensor<2x?x16xf64> {resid.name = "a16"}, %arg17: tensor<?x16x16xf64> {resid.name = "a17"}, %arg18: tensor<2x16xf64> {resid.name = "a18"}, %arg19: tensor<2x16x16xf64> {resid.name = "a19"}, %arg20: tensor<2x16xf64> {resid.name = "a20"}, %arg21: tensor<16xf64> {resid.name = "a21"}, %arg22: tensor<16xf64> {resid.name = "a22"}, %arg23: tensor<16xf64> {resid.name = "a23"}, %arg24: tensor<16x?xf64> {resid.name = "a24"}, %arg25: tensor<?xf64> {resid.name = "a25"}, %arg26: tensor<16x?xf64> {resid.name = "a26"}, %arg27: tensor<16x2xf64> {resid.name = "a27"}, %arg28: tensor<4x16xf64> {resid.name = "a28"}) -> tensor<4x16xf64> {
    %0 = resid.block peri %arg0 norm(layer gamma %arg1 : tensor<16xf64> beta %arg1 : tensor<16xf64> epsilon = 1.000000e-05) norm(layer gamma %arg2 : tensor<16xf64> beta %arg3 : tensor<16xf64> epsilon = 9.9999999999999995E-7) : tensor<4x16xf64> {
    ^bb0(%arg29: tensor<4x16xf64>):
      %6 = tensor.empty() : tensor<16x16xf64>
      %transposed = linalg.transpose ins(%arg4 : tensor<16x16xf64>) outs(%6 : tensor<16x16xf64>) permutation = [1, 0] 
      %7 = tensor.empty() : tensor<4x16xf64>
      %broadcasted = linalg.broadcast ins(%arg5 : tensor<16xf64>) outs(%7 : tensor<4x16xf64>) dimensions = [0] 
      %8 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg29, %transposed : tensor<4x16xf64>, tensor<16x16xf64>) outs(%broadcasted : tensor<4x16xf64>) {
      ^bb0(%in: f64, %in_1: f64, %out: f64):
        %16 = arith.mulf %in, %in_1 : f64
        %17 = arith.addf %out, %16 : f64
        linalg.yield %17 : f64
      } -> tensor<4x16xf64>
      %9 = tensor.empty() : tensor<4x16xf64>
      %cst = arith.constant 0.000000e+00 : f64
      %10 = linalg.fill ins(%cst : f64) outs(%9 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %11 = linalg.matmul ins(%8, %arg4 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%10 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %12 = tensor.empty() : tensor<4x16xf64>
      %cst_0 = arith.constant 0.000000e+00 : f64
      %13 = linalg.fill ins(%cst_0 : f64) outs(%12 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %14 = linalg.matmul ins(%8, %arg6 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%13 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %15 = arith.addf %11, %14 : tensor<4x16xf64>
      resid.yield %15 : tensor<4x16xf64>
    }
    %1 = resid.block peri %0 norm(layer gamma %arg7 : tensor<16xf64> beta %arg8 : tensor<16xf64> epsilon = 1.000000e-05) norm(layer gamma %arg9 : tensor<4x16xf64> epsilon = 1.000000e-05) : tensor<4x16xf64> {
    ^bb0(%arg29: tensor<4x16xf64>):
      %6 = tensor.empty() : tensor<4x16xf64>
      %cst = arith.constant 0.000000e+00 : f64
      %7 = linalg.fill ins(%cst : f64) outs(%6 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %8 = linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%arg29, %arg10 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%7 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %9 = resid.add_bias %8, %arg11 : tensor<4x16xf64>, tensor<16xf64>
      %10 = tensor.empty() : tensor<4x16xf64>
      %cst_0 = arith.constant 0.000000e+00 : f64
      %11 = linalg.fill ins(%cst_0 : f64) outs(%10 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %12 = linalg.matmul ins(%arg29, %arg12 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%11 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %13 = resid.add_bias %12, %arg1 : tensor<4x16xf64>, tensor<16xf64>
      %14 = arith.addf %9, %13 : tensor<4x16xf64>
      resid.yield %14 : tensor<4x16xf64>
    }
    %2 = resid.layer_norm %1 gamma(%arg1) beta(%arg1) {epsilon = 1.000000e-05 : f64} : tensor<4x16xf64>, tensor<16xf64>, tensor<16xf64>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %3 = scf.for %arg29 = %c0 to %c2 step %c1 iter_args(%arg30 = %2) -> (tensor<4x16xf64>) {
      %extracted_slice = tensor.extract_slice %arg13[%arg29, 0] [1, 16] [1, 1] : tensor<2x16xf64> to tensor<16xf64>
      %extracted_slice_0 = tensor.extract_slice %arg18[%arg29, 0] [1, 16] [1, 1] : tensor<2x16xf64> to tensor<16xf64>
      %6 = resid.block peri %arg30 norm(layer gamma %extracted_slice : tensor<16xf64> epsilon = 9.9999999999999995E-7) norm(layer epsilon = 1.000000e-01) {branch_scale = -7.500000e-01 : f64} : tensor<4x16xf64> {
      ^bb0(%arg31: tensor<4x16xf64>):
        %c0_3 = arith.constant 0 : index
        %dim = tensor.dim %arg14, %c0_3 : tensor<?x16xf64>
        %8 = tensor.empty(%dim) : tensor<4x?xf64>
        %c1_4 = arith.constant 1 : index
        %dim_5 = tensor.dim %arg15, %c1_4 : tensor<2x?xf64>
        %extracted_slice_6 = tensor.extract_slice %arg15[%arg29, 0] [1, %dim_5] [1, 1] : tensor<2x?xf64> to tensor<?xf64>
        %broadcasted = linalg.broadcast ins(%extracted_slice_6 : tensor<?xf64>) outs(%8 : tensor<4x?xf64>) dimensions = [0] 
        %9 = linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%arg31, %arg14 : tensor<4x16xf64>, tensor<?x16xf64>) outs(%broadcasted : tensor<4x?xf64>) -> tensor<4x?xf64>
        %10 = math.absf %9 : tensor<4x?xf64>
        %11 = arith.negf %10 : tensor<4x?xf64>
        %12 = math.exp %11 : tensor<4x?xf64>
        %c1_7 = arith.constant 1 : index
        %dim_8 = tensor.dim %arg16, %c1_7 : tensor<2x?x16xf64>
        %extracted_slice_9 = tensor.extract_slice %arg16[%arg29, 0, 0] [1, %dim_8, 16] [1, 1, 1] : tensor<2x?x16xf64> to tensor<?x16xf64>
        %13 = tensor.empty() : tensor<4x16xf64>
        %cst = arith.constant 0.000000e+00 : f64
        %14 = linalg.fill ins(%cst : f64) outs(%13 : tensor<4x16xf64>) -> tensor<4x16xf64>
        %15 = linalg.matmul ins(%12, %extracted_slice_9 : tensor<4x?xf64>, tensor<?x16xf64>) outs(%14 : tensor<4x16xf64>) -> tensor<4x16xf64>
        %extracted_slice_10 = tensor.extract_slice %arg17[%arg29, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<?x16x16xf64> to tensor<16x16xf64>
        %16 = tensor.empty() : tensor<16x16xf64>
        %transposed = linalg.transpose ins(%extracted_slice_10 : tensor<16x16xf64>) outs(%16 : tensor<16x16xf64>) permutation = [1, 0] 
        %17 = tensor.empty() : tensor<4x16xf64>
        %cst_11 = arith.constant 0.000000e+00 : f64
        %18 = linalg.fill ins(%cst_11 : f64) outs(%17 : tensor<4x16xf64>) -> tensor<4x16xf64>
        %19 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15, %transposed : tensor<4x16xf64>, tensor<16x16xf64>) outs(%18 : tensor<4x16xf64>) {
        ^bb0(%in: f64, %in_15: f64, %out: f64):
          %28 = arith.mulf %in, %in_15 : f64
          %29 = arith.addf %out, %28 : f64
          linalg.yield %29 : f64
        } -> tensor<4x16xf64>
        %20 = resid.add_bias %19, %extracted_slice_0 : tensor<4x16xf64>, tensor<16xf64>
        %extracted_slice_12 = tensor.extract_slice %arg19[%arg29, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<2x16x16xf64> to tensor<16x16xf64>
        %21 = tensor.empty() : tensor<4x16xf64>
        %cst_13 = arith.constant 0.000000e+00 : f64
        %22 = linalg.fill ins(%cst_13 : f64) outs(%21 : tensor<4x16xf64>) -> tensor<4x16xf64>
        %23 = linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%15, %extracted_slice_12 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%22 : tensor<4x16xf64>) -> tensor<4x16xf64>
        %24 = arith.addf %20, %23 : tensor<4x16xf64>
        %25 = tensor.empty() : tensor<4x16xf64>
        %cst_14 = arith.constant 0.000000e+00 : f64
        %26 = linalg.fill ins(%cst_14 : f64) outs(%25 : tensor<4x16xf64>) -> tensor<4x16xf64>
        %27 = linalg.contract indexing_maps = [#map, #map1, #map2] ins(%24, %arg4 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%26 : tensor<4x16xf64>) -> tensor<4x16xf64>
        resid.yield %27 : tensor<4x16xf64>
      }
      %extracted_slice_1 = tensor.extract_slice %arg19[%arg29, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<2x16x16xf64> to tensor<16x16xf64>
      %extracted_slice_2 = tensor.extract_slice %arg20[%arg29, 0] [1, 16] [1, 1] : tensor<2x16xf64> to tensor<16xf64>
      %7 = resid.block peri %6 norm(layer gamma %arg1 : tensor<16xf64> epsilon = 1.000000e-01) norm(layer epsilon = 1.000000e-03) {branch_scale = 1.200000e+00 : f64, skip_scale = 1.200000e+00 : f64} : tensor<4x16xf64> {
      ^bb0(%arg31: tensor<4x16xf64>):
        %8 = tensor.empty() : tensor<16x16xf64>
        %transposed = linalg.transpose ins(%extracted_slice_1 : tensor<16x16xf64>) outs(%8 : tensor<16x16xf64>) permutation = [1, 0] 
        %9 = tensor.empty() : tensor<4x16xf64>
        %extracted_slice_3 = tensor.extract_slice %arg13[%arg29, 0] [1, 16] [1, 1] : tensor<2x16xf64> to tensor<16xf64>
        %broadcasted = linalg.broadcast ins(%extracted_slice_3 : tensor<16xf64>) outs(%9 : tensor<4x16xf64>) dimensions = [0] 
        %10 = linalg.matmul ins(%arg31, %transposed : tensor<4x16xf64>, tensor<16x16xf64>) outs(%broadcasted : tensor<4x16xf64>) -> tensor<4x16xf64>
        %11 = resid.add_bias %10, %extracted_slice_2 : tensor<4x16xf64>, tensor<16xf64>
        resid.yield %11 : tensor<4x16xf64>
      }
      scf.yield %7 : tensor<4x16xf64>
    }
    %4 = resid.block peri %3 norm(layer gamma %arg21 : tensor<16xf64> epsilon = 1.000000e-05) norm(layer gamma %arg22 : tensor<16xf64> beta %arg23 : tensor<16xf64> epsilon = 9.9999999999999995E-7) {skip_scale = 5.000000e-01 : f64} : tensor<4x16xf64> {
    ^bb0(%arg29: tensor<4x16xf64>):
      %6 = tensor.empty() : tensor<4x16xf64>
      %cst = arith.constant 0.000000e+00 : f64
      %7 = linalg.fill ins(%cst : f64) outs(%6 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %8 = linalg.matmul ins(%arg29, %arg4 : tensor<4x16xf64>, tensor<16x16xf64>) outs(%7 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %c1_0 = arith.constant 1 : index
      %dim = tensor.dim %arg24, %c1_0 : tensor<16x?xf64>
      %9 = tensor.empty(%dim) : tensor<4x?xf64>
      %cst_1 = arith.constant 0.000000e+00 : f64
      %10 = linalg.fill ins(%cst_1 : f64) outs(%9 : tensor<4x?xf64>) -> tensor<4x?xf64>
      %11 = linalg.matmul ins(%8, %arg24 : tensor<4x16xf64>, tensor<16x?xf64>) outs(%10 : tensor<4x?xf64>) -> tensor<4x?xf64>
      %c1_2 = arith.constant 1 : index
      %dim_3 = tensor.dim %11, %c1_2 : tensor<4x?xf64>
      %12 = tensor.empty(%dim_3) : tensor<4x?xf64>
      %13 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%11, %arg25 : tensor<4x?xf64>, tensor<?xf64>) outs(%12 : tensor<4x?xf64>) {
      ^bb0(%in: f64, %in_7: f64, %out: f64):
        %30 = arith.addf %in, %in_7 : f64
        linalg.yield %30 : f64
      } -> tensor<4x?xf64>
      %14 = math.absf %13 : tensor<4x?xf64>
      %15 = math.sqrt %14 : tensor<4x?xf64>
      %16 = tensor.empty() : tensor<4x16xf64>
      %cst_4 = arith.constant 0.000000e+00 : f64
      %17 = linalg.fill ins(%cst_4 : f64) outs(%16 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %18 = linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%15, %arg26 : tensor<4x?xf64>, tensor<16x?xf64>) outs(%17 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %19 = tensor.empty() : tensor<4x2xf64>
      %cst_5 = arith.constant 0.000000e+00 : f64
      %20 = linalg.fill ins(%cst_5 : f64) outs(%19 : tensor<4x2xf64>) -> tensor<4x2xf64>
      %21 = linalg.matmul ins(%18, %arg27 : tensor<4x16xf64>, tensor<16x2xf64>) outs(%20 : tensor<4x2xf64>) -> tensor<4x2xf64>
      %22 = math.absf %21 : tensor<4x2xf64>
      %23 = arith.negf %22 : tensor<4x2xf64>
      %24 = math.exp %23 : tensor<4x2xf64>
      %25 = tensor.empty() : tensor<4x16xf64>
      %cst_6 = arith.constant 0.000000e+00 : f64
      %26 = linalg.fill ins(%cst_6 : f64) outs(%25 : tensor<4x16xf64>) -> tensor<4x16xf64>
      %27 = linalg.generic {indexing_maps = [#map, #map5, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%24, %arg13 : tensor<4x2xf64>, tensor<2x16xf64>) outs(%26 : tensor<4x16xf64>) {
      ^bb0(%in: f64, %in_7: f64, %out: f64):
        %30 = arith.mulf %in, %in_7 : f64
        %31 = arith.addf %out, %30 : f64
        linalg.yield %31 : f64
      } -> tensor<4x16xf64>
      %28 = tensor.empty() : tensor<4x16xf64>
      %29 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%27, %arg1 : tensor<4x16xf64>, tensor<16xf64>) outs(%28 : tensor<4x16xf64>) {
      ^bb0(%in: f64, %in_7: f64, %out: f64):
        %30 = arith.addf %in, %in_7 : f64
        linalg.yield %30 : f64
      } -> tensor<4x16xf64>
      resid.yield %29 : tensor<4x16xf64>
    }
    %5 = resid.layer_norm %4 gamma(%arg28) beta(%arg9) {epsilon = 1.000000e-03 : f64} : tensor<4x16xf64>, tensor<4x16xf64>, tensor<4x16xf64>
    return %5 : tensor<4x16xf64>
  }
}
