// Row kernels write into the destinations of their function: no copy, no temporary.
// RUN: resid-opt %s --resid-row-kernels --resid-bufferize | FileCheck %s

// CHECK-LABEL: func.func private @pre_norm.impl(
// CHECK-SAME:      %[[X:.*]]: memref<?x?xbf16>, %[[F:.*]]: memref<?x?xbf16>, %[[GAMMA:.*]]: memref<?xf32>,
// CHECK-SAME:      %[[OUT0:.*]]: memref<?x?xbf16>, %[[OUT1:.*]]: memref<?x?xbf16>)
// CHECK-NOT:     memref.copy
// CHECK-NOT:     memref.alloc
// CHECK:         rows.kernel
// CHECK-SAME:      ins(%[[X]], %[[F]], %[[GAMMA]] :
// CHECK-SAME:      outs(%[[OUT1]], %[[OUT0]] :
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func private @pre_norm.impl(%x: memref<?x?xbf16>, %f: memref<?x?xbf16>, %gamma: memref<?xf32>,
                                  %out0: memref<?x?xbf16>, %out1: memref<?x?xbf16>) {
  %0 = bufferization.to_tensor %x restrict : memref<?x?xbf16> to tensor<?x?xbf16>
  %1 = bufferization.to_tensor %f restrict : memref<?x?xbf16> to tensor<?x?xbf16>
  %2 = bufferization.to_tensor %gamma restrict : memref<?xf32> to tensor<?xf32>
  %s = resid.add %0, %1 : tensor<?x?xbf16>
  %n = resid.rms_norm %s gamma(%2) {epsilon = 1.0e-6} : tensor<?x?xbf16>, tensor<?xf32>
  bufferization.materialize_in_destination %n in restrict writable %out0 : (tensor<?x?xbf16>, memref<?x?xbf16>) -> ()
  bufferization.materialize_in_destination %s in restrict writable %out1 : (tensor<?x?xbf16>, memref<?x?xbf16>) -> ()
  return
}

// What a matrix product packs needs a buffer; the sum that it makes and stores does not.
// CHECK-LABEL: func.func private @projected.impl(
// CHECK-SAME:      %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<64x64xf32>, %[[OUT:.*]]: memref<?x64xf32>)
// CHECK:         memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         contraction.kernel a(%[[X]] : {{.*}} ins(%[[X]] : {{.*}} outs(%[[OUT]] : memref<?x64xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func private @projected.impl(%x: memref<?x64xf32>, %w: memref<64x64xf32>, %out: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %1 = bufferization.to_tensor %w restrict : memref<64x64xf32> to tensor<64x64xf32>
  %rows = tensor.dim %0, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%rows) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%0, %1 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = resid.add %0, %p : tensor<?x64xf32>
  bufferization.materialize_in_destination %s in restrict writable %out : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
