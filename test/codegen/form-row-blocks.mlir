// Products and the row kernels around them come together where rows need rows of the same number only; reports say what
// stands in the way elsewhere.
// RUN: split-file %s %t
// RUN: resid-opt %t/joined.mlir --resid-row-kernels --resid-bufferize | FileCheck %t/joined.mlir
// RUN: residc %t/refusals.mlir -o %t/refusals.o --report 2>&1 | FileCheck %t/refusals.mlir --check-prefix=REPORT
// RUN: residc %t/long_rows.mlir --mtriple=x86_64-unknown-linux-gnu --mcpu=x86-64-v4 -o %t/long_rows.o --report 2>&1 | FileCheck %t/long_rows.mlir
// RUN: residc %t/long_rows.mlir --mtriple=x86_64-unknown-linux-gnu --mcpu=x86-64-v4 -o %t/long_rows.ll
// RUN: not grep cache_bytes %t/long_rows.ll
// RUN: residc %t/refusals.mlir -o %t/refusals.o --report --schedule=product-row-blocks=0 2>&1 | FileCheck %t/refusals.mlir --check-prefix=OFF

//--- joined.mlir
// What is computed in between comes first. The product's result is no one else's.
// CHECK-LABEL: func.func @after
// CHECK:         %[[T:.+]] = memref.alloc(%{{.+}}) {{.*}}: memref<?x16xf32>
// CHECK-NOT:     contraction
// CHECK:         linalg.generic
// CHECK:         contraction.row_blocks locals(%[[T]] : memref<?x16xf32>) attributes {row_bytes = array<i64: 64>} {
// CHECK-NEXT:      contraction.kernel {{.*}} outs(%[[T]] : memref<?x16xf32>)
// CHECK:           rows.kernel {{.*}} ins(%[[T]], %{{.+}} :
// CHECK-NOT:     contraction.row_blocks
func.func @after(%h: tensor<?x8xf32>, %w: tensor<16x8xf32>, %a: tensor<4x16xf32>) -> tensor<?x16xf32> {
  %l = resid.linear %h, %w : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %gamma = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<16xf32>
  %y = resid.layer_norm %l gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x16xf32>, tensor<16xf32>
  return %y : tensor<?x16xf32>
}

// A norm in front of two products joins the first. Its rows outlive their block, since the other product reads them.
// CHECK-LABEL: func.func @before
// CHECK:         contraction.row_blocks {
// CHECK-NEXT:      rows.kernel
// CHECK:           contraction.kernel
// CHECK:         }
// CHECK:         contraction.kernel
func.func @before(%x: tensor<?x16xf32>, %v: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x16xf32>
  %a = resid.linear %n, %v : tensor<?x16xf32>, tensor<16x16xf32>
  %b = resid.linear %n, %w : tensor<?x16xf32>, tensor<16x16xf32>
  return %a, %b : tensor<?x16xf32>, tensor<?x16xf32>
}

// A sum down the rows joins a product of few columns, of which blocks may then end anywhere. Its result has no rows.
// CHECK-LABEL: func.func @sums
// CHECK:         contraction.row_blocks locals(%[[T:.+]] : memref<600x16xf32>)
// CHECK-NEXT:      contraction.kernel {{.*}} outs(%[[T]] : memref<600x16xf32>) {{.*}}any_rows
// CHECK:           rows.kernel {{.*}} ins(%[[T]] : memref<600x16xf32>) outs(%{{.+}} : memref<16xf32>)
func.func @sums(%h: tensor<600x80xf32>, %w: tensor<16x80xf32>) -> tensor<16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %l = resid.linear %h, %w : tensor<600x80xf32>, tensor<16x80xf32> -> tensor<600x16xf32>
  %y = linalg.reduce {arith.addf} ins(%l : tensor<600x16xf32>) outs(%zero : tensor<16xf32>) dimensions = [0]
  return %y : tensor<16xf32>
}

// Rows of the product in one dimension, those of the norm in two.
// CHECK-LABEL: func.func @reshaped
// CHECK:         contraction.row_blocks
// CHECK-NEXT:      contraction.kernel
// CHECK:           rows.kernel
func.func @reshaped(%h: tensor<12x8xf32>, %w: tensor<16x8xf32>) -> tensor<3x4x16xf32> {
  %l = resid.linear %h, %w : tensor<12x8xf32>, tensor<16x8xf32> -> tensor<12x16xf32>
  %r = tensor.expand_shape %l [[0, 1], [2]] output_shape [3, 4, 16] : tensor<12x16xf32> into tensor<3x4x16xf32>
  %y = resid.rms_norm %r {epsilon = 1.0e-5} : tensor<3x4x16xf32>
  return %y : tensor<3x4x16xf32>
}

