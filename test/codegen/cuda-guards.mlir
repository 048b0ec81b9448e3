// A sum down the rows under a condition that is a number which a kernel made: the host launches the kernels of the sum
// without waiting for the number, and their threads return where it is 0. On a CPU, the host reads it.

// RUN: residc %s --target=cuda --chip=sm_90 --emit=ptx -o - | FileCheck %s
// RUN: resid-opt %s --resid-row-kernels --resid-bufferize | FileCheck %s --check-prefix=CPU

// Both branches of the condition have one buffer, which is filled once.
// CPU: linalg.fill ins({{.*}}) outs(%[[SUM:[a-z0-9_]+]]
// CPU: scf.if %{{[a-z0-9_]+}} {
// CPU: rows.kernel {{.*}} outs(%[[SUM]] :
// CPU-NOT: else

// CHECK: .entry f__rows_0(
// CHECK: .entry f__rows_0_1(
// CHECK: ld.global.{{b32|f32}}
// CHECK-NEXT: setp.{{[a-z]+}}.f32
// CHECK-NEXT: @%p{{[0-9]+}} bra
func.func @f(%x: tensor<?x3xf32>, %flags: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %flag = rows.row_sums %flags {norm_rank = 1 : i64} : (tensor<3xf32>) -> tensor<f32>
  %number = tensor.extract %flag[] : tensor<f32>
  %any = arith.cmpf une, %number, %zero : f32
  %sum = scf.if %any -> tensor<3xf32> {
    %s = linalg.reduce { arith.addf } ins(%x : tensor<?x3xf32>) outs(%none : tensor<3xf32>) dimensions = [0]
    scf.yield %s : tensor<3xf32>
  } else {
    scf.yield %none : tensor<3xf32>
  }
  %y = arith.addf %sum, %flags : tensor<3xf32>
  return %y : tensor<3xf32>
}
