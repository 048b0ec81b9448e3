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
