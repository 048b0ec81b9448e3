// A loop over two sub-layers with stacked parameters, converted to peri, against the iterations written out by hand, with all
// parameters where they belong.
// REQUIRES: resid-run
// RUN: rm -rf %t && mkdir -p %t && resid-opt %s -resid-convert-norm-placement="to=peri" -o %t/converted.mlir
// RUN: echo "--arg=f32[2x3x8]=random:1 --arg=f32[2x8]=random:2 --arg=f32[2x8]=random:3 --arg=f32[2x8]=random:4 --arg=f32[2x8]=random:5 --arg=f32[8]=random:6 --arg=f32[8]=random:7" > %t/args
// RUN: resid-run %t/converted.mlir --backend=reference --entry=loop $(cat %t/args) --out=%t/loop.npy
// RUN: resid-run %t/converted.mlir --backend=reference --entry=target $(cat %t/args) --out=%t/target.npy
// RUN: cmp %t/loop.npy %t/target.npy
// RUN: resid-run %t/converted.mlir --entry=loop $(cat %t/args) --check

func.func @loop(%x: tensor<2x3x8xf32>, %g: tensor<2x8xf32>, %b: tensor<2x8xf32>) -> tensor<2x3x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> tensor<2x3x8xf32> {
    %gi = tensor.extract_slice %g[%i, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
    %bi = tensor.extract_slice %b[%i, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
    %t = resid.block post %s norm(layer gamma %gi : tensor<8xf32> beta %bi : tensor<8xf32> epsilon = 1.0e-3) {skip_scale = 1.5} : tensor<2x3x8xf32> {
    ^bb0(%h: tensor<2x3x8xf32>):
      %f = math.tanh %h : tensor<2x3x8xf32>
      resid.yield %f : tensor<2x3x8xf32>
    }
    scf.yield %t : tensor<2x3x8xf32>
  }
  return %y : tensor<2x3x8xf32>
}

func.func @target(%x: tensor<2x3x8xf32>, %g: tensor<2x8xf32>, %b: tensor<2x8xf32>, %ng: tensor<2x8xf32>, %nb: tensor<2x8xf32>,
                  %fg: tensor<8xf32>, %fb: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %g0 = tensor.extract_slice %g[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %b0 = tensor.extract_slice %b[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %ng0 = tensor.extract_slice %ng[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %nb0 = tensor.extract_slice %nb[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %m0 = resid.layer_norm %x gamma(%g0) beta(%b0) {epsilon = 1.0e-3} : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %f0 = math.tanh %m0 : tensor<2x3x8xf32>
  %n0 = resid.layer_norm %f0 gamma(%ng0) beta(%nb0) {epsilon = 1.0e-3} : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %y0 = resid.add %x, %n0 {skip_scale = 1.5} : tensor<2x3x8xf32>
  %g1 = tensor.extract_slice %g[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %b1 = tensor.extract_slice %b[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %ng1 = tensor.extract_slice %ng[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %nb1 = tensor.extract_slice %nb[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %m1 = resid.layer_norm %y0 gamma(%g1) beta(%b1) {epsilon = 1.0e-3} : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %f1 = math.tanh %m1 : tensor<2x3x8xf32>
  %n1 = resid.layer_norm %f1 gamma(%ng1) beta(%nb1) {epsilon = 1.0e-3} : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %y1 = resid.add %y0, %n1 {skip_scale = 1.5} : tensor<2x3x8xf32>
  %y = resid.layer_norm %y1 gamma(%fg) beta(%fb) {epsilon = 1.0e-3} : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y : tensor<2x3x8xf32>
}
