// An encoder and a decoder whose cross-attention captures the encoder's end, from post to pre by each mapping of the
// parameters, against flat ops written by hand. The shared gamma stands in two sub-layers of the encoder.
// REQUIRES: resid-run
// RUN: rm -rf %t && mkdir -p %t && resid-opt %s -resid-convert-norm-placement="to=pre params=keep" -o %t/keep.mlir
// RUN: resid-opt %s -resid-convert-norm-placement="to=pre params=shift" -o %t/shift.mlir
// RUN: echo "--arg=f32[3x8]=random:1 --arg=f32[2x8]=random:2 --arg=f32[2x3]=random:3 --arg=f32[8]=random:4 --arg=f32[8]=random:5 --arg=f32[8]=random:6" > %t/args
// RUN: echo "$(cat %t/args) --arg=f32[8]=random:7 --arg=f32[8]=random:8" > %t/more
// RUN: resid-run %t/keep.mlir --backend=reference --entry=model $(cat %t/more) --out=%t/keep.npy
// RUN: resid-run %t/keep.mlir --backend=reference --entry=keep $(cat %t/more) --out=%t/keep-target.npy
// RUN: cmp %t/keep.npy %t/keep-target.npy
// RUN: resid-run %t/shift.mlir --backend=reference --entry=model $(cat %t/args) --out=%t/shift.npy
// RUN: resid-run %t/shift.mlir --backend=reference --entry=shift $(cat %t/args) --out=%t/shift-target.npy
// RUN: cmp %t/shift.npy %t/shift-target.npy
// RUN: resid-run %t/keep.mlir --entry=model $(cat %t/more) --check

func.func @model(%x: tensor<3x8xf32>, %z: tensor<2x8xf32>, %w: tensor<2x3xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>,
                 %g2: tensor<8xf32>) -> tensor<2x8xf32> {
  %y0 = resid.block post %x norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-3) : tensor<3x8xf32> {
  ^bb0(%h: tensor<3x8xf32>):
    %f = math.absf %h : tensor<3x8xf32>
    resid.yield %f : tensor<3x8xf32>
  }
  %memory = resid.block post %y0 norm(rms gamma %g0 : tensor<8xf32> epsilon = 1.0e-3) : tensor<3x8xf32> {
  ^bb0(%h: tensor<3x8xf32>):
    %f = math.tanh %h : tensor<3x8xf32>
    resid.yield %f : tensor<3x8xf32>
  }
  %e = resid.layer_norm %z gamma(%g1) {epsilon = 1.0e-3} : tensor<2x8xf32>, tensor<8xf32>
  %y = resid.block post %e norm(layer gamma %g2 : tensor<8xf32> epsilon = 1.0e-3) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %a = linalg.matmul ins(%w, %memory : tensor<2x3xf32>, tensor<3x8xf32>) outs(%h : tensor<2x8xf32>) -> tensor<2x8xf32>
    resid.yield %a : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

func.func @keep(%x: tensor<3x8xf32>, %z: tensor<2x8xf32>, %w: tensor<2x3xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>,
                %g2: tensor<8xf32>, %fe: tensor<8xf32>, %fd: tensor<8xf32>) -> tensor<2x8xf32> {
  %n0 = resid.rms_norm %x gamma(%g0) {epsilon = 1.0e-3} : tensor<3x8xf32>, tensor<8xf32>
  %f0 = math.absf %n0 : tensor<3x8xf32>
  %y0 = resid.add %x, %f0 : tensor<3x8xf32>
  %n1 = resid.rms_norm %y0 gamma(%g0) {epsilon = 1.0e-3} : tensor<3x8xf32>, tensor<8xf32>
  %f1 = math.tanh %n1 : tensor<3x8xf32>
  %y1 = resid.add %y0, %f1 : tensor<3x8xf32>
  %memory = resid.rms_norm %y1 gamma(%fe) {epsilon = 1.0e-3} : tensor<3x8xf32>, tensor<8xf32>
  %e = resid.layer_norm %z gamma(%g1) {epsilon = 1.0e-3} : tensor<2x8xf32>, tensor<8xf32>
  %n2 = resid.layer_norm %e gamma(%g2) {epsilon = 1.0e-3} : tensor<2x8xf32>, tensor<8xf32>
  %f2 = linalg.matmul ins(%w, %memory : tensor<2x3xf32>, tensor<3x8xf32>) outs(%n2 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y2 = resid.add %e, %f2 : tensor<2x8xf32>
  %y = resid.layer_norm %y2 gamma(%fd) {epsilon = 1.0e-3} : tensor<2x8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}

func.func @shift(%x: tensor<3x8xf32>, %z: tensor<2x8xf32>, %w: tensor<2x3xf32>, %g0: tensor<8xf32>, %g1: tensor<8xf32>,
                 %g2: tensor<8xf32>) -> tensor<2x8xf32> {
  %f0 = math.absf %x : tensor<3x8xf32>
  %y0 = resid.add %x, %f0 : tensor<3x8xf32>
  %n1 = resid.rms_norm %y0 gamma(%g0) {epsilon = 1.0e-3} : tensor<3x8xf32>, tensor<8xf32>
  %f1 = math.tanh %n1 : tensor<3x8xf32>
  %y1 = resid.add %y0, %f1 : tensor<3x8xf32>
  %memory = resid.rms_norm %y1 gamma(%g0) {epsilon = 1.0e-3} : tensor<3x8xf32>, tensor<8xf32>
  %n2 = resid.layer_norm %z gamma(%g1) {epsilon = 1.0e-3} : tensor<2x8xf32>, tensor<8xf32>
  %f2 = linalg.matmul ins(%w, %memory : tensor<2x3xf32>, tensor<3x8xf32>) outs(%n2 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y2 = resid.add %z, %f2 : tensor<2x8xf32>
  %y = resid.layer_norm %y2 gamma(%g2) {epsilon = 1.0e-3} : tensor<2x8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}
