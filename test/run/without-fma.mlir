// What is defined by a fused multiply-add has other bits on processors without one. It is judged by bounds there, and by
// tolerances where users wrote math.fma themselves.
// REQUIRES: resid-run, x86_64
// RUN: resid-run %s --entry=scaled --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=block --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=fma --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// RUN: resid-run %s --entry=in_body --mcpu=x86-64-v2 --arg=f32[8x64]=random:1 --arg=f32[8x64]=random:2 --check | FileCheck %s
// CHECK: out0: ok, largest error {{[1-9]}}
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
