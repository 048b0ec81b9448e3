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

// Several open sizes in one group, and one beside a 0: sizes come from the output shape, strides from the sizes.
// CHECK-LABEL: func.func @expand
// CHECK-SAME:      %[[X:.*]]: memref<?x8xf32>, %[[B:.*]]: index, %[[S:.*]]: index
// CHECK:         %[[STRIDE:.*]] = arith.muli %[[S]], %{{.*}} : index
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[B]], %[[S]], 8], strides: [%[[STRIDE]], 8, 1]
func.func @expand(%x: memref<?x8xf32>, %b: index, %s: index) -> memref<?x?x8xf32> {
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8] : memref<?x8xf32> into memref<?x?x8xf32>
  return %e : memref<?x?x8xf32>
}
// CHECK-LABEL: func.func @expand_strided
// CHECK:         %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK:         %[[STRIDE:.*]] = arith.muli %[[STRIDES]]#0, %{{.*}} : index
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%{{.*}}, %{{.*}}, 8], strides: [%[[STRIDE]], %[[STRIDES]]#0, 1]
func.func @expand_strided(%x: memref<?x8xf32, strided<[?, 1]>>, %b: index, %s: index) -> memref<?x?x8xf32, strided<[?, ?, 1]>> {
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8]
      : memref<?x8xf32, strided<[?, 1]>> into memref<?x?x8xf32, strided<[?, ?, 1]>>
  return %e : memref<?x?x8xf32, strided<[?, ?, 1]>>
}
// CHECK-LABEL: func.func @expand_nothing
// CHECK-SAME:      %{{.*}}: memref<?x8xf32>, %[[B:.*]]: index
// CHECK:         sizes: [%[[B]], 0, 8]
func.func @expand_nothing(%x: memref<?x8xf32>, %b: index) -> memref<?x0x8xf32> {
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, 0, 8] : memref<?x8xf32> into memref<?x0x8xf32>
  return %e : memref<?x0x8xf32>
}
