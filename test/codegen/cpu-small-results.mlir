// No kernel whose results are known to fit into 128 KiB is written past the cache: every second-level cache has room for them.

// RUN: resid-opt %s --split-input-file --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=256 masked-bits=32 x86" | FileCheck %s
// RUN: resid-opt %s --split-input-file --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=256 masked-bits=32 x86 schedule=stores=nontemporal" | FileCheck %s --check-prefix=FORCED

// CHECK-NOT: __stream
// CHECK-NOT: resid.ask_caches
// CHECK:     call @small__rows(
// FORCED:    func.func private @small__stream(
func.func @small(%x: tensor<128x256xf32>, %f: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %y = resid.add %x, %f : tensor<128x256xf32>
  return %y : tensor<128x256xf32>
}

// -----

// CHECK: func.func private @large__stream(
func.func @large(%x: tensor<129x256xf32>, %f: tensor<129x256xf32>) -> tensor<129x256xf32> {
  %y = resid.add %x, %f : tensor<129x256xf32>
  return %y : tensor<129x256xf32>
}
