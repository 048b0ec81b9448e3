// RUN: rm -rf %t && split-file %s %t && resid-opt %t/prepared.mlir -resid-quantize-linear="report=true keep=head" -verify-diagnostics -split-input-file | FileCheck %t/prepared.mlir
// RUN: resid-opt %t/given.mlir -resid-quantize-linear="scheme=w4g4 given=true keep-heads=true" | FileCheck %t/given.mlir --check-prefix=GIVEN
// RUN: resid-opt %t/given.mlir -resid-quantize-linear="scheme=w8 observe=true" | FileCheck %t/given.mlir --check-prefix=OBSERVE
// RUN: resid-opt %t/given.mlir -resid-quantize-linear="scheme=w8g4" | FileCheck %t/given.mlir --check-prefix=GROUPS
// RUN: resid-opt %t/given.mlir -resid-quantize-linear="given=true factors=layer.v" | FileCheck %t/given.mlir --check-prefix=FACTORS
// RUN: resid-opt %t/shared.mlir -resid-quantize-linear="given=true factors=v" | FileCheck %t/shared.mlir --check-prefix=LATER
// RUN: not resid-opt %t/shared.mlir -resid-quantize-linear="given=true factors=w,v" 2>&1 | FileCheck %t/shared.mlir --check-prefix=BOTH
// RUN: not resid-opt %t/given.mlir -resid-quantize-linear="factors=layer.v" 2>&1 | FileCheck %t/given.mlir --check-prefix=LONE
// RUN: not resid-opt %t/given.mlir -resid-quantize-linear="scheme=w8g5" 2>&1 | FileCheck %t/given.mlir --check-prefix=SCHEME
// RUN: not resid-opt %t/given.mlir -resid-quantize-linear="scheme=w4" 2>&1 | FileCheck %t/given.mlir --check-prefix=FOUR
// Linear layers with integers of 8 bits, and every reason to leave one as it is. The values are those of the formula
// (test/run/quantize-linear.test).

//--- prepared.mlir
// Layers that read the same rows share their integers; a layer keeps its bias and the type of its result.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x64xbf16>, %[[W:[^:]*]]: tensor<32x64xi8> {resid.name = "w", resid.prepared = 0 : i64}, %[[V:[^:]*]]: tensor<16x64xi8> {resid.name = "v", resid.prepared = 2 : i64}, %[[B:[^:]*]]: tensor<32xf32>, %[[WS:[^:]*]]: tensor<32xf32> {resid.name = "w_scale", resid.prepared = 1 : i64}, %[[VS:[^:]*]]: tensor<16xf32> {resid.name = "v_scale", resid.prepared = 3 : i64})
// CHECK-NEXT: %[[Q:.*]], %[[S:.*]] = resid.quantize %[[X]] {granularity = row} : tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = resid.linear %[[Q]], %[[W]] x_scale(%[[S]]) weight_scale(%[[WS]]) bias(%[[B]]) : tensor<?x64xi8>, tensor<32x64xi8>, tensor<?xf32>, tensor<32xf32>, tensor<32xf32> -> tensor<?x32xbf16>
// CHECK-NEXT: %[[Z:.*]] = resid.linear %[[Q]], %[[V]] x_scale(%[[S]]) weight_scale(%[[VS]]) : tensor<?x64xi8>, tensor<16x64xi8>, tensor<?xf32>, tensor<16xf32>
// CHECK-LABEL: func.func @layers_prepare(
// CHECK: resid.quantize %{{.*}} {granularity = row} : tensor<32x64xf32>
// CHECK: resid.quantize %{{.*}} {granularity = row} : tensor<16x64xbf16>
func.func @layers(%x: tensor<?x64xbf16>,
                  // expected-remark @below {{quantised (other values): 1 layers of 'tensor<32x64xf32>'}}
                  %w: tensor<32x64xf32> {resid.name = "w", resid.weight = "layer.w"},
                  // expected-remark @below {{quantised (other values): 1 layers of 'tensor<16x64xbf16>'}}
                  %v: tensor<16x64xbf16> {resid.name = "v", resid.weight}, %b: tensor<32xf32>) -> (tensor<?x32xbf16>, tensor<?x16xf32>) {
  %y = resid.linear %x, %w bias(%b) : tensor<?x64xbf16>, tensor<32x64xf32>, tensor<32xf32>
  %z = resid.linear %x, %v : tensor<?x64xbf16>, tensor<16x64xbf16> -> tensor<?x16xf32>
  return %y, %z : tensor<?x32xbf16>, tensor<?x16xf32>
}

