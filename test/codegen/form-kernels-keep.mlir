// Where a value that several phases need is kept: in an output's row where that is safe, otherwise computed again.
// RUN: resid-opt --split-input-file %s -o %t --pass-pipeline='builtin.module(resid-to-linalg,convert-elementwise-to-linalg,canonicalize,cse,resid-form-kernels{print-programs})' 2>&1 | FileCheck %s
// RUN: resid-opt --split-input-file %s -o %t.mlir --pass-pipeline='builtin.module(resid-to-linalg,convert-elementwise-to-linalg,canonicalize,cse,resid-form-kernels{print-programs local-row-bytes=4096})' 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: FileCheck %s --check-prefix=FORM < %t.mlir
// RUN: resid-opt --split-input-file %s -o %t --pass-pipeline='builtin.module(resid-to-linalg,convert-elementwise-to-linalg,canonicalize,cse,resid-form-kernels{print-programs local-row-bytes=4096 local-row-passes=2})' 2>&1 | FileCheck %s --check-prefix=PASSES

// The random numbers are made once: the sum stands in the result's row.
// CHECK: row program: rows [?] columns [768]
// CHECK-NEXT: in0: tensor<?x768xbf16>{{$}}
// CHECK-NEXT: in1: tensor<?x768xbf16>{{$}}
// CHECK-NEXT: in2: tensor<768xf32>, shared by rows
// CHECK-NEXT: out0: tensor<?x768xbf16>{{$}}
// CHECK-NEXT: phase 0: layer_statistics, first sum; reads in0, in1; keeps its operand in out0{{$}}
// CHECK-NEXT: phase 1: layer_statistics, further sums; reads back out0{{$}}
// CHECK-NEXT: phase 2: results; reads in2; reads back out0; writes out0{{$}}
func.func @post_norm_keeps_the_sum_in_the_result(%x: tensor<?x768xbf16>, %f: tensor<?x768xbf16>, %g: tensor<768xf32>,
                                                 %seed: i64, %step: i64) -> tensor<?x768xbf16> {
  %y, %s = resid.add_norm layer %x, %f dropout(%seed, %step) gamma(%g) {epsilon = 1.0e-5, p = 0.1, site = 3} : tensor<?x768xbf16>, tensor<768xf32>
  return %y : tensor<?x768xbf16>
}

// -----

// A sum that is a result is stored at once and read back.
// CHECK: row program: rows [4, 16] columns [512]
// CHECK: phase 0: rms_statistics, first sum; reads in0, in1; writes out0{{$}}
// CHECK-NEXT: phase 1: rms_statistics, further sums; reads back out0{{$}}
// CHECK-NEXT: phase 2: results; reads back out0; writes out1{{$}}
func.func @sum_as_a_result(%x: tensor<4x16x512xf32>, %f: tensor<4x16x512xf32>) -> (tensor<4x16x512xf32>, tensor<4x16x512xf32>) {
  %s = resid.add %x, %f : tensor<4x16x512xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<4x16x512xf32>
  return %n, %s : tensor<4x16x512xf32>, tensor<4x16x512xf32>
}

// -----

