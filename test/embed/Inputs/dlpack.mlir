// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of dlpack.c: run-time and static sizes, scalars, several results, row strides; and every element type.

func.func @norm(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>, %seed: i64, %step: i64) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %d = resid.dropout %x seed(%seed, %step) {p = 0.25, site = 0} : tensor<?x8xf32>
  %n = resid.rms_norm %d gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  return %n, %d : tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @strided(%x: tensor<?x?x8xf32> {resid.strided}, %f: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32> {resid.strided}) {
  %s = resid.add %x, %f : tensor<?x?x8xf32>
  return %s : tensor<?x?x8xf32>
}

func.func @types(%a: tensor<2xf16>, %b: tensor<2xbf16>, %c: tensor<2xf64>, %d: tensor<2xi8>, %e: tensor<2xi16>, %f: tensor<2xi32>,
                 %g: tensor<2xi64>, %h: tensor<2xindex>, %i: tensor<2xi1>, %j: tensor<f32>, %k: bf16, %l: i1, %m: index)
    -> (tensor<2xf16>, tensor<2xbf16>, tensor<2xf64>, tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xindex>,
        tensor<2xi1>, tensor<f32>, tensor<bf16>, tensor<i1>, tensor<index>) {
  %k0 = tensor.from_elements %k : tensor<bf16>
  %l0 = tensor.from_elements %l : tensor<i1>
  %m0 = tensor.from_elements %m : tensor<index>
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k0, %l0, %m0 : tensor<2xf16>, tensor<2xbf16>, tensor<2xf64>, tensor<2xi8>, tensor<2xi16>,
      tensor<2xi32>, tensor<2xi64>, tensor<2xindex>, tensor<2xi1>, tensor<f32>, tensor<bf16>, tensor<i1>, tensor<index>
}

func.func @nothing() {
  return
}
