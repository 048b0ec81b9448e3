// Loops and address arithmetic for what is not a row kernel; upstream's passes run only where there is something for them.
// RUN: resid-opt %s --resid-lower-loop-nests --mlir-timing --mlir-timing-display=list -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: resid-opt %S/Inputs/plain-buffers.mlir --resid-lower-loop-nests --mlir-timing --mlir-timing-display=list -o %t.plain.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: resid-opt %S/Inputs/plain-buffers.mlir | diff - %t.plain.mlir

// PASSES-DAG: ConvertLinalgToLoopsPass
// PASSES-DAG: ExpandStridedMetadataPass
// NONE-NOT: {{ConvertLinalgToLoopsPass|FoldMemRefAliasOpsPass|ExpandStridedMetadataPass|LowerAffinePass}}

// CHECK-NOT:   {{linalg|affine\.|memref\.subview}}
// CHECK-LABEL: func.func @fill_second_half
// CHECK-NOT:   {{linalg|affine\.|memref\.subview}}
// CHECK:       scf.for
// CHECK:         memref.store
// CHECK-NOT:   {{linalg|affine\.|memref\.subview}}
func.func @fill_second_half(%x: memref<8xf32>, %value: f32) {
  %half = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  linalg.fill ins(%value : f32) outs(%half : memref<4xf32, strided<[1], offset: 4>>)
  return
}
