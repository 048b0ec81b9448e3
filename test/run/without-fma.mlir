// What is defined by a fused multiply-add has other bits on processors without one. It is judged by bounds there, and by
// tolerances where users wrote math.fma themselves.
// REQUIRES: resid-run, x86_64
// RUN: resid-run %s --entry=scaled --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=block --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=fma --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=in_body --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// CHECK: out0: ok, largest error {{[1-9]}}
// A write without a mix multiplies nothing, so that what reads it keeps its own bound, however large its numbers are.
// RUN: resid-run %s --entry=transition --mcpu=x86-64-v2 --arg=f32[40x4x1100]=random:1 --arg=f32[40x1100]=random:2 --arg=f32[24x4400]=random:3 --check | FileCheck %s --check-prefix=WRITE
// WRITE: out0: ok, bit-equal
// WRITE: out1: ok, largest error
func.func @scaled(%x: tensor<8x64xf32>, %f: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = resid.add %x, %f {skip_scale = 1.3} : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
func.func @block(%x: tensor<8x64xf32>, %f: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = resid.block none %x {skip_scale = 1.3} : tensor<8x64xf32> {
  ^bb0(%h: tensor<8x64xf32>):
    resid.yield %f : tensor<8x64xf32>
  }
  return %y : tensor<8x64xf32>
}
func.func @fma(%x: tensor<8x64xf32>, %f: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = math.fma %x, %f, %f : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
func.func @in_body(%x: tensor<8x64xf32>, %f: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = linalg.map ins(%x : tensor<8x64xf32>) outs(%f : tensor<8x64xf32>)
    (%a: f32, %old: f32) {
      %s = math.fma %a, %a, %a : f32
      linalg.yield %s : f32
    }
  return %y : tensor<8x64xf32>
}

func.func @transition(%x: tensor<?x4x1100xf32>, %y: tensor<?x1100xf32>, %w: tensor<24x4400xf32>) -> (tensor<?x4x1100xf32>, tensor<?x24xf32>) {
  %s = resid.write %x, %y : tensor<?x4x1100xf32>
  %z = resid.project %s, %w {epsilon = 1.0e-6} : tensor<?x4x1100xf32>, tensor<24x4400xf32> -> tensor<?x24xf32>
  return %s, %z : tensor<?x4x1100xf32>, tensor<?x24xf32>
}