// A norm over two dimensions has fewer rows than the product.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT:     contraction.row_blocks
func.func @other_rows(%h: tensor<3x4x8xf32>, %w: tensor<16x8xf32>) -> tensor<3x4x16xf32> {
  %l = resid.linear %h, %w : tensor<3x4x8xf32>, tensor<16x8xf32> -> tensor<3x4x16xf32>
  %y = resid.rms_norm %l {epsilon = 1.0e-5, norm_rank = 2} : tensor<3x4x16xf32>
  return %y : tensor<3x4x16xf32>
}

// What comes between two sub-layers on streams: the streams that are written, their product and the row that is read
// from them belong together, though each stream is a part of a row. The product of the branch, which the write reads, is
// left to itself. Sinkhorn's iterations, which need the product and are not needed by the read, come after all of them.
// Nothing is copied.
// CHECK-LABEL: func.func @transition
// CHECK-SAME:    memref<6x128xf32>, %[[OUT:[a-z0-9]+]]: memref<?x2x64xf32>
// CHECK-NOT:     memref.copy
// CHECK-NOT:     contraction.row_blocks
// CHECK:         contraction.kernel
// CHECK-NOT:     memref.copy
// CHECK:         contraction.row_blocks
// CHECK-NEXT:      rows.kernel
// CHECK:           contraction.kernel a(%[[OUT]] :
// CHECK-SAME:      row_scale(
// CHECK:           rows.kernel
// CHECK:           rows.kernel
// CHECK-NOT:       contraction.row_blocks
// CHECK:         scf.for
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @transition(%x: tensor<?x2x64xf32>, %f: tensor<?x32xf32>, %v: tensor<64x32xf32>, %mix: tensor<?x2x2xf32>, %w: tensor<6x128xf32>,
                      %outm: memref<?x2x64xf32>, %um: memref<?x64xf32>) -> tensor<?x2x2xf32> {
  %y = resid.linear %f, %v : tensor<?x32xf32>, tensor<64x32xf32> -> tensor<?x64xf32>
  %out = resid.write %x, %y mix(%mix) : tensor<?x2x64xf32>, tensor<?x2x2xf32>
  %z, %rstd = resid.project %out, %w {epsilon = 1.0e-6} : tensor<?x2x64xf32>, tensor<6x128xf32> -> tensor<?x6xf32>, tensor<?xf32>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2x64xf32>
  %l = tensor.extract_slice %z[0, 2] [%rows, 4] [1, 1] : tensor<?x6xf32> to tensor<?x4xf32>
  %m = tensor.expand_shape %l [[0], [1, 2]] output_shape [%rows, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %next = resid.sinkhorn %m {iterations = 3, epsilon = 1.0e-6} : tensor<?x2x2xf32>
  %p = tensor.extract_slice %z[0, 0] [%rows, 2] [1, 1] : tensor<?x6xf32> to tensor<?x2xf32>
  %a = resid.activation sigmoid %p : tensor<?x2xf32>
  %pre = tensor.expand_shape %a [[0], [1, 2]] output_shape [%rows, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %u = resid.read %out weights(%pre) : tensor<?x2x64xf32>, tensor<?x2x1xf32>
  %h = resid.rms_norm %u {epsilon = 1.0e-5} : tensor<?x64xf32>
  bufferization.materialize_in_destination %out in restrict writable %outm : (tensor<?x2x64xf32>, memref<?x2x64xf32>) -> ()
  bufferization.materialize_in_destination %h in restrict writable %um : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return %next : tensor<?x2x2xf32>
}

//--- long_rows.mlir
// 256 KiB are 8 rows of 4 streams of 4096 in bf16, whatever the type of the weight. The streams are written where their
// squares are added up: nothing is computed twice. The product reads them, so no size of a cache decides how they are
// written.
// CHECK: resid.project
// CHECK: phase 0: stream_statistics, first sum; reads in0, in1, in2, in3, in4; writes out0, out1, out2, out3
// CHECK-NEXT: phase 1: stream_statistics, further sums; reads back out0, out1, out2, out3
// CHECK-NEXT: phase 2: results{{$}}
// CHECK: by blocks of 8 rows with wide.1
func.func @wide(%x: tensor<1024x4x4096xbf16>, %y: tensor<1024x4096xbf16>, %w: tensor<24x16384xf32>) -> (tensor<1024x4x4096xbf16>, tensor<1024x24xf32>) {
  %s = resid.write %x, %y : tensor<1024x4x4096xbf16>
  %z, %rstd = resid.project %s, %w {epsilon = 1.0e-6} : tensor<1024x4x4096xbf16>, tensor<24x16384xf32> -> tensor<1024x24xf32>, tensor<1024xf32>
  return %s, %z : tensor<1024x4x4096xbf16>, tensor<1024x24xf32>
}

//--- refusals.mlir
// REPORT-LABEL: kernel few.0
// REPORT:         not by blocks of rows with few.1 (8 rows, expected {{[0-9]+}} at least)
// OFF-LABEL:    kernel few.0
// OFF:            not by blocks of rows with few.1 (the schedule says so) [--schedule]
func.func @few(%h: tensor<8x8xf32>, %w: tensor<16x8xf32>) -> tensor<8x16xf32> {
  %l = resid.linear %h, %w : tensor<8x8xf32>, tensor<16x8xf32> -> tensor<8x16xf32>
  %y = resid.rms_norm %l {epsilon = 1.0e-5} : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// REPORT-LABEL: kernel heads.0
// REPORT:         linalg.batch_matmul {{.*}}: does not run by blocks of rows with the row kernel beside it: the product's result has no rows that one of its factors does not know
func.func @heads(%a: tensor<4x600x8xf32>, %b: tensor<4x8x16xf32>) -> tensor<4x600x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x600x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x600x16xf32>) -> tensor<4x600x16xf32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<4x600x8xf32>, tensor<4x8x16xf32>) outs(%f : tensor<4x600x16xf32>) -> tensor<4x600x16xf32>
  %y = resid.rms_norm %p {epsilon = 1.0e-5} : tensor<4x600x16xf32>
  return %y : tensor<4x600x16xf32>
}
// REPORT-LABEL: kernel sums.0
// REPORT:         resid.linear {{.*}}: a sum down the rows needs all of them
func.func @sums(%h: tensor<600x96xf32>, %w: tensor<80x96xf32>) -> tensor<80xf32> {
  %zero = arith.constant dense<0.0> : tensor<80xf32>
  %l = resid.linear %h, %w : tensor<600x96xf32>, tensor<80x96xf32> -> tensor<600x80xf32>
  %y = linalg.reduce {arith.addf} ins(%l : tensor<600x80xf32>) outs(%zero : tensor<80xf32>) dimensions = [0]
  return %y : tensor<80xf32>
}
// REPORT-LABEL: kernel sums_of_parts.0
// REPORT:         resid.linear {{.*}}: a sum adds up several rows for each of the other
func.func @sums_of_parts(%h: tensor<600x8xf32>, %w: tensor<16x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %l = resid.linear %h, %w : tensor<600x8xf32>, tensor<16x8xf32> -> tensor<600x16xf32>
  %r = tensor.expand_shape %l [[0], [1, 2]] output_shape [600, 4, 4] : tensor<600x16xf32> into tensor<600x4x4xf32>
  %y = linalg.reduce {arith.addf} ins(%r : tensor<600x4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0, 1]
  return %y : tensor<4xf32>
}
// REPORT-LABEL: kernel weights.1
// REPORT:         resid.linear {{.*}}: a row of one needs other rows of the other
func.func @weights(%h: tensor<600x8xf32>, %w: tensor<16x8xf32>) -> tensor<600x16xf32> {
  %n = resid.rms_norm %w {epsilon = 1.0e-5} : tensor<16x8xf32>
  %l = resid.linear %h, %n : tensor<600x8xf32>, tensor<16x8xf32> -> tensor<600x16xf32>
  return %l : tensor<600x16xf32>
}
// REPORT-LABEL: kernel between.0
// REPORT:         resid.linear {{.*}}: what stands between uses the same memory
func.func @between(%h: tensor<600x8xf32>, %w: tensor<16x8xf32>) -> tensor<600x16xf32> {
  %l = resid.linear %h, %w : tensor<600x8xf32>, tensor<16x8xf32> -> tensor<600x16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %gamma = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%l : tensor<600x16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<16xf32>
  %y = resid.rms_norm %l gamma(%gamma) {epsilon = 1.0e-5} : tensor<600x16xf32>, tensor<16xf32>
  return %y : tensor<600x16xf32>
}
// REPORT-LABEL: kernel taken.2
// REPORT:         resid.linear {{.*}}: that runs with another product
func.func @taken(%h: tensor<600x8xf32>, %v: tensor<16x8xf32>, %w: tensor<4x16xf32>) -> tensor<600x4xf32> {
  %l = resid.linear %h, %v : tensor<600x8xf32>, tensor<16x8xf32> -> tensor<600x16xf32>
  %n = resid.rms_norm %l {epsilon = 1.0e-5} : tensor<600x16xf32>
  %y = resid.linear %n, %w : tensor<600x16xf32>, tensor<4x16xf32> -> tensor<600x4xf32>
  return %y : tensor<600x4xf32>
}
