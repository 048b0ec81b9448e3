// Rows that are written past the cache but do not begin at cache lines: steps store to the stack then, a call after the phase
// with the last store of a row writes it, and one after all rows what is left.

// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=256 masked-bits=32 x86" | FileCheck %s

// A state for each result; 769 columns, rounded up to 832, of two rows of f32, and 64 bytes more.
// CHECK-LABEL: func.func private @add_rms__stream(
// CHECK-COUNT-2: llvm.alloca %{{.*}} x !llvm.array<144 x i8> {alignment = 64
// CHECK:         %[[ROWS:.*]] = llvm.alloca %{{.*}} x !llvm.array<6720 x i8> {alignment = 64
// The last chunk of the row that is read back is read in whole steps: it begins as zeros.
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         scf.for {{.*}} step %c8_i64
// CHECK:           llvm.store %[[ZERO]], %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK:         scf.for {{.*}} step %c1_i64
// The sum is kept for the second phase; where rows are aligned, it is written in steps as well.
// CHECK:           llvm.store %[[SUM:.*]], %{{.*}} {alignment = 1 : i64} : vector<8xf32>, !llvm.ptr
// CHECK:           scf.if %[[ALIGNED:.*]] {
// CHECK-NEXT:        llvm.getelementptr
// CHECK-NEXT:        llvm.store %[[SUM]], %{{.*}} {alignment = 32 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
// CHECK-NOT:         else
// CHECK:           llvm.loop_annotation
// CHECK:           } else {
// CHECK:             func.call @resid.write_lines(%{{.*}}, %{{.*}}, %[[ROWS]], %{{.*}})
// The normalised row is written in steps, or kept until it is complete.
// CHECK:           scf.if %[[ALIGNED]] {
// CHECK-COUNT-4:     {alignment = 32 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
// CHECK-NEXT:      } else {
// CHECK-COUNT-4:     {alignment = 1 : i64} : vector<8xf32>, !llvm.ptr
// CHECK-NOT:         nontemporal
// Column 769 alone is left: one vector under a mask, or a whole one to the stack.
// CHECK:           scf.if %[[ALIGNED]] {
// CHECK:             llvm.intr.masked.store
// CHECK-NEXT:      } else {
// CHECK-NEXT:        llvm.getelementptr
// CHECK-NEXT:        llvm.store {{.*}} {alignment = 1 : i64} : vector<8xf32>, !llvm.ptr
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.if %[[ALIGNED]] {
// CHECK-NEXT:      } else {
// CHECK:             func.call @resid.write_lines(
// CHECK-COUNT-2: call @resid.flush_line(
// CHECK-NEXT:    llvm.call_intrinsic "llvm.x86.sse.sfence"
// CHECK-LABEL: func.func private @add_rms.impl(
func.func @add_rms(%x: tensor<400x769xf32>, %f: tensor<400x769xf32>, %gamma: tensor<769xf32>)
    -> (tensor<400x769xf32>, tensor<400x769xf32>) {
  %s = resid.add %x, %f : tensor<400x769xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<400x769xf32>, tensor<769xf32>
  return %y, %s : tensor<400x769xf32>, tensor<400x769xf32>
}

// Both functions are made once. Whole lines go past the cache, to aligned addresses; of others no byte beside those that are
// asked for is stored.
// CHECK-LABEL: func.func private @resid.flush_line(
// CHECK-SAME:    "noinline", "no-builtins"
// CHECK:         scf.if
// CHECK-COUNT-2:   {alignment = 32 : i64, nontemporal} : vector<32xi8>
// CHECK:         } else {
// CHECK-NOT:       nontemporal
// CHECK:           {alignment = 1 : i64} : vector<32xi8>, !llvm.ptr
// CHECK:           {alignment = 1 : i64} : vector<16xi8>, !llvm.ptr
// CHECK:           {alignment = 1 : i64} : i64, !llvm.ptr
// CHECK:           {alignment = 1 : i64} : i32, !llvm.ptr
// CHECK:           {alignment = 1 : i64} : i16, !llvm.ptr
// CHECK:           {alignment = 1 : i64} : i8, !llvm.ptr
// CHECK-LABEL: func.func private @resid.write_lines(
// CHECK-NOT:     nontemporal
// CHECK:         scf.for
// CHECK-COUNT-2:   {alignment = 32 : i64, nontemporal} : vector<32xi8>
// CHECK-NOT:     nontemporal
// CHECK-LABEL: func.func private @resid.ask_caches(

// Where bytes are stored under a mask, those that wait are: in the line they belong to, and none beside them.
// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=512 masked-bits=16 x86" | FileCheck %s --check-prefix=MASKED
// MASKED-LABEL: func.func private @resid.flush_line(
// MASKED:         %[[PLACE:.*]] = arith.andi %{{.*}}, %c63_i64
// MASKED:         } else {
// MASKED:           arith.shli %c1_i64, %[[COUNT:.*]] : i64
// MASKED:           %[[BITS:.*]] = arith.shli %{{.*}}, %[[PLACE]]
// MASKED:           %[[MASK:.*]] = llvm.bitcast %[[BITS]] : i64 to vector<64xi1>
// MASKED:           %[[LINE:.*]] = llvm.load %{{.*}} {alignment = 64 : i64} : !llvm.ptr -> vector<64xi8>
// MASKED:           llvm.intr.masked.store %[[LINE]], %{{.*}}, %[[MASK]] {alignment = 64 : i32}
// MASKED-NOT:       vector<32xi8>
// MASKED-LABEL: func.func private @resid.write_lines(
