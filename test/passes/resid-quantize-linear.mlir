// RUN: resid-opt %s -resid-quantize-linear="report=true keep=head" -verify-diagnostics -split-input-file | FileCheck %s
// Linear layers with integers of 8 bits, and every reason to leave one as it is. The values are those of the formula
// (test/run/quantize-linear.test).

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
                   // expected-remark @below {{not quantised: expected a weight of [out, in], but got one of [in, out]}}
                   %t: tensor<8x4xf32> {resid.weight = "t"},
                   // expected-remark @below {{not quantised: expected linear layers as the only readers, but got 'resid.add'}}
                   %a: tensor<4x8xf32> {resid.weight = "a"},
                   // expected-remark @below {{not quantised: expected a weight of f16, bf16 or f32 with two static dimensions, but got 'tensor<8xf32>'}}
                   %v: tensor<8xf32> {resid.weight = "v"},
                   // expected-remark @below {{not quantised: expected layers without f64, but got one with it}}
                   %n: tensor<4x8xf32> {resid.weight = "n"},
                   // expected-remark @below {{not quantised: expected a linear layer that reads the weight, but got none}}
                   %unread: tensor<4x8xf32> {resid.weight = "unread"})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>, tensor<4x8xf32>) {
  %0 = resid.linear %x, %head : tensor<4x8xf32>, tensor<4x8xf32>
  %1 = resid.linear %x, %t {transposed} : tensor<4x8xf32>, tensor<8x4xf32>
  %2 = resid.linear %wide, %n : tensor<4x8xf64>, tensor<4x8xf32>
  %3 = resid.add %x, %a : tensor<4x8xf32>
  %4 = resid.rms_norm %3 gamma(%v) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return %0, %1, %2, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>, tensor<4x8xf32>
}

// -----

func.func @deep(%x: tensor<1x131072xf32>,
                // expected-remark @below {{not quantised: expected at most 131071 input features, but got 131072}}
                %w: tensor<4x131072xf32> {resid.weight = "w"}) -> tensor<1x4xf32> {
  %0 = resid.linear %x, %w : tensor<1x131072xf32>, tensor<4x131072xf32>
  return %0 : tensor<1x4xf32>
}
