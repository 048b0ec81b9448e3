// RUN: resid-opt %s -resid-raise -split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: resid-opt %s -resid-raise=level=all -resid-check-stream -split-input-file -o %t 2>&1 | FileCheck %s --check-prefix=STREAM --implicit-check-not=warning
// RUN: resid-opt %s -resid-raise=level=all -resid-form-blocks=complete=true -split-input-file 2>/dev/null | FileCheck %s --check-prefix=BLOCKS
// RUN: resid-opt %s -resid-raise=level=all -resid-passes -split-input-file 2>/dev/null | FileCheck %s --check-prefix=FUSED
// Layers as torch-mlir writes them, weights as arguments: what is raised are residual streams to the other passes. The values are compared in
// test/run/raise-streams.test.

// A block in the shape of GPT-2: pre-norm, a mask, two heads, GELU.
// EXACT-LABEL: func.func @gpt2(
// EXACT-COUNT-2: resid.add %
// EXACT-NOT: resid.add %
// STREAM-COUNT-4: remark: raised (exact in real arithmetic)
// BLOCKS-LABEL: func.func @gpt2(
// BLOCKS: %[[S:.*]] = resid.block pre %arg0 norm(layer gamma %arg2 : {{.*}} beta %arg3 :
// BLOCKS: resid.attention
// BLOCKS: %[[Y:.*]] = resid.block pre %[[S]] norm(layer gamma %arg8 : {{.*}} beta %arg9 :
// BLOCKS: resid.activation gelu
// BLOCKS: return %[[Y]]
// FUSED-LABEL: func.func @gpt2(
// FUSED: resid.layer_norm %arg0
// FUSED: %[[N:.*]], %[[S:.*]] = resid.add_norm layer %arg0, %{{.*}} gamma(%arg8) beta(%arg9)
// FUSED: resid.linear %[[N]]
// FUSED: %[[Y:.*]] = resid.add %[[S]],
// FUSED: return %[[Y]]

