// Kernels write straight into their destinations; what is only between two kernels gets a buffer.
// RUN: resid-opt --resid-row-kernels --resid-bufferize %s | FileCheck %s

// CHECK-LABEL: func.func @into_the_destinations
// CHECK-SAME: %[[X:.+]]: memref<?x8xf32>, %[[F:.+]]: memref<?x8xf32>, %[[Y:.+]]: memref<?x8xf32>, %[[S:.+]]: memref<?x8xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: rows.kernel {{.+}} ins(%[[X]], %[[F]] : memref<?x8xf32>, memref<?x8xf32>) outs(%[[S]], %[[Y]] : memref<?x8xf32>, memref<?x8xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @into_the_destinations(%xm: memref<?x8xf32>, %fm: memref<?x8xf32>, %ym: memref<?x8xf32>, %sm: memref<?x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<?x8xf32> to tensor<?x8xf32>
  %f = bufferization.to_tensor %fm restrict : memref<?x8xf32> to tensor<?x8xf32>
  %y, %s = resid.add_norm layer %x, %f {epsilon = 1.0e-5} : tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %ym : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  bufferization.materialize_in_destination %s in restrict writable %sm : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @between_two_kernels
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @between_two_kernels(%fm: memref<2x4x8xf32>, %bm: memref<8xf32>, %ym: memref<2x4x8xf32>) {
  %f = bufferization.to_tensor %fm restrict : memref<2x4x8xf32> to tensor<2x4x8xf32>
  %b = bufferization.to_tensor %bm restrict : memref<8xf32> to tensor<8xf32>
  %s = resid.add_bias %f, %b : tensor<2x4x8xf32>, tensor<8xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5, norm_rank = 2 : i64} : tensor<2x4x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %ym : (tensor<2x4x8xf32>, memref<2x4x8xf32>) -> ()
  return
}

// Branches of a condition meet in contiguous buffers.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if %{{.+}} -> (memref<?x8xf32>)
// CHECK-NOT: strided
// CHECK: rows.kernel
func.func @branches(%xm: memref<?x8xf32>, %c: i1, %ym: memref<?x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<?x8xf32> to tensor<?x8xf32>
  %r = scf.if %c -> tensor<?x8xf32> {
    %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  } else {
    %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  %z = resid.add %x, %r : tensor<?x8xf32>
  bufferization.materialize_in_destination %z in restrict writable %ym : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
