// The names that arguments have in the file become resid.name, so that a header made of the result has them.
// RUN: resid-opt %s | FileCheck %s --check-prefix=PLAIN
// RUN: resid-opt %s --keep-argument-names --resid-fuse-add-norm=report 2>%t.remarks | tee %t.mlir | FileCheck %s
// RUN: resid-opt --keep-argument-names --resid-fuse-add-norm < %s | diff %t.mlir -
// RUN: residc %t.mlir --emit=header -o - | FileCheck %s --check-prefix=HEADER
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// PLAIN: func.func @step(%arg0: tensor<?x8xf32>, %arg1: tensor<?x8xf32> {resid.name = "other"})
// CHECK: func.func @step(%arg0: tensor<?x8xf32> {resid.name = "stream"}, %arg1: tensor<?x8xf32> {resid.name = "other"})
// HEADER: resid_status step(const resid_ctx *ctx, const float *stream
func.func @step(%stream: tensor<?x8xf32>, %branch: tensor<?x8xf32> {resid.name = "other"}) -> tensor<?x8xf32> {
  %s = resid.add %stream, %branch : tensor<?x8xf32>
  // REMARK: resid-opt-argument-names.mlir:[[# @LINE + 2]]:8: remark: fused into resid.add_norm
  // REMARK-NEXT: %y = resid.layer_norm %s
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
