// RUN: resid-opt %s -resid-raise=level=all -canonicalize -cse -split-input-file 2>/dev/null | FileCheck %s
// RUN: resid-opt %s -resid-raise -split-input-file | FileCheck %s --check-prefix=EXACT
// EXACT-NOT: resid.attention
// Attention that is written out. What is left alone: resid-raise-attention-remarks.mlir. The values are compared in test/run/raise-attention.test.

// As torch-mlir writes scaled_dot_product_attention(is_causal=True) with keys and values that are repeated for two heads each.
#full = affine_map<(a, b, c, d) -> (a, b, c, d)>
#rows = affine_map<(a, b, c, d) -> (a, b, c)>
#kept = affine_map<(a, b, c, d) -> (a, b, c, 0)>
#mask = affine_map<(a, b, c, d) -> (c, d)>
#repeat = affine_map<(a, b, r, c, d) -> (a, b, c, d)>
#all = affine_map<(a, b, r, c, d) -> (a, b, r, c, d)>
// CHECK-LABEL: func.func @torch(
// CHECK: %[[K:.*]] = linalg.transpose ins(%arg1 : tensor<2x6x2x8xf32>) outs({{.*}}) permutation = [0, 2, 1, 3]
// CHECK-NEXT: %[[Y:.*]] = resid.attention %arg0, %[[K]], %arg2 {causal} : tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @torch(%q: tensor<2x4x6x8xf32>, %keys: tensor<2x6x2x8xf32>, %v: tensor<2x2x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %none64 = arith.constant 0xFFF0000000000000 : f64
  %root = arith.constant 0.59460355750136051 : f64
  %c0 = arith.constant 0 : i64
  %true = arith.constant true
  %ones = arith.constant dense<true> : tensor<6x6xi1>
  %zero0 = arith.constant dense<0.0> : tensor<f32>
  %none0 = arith.constant dense<0xFF800000> : tensor<f32>
  %zeros = arith.constant dense<0.0> : tensor<2x4x6x6xf32>
  %e_q = tensor.empty() : tensor<2x4x6x8xf32>
  %e_k = tensor.empty() : tensor<2x4x8x6xf32>
  %e_r = tensor.empty() : tensor<2x2x2x6x8xf32>
  %e_s = tensor.empty() : tensor<2x4x6x6xf32>
  %e_b = tensor.empty() : tensor<2x4x6x6xi1>
  %e_place = tensor.empty() : tensor<6xi64>
  %e_places = tensor.empty() : tensor<6x6xi64>
  %e_bits = tensor.empty() : tensor<6x6xi1>
  %e_mask = tensor.empty() : tensor<6x6xf32>
  %e_p = tensor.empty() : tensor<8x6x6xf32>
  %e_y = tensor.empty() : tensor<8x6x8xf32>
  %e_row = tensor.empty() : tensor<2x4x6xf32>
  %e_arg = tensor.empty() : tensor<2x4x6xi64>
  %e_sum = tensor.empty() : tensor<2x4x6x1xf32>
  %e_none = tensor.empty() : tensor<2x4x6x1xi1>
  %qs = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<2x4x6x8xf32>) outs(%e_q : tensor<2x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.truncf %root : f64 to f32
    %u = arith.mulf %in, %t : f32
    linalg.yield %u : f32
  } -> tensor<2x4x6x8xf32>
  %place = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]} outs(%e_place : tensor<6xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    linalg.yield %j : i64
  } -> tensor<6xi64>
  %key = tensor.expand_shape %place [[0, 1]] output_shape [1, 6] : tensor<6xi64> into tensor<1x6xi64>
  %query = tensor.expand_shape %place [[0, 1]] output_shape [6, 1] : tensor<6xi64> into tensor<6x1xi64>
  %after = linalg.generic {indexing_maps = [affine_map<(a, b) -> (0, b)>, affine_map<(a, b) -> (a, 0)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%key, %query : tensor<1x6xi64>, tensor<6x1xi64>) outs(%e_places : tensor<6x6xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %t = arith.subi %a, %b : i64
    linalg.yield %t : i64
  } -> tensor<6x6xi64>
  %lower = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%after, %ones : tensor<6x6xi64>, tensor<6x6xi1>) outs(%e_bits : tensor<6x6xi1>) {
  ^bb0(%a: i64, %b: i1, %out: i1):
    %t = arith.cmpi sle, %a, %c0 : i64
    %u = arith.andi %t, %b : i1
    linalg.yield %u : i1
  } -> tensor<6x6xi1>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> ()>, affine_map<(a, b) -> ()>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%lower, %zero0, %none0 : tensor<6x6xi1>, tensor<f32>, tensor<f32>) outs(%e_mask : tensor<6x6xf32>) {
  ^bb0(%a: i1, %b: f32, %c: f32, %out: f32):
    %t = arith.select %a, %b, %c : f32
    linalg.yield %t : f32
  } -> tensor<6x6xf32>
  %e_keys = tensor.empty() : tensor<2x2x6x8xf32>
  %k = linalg.transpose ins(%keys : tensor<2x6x2x8xf32>) outs(%e_keys : tensor<2x2x6x8xf32>) permutation = [0, 2, 1, 3]
  %kr = linalg.generic {indexing_maps = [#repeat, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x2x6x8xf32>) outs(%e_r : tensor<2x2x2x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x2x2x6x8xf32>
  %kh = tensor.collapse_shape %kr [[0], [1, 2], [3], [4]] : tensor<2x2x2x6x8xf32> into tensor<2x4x6x8xf32>
  %kt = linalg.transpose ins(%kh : tensor<2x4x6x8xf32>) outs(%e_k : tensor<2x4x8x6xf32>) permutation = [0, 1, 3, 2]
  %ks = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%kt : tensor<2x4x8x6xf32>) outs(%e_k : tensor<2x4x8x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.truncf %root : f64 to f32
    %u = arith.mulf %in, %t : f32
    linalg.yield %u : f32
  } -> tensor<2x4x8x6xf32>
  %vr = linalg.generic {indexing_maps = [#repeat, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x2x6x8xf32>) outs(%e_r : tensor<2x2x2x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x2x2x6x8xf32>
  %q3 = tensor.collapse_shape %qs [[0, 1], [2], [3]] : tensor<2x4x6x8xf32> into tensor<8x6x8xf32>
  %k3 = tensor.collapse_shape %ks [[0, 1], [2], [3]] : tensor<2x4x8x6xf32> into tensor<8x8x6xf32>
  %v3 = tensor.collapse_shape %vr [[0, 1, 2], [3], [4]] : tensor<2x2x2x6x8xf32> into tensor<8x6x8xf32>
  %z_p = linalg.fill ins(%zero : f32) outs(%e_p : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %p = linalg.batch_matmul ins(%q3, %k3 : tensor<8x6x8xf32>, tensor<8x8x6xf32>) outs(%z_p : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %p4 = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
  %s = linalg.generic {indexing_maps = [#full, #mask, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p4, %m : tensor<2x4x6x6xf32>, tensor<6x6xf32>) outs(%e_s : tensor<2x4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4x6x6xf32>
  %z_arg = linalg.fill ins(%c0 : i64) outs(%e_arg : tensor<2x4x6xi64>) -> tensor<2x4x6xi64>
  %z_max = linalg.fill ins(%none : f32) outs(%e_row : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %max:2 = linalg.generic {indexing_maps = [#full, #rows, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x4x6x6xf32>) outs(%z_max, %z_arg : tensor<2x4x6xf32>, tensor<2x4x6xi64>) {
  ^bb0(%in: f32, %out: f32, %arg: i64):
    %i = linalg.index 3 : index
    %j = arith.index_cast %i : index to i64
    %t = arith.maximumf %in, %out : f32
    %c = arith.cmpf ogt, %in, %out : f32
    %u = arith.select %c, %j, %arg : i64
    linalg.yield %t, %u : f32, i64
  } -> (tensor<2x4x6xf32>, tensor<2x4x6xi64>)
  %max4 = tensor.expand_shape %max#0 [[0], [1], [2, 3]] output_shape [2, 4, 6, 1] : tensor<2x4x6xf32> into tensor<2x4x6x1xf32>
  %e = linalg.generic {indexing_maps = [#full, #kept, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %max4 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%e_s : tensor<2x4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.subf %a, %b : f32
    %u = math.exp %t : f32
    linalg.yield %u : f32
  } -> tensor<2x4x6x6xf32>
  %z_sum = linalg.fill ins(%zero : f32) outs(%e_sum : tensor<2x4x6x1xf32>) -> tensor<2x4x6x1xf32>
  %sum = linalg.generic {indexing_maps = [#full, #kept], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<2x4x6x6xf32>) outs(%z_sum : tensor<2x4x6x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %out : f32
    linalg.yield %t : f32
  } -> tensor<2x4x6x1xf32>
  %w = linalg.generic {indexing_maps = [#full, #kept, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%e_s : tensor<2x4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4x6x6xf32>
  %absent = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x6x6xf32>) outs(%e_b : tensor<2x4x6x6xi1>) {
  ^bb0(%in: f32, %out: i1):
    %t = arith.extf %in : f32 to f64
    %u = arith.cmpf oeq, %t, %none64 : f64
    linalg.yield %u : i1
  } -> tensor<2x4x6x6xi1>
  %z_none = linalg.fill ins(%true : i1) outs(%e_none : tensor<2x4x6x1xi1>) -> tensor<2x4x6x1xi1>
  %nothing = linalg.generic {indexing_maps = [#full, #kept], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%absent : tensor<2x4x6x6xi1>) outs(%z_none : tensor<2x4x6x1xi1>) {
  ^bb0(%in: i1, %out: i1):
    %t = arith.andi %in, %out : i1
    linalg.yield %t : i1
  } -> tensor<2x4x6x1xi1>
  %safe = linalg.generic {indexing_maps = [#kept, #full, #full, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%nothing, %zeros, %w : tensor<2x4x6x1xi1>, tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) outs(%e_s : tensor<2x4x6x6xf32>) {
  ^bb0(%a: i1, %b: f32, %c: f32, %out: f32):
    %t = arith.select %a, %b, %c : f32
    linalg.yield %t : f32
  } -> tensor<2x4x6x6xf32>
  %w3 = tensor.collapse_shape %safe [[0, 1], [2], [3]] : tensor<2x4x6x6xf32> into tensor<8x6x6xf32>
  %z_y = linalg.fill ins(%zero : f32) outs(%e_y : tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  %y3 = linalg.batch_matmul ins(%w3, %v3 : tensor<8x6x6xf32>, tensor<8x6x8xf32>) outs(%z_y : tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  %y = tensor.expand_shape %y3 [[0, 1], [2], [3]] output_shape [2, 4, 6, 8] : tensor<8x6x8xf32> into tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// -----

// As people write it: heads after positions, one op for scale and mask, exp without a maximum, a reciprocal. One head of keys is for all heads.
#q = affine_map<(b, h, i, j, d) -> (b, i, h, d)>
#k = affine_map<(b, h, i, j, d) -> (b, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#full = affine_map<(b, h, i, j) -> (b, h, i, j)>
#rows = affine_map<(b, h, i, j) -> (b, h, i)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, j, d)>
#y = affine_map<(b, h, i, d, j) -> (b, i, h, d)>
!rows = tensor<?x?x3x8xf32>
!scores = tensor<?x3x?x?xf32>
// CHECK-LABEL: func.func @people(
// CHECK: %[[Q:.*]] = linalg.transpose ins(%arg0 : {{.*}}) outs({{.*}}) permutation = [0, 2, 1, 3]
// CHECK: %[[K:.*]] = tensor.expand_shape %arg1 {{\[}}[0, 1], [2], [3]] output_shape [{{.*}}, 1, {{.*}}, 8]
// CHECK: %[[V:.*]] = tensor.expand_shape %arg2 {{\[}}[0, 1], [2], [3]] output_shape [{{.*}}, 1, {{.*}}, 8]
// CHECK: %[[A:.*]] = resid.attention %[[Q]], %[[K]], %[[V]] {causal, scale = 5.000000e-01 : f64} : tensor<?x3x?x8xf32>, tensor<?x1x?x8xbf16>, tensor<?x1x?x8xf32>
// CHECK: %[[Y:.*]] = linalg.transpose ins(%[[A]] : {{.*}}) outs({{.*}}) permutation = [0, 2, 1, 3]
// CHECK: return %[[Y]]
func.func @people(%q: !rows, %k: tensor<?x?x8xbf16>, %v: tensor<?x?x8xf32>) -> !rows {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %q, %c0 : !rows
  %queries = tensor.dim %q, %c1 : !rows
  %keys = tensor.dim %k, %c1 : tensor<?x?x8xbf16>
  %e_s = tensor.empty(%batch, %queries, %keys) : !scores
  %e_row = tensor.empty(%batch, %queries) : tensor<?x3x?xf32>
  %e_y = tensor.empty(%batch, %queries) : !rows
  %z_s = linalg.fill ins(%zero : f32) outs(%e_s : !scores) -> !scores
  %product = linalg.generic {indexing_maps = [#k, #q, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%k, %q : tensor<?x?x8xbf16>, !rows) outs(%z_s : !scores) {
  ^bb0(%a: bf16, %b: f32, %out: f32):
    %w = arith.extf %a : bf16 to f32
    %t = arith.mulf %w, %b : f32
    %u = arith.addf %out, %t : f32
    linalg.yield %u : f32
  } -> !scores
  %e = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%product : !scores) outs(%e_s : !scores) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %half = arith.divf %in, %two : f32
    %next = arith.addi %i, %c1 : index
    %hidden = arith.cmpi uge, %j, %next : index
    %score = arith.select %hidden, %none, %half : f32
    %u = math.exp %score : f32
    linalg.yield %u : f32
  } -> !scores
  %z_row = linalg.fill ins(%zero : f32) outs(%e_row : tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %sum = linalg.generic {indexing_maps = [#full, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : !scores) outs(%z_row : tensor<?x3x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %out : f32
    linalg.yield %t : f32
  } -> tensor<?x3x?xf32>
  %inverse = linalg.map ins(%sum : tensor<?x3x?xf32>) outs(%e_row : tensor<?x3x?xf32>) (%in: f32, %out: f32) {
    %t = arith.divf %one, %in : f32
    linalg.yield %t : f32
  }
  %w = linalg.generic {indexing_maps = [#full, #rows, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%e, %inverse : !scores, tensor<?x3x?xf32>) outs(%e_s : !scores) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> !scores
  %z_y = linalg.fill ins(%zero : f32) outs(%e_y : !rows) -> !rows
  %y = linalg.generic {indexing_maps = [#p, #v, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : !scores, tensor<?x?x8xf32>) outs(%z_y : !rows) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %t, %out : f32
    linalg.yield %u : f32
  } -> !rows
  return %y : !rows
}

// -----

// One head, with a mask of the keys that is added; the product may start from it.
!t = tensor<?x8xf32>
!s = tensor<?x?xf32>
// CHECK-LABEL: func.func @one_head(
// CHECK: resid.attention {{.*}} mask(%arg3) {scale = 2.500000e-01 : f64} : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<?xf32>
// CHECK: tensor.collapse_shape {{.*}} {{\[}}[0, 1, 2], [3]]
// CHECK: resid.attention {{.*}} mask(%arg4) {scale = 1.000000e+00 : f64} : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<?x?xf32>
// CHECK-NOT: linalg.softmax
// CHECK: return
func.func @one_head(%q: !t, %k: !t, %v: !t, %m: tensor<?xf32>, %n: !s) -> (!t, !t) {
  %zero = arith.constant 0.0 : f32
  %quarter = arith.constant 0.25 : f32
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : !t
  %keys = tensor.dim %k, %c0 : !t
  %e_s = tensor.empty(%queries, %keys) : !s
  %e_k = tensor.empty(%keys) : tensor<8x?xf32>
  %e_y = tensor.empty(%queries) : !t
  %z_s = linalg.fill ins(%zero : f32) outs(%e_s : !s) -> !s
  %z_y = linalg.fill ins(%zero : f32) outs(%e_y : !t) -> !t
  %kt = linalg.transpose ins(%k : !t) outs(%e_k : tensor<8x?xf32>) permutation = [1, 0]
  %p = linalg.matmul ins(%q, %kt : !t, tensor<8x?xf32>) outs(%z_s : !s) -> !s
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %m : !s, tensor<?xf32>) outs(%e_s : !s) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.mulf %quarter, %a : f32
    %u = arith.addf %b, %t : f32
    linalg.yield %u : f32
  } -> !s
  %w = linalg.softmax dimension(1) ins(%s : !s) outs(%e_s : !s) -> !s
  %y = linalg.matmul ins(%w, %v : !s, !t) outs(%z_y : !t) -> !t
  %p1 = linalg.matmul ins(%q, %kt : !t, tensor<8x?xf32>) outs(%n : !s) -> !s
  %w1 = linalg.softmax dimension(1) ins(%p1 : !s) outs(%e_s : !s) -> !s
  %y1 = linalg.matmul ins(%w1, %v : !s, !t) outs(%z_y : !t) -> !t
  return %y, %y1 : !t, !t
}

// -----

// Batch and heads are one dimension all along, as in older PyTorch. A mask of bits that hides, made of integers, beside causality.
#mask = affine_map<(b, i, j) -> (j)>
#full = affine_map<(b, i, j) -> (b, i, j)>
// CHECK-LABEL: func.func @merged(
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%arg3 : tensor<6xi64>) outs(%{{.*}} : tensor<1x1x1x6xi1>)
// CHECK: arith.cmpi ne, %in, %c0_i64 : i64
// CHECK: %[[Y:.*]] = resid.attention %arg0, %arg1, %arg2 mask(%[[M]]) {causal} : tensor<?x4x5x16xbf16>, tensor<?x4x6x16xbf16>, tensor<?x4x6x16xbf16>, tensor<1x1x1x6xi1> -> tensor<?x4x5x16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @merged(%q: tensor<?x4x5x16xbf16>, %k: tensor<?x4x6x16xbf16>, %v: tensor<?x4x6x16xbf16>, %m: tensor<6xi64>) -> tensor<?x4x5x16xf32> {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %nothing = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %batch = tensor.dim %q, %c0 : tensor<?x4x5x16xbf16>
  %n = arith.muli %batch, %c4 : index
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<?x4x5x16xbf16> into tensor<?x5x16xbf16>
  %k3 = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<?x4x6x16xbf16> into tensor<?x6x16xbf16>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<?x4x6x16xbf16> into tensor<?x6x16xbf16>
  %e_s = tensor.empty(%n) : tensor<?x5x6xf32>
  %e_w = tensor.empty(%n) : tensor<?x5x6xbf16>
  %e_y = tensor.empty(%n) : tensor<?x5x16xf32>
  %z_s = linalg.fill ins(%zero : f32) outs(%e_s : tensor<?x5x6xf32>) -> tensor<?x5x6xf32>
  %z_y = linalg.fill ins(%zero : f32) outs(%e_y : tensor<?x5x16xf32>) -> tensor<?x5x16xf32>
  %p = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
    ins(%q3, %k3 : tensor<?x5x16xbf16>, tensor<?x6x16xbf16>) outs(%z_s : tensor<?x5x6xf32>) -> tensor<?x5x6xf32>
  %s = linalg.generic {indexing_maps = [#full, #mask, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %m : tensor<?x5x6xf32>, tensor<6xi64>) outs(%e_s : tensor<?x5x6xf32>) {
  ^bb0(%a: f32, %b: i64, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %t = arith.divf %a, %four : f32
    %padding = arith.cmpi eq, %b, %nothing : i64
    %later = arith.cmpi sgt, %j, %i : index
    %hidden = arith.ori %padding, %later : i1
    %u = arith.select %hidden, %none, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x5x6xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<?x5x6xf32>) outs(%e_s : tensor<?x5x6xf32>) -> tensor<?x5x6xf32>
  %wn = arith.truncf %w : tensor<?x5x6xf32> to tensor<?x5x6xbf16>
  %y3 = linalg.batch_matmul ins(%wn, %v3 : tensor<?x5x6xbf16>, tensor<?x6x16xbf16>) outs(%z_y : tensor<?x5x16xf32>) -> tensor<?x5x16xf32>
  %y = tensor.expand_shape %y3 [[0, 1], [2], [3]] output_shape [%batch, 4, 5, 16] : tensor<?x5x16xf32> into tensor<?x4x5x16xf32>
  return %y : tensor<?x4x5x16xf32>
}

// -----

// A triangle that is one diagonal larger is a mask like any other, and so is one the other way round. A mask of keys by queries is turned.
!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#full = affine_map<(b, i, j) -> (b, i, j)>
// CHECK-LABEL: func.func @triangles(
// CHECK-NOT: causal
// CHECK: resid.attention {{.*}} mask(%{{.*}}) {scale = 1.000000e+00 : f64} : {{.*}}, tensor<1x1x6x6xi1>
// CHECK: resid.attention {{.*}} mask(%{{.*}}) {scale = 1.000000e+00 : f64} : {{.*}}, tensor<1x1x6x6xi1>
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%arg3 : tensor<6x6xf32>) outs(%{{.*}} : tensor<1x1x6x6xf32>)
// CHECK: resid.attention {{.*}} mask(%[[M]])
// CHECK-NOT: linalg.softmax
func.func @triangles(%q: !q, %k: !q, %v: !q, %m: tensor<6x6xf32>) -> (!q, !q, !q) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %e_q = tensor.empty() : !q
  %e_s = tensor.empty() : !s
  %z_q = linalg.fill ins(%zero : f32) outs(%e_q : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%e_s : !s) -> !s
  %p = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : !s) outs(%e_s : !s) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %next = arith.addi %i, %c1 : index
    %taken = arith.cmpi sle, %j, %next : index
    %u = arith.select %taken, %a, %none : f32
    linalg.yield %u : f32
  } -> !s
  %w = linalg.softmax dimension(2) ins(%s : !s) outs(%e_s : !s) -> !s
  %y = linalg.batch_matmul ins(%w, %v : !s, !q) outs(%z_q : !q) -> !q
  %p1 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s1 = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p1 : !s) outs(%e_s : !s) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %taken = arith.cmpi sle, %i, %j : index
    %u = arith.select %taken, %a, %none : f32
    linalg.yield %u : f32
  } -> !s
  %w1 = linalg.softmax dimension(2) ins(%s1 : !s) outs(%e_s : !s) -> !s
  %y1 = linalg.batch_matmul ins(%w1, %v : !s, !q) outs(%z_q : !q) -> !q
  %p2 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s2 = linalg.generic {indexing_maps = [#full, affine_map<(b, i, j) -> (j, i)>, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p2, %m : !s, tensor<6x6xf32>) outs(%e_s : !s) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %u = arith.addf %a, %b : f32
    linalg.yield %u : f32
  } -> !s
  %w2 = linalg.softmax dimension(2) ins(%s2 : !s) outs(%e_s : !s) -> !s
  %y2 = linalg.batch_matmul ins(%w2, %v : !s, !q) outs(%z_q : !q) -> !q
  return %y, %y1, %y2 : !q, !q, !q
}

// -----

// Values may be of another size than keys.
!q = tensor<2x6x8xf32>
!v = tensor<2x6x4xf32>
!s = tensor<2x6x6xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
// CHECK-LABEL: func.func @short_values(
// CHECK: resid.attention %{{.*}} {scale = 1.0{{.*}}} : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x4xf32>
func.func @short_values(%q: !q, %k: !q, %v: !v) -> !v {
  %zero = arith.constant 0.0 : f32
  %e_s = tensor.empty() : !s
  %e_v = tensor.empty() : !v
  %z_s = linalg.fill ins(%zero : f32) outs(%e_s : !s) -> !s
  %z_v = linalg.fill ins(%zero : f32) outs(%e_v : !v) -> !v
  %p = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %w = linalg.softmax dimension(2) ins(%p : !s) outs(%e_s : !s) -> !s
  %y = linalg.batch_matmul ins(%w, %v : !s, !v) outs(%z_v : !v) -> !v
  return %y : !v
}

// -----

// A band before the query, and one on both sides of it. One that is wider on one side is two masks, and stays.
!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#full = affine_map<(b, i, j) -> (b, i, j)>
// CHECK-LABEL: func.func @bands(
// CHECK: resid.attention {{[^{]*}} {causal, scale = 1.000000e+00 : f64, window = 3 : i64} :
// CHECK: resid.attention {{[^{]*}} {scale = 1.000000e+00 : f64, window = 3 : i64} :
// CHECK: linalg.softmax
func.func @bands(%q: !q, %k: !q, %v: !q) -> (!q, !q, !q) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %e_q = tensor.empty() : !q
  %e_s = tensor.empty() : !s
  %z_q = linalg.fill ins(%zero : f32) outs(%e_q : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%e_s : !s) -> !s
  %p0 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s0 = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p0 : !s) outs(%e_s : !s) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %end = arith.addi %j, %c3 : index
    %near = arith.cmpi slt, %i, %end : index
    %past = arith.cmpi sle, %j, %i : index
    %taken = arith.andi %near, %past : i1
    %u = arith.select %taken, %a, %none : f32
    linalg.yield %u : f32
  } -> !s
  %w0 = linalg.softmax dimension(2) ins(%s0 : !s) outs(%e_s : !s) -> !s
  %y0 = linalg.batch_matmul ins(%w0, %v : !s, !q) outs(%z_q : !q) -> !q
  %p1 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s1 = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p1 : !s) outs(%e_s : !s) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %end = arith.addi %j, %c3 : index
    %far = arith.cmpi uge, %i, %end : index
    %next = arith.addi %i, %c2 : index
    %later = arith.cmpi ugt, %j, %next : index
    %hidden = arith.ori %far, %later : i1
    %true = arith.constant true
    %taken = arith.xori %hidden, %true : i1
    %u = arith.select %taken, %a, %none : f32
    linalg.yield %u : f32
  } -> !s
  %w1 = linalg.softmax dimension(2) ins(%s1 : !s) outs(%e_s : !s) -> !s
  %y1 = linalg.batch_matmul ins(%w1, %v : !s, !q) outs(%z_q : !q) -> !q
  %p2 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s2 = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p2 : !s) outs(%e_s : !s) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %end = arith.addi %j, %c3 : index
    %near = arith.cmpi slt, %i, %end : index
    %next = arith.addi %i, %c3 : index
    %past = arith.cmpi sle, %j, %next : index
    %taken = arith.andi %near, %past : i1
    %u = arith.select %taken, %a, %none : f32
    linalg.yield %u : f32
  } -> !s
  %w2 = linalg.softmax dimension(2) ins(%s2 : !s) outs(%e_s : !s) -> !s
  %y2 = linalg.batch_matmul ins(%w2, %v : !s, !q) outs(%z_q : !q) -> !q
  return %y0, %y1, %y2 : !q, !q, !q
}
