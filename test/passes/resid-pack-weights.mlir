// RUN: resid-opt %s -resid-pack-weights="report=true" -verify-diagnostics -split-input-file | FileCheck %s
// Weights in panels, and every reason to leave one as it is. The values are compared in test/run/packed-weights.test.

// Of [in, out], and of [out, in] in bf16; the arguments stay where they are and keep their names.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME: tensor<?x40xf32>, %[[W:[^:]*]]: tensor<2x40x16xf32> {resid.name = "w", resid.prepared = 0 : i64}, %[[V:[^:]*]]: tensor<3x13x16x2xbf16> {resid.prepared = 1 : i64},
// CHECK-DAG: %[[W1:.*]] = linalg.unpack %[[W]] outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<2x40x16xf32> -> tensor<40x25xf32>
// CHECK-DAG: %[[V1:.*]] = linalg.unpack %[[V]] outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [16, 2] into %{{.*}} : tensor<3x13x16x2xbf16> -> tensor<33x25xbf16>
// CHECK: linalg.matmul ins(%{{.*}}, %[[W1]]
// CHECK: arith.extf %[[V1]]
// CHECK-LABEL: func.func @layers_prepare(
// CHECK-SAME: %[[W:[^:]*]]: tensor<40x25xf32> {resid.name = "w", resid.weight = "layer.w"}, %[[V:[^:]*]]: tensor<33x25xbf16> {resid.weight}) -> (tensor<2x40x16xf32>, tensor<3x13x16x2xbf16>) attributes {resid.prepares = "layers"}
// CHECK: %[[P:.*]] = linalg.pack %[[W]] padding_value(%{{.*}} : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16]
// CHECK: %[[Q:.*]] = linalg.pack %[[V]] padding_value(%{{.*}} : bf16) outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [16, 2]
// CHECK: return %[[P]], %[[Q]]
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>
// expected-remark @below {{packed (bit-exact): 25 columns of 40 in panels of 16}}
func.func @layers(%x: tensor<?x40xf32>, %w: tensor<40x25xf32> {resid.name = "w", resid.weight = "layer.w"},
                  // expected-remark @below {{packed (bit-exact): 33 columns of 25 in panels of 16}}
                  %v: tensor<33x25xbf16> {resid.weight}, %h: tensor<?x25xf32>, %y: tensor<?x33xf32>) -> tensor<?x33xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<?x40xf32>, tensor<40x25xf32>) outs(%h : tensor<?x25xf32>) -> tensor<?x25xf32>
  %wide = arith.extf %v : tensor<33x25xbf16> to tensor<33x25xf32>
  %1 = linalg.matmul indexing_maps = [#rows, #columns, #product] ins(%0, %wide : tensor<?x25xf32>, tensor<33x25xf32>) outs(%y : tensor<?x33xf32>) -> tensor<?x33xf32>
  return %1 : tensor<?x33xf32>
}

// -----

// Through a transpose and a broadcast, in a loop, twice; nothing is padded. What is not marked stays.
// CHECK-LABEL: func.func @views(
// CHECK-SAME: tensor<2x?x8xf16>, %[[W:[^:]*]]: tensor<2x8x16xf16> {resid.prepared = 0 : i64}, %{{[^:]*}}: tensor<8x32xf16>,
// CHECK: linalg.unpack %[[W]] outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [16]
// CHECK: scf.for
// CHECK-LABEL: func.func @views_prepare(
// CHECK-NOT: padding_value
// CHECK: linalg.pack
// expected-remark @below {{packed (bit-exact): 32 columns of 8 in panels of 16}}
func.func @views(%x: tensor<2x?x8xf16>, %w: tensor<32x8xf16> {resid.weight}, %v: tensor<8x32xf16>, %y: tensor<2x?x32xf16>, %n: index) -> tensor<2x?x32xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x32xf16>
  %t = linalg.transpose ins(%w : tensor<32x8xf16>) outs(%e : tensor<8x32xf16>) permutation = [1, 0]
  %f = tensor.empty() : tensor<2x8x32xf16>
  %b = linalg.broadcast ins(%t : tensor<8x32xf16>) outs(%f : tensor<2x8x32xf16>) dimensions = [0]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> tensor<2x?x32xf16> {
    %p = linalg.batch_matmul ins(%x, %b : tensor<2x?x8xf16>, tensor<2x8x32xf16>) outs(%s : tensor<2x?x32xf16>) -> tensor<2x?x32xf16>
    %q = linalg.batch_matmul ins(%x, %b : tensor<2x?x8xf16>, tensor<2x8x32xf16>) outs(%p : tensor<2x?x32xf16>) -> tensor<2x?x32xf16>
    scf.yield %q : tensor<2x?x32xf16>
  }
  return %r : tensor<2x?x32xf16>
}

