// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with row kernels around them, for row_blocks.cpp. Each function has a result `y`, and may have a second one.

// Row kernels after: a temporary of a block's rows. Neither columns nor rows come out even.
func.func @post(%x: tensor<?x100xf32>, %h: tensor<?x37xf32>, %w: tensor<100x37xf32>, %b: tensor<100xf32>,
                %gamma: tensor<100xf32>, %seed: i64) -> tensor<?x100xf32> {
  %step = arith.constant 7 : i64
  %l = resid.linear %h, %w bias(%b) : tensor<?x37xf32>, tensor<100x37xf32>, tensor<100xf32> -> tensor<?x100xf32>
  %d = resid.dropout %l seed(%seed, %step) {p = 0.25, site = 2} : tensor<?x100xf32>
  %s = resid.add %x, %d : tensor<?x100xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x100xf32>, tensor<100xf32>
  return %y : tensor<?x100xf32>
}

// Row kernels before: rows are normalised, then widened for the product, block by block. The sum is a result too.
func.func @pre(%x: tensor<?x72xbf16>, %h: tensor<?x72xbf16>, %w: tensor<72x48xbf16>, %gamma: tensor<72xbf16>)
    -> (tensor<?x48xbf16>, tensor<?x72xbf16>) {
  %s = resid.add %x, %h : tensor<?x72xbf16>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x72xbf16>, tensor<72xbf16>
  %y = resid.linear %n, %w {transposed} : tensor<?x72xbf16>, tensor<72x48xbf16> -> tensor<?x48xbf16>
  return %y, %s : tensor<?x48xbf16>, tensor<?x72xbf16>
}

// On both sides, with two dimensions of rows, the second of which is odd.
func.func @both(%x: tensor<?x3x40xf64>, %w: tensor<40x40xf64>, %gamma: tensor<40xf64>)
    -> (tensor<?x3x40xf64>, tensor<?x3x40xf64>) {
  %n = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x3x40xf64>, tensor<40xf64>
  %l = resid.linear %n, %w : tensor<?x3x40xf64>, tensor<40x40xf64>
  %a = resid.activation gelu %l : tensor<?x3x40xf64>
  %y, %s = resid.add_norm rms %x, %a gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x3x40xf64>, tensor<40xf64>
  return %y, %s : tensor<?x3x40xf64>, tensor<?x3x40xf64>
}

// Two layers, the stream of which is carried.
func.func @layers(%x: tensor<?x64xf16>, %w: tensor<2x64x64xf16>, %gamma: tensor<64xf16>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%stream = %x) -> tensor<?x64xf16> {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<2x64x64xf16> to tensor<64x64xf16>
    %n = resid.rms_norm %stream gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x64xf16>, tensor<64xf16>
    %f = resid.linear %n, %wi : tensor<?x64xf16>, tensor<64x64xf16>
    %next = resid.add %stream, %f : tensor<?x64xf16>
    scf.yield %next : tensor<?x64xf16>
  }
  return %y : tensor<?x64xf16>
}

// Rows that lie apart.
func.func @strided(%x: tensor<?x40xf32> {resid.strided}, %w: tensor<40x40xf32>, %gamma: tensor<40xf32>)
    -> (tensor<?x40xf32> {resid.strided}) {
  %l = resid.linear %x, %w : tensor<?x40xf32>, tensor<40x40xf32>
  %s = resid.add %x, %l : tensor<?x40xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x40xf32>, tensor<40xf32>
  return %y : tensor<?x40xf32>
}

// Batches that lie apart, of few rows each: a block is a batch.
func.func @batches(%x: tensor<?x4x40xf32> {resid.strided}, %w: tensor<40x40xf32>, %gamma: tensor<40xf32>) -> tensor<?x4x40xf32> {
  %l = resid.linear %x, %w : tensor<?x4x40xf32>, tensor<40x40xf32>
  %y = resid.rms_norm %l gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x4x40xf32>, tensor<40xf32>
  return %y : tensor<?x4x40xf32>
}

// Several residual streams, two chains of their projection, and its coefficients. The row that is read is a result too.
func.func @streams(%x: tensor<?x4x300xf32>, %y: tensor<?x300xf32>, %b: tensor<?x4x1xf32>, %c: tensor<?x4x4xf32>,
                   %w: tensor<24x1200xf32>, %gamma: tensor<300xf32>) -> (tensor<?x4x300xf32>, tensor<?x300xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x300xf32>
  %s = resid.write %x, %y weights(%b) mix(%c) : tensor<?x4x300xf32>, tensor<?x4x1xf32>, tensor<?x4x4xf32>
  %z = resid.project %s, %w {epsilon = 1.0e-6} : tensor<?x4x300xf32>, tensor<24x1200xf32>
  %first = tensor.extract_slice %z[0, 0] [%rows, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %gates = resid.activation sigmoid %first : tensor<?x4xf32>
  %read = tensor.expand_shape %gates [[0], [1, 2]] output_shape [%rows, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %h = resid.read %s weights(%read) : tensor<?x4x300xf32>, tensor<?x4x1xf32>
  %u = resid.rms_norm %h gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x300xf32>, tensor<300xf32>
  return %s, %u : tensor<?x4x300xf32>, tensor<?x300xf32>
}

// A sum down the rows: blocks end where its chains do not, which go on in the next block.
func.func @sums(%x: tensor<?x72xf64>, %w: tensor<40x72xf64>, %gamma: tensor<40xf64>) -> (tensor<?x40xf64>, tensor<40xf64>) {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<40xf64>
  %none = linalg.fill ins(%zero : f64) outs(%empty : tensor<40xf64>) -> tensor<40xf64>
  %l = resid.linear %x, %w : tensor<?x72xf64>, tensor<40x72xf64> -> tensor<?x40xf64>
  %y = resid.rms_norm %l gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x40xf64>, tensor<40xf64>
  %sum = linalg.reduce {arith.addf} ins(%y : tensor<?x40xf64>) outs(%none : tensor<40xf64>) dimensions = [0]
  return %y, %sum : tensor<?x40xf64>, tensor<40xf64>
}

// The same in batches that lie apart.
func.func @sums_of_batches(%x: tensor<?x4x40xf32> {resid.strided}, %w: tensor<40x40xf32>, %gamma: tensor<40xf32>)
    -> (tensor<?x4x40xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<40xf32>) -> tensor<40xf32>
  %l = resid.linear %x, %w : tensor<?x4x40xf32>, tensor<40x40xf32>
  %y = resid.rms_norm %l gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x4x40xf32>, tensor<40xf32>
  %sum = linalg.reduce {arith.addf} ins(%y : tensor<?x4x40xf32>) outs(%none : tensor<40xf32>) dimensions = [0, 1]
  return %y, %sum : tensor<?x4x40xf32>, tensor<40xf32>
}
