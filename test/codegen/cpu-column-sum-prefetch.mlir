// What the next eight rows of a sum down the rows have is fetched into the first level of the cache where it fits there, else into the second.
// RUN: residc %s --mcpu=x86-64-v3 --mtriple=x86_64-unknown-linux-gnu --emit=llvm -o %t.ll
// RUN: sed -n '/@narrow__/,/^}/p' %t.ll | FileCheck %s --check-prefix=NARROW
// RUN: sed -n '/@wide__/,/^}/p' %t.ll | FileCheck %s --check-prefix=WIDE
// RUN: sed -n '/@any__/,/^}/p' %t.ll | FileCheck %s --check-prefix=ANY
// NARROW:     call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 3, i32 1)
// NARROW-NOT: call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 2, i32 1)
// WIDE:       call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 2, i32 1)
// WIDE-NOT:   call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 3, i32 1)
// ANY:        icmp {{.+}} i64 %{{.+}}, 51{{[23]}}
// ANY-DAG:    call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 3, i32 1)
// ANY-DAG:    call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 2, i32 1)

// Rows of a norm's backward are read twice and added to sums: past the cache whole rows are fetched into the second level, as many ahead as
// take 32 KiB, and nothing within a row, but where rows are longer than half of the first level.
// RUN: residc %s --mcpu=x86-64-v4 --mtriple=x86_64-unknown-linux-gnu --emit=llvm -o %t.v4.ll
// RUN: sed -n '/@short_rows__stream/,/^}/p' %t.v4.ll | FileCheck %s --check-prefix=SHORT --implicit-check-not='i32 0, i32 3, i32 1)'
// RUN: sed -n '/@long_rows__stream/,/^}/p' %t.v4.ll | FileCheck %s --check-prefix=LONG
// RUN: residc %s --mcpu=x86-64-v4 --mtriple=x86_64-unknown-linux-gnu --schedule=sum-prefetch-bytes=4096 --emit=llvm -o - | sed -n '/@short_rows__stream/,/^}/p' | FileCheck %s --check-prefix=NEXT
// 32 KiB / (2 * 2 KiB) = 8 rows of 512 elements.
// SHORT-DAG:  getelementptr {{.*}}i8, ptr %{{.+}}, i64 16384
// SHORT-DAG:  call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 2, i32 1)
// SHORT-DAG:  store {{.*}}!nontemporal
// LONG-DAG:   call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 3, i32 1)
// LONG-DAG:   call void @llvm.prefetch.p0(ptr {{.+}}, i32 0, i32 2, i32 1)
// NEXT:       getelementptr {{.*}}i8, ptr %{{.+}}, i64 2048
func.func @short_rows(%dy: tensor<?x512xf32>, %x: tensor<?x512xf32>, %rstd: tensor<?xf32>, %gamma: tensor<512xf32>)
    -> (tensor<?x512xf32>, tensor<512xf32>) {
  %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
      : tensor<?x512xf32>, tensor<?x512xf32>, tensor<?xf32>, tensor<512xf32>
  return %dx, %dgamma : tensor<?x512xf32>, tensor<512xf32>
}
func.func @long_rows(%dy: tensor<?x4096xf32>, %x: tensor<?x4096xf32>, %rstd: tensor<?xf32>, %gamma: tensor<4096xf32>)
    -> (tensor<?x4096xf32>, tensor<4096xf32>) {
  %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
      : tensor<?x4096xf32>, tensor<?x4096xf32>, tensor<?xf32>, tensor<4096xf32>
  return %dx, %dgamma : tensor<?x4096xf32>, tensor<4096xf32>
}

func.func @narrow(%x: tensor<4096x512xf32>) -> tensor<512xf32> {
  %start = arith.constant dense<0.0> : tensor<512xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<4096x512xf32>) outs(%start : tensor<512xf32>) dimensions = [0]
  return %sums : tensor<512xf32>
}

func.func @wide(%x: tensor<4096x520xf32>) -> tensor<520xf32> {
  %start = arith.constant dense<0.0> : tensor<520xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<4096x520xf32>) outs(%start : tensor<520xf32>) dimensions = [0]
  return %sums : tensor<520xf32>
}

func.func @any(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %columns = tensor.dim %x, %one : tensor<?x?xf32>
  %empty = tensor.empty(%columns) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) dimensions = [0]
  return %sums : tensor<?xf32>
}
