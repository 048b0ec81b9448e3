// Layers that share the code of their kernels: each drops by its own site, adds its own branch and has its own gamma. Held
// against the evaluator, in tasks as well.
// REQUIRES: resid-run, residc, x86_64
// RUN: residc %s --emit=asm -o - | FileCheck %s --check-prefix=ONE
// RUN: residc %s --emit=asm --mcpu=x86-64-v2,x86-64-v3 -o - | FileCheck %s --check-prefix=EACH
// RUN: resid-run %s --check --arg=f32[600x80]=random:1 --arg=f32[80x80]=random:2*0.1 --arg=f32[80]=random:3 --arg=f32[80]=random:4 \
// RUN:   --arg=f32[80]=random:5 --arg=9 --arg=2 --threads=2 | FileCheck %s
// RUN: resid-run %s --check --mcpu=x86-64-v2 --arg=f32[3x80]=random:1 --arg=f32[80x80]=random:2*0.1 --arg=f32[80]=random:3 \
// RUN:   --arg=f32[80]=random:4 --arg=f32[80]=random:5 --arg=9 --arg=2 | FileCheck %s
// CHECK: out0: ok
// ONE-COUNT-1:  {{^}}layers__rows:
// ONE-NOT:      {{^}}layers__rows
// EACH-COUNT-2: {{^}}"layers__rows{{.*}}":
// EACH-NOT:     {{^}}"layers__rows

func.func @layers(%x0: tensor<?x80xf32>, %w: tensor<80x80xf32>, %g0: tensor<80xf32>, %g1: tensor<80xf32>, %g2: tensor<80xf32>, %seed: i64, %step: i64) -> tensor<?x80xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x0, %c0 : tensor<?x80xf32>
  %empty = tensor.empty(%rows) : tensor<?x80xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x80xf32>) -> tensor<?x80xf32>
  %f0 = linalg.matmul ins(%x0, %w : tensor<?x80xf32>, tensor<80x80xf32>) outs(%start : tensor<?x80xf32>) -> tensor<?x80xf32>
  %d0 = resid.dropout %f0 seed(%seed, %step) {p = 0.3, site = 4} : tensor<?x80xf32>
  %s0 = resid.add %x0, %d0 : tensor<?x80xf32>
  %x1 = resid.rms_norm %s0 gamma(%g0) {epsilon = 1.0e-5} : tensor<?x80xf32>, tensor<80xf32>
  %f1 = linalg.matmul ins(%x1, %w : tensor<?x80xf32>, tensor<80x80xf32>) outs(%start : tensor<?x80xf32>) -> tensor<?x80xf32>
  %d1 = resid.dropout %f1 seed(%seed, %step) {p = 0.3, site = 0} : tensor<?x80xf32>
  %s1 = resid.add %x1, %d1 : tensor<?x80xf32>
  %x2 = resid.rms_norm %s1 gamma(%g1) {epsilon = 1.0e-5} : tensor<?x80xf32>, tensor<80xf32>
  %f2 = linalg.matmul ins(%x2, %w : tensor<?x80xf32>, tensor<80x80xf32>) outs(%start : tensor<?x80xf32>) -> tensor<?x80xf32>
  %d2 = resid.dropout %f2 seed(%seed, %step) {p = 0.3, site = 11} : tensor<?x80xf32>
  %s2 = resid.add %x2, %d2 : tensor<?x80xf32>
  %x3 = resid.rms_norm %s2 gamma(%g2) {epsilon = 1.0e-5} : tensor<?x80xf32>, tensor<80xf32>
  return %x3 : tensor<?x80xf32>
}