// -----

// CHECK-LABEL: func.func @refused(
// CHECK-NOT: resid.quantize
func.func @refused(%x: tensor<4x8xf32>, %wide: tensor<4x8xf64>,
                   // expected-remark @below {{not quantised: it is kept}}
                   %head: tensor<4x8xf32> {resid.name = "head", resid.weight = "head"},
                   // expected-remark @below {{not quantised: expected layers that read the weight in one order, but got [out, in] and [in, out]}}
                   %t: tensor<8x8xf32> {resid.weight = "t"},
                   // expected-remark @below {{not quantised: expected linear layers as the only readers, but got 'resid.add'}}
                   %a: tensor<4x8xf32> {resid.weight = "a"},
                   // expected-remark @below {{not quantised: expected a weight of f16, bf16 or f32 with two static dimensions, but got 'tensor<8xf32>'}}
                   %v: tensor<8xf32> {resid.weight = "v"},
                   // expected-remark @below {{not quantised: expected layers without f64, but got one with it}}
                   %n: tensor<4x8xf32> {resid.weight = "n"},
                   // expected-remark @below {{not quantised: expected a linear layer that reads the weight, but got none}}
                   %unread: tensor<4x8xf32> {resid.weight = "unread"})
    -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x4xf64>, tensor<4x8xf32>) {
  %0 = resid.linear %x, %head : tensor<4x8xf32>, tensor<4x8xf32>
  %t0 = resid.linear %x, %t : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = resid.linear %t0, %t {transposed} : tensor<4x8xf32>, tensor<8x8xf32>
  %2 = resid.linear %wide, %n : tensor<4x8xf64>, tensor<4x8xf32>
  %3 = resid.add %x, %a : tensor<4x8xf32>
  %4 = resid.rms_norm %3 gamma(%v) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return %0, %1, %2, %4 : tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x4xf64>, tensor<4x8xf32>
}

// -----

func.func @deep(%x: tensor<1x131072xf32>,
                // expected-remark @below {{not quantised: expected at most 131071 input features, but got 131072}}
                %w: tensor<4x131072xf32> {resid.weight = "w"}) -> tensor<1x4xf32> {
  %0 = resid.linear %x, %w : tensor<1x131072xf32>, tensor<4x131072xf32>
  return %0 : tensor<1x4xf32>
}

//--- given.mlir
// The integers come as arguments, of 4 bits too; a weight of [in, out] becomes one of [out, in], here or by whoever gives it.
// GIVEN: module attributes {resid.quantized = [
// GIVEN-SAME: {argument = 1 : i64, element = "f32", function = "given", kept = "expected input features in groups of 4, but got 6", shape = [8, 6], weight = "u"}
// GIVEN-SAME: {argument = 2 : i64, bits = 4 : i64, element = "f32", function = "given", scale_shape = [8, 2], shape = [8, 8], transposed = 1 : i64, weight = "layer.v"}
// GIVEN-SAME: {argument = 3 : i64, element = "f32", function = "given", kept = "it is that of a head: the function returns what it computes", shape = [4, 8], weight = "head"}
// GIVEN: func.func @given(%{{.*}}, %[[U:.*]]: tensor<8x6xf32> {resid.weight = "u"}, %[[V:.*]]: tensor<8x8xi4> {resid.name = "v", resid.weight = "layer.v"}, %{{.*}}: tensor<4x8xf32> {resid.weight = "head"}, %{{.*}}: tensor<6xf32> {resid.weight = "gamma"}, %[[S:.*]]: tensor<8x2xf32> {resid.name = "v_scale", resid.weight = "layer.v_scale"})
// GIVEN: resid.linear %{{.*}}, %[[V]] weight_scale(%[[S]]) {group = 4 : i64} : tensor<?x8xf32>, tensor<8x8xi4>, tensor<8x2xf32>
// GIVEN-NOT: _prepare