!x = tensor<2x3x8xf32>
!x64 = tensor<2x3x8xf64>
!row = tensor<2x3x1xf32>
!row64 = tensor<2x3x1xf64>
!vector = tensor<8xf32>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
func.func @gpt2(%x: !x, %mask: tensor<3x3xf32>, %gamma0: !vector, %beta0: !vector, %w_qkv: tensor<24x8xf32>, %b_qkv: tensor<24xf32>, %w_o: tensor<8x8xf32>, %b_o: !vector, %gamma1: !vector, %beta1: !vector, %w_up: tensor<16x8xf32>, %b_up: tensor<16xf32>, %w_down: tensor<8x16xf32>, %b_down: !vector) -> !x {
  %c0_i64 = arith.constant 0 : i64
  %cst = arith.constant 0.000000e+00 : f64
  %cst_0 = arith.constant 0.000000e+00 : f32
  %cst_1 = arith.constant 0xFF800000 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %cst_3 = arith.constant 5.000000e-01 : f32
  %cst_4 = arith.constant 1.000000e-05 : f64
  %cst_5 = arith.constant 8.000000e+00 : f64
  %cst_6 = arith.constant 8.000000e+00 : f32
  %cst_7 = arith.constant 1.41421354 : f32
  %0 = tensor.empty() : !x64
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : !x) outs(%0 : !x64) {
  ^bb0(%in: f32, %out: f64):
    %87 = arith.extf %in : f32 to f64
    linalg.yield %87 : f64
  } -> !x64
  %2 = tensor.empty() : !row64
  %3 = linalg.fill ins(%cst : f64) outs(%2 : !row64) -> !row64
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : !x64) outs(%3 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.addf %in, %out : f64
    linalg.yield %87 : f64
  } -> !row64
  %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : !row64) outs(%2 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.divf %in, %cst_5 : f64
    linalg.yield %87 : f64
  } -> !row64
  %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %5 : !x64, !row64) outs(%0 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %87 = arith.subf %in, %on : f64
    linalg.yield %87 : f64
  } -> !x64
  %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %6 : !x64, !x64) outs(%0 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %87 = arith.mulf %in, %on : f64
    linalg.yield %87 : f64
  } -> !x64
  %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : !x64) outs(%3 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.addf %in, %out : f64
    linalg.yield %87 : f64
  } -> !row64
  %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : !row64) outs(%2 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.divf %in, %cst_5 : f64
    linalg.yield %87 : f64
  } -> !row64
  %10 = tensor.empty() : !row
  %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : !row64) outs(%10 : !row) {
  ^bb0(%in: f64, %out: f32):
    %87 = arith.truncf %in : f64 to f32
    linalg.yield %87 : f32
  } -> !row
  %12 = linalg.fill ins(%cst_0 : f32) outs(%10 : !row) -> !row
  %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : !x) outs(%12 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.addf %in, %out : f32
    linalg.yield %87 : f32
  } -> !row
  %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : !row) outs(%10 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.divf %in, %cst_6 : f32
    linalg.yield %87 : f32
  } -> !row
  %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : !row) outs(%10 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.truncf %cst_4 : f64 to f32
    %88 = arith.addf %in, %87 : f32
    linalg.yield %88 : f32
  } -> !row
  %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : !row) outs(%10 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = math.rsqrt %in : f32
    linalg.yield %87 : f32
  } -> !row
  %17 = tensor.empty() : !x
  %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %14 : !x, !row) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.subf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %16 : !x, !row) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.mulf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %20 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %gamma0 : !x, !vector) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.mulf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %beta0 : !x, !vector) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %collapsed = tensor.collapse_shape %21 [[0, 1], [2]] : !x into tensor<6x8xf32>
  %22 = tensor.empty() : tensor<8x24xf32>
  %transposed = linalg.transpose ins(%w_qkv : tensor<24x8xf32>) outs(%22 : tensor<8x24xf32>) permutation = [1, 0]
  %23 = tensor.empty() : tensor<6x24xf32>
  %24 = linalg.fill ins(%cst_0 : f32) outs(%23 : tensor<6x24xf32>) -> tensor<6x24xf32>
  %25 = linalg.matmul ins(%collapsed, %transposed : tensor<6x8xf32>, tensor<8x24xf32>) outs(%24 : tensor<6x24xf32>) -> tensor<6x24xf32>
  %26 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%b_qkv : tensor<24xf32>) outs(%23 : tensor<6x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x24xf32>
  %27 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%25, %26 : tensor<6x24xf32>, tensor<6x24xf32>) outs(%23 : tensor<6x24xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<6x24xf32>
  %expanded = tensor.expand_shape %27 [[0, 1], [2]] output_shape [2, 3, 24] : tensor<6x24xf32> into tensor<2x3x24xf32>
  %extracted_slice = tensor.extract_slice %expanded[0, 0, 0] [2, 3, 8] [1, 1, 1] : tensor<2x3x24xf32> to !x
  %extracted_slice_8 = tensor.extract_slice %expanded[0, 0, 8] [2, 3, 8] [1, 1, 1] : tensor<2x3x24xf32> to !x
  %extracted_slice_9 = tensor.extract_slice %expanded[0, 0, 16] [2, 3, 8] [1, 1, 1] : tensor<2x3x24xf32> to !x
  %expanded_10 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [2, 3, 2, 4] : !x into tensor<2x3x2x4xf32>
  %28 = tensor.empty() : tensor<2x2x3x4xf32>
  %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x3x2x4xf32>) outs(%28 : tensor<2x2x3x4xf32>) permutation = [0, 2, 1, 3]
  %expanded_12 = tensor.expand_shape %extracted_slice_8 [[0], [1], [2, 3]] output_shape [2, 3, 2, 4] : !x into tensor<2x3x2x4xf32>
  %expanded_13 = tensor.expand_shape %extracted_slice_9 [[0], [1], [2, 3]] output_shape [2, 3, 2, 4] : !x into tensor<2x3x2x4xf32>
  %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<2x3x2x4xf32>) outs(%28 : tensor<2x2x3x4xf32>) permutation = [0, 2, 1, 3]
  %29 = tensor.empty() : tensor<2x2x4x3xf32>
  %transposed_15 = linalg.transpose ins(%expanded_12 : tensor<2x3x2x4xf32>) outs(%29 : tensor<2x2x4x3xf32>) permutation = [0, 2, 3, 1]
  %collapsed_16 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<2x2x3x4xf32> into tensor<4x3x4xf32>
  %collapsed_17 = tensor.collapse_shape %transposed_15 [[0, 1], [2], [3]] : tensor<2x2x4x3xf32> into tensor<4x4x3xf32>
  %30 = tensor.empty() : tensor<4x3x3xf32>
  %31 = linalg.fill ins(%cst_0 : f32) outs(%30 : tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
  %32 = linalg.batch_matmul ins(%collapsed_16, %collapsed_17 : tensor<4x3x4xf32>, tensor<4x4x3xf32>) outs(%31 : tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
  %expanded_18 = tensor.expand_shape %32 [[0, 1], [2], [3]] output_shape [2, 2, 3, 3] : tensor<4x3x3xf32> into tensor<2x2x3x3xf32>
  %33 = tensor.empty() : tensor<2x2x3x3xf32>
  %34 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<2x2x3x3xf32>) outs(%33 : tensor<2x2x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.mulf %in, %cst_3 : f32
    linalg.yield %87 : f32
  } -> tensor<2x2x3x3xf32>
  %35 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %mask : tensor<2x2x3x3xf32>, tensor<3x3xf32>) outs(%33 : tensor<2x2x3x3xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<2x2x3x3xf32>
  %36 = tensor.empty() : tensor<2x2x3xi64>
  %37 = linalg.fill ins(%c0_i64 : i64) outs(%36 : tensor<2x2x3xi64>) -> tensor<2x2x3xi64>
  %38 = tensor.empty() : tensor<2x2x3xf32>
  %39 = linalg.fill ins(%cst_1 : f32) outs(%38 : tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %40:2 = linalg.generic {indexing_maps = [#map5, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%35 : tensor<2x2x3x3xf32>) outs(%39, %37 : tensor<2x2x3xf32>, tensor<2x2x3xi64>) {
  ^bb0(%in: f32, %out: f32, %out_33: i64):
    %87 = linalg.index 3 : index
    %88 = arith.index_cast %87 : index to i64
    %89 = arith.maximumf %in, %out : f32
    %90 = arith.cmpf ogt, %in, %out : f32
    %91 = arith.select %90, %88, %out_33 : i64
    linalg.yield %89, %91 : f32, i64
  } -> (tensor<2x2x3xf32>, tensor<2x2x3xi64>)
  %expanded_19 = tensor.expand_shape %40#0 [[0], [1], [2, 3]] output_shape [2, 2, 3, 1] : tensor<2x2x3xf32> into tensor<2x2x3x1xf32>
  %41 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %expanded_19 : tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) outs(%33 : tensor<2x2x3x3xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.subf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<2x2x3x3xf32>
  %42 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<2x2x3x3xf32>) outs(%33 : tensor<2x2x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %87 = math.exp %in : f32
    linalg.yield %87 : f32
  } -> tensor<2x2x3x3xf32>
  %43 = tensor.empty() : tensor<2x2x3x1xf32>
  %44 = linalg.fill ins(%cst_0 : f32) outs(%43 : tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %45 = linalg.generic {indexing_maps = [#map5, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%42 : tensor<2x2x3x3xf32>) outs(%44 : tensor<2x2x3x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.addf %in, %out : f32
    linalg.yield %87 : f32
  } -> tensor<2x2x3x1xf32>
  %46 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %45 : tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) outs(%33 : tensor<2x2x3x3xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.divf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<2x2x3x3xf32>
  %collapsed_20 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<2x2x3x3xf32> into tensor<4x3x3xf32>
  %collapsed_21 = tensor.collapse_shape %transposed_14 [[0, 1], [2], [3]] : tensor<2x2x3x4xf32> into tensor<4x3x4xf32>
  %47 = tensor.empty() : tensor<4x3x4xf32>
  %48 = linalg.fill ins(%cst_0 : f32) outs(%47 : tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %49 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<4x3x3xf32>, tensor<4x3x4xf32>) outs(%48 : tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %expanded_22 = tensor.expand_shape %49 [[0, 1], [2], [3]] output_shape [2, 2, 3, 4] : tensor<4x3x4xf32> into tensor<2x2x3x4xf32>
  %50 = tensor.empty() : tensor<2x3x2x4xf32>
  %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<2x2x3x4xf32>) outs(%50 : tensor<2x3x2x4xf32>) permutation = [0, 2, 1, 3]
  %collapsed_24 = tensor.collapse_shape %transposed_23 [[0, 1], [2, 3]] : tensor<2x3x2x4xf32> into tensor<6x8xf32>
  %51 = tensor.empty() : tensor<8x8xf32>
  %transposed_25 = linalg.transpose ins(%w_o : tensor<8x8xf32>) outs(%51 : tensor<8x8xf32>) permutation = [1, 0]
  %52 = tensor.empty() : tensor<6x8xf32>
  %53 = linalg.fill ins(%cst_0 : f32) outs(%52 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %54 = linalg.matmul ins(%collapsed_24, %transposed_25 : tensor<6x8xf32>, tensor<8x8xf32>) outs(%53 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %55 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%b_o : !vector) outs(%52 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x8xf32>
  %56 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%54, %55 : tensor<6x8xf32>, tensor<6x8xf32>) outs(%52 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<6x8xf32>
  %expanded_26 = tensor.expand_shape %56 [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into !x
  %57 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %expanded_26 : !x, !x) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %58 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57 : !x) outs(%0 : !x64) {
  ^bb0(%in: f32, %out: f64):
    %87 = arith.extf %in : f32 to f64
    linalg.yield %87 : f64
  } -> !x64
  %59 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%58 : !x64) outs(%3 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.addf %in, %out : f64
    linalg.yield %87 : f64
  } -> !row64
  %60 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : !row64) outs(%2 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.divf %in, %cst_5 : f64
    linalg.yield %87 : f64
  } -> !row64
  %61 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %60 : !x64, !row64) outs(%0 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %87 = arith.subf %in, %on : f64
    linalg.yield %87 : f64
  } -> !x64
  %62 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %61 : !x64, !x64) outs(%0 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %87 = arith.mulf %in, %on : f64
    linalg.yield %87 : f64
  } -> !x64
  %63 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%62 : !x64) outs(%3 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.addf %in, %out : f64
    linalg.yield %87 : f64
  } -> !row64
  %64 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : !row64) outs(%2 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %87 = arith.divf %in, %cst_5 : f64
    linalg.yield %87 : f64
  } -> !row64
  %65 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : !row64) outs(%10 : !row) {
  ^bb0(%in: f64, %out: f32):
    %87 = arith.truncf %in : f64 to f32
    linalg.yield %87 : f32
  } -> !row
  %66 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%57 : !x) outs(%12 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.addf %in, %out : f32
    linalg.yield %87 : f32
  } -> !row
  %67 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : !row) outs(%10 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.divf %in, %cst_6 : f32
    linalg.yield %87 : f32
  } -> !row
  %68 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : !row) outs(%10 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.truncf %cst_4 : f64 to f32
    %88 = arith.addf %in, %87 : f32
    linalg.yield %88 : f32
  } -> !row
  %69 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : !row) outs(%10 : !row) {
  ^bb0(%in: f32, %out: f32):
    %87 = math.rsqrt %in : f32
    linalg.yield %87 : f32
  } -> !row
  %70 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57, %67 : !x, !row) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.subf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %71 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %69 : !x, !row) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.mulf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %72 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %gamma1 : !x, !vector) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.mulf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %73 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72, %beta1 : !x, !vector) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  %collapsed_27 = tensor.collapse_shape %73 [[0, 1], [2]] : !x into tensor<6x8xf32>
  %74 = tensor.empty() : tensor<8x16xf32>
  %transposed_28 = linalg.transpose ins(%w_up : tensor<16x8xf32>) outs(%74 : tensor<8x16xf32>) permutation = [1, 0]
  %75 = tensor.empty() : tensor<6x16xf32>
  %76 = linalg.fill ins(%cst_0 : f32) outs(%75 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %77 = linalg.matmul ins(%collapsed_27, %transposed_28 : tensor<6x8xf32>, tensor<8x16xf32>) outs(%76 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %78 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%b_up : tensor<16xf32>) outs(%75 : tensor<6x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x16xf32>
  %79 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%77, %78 : tensor<6x16xf32>, tensor<6x16xf32>) outs(%75 : tensor<6x16xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<6x16xf32>
  %expanded_29 = tensor.expand_shape %79 [[0, 1], [2]] output_shape [2, 3, 16] : tensor<6x16xf32> into tensor<2x3x16xf32>
  %80 = tensor.empty() : tensor<2x3x16xf32>
  %81 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<2x3x16xf32>) outs(%80 : tensor<2x3x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %87 = arith.divf %in, %cst_7 : f32
    %88 = math.erf %87 : f32
    %89 = arith.addf %88, %cst_2 : f32
    %90 = arith.mulf %89, %cst_3 : f32
    %91 = arith.mulf %in, %90 : f32
    linalg.yield %91 : f32
  } -> tensor<2x3x16xf32>
  %collapsed_30 = tensor.collapse_shape %81 [[0, 1], [2]] : tensor<2x3x16xf32> into tensor<6x16xf32>
  %82 = tensor.empty() : tensor<16x8xf32>
  %transposed_31 = linalg.transpose ins(%w_down : tensor<8x16xf32>) outs(%82 : tensor<16x8xf32>) permutation = [1, 0]
  %83 = linalg.matmul ins(%collapsed_30, %transposed_31 : tensor<6x16xf32>, tensor<16x8xf32>) outs(%53 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %84 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%b_down : !vector) outs(%52 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x8xf32>
  %85 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%83, %84 : tensor<6x8xf32>, tensor<6x8xf32>) outs(%52 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> tensor<6x8xf32>
  %expanded_32 = tensor.expand_shape %85 [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into !x
  %86 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57, %expanded_32 : !x, !x) outs(%17 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %87 = arith.addf %in, %on : f32
    linalg.yield %87 : f32
  } -> !x
  return %86 : !x
}

// -----

// An encoder layer: post-norm, one head, ReLU. The first sum has its branch in front.
// EXACT-LABEL: func.func @encoder(
// EXACT-COUNT-2: resid.add %
// EXACT-NOT: resid.add %
// STREAM-COUNT-3: remark: raised (exact in real arithmetic)
// BLOCKS-LABEL: func.func @encoder(
// BLOCKS: %[[S:.*]] = resid.block post %arg0 norm(layer gamma %arg5 : {{.*}} beta %arg6 :
// BLOCKS: resid.attention
// BLOCKS: %[[Y:.*]] = resid.block post %[[S]] norm(layer gamma %arg11 : {{.*}} beta %arg12 :
// BLOCKS: resid.activation relu
// BLOCKS: return %[[Y]]
// FUSED-LABEL: func.func @encoder(
// FUSED: %[[S:.*]], %{{.*}} = resid.add_norm layer %arg0, %{{.*}} gamma(%arg5) beta(%arg6)
// FUSED: %[[Y:.*]], %{{.*}} = resid.add_norm layer %[[S]], %{{.*}} gamma(%arg11) beta(%arg12)
// FUSED: return %[[Y]]

!x = tensor<2x3x8xf32>
!x64 = tensor<2x3x8xf64>
!row = tensor<2x3x1xf32>
!row64 = tensor<2x3x1xf64>
!vector = tensor<8xf32>
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d2)>
func.func @encoder(%x: !x, %w_qkv: tensor<24x8xf32>, %b_qkv: tensor<24xf32>, %w_o: tensor<8x8xf32>, %b_o: !vector, %gamma0: !vector, %beta0: !vector, %w_up: tensor<16x8xf32>, %b_up: tensor<16xf32>, %w_down: tensor<8x16xf32>, %b_down: !vector, %gamma1: !vector, %beta1: !vector) -> !x {
  %c0_i64 = arith.constant 0 : i64
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 0.000000e+00 : f64
  %cst_2 = arith.constant 1.000000e-05 : f64
  %cst_3 = arith.constant 5.000000e-01 : f32
  %cst_4 = arith.constant 8.000000e+00 : f64
  %cst_5 = arith.constant 8.000000e+00 : f32
  %collapsed = tensor.collapse_shape %x [[0, 1], [2]] : !x into tensor<6x8xf32>
  %0 = tensor.empty() : tensor<8x24xf32>
  %transposed = linalg.transpose ins(%w_qkv : tensor<24x8xf32>) outs(%0 : tensor<8x24xf32>) permutation = [1, 0]
  %1 = tensor.empty() : tensor<6x24xf32>
  %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<6x24xf32>) -> tensor<6x24xf32>
  %3 = linalg.matmul ins(%collapsed, %transposed : tensor<6x8xf32>, tensor<8x24xf32>) outs(%2 : tensor<6x24xf32>) -> tensor<6x24xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_qkv : tensor<24xf32>) outs(%1 : tensor<6x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x24xf32>
  %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<6x24xf32>, tensor<6x24xf32>) outs(%1 : tensor<6x24xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> tensor<6x24xf32>
  %expanded = tensor.expand_shape %5 [[0, 1], [2]] output_shape [2, 3, 24] : tensor<6x24xf32> into tensor<2x3x24xf32>
  %extracted_slice = tensor.extract_slice %expanded[0, 0, 0] [2, 3, 8] [1, 1, 1] : tensor<2x3x24xf32> to !x
  %extracted_slice_6 = tensor.extract_slice %expanded[0, 0, 8] [2, 3, 8] [1, 1, 1] : tensor<2x3x24xf32> to !x
  %extracted_slice_7 = tensor.extract_slice %expanded[0, 0, 16] [2, 3, 8] [1, 1, 1] : tensor<2x3x24xf32> to !x
  %6 = tensor.empty() : tensor<2x8x3xf32>
  %transposed_8 = linalg.transpose ins(%extracted_slice_6 : !x) outs(%6 : tensor<2x8x3xf32>) permutation = [0, 2, 1]
  %7 = tensor.empty() : tensor<2x3x3xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %9 = linalg.batch_matmul ins(%extracted_slice, %transposed_8 : !x, tensor<2x8x3xf32>) outs(%8 : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %10 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<2x3x3xf32>) outs(%7 : tensor<2x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.mulf %in, %cst_3 : f32
    linalg.yield %80 : f32
  } -> tensor<2x3x3xf32>
  %11 = tensor.empty() : tensor<2x3xi64>
  %12 = linalg.fill ins(%c0_i64 : i64) outs(%11 : tensor<2x3xi64>) -> tensor<2x3xi64>
  %13 = tensor.empty() : tensor<2x3xf32>
  %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %15:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<2x3x3xf32>) outs(%14, %12 : tensor<2x3xf32>, tensor<2x3xi64>) {
  ^bb0(%in: f32, %out: f32, %out_19: i64):
    %80 = linalg.index 2 : index
    %81 = arith.index_cast %80 : index to i64
    %82 = arith.maximumf %in, %out : f32
    %83 = arith.cmpf ogt, %in, %out : f32
    %84 = arith.select %83, %81, %out_19 : i64
    linalg.yield %82, %84 : f32, i64
  } -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %expanded_9 = tensor.expand_shape %15#0 [[0], [1, 2]] output_shape [2, 3, 1] : tensor<2x3xf32> into !row
  %16 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %expanded_9 : tensor<2x3x3xf32>, !row) outs(%7 : tensor<2x3x3xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.subf %in, %on : f32
    linalg.yield %80 : f32
  } -> tensor<2x3x3xf32>
  %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<2x3x3xf32>) outs(%7 : tensor<2x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %80 = math.exp %in : f32
    linalg.yield %80 : f32
  } -> tensor<2x3x3xf32>
  %18 = tensor.empty() : !row
  %19 = linalg.fill ins(%cst : f32) outs(%18 : !row) -> !row
  %20 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%17 : tensor<2x3x3xf32>) outs(%19 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.addf %in, %out : f32
    linalg.yield %80 : f32
  } -> !row
  %21 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %20 : tensor<2x3x3xf32>, !row) outs(%7 : tensor<2x3x3xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.divf %in, %on : f32
    linalg.yield %80 : f32
  } -> tensor<2x3x3xf32>
  %22 = tensor.empty() : !x
  %23 = linalg.fill ins(%cst : f32) outs(%22 : !x) -> !x
  %24 = linalg.batch_matmul ins(%21, %extracted_slice_7 : tensor<2x3x3xf32>, !x) outs(%23 : !x) -> !x
  %collapsed_10 = tensor.collapse_shape %24 [[0, 1], [2]] : !x into tensor<6x8xf32>
  %25 = tensor.empty() : tensor<8x8xf32>
  %transposed_11 = linalg.transpose ins(%w_o : tensor<8x8xf32>) outs(%25 : tensor<8x8xf32>) permutation = [1, 0]
  %26 = tensor.empty() : tensor<6x8xf32>
  %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %28 = linalg.matmul ins(%collapsed_10, %transposed_11 : tensor<6x8xf32>, tensor<8x8xf32>) outs(%27 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %29 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_o : !vector) outs(%26 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x8xf32>
  %30 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%28, %29 : tensor<6x8xf32>, tensor<6x8xf32>) outs(%26 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> tensor<6x8xf32>
  %expanded_12 = tensor.expand_shape %30 [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into !x
  %31 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_12, %x : !x, !x) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %32 = tensor.empty() : !x64
  %33 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : !x) outs(%32 : !x64) {
  ^bb0(%in: f32, %out: f64):
    %80 = arith.extf %in : f32 to f64
    linalg.yield %80 : f64
  } -> !x64
  %34 = tensor.empty() : !row64
  %35 = linalg.fill ins(%cst_1 : f64) outs(%34 : !row64) -> !row64
  %36 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%33 : !x64) outs(%35 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.addf %in, %out : f64
    linalg.yield %80 : f64
  } -> !row64
  %37 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36 : !row64) outs(%34 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.divf %in, %cst_4 : f64
    linalg.yield %80 : f64
  } -> !row64
  %38 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %37 : !x64, !row64) outs(%32 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %80 = arith.subf %in, %on : f64
    linalg.yield %80 : f64
  } -> !x64
  %39 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38, %38 : !x64, !x64) outs(%32 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %80 = arith.mulf %in, %on : f64
    linalg.yield %80 : f64
  } -> !x64
  %40 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%39 : !x64) outs(%35 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.addf %in, %out : f64
    linalg.yield %80 : f64
  } -> !row64
  %41 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40 : !row64) outs(%34 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.divf %in, %cst_4 : f64
    linalg.yield %80 : f64
  } -> !row64
  %42 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : !row64) outs(%18 : !row) {
  ^bb0(%in: f64, %out: f32):
    %80 = arith.truncf %in : f64 to f32
    linalg.yield %80 : f32
  } -> !row
  %43 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%31 : !x) outs(%19 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.addf %in, %out : f32
    linalg.yield %80 : f32
  } -> !row
  %44 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : !row) outs(%18 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.divf %in, %cst_5 : f32
    linalg.yield %80 : f32
  } -> !row
  %45 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : !row) outs(%18 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.truncf %cst_2 : f64 to f32
    %81 = arith.addf %in, %80 : f32
    linalg.yield %81 : f32
  } -> !row
  %46 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : !row) outs(%18 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = math.rsqrt %in : f32
    linalg.yield %80 : f32
  } -> !row
  %47 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %44 : !x, !row) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.subf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %48 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %46 : !x, !row) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.mulf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %49 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %gamma0 : !x, !vector) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.mulf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %50 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49, %beta0 : !x, !vector) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %collapsed_13 = tensor.collapse_shape %50 [[0, 1], [2]] : !x into tensor<6x8xf32>
  %51 = tensor.empty() : tensor<8x16xf32>
  %transposed_14 = linalg.transpose ins(%w_up : tensor<16x8xf32>) outs(%51 : tensor<8x16xf32>) permutation = [1, 0]
  %52 = tensor.empty() : tensor<6x16xf32>
  %53 = linalg.fill ins(%cst : f32) outs(%52 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %54 = linalg.matmul ins(%collapsed_13, %transposed_14 : tensor<6x8xf32>, tensor<8x16xf32>) outs(%53 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %55 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_up : tensor<16xf32>) outs(%52 : tensor<6x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x16xf32>
  %56 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%54, %55 : tensor<6x16xf32>, tensor<6x16xf32>) outs(%52 : tensor<6x16xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> tensor<6x16xf32>
  %expanded_15 = tensor.expand_shape %56 [[0, 1], [2]] output_shape [2, 3, 16] : tensor<6x16xf32> into tensor<2x3x16xf32>
  %57 = tensor.empty() : tensor<2x3x16xf32>
  %58 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_15 : tensor<2x3x16xf32>) outs(%57 : tensor<2x3x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.cmpf ugt, %in, %cst : f32
    %81 = arith.select %80, %in, %cst : f32
    linalg.yield %81 : f32
  } -> tensor<2x3x16xf32>
  %collapsed_16 = tensor.collapse_shape %58 [[0, 1], [2]] : tensor<2x3x16xf32> into tensor<6x16xf32>
  %59 = tensor.empty() : tensor<16x8xf32>
  %transposed_17 = linalg.transpose ins(%w_down : tensor<8x16xf32>) outs(%59 : tensor<16x8xf32>) permutation = [1, 0]
  %60 = linalg.matmul ins(%collapsed_16, %transposed_17 : tensor<6x16xf32>, tensor<16x8xf32>) outs(%27 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %61 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_down : !vector) outs(%26 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x8xf32>
  %62 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%60, %61 : tensor<6x8xf32>, tensor<6x8xf32>) outs(%26 : tensor<6x8xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> tensor<6x8xf32>
  %expanded_18 = tensor.expand_shape %62 [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into !x
  %63 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %expanded_18 : !x, !x) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %64 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : !x) outs(%32 : !x64) {
  ^bb0(%in: f32, %out: f64):
    %80 = arith.extf %in : f32 to f64
    linalg.yield %80 : f64
  } -> !x64
  %65 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%64 : !x64) outs(%35 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.addf %in, %out : f64
    linalg.yield %80 : f64
  } -> !row64
  %66 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : !row64) outs(%34 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.divf %in, %cst_4 : f64
    linalg.yield %80 : f64
  } -> !row64
  %67 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %66 : !x64, !row64) outs(%32 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %80 = arith.subf %in, %on : f64
    linalg.yield %80 : f64
  } -> !x64
  %68 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %67 : !x64, !x64) outs(%32 : !x64) {
  ^bb0(%in: f64, %on: f64, %out: f64):
    %80 = arith.mulf %in, %on : f64
    linalg.yield %80 : f64
  } -> !x64
  %69 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%68 : !x64) outs(%35 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.addf %in, %out : f64
    linalg.yield %80 : f64
  } -> !row64
  %70 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : !row64) outs(%34 : !row64) {
  ^bb0(%in: f64, %out: f64):
    %80 = arith.divf %in, %cst_4 : f64
    linalg.yield %80 : f64
  } -> !row64
  %71 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : !row64) outs(%18 : !row) {
  ^bb0(%in: f64, %out: f32):
    %80 = arith.truncf %in : f64 to f32
    linalg.yield %80 : f32
  } -> !row
  %72 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%63 : !x) outs(%19 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.addf %in, %out : f32
    linalg.yield %80 : f32
  } -> !row
  %73 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : !row) outs(%18 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.divf %in, %cst_5 : f32
    linalg.yield %80 : f32
  } -> !row
  %74 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : !row) outs(%18 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = arith.truncf %cst_2 : f64 to f32
    %81 = arith.addf %in, %80 : f32
    linalg.yield %81 : f32
  } -> !row
  %75 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : !row) outs(%18 : !row) {
  ^bb0(%in: f32, %out: f32):
    %80 = math.rsqrt %in : f32
    linalg.yield %80 : f32
  } -> !row
  %76 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %73 : !x, !row) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.subf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %77 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %75 : !x, !row) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.mulf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %78 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %gamma1 : !x, !vector) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.mulf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  %79 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %beta1 : !x, !vector) outs(%22 : !x) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %80 = arith.addf %in, %on : f32
    linalg.yield %80 : f32
  } -> !x
  return %79 : !x
}
