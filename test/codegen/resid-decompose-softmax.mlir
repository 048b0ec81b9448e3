// RUN: resid-opt %s --resid-row-kernels | FileCheck %s
// RUN: residc %s -o %t.o --report 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: residc %s -o %t.o --target=cuda --report 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: resid-run %s --entry=softmax --arg=f32[3x5x70]=random:1*8 --check --rtol=1e-5 --atol=0 | FileCheck %s --check-prefix=VALUES
// RUN: resid-run %s --entry=along_rows --arg=f32[4x33]=random:1*8 --check --rtol=1e-5 --atol=0 | FileCheck %s --check-prefix=VALUES

// Over the last dimension it is one row kernel, on GPUs too.
// CHECK-LABEL: func.func @softmax(
// CHECK:         rows.kernel
// CHECK:           rows.phase [signed_max]
// CHECK:           rows.phase [sum]
// CHECK:             math.exp
// CHECK:           arith.divf
// CHECK-NOT:     linalg
// REPORT:      function softmax: 1 kernel{{$}}
// REPORT-NEXT: kernel softmax.0
// REPORT-NEXT:   linalg.softmax at {{[0-9]+}}:8
// GPU: registers emitter: rows stay in registers
// VALUES: out0: ok
func.func @softmax(%x: tensor<3x5x70xf32>) -> tensor<3x5x70xf32> {
  %empty = tensor.empty() : tensor<3x5x70xf32>
  %y = linalg.softmax dimension(2) ins(%x : tensor<3x5x70xf32>) outs(%empty : tensor<3x5x70xf32>) -> tensor<3x5x70xf32>
  return %y : tensor<3x5x70xf32>
}

// Over another one, the exponentials and the quotient are row kernels, and the maximum is a loop.
// CHECK-LABEL: func.func @along_rows(
// CHECK:         linalg.generic
// CHECK:           arith.maxnumf
// CHECK:         rows.kernel
// CHECK:           math.exp
// CHECK:           rows.accumulate
// CHECK:         rows.kernel
// CHECK:           arith.divf
// CHECK-NOT:     linalg.softmax
// CHECK:         return
func.func @along_rows(%x: tensor<4x33xf32>) -> tensor<4x33xf32> {
  %empty = tensor.empty() : tensor<4x33xf32>
  %y = linalg.softmax dimension(0) ins(%x : tensor<4x33xf32>) outs(%empty : tensor<4x33xf32>) -> tensor<4x33xf32>
  return %y : tensor<4x33xf32>
}

// On buffers it stays, and is refused later.
// CHECK-LABEL: func.func private @on_buffers(
// CHECK:         linalg.softmax
func.func private @on_buffers(%x: memref<4xf32>) {
  linalg.softmax dimension(0) ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
