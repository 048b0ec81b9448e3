// Rotary embeddings, with TX, TW and TB for the element types of x and of the two tables.
func.func @rotary(%x: tensor<?x?x?x16xTX>, %c: tensor<?x8xTW>, %s: tensor<?x8xTB>) -> (tensor<?x?x?x16xTX>, tensor<?x?x?x16xTX>) {
  %0 = resid.rotary %x cos(%c) sin(%s) : tensor<?x?x?x16xTX>, tensor<?x8xTW>, tensor<?x8xTB>
  %1 = resid.rotary %x cos(%c) sin(%s) {interleaved} : tensor<?x?x?x16xTX>, tensor<?x8xTW>, tensor<?x8xTB>
  return %0, %1 : tensor<?x?x?x16xTX>, tensor<?x?x?x16xTX>
}

// Half of the head, from a row of the tables on.
func.func @rotary_offset(%x: tensor<?x3x?x19xTX>, %c: tensor<?x4xTW>, %s: tensor<?x4xTB>, %past: i64) -> (tensor<?x3x?x19xTX>, tensor<?x3x?x19xTX>) {
  %0 = resid.rotary %x cos(%c) sin(%s) offset(%past) : tensor<?x3x?x19xTX>, tensor<?x4xTW>, tensor<?x4xTB>
  %1 = resid.rotary %x cos(%c) sin(%s) offset(%past) {interleaved} : tensor<?x3x?x19xTX>, tensor<?x4xTW>, tensor<?x4xTB>
  return %0, %1 : tensor<?x3x?x19xTX>, tensor<?x3x?x19xTX>
}

// A step of decoding, on a table of static size, before a cast and after another op.
func.func @rotary_step(%x: tensor<1x4x1x64xTX>, %c: tensor<128x32xTW>, %s: tensor<128x32xTB>, %past: i64) -> tensor<1x4x1x64xTX> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<1x4x1x64xTX>
  %0 = resid.rotary %n cos(%c) sin(%s) offset(%past) : tensor<1x4x1x64xTX>, tensor<128x32xTW>, tensor<128x32xTB>
  return %0 : tensor<1x4x1x64xTX>
}

// An offset that only the loop knows is checked there, and nothing outside of the tables is read.
func.func @rotary_loop(%x: tensor<2x16xTX>, %c: tensor<?x8xTW>, %s: tensor<?x8xTB>, %offsets: tensor<?xi64>) -> tensor<2x16xTX> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %offsets, %c0 : tensor<?xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<2x16xTX> {
    %past = tensor.extract %offsets[%i] : tensor<?xi64>
    %y = resid.rotary %h cos(%c) sin(%s) offset(%past) : tensor<2x16xTX>, tensor<?x8xTW>, tensor<?x8xTB>
    scf.yield %y : tensor<2x16xTX>
  }
  return %r : tensor<2x16xTX>
}

// Another row of the tables for each sample.
func.func @rotary_samples(%x: tensor<?x3x?x19xTX>, %c: tensor<?x4xTW>, %s: tensor<?x4xTB>, %pasts: tensor<?xi64>)
    -> (tensor<?x3x?x19xTX>, tensor<?x3x?x19xTX>) {
  %0 = resid.rotary %x cos(%c) sin(%s) offset(%pasts) : tensor<?x3x?x19xTX>, tensor<?x4xTW>, tensor<?x4xTB>, tensor<?xi64>
  %1 = resid.rotary %x cos(%c) sin(%s) offset(%pasts) {interleaved} : tensor<?x3x?x19xTX>, tensor<?x4xTW>, tensor<?x4xTB>, tensor<?xi64>
  return %0, %1 : tensor<?x3x?x19xTX>, tensor<?x3x?x19xTX>
}

// Two in a row, from one row of the tables on.
func.func @rotary_twice(%x: tensor<?x3x5x19xTX>, %c: tensor<9x4xTW>, %s: tensor<9x4xTB>, %past: i64) -> tensor<?x3x5x19xTX> {
  %0 = resid.rotary %x cos(%c) sin(%s) offset(%past) : tensor<?x3x5x19xTX>, tensor<9x4xTW>, tensor<9x4xTB>
  %1 = resid.rotary %0 cos(%c) sin(%s) offset(%past) {interleaved} : tensor<?x3x5x19xTX>, tensor<9x4xTW>, tensor<9x4xTB>
  return %1 : tensor<?x3x5x19xTX>
}