// What is observed: the rows, once for all that read them, and the norm whose parameters may take factors.
// OBSERVE: resid.quantized = [
// OBSERVE-SAME: norm = {gamma = "gamma"}, rows = [1], scale_shape = [8, 1]
// OBSERVE-SAME: not_smoothed = "expected rows that a norm makes, but got the result of 'resid.linear'", rows = [2], scale_shape = [8, 1], shape = [8, 8], transposed = 1 : i64, weight = "layer.v"}
// OBSERVE-SAME: rows = [3], scale_shape = [4, 1]
// OBSERVE: -> (tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
// OBSERVE-NEXT: %[[N:.*]] = resid.rms_norm
// OBSERVE-NEXT: %[[H:.*]] = resid.linear %[[N]],
// OBSERVE-NEXT: %[[Y:.*]] = resid.linear %[[H]],
// OBSERVE-NEXT: %[[Z:.*]] = resid.linear %[[Y]],
// OBSERVE-NEXT: return %[[Z]], %[[N]], %[[H]], %[[Y]]

// GROUPS: resid.linear %{{.*}} weight_scale(%{{.*}}) {group = 4 : i64} : tensor<?x8xf32>, tensor<8x8xi8>, tensor<8x2xf32>
// GROUPS: func.func @given_prepare(%{{.*}}: tensor<8x8xf32>
// GROUPS: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<8x8xf32>) outs(%{{.*}} : tensor<8x8xf32>) permutation = [1, 0]
// GROUPS: resid.quantize %[[T]] {granularity = group 4} : tensor<8x8xf32>

// The rows of one layer are multiplied by a new weight first.
// FACTORS: func.func @given(
// FACTORS-SAME: %[[F:[^ ]*]]: tensor<8xf32> {resid.name = "v_factor", resid.weight = "layer.v_factor"}
// FACTORS: %[[H:.*]] = resid.linear
// FACTORS: %[[X:.*]] = linalg.generic {{.*}} ins(%[[H]], %[[F]] : tensor<?x8xf32>, tensor<8xf32>)
// FACTORS: resid.quantize %[[X]] {granularity = row} : tensor<?x8xf32>
// FACTORS-NOT: linalg.generic

// LONE: error: expected given=true and scheme=w8a8 beside factors, but got 'w8a8' without given
// SCHEME: error: expected a scheme among w8a8, w8, w8gN, w4 and w4gN, where N is even, but got 'w8g5'
// FOUR: error: expected given=true beside 'w4', since no function returns integers of 4 bits, but got none
func.func @given(%x: tensor<?x6xf32>, %u: tensor<8x6xf32> {resid.weight = "u"},
                 %v: tensor<8x8xf32> {resid.name = "v", resid.weight = "layer.v"}, %head: tensor<4x8xf32> {resid.weight = "head"},
                 %gamma: tensor<6xf32> {resid.weight = "gamma"}) -> tensor<?x4xf32> {
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x6xf32>, tensor<6xf32>
  %h = resid.linear %n, %u : tensor<?x6xf32>, tensor<8x6xf32>
  %y = resid.linear %h, %v {transposed} : tensor<?x8xf32>, tensor<8x8xf32>
  %z = resid.linear %y, %head : tensor<?x8xf32>, tensor<4x8xf32>
  return %z : tensor<?x4xf32>
}

//--- shared.mlir
// Layers that read the same rows share their factors, whichever weight has the name of these.
// LATER: %[[X:.*]] = linalg.generic
// LATER: %[[Q:.*]], %{{.*}} = resid.quantize %[[X]]
// LATER: resid.linear %[[Q]], %{{.*}} tensor<6x8xi8>
// LATER: resid.linear %[[Q]], %{{.*}} tensor<4x8xi8>
// BOTH: error: 'resid.linear' op expected one of the weights that are read with these rows in factors, but got 'w' and 'v'
func.func @shared(%x: tensor<?x8xf32>, %w: tensor<6x8xf32> {resid.weight = "w"}, %v: tensor<4x8xf32> {resid.weight = "v"})
    -> (tensor<?x6xf32>, tensor<?x4xf32>) {
  %a = resid.linear %x, %w : tensor<?x8xf32>, tensor<6x8xf32>
  %b = resid.linear %x, %v : tensor<?x8xf32>, tensor<4x8xf32>
  return %a, %b : tensor<?x6xf32>, tensor<?x4xf32>
}