// -----

// What @F_prepare makes already is packed after that.
// CHECK-LABEL: func.func @folded(
// CHECK-SAME: tensor<1x8x16xf32> {resid.prepared = 0 : i64}
// CHECK-LABEL: func.func @folded_prepare(
// CHECK: %[[F:.*]] = arith.mulf
// CHECK: %[[P:.*]] = linalg.pack %[[F]]
// CHECK: return %[[P]] : tensor<1x8x16xf32>
// expected-remark @below {{packed (bit-exact): 9 columns of 8 in panels of 16}}
func.func @folded(%x: tensor<4x8xf32>, %w: tensor<8x9xf32> {resid.prepared = 0 : i64}, %y: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x9xf32>) outs(%y : tensor<4x9xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}
func.func @folded_prepare(%w: tensor<8x9xf32>) -> tensor<8x9xf32> attributes {resid.prepares = "folded"} {
  %0 = arith.mulf %w, %w : tensor<8x9xf32>
  return %0 : tensor<8x9xf32>
}

// -----

// Constants are packed here; equal elements need no place.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: arith.constant dense<{{\[\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00, 9.000000e+00, 1.100000e+01, 1.300000e+01, 1.500000e+01], [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00, 1.000000e+01, 1.200000e+01, 1.400000e+01, 1.600000e+01]]]> : tensor<1x2x8xf32>
// CHECK-DAG: arith.constant dense_resource<w_panels> : tensor<1x2x8x2xbf16>
// CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<2x8xf32>
// CHECK-NOT: _prepare
// CHECK: w_panels: "0x40000000
// The rows 0 and 1, then row 2 and what is missing: of each column two neighbours.
// CHECK-SAME: 01000900020010000300{{[0-9A-F]+}}11000000
func.func @constants(%x: tensor<4x2xf32>, %y: tensor<4x8xf32>, %u: tensor<4x3xbf16>, %v: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-remark @below {{packed (bit-exact): 8 columns of 2 in panels of 8}}
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0], [11.0, 12.0], [13.0, 14.0], [15.0, 16.0]]> : tensor<8x2xf32>
  %e = tensor.empty() : tensor<2x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x2xf32>) outs(%e : tensor<2x8xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<4x2xf32>, tensor<2x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{packed (bit-exact): 8 columns of 3 in panels of 8}}
  %r = arith.constant dense_resource<w> : tensor<3x8xbf16>
  %1 = linalg.matmul ins(%u, %r : tensor<4x3xbf16>, tensor<3x8xbf16>) outs(%v : tensor<4x8xf32>) -> tensor<4x8xf32>
  %ones = arith.constant dense<1.0> : tensor<2x8xf32>
  %2 = linalg.matmul ins(%x, %ones : tensor<4x2xf32>, tensor<2x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
{-# dialect_resources: { builtin: { w: "0x02000000010002000300040005000600070008000900100011001200130014001500160011001800190020002100220023002400" } } #-}

// -----

// CHECK-LABEL: func.func @readers(
// CHECK-NOT: pack
// expected-remark @below {{not packed: expected contractions as the only readers, but got 'func.return'}}
func.func @readers(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-note @below {{found here}}
  return %0, %w : tensor<4x8xf32>, tensor<8x8xf32>
}

// -----

// expected-remark @below {{not packed: expected a contraction that reads the weight, but got none}}
func.func @unread(%w: tensor<8x8xf32> {resid.weight}) {
  return
}

// -----

// expected-remark @below {{not packed: expected contractions to multiply by the weight, but one accumulates onto it}}
func.func @accumulated(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %w: tensor<8x8xf32> {resid.weight}) -> tensor<8x8xf32> {
  // expected-note @below {{found here}}
  %0 = linalg.matmul ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%w : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// One of the two could have its panels.
// expected-remark @below {{not packed: expected all contractions to sum over one dimension of the weight, but they sum over both}}
func.func @tied(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-note @below {{found here}}
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The rows of the product are the weight's.
// expected-remark @below {{not packed: expected the weight to have the last loop of the product and the contracted one, but it has others}}
func.func @left(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{found here}}
  %0 = linalg.matmul ins(%w, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A product of each column by itself.
// expected-remark @below {{not packed: expected the weight to have the last loop of the product and the contracted one, but it has others}}
func.func @batched(%x: tensor<4x8x8xf32>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @below {{found here}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k, n)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x8x8xf32>, tensor<8x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// expected-remark @below {{not packed: expected one contracted loop, but got 2}}
func.func @loops(%x: tensor<4x2x8xf32>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @below {{found here}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, j, k) -> (m, j, k)>, affine_map<(m, n, j, k) -> (k, n)>, affine_map<(m, n, j, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<4x2x8xf32>, tensor<8x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// expected-remark @below {{not packed: expected arithmetic in f32 after a cast to a wider type, but got f64}}
func.func @double(%x: tensor<4x8xf64>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %v = arith.extf %w : tensor<8x8xf32> to tensor<8x8xf64>
  // expected-note @below {{found here}}
  %0 = linalg.matmul ins(%x, %v : tensor<4x8xf64>, tensor<8x8xf64>) outs(%y : tensor<4x8xf64>) -> tensor<4x8xf64>
  return %0 : tensor<4x8xf64>
}

// -----

// expected-remark @below {{not packed: expected a weight of two static dimensions, but got 'tensor<?x8xf32>'}}
func.func @types(%u: tensor<?x8xf32> {resid.weight},
                 // expected-remark @below {{not packed: expected a weight of two static dimensions, but got 'tensor<8xf32>'}}
                 %v: tensor<8xf32> {resid.weight},
                 // expected-remark @below {{not packed: expected a weight of f16, bf16, f32, f64 or i8, but got 'tensor<8x8xi32>'}}
                 %w: tensor<8x8xi32> {resid.weight}) {
  return
}

// -----

// expected-remark @below {{not packed: expected a weight of at least 4 columns, since panels have 8 or more, but got 3}}
func.func @narrow(%x: tensor<4x8xf32>, %w: tensor<8x3xf32> {resid.weight}, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%y : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// expected-remark @below {{not packed: expected a function that nothing calls, since its arguments change, but @called is called; inline the calls first}}
func.func @called(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {resid.weight}, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @caller(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = func.call @called(%x, %w, %y) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The weights of resid.linear, in either order.
// CHECK-LABEL: func.func @linear_ops(
// CHECK-DAG: %[[W:.*]] = linalg.unpack %{{.*}} outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [24] {{.*}} tensor<1x8x24xf32> -> tensor<24x8xf32>
// CHECK-DAG: %[[V:.*]] = linalg.unpack %{{.*}} outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] {{.*}} -> tensor<24x9xf32>
// CHECK: %[[H:.*]] = resid.linear %{{.*}}, %[[W]] bias(
// CHECK: resid.linear %[[H]], %[[V]] {transposed}
// expected-remark @below {{packed (bit-exact): 24 columns of 8 in panels of 24}}
func.func @linear_ops(%x: tensor<?x8xf32>, %w: tensor<24x8xf32> {resid.weight}, %b: tensor<24xf32>,
                      // expected-remark @below {{packed (bit-exact): 9 columns of 24 in panels of 16}}
                      %v: tensor<24x9xf32> {resid.weight}) -> tensor<?x9xf32> {
  %h = resid.linear %x, %w bias(%b) : tensor<?x8xf32>, tensor<24x8xf32>, tensor<24xf32>
  %y = resid.linear %h, %v {transposed} : tensor<?x24xf32>, tensor<24x9xf32>
  return %y : tensor<?x9xf32>
}

// -----

// expected-remark @below {{not packed: expected contractions to multiply by the weight, but one multiplies the weight}}
func.func @linear_of_the_weight(%x: tensor<16x8xf32>, %w: tensor<8x8xf32> {resid.weight}) -> tensor<8x16xf32> {
  // expected-note @below {{found here}}
  %y = resid.linear %w, %x : tensor<8x8xf32>, tensor<16x8xf32>
  return %y : tensor<8x16xf32>
}

// -----

// expected-remark @below {{not packed: expected all contractions to sum over one dimension of the weight, but they sum over both}}
func.func @linear_both_ways(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {resid.weight}) -> tensor<4x8xf32> {
  // expected-note @below {{found here}}
  %h = resid.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %y = resid.linear %h, %w {transposed} : tensor<4x8xf32>, tensor<8x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The weights of projections, in f32, in bf16 and transposed.
// CHECK-LABEL: func.func @projections(
// CHECK-DAG: %[[W:.*]] = linalg.unpack %{{.*}} outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [24] {{.*}} tensor<1x40x24xf32> -> tensor<24x40xf32>
// CHECK-DAG: %[[V:.*]] = linalg.unpack %{{.*}} outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [8, 2] {{.*}} tensor<1x20x8x2xbf16> -> tensor<8x40xbf16>
// CHECK-DAG: %[[U:.*]] = linalg.unpack %{{.*}} outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] {{.*}} -> tensor<40x9xf32>
// CHECK: resid.project %{{.*}}, %[[W]] {{.*}} -> tensor<?x24xf32>, tensor<?xf32>
// CHECK: resid.project %{{.*}}, %[[V]]
// expected-remark @below {{packed (bit-exact): 24 columns of 40 in panels of 24}}
func.func @projections(%x: tensor<?x4x10xbf16>, %w: tensor<24x40xf32> {resid.weight},
                       // expected-remark @below {{packed (bit-exact): 8 columns of 40 in panels of 8}}
                       %v: tensor<8x40xbf16> {resid.weight},
                       // expected-remark @below {{packed (bit-exact): 9 columns of 40 in panels of 16}}
                       %u: tensor<40x9xf32> {resid.weight}) -> (tensor<?x24xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?x9xf32>) {
  %z, %rstd = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x10xbf16>, tensor<24x40xf32> -> tensor<?x24xf32>, tensor<?xf32>
  %y = resid.project %x, %v {epsilon = 1.0e-6} : tensor<?x4x10xbf16>, tensor<8x40xbf16>
  %e = tensor.empty() : tensor<9x40xf32>
  %t = linalg.transpose ins(%u : tensor<40x9xf32>) outs(%e : tensor<9x40xf32>) permutation = [1, 0]
  %p = resid.project %x, %t {epsilon = 1.0e-6} : tensor<?x4x10xbf16>, tensor<9x40xf32>
  return %z, %rstd, %y, %p : tensor<?x24xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?x9xf32>
}

// -----

// expected-remark @below {{not packed: expected contractions to multiply by the weight, but one multiplies the weight}}
func.func @projection_of_the_weight(%x: tensor<8x64xf32>, %w: tensor<8x8xf32> {resid.weight}) -> tensor<8xf32> {
  // expected-note @below {{found here}}
  %z = resid.project %w, %x {epsilon = 1.0e-6} : tensor<8x8xf32>, tensor<8x64xf32>
  return %z : tensor<8xf32>
}