// No output of the sum's type: it is computed in every phase.
// CHECK: row program: rows [?] columns [8]
// CHECK: phase 0: layer_statistics, first sum; reads in0, in1{{$}}
// CHECK-NEXT: phase 1: layer_statistics, further sums; reads in0, in1; computes again linalg.generic{{$}}
// CHECK-NEXT: phase 2: results; reads in0, in1; computes again linalg.generic; writes out0{{$}}
// It has a local row where there is room for those.
// ROOM-LABEL: row program: rows [?] columns [8]
// ROOM:      out0: tensor<?x8xbf16>
// ROOM-NEXT: local0: f32, kept in a local row, read back in 2 phases
// ROOM-NEXT: phase 0: layer_statistics, first sum; reads in0, in1; keeps its operand in local0{{$}}
// ROOM-NEXT: phase 1: layer_statistics, further sums; reads back local0{{$}}
// ROOM-NEXT: phase 2: results; reads back local0; writes out0{{$}}
// FORM-LABEL: func.func @wide_sum_has_no_row(
// FORM:       %[[LOCAL:.*]] = rows.local_row : <f32>
// FORM:       rows.phase [sum] : f32 {
// FORM:         %[[SUM:.*]] = arith.addf
// FORM:         rows.store %[[SUM]], %[[LOCAL]][%{{.*}}] : f32, <f32>
// FORM:       rows.phase [sum, sum_of_squares]
// FORM-NOT:     arith.addf
// FORM:         rows.load %[[LOCAL]][
func.func @wide_sum_has_no_row(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %s = resid.add %x, %f : tensor<?x8xbf16> -> tensor<?x8xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// -----

// x is read in the last phase, and the result may be x's own buffer: nothing may be stored there earlier.
// CHECK: row program: rows [?] columns [8]
// CHECK: phase 0: layer_statistics, first sum; reads in0, in1{{$}}
// CHECK-NEXT: phase 1: layer_statistics, further sums; reads in0, in1; computes again linalg.generic{{$}}
// CHECK-NEXT: phase 2: results; reads in0, in1; computes again linalg.generic; writes out0{{$}}
func.func @input_read_later_forbids_keeping(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = resid.add %x, %f : tensor<?x8xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
  %z = resid.add %x, %y : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// The same with another type: an f32 sum cannot stand in the buffer of a bf16 input, so it is stored at once.
// CHECK: row program: rows [?] columns [8]
// CHECK: phase 0: layer_statistics, first sum; reads in0, in1; writes out0{{$}}
// CHECK-NEXT: phase 1: layer_statistics, further sums; reads back out0{{$}}
// CHECK-NEXT: phase 2: results; reads in0; reads back out0; writes out1{{$}}
func.func @input_of_another_type_read_later(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %s = resid.add %x, %f : tensor<?x8xbf16> -> tensor<?x8xf32>
  %n = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32> -> tensor<?x8xbf16>
  %z = resid.add %x, %n : tensor<?x8xbf16>
  return %s, %z : tensor<?x8xf32>, tensor<?x8xbf16>
}

// -----

// One input and a cast are read again: cheaper than writing the row and reading it back.
// CHECK: row program: rows [?] columns [8]
// CHECK: phase 0: rms_statistics, first sum; reads in0{{$}}
// CHECK: phase 2: results; reads in0; computes again linalg.generic; writes out0{{$}}
func.func @cheap_values_are_computed_again(%x: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  %s = arith.extf %x : tensor<?x8xbf16> to tensor<?x8xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// One input and a function of it that costs more than a row in cache.
// CHECK: row program: rows [?] columns [8]
// CHECK: phase 0: rms_statistics, first sum; reads in0; keeps its operand in out0{{$}}
// CHECK: phase 2: results; reads back out0; writes out0{{$}}
func.func @costly_values_are_kept(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = math.tanh %x : tensor<?x8xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Two norms in a row: the first sum may not be kept, since %h is read after it; the second is.
// CHECK: row program: rows [?] columns [8]
// CHECK: phase 0: layer_statistics, first sum; reads in0, in1{{$}}
// CHECK-NEXT: phase 1: layer_statistics, further sums; reads in0, in1; computes again linalg.generic{{$}}
// CHECK-NEXT: phase 2: rms_statistics, first sum; reads in0, in1, in2; computes again linalg.generic; keeps its operand in out0{{$}}
// CHECK-NEXT: phase 3: rms_statistics, further sums; reads back out0{{$}}
// CHECK-NEXT: phase 4: results; reads back out0; writes out0{{$}}
func.func @norm_after_norm(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %h: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = resid.add %x, %f : tensor<?x8xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
  %t = resid.add %y, %h : tensor<?x8xf32>
  %z = resid.rms_norm %t {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// Every row takes one more pass after the first: with two passes asked for, the sum is computed again, and a product with
// random numbers is not.
// ROOM-LABEL: row program: rows [?] columns [48]
// ROOM:       phase 2: results; reads back local0;
// PASSES-LABEL: row program: rows [?] columns [48]
// PASSES:       phase 2: results; reads in0, in1; computes again
func.func @cheap_sum_of_one_more_pass(%x: tensor<?x48xbf16>, %f: tensor<?x48xbf16>) -> tensor<?x48xbf16> {
  %s = resid.add %x, %f : tensor<?x48xbf16> -> tensor<?x48xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x48xf32> -> tensor<?x48xbf16>
  return %y : tensor<?x48xbf16>
}

// -----

// PASSES-LABEL: row program: rows [?] columns [56]
// PASSES:       phase 2: results; reads back local0;
func.func @drawn_sum_of_one_more_pass(%x: tensor<?x56xf32>, %f: tensor<?x56xf32>, %seed: i64, %step: i64) -> tensor<?x56xbf16> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x56xf32>
  %s = resid.add %x, %d : tensor<?x56xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x56xf32> -> tensor<?x56xbf16>
  return %y : tensor<?x56xbf16>
}

// -----

// Too wide for the room, in whole chunks of columns: 1,025 columns take 1,088 · 4 bytes.
// ROOM-LABEL: row program: rows [?] columns [1025]
// ROOM-NOT:   local0
// ROOM-LABEL: row program: rows [?] columns [?]
// ROOM-NOT:   local0
func.func @no_room(%x: tensor<?x1025xbf16>, %f: tensor<?x1025xbf16>) -> tensor<?x1025xbf16> {
  %s = resid.add %x, %f : tensor<?x1025xbf16> -> tensor<?x1025xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x1025xf32> -> tensor<?x1025xbf16>
  return %y : tensor<?x1025xbf16>
}

// -----

// Nobody knows whether rows of an open width fit.
func.func @open_width(%x: tensor<?x?xbf16>, %f: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %s = resid.add %x, %f : tensor<?x?xbf16> -> tensor<?x?xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x?xf32> -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
