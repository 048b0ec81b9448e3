// In pipelined rows the phase between the first one and the last fetches the next row, into the second level, and the others nothing. Rows of
// more than 8 KiB, and norms that no phase stands between, are fetched as others.
// RUN: residc %s --mcpu=x86-64-v4 --mtriple=x86_64-unknown-linux-gnu --emit=llvm -o %t.ll
// RUN: sed -n '/@near__stream/,/^}/p' %t.ll | FileCheck %s --check-prefix=NEAR --implicit-check-not='i32 0, i32 3, i32 1)'
// RUN: sed -n '/@far__stream/,/^}/p' %t.ll | FileCheck %s --check-prefix=FAR
// RUN: sed -n '/@norm__stream/,/^}/p' %t.ll | FileCheck %s --check-prefix=FAR
// NEAR-COUNT-2: call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 2, i32 1)
// FAR:          call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 3, i32 1)
func.func @near(%x: tensor<?x1024xf32>, %f: tensor<?x1024xf32>) -> (tensor<?x1024xi8>, tensor<?xf32>) {
  %s = resid.add %x, %f : tensor<?x1024xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x1024xf32>
  %q, %scale = resid.quantize %y {granularity = row} : tensor<?x1024xf32>
  return %q, %scale : tensor<?x1024xi8>, tensor<?xf32>
}
func.func @far(%x: tensor<?x4096xf32>, %f: tensor<?x4096xf32>) -> (tensor<?x4096xi8>, tensor<?xf32>) {
  %s = resid.add %x, %f : tensor<?x4096xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x4096xf32>
  %q, %scale = resid.quantize %y {granularity = row} : tensor<?x4096xf32>
  return %q, %scale : tensor<?x4096xi8>, tensor<?xf32>
}
func.func @norm(%x: tensor<?x1024xf32>, %f: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %s = resid.add %x, %f : tensor<?x1024xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}
